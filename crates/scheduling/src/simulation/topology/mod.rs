//! Topology spread, pod affinity and pod anti-affinity.
//!
//! Source: pkg/controllers/provisioning/scheduling/topology.go of kubernetes-sigs/karpenter at v1.14.1.

mod created;
mod domain_counts;
mod domains;
mod group;
mod kept;
mod kept_counts;
mod pods_by_label;

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use karpenter::labels;

use super::behaviour::SchedulerBehaviour;
use super::pods::RunningPod;
use super::selector::LabelSelector;
use super::settings::SimulationSettings;
use super::shape::{AffinityTerm, AffinityTerms, PodShape};
use super::variant::{Relaxed, Variant};
use super::work::Work;
use crate::requirements::{EffectiveOperator, Requirement, Requirements};
use crate::taints::PoolTaint;

pub(crate) use created::CreatedGroups;
use domain_counts::{DomainCounts, SharedDomains, only_value};
pub(crate) use domains::Domains;
pub(crate) use group::{Group, GroupIdentity, GroupKind, NodeFilter, TopologyConstraint};
pub(crate) use kept::{KeptNode, KeptTopology, PresentTopology};
use pods_by_label::PodsByLabel;

/// Number of steps for the comparison of a pod with a constraint.
const STEPS_PER_GROUP: usize = 4;
/// Number of domains that are looked at in a step.
const DOMAINS_PER_STEP: usize = 2;

/// Number of groups from which on the pods of the nodes are found by a label.
const MIN_INDEXED: usize = 64;

/// Group that several pods share.
pub(crate) type SharedGroup<'d> = Rc<RefCell<Group<'d>>>;

/// Node of the cluster as far as topology looks at it.
#[derive(Clone, Debug)]
pub(crate) struct TopologyNode<'d> {
    /// The labels, with the host name.
    pub(crate) labels: Requirements<'d>,
    /// The taints.
    pub(crate) taints: Vec<PoolTaint<'d>>,
    /// The shapes of the running pods that count.
    pods: Vec<Rc<PodShape<'d>>>,
    /// The shapes of the pods with a required anti-affinity. Unlike other constraints, it also holds for pods that are being deleted
    /// (`ForPodsWithAntiAffinity` in pkg/controllers/state/cluster.go).
    repelling: Vec<Rc<PodShape<'d>>>,
}

impl<'d> TopologyNode<'d> {
    /// A node with its pods.
    pub(crate) fn new<'p>(
        labels: Requirements<'d>,
        taints: Vec<PoolTaint<'d>>,
        pods: impl IntoIterator<Item = &'p RunningPod<'d>>,
    ) -> Self
    where
        'd: 'p,
    {
        let mut node = Self { labels, taints, pods: Vec::new(), repelling: Vec::new() };
        pods.into_iter().for_each(|pod| node.add(pod));
        node
    }

    /// Adds a pod to the node.
    pub(crate) fn add(&mut self, pod: &RunningPod<'d>) {
        if !pod.shape.anti_affinity.required.is_empty() {
            self.repelling.push(Rc::clone(&pod.shape));
        }
        if !pod.is_terminating() {
            self.pods.push(Rc::clone(&pod.shape));
        }
    }

    fn domain(&self, key: &str) -> Option<&'d str> {
        self.labels.get(key)?.named_values().next()
    }
}

/// A topology constraint that no domain satisfies.
#[derive(Clone, Debug)]
pub(crate) struct TopologyFailure<'d> {
    /// `topologyKey`.
    pub(crate) key: &'d str,
    /// Karpenter's message.
    pub(crate) message: String,
    /// Whether the same node can never satisfy it, because counts only grow.
    pub(crate) is_final: bool,
}

/// Duration for which the pods of other nodes keep a pod away from a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeptAway {
    /// Until other pods are placed.
    Now,
    /// Until the end of the round: the number of pods on a host only grows.
    ForEver,
}

/// Origin of the domains of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum DomainOrigin {
    /// The NodePools.
    Pools,
    /// The NodePools and the nodes.
    PoolsAndNodes,
}

/// The nodes of a round.
#[derive(Debug)]
pub(crate) enum TopologyNodes<'d> {
    /// Nodes whose pods no constraint has counted.
    New(Vec<Rc<TopologyNode<'d>>>),
    /// Nodes whose pods earlier rounds have counted.
    Kept(PresentTopology<'d>),
}

impl<'d> TopologyNodes<'d> {
    /// The nodes whose pods are to be counted.
    fn uncounted(&self) -> &[Rc<TopologyNode<'d>>] {
        if let Self::New(nodes) = self { nodes } else { &[] }
    }
}

/// A topology constraint that no domain satisfies, before it is explained.
#[derive(Debug)]
pub(crate) struct Unsatisfied<'d>(SharedGroup<'d>);

