use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use karpenter::labels;
use karpenter::release::Releases;
use manifest::tree::Node;
use karpenter::kind::Kind;
use objects::object::Object;
use lint::rule::{Fixes, On};
use scheduling::elsewhere::{is_critical, is_for_karpenter, is_meant_for_other_nodes};
use scheduling::fit::{Reason, Stuck, Verdict, verdict};
use scheduling::pod::{Expression, Origin, Pod};
use scheduling::pools::Pools;
use values::spelling::nearest;

rule! {
    /// ## What it does
    ///
    /// Holds what a pod asks of a node (node selector, required node affinity, tolerations) against every NodePool of the
    /// input, and speaks where none can make a node for it. Per pool it says the first reason; for a label or value that
    /// nobody has, it names the nearest one that somebody has.
    ///
    /// ## Why it is bad
    ///
    /// The pod stays pending, and the controller says `incompatible requirements, label "workload" does not have known
    /// values`. Labels of one's own have to be set by a NodePool, as a template label or as a requirement, before pods can
    /// ask for them; `NotIn` and `DoesNotExist` are satisfied without. Well-known labels may be left open by the pool.
    ///
    /// Karpenter's account is followed: required terms are alternatives, preferences count for nothing here, aliases such
    /// as `beta.kubernetes.io/arch` stand for the present keys, start-up taints and `PreferNoSchedule` keep no pod away.
    /// A pool with `spec.replicas` adds no node for a pod that waits, but has some that the pod may run on, and counts.
    ///
    /// It is an error where the input holds every NodePool (`--complete`) and the pod asks for what Karpenter's nodes alone
    /// have, such as `karpenter.sh/nodepool` or `karpenter.k8s.aws/instance-family`; a warning otherwise, as a managed node
    /// group may have the label. Without a NodePool in the input nothing is said.
    ///
    /// ## What is not reported
    ///
    /// - pods with another scheduler, with a node, of a DaemonSet, and those that stay off Karpenter's nodes;
    /// - pods that ask for nodes of another maker (`nodegroup-label-selector`), of a control plane, for Fargate, or for labels
    ///   that are discovered on the node (`feature.node.kubernetes.io/…`, `nvidia.com/…`);
    /// - pods that no pool takes only because all pools are tainted: they may run on a node group. A pod that selects a tainted pool is the matter of `pod-missing-toleration`;
    /// - clusters with a NodePool of another provider, such as EKS Auto Mode, whose labels are not known here.
    ///
    /// For pods of `kube-system` and those with a system priority class, which often live on a node group, the finding is
    /// one level lower. A pod whose own labels do not narrow the pools down is held against 250 different ones at most, and
    /// beyond that given the benefit of the doubt.
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
        name: "pod-no-matching-pool",
        family: Family::Labels,
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "no NodePool can make a node for the pod",
        on: &[On::Workload],
        inventory: &[Kind::NODE_POOL],
        check: check,
    }
}

/// Says why no pool can make a node for a pod, where that can be told.
pub(super) fn stuck<'d>(pod: Pod<'d>, context: &Context<'_, 'd>, then: impl FnOnce(&Stuck<'d>)) {
    let pools = context.inventory.pools();
    let can_be_told = !pools.is_empty() && pools.is_known() && pod.may_ask_for_a_node();
    if !can_be_told || is_meant_for_other_nodes(pod) || releases(pod).is_empty() {
        return;
    }
    if let Verdict::Stuck(stuck) = &*verdict(pod, pools) {
        then(stuck);
    }
}

/// The releases in which the pod is looked at: in others a restricted key makes Karpenter pass it over.
pub(super) fn releases(pod: Pod<'_>) -> Releases {
    let refused = hard(pod).map(|expression| labels::refused_in_pods(expression.key));
    Releases::ALL.without(refused.fold(Releases::NONE, Releases::or))
}

