//! `ConfigMaps` and Secrets with other values for a chart in the input whose templates make NodePools.
//!
//! Source: "Values references" in docs/spec/v2/helmreleases.md of fluxcd/helm-controller.

use std::collections::BTreeSet;

use answers::plan::PlannedChange;
use drift::ObjectChangeKind;
use manifest::tree::items_of;

use super::PlanPair;
use super::applied_objects::{AppliedObjects, name_of};
use super::feeds::Feeds;

/// One change for each `HelmRelease` with such values.
pub(super) fn changes(
    pair: PlanPair<'_>,
    (old, new): (&AppliedObjects<'_>, &AppliedObjects<'_>),
    feeds: &Feeds<'_>,
) -> Vec<PlannedChange> {
    let mut found = Vec::new();
    for release in new.appliers.all() {
        // The charts outside of the input are compared by themselves.
        if release.is_outside || old.counterpart(release, new).is_none() || new.files_of(release).is_empty() {
            continue;
        }
        let sources = items_of(release.root.at_path(&["spec", "valuesFrom"]));
        let names: BTreeSet<&str> = sources.filter_map(|source| source.str_at(&["name"])).collect();
        let Some(file) = feeds.of_maps(&names) else { continue };
        let (kind, _, name) = name_of(release);
        let place = release.root.at_path(&["spec", "valuesFrom"]).unwrap_or(release.root);
        let source = place.source();
        found.push(PlannedChange::of_file(
            pair.name,
            ObjectChangeKind::Changed,
            (source.name(), source.position(place.span().start).line),
            format!("{file} feeds {kind}/{name}, and has changed; compare the output of `helm template`"),
        ));
    }
    found
}