/// The constraints of the pods.
#[derive(Debug)]
pub(crate) struct Topology<'d> {
    groups: BTreeMap<GroupIdentity<'d>, SharedGroup<'d>>,
    /// The groups in the order of their creation.
    pub(super) created: CreatedGroups<'d>,
    /// The domains that groups without pods share.
    shared: BTreeMap<(&'d str, DomainOrigin), SharedDomains<'d>>,
    /// The groups by their label that have separate domains.
    by_key: RefCell<BTreeMap<&'d str, Vec<SharedGroup<'d>>>>,
    /// The pods of the nodes by a label, once many groups ask for it.
    by_label: OnceCell<PodsByLabel<'d>>,
    /// Required anti-affinity seen from the other pod.
    inverse: BTreeMap<Rc<GroupIdentity<'d>>, SharedGroup<'d>>,
    domains: Rc<Domains<'d>>,
    nodes: TopologyNodes<'d>,
    counts_node_domains: bool,
    ignores_preferences: bool,
    affinity_by_node: bool,
    work: Rc<Work>,
}

impl<'d> Topology<'d> {
    /// Topology of a cluster with running pods and no pending pods.
    pub(crate) fn new(
        domains: Rc<Domains<'d>>,
        nodes: TopologyNodes<'d>,
        settings: &SimulationSettings,
        work: &Rc<Work>,
    ) -> Self {
        let holds = |behaviour: SchedulerBehaviour| behaviour.holds_in(settings.release);
        let mut topology = Self {
            groups: BTreeMap::new(),
            created: CreatedGroups::default(),
            shared: BTreeMap::new(),
            by_key: RefCell::default(),
            by_label: OnceCell::new(),
            inverse: BTreeMap::new(),
            domains,
            nodes,
            counts_node_domains: holds(SchedulerBehaviour::SPREAD_POLICIES),
            ignores_preferences: settings.ignores_preferences && holds(SchedulerBehaviour::RELAXES_AT_ONCE),
            affinity_by_node: holds(SchedulerBehaviour::AFFINITY_BY_NODE),
            work: Rc::clone(work),
        };
        topology.add_running_anti_affinity();
        topology
    }

