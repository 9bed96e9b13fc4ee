use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use karpenter::chart::{GATES, REMOVED, SETTINGS};
use objects::chart_values::{self, Key, Values};
use objects::controller::{Controller, FEATURE_GATES, Setting};
use karpenter::release::Releases;
use manifest::source::Span;
use karpenter::kind::Kind;
use objects::object::Object;
use lint::rule::{Fixes, On};
use values::spelling::nearest;

rule! {
    /// ## What it does
    ///
    /// Checks the values of Karpenter's Helm chart, and the controller's Deployment that was rendered from them, for keys,
    /// variables and feature gates that the release does not read: those that were removed, those that came later, and
    /// misspelt ones. Values are read from a document of their own, from a HelmRelease of Flux and from an Application of
    /// Argo CD.
    ///
    /// ## Why it is bad
    ///
    /// Helm takes any key, and the controller takes any gate. What is not read is ignored in silence, and the default
    /// applies.
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
        name: "helm-values-removed-keys",
        family: Family::Identity,
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a Helm value or feature gate of Karpenter that this release does not read",
        on: &[On::ChartValues, On::Kind(Kind::DEPLOYMENT)],
        inventory: &[],
        check: check,
    }
}

/// Variables of releases before 1.0.
const VARIABLES: [&str; 2] = ["ASSUME_ROLE_ARN", "ASSUME_ROLE_DURATION"];

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    if let Some(values) = chart_values::of(object) {
        removed(values, drafts);
        unknown(values, drafts);
    }
    if let Some(controller) = Controller::of(object) {
        gates(&controller, drafts);
        for name in VARIABLES {
            for item in controller.variables(name) {
                let message = format_args!("the controller does not read `{name}` since 1.0, and uses its own role");
                let help = "give the controller's service account the role it needs";
                drafts.push(Draft::at(&RULE, item, message).help(help));
            }
        }
    }
}

fn removed<'d>(values: Values<'d>, drafts: &mut Vec<Draft<'d>>) {
    for key in &REMOVED {
        let Some((last, above)) = key.path.split_last() else { continue };
        for (name, at) in values.keys(above) {
            if name != *last {
                continue;
            }
            let message = format!("`{}` is a key of an older chart and is ignored", key.path.join("."));
            drafts.push(Draft::new(&RULE, place(at), message).releases(key.releases).help(key.instead));
        }
    }
}

fn place(at: Key<'_>) -> Place<'_> {
    match at {
        Key::Member(node) => Place::key(node),
        Key::Parameter(name) => Place::value(name),
    }
}

/// Keys of `settings` and its gates that are not in the chart, or not yet.
fn unknown<'d>(values: Values<'d>, drafts: &mut Vec<Draft<'d>>) {
    let keys = || SETTINGS.iter().map(|(key, _)| *key);
    for (key, at) in values.keys(&["settings"]) {
        let known = SETTINGS.iter().find(|(known, _)| *known == key).map(|(_, releases)| *releases);
        // The old name of the queue has a rule of its own.
        if key != "interruptionQueueName" && !is_removed(&["settings", key]) {
            drafts.extend(ignored(at, &format!("settings.{key}"), known, nearest(key, keys())));
        }
    }
    for (key, at) in values.keys(&["settings", "featureGates"]) {
        let known = GATES.iter().find(|gate| gate.key == key).map(|gate| gate.releases);
        if !is_removed(&["settings", "featureGates", key]) {
            let near = nearest(key, GATES.iter().map(|gate| gate.key));
            drafts.extend(ignored(at, &format!("settings.featureGates.{key}"), known, near));
        }
    }
}

fn is_removed(path: &[&str]) -> bool {
    REMOVED.iter().any(|key| key.path == path)
}

/// A key that some releases do not read; `known` are those that do.
fn ignored<'d>(at: Key<'d>, path: &str, known: Option<Releases>, near: Option<&str>) -> Option<Draft<'d>> {
    let releases = Releases::ALL.without(known.unwrap_or(Releases::NONE));
    if releases.is_empty() {
        return None;
    }
    let draft = Draft::new(&RULE, place(at), format!("the chart does not read `{path}`, which is ignored"));
    let draft = draft.releases(releases);
    Some(match (known, near) {
        (Some(known), _) => draft.advise(format_args!("it is read by {known}")),
        (None, Some(near)) => draft.advise(format_args!("did you mean `{near}`?")),
        // A chart around this one may read keys of its own.
        (None, None) => draft.severity(Severity::Info).help("remove the key, unless a chart around this one reads it"),
    })
}

