//! Regular expressions.
//!
//! Reference: zclconf/go-cty `cty/function/stdlib/regexp.go`, `cty/function/stdlib/string_replace.go`, and golang/go `src/regexp/syntax`.

use std::sync::Arc;

use manifest::source::Span;
use regex_lite::{Captures, Regex};

use super::spelled::{may_straddle, placeholders};
use super::{Answer, Call};
use crate::text::TextBuilder;
use crate::types::Type;
use crate::value::{Data, EvaluatedMember, EvaluatedValue};

/// A pattern that both libraries read alike.
enum Pattern {
    Read(Regex),
    /// The pattern is not a regular expression for either of them.
    Wrong,
    /// Only Go may know what the pattern means.
    Other,
}

impl Pattern {
    fn read(pattern: &str, text: &str) -> Self {
        let is_folding =
            pattern.contains("(?") && pattern.contains('i') && !(pattern.is_ascii() && text.is_ascii());
        match Regex::new(pattern) {
            Ok(_) if is_folding || !is_common(pattern) => Self::Other,
            Ok(regex) => Self::Read(regex),
            // Unicode classes and the like are not in this library.
            Err(_) if !is_common(pattern) => Self::Other,
            Err(_) if is_unbalanced(pattern) => Self::Wrong,
            Err(_) => Self::Other,
        }
    }
}

/// Whether a pattern has only what both libraries read alike.
fn is_common(pattern: &str) -> bool {
    let mut chars = pattern.chars().peekable();
    let mut depth = 0;
    while let Some(char) = chars.next() {
        match char {
            '\\' => {
                let is_known = chars.next().is_some_and(|next| {
                    "dDsSwWbBAznrtfv".contains(next) || next.is_ascii_punctuation() && !"<>".contains(next)
                });
                if !is_known {
                    return false;
                }
            }
            '[' if depth > 0 && chars.peek() != Some(&':') => return false,
            '[' => depth += 1,
            ']' if depth > 0 => depth -= 1,
            '&' | '~' | '-' if depth > 0 && chars.peek() == Some(&char) => return false,
            '(' if chars.peek() == Some(&'?') => {
                chars.next();
                if !matches!(chars.peek(), Some(':' | 'P' | 'i' | 's' | 'm' | '-' | '<')) {
                    return false;
                }
            }
            '{' if chars.peek().is_some_and(char::is_ascii_digit) => {
                let bounds: String = chars.by_ref().take_while(|next| *next != '}').collect();
                if bounds.split(',').any(|bound| bound.parse::<u32>().is_ok_and(|bound| bound > 1000)) {
                    return false;
                }
            }
            // A literal brace is an error in one library.
            '{' | '}' => return false,
            _ => {}
        }
    }
    depth == 0
}

/// Whether brackets are open at the end of a pattern, which no library reads.
fn is_unbalanced(pattern: &str) -> bool {
    let count = |char: char| pattern.matches(char).count();
    !pattern.contains('\\') && (count('[') != count(']') || count('(') != count(')'))
}

/// The type of a match: a string, a tuple of groups, or an object of named groups. Go refuses names beside groups without.
fn is_named(regex: &Regex) -> Result<Option<bool>, String> {
    let names: Vec<Option<&str>> = regex.capture_names().skip(1).collect();
    let with_name = names.iter().flatten().count();
    match (names.len(), with_name) {
        (0, _) => Ok(None),
        (_, 0) => Ok(Some(false)),
        (all, with_name) if all == with_name => Ok(Some(true)),
        _ => Err("The pattern has groups with names and groups without.".to_owned()),
    }
}

fn found(call: &Call<'_>, regex: &Regex, captures: &Captures<'_>) -> Answer {
    let group = |index: usize| match captures.get(index) {
        Some(group) => EvaluatedValue::string(group.as_str(), call.place),
        None => EvaluatedValue::null(Type::String, call.place),
    };
    Ok(match is_named(regex)? {
        None => group(0),
        Some(false) => EvaluatedValue::tuple((1..captures.len()).map(group), call.place),
        Some(true) => {
            let member = |(index, name): (usize, Option<&str>)| {
                Some((Arc::from(name?), EvaluatedMember { key: call.place, value: group(index) }))
            };
            EvaluatedValue::object(regex.capture_names().enumerate().filter_map(member), call.place)
        }
    })
}

fn result_type(regex: &Regex) -> Type {
    match is_named(regex) {
        Ok(Some(false)) => Type::Tuple(regex.capture_names().skip(1).map(|_| Type::String).collect()),
        Ok(Some(true)) => {
            Type::object(regex.capture_names().flatten().map(|name| (Arc::from(name), Type::String)))
        }
        _ => Type::String,
    }
}

pub(super) fn regex(call: &Call<'_>) -> Answer {
    let (pattern, text) = (call.str(0)?, call.str(1)?);
    call.spend_text(pattern.len().saturating_mul(64).saturating_add(text.len()))?;
    match Pattern::read(pattern, text) {
        Pattern::Read(regex) => {
            is_named(&regex)?;
            let captures = regex.captures(text).ok_or("The pattern does not match the string.")?;
            found(call, &regex, &captures)
        }
        Pattern::Wrong => Err("The pattern is not a regular expression.".to_owned()),
        Pattern::Other => call.unknown(Type::Dynamic),
    }
}

