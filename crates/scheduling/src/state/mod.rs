//! Pods and nodes of a cluster as both the provisioner and the disruption controllers look at them: which nodes go, and which of their
//! pods need a place elsewhere.
//!
//! Source: pkg/controllers/state/statenode.go, pkg/utils/pod/scheduling.go and pkg/utils/pdb/pdb.go of kubernetes-sigs/karpenter at
//! v1.14.1.

mod behaviour;
mod pod;
mod pod_budgets;

use manifest::tree::items_of;
use objects::object::Object;

pub use behaviour::StateBehaviour;
pub use pod::{ClusterPod, DISRUPTED, Protection, StateObjectId, tolerates_disruption};
pub use pod_budgets::{BlockingBudgets, PodBudgets};

/// Whether an object is being deleted.
pub fn is_terminating(object: Object<'_>) -> bool {
    object.at(&["metadata", "deletionTimestamp"]).is_some()
}

/// Whether a node goes: its NodeClaim is being deleted, or its instance terminates. Without a NodeClaim, the Node itself is being deleted
/// (`Deleted`).
pub fn is_deleted(node: Option<Object<'_>>, claim: Option<Object<'_>>) -> bool {
    match claim {
        Some(claim) => is_terminating(claim) || instance_terminates(claim),
        None => node.is_some_and(is_terminating),
    }
}

fn instance_terminates(claim: Object<'_>) -> bool {
    items_of(claim.at(&["status", "conditions"])).any(|condition| {
        condition.str_at(&["type"]) == Some("InstanceTerminating")
            && condition.str_at(&["status"]) == Some("True")
    })
}
