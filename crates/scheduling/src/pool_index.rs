//! The NodePools of a cluster, indexed by their labels, so that a pod is compared with few of them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ids::{IdVec, ids};
use karpenter::labels;
use manifest::tree::Node;
use objects::node_claim::TaintField;
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::placeholders::has_placeholder_below;
use objects::taint::TaintItem;
use values::placeholder::has_placeholder;

use crate::demand::Demand;
use crate::matching::Verdict;
use crate::requirements::{Requirement, Requirements};
use crate::template::NodeTemplate;

ids! {
    /// Group of NodePools.
    GroupId;
}

/// The objects of a NodePool that have the labels, the requirements or the taints of its nodes in them.
const HIDING: [&[&str]; 6] = [
    &["spec"],
    &["spec", "template"],
    &["spec", "template", "metadata"],
    &["spec", "template", "metadata", "labels"],
    &["spec", "template", "spec"],
    &["spec", "template", "spec", "taints"],
];

/// Index of the NodePools of a cluster. NodePools that differ only in their names form a group.
#[derive(Debug, Default)]
pub struct PoolIndex<'d> {
    groups: IdVec<GroupId, PoolGroup<'d>>,
    by_name: BTreeMap<&'d str, Vec<GroupId>>,
    by_key: BTreeMap<&'d str, Definitions<'d>>,
    /// The number of NodePools, including NodePools that are left out.
    count: usize,
    is_known: bool,
    has_placeholder: OnceLock<bool>,
    /// The results of this run, by the demands of the pods.
    verdicts: Mutex<BTreeMap<Demand<'d>, Arc<Verdict<'d>>>>,
}

/// NodePools that differ only in their names. A static NodePool counts like any other: it launches no node for a pending
/// pod, but the pod may run on its nodes.
#[derive(Debug)]
pub struct PoolGroup<'d> {
    /// The NodePools in the order of the input.
    pub pools: Vec<Object<'d>>,
    /// The index in `pools` of the first NodePool of each name.
    by_name: BTreeMap<&'d str, usize>,
    /// The nodes that they launch, without the label with the name.
    pub template: NodeTemplate<'d>,
}

/// NodePool with its template, and its position in the input.
struct ReadPool<'d> {
    order: usize,
    object: Object<'d>,
    template: NodeTemplate<'d>,
}

/// The groups that set a label.
#[derive(Debug, Default)]
struct Definitions<'d> {
    by_value: BTreeMap<&'d str, Vec<GroupId>>,
    /// The groups that accept any value, such as with `Exists`.
    open: Vec<GroupId>,
}

impl<'d> PoolIndex<'d> {
    /// Indexes NodePools.
    pub fn of(objects: impl Iterator<Item = Object<'d>>) -> Self {
        let mut pools = Self { is_known: true, ..Self::default() };
        let mut converted: Vec<ReadPool<'d>> = Vec::new();
        for object in objects {
            pools.is_known &= is_of_this_provider(node_class_group(object));
            let template = NodePool::of(object).map(NodeTemplate::of).unwrap_or_default();
            converted.push(ReadPool { order: pools.count, object, template });
            pools.count += 1;
        }
        converted.sort_by(|one, other| one.template.cmp(&other.template));
        let mut groups: Vec<(usize, PoolGroup<'d>)> = Vec::new();
        for ReadPool { order, object, template } in converted {
            if groups.last().is_none_or(|(_, last)| last.template != template) {
                // Most groups have one NodePool.
                let alone = Vec::with_capacity(1);
                groups.push((order, PoolGroup { pools: alone, by_name: BTreeMap::new(), template }));
            }
            if let Some((_, group)) = groups.last_mut() {
                group.add(object);
            }
        }
        groups.sort_by_key(|(order, _)| *order);
        pools.groups = groups.into_iter().map(|(_, group)| group).collect();
        pools.index();
        pools
    }

    /// The same index with NodePools that the front end left out, because a [`Shortlist`](crate::shortlist::Shortlist) does
    /// not need them.
    pub fn with_omitted(self, omitted: usize) -> Self {
        Self { count: self.count + omitted, ..self }
    }

    fn index(&mut self) {
        for (id, group) in self.groups.enumerate() {
            for pool in &group.pools {
                self.by_name.entry(pool.name()).or_default().push(id);
            }
            for (key, requirement) in group.template.requirements.iter() {
                let definitions = self.by_key.entry(key).or_default();
                match requirement.listed() {
                    Some(values) => {
                        for value in values {
                            definitions.by_value.entry(value).or_default().push(id);
                        }
                    }
                    None => definitions.open.push(id),
                }
            }
        }
    }

    /// The number of NodePools.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is no NodePool.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether all NodePools belong to the AWS provider. The well-known labels of other providers are unknown here.
    pub fn is_known(&self) -> bool {
        self.is_known
    }

    /// Whether the name, the labels, the requirements or the taints of a NodePool have a placeholder. Which pods such a
    /// NodePool takes is not known.
    pub fn has_placeholder(&self) -> bool {
        let is_open = |pool: NodePool<'d>| {
            let labels = pool.node_labels().map(|(_, node)| node);
            let taints = pool.taints(TaintField::Taints).map(TaintItem::node);
            let mut nodes = labels.chain(pool.requirements().node()).chain(taints);
            let is_hidden = |keys: &[&str]| {
                let part = pool.object().at(keys);
                part.and_then(Node::as_str).is_some_and(has_placeholder)
            };
            has_placeholder(pool.object().name())
                || nodes.any(has_placeholder_below)
                || HIDING.into_iter().any(is_hidden)
        };
        let pools = self.groups.iter().flat_map(|group| &group.pools);
        *self.has_placeholder.get_or_init(|| pools.filter_map(|pool| NodePool::of(*pool)).any(is_open))
    }

