//! Existing nodes with their pods.
//!
//! Source: pkg/controllers/provisioning/scheduling/existingnode.go and pkg/controllers/state/statenode.go of
//! kubernetes-sigs/karpenter at v1.14.1.

use std::collections::BTreeMap;

use karpenter::labels;
use karpenter::release::Release;
use manifest::tree::{Node, items_of, members_of};
use objects::object::Object;
use objects::taint::TaintItem;
use values::quantity::Quantity;

use super::behaviour::SchedulerBehaviour;
use super::daemons::Daemons;
use super::host_ports::HostPortUsage;
use super::launch::Launch;
use super::node_claims::NodeClaims;
use super::pods::RunningPod;
use super::resources::{NODES, ResourceNames, Resources};
use super::result::{ClaimId, PodId};
use super::settings::SimulationSettings;
use super::topology::Topology;
use super::variant::Variant;
use super::volumes::{AttachedVolume, VolumeUsage};
use crate::requirements::{Requirement, Requirements};
use crate::scalar::text;
use crate::taints::PoolTaint;
use crate::template::check_taints;

/// Taints that disappear while a node starts, with their effects. Their values do not count (`MatchTaint`).
const EPHEMERAL: [(&str, &str); 4] = [
    ("node.kubernetes.io/not-ready", "NoSchedule"),
    ("node.kubernetes.io/unreachable", "NoSchedule"),
    ("node.cloudprovider.kubernetes.io/uninitialized", "NoSchedule"),
    ("karpenter.sh/unregistered", "NoExecute"),
];

/// Existing node.
#[derive(Clone, Debug)]
pub(crate) struct ExistingNode<'d> {
    /// The name.
    pub(crate) name: &'d str,
    /// The name by which it is sorted: the NodeClaim's until the node has joined.
    order: &'d str,
    /// The origin of the node.
    pub(crate) origin: NodeOrigin<'d>,
    /// The labels, with the host name.
    pub(crate) labels: Requirements<'d>,
    /// The taints that count.
    pub(crate) taints: Vec<PoolTaint<'d>>,
    /// The labels and taints of the Node itself, by which topology counts its pods.
    pub(crate) own: OwnProperties<'d>,
    /// Whether the node has started completely.
    pub(crate) is_initialized: bool,
    /// Whether the node takes no pods of nodes that are disrupted, because `consolidateAfter` is not over.
    pub(crate) is_waiting: bool,
    /// The capacity.
    pub(crate) capacity: Resources,
    /// The allocatable resources.
    pub(crate) allocatable: Resources,
    /// The resources that are left.
    pub(crate) available: Resources,
    /// The resources of running daemons.
    pub(crate) daemons: Resources,
    /// The host ports in use.
    pub(crate) ports: HostPortUsage<'d>,
    /// The attached volumes.
    pub(crate) volumes: VolumeUsage<'d>,
    /// The pods that were placed.
    pub(crate) pods: Vec<PodId>,
}

/// The labels of a node after a pod was placed on it.
#[derive(Debug)]
pub(crate) enum LabelsWithPod<'d> {
    /// The labels of before.
    Same,
    /// These labels, with the requirements of the pod.
    Narrower(Requirements<'d>),
}

/// Origin of an existing node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NodeOrigin<'d> {
    /// A Node of the input, or a NodeClaim whose Node does not exist yet.
    Object(Object<'d>),
    /// A new node of an earlier round.
    Launched(ClaimId),
    /// A node that was added to the cluster after it was read, by its name.
    Added(&'d str),
}

impl NodeOrigin<'_> {
    /// Whether the node has joined the cluster when it is first known. An added node joins when it starts.
    pub(crate) fn has_joined(self) -> bool {
        match self {
            Self::Object(object) => object.kind() == "Node",
            Self::Launched(_) => true,
            Self::Added(_) => false,
        }
    }
}

/// Labels and taints of a Node, whatever its NodeClaim says.
#[derive(Clone, Debug)]
pub(crate) struct OwnProperties<'d> {
    /// The labels, with the host name.
    pub(crate) labels: Requirements<'d>,
    /// All taints.
    pub(crate) taints: Vec<PoolTaint<'d>>,
}

