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
    /// Checks numbers against the API server's limits.
    ///
    /// ## Why it is bad
    ///
    /// The API server refuses the whole object, so `kubectl apply` changes nothing in the cluster. An Argo CD or Flux
    /// application that contains the object stays out of sync.
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
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
    ///   weight: 0
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
    ///   weight: 1
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
        summary: "a number is outside the range that the API server accepts",
        runs: Runs::InAdmission,
        on: super::KARPENTER,
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    super::report(object, context, findings, |refusal| match refusal.what {
        What::Range(limit) => Some(explain(refusal.place.clone(), limit)),
        What::Scale => Some(explain_scale(refusal.place.clone())),
        _ => None,
    });
}

/// Reports a number outside a limit.
fn explain(place: Place<'_>, limit: Limit) -> Finding<'_> {
    let (relation, bound, side) = match limit {
        Limit::Maximum(bound) => ("above", bound, "at most"),
        Limit::Minimum(bound) => ("below", bound, "at least"),
        _ => ("outside", 0, "within"),
    };
    super::invalid_value(&RULE, place, &format!("{relation} {bound}"))
        .help(format!("write a number of {side} {bound}"))
}

/// Reports `spec.replicas` outside the range of the scale subresource.
fn explain_scale(place: Place<'_>) -> Finding<'_> {
    let message =
        format!("`replicas` is {}, which is not a valid number of replicas", super::shown(place.node()));
    Finding::new(&RULE, place, message).help("write a number from 0 to 2147483647")
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::findings;

    #[test]
    fn checks_replicas_as_a_field_and_as_a_scale() {
        let text = r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec:
  replicas: -1
  template:
    spec:
      nodeClassRef: {group: g, kind: k, name: a}
      requirements: [{key: a, operator: In, values: [b], minValues: 51}]
";
        insta::assert_snapshot!(findings(&super::RULE, text), @"
          5 |   replicas: -1
            |             ^^
        error NodePool/a spec.replicas [since 1.8]
          `replicas` is the number -1, which is below 0; the API server refuses the NodePool (since 1.8)
          help: write a number of at least 0
          5 |   replicas: -1
            |             ^^
        error NodePool/a .spec.replicas [since 1.8]
          `replicas` is the number -1, which is not a valid number of replicas; the API server refuses the NodePool (since 1.8)
          help: write a number from 0 to 2147483647
          9 |       requirements: [{key: a, operator: In, values: [b], minValues: 51}]
            |                                                                     ^^
        error NodePool/a spec.template.spec.requirements[0].minValues [all]
          `minValues` is the number 51, which is above 50; the API server refuses the NodePool
          help: write a number of at most 50
        ");
    }
}
