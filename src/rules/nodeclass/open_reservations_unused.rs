use karpenter::kind::Kind;
use karpenter::release::Releases;
use lint::context::Context;
use lint::finding::{CaughtBy, Family, Finding, Place, Severity};
use lint::rule::On;
use objects::object::Object;

rule! {
    /// ## What it does
    ///
    /// Finds EC2NodeClasses without `capacityReservationSelectorTerms` when the input does not set the feature gate
    /// `ReservedCapacity`.
    ///
    /// ## Why it is bad
    ///
    /// Since 1.6 the gate is on by default. Karpenter then launches instances with the reservation preference `none`
    /// unless the EC2NodeClass selects reservations. Before, instances used `open` on-demand capacity reservations
    /// automatically; now these reservations stay unused but are still billed. The manifests do not show whether the
    /// account has open reservations. If it has none, the upgrade changes nothing. The rule reports only the first
    /// EC2NodeClass that selects no reservations.
    ///
    /// ## Example
    ///
    /// ```yaml,from=1.5 to 1.6
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml,from=1.5 to 1.6
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    ///   capacityReservationSelectorTerms: [{tags: {team: web}}]
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#8176, #9321; upgrade guide, 1.6.0
    /// - pkg/providers/launchtemplate/launchtemplate.go at v1.5.8, types.go at v1.6.0
    UPGRADE {
        name: "open-reservations-unused",
        family: Family::Nodeclass,
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(6),
        summary: "open capacity reservations are no longer used, because the EC2NodeClass selects none",
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    // A gate that is set does not change with the release. One finding is enough for all node classes.
    let is_first = context.inventory.without_reservations() == Some(object);
    let is_gate_set =
        context.anywhere(|inventory| inventory.feature_gates().get("ReservedCapacity").is_some());
    if !is_first || is_gate_set {
        return;
    }
    let place = Place::missing(object.root(), "spec.capacityReservationSelectorTerms");
    let message = "Karpenter no longer launches instances into open capacity reservations, because this EC2NodeClass selects none: the reservations stay unused but are still billed";
    let help = "if the account has open on-demand capacity reservations, select them before the upgrade, or set the feature gate `ReservedCapacity=false`; if it has none, nothing changes";
    findings.push(Finding::new(&RULE, place, message).help(help));
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing};

    const CLASS: &str =
        "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata:\n  name: a\nspec:\n  role: a\n";

    #[test]
    fn gate_is_on_by_default_since_1_6() {
        insta::assert_snapshot!(begins(&super::RULE, "1.5", "1.6.0", CLASS), @"
        from 1.6 on
          4 |   name: a
            |         ^
        info EC2NodeClass/a spec.capacityReservationSelectorTerms [since 1.6]
          Karpenter no longer launches instances into open capacity reservations, because this EC2NodeClass selects none: the reservations stay unused but are still billed
          help: if the account has open on-demand capacity reservations, select them before the upgrade, or set the feature gate `ReservedCapacity=false`; if it has none, nothing changes
        ");
        begins_nothing(&super::RULE, "1.0", "1.5", CLASS);
        begins_nothing(&super::RULE, "1.6.0", "1.14", CLASS);
        begins_nothing(&super::RULE, "1.14", "1.0", CLASS);
    }

    #[test]
    fn reports_only_the_first_node_class() {
        let selects = CLASS
            .replace("role: a", "capacityReservationSelectorTerms: [{id: cr-1}]")
            .replace("name: a", "name: b");
        let other = CLASS.replace("name: a", "name: c");
        let output = begins(&super::RULE, "1.5", "1.6", &format!("{selects}---\n{CLASS}---\n{other}"));
        assert!(output.contains("EC2NodeClass/a") && output.matches("help:").count() == 1, "{output}");
    }

    #[test]
    fn selected_reservations_and_explicit_gates_are_not_reported() {
        let selects = format!("{CLASS}  capacityReservationSelectorTerms: [{{id: cr-1}}]\n");
        begins_nothing(&super::RULE, "1.5", "1.6", &selects);
        for on in [true, false] {
            let values =
                format!("---\nsettings: {{clusterName: a, featureGates: {{reservedCapacity: {on}}}}}\n");
            begins_nothing(&super::RULE, "1.5", "1.6", &format!("{CLASS}{values}"));
        }
    }
}
