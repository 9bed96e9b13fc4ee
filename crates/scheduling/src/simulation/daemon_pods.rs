//! The pods by which Karpenter measures `DaemonSets`: the newest pod of each, or its template if it has none.
//!
//! Source: `UpdateDaemonSet` in pkg/controllers/state/cluster.go and `getDaemonSetPods` in
//! pkg/controllers/provisioning/provisioner.go of kubernetes-sigs/karpenter, alike at v1.0.0 and v1.14.1.

use std::collections::BTreeMap;

use manifest::tree::{Node, items_of};
use objects::object::Object;
use objects::pod::Pod;

use super::selector::namespace_of;
use super::workloads::InputPod;
use crate::scalar::text_or_empty;

/// Namespace and name of a DaemonSet.
type DaemonSetKey<'d> = (&'d str, &'d str);

/// The newest pod of each DaemonSet.
#[derive(Debug, Default)]
pub(super) struct NewestPods<'d>(BTreeMap<DaemonSetKey<'d>, Controlled<'d>>);

/// Pod with the UID of its controller.
#[derive(Clone, Copy, Debug)]
struct Controlled<'d> {
    pod: Pod<'d>,
    created: &'d str,
    uid: &'d str,
}

impl<'d> NewestPods<'d> {
    /// The pods among objects.
    pub(super) fn of(objects: &[Object<'d>]) -> Self {
        let mut newest = Self::default();
        for object in objects.iter().filter(|object| object.kind() == "Pod") {
            let Some(pod) = Pod::of(*object) else { continue };
            let Some(owner) = controller(*object) else { continue };
            let key = (namespace_of(*object), text_or_empty(owner.get("name")));
            let created = text_or_empty(object.at(&["metadata", "creationTimestamp"]));
            let one = Controlled { pod, created, uid: text_or_empty(owner.get("uid")) };
            // Times of the API server sort as text.
            if newest.0.get(&key).is_none_or(|present| present.created < created) {
                newest.0.insert(key, one);
            }
        }
        newest
    }

    /// The newest pod of a DaemonSet. Objects that an author writes may lack UIDs.
    pub(super) fn of_template(&self, template: &InputPod<'d>) -> Option<InputPod<'d>> {
        let set = template.pod.object();
        let one = self.0.get(&(template.namespace, set.name()))?;
        let uid = text_or_empty(set.at(&["metadata", "uid"]));
        let is_same = uid.is_empty() || one.uid.is_empty() || uid == one.uid;
        is_same.then(|| InputPod::new(one.pod, template.namespace, one.pod.object().name().to_owned()))
    }
}

/// The reference to the DaemonSet that controls a pod.
fn controller(pod: Object<'_>) -> Option<Node<'_>> {
    items_of(pod.metadata().owner_references()).find(|owner| {
        owner.str_at(&["kind"]) == Some("DaemonSet")
            && owner.get("controller").and_then(Node::as_bool) != Some(false)
    })
}
