//! Result of matching a pod against the NodePools.

use manifest::tree::Node;
use objects::object::Object;

use crate::taints::PoolTaint;

/// Result of matching a pod against every NodePool.
#[derive(Debug)]
pub enum Verdict<'d> {
    /// A NodePool can launch a node for the pod, or the answer is unknown.
    Fits,
    /// No NodePool can.
    Unschedulable(Box<Unschedulable<'d>>),
}

/// Reasons for which no NodePool can launch a node for a pod.
#[derive(Debug)]
pub struct Unschedulable<'d> {
    /// A NodePool that the pod selects, with a taint that the pod does not tolerate. Set only if every NodePool that the pod
    /// selects has such a taint.
    pub untolerated: Option<(Object<'d>, PoolTaint<'d>, Node<'d>)>,
    /// The first reason of each of the first NodePools.
    pub reasons: Vec<(Object<'d>, Rejection<'d>)>,
    /// The number of NodePools without a reason here.
    pub others: usize,
}

/// Reason for which a NodePool can launch no node for a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection<'d> {
    /// The pod does not tolerate a taint.
    Taint(PoolTaint<'d>, Node<'d>),
    /// The pod needs a label that the NodePool does not set.
    Undefined(&'d str),
    /// The pod needs another value of a label than the NodePool has.
    Conflict(&'d str),
}
