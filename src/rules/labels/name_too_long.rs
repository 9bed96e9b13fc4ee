use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};
use values::naming::{MAX_NAME, MAX_PREFIX};
use values::placeholder::has_placeholder;

rule! {
    /// ## What it does
    ///
    /// Checks that the names of NodePools and EC2NodeClasses have at most 63 characters.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter copies both names to labels of every NodeClaim that it creates, and a label value has at most 63
    /// characters. An object name may have 253, so the API server accepts the object but then refuses every NodeClaim,
    /// and nothing is ever launched. (In 1.0, Karpenter copies only the NodePool's name to a label.)
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: production-eu-central-1-machine-learning-inference-gpu-spot-arm64
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: ml-inference-gpu-spot-arm64
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#2929
    /// - kubernetes-sigs/karpenter `pkg/controllers/provisioning/scheduling/nodeclaimtemplate.go`, 1.0-1.14; the node
    ///   class's label since 1.1
    RULE {
        formerly: &["controller"],
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the name is too long for the label that Karpenter copies it to, so no NodeClaim can be created",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL), On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(node) = object.metadata().name() else { return };
    // The API server refuses longer names itself, which the rule `api-metadata` reports.
    let is_long = |name: &&str| (MAX_NAME + 1..=MAX_PREFIX).contains(&name.len());
    let Some(name) = node.as_str().filter(is_long).filter(|name| !has_placeholder(name)) else { return };
    let (label, releases) = if object.is(Kind::NODE_POOL) {
        ("karpenter.sh/nodepool", Releases::ALL)
    } else {
        ("karpenter.k8s.aws/ec2nodeclass", Releases::since(1))
    };
    let message = format!(
        "this name has {} characters, but Karpenter copies it to the label `{label}`, which allows {MAX_NAME}; the API \
         server refuses every NodeClaim and nothing is launched",
        name.len()
    );
    let help = "write a shorter name; an object cannot be renamed, so this creates a new object";
    findings.push(Finding::at(&RULE, node, message).help(help).releases(releases));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn pool(name: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: {name}}}
"
        )
    }

    #[test]
    fn allows_63_characters() {
        silent(&RULE, &pool(&"n".repeat(63)));
        insta::assert_snapshot!(findings(&RULE, &pool(&"n".repeat(64))), @"
          3 | metadata: {name: nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn}
            |                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error NodePool/nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn metadata.name [all]
          this name has 64 characters, but Karpenter copies it to the label `karpenter.sh/nodepool`, which allows 63; the API server refuses every NodeClaim and nothing is launched
          help: write a shorter name; an object cannot be renamed, so this creates a new object
        ");
    }

    #[test]
    fn leaves_names_that_the_api_server_refuses_to_the_rule_about_metadata() {
        assert!(!findings(&RULE, &pool(&"n".repeat(253))).is_empty());
        silent(&RULE, &pool(&"n".repeat(254)));
    }

    #[test]
    fn checks_node_class_names_since_1_1() {
        let name = "n".repeat(64);
        let text = format!(
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: {name}}}
"
        );
        assert!(findings(&RULE, &text).contains("metadata.name [since 1.1]"));
    }

    #[test]
    fn ignores_placeholders() {
        silent(&RULE, &pool(&format!("'${{{}}}'", "N".repeat(64))));
    }
}
