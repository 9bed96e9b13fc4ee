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
use scheduling::state::tolerates_disruption;

use super::{InventoryPodId, Pods};

ids! {
    /// PodDisruptionBudget of an inventory.
    PodBudgetId;
    /// Selector of PodDisruptionBudgets.
    SelectorId;
    /// Set of labels of pods.
    LabelSetId;
}

/// PodDisruptionBudgets with the pods that they select. Budgets with the same selector and pods with the same labels are compared
/// once.
#[derive(Debug)]
pub(crate) struct PodDisruptionBudgets<'d> {
    /// The budgets in the order of the input.
    budgets: IdVec<PodBudgetId, PodDisruptionBudget<'d>>,
    selectors: IdVec<SelectorId, Selecting<'d>>,
    sets: IdVec<LabelSetId, LabelSet>,
    by_place: BTreeMap<ObjectPlace<'d>, SelectorId>,
    /// The labels of the first pod of each object.
    first_pod: BTreeMap<ObjectPlace<'d>, LabelSetId>,
    /// The least number of pods of each workload that has an autoscaler.
    autoscaled: BTreeMap<WorkloadName<'d>, Option<LeastReplicas<'d>>>,
}

/// Selector of PodDisruptionBudgets of a namespace.
#[derive(Debug)]
struct Selecting<'d> {
    selector: Option<LabelSelector<'d>>,
    /// The first budget with this selector.
    first: PodBudgetId,
    /// The labels that the selector matches, in the order of their first pods.
    sets: Vec<LabelSetId>,
    replicas: SelectedReplicas<'d>,
    /// Whether Karpenter evicts a pod that the selector matches.
    has_evictable: bool,
}

/// Labels of pods of a namespace.
#[derive(Debug, Default)]
struct LabelSet {
    pods: Vec<InventoryPodId>,
    /// The first pod that Karpenter evicts.
    first_evictable: Option<InventoryPodId>,
    /// The first budget that selects the pods.
    first_budget: Option<PodBudgetId>,
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

/// Least number of pods that the selected workloads run together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SelectedReplicas<'d> {
    /// No pod is selected.
    None,
    /// One workload is selected.
    One(LeastReplicas<'d>),
    /// Several workloads are selected.
    Several(i64),
    /// The input does not show the number: for a DaemonSet or a bare pod.
    Unknown,
}

impl SelectedReplicas<'_> {
    fn and(self, other: Self) -> Self {
        let number = |one: Self| match one {
            Self::One(least) => least.number,
            Self::Several(number) => number,
            Self::None | Self::Unknown => 0,
        };
        match (self, other) {
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::None, one) | (one, Self::None) => one,
            _ => Self::Several(number(self).saturating_add(number(other))),
        }
    }
}

