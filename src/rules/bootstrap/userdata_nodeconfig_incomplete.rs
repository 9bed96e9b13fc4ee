use std::rc::Rc;

use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::source::Span;
use manifest::tree::Node;
use objects::node_config::{ClusterField, NodeConfig};
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};
use userdata::format::UserDataFormat as Format;
use userdata::image_family::ImageFamily as Image;
use userdata::node_config::{API_VERSION, Yaml};
use values::placeholder::has_placeholder;

use super::user_data::UserData;

rule! {
    /// ## What it does
    ///
    /// Checks that nodeadm accepts a NodeConfig in the user data: it is YAML with `apiVersion: node.eks.aws/v1alpha1`
    /// and `kind: NodeConfig`, and for `Custom` it has all of `spec.cluster`.
    ///
    /// ## Why it is bad
    ///
    /// nodeadm stops at a NodeConfig that it cannot read, and the node never joins. For AL2023 Karpenter adds a
    /// NodeConfig with the cluster. For `Custom` it adds nothing, and nodeadm needs the cluster's name, endpoint,
    /// certificate and service CIDR.
    ///
    /// A NodeConfig that is not valid YAML, for example because of a tab, is worse on AL2023: Karpenter treats it as
    /// a shell script.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: hardened
    /// spec:
    ///   amiFamily: Custom
    ///   userData: |
    ///     apiVersion: node.eks.aws/v1alpha1
    ///     kind: NodeConfig
    ///     spec:
    ///       cluster:
    ///         name: meadow
    ///         apiServerEndpoint: https://A1B2C3D4E5F60718293A4B5C6D7E8F90.gr7.eu-west-1.eks.amazonaws.com
    ///         certificateAuthority: LS0tLS1CRUdJTi1DRVJUSUZJQ0FURS0tLS0t
    ///       kubelet:
    ///         config:
    ///           registerWithTaints: [{key: karpenter.sh/unregistered, effect: NoExecute}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: hardened
    /// spec:
    ///   amiFamily: Custom
    ///   userData: |
    ///     apiVersion: node.eks.aws/v1alpha1
    ///     kind: NodeConfig
    ///     spec:
    ///       cluster:
    ///         name: meadow
    ///         apiServerEndpoint: https://A1B2C3D4E5F60718293A4B5C6D7E8F90.gr7.eu-west-1.eks.amazonaws.com
    ///         certificateAuthority: LS0tLS1CRUdJTi1DRVJUSUZJQ0FURS0tLS0t
    ///         cidr: 172.20.0.0/16
    ///       kubelet:
    ///         config:
    ///           registerWithTaints: [{key: karpenter.sh/unregistered, effect: NoExecute}]
    /// ```
    ///
    /// ## References
    ///
    /// - awslabs/amazon-eks-ami nodeadm/internal/api/validation.go and nodeadm/internal/configprovider/chain.go at v20260724
    /// - aws/karpenter-provider-aws pkg/providers/amifamily/bootstrap/nodeadm.go at v1.14.1 (`parseUserData`)
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "nodeadm does not accept the NodeConfig in the user data",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

/// Fields of `spec.cluster` that nodeadm requires (nodeadm/internal/api/validation.go `ValidateNodeConfig`).
const CLUSTER: [ClusterField; 4] = ClusterField::ALL;

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(data) = UserData::of(object) else { return };
    if !matches!(data.family, Image::Al2023 | Image::Custom) {
        return;
    }
    let whole = Format::detect(data.text) == Format::NodeConfig;
    let bodies: Vec<(Span, Rc<Yaml>)> =
        data.node_configs(context).into_iter().map(|body| (body, data.yaml(context, body))).collect();
    for (body, yaml) in &bodies {
        shape(data, *body, yaml, whole, findings);
    }
    let valid = bodies.iter().all(|(_, yaml)| yaml.problem().is_none());
    if data.family == Image::Custom && valid {
        findings.extend(cluster(data, &bodies, context));
    }
}

fn shifted(span: Span, body: Span) -> Span {
    Span::new(body.start + span.start, body.start + span.end)
}

