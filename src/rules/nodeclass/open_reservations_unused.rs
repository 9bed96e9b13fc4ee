use cluster::index::Index;
use cluster::inventory::Inventory;
use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::chart_values;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{On, Runs};

use crate::rules::indexes::{Controllers, Gates, selects_reservations};

rule! {
    /// ## What it does
    ///
    /// Finds EC2NodeClasses without `capacityReservationSelectorTerms` while the feature gate `ReservedCapacity` is on.
    ///
    /// ## Why it is bad
    ///
    /// Since 1.6 the gate is on by default. Karpenter then launches instances with the reservation preference `none`
    /// unless the EC2NodeClass selects reservations. Before, instances used `open` on-demand capacity reservations
    /// automatically; now these reservations stay unused but are still billed. The manifests do not show whether the
    /// account has open reservations. If it has none, the upgrade changes nothing. The rule reports only the first
    /// EC2NodeClass that selects no reservations: as a warning if the input shows that the gate is on, by its value or by
    /// settings of the controller that leave it at its default, and otherwise as an info. A gate that is on since before 1.6
    /// takes effect at 1.3.
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
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(3),
        summary: "open capacity reservations are no longer used, because the EC2NodeClass selects none",
        runs: Runs::OnUpgrade,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    // One finding is enough for all node classes.
    if *context.inventory.index::<WithoutReservations>() != Some(object) {
        return;
    }
    let gate = context.inventory.index::<Gates>().get("ReservedCapacity");
    let (releases, severity) = match gate {
        Some(false) => return,
        Some(true) => (Releases::since(3), Severity::Warning),
        // The controller's settings are in the input, and leave the gate at its default.
        None if sets_controller(context.inventory) => (Releases::since(6), Severity::Warning),
        None if context
            .anywhere(|inventory| inventory.index::<Gates>().get("ReservedCapacity").is_some()) =>
        {
            return;
        }
        None => (Releases::since(6), Severity::Info),
    };
    let place = Place::missing(object.root(), "spec.capacityReservationSelectorTerms");
    let message = "Karpenter no longer launches instances into open capacity reservations, because this EC2NodeClass selects none: the reservations stay unused but are still billed";
    let help = "if the account has open on-demand capacity reservations, select them before the upgrade, or set the feature gate `ReservedCapacity=false`; if it has none, nothing changes";
    findings.push(Finding::new(&RULE, place, message).releases(releases).severity(severity).help(help));
}

/// Whether the input has the settings of the controller.
fn sets_controller(inventory: &Inventory<'_>) -> bool {
    let values = || inventory.objects().iter().any(|object| chart_values::of(*object).is_some());
    !inventory.index::<Controllers>().is_empty() || values()
}

/// The first EC2NodeClass that selects no capacity reservations.
struct WithoutReservations;

impl Index for WithoutReservations {
    type Value<'d> = Option<Object<'d>>;

    fn compute<'d>(inventory: &Inventory<'d>) -> Option<Object<'d>> {
        inventory.objects_of(Kind::NODE_CLASS).find(|class| !selects_reservations(*class))
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing, findings_in_files, on_upgrade_path};

    const CLASS: &str = r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: a
spec:
  role: a
";

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
        let values = |on: bool| {
            format!("{CLASS}---\nsettings: {{clusterName: a, featureGates: {{reservedCapacity: {on}}}}}\n")
        };
        begins_nothing(&super::RULE, "1.0", "1.6", &values(false));
        begins_nothing(&super::RULE, "1.5", "1.6", &values(true));
        assert!(begins(&super::RULE, "1.2", "1.6", &values(true)).starts_with("from 1.3 on"));
    }

    #[test]
    fn ignores_a_node_class_beside_environments_that_set_the_gate() {
        let found = |gates: &str| {
            let values = format!("settings: {{clusterName: a, interruptionQueue: a{gates}}}\n");
            let files = [
                ("base/class.yaml", CLASS),
                ("envs/dev/values.yaml", &values),
                ("envs/prod/values.yaml", &values),
            ];
            findings_in_files(&super::RULE, &files, &on_upgrade_path("1.5", "1.6"))
        };
        assert_eq!(found(", featureGates: {reservedCapacity: true}"), "");
        assert!(!found("").is_empty());
    }

    #[test]
    fn reports_a_warning_where_the_gate_is_known_to_be_on() {
        let text = format!("{CLASS}---\nsettings: {{clusterName: a, interruptionQueue: a}}\n");
        let output = begins(&super::RULE, "1.5", "1.6", &text);
        assert!(output.contains("warning EC2NodeClass/a") && output.contains("[since 1.6]"), "{output}");
    }
}
