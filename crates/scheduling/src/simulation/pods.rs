//! Pods as the provisioner reads them: pods that have their place, and pods that wait for a node.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use ids::{IdVec, ids};
use manifest::tree::Node;
use objects::object::Object;
use objects::pod::Pod;
use objects::priority_class::PriorityClass;

use super::behaviour::SchedulerBehaviour;
use super::daemon_pods::NewestPods;
use super::default_spreads::DefaultSpreads;
use super::filter::DaemonId;
use super::ignored::IgnoredReason;
use super::ownership::TEMPLATE_HASH;
use super::remedy::ProposedChange;
use super::resources::ResourceNames;
use super::result::PodId;
use super::selector::Namespaces;
use super::settings::SimulationSettings;
use super::shape::{PodShape, ShapeContext};
use super::validation;
use super::volumes::{AttachedVolume, PodVolumes, Storage};
use super::workloads::{InputPod, InputPods};
use crate::requirements::Requirement;
use crate::scalar::text_or_empty;

/// The priorities of the classes that every cluster has (`SystemPriorityClasses` in pkg/apis/scheduling/v1/helpers.go of
/// kubernetes/kubernetes at v1.33.0).
const SYSTEM_NODE_CRITICAL: i64 = 2_000_001_000;
const SYSTEM_CLUSTER_CRITICAL: i64 = 2_000_000_000;

/// A time after every other.
const LATEST: &str = "9999-12-31T23:59:59Z";

ids! {
    /// Shape of pods that wait for a node.
    pub(crate) ShapeId;
}

/// Pod to place.
#[derive(Debug)]
pub(super) struct BatchPod<'d> {
    /// The pod.
    pub(super) input: InputPod<'d>,
    /// Whether it leaves a node.
    pub(super) is_moved: bool,
    /// Whether it avoids nodes whose `consolidateAfter` is not over.
    pub(super) avoids_waiting: bool,
}

impl<'d> BatchPod<'d> {
    /// A pod that waits for a node, or leaves a node that goes.
    pub(super) fn pending(input: InputPod<'d>) -> Self {
        Self { is_moved: input.leaves.is_some(), input, avoids_waiting: false }
    }
}

/// Pod that waits for a node.
#[derive(Clone, Debug)]
pub(super) struct PendingPod<'d> {
    /// The pod.
    pub(super) input: InputPod<'d>,
    /// Its shape.
    pub(super) shape: ShapeId,
    /// `creationTimestamp`.
    pub(super) created: &'d str,
    /// The volumes that have a driver.
    pub(super) volumes: Vec<AttachedVolume<'d>>,
    /// The reason for which Karpenter ignores the pod.
    pub(super) ignored: Option<IgnoredReason<'d>>,
    /// Whether kube-scheduler looks at the pod, and its volumes exist.
    pub(super) is_schedulable: bool,
    /// Whether the pod avoids nodes whose `consolidateAfter` is not over.
    pub(super) avoids_waiting: bool,
}

/// Pods that wait for a node, with their shapes.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingPods<'d> {
    /// The pods, in the order of the input.
    pub(super) pods: IdVec<PodId, PendingPod<'d>>,
    /// The shapes of these pods.
    pub(super) shapes: IdVec<ShapeId, Rc<PodShape<'d>>>,
}

impl<'d> PendingPods<'d> {
    /// The same pods after a change.
    pub(super) fn changed(&self, change: &ProposedChange<'d>, names: &ResourceNames<'d>) -> Self {
        let mut all = self.clone();
        for shape in all.shapes.iter_mut().filter(|shape| ***shape == *change.shape) {
            change.change_pod(Rc::make_mut(shape), names);
        }
        all
    }
}

/// Pods that have their place already.
pub(super) struct PlacedPods<'d> {
    /// The pods of the DaemonSets, which run on every node that they tolerate.
    pub(super) daemons: IdVec<DaemonId, PodShape<'d>>,
    /// The pods that are bound to a node.
    pub(super) running: Vec<RunningPod<'d>>,
}

