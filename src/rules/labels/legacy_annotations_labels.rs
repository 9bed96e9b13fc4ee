use karpenter::kind::Kind;
use karpenter::labels::{self, DO_NOT_DISRUPT, INSTANCE_PODS, NODEPOOL, PROVISIONER_NAME};
use karpenter::release::Releases;
use manifest::edit::Change;
use manifest::tree::Node;
use objects::metadata::Metadata;
use objects::node_class::Ec2NodeClass;
use objects::node_pool::NodePool;
use objects::object::{Object, Operation};
use objects::pod::{
    ExpressionOrigin, LabelExpression, Pod, PodAffinityTerm, TolerationItem, TopologySpreadConstraint,
};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::fix::rename_label;
use rule::{Fixes, On, Runs};
use scheduling::provisionable::is_provisionable;

rule! {
    /// ## What it does
    ///
    /// Looks for annotations, labels, tolerations and tags that Cluster Autoscaler or Karpenter before 1.0 used and
    /// that nothing reads any more:
    ///
    /// | leftover | use instead |
    /// |---|---|
    /// | annotation `karpenter.sh/do-not-evict` on a pod | `karpenter.sh/do-not-disrupt` |
    /// | annotation `karpenter.sh/do-not-consolidate` on a node or NodePool template | `karpenter.sh/do-not-disrupt`, which also blocks drift |
    /// | annotation `cluster-autoscaler.kubernetes.io/safe-to-evict: "false"` on a pod | `karpenter.sh/do-not-disrupt: "true"` |
    /// | annotation `cluster-autoscaler.kubernetes.io/scale-down-disabled` on a node or NodePool template | `karpenter.sh/do-not-disrupt` |
    /// | selector, affinity or `topologyKey` with `karpenter.sh/provisioner-name` | `karpenter.sh/nodepool` |
    /// | selector or affinity with `karpenter.k8s.aws/instance-pods` | nothing: there is no such label any more |
    /// | toleration of the taint `karpenter.sh/disruption` | `karpenter.sh/disrupted`, which has no value |
    /// | tags `k8s.io/cluster-autoscaler/…` on an EC2NodeClass | labels and taints on the NodePool |
    ///
    /// ## Why it is bad
    ///
    /// An annotation that nothing reads protects nothing: Karpenter evicts the pod when it consolidates the node. A
    /// selector on `karpenter.sh/provisioner-name` is worse. The domain `karpenter.sh` is restricted, so Karpenter
    /// ignores the pod and the pod stays Pending. That case is an error.
    ///
    /// The rule does not report `safe-to-evict` with a value other than `"false"`, or on a pod that also has
    /// `do-not-disrupt`: both autoscalers may be in use.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: job
    ///   annotations:
    ///     karpenter.sh/do-not-evict: "true"
    /// spec:
    ///   containers: [{name: job, image: "example.com/job:1"}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: job
    ///   annotations:
    ///     karpenter.sh/do-not-disrupt: "true"
    /// spec:
    ///   containers: [{name: job, image: "example.com/job:1"}]
    /// ```
    ///
    /// ## Fix safety
    ///
    /// Safe where the new name means the same: `do-not-evict` and `topologyKey`. Review the other fixes: a NodePool may
    /// have another name than the provisioner had, and `do-not-disrupt` protects against more than the annotation that
    /// it replaces.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#3594, #4758; kubernetes-sigs/aws-ebs-csi-driver#2165
    /// - Karpenter's upgrade guide, 0.32 and 0.33, and its guide to migrating from Cluster Autoscaler
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "an annotation, label, toleration or tag of Cluster Autoscaler or of Karpenter before 1.0 that nothing reads any more",
        runs: Runs::InAdmission,
        on: &[
            On::Workload,
            On::Kind(Kind::NODE_POOL),
            On::Kind(Kind::NODE_CLASS),
            On::Kind(Kind::of("", "v1", "Node")),
        ],
        inventory: &[],
        depends_on_karpenter: true,
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    if let Some(pool) = NodePool::of(object) {
        if let Some(template) = pool.template() {
            check_node_annotations(template.metadata(), findings);
        }
    } else if let Some(class) = Ec2NodeClass::of(object) {
        let old = class.tags().filter(|(key, _)| key.starts_with("k8s.io/cluster-autoscaler/"));
        findings.extend(old.map(|(_, tag)| {
            let message =
                "Karpenter copies this Cluster Autoscaler tag to its instances, where nothing reads it";
            let help = "remove it; set labels and taints of the nodes on the NodePool";
            Finding::new(&RULE, Place::key_of_map(tag), message).severity(Severity::Info).help(help)
        }));
    } else if let Some(pod) = Pod::of(object) {
        check_pod_annotations(pod.metadata(), findings);
        check_selectors(pod, findings);
        check_topology_keys(pod, findings);
        check_tolerations(pod, findings);
    } else {
        check_node_annotations(object.metadata(), findings);
    }
}