pub(super) fn regexall(call: &Call<'_>) -> Answer {
    let (pattern, text) = (call.str(0)?, call.str(1)?);
    call.spend_text(pattern.len().saturating_mul(64).saturating_add(text.len()))?;
    match Pattern::read(pattern, text) {
        Pattern::Read(regex) => {
            let mut all = Vec::new();
            is_named(&regex)?;
            for captures in regex.captures_iter(text) {
                call.spend(1)?;
                all.push(found(call, &regex, &captures)?);
            }
            call.value(Data::List(result_type(&regex), all.into_iter().collect()))
        }
        Pattern::Wrong => Err("The pattern is not a regular expression.".to_owned()),
        Pattern::Other => call.unknown(Type::Dynamic),
    }
}

/// `replace`: of a string, or of a regular expression between slashes. A replacement may be a placeholder, unless `$` in it has a meaning. The text
/// may have placeholders, unless the pattern may match a part of one.
pub(super) fn replace(call: &Call<'_>) -> Answer {
    let (text, pattern, replacement) = (call.str(0)?, call.str(1)?, call.str(2)?);
    let inner = pattern.strip_prefix('/').and_then(|pattern| pattern.strip_suffix('/'));
    let inner = inner.filter(|_| pattern.len() > 1);
    if !call.is_known(1) || inner.is_some() && !call.is_known(2) {
        return call.unknown(Type::String);
    }
    call.spend_text(text.len().saturating_add(1).saturating_mul(replacement.len().saturating_add(1)))?;
    let replaced: Vec<(Span, String)> = match inner.map(|inner| Pattern::read(inner, text)) {
        None => {
            let matches =
                text.match_indices(pattern).map(|(start, found)| Span::new(start, start + found.len()));
            matches.map(|found| (found, replacement.to_owned())).collect()
        }
        // `$name` of Go takes as many word characters as it can, as here; `$` alone is itself in both.
        Some(Pattern::Read(regex)) => {
            regex.captures_iter(text).map(|captures| expanded(&captures, replacement)).collect()
        }
        Some(Pattern::Wrong) => return Err("The pattern is not a regular expression.".to_owned()),
        Some(Pattern::Other) => return call.unknown(Type::String),
    };
    let placeholders = if call.is_known(0) { Vec::new() } else { placeholders(text) };
    if is_within_values(text, inner.unwrap_or(pattern), inner.is_some(), &placeholders, &replaced) {
        return call.unknown(Type::String);
    }
    with_replacements(call, placeholders, replaced)
}

/// The bytes of a match, and the text that replaces them.
fn expanded(captures: &Captures<'_>, replacement: &str) -> (Span, String) {
    let mut text = String::new();
    captures.expand(replacement, &mut text);
    let whole = captures.get(0).map_or(0..0, |whole| whole.range());
    (Span::new(whole.start, whole.end), text)
}

/// Whether a pattern may match a part of the value of a placeholder together with the text around it.
fn is_within_values(
    text: &str,
    pattern: &str,
    is_regex: bool,
    placeholders: &[Span],
    replaced: &[(Span, String)],
) -> bool {
    /// Parts of patterns that match almost any text.
    const WIDE: [&str; 6] = [".", "[^", "\\S", "\\W", "\\D", "(?"];
    let is_cut = |found: &Span| {
        placeholders.iter().any(|placeholder| found.start < placeholder.end && placeholder.start < found.end)
    };
    let is_wide = if is_regex {
        WIDE.iter().any(|part| pattern.contains(part))
    } else {
        pattern.is_empty() || may_straddle(text, pattern, placeholders)
    };
    let is_whole = |placeholder: &Span| *placeholder == Span::whole(text);
    !placeholders.is_empty()
        && (is_wide || placeholders.iter().any(is_whole) || replaced.iter().any(|(found, _)| is_cut(found)))
}

/// The text with its replacements, each part with its place. The value of a placeholder may have matches too.
fn with_replacements(call: &Call<'_>, placeholders: Vec<Span>, mut replaced: Vec<(Span, String)>) -> Answer {
    let text = call.argument(0)?.as_text().ok_or("The argument must be a string.")?;
    if !placeholders.is_empty() && !text.directives().is_empty() {
        return call.unknown(Type::String);
    }
    replaced.extend(placeholders.into_iter().map(|span| {
        let whole = span.text(text.as_str());
        let name = whole.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).unwrap_or(whole);
        (span, format!("${{replace({name})}}"))
    }));
    replaced.sort_by_key(|(span, _)| span.start);
    let (mut builder, mut at) = (TextBuilder::default(), 0);
    for (span, new) in replaced {
        builder.push_range(text, at, span.start);
        builder.push(&new, call.place, false);
        at = span.end;
    }
    builder.push_range(text, at, text.as_str().len());
    call.spend_text(builder.len())?;
    Ok(EvaluatedValue::text(builder.finish(), call.place))
}
