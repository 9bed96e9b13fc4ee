//! Room for pods on new nodes: the pods and DaemonSets that are too large for the instance types of their NodePools.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use ids::IdVec;
use karpenter::instance_types::EXTENDED_RESOURCES;
use karpenter::kind::Kind;
use karpenter::labels;
use karpenter::release::Release;
use manifest::source::certain;
use objects::node_class::Ec2NodeClass;
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::pod::Pod;
use values::quantity::Quantity;

use super::catalog::TypeSet;
use super::daemons::Daemons;
use super::filter::{DaemonGroup, DaemonId, fitting};
use super::node_class;
use super::pods::PodReader;
use super::pool::Pool;
use super::pools;
use super::resources::{
    CPU, MEMORY, PODS, ResourceId, ResourceNames, Resources, STORAGE, mebibytes, requests_of_pod,
};
use super::selector::namespace_of;
use super::settings::SimulationSettings;
use super::shape::PodShape;
use super::workloads::InputPod;
use crate::demand::Demand;
use crate::other_nodes::is_meant_for_other_nodes;
use crate::provisionable::is_provisionable;
use crate::requirements::Requirements;
use crate::template::{check_labels, check_taints};

/// Maximum number of NodePools to compare a pod with, so that many pods and NodePools take linear time.
const MAX_COMPARISONS: usize = 250;

/// Maximum number of NodePools to name.
const MAX_NAMED: usize = 3;

/// The pods and DaemonSets of a cluster that are too large for instance types.
#[derive(Debug, Default)]
pub struct NodeRoom {
    /// Whether the NodePools were compared with the pods.
    is_judged: bool,
    misfits: ByPlace<Misfit>,
    loads: ByPlace<DaemonLoad>,
    /// Whether the objects include nodes that Karpenter did not launch.
    has_other_nodes: bool,
    /// The extended resources of each NodePool whose instance types are known, by name.
    offered: BTreeMap<String, Offered>,
    /// The part of the memory of an instance type that Karpenter keeps for the hypervisor.
    memory_overhead: f64,
}

/// Values by the file and the position of a pod, in this order.
#[derive(Debug)]
struct ByPlace<T>(Vec<(PodPlace, T)>);

/// Place of a pod in the input.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PodPlace {
    file: String,
    start: usize,
}

/// Pod for which no NodePool that takes it has an instance type with enough resources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Misfit {
    /// The NodePools that take the pod: at most three, or an empty list.
    pub shortages: Vec<Shortage>,
    /// The names of NodePools with enough resources and a taint that the pod does not tolerate: at most three.
    pub tainted: Vec<String>,
}

/// NodePool that takes a pod, but has no instance type with enough resources for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// The name of the NodePool.
    pub pool: String,
    /// The name of its node class.
    pub node_class: String,
    /// The resources of which no instance type has enough. Empty if each resource fits some type, but no type has enough of
    /// all.
    pub missing: Vec<MissingResource>,
    /// Whether an instance type has enough without the DaemonSets.
    pub is_due_to_daemons: bool,
}

/// Resource of which no instance type has enough for a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingResource {
    /// The name.
    pub name: String,
    /// The request of the pod.
    pub requested: Quantity,
    /// The most that an instance type leaves after its reservations and the DaemonSets.
    pub largest: Quantity,
}

/// The extended resources of the instance types of a NodePool.
#[derive(Clone, Debug, Default)]
struct Offered {
    /// Resources of some types.
    by_some: Vec<&'static str>,
    /// Resources of every type.
    by_all: Vec<&'static str>,
}

/// Requests of the DaemonSets of a NodePool, compared with an instance type.
#[derive(Clone, Debug, PartialEq)]
pub struct DaemonLoad {
    /// The name of the NodePool.
    pub pool: String,
    /// The instance type of which the DaemonSets take the largest part. `None` if they fit no instance type at all.
    pub instance_type: Option<&'static str>,
    /// The resource.
    pub resource: String,
    /// The request of all DaemonSets.
    pub requested: Quantity,
    /// The number of DaemonSets.
    pub daemons: usize,
    /// The amount that the instance type leaves after its reservations; of all types the largest amount, without a type.
    pub allocatable: Quantity,
}

