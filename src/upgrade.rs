//! Which findings are changes: those that begin on the way from one release to another.

use std::collections::BTreeMap;

use crate::finding::{CaughtBy, Draft, Severity};
use crate::karpenter::way::Way;

/// Keeps the findings that begin on a way, and tells how many are left out because they hold at both its ends.
///
/// What is an error at its start too, of the same rule at the same place, is no change: it did not work before and does not
/// work now, and only who says so is another. Neither is what was graver before.
pub fn keep_changes(drafts: &mut Vec<Draft<'_>>, way: Way) -> usize {
    let (from, to) = way.ends();
    let mut at_start: BTreeMap<usize, Vec<Before>> = BTreeMap::new();
    for draft in drafts.iter().filter(|draft| draft.releases.contains(from)) {
        at_start.entry(draft.place.node().order()).or_default().push(Before::of(draft));
    }
    let mut unchanged = 0;
    drafts.retain(|draft| {
        if draft.releases.contains(from) {
            unchanged += usize::from(draft.releases.contains(to));
            return false;
        }
        let before = at_start.get(&draft.place.node().order());
        let was_worse = before.into_iter().flatten().any(|before| before.was_worse_than(draft));
        !was_worse && way.boundary(draft.releases).is_some()
    });
    unchanged
}

/// What held at the start of the way.
struct Before {
    rule: &'static str,
    severity: Severity,
    caught_by: CaughtBy,
}

impl Before {
    fn of(draft: &Draft<'_>) -> Self {
        Self { rule: draft.rule.name, severity: draft.severity, caught_by: draft.caught_by }
    }

    /// The rules about upgrades speak of both directions, so what they say of one is no comparison for the other.
    fn was_worse_than(&self, draft: &Draft<'_>) -> bool {
        let by_api_server = self.caught_by == CaughtBy::ApiServer && draft.caught_by == CaughtBy::ApiServer;
        let same = self.rule == draft.rule.name || by_api_server;
        let worse = self.severity < draft.severity || self.severity == Severity::Error;
        !draft.rule.upgrade_only && same && worse
    }
}
