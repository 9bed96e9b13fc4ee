//! A map by name, once: the standard library's map is some kilobytes of code for every type it holds, and the policy module
//! would carry two dozen of them.

use core::cmp::Ordering;
use std::collections::BTreeMap;

/// Values by name, in the order of the names.
#[derive(Clone, Debug)]
pub(crate) struct ByName<'t, V> {
    places: BTreeMap<&'t str, usize>,
    /// In the order in which they came.
    values: Vec<V>,
}

/// Names without values.
pub(crate) type Names<'t> = ByName<'t, ()>;

impl<'t, V> ByName<'t, V> {
    /// The value of a name.
    pub(crate) fn get(&self, name: &str) -> Option<&V> {
        self.values.get(find(&self.places, name)?)
    }

    /// Whether there is a value of a name.
    pub(crate) fn contains(&self, name: &str) -> bool {
        find(&self.places, name).is_some()
    }

    /// Sets the value of a name; the one before is gone.
    pub(crate) fn insert(&mut self, name: &'t str, value: V) {
        match self.values.get_mut(place(&mut self.places, name)) {
            Some(before) => *before = value,
            None => self.values.push(value),
        }
    }

    /// Changes the value of a name, which is made where there is none.
    pub(crate) fn change(&mut self, name: &'t str, change: impl FnOnce(&mut V))
    where
        V: Default,
    {
        let place = place(&mut self.places, name);
        if place == self.values.len() {
            self.values.push(V::default());
        }
        if let Some(value) = self.values.get_mut(place) {
            change(value);
        }
    }

    /// How many names there are.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'t str> + Clone {
        self.places.keys().copied()
    }

    /// The names with their values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'t str, &V)> {
        self.places.iter().filter_map(|(name, place)| Some((*name, self.values.get(*place)?)))
    }
}

#[inline(never)]
fn find(places: &BTreeMap<&str, usize>, name: &str) -> Option<usize> {
    places.get(name).copied()
}

/// The place of a name; of one that is new the next.
#[inline(never)]
fn place<'t>(places: &mut BTreeMap<&'t str, usize>, name: &'t str) -> usize {
    let next = places.len();
    *places.entry(name).or_insert(next)
}

impl<V> Default for ByName<'_, V> {
    fn default() -> Self {
        Self { places: BTreeMap::new(), values: Vec::new() }
    }
}

impl<'t> FromIterator<&'t str> for Names<'t> {
    fn from_iter<I: IntoIterator<Item = &'t str>>(names: I) -> Self {
        let mut all = Self::default();
        all.extend(names);
        all
    }
}

impl<'t> Extend<&'t str> for Names<'t> {
    fn extend<I: IntoIterator<Item = &'t str>>(&mut self, names: I) {
        for name in names {
            self.insert(name, ());
        }
    }
}

impl<V: PartialEq> PartialEq for ByName<'_, V> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<V: Eq> Eq for ByName<'_, V> {}

impl<V: Ord> PartialOrd for ByName<'_, V> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<V: Ord> Ord for ByName<'_, V> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.iter().cmp(other.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn holds_what_the_standard_library_does(all in proptest::collection::vec(("[a-d]{0,2}", any::<u8>()), 0..20)) {
            let (mut ours, mut theirs) = (ByName::default(), BTreeMap::new());
            for (name, value) in &all {
                ours.insert(name, *value);
                theirs.insert(name.as_str(), *value);
            }
            prop_assert!(ours.iter().eq(theirs.iter().map(|(name, value)| (*name, value))));
            prop_assert_eq!(ours.get("a"), theirs.get("a"));
            ours.change("a", |value| *value = value.wrapping_add(1));
            prop_assert_eq!(ours.get("a").copied(), Some(theirs.get("a").map_or(1, |value| value.wrapping_add(1))));
        }
    }
}
