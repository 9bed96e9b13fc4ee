use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::{Node, items_of};
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::has_placeholder;

use crate::rules::indexes::Controllers;

rule! {
    /// ## What it does
    ///
    /// Finds webhooks that Karpenter does not serve any more:
    ///
    /// - the conversion webhook in a CustomResourceDefinition of Karpenter, which only 1.0 and late patches of 0.33 to 0.37
    ///   serve
    /// - the webhook configurations of 0.37 and earlier, such as `validation.webhook.karpenter.sh`
    ///
    /// For 1.0 the rule compares the namespace of the conversion webhook with the namespace of the controller, if the input
    /// has one.
    ///
    /// The rule reads files. The policy matches none of these kinds unless you add them.
    ///
    /// ## Why it is bad
    ///
    /// The API server asks the webhook for each object that is stored in another version than the requested one. Nothing
    /// answers, and every list of the kind fails (`conversion webhook for karpenter.sh/v1beta1 … failed`), also for the
    /// controller itself. A leftover webhook configuration makes the API server refuse every NodePool and EC2NodeClass that
    /// is created or changed.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata:
    ///   name: nodepools.karpenter.sh
    /// spec:
    ///   group: karpenter.sh
    ///   conversion:
    ///     strategy: Webhook
    ///     webhook:
    ///       conversionReviewVersions: [v1beta1, v1]
    ///       clientConfig: {service: {name: karpenter, namespace: kube-system, port: 8443}}
    ///   versions:
    ///     - {name: v1, served: true, storage: true}
    ///     - {name: v1beta1, served: true, storage: false}
    /// ```
    ///
    /// ## Use instead
    ///
    /// The definitions of the release, from its chart `karpenter-crd`:
    ///
    /// ```yaml
    /// apiVersion: apiextensions.k8s.io/v1
    /// kind: CustomResourceDefinition
    /// metadata:
    ///   name: nodepools.karpenter.sh
    /// spec:
    ///   group: karpenter.sh
    ///   versions:
    ///     - {name: v1, served: true, storage: true}
    /// ```
    ///
    /// ## References
    ///
    /// - charts/karpenter-crd/templates/karpenter.sh_nodepools.yaml of aws/karpenter-provider-aws at v1.0.0 and v1.1.0
    /// - website/content/en/v1.0/upgrading/v1-migration.md, which names the webhook configurations to delete
    /// - aws/karpenter-provider-aws#6544, #7276, #7124, #7378
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the API server calls a webhook that Karpenter does not serve",
        runs: Runs::InAdmission,
        on: &[
            On::Kind(Kind::of("apiextensions.k8s.io", "v1", "CustomResourceDefinition")),
            On::Kind(Kind::of("admissionregistration.k8s.io", "v1", VALIDATING)),
            On::Kind(Kind::of("admissionregistration.k8s.io", "v1", MUTATING)),
        ],
        inventory: &[],
        check: check,
    }
}

const VALIDATING: &str = "ValidatingWebhookConfiguration";
const MUTATING: &str = "MutatingWebhookConfiguration";

/// The definitions that had a conversion webhook.
const DEFINITIONS: [&str; 3] =
    ["nodepools.karpenter.sh", "nodeclaims.karpenter.sh", "ec2nodeclasses.karpenter.k8s.aws"];

/// The webhook configurations that no release since 1.0 has.
const CONFIGURATIONS: [&str; 5] = [
    "defaulting.webhook.karpenter.k8s.aws",
    "defaulting.webhook.karpenter.sh",
    "validation.webhook.config.karpenter.sh",
    "validation.webhook.karpenter.k8s.aws",
    "validation.webhook.karpenter.sh",
];

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    // These releases serve the webhooks.
    if context.version_before_v1.is_some() {
        return;
    }
    if matches!(object.kind(), VALIDATING | MUTATING) {
        findings.extend(leftover_configuration(object));
    } else if DEFINITIONS.contains(&object.name())
        && let Some(strategy) = webhook_strategy(object)
    {
        findings.push(leftover_conversion(object, strategy));
        findings.extend(other_namespace(object, context));
    }
}

