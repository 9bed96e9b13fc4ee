//! Suggestions for misspelt words.

/// The candidate nearest to a word, if it is near enough to be meant: at most one edit in three letters, and at most three.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let lower: Vec<char> = word.to_ascii_lowercase().chars().collect();
    let mut bound = (lower.len() / 3).clamp(1, 3);
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
    let word: Vec<char> = word.chars().collect();
    distance(&word, other, edits).is_some()
}

/// The number of letters to insert, delete, replace or swap with a neighbour; `None` beyond the bound. This is the optimal
/// string alignment distance.
fn distance(left: &[char], right: &str, bound: usize) -> Option<usize> {
    let length = right.chars().count();
    // Long words are not misspelt names, and the cost is the product of the lengths.
    if left.len().abs_diff(length) > bound || left.len().max(length) > 100 {
        return None;
    }
    let right: Vec<char> = right.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut next = Vec::with_capacity(row.len());
        next.push(i + 1);
        for (j, b) in right.iter().enumerate() {
            let of = |row: &[usize], at: usize| row.get(at).copied().unwrap_or(usize::MAX / 2);
            let mut cost = (of(&row, j) + usize::from(a != b)).min(of(&row, j + 1) + 1).min(of(&next, j) + 1);
            let swapped = i > 0 && j > 0 && left.get(i - 1) == Some(b) && right.get(j - 1) == Some(a);
            if swapped {
                cost = cost.min(of(&before, j - 1) + 1);
            }
            next.push(cost);
        }
        // A number is at least the smallest of the two rows before it.
        let is_beyond = |row: &[usize]| row.iter().all(|cost| *cost > bound);
        if is_beyond(&row) && is_beyond(&next) {
            return None;
        }
        before = core::mem::replace(&mut row, next);
    }
    row.last().copied().filter(|distance| *distance <= bound)
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
