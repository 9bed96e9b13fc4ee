//! The pods of the nodes of a cluster by constraint, kept between the rounds of the cluster: a round counts only the nodes that have
//! changed, and leaves out the nodes that are absent.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use karpenter::labels;

use super::super::work::Work;
use super::super::world::{BaseNode, NodeSlot};
use super::domains::Domains;
use super::group::{GroupIdentity, GroupKind, NodeFilter, TopologyConstraint};
use super::kept_counts::{ChangedSums, KeptCounts, SharedSums};
use super::{TopologyNode, of_term};

/// Largest number of numbers that are kept, about 100 MB.
const MAX_KEPT: usize = 1_000_000;

/// Number of steps to count the pods of a node.
const STEPS_OF_NODE: usize = 10;

/// Node as far as topology looks at it.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeptNode<'d> {
    /// `None` for a node that has not joined.
    pub(crate) topology: Option<Rc<TopologyNode<'d>>>,
    /// The host name.
    pub(crate) host: Option<&'d str>,
}

/// Numbers of some kind by domain.
#[derive(Debug, Default)]
struct DomainSums<'d> {
    /// The part of each node, unless it is zero.
    by_slot: BTreeMap<NodeSlot, (&'d str, i64)>,
    sums: SharedSums<'d>,
    /// The number of changes of nodes that the sums take into account; `None` at the start.
    seen: Option<usize>,
}

/// The domains of the NodePools, with the number of nodes in each domain.
type KnownDomains<'d> = (Rc<BTreeSet<&'d str>>, DomainSums<'d>);

/// The anti-affinity of running pods.
#[derive(Debug)]
struct KeptInverse<'d> {
    constraint: TopologyConstraint<'d>,
    /// The number of pods with the anti-affinity.
    pods: i64,
    /// The number of these pods in each domain.
    sums: SharedSums<'d>,
}

/// Required anti-affinity of a pod on a node, with the domain of the node.
type Repelled<'d> = (Rc<GroupIdentity<'d>>, Option<&'d str>);

/// The pods of the nodes of a cluster by constraint.
#[derive(Debug, Default)]
pub(crate) struct KeptTopology<'d> {
    nodes: BTreeMap<NodeSlot, KeptNode<'d>>,
    /// The slots of the nodes that changed, in their order.
    changed: Vec<NodeSlot>,
    /// The number of pods that a constraint counts.
    pods: BTreeMap<TopologyConstraint<'d>, DomainSums<'d>>,
    /// The number of nodes with a label that a filter admits, with the domains of the NodePools.
    domains: BTreeMap<(&'d str, NodeFilter<'d>), KnownDomains<'d>>,
    inverse: BTreeMap<Rc<GroupIdentity<'d>>, KeptInverse<'d>>,
    repelled: BTreeMap<NodeSlot, Vec<Repelled<'d>>>,
}

/// The pods of the nodes that are present in a round.
#[derive(Debug)]
pub(crate) struct PresentTopology<'d> {
    /// The pods of all nodes.
    pub(crate) kept: Rc<RefCell<KeptTopology<'d>>>,
    /// The nodes that are absent, each with the pods that stay on it.
    pub(crate) absent: Vec<(NodeSlot, KeptNode<'d>)>,
}

impl<'d> DomainSums<'d> {
    /// Counts the nodes that changed.
    fn refresh(
        &mut self,
        nodes: &BTreeMap<NodeSlot, KeptNode<'d>>,
        changed: &[NodeSlot],
        part: impl Fn(&KeptNode<'d>) -> Option<(&'d str, i64)>,
    ) {
        let new = self.seen.and_then(|seen| changed.get(seen..)).filter(|new| new.len() <= nodes.len());
        self.seen = Some(changed.len());
        let Some(new) = new else {
            self.by_slot.clear();
            self.sums = Rc::default();
            for (slot, node) in nodes {
                self.change(*slot, part(node));
            }
            return;
        };
        let new: BTreeSet<NodeSlot> = new.iter().copied().collect();
        for slot in new {
            self.change(slot, nodes.get(&slot).and_then(&part));
        }
    }