/// Pod on a node.
#[derive(Clone, Debug)]
pub(super) struct RunningPod<'d> {
    /// The pod.
    pub(super) object: Object<'d>,
    /// The name of its node.
    pub(super) node: &'d str,
    /// Whether it belongs to a DaemonSet.
    pub(super) is_daemon: bool,
    /// Its shape.
    pub(super) shape: Rc<PodShape<'d>>,
    /// The volumes that have a driver.
    pub(super) volumes: Vec<AttachedVolume<'d>>,
}

impl RunningPod<'_> {
    /// Whether the pod is being deleted, so that it does not count for topology any more.
    pub(super) fn is_terminating(&self) -> bool {
        self.object.at(&["metadata", "deletionTimestamp"]).is_some()
    }
}

/// The objects of a cluster that decide how its pods are read.
pub(super) struct PodReader<'d> {
    objects: &'d [Object<'d>],
    settings: &'d SimulationSettings,
    names: Rc<ResourceNames<'d>>,
    /// Computed when a pod is first read.
    namespaces: OnceCell<Namespaces<'d>>,
    /// Computed when the priority of a pod is first read.
    priorities: OnceCell<BTreeMap<&'d str, i64>>,
    storage: Storage<'d>,
    default_spreads: DefaultSpreads<'d>,
}