/// `spec.conversion.strategy`, where it is `Webhook`.
fn webhook_strategy(definition: Object<'_>) -> Option<Node<'_>> {
    definition.at(&["spec", "conversion", "strategy"]).filter(|node| node.as_str() == Some("Webhook"))
}

fn leftover_conversion<'d>(definition: Object<'d>, strategy: Node<'d>) -> Finding<'d> {
    let old = items_of(definition.at(&["spec", "versions"])).find(|version| {
        let is_served = version.get("served").and_then(Node::as_bool) != Some(false);
        is_served && version.str_at(&["name"]) == Some("v1beta1")
    });
    let message = if old.is_some() {
        "since 1.1 Karpenter has no conversion webhook: every request for version `v1beta1`, and every list with an object that is stored in this version, fails"
    } else {
        "since 1.1 Karpenter has no conversion webhook: if an object is still stored in version `v1beta1`, every list of the kind fails"
    };
    let severity = if old.is_some() { Severity::Error } else { Severity::Warning };
    let finding = Finding::at(&RULE, strategy, message).severity(severity).releases(Releases::since(1));
    let finding = finding.help("install the definitions of the release, such as those of the chart `karpenter-crd`; before that, migrate stored objects to `v1` with 1.0");
    match old.and_then(|version| version.get("name")) {
        Some(name) => finding.related(Place::value(name), "this version needs the webhook"),
        None => finding,
    }
}

/// Reports a webhook of 1.0 in another namespace than the controllers of the input.
fn other_namespace<'d>(definition: Object<'d>, context: &Context<'_, 'd>) -> Option<Finding<'d>> {
    let node = definition.at(&["spec", "conversion", "webhook", "clientConfig", "service", "namespace"])?;
    let namespace = node.as_str().filter(|text| !has_placeholder(text))?;
    let controller = context.inventory.index::<Controllers>().first()?.object;
    let actual = controller.namespace();
    if actual.is_empty() || actual == namespace || has_placeholder(actual) {
        return None;
    }
    let message = format!(
        "the API server looks for the conversion webhook in the namespace `{namespace}`, but the controller runs in `{actual}`: \
         conversions fail"
    );
    let finding = Finding::at(&RULE, node, message).releases(Releases::until(0)).write(actual);
    Some(finding.related(Place::value(controller.name_node()), "the controller"))
}

