//! Checks one object: the same for a file, an admission request, an editor, and the verification of a fix.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use karpenter::release::ReleaseSet;
use objects::object::Object;
use rule::classification::{CaughtBy, Family, Severity};
use rule::context::Context;
use rule::finding::Finding;
use rule::registry::Registry;
use rule::settings::{Exception, ExceptionId, Settings};
use rule::suppression::Suppressions;
use rule::{On, Rule};

use crate::coverage::is_of_controller;
use crate::ratchet;
use crate::supersession::remove_superseded;
use crate::upgrade;

/// Result of checking an object.
#[derive(Debug)]
pub(crate) struct Outcome<'d> {
    pub(crate) findings: Vec<Finding<'d>>,
    /// Findings that the author or the settings accept.
    pub(crate) accepted: AcceptedFindings,
    /// Number of findings that are the same at both ends of the upgrade path.
    pub(crate) unchanged: usize,
    /// The releases whose API server refuses the object.
    pub(crate) refused: ReleaseSet,
}

/// Findings of an object that are not shown because somebody accepted them.
#[derive(Debug, Default)]
pub(crate) struct AcceptedFindings {
    pub(crate) count: usize,
    /// The exceptions that accept a finding.
    pub(crate) exceptions: BTreeSet<ExceptionId>,
}

/// Runs rules on the object of a context. `None` if the object is not covered.
///
/// `before` returns the context of the stored object of an update, among the objects before the update. An error that the stored object
/// already has is a warning.
pub(crate) fn check_one<'b, 'd: 'b>(
    registry: &Registry,
    rules: &[&'static Rule],
    context: &Context<'_, 'd>,
    before: impl FnOnce() -> Option<Context<'b, 'd>>,
) -> Option<Outcome<'d>> {
    let mut outcome = check_at_once(registry, rules, context)?;
    let is_lenient = !context.settings.strict_updates && outcome.findings.iter().any(ratchet::may_be_lowered);
    let before = if is_lenient { before() } else { None };
    let stored = before.and_then(|context| {
        Some((context.object(), check_at_once(registry, &registry.rules_on(context.object()), &context)?))
    });
    let (object, findings) = (context.object(), &mut outcome.findings);
    let path = context.settings.karpenter.upgrade_path();
    outcome.unchanged = path.map_or(0, |path| upgrade::keep_changes(findings, path, registry));
    if let Some((stored, mut before)) = stored {
        path.map(|path| upgrade::keep_changes(&mut before.findings, path, registry));
        ratchet::lower_old_errors(findings, object, &before.findings, stored);
    }
    Some(outcome)
}

/// Runs rules on the object of a context, without a look at other releases and at the stored object.
fn check_at_once<'d>(
    registry: &Registry,
    rules: &[&'static Rule],
    context: &Context<'_, 'd>,
) -> Option<Outcome<'d>> {
    let object = context.object();
    let is_before_v1 = context.version_before_v1.is_some();
    // No rule runs on the controller of a version below 1.0, and on the values of its chart.
    if is_before_v1 && is_of_controller(object) {
        return None;
    }
    let suppressions = Suppressions::of(object, registry, context);
    let mut findings = run(rules, object, context, &suppressions);
    if is_before_v1 && object.is_older_than_v1() {
        findings.retain(|finding| registry.reports_unserved(finding.rule));
    }
    let refused = refused(registry, &findings);
    let mut accepted = AcceptedFindings::default();
    let findings = shown(registry, findings, object, context, suppressions, &mut accepted);
    Some(Outcome { findings, accepted, unchanged: 0, refused })
}

/// Runs rules on an object.
fn run<'d>(
    rules: &[&'static Rule],
    object: Object<'d>,
    context: &Context<'_, 'd>,
    suppressions: &Suppressions<'d>,
) -> Vec<Finding<'d>> {
    let mut findings = Vec::new();
    let further_pods = object.with_further_pods();
    for rule in rules {
        if runs(rule, context.settings, suppressions) {
            (rule.check)(object, context, &mut findings);
            for object in further_pods.iter().filter(|_| rule.on.contains(&On::Workload)) {
                (rule.check)(*object, context, &mut findings);
            }
        }
    }
    for finding in findings.iter_mut().filter(|finding| finding.rule.depends_on_karpenter) {
        if finding.severity != Severity::Info && !context.shows_karpenter() {
            finding.severity = Severity::Info;
        }
    }
    findings.sort_by(in_order);
    if !further_pods.is_empty() {
        // A rule finds a fault outside the templates, or in their common defaults, once for each template.
        let mut seen = BTreeSet::new();
        findings.retain(|finding| {
            let releases = finding.releases.to_string();
            seen.insert((finding.rule.name, finding.place.order(), finding.message.clone(), releases))
        });
    }
    findings
}

/// Whether a rule runs. A rule that is off still runs if a range of releases needs its refusals, or if a suppression
/// names it, because other settings may need the suppression.
fn runs(rule: &Rule, settings: &Settings, suppressions: &Suppressions<'_>) -> bool {
    let is_refusal_in_range = rule.family == Family::ApiServer && settings.karpenter.is_range();
    is_refusal_in_range || settings.enables(rule) || suppressions.mention(rule)
}