    fn add_running_anti_affinity(&mut self) {
        let nodes: Vec<Rc<TopologyNode<'d>>> = match &self.nodes {
            TopologyNodes::New(nodes) => nodes.clone(),
            TopologyNodes::Kept(present) => {
                for (identity, constraint, counts) in present.inverse(&self.domains, &self.work) {
                    let key = constraint.key;
                    let group = Rc::new(RefCell::new(Group::new(constraint, DomainCounts::Kept(counts))));
                    self.by_key.get_mut().entry(key).or_default().push(Rc::clone(&group));
                    self.inverse.insert(identity, group);
                }
                present.absent.iter().filter_map(|(_, rest)| rest.topology.clone()).collect()
            }
        };
        for node in nodes {
            for pod in &node.repelling {
                for term in &pod.anti_affinity.required {
                    let group = self.inverse_group(&of_term(GroupKind::AntiAffinity, term));
                    if let Some(domain) = node.domain(term.key) {
                        self.count_in(&group, domain);
                    }
                }
            }
        }
    }

    fn inverse_group(&mut self, constraint: &TopologyConstraint<'d>) -> SharedGroup<'d> {
        let identity = constraint.identity();
        if let Some(group) = self.inverse.get(&identity) {
            return Rc::clone(group);
        }
        let domains = DomainCounts::Empty(self.shared_domains(constraint.key, DomainOrigin::Pools));
        let group = Rc::new(RefCell::new(Group::new(constraint.clone(), domains)));
        self.inverse.insert(Rc::new(identity), Rc::clone(&group));
        group
    }

    /// The groups of a pod: its own constraints, and its required anti-affinity for other pods.
    pub(crate) fn join(&mut self, shape: &PodShape<'d>) -> (Vec<SharedGroup<'d>>, Vec<SharedGroup<'d>>) {
        let inverse = shape.anti_affinity.required.iter();
        let inverse =
            inverse.map(|term| self.inverse_group(&of_term(GroupKind::AntiAffinity, term))).collect();
        let constraints = self.constraints(shape);
        let own = constraints.into_iter().map(|constraint| self.group(constraint)).collect();
        (own, inverse)
    }

    /// The groups of a pod after a step of its relaxation. Only a change of the node affinity or of the tolerations changes the groups
    /// that remain.
    pub(crate) fn rejoin(
        &mut self,
        before: &Variant<'d>,
        shape: &PodShape<'d>,
        step: Relaxed,
    ) -> (Vec<SharedGroup<'d>>, Vec<SharedGroup<'d>>) {
        let old = &before.shape;
        let spreads = old.spreads.iter().filter(|spread| !self.ignores_preferences || !spread.is_preference);
        let terms = |terms: &AffinityTerms<'d>| {
            terms.required.len() + if self.ignores_preferences { 0 } else { terms.preferred.len() }
        };
        let spreads = spreads.count();
        let anti_affinity = spreads + terms(&old.affinity);
        let mut groups = before.groups.clone();
        self.work.count(1 + groups.len() / DOMAINS_PER_STEP);
        match step {
            Relaxed::RequiredTerm | Relaxed::SoftTaints => return self.join_anew(shape),
            Relaxed::Spread(_) if self.ignores_preferences => return self.join_anew(shape),
            Relaxed::NodeAffinity => {}
            _ if self.ignores_preferences => {}
            Relaxed::Affinity => drop(groups.remove(spreads + old.affinity.required.len())),
            Relaxed::AntiAffinity => drop(groups.remove(anti_affinity + old.anti_affinity.required.len())),
            Relaxed::Spread(position) => {
                groups.swap(position, spreads - 1);
                groups.remove(spreads - 1);
            }
        }
        (groups, before.inverse.clone())
    }

    fn join_anew(&mut self, shape: &PodShape<'d>) -> (Vec<SharedGroup<'d>>, Vec<SharedGroup<'d>>) {
        let all = self.join(shape);
        self.work.count((all.0.len() + all.1.len()) * STEPS_PER_GROUP);
        all
    }

    fn constraints(&self, shape: &PodShape<'d>) -> Vec<TopologyConstraint<'d>> {
        let counts = !self.ignores_preferences;
        let spreads = shape.spreads.iter().filter(|spread| counts || !spread.is_preference);
        let mut all: Vec<TopologyConstraint<'d>> = spreads
            .map(|spread| TopologyConstraint {
                kind: GroupKind::Spread,
                key: spread.key,
                namespaces: [shape.namespace].into(),
                selector: spread.selector.clone(),
                max_skew: spread.max_skew,
                min_domains: spread.min_domains,
                filter: NodeFilter::of(shape, spread.honors_taints, spread.honors_affinity),
            })
            .collect();
        for (kind, terms) in
            [(GroupKind::Affinity, &shape.affinity), (GroupKind::AntiAffinity, &shape.anti_affinity)]
        {
            let preferred = terms.preferred.iter().filter(|_| counts).map(|(_, term)| term);
            all.extend(terms.required.iter().chain(preferred).map(|term| of_term(kind, term)));
        }
        all
    }

    fn group(&mut self, constraint: TopologyConstraint<'d>) -> SharedGroup<'d> {
        let identity = constraint.identity();
        if let Some(group) = self.groups.get(&identity) {
            return Rc::clone(group);
        }
        let group = self.count(constraint);
        self.created.push(&group);
        self.groups.insert(identity, Rc::clone(&group));
        group
    }

    /// The domains of a label that groups without pods share.
    fn shared_domains(&mut self, key: &'d str, origin: DomainOrigin) -> SharedDomains<'d> {
        if let Some(shared) = self.shared.get(&(key, origin)) {
            return Rc::clone(shared);
        }
        let mut all = self.domains.values(key, &NodeFilter::default());
        if origin == DomainOrigin::PoolsAndNodes {
            all.extend(self.nodes.uncounted().iter().filter_map(|node| node.domain(key)));
        }
        self.work.count(self.nodes.uncounted().len() + all.len());
        let shared = Rc::new(RefCell::new(all));
        self.shared.insert((key, origin), Rc::clone(&shared));
        shared
    }

    /// A new group with the running pods.
    fn count(&mut self, constraint: TopologyConstraint<'d>) -> SharedGroup<'d> {
        let with_nodes = self.counts_node_domains;
        if let TopologyNodes::Kept(present) = &self.nodes {
            let key = constraint.key;
            let counts = present.counts(&constraint, &self.domains, with_nodes, &self.work);
            let group = Rc::new(RefCell::new(Group::new(constraint, DomainCounts::Kept(counts))));
            self.by_key.get_mut().entry(key).or_default().push(Rc::clone(&group));
            return group;
        }
        if constraint.filter.matches_all() {
            let origin = if with_nodes { DomainOrigin::PoolsAndNodes } else { DomainOrigin::Pools };
            let domains = DomainCounts::Empty(self.shared_domains(constraint.key, origin));
            let group = Rc::new(RefCell::new(Group::new(constraint, domains)));
            self.count_pods(&group);
            return group;
        }
        let domains = self.domains.values(constraint.key, &constraint.filter);
        self.work.count(domains.len() + self.nodes.uncounted().len() * STEPS_PER_GROUP);
        let mut group = Group::new(constraint, DomainCounts::own(domains));
        for node in self.nodes.uncounted() {
            let Some(domain) = node.domain(group.constraint.key) else { continue };
            if !group.constraint.filter.matches(&node.taints, &node.labels) {
                continue;
            }
            if self.counts_node_domains {
                group.domains.register(domain);
            }
            self.work.count(node.pods.len());
            for _ in node.pods.iter().filter(|pod| group.constraint.counts(pod)) {
                group.domains.record(domain);
            }
        }
        let key = group.constraint.key;
        let group = Rc::new(RefCell::new(group));
        self.by_key.borrow_mut().entry(key).or_default().push(Rc::clone(&group));
        group
    }

    /// Counts the running pods of every node in a group.
    fn count_pods(&self, group: &SharedGroup<'d>) {
        let constraint = group.borrow().constraint.clone();
        let label = constraint.selector.as_ref().and_then(LabelSelector::required_label);
        if let Some(label) = label.filter(|_| self.created.len() >= MIN_INDEXED) {
            let all = self.by_label.get_or_init(|| PodsByLabel::of(self.nodes.uncounted()));
            for (node, pod) in all.find(label) {
                self.work.count(1);
                if let Some(domain) = node.domain(constraint.key).filter(|_| constraint.counts(pod)) {
                    self.count_in(group, domain);
                }
            }
            return;
        }
        for node in self.nodes.uncounted() {
            self.work.count(node.pods.len());
            let Some(domain) = node.domain(constraint.key) else { continue };
            for _ in node.pods.iter().filter(|pod| constraint.counts(pod)) {
                self.count_in(group, domain);
            }
        }
    }

    /// Counts a pod in a domain of a group.
    fn count_in(&self, shared: &SharedGroup<'d>, domain: &'d str) {
        let mut group = shared.borrow_mut();
        if group.domains.is_shared() {
            self.work.count(group.domains.len());
            let mut by_key = self.by_key.borrow_mut();
            by_key.entry(group.constraint.key).or_default().push(Rc::clone(shared));
        }
        group.domains.record(domain);
    }

    /// Adds an empty domain to the groups of a label.
    pub(crate) fn register(&mut self, key: &'d str, domain: &'d str) {
        for origin in [DomainOrigin::Pools, DomainOrigin::PoolsAndNodes] {
            if let Some(shared) = self.shared.get(&(key, origin)) {
                shared.borrow_mut().insert(domain);
            }
        }
        let by_key = self.by_key.borrow();
        let own = by_key.get(key).map(Vec::as_slice).unwrap_or_default();
        self.work.count(own.len());
        for group in own {
            group.borrow_mut().domains.register(domain);
        }
    }

    /// Counts a placed pod in the domains of its node.
    pub(crate) fn record(&self, pod: &Variant<'d>, taints: &[PoolTaint<'d>], node: &Requirements<'d>) {
        pod.selecting_groups(&self.created, &self.work, |group| {
            let domains: Vec<&str> = {
                let TopologyConstraint { filter, key, kind, .. } = &group.borrow().constraint;
                let counts = *kind == GroupKind::AntiAffinity || is_one_value(node, key);
                let all = node.get(key).filter(|_| counts && filter.matches(taints, node));
                all.into_iter().flat_map(Requirement::named_values).collect()
            };
            for domain in domains {
                self.count_in(group, domain);
            }
        });
        for group in &pod.inverse {
            let key = group.borrow().constraint.key;
            let domains = node.get(key).into_iter().flat_map(Requirement::named_values);
            domains.for_each(|domain| self.count_in(group, domain));
        }
    }

    /// The domains that a pod may use on a node, as requirements on the node.
    pub(crate) fn requirements(
        &self,
        pod: &Variant<'d>,
        node: &Requirements<'d>,
    ) -> Result<Requirements<'d>, Unsatisfied<'d>> {
        let mut all = Requirements::default();
        for shared in self.groups_of(pod) {
            let group = shared.borrow();
            let key = group.constraint.key;
            let any = Requirement::exists();
            let of_pod = pod.strict.get(key).unwrap_or(&any);
            let of_node = node.get(key).unwrap_or(&any);
            self.work.count(STEPS_PER_GROUP + group.domains_to_look_at(of_node) / DOMAINS_PER_STEP);
            let domains = group.next(pod.is_selected_by(&group.constraint), of_pod, of_node);
            if domains.operator() == EffectiveOperator::DoesNotExist {
                return Err(Unsatisfied(Rc::clone(shared)));
            }
            all.add(key, domains);
        }
        Ok(all)
    }

    /// The constraints that a pod must respect: its own, and the anti-affinity of other pods.
    fn groups_of<'p>(&'p self, pod: &'p Variant<'d>) -> impl Iterator<Item = &'p SharedGroup<'d>> {
        pod.groups.iter().chain(pod.matching_inverse(&self.inverse, &self.work))
    }

    /// Whether a constraint, of the pod or of another one, concerns the pod.
    pub(crate) fn concerns(&self, pod: &Variant<'d>) -> bool {
        self.groups_of(pod).next().is_some()
    }

    /// Whether the pods of other nodes keep a pod away from a node whose domains are known, as far as this takes little time to find
    /// out.
    pub(crate) fn refusal(&self, pod: &Variant<'d>, node: &Requirements<'d>) -> Option<KeptAway> {
        let any = Requirement::exists();
        let mut refusal = None;
        for shared in self.groups_of(pod) {
            let group = shared.borrow();
            self.work.count(1);
            let key = group.constraint.key;
            let Some(domain) = node.get(key).and_then(only_value) else { continue };
            let of_pod = pod.strict.get(key).unwrap_or(&any);
            if !group.refuses(pod.is_selected_by(&group.constraint), of_pod, domain) {
                continue;
            }
            if key == labels::HOSTNAME {
                return Some(KeptAway::ForEver);
            }
            refusal = Some(KeptAway::Now);
        }
        refusal
    }

    /// Explains a constraint that no domain of a node satisfies, in Karpenter's words if asked.
    pub(crate) fn explain(
        &self,
        Unsatisfied(shared): &Unsatisfied<'d>,
        pod: &Variant<'d>,
        node: &Requirements<'d>,
        with_message: bool,
    ) -> TopologyFailure<'d> {
        let group = shared.borrow();
        let TopologyConstraint { kind, key, .. } = group.constraint;
        let is_final = key == labels::HOSTNAME && kind != GroupKind::Affinity;
        let mut failure = TopologyFailure { key, message: String::new(), is_final };
        if with_message {
            let any = Requirement::exists();
            let of_pod = pod.strict.get(key).unwrap_or(&any);
            let of_node = node.get(key).unwrap_or(&any);
            let is_elsewhere = !self.affinity_by_node && kind != GroupKind::Spread && {
                let anywhere = group.next(pod.is_selected_by(&group.constraint), of_pod, &any);
                anywhere.operator() == EffectiveOperator::In
            };
            failure.message = message(&group, of_pod, of_node, is_elsewhere);
        }
        failure
    }
}

