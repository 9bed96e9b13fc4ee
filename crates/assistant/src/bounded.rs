//! Answers of a bounded size. Long lists, objects with many keys and long texts are cut, and a cursor leads to the rest of each.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::query::ArgumentError;
use crate::tool::ToolName;

/// Maximum number of bytes of a bounded answer as JSON: 24 KiB, which is about 8,000 tokens.
pub const MAX_BYTES: usize = 24 << 10;

/// Maximum number of answers whose rest can be read.
pub const MAX_KEPT: usize = 8;

/// Maximum number of bytes of these answers as JSON. The newest answer is kept whatever its size is.
const MAX_KEPT_BYTES: usize = 64 << 20;

/// Maximum number of cursors in an answer.
const MAX_CURSORS: usize = 20;

/// Maximum number of members of an object. No struct of an answer has as many fields.
const MAX_MEMBERS: usize = 40;

/// Maximum number of characters of a key, of a summary, and of a piece of a text.
const MAX_KEY: usize = 200;
const MAX_SUMMARY: usize = 1_000;
const MAX_PIECE: usize = 8_000;

/// Bounds of the parts of an answer, from generous to tight. The first with which the answer is small enough apply.
const LEVELS: [Level; 6] = [
    Level { items: 50, characters: 8_000 },
    Level { items: 25, characters: 4_000 },
    Level { items: 12, characters: 1_000 },
    Level { items: 6, characters: 500 },
    Level { items: 3, characters: 300 },
    Level { items: 1, characters: 100 },
];

#[derive(Clone, Copy, Debug)]
struct Level {
    /// Items of a list.
    items: usize,
    /// Characters of a text.
    characters: usize,
}

/// The rest of a list, an object or a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Continuation {
    /// Place in the answer, as a JSON Pointer.
    at: String,
    /// Number of items, members or characters that the answer has.
    shown: usize,
    /// Number of all of them.
    total: usize,
    /// The argument with which the same tool returns the rest.
    cursor: String,
}

/// Further items of a list or an object, or further characters of a text.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AnswerPart {
    /// Place in the whole answer, as a JSON Pointer.
    at: String,
    /// Number of items, members or characters before the part.
    from: usize,
    /// Number of all of them.
    total: usize,
    /// The items. A member of an object is an object with one key.
    items: Vec<Value>,
    /// The characters.
    text: String,
}

/// Documentation of rules, symptoms and families: the answer of `explain`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExplainAnswer {
    /// The pages, in the order of the names.
    pub pages: Vec<ExplainedName>,
}

/// Documentation of a rule, a symptom or a family.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExplainedName {
    /// The name.
    pub name: String,
    /// The page as Markdown.
    pub text: String,
}

/// Answer of a tool, before it is cut.
#[derive(Clone, Debug, PartialEq)]
pub struct WholeAnswer {
    /// The result in a sentence or two.
    pub summary: String,
    /// Notes and errors that are not in the answer, such as documents that cannot be parsed.
    pub notes: Vec<String>,
    /// The answer as JSON.
    pub answer: Value,
}

/// The answers whose rest can be read.
#[derive(Debug)]
pub struct AnswerStore {
    /// Text that differs between two runs of the server, so that a cursor of an earlier run finds nothing, instead of another answer.
    session: String,
    next: usize,
    kept: VecDeque<KeptAnswer>,
}

#[derive(Debug)]
struct KeptAnswer {
    number: usize,
    tool: ToolName,
    value: Value,
    bytes: usize,
}

/// Place of a value in an answer: the positions of items and members, from the outside to the inside.
type Steps = Vec<usize>;

/// A value that is cut.
struct CutValue {
    at: String,
    steps: Steps,
    shown: usize,
    total: usize,
}

impl AnswerStore {
    /// A store without answers. `session` is a text that differs between two runs of the server.
    pub fn new(session: String) -> Self {
        Self { session, next: 1, kept: VecDeque::new() }
    }

    /// Cuts an answer, and keeps it if something is left out.
    pub fn present(&mut self, tool: ToolName, answer: WholeAnswer) -> Value {
        let WholeAnswer { summary, notes, answer } = answer;
        let whole = json!({"notes": notes, "answer": answer});
        let number = self.next;
        let shown = fitting(|level| {
            let mut cuts = Vec::new();
            let mut shown = cut(&whole, "", &Steps::new(), level, &mut cuts);
            if let Value::Object(fields) = &mut shown {
                fields.insert("summary".to_owned(), start(&summary, MAX_SUMMARY).into());
                fields.insert("part".to_owned(), Value::Null);
                self.add_cursors(fields, number, cuts);
            }
            shown
        });
        if shown.get("more").and_then(Value::as_array).is_some_and(|more| !more.is_empty()) {
            self.keep(tool, whole);
        }
        shown
    }