/// The gates of a rendered Deployment.
fn gates<'d>(controller: &Controller<'d>, drafts: &mut Vec<Draft<'d>>) {
    let Setting::Text(text, node) = controller.setting(FEATURE_GATES) else { return };
    let start = node.as_str().map_or(0, |whole| whole.len().saturating_sub(text.len()));
    let mut at = start;
    for part in text.split(',') {
        let name = part.split('=').next().unwrap_or_default();
        let span = Span::new(at, at + name.len());
        at += part.len() + 1;
        let (name, off) = (name.trim(), part.trim_end().ends_with("=false"));
        let known = GATES.iter().filter(|gate| gate.name == name);
        let known = known.fold(Releases::NONE, |all, gate| all.or(gate.releases));
        let releases = Releases::ALL.without(known);
        // A chart newer than the controller turns gates off that it does not know yet.
        if name.is_empty() || releases.is_empty() || name.contains('$') || (off && !known.is_empty()) {
            continue;
        }
        let message = format!("the controller knows no feature gate `{name}`, and ignores it");
        let help = if name == "Drift" {
            "drift is always on since 1.0; remove the gate".to_owned()
        } else if !known.is_empty() {
            format!("it is known to {known}")
        } else {
            match nearest(name, GATES.iter().map(|gate| gate.name)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "remove it".to_owned(),
            }
        };
        drafts.push(Draft::new(&RULE, Place::within(node, span), message).releases(releases).help(help));
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with, silent};
    use lint::settings::{Settings, Target};

    fn at(release: &str) -> Settings {
        Settings { karpenter: Target::parse(release).unwrap(), ..Settings::default() }
    }

    #[test]
    fn keys_of_older_charts_are_found() {
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
        warning /karpenter settings.aws [1.0-1.14]
          `settings.aws` is a key of an older chart and is ignored
          help: its keys stand in `settings` itself since 0.33, such as `settings.clusterName`
          4 |     featureGates: {driftEnabled: true}
            |                    ^^^^^^^^^^^^
        warning /karpenter settings.featureGates.driftEnabled [1.0-1.14]
          `settings.featureGates.driftEnabled` is a key of an older chart and is ignored
          help: drift is always on since 1.0; remove the key
          5 |   webhook: {enabled: true}
            |   ^^^^^^^
        warning /karpenter webhook [1.1-1.14]
          `webhook` is a key of an older chart and is ignored
          help: there is no webhook since 1.1; remove the key
          6 |   controller: {batchMaxDuration: 5s}
            |                ^^^^^^^^^^^^^^^^
        warning /karpenter controller.batchMaxDuration [1.0-1.14]
          `controller.batchMaxDuration` is a key of an older chart and is ignored
          help: write `settings.batchMaxDuration`
        ");
        assert!(!findings_with(&super::RULE, text, &at("1.0")).contains("webhook"));
    }

    #[test]
    fn keys_that_came_later_and_misspelt_ones_are_found() {
        let text = "settings:\n  clusterName: prod\n  preferencePolicy: Ignore\n  isolatedVpc: true\n  featureGates: {nodeOverlays: true}\n  house: {a: b}\n";
        insta::assert_snapshot!(findings_with(&super::RULE, text, &at("1.3")), @"
          3 |   preferencePolicy: Ignore
            |   ^^^^^^^^^^^^^^^^
        warning / settings.preferencePolicy [1.0-1.3]
          the chart does not read `settings.preferencePolicy`, which is ignored
          help: it is read by 1.4-1.14
          4 |   isolatedVpc: true
            |   ^^^^^^^^^^^
        warning / settings.isolatedVpc [1.0-1.14]
          the chart does not read `settings.isolatedVpc`, which is ignored
          help: did you mean `isolatedVPC`?
          5 |   featureGates: {nodeOverlays: true}
            |                  ^^^^^^^^^^^^
        warning / settings.featureGates.nodeOverlays [1.0-1.14]
          the chart does not read `settings.featureGates.nodeOverlays`, which is ignored
          help: did you mean `nodeOverlay`?
          6 |   house: {a: b}
            |   ^^^^^
        info / settings.house [1.0-1.14]
          the chart does not read `settings.house`, which is ignored
          help: remove the key, unless a chart around this one reads it
        ");
        assert!(!findings_with(&super::RULE, text, &at("1.4")).contains("preferencePolicy"));
    }

    #[test]
    fn gates_of_a_rendered_deployment_are_marked_one_by_one() {
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
        warning Deployment/karpenter spec.template.spec.containers[0].env[0].value [1.0-1.14]
          the controller knows no feature gate `Drift`, and ignores it
          help: drift is always on since 1.0; remove the gate
         10 |         - {name: FEATURE_GATES, value: "Drift=true,ReservedCapacity=false,NodeOverlay=true"}
            |                                                                           ^^^^^^^^^^^
        warning Deployment/karpenter spec.template.spec.containers[0].env[0].value [1.0-1.6]
          the controller knows no feature gate `NodeOverlay`, and ignores it
          help: it is known to 1.7-1.14
         11 |         - {name: ASSUME_ROLE_ARN, value: x}
            |            ^^^^
        warning Deployment/karpenter spec.template.spec.containers[0].env[1] [1.0-1.14]
          the controller does not read `ASSUME_ROLE_ARN` since 1.0, and uses its own role
          help: give the controller's service account the role it needs
        "#);
    }

    #[test]
    fn values_are_read_where_flux_and_argo_hold_them() {
        let values = "settings: {aws: {clusterName: a}}";
        for text in [
            format!("apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: a}}\nspec:\n  chart: {{spec: {{chart: karpenter}}}}\n  values: {{{values}}}\n"),
            format!("apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: a}}\nspec:\n  source: {{chart: karpenter, helm: {{valuesObject: {{{values}}}}}}}\n"),
        ] {
            assert!(findings(&super::RULE, &text).contains("`settings.aws` is a key of an older chart"), "{text}");
            silent(&super::RULE, &text.replace("chart: karpenter", "chart: shop"));
        }
    }

    fn application(helm: &str) -> String {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: a}}\nspec:\n  sources:\n    - repoURL: https://git.example.net/values\n      ref: values\n    - repoURL: public.ecr.aws/karpenter\n      chart: karpenter\n      helm:\n{helm}"
        )
    }

    #[test]
    fn values_that_are_text_are_read_where_they_stand() {
        let text = application("        values: |\n\n          # the cluster\n          settings:\n            clusterName: prod\n            isolatedVpc: true # é\n          webhook:\n            enabled: true\n        releaseName: a\n");
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
         16 |             isolatedVpc: true # é
            |             ^^^^^^^^^^^
        warning Application/a spec.sources[1].helm.values.settings.isolatedVpc [1.0-1.14]
          the chart does not read `settings.isolatedVpc`, which is ignored
          help: did you mean `isolatedVPC`?
         17 |           webhook:
            |           ^^^^^^^
        warning Application/a spec.sources[1].helm.values.webhook [1.1-1.14]
          `webhook` is a key of an older chart and is ignored
          help: there is no webhook since 1.1; remove the key
        ");
        let quoted = application("        values: \"settings:\\n  clusterName: prod\\n  isolatedVpc: true\\n\"\n");
        insta::assert_snapshot!(findings(&super::RULE, &quoted), @r#"
         11 |         values: "settings:\n  clusterName: prod\n  isolatedVpc: true\n"
            |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning Application/a spec.sources[1].helm.values.settings.isolatedVpc [1.0-1.14]
          the chart does not read `settings.isolatedVpc`, which is ignored
          help: did you mean `isolatedVPC`?
        "#);
        silent(&super::RULE, &application("        values: |\n          settings: {clusterName: {{cluster}}}\n          webhook: {}\n"));
        silent(&super::RULE, &application("        valuesObject: {settings: {clusterName: a}}\n        values: 'webhook: {}'\n"));
    }

    #[test]
    fn parameters_are_read_by_their_names() {
        let text = application("        parameters:\n          - {name: settings.aws.clusterName, value: prod}\n          - {name: settings.featureGates.drift, value: 'true'}\n          - {name: 'serviceAccount.annotations.eks\\.amazonaws\\.com/role-arn', value: a}\n");
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
         12 |           - {name: settings.aws.clusterName, value: prod}
            |                    ^^^^^^^^^^^^^^^^^^^^^^^^
        warning Application/a spec.sources[1].helm.parameters[0].name [1.0-1.14]
          `settings.aws` is a key of an older chart and is ignored
          help: its keys stand in `settings` itself since 0.33, such as `settings.clusterName`
         13 |           - {name: settings.featureGates.drift, value: 'true'}
            |                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning Application/a spec.sources[1].helm.parameters[1].name [1.0-1.14]
          `settings.featureGates.drift` is a key of an older chart and is ignored
          help: drift is always on since 1.0; remove the key
        ");
    }

    #[test]
    fn other_charts_are_told_by_their_names_and_keys() {
        let git = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\nspec:\n  source:\n    repoURL: https://git.example.net/charts\n    path: charts/shop\n    helm:\n      valuesObject: {settings: {clusterName: a, house: b}, shop: c}\n";
        silent(&super::RULE, git);
        let own = git.replace("shop: c", "replicas: 1");
        assert!(findings(&super::RULE, &own).contains("does not read `settings.house`"));
        let around = git.replace("{settings: {clusterName: a, house: b}, shop: c}", "{karpenter: {settings: {clusterName: a, house: b}}}");
        assert!(findings(&super::RULE, &around).contains("does not read `settings.house`"));
    }

    #[test]
    fn what_the_chart_reads_is_left_alone() {
        silent(
            &super::RULE,
            "settings:\n  clusterName: prod\n  interruptionQueue: prod\n  reservedENIs: '1'\n  featureGates: {nodeRepair: true, capacityBuffer: true, staticCapacity: true}\nlogLevel: debug\ncontroller: {env: []}\n",
        );
        // The older name of the queue has a rule of its own.
        silent(&super::RULE, "settings: {interruptionQueueName: prod}\n");
        silent(&super::RULE, "settings: {aws: {region: eu-west-1}}\nname: shop\n");
    }
}
