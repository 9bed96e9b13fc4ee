//! Filters that look at the pods of other nodes: topology spread, pod affinity and pod anti-affinity.
//!
//! The domains are the domains of the nodes that exist, unlike in Karpenter's scheduler, which knows the domains of the nodes that
//! it could launch. Source: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go and
//! pkg/scheduler/framework/plugins/interpodaffinity/filtering.go of kubernetes/kubernetes at v1.33.0.

use std::collections::BTreeMap;

use super::super::shape::{AffinityTerm, PodShape, Spread};
use super::super::topology::NodeFilter;
use super::Keys;
use super::node::BindingNode;
use crate::demand::Demand;

/// Weight of one pod in a domain for a preferred topology spread, as much as the largest weight of a preferred pod affinity.
const SPREAD_WEIGHT: i64 = 100;

/// Number of pods by the value of a label.
type Counts<'d> = BTreeMap<&'d str, i64>;

/// Topology spread constraint with the number of pods in each domain.
struct SpreadTally<'d> {
    namespace: &'d str,
    spread: Spread<'d>,
    /// The keys that a node must have to count.
    keys: Keys<'d>,
    filter: NodeFilter<'d>,
    counts: Counts<'d>,
    /// The smallest count.
    least: i64,
}

/// The part of a pod on which a topology spread depends.
type SpreadIdentity<'d> = (&'d str, Spread<'d>, Keys<'d>, Demand<'d>);

/// Required pod affinity: the number of pods that all terms select, by the key and the value of each term.
struct AffinityTally<'d> {
    terms: Vec<AffinityTerm<'d>>,
    counts: BTreeMap<(&'d str, &'d str), i64>,
}

/// Term with a number of pods by the value of its key.
struct TermTally<'d> {
    term: AffinityTerm<'d>,
    counts: Counts<'d>,
}

/// The pods of all nodes, as far as pods that wait ask about them.
#[derive(Default)]
pub(super) struct PodTallies<'d> {
    spreads: Vec<SpreadTally<'d>>,
    spread_ids: BTreeMap<SpreadIdentity<'d>, usize>,
    affinities: Vec<AffinityTally<'d>>,
    affinity_ids: BTreeMap<Vec<AffinityTerm<'d>>, usize>,
    /// The pods that each term selects.
    selected: Vec<TermTally<'d>>,
    selected_ids: BTreeMap<AffinityTerm<'d>, usize>,
    /// The pods that have each term as a required anti-affinity.
    repelling: Vec<TermTally<'d>>,
    repelling_ids: BTreeMap<AffinityTerm<'d>, usize>,
}

/// The tallies that the pods of a shape ask.
#[derive(Default)]
pub(super) struct TalliesOfPod {
    hard_spreads: Vec<usize>,
    soft_spreads: Vec<usize>,
    affinity: Option<usize>,
    anti_affinity: Vec<usize>,
    /// Preferred terms with their weights.
    preferred: Vec<(i64, usize)>,
    /// The anti-affinity of other pods.
    repelled_by: Vec<usize>,
    /// The number of terms of other pods that were compared.
    seen: usize,
    /// Whether each spread of the shape selects the shape itself.
    selects_itself: BTreeMap<usize, bool>,
    /// Whether the shape meets its own affinity terms, so that it may be the first pod of its group.
    starts_affinity: bool,
}

