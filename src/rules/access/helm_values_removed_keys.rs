use std::collections::BTreeSet;

use karpenter::chart::{
    AWS_GATES, CONTROLLER_KEYS, FeatureGate, GATES, KEYS, MORE_CONTROLLER_KEYS, NESTED_KEYS, REMOVED_KEYS,
    SETTINGS,
};
use karpenter::kind::Kind;
use karpenter::release::{ReleaseSet, Releases};
use manifest::source::Span;
use manifest::tree::Node;
use objects::chart_values::{self, ChartKey, ChartValues};
use objects::controller::{AWS_FEATURE_GATES, Controller, ControllerOption, FEATURE_GATES, OptionValue};
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Phase, Runs};
use values::placeholder::has_placeholder;
use values::spelling::nearest;

rule! {
    /// ## What it does
    ///
    /// Checks the values of Karpenter's Helm chart, and the controller's Deployment rendered from them, for keys,
    /// environment variables and feature gates that the release does not read: keys that were removed, keys that a
    /// later release introduced, and misspelt keys. Values are read from a values file, from a Flux HelmRelease and
    /// from an Argo CD Application.
    ///
    /// An unknown key at the top level is reported if it resembles a key of the chart, or if the chart has the key under
    /// `controller` or `settings`. Other keys may belong to a chart around Karpenter's chart. The severity is `info` for a
    /// `webhook` that is turned off.
    ///
    /// ## Why it is bad
    ///
    /// Helm accepts any key, and the controller accepts any feature gate. If a key or gate is not read, it is silently
    /// ignored, and the default applies.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// settings:
    ///   clusterName: prod
    ///   featureGates:
    ///     drift: true
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// settings:
    ///   clusterName: prod
    ///   featureGates:
    ///     spotToSpotConsolidation: true
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#7124; the upgrade guide from 0.33 to 1.1
    /// - charts/karpenter/values.yaml at v0.32.0, v1.0.0 to v1.14.1
    /// - `ParseFeatureGates` in pkg/operator/options/options.go of kubernetes-sigs/karpenter at v1.0.0 and v1.14.0
    RULE {
        formerly: &["identity"],
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a Helm value or feature gate that this release of Karpenter does not read",
        phase: Phase::With,
        runs: Runs::InAdmission,
        on: &[On::ChartValues, On::Kind(Kind::DEPLOYMENT)],
        inventory: &[],
        check: check,
    }
}

/// Environment variables of releases before 1.0.
const VARIABLES: [&str; 2] = ["ASSUME_ROLE_ARN", "ASSUME_ROLE_DURATION"];

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    if let Some(values) = chart_values::of(object) {
        check_removed_keys(values, findings);
        check_top_level_keys(values, findings);
        check_unknown_keys(values, findings);
        check_nested_keys(values, findings);
    }
    if let Some(controller) = Controller::of(object) {
        check_gates(&controller, FEATURE_GATES, &GATES, findings);
        check_gates(&controller, AWS_FEATURE_GATES, &AWS_GATES, findings);
        for name in VARIABLES {
            for item in controller.variables(name) {
                let message = format!("since 1.0 the controller ignores `{name}` and uses its own IAM role");
                let help = "give the controller's service account the role it needs";
                findings.push(Finding::at(&RULE, item.node(), message).help(help));
            }
        }
    }
}

fn check_removed_keys<'d>(values: ChartValues<'d>, findings: &mut Vec<Finding<'d>>) {
    for key in &REMOVED_KEYS {
        let Some((last, above)) = key.path.split_last() else { continue };
        for (name, at) in values.keys(above) {
            if name != *last {
                continue;
            }
            let message = format!("`{}` is a key of an older chart and is ignored", key.path.join("."));
            let finding = Finding::new(&RULE, at.place(), message).releases(key.releases).help(key.instead);
            let finding = if is_webhook_off(at) { finding.severity(Severity::Info) } else { finding };
            findings.push(finding);
        }
    }
}

/// Whether a key is `webhook` and turns the webhook off, which newer charts do not have anyway. The values in
/// examples/karpenter/main.tf of terraform-aws-modules/terraform-aws-eks do so.
fn is_webhook_off(at: ChartKey<'_>) -> bool {
    let ChartKey::Member(node) = at else { return false };
    node.key() == "webhook" && node.get("enabled").and_then(Node::as_bool) == Some(false)
}

