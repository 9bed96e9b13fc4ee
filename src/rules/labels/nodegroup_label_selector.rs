use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use lint::fix::{Fix, rename_label};
use manifest::edit::Change;
use karpenter::labels;
use karpenter::release::Releases;
use manifest::tree::Node;
use karpenter::kind::Kind;
use objects::object::Object;
use lint::rule::{Fixes, On};
use scheduling::elsewhere::{Instead, is_critical, of_node_group};
use scheduling::pod::{Expression, Origin, Pod, expressions_of};

rule! {
    /// ## What it does
    ///
    /// Looks for pods that can only run on nodes with a label of node groups or of another autoscaler
    /// (`eks.amazonaws.com/nodegroup`, `eks.amazonaws.com/capacityType`, `alpha.eksctl.io/nodegroup-name`,
    /// `node.kubernetes.io/lifecycle`, `k8s.amazonaws.com/accelerator`, `cloud.google.com/…`), and names what there is
    /// instead.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter's nodes do not carry these labels, so it makes none for such a pod: the pod stays on the old node group, or
    /// pending once that is gone. The log says `label "eks.amazonaws.com/nodegroup" does not have known values`.
    ///
    /// ## What is not reported
    ///
    /// - labels that a NodePool of the input sets, as some do to keep old selectors alive;
    /// - `NotIn` and `DoesNotExist`, preferences, and alternatives of which one asks for no such label;
    /// - pods that the cluster depends on: those of `kube-system`, with a system priority class or a toleration of
    ///   `CriticalAddonsOnly`. To keep these on a small node group is good practice;
    /// - pods of a DaemonSet, with a node or another scheduler, and those that stay off Karpenter's nodes.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: web
    /// spec:
    ///   nodeSelector:
    ///     eks.amazonaws.com/capacityType: SPOT
    ///   containers: [{name: web, image: "example.com/web:1"}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: web
    /// spec:
    ///   nodeSelector:
    ///     karpenter.sh/capacity-type: spot
    ///   containers: [{name: web, image: "example.com/web:1"}]
    /// ```
    ///
    /// ## Fix safety
    ///
    /// To be looked at: a pod that moves from a node group to Karpenter's nodes may find other machines there.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#2971, #5521
    RULE {
        name: "nodegroup-label-selector",
        family: Family::Labels,
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::Unsafe,
        summary: "a pod asks for a label of node groups, which Karpenter's nodes do not carry",
        on: &[On::Workload],
        inventory: &[Kind::NODE_POOL],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    let Some(pod) = Pod::of(object).filter(|pod| pod.may_ask_for_a_node() && !is_critical(*pod)) else { return };
    let asks = |expression: &Expression<'d>| {
        let hard = !matches!(expression.origin, Origin::Preferred { .. });
        hard && !expression.operator.is_negative()
            && of_node_group(expression).is_some()
            && !context.inventory.pools().define(expression.key)
    };
    // One alternative without such a label is enough for Karpenter.
    let needs = |term: Node<'d>| expressions_of(term, Origin::Required { term: 0 }).any(|found| asks(&found));
    let all_terms = pod.required_terms().all(needs);
    for expression in pod.expressions().filter(asks) {
        if expression.origin == Origin::NodeSelector || all_terms {
            drafts.extend(draft(object, expression));
        }
    }
}

fn draft<'d>(object: Object<'d>, expression: Expression<'d>) -> Option<Draft<'d>> {
    let key = expression.key;
    let instead = of_node_group(&expression)?;
    let help = match instead {
        Instead::Pool => format!("select `{}`, or a label of your own that the NodePool sets", labels::NODEPOOL),
        Instead::CapacityType => format!("select `{}` with `spot` or `on-demand`", labels::CAPACITY_TYPE),
        Instead::Gpu => "select `karpenter.k8s.aws/instance-gpu-name` or another label of accelerators".to_owned(),
        Instead::Nothing => "remove it; there is nothing like it on Karpenter's nodes".to_owned(),
    };
    let message = format!("this pod asks for `{key}`, a label of node groups: Karpenter makes no node for it");
    let draft = Draft::new(&RULE, Place::of_expression(expression), message).help(help);
    let changes = (instead == Instead::CapacityType).then(|| capacity_type(object, expression)).flatten();
    Some(match changes {
        Some(changes) => draft.fix(Fix::to_look_at("ask for the capacity type", changes)),
        None => draft,
    })
}

