use karpenter::cluster_name::{in_controller_role, in_profile, in_queue, placeholder, related};
use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::chart_values::{self, ChartValues};
use objects::controller::{CLUSTER_NAME, Controller, INTERRUPTION_QUEUE};
use objects::identity::{ROLE_ARN, is_service_account, region_of_endpoint};
use objects::node_class::Ec2NodeClass;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::has_placeholder;

use crate::rules::indexes::{ClusterIdentity, cluster_name};

rule! {
    /// ## What it does
    ///
    /// Compares every setting that names this cluster. `CLUSTER_NAME` in the controller's Deployment and
    /// `settings.clusterName` in the Helm values are compared with each other and with the setting `clusterName`. The
    /// instance profile, the controller's role and the interruption queue are compared with the cluster's name if they
    /// follow the naming schemes of Karpenter's guides (`KarpenterNodeInstanceProfile-<name>`,
    /// `KarpenterControllerRole-<name>`, `Karpenter-<name>`). The region in the cluster endpoint is compared with
    /// `AWS_REGION`.
    ///
    /// The selectors of EC2NodeClasses have a separate rule, `selector-cluster-mismatch`.
    ///
    /// ## Why it is bad
    ///
    /// A controller that runs with another cluster's name tags its instances with that name. If its IAM policy permits
    /// it, the other cluster's controller terminates these instances within minutes, and this controller terminates the
    /// instances of the other cluster.
    ///
    /// ## Example
    ///
    /// ```yaml,cluster=prod
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata: {name: karpenter, namespace: kube-system}
    /// spec:
    ///   template:
    ///     spec:
    ///       containers:
    ///       - image: public.ecr.aws/karpenter/controller:1.14.1
    ///         env: [{name: CLUSTER_NAME, value: staging}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml,cluster=prod
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata: {name: karpenter, namespace: kube-system}
    /// spec:
    ///   template:
    ///     spec:
    ///       containers:
    ///       - image: public.ecr.aws/karpenter/controller:1.14.1
    ///         env: [{name: CLUSTER_NAME, value: prod}]
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#7356
    /// - pkg/controllers/nodeclaim/garbagecollection/controller.go and pkg/providers/instance/instance.go (List) at v1.14.1
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the controller is configured with the name of another cluster",
        runs: Runs::InAdmission,
        on: &[
            On::Kind(Kind::DEPLOYMENT),
            On::Kind(Kind::NODE_CLASS),
            On::Kind(Kind::of("", "v1", "ServiceAccount")),
            On::ChartValues,
        ],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let controller = Controller::of(object);
    let values = chart_values::of_this_cluster(object);
    let in_values = values.and_then(ChartValues::cluster_name);
    let own = controller
        .and_then(|controller| controller.setting(CLUSTER_NAME).text())
        .or_else(|| in_values.and_then(|node| Some((node.as_str().filter(|text| !text.is_empty())?, node))));
    if let Some((name, node)) = own {
        findings.extend(check_name(object, name, node, context));
    }
    if let Some(known) = this_cluster(context) {
        check_derived_names(object, values, known, findings);
    }
    if controller.is_some() || values.is_some() {
        findings.extend(check_region(object, context));
    }
}

/// Name of this cluster, if it is known and not a placeholder.
fn this_cluster<'c>(context: &'c Context<'_, '_>) -> Option<&'c str> {
    let setting = context.settings.cluster_name.as_deref();
    let name = setting.or_else(|| cluster_name(context.inventory).map(|(name, _)| name))?;
    placeholder(name).is_none().then_some(name)
}

/// Compares the controller's cluster name with the setting, and the Helm values with the controller.
fn check_name<'d>(
    object: Object<'d>,
    name: &str,
    node: Node<'d>,
    context: &Context<'_, 'd>,
) -> Option<Finding<'d>> {
    if placeholder(name).is_some() {
        return None;
    }
    if let Some(known) = context.settings.cluster_name.as_deref().filter(|known| *known != name) {
        let message = format!(
            "the controller's cluster name is `{name}`, but the setting `clusterName` says that this cluster is `{known}`"
        );
        let finding = Finding::at(&RULE, node, message);
        return Some(finding.write(known));
    }
    let other = context
        .inventory
        .index::<ClusterIdentity>()
        .name
        .as_ref()
        .filter(|mark| mark.text != name && mark.object != object)?;
    if Controller::of(object).is_some() || placeholder(other.text).is_some() {
        return None;
    }
    let message = format!(
        "the Helm values set the cluster name `{name}`, but the controller in this input uses `{}`",
        other.text
    );
    let finding = Finding::at(&RULE, node, message).severity(Severity::Warning);
    let finding = finding
        .help("write the same name in both; if they belong to two clusters, check each cluster separately");
    Some(finding.related(Place::value(other.node), format!("the controller uses `{}`", other.text)))
}