/// Reports leftover annotations of a pod.
fn check_pod_annotations<'d>(metadata: Metadata<'d>, findings: &mut Vec<Finding<'d>>) {
    let Some(annotations) = metadata.annotation_map() else { return };
    let present = metadata.annotation(DO_NOT_DISRUPT).is_some();
    if let Some(old) = metadata.annotation("karpenter.sh/do-not-evict") {
        findings.push(do_not_evict(old, present));
        return;
    }
    // The manifest of Cluster Autoscaler itself protects its pod from itself.
    if metadata.label("app").and_then(Node::as_str) == Some("cluster-autoscaler") {
        return;
    }
    let cluster_autoscaler = metadata.annotation("cluster-autoscaler.kubernetes.io/safe-to-evict");
    if let Some(old) = cluster_autoscaler.filter(|old| old.as_str() == Some("false") && !present) {
        let message =
            "Karpenter does not read `safe-to-evict`, and evicts the pod when it consolidates the node";
        let add = Change::Add(annotations, DO_NOT_DISRUPT.to_owned(), "true".to_owned());
        findings.push(annotation(old, message).unsafe_fix("add `karpenter.sh/do-not-disrupt`", add));
    }
}

fn do_not_evict(old: Node<'_>, present: bool) -> Finding<'_> {
    if old.as_str() != Some("true") {
        let message = "`karpenter.sh/do-not-evict` is an annotation of Karpenter before 1.0 that nothing reads any more";
        let finding = annotation(old, message).severity(Severity::Info).help("remove it");
        return finding.safe_fix("remove it", Change::Remove(old));
    }
    let message = "`karpenter.sh/do-not-evict` is an annotation of Karpenter before 1.0 that nothing reads any more: it does not protect the pod";
    let finding = annotation(old, message);
    if present {
        finding.safe_fix("remove it", Change::Remove(old))
    } else {
        finding.safe_fix("write the current name", Change::Rename(old, DO_NOT_DISRUPT.to_owned()))
    }
}

/// Reports leftover annotations of a node or of a NodePool template.
fn check_node_annotations<'d>(metadata: Metadata<'d>, findings: &mut Vec<Finding<'d>>) {
    const OLD: [&str; 2] =
        ["karpenter.sh/do-not-consolidate", "cluster-autoscaler.kubernetes.io/scale-down-disabled"];
    if metadata.annotation(DO_NOT_DISRUPT).is_some() {
        return;
    }
    for old in OLD.iter().filter_map(|key| metadata.annotation(key)) {
        let message =
            format!("Karpenter does not read `{}`, and consolidates the node like any other", old.key());
        findings.push(annotation(old, &message));
    }
}

fn annotation<'d>(node: Node<'d>, message: &str) -> Finding<'d> {
    Finding::new(&RULE, Place::key_of_map(node), message)
        .help("write `karpenter.sh/do-not-disrupt: \"true\"`")
}

fn check_selectors<'d>(pod: Pod<'d>, findings: &mut Vec<Finding<'d>>) {
    let old = pod.expressions().filter(|expression| labels::is_of_old_releases(expression.key));
    for expression in old {
        let key = expression.key;
        let ignored =
            is_provisionable(pod) && !matches!(expression.origin, ExpressionOrigin::Preferred { .. });
        let severity = if ignored { Severity::Error } else { Severity::Warning };
        let effect =
            if ignored { ": Karpenter launches no node for this pod while it is pending" } else { "" };
        let message = format!("`{key}` is a label of Karpenter before 1.0 that no node has any more{effect}");
        let help = if key == INSTANCE_PODS {
            "remove it; no label gives the number of pods that fit a node".to_owned()
        } else if expression.operator.is_negative() {
            format!("write `{NODEPOOL}`; with `DoesNotExist` it keeps the pod off Karpenter's nodes")
        } else {
            format!("write `{NODEPOOL}` with the name of the NodePool")
        };
        let finding = Finding::new(&RULE, expression.place(), message).severity(severity).help(help);
        findings.push(match rename(pod, expression) {
            Some(change) => finding.unsafe_fix("select the NodePool", change),
            None => finding,
        });
    }
}

