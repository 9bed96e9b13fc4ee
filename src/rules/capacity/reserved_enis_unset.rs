use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::chart_values::{self, ChartSettings};
use objects::controller::{OptionValue, RESERVED_ENIS};
use objects::node_access::CLUSTER_CONFIG;
use objects::node_class::Ec2NodeClass;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

use crate::rules::indexes::{Agents, Controllers};

rule! {
    /// ## What it does
    ///
    /// Finds the DaemonSet of the VPC CNI plugin with custom networking (`AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG`) or security groups
    /// for pods (`ENABLE_POD_ENI`), where no controller of Karpenter in the input reserves a network interface.
    ///
    /// ## Why it is bad
    ///
    /// The plugin then has a network interface less for the addresses of pods. Karpenter does not know this: it computes the number of
    /// pods of a node from all network interfaces, unless `reservedENIs` says otherwise. The pods beyond the addresses stay in
    /// `ContainerCreating` with `failed to assign an IP address to container`.
    ///
    /// ## Example
    ///
    /// ```yaml
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
    ///             - {name: AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG, value: "true"}
    /// ---
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: karpenter
    ///   namespace: kube-system
    /// spec:
    ///   chart: {spec: {chart: karpenter}}
    ///   values:
    ///     settings:
    ///       clusterName: prod
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
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
    ///             - {name: AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG, value: "true"}
    /// ---
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: karpenter
    ///   namespace: kube-system
    /// spec:
    ///   chart: {spec: {chart: karpenter}}
    ///   values:
    ///     settings:
    ///       clusterName: prod
    ///       reservedENIs: "1"
    /// ```
    ///
    /// ## What it needs
    ///
    /// The input must have the DaemonSet or the add-on `vpc-cni` with its settings, in Terraform, CloudFormation, eksctl or ACK, and the
    /// values of Karpenter's chart or the Deployment of its controller. The rule is silent with
    /// prefix delegation, and if every EC2NodeClass of the input sets `kubelet.maxPods`. The policy looks up no settings of Karpenter,
    /// so the finding is only in the report of files.
    ///
    /// ## References
    ///
    /// - website/content/en/docs/concepts/nodeclasses.md "Pod Density" and website/content/en/docs/troubleshooting.md of
    ///   aws/karpenter-provider-aws at v1.14.1; `ENILimitedPods` in `pkg/providers/instancetype/types.go`
    /// - aws/karpenter-provider-aws#2273, #3989; aws/amazon-vpc-cni-k8s#3238
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "Karpenter counts a network interface that the VPC CNI plugin keeps for itself",
        runs: Runs::OnFiles,
        on: &[
            On::Kind(Kind::of("apps", "v1", "DaemonSet")),
            On::Kind(Kind::of("eks.services.k8s.aws", "v1alpha1", "Addon")),
            On::Kind(CLUSTER_CONFIG),
            On::IamPolicy,
        ],
        inventory: &[],
        check: check,
    }
}

/// Variables of the plugin that take a network interface from the pods.
const CAUSES: [(&str, &str); 2] = [
    (
        "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG",
        "custom networking takes no addresses for pods from one network interface of each node",
    ),
    (
        "ENABLE_POD_ENI",
        "security groups for pods reserve one network interface of each node that supports them",
    ),
];

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let agents = context.inventory.index::<Agents>();
    let is_plugin = agents.is_vpc_cni(object);
    let value = |name| agents.vpc_cni_variable(name).filter(|value| value.as_str() == Some("true"));
    let cause = CAUSES.into_iter().find_map(|(name, what)| Some((value(name)?, what)));
    let has_prefixes = value("ENABLE_PREFIX_DELEGATION").is_some();
    let Some((node, what)) = cause.filter(|_| is_plugin && !has_prefixes) else { return };
    let pods = |class: Object<'d>| Ec2NodeClass::of(class)?.kubelet()?.max_pods();
    let mut classes = context.inventory.objects_of(Kind::NODE_CLASS).peekable();
    let is_fixed = classes.peek().is_some() && classes.all(|class| pods(class).is_some());
    let Some(controller) = without_reserved(context).filter(|_| !is_fixed) else { return };
    let message = format!(
        "{what}, but Karpenter counts the addresses of all network interfaces: some pods of a full node stay in `ContainerCreating`"
    );
    findings.push(
        Finding::new(&RULE, Place::value(node), message)
            .help("set `settings.reservedENIs` of Karpenter's chart to `\"1\"`")
            .related(Place::value(controller), "Karpenter's settings reserve no network interface"),
    );
}

