//! The fields in which two objects differ, as far as their hashes do.

use std::collections::{BTreeMap, BTreeSet};

use karpenter::api::stored::StoredValue;
use manifest::tree::Node;
use objects::object::Object;

use crate::elements::{ElementValue, HAS_KUBELET_HASH, HashOptions, elements};
use crate::go::{GoStruct, GoType};
use crate::hasher::{Hasher, Typed};
use crate::{json, node_class};

/// A field whose change changes the hash.
#[derive(Clone, Debug)]
pub struct Difference<'d> {
    /// The path, such as `spec.template.metadata.labels.team`. An item of a list is named by its index in the new object, or in the
    /// old one if it was removed.
    pub path: String,
    /// The value that the old object has; `None` if it is absent or a default.
    pub old: Option<Node<'d>>,
    /// The value that the new object has; `None` if it is absent or a default.
    pub new: Option<Node<'d>>,
}

/// The fields in which two NodePools or two EC2NodeClasses differ, if they have different hashes; in 1.0 also the fields of the
/// kubelet configuration, which has a separate hash. Values that Karpenter cannot decode count as different if they are written
/// differently.
pub fn differences<'d>(old: Object<'d>, new: Object<'d>, options: &HashOptions) -> Vec<Difference<'d>> {
    let mut found = Vec::new();
    let mut finder = Finder { hasher: options.hasher(), found: &mut found };
    for (one, other) in elements(old, options).iter().zip(&elements(new, options)) {
        match (&one.value, &other.value) {
            (ElementValue::Struct(go, one_value), ElementValue::Struct(_, other_value)) => {
                finder.in_struct(one.path, go, *one_value, *other_value);
            }
            (one_value, other_value) => {
                let ((one_text, old), (other_text, new)) = (written(one_value), written(other_value));
                if one_text != other_text {
                    finder.in_json(one.path, old, new);
                }
            }
        }
    }
    if HAS_KUBELET_HASH.contains(options.release) {
        let kubelet = |object: Object<'d>| {
            let value = StoredValue::Given(object.at(&["spec"])?);
            finder.hasher.member(Typed { value, schema: &object.table()?.spec.schema }, "kubelet")
        };
        let (old, new) = (kubelet(old), kubelet(new));
        finder.in_struct("spec.kubelet", &node_class::KUBELET, old, new);
    }
    found
}

/// The text of a part of a hash, with its value.
fn written<'e, 'd>(value: &'e ElementValue<'d>) -> (Option<&'e str>, Option<Node<'d>>) {
    match value {
        ElementValue::Struct(..) => (None, None),
        ElementValue::Text(text, node) => (Some(text), *node),
        ElementValue::Undecodable(error) => (Some(error.node.spelling()), Some(error.node)),
    }
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
            let member_of = |object: Option<Typed<'d>>| {
                let value = hasher.member(object?, field.key)?;
                let result = hasher.hash(&field.kind, value).ok();
                let is_zero = result.is_some_and(|result| result.is_zero);
                (!(field.skips_zero && is_zero)).then_some((value, result.map(|result| result.hash)))
            };
            let [written_old, written_new] = [old, new].map(|side| hasher.member(side?, field.key));
            let (old, new) = (member_of(old), member_of(new));
            if let (Some((_, Some(one))), Some((_, Some(other)))) = (old, new)
                && one == other
            {
                continue;
            }
            let known = self.found.len();
            let path = joined(path, field.key);
            let [one, other] = [old, new].map(|side| side.map(|(value, _)| value));
            self.compare(&path, Some(&field.kind), one, other);
            // The hash leaves out a zero value, such as `Never`, which is written all the same.
            if let Some([only]) = self.found.get_mut(known..)
                && only.path == path
            {
                (only.old, only.new) = (node(written_old), node(written_new));
            }
        }
    }

    /// Finds what differs in two values of whose texts a hash is made.
    fn in_json(&mut self, path: &str, old: Option<Node<'d>>, new: Option<Node<'d>>) {
        let is_mapping = |side: Option<Node<'d>>| side.is_none_or(Node::is_mapping);
        let known = self.found.len();
        if is_mapping(old) && is_mapping(new) {
            let keys = [old, new].into_iter().flatten().flat_map(Node::members).map(|(key, _)| key);
            for key in keys.collect::<BTreeSet<&str>>() {
                let [one, other] = [old, new].map(|side| side.and_then(|side| side.get(key)));
                if one.map(json::text) != other.map(json::text) {
                    self.in_json(&joined(path, key), one, other);
                }
            }
        }
        if self.found.len() == known {
            self.found.push(Difference { path: path.to_owned(), old, new });
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

    /// The items that occur an odd number of times in both lists together: equal items cancel each other out in the hash. Two of
    /// them at one position are the same item, changed.
    fn in_list(&mut self, path: &str, items: &'static GoType, old: Typed<'d>, new: Typed<'d>) {
        let (olds, news) = (self.hashed_items(items, old), self.hashed_items(items, new));
        let mut counts: BTreeMap<Result<u64, &str>, usize> = BTreeMap::new();
        for (_, hash) in olds.iter().chain(&news) {
            *counts.entry(*hash).or_default() += 1;
        }
        let is_odd = |hash: &Result<u64, &str>| counts.get(hash).is_some_and(|count| count % 2 == 1);
        let odd = |all: &[(Typed<'d>, Result<u64, &'d str>)], index: usize| {
            all.get(index).filter(|(_, hash)| is_odd(hash)).map(|(item, _)| *item)
        };
        for index in 0..olds.len().max(news.len()) {
            let path = format!("{path}[{index}]");
            let (old, new) = (odd(&olds, index), odd(&news, index));
            let known = self.found.len();
            if old.is_some() && new.is_some() {
                self.compare(&path, Some(items), old, new);
            }
            if self.found.len() == known && (old.is_some() || new.is_some()) {
                self.found.push(Difference { path, old: node(old), new: node(new) });
            }
        }
    }

    /// The items of a list with their hashes; what Karpenter cannot decode has its spelling instead.
    fn hashed_items(&self, go: &'static GoType, list: Typed<'d>) -> Vec<(Typed<'d>, Result<u64, &'d str>)> {
        let hash = |item| match self.hasher.hash(go, item) {
            Ok(hashed) => Ok(hashed.hash),
            Err(error) => Err(error.node.spelling()),
        };
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