fn rename<'d>(pod: Pod<'d>, expression: LabelExpression<'d>) -> Option<Change<'d>> {
    if expression.key == PROVISIONER_NAME { rename_label(expression, pod.object(), NODEPOOL) } else { None }
}

/// Reports spread constraints and pod (anti-)affinity terms whose `topologyKey` is the old label.
fn check_topology_keys<'d>(pod: Pod<'d>, findings: &mut Vec<Finding<'d>>) {
    let spec = pod.spec();
    let spread = spec.topology_spread_constraints().filter_map(TopologySpreadConstraint::topology_key);
    let affinity = spec.pod_affinity_terms().filter_map(PodAffinityTerm::topology_key);
    for key in spread.chain(affinity) {
        check_topology_key(pod, key, findings);
    }
}

fn check_topology_key<'d>(pod: Pod<'d>, key: Node<'d>, findings: &mut Vec<Finding<'d>>) {
    if key.as_str() != Some(PROVISIONER_NAME) {
        return;
    }
    let message =
        format!("`{PROVISIONER_NAME}` is a label of Karpenter before 1.0 that no node has any more");
    let finding = Finding::at(&RULE, key, message).write(NODEPOOL);
    let is_update = pod.object().operation() == Operation::Update;
    let change = Change::Set(key, NODEPOOL.to_owned());
    findings.push(if is_update { finding } else { finding.safe_fix("write the current name", change) });
}

