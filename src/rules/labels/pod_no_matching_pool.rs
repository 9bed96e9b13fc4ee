use cluster::inventory::Inventory;
use karpenter::kind::Kind;
use karpenter::labels;
use karpenter::release::{ReleaseSet, Releases};
use manifest::tree::Node;
use objects::node_pool::NodePool;
use objects::object::{Object, Operation};
use objects::placeholders::has_placeholder_below;
use objects::pod::{ExpressionOrigin, LabelExpression, Pod, has_node_expressions};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use scheduling::matching::{Unschedulable, Verdict, verdict};
use scheduling::other_nodes::{is_critical, is_for_karpenter, is_meant_for_other_nodes};
use scheduling::pool_index::PoolIndex;
use scheduling::provisionable::is_provisionable;
use scheduling::requirements::Mismatch;
use scheduling::template::Obstacle;
use values::spelling::nearest;

use super::requirement_value_unknown::accepts_no_value;
use crate::rules::indexes::{POOLS, Pools};

rule! {
    /// ## What it does
    ///
    /// Matches the node selector, the required node affinity and the tolerations of a pod against every NodePool in the
    /// input, and reports the pod if no NodePool can launch a node for it. The message gives a reason for each of the
    /// first NodePools: a label that does not agree, else a taint. If no NodePool has a label or value, the help suggests
    /// the nearest label or value that a NodePool has.
    ///
    /// ## Why it is bad
    ///
    /// The pod stays Pending, and the controller logs `incompatible requirements, label "workload" does not have known
    /// values`. A NodePool has to set a custom label, as a template label or as a requirement, before pods can select
    /// it; `NotIn` and `DoesNotExist` match without it. A NodePool may leave well-known labels open.
    ///
    /// The rule follows Karpenter's scheduler: required terms are alternatives, preferences do not count, aliases such
    /// as `beta.kubernetes.io/arch` are the same as the current keys, and start-up taints and `PreferNoSchedule` keep
    /// no pod away. A NodePool with `spec.replicas` launches no node for a pending pod, but the pod may run on one of
    /// its existing nodes, so the NodePool counts.
    ///
    /// The finding is an error if the input holds every NodePool (`--complete`) and the pod selects a label that only
    /// Karpenter's nodes have, such as `karpenter.sh/nodepool` or `karpenter.k8s.aws/instance-family`. It is a warning
    /// if only one of these holds, and in a cluster. In a file it is an info otherwise, because a managed node group may
    /// have the label. Without a NodePool in the input, the rule reports nothing.
    ///
    /// ## What is not reported
    ///
    /// - pods of a DaemonSet, pods that already have a node or use another scheduler, and pods that stay off
    ///   Karpenter's nodes;
    /// - pods that select nodes which Karpenter does not manage: nodes of a node group (`nodegroup-label-selector`), of
    ///   a control plane or of Fargate, and nodes with labels that are discovered on the node
    ///   (`feature.node.kubernetes.io/…`, `nvidia.com/…`);
    /// - pods that match no NodePool only because every NodePool is tainted: they may run on a node group. A pod that
    ///   selects a tainted NodePool is reported by `pod-missing-toleration`;
    /// - pods that ask for a value that no node has, such as the capacity type `ondemand`: `requirement-value-unknown` reports them;
    /// - clusters with a NodePool of another provider, such as EKS Auto Mode, because this rule does not know that
    ///   provider's labels.
    ///
    /// The severity is one level lower for pods in `kube-system` and pods with a system priority class, which often run
    /// on a node group. If the labels that a pod selects do not narrow the NodePools of an input down, the rule compares
    /// the pod with at most 250 different NodePools; if none of these matches, the pod is not reported.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: batch
    /// spec:
    ///   template:
    ///     metadata:
    ///       labels: {example.com/workload: batch}
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: []
    /// ---
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: nightly
    /// spec:
    ///   nodeSelector: {example.com/workload: bacth}
    ///   containers: [{name: nightly, image: "example.com/nightly:1"}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: batch
    /// spec:
    ///   template:
    ///     metadata:
    ///       labels: {example.com/workload: batch}
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: []
    /// ---
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: nightly
    /// spec:
    ///   nodeSelector: {example.com/workload: batch}
    ///   containers: [{name: nightly, image: "example.com/nightly:1"}]
    /// ```
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter#1162, #2123; aws/karpenter-provider-aws#7535, #3075, #5101, #4533
    /// - pkg/scheduling/requirements.go (`Compatible`) and `preferences.go` of kubernetes-sigs/karpenter at v1.14.0
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "no NodePool can launch a node for the pod",
        runs: Runs::InAdmission,
        on: &[On::Workload],
        inventory: &[POOLS],
        looks_up: has_node_expressions,
        check: check,
    }
}

