use karpenter::release::Releases;
use manifest::edit::Change;
use objects::object::Object;
use objects::validation::What;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, Runs};

rule! {
    /// ## What it does
    ///
    /// Checks the lists whose items must be unique: since 1.13, the `reasons` of a disruption budget.
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
    ///   disruption:
    ///     consolidateAfter: 1m
    ///     budgets: [{nodes: 10%, reasons: [Empty, Drifted, Empty]}]
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
    ///   disruption:
    ///     consolidateAfter: 1m
    ///     budgets: [{nodes: 10%, reasons: [Empty, Drifted]}]
    /// ```
    ///
    /// ## Fix safety
    ///
    /// Unsafe only because another reason may have been meant: without the second item, the list means the same.
    ///
    /// ## References
    ///
    /// - pkg/apis/crds of aws/karpenter-provider-aws at the tags v1.0.0 to v1.14.1
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::ApiServer,
        releases: Releases::ALL,
        fix: Fixes::Unsafe,
        summary: "a list contains an item twice",
        runs: Runs::InAdmission,
        on: super::KARPENTER,
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    super::report(object, context, findings, |refusal| match refusal.what {
        What::Duplicate => Some(explain(refusal.place.clone())),
        _ => None,
    });
}

/// Reports an item that its list already contains.
fn explain(place: Place<'_>) -> Finding<'_> {
    let node = place.node();
    let message = format!("`{}` contains {} twice", super::name_of(node), super::shown(node));
    let help = "remove the second item";
    Finding::new(&RULE, place, message).help(help).unsafe_fix(help, Change::Remove(node))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::findings;

    #[test]
    fn points_at_the_second_of_two_equal_items() {
        let text = r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec:
  disruption:
    consolidateAfter: 0s
    budgets: [{nodes: '0', reasons: [Empty, Empty]}]
  template:
    spec:
      nodeClassRef: {group: g, kind: k, name: a}
      requirements: []
";
        insta::assert_snapshot!(findings(&super::RULE, text), @r#"
          7 |     budgets: [{nodes: '0', reasons: [Empty, Empty]}]
            |                                             ^^^^^
        error NodePool/a spec.disruption.budgets[0].reasons[1] [since 1.13]
          `reasons` contains `Empty` twice; the API server refuses the NodePool (since 1.13)
          help: remove the second item
          unsafe fix: remove the second item: ""
        "#);
    }
}