    /// The verdict about a demand. `find` computes it for the first pod with this demand.
    pub(super) fn verdict(
        &self,
        demand: Demand<'d>,
        find: impl FnOnce(&Demand<'d>) -> Verdict<'d>,
    ) -> Arc<Verdict<'d>> {
        let known = || self.verdicts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(verdict) = known().get(&demand) {
            return Arc::clone(verdict);
        }
        let found = Arc::new(find(&demand));
        known().insert(demand, Arc::clone(&found));
        found
    }

    /// Whether any NodePool sets a label.
    pub fn sets_label(&self, key: &str) -> bool {
        self.by_key.contains_key(labels::normalised(key))
    }

    /// The labels that NodePools set.
    pub fn keys(&self) -> impl Iterator<Item = &'d str> + Clone {
        self.by_key.keys().copied()
    }

    /// The values that NodePools list for a label.
    pub fn values(&self, key: &str) -> impl Iterator<Item = &'d str> + Clone {
        let definitions = self.by_key.get(labels::normalised(key));
        definitions.into_iter().flat_map(|definitions| definitions.by_value.keys().copied())
    }

    /// The names of all NodePools.
    pub fn names(&self) -> impl Iterator<Item = &'d str> + Clone {
        self.by_name.keys().copied()
    }

    /// Whether any NodePool has a name.
    pub fn has_name(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// The first NodePool of the input.
    pub fn first(&self) -> Option<Object<'d>> {
        self.groups().first()?.pools.first().copied()
    }

    /// All groups.
    pub fn groups(&self) -> &[PoolGroup<'d>] {
        self.groups.as_slice()
    }

    /// Returns the groups that may launch a node for a pod's requirements, found by the most selective label, in the order
    /// of the input. Returns at most `limit` groups.
    pub fn candidates(&self, asked: &Requirements<'d>, limit: usize) -> Vec<&PoolGroup<'d>> {
        let mut fewest: Option<Vec<GroupId>> = None;
        for (key, requirement) in asked.iter() {
            let Some(values) = requirement.listed().filter(|values| !values.is_empty()) else { continue };
            let found: Vec<GroupId> = if key == labels::NODEPOOL {
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
            None => self.groups.iter().take(limit).collect(),
            Some(mut ids) => {
                ids.sort_unstable();
                ids.dedup();
                ids.into_iter().filter_map(|id| self.groups.get(id)).collect()
            }
        }
    }
}

/// Whether a group of node classes belongs to the AWS provider. Another provider, such as EKS Auto Mode, has other well-known
/// labels.
pub(crate) fn is_of_this_provider(group: &str) -> bool {
    matches!(group, "" | "karpenter.k8s.aws")
}

fn node_class_group(object: Object<'_>) -> &str {
    let reference = NodePool::of(object).and_then(NodePool::node_class_ref);
    reference.map_or("", |reference| reference.group_text())
}

impl<'d> PoolGroup<'d> {
    /// The first NodePool whose name is accepted, or the first of all if no name is required.
    pub fn named(&self, names: Option<&Requirement<'d>>) -> Option<Object<'d>> {
        let Some(names) = names else { return self.pools.first().copied() };
        let index = match names.listed() {
            Some(names) => names.iter().find_map(|name| self.by_name.get(name)),
            None => self.by_name.iter().find(|(name, _)| names.has(name)).map(|(_, index)| index),
        };
        self.pools.get(*index?).copied()
    }

    fn add(&mut self, pool: Object<'d>) {
        self.by_name.entry(pool.name()).or_insert(self.pools.len());
        self.pools.push(pool);
    }
}
