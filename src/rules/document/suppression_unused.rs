use karpenter::release::Releases;
use rule::finding::{CaughtBy, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Checks that every suppression still has a finding to suppress.
    ///
    /// ## Why it is bad
    ///
    /// The problem that it was written for is fixed or has moved. A suppression that stays in place hides the next
    /// mistake of the same kind.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    ///   annotations: {karpwarden/ignore: instance-profile-is-arn -- the profile is created later}
    /// spec:
    ///   instanceProfile: prod
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    ///   annotations: {}
    /// spec:
    ///   instanceProfile: prod
    /// ```
    ///
    /// ## References
    ///
    /// - stackrox/kube-linter#1180: suppressions in the wrong place were silently ignored
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a suppression suppresses nothing",
        runs: Runs::InAdmission,
        on: &[On::Any],
        inventory: &[],
        // `rule::suppression` creates the findings when it applies the suppressions.
        check: |_, _, _| {},
    }
}
