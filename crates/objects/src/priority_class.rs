//! PriorityClasses.

use karpenter::kind::Kind;
use manifest::tree::Node;

use crate::object::Object;

/// View of a PriorityClass.
#[derive(Clone, Copy, Debug)]
pub struct PriorityClass<'d>(Object<'d>);

impl<'d> PriorityClass<'d> {
    /// The object as a PriorityClass, where it is one.
    pub fn of(object: Object<'d>) -> Option<Self> {
        object.is_in_any_version(Kind::PRIORITY_CLASS).then_some(Self(object))
    }

    /// The object.
    pub fn object(self) -> Object<'d> {
        self.0
    }

    /// `value`: the priority of the pods that name the class.
    pub fn value(self) -> Option<Node<'d>> {
        self.0.root().get("value")
    }

    /// Whether pods that name no class get this class.
    pub fn is_global_default(self) -> bool {
        self.0.root().get("globalDefault").and_then(Node::as_bool) == Some(true)
    }
}
