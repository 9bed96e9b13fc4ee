//! NodeOverlays.

use karpenter::kind::Kind;
use manifest::tree::Node;

use crate::object::Object;
use crate::requirement::RequirementList;

/// View of a NodeOverlay.
#[derive(Clone, Copy, Debug)]
pub struct NodeOverlay<'d>(Object<'d>);

impl<'d> NodeOverlay<'d> {
    /// The object as a NodeOverlay, where it is one.
    pub fn of(object: Object<'d>) -> Option<Self> {
        object.is_in_any_version(Kind::NODE_OVERLAY).then_some(Self(object))
    }

    /// The object.
    pub fn object(self) -> Object<'d> {
        self.0
    }

    /// `spec.requirements`.
    pub fn requirements(self) -> RequirementList<'d> {
        RequirementList::new(self.0.spec().and_then(|spec| spec.get("requirements")))
    }

    /// `spec.weight`.
    pub fn weight(self) -> Option<Node<'d>> {
        self.0.spec()?.get("weight")
    }

    /// `spec.capacity`.
    pub fn capacity(self) -> Option<Node<'d>> {
        self.0.spec()?.get("capacity")
    }

    /// `spec.price`, or else `spec.priceAdjustment`.
    pub fn price(self) -> Option<Node<'d>> {
        let spec = self.0.spec()?;
        spec.get("price").or_else(|| spec.get("priceAdjustment"))
    }
}
