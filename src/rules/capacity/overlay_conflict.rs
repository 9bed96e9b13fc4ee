use std::collections::BTreeMap;

use cluster::index::Index;
use cluster::inventory::Inventory;
use karpenter::kind::Kind;
use karpenter::known_values::is_replaced;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_overlay::NodeOverlay;
use objects::object::Object;
use objects::requirement::LabelRequirement;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, LookUp, On, Runs};
use values::placeholder::has_placeholder;

rule! {
    /// ## What it does
    ///
    /// Compares NodeOverlays of the same weight. If one of them matches every instance that the other matches, they
    /// must not both set a price or the same resource.
    ///
    /// ## Why it is bad
    ///
    /// If several NodeOverlays match an instance, Karpenter applies the NodeOverlay with the greatest weight. It does
    /// not choose between two of equal weight (the default is 0): in the order of names from z to a, the second
    /// NodeOverlay gets `ValidationSucceeded=False` with the reason `Conflict`, and Karpenter ignores all of it.
    ///
    /// Two NodeOverlays in different files are a warning: a cluster may get only one of the files.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1alpha1
    /// kind: NodeOverlay
    /// metadata:
    ///   name: all-spot
    /// spec:
    ///   requirements:
    ///     - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
    ///   priceAdjustment: -10%
    /// ---
    /// apiVersion: karpenter.sh/v1alpha1
    /// kind: NodeOverlay
    /// metadata:
    ///   name: m5-spot
    /// spec:
    ///   requirements:
    ///     - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
    ///     - {key: karpenter.k8s.aws/instance-family, operator: In, values: [m5]}
    ///   priceAdjustment: -20%
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1alpha1
    /// kind: NodeOverlay
    /// metadata:
    ///   name: all-spot
    /// spec:
    ///   requirements:
    ///     - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
    ///   priceAdjustment: -10%
    /// ---
    /// apiVersion: karpenter.sh/v1alpha1
    /// kind: NodeOverlay
    /// metadata:
    ///   name: m5-spot
    /// spec:
    ///   weight: 10
    ///   requirements:
    ///     - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
    ///     - {key: karpenter.k8s.aws/instance-family, operator: In, values: [m5]}
    ///   priceAdjustment: -20%
    /// ```
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter `pkg/controllers/nodeoverlay/controller.go` and store.go, 1.7-1.14
    RULE {
        formerly: &["controller"],
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::since(7),
        fix: Fixes::None,
        summary: "two NodeOverlays of equal weight set the same price or resource, so Karpenter ignores one of them",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_OVERLAY)],
        // The kind is alpha, and its CRD exists only since Karpenter 1.7. The policy must not ask a cluster for a kind that may be missing.
        inventory: &[LookUp::InFiles(Kind::NODE_OVERLAY)],
        check: check,
    }
}

/// Maximum number of NodeOverlays to compare each NodeOverlay with. Comparing all pairs takes quadratic time, and no
/// cluster is known to have more than a few dozen.
const MAX_COMPARED: usize = 256;

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(mine) = NodeOverlay::of(object).and_then(Overlay::parse) else { return };
    // Karpenter goes through the names from z to a, so a greater name comes first.
    let others = context.inventory.index::<ComparedOverlays>().iter();
    for other in others.filter(|other| other.view.object().name() > object.name()) {
        let overlap = mine.weight == other.weight && (mine.implies(other) || other.implies(&mine));
        let Some((node, what)) = mine.shared(other).filter(|_| overlap) else { continue };
        let theirs = other.view.object();
        let name = theirs.name();
        // Files of one folder can be alternatives, of which a cluster gets only one.
        let is_same_file = core::ptr::eq(theirs.root().tree().source(), object.root().tree().source());
        let condition = if is_same_file { "" } else { "in a cluster that gets both files, " };
        let message = format!(
            "the NodeOverlay `{name}` sets {what} for the same instances with the same weight ({}); {condition}this NodeOverlay \
             comes second by name, so it fails Karpenter's validation and Karpenter ignores it",
            mine.weight
        );
        let severity = if is_same_file { Severity::Error } else { Severity::Warning };
        let help = "give one of the two a greater `weight`, or requirements that do not overlap";
        findings.push(
            Finding::new(&RULE, Place::key(node), message)
                .severity(severity)
                .help(help)
                .related(Place::value(theirs.name_node()), "the NodeOverlay that Karpenter applies"),
        );
        return;
    }
}

