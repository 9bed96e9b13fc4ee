//! Refusals of the API server that a named rule explains: one refusal, one finding.
//!
//! A rule declares the rules of family `api-server` that it supersedes. A finding of the rule explains their refusals at its
//! own key or value and at the nodes that it adds with [`Draft::explains`], for its releases.

use std::collections::BTreeMap;

use karpenter::release::ReleaseSet;
use manifest::tree::Node;
use objects::object::Object;

use crate::finding::{CaughtBy, Draft, Family};
use crate::settings::Target;

/// Explained refusals: the position of a node in its tree and the rule of family `api-server`, with the releases.
type Explained = BTreeMap<(usize, &'static str), ReleaseSet>;

/// Removes the superseded refusals. A refusal that is explained for some releases remains for the others of `target`.
pub(crate) fn remove_superseded<'d>(drafts: &mut Vec<Draft<'d>>, object: Object<'d>, target: Target) {
    let mut explained = Explained::new();
    for draft in drafts.iter().filter(|draft| draft.caught_by == CaughtBy::ApiServer) {
        // A rule of family `api-server` explains only what it names.
        let own = Some(draft.place.node()).filter(|_| draft.rule.family != Family::ApiServer);
        for node in own.into_iter().chain(draft.explains.iter().copied()) {
            if is_within(node, object) {
                for name in draft.rule.supersedes {
                    let releases = explained.entry((node.order(), *name)).or_insert_with(ReleaseSet::none);
                    *releases = releases.or(&draft.releases);
                }
            }
        }
    }
    drafts.retain_mut(|draft| {
        if let Some(releases) = explained.get(&(draft.place.node().order(), draft.rule.name)) {
            draft.releases = draft.releases.without(releases);
        }
        target.meets(&draft.releases)
    });
}

/// Whether a node belongs to the document of an object.
fn is_within(node: Node<'_>, object: Object<'_>) -> bool {
    core::ptr::eq(node.tree(), object.root().tree())
}