/// A NodePool and a pod.
enum PodFit {
    /// The NodePool is not for the pod.
    Elsewhere,
    /// An instance type has room, but the pod does not tolerate a taint.
    Tainted,
    /// An instance type has room, or the instance types are not known.
    MayFit,
    /// No instance type has room.
    TooSmall(Shortage),
}

/// NodePool with what its node class does not tell.
struct JudgedPool<'d> {
    pool: Pool<'d>,
    /// Whether its instance types and their resources are known.
    is_known: bool,
    /// Whether the size of the volume for pods is known.
    knows_volume: bool,
}

impl NodeRoom {
    /// Compares the pods and DaemonSets among objects with the instance types of the NodePools. It judges only NodePools whose
    /// node class is among the objects.
    pub fn of<'d>(objects: &'d [Object<'d>], pods: &[Pod<'d>], settings: &'d SimulationSettings) -> Self {
        let is_other = |object: &Object<'d>| {
            object.kind() == "Node" && object.metadata().label(labels::NODEPOOL).is_none()
        };
        let mut room = Self {
            has_other_nodes: objects.iter().any(is_other),
            memory_overhead: settings.vm_memory_overhead,
            ..Self::default()
        };
        if !is_decidable(objects) {
            return room;
        }
        let names = Rc::new(ResourceNames::new());
        let large: Vec<(Pod<'d>, Resources)> = pods
            .iter()
            .filter_map(|pod| Some((*pod, large_requests(*pod, &names, settings.release)?)))
            .collect();
        // A DaemonSet may be in several files, such as its source and what a tool renders from it.
        let mut present = BTreeSet::new();
        let is_daemon = |pod: &Pod<'d>| {
            let object = pod.object();
            object.kind() == "DaemonSet" && present.insert((object.namespace(), object.name()))
        };
        let daemons: IdVec<DaemonId, Pod<'d>> = pods.iter().copied().filter(is_daemon).collect();
        room.is_judged = true;
        if large.is_empty() && daemons.is_empty() {
            return room;
        }
        let reader = PodReader::new(objects, &names, settings);
        let shapes: IdVec<DaemonId, PodShape<'d>> =
            daemons.iter().map(|pod| reader.shape(&input_pod(*pod))).collect();
        let mut pools = pools::read_pools(objects, &names, settings);
        Daemons::new(shapes.clone(), settings.release).prepare(&mut pools, settings);
        let pools = judged(pools, objects);
        let mut known: BTreeMap<(Demand<'d>, Resources), Option<Misfit>> = BTreeMap::new();
        let misfits = large.into_iter().filter_map(|(pod, requests)| {
            let key = (Demand::relaxed(pod), requests);
            let judge =
                |(demand, requests): &(Demand<'d>, Resources)| misfit(&pools, demand, requests, &names);
            Some((pod, known.entry(key).or_insert_with_key(judge).clone()?))
        });
        room.misfits = ByPlace::new(misfits);
        let known_pools = || pools.iter().filter(|pool| pool.is_known).map(|pool| &pool.pool);
        let offered = known_pools().map(|pool| (pool.object.name().to_owned(), offered(pool, &names)));
        room.offered = offered.collect();
        let loads = known_pools().filter_map(|pool| daemon_load(pool, &shapes, &names));
        room.loads = ByPlace::new(loads.filter_map(|(daemon, load)| Some((*daemons.get(daemon)?, load))));
        room
    }

    /// Whether the NodePools were compared with the pods, and one of them may have room for this pod, or none takes it.
    pub fn may_take(&self, pod: Pod<'_>) -> bool {
        self.is_judged && self.misfit(pod).is_none()
    }

    /// The result for a pod that is too large for every NodePool that takes it.
    pub fn misfit(&self, pod: Pod<'_>) -> Option<&Misfit> {
        self.misfits.at(pod).next()
    }

    /// The NodePools among whose DaemonSets a DaemonSet asks most of the resource that is scarcest.
    pub fn loads(&self, daemon: Pod<'_>) -> impl Iterator<Item = &DaemonLoad> {
        self.loads.at(daemon)
    }

    /// Whether the objects include nodes that Karpenter did not launch.
    pub fn has_other_nodes(&self) -> bool {
        self.has_other_nodes
    }

    /// Whether an instance type of a NodePool has an extended resource. False if the instance types are not known.
    pub fn offers(&self, pool: &str, resource: &str) -> bool {
        self.offered.get(pool).is_some_and(|offered| offered.by_some.contains(&resource))
    }

    /// Whether every instance type of a NodePool has an extended resource. False if the instance types are not known.
    pub fn offers_only(&self, pool: &str, resource: &str) -> bool {
        self.offered.get(pool).is_some_and(|offered| offered.by_all.contains(&resource))
    }

    /// The part of the memory of an instance type that Karpenter keeps for the hypervisor: `vmMemoryOverheadPercent`.
    pub fn memory_overhead(&self) -> f64 {
        self.memory_overhead
    }
}

