//! The nodes that a request about a NodePool or an EC2NodeClass concerns, for rules about updates and deletions.

use std::collections::{BTreeMap, BTreeSet};

use cluster::index::Index;
use cluster::inventory::Inventory;
use karpenter::kind::Kind;
use manifest::tree::Node;
use objects::node_claim::{NodeClaim, NodeClaimSpec, NodeClassRef};
use objects::node_pool::NodePool;
use objects::object::Object;
use rule::LookUp;
use rule::settings::Settings;
use rule::suppression::ANNOTATION;

use super::indexes::POOLS;

/// NodePools, and NodeClaims with the fields that [`NodesInUse`] reads. Metadata is always looked up.
pub(crate) const NODES: [LookUp; 2] = [LookUp::InCluster(Kind::NODE_CLAIM, &["spec.nodeClassRef"]), POOLS];

/// Number of names that a message lists.
const MAX_NAMED: usize = 3;

/// The nodes of a NodePool or an EC2NodeClass, as far as the input shows them.
pub(crate) struct NodesInUse<'d> {
    /// The NodePool, or the NodePools that use the EC2NodeClass.
    pub(crate) pools: BTreeSet<&'d str>,
    /// The NodeClaims that are not being deleted; `None` if NodeClaims are not known.
    pub(crate) claims: Option<Vec<Object<'d>>>,
    /// The number of nodes; `None` if it is not known.
    pub(crate) count: Option<u64>,
}

/// The NodeClaims and NodePools that are not being deleted, by NodePool and by node class.
struct KnownNodes;

impl Index for KnownNodes {
    type Value<'d> = KnownOwners<'d>;

    fn compute<'d>(inventory: &Inventory<'d>) -> KnownOwners<'d> {
        let mut known = KnownOwners::default();
        for claim in inventory.objects_of(Kind::NODE_CLAIM).filter(|claim| !claim.is_being_deleted()) {
            if let Some(pool) = pool_of(claim) {
                known.of_pool.entry(pool).or_default().claims.push(claim);
            }
            let reference =
                NodeClaim::of(claim).and_then(NodeClaim::spec).and_then(NodeClaimSpec::node_class_ref);
            if let Some(class) = reference.and_then(class_of) {
                known.of_class.entry(class).or_default().claims.push(claim);
            }
        }
        for pool in inventory.objects_of(Kind::NODE_POOL).filter(|pool| !pool.is_being_deleted()) {
            let reference = NodePool::of(pool).and_then(NodePool::node_class_ref);
            if let Some(class) = reference.and_then(class_of) {
                known.of_class.entry(class).or_default().pools.push(pool.name());
            }
        }
        known
    }
}

/// Owners of nodes, by their names.
#[derive(Default)]
struct KnownOwners<'d> {
    of_pool: BTreeMap<&'d str, OwnedNodes<'d>>,
    /// By group, kind and name.
    of_class: BTreeMap<(&'d str, &'d str, &'d str), OwnedNodes<'d>>,
}

/// Objects that belong to a NodePool or a node class.
#[derive(Default)]
struct OwnedNodes<'d> {
    claims: Vec<Object<'d>>,
    /// The names of the NodePools that use a node class.
    pools: Vec<&'d str>,
}

impl<'d> NodesInUse<'d> {
    /// The nodes of an object of one of the two kinds.
    pub(crate) fn of(object: Object<'d>, inventory: &Inventory<'d>) -> Self {
        let known = inventory.index::<KnownNodes>();
        let found = if object.is(Kind::NODE_POOL) {
            known.of_pool.get(object.name())
        } else {
            known.of_class.get(&(object.group(), object.kind(), object.name()))
        };
        let claims = inventory.knows(Kind::NODE_CLAIM);
        let claims = claims.then(|| found.map_or_else(Vec::new, |found| found.claims.clone()));
        let mut pools = BTreeSet::new();
        if object.is(Kind::NODE_POOL) {
            pools.insert(object.name());
        } else {
            pools.extend(found.into_iter().flat_map(|found| found.pools.iter().copied()));
            pools.extend(claims.iter().flatten().filter_map(|claim| pool_of(*claim)));
        }
        let count = claims.as_ref().map(|claims| claims.len() as u64).or_else(|| count_in_status(object));
        Self { pools, claims, count }
    }

    /// ``NodePool `a` `` or ``NodePools `a`, `b` ``.
    pub(crate) fn owner(&self) -> String {
        node_pools(&self.pools)
    }

    /// Some of the nodes by number and owner: ``all 31 nodes of NodePool `a` (…)``, ``3 of 31 nodes of …``.
    pub(crate) fn named(&self, some: Option<&[Object<'d>]>) -> String {
        let named = some.or(self.claims.as_deref()).unwrap_or_default();
        let of_named: BTreeSet<&str> = named.iter().filter_map(|claim| pool_of(*claim)).collect();
        let owners = if of_named.is_empty() { &self.pools } else { &of_named };
        let owner = if owners.is_empty() { String::new() } else { format!(" of {}", node_pools(owners)) };
        let Some(all) = self.count else { return format!("every node{owner}") };
        let noun = if all == 1 { "node" } else { "nodes" };
        let number = match (some, all) {
            (Some(some), _) if some.len() as u64 != all => format!("{} of {all}", some.len()),
            (_, 1) => "the only".to_owned(),
            _ => format!("all {all}"),
        };
        if named.is_empty() {
            return format!("{number} {noun}{owner}");
        }
        format!("{number} {noun}{owner} ({})", quoted(named.iter().map(|claim| claim.name())))
    }
}

fn node_pools(names: &BTreeSet<&str>) -> String {
    let kind = if names.len() == 1 { "NodePool" } else { "NodePools" };
    format!("{kind} {}", quoted(names.iter().copied()))
}

/// The number of nodes in the status of a NodePool. Source: pkg/controllers/nodepool/counter/controller.go of
/// kubernetes-sigs/karpenter at v1.0.0 and v1.14.1.
fn count_in_status(object: Object<'_>) -> Option<u64> {
    let count = object.at(&["status", "resources", "nodes"]).filter(|_| object.is(Kind::NODE_POOL))?;
    count.as_str().map_or_else(|| count.as_int()?.try_into().ok(), |text| text.parse().ok())
}

fn pool_of(claim: Object<'_>) -> Option<&str> {
    claim.at(&["metadata", "labels"])?.get("karpenter.sh/nodepool")?.as_str()
}

/// Group, kind and name of the node class that a reference names.
fn class_of<'d>(reference: NodeClassRef<'d>) -> Option<(&'d str, &'d str, &'d str)> {
    let text = |node: Option<Node<'d>>| node.and_then(Node::as_str);
    Some((text(reference.group())?, text(reference.kind())?, text(reference.name())?))
}

/// The first names in back-ticks, and the number of the others.
pub(crate) fn quoted<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    let count = names.len();
    let quoted: Vec<String> = names.take(MAX_NAMED).map(|name| format!("`{name}`")).collect();
    let more = count.saturating_sub(MAX_NAMED);
    if more == 0 { quoted.join(", ") } else { format!("{} and {more} more", quoted.join(", ")) }
}

/// The part of a help that says how to accept the finding of a rule, where the settings allow it.
pub(crate) fn acceptance(rule: &str, settings: &Settings) -> String {
    if settings.allow_ignore_annotation {
        format!("; to go ahead, set the annotation `{ANNOTATION}: {rule} -- REASON`")
    } else {
        String::new()
    }
}
