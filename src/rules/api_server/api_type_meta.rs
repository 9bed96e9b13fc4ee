use karpenter::release::Releases;
use objects::object::Object;
use objects::type_meta::{TypeKey, TypeMeta};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Checks that an object has the keys `apiVersion` and `kind`, in this spelling. A document is an object if its other
    /// keys and values leave no doubt; all other documents are skipped.
    ///
    /// ## Why it is bad
    ///
    /// `kubectl` and the controllers of GitOps refuse a document without these keys, and no other rule can read it. The
    /// keys distinguish upper and lower case: `Kind` and `apiversion` have no effect.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiversion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   limits: {cpu: 100}
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]
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
    ///   limits: {cpu: 100}
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]
    /// ```
    ///
    /// ## Fix safety
    ///
    /// Unsafe: with the right key the API server reads the whole object for the first time.
    ///
    /// ## References
    ///
    /// - pkg/runtime/error.go of kubernetes/apimachinery at v0.33.0: ``Object 'Kind' is missing``,
    ///   ``Object 'apiVersion' is missing``
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::ApiServer,
        releases: Releases::ALL,
        fix: Fixes::Unsafe,
        summary: "`apiVersion` or `kind` of an object is missing or misspelt",
        runs: Runs::OnFiles,
        on: &[On::Untyped],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let keys = TypeMeta::of(object.root());
    let version = keys.known_version().unwrap_or_default();
    findings.extend(broken(object, keys.api_version, "apiVersion", &version));
    findings.extend(broken(object, keys.kind, "kind", ""));
}

/// Finding about one of the keys. `value` is what to write if the key is missing; empty if that is not known.
fn broken<'d>(object: Object<'d>, key: TypeKey<'d>, name: &'static str, value: &str) -> Option<Finding<'d>> {
    let add = || if value.is_empty() { format!("add `{name}`") } else { format!("write `{name}: {value}`") };
    let finding = match key {
        TypeKey::Written(_) => return None,
        TypeKey::Misspelt(node) => {
            let message =
                format!("the key `{}` is not `{name}`, so `kubectl apply` refuses the object", node.key());
            Finding::new(&RULE, Place::key(node), message).rename(node, name)
        }
        TypeKey::Empty(node) => {
            let message = format!("`{name}` has no text, so `kubectl apply` refuses the object");
            Finding::new(&RULE, Place::key(node), message).help(add())
        }
        TypeKey::Missing => {
            let message = format!("`{name}` is missing, so `kubectl apply` refuses the object");
            Finding::new(&RULE, Place::missing(object.root(), name), message).help(add())
        }
    };
    Some(finding)
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, silent};

    #[test]
    fn rejects_misspelt_keys() {
        insta::assert_snapshot!(findings(&super::RULE, "apiVerson: apps/v1\nKind: Deployment\nmetadata: {name: a}\n"), @r#"
          1 | apiVerson: apps/v1
            | ^^^^^^^^^
        error Deployment/a apiVerson [all]
          the key `apiVerson` is not `apiVersion`, so `kubectl apply` refuses the object
          help: write `apiVersion`
          unsafe fix: write `apiVersion`: "apiVersion"
          2 | Kind: Deployment
            | ^^^^
        error Deployment/a Kind [all]
          the key `Kind` is not `kind`, so `kubectl apply` refuses the object
          help: write `kind`
          unsafe fix: write `kind`: "kind"
        "#);
    }

    #[test]
    fn rejects_missing_keys() {
        insta::assert_snapshot!(findings(&super::RULE, "kind: NodePool\nmetadata: {name: a}\nspec: {}\n"), @"
          2 | metadata: {name: a}
            |                  ^
        error NodePool/a apiVersion [all]
          `apiVersion` is missing, so `kubectl apply` refuses the object
          help: write `apiVersion: karpenter.sh/v1`
        ");
        insta::assert_snapshot!(findings(&super::RULE, "apiVersion: karpenter.sh/v1\nkind:\nmetadata: {name: a}\n"), @"
          2 | kind:
            | ^^^^
        error /a kind [all]
          `kind` has no text, so `kubectl apply` refuses the object
          help: add `kind`
        ");
    }

    #[test]
    fn rejects_karpenters_kinds_without_a_version_wherever_they_are() {
        for text in [
            "kind: EC2NodeClass\nspec: {role: a}\n",
            "kind: EC2NodeClass\nmetadata: {generateName: a}\n",
            "apiVersion: v1\nkind: List\nitems:\n- kind: EC2NodeClass\n  metadata: {name: a}\n  spec: {role: a}\n",
        ] {
            let found = findings(&super::RULE, text);
            assert!(found.contains("write `apiVersion: karpenter.k8s.aws/v1`"), "{text}: {found}");
        }
    }

    #[test]
    fn accepts_other_documents() {
        silent(&super::RULE, "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\n");
        silent(&super::RULE, "kind: Kustomization\nresources: [a.yaml]\n");
        silent(&super::RULE, "kind: pipeline\nmetadata: {name: a}\nspec: {}\n");
    }
}
