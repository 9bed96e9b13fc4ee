//! Constraint that pods share, with the number of pods in each domain.
//!
//! Source: pkg/controllers/provisioning/scheduling/topologygroup.go and topologynodefilter.go of kubernetes-sigs/karpenter at
//! v1.14.1.

use std::collections::BTreeSet;

use karpenter::labels;

use super::super::selector::LabelSelector;
use super::super::shape::PodShape;
use super::domain_counts::{ANY, DomainCounts, EMPTY, OCCUPIED, only_value};
use crate::requirements::{EffectiveOperator, Requirement, Requirements};
use crate::taints::{PoolTaint, Toleration};
use crate::template::check_taints;

/// Kind of a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum GroupKind {
    /// Topology spread.
    Spread,
    /// Pod affinity.
    Affinity,
    /// Pod anti-affinity.
    AntiAffinity,
}

impl GroupKind {
    /// The name in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Spread => "topology spread",
            Self::Affinity => "pod affinity",
            Self::AntiAffinity => "pod anti-affinity",
        }
    }
}

/// The nodes whose pods count for a topology spread.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NodeFilter<'d> {
    /// The requirements on a node, as alternatives.
    alternatives: Vec<Requirements<'d>>,
    tolerations: Vec<Toleration<'d>>,
    honors_taints: bool,
    honors_affinity: bool,
}

impl<'d> NodeFilter<'d> {
    /// The filter of a topology spread of a pod.
    pub(crate) fn of(shape: &PodShape<'d>, honors_taints: bool, honors_affinity: bool) -> Self {
        let demand = &shape.demand;
        let tolerations = demand.tolerations.clone();
        Self { alternatives: demand.alternatives(), tolerations, honors_taints, honors_affinity }
    }

    /// Whether the pods of a node count.
    pub(crate) fn matches(&self, taints: &[PoolTaint<'_>], node: &Requirements<'d>) -> bool {
        let selected = !self.honors_affinity
            || self.alternatives.is_empty()
            || self.alternatives.iter().any(|asked| node.compatible_strictly(asked).is_ok());
        selected && (!self.honors_taints || self.tolerates(taints))
    }

    /// Whether the pods of every node count.
    pub(super) fn matches_all(&self) -> bool {
        let is_empty = |asked: &Requirements<'d>| asked.iter().next().is_none();
        !self.honors_taints
            && (!self.honors_affinity
                || self.alternatives.is_empty()
                || self.alternatives.iter().any(is_empty))
    }

    /// Whether the domains of nodes with taints count.
    pub(crate) fn admits(&self, taints: &[PoolTaint<'_>]) -> bool {
        !self.honors_taints || self.tolerates(taints)
    }

    fn tolerates(&self, taints: &[PoolTaint<'_>]) -> bool {
        check_taints(taints, &self.tolerations).is_ok()
    }

    /// The part that Karpenter's hash of a group covers: the keys of the requirements without their values, because the
    /// fields of a requirement are not exported.
    fn identity(&self) -> FilterIdentity<'d> {
        let keys = |all: &Requirements<'d>| all.iter().map(|(key, _)| key).collect::<BTreeSet<_>>();
        FilterIdentity {
            keys: self.alternatives.iter().map(keys).collect(),
            tolerations: self.tolerations.iter().copied().collect(),
            policies: (self.honors_taints, self.honors_affinity),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct FilterIdentity<'d> {
    keys: BTreeSet<BTreeSet<&'d str>>,
    tolerations: BTreeSet<Toleration<'d>>,
    policies: (bool, bool),
}

/// Identity of a group: constraints of different pods with equal identities share it. `minDomains` does not count.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GroupIdentity<'d> {
    kind: GroupKind,
    key: &'d str,
    namespaces: BTreeSet<&'d str>,
    max_skew: i64,
    selector: Option<LabelSelector<'d>>,
    filter: FilterIdentity<'d>,
}

/// A constraint before it is joined with the equal constraints of other pods.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TopologyConstraint<'d> {
    /// The kind.
    pub(crate) kind: GroupKind,
    /// The label whose values are the domains.
    pub(crate) key: &'d str,
    /// The namespaces of the pods that count.
    pub(crate) namespaces: BTreeSet<&'d str>,
    /// The selector of the pods that count.
    pub(crate) selector: Option<LabelSelector<'d>>,
    /// `maxSkew`.
    pub(crate) max_skew: i64,
    /// `minDomains`.
    pub(crate) min_domains: Option<i64>,
    /// The nodes that count.
    pub(crate) filter: NodeFilter<'d>,
}

impl<'d> TopologyConstraint<'d> {
    /// Identity of its group.
    pub(crate) fn identity(&self) -> GroupIdentity<'d> {
        GroupIdentity {
            kind: self.kind,
            key: self.key,
            namespaces: self.namespaces.clone(),
            max_skew: self.max_skew,
            selector: self.selector.clone(),
            filter: self.filter.identity(),
        }
    }

    /// Whether a pod counts.
    pub(crate) fn selects(&self, shape: &PodShape<'d>) -> bool {
        let selector = self.selector.as_ref();
        self.namespaces.contains(shape.namespace)
            && selector.is_some_and(|selector| selector.matches(&shape.labels))
    }

    /// Whether a running pod counts. Without a selector Karpenter lists every pod of the namespace.
    pub(super) fn counts(&self, shape: &PodShape<'d>) -> bool {
        let everything = self.selector.is_none() && self.namespaces.contains(shape.namespace);
        everything || self.selects(shape)
    }
}

/// A constraint with the number of pods in each domain.
#[derive(Debug)]
pub(crate) struct Group<'d> {
    /// The constraint.
    pub(crate) constraint: TopologyConstraint<'d>,
    /// The number of pods in each known domain.
    pub(super) domains: DomainCounts<'d>,
}

