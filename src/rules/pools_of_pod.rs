//! The NodePools that may launch the node of a pod.

use karpenter::kind::Kind;
use objects::node_pool::NodePool;
use objects::object::Operation;
use objects::placeholders::has_placeholder_below;
use objects::pod::{ExpressionOrigin, LabelExpression, Pod};
use rule::context::Context;
use scheduling::matching::selected_pools;
use scheduling::other_nodes::{is_critical, is_for_karpenter, is_meant_for_other_nodes};
use scheduling::provisionable::is_provisionable;
use scheduling::taints::PoolTaint;

use crate::rules::indexes::Pools;

/// The NodePools whose labels meet the requirements of a pod, each with the first taint that the pod does not tolerate. Empty
/// where the input does not show them. It does not for a request: the policy looks up only a part of each NodePool.
pub(crate) fn selected<'d>(
    pod: Pod<'d>,
    context: &Context<'_, 'd>,
) -> Vec<(NodePool<'d>, Option<PoolTaint<'d>>)> {
    let pools = context.inventory.index::<Pools>();
    let spec = pod.spec();
    let fields = [spec.node_selector_map(), spec.node_affinity(), spec.toleration_list()];
    let is_shown = pod.object().operation() == Operation::Apply
        && pools.is_known()
        && !pools.has_placeholder()
        && !context.may_be_in_environment(Kind::NODE_POOL)
        && !fields.into_iter().flatten().any(has_placeholder_below);
    let selected = is_shown.then(|| selected_pools(pod, pools)).flatten().unwrap_or_default();
    // A NodePool of another version has other fields.
    let view = |(pool, taint)| Some((NodePool::of(pool)?, taint));
    selected.into_iter().map(view).collect::<Option<_>>().unwrap_or_default()
}

/// The NodePools whose every node a DaemonSet selects, each with the first taint that the DaemonSet does not tolerate. Empty
/// if the DaemonSet requires a label other than the operating system and the architecture, such as an instance type: a
/// NodePool can have nodes with and without such a label.
pub(crate) fn of_daemon_set<'d>(
    pod: Pod<'d>,
    context: &Context<'_, 'd>,
) -> Vec<(NodePool<'d>, Option<PoolTaint<'d>>)> {
    const COMMON: [&str; 4] =
        ["kubernetes.io/os", "kubernetes.io/arch", "beta.kubernetes.io/os", "beta.kubernetes.io/arch"];
    let is_common = |one: LabelExpression<'d>| {
        let is_preferred = matches!(one.origin, ExpressionOrigin::Preferred { .. });
        is_preferred || one.operator.is_negative() || COMMON.contains(&one.key)
    };
    if pod.expressions().all(is_common) { selected(pod, context) } else { Vec::new() }
}

/// The NodePools whose nodes can take a pod. Empty for pods that likely run on other nodes.
pub(crate) fn of_pod<'d>(pod: Pod<'d>, context: &Context<'_, 'd>) -> Vec<NodePool<'d>> {
    let is_elsewhere = is_meant_for_other_nodes(pod) || (is_critical(pod) && !is_for_karpenter(pod));
    if !is_provisionable(pod) || is_elsewhere {
        return Vec::new();
    }
    let selected = selected(pod, context).into_iter();
    selected.filter(|(_, untolerated)| untolerated.is_none()).map(|(pool, _)| pool).collect()
}
