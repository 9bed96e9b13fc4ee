//! Placeholders between the marks of a template engine: `${X}`, `{{ x }}`, `<x>`.

use core::ops::Range;

use super::is_name_byte;

/// Most bytes in a placeholder. A longer text between two marks is not a placeholder, which keeps the search linear.
const MAX_LENGTH: usize = 512;

/// The first placeholder of a template engine that starts at or after an offset.
pub(super) fn marked_range(text: &str, from: usize) -> Option<Range<usize>> {
    let rest = text.get(from..)?;
    let is_start = |byte| matches!(byte, b'$' | b'(' | b'{' | b'<' | b'%' | b'#' | b'@' | b'_' | b'|');
    let starts = rest.bytes().enumerate().filter(|(_, byte)| is_start(*byte));
    starts.map(|(at, _)| from + at).find_map(|at| Some(at..at + marked_length(text, at)?))
}

/// Length of the placeholder that starts at an offset.
pub(super) fn marked_length(text: &str, at: usize) -> Option<usize> {
    /// Marks that enclose any text.
    const PAIRS: [(&str, &str); 8] = [
        ("${", "}"),
        ("$(", ")"),
        ("{{", "}}"),
        ("{%", "%}"),
        ("%{", "}"),
        ("#{", "}"),
        ("@@", "@@"),
        ("%%", "%%"),
    ];
    let rest = text.get(at..)?;
    match rest.as_bytes() {
        // The alternatives in a reference manual: `720h | Never`.
        [b'|', after @ ..] => {
            let is_apart = after.starts_with(b" ") && text.get(..at)?.ends_with(' ');
            return is_apart.then_some(1);
        }
        // No mark starts with only one of these.
        [b'_', b'_', ..] | [b'(', b'(', ..] | [b'#', b'{', ..] => {}
        [b'_' | b'(' | b'#', ..] => return None,
        _ => {}
    }
    // `objects` writes `${}` for a function of CloudFormation.
    if rest.starts_with("${}") {
        return Some(3);
    }
    if let Some((open, close)) = PAIRS.iter().find(|(open, _)| rest.starts_with(open)) {
        return enclosed(rest, open, close).map(|inner| open.len() + inner.len() + close.len());
    }
    if rest.starts_with('<') {
        return in_angles(rest);
    }
    if let Some(after) = rest.strip_prefix('$') {
        let name = after.bytes().take_while(|byte| is_name_byte(*byte)).count();
        let is_named = after.starts_with(|first: char| first == '_' || first.is_ascii_alphabetic());
        return is_named.then_some(1 + name);
    }
    for (open, close) in [("((", "))"), ("{", "}")] {
        if let Some(inner) = enclosed(rest, open, close).filter(|inner| is_variable(inner)) {
            return Some(open.len() + inner.len() + close.len());
        }
    }
    let before = text.get(..at)?.bytes().next_back();
    let is_apart = |byte: Option<u8>| byte.is_none_or(|byte| !is_name_byte(byte));
    for mark in ["__", "%", "@"] {
        let Some(inner) = enclosed(rest, mark, mark) else { continue };
        let length = 2 * mark.len() + inner.len();
        let is_name = if mark == "__" { is_variable(inner) } else { is_upper_case(inner) };
        if is_name && is_apart(before) && is_apart(rest.as_bytes().get(length).copied()) {
            return Some(length);
        }
    }
    None
}

/// The text between two marks at the start of a text. It is not empty.
fn enclosed<'t>(text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    let inner = text.strip_prefix(open)?;
    let bound = inner.floor_char_boundary(MAX_LENGTH.min(inner.len()));
    let end = inner.get(..bound)?.find(close)?;
    inner.get(..end).filter(|inner| !inner.is_empty())
}

/// Length of a text in angle brackets at the start of a text, such as `<name>`, `<<NAME>>` or `<%= name %>`. A comparison
/// such as `a < b` has a space after the bracket. An input of a `ResourceSet` of Flux, such as `<< inputs.name >>` or `<< if inputs.name >>`, has one too.
///
/// Source: "Resources" in docs/api/v1/resourceset.md of controlplaneio-fluxcd/flux-operator.
fn in_angles(text: &str) -> Option<usize> {
    let marks = text.bytes().take(MAX_LENGTH).take_while(|byte| *byte == b'<').count();
    let inner = enclosed(text.get(marks - 1..)?, "<", ">")?;
    let end = marks + inner.len();
    let closing = text.get(end..)?.bytes().take_while(|byte| *byte == b'>').take(marks).count();
    let is_input = || marks > 1 && closing == marks && inner.contains("inputs");
    (!inner.starts_with([' ', '=']) || is_input()).then_some(end + closing)
}

/// Whether a text is the name of a variable, such as `CLUSTER_NAME` or `cluster.name`.
fn is_variable(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && !text.ends_with('_')
        && text.bytes().all(|byte| is_name_byte(byte) || byte == b'.' || byte == b'-')
}

/// Whether a text is an upper-case name, such as `CLUSTER_NAME`.
fn is_upper_case(text: &str) -> bool {
    is_variable(text) && !text.bytes().any(|byte| byte.is_ascii_lowercase())
}
