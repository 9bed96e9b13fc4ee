//! The messages in Karpenter's source: logs, events and conditions, as lines. The record has a digest of each text.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use symptoms::vocabulary::{Wording, messages};

use super::crd::digest;

/// Folders without messages that a cluster shows.
const SKIPPED: [&str; 5] = [".git", "fake", "hack", "test", "vendor"];
/// Text in the place of a format verb. Patterns of the vocabulary have the constant parts.
const FILLER: &str = "x";

/// A kind of text, as the third word of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Log,
    Event,
    Reason,
    Condition,
}

/// A call or member in Go that has a message, and its arguments by position.
struct Holder {
    start: &'static str,
    texts: &'static [(usize, Place)],
}

/// Sources: logr's `Info` and `Error`; `Event` in pkg/events of kubernetes-sigs/karpenter; `ConditionSet` of
/// awslabs/operatorpkg.
const HOLDERS: [Holder; 6] = [
    Holder { start: ".Info(", texts: &[(0, Place::Log)] },
    Holder { start: ".Error(", texts: &[(1, Place::Log)] },
    Holder { start: "Message:", texts: &[(0, Place::Event)] },
    Holder { start: ".SetFalse(", texts: &[(1, Place::Reason), (2, Place::Condition)] },
    Holder { start: ".SetUnknownWithReason(", texts: &[(1, Place::Reason), (2, Place::Condition)] },
    Holder { start: ".SetTrueWithReason(", texts: &[(1, Place::Reason), (2, Place::Condition)] },
];

/// The lines of the messages in a folder, each with its text.
pub(super) fn lines(folder: &Path) -> Result<BTreeMap<String, String>> {
    let mut lines = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && !SKIPPED.contains(&name.as_str()) {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "go")
                && !name.ends_with("_test.go")
            {
                lines.extend(lines_of(&crate::text(&path)?));
            }
        }
    }
    Ok(lines)
}

/// The lines of one file.
pub(super) fn lines_of(code: &str) -> BTreeMap<String, String> {
    let code: Vec<_> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let mut lines = BTreeMap::new();
    for holder in &HOLDERS {
        for (at, start) in code.match_indices(holder.start) {
            let arguments = arguments(code.get(at + start.len()..).unwrap_or_default());
            for (index, place) in holder.texts {
                let text = arguments.get(*index).and_then(|argument| literal(argument));
                if let Some(text) = text.filter(|text| text.contains(char::is_alphabetic)) {
                    lines.insert(format!("Messages . {} {}", place.word(), digest(&text)), text);
                }
            }
        }
    }
    lines
}

/// Whether the vocabulary knows the text of a line.
pub(super) fn is_known(line: &str, text: &str) -> bool {
    let filled = filled(text);
    let place = line.split(' ').nth(2).unwrap_or_default();
    messages().any(|message| match &message.pattern.wording {
        Wording::Log { message, .. } => place == Place::Log.word() && message.matches(&filled),
        Wording::Event { message, .. } => place == Place::Event.word() && message.matches(&filled),
        Wording::Condition { reason, .. } if place == Place::Reason.word() => *reason == text,
        Wording::Condition { message, .. } => place == Place::Condition.word() && message.matches(&filled),
        Wording::Anywhere(message) => message.matches(&filled),
        Wording::Panic => false,
    })
}

impl Place {
    fn word(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Event => "event",
            Self::Reason => "reason",
            Self::Condition => "condition",
        }
    }
}

/// The first three arguments at the start of a text, up to the parenthesis that closes the call, or the end of a member.
fn arguments(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut depth, mut start, mut quote, mut escaped) = (0_usize, 0, None, false);
    for (at, character) in code.char_indices() {
        if let Some(open) = quote {
            let is_end = open == character && !escaped;
            escaped = open == '"' && character == '\\' && !escaped;
            quote = (!is_end).then_some(open);
            continue;
        }
        match character {
            '"' | '`' => quote = Some(character),
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' if depth > 0 => depth -= 1,
            ')' | '}' | ',' if depth == 0 => {
                found.extend(code.get(start..at));
                start = at + 1;
                if character != ',' || found.len() == 3 {
                    break;
                }
            }
            _ => {}
        }
    }
    found
}

/// The text of a string literal, or of the format in a call of `fmt.Sprintf`.
fn literal(argument: &str) -> Option<String> {
    let argument = argument.trim();
    let argument = argument.strip_prefix("fmt.Sprintf(").unwrap_or(argument).trim_start();
    if let Some(raw) = argument.strip_prefix('`') {
        return raw.split('`').next().map(str::to_owned);
    }
    let mut text = String::new();
    let mut characters = argument.strip_prefix('"')?.chars();
    loop {
        match characters.next()? {
            '"' => return Some(text),
            '\\' => text.push(characters.next()?),
            character => text.push(character),
        }
    }
}

/// A format with a filler in the place of each verb.
fn filled(format: &str) -> String {
    let mut parts = format.split('%');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str(FILLER);
        let verb = part.find(char::is_alphabetic).map_or(part.len(), |at| at + 1);
        text.push_str(part.get(verb..).unwrap_or_default());
    }
    text
}
