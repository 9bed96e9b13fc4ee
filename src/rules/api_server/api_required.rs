use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use karpenter::api::Field;
use karpenter::release::Releases;
use objects::object::Object;
use lint::rule::Fixes;

rule! {
    /// ## What it does
    ///
    /// Checks that a Karpenter object has the fields that it cannot do without.
    ///
    /// ## Why it is bad
    ///
    /// The API server refuses the whole object, and `kubectl apply` leaves the cluster as it is. An Argo CD or Flux
    /// application with it stays out of sync.
    /// Manifests half moved from v1beta1 lack `nodeClassRef.group`, which took the place of `apiVersion`.
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
    ///       nodeClassRef: {kind: EC2NodeClass, name: default}
    ///       requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
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
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
    /// ```
    ///
    /// ## References
    ///
    /// - pkg/apis/crds of aws/karpenter-provider-aws at the tags v1.0.0 to v1.14.1
    RULE {
        name: "api-required",
        family: Family::ApiServer,
        severity: Severity::Error,
        caught_by: CaughtBy::ApiServer,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a required field is missing",
        on: super::KARPENTER,
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    super::check(&RULE, object, context, drafts);
}

/// A field that is not there, or null.
pub(super) fn explain<'d>(place: Place<'d>, field: &'static Field, object: Object<'d>) -> Draft<'d> {
    let path = place.path(object.root());
    Draft::new(&RULE, place, format!("`{path}` is missing")).help(help(&path, field))
}

/// What to write for fields whose type alone does not tell, by the end of their path.
const HELP: [(&str, &str); 5] = [
    (
        "nodeClassRef.group",
        "write `group: karpenter.k8s.aws`, without a version, in place of v1beta1's `apiVersion`",
    ),
    ("nodeClassRef.kind", "write `kind: EC2NodeClass`"),
    ("amiSelectorTerms", "write `amiSelectorTerms: [{alias: al2023@latest}]`, better with a version of the AMI"),
    ("consolidateAfter", "write `consolidateAfter`, such as `1m`, or leave out `disruption` as a whole"),
    ("requirements", "write `requirements`; `[]` asks for nothing in particular"),
];

fn help(path: &str, field: &Field) -> String {
    match HELP.iter().find(|(end, _)| path.ends_with(end)) {
        Some((_, help)) => (*help).to_owned(),
        None => format!("write `{}`, {}", field.name, field.schema.shape.name()),
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, silent};

    #[test]
    fn absent_and_null_are_missing() {
        let text = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec:\n  disruption: {consolidationPolicy: WhenEmpty}\n  \
                    template:\n    spec:\n      nodeClassRef: {kind: EC2NodeClass, name: a}\n      requirements: null\n";
        insta::assert_snapshot!(findings(&super::RULE, text), @"
          5 |   disruption: {consolidationPolicy: WhenEmpty}
            |   ^^^^^^^^^^
        error NodePool/a spec.disruption.consolidateAfter [1.0-1.14]
          `spec.disruption.consolidateAfter` is missing; the API server refuses the NodePool
          help: write `consolidateAfter`, such as `1m`, or leave out `disruption` as a whole
          8 |       nodeClassRef: {kind: EC2NodeClass, name: a}
            |       ^^^^^^^^^^^^
        error NodePool/a spec.template.spec.nodeClassRef.group [1.0-1.14]
          `spec.template.spec.nodeClassRef.group` is missing; the API server refuses the NodePool
          help: write `group: karpenter.k8s.aws`, without a version, in place of v1beta1's `apiVersion`
          9 |       requirements: null
            |       ^^^^^^^^^^^^
        error NodePool/a spec.template.spec.requirements [1.0-1.14]
          `spec.template.spec.requirements` is missing; the API server refuses the NodePool
          help: write `requirements`; `[]` asks for nothing in particular
        ");
    }

    #[test]
    fn what_has_a_default_is_not_missing() {
        let text = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec:\n  disruption: null\n  template:\n    spec:\n      \
                    nodeClassRef: {group: g, kind: k, name: a}\n      requirements: []\n      expireAfter: null\n";
        silent(&super::RULE, text);
        silent(&super::RULE, "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: a}\n");
    }
}
