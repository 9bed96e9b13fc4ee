use lint::finding::{CaughtBy, Family, Severity};
use karpenter::release::Releases;
use lint::rule::{Fixes, On};

rule! {
    /// ## What it does
    ///
    /// Checks that every suppression still has a finding to suppress.
    ///
    /// ## Why it is bad
    ///
    /// What it was written for is mended or has moved; left in place, it hides the next mistake of the same kind.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    ///   annotations: {karpwarden/ignore: instance-profile-is-arn -- the profile is made later}
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
    /// - stackrox/kube-linter#1180: suppressions in the wrong place were ignored in silence
    RULE {
        name: "suppression-unused",
        family: Family::Document,
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a suppression suppresses nothing",
        on: &[On::Any],
        inventory: &[],
        // The findings are made where the suppressions are applied: `lint::suppression`.
        check: |_, _, _| {},
    }
}
