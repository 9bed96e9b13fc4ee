//! The releases of Karpenter before and after a change.

use karpenter::release::Release;
use rule::settings::{Settings, Target};

use super::{Plan, PlanAssumption, PlanOptions, PlanPair, PlanSide};
use crate::simulate::{Assumption, release_of};

/// The releases of one pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlanReleases {
    pub(super) before: Release,
    pub(super) after: Release,
}

/// The releases before and after, with assumptions. The answer has the releases of the first cluster.
pub(super) fn releases_of(plan: &mut Plan, pair: PlanPair<'_>, options: &PlanOptions) -> PlanReleases {
    let deduced = |side: PlanSide<'_>| release_of(&options.settings, &side.cluster.files);
    let (old, new) = (deduced(pair.old), deduced(pair.new));
    // An input without a pin says nothing about its release.
    let (old, new) = match (&old.1, &new.1) {
        (Some(Assumption::Release(_)), _) => (new.clone(), new),
        (_, Some(Assumption::Release(_))) => (old.clone(), old),
        _ => (old, new),
    };
    let after = options.to.unwrap_or(new.0);
    let before = options.from.unwrap_or(old.0);
    if options.to.is_none() {
        plan.assumptions.extend(new.1.map(PlanAssumption::Simulation));
    }
    if plan.answer.karpenter_version.is_empty() {
        plan.answer.karpenter_version = after.to_string();
        plan.answer.karpenter_version_before = before.to_string();
    }
    PlanReleases { before, after }
}

/// The settings of a side, with its release.
pub(super) fn settings_at(options: &PlanOptions, release: Release) -> Settings {
    Settings { karpenter: Target::only(release), is_karpenter_version_set: true, ..options.settings.clone() }
}