/// The settings of Karpenter's controllers, if none of them reserves network interfaces or may do so elsewhere.
fn without_reserved<'d>(context: &Context<'_, 'd>) -> Option<Node<'d>> {
    let is_none = |text: Option<&str>| text.is_none_or(|text| text.is_empty() || text == "0");
    let mut first = None;
    for object in context.inventory.objects() {
        let Some(values) = chart_values::of(*object) else { continue };
        let reserved = values.reserved_enis().filter(|node| !node.is_null() && node.as_int() != Some(0));
        if chart_values::names_value_files(*object)
            || values.settings().is_some_and(|settings| settings.node().as_str().is_some())
            || !is_none(reserved.map(|node| node.as_str().unwrap_or("?")))
        {
            return None;
        }
        first = first.or(values.settings().map(ChartSettings::node));
    }
    for controller in context.inventory.index::<Controllers>() {
        match controller.setting(RESERVED_ENIS) {
            OptionValue::Absent => {}
            OptionValue::Text(text, _) if is_none(Some(text)) => {}
            _ => return None,
        }
        first = first.or(Some(controller.object.name_node()));
    }
    first
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn plugin(variables: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: DaemonSet
metadata: {{name: aws-node}}
spec:
  template:
    spec:
      containers:
      - name: aws-node
        image: example.com/amazon-k8s-cni:v1.19.2
        env: [{variables}]
---
"
        )
    }

    const CUSTOM: &str = "{name: AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG, value: 'true'}";
    const VALUES: &str = "settings: {clusterName: a, interruptionQueue: a}\n---\n";

    fn controller(environment: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: Deployment
metadata: {{name: karpenter}}
spec: {{template: {{spec: {{containers: [{{name: controller, image: 'public.ecr.aws/karpenter/controller:1.14.0', {environment}}}]}}}}}}
---
"
        )
    }

    #[test]
    fn reports_custom_networking_without_reserved_interfaces() {
        insta::assert_snapshot!(findings(&RULE, &(plugin(CUSTOM) + VALUES)), @r#"
         10 |         env: [{name: AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG, value: 'true'}]
            |                                                                 ^^^^^^
        warning DaemonSet/aws-node spec.template.spec.containers[0].env[0].value [all]
          custom networking takes no addresses for pods from one network interface of each node, but Karpenter counts the addresses of all network interfaces: some pods of a full node stay in `ContainerCreating`
          help: set `settings.reservedENIs` of Karpenter's chart to `"1"`
          see line 12 settings: Karpenter's settings reserve no network interface
        "#);
        for settings in [
            controller("env: []"),
            controller("env: [{name: RESERVED_ENIS, value: '0'}]"),
            VALUES.replace("interruptionQueue: a", "interruptionQueue: a, reservedENIs: '0'"),
            VALUES.replace("interruptionQueue: a", "interruptionQueue: a, reservedENIs: 0"),
            VALUES.replace("interruptionQueue: a", "interruptionQueue: a, reservedENIs: null"),
        ] {
            assert!(!findings(&RULE, &(plugin(CUSTOM) + &settings)).is_empty(), "{settings}");
        }
        let eni = plugin("{name: ENABLE_POD_ENI, value: 'true'}") + VALUES;
        assert!(findings(&RULE, &eni).contains("env[0].value"));
    }

    #[test]
    fn reports_the_settings_of_an_addon() {
        let addon = |settings: &str| {
            format!(
                "Resources:\n  cni:\n    Type: AWS::EKS::Addon\n    Properties: {{AddonName: vpc-cni, ConfigurationValues: {settings}}}\n---\n"
            )
        };
        let custom = "{env: {AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG: 'true'}}";
        insta::assert_snapshot!(findings(&RULE, &(addon(custom) + VALUES)), @r#"
          4 |     Properties: {AddonName: vpc-cni, ConfigurationValues: {env: {AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG: 'true'}}}
            |                                                                                                      ^^^^^^
        warning /cni Properties.ConfigurationValues.env.AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG [all]
          custom networking takes no addresses for pods from one network interface of each node, but Karpenter counts the addresses of all network interfaces: some pods of a full node stay in `ContainerCreating`
          help: set `settings.reservedENIs` of Karpenter's chart to `"1"`
          see line 6 settings: Karpenter's settings reserve no network interface
        "#);
        silent(&RULE, &(addon("{env: {AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG: '${X}'}}") + VALUES));
        silent(&RULE, &(addon("'${settings}'") + VALUES));
        let second = addon(custom).replace("cni:", "cni2:");
        silent(&RULE, &(addon(custom) + &second + VALUES));
        silent(&RULE, &(addon(custom) + &plugin("") + VALUES));
    }

    #[test]
    fn accepts_reserved_interfaces_and_unknown_settings() {
        let custom = plugin(CUSTOM);
        silent(&RULE, &custom);
        silent(&RULE, &(plugin("{name: AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG, value: 'false'}") + VALUES));
        for settings in [
            controller("env: [{name: RESERVED_ENIS, value: '1'}]"),
            controller("env: [{name: RESERVED_ENIS, valueFrom: {configMapKeyRef: {name: a, key: b}}}]"),
            controller("envFrom: [{configMapRef: {name: a}}]"),
            VALUES.replace("interruptionQueue: a", "interruptionQueue: a, reservedENIs: 1"),
            VALUES.replace("interruptionQueue: a", "interruptionQueue: a, reservedENIs: '${ENIS}'"),
        ] {
            silent(&RULE, &(custom.clone() + &settings));
            silent(&RULE, &(custom.clone() + VALUES + &settings));
        }
    }

    #[test]
    fn accepts_prefixes_and_a_fixed_number_of_pods() {
        let prefixes = plugin(&format!("{CUSTOM}, {{name: ENABLE_PREFIX_DELEGATION, value: 'true'}}"));
        silent(&RULE, &(prefixes + VALUES));
        let class = |spec: &str| {
            format!(
                r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec: {{{spec}}}
---
"
            )
        };
        let fixed = class("kubelet: {maxPods: 20}");
        silent(&RULE, &(plugin(CUSTOM) + VALUES + &fixed));
        assert!(!findings(&RULE, &(plugin(CUSTOM) + VALUES + &fixed + &class(""))).is_empty());
    }
}
