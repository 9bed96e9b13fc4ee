use karpenter::cluster_name::{ClusterNamePlaceholder, placeholder};
use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::chart_values::{self, ChartValues};
use objects::controller::{CLUSTER_ENDPOINT, Controller};
use objects::object::Object;
use objects::placeholders::is_interpolated;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};

use crate::rules::identity::gravity;

rule! {
    /// ## What it does
    ///
    /// Checks that the address of the API server that the controller is given is an `https` URL: `CLUSTER_ENDPOINT` or
    /// `--cluster-endpoint` of the controller's Deployment, and `settings.clusterEndpoint` of the Helm values.
    ///
    /// An empty value is correct: Karpenter then asks EKS for the address. A value that comes from a ConfigMap, a Secret or
    /// another variable is not checked.
    ///
    /// ## Why it is bad
    ///
    /// If the address is not a URL with a scheme and a host, the controller exits at start-up with `cluster endpoint URL
    /// is not valid`. Nodes use the address in their user data. With a placeholder, or with `http`, they never reach the API
    /// server and never join the cluster.
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
    ///         - name: CLUSTER_ENDPOINT
    ///           value: A1B2C3D4E5F60718.gr7.eu-west-1.eks.amazonaws.com
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
    ///         - name: CLUSTER_ENDPOINT
    ///           value: https://A1B2C3D4E5F60718.gr7.eu-west-1.eks.amazonaws.com
    /// ```
    ///
    /// ## References
    ///
    /// - `validateEndpoint` in pkg/operator/options/options_validation.go at v1.0.0 and v1.14.1
    /// - `ResolveClusterEndpoint` in pkg/operator/operator.go at v1.14.1
    RULE {
        formerly: &["identity"],
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the controller is given a cluster endpoint that is a placeholder or not an https URL",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::DEPLOYMENT), On::ChartValues],
        inventory: &[],
        check: check,
    }
}

const HELP: &str = "write the API server endpoint of the EKS cluster, such as `https://….eks.amazonaws.com`, or remove the option so that Karpenter asks EKS";

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let controller = Controller::of(object).filter(|controller| !controller.is_before_1_0());
    if let Some((text, node)) = controller.and_then(|controller| controller.setting(CLUSTER_ENDPOINT).text())
    {
        findings.extend(check_endpoint(object, text, node));
    }
    if let Some(node) = chart_values::of(object).and_then(ChartValues::cluster_endpoint)
        && let Some(text) = node.as_str().filter(|text| !text.is_empty() && !text.contains("{{"))
    {
        findings.extend(check_endpoint(object, text, node));
    }
}

fn check_endpoint<'d>(object: Object<'d>, text: &str, node: Node<'d>) -> Option<Finding<'d>> {
    if is_interpolated(node) {
        return None;
    }
    let host = text.split_once("://").map_or(text, |(_, host)| host);
    let what = placeholder(text).or_else(|| placeholder(host));
    if let Some(what) = what.filter(|what| *what != ClusterNamePlaceholder::Example) {
        let message = format!(
            "the cluster endpoint `{text}` is a placeholder; with this text nodes do not reach the API server"
        );
        let severity = gravity(what, object.operation());
        return Some(Finding::at(&RULE, node, message).severity(severity).help(HELP));
    }
    let Some(scheme) = scheme_of(text) else {
        let message = format!(
            "the cluster endpoint `{text}` is not a URL with a scheme and a host: the controller exits at start-up with \
             `cluster endpoint URL is not valid`"
        );
        return Some(Finding::at(&RULE, node, message).help(HELP));
    };
    if scheme.eq_ignore_ascii_case("https") {
        return None;
    }
    let message = format!(
        "the cluster endpoint has the scheme `{scheme}`, but the API server speaks only `https`; nodes do not join"
    );
    let finding = Finding::at(&RULE, node, message).severity(Severity::Warning);
    Some(finding.caught_by(CaughtBy::Nobody).help(HELP))
}