impl<'d> PodReader<'d> {
    /// A reader of the pods of a cluster.
    pub(super) fn new(
        objects: &'d [Object<'d>],
        names: &Rc<ResourceNames<'d>>,
        settings: &'d SimulationSettings,
    ) -> Self {
        Self {
            objects,
            settings,
            names: Rc::clone(names),
            namespaces: OnceCell::new(),
            priorities: OnceCell::new(),
            storage: Storage::of(objects, settings.release),
            default_spreads: DefaultSpreads::of(objects, settings),
        }
    }

    /// The priority of a pod: `priority`, which the API server fills in, or else the value of its class.
    pub(super) fn priority(&self, pod: Pod<'d>) -> i64 {
        let own = pod.spec().node().get("priority").and_then(Node::as_int);
        let by_class = || match pod.spec().priority_class_name().filter(|name| !name.is_empty()) {
            Some("system-node-critical") => Some(SYSTEM_NODE_CRITICAL),
            Some("system-cluster-critical") => Some(SYSTEM_CLUSTER_CRITICAL),
            Some(name) => self.priorities().get(name).copied(),
            None => self.priorities().get("").copied(),
        };
        own.or_else(by_class).unwrap_or_default()
    }

    /// The values of the PriorityClasses by name. The default for pods without a class has the empty name.
    fn priorities(&self) -> &BTreeMap<&'d str, i64> {
        self.priorities.get_or_init(|| {
            let classes = self.objects.iter().filter_map(|object| PriorityClass::of(*object));
            let named = |class: PriorityClass<'d>| Some((class, class.value()?.as_int()?));
            let mut all = BTreeMap::new();
            for (class, value) in classes.filter_map(named) {
                all.insert(class.object().name(), value);
                if class.is_global_default() {
                    all.insert("", value);
                }
            }
            all
        })
    }

    /// Reads the shape of a pod.
    pub(super) fn shape(&self, pod: &InputPod<'d>) -> PodShape<'d> {
        let namespaces = self.namespaces.get_or_init(|| Namespaces::of(self.objects));
        let context = ShapeContext { names: &self.names, namespaces, release: self.settings.release };
        let mut shape = PodShape::read(pod.pod, pod.namespace, context);
        self.default_spreads.add_to(&mut shape, pod);
        shape
    }

    /// The shape by which Karpenter measures a DaemonSet: of its newest pod, or else of its template. The DaemonSet controller ties each
    /// pod to its node with a node affinity, so that the affinity of the template counts.
    fn daemon(&self, template: &InputPod<'d>, newest: &NewestPods<'d>) -> PodShape<'d> {
        let of_template = self.shape(template);
        let Some(pod) = newest.of_template(template) else { return of_template };
        let mut shape = self.shape(&pod);
        if !of_template.demand.required_terms.is_empty() {
            shape.demand.required_terms = of_template.demand.required_terms;
        }
        shape
    }

    /// Reads the pods that have their place already.
    pub(super) fn placed(&self, all: &InputPods<'d>) -> PlacedPods<'d> {
        let newest = NewestPods::of(self.objects);
        let daemons = all.daemons.iter().map(|template| self.daemon(template, &newest)).collect();
        let is_used = |_: &&InputPod<'d>| !self.settings.without_nodes;
        let running = all.running.iter().filter(is_used).map(|pod| self.running(pod));
        PlacedPods { daemons, running: running.collect() }
    }

    /// A pod that is bound to a node.
    pub(super) fn running(&self, pod: &InputPod<'d>) -> RunningPod<'d> {
        RunningPod {
            object: pod.pod.object(),
            node: pod.pod.spec().node_name().and_then(Node::as_str).unwrap_or_default(),
            is_daemon: pod.pod.is_daemon(),
            shape: Rc::new(self.shape(pod)),
            volumes: self.storage.volumes_of(pod).unwrap_or_default().attached,
        }
    }

    /// The pods to place, and their shapes.
    pub(super) fn pending(&self, batch: Vec<BatchPod<'d>>) -> PendingPods<'d> {
        let mut ids: BTreeMap<Rc<PodShape<'d>>, ShapeId> = BTreeMap::new();
        let mut all = PendingPods::default();
        // The pods of a workload come one after the other.
        let mut last: Option<(Node<'d>, PodShape<'d>)> = None;
        for BatchPod { input, is_moved, avoids_waiting } in batch {
            let spec = input.pod.spec().node();
            let known = last.take().filter(|(of, _)| *of == spec).map(|(_, shape)| shape);
            let mut shape = known.unwrap_or_else(|| self.shape(&input));
            last = Some((spec, shape.clone()));
            add_workload_labels(&mut shape, &input);
            let (volumes, problem) = self.restrict(&mut shape, &input);
            // Only pods without a node are validated.
            let ignored = validation::unprovisionable(&input).filter(|_| !is_moved).or(problem);
            let is_schedulable = ignored.is_none();
            let ignored = ignored.or_else(|| validation::problem(input.pod, &shape, self.settings.release));
            let ignored = ignored.filter(|_| !is_moved);
            let shape =
                *ids.entry(Rc::new(shape)).or_insert_with_key(|shape| all.shapes.push(Rc::clone(shape)));
            let created = created(&input);
            all.pods.push(PendingPod {
                input,
                shape,
                created,
                volumes,
                ignored,
                is_schedulable,
                avoids_waiting,
            });
        }
        all
    }

    /// Adds the requirements of the volumes.
    fn restrict(
        &self,
        shape: &mut PodShape<'d>,
        input: &InputPod<'d>,
    ) -> (Vec<AttachedVolume<'d>>, Option<IgnoredReason<'d>>) {
        let PodVolumes { attached, requirements } = match self.storage.volumes_of(input) {
            Ok(found) => found,
            Err(problem) => return (Vec::new(), Some(IgnoredReason::because(problem.0))),
        };
        if SchedulerBehaviour::VOLUMES_APART.holds_in(self.settings.release) {
            shape.volumes = requirements;
        } else if let Some(required) = requirements.first() {
            if shape.demand.required_terms.is_empty() {
                shape.demand.required_terms.push(Vec::new());
            }
            for term in &mut shape.demand.required_terms {
                let expressions = required.iter().map(|(key, one): (_, &Requirement<'d>)| (key, one.clone()));
                term.extend(expressions);
            }
            shape.volume_labels.clone_from(required);
        }
        (attached, None)
    }
}

/// The controller of a Deployment adds a label with a hash: the hash of its running pods, or else its name instead.
fn add_workload_labels<'d>(shape: &mut PodShape<'d>, input: &InputPod<'d>) {
    let object = input.pod.object();
    if object.kind() == "Deployment" {
        shape.labels.insert(TEMPLATE_HASH, input.template_hash.unwrap_or(object.name()));
    }
}

/// The creation of a pod as text that sorts by time. An added pod is the youngest.
fn created<'d>(input: &InputPod<'d>) -> &'d str {
    if input.is_added {
        return LATEST;
    }
    text_or_empty(input.pod.object().at(&["metadata", "creationTimestamp"]))
}