/// Checks the names that follow the naming schemes of Karpenter's guides.
fn check_derived_names<'d>(
    object: Object<'d>,
    values: Option<ChartValues<'d>>,
    known: &str,
    findings: &mut Vec<Finding<'d>>,
) {
    let profile = Ec2NodeClass::of(object).and_then(Ec2NodeClass::instance_profile);
    let account = if is_service_account(object) { object.annotation(ROLE_ARN) } else { None };
    let account = account.or_else(|| values?.service_account_annotation(ROLE_ARN));
    let controller = Controller::of(object).and_then(|one| one.setting(INTERRUPTION_QUEUE).text());
    let queue = controller.or_else(|| {
        let node = values?.interruption_queue()?;
        Some((node.as_str()?, node))
    });
    let mut compare = |what: &str, found: Option<(&'d str, Node<'d>)>| {
        let Some((name, node)) = found else { return };
        if name == known || related(name, known) || placeholder(name).is_some() {
            return;
        }
        let message = format!("{what} is named after cluster `{name}`, but this cluster is `{known}`");
        let finding = Finding::at(&RULE, node, message).severity(Severity::Warning);
        findings.push(finding.help(format!(
            "use the name that belongs to `{known}`, or correct the cluster's name if it should be `{name}`"
        )));
    };
    compare("the instance profile", profile.and_then(|node| Some((in_profile(node.as_str()?)?, node))));
    compare(
        "the controller's role",
        account.and_then(|node| Some((in_controller_role(node.as_str()?)?, node))),
    );
    let in_queue =
        |(text, node): (&'d str, Node<'d>)| Some((in_queue(text.rsplit(['/', ':']).next()?)?, node));
    compare("the interruption queue", queue.and_then(in_queue));
}