fn hard(pod: Pod<'_>) -> impl Iterator<Item = Expression<'_>> {
    pod.expressions().filter(|expression| !matches!(expression.origin, Origin::Preferred { .. }))
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    let Some(pod) = Pod::of(object) else { return };
    stuck(pod, context, |stuck| {
        if stuck.untolerated.is_none() {
            drafts.extend(draft(pod, stuck, context));
        }
    });
}

fn draft<'d>(pod: Pod<'d>, stuck: &Stuck<'d>, context: &Context<'_, 'd>) -> Option<Draft<'d>> {
    let severity = severity(pod, stuck, is_certain(pod, context))?;
    let pools = context.inventory.pools();
    let key = stuck.reasons.iter().find_map(|(_, reason)| match reason {
        Reason::Undefined(key) | Reason::Apart(key) => Some(*key),
        Reason::Taint(..) => None,
    });
    let expression = key.and_then(|key| hard(pod).find(|expression| labels::normalised(expression.key) == key));
    let place = match (expression, pod.spec().get("tolerations")) {
        (Some(expression), _) => Place::of_expression(expression),
        (None, Some(tolerations)) => Place::key(tolerations),
        (None, None) => Place::missing(pod.spec(), "tolerations"),
    };
    let unknown = expression.filter(|_| key == Some(labels::NODEPOOL)).and_then(|asked| unknown_name(asked, pools));
    let reasons = match unknown {
        Some(name) => format!("none is called `{name}`"),
        None => reasons(stuck),
    };
    let message = format!("no NodePool can make a node for this pod: {reasons}");
    let help = expression.map_or_else(
        || "tolerate a taint, or have a pool without".to_owned(),
        |expression| help(expression, key.unwrap_or_default(), pools),
    );
    let mut draft = Draft::new(&RULE, place, message).severity(severity).releases(releases(pod)).help(help);
    for (pool, reason) in &stuck.reasons {
        let (place, what) = match reason {
            Reason::Taint(_, node) => (Place::value(*node), "this taint keeps the pod off"),
            _ => (Place::value(pool.at(&["metadata", "name"]).unwrap_or(pool.root())), "this NodePool does not fit"),
        };
        draft = draft.related(place, what);
    }
    Some(draft)
}

/// Whether no node of any maker can take a pod that no NodePool in the input takes.
pub(super) fn is_certain(pod: Pod<'_>, context: &Context<'_, '_>) -> bool {
    context.inventory.is_complete() && is_for_karpenter(pod)
}

fn severity(pod: Pod<'_>, stuck: &Stuck<'_>, certain: bool) -> Option<Severity> {
    let only_taints = stuck.reasons.iter().all(|(_, reason)| matches!(reason, Reason::Taint(..)));
    match (certain, only_taints || is_critical(pod)) {
        (true, false) => Some(Severity::Error),
        (true, true) if only_taints && is_critical(pod) => None,
        (true, true) | (false, false) => Some(Severity::Warning),
        (false, true) if only_taints => None,
        (false, true) => Some(Severity::Info),
    }
}

/// The name that is asked, where no pool bears it.
fn unknown_name<'d>(expression: Expression<'d>, pools: &Pools<'d>) -> Option<&'d str> {
    let mut names = expression.values().filter_map(Node::as_str);
    let is_known = names.clone().any(|name| pools.are_called(name));
    if is_known { None } else { names.next() }
}

/// What keeps the pod off each NodePool.
fn reasons(stuck: &Stuck<'_>) -> String {
    let mut reasons = String::new();
    for (pool, reason) in &stuck.reasons {
        let pool = pool.name();
        let reason = match reason {
            Reason::Taint(taint, _) => format!("`{pool}` has the taint `{taint}`"),
            Reason::Undefined(key) => format!("`{pool}` does not set `{key}`"),
            Reason::Apart(labels::NODEPOOL) => format!("`{pool}` has another name"),
            Reason::Apart(key) => format!("`{pool}` has other values for `{key}`"),
        };
        add(&mut reasons, &reason);
    }
    if stuck.others > 0 {
        add(&mut reasons, &format!("nor does any of {} more fit", stuck.others));
    }
    reasons
}

fn add(reasons: &mut String, reason: &str) {
    reasons.push_str(if reasons.is_empty() { "" } else { ", " });
    reasons.push_str(reason);
}

/// How many names and values are looked at for the nearest.
const COMPARED: usize = 64;

fn help(expression: Expression<'_>, key: &str, pools: &Pools<'_>) -> String {
    let value = expression.values().find_map(Node::as_str).unwrap_or_default();
    let did_you_mean = |word: &str| format!("did you mean `{word}`?");
    if key == labels::NODEPOOL {
        return nearest(value, pools.names().take(COMPARED)).map_or_else(
            || "select the name of a NodePool, or a label that one sets".to_owned(),
            did_you_mean,
        );
    }
    if pools.define(key) || !labels::well_known(key).is_empty() {
        return nearest(value, pools.values(key).take(COMPARED)).map_or_else(
            || format!("let a NodePool have the value `{value}`, or ask for one that there is"),
            did_you_mean,
        );
    }
    let own = nearest(key, pools.keys().take(COMPARED));
    let known = labels::meant(key).filter(|_| labels::restricted_domain(key).is_some()).map(|meant| meant.key);
    own.or(known).map_or_else(
        || format!("set `{key}` on a NodePool, in `spec.template.metadata.labels` or as a requirement"),
        did_you_mean,
    )
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with, silent};
    use lint::settings::Settings;

    const POOL: &str = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata:\n  name: general\nspec:\n  template:\n    metadata: {labels: {workload: stable}}\n    spec:\n      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}\n      requirements:\n      - {key: kubernetes.io/arch, operator: In, values: [amd64]}\n      - {key: tenant, operator: Exists}\n---\n";

    fn pod(asks: &str) -> String {
        format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n  containers: []\n  {asks}\n")
    }

    fn with_pool(asks: &str) -> String {
        POOL.to_owned() + &pod(asks)
    }

    fn complete(text: &str) -> String {
        findings_with(&super::RULE, text, &Settings { complete_inventory: true, ..Settings::default() })
    }

    #[test]
    fn a_label_that_no_pool_sets_and_a_value_that_none_has_are_named_with_the_nearest() {
        insta::assert_snapshot!(findings(&super::RULE, &with_pool("nodeSelector: {worklod: stable}")), @"
         19 |   nodeSelector: {worklod: stable}
            |                  ^^^^^^^
        warning Pod/a spec.nodeSelector [1.0-1.14]
          no NodePool can make a node for this pod: `general` does not set `worklod`
          help: did you mean `workload`?
          see line 4 metadata.name: this NodePool does not fit
        ");
        insta::assert_snapshot!(complete(&with_pool("nodeSelector: {workload: stabel}")), @"
         19 |   nodeSelector: {workload: stabel}
            |                  ^^^^^^^^
        warning Pod/a spec.nodeSelector [1.0-1.14]
          no NodePool can make a node for this pod: `general` has other values for `workload`
          help: did you mean `stable`?
          see line 4 metadata.name: this NodePool does not fit
        ");
    }

    #[test]
    fn what_a_node_group_may_have_is_no_error() {
        for (asks, severity) in [
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
            let found = complete(&with_pool(asks));
            assert!(found.contains(&format!("{severity} Pod/a")), "{asks}: {found}");
        }
    }

    #[test]
    fn a_name_that_no_pool_bears_is_named_with_the_nearest() {
        insta::assert_snapshot!(complete(&with_pool("nodeSelector: {karpenter.sh/nodepool: genral}")), @"
         19 |   nodeSelector: {karpenter.sh/nodepool: genral}
            |                  ^^^^^^^^^^^^^^^^^^^^^
        error Pod/a spec.nodeSelector [1.0-1.14]
          no NodePool can make a node for this pod: none is called `genral`
          help: did you mean `general`?
          see line 4 metadata.name: this NodePool does not fit
        ");
    }

    #[test]
    fn every_alternative_has_to_fail() {
        let terms = |one: &str, other: &str| {
            with_pool(&format!(
                "affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [\n    {{matchExpressions: [{{key: {one}}}]}},\n    {{matchExpressions: [{{key: {other}}}]}}]}}}}}}"
            ))
        };
        silent(&super::RULE, &terms("rack, operator: In, values: [a]", "tenant, operator: In, values: [a]"));
        insta::assert_snapshot!(findings(&super::RULE, &terms("rack, operator: Exists", "kubernetes.io/arch, operator: In, values: [arm64]")), @"
         20 |     {matchExpressions: [{key: rack, operator: Exists}]},
            |                               ^^^^
        warning Pod/a spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key [1.0-1.14]
          no NodePool can make a node for this pod: `general` does not set `rack`
          help: set `rack` on a NodePool, in `spec.template.metadata.labels` or as a requirement
          see line 4 metadata.name: this NodePool does not fit
        ");
    }

    #[test]
    fn what_a_pool_leaves_open_or_a_pod_can_do_without_is_no_obstacle() {
        for asks in [
            "nodeSelector: {beta.kubernetes.io/arch: amd64, tenant: blue, workload: stable}",
            "nodeSelector: {topology.kubernetes.io/zone: eu-central-1a, karpenter.sh/nodepool: general}",
            "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: site, operator: NotIn, values: [edge]}]}]}}}",
            "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: site, operator: Exists}]}}]}}",
            "nodeSelector: {karpenter.k8s.aws/instance-local-nvme: '100'}",
        ] {
            silent(&super::RULE, &with_pool(asks));
        }
    }

    #[test]
    fn without_a_pool_in_the_input_nothing_is_said() {
        silent(&super::RULE, &pod("nodeSelector: {workload: batch}"));
        assert_eq!(complete(&pod("nodeSelector: {workload: batch}")), "");
    }

    #[test]
    fn pods_for_nodes_of_another_maker_are_left_alone() {
        for asks in [
            "nodeSelector: {eks.amazonaws.com/nodegroup: system}",
            "nodeSelector: {eks.amazonaws.com/compute-type: fargate}",
            "nodeSelector: {node-role.kubernetes.io/control-plane: ''}",
            "nodeSelector: {feature.node.kubernetes.io/cpu-model.vendor_id: Intel}",
            "nodeSelector: {nvidia.com/gpu.product: NVIDIA-A10G}",
            "nodeSelector: {workload: batch}\n  schedulerName: volcano",
            "nodeSelector: {workload: batch}\n  nodeName: ip-10-0-0-1",
        ] {
            assert_eq!(complete(&with_pool(asks)), "", "{asks}");
        }
        let daemon = with_pool("nodeSelector: {workload: batch}")
            .replace("metadata: {name: a}", "metadata: {name: a, ownerReferences: [{kind: DaemonSet}]}");
        assert_eq!(complete(&daemon), "");
    }

    #[test]
    fn where_every_pool_is_tainted_other_pods_may_have_a_node_group() {
        let tainted = POOL.replace("      requirements:", "      taints: [{key: a, value: b, effect: NoSchedule}]\n      requirements:");
        silent(&super::RULE, &(tainted.clone() + &pod("tolerations: []")));
        assert_eq!(complete(&(tainted.clone() + &pod("tolerations: []"))), "");
        insta::assert_snapshot!(complete(&(tainted.clone() + &pod("tolerations: []\n  nodeSelector: {karpenter.sh/capacity-type: spot}"))), @"
         20 |   tolerations: []
            |   ^^^^^^^^^^^
        warning Pod/a spec.tolerations [1.0-1.14]
          no NodePool can make a node for this pod: `general` has the taint `a=b:NoSchedule`
          help: tolerate a taint, or have a pool without
          see line 10 spec.template.spec.taints[0]: this taint keeps the pod off
        ");
        let coredns = pod("priorityClassName: system-cluster-critical");
        assert_eq!(complete(&(tainted + &coredns)), "");
    }

    #[test]
    fn pools_of_another_provider_know_other_labels() {
        let auto = POOL.replace("karpenter.k8s.aws", "eks.amazonaws.com");
        assert_eq!(complete(&(auto + &pod("nodeSelector: {workload: batch}"))), "");
    }

    #[test]
    fn a_pool_with_a_fixed_number_of_nodes_counts() {
        let fixed = POOL.replace("spec:\n  template", "spec:\n  replicas: 3\n  template");
        assert_eq!(complete(&(fixed + &pod("nodeSelector: {workload: stable}"))), "");
    }

    #[test]
    fn the_pools_of_another_cluster_do_not_count() {
        use crate::check;
        use lint::check::Cluster;
        use manifest::{File, limits::Limits};
        let cluster = |name: &str, text: &str| Cluster {
            name: name.to_owned(),
            files: vec![File::read(format!("{name}.yaml"), text, &Limits::DEFAULT)],
        };
        let pod = pod("nodeSelector: {workload: batch}");
        let select = vec![lint::settings::Selector::One(super::RULE.name, super::RULE.family)];
        let settings = Settings { complete_inventory: true, select, ..Settings::default() };
        assert!(check(&[cluster("a", POOL), cluster("b", &pod)], &settings).findings.is_empty());
        assert_eq!(check(&[cluster("a", &(POOL.to_owned() + &pod))], &settings).findings.len(), 1);
    }

    #[test]
    fn a_restricted_key_is_the_matter_of_another_rule_up_to_1_8() {
        assert!(findings(&super::RULE, &with_pool("nodeSelector: {example.kubernetes.io/role: x}")).contains("[1.9-1.14]"));
        silent(&super::RULE, &with_pool("nodeSelector: {karpenter.sh/registered: 'true'}"));
    }

    #[test]
    fn many_pods_and_many_pools_do_not_cost_their_product() {
        let mut text = String::new();
        for index in 0..400 {
            text += &POOL.replace("name: general", &format!("name: pool-{index}")).replace("stable", &format!("w{index}"));
            text += &(pod(&format!("nodeSelector: {{workload: w{index}}}")) + "---\n");
        }
        silent(&super::RULE, &text);
    }
}