/// The taints that the node controller sets, which a Node written by hand may lack: for a cordoned node, and for a node that is not
/// ready (`taintNodeByCondition` in `pkg/controller/nodelifecycle/node_lifecycle_controller.go` of kubernetes/kubernetes at v1.33.0).
fn implied_taints<'d>(node: Object<'d>) -> impl Iterator<Item = PoolTaint<'d>> {
    let is_cordoned = node.at(&["spec", "unschedulable"]).and_then(Node::as_bool) == Some(true);
    let mut conditions = items_of(node.at(&["status", "conditions"]));
    let is_unready = conditions.any(|condition| {
        condition.str_at(&["type"]) == Some("Ready") && condition.str_at(&["status"]) != Some("True")
    });
    let taint = |key: &'d str| PoolTaint { key, value: "", effect: "NoSchedule" };
    let cordoned = is_cordoned.then(|| taint("node.kubernetes.io/unschedulable"));
    cordoned.into_iter().chain(is_unready.then(|| taint("node.kubernetes.io/not-ready")))
}

/// Objects about a node besides the Node.
#[derive(Clone, Copy, Default)]
struct Companions<'d> {
    /// The NodeClaim.
    claim: Option<Object<'d>>,
    /// The NodePool, if the input has no NodeClaim, which would have its startup taints.
    pool: Option<Object<'d>>,
    /// The `CSINode`.
    csi: Option<Object<'d>>,
}

