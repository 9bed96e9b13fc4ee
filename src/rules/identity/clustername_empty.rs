use karpenter::cluster_name::{ClusterNamePlaceholder, placeholder};
use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::chart_values;
use objects::controller::{CLUSTER_NAME, Controller, OptionValue};
use objects::object::Object;
use objects::placeholders::is_interpolated;
use objects::pod::EnvVar;
use objects::workload::Workload;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::is_bare_reference;

use crate::rules::identity::gravity;

rule! {
    /// ## What it does
    ///
    /// Checks that the Deployment of Karpenter's controller sets the name of its cluster: `CLUSTER_NAME` or
    /// `--cluster-name` is present, is not empty, and is not the placeholder of a template or an example.
    ///
    /// Placeholders in `settings.clusterName` of the Helm values are reported as well. An empty value there is not
    /// reported: the name is usually set on the Helm command line, and the chart refuses to render without it.
    ///
    /// A name that comes from a ConfigMap, a Secret or another variable is not checked.
    ///
    /// ## Why it is bad
    ///
    /// Without a name the controller exits at start-up with `missing field, cluster-name`. A placeholder is worse: two
    /// clusters that keep the same placeholder have the same name. Karpenter tags everything it creates with the
    /// cluster's name. Within minutes, each controller terminates the instances with its cluster's name for which it
    /// has no NodeClaim, and these are the instances of the other cluster.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: karpenter
    ///   namespace: kube-system
    /// spec:
    ///   template:
    ///     spec:
    ///       containers:
    ///       - name: controller
    ///         image: public.ecr.aws/karpenter/controller:1.14.1
    ///         env:
    ///         - name: CLUSTER_NAME
    ///           value: ""
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: karpenter
    ///   namespace: kube-system
    /// spec:
    ///   template:
    ///     spec:
    ///       containers:
    ///       - name: controller
    ///         image: public.ecr.aws/karpenter/controller:1.14.1
    ///         env:
    ///         - name: CLUSTER_NAME
    ///           value: prod-eu-1
    /// ```
    ///
    /// With Helm, set `settings.clusterName`, ideally from the output of the tool that creates the cluster.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#601, #7356, #7436
    /// - `pkg/operator/options/options.go` and `options_validation.go` at v1.0.0 and v1.14.1
    /// - pkg/controllers/nodeclaim/garbagecollection/controller.go at v1.14.1
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the controller has no cluster name, or a placeholder",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::DEPLOYMENT), On::ChartValues],
        inventory: &[],
        check: check,
    }
}

const HELP: &str = "write the name of the EKS cluster; with Helm, set `settings.clusterName`";

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    findings.extend(check_values(object, context));
    let Some(controller) = Controller::of(object) else { return };
    match controller.setting(CLUSTER_NAME) {
        // A Deployment without a selector is a patch, and another layer may set what the patch leaves out.
        OptionValue::Absent if Workload::of(object).selector().is_none() => {}
        OptionValue::Absent => {
            let message = "the controller has no `CLUSTER_NAME` and exits at start-up with `missing field, cluster-name`";
            let place = Place::missing(controller.container.node(), "env");
            findings.push(Finding::new(&RULE, place, message).help(HELP));
        }
        OptionValue::Text("", node) => {
            let message = "`CLUSTER_NAME` is empty; the controller exits at start-up with `missing field, cluster-name`";
            findings.push(Finding::new(&RULE, Place::value(node), message).help(HELP));
        }
        OptionValue::Text(name, node) => findings.extend(check_placeholder(object, name, node, context)),
        OptionValue::Elsewhere => {}
    }
    findings.extend(set_twice(&controller));
}

/// Checks the Helm value. An empty value is set on the command line or refused by the chart, and the chart renders
/// templates in the value.
fn check_values<'d>(object: Object<'d>, context: &Context<'_, 'd>) -> Option<Finding<'d>> {
    let node = chart_values::of(object)?.cluster_name()?;
    let name = node.as_str().filter(|name| !name.contains("{{"))?;
    check_placeholder(object, name, node, context)
}

