use karpenter::chart::{AWS_GATES, GATES};
use karpenter::kind::Kind;
use karpenter::option_values::{Consequence, FIELDS, OPTIONS, OptionForm, SWITCHES, TRUTH_VALUES, ValueForm};
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::chart_values::{self, ChartValues};
use objects::controller::{AWS_FEATURE_GATES, Controller, ControllerOption, FEATURE_GATES, OptionValue};
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Phase, Runs};
use values::duration::{Duration, DurationProblem};
use values::placeholder::has_placeholder;
use values::spelling::nearest;

rule! {
    /// ## What it does
    ///
    /// Checks the values of the controller's options in the values of Karpenter's Helm chart, and in the controller's Deployment:
    /// log level, policies, durations, numbers and truth values. It also checks the values that the chart copies into fields of
    /// the Deployment, such as `replicas`.
    ///
    /// ## Why it is bad
    ///
    /// Helm accepts any value. The controller exits at start-up if it does not know the log level, a policy or a value of a
    /// feature gate, or if a number is out of range. If it cannot read a duration, a number or a truth value, it silently uses
    /// the default of the option. The API server refuses a Deployment with a malformed field.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// logLevel: debgu
    /// settings:
    ///   clusterName: prod
    ///   interruptionQueue: prod
    ///   batchMaxDuration: 10
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// logLevel: debug
    /// settings:
    ///   clusterName: prod
    ///   interruptionQueue: prod
    ///   batchMaxDuration: 10s
    /// ```
    ///
    /// ## References
    ///
    /// - `Parse` in pkg/operator/options/options.go, and pkg/utils/env/env.go, of kubernetes-sigs/karpenter at v1.0.0 to v1.14.1
    /// - pkg/operator/options/options_validation.go and charts/karpenter/templates/deployment.yaml of
    ///   aws/karpenter-provider-aws at v1.0.0 to v1.14.1
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the controller or the chart cannot read the value of an option",
        phase: Phase::With,
        runs: Runs::InAdmission,
        on: &[On::ChartValues, On::Kind(Kind::DEPLOYMENT)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    if let Some(values) = chart_values::of(object) {
        check_options_of_chart(values, findings);
        check_fields(values, findings);
        check_gates_of_chart(values, findings);
    }
    if let Some(controller) = Controller::of(object).filter(|controller| !controller.is_before_1_0()) {
        check_options_of_deployment(&controller, findings);
    }
}

fn check_options_of_chart<'d>(values: ChartValues<'d>, findings: &mut Vec<Finding<'d>>) {
    for option in &OPTIONS {
        let Some(node) = values.at(option.path) else { continue };
        let is_port = option.consequence == Consequence::Refused;
        let Some(text) = rendered(node).filter(|_| is_port || !is_left_out(node)) else { continue };
        findings.extend(finding(&option.path.join("."), node, text, option, option.consequence));
    }
}

fn check_options_of_deployment<'d>(controller: &Controller<'d>, findings: &mut Vec<Finding<'d>>) {
    for option in &OPTIONS {
        let name = ControllerOption { flag: option.flag, variable: option.variable };
        let Some((text, node)) = controller.setting(name).text() else { continue };
        let is_flag = node.as_str().is_some_and(|whole| whole.starts_with('-') && whole != text);
        let consequence = match option.consequence {
            _ if is_flag => Consequence::Exits,
            Consequence::Refused => Consequence::UsesDefault("8080 or 8081"),
            consequence => consequence,
        };
        findings.extend(finding(option.variable, node, text, option, consequence));
    }
    for option in [FEATURE_GATES, AWS_FEATURE_GATES] {
        let OptionValue::Text(text, node) = controller.setting(option) else { continue };
        for gate in text.split(',') {
            let Some((name, value)) = gate.split_once('=') else { continue };
            if !TRUTH_VALUES.contains(&value.trim()) && !has_placeholder(value) {
                findings.push(gate_finding(name.trim(), value.trim(), node));
            }
        }
    }
}

