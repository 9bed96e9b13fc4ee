//! Preferences of a pod, which Karpenter drops one after the other.

use std::cmp::Reverse;
use std::ops::Deref;
use std::sync::Arc;

/// Preferences with their weights, the heaviest first. The copies of a list share it, whatever they have dropped.
#[derive(Clone, Debug)]
pub(crate) struct Preferences<T> {
    all: Arc<[(i64, T)]>,
    dropped: usize,
}

impl<T> Preferences<T> {
    /// Drops the heaviest preference. Returns whether there was one.
    pub(crate) fn drop_heaviest(&mut self) -> bool {
        let has_any = !self.is_empty();
        self.dropped += usize::from(has_any);
        has_any
    }
}

impl<T: Clone> Preferences<T> {
    /// The same preferences after a change of each.
    pub(crate) fn changed(&self, mut change: impl FnMut(&mut T)) -> Self {
        let mut all = self.to_vec();
        for (_, preference) in &mut all {
            change(preference);
        }
        Self { all: all.into(), dropped: 0 }
    }
}

/// Sorts the preferences. Preferences of equal weight keep their order.
impl<T> FromIterator<(i64, T)> for Preferences<T> {
    fn from_iter<I: IntoIterator<Item = (i64, T)>>(all: I) -> Self {
        let mut all: Vec<(i64, T)> = all.into_iter().collect();
        all.sort_by_key(|(weight, _)| Reverse(*weight));
        Self { all: all.into(), dropped: 0 }
    }
}

impl<T> Default for Preferences<T> {
    fn default() -> Self {
        Self::from_iter([])
    }
}

impl<T> Deref for Preferences<T> {
    type Target = [(i64, T)];

    fn deref(&self) -> &Self::Target {
        self.all.get(self.dropped..).unwrap_or_default()
    }
}

impl<T: PartialEq> PartialEq for Preferences<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Preferences<T> {}

impl<T: Ord> PartialOrd for Preferences<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Ord> Ord for Preferences<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (**self).cmp(&**other)
    }
}

#[cfg(test)]
mod tests {
    use super::Preferences;

    #[test]
    fn drops_the_heaviest_first_and_keeps_the_order_of_equal_weights() {
        let all: Preferences<char> = [(1, 'a'), (5, 'b'), (1, 'c'), (9, 'd')].into_iter().collect();
        let mut left = all.clone();
        let mut order = Vec::new();
        while let Some((_, first)) = left.first().copied() {
            order.push(first);
            assert!(left.drop_heaviest());
        }
        assert_eq!(order, ['d', 'b', 'a', 'c']);
        assert!(!left.drop_heaviest());
        assert_eq!(left, Preferences::default());
        assert_eq!(all.len(), 4);
    }
}