/// Reports keys at the top level that the chart does not have yet, that are misspelt, or that belong under another key.
fn check_top_level_keys<'d>(values: ChartValues<'d>, findings: &mut Vec<Finding<'d>>) {
    // Helm itself reads these: the values of all charts, and the condition under which a parent chart installs this one.
    const OF_HELM: [&str; 2] = ["global", "enabled"];
    let set: BTreeSet<_> = HOLDERS
        .into_iter()
        .flat_map(|holder| values.keys(holder.as_slice()).into_iter().map(move |(key, _)| (holder, key)))
        .collect();
    for (key, at) in values.keys(&[]) {
        let known = KEYS.iter().find(|(known, _)| *known == key).map(|(_, releases)| *releases);
        let is_removed = REMOVED_KEYS.iter().any(|removed| removed.path.first() == Some(&key));
        // A key that is also set at its right place is for something else.
        let meant = meant_key(key).filter(|meant| !is_removed && !set.contains(meant));
        let meant =
            meant.map(|(holder, name)| holder.map_or(name.to_owned(), |holder| format!("{holder}.{name}")));
        if !OF_HELM.contains(&key) && (known.is_some() || meant.is_some()) {
            findings.extend(ignored(at, key, known, meant.as_deref()));
        }
    }
}

/// The keys that hold the keys which other charts have at their top level, and the top level itself.
const HOLDERS: [Option<&str>; 3] = [None, Some("controller"), Some("settings")];

/// The key that an unknown key at the top level is meant to be, after the key that holds it.
fn meant_key(key: &str) -> Option<(Option<&'static str>, &str)> {
    if let Some(near) = nearest(key, KEYS.iter().map(|(known, _)| *known)) {
        return Some((None, near));
    }
    if CONTROLLER_KEYS.contains(&key) {
        return Some((Some("controller"), key));
    }
    SETTINGS.iter().any(|(known, _)| *known == key).then_some((Some("settings"), key))
}

/// Whether the values turn on a gate of the provider, or may do so.
fn is_on(values: ChartValues<'_>, gate: &FeatureGate) -> bool {
    let value = values.aws_feature_gate(gate.key);
    value.is_some_and(|value| !value.is_null() && value.as_bool() != Some(false))
}

/// Reports keys of `settings`, `settings.featureGates` and `settings.awsFeatureGates` that the chart does not have, or does not have yet.
fn check_unknown_keys<'d>(values: ChartValues<'d>, findings: &mut Vec<Finding<'d>>) {
    let keys = || SETTINGS.iter().map(|(key, _)| *key);
    for (key, at) in values.setting_keys() {
        let known = Some(releases_of_setting(key)).filter(|releases| !releases.is_empty());
        // The rule `interruption-queue-malformed` reports the old key of the queue.
        if key != "interruptionQueueName" && !is_removed(&["settings", key]) {
            let finding = ignored(at, &format!("settings.{key}"), known, nearest(key, keys()));
            // Gates that are off do not need a chart that reads them.
            let is_off = key == "awsFeatureGates" && !AWS_GATES.iter().any(|gate| is_on(values, gate));
            findings.extend(finding.map(
                |finding| {
                    if is_off { finding.severity(Severity::Info) } else { finding }
                },
            ));
        }
    }
    let sets: [(&str, &[FeatureGate]); 2] = [("featureGates", &GATES), ("awsFeatureGates", &AWS_GATES)];
    for (holder, gates) in sets {
        for (key, at) in values.keys(&["settings", holder]) {
            let known = gates.iter().find(|gate| gate.key == key).map(|gate| gate.releases);
            if !is_removed(&["settings", holder, key]) {
                let near = nearest(key, gates.iter().map(|gate| gate.key));
                let finding = ignored(at, &format!("settings.{holder}.{key}"), known, near);
                // A chart without the holder ignores the holder, which is reported above.
                let with_holder = finding.map(|finding| {
                    let releases = finding.releases.and(releases_of_setting(holder));
                    finding.releases(releases)
                });
                findings.extend(with_holder.filter(|finding| !finding.releases.is_empty()));
            }
        }
    }
}

