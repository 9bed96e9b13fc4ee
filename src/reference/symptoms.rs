//! Pages of symptoms, and all pages of the reference.

use std::fmt::Write as _;

use answers::catalog::{CatalogEntry, Enabled};
use answers::report::{Confidence, url};
use render::sarif::RuleDescription;
use rule::Fixes;
use rule::finding::{CaughtBy, Family};
use symptoms::entry::LogLevel;
use symptoms::vocabulary::{CORRELATED, Message, Text, When, Wording};
use symptoms::{Symptom, all};

use super::catalog::catalog;
use super::index::index;
use super::rule_page::{page, sentence};
use crate::rules::REGISTRY;

/// Page of the reference: its file name, and its text as Markdown.
pub type Page = (String, String);

/// The pages of all rules and symptoms, and `README.md` as their index.
pub fn pages() -> Vec<Page> {
    let readme = ("README.md".to_owned(), index(&with_symptoms()));
    let rules = REGISTRY.rules().map(|rule| (format!("{}.md", rule.name), page(rule)));
    let symptoms = all().map(|symptom| (format!("{}.md", symptom.name), page_of_symptom(symptom)));
    std::iter::once(readme).chain(rules).chain(symptoms).collect()
}

/// Entry of a symptom.
pub fn entry(symptom: &Symptom) -> CatalogEntry {
    let (since, until) = symptom.releases().ends();
    CatalogEntry {
        name: symptom.name,
        family: Family::Symptoms,
        severity: symptom.severity,
        // The controller logs no message about a problem that only a correlation of messages shows.
        caught_by: if symptom.messages.is_empty() { CaughtBy::Nobody } else { CaughtBy::Controller },
        since,
        until,
        releases: symptom.releases().to_string(),
        enabled: Enabled::Default,
        fix: Fixes::None,
        summary: symptom.summary,
        url: url(symptom.name),
    }
}

/// All rules and symptoms, sorted by family, then by name.
pub fn with_symptoms() -> Vec<CatalogEntry> {
    let mut symptoms: Vec<CatalogEntry> = all().map(entry).collect();
    symptoms.sort_by_key(|entry| entry.name);
    let mut entries = catalog();
    entries.extend(symptoms);
    entries
}

/// Description of a symptom for a SARIF report.
pub fn described(symptom: &Symptom) -> RuleDescription {
    RuleDescription {
        name: symptom.name,
        family: Family::Symptoms,
        severity: symptom.severity,
        caught_by: if symptom.messages.is_empty() { CaughtBy::Nobody } else { CaughtBy::Controller },
        summary: symptom.summary,
        documentation: page_of_symptom(symptom),
        has_page: true,
    }
}

/// Page of a symptom as Markdown: title, facts, meaning, cause, remedy, messages and links.
pub fn page_of_symptom(symptom: &Symptom) -> String {
    let mut page = format!("# {}\n\n{}.\n\n", symptom.name, sentence(symptom.summary));
    let confidence = match symptom.confidence {
        Confidence::Certain => "certain",
        Confidence::Likely => "likely",
        Confidence::Possible => "possible",
    };
    let _ = writeln!(page, "- Family: `symptoms`, reported by `karpwarden diagnose`");
    let _ = writeln!(page, "- Severity: {}", symptom.severity);
    let _ = writeln!(page, "- Confidence: {confidence}");
    let _ = writeln!(page, "- Releases: {}", symptom.releases());
    let meaning = symptom.says.replace(" {here}", "").replace(['{', '}'], "");
    let _ = writeln!(page, "\n## What it means\n\n{}. {}", sentence(&meaning), condition(symptom.when));
    let _ = writeln!(page, "\n## Why it happens\n\n{}", symptom.cause.trim());
    let _ = writeln!(page, "\n## What to do\n\n{}.", sentence(symptom.remedy.trim_end_matches('.')));
    page.push_str(&message_table(messages(symptom)));
    if !symptom.rules.is_empty() {
        page.push_str("\n## Rules that find the cause in manifests\n\n");
        for rule in symptom.rules {
            let _ = match url(rule) {
                url if url.is_empty() => writeln!(page, "- `{rule}`"),
                url => writeln!(page, "- [{rule}]({url})"),
            };
        }
    }
    page.push_str("\n## References\n\n");
    for reference in symptom.references {
        let _ = writeln!(page, "- {reference}");
    }
    page
}

/// Section with the messages and an example of each; empty if there are no messages.
fn message_table(messages: &[Message]) -> String {
    let mut text = String::new();
    if messages.is_empty() {
        return text;
    }
    text.push_str("\n## Messages\n\n| where | releases | text | source |\n|---|---|---|---|\n");
    for Message { pattern, releases, source, .. } in messages {
        let (location, releases) = (location(&pattern.wording), *releases);
        let _ = writeln!(text, "| {location} | {releases} | {} | {source} |", words(&pattern.wording));
    }
    text.push_str("\nFor example:\n\n```text\n");
    for message in messages {
        let _ = writeln!(text, "{}", message.example);
    }
    text.push_str("```\n");
    text
}

/// Messages of a symptom, or the messages that the vocabulary lists for its correlation.
fn messages(symptom: &Symptom) -> &'static [Message] {
    if !symptom.messages.is_empty() {
        return symptom.messages;
    }
    CORRELATED.iter().find(|(name, _)| *name == symptom.name).map_or(&[], |(_, messages)| messages)
}

/// Condition for reporting the diagnosis, as a sentence.
fn condition(when: When) -> String {
    match when {
        When::Always => "`diagnose` reports it from the first message on.".to_owned(),
        When::Often { count, minutes } => {
            format!("`diagnose` reports it from {count} messages within {minutes} minutes on.")
        }
        When::Repeated { count } => {
            format!("`diagnose` reports it from {count} messages about the same object on.")
        }
        When::Lasting { minutes } => {
            format!("`diagnose` reports it when it has lasted {minutes} minutes without interruption.")
        }
        When::Unresolved { minutes, .. } => {
            format!("`diagnose` does not report it if it is resolved within {minutes} minutes.")
        }
        When::Correlated => "`diagnose` reports it when several messages together show it.".to_owned(),
    }
}

fn location(wording: &Wording) -> String {
    match wording {
        Wording::Log { level, .. } => {
            let level = match level {
                LogLevel::Debug => "DEBUG",
                LogLevel::Info => "INFO",
                LogLevel::Warn => "WARN",
                LogLevel::Error => "ERROR",
                LogLevel::Panic => "PANIC",
            };
            format!("log, {level}")
        }
        Wording::Event { reason: "", .. } => "event".to_owned(),
        Wording::Event { reason, .. } => format!("event `{reason}`"),
        Wording::Condition { kind, condition, status, reason, .. } => {
            let status = if status.is_empty() { String::new() } else { format!("={status}") };
            let reason = if reason.is_empty() { String::new() } else { format!(", reason `{reason}`") };
            let object = match *kind {
                "" => String::new(),
                "EC2NodeClass" => format!(" of an {kind}"),
                _ => format!(" of a {kind}"),
            };
            format!("condition `{condition}{status}`{object}{reason}")
        }
        Wording::Anywhere(_) => "any text".to_owned(),
        Wording::Panic => "panic".to_owned(),
    }
}

fn words(wording: &Wording) -> String {
    let texts = match wording {
        Wording::Log { message, error, .. } => [*message, *error],
        Wording::Event { message, .. } | Wording::Condition { message, .. } | Wording::Anywhere(message) => {
            [*message, Text::Any]
        }
        Wording::Panic => return "`panic:` … or `fatal error:` …".to_owned(),
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
