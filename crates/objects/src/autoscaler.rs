//! HorizontalPodAutoscalers.

use karpenter::kind::Kind;
use manifest::tree::Node;

use crate::object::Object;

/// View of a HorizontalPodAutoscaler.
#[derive(Clone, Copy, Debug)]
pub struct HorizontalPodAutoscaler<'d>(Object<'d>);

impl<'d> HorizontalPodAutoscaler<'d> {
    /// The object as a HorizontalPodAutoscaler, where it is one.
    pub fn of(object: Object<'d>) -> Option<Self> {
        object.is_in_any_version(Kind::HORIZONTAL_POD_AUTOSCALER).then_some(Self(object))
    }

    /// The object.
    pub fn object(self) -> Object<'d> {
        self.0
    }

    /// `spec.scaleTargetRef`: the kind and the name of the workload.
    pub fn scale_target(self) -> Option<Node<'d>> {
        self.0.spec()?.get("scaleTargetRef")
    }

    /// `spec.minReplicas`.
    pub fn min_replicas(self) -> Option<Node<'d>> {
        self.0.spec()?.get("minReplicas")
    }

    /// `spec.maxReplicas`.
    pub fn max_replicas(self) -> Option<Node<'d>> {
        self.0.spec()?.get("maxReplicas")
    }
}