/// Orders findings by position, then by rule.
fn in_order(one: &Finding<'_>, other: &Finding<'_>) -> Ordering {
    one.place.order().cmp(&other.place.order()).then(one.rule.name.cmp(other.rule.name))
}

/// The releases whose API server refuses the object. A refused placeholder, which is an info, does not count: another value
/// replaces it before the object is applied. A warning about a later release does not count either.
fn refused(registry: &Registry, findings: &[Finding<'_>]) -> ReleaseSet {
    let is_refusal = |finding: &&Finding<'_>| {
        let is_placeholder = finding.severity == Severity::Info && !registry.reports_unserved(finding.rule);
        let is_now = finding.caught_by == CaughtBy::ApiServer;
        finding.rule.family == Family::ApiServer && is_now && !is_placeholder
    };
    let refusals = findings.iter().filter(is_refusal);
    refusals.fold(ReleaseSet::none(), |all, finding| all.or(&finding.releases))
}

/// Removes the findings that the settings turn off or the author suppresses, sets the severity of the settings, and adds
/// the findings about suppressions.
fn shown<'d>(
    registry: &Registry,
    findings: Vec<Finding<'d>>,
    object: Object<'d>,
    context: &Context<'_, 'd>,
    mut suppressions: Suppressions<'d>,
    accepted: &mut AcceptedFindings,
) -> Vec<Finding<'d>> {
    let settings = context.settings;
    let target = settings.karpenter;
    let mut shown: Vec<Finding<'d>> = Vec::new();
    for finding in findings.into_iter().filter(|finding| target.meets(&finding.releases)) {
        let is_accepted = suppressions.apply_to(&finding);
        let Some(severity) = settings.severity(finding.rule, finding.severity) else { continue };
        let severity = if finding.is_undecided { severity.max(Severity::Warning) } else { severity };
        let covers = |exception: &Exception| exception.covers(finding.rule.names(), object, settings.today);
        let exceptions = ExceptionId::enumerate(&settings.exceptions);
        let covering: Vec<ExceptionId> =
            exceptions.filter(|(_, exception)| covers(exception)).map(|(id, _)| id).collect();
        let is_excepted = !covering.is_empty();
        accepted.exceptions.extend(covering);
        if is_accepted || is_excepted {
            accepted.count += 1;
        } else {
            shown.push(finding.severity(severity));
        }
    }
    for finding in suppressions.findings(registry.suppressions) {
        if let Some(severity) = settings.severity(finding.rule, finding.severity) {
            shown.push(finding.severity(severity));
        }
    }
    remove_superseded(&mut shown, object, target);
    shown.sort_by(in_order);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::check;
    use crate::testing::{class, cluster, registry_of};
    use rule::settings::{RuleLevel, RuleSelector};

    #[test]
    fn drops_findings_only_for_an_old_object_of_an_old_version() {
        static ANY: Rule = Rule {
            name: "any",
            on: &[On::Group("karpenter.k8s.aws")],
            check: |object, _, findings| findings.push(Finding::at(&ANY, object.root(), "a finding")),
            ..Rule::DEFAULTS
        };
        let registry = registry_of(&ANY);
        let new = class("a", "x: 1");
        let old = new.replace("karpenter.k8s.aws/v1", "karpenter.k8s.aws/v1beta1");
        for (text, version, kept) in [(&old, "0.37.0", 0), (&new, "0.37.0", 1), (&old, "1.5.0", 1)] {
            let chart = format!(
                r"apiVersion: helm.cattle.io/v1
kind: HelmChart
spec: {{chart: karpenter/karpenter, version: {version}}}
"
            );
            let files = [cluster(&[("a.yaml", text.as_str()), ("chart.yaml", &chart)])];
            let report = check(&registry, &files, &Settings::default());
            assert_eq!(report.findings.len(), kept, "{text}{version}");
        }
    }

    #[test]
    fn no_level_makes_an_error_of_what_a_rule_could_not_decide() {
        static UNDECIDED: Rule = Rule {
            name: "undecided",
            on: &[On::Group("karpenter.k8s.aws")],
            check: |object, _, findings| {
                findings.push(Finding::at(&UNDECIDED, object.root(), "a finding").undecided());
            },
            ..Rule::DEFAULTS
        };
        let files = [cluster(&[("a.yaml", &class("a", "x: 1"))])];
        for (level, severity) in [
            (RuleLevel::Deny, Some(Severity::Warning)),
            (RuleLevel::Warn, Some(Severity::Warning)),
            (RuleLevel::Info, Some(Severity::Info)),
            (RuleLevel::Off, None),
        ] {
            let levels = vec![(RuleSelector::One(UNDECIDED.names()), level)];
            let settings = Settings { levels, ..Settings::default() };
            let report = check(&registry_of(&UNDECIDED), &files, &settings);
            assert_eq!(report.findings.first().map(|finding| finding.severity), severity, "{level:?}");
        }
    }
}
