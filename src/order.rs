//! Sorting, once: the standard library's sort is some kilobytes of code for every type and order, and the policy module
//! would carry a dozen of them.

use core::cmp::Ordering;

/// Sorts a list; equal items keep their order.
pub(crate) fn sort_by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let exchanges = {
        let compare = |one: usize, two: usize| match (items.get(one), items.get(two)) {
            (Some(one), Some(two)) => compare(one, two),
            _ => Ordering::Equal,
        };
        exchanges(sorted(items.len(), &compare))
    };
    for (one, other) in exchanges {
        items.swap(one, other);
    }
}

/// Sorts a list by a key; items of equal keys keep their order.
pub(crate) fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(items, |one, two| key(one).cmp(&key(two)));
}

/// The positions of a list in the order that a comparison of positions gives: runs that are in order are merged into runs
/// of twice the length.
#[inline(never)]
fn sorted(len: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    let mut run = 1;
    while run < len {
        let mut merged = Vec::with_capacity(len);
        for both in order.chunks(2 * run) {
            let (mut one, mut other) = both.split_at_checked(run).unwrap_or((both, &[]));
            while let ([first, rest @ ..], [second, others @ ..]) = (one, other) {
                if compare(*first, *second).is_le() {
                    merged.push(*first);
                    one = rest;
                } else {
                    merged.push(*second);
                    other = others;
                }
            }
            merged.extend_from_slice(one);
            merged.extend_from_slice(other);
        }
        order = merged;
        run *= 2;
    }
    order
}

/// The exchanges of two places after which every place has the item of the position that it is given.
#[inline(never)]
fn exchanges(mut order: Vec<usize>) -> Vec<(usize, usize)> {
    let mut exchanges = Vec::new();
    for start in 0..order.len() {
        let mut at = start;
        // Each place of a ring takes over from the next; the item of the first travels to the last.
        while let Some(next) = order.get_mut(at).map(|next| core::mem::replace(next, at))
            && next != start
        {
            exchanges.push((at, next));
            at = next;
        }
    }
    exchanges
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorts_as_the_standard_library_does(items in proptest::collection::vec((0_u8..9, any::<u8>()), 0..80)) {
            let (mut ours, mut theirs) = (items.clone(), items);
            sort_by_key(&mut ours, |item| item.0);
            theirs.sort_by_key(|item| item.0);
            prop_assert_eq!(ours, theirs);
        }
    }
}
