//! Every message is told by its own example, and by nothing else.

use std::collections::BTreeSet;

use super::index::{Tells, index};
use super::{CORRELATED, Detail, Message, NORMAL, Seen, Text, When};
use karpenter::release::Releases;
use manifest::limits::Limits;
use crate::entry::Entry;
use crate::reader::Reader;
use crate::tally::Tally;
use lint::report::Confidence;
use crate::{Symptom, all};

/// Reads an example as users give it: a line of a log, a row of a table of events, an object with its status.
fn read(message: &Message, hear: &mut dyn FnMut(&Entry<'_>)) {
    let value: serde_json::Value = serde_json::from_str(message.example).unwrap_or_default();
    let (name, text) = match message.seen {
        Seen::Log { .. } | Seen::Words(_) => ("log", message.example.to_owned()),
        Seen::Event { .. } => {
            let columns: Vec<&str> = message.example.splitn(5, "   ").collect();
            let (kind, name) = columns[3].split_once('/').unwrap();
            let event = serde_json::json!({
                "apiVersion": "v1", "kind": "Event", "metadata": {"name": "one", "namespace": "default"},
                "type": columns[1], "reason": columns[2], "message": columns[4],
                "involvedObject": {"kind": kind, "name": name},
            });
            // A row without a reason has a column less, which a table of events never has.
            let table = format!("LAST SEEN   TYPE   REASON   OBJECT   MESSAGE\n{}", message.example);
            if columns[2].is_empty() { ("event.json", event.to_string()) } else { ("events", table) }
        }
        Seen::Condition { .. } => {
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
    let mut heard = 0;
    let mut hear = |entry: &Entry<'_>| {
        heard += 1;
        hear(entry);
    };
    let mut reader = Reader::new(name, 0, Limits::DEFAULT);
    reader.feed(format!("{text}\n").as_bytes(), &mut hear);
    reader.finish(&mut hear);
    assert_eq!(heard, 1, "{text}");
}

/// What an example tells, and whether it is its own message that is found.
fn found(message: &Message) -> (BTreeSet<&'static str>, bool) {
    let (mut tells, mut own) = (BTreeSet::new(), false);
    read(message, &mut |entry| {
        for at in index().find(entry).known {
            let known = index().known(at).unwrap();
            own |= known.message.example == message.example;
            tells.insert(match known.tells {
                Tells::Symptom(_, other) => other.name,
                Tells::Correlated(name) => name,
                Tells::Nothing => "normal work",
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
fn every_example_tells_its_symptom_and_nothing_else() {
    let told = messages().map(|(symptom, message)| (symptom.name, message));
    let normal = NORMAL.iter().map(|message| ("normal work", message));
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
fn a_detail_that_is_looked_for_is_found() {
    let mut wrong = Vec::new();
    for (symptom, message) in messages() {
        let mut details = Vec::new();
        read(message, &mut |entry| details = crate::tally::details(message.detail, entry));
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
        read(message, &mut |entry| tally.observe(entry));
        let diagnoses = tally.diagnoses(0);
        assert_eq!(diagnoses.len(), 1, "{}: {}", symptom.name, message.example);
        assert_eq!(diagnoses[0].symptom.name, symptom.name);
        assert!(!diagnoses[0].message.contains('{'), "{}", diagnoses[0].message);
        let sure = diagnoses[0].confidence;
        assert!(sure == symptom.confidence || matches!(message.seen, Seen::Words(_)), "{sure:?}");
        assert!(sure <= Confidence::Possible && tally.releases().meets(Releases::ALL));
    }
}
