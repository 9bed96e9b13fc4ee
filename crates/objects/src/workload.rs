//! Fields that Deployments and the other workload controllers have in common.

use manifest::tree::{Children, Node, items_of};

use crate::object::Object;

/// View of a controller that makes pods.
#[derive(Clone, Copy, Debug)]
pub struct Workload<'d>(Object<'d>);

impl<'d> Workload<'d> {
    /// The object as a workload, whatever its kind.
    pub fn of(object: Object<'d>) -> Self {
        Self(object)
    }

    /// `spec.replicas`.
    pub fn replicas(self) -> Option<Node<'d>> {
        self.0.spec()?.get("replicas")
    }

    /// `spec.selector`. A patch has none, and the API server refuses a whole object without it.
    pub fn selector(self) -> Option<Node<'d>> {
        self.0.spec()?.get("selector")
    }

    /// The items of a StatefulSet's `spec.volumeClaimTemplates`.
    pub fn volume_claim_templates(self) -> Children<'d> {
        items_of(self.0.spec().and_then(|spec| spec.get("volumeClaimTemplates")))
    }
}
