use lint::finding::{CaughtBy, Family, Severity};
use karpenter::release::Releases;
use lint::rule::{Fixes, On};

rule! {
    /// ## What it does
    ///
    /// Checks that every suppression says why.
    ///
    /// ## Why it is bad
    ///
    /// Whoever reads the manifest next cannot tell an accepted risk from a forgotten one.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    ///   annotations: {karpwarden/ignore: instance-profile-is-arn}
    /// spec:
    ///   instanceProfile: arn:aws:iam::111122223333:instance-profile/prod
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    ///   annotations: {karpwarden/ignore: instance-profile-is-arn -- the profile is made later}
    /// spec:
    ///   instanceProfile: arn:aws:iam::111122223333:instance-profile/prod
    /// ```
    ///
    /// ## References
    ///
    /// - stackrox/kube-linter#1180: suppressions in the wrong place were ignored in silence
    RULE {
        name: "suppression-without-reason",
        family: Family::Document,
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a suppression gives no reason",
        on: &[On::Any],
        inventory: &[],
        // The findings are made where the suppressions are applied: `lint::suppression`.
        check: |_, _, _| {},
    }
}
