//! A map by name, once: the standard library's map is some kilobytes of code for every type it holds, and the policy module
//! would carry two dozen of them.

use core::cmp::Ordering;

/// Values by name, in the order of the names, which belong to something else.
pub(crate) type ByName<'t, V> = Named<&'t str, V>;

/// Values by name, in the order of the names.
#[derive(Clone, Debug)]
pub(crate) struct Named<N, V> {
    places: Places<N>,
    /// In the order in which they came.
    values: Vec<V>,
}

/// Names without values.
pub(crate) type Names<'t> = ByName<'t, ()>;

impl<N: AsRef<str>, V> Named<N, V> {
    /// The value of a name.
    pub(crate) fn get(&self, name: &str) -> Option<&V> {
        self.values.get(self.places.find(name)?)
    }

    /// Whether there is a value of a name.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.places.find(name).is_some()
    }

    /// Sets the value of a name; the one before is gone.
    pub(crate) fn insert(&mut self, name: N, value: V) {
        match self.values.get_mut(self.places.place(name)) {
            Some(before) => *before = value,
            None => self.values.push(value),
        }
    }

    /// Changes the value of a name, which is made where there is none.
    pub(crate) fn change(&mut self, name: N, change: impl FnOnce(&mut V))
    where
        V: Default,
    {
        let place = self.places.place(name);
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
}

impl<'t, V> ByName<'t, V> {
    /// The names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'t str> + Clone {
        self.places.sorted().into_iter().map(|(name, _)| *name)
    }

    /// The names with their values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'t str, &V)> {
        self.places.sorted().into_iter().filter_map(|(name, place)| Some((*name, self.values.get(place)?)))
    }
}

/// The place of each name: a search tree whose nodes lie in the order in which they came. A node stands above those that
/// weigh less; the weights are as good as random, so that no path is long.
#[derive(Clone, Debug)]
struct Places<N> {
    nodes: Vec<Place<N>>,
    root: u32,
}

#[derive(Clone, Debug)]
struct Place<N> {
    name: N,
    less: u32,
    greater: u32,
}

/// No node.
const NONE: u32 = u32::MAX;

/// Where a node hangs.
#[derive(Clone, Copy)]
enum Link {
    Root,
    Less(u32),
    Greater(u32),
}

impl<N: AsRef<str>> Places<N> {
    fn node(&self, at: u32) -> Option<&Place<N>> {
        self.nodes.get(at as usize)
    }

    #[inline(never)]
    fn find(&self, name: &str) -> Option<usize> {
        let mut at = self.root;
        loop {
            let node = self.node(at)?;
            at = match name.cmp(node.name.as_ref()) {
                Ordering::Less => node.less,
                Ordering::Equal => return Some(at as usize),
                Ordering::Greater => node.greater,
            };
        }
    }

    /// The place of a name; of one that is new the next.
    #[inline(never)]
    fn place(&mut self, name: N) -> usize {
        if let Some(place) = self.find(name.as_ref()) {
            return place;
        }
        let place = self.nodes.len();
        let new = u32::try_from(place).unwrap_or(NONE);
        self.nodes.push(Place { name, less: NONE, greater: NONE });
        let is_less = |all: &Self, at: u32| match (all.node(new), all.node(at)) {
            (Some(new), Some(node)) => new.name.as_ref() < node.name.as_ref(),
            _ => false,
        };
        // Down past all that weigh more. What is below that is parted by the new name.
        let (mut link, mut at) = (Link::Root, self.root);
        while let Some(node) = self.node(at).filter(|_| weight(at) >= weight(new)) {
            (link, at) = if is_less(self, at) {
                (Link::Less(at), node.less)
            } else {
                (Link::Greater(at), node.greater)
            };
        }
        self.hang(link, new);
        let (mut lesser, mut greater) = (Link::Less(new), Link::Greater(new));
        while let Some(node) = self.node(at) {
            let (link, below) = if is_less(self, at) {
                (core::mem::replace(&mut greater, Link::Less(at)), node.less)
            } else {
                (core::mem::replace(&mut lesser, Link::Greater(at)), node.greater)
            };
            self.hang(link, at);
            at = below;
        }
        self.hang(lesser, NONE);
        self.hang(greater, NONE);
        place
    }

    fn hang(&mut self, link: Link, at: u32) {
        let (Link::Less(holder) | Link::Greater(holder)) = link else {
            self.root = at;
            return;
        };
        if let Some(node) = self.nodes.get_mut(holder as usize) {
            *(if let Link::Less(_) = link { &mut node.less } else { &mut node.greater }) = at;
        }
    }

    /// The names in order, each with its place.
    #[inline(never)]
    fn sorted(&self) -> Vec<(&N, usize)> {
        let mut sorted = Vec::with_capacity(self.nodes.len());
        let (mut open, mut at) = (Vec::new(), self.root);
        loop {
            while let Some(node) = self.node(at) {
                open.push(at);
                at = node.less;
            }
            let Some(last) = open.pop() else { return sorted };
            if let Some(node) = self.node(last) {
                sorted.push((&node.name, last as usize));
                at = node.greater;
            }
        }
    }
}

/// A number that looks random: the finalizer of `MurmurHash3`, without its last step.
fn weight(at: u32) -> u32 {
    let mixed = (at ^ (at >> 16)).wrapping_mul(0x85eb_ca6b);
    (mixed ^ (mixed >> 13)).wrapping_mul(0xc2b2_ae35)
}

impl<N, V> Default for Named<N, V> {
    fn default() -> Self {
        Self { places: Places { nodes: Vec::new(), root: NONE }, values: Vec::new() }
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
    use std::collections::BTreeMap;

    #[test]
    fn no_path_is_long_in_whatever_order_names_come() {
        let names: Vec<String> = (0..10_000).map(|number| format!("{number:05}")).collect();
        for turn in [false, true] {
            let turned = names.iter().rev().filter(|_| turn).chain(names.iter().filter(|_| !turn));
            let all: Names<'_> = turned.map(String::as_str).collect();
            let deepest = names.iter().map(|name| {
                let (mut at, mut steps) = (all.places.root, 0);
                while let Some(node) = all.places.node(at).filter(|node| node.name != name) {
                    (at, steps) =
                        (if name.as_str() < node.name { node.less } else { node.greater }, steps + 1);
                }
                steps
            });
            assert!((10..50).contains(&deepest.max().unwrap()));
        }
    }

    proptest! {
        #[test]
        fn holds_what_the_standard_library_does(all in proptest::collection::vec(("[a-d]{0,4}", any::<u8>()), 0..200)) {
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
