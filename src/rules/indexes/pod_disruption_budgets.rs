//! The pods that PodDisruptionBudgets select, and the number of pods that workloads run.

use std::collections::BTreeMap;

use cluster::index::Index;
use cluster::inventory::Inventory;
use ids::{IdVec, ids};
use manifest::tree::Node;
use objects::autoscaler::HorizontalPodAutoscaler;
use objects::object::Object;
use objects::pod::Pod;
use objects::pod_disruption_budget::PodDisruptionBudget;
use objects::workload::Workload;
use scheduling::simulation::{LabelSelector, Labels, labels_of};

use super::{InventoryPodId, Pods};

ids! {
    /// PodDisruptionBudget of an inventory.
    PodBudgetId;
}

/// PodDisruptionBudget with the pods that it selects.
#[derive(Debug)]
struct Selecting<'d> {
    budget: PodDisruptionBudget<'d>,
    pods: Vec<InventoryPodId>,
}

/// PodDisruptionBudgets with the pods that they select.
#[derive(Debug)]
pub(crate) struct PodDisruptionBudgets<'d> {
    /// The budgets in the order of the input.
    budgets: IdVec<PodBudgetId, Selecting<'d>>,
    by_place: BTreeMap<ObjectPlace<'d>, PodBudgetId>,
    /// The first pod of each object.
    first_pod: BTreeMap<ObjectPlace<'d>, InventoryPodId>,
    /// The budgets of each pod.
    by_pod: IdVec<InventoryPodId, Vec<PodBudgetId>>,
    /// The least number of pods of each workload that has an autoscaler.
    autoscaled: BTreeMap<WorkloadName<'d>, Option<LeastReplicas<'d>>>,
}

impl Index for PodDisruptionBudgets<'static> {
    type Value<'d> = PodDisruptionBudgets<'d>;

    fn compute<'d>(inventory: &Inventory<'d>) -> PodDisruptionBudgets<'d> {
        PodDisruptionBudgets::new(inventory.objects(), inventory.index::<Pods>())
    }
}

/// Namespace, kind and name of a workload.
type WorkloadName<'d> = (&'d str, &'d str, &'d str);

/// Least number of pods of a workload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LeastReplicas<'d> {
    /// The number.
    pub(crate) number: i64,
    /// `replicas` of the workload or `minReplicas` of its autoscaler; `None` where the default applies.
    pub(crate) node: Option<Node<'d>>,
}

impl<'d> LeastReplicas<'d> {
    /// The number that a field says; `None` if the field says no number.
    fn read(node: Option<Node<'d>>, default: i64) -> Option<Self> {
        let node = node.filter(|node| !node.is_null());
        let number = node.map_or(Some(default), Node::as_int)?;
        Some(Self { number, node })
    }
}

impl<'d> PodDisruptionBudgets<'d> {
    fn new(objects: &[Object<'d>], pods: &IdVec<InventoryPodId, Pod<'d>>) -> Self {
        let budgets = objects.iter().copied().filter_map(PodDisruptionBudget::of);
        let budgets = budgets.map(|budget| Selecting { budget, pods: Vec::new() });
        let mut budgets: IdVec<PodBudgetId, Selecting<'d>> = budgets.collect();
        let index = SelectorIndex::of(&budgets);
        let by_pod: IdVec<InventoryPodId, Vec<PodBudgetId>> =
            pods.iter().map(|pod| index.matching(*pod)).collect();
        let mut first_pod = BTreeMap::new();
        for (id, pod) in pods.enumerate() {
            first_pod.entry(ObjectPlace::of(pod.object())).or_insert(id);
        }
        for (pod, own) in by_pod.enumerate() {
            for budget in own {
                if let Some(selecting) = budgets.get_mut(*budget) {
                    selecting.pods.push(pod);
                }
            }
        }
        let by_place = budgets.enumerate().map(|(id, one)| (ObjectPlace::of(one.budget.object()), id));
        Self {
            by_place: by_place.collect(),
            budgets,
            first_pod,
            by_pod,
            autoscaled: objects.iter().filter_map(|object| autoscaled(*object)).collect(),
        }
    }

    /// The pods that a PodDisruptionBudget selects.
    pub(crate) fn pods_of(&self, budget: Object<'d>) -> &[InventoryPodId] {
        let id = self.by_place.get(&ObjectPlace::of(budget));
        id.and_then(|id| self.budgets.get(*id)).map_or(&[], |one| &one.pods)
    }

    /// The budgets that select a pod, in the order of the input.
    pub(crate) fn of_pod(&self, pod: InventoryPodId) -> impl Iterator<Item = PodDisruptionBudget<'d>> {
        let own = self.by_pod.get(pod).into_iter().flatten();
        own.filter_map(|id| self.budgets.get(*id)).map(|one| one.budget)
    }

