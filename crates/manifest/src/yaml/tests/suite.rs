//! The YAML test suite: each valid text gives the events and the JSON of the suite, each invalid text an error.
//!
//! `tests/yaml-test-suite` has the cases and says where they are from.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value as Json;

use crate::limits::Limits;
use crate::options::ReadOptions;
use crate::source::{Source, Span};
use crate::tree::Style;
use crate::work::WorkBudget;
use crate::yaml::events::{EventParser, YamlEvent};
use crate::yaml::read;
use crate::yaml::token::Tag;

/// Cases whose events differ from the suite, with the reason.
const EVENT_DIFFERENCES: &[(&str, &str)] = &[(
    "9C9N",
    "the suite refuses the items of a list in brackets in column 1; go-yaml v2, libyaml and granit-parser accept them",
)];

/// Cases whose values differ from the JSON of the suite, with the reason.
const VALUE_DIFFERENCES: &[(&str, &str)] = &[
    ("C4HZ", "the key `y` is the boolean true in YAML 1.1, and `true` as a key of JSON"),
    ("6BCT", TABS),
    ("6CA3", TABS),
    ("96NN", TABS),
    ("A2M4", TABS),
    ("DK95", TABS),
    ("DK95-03", TABS),
    ("DK95-04", TABS),
    ("Q5MG", TABS),
    ("R4YG", TABS),
    ("Y79Y-01", TABS),
    ("Y79Y-10", TABS),
];

const TABS: &str = "go-yaml v2 refuses these tabs, which YAML 1.2 allows";

/// One text of the suite.
#[derive(Deserialize)]
struct Case {
    /// `ID` for the first text of a test of the suite, `ID-01` for the second.
    id: String,
    yaml: String,
    /// Whether the text is invalid.
    #[serde(default)]
    fail: bool,
    /// The expected events of a valid text, one per line.
    #[serde(default)]
    events: String,
    /// The expected JSON documents of a valid text, if JSON can represent them.
    json: Option<String>,
}

fn cases() -> Vec<Case> {
    let lines = include_str!("../../../tests/yaml-test-suite/cases.jsonl").lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The events of a text in the notation of the suite, up to the first error. Anchors are numbers, and tags are classes,
/// as in [`Tag`].
fn our_events(text: &str) -> (Vec<String>, Option<String>) {
    let mut parser = EventParser::new(text, 100);
    let mut events = Vec::new();
    let mut in_document = false;
    let mut ends = Vec::new();
    loop {
        let (event, span) = match parser.next() {
            Ok(Some(found)) => found,
            Ok(None) => return (events, None),
            Err(fault) => {
                return (events, Some(format!("{}: {}", fault.at, fault.why.unwrap_or("too deep"))));
            }
        };
        assert!(span.start <= span.end && text.get(span.start..span.end).is_some(), "{text:?}: {span:?}");
        if !in_document && !matches!(event, YamlEvent::DocumentEnd) {
            events.push("+DOC".to_owned());
            in_document = true;
        }
        let anchor_text = |anchor: usize| if anchor == 0 { String::new() } else { format!(" &{anchor}") };
        events.push(match event {
            YamlEvent::Scalar { text, style, tag, anchor } => {
                let style = match style {
                    Style::SingleQuoted => '\'',
                    Style::DoubleQuoted => '"',
                    Style::Literal => '|',
                    Style::Folded => '>',
                    _ => ':',
                };
                let tag = match tag {
                    Tag::None => "",
                    Tag::String => " <str>",
                    Tag::Core => " <core>",
                    Tag::Merge | Tag::Other | Tag::Undeclared => " <other>",
                };
                format!("=VAL{}{tag} {style}{}", anchor_text(anchor), parser.text(text))
            }
            YamlEvent::Start { is_mapping, in_brackets, anchor } => {
                let (start, end, brackets) =
                    if is_mapping { ("+MAP", "-MAP", " {}") } else { ("+SEQ", "-SEQ", " []") };
                ends.push(end);
                format!("{start}{}{}", if in_brackets { brackets } else { "" }, anchor_text(anchor))
            }
            YamlEvent::End => ends.pop().unwrap().to_owned(),
            YamlEvent::Alias(anchor) => format!("=ALI *{anchor}"),
            YamlEvent::DocumentEnd => {
                in_document = false;
                "-DOC".to_owned()
            }
        });
    }
}

/// The events of the suite, with numbers for anchors, classes for tags, and without what our events do not have: `---`,
/// `...` and the tags of collections.
fn expected_events(tree: &str) -> Vec<String> {
    let mut anchors = BTreeMap::new();
    let mut count = 0;
    let mut events = Vec::new();
    for line in tree.lines() {
        let line = line.trim_start_matches(' ');
        let kind = line.get(..4).unwrap();
        match kind {
            "+STR" | "-STR" => {}
            "+DOC" | "-DOC" => events.push(kind.to_owned()),
            "=ALI" => events.push(format!("=ALI *{}", anchors[line.get(6..).unwrap()])),
            _ => {
                let mut event = kind.to_owned();
                let mut rest = line.get(4..).unwrap();
                while let Some(word) = rest.strip_prefix(' ') {
                    if let Some(name) = word.strip_prefix('&') {
                        let name = name.split(' ').next().unwrap();
                        count += 1;
                        anchors.insert(name.to_owned(), count);
                        let _ = write!(event, " &{count}");
                        rest = word.get(1 + name.len()..).unwrap();
                    } else if word.starts_with('<') {
                        let (tag, after) = word.split_at(word.find('>').unwrap() + 1);
                        if kind == "=VAL" {
                            event += match tag.trim_start_matches("<tag:yaml.org,2002:") {
                                "str>" => " <str>",
                                "bool>" | "float>" | "int>" | "null>" => " <core>",
                                _ => " <other>",
                            };
                        }
                        rest = after;
                    } else if kind == "=VAL" {
                        event += " ";
                        event += &unescaped(word);
                        break;
                    } else {
                        let _ = write!(event, " {}", word.get(..2).unwrap());
                        rest = word.get(2..).unwrap();
                    }
                }
                events.push(event);
            }
        }
    }
    events
}

fn unescaped(text: &str) -> String {
    let mut value = String::new();
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        value.push(match (char, char == '\\') {
            (_, true) => match chars.next().unwrap() {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'b' => '\u{8}',
                other => other,
            },
            (char, false) => char,
        });
    }
    value
}