/// The key and its values as Karpenter spells them; `None` where a value is none of the known ones.
fn capacity_type<'d>(object: Object<'d>, expression: Expression<'d>) -> Option<Vec<Change<'d>>> {
    let mut changes = Vec::new();
    let mut count = 0;
    for value in expression.values() {
        count += 1;
        let known = match value.as_str()? {
            "SPOT" | "spot" | "Ec2Spot" => "spot",
            "ON_DEMAND" | "on-demand" | "od" | "normal" | "OnDemand" => "on-demand",
            _ => return None,
        };
        changes.push(Change::Set(value, known.to_owned()));
    }
    changes.push(rename_label(expression, object, labels::CAPACITY_TYPE)?);
    (count > 0).then_some(changes)
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, silent};

    fn pod(asks: &str) -> String {
        format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n  containers: []\n  {asks}\n")
    }

    fn terms(terms: &str) -> String {
        pod(&format!(
            "affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{terms}]}}}}}}"
        ))
    }

    const GROUP: &str = "{matchExpressions: [{key: eks.amazonaws.com/nodegroup, operator: In, values: [a]}]}";

    #[test]
    fn what_there_is_instead_is_named() {
        insta::assert_snapshot!(findings(&super::RULE, &pod("nodeSelector: {eks.amazonaws.com/capacityType: SPOT}")), @r#"
          6 |   nodeSelector: {eks.amazonaws.com/capacityType: SPOT}
            |                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning Pod/a spec.nodeSelector [1.0-1.14]
          this pod asks for `eks.amazonaws.com/capacityType`, a label of node groups: Karpenter makes no node for it
          help: select `karpenter.sh/capacity-type` with `spot` or `on-demand`
          fix to look at: ask for the capacity type: "spot", "karpenter.sh/capacity-type"
        "#);
        insta::assert_snapshot!(findings(&super::RULE, &terms(GROUP)), @"
          6 |   affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: eks.amazonaws.com/nodegroup, operator: In, values: [a]}]}]}}}
            |                                                                                                                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning Pod/a spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key [1.0-1.14]
          this pod asks for `eks.amazonaws.com/nodegroup`, a label of node groups: Karpenter makes no node for it
          help: select `karpenter.sh/nodepool`, or a label of your own that the NodePool sets
        ");
        assert!(findings(&super::RULE, &pod("nodeSelector: {alpha.eksctl.io/cluster-name: a}")).contains("nothing like it"));
        assert_ne!(findings(&super::RULE, &pod("nodeSelector: {lifecycle: Ec2Spot}")), "");
    }

    #[test]
    fn an_alternative_without_such_a_label_is_enough() {
        silent(&super::RULE, &terms(&format!("{GROUP}, {{matchExpressions: [{{key: karpenter.sh/nodepool, operator: Exists}}]}}")));
    }

    #[test]
    fn pods_that_avoid_node_groups_or_only_prefer_them_are_left_alone() {
        silent(&super::RULE, &terms(&GROUP.replace("In", "NotIn")));
        silent(&super::RULE, &terms("{matchExpressions: [{key: eks.amazonaws.com/nodegroup, operator: DoesNotExist}]}"));
        silent(&super::RULE, &pod(&format!("affinity: {{nodeAffinity: {{preferredDuringSchedulingIgnoredDuringExecution: [{{weight: 1, preference: {GROUP}}}]}}}}")));
    }

    #[test]
    fn critical_pods_on_a_node_group_are_good_practice() {
        let selector = "nodeSelector: {eks.amazonaws.com/nodegroup: system}";
        silent(&super::RULE, &pod(&format!("{selector}\n  priorityClassName: system-cluster-critical")));
        silent(&super::RULE, &pod(&format!("{selector}\n  tolerations: [{{key: CriticalAddonsOnly, operator: Exists}}]")));
        silent(&super::RULE, &pod(selector).replace("{name: a}", "{name: a, namespace: kube-system}"));
        silent(&super::RULE, &terms(&GROUP.replace("[{key", "[{key: karpenter.sh/nodepool, operator: DoesNotExist}, {key")));
    }

    #[test]
    fn a_name_that_is_anybodys_is_left_alone() {
        silent(&super::RULE, &pod("nodeSelector: {lifecycle: production}"));
    }

    #[test]
    fn a_label_that_a_pool_sets_is_served() {
        let pool = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec: {template: {metadata: {labels: {lifecycle: Ec2Spot}}}}\n---\n";
        silent(&super::RULE, &(pool.to_owned() + &pod("nodeSelector: {lifecycle: Ec2Spot}")));
    }
}
