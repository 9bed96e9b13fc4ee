//! The fields of a pod and of a NodePool that do not agree.

use karpenter::labels;
use objects::location::Place;
use objects::node_claim::TaintField;
use objects::node_pool::NodePool;
use objects::pod::{LabelExpression, Pod};
use objects::taint::TaintItem;

use crate::taints::PoolTaint;
use crate::template::Obstacle;

impl<'d> Obstacle<'d> {
    /// The field of the pod: the tolerations, or the expression about the label.
    pub fn place_in_pod(self, pod: Pod<'d>) -> Option<Place<'d>> {
        match self {
            Self::Taint(_) => Some(place_of_tolerations(pod)),
            Self::Label(mismatch) => place_of_label(pod, mismatch.key()),
        }
    }

    /// The field of the NodePool: the taint, the requirement or label, or the list that lacks the label.
    pub fn place_in_pool(self, pool: NodePool<'d>) -> Option<Place<'d>> {
        match self {
            Self::Taint(taint) => place_of_taint(pool, taint),
            Self::Label(mismatch) => Some(place_of_pool_label(pool, mismatch.key())),
        }
    }
}

/// The list of tolerations, or the place where it is missing.
pub(crate) fn place_of_tolerations(pod: Pod<'_>) -> Place<'_> {
    let list = pod.spec().toleration_list();
    list.map_or_else(|| Place::missing(pod.spec().node(), "tolerations"), Place::key)
}

/// The first expression about a label.
pub(crate) fn place_of_label<'d>(pod: Pod<'d>, key: &str) -> Option<Place<'d>> {
    let mut expressions = pod.expressions();
    expressions.find(|expression| labels::normalised(expression.key) == key).map(LabelExpression::place)
}

/// The taint of a NodePool.
pub(crate) fn place_of_taint<'d>(pool: NodePool<'d>, taint: PoolTaint<'d>) -> Option<Place<'d>> {
    let same = |item: &TaintItem<'d>| PoolTaint::from_item(*item) == taint;
    pool.taints(TaintField::Taints).find(same).map(|item| Place::value(item.node()))
}

/// The requirement or the label of a NodePool, or the place where a label is missing.
pub(crate) fn place_of_pool_label<'d>(pool: NodePool<'d>, key: &str) -> Place<'d> {
    if key == labels::NODEPOOL {
        return Place::value(pool.object().name_node());
    }
    let mut items = pool.requirements().items();
    let item = items.find(|item| item.key().is_some_and(|name| labels::normalised(name) == key));
    if let Some(item) = item {
        return Place::value(item.node());
    }
    if let Some((_, node)) = pool.node_labels().find(|(name, _)| labels::normalised(name) == key) {
        return Place::key_of_map(node);
    }
    match pool.requirements().node() {
        Some(list) => Place::key(list),
        None => Place::missing(pool.object().root(), "spec.template.spec.requirements"),
    }
}