fn check_gates_of_chart<'d>(values: ChartValues<'d>, findings: &mut Vec<Finding<'d>>) {
    let gates = GATES.iter().map(|gate| (gate, values.feature_gate(gate.key)));
    let of_aws = AWS_GATES.iter().map(|gate| (gate, values.aws_feature_gate(gate.key)));
    for (gate, node) in gates.chain(of_aws) {
        let Some(node) = node.filter(|node| !node.is_null()) else { continue };
        let Some(value) = rendered(node).filter(|value| !TRUTH_VALUES.contains(value)) else { continue };
        findings.push(gate_finding(gate.key, value, node).releases(gate.releases));
    }
}

fn gate_finding<'d>(name: &str, value: &str, node: Node<'d>) -> Finding<'d> {
    let message = format!(
        "the feature gate `{name}` has the value `{value}`, which is neither true nor false: the controller exits at start-up"
    );
    Finding::at(&RULE, node, message).help("write `true` or `false`")
}

/// The text that the chart writes for a scalar; `None` for a placeholder, and for a value that is no scalar.
fn rendered(node: Node<'_>) -> Option<&str> {
    let text = match (node.as_str(), node.as_bool()) {
        (Some(text), _) => text,
        (None, Some(value)) => {
            if value {
                "true"
            } else {
                "false"
            }
        }
        (None, None) if node.is_mapping() || node.is_sequence() || node.is_null() => return None,
        (None, None) => node.spelling(),
    };
    (!has_placeholder(text)).then_some(text)
}

/// Whether the chart leaves an option out, as `with` does: for false, 0, and the empty text.
fn is_left_out(node: Node<'_>) -> bool {
    node.as_str() == Some("") || node.as_bool() == Some(false) || node.as_int() == Some(0)
}

/// Reports a value that does not have the form of its option.
fn finding<'d>(
    name: &str,
    node: Node<'d>,
    text: &str,
    option: &OptionForm,
    consequence: Consequence,
) -> Option<Finding<'d>> {
    let fault = fault(option.form, text, node)?;
    let consequence = if fault.is_out_of_range { Consequence::Exits } else { consequence };
    let (effect, severity) = match consequence {
        Consequence::Exits => ("the controller exits at start-up".to_owned(), Severity::Error),
        Consequence::UsesDefault(default) => (
            format!("the controller cannot read it, and silently uses its default `{default}`"),
            Severity::Warning,
        ),
        Consequence::Refused => {
            ("the API server refuses the controller's Deployment".to_owned(), Severity::Error)
        }
    };
    let effect = fault.effect.map_or(effect, str::to_owned);
    let message = format!("`{name}` is `{text}`, which {}: {effect}", fault.what);
    let finding = Finding::at(&RULE, node, message).help(fault.help).releases(option.releases);
    let finding = if fault.effect.is_some() { finding } else { finding.severity(severity) };
    Some(finding.caught_by(match consequence {
        Consequence::Exits => CaughtBy::Controller,
        Consequence::UsesDefault(_) => CaughtBy::Nobody,
        Consequence::Refused => CaughtBy::ApiServer,
    }))
}

/// A value without its form.
struct Fault {
    /// The end of a sentence: `is no duration`.
    what: &'static str,
    help: String,
    /// Whether the value can be read, but is out of range.
    is_out_of_range: bool,
    /// The effect, if it differs from the effect of other values without the form.
    effect: Option<&'static str>,
}

impl Fault {
    fn new(what: &'static str, help: impl Into<String>) -> Self {
        Self { what, help: help.into(), is_out_of_range: false, effect: None }
    }

    fn out_of_range(what: &'static str, help: impl Into<String>) -> Self {
        Self { is_out_of_range: true, ..Self::new(what, help) }
    }
}