    /// The rest of an answer.
    pub fn continued(&mut self, tool: ToolName, cursor: &str) -> Result<Value, ArgumentError> {
        let (number, from, steps) =
            self.parsed(cursor).ok_or(ArgumentError::Cursor("it is not from this session"))?;
        let kept = self.kept.iter().find(|kept| kept.number == number);
        let gone = "the answer is not kept any more, because several others came after it";
        let kept = kept.ok_or(ArgumentError::Cursor(gone))?;
        if kept.tool != tool {
            return Err(ArgumentError::Cursor("it is from another tool"));
        }
        let (at, value) =
            found(&kept.value, &steps).ok_or(ArgumentError::Cursor("it leads to no part of the answer"))?;
        let total = length(value);
        if from >= total {
            return Err(ArgumentError::Cursor("it leads beyond the end"));
        }
        Ok(fitting(|level| {
            let mut cuts = Vec::new();
            let mut part = AnswerPart { at: at.clone(), from, total, items: Vec::new(), text: String::new() };
            let mut shown = level.items.min(total - from);
            match value {
                Value::Array(items) => {
                    let items = items.iter().enumerate().skip(from).take(shown);
                    part.items = items
                        .map(|(index, item)| {
                            step(item, &at, &steps, index, &index.to_string(), level, &mut cuts)
                        })
                        .collect();
                }
                Value::Object(members) => {
                    let members = members.iter().enumerate().skip(from).take(shown);
                    let one = |(index, (key, value)): (usize, (&String, &Value))| {
                        let key = start(key, MAX_KEY);
                        let value = step(value, &at, &steps, index, &key, level, &mut cuts);
                        Value::Object(Map::from_iter([(key, value)]))
                    };
                    part.items = members.map(one).collect();
                }
                other => {
                    shown = MAX_PIECE.min(level.characters).min(total - from);
                    let text = other.as_str().unwrap_or_default();
                    part.text = text.chars().skip(from).take(shown).collect();
                }
            }
            if from + shown < total {
                cuts.insert(0, CutValue { at: at.clone(), steps: steps.clone(), shown: from + shown, total });
            }
            let summary = format!("{} to {} of {total} at {at}", from + 1, from + shown);
            let mut fields = Map::from_iter([
                ("summary".to_owned(), Value::from(start(&summary, MAX_SUMMARY))),
                ("notes".to_owned(), Value::Array(Vec::new())),
                ("answer".to_owned(), Value::Null),
                ("part".to_owned(), serde_json::to_value(part).unwrap_or_default()),
            ]);
            self.add_cursors(&mut fields, number, cuts);
            Value::Object(fields)
        }))
    }

    /// Adds the cursors of what is left out, outer parts before inner ones, and the number of the cursors that are left out themselves:
    /// the continuation of an outer part has them.
    fn add_cursors(&self, fields: &mut Map<String, Value>, number: usize, mut cuts: Vec<CutValue>) {
        cuts.sort_by_key(|cut| cut.steps.len());
        let left_out = cuts.len().saturating_sub(MAX_CURSORS);
        let cursor = |cut: &CutValue| {
            let steps = cut.steps.iter().map(usize::to_string).collect::<Vec<_>>().join(".");
            format!("{}-{number}-{}-{steps}", self.session, cut.shown)
        };
        let more = cuts.into_iter().take(MAX_CURSORS).map(|cut| {
            let cursor = cursor(&cut);
            let CutValue { at, shown, total, .. } = cut;
            serde_json::to_value(Continuation { at, shown, total, cursor }).unwrap_or_default()
        });
        fields.insert("more".to_owned(), Value::Array(more.collect()));
        fields.insert("moreLeftOut".to_owned(), left_out.into());
    }

    fn parsed(&self, cursor: &str) -> Option<(usize, usize, Steps)> {
        let rest = cursor.strip_prefix(&self.session)?.strip_prefix('-')?;
        let [number, from, steps] = rest.split('-').collect::<Vec<_>>()[..] else { return None };
        let steps: Option<Steps> = steps.split('.').map(|step| step.parse().ok()).collect();
        Some((number.parse().ok()?, from.parse().ok()?, steps?))
    }

