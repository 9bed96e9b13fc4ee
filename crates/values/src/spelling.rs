//! Suggestions for misspelt words.

/// Maximum number of letters of a word to compare. Longer words are not misspelt names.
const MAX_LENGTH: usize = 100;

/// The candidate nearest to a word, if it is near enough to be meant: at most one edit in three letters, and at most three.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let lower = word.to_ascii_lowercase();
    let mut bound = (lower.chars().count() / 3).clamp(1, 3);
    let mut nearest = None;
    for candidate in candidates {
        if let Some(distance) = distance(&lower, &candidate.to_ascii_lowercase(), bound) {
            nearest = Some(candidate);
            let Some(nearer) = distance.checked_sub(1) else { break };
            bound = nearer;
        }
    }
    nearest
}

/// Whether a word differs from another by at most `edits` inserted, deleted, replaced or swapped letters.
pub fn is_near(word: &str, other: &str, edits: usize) -> bool {
    distance(word, other, edits).is_some()
}

/// The number of letters to insert, delete, replace or swap with a neighbour; `None` beyond the bound.
fn distance(left: &str, right: &str, bound: usize) -> Option<usize> {
    let (one, other) = (left.chars().count(), right.chars().count());
    // The cost is the product of the lengths.
    if one.abs_diff(other) > bound || one.max(other) > MAX_LENGTH {
        return None;
    }
    Some(strsim::osa_distance(left, right)).filter(|distance| *distance <= bound)
}

/// The hint ` (did you mean `x`?)` for the nearest candidate, or an empty text.
pub fn did_you_mean<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> String {
    nearest(word, candidates).map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

/// Adds a word to a list of words in back-ticks, such as `` `cpu`, `memory` ``.
pub fn add_quoted(list: &mut String, word: &str) {
    list.push_str(if list.is_empty() { "`" } else { ", `" });
    list.push_str(word);
    list.push('`');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_near_names_only() {
        let names = ["restricted-label", "pod-restricted-label", "storageclass-immediate"];
        assert_eq!(nearest("restricted-labels", names), Some("restricted-label"));
        assert_eq!(nearest("storage-class-immediate", names), Some("storageclass-immediate"));
        assert_eq!(nearest("Restricted-Label", names), Some("restricted-label"));
        assert_eq!(nearest("karpetner", ["karpenter"]), Some("karpenter"));
        assert_eq!(nearest("x", names), None);
        assert_eq!(nearest("", ["a"]), Some("a"));
    }
}
