//! The cluster that a simulation starts from.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use karpenter::kind::Kind;
use karpenter::release::Release;
use manifest::tree::Node;
use objects::node_class::Ec2NodeClass;
use objects::object::Object;
use objects::workload::Workload;

use super::base::{Absence, Base, BatchPod, RunningPod};
use super::behaviour::Behaviour;
use super::catalog::Catalog;
use super::daemons::Daemons;
use super::default_spreads::DefaultSpreads;
use super::filter::FilterInput;
use super::namespaces::Namespaces;
use super::node::ExistingNode;
use super::offerings::InstanceTypes;
use super::overlay;
use super::pool::{Pool, is_ready};
use super::reason::{Disagreement, PoolReason, ReasonKind};
use super::resources::{ResourceNames, Resources};
use super::result::PodId;
use super::settings::SimulationSettings;
use super::shape::{PodShape, Reader};
use super::topology::Topology;
use super::validation;
use super::volumes::Storage;
use super::workloads::{InputPod, InputPods};
use crate::ids::{IdVec, ids};
use crate::requirements::Requirement;
use crate::scalar::text_or_empty;

ids! {
    /// Shape of pods that wait for a node.
    pub(crate) ShapeId;
}

/// Pod that waits for a node.
#[derive(Debug)]
pub(crate) struct PendingPod<'d> {
    /// The pod.
    pub(crate) input: InputPod<'d>,
    /// Its shape.
    pub(crate) shape: ShapeId,
    /// `creationTimestamp`.
    pub(crate) created: &'d str,
    /// The volumes, by driver.
    pub(crate) volumes: Vec<(&'d str, String)>,
    /// The reason for which Karpenter ignores the pod.
    pub(crate) ignored: Option<String>,
    /// Whether the pod avoids nodes whose `consolidateAfter` is not over.
    pub(crate) avoids_waiting: bool,
}

/// Pods that wait for a node, with their shapes.
#[derive(Debug, Default)]
pub(super) struct PendingPods<'d> {
    /// The pods, in the order of the input.
    pub(super) pods: IdVec<PodId, PendingPod<'d>>,
    /// The shapes of these pods.
    pub(super) shapes: IdVec<ShapeId, PodShape<'d>>,
}

/// The cluster that a simulation starts from.
pub(crate) struct World<'d> {
    /// The names of resources.
    pub(crate) names: Rc<ResourceNames<'d>>,
    /// The NodePools that have instance types, in the order in which they are tried.
    pub(crate) pools: Vec<Rc<Pool<'d>>>,
    /// The number of NodePools that Karpenter uses.
    pub(crate) used_pools: usize,
    /// The NodePools that take no pods, with the reason.
    pub(crate) unusable: Vec<PoolReason<'d>>,
    /// Whether a NodePool has a taint that is a preference.
    pub(crate) has_soft_taint: bool,
    /// The existing nodes, in the order in which they are tried.
    pub(crate) nodes: Vec<Rc<ExistingNode<'d>>>,
    /// The pods that wait for a node, in the order of the input.
    pub(crate) pods: IdVec<PodId, PendingPod<'d>>,
    /// The shapes of these pods.
    pub(crate) shapes: IdVec<ShapeId, PodShape<'d>>,
    /// The constraints on topology.
    pub(crate) topology: Topology<'d>,
}

/// The objects of an input, with what is needed to read pods.
pub(super) struct Input<'i, 'd> {
    pub(super) objects: &'i [Object<'d>],
    pub(super) settings: &'d SimulationSettings,
    pub(super) names: Rc<ResourceNames<'d>>,
    /// Computed when a pod is first read.
    namespaces: OnceCell<Namespaces<'d>>,
    storage: Storage<'d>,
    default_spreads: DefaultSpreads<'d>,
}

/// The NodePools that Karpenter uses, with the instance types of their node classes.
pub(crate) fn pools<'d>(objects: &[Object<'d>], settings: &'d SimulationSettings) -> Vec<Pool<'d>> {
    let pools = Input::new(objects, settings).pools().into_iter();
    pools.filter(|pool| pool.is_used).collect()
}

