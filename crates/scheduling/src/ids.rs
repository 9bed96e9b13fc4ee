//! Ids: positions in lists, a type for each list, so that a pod is never looked up among the NodePools.

use std::marker::PhantomData;

use always_assert::never;
use fixedbitset::FixedBitSet;

/// Position of an item in an [`IdVec`].
pub trait Id: Copy {
    /// The id of a position.
    fn from_position(position: usize) -> Self;

    /// The position.
    fn position(self) -> usize;
}

/// Declares the types of ids.
macro_rules! ids {
    ($($(#[$doc:meta])* $visibility:vis $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        $visibility struct $name(usize);

        impl $crate::ids::Id for $name {
            fn from_position(position: usize) -> Self {
                Self(position)
            }

            fn position(self) -> usize {
                self.0
            }
        }
    )*};
}
pub(crate) use ids;

/// List whose items are found by ids of one type.
///
/// An id comes from the list that it is used with, so every lookup finds an item. A lookup that does not panics in tests and is
/// `None` in release builds.
#[derive(Debug)]
pub struct IdVec<I, T> {
    items: Vec<T>,
    id: PhantomData<fn(I)>,
}

impl<I: Id, T> IdVec<I, T> {
    /// The item of an id.
    pub fn get(&self, id: I) -> Option<&T> {
        let item = self.items.get(id.position());
        never!(item.is_none(), "an id of another list");
        item
    }

    /// The item of an id, to change it.
    pub(crate) fn get_mut(&mut self, id: I) -> Option<&mut T> {
        let item = self.items.get_mut(id.position());
        never!(item.is_none(), "an id of another list");
        item
    }

    /// Adds an item, and returns its id.
    pub(crate) fn push(&mut self, item: T) -> I {
        self.items.push(item);
        I::from_position(self.items.len() - 1)
    }

    /// The items with their ids.
    pub fn enumerate(&self) -> impl Iterator<Item = (I, &T)> {
        self.items.iter().enumerate().map(|(position, item)| (I::from_position(position), item))
    }

    /// The ids.
    pub(crate) fn ids(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.items.len()).map(I::from_position)
    }
}

impl<I, T> IdVec<I, T> {
    /// The items.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// The items, to change them.
    pub(crate) fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }

    /// The items as a slice.
    pub(crate) fn as_slice(&self) -> &[T] {
        &self.items
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether the list has no item.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl<I, T: Clone> Clone for IdVec<I, T> {
    fn clone(&self) -> Self {
        self.items.iter().cloned().collect()
    }
}

impl<I, T> Default for IdVec<I, T> {
    fn default() -> Self {
        Self { items: Vec::new(), id: PhantomData }
    }
}

impl<I, T> FromIterator<T> for IdVec<I, T> {
    fn from_iter<A: IntoIterator<Item = T>>(items: A) -> Self {
        Self { items: items.into_iter().collect(), id: PhantomData }
    }
}

impl<I, T> IntoIterator for IdVec<I, T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'v, I, T> IntoIterator for &'v IdVec<I, T> {
    type Item = &'v T;
    type IntoIter = std::slice::Iter<'v, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

impl<'v, I, T> IntoIterator for &'v mut IdVec<I, T> {
    type Item = &'v mut T;
    type IntoIter = std::slice::IterMut<'v, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

/// Set of ids of one type.
#[derive(Debug)]
pub(crate) struct IdSet<I> {
    bits: FixedBitSet,
    id: PhantomData<fn(I)>,
}

impl<I> Default for IdSet<I> {
    fn default() -> Self {
        Self::empty(0)
    }
}

impl<I> Clone for IdSet<I> {
    fn clone(&self) -> Self {
        Self { bits: self.bits.clone(), id: PhantomData }
    }

    fn clone_from(&mut self, other: &Self) {
        self.bits.clone_from(&other.bits);
    }
}

impl<I> PartialEq for IdSet<I> {
    fn eq(&self, other: &Self) -> bool {
        self.bits == other.bits
    }
}

impl<I> IdSet<I> {
    /// The empty set, with room for the ids of a list of a length.
    pub(crate) fn empty(length: usize) -> Self {
        Self { bits: FixedBitSet::with_capacity(length), id: PhantomData }
    }

    /// All ids of a list of a length.
    pub(crate) fn full(length: usize) -> Self {
        let mut all = Self::empty(length);
        all.bits.insert_range(..);
        all
    }

    /// The length of the list whose ids the set has room for.
    pub(crate) fn capacity(&self) -> usize {
        self.bits.len()
    }

    /// The number of ids.
    pub(crate) fn count(&self) -> usize {
        self.bits.count_ones(..)
    }

    /// The number of ids that both sets have.
    pub(crate) fn count_common(&self, other: &Self) -> usize {
        self.bits.intersection_count(&other.bits)
    }

    /// Whether the set has no id.
    pub(crate) fn is_empty(&self) -> bool {
        self.bits.is_clear()
    }

    /// Whether no id is in both sets.
    pub(crate) fn is_disjoint(&self, other: &Self) -> bool {
        self.bits.is_disjoint(&other.bits)
    }

    /// Adds the ids of another set.
    pub(crate) fn union_with(&mut self, other: &Self) {
        self.bits.union_with(&other.bits);
    }

    /// Removes the ids that another set lacks.
    pub(crate) fn intersect_with(&mut self, other: &Self) {
        self.bits.intersect_with(&other.bits);
    }

    /// Removes the ids of another set.
    pub(crate) fn difference_with(&mut self, other: &Self) {
        self.bits.difference_with(&other.bits);
    }

    /// Removes all ids.
    pub(crate) fn clear(&mut self) {
        self.bits.clear();
    }
}

impl<I: Id> IdSet<I> {
    /// Whether the set has an id.
    pub(crate) fn contains(&self, id: I) -> bool {
        self.bits.contains(id.position())
    }

    /// Adds an id. The set grows to have room for it.
    pub(crate) fn insert(&mut self, id: I) {
        self.bits.grow_and_insert(id.position());
    }

    /// Removes an id.
    pub(crate) fn remove(&mut self, id: I) {
        self.bits.remove(id.position());
    }

    /// The ids in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = I> {
        self.bits.ones().map(I::from_position)
    }

    /// The ids that both sets have, in ascending order.
    pub(crate) fn common<'s>(&'s self, other: &'s Self) -> impl Iterator<Item = I> + 's
    where
        I: 's,
    {
        self.bits.intersection(&other.bits).map(I::from_position)
    }
}

impl<I: Id> Extend<I> for IdSet<I> {
    fn extend<A: IntoIterator<Item = I>>(&mut self, ids: A) {
        ids.into_iter().for_each(|id| self.insert(id));
    }
}