/// The NodeOverlays that each NodeOverlay is compared with.
struct ComparedOverlays;

impl Index for ComparedOverlays {
    type Value<'d> = Vec<Overlay<'d>>;

    fn compute<'d>(inventory: &Inventory<'d>) -> Vec<Overlay<'d>> {
        let overlays = inventory.objects_of(Kind::NODE_OVERLAY).take(MAX_COMPARED);
        overlays.filter_map(NodeOverlay::of).filter_map(Overlay::parse).collect()
    }
}

struct Overlay<'d> {
    view: NodeOverlay<'d>,
    weight: i64,
    requirements: BTreeMap<&'d str, LabelRequirement<'d>>,
}

impl<'d> Overlay<'d> {
    /// Returns `None` if it is uncertain which instances the overlay matches.
    fn parse(view: NodeOverlay<'d>) -> Option<Self> {
        let weight = view.weight().map_or(Some(0), Node::as_int)?;
        let list = view.requirements().node().filter(|list| list.is_sequence())?;
        let mut requirements = BTreeMap::new();
        for requirement in view.requirements().parsed() {
            let unresolved =
                requirement.values().iter().any(|(value, _)| is_replaced(requirement.key, value));
            if unresolved || has_placeholder(requirement.key) {
                return None;
            }
            requirements.insert(requirement.label(), requirement);
        }
        // A list that repeats a label has more items than labels.
        (requirements.len() == list.len()).then_some(Self { view, weight, requirements })
    }

    /// Whether the other overlay matches every instance that this overlay matches.
    fn implies(&self, other: &Self) -> bool {
        other
            .requirements
            .iter()
            .all(|(label, wide)| self.requirements.get(label).is_some_and(|narrow| within(*narrow, *wide)))
    }

    /// Returns what both overlays set: its first node in this overlay, and its names for the message.
    fn shared(&self, other: &Self) -> Option<(Node<'d>, String)> {
        if let (Some(mine), Some(_)) = (self.view.price(), other.view.price()) {
            return Some((mine, "a price".to_owned()));
        }
        let theirs = other.view.capacity()?;
        let mut mine = self.view.capacity()?.sorted_members();
        mine.retain(|(key, _)| theirs.get(key).is_some());
        let names: Vec<&str> = mine.iter().map(|(key, _)| *key).collect();
        let (_, first) = mine.first()?;
        Some((*first, format!("`{}`", names.join("`, `"))))
    }
}

/// Whether `wide` allows every value that `narrow` allows.
fn within(narrow: LabelRequirement<'_>, wide: LabelRequirement<'_>) -> bool {
    let (ours, theirs) = (narrow.values(), wide.values());
    match (narrow.operator, wide.operator) {
        ("In", "In") => ours.iter().all(|(value, _)| has(&theirs, value)),
        ("In", "NotIn") => !ours.iter().any(|(value, _)| has(&theirs, value)),
        ("NotIn", "NotIn") => theirs.iter().all(|(value, _)| has(&ours, value)),
        ("In" | "Exists", "Exists") | ("DoesNotExist", "DoesNotExist") => true,
        (one, other) => {
            one == other && ours.iter().map(|(value, _)| value).eq(theirs.iter().map(|(value, _)| value))
        }
    }
}

