use karpenter::api::Limit;
use karpenter::release::Releases;
use objects::object::Object;
use objects::validation::What;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, Runs};

rule! {
    /// ## What it does
    ///
    /// Checks the number of characters of strings, items of lists and keys of objects against the API server's limits.
    ///
    /// ## Why it is bad
    ///
    /// The API server refuses the whole object, so `kubectl apply` changes nothing in the cluster. An Argo CD or Flux
    /// application that contains the object stays out of sync.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: KarpenterNodeRole-prod
    ///   amiSelectorTerms: []
    ///   subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    ///   securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    ///   amiFamily: AL2023
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
    ///   role: KarpenterNodeRole-prod
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    ///   subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    ///   securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    ///   amiFamily: AL2023
    /// ```
    ///
    /// ## References
    ///
    /// - pkg/apis/crds of aws/karpenter-provider-aws at the tags v1.0.0 to v1.14.1
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::ApiServer,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a string, a list or an object is longer or shorter than the API server allows",
        runs: Runs::InAdmission,
        on: super::KARPENTER,
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    super::report(object, context, findings, |refusal| match refusal.what {
        What::Length(limit, size) => Some(explain(refusal.place.clone(), limit, size)),
        _ => None,
    });
}

/// Reports a value whose size is outside a limit.
fn explain(place: Place<'_>, limit: Limit, size: usize) -> Finding<'_> {
    let (unit, least_or_most, bound) = match limit {
        Limit::MinLength(bound) => ("characters", "at least", bound),
        Limit::MaxLength(bound) => ("characters", "at most", bound),
        Limit::MinItems(bound) => ("items", "at least", bound),
        Limit::MaxProperties(bound) => ("keys", "at most", bound),
        Limit::MaxItems(bound) => ("items", "at most", bound),
        _ => ("elements", "at most", 0),
    };
    let name = super::name_of(place.node());
    Finding::new(&RULE, place, format!("`{name}` has {size} {unit}"))
        .help(format!("write {least_or_most} {bound} {unit}"))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::findings;

    #[test]
    fn counts_characters_not_bytes() {
        let pool = |label: &str| {
            format!(
                r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    metadata: {{labels: {{team: {label}}}}}
    spec: {{nodeClassRef: {{group: g, kind: k, name: a}}, requirements: []}}
"
            )
        };
        assert_eq!(findings(&super::RULE, &pool(&"é".repeat(63))), "");
        insta::assert_snapshot!(findings(&super::RULE, &pool(&"a".repeat(64))), @"
          6 |     metadata: {labels: {team: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa}}
            |                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error NodePool/a spec.template.metadata.labels.team [all]
          `team` has 64 characters; the API server refuses the NodePool
          help: write at most 63 characters
        ");
    }

    #[test]
    fn names_the_unit_and_the_bound() {
        let class = |fields: &str| {
            format!(
                r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec: {{{fields}}}
"
            )
        };
        let many = |item: &str, count: usize| vec![item; count].join(", ");
        let tags =
            |count: usize| (0..count).map(|number| format!("t{number}: a")).collect::<Vec<_>>().join(", ");
        for (fields, help) in [
            ("amiSelectorTerms: []".to_owned(), "write at least 1 item"),
            (format!("amiSelectorTerms: [{}]", many("{id: ami-0123}", 31)), "write at most 30 items"),
            ("placementGroupSelector: {name: ''}".to_owned(), "write at least 1 character"),
            (format!("subnetSelectorTerms: [{{tags: {{{}}}}}]", tags(21)), "write at most 20 keys"),
        ] {
            assert!(findings(&super::RULE, &class(&fields)).contains(help), "{fields}");
        }
        assert_eq!(
            findings(&super::RULE, &class(&format!("subnetSelectorTerms: [{{tags: {{{}}}}}]", tags(20)))),
            ""
        );
    }
}