impl<'d> World<'d> {
    /// Reads objects.
    pub(crate) fn read(objects: &[Object<'d>], settings: &'d SimulationSettings) -> Self {
        let mut all = InputPods::of(objects, settings);
        let pending = std::mem::take(&mut all.pending);
        let base = Base::read(objects, &all, settings);
        base.round(pending.into_iter().map(BatchPod::pending).collect(), &Absence::default())
    }
}

impl<'i, 'd> Input<'i, 'd> {
    /// The objects of an input.
    pub(super) fn new(objects: &'i [Object<'d>], settings: &'d SimulationSettings) -> Self {
        Self {
            objects,
            settings,
            names: Rc::new(ResourceNames::new()),
            namespaces: OnceCell::new(),
            storage: Storage::of(objects, settings.release),
            default_spreads: DefaultSpreads::of(objects, settings),
        }
    }

    fn release(&self) -> Release {
        self.settings.release
    }

    fn of_kind(&self, kind: &'static str) -> impl Iterator<Item = Object<'d>> {
        self.objects.iter().copied().filter(move |object| object.kind() == kind)
    }

    /// The NodePools of the provider, by weight, then by name backwards, with their catalogs.
    pub(super) fn pools(&self) -> Vec<Pool<'d>> {
        let all = self.objects.iter().filter(|object| object.is(Kind::NODE_POOL));
        let mut pools: Vec<Pool<'d>> =
            all.filter_map(|object| Pool::read(*object, &self.names, self.release())).collect();
        pools.sort_by(|one, other| {
            other.weight.cmp(&one.weight).then_with(|| other.object.name().cmp(one.object.name()))
        });
        let types = InstanceTypes::new(self.settings);
        let mut catalogs: BTreeMap<&str, Rc<Catalog<'d>>> = BTreeMap::new();
        for class in self.objects.iter().filter_map(|object| Ec2NodeClass::of(*object)) {
            let name = class.object().name();
            if pools.iter().any(|pool| pool.node_class == name) {
                catalogs.insert(name, Rc::new(types.catalog(Some(class), &self.names, self.settings)));
            }
        }
        let missing = pools.iter().map(|pool| pool.node_class).filter(|_| self.settings.assumes_node_classes);
        for name in missing {
            let make = || Rc::new(types.catalog(None, &self.names, self.settings));
            catalogs.entry(name).or_insert_with(make);
        }
        for pool in &mut pools {
            pool.catalog = catalogs.get(pool.node_class).cloned().unwrap_or_default();
        }
        if self.settings.node_overlays && Behaviour::NODE_OVERLAYS.holds_in(self.release()) {
            overlay::apply(&mut pools, self.objects, &self.names);
        }
        pools
    }

