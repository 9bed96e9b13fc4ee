use karpenter::api::is_kubelet_field;
use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::source::Span;
use manifest::tree::Node;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};
use userdata::image_family::ImageFamily as Image;
use userdata::node_config::Yaml;
use values::placeholder::has_placeholder;
use values::spelling::nearest;

use super::user_data::UserData;

rule! {
    /// ## What it does
    ///
    /// Finds fields of a NodeConfig in the user data that nodeadm does not have: misspelt fields, and fields at the wrong depth,
    /// such as `spec.kubelet.maxPods` instead of `spec.kubelet.config.maxPods`. It also finds fields of another type.
    ///
    /// ## Why it is bad
    ///
    /// nodeadm ignores a field that it does not know, without a message, so the node starts with the defaults. It stops at a
    /// field of another type, and the node never joins the cluster.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    ///   userData: |
    ///     apiVersion: node.eks.aws/v1alpha1
    ///     kind: NodeConfig
    ///     spec:
    ///       kubelet:
    ///         shutdownGracePeriod: 5m
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
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    ///   userData: |
    ///     apiVersion: node.eks.aws/v1alpha1
    ///     kind: NodeConfig
    ///     spec:
    ///       kubelet:
    ///         config:
    ///           shutdownGracePeriod: 5m
    /// ```
    ///
    /// ## References
    ///
    /// - awslabs/amazon-eks-ami#2553
    /// - nodeadm/api/v1alpha1/nodeconfig_types.go and `DecodeNodeConfig` in nodeadm/internal/api/bridge/decode.go of
    ///   awslabs/amazon-eks-ami at 81fec2e
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a NodeConfig has a field that nodeadm does not know, or a field of another type",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

/// Type of a field of a NodeConfig.
#[derive(Clone, Copy, Debug)]
enum FieldType {
    /// A mapping with these fields.
    Object(&'static [(&'static str, FieldType)]),
    /// A mapping with any keys.
    Map,
    /// A list of texts.
    Texts,
    /// A text.
    Text,
    /// True or false.
    Boolean,
}

use FieldType::{Boolean, Map, Object as Fields, Text, Texts};

/// The fields of a NodeConfig. Source: `nodeadm/api/v1alpha1/nodeconfig_types.go` of awslabs/amazon-eks-ami at 81fec2e.
const NODE_CONFIG: FieldType =
    Fields(&[("apiVersion", Text), ("kind", Text), ("metadata", Map), ("spec", Fields(SPEC))]);

const SPEC: &[(&str, FieldType)] = &[
    (
        "cluster",
        Fields(&[
            ("name", Text),
            ("apiServerEndpoint", Text),
            ("certificateAuthority", Text),
            ("cidr", Text),
            ("enableOutpost", Boolean),
            ("id", Text),
        ]),
    ),
    ("containerd", Fields(&[("config", Text), ("baseRuntimeSpec", Map)])),
    (
        "instance",
        Fields(&[
            ("localStorage", Fields(&[("strategy", Text), ("mountPath", Text), ("disabledMounts", Texts)])),
            ("environment", Map),
            ("network", Fields(&[("nameservers", Texts), ("domains", Texts)])),
        ]),
    ),
    ("kubelet", Fields(&[("config", Map), ("flags", Texts), ("maxPodsExpression", Text)])),
    ("featureGates", Map),
];

impl FieldType {
    fn accepts(self, node: Node<'_>) -> bool {
        match self {
            Self::Object(_) | Self::Map => node.is_mapping(),
            Self::Texts => node.is_sequence() && node.items().all(|item| item.as_str().is_some()),
            Self::Text => node.as_str().is_some(),
            Self::Boolean => node.as_bool().is_some(),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Object(_) | Self::Map => "a mapping",
            Self::Texts => "a list of texts",
            Self::Text => "a text",
            Self::Boolean => "true or false",
        }
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(data) = UserData::of(object) else { return };
    if !matches!(data.family, Image::Al2023 | Image::Custom) {
        return;
    }
    for body in data.node_configs(context) {
        let yaml = data.yaml(context, body);
        // `userdata-nodeconfig-incomplete` reports what cannot be parsed.
        if yaml.problem().is_some() {
            continue;
        }
        let part = Part { data, yaml: &yaml, start: body.start };
        for root in yaml.roots().filter(|root| Yaml::is_node_config(*root)) {
            part.check(root, "", NODE_CONFIG, findings);
        }
    }
}

/// NodeConfig in the user data.
#[derive(Clone, Copy)]
struct Part<'y, 'd> {
    data: UserData<'d>,
    yaml: &'y Yaml,
    start: usize,
}

impl<'d> Part<'_, 'd> {
    fn check(self, node: Node<'_>, path: &str, field: FieldType, findings: &mut Vec<Finding<'d>>) {
        if node.is_null() || node.as_str().is_some_and(|text| has_placeholder(text) || text.contains('$')) {
            return;
        }
        if !field.accepts(node) {
            let message = format!(
                "`{path}` of the NodeConfig is not {}: nodeadm stops, and the node never joins the cluster",
                field.name()
            );
            let finding = self.finding(self.yaml.key(node), message).severity(Severity::Error);
            findings.push(finding.help(format!("write {}", field.name())));
            return;
        }
        let FieldType::Object(fields) = field else { return };
        for (key, member) in node.members().filter(|(key, _)| !has_placeholder(key) && !key.contains('$')) {
            let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
            match fields.iter().find(|(name, _)| *name == key) {
                Some((_, field)) => self.check(member, &path, *field, findings),
                None => findings.push(self.unknown(member, &path, fields)),
            }
        }
    }