fn fault(form: ValueForm, text: &str, node: Node<'_>) -> Option<Fault> {
    match form {
        ValueForm::Duration | ValueForm::LongDuration => match Duration::parse(text) {
            Ok(duration) if form == ValueForm::LongDuration && duration < Duration::from_minutes(1) => {
                Some(Fault::out_of_range("is less than a minute", "write `1m` or more"))
            }
            Ok(_) => None,
            Err(error) => {
                let help = match (error.suggestion(), error.problem()) {
                    (Some(meant), _) if meant != "Never" => format!("write `{meant}`"),
                    (_, DurationProblem::MissingUnit) => format!("add the unit: write `{text}s` for seconds"),
                    _ => "write a duration such as `10s` or `1m`".to_owned(),
                };
                Some(Fault::new("is no duration", help))
            }
        },
        ValueForm::Integer => match text.parse::<i64>() {
            Ok(number) if number < 0 => Some(Fault::out_of_range("is negative", "write 0 or more")),
            Ok(_) => None,
            Err(_) => Some(Fault::new("is no whole number", "write a whole number such as `1`")),
        },
        ValueForm::Fraction => fraction_fault(text),
        ValueForm::Boolean => {
            let is_truth = TRUTH_VALUES.contains(&text) || node.as_bool().is_some();
            (!is_truth).then(|| Fault::new("is neither true nor false", "write `true` or `false`"))
        }
        ValueForm::OneOf(words) if words.contains(&text) => None,
        ValueForm::OneOf(words) => {
            let listed: Vec<_> = words.iter().map(|word| format!("`{word}`")).collect();
            let all = format!("write one of {}", listed.join(", "));
            let help =
                nearest(text, words.iter().copied()).map_or(all, |near| format!("did you mean `{near}`?"));
            Some(Fault::new("is not among its values", help))
        }
    }
}

fn fraction_fault(text: &str) -> Option<Fault> {
    let part_of = |percent: f64| format!("write `{}`", percent / 100.0);
    match text.parse::<f64>() {
        Ok(number) if number < 0.0 => {
            Some(Fault::out_of_range("is negative", "write a part of 1, such as `0.075`"))
        }
        Ok(number) if number >= 1.0 => Some(Fault {
            effect: Some("Karpenter takes no instance type to have memory, and launches no nodes"),
            ..Fault::new("means all of the memory or more", part_of(number))
        }),
        Ok(_) => None,
        Err(_) => {
            let percent = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
            let help = percent.map_or_else(|| "write a part of 1, such as `0.075`".to_owned(), part_of);
            Some(Fault::new("is no number", help))
        }
    }
}

/// Checks the values that the chart copies into the Deployment, and the values that it compares with nothing.
fn check_fields<'d>(values: ChartValues<'d>, findings: &mut Vec<Finding<'d>>) {
    for (path, form) in &FIELDS {
        let Some(node) = values.at(path) else { continue };
        let fault = rendered(node)
            .filter(|text| !text.is_empty())
            .and_then(|text| Some((text, fault(*form, text, node)?)));
        let Some((text, fault)) = fault else { continue };
        let message = format!(
            "`{}` is `{text}`, which {}: the API server refuses the controller's Deployment",
            path.join("."),
            fault.what
        );
        findings.push(Finding::at(&RULE, node, message).help(fault.help).caught_by(CaughtBy::ApiServer));
    }
    for path in SWITCHES {
        let off = |text: &&str| matches!(text.to_ascii_lowercase().as_str(), "false" | "no" | "off" | "0");
        let Some((node, text)) = values.at(path).and_then(|node| Some((node, node.as_str().filter(off)?)))
        else {
            continue;
        };
        let message = format!(
            "`{}` is the text `{text}`, and for the chart every text that is not empty means true",
            path.join(".")
        );
        let finding =
            Finding::at(&RULE, node, message).severity(Severity::Warning).caught_by(CaughtBy::Nobody);
        findings.push(finding.help("write `false` without quotes"));
    }
    for (key, at) in values.keys(&["controller", "resources"]) {
        if RESOURCE_KEYS.contains(&key) || has_placeholder(key) {
            continue;
        }
        let message = format!(
            "`controller.resources` has no field `{key}`: the API server refuses the controller's Deployment"
        );
        let near = nearest(key, RESOURCE_KEYS);
        let help = near.map_or_else(
            || "write `requests` or `limits`".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        findings.push(Finding::new(&RULE, at.place(), message).help(help).caught_by(CaughtBy::ApiServer));
    }
    if let Some(name) =
        values.cluster_name().filter(|name| name.as_int().is_some() || name.as_bool().is_some())
    {
        let text = name.spelling();
        let message =
            format!("`settings.clusterName` is `{text}`, which is no text: the chart fails to render");
        findings.push(
            Finding::at(&RULE, name, message).help(format!("write `\"{text}\"`")).caught_by(CaughtBy::Nobody),
        );
    }
}