/// Compares the region of the cluster endpoint with the region of the controller.
fn check_region<'d>(object: Object<'d>, context: &Context<'_, 'd>) -> Option<Finding<'d>> {
    let identity = context.inventory.index::<ClusterIdentity>();
    let endpoint = identity.endpoint.as_ref().filter(|mark| mark.object == object)?;
    let (there, here) = (region_of_endpoint(endpoint.text)?, identity.region?);
    if there == here || has_placeholder(here) {
        return None;
    }
    let message =
        format!("the cluster endpoint is in region `{there}`, but the controller uses region `{here}`");
    let finding = Finding::at(&RULE, endpoint.node, message);
    Some(finding.help(
        "write the endpoint of this cluster, or leave it out: Karpenter then asks EKS for the endpoint",
    ))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with, silent};
    use rule::settings::Settings;

    fn controller(env: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: Deployment
metadata: {{name: karpenter}}
spec:
  template:
    spec:
      containers:
      - image: karpenter/controller
        env: [{env}]
"
        )
    }

    fn known(name: &str) -> Settings {
        Settings { cluster_name: Some(name.to_owned()), ..Settings::default() }
    }

    const PROD: &str = "{name: CLUSTER_NAME, value: prod}";

    #[test]
    fn ignores_releases_that_a_hub_installs_in_another_cluster() {
        let release = |more: &str| {
            format!(
                r"apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: karpenter}}
spec:
  chart: {{spec: {{chart: karpenter}}}}
{more}  values: {{settings: {{clusterName: staging}}}}
"
            )
        };
        let application = |destination: &str| {
            format!(
                r"apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: karpenter}}
spec:
  destination: {{{destination}}}
  source: {{chart: karpenter, helm: {{valuesObject: {{settings: {{clusterName: staging}}}}}}}}
"
            )
        };
        let found = |text: &str| !findings_with(&super::RULE, text, &known("prod")).is_empty();
        assert!(found(&release("")));
        assert!(!found(&release("  kubeConfig: {secretRef: {name: staging}}\n")));
        assert!(found(&application("name: in-cluster")));
        assert!(found(&application("server: 'https://kubernetes.default.svc'")));
        assert!(!found(&application("name: staging")));
        assert!(!found(&application("server: 'https://staging.example.com'")));
    }

    #[test]
    fn compares_controller_with_setting() {
        insta::assert_snapshot!(findings_with(&super::RULE, &controller(PROD), &known("staging")), @"
          9 |         env: [{name: CLUSTER_NAME, value: prod}]
            |                                           ^^^^
        error Deployment/karpenter spec.template.spec.containers[0].env[0].value [all]
          the controller's cluster name is `prod`, but the setting `clusterName` says that this cluster is `staging`
          help: write `staging`
        ");
        assert_eq!(findings_with(&super::RULE, &controller(PROD), &known("prod")), "");
        let values = "settings: {clusterName: prod}\n";
        assert!(findings_with(&super::RULE, values, &known("staging")).contains("error"));
    }

    #[test]
    fn compares_helm_values_with_controller() {
        let text = format!("{}---\nsettings: {{clusterName: staging}}\n", controller(PROD));
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
         11 | settings: {clusterName: staging}
            |                         ^^^^^^^
        warning / settings.clusterName [all]
          the Helm values set the cluster name `staging`, but the controller in this input uses `prod`
          help: write the same name in both; if they belong to two clusters, check each cluster separately
          see line 9 spec.template.spec.containers[0].env[0].value: the controller uses `prod`
        ");
        silent(&super::RULE, &text.replace("staging", "prod"));
        silent(&super::RULE, &text.replace("value: prod", "value: '${NAME}'"));
    }

    #[test]
    fn leaves_a_second_controller_to_another_rule() {
        let second = controller("{name: CLUSTER_NAME, value: staging}").replace("name: karpenter", "name: b");
        silent(&super::RULE, &format!("{}---\n{second}", controller(PROD)));
    }

    #[test]
    fn compares_profile_role_and_queue_that_follow_the_naming_scheme() {
        let text = format!(
            r"{}---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: karpenter
  annotations: {{eks.amazonaws.com/role-arn: 'arn:aws:iam::111122223333:role/KarpenterControllerRole-staging'}}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec: {{instanceProfile: KarpenterNodeInstanceProfile-staging}}
",
            controller(&format!("{PROD}, {{name: INTERRUPTION_QUEUE, value: Karpenter-staging}}"))
        );
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          9 |         env: [{name: CLUSTER_NAME, value: prod}, {name: INTERRUPTION_QUEUE, value: Karpenter-staging}]
            |                                                                                    ^^^^^^^^^^^^^^^^^
        warning Deployment/karpenter spec.template.spec.containers[0].env[1].value [all]
          the interruption queue is named after cluster `staging`, but this cluster is `prod`
          help: use the name that belongs to `prod`, or correct the cluster's name if it should be `staging`
         15 |   annotations: {eks.amazonaws.com/role-arn: 'arn:aws:iam::111122223333:role/KarpenterControllerRole-staging'}
            |                                             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning ServiceAccount/karpenter metadata.annotations.eks.amazonaws.com/role-arn [all]
          the controller's role is named after cluster `staging`, but this cluster is `prod`
          help: use the name that belongs to `prod`, or correct the cluster's name if it should be `staging`
         20 | spec: {instanceProfile: KarpenterNodeInstanceProfile-staging}
            |                         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.instanceProfile [all]
          the instance profile is named after cluster `staging`, but this cluster is `prod`
          help: use the name that belongs to `prod`, or correct the cluster's name if it should be `staging`
        ");
        silent(&super::RULE, &text.replace("-staging", "-prod"));
    }

    #[test]
    fn compares_region_of_endpoint_with_region_of_controller() {
        let endpoint = "{name: CLUSTER_ENDPOINT, value: 'https://0A.gr7.eu-west-1.eks.amazonaws.com'}";
        let text = controller(&format!("{PROD}, {endpoint}, {{name: AWS_REGION, value: us-east-1}}"));
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          9 |         env: [{name: CLUSTER_NAME, value: prod}, {name: CLUSTER_ENDPOINT, value: 'https://0A.gr7.eu-west-1.eks.amazonaws.com'}, {name: AWS_REGION, value: us-east-1}]
            |                                                                                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error Deployment/karpenter spec.template.spec.containers[0].env[1].value [all]
          the cluster endpoint is in region `eu-west-1`, but the controller uses region `us-east-1`
          help: write the endpoint of this cluster, or leave it out: Karpenter then asks EKS for the endpoint
        ");
        silent(&super::RULE, &text.replace("us-east-1", "eu-west-1"));
    }

    #[test]
    fn ignores_other_naming_schemes_and_placeholders() {
        let queue =
            |name: &str| controller(&format!("{PROD}, {{name: INTERRUPTION_QUEUE, value: '{name}'}}"));
        for name in ["staging", "Karpenter-prod-eu-1", "events", "Karpenter-${NAME}", ""] {
            silent(&super::RULE, &queue(name));
        }
        assert_eq!(
            findings_with(&super::RULE, &controller("{name: CLUSTER_NAME, value: '${NAME}'}"), &known("a")),
            ""
        );
        // Helm values of several clusters in one folder, without a controller to compare them with.
        silent(&super::RULE, "settings: {clusterName: a}\n---\nsettings: {clusterName: b}\n");
    }
}