impl<T> Default for ByPlace<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> ByPlace<T> {
    fn new<'d>(values: impl Iterator<Item = (Pod<'d>, T)>) -> Self {
        let mut all: Vec<_> = values.map(|(pod, value)| (PodPlace::of(pod), value)).collect();
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        Self(all)
    }

    /// The values of a pod.
    fn at(&self, pod: Pod<'_>) -> impl Iterator<Item = &T> {
        let place = PodPlace::of(pod);
        let first = self.0.partition_point(|(present, _)| *present < place);
        let rest = certain(self.0.get(first..)).iter();
        rest.take_while(move |(present, _)| *present == place).map(|(_, value)| value)
    }
}

impl PodPlace {
    fn of(pod: Pod<'_>) -> Self {
        let node = pod.spec().node();
        Self { file: node.source().name().to_owned(), start: node.span().start }
    }
}

/// Whether there are NodePools to judge, all of one cluster and of the current version.
fn is_decidable(objects: &[Object<'_>]) -> bool {
    let mut names = BTreeSet::new();
    let mut pools =
        objects.iter().filter(|object| object.group() == "karpenter.sh" && object.kind() == "NodePool");
    let is_decidable = pools.all(|pool| pool.is(Kind::NODE_POOL) && names.insert(pool.name()));
    is_decidable && !names.is_empty() && objects.iter().any(|object| object.is(Kind::NODE_CLASS))
}

fn input_pod(pod: Pod<'_>) -> InputPod<'_> {
    let object = pod.object();
    InputPod::new(pod, namespace_of(object), object.name().to_owned())
}

/// The requests of a pod that Karpenter may launch a node for, without the resources that it does not know. `None` for a pod
/// that fits all but the smallest instance types, which most pods do.
fn large_requests<'d>(pod: Pod<'d>, names: &ResourceNames<'d>, release: Release) -> Option<Resources> {
    if !is_provisionable(pod) || is_meant_for_other_nodes(pod) {
        return None;
    }
    let all = requests_of_pod(pod.spec().node(), names, release);
    let is_large = |(id, amount): (ResourceId, Quantity)| match id {
        CPU => amount > Quantity::from_units(1),
        MEMORY => amount > mebibytes(1024),
        STORAGE => amount > mebibytes(8 * 1024),
        PODS => false,
        _ => EXTENDED_RESOURCES.contains(&names.name(id)),
    };
    if !all.iter().any(is_large) {
        return None;
    }
    let is_plain = |id| matches!(id, CPU | MEMORY | STORAGE | PODS);
    Some(all.iter().filter(|(id, amount)| is_plain(*id) || is_large((*id, *amount))).collect())
}

/// Adds to the NodePools what their node classes tell.
fn judged<'d>(pools: Vec<Pool<'d>>, objects: &[Object<'d>]) -> Vec<JudgedPool<'d>> {
    let mut classes: BTreeMap<&str, Vec<Ec2NodeClass<'d>>> = BTreeMap::new();
    for class in objects.iter().filter_map(|object| Ec2NodeClass::of(*object)) {
        classes.entry(class.object().name()).or_default().push(class);
    }
    let judge = |pool: Pool<'d>| {
        // Two node classes of one name are of different clusters.
        let class = match classes.get(pool.node_class).map(Vec::as_slice) {
            Some([class]) => Some(*class),
            _ => None,
        };
        let is_known = !pool.types.is_empty()
            && names_only_known_types(&pool)
            && class.is_some_and(node_class::is_decided);
        JudgedPool { pool, is_known, knows_volume: class.is_some_and(node_class::has_known_volume) }
    };
    pools.into_iter().map(judge).collect()
}

/// Whether the table has every instance type, family and other property that a NodePool lists. A type that is newer than the
/// table may have more room.
fn names_only_known_types(pool: &Pool<'_>) -> bool {
    let listed = NodePool::of(pool.object).into_iter().flat_map(|pool| pool.requirements().parsed());
    let mut listed = listed.filter(|item| item.operator == "In");
    listed.all(|item| {
        let label = pool.catalog.labels.get(item.label());
        label.is_none_or(|label| item.values().iter().all(|(value, _)| label.by_value.contains_key(value)))
    })
}

/// The result for a pod that is too large for every NodePool that takes it.
fn misfit<'d>(
    pools: &[JudgedPool<'d>],
    demand: &Demand<'d>,
    requests: &Resources,
    names: &ResourceNames<'d>,
) -> Option<Misfit> {
    let alternatives = demand.alternatives();
    if pools.len().saturating_mul(alternatives.len()) > MAX_COMPARISONS {
        return None;
    }
    let mut found = Misfit::default();
    for pool in pools {
        for asked in &alternatives {
            match pool.fit(demand, asked, requests, names) {
                PodFit::Elsewhere => {}
                PodFit::MayFit => return None,
                PodFit::Tainted => found.tainted.push(pool.pool.object.name().to_owned()),
                PodFit::TooSmall(shortage) => found.shortages.push(shortage),
            }
        }
    }
    found.tainted.dedup();
    found.tainted.truncate(MAX_NAMED);
    found.shortages.dedup_by(|one, other| one.pool == other.pool);
    found.shortages.truncate(MAX_NAMED);
    Some(found).filter(|found| *found != Misfit::default())
}

impl<'d> JudgedPool<'d> {
    fn fit(
        &self,
        demand: &Demand<'d>,
        asked: &Requirements<'d>,
        requests: &Resources,
        names: &ResourceNames<'d>,
    ) -> PodFit {
        let pool = &self.pool;
        if check_labels(&pool.requirements, asked).is_err() {
            return PodFit::Elsewhere;
        }
        let tolerates = check_taints(&pool.taints, &demand.tolerations).is_ok();
        let mut requirements = pool.requirements.clone();
        requirements.extend(asked.iter().map(|(key, one)| (key, one.clone())));
        let mut types = pool.types.clone();
        pool.catalog.retain_compatible(&mut types, &requirements);
        types.intersect_with(&pool.catalog.offered(&requirements));
        if types.is_empty() && self.is_known && pool.catalog.has_compatible(asked) {
            return PodFit::Elsewhere;
        }
        // A NodePool that has no room for its DaemonSets is another problem.
        let is_usable = !self.fitting(&Resources::default(), &types).is_empty();
        let judged: Resources =
            requests.iter().filter(|(id, _)| self.knows_volume || *id != STORAGE).collect();
        let fits = !self.fitting(&judged, &types).is_empty();
        match (tolerates, fits, self.is_known && is_usable) {
            (false, true, true) => PodFit::Tainted,
            (false, ..) => PodFit::Elsewhere,
            (true, false, true) => PodFit::TooSmall(self.shortage(&judged, types, names)),
            (true, ..) => PodFit::MayFit,
        }
    }

    fn shortage(&self, requests: &Resources, mut types: TypeSet, names: &ResourceNames<'d>) -> Shortage {
        let pool = &self.pool;
        let largest = pool.largest_room(&types);
        let missing = requests.iter().filter(|(id, amount)| *amount > largest.get(*id));
        let missing = missing.map(|(id, requested)| MissingResource {
            name: names.name(id).to_owned(),
            requested,
            largest: largest.get(id),
        });
        let missing = missing.collect();
        pool.catalog.retain_fitting(&mut types, requests);
        Shortage {
            pool: pool.object.name().to_owned(),
            node_class: pool.node_class.to_owned(),
            missing,
            is_due_to_daemons: !types.is_empty(),
        }
    }

    /// The types with room for requests and for the DaemonSets.
    fn fitting(&self, requests: &Resources, types: &TypeSet) -> TypeSet {
        fitting(&self.pool.catalog, self.pool.groups.iter(), requests, types)
    }
}

fn offered<'d>(pool: &Pool<'d>, names: &ResourceNames<'d>) -> Offered {
    let mut offered = Offered::default();
    for resource in EXTENDED_RESOURCES {
        let id = names.id(resource);
        let types = || pool.catalog.resources_of(&pool.types);
        let with = types().filter(|resources| !resources.capacity.get(id).is_zero()).count();
        if with > 0 {
            offered.by_some.push(resource);
        }
        if with == types().count() {
            offered.by_all.push(resource);
        }
    }
    offered
}