impl<'d> ExistingNode<'d> {
    /// Reads a Node, or a NodeClaim whose node does not exist yet.
    fn read(
        object: Object<'d>,
        Companions { claim, pool, csi }: Companions<'d>,
        names: &ResourceNames<'d>,
        settings: &SimulationSettings,
    ) -> Self {
        let release = settings.release;
        let whole = settings.whole_state;
        let is_unregistered = object.metadata().label("karpenter.sh/registered").map(text) != Some("true");
        let described = claim.filter(|_| whole && is_unregistered).unwrap_or(object);
        let label = |key: &str| object.metadata().label(key).map(text);
        let host = label(labels::HOSTNAME).unwrap_or(object.name());
        let labels_of = |object: Object<'d>| {
            let written = members_of(object.metadata().label_map()).map(|(key, value)| (key, text(value)));
            let mut all = Requirements::of_labels(written);
            all.replace(labels::HOSTNAME, Requirement::is(host));
            all
        };
        let taints_of = |object: Object<'d>| {
            let items = items_of(object.at(&["spec", "taints"]));
            items.map(|item| PoolTaint::from_item(TaintItem::new(item)))
        };
        let has_node = object.kind() == "Node";
        let initialized = label("karpenter.sh/initialized");
        let is_initialized = match (whole, initialized) {
            (true, _) => has_node && (claim.is_none() || initialized == Some("true")),
            (false, _) if label(labels::NODEPOOL).is_none() => true,
            (false, Some(initialized)) => has_node && initialized == "true",
            // A Node that an author writes for a simulation mostly lacks the labels that Karpenter sets.
            (false, None) => has_node && claim.is_none() && is_unregistered,
        };
        let status = |object: Object<'d>, field: &str| names.parse(members_of(object.at(&["status", field])));
        let of = |field: &str| {
            let mut all = status(object, field);
            if let Some(claim) = claim.filter(|_| !is_initialized) {
                let missing = status(claim, field).iter().filter(|(id, _)| all.get(*id).is_zero()).collect();
                all.replace(&missing);
            }
            all
        };
        let (mut capacity, allocatable) = (of("capacity"), of("allocatable"));
        capacity.set(NODES, Quantity::from_units(1));
        let starting = match claim.or(Some(object).filter(|_| !has_node)) {
            Some(claim) => startup_taints(claim.at(&["spec", "startupTaints"])),
            None => {
                startup_taints(pool.and_then(|pool| pool.at(&["spec", "template", "spec", "startupTaints"])))
            }
        };
        let implied: Vec<PoolTaint<'d>> =
            if settings.binds && has_node { implied_taints(object).collect() } else { Vec::new() };
        let with_implied = |taints: Vec<PoolTaint<'d>>| {
            let missing: Vec<_> = implied
                .iter()
                .filter(|one| !taints.iter().any(|taint| taint.key == one.key))
                .copied()
                .collect();
            [taints, missing].concat()
        };
        let counts = |taint: &PoolTaint<'d>| is_initialized || !is_temporary(taint, &starting, release);
        Self {
            name: object.name(),
            order: described.name(),
            origin: NodeOrigin::Object(object),
            labels: labels_of(described),
            taints: with_implied(taints_of(described).filter(counts).collect()),
            own: OwnProperties {
                labels: labels_of(object),
                taints: with_implied(taints_of(object).collect()),
            },
            is_initialized,
            is_waiting: false,
            capacity,
            available: allocatable.clone(),
            allocatable,
            daemons: Resources::default(),
            ports: HostPortUsage::default(),
            volumes: VolumeUsage::new(csi),
            pods: Vec::new(),
        }
    }

    /// A new node of an earlier round with its cheapest instance type, which has joined the cluster unless it is only added.
    pub(super) fn launched(launch: &Launch<'_, 'd>, host: &'d str, origin: NodeOrigin<'d>) -> Self {
        let taints = launch.pool.taints.clone();
        let resources = launch.resources.cloned().unwrap_or_default();
        let mut capacity = resources.capacity;
        capacity.set(NODES, Quantity::from_units(1));
        let mut labels = launch.labels();
        labels.replace(labels::HOSTNAME, Requirement::is(host));
        Self {
            name: host,
            order: host,
            origin,
            own: OwnProperties { labels: labels.clone(), taints: taints.clone() },
            labels,
            taints,
            is_initialized: origin.has_joined(),
            is_waiting: false,
            capacity,
            available: resources.allocatable.clone(),
            allocatable: resources.allocatable,
            daemons: Resources::default(),
            ports: HostPortUsage::default(),
            volumes: VolumeUsage::new(None),
            pods: Vec::new(),
        }
    }

    /// The place of the node in the order in which nodes are tried: nodes that have started completely come first, by name.
    pub(super) fn sort_key(&self) -> (bool, &'d str) {
        (!self.is_initialized, self.order)
    }

    /// Takes the resources, host ports and volumes of a pod that runs on the node.
    pub(super) fn run(&mut self, pod: &RunningPod<'d>) {
        self.take(&pod.shape.requests);
        self.ports.add(&pod.shape.ports);
        if pod.is_daemon {
            self.daemons.add(&pod.shape.requests);
        }
        if self.volumes.is_limited() {
            self.volumes.add(&pod.volumes);
        }
    }

    /// Gives back what the pods of the node take.
    pub(super) fn free(&mut self) {
        self.available = self.allocatable.clone();
        self.daemons = Resources::default();
        self.ports = HostPortUsage::default();
        self.volumes.clear();
    }

    /// Keeps the resources of daemons free that are not running yet.
    pub(crate) fn reserve_for_daemons(&mut self, all: &Daemons<'d>) {
        let mut missing = all.on_node(&self.labels, &self.taints);
        missing.subtract(&self.daemons);
        missing.floor();
        for (id, amount) in missing.iter() {
            self.available.set(id, self.available.get(id).minus(amount));
        }
    }

    /// Takes the resources of a running pod.
    pub(crate) fn take(&mut self, requests: &Resources) {
        for (id, amount) in requests.iter() {
            self.available.set(id, self.available.get(id).minus(amount));
        }
    }

    /// Whether the node refuses equal pods until the end of the round: it only gets fuller.
    pub(crate) fn refuses_all(&self, pod: &Variant<'d>) -> bool {
        let shape = &pod.shape;
        !shape.requests.fit_into(&self.available)
            || check_taints(&self.taints, &shape.demand.tolerations).is_err()
            || self.ports.conflict(&shape.ports).is_some()
    }

    /// The requirements of the node with a pod that it does not refuse in general, if it can take the pod.
    pub(crate) fn try_add(
        &self,
        pod: &Variant<'d>,
        volumes: &[AttachedVolume<'d>],
        topology: &Topology<'d>,
    ) -> Option<LabelsWithPod<'d>> {
        let shape = &pod.shape;
        if self.volumes.is_exceeded_by(volumes) || topology.refusal(pod, &self.labels).is_some() {
            return None;
        }
        if shape.volumes.is_empty() && pod.requirements.len() == 0 && !topology.concerns(pod) {
            return Some(LabelsWithPod::Same);
        }
        let mut base = self.labels.clone();
        base.extend(pod.requirements.iter().map(|(key, requirement)| (key, requirement.clone())));
        if shape.volumes.is_empty() {
            return with_topology(base, pod, topology).map(LabelsWithPod::Narrower);
        }
        shape.volumes.iter().find_map(|volume| {
            base.compatible_strictly(volume).ok()?;
            let mut all = base.clone();
            all.extend(volume.iter().map(|(key, requirement)| (key, requirement.clone())));
            with_topology(all, pod, topology).map(LabelsWithPod::Narrower)
        })
    }

    /// Places a pod.
    pub(crate) fn add(
        &mut self,
        id: PodId,
        pod: &Variant<'d>,
        volumes: &[AttachedVolume<'d>],
        labels: LabelsWithPod<'d>,
    ) {
        self.pods.push(id);
        self.take(&pod.shape.requests);
        if let LabelsWithPod::Narrower(labels) = labels {
            self.labels = labels;
        }
        self.ports.add(&pod.shape.ports);
        self.volumes.add(volumes);
    }
}

