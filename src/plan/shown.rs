//! Short texts of a value before and after a change, which show the difference.

use std::collections::BTreeSet;

use answers::plan::PlanAnswer;
use manifest::tree::{Node, Value, items_of};
use objects::requirement::{RequirementItem, RequirementList};
use serde_json::Value as Json;

use super::spelling::characters;

/// Number of characters of a value that are shown.
const MAX_SHOWN: usize = 60;

/// Number of characters of a list or of a map that are shown.
const MAX_SHOWN_LIST: usize = 160;

/// Number of equal characters before the difference that are shown.
const CONTEXT: usize = 16;

/// Number of bytes of a fingerprint and the space before it.
const FINGERPRINT: usize = 13;

/// The list whose items are shown in the words of Kubernetes.
const REQUIREMENTS: &str = "spec.template.spec.requirements";

/// A value before and after a change. Of long values, only what differs is shown. Both texts are equal if only the meaning of the value
/// changes.
pub(super) fn shown(path: &str, old: Option<Node<'_>>, new: Option<Node<'_>>) -> (String, String) {
    let (Some(one), Some(other)) = (old, new) else {
        return (old.map(alone).unwrap_or_default(), new.map(alone).unwrap_or_default());
    };
    // A value to which the text refers has changed, also one that only the fingerprint of a placeholder shows.
    if json(one) == json(other) {
        return (alone(one), alone(other));
    }
    if path == REQUIREMENTS {
        return (requirements(one, other), requirements(other, one));
    }
    if one.is_sequence() && other.is_sequence() {
        return (items(one, other), items(other, one));
    }
    let (one, other) = (text(one), text(other));
    (different(&one, &other), different(&other, &one))
}

fn alone(node: Node<'_>) -> String {
    let text = text(node);
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let limit = if node.is_sequence() || node.is_mapping() { MAX_SHOWN_LIST } else { MAX_SHOWN };
    let is_cut = lines.next().is_some();
    if text.is_empty() { "\"\"".to_owned() } else { cut(first, limit, is_cut) }
}

fn text(node: Node<'_>) -> String {
    match node.value() {
        Value::String(text) => without_fingerprints(text),
        _ => json(node),
    }
}

fn json(node: Node<'_>) -> String {
    let mut value = node.to_json();
    hide_fingerprints(&mut value);
    value.to_string()
}