/// The instance type of which the DaemonSets of a NodePool take the largest part, with the DaemonSet that asks most.
fn daemon_load<'d>(
    pool: &Pool<'d>,
    shapes: &IdVec<DaemonId, PodShape<'d>>,
    names: &ResourceNames<'d>,
) -> Option<(DaemonId, DaemonLoad)> {
    let groups = || pool.groups.iter().filter(|group| !group.members.is_empty());
    let one_pod: Resources = [(PODS, Quantity::from_units(1))].into_iter().collect();
    let load = |instance_type, id, group: &DaemonGroup<'_>, allocatable| DaemonLoad {
        pool: pool.object.name().to_owned(),
        instance_type,
        resource: names.name(id).to_owned(),
        requested: group.overhead.get(id),
        daemons: group.members.len(),
        allocatable,
    };
    if fitting(&pool.catalog, pool.groups.iter(), &one_pod, &pool.types).is_empty() {
        let group = groups().next()?;
        let mut requested = one_pod;
        requested.add(&group.overhead);
        let mut largest = Resources::default();
        pool.catalog.resources_of(&group.types).for_each(|resources| largest.raise(&resources.allocatable));
        let id = requested.exceeding(&largest)?;
        let daemon = largest_member(&group.members, shapes, id)?;
        return Some((daemon, load(None, id, group, largest.get(id))));
    }
    let mut worst: Option<(f64, DaemonId, DaemonLoad)> = None;
    for group in groups() {
        for of in group.types.common(&pool.types) {
            let Some(resources) = pool.catalog.resources.get(of) else { continue };
            for id in [CPU, MEMORY] {
                let (requested, allocatable) = (group.overhead.get(id), resources.allocatable.get(id));
                let part = part(requested, allocatable);
                if part > 0.0 && worst.as_ref().is_none_or(|(most, ..)| part > *most) {
                    let instance_type = pool.catalog.names.get(of).copied();
                    let daemon = largest_member(&group.members, shapes, id)?;
                    worst = Some((part, daemon, load(instance_type, id, group, allocatable)));
                }
            }
        }
    }
    worst.map(|(_, daemon, load)| (daemon, load))
}

