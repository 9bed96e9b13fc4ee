//! The pods that PodDisruptionBudgets select, and the number of pods that workloads run.

use std::collections::BTreeMap;

use cluster::index::Index;
use cluster::inventory::Inventory;
use manifest::tree::Node;
use objects::autoscaler::HorizontalPodAutoscaler;
use objects::object::Object;
use objects::pod::Pod;
use objects::pod_disruption_budget::PodDisruptionBudget;
use objects::workload::Workload;
use scheduling::simulation::{LabelSelector, Labels, labels_of};

use super::Pods;

/// PodDisruptionBudgets with the pods that they select.
#[derive(Debug)]
pub(crate) struct PodDisruptionBudgets<'d> {
    /// The budgets in the order of the input, each with the indices of its pods.
    budgets: Vec<(PodDisruptionBudget<'d>, Vec<usize>)>,
    /// Indices of budgets by file and position.
    by_place: BTreeMap<(&'d str, usize), usize>,
    /// The index of the first pod of each object, by file and position.
    first_pod: BTreeMap<(&'d str, usize), usize>,
    /// Indices of the budgets of each pod.
    by_pod: Vec<Vec<usize>>,
    /// The least number of pods of each workload that has an autoscaler.
    autoscaled: BTreeMap<WorkloadName<'d>, Option<LeastReplicas<'d>>>,
}

impl Index for PodDisruptionBudgets<'static> {
    type Value<'d> = PodDisruptionBudgets<'d>;

    fn of<'d>(inventory: &Inventory<'d>) -> PodDisruptionBudgets<'d> {
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
    fn of(node: Option<Node<'d>>, default: i64) -> Option<Self> {
        let node = node.filter(|node| !node.is_null());
        let number = node.map_or(Some(default), Node::as_int)?;
        Some(Self { number, node })
    }
}

impl<'d> PodDisruptionBudgets<'d> {
    fn new(objects: &[Object<'d>], pods: &[Pod<'d>]) -> Self {
        let budgets: Vec<_> = objects.iter().copied().filter_map(PodDisruptionBudget::of).collect();
        let index = SelectorIndex::of(&budgets);
        let by_pod: Vec<Vec<usize>> = pods.iter().map(|pod| index.matching(*pod)).collect();
        let by_place = budgets.iter().enumerate().map(|(index, budget)| (place(budget.object()), index));
        let mut first_pod = BTreeMap::new();
        for (index, pod) in pods.iter().enumerate() {
            first_pod.entry(place(pod.object())).or_insert(index);
        }
        let mut all = Self {
            first_pod,
            by_place: by_place.collect(),
            budgets: budgets.iter().map(|budget| (*budget, Vec::new())).collect(),
            by_pod,
            autoscaled: objects.iter().filter_map(|object| autoscaled(*object)).collect(),
        };
        for (pod, own) in all.by_pod.iter().enumerate() {
            for budget in own {
                if let Some((_, pods)) = all.budgets.get_mut(*budget) {
                    pods.push(pod);
                }
            }
        }
        all
    }

    /// Indices of the pods that a PodDisruptionBudget selects, among the inventory's pods.
    pub(crate) fn pods_of(&self, budget: Object<'d>) -> &[usize] {
        let index = self.by_place.get(&place(budget));
        index.and_then(|index| self.budgets.get(*index)).map_or(&[], |(_, pods)| pods)
    }

    /// The budgets that select a pod, given the index of the pod, in the order of the input.
    pub(crate) fn of_pod(&self, pod: usize) -> impl Iterator<Item = PodDisruptionBudget<'d>> {
        let own = self.by_pod.get(pod).into_iter().flatten();
        own.filter_map(|index| self.budgets.get(*index)).map(|(budget, _)| *budget)
    }

    /// Whether a budget selects the pods of a workload.
    pub(crate) fn has_budget(&self, workload: Object<'d>) -> bool {
        self.first_pod.get(&place(workload)).is_some_and(|pod| self.of_pod(*pod).next().is_some())
    }

    /// The least number of pods that a workload runs. `None` where the input does not show it.
    pub(crate) fn least_replicas(&self, workload: Object<'d>) -> Option<LeastReplicas<'d>> {
        let name = (workload.namespace(), workload.kind(), workload.name());
        // The API server's default of `replicas` is 1.
        let own = || LeastReplicas::of(Workload::of(workload).replicas(), 1);
        self.autoscaled.get(&name).copied().unwrap_or_else(own)
    }
}

/// The file and the position of an object.
fn place(object: Object<'_>) -> (&str, usize) {
    let root = object.root();
    (root.source().name(), root.span().start)
}

/// The workload of an autoscaler, and its least number of pods. The default is 1 pod for a HorizontalPodAutoscaler, and none
/// for KEDA's `ScaledObject`, whose default kind is Deployment (its specification on keda.sh).
fn autoscaled(object: Object<'_>) -> Option<(WorkloadName<'_>, Option<LeastReplicas<'_>>)> {
    let (target, least) = match HorizontalPodAutoscaler::of(object) {
        Some(autoscaler) => (autoscaler.scale_target()?, LeastReplicas::of(autoscaler.min_replicas(), 1)),
        None if object.group() == "keda.sh" && object.kind() == "ScaledObject" => {
            let least = LeastReplicas::of(object.at(&["spec", "minReplicaCount"]), 0);
            (object.at(&["spec", "scaleTargetRef"])?, least)
        }
        None => return None,
    };
    let kind = target.get("kind").and_then(Node::as_str).unwrap_or("Deployment");
    let name = target.get("name")?.as_str()?;
    Some(((object.namespace(), kind, name), least))
}

/// Indices of selectors, so that a pod is compared only with the selectors that name one of its labels.
struct SelectorIndex<'d> {
    selectors: Vec<Option<LabelSelector<'d>>>,
    /// The selectors with labels, by namespace and one of the labels.
    by_label: BTreeMap<(&'d str, &'d str, &'d str), Vec<usize>>,
    /// The selectors without labels, by namespace.
    others: BTreeMap<&'d str, Vec<usize>>,
}

impl<'d> SelectorIndex<'d> {
    fn of(budgets: &[PodDisruptionBudget<'d>]) -> Self {
        let mut index = Self { selectors: Vec::new(), by_label: BTreeMap::new(), others: BTreeMap::new() };
        for (position, budget) in budgets.iter().enumerate() {
            let namespace = budget.object().namespace();
            let labels = labels_of(budget.selector().and_then(|selector| selector.get("matchLabels")));
            match labels.into_iter().next() {
                Some((key, value)) => {
                    index.by_label.entry((namespace, key, value)).or_default().push(position);
                }
                None => index.others.entry(namespace).or_default().push(position),
            }
            index.selectors.push(LabelSelector::parse(budget.selector()));
        }
        index
    }

    /// Indices of the selectors that match a pod, in ascending order.
    fn matching(&self, pod: Pod<'d>) -> Vec<usize> {
        let namespace = pod.object().namespace();
        let labels: Labels<'d> = labels_of(pod.metadata().label_map());
        let by_label = labels.iter().filter_map(|(key, value)| self.by_label.get(&(namespace, *key, *value)));
        let candidates = by_label.chain(self.others.get(namespace)).flatten().copied();
        let is_match = |index: &usize| {
            self.selectors
                .get(*index)
                .and_then(Option::as_ref)
                .is_some_and(|selector| selector.matches(&labels))
        };
        let mut matching: Vec<usize> = candidates.filter(is_match).collect();
        matching.sort_unstable();
        matching
    }
}
