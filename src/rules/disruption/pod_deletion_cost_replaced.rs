use karpenter::release::Releases;
use objects::object::Object;
use objects::pod::Pod;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{On, Runs};

use crate::rules::indexes::Gates;

rule! {
    /// ## What it does
    ///
    /// Finds pods with the annotation `controller.kubernetes.io/pod-deletion-cost`.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter reads the annotation when it chooses which nodes to disrupt. Since 1.15 it reads
    /// `karpenter.sh/disruption-cost` instead, and the old annotation only if the new one is absent; a later release stops
    /// reading it. With the feature gate `PodDeletionCostManagement` Karpenter does not read the annotation, but overwrites
    /// it for the ReplicaSet controller. Then the finding is a warning.
    ///
    /// ## Example
    ///
    /// ```yaml,from=1.14 to 1.15
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: web
    ///   annotations: {controller.kubernetes.io/pod-deletion-cost: "1000"}
    /// spec:
    ///   containers: [{name: web, image: nginx}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml,from=1.14 to 1.15
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: web
    ///   annotations: {controller.kubernetes.io/pod-deletion-cost: "1000", karpenter.sh/disruption-cost: "1000"}
    /// spec:
    ///   containers: [{name: web, image: nginx}]
    /// ```
    ///
    /// ## References
    ///
    /// - Upgrade guide, 1.15.0; website/content/en/v1.15/reference/annotations.md of aws/karpenter-provider-aws
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(15),
        summary: "Karpenter reads `karpenter.sh/disruption-cost` instead of the deletion cost of pods",
        runs: Runs::OnUpgrade,
        on: &[On::Workload],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(metadata) = Pod::of(object).map(Pod::metadata) else { return };
    let Some(cost) = metadata.annotation("controller.kubernetes.io/pod-deletion-cost") else { return };
    let has_new = metadata.annotation("karpenter.sh/disruption-cost").is_some();
    let is_managed = context.inventory.index::<Gates>().get("PodDeletionCostManagement") == Some(true);
    if is_managed {
        let message = "the feature gate `PodDeletionCostManagement` is on: Karpenter overwrites this annotation, and does not read it";
        let help = if has_new {
            "remove this annotation; `karpenter.sh/disruption-cost` has the cost for Karpenter"
        } else {
            "move the value to `karpenter.sh/disruption-cost` before the gate is on; earlier releases do not read that annotation"
        };
        let finding = Finding::new(&RULE, Place::value(cost), message);
        findings.push(finding.severity(Severity::Warning).help(help));
    } else if !has_new {
        let message =
            "Karpenter reads `karpenter.sh/disruption-cost` first; support for this annotation is deprecated";
        findings.push(
            Finding::new(&RULE, Place::value(cost), message)
                .help("write `karpenter.sh/disruption-cost` with the same value; the ReplicaSet controller still reads this one"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing};

    fn pod(annotations: &str) -> String {
        format!(
            r"apiVersion: v1
kind: Pod
metadata:
  name: a
  annotations: {{{annotations}}}
spec: {{containers: []}}
"
        )
    }

    #[test]
    fn the_annotation_is_replaced_since_1_15() {
        let old = pod("controller.kubernetes.io/pod-deletion-cost: '10'");
        insta::assert_snapshot!(begins(&super::RULE, "1.14", "1.15", &old), @"
        from 1.15 on
          5 |   annotations: {controller.kubernetes.io/pod-deletion-cost: '10'}
            |                                                             ^^^^
        info Pod/a metadata.annotations.controller.kubernetes.io/pod-deletion-cost [since 1.15]
          Karpenter reads `karpenter.sh/disruption-cost` first; support for this annotation is deprecated
          help: write `karpenter.sh/disruption-cost` with the same value; the ReplicaSet controller still reads this one
        ");
        begins_nothing(&super::RULE, "1.0", "1.14", &old);
        let both =
            pod("controller.kubernetes.io/pod-deletion-cost: '10', karpenter.sh/disruption-cost: '10'");
        begins_nothing(&super::RULE, "1.14", "1.15", &both);
        let gate = "---\nsettings: {clusterName: a, featureGates: {podDeletionCostManagement: true}}\n";
        let found = begins(&super::RULE, "1.14", "1.15", &format!("{both}{gate}"));
        assert!(found.contains("warning Pod/a") && found.contains("help: remove this annotation"), "{found}");
        let found = begins(&super::RULE, "1.14", "1.15", &format!("{old}{gate}"));
        assert!(found.contains("warning Pod/a") && found.contains("help: move the value"), "{found}");
    }
}
