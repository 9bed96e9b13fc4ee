//! Functions of strings.
//!
//! Reference: zclconf/go-cty `cty/function/stdlib/string.go` and hashicorp/terraform `internal/lang/funcs/string.go`.

use super::chars::{characters, lower as lower_char, upper as upper_char};
use super::spelled::{ends_with, placeholders, starts_with};
use super::{Answer, Call};
use crate::text::{EvaluatedText, TextBuilder};
use crate::types::Type;
use crate::value::{Data, EvaluatedValue};

fn text<'c>(call: &'c Call<'_>, index: usize) -> Result<&'c EvaluatedText, String> {
    call.argument(index)?.as_text().ok_or_else(|| "The argument must be a string.".to_owned())
}

/// The reason for which a text with placeholders has no value.
const DEPENDS: &str = "The result depends on a value that is not known.";

/// A part of a string argument, with its places.
fn part(call: &Call<'_>, index: usize, kept: &str) -> Answer {
    let whole = text(call, index)?;
    let start = kept.as_ptr().addr().saturating_sub(whole.as_str().as_ptr().addr());
    let part = whole.slice(start, start + kept.len());
    // Without blanks around it, the text has the same value.
    let encoded = whole.encoded().filter(|_| whole.as_str().trim() == kept.trim());
    let part = encoded.map_or(part.clone(), |value| part.with_encoded(value.clone()));
    Ok(EvaluatedValue::text(part, call.place))
}

pub(super) fn upper(call: &Call<'_>) -> Answer {
    call.string(call.str(0)?.chars().map(upper_char).collect::<String>())
}

pub(super) fn lower(call: &Call<'_>) -> Answer {
    call.string(call.str(0)?.chars().map(lower_char).collect::<String>())
}

/// Capitals after what Go takes as the end of a word: golang/go `src/strings/strings.go`, isSeparator.
pub(super) fn title(call: &Call<'_>) -> Answer {
    let mut previous = ' ';
    let titled = call.str(0)?.chars().map(|char| {
        let is_within = if previous.is_ascii() {
            previous.is_ascii_alphanumeric() || previous == '_'
        } else {
            previous.is_alphanumeric() || !previous.is_whitespace()
        };
        previous = char;
        if is_within { char } else { upper_char(char) }
    });
    call.string(titled.collect::<String>())
}

pub(super) fn chomp(call: &Call<'_>) -> Answer {
    let value = call.str(0)?;
    part(call, 0, value.trim_end_matches(['\r', '\n']))
}

pub(super) fn trimspace(call: &Call<'_>) -> Answer {
    part(call, 0, call.str(0)?.trim())
}

pub(super) fn trim(call: &Call<'_>) -> Answer {
    let set: Vec<char> = call.str(1)?.chars().collect();
    let kept = call.str(0)?.trim_matches(set.as_slice());
    if !call.is_known(0) || !call.is_known(1) {
        let placeholders = placeholders(kept);
        let is_edge = |edge: usize| placeholders.iter().any(|span| span.start == edge || span.end == edge);
        let is_cut = set.iter().any(|char| "${}".contains(*char));
        if !call.is_known(1) || is_cut || is_edge(0) || is_edge(kept.len()) {
            return Err(DEPENDS.to_owned());
        }
    }
    part(call, 0, kept)
}

pub(super) fn trimprefix(call: &Call<'_>) -> Answer {
    let (value, prefix) = (call.str(0)?, call.str(1)?);
    let is_certain = call.is_known(1) && (call.is_known(0) || starts_with(value, prefix).is_some());
    if !is_certain {
        return Err(DEPENDS.to_owned());
    }
    part(call, 0, value.strip_prefix(prefix).unwrap_or(value))
}

pub(super) fn trimsuffix(call: &Call<'_>) -> Answer {
    let (value, suffix) = (call.str(0)?, call.str(1)?);
    let is_certain = call.is_known(1) && (call.is_known(0) || ends_with(value, suffix).is_some());
    if !is_certain {
        return Err(DEPENDS.to_owned());
    }
    part(call, 0, value.strip_suffix(suffix).unwrap_or(value))
}

pub(super) fn startswith(call: &Call<'_>) -> Answer {
    call.bool(call.str(0)?.starts_with(call.str(1)?))
}

pub(super) fn endswith(call: &Call<'_>) -> Answer {
    call.bool(call.str(0)?.ends_with(call.str(1)?))
}

pub(super) fn strcontains(call: &Call<'_>) -> Answer {
    call.bool(call.str(0)?.contains(call.str(1)?))
}

pub(super) fn strrev(call: &Call<'_>) -> Answer {
    match characters(call.str(0)?) {
        Some(characters) => call.string(characters.into_iter().rev().collect::<String>()),
        None => call.unknown(Type::String),
    }
}

pub(super) fn substr(call: &Call<'_>) -> Answer {
    let Some(characters) = characters(call.str(0)?) else { return call.unknown(Type::String) };
    let (offset, length) = (call.int(1)?, call.int(2)?);
    let count = i64::try_from(characters.len()).unwrap_or(i64::MAX);
    let offset = if offset < 0 { (offset + count).max(0) } else { offset };
    let start = usize::try_from(offset).unwrap_or(usize::MAX);
    // Behind a negative offset, no length is any length.
    let is_open = length < 0 || length == 0 && call.int(1)? < 0;
    let length = usize::try_from(length).ok().filter(|_| !is_open).unwrap_or(usize::MAX);
    call.string(characters.into_iter().skip(start).take(length).collect::<String>())
}

pub(super) fn indent(call: &Call<'_>) -> Answer {
    let spaces = usize::try_from(call.int(0)?).map_err(|_| "The number of spaces is negative.")?;
    let value = text(call, 1)?;
    let (lines, bytes) = value.size();
    call.spend_text(lines.saturating_mul(spaces).saturating_add(bytes))?;
    Ok(EvaluatedValue::text(value.indented(&" ".repeat(spaces), call.place), call.place))
}

pub(super) fn split(call: &Call<'_>) -> Answer {
    let (separator, value) = (call.str(0)?, text(call, 1)?);
    let whole = value.as_str();
    let part = |start: usize, end: usize| EvaluatedValue::text(value.slice(start, end), call.place);
    let mut parts = Vec::new();
    if separator.is_empty() {
        call.spend(whole.len())?;
        parts.extend(whole.char_indices().map(|(start, char)| part(start, start + char.len_utf8())));
    } else {
        let mut at = 0;
        for piece in whole.split(separator) {
            call.spend(1)?;
            parts.push(part(at, at + piece.len()));
            at += piece.len() + separator.len();
        }
    }
    call.value(Data::List(Type::String, parts.into_iter().collect()))
}

pub(super) fn join(call: &Call<'_>) -> Answer {
    let separator = text(call, 0)?;
    if call.arguments.len() < 2 {
        return Err("The function takes at least one list.".to_owned());
    }
    let mut builder = TextBuilder::default();
    let mut is_first = true;
    for list in 1..call.arguments.len() {
        for item in call.items(list)? {
            let text = item.as_text().ok_or("An element of the list is null.")?;
            if !core::mem::take(&mut is_first) {
                builder.push(separator.as_str(), call.place, false);
            }
            builder.push_text(text);
            call.spend_text(text.as_str().len() + separator.as_str().len())?;
        }
    }
    Ok(EvaluatedValue::text(builder.finish(), call.place))
}