    fn keep(&mut self, tool: ToolName, value: Value) {
        let bytes = size(&value);
        self.kept.push_back(KeptAnswer { number: self.next, tool, value, bytes });
        self.next += 1;
        let is_too_much = |kept: &VecDeque<KeptAnswer>| {
            let bytes = kept.iter().map(|one| one.bytes).fold(0, usize::saturating_add);
            kept.len() > MAX_KEPT || (kept.len() > 1 && bytes > MAX_KEPT_BYTES)
        };
        while is_too_much(&self.kept) {
            self.kept.pop_front();
        }
    }
}

/// The value with the first level that makes it small enough, or with the last level.
fn fitting(mut shown: impl FnMut(Level) -> Value) -> Value {
    let mut value = Value::Null;
    for level in LEVELS {
        value = shown(level);
        if size(&value) <= MAX_BYTES {
            break;
        }
    }
    value
}

fn size(value: &Value) -> usize {
    serde_json::to_string(value).map_or(usize::MAX, |text| text.len())
}

/// A value without what exceeds the level.
fn cut(value: &Value, at: &str, steps: &Steps, level: Level, cuts: &mut Vec<CutValue>) -> Value {
    let total = length(value);
    let most = match value {
        Value::Array(_) => level.items,
        Value::Object(_) => MAX_MEMBERS,
        _ => level.characters,
    };
    if total > most {
        cuts.push(CutValue { at: at.to_owned(), steps: steps.clone(), shown: most, total });
    }
    match value {
        Value::Array(items) => {
            let items = items.iter().take(most).enumerate();
            items.map(|(index, item)| step(item, at, steps, index, &index.to_string(), level, cuts)).collect()
        }
        Value::Object(members) => {
            let members = members.iter().take(most).enumerate();
            let one = |(index, (key, value)): (usize, (&String, &Value))| {
                let key = start(key, MAX_KEY);
                let value = step(value, at, steps, index, &key, level, cuts);
                (key, value)
            };
            Value::Object(members.map(one).collect())
        }
        Value::String(text) if total > most => text.chars().take(most).collect::<String>().into(),
        other => other.clone(),
    }
}

/// An item of a list or a member of an object, cut.
fn step(
    value: &Value,
    at: &str,
    steps: &Steps,
    index: usize,
    name: &str,
    level: Level,
    cuts: &mut Vec<CutValue>,
) -> Value {
    // RFC 6901, section 3.
    let at = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
    let steps = steps.iter().copied().chain([index]).collect();
    cut(value, &at, &steps, level, cuts)
}

/// The value at a place, with the place as a JSON Pointer.
fn found<'v>(whole: &'v Value, steps: &Steps) -> Option<(String, &'v Value)> {
    let (mut at, mut value) = (String::new(), whole);
    for index in steps {
        let (name, next) = match value {
            Value::Array(items) => (index.to_string(), items.get(*index)?),
            Value::Object(members) => {
                members.iter().nth(*index).map(|(key, value)| (start(key, MAX_KEY), value))?
            }
            _ => return None,
        };
        at = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
        value = next;
    }
    Some((at, value))
}

/// Number of items, members or characters.
fn length(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        Value::String(text) => text.chars().count(),
        _ => 0,
    }
}

