use karpenter::kind::Kind;
use karpenter::release::{Release, Releases};
use objects::node_pool::NodePool;
use objects::object::{Object, Operation};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Finds `spec.disruption` without `consolidateAfter` in a NodePool whose release of Karpenter is not known.
    ///
    /// ## Why it is bad
    ///
    /// Since 1.15 the field has the default `0s`. With the definitions of Karpenter until 1.14 the API server refuses the NodePool.
    /// Manifests that pin no release, or a range such as `1.x`, can meet either.
    ///
    /// If the release is known, from a flag, the settings or the manifests, `api-required` reports the missing field.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   disruption:
    ///     consolidationPolicy: WhenEmpty
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: []
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   disruption:
    ///     consolidationPolicy: WhenEmpty
    ///     consolidateAfter: 1m
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: []
    /// ```
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter#3220
    /// - pkg/apis/crds/karpenter.sh_nodepools.yaml of aws/karpenter-provider-aws at v1.0.0 to v1.14.1, `required`
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(15),
        fix: Fixes::None,
        summary: "a NodePool without `consolidateAfter`, which Karpenter before 1.15 requires",
        runs: Runs::OnKarpenterFiles,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let settings = context.settings;
    let is_newest = settings.karpenter.ends().1 == Release::NEWEST;
    let is_assumed = is_newest && !settings.karpenter.is_range() && !settings.is_karpenter_version_set;
    if !is_assumed || object.operation() != Operation::Apply {
        return;
    }
    let Some(disruption) = NodePool::of(object).and_then(NodePool::disruption) else { return };
    if disruption.node().is_mapping() && disruption.consolidate_after().is_none() {
        let message =
            "Karpenter before 1.15 requires `consolidateAfter`: the API server refuses this NodePool there";
        findings.push(
            Finding::new(&RULE, Place::missing(disruption.node(), "consolidateAfter"), message)
                .help("write `consolidateAfter`, such as `1m`; `0s` is the default since 1.15"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, findings_with, silent};
    use rule::settings::{Settings, Target};

    fn pool(disruption: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec: {{disruption: {disruption}}}
"
        )
    }

    #[test]
    fn reports_a_missing_field_if_the_release_is_not_known() {
        let text = pool("{consolidationPolicy: WhenEmpty}");
        insta::assert_snapshot!(findings(&RULE, &text), @"
          4 | spec: {disruption: {consolidationPolicy: WhenEmpty}}
            |        ^^^^^^^^^^
        info NodePool/a spec.disruption.consolidateAfter [since 1.15]
          Karpenter before 1.15 requires `consolidateAfter`: the API server refuses this NodePool there
          help: write `consolidateAfter`, such as `1m`; `0s` is the default since 1.15
        ");
        for (release, is_set) in [("1.14", false), ("1.15", true), ("1.13..1.15", false)] {
            let settings = Settings {
                karpenter: Target::parse(release).unwrap(),
                is_karpenter_version_set: is_set,
                ..Settings::default()
            };
            assert_eq!(findings_with(&RULE, &text, &settings), "", "{release}");
        }
    }

    #[test]
    fn accepts_the_field_and_no_disruption_at_all() {
        silent(&RULE, &pool("{consolidateAfter: 1m}"));
        silent(&RULE, &pool("{consolidateAfter: '${AFTER}'}"));
        silent(
            &RULE,
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec: {}
",
        );
    }
}