fn has(values: &[(&str, Node<'_>)], value: &str) -> bool {
    values.iter().any(|(other, _)| *other == value)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn overlay(name: &str, spec: &str) -> String {
        format!(
            r"---
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {{name: {name}}}
spec: {{{spec}}}
"
        )
    }

    const M5: &str = "requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [m5]}]";
    const M: &str =
        "requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [m5, m6i]}]";

    #[test]
    fn reports_the_overlay_that_comes_second_by_name() {
        let text =
            overlay("a", &format!("{M}, price: '1'")) + &overlay("b", &format!("{M5}, priceAdjustment: -5%"));
        insta::assert_snapshot!(findings(&RULE, &text), @"
          5 | spec: {requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [m5, m6i]}], price: '1'}
            |                                                                                                   ^^^^^
        error NodeOverlay/a spec.price [since 1.7]
          the NodeOverlay `b` sets a price for the same instances with the same weight (0); this NodeOverlay comes second by name, so it fails Karpenter's validation and Karpenter ignores it
          help: give one of the two a greater `weight`, or requirements that do not overlap
          see line 9 metadata.name: the NodeOverlay that Karpenter applies
        ");
    }

    #[test]
    fn compares_resources_one_by_one() {
        let a = overlay("a", &format!("{M5}, capacity: {{x/y: 1, x/z: 2}}"));
        let output = findings(&RULE, &(a.clone() + &overlay("b", &format!("{M5}, capacity: {{x/z: 3}}"))));
        assert!(output.contains("spec.capacity.x/z") && output.contains("sets `x/z`"), "{output}");
        let both =
            findings(&RULE, &(a.clone() + &overlay("b", &format!("{M5}, capacity: {{x/z: 3, x/y: 3}}"))));
        assert!(both.contains("spec.capacity.x/y") && both.contains("sets `x/y`, `x/z`"), "{both}");
        silent(&RULE, &(a + &overlay("b", &format!("{M5}, capacity: {{x/w: 3}}"))));
    }

    #[test]
    fn ignores_overlays_that_may_not_overlap() {
        let a = overlay("a", &format!("{M5}, price: '1'"));
        for other in [
            format!("{M5}, price: '2', weight: 1"),
            "requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [c5]}], price: '2'".to_owned(),
            "requirements: [{key: karpenter.k8s.aws/instance-size, operator: In, values: [large]}], price: '2'".to_owned(),
            "requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: ['${F}']}], price: '2'".to_owned(),
            format!("{M5}, capacity: {{x/y: 1}}"),
            "price: '2'".to_owned(),
        ] {
            silent(&RULE, &(a.clone() + &overlay("b", &other)));
        }
    }

    #[test]
    fn compares_exclusions_and_bounds() {
        let cpu = |operator: &str, values: &str| {
            format!(
                "requirements: [{{key: karpenter.k8s.aws/instance-cpu, operator: {operator}, values: [{values}]}}], price: '1'"
            )
        };
        let both = |one: &str, other: &str| overlay("a", one) + &overlay("b", other);
        for (one, other, is_reported) in [
            (cpu("In", "'4'"), cpu("NotIn", "'8'"), true),
            (cpu("In", "'4'"), cpu("NotIn", "'4'"), false),
            (cpu("Gt", "'4'"), cpu("Gt", "'4'"), true),
            (cpu("Gt", "'4'"), cpu("Gt", "'8'"), false),
            (cpu("Gt", "'4'"), cpu("Lt", "'4'"), false),
        ] {
            assert_eq!(!findings(&RULE, &both(&one, &other)).is_empty(), is_reported, "{one} {other}");
        }
    }

    #[test]
    fn ignores_overlays_with_placeholders() {
        let key = M5.replace("karpenter.k8s.aws/instance-family", "'${KEY}'");
        let value = M.replace("m6i", "'${FAMILY}'");
        let variable = M.replace("m6i", "FAMILY");
        for unresolved in [key, value, variable] {
            let spec = format!("{unresolved}, price: '1'");
            silent(&RULE, &(overlay("a", &spec) + &overlay("b", &spec)));
        }
    }
}