/// The first characters of a text.
fn start(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store() -> AnswerStore {
        AnswerStore::new("s".to_owned())
    }

    fn present(store: &mut AnswerStore, answer: Value) -> Value {
        let whole = WholeAnswer { summary: "all".to_owned(), notes: Vec::new(), answer };
        store.present(ToolName::Check, whole)
    }

    /// The whole value at a place, read by following the cursors.
    fn followed(store: &mut AnswerStore, first: &Value, at: &str) -> (Vec<Value>, String) {
        let (mut items, mut text) = (Vec::new(), String::new());
        match first.pointer(at).unwrap() {
            Value::Array(shown) => items.extend(shown.clone()),
            Value::Object(shown) => {
                items.extend(shown.iter().map(|(key, value)| json!({key.clone(): value.clone()})));
            }
            Value::String(shown) => text.push_str(shown),
            other => panic!("{other}"),
        }
        let mut last = first.clone();
        loop {
            let more = last["more"].as_array().unwrap().iter().find(|one| one["at"] == at).cloned();
            let Some(more) = more else { return (items, text) };
            last = store.continued(ToolName::Check, more["cursor"].as_str().unwrap()).unwrap();
            assert!(size(&last) <= MAX_BYTES);
            let part = &last["part"];
            assert_eq!((&part["at"], &part["from"]), (&more["at"], &more["shown"]));
            items.extend(part["items"].as_array().unwrap().iter().cloned());
            text.push_str(part["text"].as_str().unwrap());
        }
    }

    #[test]
    fn a_small_answer_is_whole_and_not_kept() {
        let mut store = store();
        let answer = json!({"findings": [{"rule": "a"}], "none": null});
        let shown = present(&mut store, answer.clone());
        let expected = json!({
            "summary": "all", "notes": [], "answer": answer, "part": null, "more": [], "moreLeftOut": 0,
        });
        assert_eq!(shown, expected);
        assert!(store.kept.is_empty());
    }

    #[test]
    fn the_rest_of_lists_objects_and_texts_can_be_read() {
        let findings: Vec<Value> =
            (0..1_000).map(|number| json!({"number": number, "text": "x".repeat(300)})).collect();
        let labels: Map<String, Value> =
            (0..90).map(|number| (format!("a/{number:03}"), json!("v~"))).collect();
        let text = "é".repeat(20_000);
        let answer = json!({"findings": findings, "inner": {"labels": labels}, "text": text});
        let mut store = store();
        let shown = present(&mut store, answer);
        assert!(size(&shown) <= MAX_BYTES, "{}", size(&shown));
        assert_eq!(followed(&mut store, &shown, "/answer/findings").0, findings);
        let members: Vec<Value> = labels.iter().map(|(key, value)| json!({key.clone(): value})).collect();
        assert_eq!(followed(&mut store, &shown, "/answer/inner/labels").0, members);
        assert_eq!(followed(&mut store, &shown, "/answer/text").1, text);
    }

    #[test]
    fn lists_within_items_have_cursors_too() {
        let pods: Vec<Value> = (0..200).map(|number| json!(format!("pod-{number}"))).collect();
        let claims = vec![json!({"pods": pods}); 60];
        let mut store = store();
        let shown = present(&mut store, json!({"claims": claims}));
        assert!(size(&shown) <= MAX_BYTES);
        assert_eq!(shown["more"][0]["at"], "/answer/claims");
        assert_eq!(followed(&mut store, &shown, "/answer/claims/0/pods").0, pods);
        let last = store.continued(ToolName::Check, &format!("s-1-59-{}", "0.0")).unwrap();
        assert_eq!(last["part"]["items"].as_array().unwrap().len(), 1);
        let inner = last["more"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["at"] == "/answer/claims/59/pods")
            .unwrap();
        let part = store.continued(ToolName::Check, inner["cursor"].as_str().unwrap()).unwrap();
        assert_eq!(part["part"]["total"], 200);
    }

    #[test]
    fn any_answer_is_bounded() {
        let long = "k".repeat(10_000);
        let deep = |inner: Value| json!({(long.clone()): vec![inner; 60], "text": long});
        let mut value = json!(long);
        for _ in 0..2 {
            value = deep(value);
        }
        let shown = present(&mut store(), json!({"a": value, "b": vec![long.clone(); 500]}));
        assert!(size(&shown) <= MAX_BYTES, "{}", size(&shown));
    }

    #[test]
    fn a_cursor_that_leads_nowhere_is_refused() {
        let mut store = store();
        for _ in 0..=MAX_KEPT {
            present(&mut store, json!({"list": vec![0; 100]}));
        }
        let mut reason = |tool, cursor: &str| store.continued(tool, cursor).unwrap_err().to_string();
        for (cursor, part) in [
            ("", "not from this session"),
            ("other-9-50-0.0", "not from this session"),
            ("s-9-50-0.x", "not from this session"),
            ("s-9-50-0.0-1", "not from this session"),
            ("s-1-50-0.0", "not kept any more"),
            ("s-9-100-0.0", "beyond the end"),
            ("s-9-0-0.7", "no part of the answer"),
            ("s-9-0-0.0.0.0", "no part of the answer"),
            ("s-9-99999999999999999999999-0.0", "not from this session"),
        ] {
            let reason = reason(ToolName::Check, cursor);
            assert!(
                reason.contains(part) && reason.ends_with("call the tool again without `cursor`"),
                "{cursor}: {reason}"
            );
        }
        assert!(reason(ToolName::Plan, "s-9-50-0.0").contains("another tool"));
    }
}