/// Existing node with its running pods.
pub(super) struct OccupiedNode<'d> {
    /// The node.
    pub(super) node: ExistingNode<'d>,
    /// The pods.
    pub(super) pods: Vec<RunningPod<'d>>,
}

/// Reads the existing nodes with their running pods, in the order in which they are tried.
pub(super) fn read_nodes<'d>(
    objects: &[Object<'d>],
    running: Vec<RunningPod<'d>>,
    names: &ResourceNames<'d>,
    settings: &'d SimulationSettings,
) -> Vec<OccupiedNode<'d>> {
    let mut nodes = if settings.without_nodes { Vec::new() } else { without_pods(objects, names, settings) };
    nodes.sort_by_key(ExistingNode::sort_key);
    let mut all: Vec<OccupiedNode<'d>> =
        nodes.into_iter().map(|node| OccupiedNode { node, pods: Vec::new() }).collect();
    let mut by_name: BTreeMap<&str, &mut OccupiedNode<'d>> =
        all.iter_mut().map(|occupied| (occupied.node.name, occupied)).collect();
    for pod in running {
        let Some(OccupiedNode { node, pods }) = by_name.get_mut(pod.node) else { continue };
        node.run(&pod);
        pods.push(pod);
    }
    all
}

fn without_pods<'d>(
    objects: &[Object<'d>],
    names: &ResourceNames<'d>,
    settings: &'d SimulationSettings,
) -> Vec<ExistingNode<'d>> {
    let of_kind = |kind: &'static str| objects.iter().copied().filter(move |object| object.kind() == kind);
    let claims = NodeClaims::of(objects);
    let csi: BTreeMap<&str, Object<'d>> = of_kind("CSINode").map(|node| (node.name(), node)).collect();
    let pools: BTreeMap<&str, Object<'d>> = of_kind("NodePool").map(|pool| (pool.name(), pool)).collect();
    let read = |object, companions| ExistingNode::read(object, companions, names, settings);
    let launched = claims.without_node().filter(|claim| claim.at(&["status", "allocatable"]).is_some());
    let with_node = of_kind("Node").map(|node| {
        let pool = node.metadata().label(labels::NODEPOOL).map(text);
        let companions = Companions {
            claim: claims.of_node(node.name()),
            pool: pool.and_then(|name| pools.get(name).copied()),
            csi: csi.get(node.name()).copied(),
        };
        read(node, companions)
    });
    with_node.chain(launched.map(|claim| read(claim, Companions::default()))).collect()
}

fn with_topology<'d>(
    mut node: Requirements<'d>,
    pod: &Variant<'d>,
    topology: &Topology<'d>,
) -> Option<Requirements<'d>> {
    let domains = topology.requirements(pod, &node).ok()?;
    node.compatible_strictly(&domains).ok()?;
    node.extend(domains.iter().map(|(key, requirement)| (key, requirement.clone())));
    Some(node)
}

fn startup_taints(list: Option<Node<'_>>) -> Vec<PoolTaint<'_>> {
    items_of(list).map(|item: Node<'_>| PoolTaint::from_item(TaintItem::new(item))).collect()
}

/// Whether a taint of a starting node goes away by itself.
fn is_temporary(taint: &PoolTaint<'_>, starting: &[PoolTaint<'_>], release: Release) -> bool {
    let matches = |key: &str, effect: &str| taint.key == key && taint.effect == effect;
    let not_ready = taint.key == "node.kubernetes.io/not-ready" && taint.effect == "NoExecute";
    let readiness = taint.key.starts_with("readiness.k8s.io/");
    EPHEMERAL.iter().any(|(key, effect)| matches(key, effect))
        || starting.iter().any(|own| matches(own.key, own.effect))
        || (not_ready && SchedulerBehaviour::NOT_READY_NO_EXECUTE.holds_in(release))
        || (readiness && SchedulerBehaviour::READINESS_TAINTS.holds_in(release))
}