/// The first of the pods that ask most of a resource.
fn largest_member(
    members: &[DaemonId],
    shapes: &IdVec<DaemonId, PodShape<'_>>,
    id: ResourceId,
) -> Option<DaemonId> {
    let request = |daemon: &DaemonId| shapes.get(*daemon).map(|shape| shape.requests.get(id));
    members.iter().rev().copied().max_by_key(request)
}

/// The part of an amount that is requested.
#[expect(clippy::cast_precision_loss, reason = "only compared with other parts")]
fn part(requested: Quantity, allocatable: Quantity) -> f64 {
    requested.nano() as f64 / allocatable.nano().max(1) as f64
}

#[cfg(test)]
mod tests {
    use manifest::limits::Limits;
    use manifest::{Document, File};

    use super::*;

    const CLASS: &str = "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: c}, spec: {amiFamily: AL2023}}";

    fn pool(name: &str, types: &str, taints: &str) -> String {
        format!(
            "{{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {{name: {name}}}, spec: {{template: {{spec: {{nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: c}}, taints: [{taints}], requirements: [{{key: node.kubernetes.io/instance-type, operator: In, values: [{types}]}}]}}}}}}}}"
        )
    }

    /// The result for the last object, a pod with these requests.
    fn misfit(objects: &[String], requests: &str) -> Option<Misfit> {
        misfit_with(CLASS, objects, requests)
    }

