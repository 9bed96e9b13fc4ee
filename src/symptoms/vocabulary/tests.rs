//! Every message is told by its own example, and by nothing else.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::value::RawValue;

use super::index::{Tells, index};
use super::{CORRELATED, Detail, Message, NORMAL, Seen, Text, When};
use crate::karpenter::release::Releases;
use crate::rules;
use crate::symptoms::entry::{At, Condition, Entry, Fields, Level, Origin, Subject};
use crate::symptoms::tally::Tally;
use crate::symptoms::{Confidence, Symptom, all};

/// An example as an entry.
fn entry<'a>(example: &'a str, seen: &Seen) -> Entry<'a> {
    let mut entry = Entry {
        origin: Origin::Log,
        at: At::default(),
        text: Cow::Borrowed(example),
        time: None,
        level: Level::Info,
        controller: "".into(),
        pod: "".into(),
        message: Cow::Borrowed(example),
        error: "".into(),
        reason: "".into(),
        condition: Condition::default(),
        object: Subject::default(),
        fields: Fields::default(),
        count: 1,
    };
    let value: serde_json::Value = serde_json::from_str(example).unwrap_or_default();
    let text = |key: &str| Cow::<str>::Owned(value[key].as_str().unwrap_or_default().to_owned());
    match seen {
        Seen::Log { .. } => {
            let fields: std::collections::BTreeMap<String, Box<RawValue>> =
                serde_json::from_str(example).unwrap();
            entry.level = match value["level"].as_str().unwrap() {
                "DEBUG" => Level::Debug,
                "INFO" => Level::Info,
                "WARN" => Level::Warn,
                "ERROR" => Level::Error,
                _ => Level::Panic,
            };
            entry.controller = text("controller");
            entry.message = text("message");
            entry.error = text("error");
            entry.object =
                Subject { kind: text("controllerKind"), namespace: text("namespace"), name: text("name") };
            entry.fields =
                Fields(fields.into_iter().map(|(key, raw)| (key.into(), Cow::Owned(raw))).collect());
        }
        Seen::Event { .. } => {
            entry.origin = Origin::Event;
            let mut columns = example.split("   ").skip(1);
            entry.level = if columns.next().unwrap() == "Warning" { Level::Warn } else { Level::Info };
            entry.reason = columns.next().unwrap().into();
            let (kind, name) = columns.next().unwrap().split_once('/').unwrap();
            entry.object = Subject { kind: kind.into(), namespace: "".into(), name: name.into() };
            entry.message = columns.collect::<Vec<_>>().join("   ").into();
        }
        Seen::Condition { .. } => {
            entry.origin = Origin::Condition;
            entry.condition = Condition { kind: text("type"), status: text("status") };
            entry.reason = text("reason");
            entry.message = text("message");
            entry.object = Subject { kind: text("kind"), namespace: "".into(), name: text("name") };
        }
        Seen::Words(_) => {}
    }
    entry
}

/// Every symptom with each of its messages.
fn messages() -> impl Iterator<Item = (&'static Symptom, &'static Message)> {
    all().flat_map(|symptom| symptom.messages.iter().map(move |message| (symptom, message)))
}