/// The scheme of a URL that has a scheme and a host.
fn scheme_of(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once("://")?;
    let is_inner = |char: char| char.is_ascii_alphanumeric() || "+-.".contains(char);
    let is_scheme =
        scheme.starts_with(|char: char| char.is_ascii_alphabetic()) && scheme.chars().all(is_inner);
    let authority = rest.split_once(['/', '?', '#']).map_or(rest, |(authority, _)| authority);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let has_host = !host.is_empty() && !host.starts_with(':') && !host.contains(char::is_whitespace);
    (is_scheme && has_host).then_some(scheme)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn controller(endpoint: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: Deployment
metadata: {{name: karpenter}}
spec:
  template:
    spec:
      containers:
      - name: controller
        image: public.ecr.aws/karpenter/controller:1.14.1
        env: [{{name: CLUSTER_ENDPOINT, value: {endpoint}}}]
"
        )
    }

    #[test]
    fn reports_addresses_that_are_no_url() {
        insta::assert_snapshot!(findings(&RULE, &controller("ab.gr7.eu-west-1.eks.amazonaws.com")), @"
         10 |         env: [{name: CLUSTER_ENDPOINT, value: ab.gr7.eu-west-1.eks.amazonaws.com}]
            |                                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error Deployment/karpenter spec.template.spec.containers[0].env[0].value [all]
          the cluster endpoint `ab.gr7.eu-west-1.eks.amazonaws.com` is not a URL with a scheme and a host: the controller exits at start-up with `cluster endpoint URL is not valid`
          help: write the API server endpoint of the EKS cluster, such as `https://….eks.amazonaws.com`, or remove the option so that Karpenter asks EKS
        ");
        for endpoint in [
            "prod",
            "'ab.example.com:443'",
            "'localhost:8080'",
            "'https://'",
            "'https://:443'",
            "'https:// a'",
            "'1https://a'",
            "'ht_tps://a'",
            "//a",
        ] {
            assert!(
                findings(&RULE, &controller(endpoint)).contains("error Deployment/karpenter"),
                "{endpoint}"
            );
        }
    }

    #[test]
    fn warns_about_http() {
        insta::assert_snapshot!(findings(&RULE, &controller("http://ab.example.com")), @"
         10 |         env: [{name: CLUSTER_ENDPOINT, value: http://ab.example.com}]
            |                                               ^^^^^^^^^^^^^^^^^^^^^
        warning Deployment/karpenter spec.template.spec.containers[0].env[0].value [all]
          the cluster endpoint has the scheme `http`, but the API server speaks only `https`; nodes do not join
          help: write the API server endpoint of the EKS cluster, such as `https://….eks.amazonaws.com`, or remove the option so that Karpenter asks EKS
        ");
    }

    #[test]
    fn placeholder_is_an_info_in_every_spelling() {
        insta::assert_snapshot!(findings(&RULE, &controller("https://<cluster-id>.eks.amazonaws.com")), @"
         10 |         env: [{name: CLUSTER_ENDPOINT, value: https://<cluster-id>.eks.amazonaws.com}]
            |                                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        info Deployment/karpenter spec.template.spec.containers[0].env[0].value [all]
          the cluster endpoint `https://<cluster-id>.eks.amazonaws.com` is a placeholder; with this text nodes do not reach the API server
          help: write the API server endpoint of the EKS cluster, such as `https://….eks.amazonaws.com`, or remove the option so that Karpenter asks EKS
        ");
        for text in ["YOUR-CLUSTER-ENDPOINT", "https://replace-me", "'${CLUSTER_ENDPOINT}'"] {
            assert!(findings(&RULE, &controller(text)).contains("info Deployment/karpenter"), "{text}");
        }
    }

    #[test]
    fn checks_flags_and_chart_values() {
        let flag = controller("x")
            .replace("env: [{name: CLUSTER_ENDPOINT, value: x}]", "args: [--cluster-endpoint=prod]");
        assert!(findings(&RULE, &flag).contains("containers[0].args[0] [all]"));
        let values = "settings: {clusterName: a, interruptionQueue: a, clusterEndpoint: prod}\n";
        assert!(findings(&RULE, values).contains("error / settings.clusterEndpoint [all]"));
        silent(&RULE, &values.replace("prod", "https://prod.example.com"));
        silent(&RULE, &values.replace("prod", "'{{ .Values.endpoint }}'"));
        silent(&RULE, &values.replace("prod", "''"));
    }

    #[test]
    fn accepts_https_urls_and_values_from_elsewhere() {
        for endpoint in [
            "https://ab.gr7.eu-west-1.eks.amazonaws.com",
            "'HTTPS://a:443/'",
            "''",
            "'https://user@a'",
            "https://my-cluster",
        ] {
            silent(&RULE, &controller(endpoint));
        }
        silent(
            &RULE,
            &controller("x").replace("value: x", "valueFrom: {configMapKeyRef: {name: a, key: b}}"),
        );
    }
}
