//! Each example matches its own message, and no other meaning.

use std::collections::BTreeSet;

use super::Recogniser;
use super::index::{Meaning, index};
use crate::entry::{Entry, LogFileId};
use crate::reader::FileReader;
use crate::tally::Tally;
use crate::vocabulary::{
    Blocker, CORRELATED, Detail, Message, MessageId, Text, When, Wording, commits, normal_messages,
};
use crate::{Symptom, all};
use answers::report::Confidence;
use cluster::ids::ClusterId;
use karpenter::release::Releases;
use manifest::limits::Limits;

/// Reads an example as users have it: a log line, a row of a table of events, an object with its status.
fn read(message: &Message, emit: &mut dyn FnMut(&Entry<'_>)) {
    let value: serde_json::Value = serde_json::from_str(message.example).unwrap_or_default();
    let (name, text) = match message.pattern.wording {
        Wording::Log { .. } | Wording::Anywhere(_) | Wording::Panic => ("log", message.example.to_owned()),
        Wording::Event { .. } => {
            let columns: Vec<&str> = message.example.splitn(5, "   ").collect();
            let (kind, name) = columns[3].split_once('/').unwrap();
            let event = serde_json::json!({
                "apiVersion": "v1", "kind": "Event", "metadata": {"name": "one", "namespace": "default"},
                "type": columns[1], "reason": columns[2], "message": columns[4],
                "involvedObject": {"kind": kind, "name": name},
            });
            // A table cannot have a row without a reason.
            let table = format!("LAST SEEN   TYPE   REASON   OBJECT   MESSAGE\n{}", message.example);
            if columns[2].is_empty() { ("event.json", event.to_string()) } else { ("events", table) }
        }
        Wording::Condition { .. } => {
            let condition = serde_json::json!({
                "apiVersion": if value["kind"] == "EC2NodeClass" { "karpenter.k8s.aws/v1" } else { "karpenter.sh/v1" },
                "kind": value["kind"], "metadata": {"name": value["name"]},
                "status": {"conditions": [{
                    "type": value["type"], "status": value["status"],
                    "reason": value["reason"], "message": value["message"],
                }]},
            });
            ("object.json", condition.to_string())
        }
    };
    let mut count = 0;
    let mut emit = |entry: &Entry<'_>| {
        count += 1;
        emit(entry);
    };
    let mut reader = FileReader::new(name, LogFileId::default(), Limits::DEFAULT);
    reader.feed(format!("{text}\n").as_bytes(), &mut emit);
    reader.finish(&mut emit);
    assert_eq!(count, 1, "{text}");
}

/// The meanings of an example, and whether its own message is among the matches.
fn found(message: &Message) -> (BTreeSet<&'static str>, bool) {
    let (mut tells, mut own) = (BTreeSet::new(), false);
    read(message, &mut |entry| {
        for (_, known) in Recogniser::default().recognise(entry).messages() {
            own |= known.message.example == message.example;
            tells.insert(match known.meaning {
                Meaning::Symptom(_, other) => other.name,
                Meaning::Correlated(name) => name,
                Meaning::Normal => "normal work",
            });
        }
    });
    (tells, own)
}

/// Every symptom with each of its messages.
fn messages() -> impl Iterator<Item = (&'static Symptom, &'static Message)> {
    all().flat_map(|symptom| symptom.messages.iter().map(move |message| (symptom, message)))
}