/// Compares the failing cases with the list of known differences.
fn assert_only(differences: &BTreeMap<String, String>, known: &[(&str, &str)]) {
    let unknown: Vec<_> =
        differences.iter().filter(|(id, _)| !known.iter().any(|(known, _)| known == id)).collect();
    assert!(
        unknown.is_empty(),
        "{} cases differ: {}",
        unknown.len(),
        unknown.iter().map(|(id, why)| format!("\n{id}: {why}")).collect::<Vec<_>>().concat()
    );
    let fixed: Vec<_> = known.iter().filter(|(id, _)| !differences.contains_key(*id)).collect();
    assert!(fixed.is_empty(), "no longer different, remove from the list: {fixed:?}");
}

#[test]
fn yaml_test_suite_events() {
    let mut differences = BTreeMap::new();
    for case in cases() {
        let (events, fault) = our_events(&case.yaml);
        let same = if case.fail {
            fault.is_some()
        } else {
            fault.is_none() && events == expected_events(&case.events)
        };
        if !same {
            let expected =
                if case.fail { vec!["an error".to_owned()] } else { expected_events(&case.events) };
            differences.insert(case.id, format!("{:?}\n  {events:?} {fault:?}\n  {expected:?}", case.yaml));
        }
    }
    assert_only(&differences, EVENT_DIFFERENCES);
}

#[test]
fn yaml_test_suite_values() {
    let mut differences = BTreeMap::new();
    for case in cases() {
        let Some(json) = case.json.as_deref() else { continue };
        let expected: Vec<Json> =
            serde_json::Deserializer::from_str(json).into_iter().map(Result::unwrap).collect();
        let source = Arc::new(Source::new("-", case.yaml.as_str()));
        let budget = WorkBudget::of_file(case.yaml.len(), &Limits::DEFAULT);
        let documents = read(&source, Span::new(0, case.yaml.len()), &ReadOptions::DEFAULT, &budget);
        let values: Vec<_> = documents
            .iter()
            .map(|document| match document {
                Ok(tree) => Ok(tree.root().to_json()),
                Err(error) => Err(error.problem.to_string()),
            })
            .collect();
        if values != expected.iter().cloned().map(Ok).collect::<Vec<_>>() {
            differences.insert(case.id, format!("{:?}\n  {values:?}\n  {expected:?}", case.yaml));
        }
    }
    assert_only(&differences, VALUE_DIFFERENCES);
}