/// Checks the keys of `controller`, and of other mappings of which the chart reads some keys.
fn check_nested_keys<'d>(values: ChartValues<'d>, findings: &mut Vec<Finding<'d>>) {
    let of_controller: Vec<_> = CONTROLLER_KEYS.into_iter().chain(MORE_CONTROLLER_KEYS).collect();
    let controller: (&[&str], &[&str]) = (&["controller"], &of_controller);
    for (holder, keys) in [controller].into_iter().chain(NESTED_KEYS) {
        for (key, at) in values.keys(holder) {
            let path: Vec<_> = holder.iter().copied().chain([key]).collect();
            if !keys.contains(&key) && !is_removed(&path) {
                // `minAvailable` is near `maxUnavailable`, but means something else.
                let near = nearest(key, keys.iter().copied()).filter(|_| key != "minAvailable");
                findings.extend(ignored(at, &path.join("."), None, near));
            }
        }
    }
}

/// The releases whose chart reads a key of `settings`.
fn releases_of_setting(name: &str) -> Releases {
    SETTINGS.iter().find(|(key, _)| *key == name).map_or(Releases::NONE, |(_, releases)| *releases)
}

fn is_removed(path: &[&str]) -> bool {
    REMOVED_KEYS.iter().any(|key| key.path == path)
}

/// Reports a key that some releases ignore. `known` holds the releases that read the key.
fn ignored<'d>(
    at: ChartKey<'d>,
    path: &str,
    known: Option<Releases>,
    near: Option<&str>,
) -> Option<Finding<'d>> {
    let releases = Releases::ALL.without(known.unwrap_or(Releases::NONE));
    if releases.is_empty() {
        return None;
    }
    let finding = Finding::new(&RULE, at.place(), format!("the chart does not know `{path}` and ignores it"));
    let finding = finding.releases(releases);
    Some(match (known, near) {
        (Some(known), _) => finding.help(format!("supported by Karpenter {known}")),
        (None, Some(near)) => finding.help(format!("did you mean `{near}`?")),
        // A parent chart may read additional keys.
        (None, None) => {
            finding.severity(Severity::Info).help("remove the key, unless a parent chart reads it")
        }
    })
}

