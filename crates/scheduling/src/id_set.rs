//! Sets of ids, as bits.

use std::marker::PhantomData;

use fixedbitset::FixedBitSet;
use ids::Id;

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
