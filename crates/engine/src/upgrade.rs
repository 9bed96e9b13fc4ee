//! The findings that begin on the path from one release to another.

use std::collections::BTreeMap;

use karpenter::upgrade_path::UpgradePath;
use manifest::tree::{Node, NodeId};

use rule::Runs;
use rule::classification::{CaughtBy, Severity};
use rule::finding::Finding;
use rule::registry::Registry;

/// Keeps the findings that begin on an upgrade path, and counts the findings that hold at both of its ends.
///
/// A finding is no change if the same node already failed at the start of the path for another reason: if the same rule
/// reported an error there, if the API server refused the node (also where the controller refuses it later) or a parent
/// of it, or if any rule reported a higher severity there.
pub(crate) fn keep_changes(findings: &mut Vec<Finding<'_>>, path: UpgradePath, registry: &Registry) -> usize {
    let (from, to) = path.ends();
    let mut start = StartFindings::default();
    for finding in findings.iter().filter(|finding| finding.releases.contains(from)) {
        start.add(finding, registry);
    }
    let mut unchanged = 0;
    findings.retain(|finding| {
        if finding.releases.contains(from) {
            unchanged += usize::from(finding.releases.contains(to) && finding.rule.runs != Runs::OnUpgrade);
            return false;
        }
        !start.was_worse_than(finding) && path.boundary(&finding.releases).is_some()
    });
    unchanged
}

/// The findings at the start of the path.
#[derive(Default)]
struct StartFindings {
    /// The findings by their node.
    findings: BTreeMap<NodeId, Vec<Before>>,
    /// Whether the release does not serve the kind or version of the object.
    was_not_served: bool,
}

struct Before {
    rule: &'static str,
    severity: Severity,
    by_api_server: bool,
}

impl StartFindings {
    fn add(&mut self, finding: &Finding<'_>, registry: &Registry) {
        let by_api_server = finding.caught_by == CaughtBy::ApiServer;
        self.was_not_served |= registry.reports_unserved(finding.rule);
        let before = Before { rule: finding.rule.name, severity: finding.severity, by_api_server };
        self.findings.entry(finding.place.node().id()).or_default().push(before);
    }

    fn at(&self, node: Node<'_>) -> impl Iterator<Item = &Before> {
        self.findings.get(&node.id()).into_iter().flatten()
    }

    /// Whether the start had a more severe problem at the node of a finding. Rules for upgrades report each direction
    /// separately, so their findings are never compared.
    fn was_worse_than(&self, finding: &Finding<'_>) -> bool {
        if finding.rule.runs == Runs::OnUpgrade {
            return false;
        }
        let node = finding.place.node();
        let mut above = core::iter::successors(Some(node), |node| node.parent());
        let was_refused = finding.caught_by == CaughtBy::ApiServer
            && (self.was_not_served || above.any(|node| self.at(node).any(|before| before.by_api_server)));
        // The cluster has no value that its API server refuses, whatever refuses the value later.
        let was_impossible =
            self.at(node).any(|before| before.by_api_server && before.severity == Severity::Error);
        let was_error =
            |before: &Before| before.rule == finding.rule.name && before.severity == Severity::Error;
        was_refused
            || was_impossible
            || self.at(node).any(|before| before.severity < finding.severity || was_error(before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{REGISTRY, tree};
    use karpenter::release::{Release, Releases};
    use rule::Rule;

    static ONE: Rule = Rule { name: "one", ..Rule::DEFAULTS };
    static OTHER: Rule = Rule { name: "other", ..Rule::DEFAULTS };

    /// Whether a finding since 1.5 is a change on the path from 1.4 to 1.8, if the same node has a finding until 1.4.
    fn is_change(before: (&'static Rule, Severity), after: (&'static Rule, Severity)) -> bool {
        let tree = tree("a: 1\n");
        let finding = |(rule, severity): (&'static Rule, Severity), releases: Releases| {
            Finding::at(rule, tree.root(), "a problem").severity(severity).releases(releases)
        };
        let mut findings = vec![finding(before, Releases::until(4)), finding(after, Releases::since(5))];
        let release = |text| Release::parse(text).unwrap();
        keep_changes(&mut findings, UpgradePath::new(release("1.4"), release("1.8")), &REGISTRY);
        !findings.is_empty()
    }

    #[test]
    fn leaves_out_a_finding_whose_node_failed_before_for_another_reason() {
        let (error, warning) = (Severity::Error, Severity::Warning);
        assert!(!is_change((&ONE, error), (&ONE, error)));
        assert!(!is_change((&OTHER, error), (&ONE, warning)));
        assert!(is_change((&OTHER, error), (&ONE, error)));
        assert!(is_change((&ONE, warning), (&ONE, error)));
        assert!(is_change((&ONE, warning), (&ONE, warning)));
    }
}
