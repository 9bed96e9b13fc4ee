use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::edit::Change;
use manifest::tree::Node;
use objects::node_claim::{NodeClaim, NodeClaimSpec, NodeClassRef};
use objects::node_pool::NodePool;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::fix::Fix;
use rule::{Fixes, On, Runs};
use values::spelling::add_quoted;

rule! {
    /// ## What it does
    ///
    /// Checks `nodeClassRef` of a NodePool or NodeClaim as a whole: `apiVersion` in the place of `group`, as in v1beta1,
    /// or two of `group`, `kind` and `name` missing. A single missing field is left to `api-required`.
    ///
    /// ## Why it is bad
    ///
    /// The API server refuses the whole object. The manifest is only half migrated from v1beta1, whose `nodeClassRef`
    /// took `apiVersion`, and defaulted the kind.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef:
    ///         apiVersion: karpenter.k8s.aws/v1beta1
    ///         kind: EC2NodeClass
    ///         name: default
    ///       requirements: []
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef:
    ///         group: karpenter.k8s.aws
    ///         kind: EC2NodeClass
    ///         name: default
    ///       requirements: []
    /// ```
    ///
    /// ## Fix safety
    ///
    /// Safe: the group is the part of `apiVersion` before the slash.
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter pkg/apis/crds/karpenter.sh_nodepools.yaml at v1.0.0 to v1.14.0
    /// - website/content/en/v1.0/upgrading/v1-migration.md in aws/karpenter-provider-aws at v1.0.0
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::ApiServer,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        supersedes: &["api-required", "api-unknown-field"],
        summary: "`nodeClassRef` has v1beta1's `apiVersion`, or lacks most of its fields",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL), On::Kind(Kind::NODE_CLAIM)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let of_pool = NodePool::of(object).and_then(NodePool::node_class_ref);
    let of_claim = || NodeClaim::of(object).and_then(NodeClaim::spec).and_then(NodeClaimSpec::node_class_ref);
    if let Some(reference) = of_pool.or_else(of_claim).filter(|reference| reference.node().is_mapping()) {
        findings.extend(check_reference(reference, object.kind()));
    }
}

fn check_reference<'d>(reference: NodeClassRef<'d>, kind: &str) -> Option<Finding<'d>> {
    let fields = [("group", reference.group()), ("kind", reference.kind()), ("name", reference.name())];
    let absent = |field: &&(&str, Option<Node<'d>>)| field.1.is_none_or(Node::is_null);
    let missing: Vec<_> = fields.iter().filter(absent).map(|(name, _)| *name).collect();
    let mut quoted = String::new();
    for name in &missing {
        add_quoted(&mut quoted, name);
    }
    let group_missing = missing.contains(&"group");
    match reference.api_version().filter(|_| group_missing) {
        Some(node) => {
            let message = format!(
                "`nodeClassRef` has v1beta1's `apiVersion` and lacks {quoted}; the API server refuses the {kind}"
            );
            let finding = Finding::new(&RULE, Place::key(node), message).explains(reference.node());
            let help = "write `group: karpenter.k8s.aws`, without a version";
            Some(with_fix(finding.help(help), node, &missing))
        }
        None if missing.len() > 1 => {
            let message = format!("`nodeClassRef` lacks {quoted}; the API server refuses the {kind}");
            let finding = Finding::at(&RULE, reference.node(), message);
            Some(finding.help(
                "write `group: karpenter.k8s.aws`, `kind: EC2NodeClass` and the `name` of an EC2NodeClass",
            ))
        }
        None => None,
    }
}

/// Adds the fix that turns `apiVersion` into `group`, if nothing else is missing.
fn with_fix<'d>(finding: Finding<'d>, node: Node<'d>, missing: &[&str]) -> Finding<'d> {
    match node.as_str().and_then(|text| text.split_once('/')) {
        Some((group @ "karpenter.k8s.aws", _)) if missing.len() == 1 => {
            let changes = vec![Change::Rename(node, "group".to_owned()), Change::Set(node, group.to_owned())];
            finding.fix(Fix::safe(format!("write `group: {group}`"), changes))
        }
        _ => finding,
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, fixed, silent};
    use objects::embedded::READ_OPTIONS;

    /// A NodePool with the given `nodeClassRef`.
    fn pool(reference: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    spec:
      nodeClassRef:
        {reference}
      requirements: []
"
        )
    }

    const BETA: &str = r"apiVersion: karpenter.k8s.aws/v1beta1
        kind: EC2NodeClass
        name: default";

    #[test]
    fn reports_api_version_in_the_place_of_group_once() {
        insta::assert_snapshot!(findings(&super::RULE, &pool(BETA)), @r#"
          8 |         apiVersion: karpenter.k8s.aws/v1beta1
            |         ^^^^^^^^^^
        error NodePool/a spec.template.spec.nodeClassRef.apiVersion [all]
          `nodeClassRef` has v1beta1's `apiVersion` and lacks `group`; the API server refuses the NodePool
          help: write `group: karpenter.k8s.aws`, without a version
          fix: write `group: karpenter.k8s.aws`: "group", "karpenter.k8s.aws"
        "#);
        let after = r"group: karpenter.k8s.aws
        kind: EC2NodeClass
        name: default";
        assert_eq!(fixed(&super::RULE, &pool(BETA)), pool(after));
        silent(&super::RULE, &pool(after));
    }

    #[test]
    fn leaves_no_refusal_of_the_same_reference() {
        for reference in [BETA, "name: default", "apiVersion: karpenter.k8s.aws/v1\n        name: a"] {
            let text = pool(reference);
            let report = crate::check(
                &[cluster::Cluster {
                    name: String::new(),
                    files: vec![manifest::File::read("-", text.as_str(), READ_OPTIONS)],
                }],
                &rule::settings::Settings::default(),
            );
            let rules: Vec<_> = report.findings.iter().map(|finding| finding.rule).collect();
            assert_eq!(rules, ["nodeclass-ref-incomplete"], "{reference}");
        }
    }

    #[test]
    fn reports_reference_with_only_a_name() {
        insta::assert_snapshot!(findings(&super::RULE, &pool("name: default")), @"
          7 |       nodeClassRef:
            |       ^^^^^^^^^^^^
        error NodePool/a spec.template.spec.nodeClassRef [all]
          `nodeClassRef` lacks `group`, `kind`; the API server refuses the NodePool
          help: write `group: karpenter.k8s.aws`, `kind: EC2NodeClass` and the `name` of an EC2NodeClass
        ");
        let claim = r"apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: a}
spec: {nodeClassRef: {apiVersion: karpenter.k8s.aws/v1beta1, name: a}, requirements: []}
";
        let found = findings(&super::RULE, claim);
        assert!(
            found.contains("lacks `group`, `kind`; the API server refuses the NodeClaim")
                && !found.contains("fix:"),
            "{found}"
        );
    }

    #[test]
    fn leaves_single_fields_to_the_api_server() {
        for reference in [
            "{kind: EC2NodeClass, name: a}",
            "{group: karpenter.k8s.aws, kind: EC2NodeClass, name: a, apiVersion: karpenter.k8s.aws/v1}",
            "null",
            "text",
        ] {
            silent(&super::RULE, &pool(reference));
        }
    }
}
