use karpenter::release::Releases;
use lint::context::Context;
use lint::finding::{CaughtBy, Family, Finding, Place, Severity};
use lint::rule::{Fixes, On};
use objects::object::Object;
use objects::pod::{ExpressionOrigin, LabelExpression, NodeSelectorTerm};
use scheduling::other_nodes::node_group_label;

use super::daemonset_misses_tainted_pool::only_agent;

rule! {
    /// ## What it does
    ///
    /// Finds DaemonSets of network plugins, of kube-proxy and of AWS's CSI drivers that run only on nodes with a label of
    /// node groups, such as `eks.amazonaws.com/nodegroup`, or only on listed instance types.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter's nodes do not have labels of node groups, and Karpenter chooses instance types that the list does not
    /// have. Without the network plugin a node never becomes ready; without kube-proxy its pods reach no Services; without
    /// the CSI driver pods with volumes do not start.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    /// ---
    /// apiVersion: apps/v1
    /// kind: DaemonSet
    /// metadata: {name: aws-node, namespace: kube-system}
    /// spec:
    ///   selector: {matchLabels: {k8s-app: aws-node}}
    ///   template:
    ///     metadata: {labels: {k8s-app: aws-node}}
    ///     spec:
    ///       affinity:
    ///         nodeAffinity:
    ///           requiredDuringSchedulingIgnoredDuringExecution:
    ///             nodeSelectorTerms:
    ///             - matchExpressions: [{key: eks.amazonaws.com/nodegroup, operator: Exists}]
    ///       tolerations: [{operator: Exists}]
    ///       containers: [{name: aws-node, image: "example.com/amazon-k8s-cni:v1.20.0"}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    /// ---
    /// apiVersion: apps/v1
    /// kind: DaemonSet
    /// metadata: {name: aws-node, namespace: kube-system}
    /// spec:
    ///   selector: {matchLabels: {k8s-app: aws-node}}
    ///   template:
    ///     metadata: {labels: {k8s-app: aws-node}}
    ///     spec:
    ///       affinity:
    ///         nodeAffinity:
    ///           requiredDuringSchedulingIgnoredDuringExecution:
    ///             nodeSelectorTerms:
    ///             - matchExpressions: [{key: eks.amazonaws.com/compute-type, operator: NotIn, values: [fargate]}]
    ///       tolerations: [{operator: Exists}]
    ///       containers: [{name: aws-node, image: "example.com/amazon-k8s-cni:v1.20.0"}]
    /// ```
    ///
    /// ## What is not reported
    ///
    /// - labels that a NodePool in the input sets;
    /// - `NotIn` and `DoesNotExist`, preferences, and alternative terms of which at least one requires no such label;
    /// - a DaemonSet beside another one of the same agent, which may run on the other nodes.
    ///
    /// ## References
    ///
    /// - website/content/en/v1.14/concepts/scheduling.md of aws/karpenter-provider-aws, "Well-Known Labels"
    /// - config/master/aws-k8s-cni.yaml of aws/amazon-vpc-cni-k8s, which excludes compute types instead
    RULE {
        name: "daemonset-excluded-from-karpenter-nodes",
        family: Family::Scheduling,
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a network plugin, kube-proxy or CSI driver selects labels that Karpenter's nodes do not have",
        on: &[On::Workload],
        inventory: &[],
        depends_on_karpenter: true,
        check: check,
    }
}

const INSTANCE_TYPE: [&str; 2] = ["node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"];

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some((pod, agent, image)) = only_agent(object, context) else { return };
    let excludes = |expression: &LabelExpression<'d>| {
        let lists_types = INSTANCE_TYPE.contains(&expression.key);
        let is_of_group = node_group_label(expression).is_some()
            && !context.anywhere(|inventory| inventory.pools().sets_label(expression.key));
        !expression.operator.is_negative() && (lists_types || is_of_group)
    };
    let selector = pod.spec().node_selector_expressions().find(excludes);
    // Required terms are alternatives: one term without such a label is enough.
    let term = |(term, node): (usize, NodeSelectorTerm<'d>)| {
        node.expressions(ExpressionOrigin::Required { term }).find(excludes)
    };
    let terms: Option<Vec<_>> = pod.spec().required_terms().enumerate().map(term).collect();
    let Some(found) = selector.or_else(|| terms?.first().copied()) else { return };
    let message = format!(
        "{agent} does not run on every node of Karpenter: it requires `{}`, and the pods of the other nodes do not work without it",
        found.key
    );
    findings.push(
        Finding::new(&RULE, found.place(), message)
            .help("remove the requirement; to stay off Fargate, use `eks.amazonaws.com/compute-type` with `NotIn`")
            .related(Place::value(image), "the agent"),
    );
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    const POOL: &str = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}}}}\n---\n";

    fn agent(image: &str, spec: &str) -> String {
        format!(
            "{POOL}apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {{name: kube-proxy}}\nspec:\n  template:\n    spec:\n      {spec}\n      containers: [{{name: a, image: 'example.com/{image}:v1'}}]\n"
        )
    }

    fn terms(list: &str) -> String {
        format!(
            "affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{list}]}}}}}}"
        )
    }

    const GROUP: &str = "{matchExpressions: [{key: eks.amazonaws.com/nodegroup, operator: Exists}]}";

    #[test]
    fn reports_agents_that_require_a_node_group() {
        insta::assert_snapshot!(findings(&RULE, &agent("amazon-k8s-cni", "nodeSelector: {eks.amazonaws.com/nodegroup: a}")), @"
         12 |       nodeSelector: {eks.amazonaws.com/nodegroup: a}
            |                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning DaemonSet/kube-proxy spec.template.spec.nodeSelector [all]
          the VPC CNI plugin does not run on every node of Karpenter: it requires `eks.amazonaws.com/nodegroup`, and the pods of the other nodes do not work without it
          help: remove the requirement; to stay off Fargate, use `eks.amazonaws.com/compute-type` with `NotIn`
          see line 13 spec.template.spec.containers[0].image: the agent
        ");
        assert!(
            findings(&RULE, &agent("kube-proxy", &terms(GROUP))).contains("warning DaemonSet/kube-proxy")
        );
        let types = "nodeSelector: {node.kubernetes.io/instance-type: m5.large}";
        assert!(!findings(&RULE, &agent("kube-proxy", types)).is_empty());
    }

    #[test]
    fn accepts_exclusions_alternatives_and_labels_of_nodepools() {
        let not_in = "{matchExpressions: [{key: eks.amazonaws.com/nodegroup, operator: DoesNotExist}, {key: eks.amazonaws.com/compute-type, operator: NotIn, values: [fargate]}]}";
        silent(&RULE, &agent("kube-proxy", &terms(not_in)));
        let other = "{matchExpressions: [{key: karpenter.sh/nodepool, operator: Exists}]}";
        silent(&RULE, &agent("kube-proxy", &terms(&format!("{GROUP}, {other}"))));
        let labelled = agent("kube-proxy", &terms(GROUP)).replacen(
            "template: {",
            "template: {metadata: {labels: {eks.amazonaws.com/nodegroup: a}}, ",
            1,
        );
        silent(&RULE, &labelled);
    }

    #[test]
    fn accepts_other_daemon_sets() {
        silent(&RULE, &agent("fluent-bit", &terms(GROUP)));
        silent(&RULE, &agent("kube-proxy", &terms(GROUP)).replace("DaemonSet", "Deployment"));
    }
}