/// Reports invalid YAML, a wrong `apiVersion` and a wrong `kind`.
fn shape<'d>(data: UserData<'d>, body: Span, yaml: &Yaml, whole: bool, findings: &mut Vec<Finding<'d>>) {
    if let Some((span, reason)) = yaml.problem() {
        let script = whole && data.family == Image::Al2023;
        let effect = if script { "Karpenter treats it as a shell script" } else { "nodeadm refuses it" };
        findings.push(
            data.finding(
                &RULE,
                shifted(span, body),
                format!("the NodeConfig cannot be parsed, and {effect}: {reason}"),
            )
            .help("write it as YAML, indented with spaces"),
        );
        return;
    }
    for root in yaml.roots() {
        let config = NodeConfig::new(root);
        let fields =
            [("apiVersion", config.api_version(), API_VERSION), ("kind", config.kind(), "NodeConfig")];
        for (field, node, right) in fields {
            let written = node.and_then(Node::as_str);
            if written == Some(right) || written.is_some_and(has_placeholder) {
                continue;
            }
            let span = node.map_or_else(|| yaml.key(root), |node| yaml.value(node));
            let message = match written {
                Some(written) => format!(
                    "nodeadm does not support `{field}: {written}` and stops, so the node never joins"
                ),
                None => format!("the NodeConfig has no `{field}`, so nodeadm stops and the node never joins"),
            };
            findings.push(
                data.finding(&RULE, shifted(span, body), message).help(format!("write `{field}: {right}`")),
            );
        }
    }
}