#[test]
fn every_example_has_only_its_own_meaning() {
    let told = messages().map(|(symptom, message)| (symptom.name, message));
    let normal = normal_messages().map(|message| ("normal work", message));
    let correlated = CORRELATED.iter().flat_map(|(name, all)| all.iter().map(|message| (*name, message)));
    let wrong: Vec<String> = told
        .chain(normal)
        .chain(correlated)
        .filter_map(|(name, message)| {
            let (tells, own) = found(message);
            let right = own && tells.iter().eq([&name]);
            (!right).then(|| format!("{name}: {tells:?} (itself: {own}) by {}", message.example))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_reason_to_leave_a_node_alone_has_messages() {
    const EVENTS: [&str; 7] = [
        "Unconsolidatable",
        "ConsolidationRejected",
        "DisruptionBlocked",
        "FailedDraining",
        "FailedTermination",
        "ZonalShiftActive",
        "ZonalShiftCleared",
    ];
    let mut used = BTreeSet::new();
    for known in index().all() {
        let Wording::Event { reason, .. } = known.message.pattern.wording else { continue };
        let mut ids = Vec::new();
        read(known.message, &mut |entry| ids.extend(Recogniser::default().recognise(entry).ids()));
        let blockers: Vec<Blocker> = ids
            .into_iter()
            .filter_map(|id| if let MessageId::Blocked(blocker) = id { Some(blocker) } else { None })
            .collect();
        let is_other_wording = known.message.pattern.id.is_none();
        let expected = usize::from(EVENTS.contains(&reason) && !is_other_wording);
        assert_eq!(blockers.len(), expected, "{blockers:?} in {}", known.message.example);
        used.extend(blockers);
    }
    assert!(used.iter().eq(&Blocker::ALL), "{used:?}");
    let names: BTreeSet<&str> = Blocker::ALL.iter().map(|blocker| blocker.name()).collect();
    assert_eq!(names.len(), Blocker::ALL.len());
}

#[test]
fn every_example_has_its_detail() {
    let mut wrong = Vec::new();
    for (symptom, message) in messages() {
        let mut details = Vec::new();
        read(message, &mut |entry| details = super::fields::details(message.detail, entry));
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
fn every_example_is_of_a_release_of_its_message() {
    let mut wrong = Vec::new();
    for known in index().all() {
        let message = known.message;
        assert!(!message.releases.is_empty(), "{}", message.example);
        let value: serde_json::Value = serde_json::from_str(message.example).unwrap_or_default();
        if let Some(commit) = value["commit"].as_str() {
            let release = commits::release(commit).unwrap();
            if !message.releases.contains(release) {
                wrong.push(format!("{release} is not in {}: {}", message.releases, message.example));
            }
        }
        if let Wording::Log { level, .. } = message.pattern.wording {
            let written = value["level"].as_str().unwrap();
            if !format!("{level:?}").eq_ignore_ascii_case(written) {
                wrong.push(format!("{level:?}: {}", message.example));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names_are_unique_and_texts_complete() {
    let mut names = BTreeSet::new();
    for symptom in all() {
        let kebab = symptom
            .name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'-' || byte.is_ascii_digit());
        assert!(kebab && names.insert(symptom.name), "{}", symptom.name);
        for text in [symptom.summary, symptom.says, symptom.remedy, symptom.cause] {
            assert!(!text.trim().is_empty(), "{}", symptom.name);
        }
        for text in [symptom.summary, symptom.says] {
            assert!(!text.ends_with('.'), "{}: {text}", symptom.name);
        }
        assert!(!symptom.references.is_empty(), "{} has no reference", symptom.name);
    }
}

#[test]
fn every_pattern_can_be_looked_up() {
    let wrong = messages().count();
    assert!(wrong >= 80, "{wrong}");
    for known in index().all() {
        let texts = match &known.message.pattern.wording {
            Wording::Log { message, error, .. } => [*message, *error],
            Wording::Event { message, .. }
            | Wording::Condition { message, .. }
            | Wording::Anywhere(message) => [*message, Text::Any],
            Wording::Panic => continue,
        };
        let searched = texts.iter().any(|text| matches!(text, Text::Is(_) | Text::Starts(_)));
        let pieces = texts.iter().all(|text| match text {
            Text::Has(pieces) | Text::HasBut(pieces, _) => pieces.iter().any(|piece| piece.len() >= 4),
            _ => true,
        });
        let is_event =
            matches!(known.message.pattern.wording, Wording::Event { .. } | Wording::Condition { .. });
        assert!(is_event || searched || pieces, "{}", known.message.example);
    }
}

#[test]
fn one_line_gives_a_diagnosis_if_one_is_enough() {
    for (symptom, message) in messages() {
        if !matches!(symptom.when, When::Always | When::Unresolved { .. }) {
            continue;
        }
        let mut tally = Tally::default();
        read(message, &mut |entry| tally.observe(Recogniser::default().recognise(entry)));
        let diagnoses = tally.diagnoses(ClusterId::FIRST);
        assert_eq!(diagnoses.len(), 1, "{}: {}", symptom.name, message.example);
        assert_eq!(diagnoses[0].symptom.name, symptom.name);
        assert!(!diagnoses[0].message.contains('{'), "{}", diagnoses[0].message);
        let sure = diagnoses[0].confidence;
        assert!(
            sure == symptom.confidence
                || matches!(message.pattern.wording, Wording::Anywhere(_) | Wording::Panic),
            "{sure:?}"
        );
        assert!(sure <= Confidence::Possible && tally.releases().meets(Releases::ALL));
    }
}
