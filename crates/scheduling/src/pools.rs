//! The NodePools of a cluster as the scheduler sees them, indexed so that a pod is held against few of them.

use std::collections::BTreeMap;

use core::cmp::Ordering;
use std::cell::RefCell;
use std::rc::Rc;

use super::fit::Verdict;
use karpenter::labels;
use karpenter::operator::Operator;
use crate::requirements::{Requirement, Requirements};
use crate::taints::Taint;
use manifest::tree::{Node, items_of, members_of};
use objects::object::Object;

/// The NodePools of a cluster. Pools that ask for and offer the same, but for their names, are held together.
#[derive(Debug, Default)]
pub struct Pools<'d> {
    classes: Vec<Class<'d>>,
    by_name: BTreeMap<&'d str, Vec<usize>>,
    by_key: BTreeMap<&'d str, Definitions<'d>>,
    count: usize,
    is_known: bool,
    /// What was found out in this run, by what the pods ask.
    pub(super) verdicts: RefCell<BTreeMap<String, Rc<Verdict<'d>>>>,
}

/// NodePools that differ in nothing but their names. One with a fixed number of nodes adds none for a pod that waits, but
/// the pod may run on those it has, so it counts like any other.
#[derive(Debug)]
pub struct Class<'d> {
    /// The pools in the order of the input.
    pub pools: Vec<Object<'d>>,
    by_name: BTreeMap<&'d str, Object<'d>>,
    /// Requirements and template labels, without the name.
    pub requirements: Requirements<'d>,
    /// The taints that keep pods off, each with its place in the first of the pools. Start-up taints do not count.
    pub taints: Vec<(Taint<'d>, Node<'d>)>,
}

/// The classes that define a label of their own.
#[derive(Debug, Default)]
struct Definitions<'d> {
    by_value: BTreeMap<&'d str, Vec<usize>>,
    /// Those that leave the value open, such as with `Exists`.
    open: Vec<usize>,
}

impl<'d> Pools<'d> {
    /// Reads the NodePools.
    pub fn read(objects: impl Iterator<Item = Object<'d>>) -> Self {
        let mut pools = Self { is_known: true, ..Self::default() };
        let mut read: Vec<(usize, Object<'d>, Class<'d>)> = Vec::new();
        for object in objects {
            pools.is_known &= is_of_this_provider(object);
            read.push((pools.count, object, Class::read(object)));
            pools.count += 1;
        }
        read.sort_by(|(_, _, one), (_, _, other)| one.alike(other));
        let mut classes: Vec<(usize, Class<'d>)> = Vec::new();
        for (position, object, class) in read {
            if !classes.last().is_some_and(|(_, last)| last.alike(&class).is_eq()) {
                classes.push((position, class));
            }
            if let Some((_, class)) = classes.last_mut() {
                class.add(object);
            }
        }
        classes.sort_by_key(|(position, _)| *position);
        for (index, (_, class)) in classes.into_iter().enumerate() {
            pools.index(index, &class);
            pools.classes.push(class);
        }
        pools
    }

    fn index(&mut self, index: usize, class: &Class<'d>) {
        for pool in &class.pools {
            self.by_name.entry(pool.name()).or_default().push(index);
        }
        for (key, requirement) in class.requirements.iter() {
            let definitions = self.by_key.entry(key).or_default();
            match requirement.listed() {
                Some(values) => {
                    for value in values {
                        definitions.by_value.entry(value).or_default().push(index);
                    }
                }
                None => definitions.open.push(index),
            }
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether all are of the AWS provider: what others know of labels is not known here.
    pub fn is_known(&self) -> bool {
        self.is_known
    }

    /// Whether any pool sets a label.
    pub fn define(&self, key: &str) -> bool {
        self.by_key.contains_key(labels::normalised(key))
    }

    /// The labels that pools set.
    pub fn keys(&self) -> impl Iterator<Item = &'d str> + Clone {
        self.by_key.keys().copied()
    }

    /// The values that pools list for a label.
    pub fn values(&self, key: &str) -> impl Iterator<Item = &'d str> + Clone {
        let definitions = self.by_key.get(labels::normalised(key));
        definitions.into_iter().flat_map(|definitions| definitions.by_value.keys().copied())
    }

    /// The names of all pools.
    pub fn names(&self) -> impl Iterator<Item = &'d str> + Clone {
        self.by_name.keys().copied()
    }

    /// Whether any pool bears a name.
    pub fn are_called(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// The first pool of the input.
    pub fn first(&self) -> Option<Object<'d>> {
        self.classes.first()?.pools.first().copied()
    }