    /// Replaces the part of a node.
    fn change(&mut self, slot: NodeSlot, part: Option<(&'d str, i64)>) {
        let sums = Rc::make_mut(&mut self.sums);
        if let Some((domain, count)) = self.by_slot.remove(&slot) {
            add_to(sums, domain, -count);
        }
        if let Some((domain, count)) = part.filter(|(_, count)| *count != 0) {
            self.by_slot.insert(slot, (domain, count));
            add_to(sums, domain, count);
        }
    }

    /// The sums without absent nodes, and with the part that stays on these nodes.
    fn without(
        &self,
        absent: &[(NodeSlot, KeptNode<'d>)],
        part: impl Fn(&KeptNode<'d>) -> Option<(&'d str, i64)>,
    ) -> ChangedSums<'d> {
        let mut sums = ChangedSums::of(Rc::clone(&self.sums));
        for (slot, rest) in absent {
            if let Some((domain, count)) = self.by_slot.get(slot) {
                sums.add(domain, -count);
            }
            if let Some((domain, count)) = part(rest).filter(|(_, count)| *count != 0) {
                sums.add(domain, count);
            }
        }
        sums
    }
}

fn add_to<'d>(sums: &mut BTreeMap<&'d str, i64>, domain: &'d str, more: i64) {
    let sum = sums.entry(domain).or_default();
    *sum += more;
    if *sum == 0 {
        sums.remove(domain);
    }
}

/// The part of a node in the number of pods that a constraint counts.
fn counted_on<'d>(constraint: &TopologyConstraint<'d>, node: &KeptNode<'d>) -> Option<(&'d str, i64)> {
    let node = node.topology.as_ref()?;
    let domain = node.domain(constraint.key)?;
    let counts = constraint.filter.matches_all() || constraint.filter.matches(&node.taints, &node.labels);
    let pods = node.pods.iter().filter(|pod| counts && constraint.counts(pod)).count();
    Some((domain, i64::try_from(pods).unwrap_or(i64::MAX)))
}

/// The domain that a node adds to the known ones.
fn domain_of<'d>(
    key: &str,
    filter: &NodeFilter<'d>,
    with_nodes: bool,
    node: &KeptNode<'d>,
) -> Option<(&'d str, i64)> {
    let counts = |node: &&Rc<TopologyNode<'d>>| {
        with_nodes && (filter.matches_all() || filter.matches(&node.taints, &node.labels))
    };
    let domain = node.topology.as_ref().filter(counts).and_then(|node| node.domain(key));
    let host = node.host.filter(|_| key == labels::HOSTNAME);
    domain.or(host).map(|domain| (domain, 1))
}

impl<'d> KeptTopology<'d> {
    /// Notes that a node was added, has changed, or went.
    pub(crate) fn note(&mut self, slot: NodeSlot, node: Option<&BaseNode<'d>>) {
        self.changed.push(slot);
        for (identity, domain) in self.repelled.remove(&slot).unwrap_or_default() {
            let Some(inverse) = self.inverse.get_mut(&identity) else { continue };
            inverse.pods -= 1;
            if let Some(domain) = domain {
                add_to(Rc::make_mut(&mut inverse.sums), domain, -1);
            }
        }
        let Some(node) = node.map(BaseNode::kept) else {
            self.nodes.remove(&slot);
            return;
        };
        if let Some(topology) = &node.topology {
            let repelled = self.repel(topology);
            if !repelled.is_empty() {
                self.repelled.insert(slot, repelled);
            }
        }
        self.nodes.insert(slot, node);
    }

    /// Counts the anti-affinity of the pods of a node.
    fn repel(&mut self, node: &TopologyNode<'d>) -> Vec<Repelled<'d>> {
        let mut all = Vec::new();
        for term in node.repelling.iter().flat_map(|pod| &pod.anti_affinity.required) {
            let constraint = of_term(GroupKind::AntiAffinity, term);
            let domain = node.domain(term.key);
            let identity = Rc::new(constraint.identity());
            let known = self.inverse.get_key_value(&identity).map(|(known, _)| Rc::clone(known));
            let identity = known.unwrap_or(identity);
            let new = || KeptInverse { constraint, pods: 0, sums: Rc::default() };
            let inverse = self.inverse.entry(Rc::clone(&identity)).or_insert_with(new);
            inverse.pods += 1;
            if let Some(domain) = domain {
                add_to(Rc::make_mut(&mut inverse.sums), domain, 1);
            }
            all.push((identity, domain));
        }
        all
    }

    /// Forgets the numbers if they are too many.
    fn limit(&mut self) {
        let pods = self.pods.values().map(|sums| sums.by_slot.len());
        let domains = self.domains.values().map(|(_, sums)| sums.by_slot.len());
        if pods.chain(domains).sum::<usize>() > MAX_KEPT {
            self.pods.clear();
            self.domains.clear();
        }
    }
}

impl<'d> PresentTopology<'d> {
    /// The pods of all nodes, without the absent ones.
    pub(crate) fn new(kept: &Rc<RefCell<KeptTopology<'d>>>, absent: Vec<(NodeSlot, KeptNode<'d>)>) -> Self {
        kept.borrow_mut().limit();
        Self { kept: Rc::clone(kept), absent }
    }

