use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use karpenter::release::Releases;
use karpenter::kind::Kind;
use objects::object::Object;
use lint::rule::On;

rule! {
    /// ## What it does
    ///
    /// Looks for EC2NodeClasses without `capacityReservationSelectorTerms` where the feature gate `ReservedCapacity` is not
    /// turned off.
    ///
    /// ## Why it is bad
    ///
    /// The gate is on by default from 1.6 on. Karpenter then launches instances with the reservation preference `none`
    /// unless the node class selects reservations. On-demand capacity reservations that are `open`, which instances used
    /// without a word, are no longer used, and are paid for all the same. Whoever owns none can leave the classes as they
    /// are: the manifests do not tell. It is said once, at the first class that selects none.
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
        summary: "open capacity reservations are used no more, as the node class selects none",
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    // Where the gate is set already, the release does not change it. One word is enough for all classes.
    let is_first = context.inventory.without_reservations() == Some(object);
    if !is_first || context.inventory.feature_gates().get("ReservedCapacity").is_some() {
        return;
    }
    let place = Place::missing(object.root(), "spec.capacityReservationSelectorTerms");
    let message = "instances are launched outside of open capacity reservations, which stay paid for and unused, as by this node class, which selects none";
    let help = "where the account has open on-demand capacity reservations, select them before the upgrade, or set the feature gate `ReservedCapacity=false`; where it has none, nothing changes";
    drafts.push(Draft::new(&RULE, place, message).help(help));
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing};

    const CLASS: &str = "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata:\n  name: a\nspec:\n  role: a\n";

    #[test]
    fn the_gate_is_on_by_default_from_1_6_on() {
        insta::assert_snapshot!(begins(&super::RULE, "1.5", "1.6.0", CLASS), @"
        from 1.6 on
          4 |   name: a
            |         ^
        info EC2NodeClass/a spec.capacityReservationSelectorTerms [1.6-1.14]
          instances are launched outside of open capacity reservations, which stay paid for and unused, as by this node class, which selects none
          help: where the account has open on-demand capacity reservations, select them before the upgrade, or set the feature gate `ReservedCapacity=false`; where it has none, nothing changes
        ");
        begins_nothing(&super::RULE, "1.0", "1.5", CLASS);
        begins_nothing(&super::RULE, "1.6.0", "1.14", CLASS);
        begins_nothing(&super::RULE, "1.14", "1.0", CLASS);
    }

    #[test]
    fn it_is_said_once() {
        let selects = CLASS.replace("role: a", "capacityReservationSelectorTerms: [{id: cr-1}]").replace("name: a", "name: b");
        let other = CLASS.replace("name: a", "name: c");
        let said = begins(&super::RULE, "1.5", "1.6", &format!("{selects}---\n{CLASS}---\n{other}"));
        assert!(said.contains("EC2NodeClass/a") && said.matches("help:").count() == 1, "{said}");
    }

    #[test]
    fn who_selects_reservations_or_sets_the_gate_sees_no_change() {
        let selects = format!("{CLASS}  capacityReservationSelectorTerms: [{{id: cr-1}}]\n");
        begins_nothing(&super::RULE, "1.5", "1.6", &selects);
        for on in [true, false] {
            let values = format!("---\nsettings: {{clusterName: a, featureGates: {{reservedCapacity: {on}}}}}\n");
            begins_nothing(&super::RULE, "1.5", "1.6", &format!("{CLASS}{values}"));
        }
    }
}
