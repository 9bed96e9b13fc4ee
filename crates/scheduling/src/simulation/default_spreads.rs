//! Topology spread constraints of pods that have none.
//!
//! Source: kubernetes-sigs/karpenter#3205, which deduces the selector as kube-scheduler does: `DefaultSelector` in
//! pkg/scheduler/framework/plugins/helper/spread.go of kubernetes/kubernetes at 2e09081. `ReplicationControllers` are left out.

use objects::object::Object;

use super::behaviour::SchedulerBehaviour;
use super::selector::{LabelSelector, Labels, labels_of, namespace_of};
use super::settings::{DefaultSpread, SimulationSettings};
use super::shape::{PodShape, Spread};
use super::workloads::InputPod;
use crate::scalar::text_or_empty;
use manifest::tree::items_of;

/// Topology spread constraints of pods that have none, and the objects that select these pods.
#[derive(Debug)]
pub(crate) struct DefaultSpreads<'d> {
    spreads: &'d [DefaultSpread],
    /// The selectors of Services, with their namespaces.
    services: Vec<(&'d str, Labels<'d>)>,
    /// `ReplicaSets` and `StatefulSets`, which own pods of the input.
    owners: Vec<Object<'d>>,
}

impl<'d> DefaultSpreads<'d> {
    /// The constraints of the settings among objects.
    pub(crate) fn of(objects: &[Object<'d>], settings: &'d SimulationSettings) -> Self {
        let holds = SchedulerBehaviour::DEFAULT_SPREADS.holds_in(settings.release);
        let spreads = if holds { settings.default_spreads.as_slice() } else { &[] };
        let used = || objects.iter().copied().filter(|_| !spreads.is_empty());
        let services = used().filter(|object| object.kind() == "Service");
        let selector = |service: Object<'d>| {
            let labels = labels_of(service.at(&["spec", "selector"]));
            (!labels.is_empty()).then(|| (namespace_of(service), labels))
        };
        let is_owner = |object: &Object<'d>| matches!(object.kind(), "ReplicaSet" | "StatefulSet");
        Self {
            spreads,
            services: services.filter_map(selector).collect(),
            owners: used().filter(is_owner).collect(),
        }
    }

    /// Adds the constraints to a pod that has none and that an object selects.
    pub(crate) fn add_to(&self, shape: &mut PodShape<'d>, pod: &InputPod<'d>) {
        if self.spreads.is_empty() || !shape.spreads.is_empty() {
            return;
        }
        let selector = self.selector(shape, pod);
        if selector.is_empty() {
            return;
        }
        shape.spreads.extend(self.spreads.iter().map(|spread| Spread {
            key: &spread.key,
            max_skew: spread.max_skew,
            min_domains: None,
            is_preference: spread.is_preference,
            selector: Some(selector.clone()),
            honors_taints: false,
            honors_affinity: true,
        }));
    }

    /// The selector of the Services that select the pod, and of its owner.
    fn selector(&self, shape: &PodShape<'d>, pod: &InputPod<'d>) -> LabelSelector<'d> {
        let mut labels = Labels::new();
        for (namespace, selector) in &self.services {
            let selects = selector.iter().all(|(key, value)| shape.labels.get(key) == Some(value));
            if selects && *namespace == shape.namespace {
                labels.extend(selector);
            }
        }
        let mut all = LabelSelector::of_labels(labels);
        let object = pod.pod.object();
        let owner = match object.kind() {
            "Pod" => self.owner(object),
            "Deployment" | "ReplicaSet" | "StatefulSet" => Some(object),
            _ => None,
        };
        let of_owner = owner.and_then(|owner| LabelSelector::parse(owner.at(&["spec", "selector"])));
        if let Some(of_owner) = of_owner {
            all.extend(of_owner);
            if object.kind() == "Deployment" {
                all.add("pod-template-hash", object.name(), true);
            }
        }
        all
    }

    fn owner(&self, pod: Object<'d>) -> Option<Object<'d>> {
        let owners = items_of(pod.metadata().owner_references());
        let mut names =
            owners.map(|owner| (text_or_empty(owner.get("kind")), text_or_empty(owner.get("name"))));
        names.find_map(|(kind, name)| {
            let is_owner = |object: &&Object<'d>| {
                object.kind() == kind && object.name() == name && namespace_of(**object) == namespace_of(pod)
            };
            self.owners.iter().find(is_owner).copied()
        })
    }
}
