//! Node of the cluster as kube-scheduler sees it.
//!
//! Source: the plugins `NodeAffinity`, `TaintToleration`, `NodeUnschedulable`, `NodeResourcesFit`, `NodePorts`, `NodeVolumeLimits`
//! and `VolumeBinding` in pkg/scheduler/framework/plugins of kubernetes/kubernetes at v1.33.0.

use std::rc::Rc;

use super::super::host_ports::HostPortUsage;
use super::super::resources::Resources;
use super::super::shape::PodShape;
use super::super::volumes::{AttachedVolume, VolumeUsage};
use super::super::world::Base;
use super::score::Extra;
use crate::demand::Demand;
use crate::requirements::{Requirement, Requirements};
use crate::taints::PoolTaint;
use crate::template::check_taints;

/// Node of the cluster with its pods.
pub(super) struct BindingNode<'d> {
    /// Whether the node takes pods: it is not being deleted.
    takes_pods: bool,
    /// The position among the existing nodes.
    pub(super) position: usize,
    /// The name.
    name: &'d str,
    /// The labels.
    pub(super) labels: Requirements<'d>,
    /// The taints that keep pods away.
    pub(super) hard_taints: Vec<PoolTaint<'d>>,
    /// The taints that are preferences.
    pub(super) soft_taints: Vec<PoolTaint<'d>>,
    /// The allocatable resources.
    pub(super) allocatable: Resources,
    /// The resources that are left.
    pub(super) available: Resources,
    /// The resources that the score counts for pods without requests.
    pub(super) extra: Extra,
    /// The pods, and whether each is being deleted.
    pub(super) pods: Vec<(Rc<PodShape<'d>>, bool)>,
    ports: HostPortUsage<'d>,
    volumes: VolumeUsage<'d>,
}

impl<'d> BindingNode<'d> {
    /// The nodes that have joined the cluster, by name.
    pub(super) fn all(base: &Base<'d>) -> Vec<Self> {
        let joined = base.nodes.iter().enumerate().filter(|(_, one)| one.node.origin.has_joined());
        let mut all: Vec<Self> = joined
            .map(|(position, one)| {
                let node = &one.node;
                let (soft_taints, hard_taints) =
                    node.own.taints.iter().copied().partition(|taint| taint.effect == "PreferNoSchedule");
                let pods = one.pods.iter().filter(|pod| !base.absence.has(pod));
                let pods: Vec<_> = pods.map(|pod| (Rc::clone(&pod.shape), pod.is_terminating())).collect();
                Self {
                    takes_pods: !base.absence.nodes.contains(node.name),
                    position,
                    name: node.name,
                    labels: node.own.labels.clone(),
                    hard_taints,
                    soft_taints,
                    allocatable: node.allocatable.clone(),
                    available: node.available.clone(),
                    extra: pods.iter().map(|(pod, _)| Extra::of(pod)).sum(),
                    pods,
                    ports: node.ports.clone(),
                    volumes: node.volumes.clone(),
                }
            })
            .collect();
        all.sort_by_key(|node| node.name);
        all
    }

    /// Whether the labels and the taints of the node accept a pod.
    pub(super) fn accepts(&self, shape: &PodShape<'d>) -> bool {
        self.takes_pods
            && check_taints(&self.hard_taints, &shape.demand.tolerations).is_ok()
            && self.is_selected_by(&shape.demand)
            && (shape.volumes.is_empty()
                || shape
                    .volumes
                    .iter()
                    .any(|volume| volume.iter().all(|(key, asked)| self.meets(key, asked))))
    }

    /// Whether the node meets the node selector and one of the required terms. A term without expressions meets no node.
    fn is_selected_by(&self, demand: &Demand<'d>) -> bool {
        let meets =
            |term: &[(&'d str, Requirement<'d>)]| term.iter().all(|(key, asked)| self.meets(key, asked));
        meets(&demand.node_selector)
            && (demand.required_terms.is_empty()
                || demand.required_terms.iter().any(|term| !term.is_empty() && meets(term)))
    }

    /// Whether the node has a label as asked.
    pub(super) fn meets(&self, key: &'d str, asked: &Requirement<'d>) -> bool {
        match self.value(karpenter::labels::normalised(key)) {
            Some(value) => asked.has(value),
            None => asked.is_negative(),
        }
    }

    /// The value of a label.
    pub(super) fn value(&self, key: &str) -> Option<&'d str> {
        self.labels.get(key)?.named_values().next()
    }

    /// Whether the node has the resources and the host ports that a pod asks for. Once it has not, it never has again.
    pub(super) fn has_room(&self, shape: &PodShape<'d>) -> bool {
        let fits =
            shape.requests.iter().all(|(id, amount)| amount.is_zero() || amount <= self.available.get(id));
        fits && self.ports.conflict(&shape.ports).is_none()
    }

    /// Whether the node can attach volumes.
    pub(super) fn has_volumes(&self, volumes: &[AttachedVolume<'d>]) -> bool {
        !self.volumes.is_exceeded_by(volumes)
    }

    /// Lets a pod run on the node.
    pub(super) fn add(&mut self, shape: &Rc<PodShape<'d>>, volumes: &[AttachedVolume<'d>]) {
        for (id, amount) in shape.requests.iter() {
            self.available.set(id, self.available.get(id).minus(amount));
        }
        self.extra = self.extra.plus(Extra::of(shape));
        self.ports.add(&shape.ports);
        self.volumes.add(volumes);
        self.pods.push((Rc::clone(shape), false));
    }
}