fn leftover_configuration(configuration: Object<'_>) -> Vec<Finding<'_>> {
    if !CONFIGURATIONS.contains(&configuration.name()) {
        return Vec::new();
    }
    let webhooks = |is_asked: fn(Node<'_>) -> bool| {
        items_of(configuration.at(&["webhooks"]))
            .filter(move |webhook| is_asked(*webhook))
            .collect::<Vec<_>>()
    };
    let finding = |webhooks: &[Node<'_>], releases: Releases| {
        let is_ignored = webhooks.iter().all(|webhook| webhook.str_at(&["failurePolicy"]) == Some("Ignore"));
        let (consequence, severity) = match (webhooks.is_empty(), is_ignored) {
            (true, _) => ("the API server calls it for no object of version `v1`", Severity::Warning),
            (_, true) => (
                "the API server waits for it at each change of a NodePool or an EC2NodeClass",
                Severity::Warning,
            ),
            _ => ("the API server refuses each change of a NodePool or an EC2NodeClass", Severity::Error),
        };
        let message = format!("since 1.0 Karpenter does not serve this webhook: {consequence}");
        let finding = Finding::new(&RULE, Place::value(configuration.name_node()), message);
        finding.severity(severity).releases(releases).help("delete the webhook configuration")
    };
    let (asked, asked_in_1_0) = (webhooks(is_about_v1), webhooks(is_about_v1_in_1_0));
    if asked.len() == asked_in_1_0.len() {
        return vec![finding(&asked, Releases::ALL)];
    }
    vec![finding(&asked_in_1_0, Releases::until(0)), finding(&asked, Releases::since(1))]
}

/// Whether a webhook is for Karpenter's objects of version `v1`. With the definitions since 1.1, which have no other version, the
/// API server matches no rule about `v1beta1`.
fn is_about_v1(webhook: Node<'_>) -> bool {
    webhook.items_at(&["rules"]).any(|rule| is_about(rule, &["v1", "*"]))
}

/// The same with the definitions of 1.0, which have both versions: unless `matchPolicy` is `Exact`, the API server converts an
/// object for a rule about the other version (the reference of `ValidatingWebhook` in Kubernetes).
fn is_about_v1_in_1_0(webhook: Node<'_>) -> bool {
    let versions: &[&str] = match webhook.str_at(&["matchPolicy"]) {
        Some("Exact") => &["v1", "*"],
        _ => &["v1", "v1beta1", "*"],
    };
    webhook.items_at(&["rules"]).any(|rule| is_about(rule, versions))
}

fn is_about(rule: Node<'_>, versions: &[&str]) -> bool {
    let has = |field: &str, accepted: &[&str]| {
        rule.items_at(&[field]).any(|item| item.as_str().is_some_and(|text| accepted.contains(&text)))
    };
    has("apiGroups", &["karpenter.sh", "karpenter.k8s.aws", "*"]) && has("apiVersions", versions)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, findings_with, silent};
    use rule::settings::{Settings, Target};

    fn definition(strategy: &str, versions: &str) -> String {
        format!(
            r"apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: nodepools.karpenter.sh}}
spec:
  conversion:
    strategy: {strategy}
    webhook: {{clientConfig: {{service: {{name: karpenter, namespace: kube-system}}}}}}
  versions: [{versions}]
"
        )
    }

    const BOTH: &str = "{name: v1, served: true}, {name: v1beta1, served: true}";

    fn at(release: &str) -> Settings {
        Settings { karpenter: Target::parse(release).unwrap(), ..Settings::default() }
    }

    #[test]
    fn reports_the_conversion_webhook_since_1_1() {
        insta::assert_snapshot!(findings(&RULE, &definition("Webhook", BOTH)), @"
          6 |     strategy: Webhook
            |               ^^^^^^^
        error CustomResourceDefinition/nodepools.karpenter.sh spec.conversion.strategy [since 1.1]
          since 1.1 Karpenter has no conversion webhook: every request for version `v1beta1`, and every list with an object that is stored in this version, fails
          help: install the definitions of the release, such as those of the chart `karpenter-crd`; before that, migrate stored objects to `v1` with 1.0
          see line 8 spec.versions[1].name: this version needs the webhook
        ");
        assert!(findings(&RULE, &definition("Webhook", "{name: v1, served: true}")).contains("warning"));
        let retired = "{name: v1, served: true}, {name: v1beta1, served: false}";
        assert!(findings(&RULE, &definition("Webhook", retired)).contains("warning"));
        assert_eq!(findings_with(&RULE, &definition("Webhook", BOTH), &at("1.0")), "");
        silent(&RULE, &definition("None", BOTH));
        silent(&RULE, &definition("Webhook", BOTH).replace("nodepools.karpenter.sh", "pools.example.com"));
    }

    #[test]
    fn compares_the_namespace_of_the_webhook_in_1_0() {
        let controller = |namespace: &str| {
            format!(
                r"---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: karpenter, namespace: {namespace}}}
spec:
  template: {{spec: {{containers: [{{image: karpenter/controller}}]}}}}
"
            )
        };
        let text = |namespace: &str| definition("Webhook", BOTH) + &controller(namespace);
        insta::assert_snapshot!(findings_with(&RULE, &text("karpenter"), &at("1.0")), @"
          7 |     webhook: {clientConfig: {service: {name: karpenter, namespace: kube-system}}}
            |                                                                    ^^^^^^^^^^^
        error CustomResourceDefinition/nodepools.karpenter.sh spec.conversion.webhook.clientConfig.service.namespace [1.0]
          the API server looks for the conversion webhook in the namespace `kube-system`, but the controller runs in `karpenter`: conversions fail
          help: write `karpenter`
          see line 12 metadata.name: the controller
        ");
        assert_eq!(findings_with(&RULE, &text("kube-system"), &at("1.0")), "");
        assert_eq!(findings_with(&RULE, &text("'${NAMESPACE}'"), &at("1.0")), "");
    }

    #[test]
    fn reports_webhook_configurations_of_0_37() {
        let with_rules = |name: &str, policy: &str, version: &str| {
            format!(
                r"apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {{name: {name}}}
webhooks: [{{name: a, failurePolicy: {policy}, rules: [{{apiGroups: [karpenter.sh], apiVersions: [{version}]}}]}}]
"
            )
        };
        let text = |name: &str, policy: &str| with_rules(name, policy, "v1");
        insta::assert_snapshot!(findings(&RULE, &text("validation.webhook.karpenter.sh", "Fail")), @"
          3 | metadata: {name: validation.webhook.karpenter.sh}
            |                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error ValidatingWebhookConfiguration/validation.webhook.karpenter.sh metadata.name [all]
          since 1.0 Karpenter does not serve this webhook: the API server refuses each change of a NodePool or an EC2NodeClass
          help: delete the webhook configuration
        ");
        assert!(findings(&RULE, &text("validation.webhook.karpenter.sh", "Ignore")).contains("warning"));
        silent(&RULE, &text("validation.webhook.example.com", "Fail"));
        let old = findings(&RULE, &with_rules("validation.webhook.karpenter.sh", "Fail", "v1beta1"));
        assert!(old.contains("warning ValidatingWebhookConfiguration"), "{old}");
        assert!(old.contains("calls it for no object of version `v1`"), "{old}");
        let in_1_0 = |version: &str| {
            findings_with(&RULE, &with_rules("validation.webhook.karpenter.sh", "Fail", version), &at("1.0"))
        };
        assert!(in_1_0("v1beta1").contains("error ValidatingWebhookConfiguration"));
        let exact = with_rules("validation.webhook.karpenter.sh", "Fail", "v1beta1")
            .replace("failurePolicy", "matchPolicy: Exact, failurePolicy");
        assert!(findings_with(&RULE, &exact, &at("1.0")).contains("warning"));
    }
}