#[test]
fn every_example_tells_its_symptom_and_nothing_else() {
    let mut wrong = Vec::new();
    for (symptom, message) in messages() {
        let found = index().find(&entry(message.example, &message.seen));
        let tells: BTreeSet<String> = found
            .known
            .iter()
            .map(|at| match index().known(*at).unwrap().tells {
                Tells::Symptom(_, other) => other.name.to_owned(),
                Tells::Correlated(name) => format!("{name} (correlated)"),
                Tells::Nothing => "normal work".to_owned(),
            })
            .collect();
        let own = found.known.iter().any(|at| index().known(*at).unwrap().message.example == message.example);
        if !own || tells.iter().ne([symptom.name]) {
            wrong.push(format!("{}: {tells:?} (itself: {own}) by {}", symptom.name, message.example));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_example_of_correlations_and_normal_work_is_understood_as_such() {
    let mut wrong = Vec::new();
    let normal = NORMAL.iter().map(|message| ("normal work", message));
    let correlated = CORRELATED.iter().flat_map(|(name, all)| all.iter().map(|message| (*name, message)));
    for (name, message) in normal.chain(correlated) {
        let found = index().find(&entry(message.example, &message.seen));
        let tells: BTreeSet<&str> = found
            .known
            .iter()
            .map(|at| match index().known(*at).unwrap().tells {
                Tells::Symptom(_, other) => other.name,
                Tells::Correlated(name) => name,
                Tells::Nothing => "normal work",
            })
            .collect();
        let own = found.known.iter().any(|at| index().known(*at).unwrap().message.example == message.example);
        if !own || tells.iter().ne([&name]) {
            wrong.push(format!("{name}: {tells:?} (itself: {own}) by {}", message.example));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_detail_that_is_looked_for_is_found() {
    let mut wrong = Vec::new();
    for (symptom, message) in messages() {
        let entry = entry(message.example, &message.seen);
        let details = crate::symptoms::tally::details(message.detail, &entry);
        let found = details.iter().all(|detail| {
            !detail.is_empty() && message.example.replace("\\\"", "\"").contains(detail.as_str())
        });
        let is_one = found && details.len() == 1;
        if !matches!(message.detail, Detail::None) && !is_one {
            wrong.push(format!("{}: {details:?} of {}", symptom.name, message.example));
        }
        if !matches!(message.detail, Detail::None) && !symptom.says.contains('{') {
            wrong.push(format!("{} does not say its detail", symptom.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_release_of_an_example_is_one_that_says_it() {
    let mut wrong = Vec::new();
    for known in index().messages() {
        let message = known.message;
        assert!(!message.releases.is_empty(), "{}", message.example);
        let value: serde_json::Value = serde_json::from_str(message.example).unwrap_or_default();
        if let Some(commit) = value["commit"].as_str() {
            let release = super::commits::release(commit).unwrap();
            if !message.releases.contains(release) {
                wrong.push(format!("{release} is not in {}: {}", message.releases, message.example));
            }
        }
        if let Seen::Log { level, .. } = message.seen {
            let written = value["level"].as_str().unwrap();
            if !format!("{level:?}").eq_ignore_ascii_case(written) {
                wrong.push(format!("{level:?}: {}", message.example));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names_are_unique_and_everything_is_said() {
    let mut names: BTreeSet<&str> = rules::all().map(|rule| rule.name).collect();
    for symptom in all() {
        let kebab = symptom
            .name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'-' || byte.is_ascii_digit());
        assert!(kebab && names.insert(symptom.name), "{}", symptom.name);
        for text in [symptom.summary, symptom.says, symptom.remedy, symptom.cause] {
            assert!(!text.trim().is_empty(), "{}", symptom.name);
        }
        assert!(!symptom.summary.ends_with('.') && !symptom.says.ends_with('.'), "{}", symptom.name);
        assert!(symptom.remedy.ends_with('.') || symptom.remedy.ends_with('`'), "{}", symptom.name);
        assert!(!symptom.references.is_empty(), "{} has no reference", symptom.name);
        for rule in symptom.rules {
            assert!(rules::find(rule).is_some(), "{}: there is no rule {rule}", symptom.name);
        }
    }
}

#[test]
fn there_are_many_messages_and_no_detail_in_their_texts() {
    let wrong = messages().count();
    assert!(wrong >= 80, "{wrong}");
    for known in index().messages() {
        let texts = match &known.message.seen {
            Seen::Log { message, error, .. } => [*message, *error],
            Seen::Event { message, .. } | Seen::Condition { message, .. } | Seen::Words(message) => {
                [*message, Text::Any]
            }
        };
        let searched = texts.iter().any(|text| matches!(text, Text::Is(_) | Text::Starts(_)));
        let pieces = texts.iter().all(|text| match text {
            Text::Has(pieces) | Text::HasBut(pieces, _) => pieces.iter().any(|piece| piece.len() >= 4),
            _ => true,
        });
        let is_event = matches!(known.message.seen, Seen::Event { .. } | Seen::Condition { .. });
        assert!(is_event || searched || pieces, "{}", known.message.example);
    }
}

#[test]
fn one_line_of_each_that_counts_from_the_first_is_a_diagnosis() {
    for (symptom, message) in messages() {
        if !matches!(symptom.when, When::Always | When::Unresolved { .. }) {
            continue;
        }
        let mut tally = Tally::default();
        tally.observe(&entry(message.example, &message.seen));
        let diagnoses = tally.diagnoses(0);
        assert_eq!(diagnoses.len(), 1, "{}: {}", symptom.name, message.example);
        assert_eq!(diagnoses[0].symptom.name, symptom.name);
        assert!(!diagnoses[0].message.contains('{'), "{}", diagnoses[0].message);
        let sure = diagnoses[0].confidence;
        assert!(sure == symptom.confidence || matches!(message.seen, Seen::Words(_)), "{sure:?}");
        assert!(sure <= Confidence::Possible && tally.releases().meets(Releases::ALL));
    }
}