/// Reports required fields of `spec.cluster` that no NodeConfig sets.
fn cluster<'d>(
    data: UserData<'d>,
    bodies: &[(Span, Rc<Yaml>)],
    context: &Context<'_, 'd>,
) -> Option<Finding<'d>> {
    let mut missing = CLUSTER.to_vec();
    let mut first = None;
    let mut block = None;
    for (body, yaml) in bodies {
        for root in yaml.roots() {
            // `spec: $SPEC` may contain every field.
            let config = NodeConfig::new(root);
            let is_text = |node: Option<Node<'_>>| node.and_then(Node::as_str).is_some();
            if is_text(config.spec()) || is_text(config.cluster()) {
                return None;
            }
            missing.retain(|field| {
                let given = config.cluster_field(*field);
                given.is_none_or(|node| node.is_null() || node.as_str() == Some(""))
            });
            first = first.or(Some((body, yaml, config.spec().unwrap_or(root))));
            block = block.or_else(|| Some((body, yaml, config.cluster()?)));
        }
    }
    let (body, yaml, node) = block.or(first)?;
    if missing.is_empty() {
        return None;
    }
    // If no field is set, a file on the image or a script may set all of them.
    let partly = missing.len() < CLUSTER.len()
        && !data.registration(context).is_dynamic()
        && data.scripts(context).is_empty();
    let listed = missing.iter().map(|field| field.name()).collect::<Vec<_>>().join("`, `");
    let message = format!(
        "`spec.cluster` lacks `{listed}`, which nodeadm requires to start; Karpenter adds nothing for `Custom`"
    );
    let finding = data
        .finding(&RULE, shifted(yaml.key(node), *body), message)
        .help("set `name`, `apiServerEndpoint`, `certificateAuthority` and `cidr` under `spec.cluster`");
    Some(if partly { finding } else { finding.severity(Severity::Warning) })
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::super::examples::{class, custom};
    use crate::rules::testing::{findings, report, silent};
    use rule::settings::Settings;

    const HEAD: &str = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n";
    const WHOLE: &str = "spec:\n  cluster: {name: demo, apiServerEndpoint: https://E, certificateAuthority: Q0E=, cidr: 10.100.0.0/16}\n";

    fn severities(text: &str) -> Vec<&'static str> {
        let found = report(&super::RULE, text, &Settings::default()).findings;
        found.iter().map(|finding| finding.severity.name()).collect()
    }

    fn archive(parts: &[(&str, &str)]) -> String {
        let mut text = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"B\"\n\n".to_owned();
        for (kind, body) in parts {
            let _ = writeln!(text, "--B\nContent-Type: {kind}\n\n{body}");
        }
        text + "--B--\n"
    }

    #[test]
    fn reports_incomplete_cluster() {
        let text = custom(&format!(
            r"{HEAD}spec:
  cluster:
    name: demo
    apiServerEndpoint: https://E
    certificateAuthority: Q0E=
"
        ));
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
         10 |       cluster:
            |       ^^^^^^^
        error EC2NodeClass/a spec.userData [all]
          `spec.cluster` lacks `cidr`, which nodeadm requires to start; Karpenter adds nothing for `Custom`
          help: set `name`, `apiServerEndpoint`, `certificateAuthority` and `cidr` under `spec.cluster`
        ");
    }

    #[test]
    fn is_a_warning_if_the_image_or_a_script_may_set_the_cluster() {
        assert_eq!(severities(&custom(&format!("{HEAD}spec: {{kubelet: {{}}}}\n"))), ["warning"]);
        assert_eq!(severities(&custom(HEAD)), ["warning"]);
        let with_script = archive(&[
            ("application/node.eks.aws", &format!("{HEAD}spec: {{cluster: {{name: demo}}}}")),
            ("text/x-shellscript", "#!/bin/bash\n/opt/join.sh"),
        ]);
        assert_eq!(severities(&custom(&with_script)), ["warning"]);
    }

    #[test]
    fn reports_wrong_version_and_invalid_yaml() {
        insta::assert_snapshot!(findings(&super::RULE, &class("AL2023", "apiVersion: node.eks.aws/v1beta1\nkind: NodeConfig\nspec: {}\n")), @"
          7 |     apiVersion: node.eks.aws/v1beta1
            |                 ^^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.userData [all]
          nodeadm does not support `apiVersion: node.eks.aws/v1beta1` and stops, so the node never joins
          help: write `apiVersion: node.eks.aws/v1alpha1`
        ");
        insta::assert_snapshot!(findings(&super::RULE, &class("AL2023", &format!("{HEAD}spec:\n\tkubelet: {{}}\n"))), @"
         10 |     	kubelet: {}
            |      ^
        error EC2NodeClass/a spec.userData [all]
          the NodeConfig cannot be parsed, and Karpenter treats it as a shell script: not valid YAML: a tab cannot indent; use spaces
          help: write it as YAML, indented with spaces
        ");
        let invalid = format!("{HEAD}spec:\n\tkubelet: {{}}\n");
        for text in
            [custom(&invalid), class("AL2023", &archive(&[("application/node.eks.aws", invalid.as_str())]))]
        {
            assert!(findings(&super::RULE, &text).contains("and nodeadm refuses it"), "{text}");
        }
    }

    #[test]
    fn null_and_empty_fields_count_as_missing() {
        for value in ["null", "''"] {
            let text = custom(&format!("{HEAD}{}", WHOLE.replace("10.100.0.0/16", value)));
            assert!(findings(&super::RULE, &text).contains("lacks `cidr`"), "{value}");
        }
    }

    #[test]
    fn accepts_valid_node_configs() {
        silent(&super::RULE, &custom(&format!("{HEAD}{WHOLE}")));
        for spec in ["spec: $SPEC\n", "spec: {cluster: $CLUSTER}\n"] {
            silent(&super::RULE, &custom(&format!("{HEAD}{spec}")));
        }
        silent(&super::RULE, &class("AL2023", &format!("{HEAD}spec: {{kubelet: {{}}}}\n")));
        silent(
            &super::RULE,
            &class("AL2023", "{\"apiVersion\": \"node.eks.aws/v1alpha1\", \"kind\": \"NodeConfig\"}\n"),
        );
        // nodeadm merges every NodeConfig.
        let split = archive(&[
            (
                "application/node.eks.aws",
                &format!("{HEAD}spec: {{cluster: {{name: demo, cidr: 10.100.0.0/16}}}}"),
            ),
            (
                "application/node.eks.aws",
                &format!(
                    "{HEAD}spec: {{cluster: {{apiServerEndpoint: https://E, certificateAuthority: Q0E=}}}}"
                ),
            ),
        ]);
        silent(&super::RULE, &custom(&split));
        silent(
            &super::RULE,
            &custom(
                r"#!/bin/bash
cat > /etc/n.yaml <<EOF
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec: {cluster: {name: $NAME}}
EOF
",
            ),
        );
        silent(&super::RULE, &class("Bottlerocket", HEAD));
    }
}