/// Checks the feature gates of a rendered Deployment.
fn check_gates<'d>(
    controller: &Controller<'d>,
    option: ControllerOption,
    gates: &[FeatureGate],
    findings: &mut Vec<Finding<'d>>,
) {
    let OptionValue::Text(text, node) = controller.setting(option) else { return };
    let start = node.as_str().map_or(0, |whole| whole.len().saturating_sub(text.len()));
    let mut at = start;
    for part in text.split(',') {
        let name = part.split_once('=').map_or(part, |(name, _)| name);
        let span = Span::new(at, at + name.len());
        at += part.len() + 1;
        let (name, off) = (name.trim(), part.trim_end().ends_with("=false"));
        let known = gates.iter().filter(|gate| gate.name == name);
        let known = known.fold(ReleaseSet::none(), |all, gate| all.or(gate.releases));
        let releases = Releases::ALL.without(&known);
        // A chart newer than the controller sets gates to false that the controller does not know yet.
        if name.is_empty() || releases.is_empty() || has_placeholder(name) || (off && !known.is_empty()) {
            continue;
        }
        let message = format!("the controller does not know the feature gate `{name}` and ignores it");
        let help = if name == "Drift" {
            "drift is always on since 1.0; remove the gate".to_owned()
        } else if !known.is_empty() {
            format!("supported by Karpenter {known}")
        } else {
            match nearest(name, gates.iter().map(|gate| gate.name)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "remove the gate".to_owned(),
            }
        };
        findings.push(Finding::new(&RULE, Place::within(node, span), message).releases(releases).help(help));
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with, silent};
    use rule::settings::{Settings, Target};

    fn at(release: &str) -> Settings {
        Settings { karpenter: Target::parse(release).unwrap(), ..Settings::default() }
    }

    #[test]
    fn reports_unknown_keys_of_the_controller_and_of_its_disruption_budget() {
        let text = |keys: &str| format!("settings: {{clusterName: prod, interruptionQueue: a}}\n{keys}\n");
        for (keys, expected) in [
            ("controller: {livenessProbe: {periodSeconds: 5}}", "info / controller.livenessProbe"),
            ("podDisruptionBudget: {minAvailable: 0}", "info / podDisruptionBudget.minAvailable"),
            ("controller: {resource: {limits: {cpu: 1}}}", "warning / controller.resource"),
        ] {
            assert!(findings(&super::RULE, &text(keys)).contains(expected), "{keys}");
        }
        silent(
            &super::RULE,
            &text("controller: {sidecarVolumeMounts: [], resources: {}, healthProbe: {port: 8081}}"),
        );
        silent(&super::RULE, &text("podDisruptionBudget: {name: karpenter, maxUnavailable: 1}"));
    }

    #[test]
    fn reports_keys_of_mappings_of_which_the_chart_reads_some() {
        let text = |keys: &str| format!("settings: {{clusterName: prod, interruptionQueue: a}}\n{keys}\n");
        for (keys, expected) in [
            ("serviceAccount: {annotation: {a: b}}", "did you mean `annotations`?"),
            ("controller: {image: {repo: a, tag: b}}", "controller.image.repo"),
            ("controller: {securityContext: {runAsUser: 1}}", "info / controller.securityContext.runAsUser"),
            ("aws: {defaultInstanceProfile: a}", "`aws` is a key of an older chart"),
        ] {
            assert!(findings(&super::RULE, &text(keys)).contains(expected), "{keys}");
        }
        silent(
            &super::RULE,
            &text("serviceAccount: {create: false, name: a}\nserviceMonitor: {enabled: true}"),
        );
    }

    #[test]
    fn webhook_that_is_off_is_an_info() {
        let with =
            |webhook: &str| findings(&super::RULE, &format!("settings: {{clusterName: a}}\n{webhook}\n"));
        for (webhook, severity) in [
            ("webhook: {enabled: false}", "info / webhook"),
            ("webhook: {enabled: true}", "warning / webhook"),
            ("webhook: {port: 8443}", "warning / webhook"),
        ] {
            assert!(with(webhook).contains(severity), "{webhook}");
        }
    }

    #[test]
    fn reports_keys_of_older_charts() {
        let text = "\
karpenter:
  settings:
    aws: {clusterName: prod, defaultInstanceProfile: a}
    featureGates: {driftEnabled: true}
  webhook: {enabled: true}
  controller: {batchMaxDuration: 5s}
";
        insta::assert_snapshot!(findings(&super::RULE, text), @"
          3 |     aws: {clusterName: prod, defaultInstanceProfile: a}
            |     ^^^
        warning /karpenter settings.aws [all]
          `settings.aws` is a key of an older chart and is ignored
          help: since 0.33 its keys are in `settings`, such as `settings.clusterName`
          4 |     featureGates: {driftEnabled: true}
            |                    ^^^^^^^^^^^^
        warning /karpenter settings.featureGates.driftEnabled [all]
          `settings.featureGates.driftEnabled` is a key of an older chart and is ignored
          help: drift is always on since 1.0; remove the key
          5 |   webhook: {enabled: true}
            |   ^^^^^^^
        warning /karpenter webhook [since 1.1]
          `webhook` is a key of an older chart and is ignored
          help: there is no webhook since 1.1; remove the key
          6 |   controller: {batchMaxDuration: 5s}
            |                ^^^^^^^^^^^^^^^^
        warning /karpenter controller.batchMaxDuration [all]
          `controller.batchMaxDuration` is a key of an older chart and is ignored
          help: write `settings.batchMaxDuration`
        ");
        assert!(!findings_with(&super::RULE, text, &at("1.0")).contains("webhook"));
    }

    #[test]
    fn reports_keys_of_later_charts_and_misspelt_keys() {
        let text = r"settings:
  clusterName: prod
  preferencePolicy: Ignore
  isolatedVpc: true
  featureGates: {nodeOverlays: true}
  house: {a: b}
";
        insta::assert_snapshot!(findings_with(&super::RULE, text, &at("1.3")), @"
          3 |   preferencePolicy: Ignore
            |   ^^^^^^^^^^^^^^^^
        warning / settings.preferencePolicy [until 1.3]
          the chart does not know `settings.preferencePolicy` and ignores it
          help: supported by Karpenter since 1.4
          4 |   isolatedVpc: true
            |   ^^^^^^^^^^^
        warning / settings.isolatedVpc [all]
          the chart does not know `settings.isolatedVpc` and ignores it
          help: did you mean `isolatedVPC`?
          5 |   featureGates: {nodeOverlays: true}
            |                  ^^^^^^^^^^^^
        warning / settings.featureGates.nodeOverlays [all]
          the chart does not know `settings.featureGates.nodeOverlays` and ignores it
          help: did you mean `nodeOverlay`?
          6 |   house: {a: b}
            |   ^^^^^
        info / settings.house [all]
          the chart does not know `settings.house` and ignores it
          help: remove the key, unless a parent chart reads it
        ");
        assert!(!findings_with(&super::RULE, text, &at("1.4")).contains("preferencePolicy"));
    }

    #[test]
    fn reports_feature_gates_of_the_provider_before_1_15_and_misspelt_ones() {
        let text = r"settings:
  clusterName: prod
  interruptionQueue: prod
  legacyNodeRepair: true
  awsFeatureGates: {nodeClassCEL: true, rebootForRepairs: true}
";
        insta::assert_snapshot!(findings_with(&super::RULE, text, &at("1.14")), @"
          4 |   legacyNodeRepair: true
            |   ^^^^^^^^^^^^^^^^
        warning / settings.legacyNodeRepair [until 1.14]
          the chart does not know `settings.legacyNodeRepair` and ignores it
          help: supported by Karpenter since 1.15
          5 |   awsFeatureGates: {nodeClassCEL: true, rebootForRepairs: true}
            |   ^^^^^^^^^^^^^^^
        warning / settings.awsFeatureGates [until 1.14]
          the chart does not know `settings.awsFeatureGates` and ignores it
          help: supported by Karpenter since 1.15
        ");
        assert_eq!(findings_with(&super::RULE, text, &at("1.15")).matches("warning").count(), 1);
        // The chart on the main branch before 1.15 has the key beside the image of 1.14.1.
        let off = r"settings:
  clusterName: prod
  interruptionQueue: prod
  awsFeatureGates: {nodeClassCEL: false, draEFA: null}
";
        let found = findings_with(&super::RULE, off, &at("1.14"));
        assert!(found.contains("info / settings.awsFeatureGates [until 1.14]"), "{found}");
        assert!(!found.contains("warning"), "{found}");
    }

    #[test]
    fn reports_misspelt_and_misplaced_keys_at_the_top_level() {
        let text = r"settings:
  clusterName: prod
  interruptionQueue: prod
replica: 1
resources: {}
clusterEndpoint: https://a
nodePools: []
global: {}
initContainers: []
";
        insta::assert_snapshot!(findings_with(&super::RULE, text, &at("1.3")), @"
          4 | replica: 1
            | ^^^^^^^
        warning / replica [all]
          the chart does not know `replica` and ignores it
          help: did you mean `replicas`?
          5 | resources: {}
            | ^^^^^^^^^
        warning / resources [all]
          the chart does not know `resources` and ignores it
          help: did you mean `controller.resources`?
          6 | clusterEndpoint: https://a
            | ^^^^^^^^^^^^^^^
        warning / clusterEndpoint [all]
          the chart does not know `clusterEndpoint` and ignores it
          help: did you mean `settings.clusterEndpoint`?
          9 | initContainers: []
            | ^^^^^^^^^^^^^^
        warning / initContainers [until 1.3]
          the chart does not know `initContainers` and ignores it
          help: supported by Karpenter since 1.4
        ");
        assert!(!findings_with(&super::RULE, text, &at("1.4")).contains("initContainers"));
    }

    #[test]
    fn ignores_keys_of_charts_around_karpenters() {
        for text in [
            // Keys beside `karpenter` belong to other charts.
            "karpenter: {settings: {clusterName: a, interruptionQueue: a}}\nreplica: 1\nresources: {}\n",
            "karpenter: {enabled: true, settings: {clusterName: a}, nodePools: []}\n",
            // A variable for a template elsewhere, which is also at its right place.
            "settings: {clusterName: a, interruptionQueue: a}\nclusterName: a\n",
            "settings: {clusterName: a, interruptionQueue: a}\nreplica: 1\nreplicas: 1\n",
        ] {
            silent(&super::RULE, text);
        }
    }

    #[test]
    fn reports_each_unknown_gate_of_a_rendered_deployment() {
        let text = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: karpenter}
spec:
  template:
    spec:
      containers:
      - image: public.ecr.aws/karpenter/controller:1.4.2
        env:
        - {name: FEATURE_GATES, value: \"Drift=true,ReservedCapacity=false,NodeOverlay=true\"}
        - {name: ASSUME_ROLE_ARN, value: x}
";
        insta::assert_snapshot!(findings_with(&super::RULE, text, &at("1.4")), @r#"
         10 |         - {name: FEATURE_GATES, value: "Drift=true,ReservedCapacity=false,NodeOverlay=true"}
            |                                         ^^^^^
        warning Deployment/karpenter spec.template.spec.containers[0].env[0].value [all]
          the controller does not know the feature gate `Drift` and ignores it
          help: drift is always on since 1.0; remove the gate
         10 |         - {name: FEATURE_GATES, value: "Drift=true,ReservedCapacity=false,NodeOverlay=true"}
            |                                                                           ^^^^^^^^^^^
        warning Deployment/karpenter spec.template.spec.containers[0].env[0].value [until 1.6]
          the controller does not know the feature gate `NodeOverlay` and ignores it
          help: supported by Karpenter since 1.7
         11 |         - {name: ASSUME_ROLE_ARN, value: x}
            |            ^^^^
        warning Deployment/karpenter spec.template.spec.containers[0].env[1] [all]
          since 1.0 the controller ignores `ASSUME_ROLE_ARN` and uses its own IAM role
          help: give the controller's service account the role it needs
        "#);
    }

    #[test]
    fn reads_values_of_flux_and_argo_cd() {
        let values = "settings: {aws: {clusterName: a}}";
        for text in [
            format!(
                r"apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: a}}
spec:
  chart: {{spec: {{chart: karpenter}}}}
  values: {{{values}}}
"
            ),
            format!(
                r"apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: a}}
spec:
  source: {{chart: karpenter, helm: {{valuesObject: {{{values}}}}}}}
"
            ),
        ] {
            assert!(
                findings(&super::RULE, &text).contains("`settings.aws` is a key of an older chart"),
                "{text}"
            );
            silent(&super::RULE, &text.replace("chart: karpenter", "chart: shop"));
        }
    }

    fn application(helm: &str) -> String {
        format!(
            r"apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: a}}
spec:
  sources:
    - repoURL: https://git.example.net/values
      ref: values
    - repoURL: public.ecr.aws/karpenter
      chart: karpenter
      helm:
{helm}"
        )
    }

    #[test]
    fn reads_the_values_of_an_application_set() {
        let set = |values: &str| {
            format!(
                r"apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {{name: a}}
spec:
  template:
    spec:
      source:
        repoURL: public.ecr.aws/karpenter
        chart: karpenter
        helm:
          values: |
            settings:
              clusterName: '{{{{name}}}}'
              {values}
"
            )
        };
        let found = findings(&super::RULE, &set("interruptionQueu: prod"));
        assert!(found.contains("ApplicationSet/a") && found.contains("interruptionQueue"), "{found}");
        silent(&super::RULE, &set("interruptionQueue: '{{name}}'"));
        silent(&super::RULE, &set("{{ .settings }}: a"));
    }

    #[test]
    fn reads_values_written_as_text_in_an_application() {
        let text = application(
            r"        values: |

          # the cluster
          settings:
            clusterName: prod
            isolatedVpc: true # é
          webhook:
            enabled: true
        releaseName: a
",
        );
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
         16 |             isolatedVpc: true # é
            |             ^^^^^^^^^^^
        warning Application/a spec.sources[1].helm.values.settings.isolatedVpc [all]
          the chart does not know `settings.isolatedVpc` and ignores it
          help: did you mean `isolatedVPC`?
         17 |           webhook:
            |           ^^^^^^^
        warning Application/a spec.sources[1].helm.values.webhook [since 1.1]
          `webhook` is a key of an older chart and is ignored
          help: there is no webhook since 1.1; remove the key
        ");
        let quoted =
            application("        values: \"settings:\\n  clusterName: prod\\n  isolatedVpc: true\\n\"\n");
        insta::assert_snapshot!(findings(&super::RULE, &quoted), @r#"
         11 |         values: "settings:\n  clusterName: prod\n  isolatedVpc: true\n"
            |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning Application/a spec.sources[1].helm.values.settings.isolatedVpc [all]
          the chart does not know `settings.isolatedVpc` and ignores it
          help: did you mean `isolatedVPC`?
        "#);
        // A mark without quotes does not hide the other values.
        let marked =
            "        values: |\n          settings: {clusterName: {{cluster}}}\n          webhook: {}\n";
        assert!(
            findings(&super::RULE, &application(marked)).contains("`webhook` is a key of an older chart")
        );
        silent(
            &super::RULE,
            &application(
                "        valuesObject: {settings: {clusterName: a}}\n        values: 'webhook: {}'\n",
            ),
        );
    }

    #[test]
    fn reads_parameters_of_an_application() {
        let text = application(
            r"        parameters:
          - {name: settings.aws.clusterName, value: prod}
          - {name: settings.featureGates.drift, value: 'true'}
          - {name: 'serviceAccount.annotations.eks\.amazonaws\.com/role-arn', value: a}
",
        );
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
         12 |           - {name: settings.aws.clusterName, value: prod}
            |                    ^^^^^^^^^^^^^^^^^^^^^^^^
        warning Application/a spec.sources[1].helm.parameters[0].name [all]
          `settings.aws` is a key of an older chart and is ignored
          help: since 0.33 its keys are in `settings`, such as `settings.clusterName`
         13 |           - {name: settings.featureGates.drift, value: 'true'}
            |                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning Application/a spec.sources[1].helm.parameters[1].name [all]
          `settings.featureGates.drift` is a key of an older chart and is ignored
          help: drift is always on since 1.0; remove the key
        ");
    }

    #[test]
    fn ignores_charts_with_other_names_or_keys() {
        let git = r"apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: a}
spec:
  source:
    repoURL: https://git.example.net/charts
    path: charts/shop
    helm:
      valuesObject: {settings: {clusterName: a, house: b}, shop: c}
";
        silent(&super::RULE, git);
        let own = git.replace("shop: c", "replicas: 1");
        assert!(findings(&super::RULE, &own).contains("does not know `settings.house`"));
        let around = git.replace(
            "{settings: {clusterName: a, house: b}, shop: c}",
            "{karpenter: {settings: {clusterName: a, house: b}}}",
        );
        assert!(findings(&super::RULE, &around).contains("does not know `settings.house`"));
    }

    #[test]
    fn accepts_keys_that_the_chart_reads() {
        silent(
            &super::RULE,
            r"settings:
  clusterName: prod
  interruptionQueue: prod
  reservedENIs: '1'
  featureGates: {nodeRepair: true, capacityBuffer: true, staticCapacity: true}
logLevel: debug
controller: {env: []}
",
        );
        let gate = "settings: {clusterName: a, featureGates: {staticCapacity: false}}\n";
        assert_eq!(findings_with(&super::RULE, gate, &at("1.8")), "");
        assert!(findings_with(&super::RULE, gate, &at("1.7")).contains("staticCapacity"));
        // The rule `interruption-queue-malformed` reports the old key of the queue.
        silent(&super::RULE, "settings: {interruptionQueueName: prod}\n");
        silent(&super::RULE, "settings: {aws: {region: eu-west-1}}\nname: shop\n");
    }

    #[test]
    fn ignores_gates_that_a_newer_chart_turns_off() {
        let found = |gates: &str| {
            let text = format!(
                r#"apiVersion: apps/v1
kind: Deployment
metadata: {{name: karpenter}}
spec:
  template:
    spec:
      containers:
      - image: public.ecr.aws/karpenter/controller:1.4.0
        env:
        - {{name: FEATURE_GATES, value: "{gates}"}}
"#
            );
            findings_with(&super::RULE, &text, &at("1.4"))
        };
        for accepted in
            ["NodeOverlay=false", "NodeOverlay=false,", "${GATE}=true", "SpotToSpotConsolidation=true"]
        {
            assert_eq!(found(accepted), "", "{accepted}");
        }
        assert!(found("NodeOverlay=true").contains("feature gate `NodeOverlay`"));
        assert!(found("NodeOverlai=false").contains("did you mean `NodeOverlay`?"));
        assert!(found("Unheard=false").contains("help: remove the gate"));
    }
}
