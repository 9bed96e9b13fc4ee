//! The nearest of some names to a word that is none of them.

/// The candidate nearest to a word, where one is near enough to be what was meant: at most one edit in three letters.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let mut candidates = candidates.into_iter();
    nearest_of(word, &mut || candidates.next())
}

// What gives the next candidate, for behind `dyn Iterator` the policy module would carry more of each kind of iterator
// than that.
fn nearest_of<'c>(word: &str, next: &mut dyn FnMut() -> Option<&'c str>) -> Option<&'c str> {
    let lower = word.to_ascii_lowercase();
    let mut bound = (word.chars().count() / 3).clamp(1, 3);
    let mut nearest = None;
    while let Some(candidate) = next() {
        if let Some(distance) = distance(&lower, &candidate.to_ascii_lowercase(), bound) {
            nearest = Some(candidate);
            let Some(nearer) = distance.checked_sub(1) else { break };
            bound = nearer;
        }
    }
    nearest
}

/// Whether a word becomes another with at most so many letters inserted, deleted, replaced or swapped.
pub fn is_near(word: &str, other: &str, edits: usize) -> bool {
    distance(word, other, edits).is_some()
}

/// The number of letters to insert, delete, replace or swap with their neighbour; `None` beyond the bound.
fn distance(left: &str, right: &str, bound: usize) -> Option<usize> {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    // Long words are no misspelt names, and comparing them costs their product.
    if left.len().abs_diff(right.len()) > bound || left.len().max(right.len()) > 100 {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, b) in right.iter().enumerate() {
            let of = |row: &[usize], at: usize| row.get(at).copied().unwrap_or(usize::MAX / 2);
            let mut cost = (of(&row, j) + usize::from(a != b)).min(of(&row, j + 1) + 1).min(of(&next, j) + 1);
            let swapped = i > 0 && j > 0 && left.get(i - 1) == Some(b) && right.get(j - 1) == Some(a);
            if swapped {
                cost = cost.min(of(&before, j - 1) + 1);
            }
            next.push(cost);
        }
        before = core::mem::replace(&mut row, next);
    }
    row.last().copied().filter(|distance| *distance <= bound)
}

/// ` (did you mean `x`?)` for the nearest candidate, or nothing.
pub fn did_you_mean<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> String {
    nearest(word, candidates).map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

/// Adds a word to a list of words in back-ticks, for a sentence: `` `cpu`, `memory` ``.
#[inline(never)]
pub fn add_quoted(list: &mut String, word: &str) {
    list.push_str(if list.is_empty() { "`" } else { ", `" });
    list.push_str(word);
    list.push('`');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let names = ["restricted-label", "pod-restricted-label", "storageclass-immediate"];
        assert_eq!(nearest("restricted-labels", names), Some("restricted-label"));
        assert_eq!(nearest("storage-class-immediate", names), Some("storageclass-immediate"));
        assert_eq!(nearest("Restricted-Label", names), Some("restricted-label"));
        assert_eq!(nearest("karpetner", ["karpenter"]), Some("karpenter"));
        assert_eq!(nearest("x", names), None);
        assert_eq!(nearest("", ["a"]), Some("a"));
    }
}