impl<'d> PodDisruptionBudgets<'d> {
    fn new(objects: &[Object<'d>], pods: &IdVec<InventoryPodId, Pod<'d>>) -> Self {
        let labelled = LabelledPods::of(pods);
        let mut index = SelectorIndex::default();
        let mut all = Self {
            budgets: objects.iter().copied().filter_map(PodDisruptionBudget::of).collect(),
            selectors: IdVec::default(),
            sets: labelled.sets,
            by_place: BTreeMap::new(),
            first_pod: labelled.first_pod,
            autoscaled: objects.iter().filter_map(|object| autoscaled(*object)).collect(),
        };
        let mut known: BTreeMap<(&str, Option<LabelSelector<'d>>), SelectorId> = BTreeMap::new();
        for (first, budget) in all.budgets.enumerate() {
            let (namespace, selector) =
                (budget.object().namespace(), LabelSelector::parse(budget.selector()));
            let selector = *known.entry((namespace, selector)).or_insert_with_key(|(_, selector)| {
                let (selector, sets, replicas) = (selector.clone(), Vec::new(), SelectedReplicas::None);
                let has_evictable = false;
                let id = all.selectors.push(Selecting { selector, first, sets, replicas, has_evictable });
                index.add(id, *budget, &labelled.frequency);
                id
            });
            all.by_place.insert(ObjectPlace::of(budget.object()), selector);
        }
        for ((namespace, labels), set) in &labelled.by_labels {
            all.select(*set, &index.candidates(namespace, labels), labels, pods);
        }
        for selecting in &mut all.selectors {
            selecting.sets.sort_unstable();
        }
        all
    }

    /// Adds the pods with some labels to the selectors that match them.
    fn select(
        &mut self,
        set: LabelSetId,
        candidates: &[SelectorId],
        labels: &Labels<'d>,
        pods: &IdVec<InventoryPodId, Pod<'d>>,
    ) {
        let own = self.sets.get(set).map(|set| set.pods.clone()).unwrap_or_default();
        let has_evictable = self.sets.get(set).is_some_and(|set| set.first_evictable.is_some());
        let mut replicas = None;
        for id in candidates {
            let Some(selecting) = self.selectors.get(*id) else { continue };
            if !selecting.selector.as_ref().is_some_and(|selector| selector.matches(labels)) {
                continue;
            }
            let first = selecting.first;
            let number = *replicas.get_or_insert_with(|| {
                let one = own.iter().filter_map(|id| pods.get(*id)).map(|pod| self.replicas_of_pod(*pod));
                one.fold(SelectedReplicas::None, SelectedReplicas::and)
            });
            if let Some(selecting) = self.selectors.get_mut(*id) {
                selecting.sets.push(set);
                selecting.has_evictable |= has_evictable;
                selecting.replicas = selecting.replicas.and(number);
            }
            if let Some(set) = self.sets.get_mut(set) {
                set.first_budget = Some(set.first_budget.map_or(first, |known| known.min(first)));
            }
        }
    }

    fn selecting(&self, budget: Object<'d>) -> Option<&Selecting<'d>> {
        self.by_place.get(&ObjectPlace::of(budget)).and_then(|id| self.selectors.get(*id))
    }

    /// Whether a PodDisruptionBudget selects any pod.
    pub(crate) fn selects_any(&self, budget: Object<'d>) -> bool {
        self.selecting(budget).is_some_and(|selecting| !selecting.sets.is_empty())
    }

    /// Whether a PodDisruptionBudget selects pods, and Karpenter evicts none of them: the budget does not delay Karpenter.
    pub(crate) fn selects_only_tolerating(&self, budget: Object<'d>) -> bool {
        self.selecting(budget).is_some_and(|selecting| !selecting.sets.is_empty() && !selecting.has_evictable)
    }

    /// The least number of pods that the workloads of a PodDisruptionBudget run together.
    pub(crate) fn replicas(&self, budget: Object<'d>) -> SelectedReplicas<'d> {
        self.selecting(budget).map_or(SelectedReplicas::None, |selecting| selecting.replicas)
    }

    /// For each set of labels that a PodDisruptionBudget selects, the first pod with these labels that Karpenter evicts and the first
    /// budget that selects it.
    pub(crate) fn first_budgets(
        &self,
        budget: Object<'d>,
    ) -> impl Iterator<Item = (InventoryPodId, PodDisruptionBudget<'d>)> {
        let sets = self.selecting(budget).into_iter().flat_map(|selecting| &selecting.sets);
        sets.filter_map(|set| {
            let set = self.sets.get(*set)?;
            Some((set.first_evictable?, *self.budgets.get(set.first_budget?)?))
        })
    }

    /// The first budget that selects the pods of a workload.
    pub(crate) fn budget_of(&self, workload: Object<'d>) -> Option<PodDisruptionBudget<'d>> {
        let set = self.sets.get(*self.first_pod.get(&ObjectPlace::of(workload))?)?;
        self.budgets.get(set.first_budget?).copied()
    }

    /// Whether a budget selects the pods of a workload.
    pub(crate) fn has_budget(&self, workload: Object<'d>) -> bool {
        self.budget_of(workload).is_some()
    }

    fn replicas_of_pod(&self, pod: Pod<'d>) -> SelectedReplicas<'d> {
        let workload = pod.object();
        if !matches!(workload.kind(), "Deployment" | "StatefulSet" | "ReplicaSet") {
            return SelectedReplicas::Unknown;
        }
        self.least_replicas(workload).map_or(SelectedReplicas::Unknown, SelectedReplicas::One)
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

/// Pods by their labels.
struct LabelledPods<'d> {
    /// The sets of labels in the order of their first pods.
    sets: IdVec<LabelSetId, LabelSet>,
    /// The sets by namespace and labels.
    by_labels: BTreeMap<(&'d str, Labels<'d>), LabelSetId>,
    first_pod: BTreeMap<ObjectPlace<'d>, LabelSetId>,
    /// The number of sets that have a label, by namespace and label.
    frequency: BTreeMap<(&'d str, &'d str, &'d str), usize>,
}

impl<'d> LabelledPods<'d> {
    fn of(pods: &IdVec<InventoryPodId, Pod<'d>>) -> Self {
        let mut all = Self {
            sets: IdVec::default(),
            by_labels: BTreeMap::new(),
            first_pod: BTreeMap::new(),
            frequency: BTreeMap::new(),
        };
        for (id, pod) in pods.enumerate() {
            let (namespace, labels) = (pod.object().namespace(), labels_of(pod.metadata().label_map()));
            let set = *all.by_labels.entry((namespace, labels)).or_insert_with_key(|(_, labels)| {
                for (key, value) in labels {
                    *all.frequency.entry((namespace, *key, *value)).or_default() += 1;
                }
                all.sets.push(LabelSet::default())
            });
            all.first_pod.entry(ObjectPlace::of(pod.object())).or_insert(set);
            if let Some(set) = all.sets.get_mut(set) {
                set.pods.push(id);
                if set.first_evictable.is_none() && !tolerates_disruption(*pod) {
                    set.first_evictable = Some(id);
                }
            }
        }
        all
    }
}

/// Index of selectors, so that labels are compared only with the selectors that name one of them.
#[derive(Default)]
struct SelectorIndex<'d> {
    /// The selectors with labels, by namespace and the rarest of the labels.
    by_label: BTreeMap<(&'d str, &'d str, &'d str), Vec<SelectorId>>,
    /// The selectors without labels, by namespace.
    others: BTreeMap<&'d str, Vec<SelectorId>>,
}

impl<'d> SelectorIndex<'d> {
    fn add(
        &mut self,
        id: SelectorId,
        budget: PodDisruptionBudget<'d>,
        frequency: &BTreeMap<(&'d str, &'d str, &'d str), usize>,
    ) {
        let namespace = budget.object().namespace();
        let labels = labels_of(budget.selector().and_then(|selector| selector.get("matchLabels")));
        let labels = labels.into_iter().map(|(key, value)| (namespace, key, value));
        match labels.min_by_key(|label| frequency.get(label).copied().unwrap_or_default()) {
            Some(label) => self.by_label.entry(label).or_default().push(id),
            None => self.others.entry(namespace).or_default().push(id),
        }
    }

    /// The selectors to compare with some labels.
    fn candidates(&self, namespace: &'d str, labels: &Labels<'d>) -> Vec<SelectorId> {
        let by_label = labels.iter().filter_map(|(key, value)| self.by_label.get(&(namespace, *key, *value)));
        by_label.chain(self.others.get(namespace)).flatten().copied().collect()
    }
}