    /// The first budget that selects the pods of a workload.
    pub(crate) fn budget_of(&self, workload: Object<'d>) -> Option<PodDisruptionBudget<'d>> {
        self.first_pod.get(&ObjectPlace::of(workload)).and_then(|pod| self.of_pod(*pod).next())
    }

    /// Whether a budget selects the pods of a workload.
    pub(crate) fn has_budget(&self, workload: Object<'d>) -> bool {
        self.budget_of(workload).is_some()
    }

    /// The least number of pods that a workload runs. `None` where the input does not show it.
    pub(crate) fn least_replicas(&self, workload: Object<'d>) -> Option<LeastReplicas<'d>> {
        let name = (workload.namespace(), workload.kind(), workload.name());
        // The API server's default of `replicas` is 1.
        let own = || LeastReplicas::read(Workload::of(workload).replicas(), 1);
        self.autoscaled.get(&name).copied().unwrap_or_else(own)
    }
}

/// Place of an object, which identifies the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ObjectPlace<'d> {
    file: &'d str,
    /// The byte at which the object begins.
    start: usize,
}

impl<'d> ObjectPlace<'d> {
    fn of(object: Object<'d>) -> Self {
        let root = object.root();
        Self { file: root.source().name(), start: root.span().start }
    }
}

/// The workload of an autoscaler, and its least number of pods. The default is 1 pod for a HorizontalPodAutoscaler, and none
/// for KEDA's `ScaledObject`, whose default kind is Deployment (its specification on keda.sh).
fn autoscaled(object: Object<'_>) -> Option<(WorkloadName<'_>, Option<LeastReplicas<'_>>)> {
    let (target, least) = match HorizontalPodAutoscaler::of(object) {
        Some(autoscaler) => (autoscaler.scale_target()?, LeastReplicas::read(autoscaler.min_replicas(), 1)),
        None if object.group() == "keda.sh" && object.kind() == "ScaledObject" => {
            let least = LeastReplicas::read(object.at(&["spec", "minReplicaCount"]), 0);
            (object.at(&["spec", "scaleTargetRef"])?, least)
        }
        None => return None,
    };
    let kind = target.get("kind").and_then(Node::as_str).unwrap_or("Deployment");
    let name = target.get("name")?.as_str()?;
    Some(((object.namespace(), kind, name), least))
}

/// Index of selectors, so that a pod is compared only with the selectors that name one of its labels.
struct SelectorIndex<'d> {
    selectors: IdVec<PodBudgetId, Option<LabelSelector<'d>>>,
    /// The budgets whose selectors have labels, by namespace and one of the labels.
    by_label: BTreeMap<(&'d str, &'d str, &'d str), Vec<PodBudgetId>>,
    /// The budgets whose selectors have no labels, by namespace.
    others: BTreeMap<&'d str, Vec<PodBudgetId>>,
}

impl<'d> SelectorIndex<'d> {
    fn of(budgets: &IdVec<PodBudgetId, Selecting<'d>>) -> Self {
        let mut index =
            Self { selectors: IdVec::default(), by_label: BTreeMap::new(), others: BTreeMap::new() };
        for Selecting { budget, .. } in budgets {
            let id = index.selectors.push(LabelSelector::parse(budget.selector()));
            let namespace = budget.object().namespace();
            let labels = labels_of(budget.selector().and_then(|selector| selector.get("matchLabels")));
            match labels.into_iter().next() {
                Some((key, value)) => {
                    index.by_label.entry((namespace, key, value)).or_default().push(id);
                }
                None => index.others.entry(namespace).or_default().push(id),
            }
        }
        index
    }

    /// The budgets whose selectors match a pod, in the order of the input.
    fn matching(&self, pod: Pod<'d>) -> Vec<PodBudgetId> {
        let namespace = pod.object().namespace();
        let labels: Labels<'d> = labels_of(pod.metadata().label_map());
        let by_label = labels.iter().filter_map(|(key, value)| self.by_label.get(&(namespace, *key, *value)));
        let candidates = by_label.chain(self.others.get(namespace)).flatten().copied();
        let is_match = |id: &PodBudgetId| {
            self.selectors.get(*id).and_then(Option::as_ref).is_some_and(|selector| selector.matches(&labels))
        };
        let mut matching: Vec<PodBudgetId> = candidates.filter(is_match).collect();
        matching.sort_unstable();
        matching
    }
}