fn is_one_value(node: &Requirements<'_>, key: &str) -> bool {
    node.get(key).is_some_and(|requirement| {
        requirement.operator() == EffectiveOperator::In && requirement.named_values().nth(1).is_none()
    })
}

pub(crate) fn of_term<'d>(kind: GroupKind, term: &AffinityTerm<'d>) -> TopologyConstraint<'d> {
    TopologyConstraint {
        kind,
        key: term.key,
        namespaces: term.namespaces.clone(),
        selector: term.selector.clone(),
        max_skew: i64::from(i32::MAX),
        min_domains: None,
        filter: NodeFilter::default(),
    }
}

/// Karpenter's message about a constraint.
fn message(group: &Group<'_>, pod: &Requirement<'_>, node: &Requirement<'_>, is_elsewhere: bool) -> String {
    const MAX_PRINTED: usize = 25;
    let TopologyConstraint { kind, key, .. } = group.constraint;
    if is_elsewhere {
        return format!("key {key}, {key} DoesNotExist not in {key} {node}");
    }
    let domains = group.domains.by_name(MAX_PRINTED).into_iter();
    let counts: Vec<String> = domains.map(|(domain, count)| format!("{domain}: {count}")).collect();
    let more = group.domains.len().saturating_sub(MAX_PRINTED);
    let others = if more == 0 { String::new() } else { format!(" and {more} other(s)") };
    format!(
        "unsatisfiable topology constraint for {}, key={key} (counts = {}{others}, podDomains = {key} {pod}, \
         nodeDomains = {key} {node}",
        kind.name(),
        counts.join(", "),
    )
}
