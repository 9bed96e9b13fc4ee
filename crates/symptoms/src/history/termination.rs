//! VolumeAttachments, which keep Nodes, and the setting of node repair.

use super::{FEW, History, Record, put_few};
use crate::entry::{At, Entry, Time};
use ::objects::controller::Controller;
use ::objects::feature_gates::FeatureGates;
use ::objects::object::Object;
use karpenter::labels;
use manifest::tree::Node;

/// Bound on the number of Nodes.
const MAX_NODES: usize = 20_000;

/// Bound on the number of VolumeAttachments of a Node: no instance type takes more volumes.
const MAX_ATTACHMENTS: usize = 128;

/// A VolumeAttachment.
#[derive(Clone, Debug)]
pub struct Attachment {
    /// Its name.
    pub name: Box<str>,
    /// The PersistentVolume; may be empty.
    pub volume: Box<str>,
    /// Whether it is being deleted, so that the driver has to detach the volume.
    pub is_deleting: bool,
    /// The error of the last try to detach the volume; may be empty.
    pub error: Box<str>,
    /// The object.
    pub record: Record,
}

/// The setting of node repair that the input shows.
#[derive(Clone, Copy, Debug, Default)]
pub struct RepairSetting {
    /// Whether the input has the settings of a controller.
    pub is_known: bool,
    /// Whether the feature gate `NodeRepair` is on. It is off by default in every release.
    pub is_on: bool,
    /// Whether `legacyNodeRepair` keeps the node repair of 1.14.
    pub is_legacy: bool,
}

impl RepairSetting {
    /// Reads the values of the chart, or the Deployment of the controller.
    pub(super) fn observe(&mut self, object: Object<'_>) {
        let controllers: Vec<_> = Controller::of(object).into_iter().collect();
        let is_holder = !controllers.is_empty() || ::objects::chart_values::of(object).is_some();
        if !is_holder {
            return;
        }
        let gates = FeatureGates::of(&[object], &controllers);
        self.is_known = true;
        self.is_on |= gates.get("NodeRepair") == Some(true);
        self.is_legacy |= gates.is_node_repair_legacy();
    }
}

impl History {
    /// Keeps the last time that an object shows.
    pub(super) fn see_times(&mut self, object: Object<'_>) {
        let mut see = |node: Option<Node<'_>>| {
            let time = node.and_then(Node::as_str).and_then(Time::parse);
            self.latest = self.latest.max(time);
        };
        see(object.at(&["metadata", "creationTimestamp"]));
        // A deletion is dated at the end of the grace period, so that it may lie ahead.
        let conditions = object.at(&["status", "conditions"]).into_iter().flat_map(Node::items);
        for condition in conditions {
            see(condition.get("lastTransitionTime"));
            see(condition.get("lastHeartbeatTime"));
        }
        if object.kind() == "Lease" {
            see(object.at(&["spec", "renewTime"]));
        }
    }

    pub(super) fn node_of_pool(&mut self, object: Object<'_>) {
        if self.pools_of_nodes.len() >= MAX_NODES {
            return;
        }
        let pool = object.str_at(&["metadata", "labels", labels::NODEPOOL]).unwrap_or_default();
        self.pools_of_nodes.insert(object.name().into(), pool.into());
        if object.str_at(&["metadata", "labels", "karpenter.sh/initialized"]) == Some("true") {
            self.initialized_nodes.insert(object.name().into());
        }
        if object.str_at(&["metadata", "annotations", DO_NOT_REPAIR]) == Some("true")
            && self.unrepairable.len() < FEW
        {
            self.unrepairable.insert(object.name().into());
        }
    }

    /// A row of `kubectl get nodes -L karpenter.sh/nodepool`.
    pub(super) fn row_of_node(&mut self, entry: &Entry<'_>) {
        if let Some(pool) = entry.fields.text("NODEPOOL")
            && self.pools_of_nodes.len() < MAX_NODES
        {
            self.pools_of_nodes.insert((&*entry.object.name).into(), (&*pool).into());
        }
    }

    /// Source: `VolumeAttachment` in staging/src/k8s.io/api/storage/v1/types.go of kubernetes/kubernetes at v1.33.0.
    pub(super) fn attachment_object(&mut self, object: Object<'_>, at: At) {
        let text = |path: &[&str]| object.str_at(path).unwrap_or_default();
        let node = text(&["spec", "nodeName"]);
        if node.is_empty() || !put_few(&mut self.attachments, node, Vec::new) {
            return;
        }
        let Some(attachments) = self.attachments.get_mut(node) else { return };
        if attachments.len() >= MAX_ATTACHMENTS {
            return;
        }
        let volume = text(&["spec", "source", "persistentVolumeName"]);
        let error = text(&["status", "detachError", "message"]);
        let is_deleting = object.at(&["metadata", "deletionTimestamp"]).is_some();
        let state = if is_deleting { ", being deleted" } else { "" };
        let failed = if error.is_empty() { String::new() } else { format!(": {error}") };
        let quote =
            format!("VolumeAttachment {} of the volume {volume} on {node}{state}{failed}", object.name());
        attachments.push(Attachment {
            name: object.name().into(),
            volume: volume.into(),
            is_deleting,
            error: error.into(),
            record: Record::new(None, at, &quote),
        });
    }
}

/// The annotation with which node repair leaves a Node alone from 1.15 on. Source: pkg/controllers/disruption/repair.go of
/// kubernetes-sigs/karpenter at 120c77e.
const DO_NOT_REPAIR: &str = "karpenter.sh/do-not-repair";
