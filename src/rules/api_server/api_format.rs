use karpenter::release::Releases;
use objects::object::Object;
use objects::validation::What;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, Runs};

rule! {
    /// ## What it does
    ///
    /// Checks that `timeAdded` of a taint is a date with a time and a time zone.
    ///
    /// ## Why it is bad
    ///
    /// The API server refuses the whole object, so `kubectl apply` changes nothing in the cluster. An Argo CD or Flux
    /// application that contains the object stays out of sync.
    ///
    /// You do not have to write `timeAdded`: Kubernetes sets it.
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
    ///       taints: [{key: team, value: a, effect: NoExecute, timeAdded: "2026-01-01"}]
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
    ///       taints: [{key: team, value: a, effect: NoExecute}]
    /// ```
    ///
    /// ## References
    ///
    /// - pkg/apis/crds of aws/karpenter-provider-aws at the tags v1.0.0 to v1.14.1
    /// - kube-openapi pkg/validation/strfmt/time.go, which parses the date
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::ApiServer,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a string is not a date with a time, which the API server requires",
        runs: Runs::InAdmission,
        on: super::KARPENTER,
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    super::report(object, context, findings, |refusal| match refusal.what {
        What::DateTime => Some(explain(refusal.place.clone())),
        _ => None,
    });
}

/// Reports a string that is not a date with a time.
fn explain(place: Place<'_>) -> Finding<'_> {
    let name = super::name_of(place.node());
    super::invalid_value(&RULE, place, "not a date with a time and a time zone")
        .help(format!("remove `{name}`, or write a date such as `2026-01-31T12:00:00Z`"))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::findings;

    #[test]
    fn points_at_the_date() {
        let text = r"apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: a}
spec:
  nodeClassRef: {group: g, kind: k, name: a}
  requirements: []
  taints: [{key: a, effect: NoExecute, timeAdded: now}]
";
        insta::assert_snapshot!(findings(&super::RULE, text), @"
          7 |   taints: [{key: a, effect: NoExecute, timeAdded: now}]
            |                                                   ^^^
        error NodeClaim/a spec.taints[0].timeAdded [all]
          `timeAdded` is `now`, which is not a date with a time and a time zone; the API server refuses the NodeClaim
          help: remove `timeAdded`, or write a date such as `2026-01-31T12:00:00Z`
        ");
    }
}
