use std::collections::BTreeMap;

use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use karpenter::release::Releases;
use manifest::tree::Node;
use karpenter::kind::Kind;
use objects::object::Object;
use values::placeholder::is_unresolved;
use crate::rules::requirements::{self, Requirement};
use lint::rule::{Fixes, On};

rule! {
    /// ## What it does
    ///
    /// Compares NodeOverlays of the same weight: where whatever the one matches is matched by the other too, they must not
    /// both set a price, nor the same resource.
    ///
    /// ## Why it is bad
    ///
    /// Of several NodeOverlays the one with the greatest weight counts. Between two of equal weight (none written is 0)
    /// Karpenter does not choose: the second in line, by name from z to a, turns `ValidationSucceeded=False` with the reason
    /// `Conflict` and is left out as a whole.
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
        name: "overlay-conflict",
        family: Family::Controller,
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::since(7),
        fix: Fixes::None,
        summary: "two NodeOverlays of equal weight change the same thing, and one of them is left out",
        on: &[On::Kind(Kind::NODE_OVERLAY)],
        inventory: &[Kind::NODE_OVERLAY],
        check: check,
    }
}

/// With how many others an overlay is compared: each with each would cost the square of their number, and no cluster is
/// known to have more than a few dozen.
const COMPARED: usize = 256;

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    let Some(mine) = Overlay::read(object) else { return };
    // Those that come before it in line.
    let others = context.inventory.of(Kind::NODE_OVERLAY).take(COMPARED).filter(|other| other.name() > object.name());
    for other in others.filter_map(Overlay::read) {
        let overlap = mine.weight == other.weight && (mine.implies(&other) || other.implies(&mine));
        let Some((node, what)) = mine.shared(&other).filter(|_| overlap) else { continue };
        let name = other.object.name();
        let message = format!(
            "`{name}` sets {what} for the same instances and has the same weight, {}; Karpenter refuses this NodeOverlay, \
             which comes after it, and leaves it out as a whole",
            mine.weight
        );
        let help = "give one of the two a greater `weight`, or requirements that keep them apart";
        let theirs = other.object.at(&["metadata", "name"]).unwrap_or_else(|| other.object.root());
        drafts.push(
            Draft::new(&RULE, Place::key(node), message)
                .help(help)
                .related(Place::value(theirs), "the NodeOverlay that counts"),
        );
        return;
    }
}

struct Overlay<'d> {
    object: Object<'d>,
    weight: i64,
    requirements: BTreeMap<&'d str, Requirement<'d>>,
}

impl<'d> Overlay<'d> {
    /// `None` where it is not certain what the overlay matches.
    fn read(object: Object<'d>) -> Option<Self> {
        let weight = object.at(&["spec", "weight"]).map_or(Some(0), Node::as_int)?;
        let list = object.at(&["spec", "requirements"]).filter(|list| list.is_sequence())?;
        let mut requirements = BTreeMap::new();
        for requirement in requirements::of(object) {
            let unresolved = requirement.values().iter().any(|(value, _)| is_unresolved(value));
            let twice = requirements.contains_key(requirement.label());
            requirements.insert(requirement.label(), requirement);
            if unresolved || twice || is_unresolved(requirement.key) {
                return None;
            }
        }
        (requirements.len() == list.len()).then_some(Self { object, weight, requirements })
    }

    /// Whether everything this overlay matches is matched by the other.
    fn implies(&self, other: &Self) -> bool {
        other.requirements.iter().all(|(label, wide)| {
            self.requirements.get(label).is_some_and(|narrow| within(*narrow, *wide))
        })
    }

    /// What both set: the member of this one, and a word for it.
    fn shared(&self, other: &Self) -> Option<(Node<'d>, String)> {
        let price = |overlay: &Self| {
            ["price", "priceAdjustment"].iter().find_map(|field| overlay.object.at(&["spec", field]))
        };
        if let (Some(mine), Some(_)) = (price(self), price(other)) {
            return Some((mine, "a price".to_owned()));
        }
        let theirs = other.object.at(&["spec", "capacity"])?;
        let mut mine = self.object.at(&["spec", "capacity"])?.members();
        mine.find(|(key, _)| theirs.get(key).is_some()).map(|(key, node)| (node, format!("`{key}`")))
    }
}

/// Whether the values that the one allows are among those of the other.
fn within(narrow: Requirement<'_>, wide: Requirement<'_>) -> bool {
    let (ours, theirs) = (narrow.values(), wide.values());
    match (narrow.operator, wide.operator) {
        ("In", "In") => ours.iter().all(|(value, _)| has(&theirs, value)),
        ("In", "NotIn") => !ours.iter().any(|(value, _)| has(&theirs, value)),
        ("NotIn", "NotIn") => theirs.iter().all(|(value, _)| has(&ours, value)),
        ("In" | "Exists", "Exists") | ("DoesNotExist", "DoesNotExist") => true,
        (one, other) => one == other && ours.iter().map(|(value, _)| value).eq(theirs.iter().map(|(value, _)| value)),
    }
}

#[inline(never)]
fn has(values: &[(&str, Node<'_>)], value: &str) -> bool {
    values.iter().any(|(other, _)| *other == value)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn overlay(name: &str, spec: &str) -> String {
        format!("---\napiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {{name: {name}}}\nspec: {{{spec}}}\n")
    }

    const M5: &str = "requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [m5]}]";
    const M: &str = "requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [m5, m6i]}]";

    #[test]
    fn the_first_by_name_is_the_one_left_out() {
        let text = overlay("a", &format!("{M}, price: '1'")) + &overlay("b", &format!("{M5}, priceAdjustment: -5%"));
        insta::assert_snapshot!(findings(&RULE, &text), @"
          5 | spec: {requirements: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [m5, m6i]}], price: '1'}
            |                                                                                                   ^^^^^
        error NodeOverlay/a spec.price [1.7-1.14]
          `b` sets a price for the same instances and has the same weight, 0; Karpenter refuses this NodeOverlay, which comes after it, and leaves it out as a whole
          help: give one of the two a greater `weight`, or requirements that keep them apart
          see line 9 metadata.name: the NodeOverlay that counts
        ");
    }

    #[test]
    fn resources_conflict_one_by_one() {
        let a = overlay("a", &format!("{M5}, capacity: {{x/y: 1, x/z: 2}}"));
        let said = findings(&RULE, &(a.clone() + &overlay("b", &format!("{M5}, capacity: {{x/z: 3}}"))));
        assert!(said.contains("spec.capacity.x/z") && said.contains("sets `x/z`"), "{said}");
        silent(&RULE, &(a + &overlay("b", &format!("{M5}, capacity: {{x/w: 3}}"))));
    }

    #[test]
    fn overlays_that_may_keep_apart_are_left_alone() {
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
}