impl<'d> Group<'d> {
    /// A group with its domains.
    pub(super) fn new(constraint: TopologyConstraint<'d>, domains: DomainCounts<'d>) -> Self {
        Self { constraint, domains }
    }

    fn count(&self, domain: &str) -> i64 {
        self.domains.find(domain).unwrap_or_default()
    }

    /// The domains in which a pod may be placed; none if the requirement accepts no value. `selects` is whether the pod
    /// counts itself.
    pub(crate) fn next(
        &self,
        selects: bool,
        pod: &Requirement<'d>,
        node: &Requirement<'d>,
    ) -> Requirement<'d> {
        match self.constraint.kind {
            GroupKind::Spread => Requirement::one_of(self.next_of_spread(selects, pod, node)),
            GroupKind::Affinity => self.next_of_affinity(selects, pod, node),
            GroupKind::AntiAffinity => self.next_of_anti_affinity(pod, node),
        }
    }

    /// The host name of the node, if the domains are host names and the node is known.
    fn host(&self, node: &Requirement<'d>) -> Option<&'d str> {
        let mut names = node.named_values();
        let first = names.next().filter(|_| self.constraint.key == labels::HOSTNAME)?;
        names.next().is_none().then_some(first)
    }

    /// The number of known domains that a requirement accepts.
    fn number_of(&self, requirement: &Requirement<'d>) -> usize {
        if requirement.accepts_all() {
            return self.domains.len();
        }
        self.domains.accepted(requirement, ANY, usize::MAX).len()
    }

    /// The number of domains that an answer about a node may look at.
    pub(super) fn domains_to_look_at(&self, node: &Requirement<'d>) -> usize {
        if only_value(node).is_some() { 1 } else { self.domains.len() }
    }

    /// Whether the pods of other nodes keep a pod out of a domain, as far as this takes no time to find out.
    pub(super) fn refuses(&self, selects: bool, pod: &Requirement<'d>, domain: &str) -> bool {
        let known = self.domains.find(domain);
        let count = known.unwrap_or_default();
        let is_host = self.constraint.key == labels::HOSTNAME;
        match self.constraint.kind {
            GroupKind::Spread if is_host || known.is_some() => count > self.most(selects, pod),
            GroupKind::Spread => true,
            GroupKind::AntiAffinity => count > 0 || !(is_host || (known.is_some() && pod.has(domain))),
            GroupKind::Affinity => false,
        }
    }

    /// The largest number of pods that a domain may have before a pod joins it.
    fn most(&self, selects: bool, pod: &Requirement<'d>) -> i64 {
        let with_least = self.constraint.max_skew.saturating_add(self.least(pod));
        with_least.saturating_sub(i64::from(selects))
    }

    fn next_of_spread(
        &self,
        selects: bool,
        pod: &Requirement<'d>,
        node: &Requirement<'d>,
    ) -> Option<&'d str> {
        let most = self.most(selects, pod);
        if let Some(host) = self.host(node) {
            return (self.count(host) <= most).then_some(host);
        }
        // Among equal counts Karpenter takes the first of a Go map, which is random.
        self.domains.first(node, ANY).filter(|(count, _)| *count <= most).map(|(_, domain)| domain)
    }

    /// The smallest count of the domains that the pod can be in.
    fn least(&self, pod: &Requirement<'d>) -> i64 {
        if self.constraint.key == labels::HOSTNAME {
            return 0;
        }
        let is_below = |least: i64| i64::try_from(self.number_of(pod)).unwrap_or(i64::MAX) < least;
        if self.constraint.min_domains.is_some_and(is_below) {
            return 0;
        }
        self.domains.first(pod, ANY).map_or(i64::from(i32::MAX), |(count, _)| count)
    }

    /// Whether a pod starts its own affinity: no pod that it could join exists.
    fn starts(&self, selects: bool, pod: &Requirement<'d>) -> bool {
        selects && self.domains.first(pod, OCCUPIED).is_none()
    }

    fn next_of_affinity(
        &self,
        selects: bool,
        pod: &Requirement<'d>,
        node: &Requirement<'d>,
    ) -> Requirement<'d> {
        if let Some(host) = self.host(node) {
            let joins = pod.has(host) && (self.count(host) > 0 || self.starts(selects, pod));
            return Requirement::one_of(joins.then_some(host));
        }
        let occupied = self.domains.accepted(node, OCCUPIED, usize::MAX).into_iter();
        let occupied =
            Requirement::one_of(occupied.map(|(_, domain)| domain).filter(|domain| pod.has(domain)));
        if occupied.operator() == EffectiveOperator::In || !self.starts(selects, pod) {
            return occupied;
        }
        // Karpenter adds the first domain of the pod's as well, which may be another one.
        let both = self.domains.first_by_name(|domain| pod.has(domain) && node.has(domain));
        let first = both.or_else(|| self.domains.first_by_name(|domain| pod.has(domain)));
        Requirement::one_of(first)
    }

    fn next_of_anti_affinity(&self, pod: &Requirement<'d>, node: &Requirement<'d>) -> Requirement<'d> {
        if let Some(host) = self.host(node) {
            return Requirement::one_of((self.count(host) == 0).then_some(host));
        }
        let empty = self.domains.accepted(node, EMPTY, usize::MAX).into_iter();
        Requirement::one_of(empty.map(|(_, domain)| domain).filter(|domain| pod.has(domain)))
    }
}
