#![doc = include_str!("../README.md")]

use std::marker::PhantomData;

use always_assert::never;

/// Position of an item in an [`IdVec`].
pub trait Id: Copy {
    /// The id of a position.
    fn from_position(position: usize) -> Self;

    /// The position.
    fn position(self) -> usize;
}

/// Declares the types of ids, each with its documentation and visibility.
#[macro_export]
macro_rules! ids {
    ($($(#[$doc:meta])* $visibility:vis $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        $visibility struct $name(usize);

        impl $crate::Id for $name {
            fn from_position(position: usize) -> Self {
                Self(position)
            }

            fn position(self) -> usize {
                self.0
            }
        }
    )*};
}

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
    pub fn get_mut(&mut self, id: I) -> Option<&mut T> {
        let item = self.items.get_mut(id.position());
        never!(item.is_none(), "an id of another list");
        item
    }

    /// Adds an item, and returns its id.
    pub fn push(&mut self, item: T) -> I {
        self.items.push(item);
        I::from_position(self.items.len() - 1)
    }

    /// The items with their ids.
    pub fn enumerate(&self) -> impl Iterator<Item = (I, &T)> {
        self.items.iter().enumerate().map(|(position, item)| (I::from_position(position), item))
    }

    /// The ids.
    pub fn ids(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.items.len()).map(I::from_position)
    }
}

impl<I, T> IdVec<I, T> {
    /// The items.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// The items, to change them.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }

    /// The items as a slice.
    pub fn as_slice(&self) -> &[T] {
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

impl<I, T: PartialEq> PartialEq for IdVec<I, T> {
    fn eq(&self, other: &Self) -> bool {
        self.items == other.items
    }
}

impl<I, T: Eq> Eq for IdVec<I, T> {}

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

#[cfg(test)]
mod tests {
    use super::*;

    ids! {
        /// Pod of a test.
        PodId;
    }

    #[test]
    fn finds_an_item_by_the_id_of_its_addition() {
        let mut pods = IdVec::<PodId, &str>::default();
        let (web, db) = (pods.push("web"), pods.push("db"));
        assert_eq!((pods.get(web), pods.get(db)), (Some(&"web"), Some(&"db")));
        *pods.get_mut(web).unwrap() = "api";
        assert_eq!(pods.enumerate().collect::<Vec<_>>(), [(web, &"api"), (db, &"db")]);
        assert_eq!(pods.ids().collect::<Vec<_>>(), [web, db]);
    }

    #[test]
    #[should_panic(expected = "an id of another list")]
    fn is_loud_about_the_id_of_another_list() {
        let mut longer: IdVec<PodId, &str> = ["web"].into_iter().collect();
        let id = longer.push("db");
        IdVec::<PodId, &str>::default().get(id);
    }
}
