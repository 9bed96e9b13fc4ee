use karpenter::kind::Kind;
use karpenter::labels;
use karpenter::operator::Operator;
use karpenter::release::Releases;
use objects::object::Object;
use objects::pod::{ExpressionOrigin, LabelExpression, Pod};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{LookUp, On, Runs};
use scheduling::provisionable::is_provisionable;

use crate::rules::indexes::AnyReservations;

rule! {
    /// ## What it does
    ///
    /// Finds pods that require the capacity type `on-demand` and no other, when an EC2NodeClass in the input selects
    /// capacity reservations.
    ///
    /// ## Why it is bad
    ///
    /// Since 1.3 a node in a capacity reservation has the capacity type `reserved`. A pod that requires only
    /// `on-demand` never runs there: the reservation is paid for but not used.
    ///
    /// ## Example
    ///
    /// ```yaml,from=1.2 to 1.3
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: web
    /// spec:
    ///   nodeSelector: {karpenter.sh/capacity-type: on-demand}
    ///   containers: [{name: web, image: "example.com/web:1"}]
    /// ---
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   capacityReservationSelectorTerms: [{tags: {team: web}}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml,from=1.2 to 1.3
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: web
    /// spec:
    ///   affinity:
    ///     nodeAffinity:
    ///       requiredDuringSchedulingIgnoredDuringExecution:
    ///         nodeSelectorTerms:
    ///           - matchExpressions:
    ///               - {key: karpenter.sh/capacity-type, operator: In, values: [reserved, on-demand]}
    ///   containers: [{name: web, image: "example.com/web:1"}]
    /// ---
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   capacityReservationSelectorTerms: [{tags: {team: web}}]
    /// ```
    ///
    /// ## References
    ///
    /// - Upgrade guide, 1.3.0
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(3),
        summary: "pods that require only `on-demand` do not run in capacity reservations",
        runs: Runs::OnUpgrade,
        on: &[On::Workload],
        inventory: &[LookUp::InFiles(Kind::NODE_CLASS)],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pod) = Pod::of(object).filter(|pod| is_provisionable(*pod)) else { return };
    if !*context.inventory.index::<AnyReservations>() {
        return;
    }
    let pinned = |expression: &LabelExpression<'_>| {
        let mut values = expression.values().map(|value| value.as_str() == Some("on-demand"));
        expression.key == labels::CAPACITY_TYPE
            && expression.operator == Operator::In
            && !matches!(expression.origin, ExpressionOrigin::Preferred { .. })
            && values.next() == Some(true)
            && values.all(|value| value)
    };
    if let Some(expression) = pod.expressions().find(pinned) {
        let place = expression.values().next().map_or_else(|| expression.place(), Place::value);
        let message = "nodes in capacity reservations have the capacity type `reserved`: this pod requires only `on-demand` and never runs on them";
        let help = "use node affinity for `karpenter.sh/capacity-type` `In` `[reserved, on-demand]`";
        findings.push(Finding::new(&RULE, place, message).help(help));
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing};

    const POD: &str = r"apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers: []
  nodeSelector:
    karpenter.sh/capacity-type: on-demand
";
    const CLASS: &str = r"---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec: {capacityReservationSelectorTerms: [{id: cr-1}]}
";

    #[test]
    fn reserved_is_a_separate_capacity_type_since_1_3() {
        let text = format!("{POD}{CLASS}");
        insta::assert_snapshot!(begins(&super::RULE, "1.2", "1.3.0", &text), @"
        from 1.3 on
          7 |     karpenter.sh/capacity-type: on-demand
            |                                 ^^^^^^^^^
        info Pod/a spec.nodeSelector.karpenter.sh/capacity-type [since 1.3]
          nodes in capacity reservations have the capacity type `reserved`: this pod requires only `on-demand` and never runs on them
          help: use node affinity for `karpenter.sh/capacity-type` `In` `[reserved, on-demand]`
        ");
        begins_nothing(&super::RULE, "1.0", "1.2", &text);
        begins_nothing(&super::RULE, "1.3", "1.14", &text);
        begins_nothing(&super::RULE, "1.0", "1.14", POD);
        begins_nothing(&super::RULE, "1.0", "1.14", &text.replace("type: on-demand", "type: spot"));
    }
}