/// Calls `then` with the reasons why no NodePool can launch a node for the pod, if the input allows a verdict.
pub(crate) fn stuck<'d>(pod: Pod<'d>, context: &Context<'_, 'd>, then: impl FnOnce(&Unschedulable<'d>)) {
    let pools = context.inventory.index::<Pools>();
    let is_decidable = !pools.is_empty() && pools.is_known() && is_provisionable(pod);
    if !is_decidable || is_meant_for_other_nodes(pod) || releases(pod).is_empty() {
        return;
    }
    let Verdict::Unschedulable(stuck) = &*verdict(pod, pools) else { return };
    let may_fit = |inventory: &Inventory<'d>| {
        let pools = inventory.index::<Pools>();
        !pools.is_known() || !matches!(*verdict(pod, pools), Verdict::Unschedulable(_))
    };
    let may_be_elsewhere = context.may_be_in_environment(Kind::NODE_POOL) || context.anywhere(may_fit);
    if !may_be_elsewhere && !waits_for_template(pod, pools) {
        then(stuck);
    }
}

/// Whether a field that decides about the pod, or a NodePool, has a placeholder that is replaced before the objects are
/// applied.
fn waits_for_template(pod: Pod<'_>, pools: &PoolIndex<'_>) -> bool {
    let spec = pod.spec();
    let fields = [spec.node_selector_map(), spec.node_affinity(), spec.toleration_list()];
    pod.object().operation() == Operation::Apply
        && (fields.into_iter().flatten().any(has_placeholder_below) || pools.has_placeholder())
}

/// Releases in which Karpenter considers the pod. In the others it ignores the pod because of a restricted key.
pub(super) fn releases(pod: Pod<'_>) -> ReleaseSet {
    let refused = required_expressions(pod).map(|expression| labels::refused_in_pods(expression.key));
    Releases::ALL.without(refused.fold(ReleaseSet::none(), |all, of_key| all.or(of_key)))
}

fn required_expressions(pod: Pod<'_>) -> impl Iterator<Item = LabelExpression<'_>> {
    pod.expressions().filter(|expression| !matches!(expression.origin, ExpressionOrigin::Preferred { .. }))
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pod) = Pod::of(object) else { return };
    stuck(pod, context, |stuck| {
        if stuck.untolerated.is_none() {
            findings.extend(finding(pod, stuck, context));
        }
    });
}

