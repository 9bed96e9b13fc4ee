//! Removal of superseded findings: if a named rule explains a refusal of the API server, only its finding is reported.
//!
//! A rule declares the rules of family `api-server` that it supersedes. A finding of the rule explains their refusals at its
//! key or value and at the nodes that it adds with [`Finding::explains`], for its releases.
//!
//! A finding that the settings turn off or the author suppresses explains nothing: the API server still refuses the object, so
//! the refusal is reported. A finding whose severity the settings change explains the refusal as before.

use std::collections::BTreeMap;

use karpenter::release::ReleaseSet;
use manifest::tree::{Node, NodeId};
use objects::object::Object;

use rule::classification::{CaughtBy, Family};
use rule::finding::Finding;
use rule::settings::Target;

/// Explained refusals: a node and the rule of family `api-server`, with the releases.
type Explained = BTreeMap<(NodeId, &'static str), ReleaseSet>;

/// Removes the superseded refusals. A refusal that is explained for some releases remains for the others of `target`.
pub(crate) fn remove_superseded<'d>(findings: &mut Vec<Finding<'d>>, object: Object<'d>, target: Target) {
    let mut explained = Explained::new();
    for finding in findings.iter().filter(|finding| finding.caught_by == CaughtBy::ApiServer) {
        // A rule of family `api-server` explains only the nodes in `explains`.
        let own = Some(finding.place.node()).filter(|_| finding.rule.family != Family::ApiServer);
        for node in own.into_iter().chain(finding.explains.iter().copied()) {
            if is_within(node, object) {
                for name in finding.rule.supersedes {
                    let releases = explained.entry((node.id(), *name)).or_insert_with(ReleaseSet::none);
                    *releases = releases.or(&finding.releases);
                }
            }
        }
    }
    findings.retain_mut(|finding| {
        if let Some(releases) = explained.get(&(finding.place.node().id(), finding.rule.name)) {
            finding.releases = finding.releases.without(releases);
        }
        target.meets(&finding.releases)
    });
}

/// Whether a node belongs to the document of an object.
fn is_within(node: Node<'_>, object: Object<'_>) -> bool {
    core::ptr::eq(node.tree(), object.root().tree())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::tree;
    use rule::Rule;

    static REFUSAL: Rule =
        Rule { name: "refusal", family: Family::ApiServer, caught_by: CaughtBy::ApiServer, ..Rule::DEFAULTS };
    static EXPLANATION: Rule = Rule {
        name: "explanation",
        family: Family::Nodeclass,
        caught_by: CaughtBy::ApiServer,
        supersedes: &["refusal"],
        ..Rule::DEFAULTS
    };

    #[test]
    fn keeps_a_refusal_beside_an_explanation_in_another_document() {
        let text = "apiVersion: v1\nkind: A\n";
        let (own, other) = (tree(text), tree(text));
        let object = Object::all(&own)[0];
        let shown = |explained: Node<'_>| {
            let mut findings = vec![
                Finding::at(&REFUSAL, object.root(), "refused"),
                Finding::at(&EXPLANATION, explained, "explained"),
            ];
            remove_superseded(&mut findings, object, Target::parse("1.8").unwrap());
            findings.iter().map(|finding| finding.rule.name).collect::<Vec<_>>()
        };
        assert_eq!(shown(own.root()), ["explanation"]);
        assert_eq!(shown(other.root()), ["refusal", "explanation"]);
    }
}
