use karpenter::release::Releases;
use rule::finding::{CaughtBy, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Checks that every suppression gives a reason. A text such as `<write the reason>`, as editors insert it, does not count.
    ///
    /// ## Why it is bad
    ///
    /// The next reader of the manifest cannot tell an accepted risk from a forgotten one.
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
    ///   annotations: {karpwarden/ignore: instance-profile-is-arn -- the profile is created later}
    /// spec:
    ///   instanceProfile: arn:aws:iam::111122223333:instance-profile/prod
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
        summary: "a suppression gives no reason",
        runs: Runs::InAdmission,
        on: &[On::Any],
        inventory: &[],
        // `rule::suppression` creates the findings when it applies the suppressions.
        check: |_, _, _| {},
    }
}
