use std::collections::BTreeSet;

use cluster::inventory::Inventory;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_agents::NodeAgent;
use objects::object::Object;
use objects::placeholders::has_placeholder_below;
use objects::pod::{ExpressionOrigin, LabelExpression, NodeSelectorTerm};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use scheduling::other_nodes::node_group_label;

use super::daemonset_misses_tainted_pool::only_agent;
use crate::rules::indexes::{Agents, Pools};

rule! {
    /// ## What it does
    ///
    /// Finds DaemonSets of network plugins, of kube-proxy and of the EBS CSI driver that run only on nodes with a label of
    /// node groups, such as `eks.amazonaws.com/nodegroup`, or only on listed instance types.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter's nodes do not have labels of node groups, and Karpenter chooses instance types that the list does not
    /// have. Without the network plugin a node never becomes ready; without kube-proxy its pods reach no Services; without
    /// the EBS CSI driver pods with EBS volumes do not start.
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
    /// - labels that a NodePool in the input sets, and instance types if the list has every type that NodePools list;
    /// - the drivers for EFS, FSx and S3, which a cluster may run on some nodes;
    /// - a network plugin beside another one, which may run on the other nodes;
    /// - `NotIn` and `DoesNotExist`, preferences, and alternative terms of which at least one requires no such label;
    /// - a DaemonSet beside another one of the same agent, which may run on the other nodes.
    ///
    /// ## References
    ///
    /// - website/content/en/v1.14/concepts/scheduling.md of aws/karpenter-provider-aws, "Well-Known Labels"
    /// - config/master/aws-k8s-cni.yaml of aws/amazon-vpc-cni-k8s, which excludes compute types instead
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a network plugin, kube-proxy or CSI driver selects labels that Karpenter's nodes do not have",
        runs: Runs::InAdmission,
        on: &[On::Workload],
        inventory: &[],
        depends_on_karpenter: true,
        check: check,
    }
}

const INSTANCE_TYPE: [&str; 2] = ["node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"];

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some((pod, agent, image)) = only_agent(object, context) else { return };
    // A cluster that moves to another network plugin keeps the old plugin on the old nodes.
    let plugin = NodeAgent::find(pod).map(|(agent, _)| agent).filter(|agent| agent.is_network_plugin());
    let has_other = |inventory: &Inventory<'d>| {
        plugin.is_some_and(|plugin| inventory.index::<Agents>().has_other_network_plugin(plugin))
    };
    if context.anywhere(has_other) {
        return;
    }
    let excludes = |expression: &LabelExpression<'d>| {
        let lists_types =
            INSTANCE_TYPE.contains(&expression.key) && !has_all_types_of_pools(expression, context);
        let is_of_group = node_group_label(expression).is_some()
            && !context.anywhere(|inventory| inventory.index::<Pools>().sets_label(expression.key));
        let is_known = !has_placeholder_below(expression.node);
        is_known && !expression.operator.is_negative() && (lists_types || is_of_group)
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

/// Whether an expression on instance types has every instance type that the NodePools list, and they list some.
fn has_all_types_of_pools<'d>(expression: &LabelExpression<'d>, context: &Context<'_, 'd>) -> bool {
    let values: BTreeSet<_> = expression.values().filter_map(Node::as_str).collect();
    context.anywhere(|inventory| {
        let mut listed = inventory.index::<Pools>().values(expression.key).peekable();
        listed.peek().is_some() && listed.all(|value| values.contains(value))
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    const POOL: &str = r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}}}}
---
";

    fn agent(image: &str, spec: &str) -> String {
        format!(
            r"{POOL}apiVersion: apps/v1
kind: DaemonSet
metadata: {{name: kube-proxy}}
spec:
  template:
    spec:
      {spec}
      containers: [{{name: a, image: 'example.com/{image}:v1'}}]
"
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
    fn accepts_instance_types_that_the_nodepools_require() {
        let text = |types: &str, node_type: &str| {
            let requirements = format!(
                "requirements: [{{key: node.kubernetes.io/instance-type, operator: In, values: [{types}]}}], nodeClassRef"
            );
            let selector = format!("nodeSelector: {{node.kubernetes.io/instance-type: '{node_type}'}}");
            agent("aws-ebs-csi-driver", &selector).replacen("nodeClassRef", &requirements, 1)
        };
        silent(&RULE, &text("p5.48xlarge", "p5.48xlarge"));
        silent(&RULE, &text("m5.large", "${TYPE}"));
        assert!(
            findings(&RULE, &text("p5.48xlarge, m5.large", "p5.48xlarge")).contains("warning DaemonSet/")
        );
    }

    #[test]
    fn accepts_optional_drivers_and_a_second_network_plugin() {
        let group = "nodeSelector: {eks.amazonaws.com/nodegroup: a}";
        for driver in ["aws-efs-csi-driver", "aws-fsx-csi-driver", "aws-mountpoint-s3-csi-driver"] {
            silent(&RULE, &agent(driver, group));
        }
        assert!(findings(&RULE, &agent("aws-ebs-csi-driver", group)).contains("the EBS CSI driver"));
        let second = |image: &str| {
            agent("amazon-k8s-cni", group)
                + "---\n"
                + agent(image, "hostNetwork: true").strip_prefix(POOL).unwrap_or_default()
        };
        silent(&RULE, &second("cilium"));
        assert!(findings(&RULE, &second("fluent-bit")).contains("the VPC CNI plugin"));
    }

    #[test]
    fn accepts_other_daemon_sets() {
        silent(&RULE, &agent("fluent-bit", &terms(GROUP)));
        silent(&RULE, &agent("kube-proxy", &terms(GROUP)).replace("DaemonSet", "Deployment"));
    }
}