/// Reports a cluster name that is only a placeholder.
fn check_placeholder<'d>(
    object: Object<'d>,
    name: &str,
    node: Node<'d>,
    context: &Context<'_, 'd>,
) -> Option<Finding<'d>> {
    if context.settings.cluster_name.as_deref() == Some(name) || is_interpolated(node) {
        return None;
    }
    let what = placeholder(name).filter(|_| !is_bare_reference(name))?;
    let kind = if what == ClusterNamePlaceholder::Example { "an example name" } else { "a placeholder" };
    let message = format!(
        "the controller's cluster name `{name}` is {kind}; clusters that share it terminate each other's nodes"
    );
    let finding = Finding::at(&RULE, node, message).help(HELP);
    Some(finding.severity(gravity(what, object.operation())).caught_by(CaughtBy::Nobody))
}

/// Reports two different values of the variable. The container gets the last value.
fn set_twice<'d>(controller: &Controller<'d>) -> Option<Finding<'d>> {
    let mut items = controller.variables(CLUSTER_NAME.variable);
    let (first, last) = (items.next()?, items.last()?);
    let value = |item: EnvVar<'d>| item.value().and_then(Node::as_str);
    if value(first) == value(last) {
        return None;
    }
    let message = "`CLUSTER_NAME` is set twice with different values, and the container gets the last value";
    let finding = Finding::new(&RULE, Place::value(first.node()), message).severity(Severity::Warning);
    let finding = finding.caught_by(CaughtBy::Nobody).help("keep the value that names this cluster");
    Some(finding.related(Place::value(last.node()), "the container gets this value"))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with, request, silent};
    use rule::settings::Settings;

    /// The controller's Deployment, with the given fields in its container.
    fn controller(container: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: Deployment
metadata: {{name: karpenter, namespace: kube-system}}
spec:
  template:
    spec:
      containers:
      - name: controller
        image: public.ecr.aws/karpenter/controller:1.14.1
        {container}
"
        )
    }

    #[test]
    fn reports_empty_name_at_the_variable_or_flag() {
        let text = controller(
            "env:\n        - {name: AWS_REGION, value: eu-west-1}\n        - {name: CLUSTER_NAME, value: ''}",
        );
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
         12 |         - {name: CLUSTER_NAME, value: ''}
            |                                       ^^
        error Deployment/karpenter spec.template.spec.containers[0].env[1].value [all]
          `CLUSTER_NAME` is empty; the controller exits at start-up with `missing field, cluster-name`
          help: write the name of the EKS cluster; with Helm, set `settings.clusterName`
        ");
        let text = controller("env: [{name: CLUSTER_NAME}]");
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
         10 |         env: [{name: CLUSTER_NAME}]
            |                ^^^^
        error Deployment/karpenter spec.template.spec.containers[0].env[0] [all]
          `CLUSTER_NAME` is empty; the controller exits at start-up with `missing field, cluster-name`
          help: write the name of the EKS cluster; with Helm, set `settings.clusterName`
        ");
        let text = controller("args: [--cluster-name=]");
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
         10 |         args: [--cluster-name=]
            |                ^^^^^^^^^^^^^^^
        error Deployment/karpenter spec.template.spec.containers[0].args[0] [all]
          `CLUSTER_NAME` is empty; the controller exits at start-up with `missing field, cluster-name`
          help: write the name of the EKS cluster; with Helm, set `settings.clusterName`
        ");
    }

    #[test]
    fn reports_missing_name_in_complete_deployment_with_controller_image() {
        let patch = controller("env: []");
        silent(&super::RULE, &patch);
        let whole =
            patch.replace("spec:\n  template", "spec:\n  selector: {matchLabels: {a: b}}\n  template");
        insta::assert_snapshot!(findings(&super::RULE, &whole), @"
          9 |       - name: controller
            |         ^^^^
        error Deployment/karpenter spec.template.spec.containers[0].env [all]
          the controller has no `CLUSTER_NAME` and exits at start-up with `missing field, cluster-name`
          help: write the name of the EKS cluster; with Helm, set `settings.clusterName`
        ");
        silent(&super::RULE, &whole.replace("public.ecr.aws/karpenter/controller", "example.net/karpenter"));
    }

    #[test]
    fn placeholder_is_an_info_in_a_file_and_an_error_at_admission() {
        let placeholders = [
            "${CLUSTER_NAME}",
            "$CLUSTER_NAME",
            "{{ .Values.x }}",
            "<cluster-name>",
            "__X__",
            "CLUSTER_NAME",
        ];
        for name in placeholders.into_iter().chain(["my-cluster"]) {
            let (severity, kind) = match name {
                "my-cluster" => ("warning", "an example name"),
                _ => ("info", "a placeholder"),
            };
            let text = controller(&format!("env: [{{name: CLUSTER_NAME, value: '{name}'}}]"));
            let said = findings(&super::RULE, &text);
            assert!(
                said.contains(&format!("{severity} Deployment/karpenter"))
                    && said.contains(&format!("cluster name `{name}` is {kind}")),
                "{said}"
            );
            let said = findings(&super::RULE, &request("CREATE", &text));
            assert_eq!(said.contains("error Deployment"), name != "my-cluster", "{said}");
        }
    }

    #[test]
    fn reports_placeholders_in_helm_values() {
        assert!(findings(&super::RULE, "settings: {clusterName: '<cluster-name>'}\n").contains("info"));
        for name in ["''", "'{{ .Values.global.cluster }}'", "prod"] {
            silent(&super::RULE, &format!("settings: {{clusterName: {name}}}\n"));
        }
    }

    #[test]
    fn reports_two_values_of_the_variable() {
        let text = controller(
            "env:\n        - {name: CLUSTER_NAME, value: a}\n        - {name: CLUSTER_NAME, value: b}",
        );
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
         11 |         - {name: CLUSTER_NAME, value: a}
            |            ^^^^
        warning Deployment/karpenter spec.template.spec.containers[0].env[0] [all]
          `CLUSTER_NAME` is set twice with different values, and the container gets the last value
          help: keep the value that names this cluster
          see line 12 spec.template.spec.containers[0].env[1]: the container gets this value
        ");
    }

    #[test]
    fn ignores_real_names_and_values_from_other_sources() {
        for container in [
            "env: [{name: CLUSTER_NAME, value: prod-eu-1}]",
            "env: [{name: CLUSTER_NAME, value: prod.example.net}]",
            "env: [{name: CLUSTER_NAME, valueFrom: {configMapKeyRef: {name: a, key: b}}}]",
            "env: [{name: NAME, value: prod}, {name: CLUSTER_NAME, value: $(NAME)}]",
            "envFrom: [{secretRef: {name: karpenter}}]",
            "args: [--cluster-name, prod]",
            "env: [{name: CLUSTER_NAME, value: prod}, {name: CLUSTER_NAME, value: prod}]",
        ] {
            silent(&super::RULE, &controller(container));
        }
    }

    #[test]
    fn accepts_example_name_that_the_setting_confirms() {
        let text = controller("env: [{name: CLUSTER_NAME, value: my-cluster}]");
        let settings = Settings { cluster_name: Some("my-cluster".to_owned()), ..Settings::default() };
        assert_eq!(findings_with(&super::RULE, &text, &settings), "");
    }

    #[test]
    fn ignores_deployments_of_other_software() {
        let text = controller("env: [{name: CLUSTER_NAME, value: ''}]");
        silent(
            &super::RULE,
            &text
                .replace("public.ecr.aws/karpenter/controller", "mcr.microsoft.com/aks/karpenter/controller"),
        );
        silent(
            &super::RULE,
            &text
                .replace("public.ecr.aws/karpenter/controller", "example.net/shop")
                .replace("name: karpenter", "name: shop"),
        );
    }
}