    /// The NodePools that are not Ready.
    pub(super) fn unready(&self) -> Vec<PoolReason<'d>> {
        let pools = self.objects.iter().filter(|object| object.is(Kind::NODE_POOL) && !is_ready(**object));
        pools
            .map(|pool| unusable_pool(*pool, ReasonKind::PoolNotReady, "the NodePool is not Ready"))
            .collect()
    }

    /// Filters the instance types by the NodePools' own requirements, and adds the daemons.
    pub(super) fn prepare<'p>(
        &self,
        pools: impl IntoIterator<Item = &'p mut Pool<'d>>,
        daemons: &mut Daemons<'d>,
    ) where
        'd: 'p,
    {
        let best_effort =
            self.settings.min_values_best_effort && Behaviour::MIN_VALUES_POLICY.holds_in(self.release());
        for pool in pools {
            let all = pool.catalog.all();
            let groups = Daemons::new(IdVec::default(), self.release()).groups(
                &pool.requirements,
                &pool.taints,
                &pool.catalog,
                &all,
            );
            let filter = FilterInput {
                catalog: &pool.catalog,
                types: &all,
                requirements: &pool.requirements,
                requests: &Resources::default(),
                groups: &groups,
                ports: &[],
                fits_with_offering: false,
                relaxes_min_values: best_effort,
            };
            let filters = Behaviour::DROPS_EMPTY_POOLS.holds_in(self.release());
            let filtered = filter.filter().map(|(types, _)| types).unwrap_or_default();
            pool.types = if filters { filtered } else { all };
            pool.groups = daemons.groups(&pool.requirements, &pool.taints, &pool.catalog, &pool.types);
        }
    }

    pub(super) fn shape(&self, pod: &InputPod<'d>) -> PodShape<'d> {
        let namespaces = self.namespaces.get_or_init(|| Namespaces::of(self.objects));
        let reader = Reader { names: &self.names, namespaces, release: self.release() };
        let mut shape = PodShape::read(pod.pod, pod.namespace, reader);
        self.default_spreads.add_to(&mut shape, pod);
        shape
    }

    /// The existing nodes with their running pods, in the order in which they are tried.
    pub(super) fn nodes(&self, running: &[InputPod<'d>]) -> Vec<(ExistingNode<'d>, Vec<RunningPod<'d>>)> {
        let mut nodes = if self.settings.without_nodes { Vec::new() } else { self.read_nodes() };
        nodes.sort_by(|one, other| {
            other.is_initialized.cmp(&one.is_initialized).then_with(|| one.name.cmp(other.name))
        });
        let mut all: Vec<_> = nodes.into_iter().map(|node| (node, Vec::new())).collect();
        let mut by_name: BTreeMap<&str, &mut (ExistingNode<'d>, Vec<RunningPod<'d>>)> =
            all.iter_mut().map(|entry| (entry.0.name, entry)).collect();
        for pod in running {
            let name = pod.pod.spec().node_name().and_then(Node::as_str).unwrap_or_default();
            let Some((node, pods)) = by_name.get_mut(name) else { continue };
            let shape = self.shape(pod);
            node.take(&shape.requests);
            node.ports.add(&shape.ports);
            if pod.pod.is_daemon() {
                node.daemons.add(&shape.requests);
            }
            if node.volumes.is_limited() {
                node.volumes.add(&self.volumes(pod).unwrap_or_default().0);
            }
            if pod.pod.object().at(&["metadata", "deletionTimestamp"]).is_none() {
                pods.push(RunningPod { object: pod.pod.object(), shape: Rc::new(shape) });
            }
        }
        all
    }

    fn read_nodes(&self) -> Vec<ExistingNode<'d>> {
        let nodes: Vec<Object<'d>> = self.of_kind("Node").filter(|node| self.is_staying(node)).collect();
        let by_provider: BTreeMap<&str, &str> = nodes
            .iter()
            .filter_map(|node| Some((node.str_at(&["spec", "providerID"])?, node.name())))
            .collect();
        // Before a node registers, only the provider's ID connects it with its NodeClaim.
        let node_of = |claim: &Object<'d>| {
            let named = claim.str_at(&["status", "nodeName"]).filter(|name| !name.is_empty());
            named.or_else(|| by_provider.get(claim.str_at(&["status", "providerID"])?).copied())
        };
        let claims: BTreeMap<&str, Object<'d>> =
            self.of_kind("NodeClaim").filter_map(|claim| Some((node_of(&claim)?, claim))).collect();
        let csi: BTreeMap<&str, Object<'d>> =
            self.of_kind("CSINode").map(|node| (node.name(), node)).collect();
        let read = |object: Object<'d>, claim: Option<Object<'d>>, csi: Option<Object<'d>>| {
            ExistingNode::read(object, claim, csi, &self.names, self.settings)
        };
        let launched = self.of_kind("NodeClaim").filter(|claim| {
            let is_launched = claim.at(&["status", "allocatable"]).is_some();
            node_of(claim).is_none() && self.is_staying(claim) && is_launched
        });
        let with_node = nodes
            .iter()
            .map(|node| read(*node, claims.get(node.name()).copied(), csi.get(node.name()).copied()));
        with_node.chain(launched.map(|claim| read(claim, None, None))).collect()
    }

    /// Whether an object is not being deleted. Where the whole state is known, the caller says which nodes go.
    fn is_staying(&self, object: &Object<'d>) -> bool {
        self.settings.whole_state || object.at(&["metadata", "deletionTimestamp"]).is_none()
    }

    /// The volumes of a pod by driver, and the requirements of its claims.
    #[expect(clippy::type_complexity, reason = "read in one place")]
    fn volumes(
        &self,
        pod: &InputPod<'d>,
    ) -> Result<(Vec<(&'d str, String)>, Vec<crate::requirements::Requirements<'d>>), String> {
        let object = pod.pod.object();
        let templates: Vec<Node<'d>> = if object.kind() == "StatefulSet" {
            Workload::of(object).volume_claim_templates().collect()
        } else {
            Vec::new()
        };
        let claims = self.storage.claims_of(pod.pod.spec(), pod.namespace, &pod.name, &templates);
        let claims = claims.map_err(|problem| problem.0)?;
        if let Some(problem) = claims.iter().find_map(|claim| self.storage.problem(claim)) {
            return Err(problem.0);
        }
        let drivers =
            claims.iter().filter_map(|claim| Some((self.storage.driver(claim)?, claim.key.clone())));
        Ok((drivers.collect(), self.storage.requirements(&claims)))
    }

    /// The pods to place, and their shapes.
    pub(super) fn pending(&self, batch: Vec<BatchPod<'d>>) -> PendingPods<'d> {
        let mut ids: BTreeMap<PodShape<'d>, ShapeId> = BTreeMap::new();
        let mut all = PendingPods::default();
        // The pods of a workload come one after the other.
        let mut last: Option<(Node<'d>, PodShape<'d>)> = None;
        for BatchPod { input, is_moved, avoids_waiting } in batch {
            let spec = input.pod.spec().node();
            let known = last.take().filter(|(of, _)| *of == spec).map(|(_, shape)| shape);
            let mut shape = known.unwrap_or_else(|| self.shape(&input));
            last = Some((spec, shape.clone()));
            add_workload_labels(&mut shape, &input);
            let (volumes, mut ignored) = self.restrict(&mut shape, &input);
            ignored = ignored.or_else(|| validation::problem(input.pod, &shape, self.release()));
            // Only pods without a node are validated.
            ignored = ignored.filter(|_| !is_moved);
            let shape = *ids.entry(shape).or_insert_with_key(|shape| all.shapes.push(shape.clone()));
            let object = input.pod.object();
            let created = text_or_empty(object.at(&["metadata", "creationTimestamp"]));
            all.pods.push(PendingPod { input, shape, created, volumes, ignored, avoids_waiting });
        }
        all
    }

    /// Adds the requirements of the volumes.
    fn restrict(
        &self,
        shape: &mut PodShape<'d>,
        input: &InputPod<'d>,
    ) -> (Vec<(&'d str, String)>, Option<String>) {
        let (volumes, requirements) = match self.volumes(input) {
            Ok(found) => found,
            Err(problem) => return (Vec::new(), Some(problem)),
        };
        if Behaviour::VOLUMES_APART.holds_in(self.release()) {
            shape.volumes = requirements;
        } else if let Some(required) = requirements.first() {
            if shape.demand.required_terms.is_empty() {
                shape.demand.required_terms.push(Vec::new());
            }
            for term in &mut shape.demand.required_terms {
                let expressions = required.iter().map(|(key, one): (_, &Requirement<'d>)| (key, one.clone()));
                term.extend(expressions);
            }
        }
        (volumes, None)
    }
}

pub(super) fn unusable_pool<'d>(pool: Object<'d>, kind: ReasonKind, message: &str) -> PoolReason<'d> {
    PoolReason { pool, kind, message: message.to_owned(), disagreement: Disagreement::Unknown, nearest: None }
}

/// The controller of a Deployment adds a label with a hash; the name takes the place of the hash here.
fn add_workload_labels<'d>(shape: &mut PodShape<'d>, input: &InputPod<'d>) {
    let object = input.pod.object();
    if object.kind() == "Deployment" {
        shape.labels.insert("pod-template-hash", object.name());
    }
}