impl<'d> PodTallies<'d> {
    /// The pods of nodes.
    pub(super) fn of(nodes: &[BindingNode<'d>]) -> Self {
        let mut all = Self::default();
        for node in nodes {
            for (pod, _) in &node.pods {
                all.add_repelling(node, pod);
            }
        }
        all
    }

    /// The number of tallies, which each pod that is bound is compared with.
    pub(super) fn len(&self) -> usize {
        self.spreads.len() + self.affinities.len() + self.selected.len() + self.repelling.len()
    }

    /// The tallies for the pods of a shape.
    pub(super) fn plan(&mut self, nodes: &[BindingNode<'d>], shape: &PodShape<'d>) -> TalliesOfPod {
        let mut plan = TalliesOfPod::default();
        let keys: Keys<'d> =
            shape.spreads.iter().filter(|spread| !spread.is_preference).map(|spread| spread.key).collect();
        for spread in &shape.spreads {
            let keys = if spread.is_preference { Keys::from([spread.key]) } else { keys.clone() };
            let id = self.spread(nodes, shape, spread, keys);
            let list = if spread.is_preference { &mut plan.soft_spreads } else { &mut plan.hard_spreads };
            list.push(id);
            plan.selects_itself.insert(id, spread_selects(shape.namespace, spread, shape));
        }
        let required = &shape.affinity.required;
        if !required.is_empty() {
            plan.affinity = Some(self.affinity(nodes, required));
            plan.starts_affinity = required.iter().all(|term| selects(term, shape));
        }
        plan.anti_affinity =
            shape.anti_affinity.required.iter().map(|term| self.selected(nodes, term)).collect();
        for (terms, sign) in [(&shape.affinity.preferred, 1), (&shape.anti_affinity.preferred, -1)] {
            plan.preferred
                .extend(terms.iter().map(|(weight, term)| (sign * weight, self.selected(nodes, term))));
        }
        plan
    }

    /// Adds the anti-affinity of the pods that were bound since the last pod of the shape.
    pub(super) fn refresh(&self, plan: &mut TalliesOfPod, shape: &PodShape<'d>) {
        let new = self.repelling.iter().enumerate().skip(plan.seen);
        plan.repelled_by.extend(new.filter(|(_, tally)| selects(&tally.term, shape)).map(|(id, _)| id));
        plan.seen = self.repelling.len();
    }

    /// Whether the pods of all nodes allow a pod on a node.
    pub(super) fn allow(&self, plan: &TalliesOfPod, node: &BindingNode<'d>) -> bool {
        let has_pods = |all: &[TermTally<'d>], id: &usize| {
            all.get(*id).is_some_and(|tally| node.value(tally.term.key).is_some_and(|value| tally.has(value)))
        };
        let spreads = plan.hard_spreads.iter().all(|id| {
            let itself = plan.selects_itself.get(id).copied().unwrap_or_default();
            self.spreads.get(*id).is_none_or(|tally| tally.allows(node, itself))
        });
        let joins = plan.affinity.and_then(|id| self.affinities.get(id));
        spreads
            && joins.is_none_or(|tally| tally.allows(node, plan.starts_affinity))
            && !plan.anti_affinity.iter().any(|id| has_pods(&self.selected, id))
            && !plan.repelled_by.iter().any(|id| has_pods(&self.repelling, id))
    }

    /// The preference of a pod for a node because of the pods of all nodes.
    pub(super) fn preference(&self, plan: &TalliesOfPod, node: &BindingNode<'d>) -> i64 {
        let spreads = plan.soft_spreads.iter().filter_map(|id| {
            let tally = self.spreads.get(*id)?;
            let count = node.value(tally.spread.key).and_then(|value| tally.counts.get(value));
            Some(count.copied().unwrap_or_default() * -SPREAD_WEIGHT)
        });
        let terms = plan.preferred.iter().filter_map(|(weight, id)| {
            let tally = self.selected.get(*id)?;
            Some(tally.counts.get(node.value(tally.term.key)?)? * weight)
        });
        spreads.chain(terms).sum()
    }

    /// Counts a pod that was bound to a node.
    pub(super) fn add(&mut self, node: &BindingNode<'d>, shape: &PodShape<'d>) {
        self.spreads.iter_mut().for_each(|tally| tally.add(node, shape));
        self.affinities.iter_mut().for_each(|tally| tally.add(node, shape));
        self.selected.iter_mut().for_each(|tally| tally.add_selected(node, shape));
        self.add_repelling(node, shape);
    }

    fn add_repelling(&mut self, node: &BindingNode<'d>, shape: &PodShape<'d>) {
        for term in &shape.anti_affinity.required {
            let Some(value) = node.value(term.key) else { continue };
            let id = if let Some(id) = self.repelling_ids.get(term) {
                *id
            } else {
                let id = self.repelling.len();
                self.repelling_ids.insert(term.clone(), id);
                self.repelling.push(TermTally { term: term.clone(), counts: Counts::new() });
                id
            };
            if let Some(tally) = self.repelling.get_mut(id) {
                *tally.counts.entry(value).or_default() += 1;
            }
        }
    }

    fn spread(
        &mut self,
        nodes: &[BindingNode<'d>],
        shape: &PodShape<'d>,
        spread: &Spread<'d>,
        keys: Keys<'d>,
    ) -> usize {
        let identity = (shape.namespace, spread.clone(), keys.clone(), shape.demand.clone());
        if let Some(id) = self.spread_ids.get(&identity) {
            return *id;
        }
        let mut tally = SpreadTally {
            namespace: shape.namespace,
            spread: spread.clone(),
            keys,
            filter: NodeFilter::of(shape, spread.honors_taints, spread.honors_affinity),
            counts: Counts::new(),
            least: 0,
        };
        for node in nodes.iter().filter(|node| tally.counts_node(node)).collect::<Vec<_>>() {
            let Some(value) = node.value(spread.key) else { continue };
            let pods = node.pods.iter().filter(|(pod, is_terminating)| {
                !is_terminating && spread_selects(shape.namespace, spread, pod)
            });
            let pods = i64::try_from(pods.count()).unwrap_or(i64::MAX);
            *tally.counts.entry(value).or_default() += pods;
        }
        tally.find_least();
        let id = self.spreads.len();
        self.spreads.push(tally);
        self.spread_ids.insert(identity, id);
        id
    }

    fn affinity(&mut self, nodes: &[BindingNode<'d>], terms: &[AffinityTerm<'d>]) -> usize {
        if let Some(id) = self.affinity_ids.get(terms) {
            return *id;
        }
        let mut tally = AffinityTally { terms: terms.to_vec(), counts: BTreeMap::new() };
        for node in nodes {
            node.pods.iter().for_each(|(pod, _)| tally.add(node, pod));
        }
        let id = self.affinities.len();
        self.affinities.push(tally);
        self.affinity_ids.insert(terms.to_vec(), id);
        id
    }

    fn selected(&mut self, nodes: &[BindingNode<'d>], term: &AffinityTerm<'d>) -> usize {
        if let Some(id) = self.selected_ids.get(term) {
            return *id;
        }
        let mut tally = TermTally { term: term.clone(), counts: Counts::new() };
        for node in nodes {
            node.pods.iter().for_each(|(pod, _)| tally.add_selected(node, pod));
        }
        let id = self.selected.len();
        self.selected.push(tally);
        self.selected_ids.insert(term.clone(), id);
        id
    }
}

impl<'d> SpreadTally<'d> {
    /// Whether the pods of a node count: it has all keys, and the policies of the constraint include it.
    fn counts_node(&self, node: &BindingNode<'d>) -> bool {
        self.keys.iter().all(|key| node.value(key).is_some())
            && self.filter.matches(&node.hard_taints, &node.labels)
    }

    fn allows(&self, node: &BindingNode<'d>, selects_itself: bool) -> bool {
        let Some(value) = node.value(self.spread.key) else { return false };
        let domains = i64::try_from(self.counts.len()).unwrap_or(i64::MAX);
        let too_few = self.spread.min_domains.is_some_and(|least| domains < least);
        let least = if too_few { 0 } else { self.least };
        let count = self.counts.get(value).copied().unwrap_or_default();
        count + i64::from(selects_itself) - least <= self.spread.max_skew
    }

    fn add(&mut self, node: &BindingNode<'d>, shape: &PodShape<'d>) {
        if !spread_selects(self.namespace, &self.spread, shape) || !self.counts_node(node) {
            return;
        }
        let Some(value) = node.value(self.spread.key) else { return };
        let count = self.counts.entry(value).or_default();
        let was_least = *count == self.least;
        *count += 1;
        if was_least {
            self.find_least();
        }
    }

    fn find_least(&mut self) {
        self.least = self.counts.values().copied().min().unwrap_or(i64::from(i32::MAX));
    }
}

impl<'d> AffinityTally<'d> {
    fn add(&mut self, node: &BindingNode<'d>, shape: &PodShape<'d>) {
        if !self.terms.iter().all(|term| selects(term, shape)) {
            return;
        }
        for term in &self.terms {
            if let Some(value) = node.value(term.key) {
                *self.counts.entry((term.key, value)).or_default() += 1;
            }
        }
    }

    /// Whether each term has a pod in the node's domain. The first pod of a group may go to any node with the keys.
    fn allows(&self, node: &BindingNode<'d>, starts: bool) -> bool {
        let values = self.terms.iter().map(|term| Some((term.key, node.value(term.key)?)));
        let Some(values) = values.collect::<Option<Vec<_>>>() else { return false };
        values.iter().all(|pair| self.counts.contains_key(pair)) || (self.counts.is_empty() && starts)
    }
}

impl<'d> TermTally<'d> {
    fn has(&self, value: &str) -> bool {
        self.counts.contains_key(value)
    }

    fn add_selected(&mut self, node: &BindingNode<'d>, shape: &PodShape<'d>) {
        if let Some(value) = node.value(self.term.key).filter(|_| selects(&self.term, shape)) {
            *self.counts.entry(value).or_default() += 1;
        }
    }
}

/// Whether a term selects a pod.
fn selects(term: &AffinityTerm<'_>, shape: &PodShape<'_>) -> bool {
    let selector = term.selector.as_ref();
    term.namespaces.contains(shape.namespace)
        && selector.is_some_and(|selector| selector.matches(&shape.labels))
}

/// Whether a topology spread of pods in a namespace selects a pod.
fn spread_selects(namespace: &str, spread: &Spread<'_>, shape: &PodShape<'_>) -> bool {
    let selector = spread.selector.as_ref();
    namespace == shape.namespace && selector.is_some_and(|selector| selector.matches(&shape.labels))
}