    fn misfit_with(class: &str, objects: &[String], requests: &str) -> Option<Misfit> {
        let pod = format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: a}}, spec: {{containers: [{{resources: {{requests: {{{requests}}}}}}}]}}}}"
        );
        let items = objects.iter().map(String::as_str).chain([class, &pod]).collect::<Vec<_>>().join(", ");
        let file =
            File::read("-", format!("{{apiVersion: v1, kind: List, items: [{items}]}}"), &Limits::DEFAULT);
        let Document::Read(tree) = &file.documents[0] else { panic!("{items}") };
        let objects = Object::all(tree);
        let pods: Vec<Pod<'_>> = objects.iter().flat_map(|object| Pod::all(*object)).collect();
        let room = NodeRoom::of(&objects, &pods, &SimulationSettings::new(Release::NEWEST));
        room.misfit(*pods.last().unwrap()).cloned()
    }

    #[test]
    fn compares_pods_with_the_largest_type() {
        let pools = [pool("a", "m6i.large, m6i.xlarge", "")];
        let shortage = misfit(&pools, "cpu: 4").unwrap().shortages.remove(0);
        let missing = &shortage.missing[0];
        assert_eq!((shortage.pool.as_str(), missing.name.as_str()), ("a", "cpu"));
        assert_eq!((missing.requested.milli(), missing.largest.milli()), (4000, 3920));
        assert!(!shortage.is_due_to_daemons);
        assert_eq!(misfit(&pools, "cpu: 3920m"), None);
    }

    #[test]
    fn judges_no_nodepool_that_lists_a_type_newer_than_the_table() {
        assert_eq!(misfit(&[pool("a", "m6i.large, m99x.48xlarge", "")], "cpu: 8"), None);
    }

    #[test]
    fn judges_no_node_class_with_expressions() {
        let pools = [pool("a", "m6i.large", "")];
        let with = |kubelet: &str| {
            let class =
                CLASS.replace("amiFamily: AL2023", &format!("amiFamily: AL2023, kubelet: {{{kubelet}}}"));
            misfit_with(&class, &pools, "cpu: 8")
        };
        assert!(with("maxPods: 20, kubeReserved: {cpu: 100m, memory: null}").is_some());
        assert_eq!(with("maxPods: 'vcpus * 10'"), None);
        assert_eq!(with("kubeReserved: {cpu: 'vcpus * 20'}"), None);
    }

    #[test]
    fn lists_tainted_nodepools_with_room() {
        let pools = [pool("a", "m6i.large", ""), pool("b", "m6i.4xlarge", "{key: b, effect: NoSchedule}")];
        let found = misfit(&pools, "cpu: 8").unwrap();
        assert_eq!((found.shortages.len(), found.tainted.as_slice()), (1, ["b".to_owned()].as_slice()));
        assert_eq!(misfit(&pools, "cpu: 32").unwrap().tainted, [] as [String; 0]);
    }

    #[test]
    fn judges_neither_repeated_nodepools_nor_too_many() {
        assert_eq!(misfit(&[pool("a", "m6i.large", ""), pool("a", "m6i.xlarge", "")], "cpu: 8"), None);
        let many =
            |count: usize| (0..count).map(|i| pool(&format!("p{i}"), "m6i.large", "")).collect::<Vec<_>>();
        assert_eq!(misfit(&many(MAX_COMPARISONS + 1), "cpu: 8"), None);
        assert_eq!(misfit(&many(4), "cpu: 8").unwrap().shortages.len(), MAX_NAMED);
    }
}
