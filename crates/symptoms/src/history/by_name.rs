//! Things that are found by their names while a log is read, and come in the order of their names when it was.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::name::Name;
use crate::hashing::Hashing;

/// Things by name. A line of a log is looked up once here, so that this is no map in order: that one compares a dozen names,
/// each somewhere else in memory.
#[derive(Debug, Default)]
pub(super) struct ByName<T> {
    places: HashMap<Name, usize, Hashing>,
    things: Vec<Box<T>>,
    /// The name that was asked for last and its place: lines that belong together often follow on one another.
    last: (String, Option<usize>),
    /// The places in the order of the names, where somebody has asked for it since the last change.
    order: OnceLock<Vec<usize>>,
    /// What is given for a place that holds nothing; there is none.
    spare: Box<T>,
}

impl<T> ByName<T> {
    pub(super) fn len(&self) -> usize {
        self.things.len()
    }

    pub(super) fn get(&self, name: &str) -> Option<&T> {
        self.things.get(*self.places.get(name.as_bytes())?).map(|thing| &**thing)
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut T> {
        self.things.get_mut(*self.places.get(name.as_bytes())?).map(|thing| &mut **thing)
    }

    /// The thing of a name; a new one where it was not met before.
    pub(super) fn of(&mut self, name: &str, new: impl FnOnce() -> T) -> &mut T {
        if self.last.1.is_none() || self.last.0 != name {
            let place = self.places.get(name.as_bytes()).copied().unwrap_or_else(|| {
                let place = self.things.len();
                self.order.take();
                self.things.push(Box::new(new()));
                self.places.insert(name.into(), place);
                place
            });
            self.last.0.clear();
            self.last.0.push_str(name);
            self.last.1 = Some(place);
        }
        self.last.1.and_then(|place| self.things.get_mut(place)).unwrap_or(&mut self.spare)
    }

    /// All of them, in whatever order.
    pub(super) fn all(&self) -> impl Iterator<Item = &T> {
        self.things.iter().map(|thing| &**thing)
    }

    /// All of them, by name.
    pub(super) fn in_order(&self) -> impl Iterator<Item = &T> {
        let order = self.order.get_or_init(|| {
            let mut names: Vec<_> = self.places.iter().collect();
            names.sort_unstable();
            names.into_iter().map(|(_, place)| *place).collect()
        });
        order.iter().filter_map(|place| self.things.get(*place)).map(|thing| &**thing)
    }

    /// Forgets what is not worth keeping.
    pub(super) fn retain(&mut self, keep: impl Fn(&T) -> bool) {
        self.order.take();
        self.last.1 = None;
        let mut kept = 0;
        let places: Vec<Option<usize>> = self
            .things
            .iter()
            .map(|thing| {
                let place = keep(thing).then_some(kept);
                kept += usize::from(place.is_some());
                place
            })
            .collect();
        self.things.retain(|thing| keep(thing));
        self.places.retain(|_, place| match places.get(*place).copied().flatten() {
            Some(now) => {
                *place = now;
                true
            }
            None => false,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_found_by_its_name_and_in_order() {
        let mut things = ByName::default();
        for (name, number) in [("c", 1), ("a", 2), ("d", 3), ("b", 4)] {
            *things.of(name, || 0) += number;
            *things.of(name, || 100) += 10;
        }
        assert_eq!(things.in_order().collect::<Vec<_>>(), [&12, &14, &11, &13]);
        things.retain(|number| *number != 12 && *number != 11);
        assert_eq!(things.in_order().collect::<Vec<_>>(), [&14, &13]);
        assert_eq!(
            (things.get("a"), things.get("b"), things.get("c"), things.get("d")),
            (None, Some(&14), None, Some(&13))
        );
        assert_eq!((things.len(), things.all().sum::<i32>()), (2, 27));
        assert_eq!(things.get_mut("d"), Some(&mut 13));
        assert_eq!(*things.of("a", || 5), 5);
        assert_eq!(things.in_order().collect::<Vec<_>>(), [&5, &14, &13]);
    }
}
