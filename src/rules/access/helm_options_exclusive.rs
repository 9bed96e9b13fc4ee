use karpenter::release::Releases;
use manifest::tree::Node;
use objects::chart_values::{self, ChartValues};
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Phase, Runs};

rule! {
    /// ## What it does
    ///
    /// Finds Helm values that the chart does not allow together: `enableDRA` with `ignoreDRARequests` or with a feature gate
    /// for DRA, and `legacyNodeRepair` with the feature gate `terminateFirstRepair`.
    ///
    /// ## Why it is bad
    ///
    /// Since 1.15 the chart fails to render with `settings.enableDRA is mutually exclusive with …`, so `helm upgrade` stops.
    /// For node repair the values file says that the two exclude each other; that is a warning.
    ///
    /// ## Example
    ///
    /// ```yaml,karpenter=1.15
    /// settings:
    ///   clusterName: prod
    ///   interruptionQueue: prod
    ///   enableDRA: true
    ///   ignoreDRARequests: true
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml,karpenter=1.15
    /// settings:
    ///   clusterName: prod
    ///   interruptionQueue: prod
    ///   enableDRA: true
    /// ```
    ///
    /// ## References
    ///
    /// - charts/karpenter/values.yaml of aws/karpenter-provider-aws at d77d1a3, with the version 1.15.0
    RULE {
        formerly: &["identity"],
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(15),
        fix: Fixes::None,
        summary: "two Helm values exclude each other",
        phase: Phase::With,
        runs: Runs::OnFiles,
        on: &[On::ChartValues],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(values) = chart_values::of(object) else { return };
    let is_on = |node: &Node<'_>| node.as_bool() == Some(true) || node.as_str() == Some("true");
    if let Some(option) = values.switch("enableDRA").filter(is_on) {
        for (name, other) in of_dra(values) {
            let message = format!("`enableDRA` and `{name}` exclude each other: the chart fails to render");
            findings.push(
                Finding::new(&RULE, Place::key(other), message)
                    .help(format!("remove `{name}`, or remove `enableDRA`"))
                    .related(Place::key(option), "`enableDRA` is set here"),
            );
        }
    }
    let legacy = values.switch("legacyNodeRepair").filter(is_on);
    let first = values.feature_gate("terminateFirstRepair").filter(is_on);
    if let Some((legacy, first)) = legacy.zip(first) {
        let message = "`legacyNodeRepair` and the feature gate `terminateFirstRepair` exclude each other";
        findings.push(
            Finding::new(&RULE, Place::key(first), message)
                .severity(Severity::Warning)
                .help("remove one of them")
                .related(Place::key(legacy), "`legacyNodeRepair` is set here"),
        );
    }
}

/// The options that `enableDRA` sets itself.
fn of_dra(values: ChartValues<'_>) -> Vec<(&'static str, Node<'_>)> {
    let options = [
        ("ignoreDRARequests", values.switch("ignoreDRARequests")),
        ("awsFeatureGates.draNVIDIAGPU", values.aws_feature_gate("draNVIDIAGPU")),
        ("awsFeatureGates.draEFA", values.aws_feature_gate("draEFA")),
    ];
    let set = options.into_iter().filter_map(|(name, node)| Some((name, node?)));
    set.filter(|(_, node)| !node.is_null()).collect()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings_with, silent};
    use rule::settings::{Settings, Target};

    fn at(release: &str) -> Settings {
        Settings { karpenter: Target::parse(release).unwrap(), ..Settings::default() }
    }

    #[test]
    fn reports_values_that_exclude_each_other_since_1_15() {
        let text = r"settings:
  clusterName: a
  interruptionQueue: a
  enableDRA: true
  ignoreDRARequests: false
  legacyNodeRepair: true
  awsFeatureGates: {draEFA: true}
  featureGates: {terminateFirstRepair: true}
";
        insta::assert_snapshot!(findings_with(&RULE, text, &at("1.15")), @"
          5 |   ignoreDRARequests: false
            |   ^^^^^^^^^^^^^^^^^
        error / settings.ignoreDRARequests [since 1.15]
          `enableDRA` and `ignoreDRARequests` exclude each other: the chart fails to render
          help: remove `ignoreDRARequests`, or remove `enableDRA`
          see line 4 settings.enableDRA: `enableDRA` is set here
          7 |   awsFeatureGates: {draEFA: true}
            |                     ^^^^^^
        error / settings.awsFeatureGates.draEFA [since 1.15]
          `enableDRA` and `awsFeatureGates.draEFA` exclude each other: the chart fails to render
          help: remove `awsFeatureGates.draEFA`, or remove `enableDRA`
          see line 4 settings.enableDRA: `enableDRA` is set here
          8 |   featureGates: {terminateFirstRepair: true}
            |                  ^^^^^^^^^^^^^^^^^^^^
        warning / settings.featureGates.terminateFirstRepair [since 1.15]
          `legacyNodeRepair` and the feature gate `terminateFirstRepair` exclude each other
          help: remove one of them
          see line 6 settings.legacyNodeRepair: `legacyNodeRepair` is set here
        ");
        assert_eq!(findings_with(&RULE, text, &at("1.14")), "");
    }

    #[test]
    fn accepts_one_of_them_and_unset_ones() {
        for settings in [
            "enableDRA: true, ignoreDRARequests: null, awsFeatureGates: {draEFA: null}",
            "enableDRA: false, ignoreDRARequests: true",
            "legacyNodeRepair: true, featureGates: {terminateFirstRepair: false}",
        ] {
            silent(&RULE, &format!("settings: {{clusterName: a, interruptionQueue: a, {settings}}}\n"));
        }
    }
}