fn finding<'d>(pod: Pod<'d>, stuck: &Unschedulable<'d>, context: &Context<'_, 'd>) -> Option<Finding<'d>> {
    let severity = severity(pod, stuck, context)?;
    let pools = context.inventory.index::<Pools>();
    let key = stuck.reasons.iter().find_map(|(_, reason)| match reason {
        Obstacle::Label(mismatch) => Some(mismatch.key()),
        Obstacle::Taint(_) => None,
    });
    let expression = key.and_then(|key| {
        required_expressions(pod).find(|expression| labels::normalised(expression.key) == key)
    });
    // `requirement-value-unknown` reports a value that no NodePool can have.
    if expression.is_some_and(|expression| accepts_no_value(pod, expression)) {
        return None;
    }
    let place = match (expression, pod.spec().toleration_list()) {
        (Some(expression), _) => expression.place(),
        (None, Some(tolerations)) => Place::key(tolerations),
        (None, None) => Place::missing(pod.spec().node(), "tolerations"),
    };
    let unknown =
        expression.filter(|_| key == Some(labels::NODEPOOL)).and_then(|asked| unknown_name(asked, pools));
    let reasons = match unknown {
        Some(name) => format!("none is named `{name}`"),
        None => reasons(stuck),
    };
    let message = format!("no NodePool can launch a node for this pod: {reasons}");
    let help = expression.map_or_else(
        || "tolerate the taint of a NodePool, or add a NodePool without taints".to_owned(),
        |expression| help(expression, key.unwrap_or_default(), pools),
    );
    let mut finding =
        Finding::new(&RULE, place, message).severity(severity).releases(releases(pod)).help(help);
    for (pool, reason) in &stuck.reasons {
        let place = NodePool::of(*pool).and_then(|pool| reason.place_in_pool(pool));
        let what = match reason {
            Obstacle::Taint(_) => "this taint keeps the pod off the nodes",
            Obstacle::Label(Mismatch::Conflict(labels::NODEPOOL)) => "this NodePool has another name",
            Obstacle::Label(Mismatch::Conflict(_)) => "this NodePool has other values",
            Obstacle::Label(Mismatch::Undefined(_)) => "this NodePool does not set the label",
        };
        finding = finding.related(place.unwrap_or(Place::value(pool.name_node())), what);
    }
    Some(finding)
}

/// Whether a pod that matches no NodePool in the input cannot run on any other node either.
pub(crate) fn is_certain(pod: Pod<'_>, context: &Context<'_, '_>) -> bool {
    context.inventory.is_complete() && is_for_karpenter(pod)
}

/// Whether the pod probably belongs on nodes of the NodePools that the check knows. A manifest does not show the node groups
/// of its cluster, which may have any label that is not Karpenter's.
pub(crate) fn is_probable(pod: Pod<'_>, context: &Context<'_, '_>) -> bool {
    let is_request = pod.object().operation() != Operation::Apply;
    is_request || context.inventory.is_complete() || is_for_karpenter(pod)
}

fn severity(pod: Pod<'_>, stuck: &Unschedulable<'_>, context: &Context<'_, '_>) -> Option<Severity> {
    let only_taints = stuck.reasons.iter().all(|(_, reason)| matches!(reason, Obstacle::Taint(_)));
    match (is_certain(pod, context), only_taints || is_critical(pod)) {
        (true, false) => Some(Severity::Error),
        (true, true) if only_taints && is_critical(pod) => None,
        (true, true) => Some(Severity::Warning),
        (false, false) if is_probable(pod, context) => Some(Severity::Warning),
        (false, true) if only_taints => None,
        (false, _) => Some(Severity::Info),
    }
}

/// NodePool name that the pod selects, if no NodePool has that name.
fn unknown_name<'d>(expression: LabelExpression<'d>, pools: &PoolIndex<'d>) -> Option<&'d str> {
    let mut names = expression.values().filter_map(Node::as_str);
    let is_known = names.clone().any(|name| pools.has_name(name));
    if is_known { None } else { names.next() }
}

/// Reason why each NodePool does not match the pod.
fn reasons(stuck: &Unschedulable<'_>) -> String {
    let mut reasons = String::new();
    for (pool, reason) in &stuck.reasons {
        let pool = pool.name();
        let reason = match reason {
            Obstacle::Taint(taint) => format!("`{pool}` has the taint `{taint}`"),
            Obstacle::Label(Mismatch::Undefined(key)) => format!("`{pool}` does not set `{key}`"),
            Obstacle::Label(Mismatch::Conflict(labels::NODEPOOL)) => format!("`{pool}` has another name"),
            Obstacle::Label(Mismatch::Conflict(key)) => format!("`{pool}` has other values for `{key}`"),
        };
        add(&mut reasons, &reason);
    }
    if stuck.others > 0 {
        let verb = if stuck.others == 1 { "does" } else { "do" };
        add(&mut reasons, &format!("{} more {verb} not match", stuck.others));
    }
    reasons
}