    /// The number of pods that a constraint counts in each domain.
    pub(super) fn counts(
        &self,
        constraint: &TopologyConstraint<'d>,
        pools: &Domains<'d>,
        with_nodes: bool,
        work: &Work,
    ) -> KeptCounts<'d> {
        let mut kept = self.kept.borrow_mut();
        let KeptTopology { nodes, changed, pods, domains, .. } = &mut *kept;
        let key = constraint.key;
        let on_node = |node: &KeptNode<'d>| counted_on(constraint, node);
        if !pods.contains_key(constraint) {
            pods.insert(constraint.clone(), DomainSums::default());
        }
        let Some(of_pods) = pods.get_mut(constraint) else { return KeptCounts::default() };
        let new = |seen: Option<usize>| seen.map_or(nodes.len(), |seen| changed.len().saturating_sub(seen));
        work.count(new(of_pods.seen) * STEPS_OF_NODE + self.absent.len());
        of_pods.refresh(nodes, changed, on_node);
        let filter =
            if constraint.filter.matches_all() { NodeFilter::default() } else { constraint.filter.clone() };
        let known_on = |node: &KeptNode<'d>| domain_of(key, &constraint.filter, with_nodes, node);
        let new_domains = || (Rc::new(pools.values(key, &filter)), DomainSums::default());
        let (of_pools, of_nodes) = domains.entry((key, filter.clone())).or_insert_with(new_domains);
        work.count(new(of_nodes.seen) + self.absent.len());
        of_nodes.refresh(nodes, changed, known_on);
        KeptCounts {
            of_pools: Rc::clone(of_pools),
            nodes: of_nodes.without(&self.absent, known_on),
            pods: of_pods.without(&self.absent, on_node),
            ..KeptCounts::default()
        }
    }

    /// The anti-affinity of the running pods, with the number of pods in each domain.
    pub(super) fn inverse(
        &self,
        pools: &Domains<'d>,
        work: &Work,
    ) -> Vec<(Rc<GroupIdentity<'d>>, TopologyConstraint<'d>, KeptCounts<'d>)> {
        let mut kept = self.kept.borrow_mut();
        let mut gone: BTreeMap<&GroupIdentity<'d>, Vec<Option<&'d str>>> = BTreeMap::new();
        let KeptTopology { repelled, inverse, domains, .. } = &mut *kept;
        for (identity, domain) in self.absent.iter().filter_map(|(slot, _)| repelled.get(slot)).flatten() {
            gone.entry(identity).or_default().push(*domain);
        }
        work.count(inverse.len());
        let mut all = Vec::new();
        for (identity, KeptInverse { constraint, pods, sums }) in inverse {
            let gone = gone.get(&**identity).map(Vec::as_slice).unwrap_or_default();
            if i64::try_from(gone.len()).is_ok_and(|gone| gone == *pods) {
                continue;
            }
            let mut sums = ChangedSums::of(Rc::clone(sums));
            gone.iter().flatten().for_each(|domain| sums.add(domain, -1));
            let key = (constraint.key, NodeFilter::default());
            let known = || (Rc::new(pools.values(constraint.key, &key.1)), DomainSums::default());
            let (of_pools, _) = domains.entry(key.clone()).or_insert_with(known);
            let counts = KeptCounts { of_pools: Rc::clone(of_pools), pods: sums, ..KeptCounts::default() };
            all.push((Rc::clone(identity), constraint.clone(), counts));
        }
        all
    }
}
