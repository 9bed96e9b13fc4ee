use karpenter::instance_types::{self, InstanceType, TypeLabel};
use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::node_class::KubeletConfiguration;
use objects::node_pool::NodePool;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use scheduling::requirements::Requirement;
use scheduling::template::NodeTemplate;
use userdata::image_family::ImageFamily;

use crate::rules::ami_family;
use crate::rules::indexes::{Agents, NodeClasses};

rule! {
    /// ## What it does
    ///
    /// Compares `kubelet.maxPods` of the EC2NodeClass with the addresses that the network interfaces of each instance type of the
    /// NodePool can have, if the VPC CNI plugin in the input assigns single addresses: `ENABLE_PREFIX_DELEGATION` is `false`.
    /// The finding is an info if the NodePool names no types, families or sizes: its smallest types are too small for so many
    /// pods anyway.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter and the scheduler believe `maxPods`. The pods beyond the addresses of the instance stay in `ContainerCreating` with
    /// `failed to assign an IP address to container`.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiSelectorTerms: [{alias: al2023@v20260401}]
    ///   kubelet: {maxPods: 110}
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///         - {key: node.kubernetes.io/instance-type, operator: In, values: [m7i.large, m7i.4xlarge]}
    /// ---
    /// apiVersion: apps/v1
    /// kind: DaemonSet
    /// metadata:
    ///   name: aws-node
    ///   namespace: kube-system
    /// spec:
    ///   template:
    ///     spec:
    ///       containers:
    ///         - name: aws-node
    ///           image: 602401143452.dkr.ecr.eu-west-1.amazonaws.com/amazon-k8s-cni:v1.19.2
    ///           env:
    ///             - {name: ENABLE_PREFIX_DELEGATION, value: "false"}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiSelectorTerms: [{alias: al2023@v20260401}]
    ///   kubelet: {maxPods: 110}
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///         - {key: node.kubernetes.io/instance-type, operator: In, values: [m7i.large, m7i.4xlarge]}
    /// ---
    /// apiVersion: apps/v1
    /// kind: DaemonSet
    /// metadata:
    ///   name: aws-node
    ///   namespace: kube-system
    /// spec:
    ///   template:
    ///     spec:
    ///       containers:
    ///         - name: aws-node
    ///           image: 602401143452.dkr.ecr.eu-west-1.amazonaws.com/amazon-k8s-cni:v1.19.2
    ///           env:
    ///             - {name: ENABLE_PREFIX_DELEGATION, value: "true"}
    ///             - {name: WARM_PREFIX_TARGET, value: "1"}
    /// ```
    ///
    /// ## What it needs
    ///
    /// The input must have the NodePool, its EC2NodeClass and the DaemonSet of the VPC CNI plugin or its add-on with settings. The policy looks up neither whole, so the
    /// finding is only in the report of files.
    ///
    /// ## References
    ///
    /// - website/content/en/docs/troubleshooting.md of aws/karpenter-provider-aws at v1.14.1, "`maxPods` is greater than the node's supported
    ///   pod density"; `ENILimitedPods` in `pkg/providers/instancetype/types.go`
    /// - aws/amazon-vpc-cni-k8s#2749, aws/karpenter-provider-aws#7318, #5317
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "`maxPods` is above the addresses that an instance type of the NodePool can have",
        runs: Runs::OnFiles,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pool) = NodePool::of(object) else { return };
    let prefixes = context.inventory.index::<Agents>().vpc_cni_variable("ENABLE_PREFIX_DELEGATION");
    let Some(prefixes) = prefixes.filter(|value| value.as_str() == Some("false")) else { return };
    let Some((class, name)) = context.inventory.index::<NodeClasses>().of_pool(pool) else { return };
    // The plugin for Windows is another one, a custom image gets no kubelet settings, and `podsPerCore` lowers the number.
    let kubelet = class.kubelet().filter(|kubelet| kubelet.node().get("podsPerCore").is_none());
    let is_judged = ami_family::family_of(class)
        .is_some_and(|family| !matches!(family, ImageFamily::Windows | ImageFamily::Custom));
    let max_pods = kubelet.filter(|_| is_judged).and_then(KubeletConfiguration::max_pods);
    let Some((node, max_pods)) = max_pods.and_then(|node| Some((node, node.as_int()?))) else { return };
    let requirements = NodeTemplate::of(pool).requirements;
    let restricted: Vec<_> =
        TypeLabel::all().filter_map(|label| Some((label, requirements.get(label.key)?))).collect();
    let too_small = |kind: &&InstanceType| addresses(kind) < max_pods && is_allowed(kind, &restricted);
    let types = instance_types::all().iter();
    let Some(least) = types.filter(too_small).min_by_key(|kind| addresses(kind)) else { return };
    let lists_types =
        pool.requirements().parsed().any(|item| item.operator == "In" && NAMING.contains(&item.label()));
    let severity = if lists_types { Severity::Warning } else { Severity::Info };
    let message = format!(
        "`maxPods` is {max_pods}, but `{}`, which this NodePool allows, has addresses for {} pods: further pods of a node stay in `ContainerCreating`",
        least.name(),
        addresses(least)
    );
    findings.push(
        Finding::new(&RULE, Place::value(name), message)
            .severity(severity)
            .help("remove `maxPods`, lower it, require larger instance types, or turn on `ENABLE_PREFIX_DELEGATION`")
            .related(Place::value(node), "the limit of the EC2NodeClass")
            .related(Place::value(prefixes), "prefix delegation is off"),
    );
}

