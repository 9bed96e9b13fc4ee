//! Suggestions for misspelt words.

/// Maximum number of letters of a word to compare. Longer words are not misspelt names.
const MAX_LENGTH: usize = 100;

/// Least number of letters of an abbreviation of a word. A shorter one could be an abbreviation of too many words.
const SHORTEST_STEM: usize = 3;

/// The candidate nearest to a word, if it is near enough to be meant: at most one edit in three letters, and at most three.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    // Each candidate would count the letters of a long word again.
    let length = word.chars().take(MAX_LENGTH + 1).count();
    if length > MAX_LENGTH {
        return None;
    }
    let lower = word.to_ascii_lowercase();
    let mut bound = (length / 3).clamp(1, 3);
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
    if one.abs_diff(other) > bound || one.max(other) > MAX_LENGTH || unshared_letters(left, right) > bound {
        return None;
    }
    Some(strsim::osa_distance(left, right)).filter(|distance| *distance <= bound)
}

/// The number of ASCII letters that one of two words has more of than the other: at least so many edits are between them.
fn unshared_letters(left: &str, right: &str) -> usize {
    let mut surplus = [0_isize; 128];
    for (word, step) in [(left, 1), (right, -1)] {
        for byte in word.bytes() {
            if let Some(count) = surplus.get_mut(usize::from(byte)) {
                *count += step;
            }
        }
    }
    let sum = |sign: isize| surplus.iter().map(|count| (sign * count).max(0).unsigned_abs()).sum::<usize>();
    sum(1).max(sum(-1))
}

/// The hint ` (did you mean `x`?)` for the nearest candidate, or an empty text.
pub fn did_you_mean<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> String {
    nearest(word, candidates).map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

/// The hint ` (did you mean `x`?)` for the nearest candidate, or an empty text. The name and the candidates consist of several words,
/// such as the names of rules. A candidate can also be near because it has the same words, abbreviated or in another order.
pub fn did_you_mean_name<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str> + Clone) -> String {
    let found = nearest(name, candidates.clone()).or_else(|| nearest_in_words(name, candidates));
    found.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

/// The candidate that has most words in common with a name, if the common words are at least two thirds of all words. Among equal
/// candidates, it is the one with the fewest edits.
fn nearest_in_words<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let name = name.to_ascii_lowercase();
    if name.chars().count() > MAX_LENGTH {
        return None;
    }
    let words = words_of(&name);
    let rated = candidates.into_iter().filter_map(|candidate| {
        let others = words_of(candidate);
        let mut left = others.clone();
        for word in &words {
            if let Some(at) = left.iter().position(|other| is_same_word(word, other)) {
                left.swap_remove(at);
            }
        }
        let (common, all) = (2 * (others.len() - left.len()), words.len() + others.len());
        let is_near = 3 * common >= 2 * all && all > 0;
        is_near.then(|| ((all - common, strsim::osa_distance(&name, candidate)), candidate))
    });
    rated.min_by_key(|(rating, _)| *rating).map(|(_, candidate)| candidate)
}

fn words_of(name: &str) -> Vec<&str> {
    name.split(['-', '_', '.', '/', ' ']).filter(|word| !word.is_empty()).collect()
}

/// Whether two words are the same but for a misspelling, or one of them is an abbreviation of the other.
fn is_same_word(one: &str, other: &str) -> bool {
    let is_stem = |stem: &str, word: &str| stem.len() >= SHORTEST_STEM && word.starts_with(stem);
    let is_misspelt = || one.len().min(other.len()) > SHORTEST_STEM && is_near(one, other, 1);
    one == other || is_stem(one, other) || is_stem(other, one) || is_misspelt()
}

/// Adds a word to a list of words in back-ticks, such as `` `cpu`, `memory` ``.
pub fn add_quoted(list: &mut String, word: &str) {
    list.push_str(if list.is_empty() { "`" } else { ", `" });
    list.push_str(word);
    list.push('`');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, proptest};

    use super::*;

    proptest! {
        #[test]
        fn letters_that_words_do_not_share_are_edits(left in "[abcé]{0,9}", right in "[abcé]{0,9}") {
            prop_assert!(unshared_letters(&left, &right) <= strsim::osa_distance(&left, &right));
        }
    }

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

    #[test]
    fn finds_names_with_the_same_words() {
        let names = [
            "storage",
            "storageclass-immediate",
            "pvc-storage-immediate-zone",
            "restricted-label",
            "pod-restricted-label",
        ];
        let hint = |name: &str| did_you_mean_name(name, names);
        let expected = |name: &str| format!(" (did you mean `{name}`?)");
        for (name, near) in [
            ("storage-immediate", "storageclass-immediate"),
            ("immediate-storageclass", "storageclass-immediate"),
            ("Storage_Imediate", "storageclass-immediate"),
            ("label-restricted", "restricted-label"),
            ("pods-label-restricted", "pod-restricted-label"),
            ("storag", "storage"),
        ] {
            assert_eq!(hint(name), expected(near), "{name}");
        }
        for name in ["", "-", "a-b-c", "budget-window-inverted", "nodeclass"] {
            assert_eq!(hint(name), "", "{name}");
        }
    }
}