fn add(reasons: &mut String, reason: &str) {
    reasons.push_str(if reasons.is_empty() { "" } else { ", " });
    reasons.push_str(reason);
}

/// Maximum number of names or values that are compared to find the nearest.
const MAX_COMPARED: usize = 64;

fn help(expression: LabelExpression<'_>, key: &str, pools: &PoolIndex<'_>) -> String {
    let value = expression.values().find_map(Node::as_str).unwrap_or_default();
    let did_you_mean = |word: &str| format!("did you mean `{word}`?");
    if key == labels::NODEPOOL {
        return nearest(value, pools.names().take(MAX_COMPARED)).map_or_else(
            || "select an existing NodePool, or a label that a NodePool sets".to_owned(),
            did_you_mean,
        );
    }
    if pools.sets_label(key) || !labels::well_known(key).is_empty() {
        return nearest(value, pools.values(key).take(MAX_COMPARED)).map_or_else(
            || format!("add the value `{value}` to a NodePool, or select a value that a NodePool has"),
            did_you_mean,
        );
    }
    let from_pools = nearest(key, pools.keys().take(MAX_COMPARED));
    let known =
        labels::likely_label(key).filter(|_| labels::restricted_domain(key).is_some()).map(|meant| meant.key);
    from_pools.or(known).map_or_else(
        || format!("set `{key}` on a NodePool, in `spec.template.metadata.labels` or as a requirement"),
        did_you_mean,
    )
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with, silent};
    use rule::settings::Settings;

    const POOL: &str = r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: general
spec:
  template:
    metadata: {labels: {workload: stable}}
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}
      requirements:
      - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      - {key: tenant, operator: Exists}