/// Shows the strings of a value without the fingerprints of their placeholders.
fn hide_fingerprints(value: &mut Json) {
    match value {
        Json::String(text) => *text = without_fingerprints(text),
        Json::Array(items) => {
            for item in items {
                hide_fingerprints(item);
            }
        }
        Json::Object(members) => {
            for (key, mut member) in std::mem::take(members) {
                hide_fingerprints(&mut member);
                members.insert(without_fingerprints(&key), member);
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// A text without the fingerprints at the end of its placeholders, such as in `${var.a 0123456789ab}`. They tell nobody anything, and the one of a
/// sensitive value must not be shown.
fn without_fingerprints(text: &str) -> String {
    let starts = text.match_indices("${").map(|(at, mark)| at + mark.len());
    let fingerprints: BTreeSet<usize> = starts.filter_map(|start| fingerprint(text, start)).collect();
    let (mut shown, mut from) = (String::new(), 0);
    for at in fingerprints {
        shown.push_str(text.get(from..at).unwrap_or_default());
        from = at + FINGERPRINT;
    }
    shown + text.get(from..).unwrap_or_default()
}

/// The place of the fingerprint, with the space before it, in the placeholder whose name starts at a byte. The name is an expression, which may
/// have brackets and strings.
fn fingerprint(text: &str, start: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let is_end = |(_, char, is_text): &(usize, char, bool)| match char {
        _ if *is_text => false,
        '}' if depth == 0 => true,
        '{' | '}' => {
            depth = if *char == '{' { depth + 1 } else { depth - 1 };
            false
        }
        _ => false,
    };
    let name = text.get(start..)?;
    let before = |end: usize| {
        let at = end.checked_sub(FINGERPRINT).filter(|at| *at > 0)?;
        let digits = name.get(at..end)?.strip_prefix(' ')?;
        digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then_some(start + at)
    };
    match characters(name).find(is_end) {
        Some((end, ..)) => before(end),
        // A quote in a string may have lost its backslash.
        None => name.match_indices('}').find_map(|(end, _)| before(end)),
    }
}

/// The start of a line; an ellipsis replaces the rest.
fn cut(line: &str, limit: usize, has_more: bool) -> String {
    let start: String = line.chars().take(limit).collect();
    if has_more || start.len() < line.len() { format!("{start}…") } else { start }
}

/// The first line of a text that another text lacks at this place, from shortly before the difference.
fn different(own: &str, other: &str) -> String {
    if own.is_empty() {
        return "\"\"".to_owned();
    }
    let equal_lines = own.lines().zip(other.lines()).take_while(|(one, other)| one == other).count();
    let mut lines = own.lines().skip(equal_lines).filter(|line| !line.trim().is_empty());
    let Some(line) = lines.next() else { return "…".to_owned() };
    let has_more = lines.next().is_some();
    let beside = other.lines().nth(equal_lines).unwrap_or_default();
    let equal = line.chars().zip(beside.chars()).take_while(|(one, other)| one == other).count();
    let is_long = line.chars().count() > MAX_SHOWN;
    let skipped = if is_long && equal > 2 * CONTEXT { equal - CONTEXT } else { 0 };
    // White space at the end of a line is a difference that nobody sees.
    let spaces = line.chars().count() - line.trim_end().chars().count();
    let marked = format!("{}{}", line.trim_end(), "␣".repeat(spaces));
    let rest: String = marked.chars().skip(skipped).collect();
    let before = if skipped > 0 || equal_lines > 0 { "…" } else { "" };
    format!("{before}{}", cut(&rest, MAX_SHOWN, has_more))
}

/// The items of a list that another list lacks.
fn items(own: Node<'_>, other: Node<'_>) -> String {
    let others: Vec<String> = items_of(Some(other)).map(json).collect();
    let all: Vec<String> = items_of(Some(own)).map(json).collect();
    let is_equal = |item: &&String| !others.contains(item);
    let left: Vec<&str> = all.iter().filter(is_equal).map(String::as_str).collect();
    let dots = if left.len() < all.len() { "…, " } else { "" };
    match (left.is_empty(), all.is_empty()) {
        (true, true) => "[]".to_owned(),
        // The number or the order of the items differs.
        (true, false) => cut(&format!("[{}]", all.join(",")), MAX_SHOWN_LIST, false),
        (false, _) => cut(&format!("[{dots}{}]", left.join(",")), MAX_SHOWN_LIST, false),
    }
}

/// The requirements that another list lacks, such as `karpenter.k8s.aws/instance-family In […, c5d]`: of a long requirement that both
/// lists have with other values, only the values that the other one lacks.
fn requirements(own: Node<'_>, other: Node<'_>) -> String {
    let parts = |list: Node<'_>| -> Vec<(String, Vec<String>)> {
        let part = |item: RequirementItem<'_>| {
            let values: Vec<String> = item.values().map(text).collect();
            let least = item.min_values_node().map(|least| format!(" minValues {}", text(least)));
            let (key, operator) = (item.key().unwrap_or_default(), item.operator_text().unwrap_or_default());
            (format!("{key} {operator}{}", least.unwrap_or_default()), values)
        };
        RequirementList::new(Some(list)).items().map(part).collect()
    };
    let (own, other) = (parts(own), parts(other));
    let mut shown = Vec::new();
    for (head, values) in own.iter().filter(|part| !other.contains(part)) {
        let beside = other.iter().find(|(other, _)| other == head).map(|(_, values)| values);
        let kept = |value: &&String| !beside.is_some_and(|others| others.contains(value));
        let left: Vec<&str> = values.iter().filter(kept).map(String::as_str).collect();
        let all = values.join(", ");
        let list = if values.is_empty() {
            String::new()
        } else if left.len() == values.len() || all.len() <= MAX_SHOWN {
            format!(" [{all}]")
        } else if left.is_empty() {
            " […]".to_owned()
        } else {
            format!(" […, {}]", left.join(", "))
        };
        shown.push(format!("{head}{list}"));
    }
    if shown.is_empty() { "…".to_owned() } else { cut(&shown.join("; "), MAX_SHOWN_LIST, false) }
}

/// Shows the names that only Terraform knows without the fingerprints by which a comparison tells them apart.
pub(super) fn show_names(answer: &mut PlanAnswer) {
    let of_changes = answer.changes.iter_mut().flat_map(|one| {
        let paths = one.fields.iter_mut().map(|field| &mut field.path);
        [&mut one.name, &mut one.message].into_iter().chain(&mut one.node_pools).chain(paths)
    });
    let of_findings = answer.findings.iter_mut();
    let of_findings =
        of_findings.flat_map(|one| [&mut one.name, &mut one.path, &mut one.message, &mut one.help]);
    let of_pools = answer.node_pools.iter_mut().map(|pool| &mut pool.name);
    for text in of_changes.chain(of_findings).chain(of_pools).chain([&mut answer.verdict]) {
        if text.contains("${") {
            *text = without_fingerprints(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::without_fingerprints;

    #[test]
    fn only_placeholders_have_fingerprints() {
        for (text, shown) in [
            ("${var.a 0123456789ab}", "${var.a}"),
            ("${var.a} {b 0123456789ab}", "${var.a} {b 0123456789ab}"),
            ("${var.a 0123456789ab}, {b: c 0123456789ab}", "${var.a}, {b: c 0123456789ab}"),
            ("${f({ a = b }, \"}\") 0123456789ab}-${c 0123456789ab}", "${f({ a = b }, \"}\")}-${c}"),
            ("${\"x-${var.s 0123456789ab}\" 0123456789ab}", "${\"x-${var.s}\"}"),
            ("${A%\\\"} ${var.s 0123456789ab}", "${A%\\\"} ${var.s}"),
            ("${f(\"a\"b\") 0123456789ab}", "${f(\"a\"b\")}"),
            ("${var.a 0123456789}", "${var.a 0123456789}"),
        ] {
            assert_eq!(without_fingerprints(text), shown);
        }
    }
}