fn check_tolerations<'d>(pod: Pod<'d>, findings: &mut Vec<Finding<'d>>) {
    let keys = pod.spec().tolerations().filter_map(TolerationItem::key_node);
    let old = keys.filter(|key| key.as_str() == Some("karpenter.sh/disruption"));
    findings.extend(old.map(|key| {
        let message = "`karpenter.sh/disruption` is a taint of Karpenter before 1.0 that no node has any more";
        let help = "write `karpenter.sh/disrupted` with `operator: Exists`, or remove the toleration: Karpenter does not evict a \
                    pod that tolerates this taint before it terminates the node";
        Finding::new(&RULE, Place::value(key), message).help(help)
    }));
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, fixed, silent};

    fn pod(annotations: &str, spec: &str) -> String {
        format!(
            r"apiVersion: v1
kind: Pod
metadata:
  name: a
  annotations: {{{annotations}}}
spec:
  containers: []
  {spec}
"
        )
    }

    #[test]
    fn replaces_do_not_evict_with_do_not_disrupt() {
        let text = pod("karpenter.sh/do-not-evict: 'true'", "");
        insta::assert_snapshot!(findings(&super::RULE, &text), @r#"
          5 |   annotations: {karpenter.sh/do-not-evict: 'true'}
            |                 ^^^^^^^^^^^^^^^^^^^^^^^^^
        warning Pod/a metadata.annotations [all]
          `karpenter.sh/do-not-evict` is an annotation of Karpenter before 1.0 that nothing reads any more: it does not protect the pod
          help: write `karpenter.sh/do-not-disrupt: "true"`
          fix: write the current name: "karpenter.sh/do-not-disrupt"
        "#);
        assert_eq!(fixed(&super::RULE, &text), text.replace("evict", "disrupt"));
        let both = pod("karpenter.sh/do-not-evict: 'true', karpenter.sh/do-not-disrupt: 'true'", "");
        assert_eq!(fixed(&super::RULE, &both), pod("karpenter.sh/do-not-disrupt: 'true'", ""));
        let idle = pod("a: b, karpenter.sh/do-not-evict: 'false'", "");
        assert_eq!(fixed(&super::RULE, &idle), pod("a: b", ""));
    }

    #[test]
    fn reports_safe_to_evict_of_cluster_autoscaler() {
        let of =
            |more: &str| pod(&format!("cluster-autoscaler.kubernetes.io/safe-to-evict: 'false'{more}"), "");
        insta::assert_snapshot!(findings(&super::RULE, &of("")), @r#"
          5 |   annotations: {cluster-autoscaler.kubernetes.io/safe-to-evict: 'false'}
            |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning Pod/a metadata.annotations [all]
          Karpenter does not read `safe-to-evict`, and evicts the pod when it consolidates the node
          help: write `karpenter.sh/do-not-disrupt: "true"`
          unsafe fix: add `karpenter.sh/do-not-disrupt`: ", karpenter.sh/do-not-disrupt: \"true\""
        "#);
        silent(&super::RULE, &of(", karpenter.sh/do-not-disrupt: 'true'"));
        silent(&super::RULE, &of("").replace("false", "true"));
    }

    #[test]
    fn selector_on_provisioner_name_blocks_the_pod() {
        insta::assert_snapshot!(findings(&super::RULE, &pod("", "nodeSelector: {karpenter.sh/provisioner-name: default}")), @r#"
          8 |   nodeSelector: {karpenter.sh/provisioner-name: default}
            |                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error Pod/a spec.nodeSelector [all]
          `karpenter.sh/provisioner-name` is a label of Karpenter before 1.0 that no node has any more: Karpenter launches no node for this pod while it is pending
          help: write `karpenter.sh/nodepool` with the name of the NodePool
          unsafe fix: select the NodePool: "karpenter.sh/nodepool"
        "#);
    }

    #[test]
    fn preference_and_another_scheduler_do_not_block_the_pod() {
        let selector = "nodeSelector: {karpenter.sh/provisioner-name: default}";
        for spec in [
            &format!("schedulerName: volcano\n  {selector}"),
            "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: karpenter.sh/provisioner-name, operator: Exists}]}}]}}",
        ] {
            let found = findings(&super::RULE, &pod("", spec));
            assert!(found.contains("warning Pod/a") && !found.contains("launches no node"), "{found}");
        }
    }

    #[test]
    fn renames_provisioner_name_in_topology_keys() {
        let text = pod("", "topologySpreadConstraints: [{topologyKey: karpenter.sh/provisioner-name}]");
        assert_eq!(fixed(&super::RULE, &text), text.replace("provisioner-name", "nodepool"));
        let text = pod(
            "",
            "affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{podAffinityTerm: {topologyKey: karpenter.sh/provisioner-name}}]}}",
        );
        assert_eq!(fixed(&super::RULE, &text), text.replace("provisioner-name", "nodepool"));
    }

    #[test]
    fn reports_toleration_of_the_old_disruption_taint() {
        insta::assert_snapshot!(findings(&super::RULE, &pod("", "tolerations: [{key: karpenter.sh/disruption, operator: Exists}]")), @"
          8 |   tolerations: [{key: karpenter.sh/disruption, operator: Exists}]
            |                       ^^^^^^^^^^^^^^^^^^^^^^^
        warning Pod/a spec.tolerations[0].key [all]
          `karpenter.sh/disruption` is a taint of Karpenter before 1.0 that no node has any more
          help: write `karpenter.sh/disrupted` with `operator: Exists`, or remove the toleration: Karpenter does not evict a pod that tolerates this taint before it terminates the node
        ");
    }

    #[test]
    fn reports_leftovers_on_nodes_pools_and_node_classes() {
        let node = r"apiVersion: v1
kind: Node
metadata: {name: a, annotations: {karpenter.sh/do-not-consolidate: 'true'}}
";
        assert!(findings(&super::RULE, node).contains("consolidates the node like any other"));
        let pool = r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec: {template: {metadata: {annotations: {cluster-autoscaler.kubernetes.io/scale-down-disabled: 'true'}}}}
";
        assert!(findings(&super::RULE, pool).contains("consolidates the node like any other"));
        let class = r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec: {tags: {k8s.io/cluster-autoscaler/enabled: 'true', team: a}}
";
        assert!(findings(&super::RULE, class).starts_with("  4 |"));
        assert!(findings(&super::RULE, class).contains("info EC2NodeClass/a spec.tags"));
    }

    #[test]
    fn accepts_current_names() {
        silent(
            &super::RULE,
            &pod("karpenter.sh/do-not-disrupt: 'true'", "nodeSelector: {karpenter.sh/nodepool: a}"),
        );
        silent(&super::RULE, &pod("", "tolerations: [{key: karpenter.sh/disrupted, operator: Exists}]"));
    }
}