---
";

    fn pod(spec: &str) -> String {
        format!(
            r"apiVersion: v1
kind: Pod
metadata: {{name: a}}
spec:
  containers: []
  {spec}
"
        )
    }

    fn with_pool(spec: &str) -> String {
        POOL.to_owned() + &pod(spec)
    }

    fn complete(text: &str) -> String {
        findings_with(&super::RULE, text, &Settings { complete_inventory: true, ..Settings::default() })
    }

    #[test]
    fn suggests_the_nearest_label_and_value() {
        insta::assert_snapshot!(findings(&super::RULE, &with_pool("nodeSelector: {worklod: stable}")), @"
         19 |   nodeSelector: {worklod: stable}
            |                  ^^^^^^^
        info Pod/a spec.nodeSelector [all]
          no NodePool can launch a node for this pod: `general` does not set `worklod`
          help: did you mean `workload`?
          see line 10 spec.template.spec.requirements: this NodePool does not set the label
        ");
        insta::assert_snapshot!(complete(&with_pool("nodeSelector: {workload: stabel}")), @"
         19 |   nodeSelector: {workload: stabel}
            |                  ^^^^^^^^
        warning Pod/a spec.nodeSelector [all]
          no NodePool can launch a node for this pod: `general` has other values for `workload`
          help: did you mean `stable`?
          see line 7 spec.template.metadata.labels: this NodePool has other values
        ");
    }

    #[test]
    fn reports_an_error_only_if_no_node_group_can_have_the_label() {
        for (spec, severity) in [
            ("nodeSelector: {workload: batch}", "warning"),
            ("nodeSelector: {kubernetes.io/arch: arm64}", "warning"),
            ("nodeSelector: {kubernetes.io/arch: arm64, karpenter.sh/capacity-type: spot}", "error"),
            ("nodeSelector: {kubernetes.io/arch: arm64, karpenter.k8s.aws/instance-family: m7g}", "error"),
            (
                "nodeSelector: {workload: batch}\n  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: karpenter.sh/nodepool, operator: Exists}]}]}}}",
                "error",
            ),
            (
                "nodeSelector: {workload: batch}\n  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: karpenter.sh/nodepool, operator: Exists}]}, {matchExpressions: [{key: a, operator: NotIn, values: [b]}]}]}}}",
                "warning",
            ),
        ] {
            let found = complete(&with_pool(spec));
            assert!(found.contains(&format!("{severity} Pod/a")), "{spec}: {found}");
        }
    }

    #[test]
    fn suggests_the_nearest_pool_name() {
        insta::assert_snapshot!(complete(&with_pool("nodeSelector: {karpenter.sh/nodepool: genral}")), @"
         19 |   nodeSelector: {karpenter.sh/nodepool: genral}
            |                  ^^^^^^^^^^^^^^^^^^^^^
        error Pod/a spec.nodeSelector [all]
          no NodePool can launch a node for this pod: none is named `genral`
          help: did you mean `general`?
          see line 4 metadata.name: this NodePool has another name
        ");
    }

    #[test]
    fn reports_a_pod_only_if_every_required_term_fails() {
        let terms = |one: &str, other: &str| {
            with_pool(&format!(
                "affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [\n    {{matchExpressions: [{{key: {one}}}]}},\n    {{matchExpressions: [{{key: {other}}}]}}]}}}}}}"
            ))
        };
        silent(&super::RULE, &terms("rack, operator: In, values: [a]", "tenant, operator: In, values: [a]"));
        insta::assert_snapshot!(findings(&super::RULE, &terms("rack, operator: Exists", "kubernetes.io/arch, operator: In, values: [arm64]")), @"
         20 |     {matchExpressions: [{key: rack, operator: Exists}]},
            |                               ^^^^
        info Pod/a spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key [all]
          no NodePool can launch a node for this pod: `general` does not set `rack`
          help: set `rack` on a NodePool, in `spec.template.metadata.labels` or as a requirement
          see line 10 spec.template.spec.requirements: this NodePool does not set the label
        ");
    }

    #[test]
    fn accepts_labels_that_a_pool_leaves_open_and_optional_expressions() {
        for spec in [
            "nodeSelector: {beta.kubernetes.io/arch: amd64, tenant: blue, workload: stable}",
            "nodeSelector: {topology.kubernetes.io/zone: eu-central-1a, karpenter.sh/nodepool: general}",
            "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: site, operator: NotIn, values: [edge]}]}]}}}",
            "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: site, operator: Exists}]}}]}}",
            "nodeSelector: {karpenter.k8s.aws/instance-local-nvme: '100'}",
        ] {
            silent(&super::RULE, &with_pool(spec));
        }
    }

    #[test]
    fn reports_nothing_if_a_placeholder_decides() {
        let text = with_pool("nodeSelector: {workload: batch}");
        assert!(complete(&text).contains("warning Pod/a"));
        for placeholder in ["'${X}'", "$X", "<x>", "'{{ .Values.x }}'", "REPLACE_ME"] {
            assert_eq!(complete(&text.replace("workload: batch", &format!("workload: {placeholder}"))), "");
            assert_eq!(complete(&text.replace("name: general", &format!("name: {placeholder}"))), "");
        }
        assert_eq!(complete(&text.replace("workload: batch", "kubernetes.io/arch: ARCH")), "");
        assert!(complete(&text.replace("name: a", "name: '${X}'")).contains("warning Pod/${X}"));
    }

    #[test]
    fn reports_nothing_without_a_pool() {
        silent(&super::RULE, &pod("nodeSelector: {workload: batch}"));
        assert_eq!(complete(&pod("nodeSelector: {workload: batch}")), "");
    }

    #[test]
    fn ignores_pods_for_nodes_that_karpenter_does_not_manage() {
        for spec in [
            "nodeSelector: {eks.amazonaws.com/nodegroup: system}",
            "nodeSelector: {eks.amazonaws.com/compute-type: fargate}",
            "nodeSelector: {node-role.kubernetes.io/control-plane: ''}",
            "nodeSelector: {feature.node.kubernetes.io/cpu-model.vendor_id: Intel}",
            "nodeSelector: {nvidia.com/gpu.product: NVIDIA-A10G}",
            "nodeSelector: {workload: batch}\n  schedulerName: volcano",
            "nodeSelector: {workload: batch}\n  nodeName: ip-10-0-0-1",
        ] {
            assert_eq!(complete(&with_pool(spec)), "", "{spec}");
        }
        let daemon = with_pool("nodeSelector: {workload: batch}")
            .replace("metadata: {name: a}", "metadata: {name: a, ownerReferences: [{kind: DaemonSet}]}");
        assert_eq!(complete(&daemon), "");
    }

    #[test]
    fn ignores_pods_that_may_run_on_a_node_group_if_every_pool_is_tainted() {
        let tainted = POOL.replace(
            "      requirements:",
            "      taints: [{key: a, value: b, effect: NoSchedule}]\n      requirements:",
        );
        silent(&super::RULE, &(tainted.clone() + &pod("tolerations: []")));
        assert_eq!(complete(&(tainted.clone() + &pod("tolerations: []"))), "");
        insta::assert_snapshot!(complete(&(tainted.clone() + &pod("tolerations: []\n  nodeSelector: {karpenter.sh/capacity-type: spot}"))), @"
         20 |   tolerations: []
            |   ^^^^^^^^^^^
        warning Pod/a spec.tolerations [all]
          no NodePool can launch a node for this pod: `general` has the taint `a=b:NoSchedule`
          help: tolerate the taint of a NodePool, or add a NodePool without taints
          see line 10 spec.template.spec.taints[0]: this taint keeps the pod off the nodes
        ");
        let coredns = pod("priorityClassName: system-cluster-critical");
        assert_eq!(complete(&(tainted.clone() + &coredns)), "");
        let on_spot = pod(
            "priorityClassName: system-cluster-critical\n  nodeSelector: {karpenter.sh/capacity-type: spot}",
        );
        assert_eq!(complete(&(tainted + &on_spot)), "");
    }

    #[test]
    fn informs_of_critical_pods_with_labels_that_no_pool_sets() {
        let critical = "priorityClassName: system-cluster-critical\n  nodeSelector: {workload: batch}";
        assert!(complete(&with_pool(critical)).contains("info Pod/a"));
    }

    #[test]
    fn ignores_clusters_with_pools_of_another_provider() {
        let auto = POOL.replace("karpenter.k8s.aws", "eks.amazonaws.com");
        assert_eq!(complete(&(auto + &pod("nodeSelector: {workload: batch}"))), "");
    }

    #[test]
    fn accepts_a_matching_static_pool() {
        let fixed = POOL.replace("spec:\n  template", "spec:\n  replicas: 3\n  template");
        assert_eq!(complete(&(fixed + &pod("nodeSelector: {workload: stable}"))), "");
    }

    #[test]
    fn ignores_pools_of_another_cluster() {
        use crate::check;
        use cluster::Cluster;
        use manifest::File;
        use objects::embedded::READ_OPTIONS;
        let cluster = |name: &str, text: &str| Cluster {
            name: name.to_owned(),
            files: vec![File::read(format!("{name}.yaml"), text, READ_OPTIONS)],
        };
        let pod = pod("nodeSelector: {workload: batch}");
        let select = vec![rule::settings::RuleSelector::One(super::RULE.names())];
        let settings = Settings { complete_inventory: true, select, ..Settings::default() };
        assert!(check(&[cluster("a", POOL), cluster("b", &pod)], &settings).findings.is_empty());
        assert_eq!(check(&[cluster("a", &(POOL.to_owned() + &pod))], &settings).findings.len(), 1);
    }

    #[test]
    fn leaves_restricted_keys_to_another_rule_until_1_8() {
        assert!(
            findings(&super::RULE, &with_pool("nodeSelector: {example.kubernetes.io/role: x}"))
                .contains("[since 1.9]")
        );
        silent(&super::RULE, &with_pool("nodeSelector: {karpenter.sh/registered: 'true'}"));
    }

    #[test]
    fn checks_many_pods_and_pools_without_comparing_every_pair() {
        let mut text = String::new();
        for index in 0..400 {
            text += &POOL
                .replace("name: general", &format!("name: pool-{index}"))
                .replace("stable", &format!("w{index}"));
            text += &(pod(&format!("nodeSelector: {{workload: w{index}}}")) + "---\n");
        }
        silent(&super::RULE, &text);
    }
}