/// The fields of the resources of a container. Source: `ResourceRequirements` in staging/src/k8s.io/api/core/v1/types.go of
/// kubernetes/kubernetes at v1.33.0.
const RESOURCE_KEYS: [&str; 3] = ["limits", "requests", "claims"];

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, findings_with, silent};
    use rule::settings::{Settings, Target};

    fn values(settings: &str, others: &str) -> String {
        format!(
            r"settings: {{clusterName: a, interruptionQueue: a, {settings}}}
{others}
"
        )
    }

    #[test]
    fn reports_values_that_stop_the_controller() {
        insta::assert_snapshot!(findings(&RULE, &values("preferencePolicy: Ignor, featureGates: {nodeRepair: 'yes please'}", "logLevel: debgu")), @"
          1 | settings: {clusterName: a, interruptionQueue: a, preferencePolicy: Ignor, featureGates: {nodeRepair: 'yes please'}}
            |                                                                    ^^^^^
        error / settings.preferencePolicy [since 1.4]
          `settings.preferencePolicy` is `Ignor`, which is not among its values: the controller exits at start-up
          help: did you mean `Ignore`?
          1 | settings: {clusterName: a, interruptionQueue: a, preferencePolicy: Ignor, featureGates: {nodeRepair: 'yes please'}}
            |                                                                                                      ^^^^^^^^^^^^
        error / settings.featureGates.nodeRepair [since 1.1]
          the feature gate `nodeRepair` has the value `yes please`, which is neither true nor false: the controller exits at start-up
          help: write `true` or `false`
          2 | logLevel: debgu
            |           ^^^^^
        error / logLevel [all]
          `logLevel` is `debgu`, which is not among its values: the controller exits at start-up
          help: did you mean `debug`?
        ");
        let warn = findings(&RULE, &values("", "logLevel: warn"));
        assert!(warn.contains("error") && warn.contains("write one of `debug`, `info`, `error`"), "{warn}");
        assert!(findings(&RULE, &values("minValuesPolicy: Strickt", "")).contains("did you mean `Strict`?"));
        assert!(findings(&RULE, &values("reservedENIs: '-1'", "")).contains("exits at start-up"));
        assert!(findings(&RULE, &values("amiRefreshInterval: 30s", "")).contains("write `1m` or more"));
    }

    #[test]
    fn reports_values_that_the_controller_replaces_by_its_default() {
        insta::assert_snapshot!(findings(&RULE, &values("batchMaxDuration: 10, batchIdleDuration: 1 second, reservedENIs: many", "")), @"
          1 | settings: {clusterName: a, interruptionQueue: a, batchMaxDuration: 10, batchIdleDuration: 1 second, reservedENIs: many}
            |                                                                    ^^
        warning / settings.batchMaxDuration [all]
          `settings.batchMaxDuration` is `10`, which is no duration: the controller cannot read it, and silently uses its default `10s`
          help: add the unit: write `10s` for seconds
          1 | settings: {clusterName: a, interruptionQueue: a, batchMaxDuration: 10, batchIdleDuration: 1 second, reservedENIs: many}
            |                                                                                           ^^^^^^^^
        warning / settings.batchIdleDuration [all]
          `settings.batchIdleDuration` is `1 second`, which is no duration: the controller cannot read it, and silently uses its default `1s`
          help: write `1s`
          1 | settings: {clusterName: a, interruptionQueue: a, batchMaxDuration: 10, batchIdleDuration: 1 second, reservedENIs: many}
            |                                                                                                                   ^^^^
        warning / settings.reservedENIs [all]
          `settings.reservedENIs` is `many`, which is no whole number: the controller cannot read it, and silently uses its default `0`
          help: write a whole number such as `1`
        ");
        let percent = findings(&RULE, &values("vmMemoryOverheadPercent: '7.5%'", ""));
        assert!(percent.contains("warning") && percent.contains("write `0.075`"), "{percent}");
        let seven = findings(&RULE, &values("vmMemoryOverheadPercent: 7.5", ""));
        assert!(seven.contains("error") && seven.contains("write `0.075`"), "{seven}");
        assert!(findings(&RULE, &values("isolatedVPC: 'yes'", "")).contains("neither true nor false"));
    }

    #[test]
    fn reports_values_that_the_deployment_cannot_have() {
        for (others, expected) in [
            ("replicas: two", "is no whole number"),
            ("dnsPolicy: Foo", "write one of `ClusterFirst`"),
            ("imagePullPolicy: always", "did you mean `Always`?"),
            ("controller: {resources: {request: {cpu: 1}}}", "did you mean `requests`?"),
            ("controller: {metrics: {port: http}}", "refuses the controller's Deployment"),
        ] {
            let found = findings(&RULE, &values("", others));
            assert!(found.contains("error / ") && found.contains(expected), "{others}: {found}");
        }
        assert!(findings(&RULE, &values("", "hostNetwork: 'false'")).contains("means true"));
        let number = "settings: {clusterName: 123, interruptionQueue: a}\n";
        assert!(findings(&RULE, number).contains("help: write `\"123\"`"));
    }

    #[test]
    fn reads_parameters_and_the_rendered_deployment() {
        let application = r"apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: a}
spec:
  source:
    chart: karpenter
    helm:
      parameters:
      - {name: settings.batchMaxDuration, value: '10'}
";
        assert!(findings(&RULE, application).contains("is no duration"));
        let deployment = |container: &str| {
            format!(
                r"apiVersion: apps/v1
kind: Deployment
metadata: {{name: karpenter}}
spec:
  template:
    spec:
      containers:
      - name: controller
        image: public.ecr.aws/karpenter/controller:1.14.1
        {container}
"
            )
        };
        let variable = findings(
            &RULE,
            &deployment("env: [{name: LOG_LEVEL, value: trace}, {name: BATCH_MAX_DURATION, value: '10'}]"),
        );
        assert!(
            variable.contains("error Deployment/karpenter")
                && variable.contains("warning Deployment/karpenter"),
            "{variable}"
        );
        let flag = findings(&RULE, &deployment("args: [--batch-max-duration=10]"));
        assert!(flag.contains("error Deployment/karpenter"), "{flag}");
        let gates = findings(
            &RULE,
            &deployment("env: [{name: FEATURE_GATES, value: 'NodeRepair=yes,StaticCapacity=false'}]"),
        );
        assert!(gates.contains("`NodeRepair` has the value `yes`"), "{gates}");
    }

    #[test]
    fn an_option_of_later_releases_is_not_read() {
        let at = |release| Settings { karpenter: Target::parse(release).unwrap(), ..Settings::default() };
        let text = values("preferencePolicy: Ignor", "");
        assert_eq!(findings_with(&RULE, &text, &at("1.3")), "");
        assert!(!findings_with(&RULE, &text, &at("1.4")).is_empty());
    }

    #[test]
    fn accepts_values_that_the_controller_reads() {
        for (settings, others) in [
            (
                "batchMaxDuration: 10s, batchIdleDuration: 1.5s, vmMemoryOverheadPercent: '0.075', reservedENIs: '1'",
                "logLevel: debug",
            ),
            (
                "vmMemoryOverheadPercent: 0, reservedENIs: 0, isolatedVPC: false, disableDryRun: true",
                "logLevel: ''",
            ),
            ("batchMaxDuration: '${BATCH}', reservedENIs: '{{ .Values.enis }}'", "replicas: '2'"),
            (
                "preferencePolicy: Respect, minValuesPolicy: BestEffort, featureGates: {nodeRepair: 'true', staticCapacity: null}",
                "",
            ),
            (
                "isolatedVPC: 'true', eksControlPlane: True",
                "hostNetwork: true\nserviceMonitor: {enabled: false}",
            ),
            ("", "controller: {resources: {requests: {cpu: 1}, limits: {}}}"),
            (
                "",
                r"replicas: 1
dnsPolicy: Default
terminationGracePeriodSeconds:
revisionHistoryLimit: 10",
            ),
        ] {
            silent(&RULE, &values(settings, others));
        }
    }
}
