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
/// once. A selector is compared only with pods that have a label which it requires, and the pods that it matches are not kept: many
/// budgets may match nearly all pods.
#[derive(Debug)]
pub(crate) struct PodDisruptionBudgets<'d> {
    /// The budgets in the order of the input.
    budgets: IdVec<PodBudgetId, PodDisruptionBudget<'d>>,
    selectors: IdVec<SelectorId, Selecting<'d>>,
    sets: IdVec<LabelSetId, LabelSet<'d>>,
    postings: Postings<'d>,
    by_place: BTreeMap<ObjectPlace<'d>, SelectorId>,
    /// The labels of the first pod of each object.
    first_pod: BTreeMap<ObjectPlace<'d>, LabelSetId>,
    /// The least number of pods of each workload that has an autoscaler.
    autoscaled: BTreeMap<WorkloadName<'d>, Option<LeastReplicas<'d>>>,
}

/// Selector of PodDisruptionBudgets of a namespace.
#[derive(Debug)]
struct Selecting<'d> {
    namespace: &'d str,
    selector: Option<LabelSelector<'d>>,
}

/// Labels of pods of a namespace.
#[derive(Debug)]
struct LabelSet<'d> {
    labels: Labels<'d>,
    pods: Vec<InventoryPodId>,
    /// The first pod that Karpenter evicts.
    first_evictable: Option<InventoryPodId>,
    /// The number of pods that the workloads with these labels run together.
    replicas: SelectedReplicas<'d>,
    /// The first budget that selects the pods.
    first_budget: Option<PodBudgetId>,
}

/// The sets of labels in the order of their first pods, by namespace and a label; without a value by the key of a label, and
/// without a key all of the namespace.
type Postings<'d> = BTreeMap<PostingKey<'d>, Vec<LabelSetId>>;

/// Namespace, key and value.
type PostingKey<'d> = (&'d str, Option<&'d str>, Option<&'d str>);

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
        match (self, other) {
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::None, one) | (one, Self::None) => one,
            _ => Self::Several(self.number().saturating_add(other.number())),
        }
    }

    fn number(self) -> i64 {
        match self {
            Self::One(least) => least.number,
            Self::Several(number) => number,
            Self::None | Self::Unknown => 0,
        }
    }
}