/// Labels whose values name instance types. Without them a NodePool also allows types that are too small for so many pods anyway.
const NAMING: [&str; 3] = [
    "node.kubernetes.io/instance-type",
    "karpenter.k8s.aws/instance-family",
    "karpenter.k8s.aws/instance-size",
];

/// Number of pods whose addresses fit the network interfaces of a type: `ENILimitedPods`.
fn addresses(kind: &InstanceType) -> i64 {
    let (interfaces, each) = kind.interfaces();
    interfaces * (each - 1) + 2
}

/// Whether the requirements on some labels allow an instance type.
fn is_allowed(kind: &InstanceType, restricted: &[(TypeLabel, &Requirement<'_>)]) -> bool {
    restricted.iter().all(|(label, requirement)| match label.value(kind) {
        Some(value) => requirement.has(value),
        None => requirement.is_negative(),
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn text(types: &str, class: &str, prefixes: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    spec:
      nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}}
      requirements: [{{key: node.kubernetes.io/instance-type, operator: In, values: [{types}]}}]
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec: {{amiSelectorTerms: [{{alias: al2023@v20250501}}], {class}}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {{name: aws-node}}
spec: {{template: {{spec: {{containers: [{{name: aws-node, image: 'example.com/amazon-k8s-cni:v1.19.2', env: [{{name: ENABLE_PREFIX_DELEGATION, value: {prefixes}}}]}}]}}}}}}
"
        )
    }

    #[test]
    fn reports_more_pods_than_addresses() {
        let text = text("m7i.2xlarge, m7i.large", "kubelet: {maxPods: 110}", "'false'");
        insta::assert_snapshot!(findings(&RULE, &text), @"
          7 |       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}
            |                                                                          ^
        warning NodePool/a spec.template.spec.nodeClassRef.name [all]
          `maxPods` is 110, but `m7i.large`, which this NodePool allows, has addresses for 29 pods: further pods of a node stay in `ContainerCreating`
          help: remove `maxPods`, lower it, require larger instance types, or turn on `ENABLE_PREFIX_DELEGATION`
          see line 13 spec.kubelet.maxPods: the limit of the EC2NodeClass
          see line 18 spec.template.spec.containers[0].env[0].value: prefix delegation is off
        ");
    }

    #[test]
    fn accepts_as_many_pods_as_addresses() {
        for (max_pods, expected) in [(29, false), (30, true)] {
            let found =
                findings(&RULE, &text("m7i.large", &format!("kubelet: {{maxPods: {max_pods}}}"), "'false'"));
            assert_eq!(found.contains("29 pods"), expected, "{max_pods}: {found}");
        }
    }

    #[test]
    fn informs_of_nodepools_that_name_no_types() {
        let named = "key: node.kubernetes.io/instance-type, operator: In, values: [m7i.large]";
        let open = "key: karpenter.k8s.aws/instance-category, operator: In, values: [m]";
        let text = text("m7i.large", "kubelet: {maxPods: 29}", "'false'").replace(named, open);
        assert!(findings(&RULE, &text).contains("info NodePool/a"));
    }

    #[test]
    fn accepts_prefixes_large_types_and_what_is_not_known() {
        const PODS: &str = "kubelet: {maxPods: 110}";
        for prefixes in ["'true'", "'${PREFIXES}'", "null"] {
            silent(&RULE, &text("m7i.large", PODS, prefixes));
        }
        silent(&RULE, &text("m7i.4xlarge", PODS, "'false'"));
        silent(&RULE, &text("'${TYPE}'", PODS, "'false'"));
        for class in [
            "kubelet: {}",
            "kubelet: {maxPods: 110, podsPerCore: 4}",
            "kubelet: {maxPods: 'cpu * 10'}",
            "kubelet: {maxPods: 110}, amiFamily: Windows2022",
            "kubelet: {maxPods: 110}, amiFamily: Custom",
        ] {
            silent(&RULE, &text("m7i.large", class, "'false'"));
        }
    }
}