    fn unknown(self, node: Node<'_>, path: &str, fields: &[(&'static str, FieldType)]) -> Finding<'d> {
        let key = node.key();
        let message = format!("the NodeConfig has no field `{path}`, so nodeadm ignores it");
        let near = nearest(key, fields.iter().map(|(name, _)| *name));
        let help = match near {
            _ if path == format!("spec.kubelet.{key}") && is_kubelet_field(key) => {
                format!("move it to `spec.kubelet.config.{key}`")
            }
            Some(near) => format!("did you mean `{near}`?"),
            None => match place_of(key, "spec", SPEC) {
                Some(place) => format!("move it to `{place}`"),
                None => "remove the field".to_owned(),
            },
        };
        self.finding(self.yaml.key(node), message).help(help)
    }

    fn finding(self, span: Span, message: String) -> Finding<'d> {
        self.data.finding(&RULE, span.shifted(self.start), message)
    }
}

/// The path of a field with a name; `None` if no field or several fields have it.
fn place_of(name: &str, path: &str, fields: &[(&'static str, FieldType)]) -> Option<String> {
    let mut places = fields.iter().filter_map(|(field, content)| {
        let path = format!("{path}.{field}");
        match content {
            _ if *field == name => Some(path),
            FieldType::Object(fields) => place_of(name, &path, fields),
            _ => None,
        }
    });
    places.next().filter(|_| places.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::super::examples::class;
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn config(spec: &str) -> String {
        class("AL2023", &format!("apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n{spec}\n"))
    }

    #[test]
    fn reports_fields_at_the_wrong_depth_and_misspelt_fields() {
        insta::assert_snapshot!(findings(&RULE, &config("spec:\n  kubelet:\n    maxPods: 50\n    flag: [--v=2]\n  localStorage: {strategy: RAID0}")), @"
         11 |         maxPods: 50
            |         ^^^^^^^
        warning EC2NodeClass/a spec.userData [all]
          the NodeConfig has no field `spec.kubelet.maxPods`, so nodeadm ignores it
          help: move it to `spec.kubelet.config.maxPods`
         12 |         flag: [--v=2]
            |         ^^^^
        warning EC2NodeClass/a spec.userData [all]
          the NodeConfig has no field `spec.kubelet.flag`, so nodeadm ignores it
          help: did you mean `flags`?
         13 |       localStorage: {strategy: RAID0}
            |       ^^^^^^^^^^^^
        warning EC2NodeClass/a spec.userData [all]
          the NodeConfig has no field `spec.localStorage`, so nodeadm ignores it
          help: move it to `spec.instance.localStorage`
        ");
        for (spec, expected) in [
            ("spec: {kubelet: {Config: {maxPods: 1}}}", "did you mean `config`?"),
            ("spec: {bogus: 1}", "help: remove the field"),
            ("kubelet: {config: {}}", "move it to `spec.kubelet`"),
            ("spec: {instance: {strategy: RAID0}}", "move it to `spec.instance.localStorage.strategy`"),
        ] {
            let found = findings(&RULE, &config(spec));
            assert!(found.contains("warning EC2NodeClass/a") && found.contains(expected), "{spec}: {found}");
        }
    }

    #[test]
    fn reports_fields_of_another_type() {
        for spec in [
            "spec: {kubelet: {flags: --v=2}}",
            "spec: {kubelet: {flags: {v: 2}}}",
            "spec: {kubelet: {config: []}}",
            "spec: []",
            "spec: {containerd: {config: {a: b}}}",
        ] {
            let found = findings(&RULE, &config(spec));
            assert!(
                found.contains("error EC2NodeClass/a") && found.contains("nodeadm stops"),
                "{spec}: {found}"
            );
        }
    }

    #[test]
    fn accepts_every_field_and_placeholders() {
        for spec in [
            "metadata: {name: a}\nspec: {kubelet: {config: {maxPods: 1, anything: {}}, flags: [--v=2], maxPodsExpression: 1 + 1}}",
            "spec: {instance: {localStorage: {strategy: RAID0, disabledMounts: [SOCI]}, environment: {default: {a: b}}, network: {domains: [a]}}}",
            "spec: {containerd: {config: '[a]', baseRuntimeSpec: {}}, featureGates: {FastImagePull: true}}",
            "spec: {cluster: {name: a, enableOutpost: true, id: b}}",
            "spec: {kubelet: '${KUBELET}', cluster: }",
            "spec: {'${KEY}': a}",
        ] {
            silent(&RULE, &config(spec));
        }
        silent(&RULE, &class("Bottlerocket", "[settings]\na = 1\n"));
    }
}
