//! Parameters of a release: single values by their paths.
//!
//! Source: `pkg/strvals/parser.go` of helm/helm at v3.14.0, and `getValue` in `helm/resource_release.go` of hashicorp/terraform-provider-helm at v2.17.0.

use terraform::{Data, EvaluatedValue, Number};

use crate::draft::{DraftMember, DraftPart};

/// Largest index of a list: `MaxIndex` of Helm.
const MAX_INDEX: usize = 65_536;

/// Step of the path of a parameter.
enum PathStep {
    Key(String),
    Index(usize),
}

/// The path of a parameter.
pub(super) fn name(parameter: &DraftPart) -> Option<&str> {
    match parameter {
        DraftPart::Object(members, _) => members.iter().find_map(|member| match &member.value {
            DraftPart::Value(value) if member.key.as_ref() == "name" => value.as_str(),
            _ => None,
        }),
        _ => None,
    }
}

/// Values with a parameter. `None` if the values do not have what its path leads through.
pub(super) fn applied(values: &DraftPart, parameter: &DraftPart) -> Option<DraftPart> {
    let members = parameter.members()?;
    let member = |key: &str| members.iter().find(|member| member.key.as_ref() == key);
    let kind = member("type").and_then(|kind| match &kind.value {
        DraftPart::Value(kind) => kind.as_str(),
        _ => None,
    });
    let value = match &member("value")?.value {
        DraftPart::Value(value) if kind != Some("string") => DraftPart::Value(typed(value)?),
        value => value.clone(),
    };
    let steps = steps(name(parameter)?)?;
    // The provider takes the whole name of a `literal` as one key, which no chart reads.
    if kind == Some("literal") {
        return (steps.len() > 1).then(|| values.clone());
    }
    with(values, &steps, value)
}

/// Whether the values have what the path of a parameter leads through, or the path is not known.
pub(super) fn may_reach(values: &DraftPart, parameter: &DraftPart) -> bool {
    let steps = name(parameter).and_then(steps);
    steps.is_none_or(|steps| with(values, &steps, DraftPart::object([], values.place())).is_some())
}

/// The steps of a path such as `resources[0].spec.weight`. A dot after a backslash belongs to the key.
fn steps(path: &str) -> Option<Vec<PathStep>> {
    let (mut steps, mut key, mut chars) = (Vec::new(), String::new(), path.chars());
    while let Some(char) = chars.next() {
        match char {
            '\\' => key.push(chars.next()?),
            '.' | '[' => {
                if !key.is_empty() {
                    steps.push(PathStep::Key(core::mem::take(&mut key)));
                }
                if char == '[' {
                    let index: String = chars.by_ref().take_while(|char| *char != ']').collect();
                    steps.push(PathStep::Index(index.parse().ok().filter(|index| *index <= MAX_INDEX)?));
                }
            }
            // Several parameters in one text.
            ',' | '=' => return None,
            char => key.push(char),
        }
    }
    if !key.is_empty() {
        steps.push(PathStep::Key(key));
    }
    (!steps.is_empty()).then_some(steps)
}

/// The value of a text: a boolean, a whole number, `null`, or the text. `None` for a list.
fn typed(value: &EvaluatedValue) -> Option<EvaluatedValue> {
    let Some(text) = value.as_str() else { return Some(value.clone()) };
    let is_number = text == "0" || !text.starts_with('0');
    let is = |word: &str| text.eq_ignore_ascii_case(word);
    let data = match text {
        _ if is("true") => Data::Bool(true),
        _ if is("false") => Data::Bool(false),
        _ if is("null") => Data::Null(value.type_of()),
        _ if text.starts_with('{') || text.contains(',') => return None,
        _ => match text.parse::<i64>().ok().filter(|_| is_number).and_then(|_| Number::parse(text)) {
            Some(number) => Data::Number(number),
            None => return Some(value.clone()),
        },
    };
    Some(EvaluatedValue { data, ..value.clone() })
}

fn with(part: &DraftPart, steps: &[PathStep], value: DraftPart) -> Option<DraftPart> {
    let Some((step, rest)) = steps.split_first() else { return Some(value) };
    let at = part.place();
    match step {
        PathStep::Key(key) => {
            let mut members = part.members()?;
            if let Some(member) = members.iter_mut().find(|member| member.key.as_ref() == key) {
                member.value = with(&member.value, rest, value)?;
            } else {
                let place = value.place();
                let inner = with(&DraftPart::object([], place), rest, value)?;
                members.push(DraftMember::new(key, place, inner));
            }
            Some(DraftPart::Object(members, at))
        }
        PathStep::Index(index) => {
            let mut items = part.items()?;
            let item = items.get_mut(*index)?;
            *item = with(item, rest, value)?;
            Some(DraftPart::List(items, at))
        }
    }
}