    /// All classes.
    pub fn classes(&self) -> &[Class<'d>] {
        &self.classes
    }

    /// The classes that may make a node for what is asked, by the most telling of its labels, in the order of the input;
    /// no more than `limit`.
    pub fn candidates(&self, asked: &Requirements<'d>, limit: usize) -> Vec<&Class<'d>> {
        let mut fewest: Option<Vec<usize>> = None;
        for (key, requirement) in asked.iter() {
            let Some(values) = requirement.listed().filter(|values| !values.is_empty()) else { continue };
            let found: Vec<usize> = if key == labels::NODEPOOL {
                let named = values.iter().filter_map(|name| self.by_name.get(name));
                named.flatten().copied().take(limit).collect()
            } else if labels::well_known(key).is_empty() {
                let definitions = self.by_key.get(key);
                let open = definitions.into_iter().flat_map(|definitions| definitions.open.iter());
                let listed = definitions.into_iter().flat_map(|definitions| {
                    values.iter().filter_map(|value| definitions.by_value.get(value)).flatten()
                });
                open.chain(listed).copied().take(limit).collect()
            } else {
                continue;
            };
            if fewest.as_ref().is_none_or(|fewest| found.len() < fewest.len()) {
                fewest = Some(found);
            }
        }
        match fewest {
            None => self.classes.iter().take(limit).collect(),
            Some(mut indices) => {
                indices.sort_unstable();
                indices.dedup();
                indices.into_iter().filter_map(|index| self.classes.get(index)).collect()
            }
        }
    }
}

/// A pool whose node class is of another provider, such as EKS Auto Mode, has other well-known labels.
fn is_of_this_provider(object: Object<'_>) -> bool {
    let group = object.str_at(&["spec", "template", "spec", "nodeClassRef", "group"]).unwrap_or_default();
    group.is_empty() || group == "karpenter.k8s.aws"
}

impl<'d> Class<'d> {
    /// The first pool whose name will do, or the first of all where no name is asked.
    pub fn called(&self, names: Option<&Requirement<'d>>) -> Option<Object<'d>> {
        let Some(names) = names else { return self.pools.first().copied() };
        match names.listed() {
            Some(names) => names.iter().find_map(|name| self.by_name.get(name).copied()),
            None => self.by_name.iter().find(|(name, _)| names.has(name)).map(|(_, pool)| *pool),
        }
    }

    fn read(object: Object<'d>) -> Self {
        let spec = object.at(&["spec", "template", "spec"]);
        let mut requirements = Requirements::default();
        for item in items_of(spec.and_then(|spec| spec.get("requirements"))) {
            let Some(key) = item.str_at(&["key"]) else { continue };
            let operator = item.str_at(&["operator"]).and_then(Operator::parse).unwrap_or(Operator::Exists);
            let values = item.items_at(&["values"]).map(text);
            // What cannot be read restricts nothing here.
            let open = || Requirement::new(Operator::Exists, []);
            requirements.extend(
                Requirement::new(operator, values).or_else(open).map(|requirement| (key, requirement)),
            );
        }
        let labels = object.at(&["spec", "template", "metadata", "labels"]);
        let labels = members_of(labels);
        requirements.extend(labels.map(|(key, value)| (key, Requirement::is(text(value)))));
        let taints = items_of(spec.and_then(|spec| spec.get("taints")));
        let taints = taints.map(|node| (taint(node), node)).filter(|(taint, _)| taint.is_hard()).collect();
        Self { pools: Vec::new(), by_name: BTreeMap::new(), requirements, taints }
    }

    fn add(&mut self, pool: Object<'d>) {
        self.pools.push(pool);
        self.by_name.entry(pool.name()).or_insert(pool);
    }

    /// Puts what asks for and offers the same side by side.
    fn alike(&self, other: &Self) -> Ordering {
        let taints = |class: &Self| class.taints.iter().map(|(taint, _)| *taint).collect::<Vec<_>>();
        self.requirements.cmp(&other.requirements).then_with(|| taints(self).cmp(&taints(other)))
    }
}

fn taint(node: Node<'_>) -> Taint<'_> {
    let field = |key| node.get(key).map(text).unwrap_or_default();
    Taint { key: field("key"), value: field("value"), effect: field("effect") }
}

/// A scalar as a string: what is no string is refused by the API server, and another rule says so.
pub(super) fn text(node: Node<'_>) -> &str {
    node.as_str().unwrap_or_else(|| if node.is_null() { "" } else { node.spelling() })
}
