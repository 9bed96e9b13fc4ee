//! Which findings are changes: those that begin on the way from one release to another.

use std::collections::BTreeMap;

use crate::finding::{CaughtBy, Draft, Severity};
use crate::karpenter::way::Way;
use crate::manifest::tree::Node;
use crate::rules;

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
        self.was_not_served |= draft.rule.name == rules::NOT_SERVED;
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

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use crate::check::{Cluster, check};
    use crate::manifest::File;
    use crate::manifest::limits::Limits;
    use crate::rules::testing::on_the_way;

    /// What all rules say begins on the way, but for what concerns every node class.
    fn begins(from: &str, to: &str, text: &str) -> String {
        let files = vec![File::read("-", text, &Limits::DEFAULT)];
        let report = check(&[Cluster { name: String::new(), files }], &on_the_way(from, to));
        let mut said = String::new();
        let every = ["ca-bundle-drift", "open-reservations-unused"];
        for finding in report.findings.iter().filter(|finding| !every.contains(&finding.rule)) {
            let boundary = finding.boundary.unwrap();
            let _ = writeln!(said, "{boundary}: {} {} {}", finding.severity, finding.rule, finding.path);
        }
        said
    }

    fn pool(spec: &str) -> String {
        format!(
            "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: a}}\nspec:\n  template:\n    spec:\n      nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}}\n{spec}"
        )
    }

    fn class(spec: &str) -> String {
        format!(
            "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {{name: a}}\nspec:\n  role: a\n  amiSelectorTerms: [{{alias: al2023@v20250807}}]\n  subnetSelectorTerms: [{{tags: {{a: b}}}}]\n  securityGroupSelectorTerms: [{{tags: {{a: b}}}}]\n{spec}"
        )
    }

    #[test]
    fn what_a_release_no_longer_serves_is_lost() {
        let beta = "apiVersion: karpenter.k8s.aws/v1beta1\nkind: EC2NodeClass\nmetadata: {name: a}\n";
        insta::assert_snapshot!(begins("1.0", "1.8", beta), @"from 1.1 on: error removed-api-version apiVersion");
        assert_eq!(begins("1.1", "1.8", beta), "");
    }

    #[test]
    fn labels_and_operators_of_1_9_are_lost_on_the_way_down() {
        let text = pool(
            "      requirements:\n        - {key: node-role.kubernetes.io/web, operator: Exists}\n        - {key: karpenter.k8s.aws/instance-cpu, operator: Gte, values: ['4']}\n        - {key: karpenter.k8s.aws/instance-tenancy, operator: In, values: [dedicated]}\n",
        );
        assert_eq!(begins("1.8", "1.14", &text), "");
        assert_eq!(begins("1.14", "1.9.0", &text), "");
        insta::assert_snapshot!(begins("1.9.0", "1.8", &text), @"
        from 1.8 down: error restricted-label spec.template.spec.requirements[0].key
        from 1.8 down: error api-enum spec.template.spec.requirements[1].operator
        from 1.8 down: error restricted-label spec.template.spec.requirements[2].key
        ");
    }

    #[test]
    fn balanced_is_lost_below_1_14() {
        let text = pool(
            "      requirements: []\n  disruption: {consolidationPolicy: Balanced, consolidateAfter: 1m}\n",
        );
        assert_eq!(begins("1.8", "1.14", &text), "");
        insta::assert_snapshot!(begins("1.14", "1.13", &text), @"from 1.13 down: error api-enum spec.disruption.consolidationPolicy");
    }

    #[test]
    fn fields_are_lost_below_the_release_that_brought_them() {
        let text = class(
            "  ipPrefixCount: 1\n  placementGroupSelector: {name: a}\n  cpuOptions: {coreCount: 1}\n  capacityReservationSelectorTerms: [{id: cr-1}]\n",
        );
        insta::assert_snapshot!(begins("1.14", "1.0", &text), @"
        from 1.7 down: error api-unknown-field spec.ipPrefixCount
        from 1.10 down: error api-unknown-field spec.placementGroupSelector
        from 1.12 down: error api-unknown-field spec.cpuOptions
        from 1.2 down: error api-unknown-field spec.capacityReservationSelectorTerms
        ");
        assert_eq!(begins("1.13.0", "1.14", &text), "");
    }

    #[test]
    fn what_was_refused_is_not_lost_when_it_is_refused_for_another_reason() {
        let overlay = "apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: a}\nspec: {weight: many}\n";
        assert_eq!(begins("1.0", "1.14", overlay), "from 1.7 on: info feature-gate-needed kind\n");
        let terms = class("  capacityReservationSelectorTerms: [{id: many}]\n");
        assert_eq!(begins("1.0", "1.14", &terms), "");
        let label = pool("      requirements: [{key: karpenter.k8s.aws/ec2nodeclass, operator: Exists}]\n");
        assert_eq!(begins("1.0", "1.14", &label), "");
    }

    #[test]
    fn patterns_that_a_release_makes_stricter_refuse_what_was_accepted() {
        let text = pool("      requirements: []\n      expireAfter: 30sfoo\n");
        insta::assert_snapshot!(begins("1.3", "1.4.0", &text), @"from 1.4 on: error api-pattern spec.template.spec.expireAfter");
        assert_eq!(begins("1.4.0", "1.14", &text), "");
    }

    #[test]
    fn what_other_rules_say_of_some_releases_begins_with_them() {
        let immediate = "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: a}\nprovisioner: ebs.csi.aws.com\nvolumeBindingMode: Immediate\n";
        insta::assert_snapshot!(begins("1.6", "1.7.0", immediate), @"from 1.7 on: warning storageclass-immediate volumeBindingMode");
        assert_eq!(begins("1.7", "1.14", immediate), "");
        let values = "settings: {clusterName: a}\nwebhook: {enabled: true}\n";
        insta::assert_snapshot!(begins("1.0", "1.1.0", values), @"from 1.1 on: warning helm-values-removed-keys webhook");
        assert_eq!(begins("1.1", "1.14", values), "");
    }

    #[test]
    fn a_better_verdict_is_no_finding() {
        let role = class("").replace("role: a\n", "role: a/b\n");
        assert_eq!(begins("1.1", "1.6", &role), "");
        insta::assert_snapshot!(begins("1.6", "1.0", &role), @"from 1.1 down: error nodeclass-role-is-arn spec.role");
    }
}
