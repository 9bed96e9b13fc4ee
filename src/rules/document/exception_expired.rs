use karpenter::release::Releases;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Checks that no exception in the settings that covers this object is past its `until` date.
    ///
    /// ## Why it is bad
    ///
    /// The risk was accepted for a limited time. After the `until` date the findings are reported again; this finding
    /// explains that they are not new.
    ///
    /// ## Example
    ///
    /// ```yaml,today=2027-04-01,except=instance-profile-is-arn until 2027-03-31
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   instanceProfile: arn:aws:iam::111122223333:instance-profile/prod
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml,today=2027-03-31,except=instance-profile-is-arn until 2027-03-31
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   instanceProfile: arn:aws:iam::111122223333:instance-profile/prod
    /// ```
    ///
    /// Fix the object, or accept the risk again and write a later date.
    ///
    /// ## References
    ///
    /// - `exceptions` in the settings
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "an exception in the settings has expired",
        runs: Runs::InAdmission,
        on: &[On::Any],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    for exception in context.settings.exceptions.iter().filter(|exception| exception.is_about(object)) {
        let (Some(until), Some(today)) = (exception.until, context.settings.today) else { continue };
        if today > until {
            findings.push(
                Finding::new(
                    &RULE,
                    Place::value(object.root()),
                    format!(
                        "the exception for `{}` expired after {until}: {}",
                        exception.rule.name(),
                        exception.reason
                    ),
                )
                .help("fix the object, or accept the risk again and write a later date"),
            );
        }
    }
}
