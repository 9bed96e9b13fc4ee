//! The fields in which two objects differ, as far as their hashes do.

use std::collections::BTreeMap;

use karpenter::api::stored::StoredValue;
use manifest::tree::Node;
use objects::object::Object;

use crate::elements::{ElementValue, HashOptions, elements};
use crate::go::{GoStruct, GoType};
use crate::hasher::{Hasher, Typed};

/// A field whose change changes the hash.
#[derive(Clone, Debug)]
pub struct Difference<'d> {
    /// The path, such as `spec.template.metadata.labels.team`. An item of a list is named by its index in the new object, or in the
    /// old one if it was removed.
    pub path: String,
    /// The value in the old object; `None` if it is absent or a default.
    pub old: Option<Node<'d>>,
    /// The value in the new object; `None` if it is absent or a default.
    pub new: Option<Node<'d>>,
}

/// The fields in which two NodePools or two EC2NodeClasses differ, if they have different hashes. Values that Karpenter cannot
/// decode count as different if they are written differently.
pub fn differences<'d>(old: Object<'d>, new: Object<'d>, options: &HashOptions) -> Vec<Difference<'d>> {
    let mut found = Vec::new();
    let (Ok(olds), Ok(news)) = (elements(old, options), elements(new, options)) else { return found };
    let mut finder = Finder { hasher: options.hasher(), found: &mut found };
    for (old, new) in olds.iter().zip(&news) {
        match (&old.value, &new.value) {
            (ElementValue::Struct(go, Some(old_value)), ElementValue::Struct(_, Some(new_value))) => {
                finder.in_struct(old.path, go, Some(*old_value), Some(*new_value));
            }
            (ElementValue::Text(old_text, old_node), ElementValue::Text(new_text, new_node)) => {
                if old_text != new_text {
                    finder.found.push(Difference {
                        path: old.path.to_owned(),
                        old: *old_node,
                        new: *new_node,
                    });
                }
            }
            (ElementValue::Struct(_, old_value), ElementValue::Struct(_, new_value)) => {
                finder.compare(old.path, None, *old_value, *new_value);
            }
            _ => {}
        }
    }
    found
}

struct Finder<'d, 'f> {
    hasher: Hasher,
    found: &'f mut Vec<Difference<'d>>,
}

impl<'d> Finder<'d, '_> {
    fn in_struct(
        &mut self,
        path: &str,
        go: &'static GoStruct,
        old: Option<Typed<'d>>,
        new: Option<Typed<'d>>,
    ) {
        let hasher = self.hasher;
        for field in go.fields.iter().filter(|field| field.releases.contains(hasher.release)) {
            let value = |object: Option<Typed<'d>>| {
                let value = hasher.member(object?, field.key)?;
                let is_zero = hasher.hash(&field.kind, value).is_ok_and(|hashed| hashed.is_zero);
                (!(field.skips_zero && is_zero)).then_some(value)
            };
            let (old, new) = (value(old), value(new));
            self.compare(&joined(path, field.key), Some(&field.kind), old, new);
        }
    }

    fn compare(
        &mut self,
        path: &str,
        go: Option<&'static GoType>,
        old: Option<Typed<'d>>,
        new: Option<Typed<'d>>,
    ) {
        let (Some(one), Some(other)) = (old, new) else {
            let known = self.found.len();
            match go {
                Some(GoType::Struct(go)) => self.in_struct(path, go, old, new),
                Some(GoType::Map(values)) => self.in_map(path, values, old, new),
                _ => {}
            }
            // An empty struct or map differs from an absent one, too.
            if self.found.len() == known && (old.is_some() || new.is_some()) {
                self.found.push(Difference { path: path.to_owned(), old: node(old), new: node(new) });
            }
            return;
        };
        let Some(go) = go else { return };
        if self.same(go, one, other) {
            return;
        }
        match go {
            GoType::Struct(go) => self.in_struct(path, go, old, new),
            GoType::Map(values) => self.in_map(path, values, old, new),
            GoType::List(items) => self.in_list(path, items, one, other),
            _ => self.found.push(Difference { path: path.to_owned(), old: node(old), new: node(new) }),
        }
    }

    /// Whether two values have one hash; of values that Karpenter cannot decode, whether they are written alike.
    fn same(&self, go: &'static GoType, one: Typed<'d>, other: Typed<'d>) -> bool {
        match (self.hasher.hash(go, one), self.hasher.hash(go, other)) {
            (Ok(one), Ok(other)) => one.hash == other.hash,
            (Err(one), Err(other)) => one.node.spelling() == other.node.spelling(),
            _ => false,
        }
    }

    fn in_map(
        &mut self,
        path: &str,
        values: &'static GoType,
        old: Option<Typed<'d>>,
        new: Option<Typed<'d>>,
    ) {
        let mut entries: BTreeMap<&str, [Option<Typed<'d>>; 2]> = BTreeMap::new();
        for (key, value) in old.into_iter().flat_map(Hasher::entries) {
            entries.entry(key).or_default()[0] = Some(value);
        }
        for (key, value) in new.into_iter().flat_map(Hasher::entries) {
            entries.entry(key).or_default()[1] = Some(value);
        }
        for (key, [old, new]) in entries {
            self.compare(&joined(path, key), Some(values), old, new);
        }
    }

    /// The items that occur an odd number of times in both lists together: equal items cancel each other out in the hash.
    fn in_list(&mut self, path: &str, items: &'static GoType, old: Typed<'d>, new: Typed<'d>) {
        let (olds, news) = (self.hashed_items(items, old), self.hashed_items(items, new));
        let mut counts: BTreeMap<Option<u64>, usize> = BTreeMap::new();
        for (_, hash) in olds.iter().chain(&news) {
            *counts.entry(*hash).or_default() += 1;
        }
        let is_odd = |hash: &Option<u64>| counts.get(hash).is_some_and(|count| count % 2 == 1);
        for (index, (item, _)) in olds.iter().enumerate().filter(|(_, (_, hash))| is_odd(hash)) {
            let path = format!("{path}[{index}]");
            self.found.push(Difference { path, old: node(Some(*item)), new: None });
        }
        for (index, (item, _)) in news.iter().enumerate().filter(|(_, (_, hash))| is_odd(hash)) {
            let path = format!("{path}[{index}]");
            self.found.push(Difference { path, old: None, new: node(Some(*item)) });
        }
    }

    fn hashed_items(&self, go: &'static GoType, list: Typed<'d>) -> Vec<(Typed<'d>, Option<u64>)> {
        let hash = |item| self.hasher.hash(go, item).ok().map(|hashed| hashed.hash);
        Hasher::items(list).into_iter().map(|item| (item, hash(item))).collect()
    }
}

fn node(value: Option<Typed<'_>>) -> Option<Node<'_>> {
    match value?.value {
        StoredValue::Given(node) => Some(node),
        StoredValue::Filled(_) => None,
    }
}

fn joined(path: &str, key: &str) -> String {
    format!("{path}.{key}")
}
