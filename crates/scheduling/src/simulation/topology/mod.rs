//! Topology spread, pod affinity and pod anti-affinity.
//!
//! Source: pkg/controllers/provisioning/scheduling/topology.go of kubernetes-sigs/karpenter at v1.14.1.

mod domains;
mod group;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use karpenter::labels;

use super::behaviour::SchedulerBehaviour;
use super::pods::RunningPod;
use super::settings::SimulationSettings;
use super::shape::{AffinityTerm, PodShape};
use super::variant::Variant;
use crate::requirements::{EffectiveOperator, Requirement, Requirements};
use crate::taints::PoolTaint;

pub(crate) use domains::Domains;
pub(crate) use group::{Group, GroupIdentity, GroupKind, NodeFilter, TopologyConstraint};

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

/// The constraints of the pods.
#[derive(Debug)]
pub(crate) struct Topology<'d> {
    groups: BTreeMap<GroupIdentity<'d>, SharedGroup<'d>>,
    /// The groups in the order of their creation.
    created: Vec<SharedGroup<'d>>,
    /// Required anti-affinity seen from the other pod.
    inverse: BTreeMap<GroupIdentity<'d>, SharedGroup<'d>>,
    domains: Rc<Domains<'d>>,
    nodes: Vec<Rc<TopologyNode<'d>>>,
    counts_node_domains: bool,
    ignores_preferences: bool,
    affinity_by_node: bool,
}

impl<'d> Topology<'d> {
    /// Topology of a cluster with running pods and no pending pods.
    pub(crate) fn new(
        domains: Rc<Domains<'d>>,
        nodes: Vec<Rc<TopologyNode<'d>>>,
        settings: &SimulationSettings,
    ) -> Self {
        let holds = |behaviour: SchedulerBehaviour| behaviour.holds_in(settings.release);
        let mut topology = Self {
            groups: BTreeMap::new(),
            created: Vec::new(),
            inverse: BTreeMap::new(),
            domains,
            nodes,
            counts_node_domains: holds(SchedulerBehaviour::SPREAD_POLICIES),
            ignores_preferences: settings.ignores_preferences && holds(SchedulerBehaviour::RELAXES_AT_ONCE),
            affinity_by_node: holds(SchedulerBehaviour::AFFINITY_BY_NODE),
        };
        topology.add_running_anti_affinity();
        topology
    }

    fn add_running_anti_affinity(&mut self) {
        for node in self.nodes.clone() {
            for pod in &node.repelling {
                for term in &pod.anti_affinity.required {
                    let group = self.inverse_group(&of_term(GroupKind::AntiAffinity, term));
                    if let Some(domain) = node.domain(term.key) {
                        group.borrow_mut().record(domain);
                    }
                }
            }
        }
    }

