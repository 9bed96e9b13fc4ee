//! Changes that are not of the objects of a cluster: of what makes objects, or gives values to them, in a way that a plan does not compute.

use std::collections::BTreeSet;

use answers::plan::PlannedChange;

use super::PlanPair;
use super::applied_objects::AppliedObjects;
use super::feeds::Feeds;
use super::{
    appliers, flux_sources, handed_over, helmfile_templates, other_templates, outside, outside_charts,
    template_inputs, templated_appliers, terragrunt, values_from,
};

/// The changes between the sides of a pair.
pub(super) fn changes<'p>(
    pair: PlanPair<'p>,
    applied: (&AppliedObjects<'p>, &AppliedObjects<'p>),
    feeds: &Feeds<'p>,
) -> Vec<PlannedChange> {
    let mut found = other_templates::changes(pair);
    found.extend(template_inputs::changes(pair));
    found.extend(outside::changes(pair));
    found.extend(outside_charts::changes(pair, applied, feeds));
    found.extend(helmfile_templates::changes(pair, applied.1, feeds));
    found.extend(templated_appliers::changes(pair, applied, feeds));
    found.extend(terragrunt::changes(pair, feeds));
    found.extend(appliers::changes(pair, applied, feeds));
    found.extend(flux_sources::changes(pair, applied));
    found.extend(values_from::changes(pair, applied, feeds));
    found.extend(handed_over::changes(pair, applied));
    found
}

/// The first of the changes with one message at one place: several overlays may have the same object of Flux or Argo CD.
pub(super) fn once(changes: impl Iterator<Item = PlannedChange>) -> Vec<PlannedChange> {
    let mut known = BTreeSet::new();
    let is_new = |change: &PlannedChange| {
        let names = [&change.cluster, &change.kind, &change.name, &change.message, &change.file];
        known.insert((names.map(String::clone), change.line))
    };
    changes.filter(is_new).collect()
}
