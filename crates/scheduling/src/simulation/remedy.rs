//! Changes of a pod or of a NodePool with which the pod may get a place.

use std::rc::Rc;

use karpenter::labels;
use objects::object::Object;
use values::quantity::Quantity;

use super::pool::Pool;
use super::resources::ResourceNames;
use super::shape::{AffinityTerm, PodShape};
use crate::demand::Term;
use crate::requirements::Requirement;
use crate::taints::{PoolTaint, Toleration};

/// Change of a pod or of a NodePool.
#[derive(Clone, Debug, PartialEq)]
pub enum Remedy<'d> {
    /// The pod tolerates a taint.
    Tolerate(PoolTaint<'d>),
    /// The pod asks for a value of a label.
    AskValue {
        /// The label.
        key: &'d str,
        /// The value.
        value: &'d str,
    },
    /// The pod asks for a value of another label.
    ReplaceLabel {
        /// The present label.
        from: &'d str,
        /// The new label.
        to: &'static str,
        /// The value of the new label.
        value: &'d str,
    },
    /// The pod does not ask for a label.
    DropLabel(&'d str),
    /// The pod requests at most these amounts.
    Request(Vec<(&'d str, Quantity)>),
    /// The constraint on one label is on another label.
    RenameTopology {
        /// The present `topologyKey`.
        from: &'d str,
        /// The new `topologyKey`.
        to: &'static str,
    },
    /// The pod does not use a host port.
    FreePort(i64),
    /// A requirement of the NodePool accepts a value.
    AllowValue {
        /// The NodePool.
        pool: Object<'d>,
        /// The label.
        key: &'d str,
        /// The value.
        value: &'d str,
    },
    /// The nodes of the NodePool get a label.
    AddLabel {
        /// The NodePool.
        pool: Object<'d>,
        /// The label.
        key: &'d str,
        /// The value.
        value: &'d str,
    },
    /// A requirement of the NodePool has a lower `minValues`.
    LowerMinValues {
        /// The NodePool.
        pool: Object<'d>,
        /// The label.
        key: &'d str,
        /// The new number.
        to: i64,
    },
    /// The NodePool has a higher limit of a resource.
    RaiseLimit {
        /// The NodePool.
        pool: Object<'d>,
        /// The resource.
        resource: &'d str,
    },
}

/// Changes that are made together.
#[derive(Clone, Debug)]
pub(super) struct ProposedChange<'d> {
    /// The shape of the pods that change.
    pub(super) shape: Rc<PodShape<'d>>,
    /// The changes.
    pub(super) remedies: Vec<Remedy<'d>>,
}

impl<'d> ProposedChange<'d> {
    /// Changes a pod that has the shape.
    pub(super) fn change_pod(&self, shape: &mut PodShape<'d>, names: &ResourceNames<'d>) {
        self.remedies.iter().for_each(|one| one.change_pod(shape, names));
    }

    /// Whether NodePools change.
    pub(super) fn changes_pools(&self) -> bool {
        self.remedies.iter().any(|one| one.pool().is_some())
    }

    /// Changes the NodePools.
    pub(super) fn change_pools(&self, pools: &mut [Pool<'d>], names: &ResourceNames<'d>) {
        for one in &self.remedies {
            let changed = one.pool();
            for pool in pools.iter_mut().filter(|pool| changed == Some(pool.object)) {
                one.change_pool(pool, names);
            }
        }
    }
}

impl<'d> Remedy<'d> {
    /// The NodePool that changes; `None` if the pod changes.
    fn pool(&self) -> Option<Object<'d>> {
        match self {
            Self::Tolerate(_)
            | Self::AskValue { .. }
            | Self::ReplaceLabel { .. }
            | Self::DropLabel(_)
            | Self::Request(_)
            | Self::RenameTopology { .. }
            | Self::FreePort(_) => None,
            Self::AllowValue { pool, .. }
            | Self::AddLabel { pool, .. }
            | Self::LowerMinValues { pool, .. }
            | Self::RaiseLimit { pool, .. } => Some(*pool),
        }
    }

    /// Changes the shape of the pod.
    fn change_pod(&self, shape: &mut PodShape<'d>, names: &ResourceNames<'d>) {
        match self {
            Self::Tolerate(taint) => shape.demand.tolerations.push(Toleration::of_taint(*taint)),
            Self::AskValue { key, value } => {
                drop_label(shape, key);
                shape.demand.node_selector.push((*key, Requirement::is(value)));
            }
            Self::ReplaceLabel { from, to, value } => {
                drop_label(shape, from);
                shape.demand.node_selector.push((*to, Requirement::is(value)));
            }
            Self::DropLabel(key) => drop_label(shape, key),
            Self::Request(amounts) => {
                for &(name, most) in amounts {
                    let id = names.id(name);
                    shape.requests.set(id, shape.requests.get(id).min(most));
                }
            }
            Self::RenameTopology { from, to } => rename_topology(shape, from, to),
            Self::FreePort(port) => shape.ports.retain(|asked| asked.port != *port),
            Self::AllowValue { .. }
            | Self::AddLabel { .. }
            | Self::LowerMinValues { .. }
            | Self::RaiseLimit { .. } => {}
        }
    }

    /// Changes the NodePool.
    fn change_pool(&self, pool: &mut Pool<'d>, names: &ResourceNames<'d>) {
        match self {
            Self::AllowValue { key, value, .. } | Self::AddLabel { key, value, .. } => {
                let wider = |present: Option<&Requirement<'d>>| {
                    present.map_or_else(|| Requirement::is(value), |present| present.allowing(value))
                };
                let (written, all) = (wider(pool.written.get(key)), wider(pool.requirements.get(key)));
                pool.written.replace(key, written);
                pool.requirements.replace(key, all);
            }
            Self::LowerMinValues { key, to, .. } => {
                for all in [&mut pool.written, &mut pool.requirements] {
                    if let Some(lower) = all.get(key).map(|one| one.clone().with_min_values(Some(*to))) {
                        all.replace(key, lower);
                    }
                }
            }
            // The limit counts as none. A limit that is high enough for all pods has the same effect.
            Self::RaiseLimit { resource, .. } => pool.remaining.get_mut().remove(names.id(resource)),
            Self::Tolerate(_)
            | Self::AskValue { .. }
            | Self::ReplaceLabel { .. }
            | Self::DropLabel(_)
            | Self::Request(_)
            | Self::RenameTopology { .. }
            | Self::FreePort(_) => {}
        }
    }
}

/// Removes the required expressions about a label.
fn drop_label(shape: &mut PodShape<'_>, key: &str) {
    let keep = |term: &mut Term<'_>| term.retain(|(present, _)| labels::normalised(present) != key);
    keep(&mut shape.demand.node_selector);
    shape.demand.required_terms.iter_mut().for_each(keep);
    // A term without expressions matches no node.
    shape.demand.required_terms.retain(|term| !term.is_empty());
}

fn rename_topology<'d>(shape: &mut PodShape<'d>, from: &str, to: &'d str) {
    for spread in shape.spreads.iter_mut().filter(|spread| spread.key == from) {
        spread.key = to;
    }
    for terms in [&mut shape.affinity, &mut shape.anti_affinity] {
        let rename = |term: &mut AffinityTerm<'d>| {
            if term.key == from {
                term.key = to;
            }
        };
        terms.required.iter_mut().for_each(rename);
        terms.preferred = terms.preferred.changed(rename);
    }
}