    fn inverse_group(&mut self, constraint: &TopologyConstraint<'d>) -> SharedGroup<'d> {
        let domains = &self.domains;
        let make = || {
            let all = domains.values(constraint.key, &constraint.filter);
            Rc::new(RefCell::new(Group::new(constraint.clone(), all.into_iter())))
        };
        Rc::clone(self.inverse.entry(constraint.identity()).or_insert_with(make))
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
        let group = Rc::new(RefCell::new(self.count(constraint)));
        self.created.push(Rc::clone(&group));
        self.groups.insert(identity, Rc::clone(&group));
        group
    }

    /// A new group with the running pods.
    fn count(&self, constraint: TopologyConstraint<'d>) -> Group<'d> {
        let domains = self.domains.values(constraint.key, &constraint.filter);
        let mut group = Group::new(constraint, domains.into_iter());
        for node in &self.nodes {
            let Some(domain) = node.domain(group.constraint.key) else { continue };
            if !group.constraint.filter.matches(&node.taints, &node.labels) {
                continue;
            }
            if self.counts_node_domains {
                group.register(domain);
            }
            for pod in &node.pods {
                // Without a selector Karpenter lists every pod of the namespace.
                let everything = group.constraint.selector.is_none();
                let in_namespace = group.constraint.namespaces.contains(pod.namespace);
                if (everything && in_namespace) || group.constraint.selects(pod) {
                    group.record(domain);
                }
            }
        }
        group
    }

    /// Adds an empty domain to the groups of a label.
    pub(crate) fn register(&mut self, key: &str, domain: &'d str) {
        for group in self.created.iter().chain(self.inverse.values()) {
            let mut group = group.borrow_mut();
            if group.constraint.key == key {
                group.register(domain);
            }
        }
    }

    /// Counts a placed pod in the domains of its node.
    pub(crate) fn record(&self, pod: &Variant<'d>, taints: &[PoolTaint<'d>], node: &Requirements<'d>) {
        pod.selecting_groups(&self.created, |group| {
            let mut group = group.borrow_mut();
            if !group.constraint.filter.matches(taints, node) {
                return;
            }
            let all = node.get(group.constraint.key).into_iter().flat_map(Requirement::named_values);
            let domains: Vec<&str> = all.collect();
            if group.constraint.kind == GroupKind::AntiAffinity || is_one_value(node, group.constraint.key) {
                for domain in domains {
                    group.record(domain);
                }
            }
        });
        for group in &pod.inverse {
            let mut group = group.borrow_mut();
            let domains = node.get(group.constraint.key).into_iter().flat_map(Requirement::named_values);
            for domain in domains {
                group.record(domain);
            }
        }
    }

    /// The domains that a pod may use on a node, as requirements on the node.
    pub(crate) fn requirements(
        &self,
        pod: &Variant<'d>,
        node: &Requirements<'d>,
    ) -> Result<Requirements<'d>, Box<TopologyFailure<'d>>> {
        let mut all = Requirements::default();
        let inverse = pod.matching_inverse(&self.inverse);
        for group in pod.groups.iter().chain(inverse.iter()) {
            let group = group.borrow();
            let key = group.constraint.key;
            let any = Requirement::exists();
            let of_pod = pod.strict.get(key).unwrap_or(&any);
            let of_node = node.get(key).unwrap_or(&any);
            let domains = group.next(pod.is_selected_by(&group.constraint), of_pod, of_node);
            if domains.operator() == EffectiveOperator::DoesNotExist {
                let is_elsewhere = !self.affinity_by_node && group.constraint.kind != GroupKind::Spread && {
                    let anywhere = group.next(pod.is_selected_by(&group.constraint), of_pod, &any);
                    anywhere.operator() == EffectiveOperator::In
                };
                return Err(Box::new(failure(&group, of_pod, of_node, is_elsewhere)));
            }
            all.add(key, domains);
        }
        Ok(all)
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

fn failure<'d>(
    group: &Group<'d>,
    pod: &Requirement<'_>,
    node: &Requirement<'_>,
    is_elsewhere: bool,
) -> TopologyFailure<'d> {
    const MAX_PRINTED: usize = 25;
    let TopologyConstraint { kind, key, .. } = group.constraint;
    let is_final = key == labels::HOSTNAME && kind != GroupKind::Affinity;
    if is_elsewhere {
        let message = format!("key {key}, {key} DoesNotExist not in {key} {node}");
        return TopologyFailure { key, message, is_final };
    }
    let domains = group.domains.iter().take(MAX_PRINTED);
    let counts: Vec<String> = domains.map(|(domain, count)| format!("{domain}: {count}")).collect();
    let more = group.domains.len().saturating_sub(MAX_PRINTED);
    let others = if more == 0 { String::new() } else { format!(" and {more} other(s)") };
    TopologyFailure {
        key,
        message: format!(
            "unsatisfiable topology constraint for {}, key={key} (counts = {}{others}, podDomains = {key} {pod}, \
             nodeDomains = {key} {node}",
            kind.name(),
            counts.join(", "),
        ),
        is_final,
    }
}
