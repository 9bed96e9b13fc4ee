//! Which findings are changes: those that begin on the way from one release to another.

use std::collections::BTreeMap;

use crate::finding::{CaughtBy, Draft, Severity};
use karpenter::way::Way;
use manifest::tree::Node;

/// The rule that reports a kind or version that a release does not serve.
const NOT_SERVED: &str = "removed-api-version";


/// Keeps the findings that begin on a way, and tells how many are left out because they hold at both its ends.
///
/// What did not work at the start of the way, and does not work later for another reason, is no change: an error of the
/// same rule at the same place, or a refusal of the API server within what it refused at the start. Neither is what was
/// graver there before, whichever rule said so.
pub fn keep_changes(drafts: &mut Vec<Draft<'_>>, way: Way) -> usize {
    let (from, to) = way.ends();
    let mut start = Start::default();
    for draft in drafts.iter().filter(|draft| draft.releases.contains(from)) {
        start.add(draft);
    }
    let mut unchanged = 0;
    drafts.retain(|draft| {
        if draft.releases.contains(from) {
            unchanged += usize::from(draft.releases.contains(to) && !draft.rule.upgrade_only);
            return false;
        }
        !start.was_worse_than(draft) && way.boundary(draft.releases).is_some()
    });
    unchanged
}

/// What held at the start of the way.
#[derive(Default)]
struct Start {
    /// By the order of the node.
    findings: BTreeMap<usize, Vec<Before>>,
    /// The object is of a kind or version that was not served.
    was_not_served: bool,
}

struct Before {
    rule: &'static str,
    severity: Severity,
    by_api_server: bool,
}

impl Start {
    fn add(&mut self, draft: &Draft<'_>) {
        let by_api_server = draft.caught_by == CaughtBy::ApiServer;
        self.was_not_served |= draft.rule.name == NOT_SERVED;
        let before = Before { rule: draft.rule.name, severity: draft.severity, by_api_server };
        self.findings.entry(draft.place.node().order()).or_default().push(before);
    }

    fn at(&self, node: Node<'_>) -> impl Iterator<Item = &Before> {
        self.findings.get(&node.order()).into_iter().flatten()
    }

    /// The rules about upgrades speak of both directions, so what they say of one is no comparison for the other.
    fn was_worse_than(&self, draft: &Draft<'_>) -> bool {
        if draft.rule.upgrade_only {
            return false;
        }
        let node = draft.place.node();
        let mut above = core::iter::successors(Some(node), |node| node.parent());
        let was_refused = draft.caught_by == CaughtBy::ApiServer
            && (self.was_not_served || above.any(|node| self.at(node).any(|before| before.by_api_server)));
        let was_error =
            |before: &Before| before.rule == draft.rule.name && before.severity == Severity::Error;
        was_refused || self.at(node).any(|before| before.severity < draft.severity || was_error(before))
    }
}
