//! Rules of the Prometheus operator.

use manifest::tree::{Node, items_of};

use crate::object::Object;

/// View of a `PrometheusRule`.
#[derive(Clone, Copy, Debug)]
pub struct PrometheusRule<'d>(Object<'d>);

impl<'d> PrometheusRule<'d> {
    /// The object as a `PrometheusRule`, or as a kind of the same shape.
    pub fn of(object: Object<'d>) -> Self {
        Self(object)
    }

    /// `expr` of every rule of every group.
    pub fn expressions(self) -> impl Iterator<Item = Node<'d>> {
        let groups = items_of(self.0.spec().and_then(|spec| spec.get("groups")));
        groups.flat_map(|group| items_of(group.get("rules"))).filter_map(|rule| rule.get("expr"))
    }
}