impl<'d> PodDisruptionBudgets<'d> {
    fn new(objects: &[Object<'d>], pods: &IdVec<InventoryPodId, Pod<'d>>) -> Self {
        let LabelledPods { sets, postings, first_pod, .. } = LabelledPods::of(pods);
        let mut all = Self {
            budgets: objects.iter().copied().filter_map(PodDisruptionBudget::of).collect(),
            selectors: IdVec::default(),
            sets,
            postings,
            by_place: BTreeMap::new(),
            first_pod,
            autoscaled: objects.iter().filter_map(|object| autoscaled(*object)).collect(),
        };
        all.count_replicas(pods);
        let mut known: BTreeMap<(&str, Option<LabelSelector<'d>>), SelectorId> = BTreeMap::new();
        // Without the sets that a budget selects already: only the first budget of a set counts.
        let mut open = all.postings.clone();
        let budgets: Vec<_> = all.budgets.enumerate().map(|(id, budget)| (id, *budget)).collect();
        for (first, budget) in budgets {
            let (namespace, selector) =
                (budget.object().namespace(), LabelSelector::parse(budget.selector()));
            let id = *known.entry((namespace, selector)).or_insert_with_key(|(_, selector)| {
                if let Some(selector) = selector {
                    all.select(first, namespace, selector, &mut open);
                }
                all.selectors.push(Selecting { namespace, selector: selector.clone() })
            });
            all.by_place.insert(ObjectPlace::of(budget.object()), id);
        }
        all
    }

    fn count_replicas(&mut self, pods: &IdVec<InventoryPodId, Pod<'d>>) {
        let replicas_of = |set: &LabelSet<'d>| {
            let one = set.pods.iter().filter_map(|id| pods.get(*id)).map(|pod| self.replicas_of_pod(*pod));
            one.fold(SelectedReplicas::None, SelectedReplicas::and)
        };
        let replicas: Vec<_> = self.sets.iter().map(replicas_of).collect();
        for (set, replicas) in self.sets.iter_mut().zip(replicas) {
            set.replicas = replicas;
        }
    }

    /// Makes a budget the first one of the sets that its selector matches, among those that no budget selects yet.
    fn select(
        &mut self,
        budget: PodBudgetId,
        namespace: &'d str,
        selector: &LabelSelector<'d>,
        open: &mut Postings<'d>,
    ) {
        for key in narrowest(&self.postings, namespace, selector) {
            let Some(sets) = open.get_mut(&key) else { continue };
            sets.retain(|id| {
                let Some(set) = self.sets.get_mut(*id) else { return false };
                if set.first_budget.is_none() && selector.matches(&set.labels) {
                    set.first_budget = Some(budget);
                }
                set.first_budget.is_none()
            });
        }
    }

    /// The sets of labels that a PodDisruptionBudget selects: those with the same value of a label in the order of their first pods.
    fn selected(&self, budget: Object<'d>) -> impl Iterator<Item = &LabelSet<'d>> {
        let selecting = self.selecting(budget);
        let selecting = selecting.and_then(|found| Some((found.namespace, found.selector.as_ref()?)));
        selecting.into_iter().flat_map(|(namespace, selector)| {
            let keys = narrowest(&self.postings, namespace, selector);
            let candidates = keys.into_iter().filter_map(|key| self.postings.get(&key)).flatten();
            let sets = candidates.filter_map(|id| self.sets.get(*id));
            sets.filter(|set| selector.matches(&set.labels))
        })
    }

    fn selecting(&self, budget: Object<'d>) -> Option<&Selecting<'d>> {
        self.by_place.get(&ObjectPlace::of(budget)).and_then(|id| self.selectors.get(*id))
    }

    /// Whether a PodDisruptionBudget selects any pod.
    pub(crate) fn selects_any(&self, budget: Object<'d>) -> bool {
        self.selected(budget).next().is_some()
    }

    /// Whether a PodDisruptionBudget selects pods, and Karpenter evicts none of them: the budget does not delay Karpenter.
    pub(crate) fn selects_only_tolerating(&self, budget: Object<'d>) -> bool {
        let mut sets = self.selected(budget).peekable();
        sets.peek().is_some() && sets.all(|set| set.first_evictable.is_none())
    }

    /// The least number of pods that the workloads of a PodDisruptionBudget run together; beyond `most` the number of only some of the
    /// workloads.
    pub(crate) fn replicas(&self, budget: Object<'d>, most: i64) -> SelectedReplicas<'d> {
        let mut all = SelectedReplicas::None;
        for set in self.selected(budget) {
            all = all.and(set.replicas);
            if all == SelectedReplicas::Unknown || all.number() > most {
                break;
            }
        }
        all
    }

    /// For each set of labels that a PodDisruptionBudget selects, the first pod with these labels that Karpenter evicts and the first
    /// budget that selects it.
    pub(crate) fn first_budgets(
        &self,
        budget: Object<'d>,
    ) -> impl Iterator<Item = (InventoryPodId, PodDisruptionBudget<'d>)> {
        self.selected(budget)
            .filter_map(|set| Some((set.first_evictable?, *self.budgets.get(set.first_budget?)?)))
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
#[derive(Default)]
struct LabelledPods<'d> {
    /// The sets of labels in the order of their first pods.
    sets: IdVec<LabelSetId, LabelSet<'d>>,
    /// The sets by namespace and labels.
    by_labels: BTreeMap<(&'d str, Labels<'d>), LabelSetId>,
    postings: Postings<'d>,
    first_pod: BTreeMap<ObjectPlace<'d>, LabelSetId>,
}

impl<'d> LabelledPods<'d> {
    fn of(pods: &IdVec<InventoryPodId, Pod<'d>>) -> Self {
        let mut all = Self::default();
        for (id, pod) in pods.enumerate() {
            let (namespace, labels) = (pod.object().namespace(), labels_of(pod.metadata().label_map()));
            let set = *all.by_labels.entry((namespace, labels)).or_insert_with_key(|(_, labels)| {
                let labels = labels.clone();
                let keys =
                    labels.iter().flat_map(|(key, value)| [(Some(*key), None), (Some(*key), Some(*value))]);
                let keys: Vec<_> = keys.chain([(None, None)]).collect();
                let replicas = SelectedReplicas::None;
                let set = all.sets.push(LabelSet {
                    labels,
                    pods: Vec::new(),
                    first_evictable: None,
                    replicas,
                    first_budget: None,
                });
                for (key, value) in keys {
                    all.postings.entry((namespace, key, value)).or_default().push(set);
                }
                set
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

/// The postings with every set that a selector matches: those of the label that the fewest sets have, of the labels that the selector
/// requires. No set is in two of them.
fn narrowest<'d>(
    postings: &Postings<'d>,
    namespace: &'d str,
    selector: &LabelSelector<'d>,
) -> Vec<PostingKey<'d>> {
    let required = selector.required_labels().map(|(key, values)| match values {
        Some(values) => values.into_iter().map(|value| (namespace, Some(key), Some(value))).collect(),
        None => vec![(namespace, Some(key), None)],
    });
    let size = |keys: &Vec<PostingKey<'d>>| -> usize {
        keys.iter().filter_map(|key| postings.get(key)).map(Vec::len).sum()
    };
    required.min_by_key(size).unwrap_or_else(|| vec![(namespace, None, None)])
}
