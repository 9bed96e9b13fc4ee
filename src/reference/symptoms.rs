//! The pages of symptoms.

use std::fmt::Write as _;

use super::catalog::{Entry, catalog};
use super::{Page, index, page, sentence};
use crate::rules::REGISTRY;
use lint::finding::{CaughtBy, Family};
use lint::report::{Confidence, url};
use lint::rule::Fixes;
use symptoms::entry::Level;
use symptoms::vocabulary::{CORRELATED, Message, Seen, Text, When};
use symptoms::{Symptom, all};

/// The page of every rule and symptom, and `README.md` as their index.
pub fn pages() -> Vec<Page> {
    let readme = ("README.md".to_owned(), index(&with_symptoms()));
    let rules = REGISTRY.rules().map(|rule| (format!("{}.md", rule.name), page(rule)));
    let symptoms = all().map(|symptom| (format!("{}.md", symptom.name), page_of_symptom(symptom)));
    std::iter::once(readme).chain(rules).chain(symptoms).collect()
}

impl Entry {
    /// What is said of a symptom.
    pub fn of_symptom(symptom: &Symptom) -> Self {
        let (since, until) = symptom.releases().ends();
        Self {
            name: symptom.name,
            family: Family::Symptoms,
            severity: symptom.severity,
            // What several lines tell together nobody says.
            caught_by: if symptom.messages.is_empty() { CaughtBy::Nobody } else { CaughtBy::Controller },
            since,
            until,
            releases: symptom.releases().to_string(),
            fix: Fixes::None.name(),
            summary: symptom.summary,
            url: url(symptom.name),
        }
    }
}

/// All rules and symptoms: by family, then by name.
pub fn with_symptoms() -> Vec<Entry> {
    let mut symptoms: Vec<Entry> = all().map(Entry::of_symptom).collect();
    symptoms.sort_by_key(|entry| entry.name);
    let mut entries = catalog();
    entries.extend(symptoms);
    entries
}

/// The page of a symptom: its title, its facts, what it means, why it comes to it and what to do, and what is said.
pub fn page_of_symptom(symptom: &Symptom) -> String {
    let mut page = format!("# {}\n\n{}.\n\n", symptom.name, sentence(symptom.summary));
    let confidence = match symptom.confidence {
        Confidence::Certain => "certain",
        Confidence::Likely => "likely",
        Confidence::Possible => "possible",
    };
    let _ = writeln!(page, "- Family: `symptoms`, which `karpwarden diagnose` finds");
    let _ = writeln!(page, "- Severity: {}", symptom.severity);
    let _ = writeln!(page, "- Confidence: {confidence}");
    let _ = writeln!(page, "- Releases: {}", symptom.releases());
    let said = symptom.says.replace(['{', '}'], "");
    let _ = writeln!(page, "\n## What it means\n\n{}. {}", sentence(&said), from_when(symptom.when));
    let _ = writeln!(page, "\n## Why it comes to this\n\n{}", symptom.cause.trim());
    let _ = writeln!(page, "\n## What to do\n\n{}.", sentence(symptom.remedy.trim_end_matches('.')));
    let messages = messages(symptom);
    if !messages.is_empty() {
        page.push_str("\n## What is said\n\n| where | releases | words | source |\n|---|---|---|---|\n");
        for Message { seen, releases, source, .. } in messages {
            let _ =
                writeln!(page, "| {} | {} | {} | {source} |", place(seen), releases, words(seen));
        }
        page.push_str("\nFor example:\n\n```text\n");
        for message in messages {
            let _ = writeln!(page, "{}", message.example);
        }
        page.push_str("```\n");
    }
    if !symptom.rules.is_empty() {
        page.push_str("\n## Rules that find it beforehand\n\n");
        for rule in symptom.rules {
            let _ = writeln!(page, "- [{rule}]({})", url(rule));
        }
    }
    page.push_str("\n## References\n\n");
    for reference in symptom.references {
        let _ = writeln!(page, "- {reference}");
    }
    page
}

/// The messages of a symptom: its own, or those that the vocabulary keeps for the correlation of its name.
fn messages(symptom: &Symptom) -> &'static [Message] {
    if !symptom.messages.is_empty() {
        return symptom.messages;
    }
    CORRELATED.iter().find(|(name, _)| *name == symptom.name).map_or(&[], |(_, messages)| messages)
}

/// From when on a diagnosis is given, as a sentence.
fn from_when(when: When) -> String {
    match when {
        When::Always => "Said once is enough.".to_owned(),
        When::Often { count, minutes } => {
            format!("Less than {count} times within {minutes} minutes is part of normal work.")
        }
        When::Repeated { count } => {
            format!("Less than {count} times for one and the same object is part of normal work.")
        }
        When::Lasting { minutes } => {
            format!("For less than {minutes} minutes without a break it is part of normal work.")
        }
        When::Unresolved { minutes, .. } => format!(
            "Where it passed within {minutes} minutes it was part of normal work, and nothing is said of it."
        ),
        When::Correlated => "One message alone does not tell it: what else was said decides.".to_owned(),
    }
}

fn place(seen: &Seen) -> String {
    match seen {
        Seen::Log { level, controllers, .. } => {
            let level = match level {
                Level::Debug => "DEBUG",
                Level::Info => "INFO",
                Level::Warn => "WARN",
                Level::Error => "ERROR",
                Level::Panic => "PANIC",
            };
            let controllers = controllers.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>();
            let of = if controllers.is_empty() {
                String::new()
            } else {
                format!(" of {}", controllers.join(", "))
            };
            format!("log, {level}{of}")
        }
        Seen::Event { reason: "", .. } => "event".to_owned(),
        Seen::Event { reason, .. } => format!("event `{reason}`"),
        Seen::Condition { kind, condition, status, reason, .. } => {
            let status = if status.is_empty() { String::new() } else { format!("={status}") };
            let reason = if reason.is_empty() { String::new() } else { format!(", reason `{reason}`") };
            format!("condition `{condition}{status}` of a {kind}{reason}")
        }
        Seen::Words(_) => "any text".to_owned(),
    }
}

fn words(seen: &Seen) -> String {
    let texts = match seen {
        Seen::Log { message, error, .. } => [*message, *error],
        Seen::Event { message, .. } | Seen::Condition { message, .. } | Seen::Words(message) => {
            [*message, Text::Any]
        }
    };
    let texts = texts.iter().filter(|text| !matches!(text, Text::Any));
    let quoted = texts.map(|text| match text {
        Text::Any => String::new(),
        Text::Is(words) => code(words),
        Text::Starts(words) => format!("{} …", code(words)),
        Text::Has(pieces) | Text::HasBut(pieces, _) => {
            pieces.iter().map(|piece| code(piece)).collect::<Vec<_>>().join(" … ")
        }
    });
    quoted.collect::<Vec<_>>().join(", error ")
}

fn code(words: &str) -> String {
    format!("`{}`", words.trim().replace('|', "\\|"))
}
