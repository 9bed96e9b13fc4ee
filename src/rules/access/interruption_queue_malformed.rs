use karpenter::cluster_name::ClusterNamePlaceholder;
use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::edit::Change;
use manifest::source::Span;
use manifest::tree::Node;
use objects::chart_values::{self, ChartKey, ChartSettings};
use objects::controller::{Controller, INTERRUPTION_QUEUE, OptionValue};
use objects::object::Object;
use objects::placeholders::is_interpolated;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::{has_placeholder, is_bare_reference};

use crate::rules::identity::gravity;

rule! {
    /// ## What it does
    ///
    /// Checks that the interruption queue is set to its name, under the key that the chart reads: `INTERRUPTION_QUEUE`
    /// or `--interruption-queue` in the controller's Deployment, and `settings.interruptionQueue` in the Helm values.
    ///
    /// An empty queue is valid: it turns interruption handling off.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter asks SQS for a queue with that *name*, and no such queue exists. Up to 1.3 the controller exits at
    /// start-up. From 1.4 on it keeps running, logs `failed to create valid sqs provider` and handles no interruptions:
    /// AWS reclaims spot instances before Karpenter has drained their pods. Interruptions are also not handled if the
    /// queue is set under `interruptionQueueName`, a key of charts before 0.33 that newer charts ignore.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// settings:
    ///   clusterName: prod
    ///   interruptionQueue: arn:aws:sqs:eu-west-1:111122223333:prod
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// settings:
    ///   clusterName: prod
    ///   interruptionQueue: prod
    /// ```
    ///
    /// ## Fix safety
    ///
    /// Safe: the last part of a queue's ARN or URL is its name, and Karpenter looks for the queue only in its own
    /// account and region.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#6024, #7124; kubernetes-sigs/karpenter#1799, #2490
    /// - pkg/controllers/controllers.go and pkg/controllers/interruption/controller.go at v1.3.8 and v1.4.0
    RULE {
        formerly: &["identity"],
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "the interruption queue is not set to its name, or is set under a key that the chart ignores",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::DEPLOYMENT), On::ChartValues],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    if let Some(controller) = Controller::of(object)
        && let OptionValue::Text(text, node) = controller.setting(INTERRUPTION_QUEUE)
    {
        findings.extend(check_queue(object, text, node));
    }
    let Some(values) = chart_values::of(object) else { return };
    if let Some(node) = values.interruption_queue()
        && let Some(text) = node.as_str()
    {
        findings.extend(check_queue(object, text, node));
    }
    findings.extend(values.settings().and_then(check_old_key));
    for (key, at) in values.setting_keys() {
        if let ("interruptionQueueName", ChartKey::Parameter(name)) = (key, at) {
            let finding = Finding::new(&RULE, Place::value(name), OLD_KEY).severity(Severity::Warning);
            findings.push(finding.caught_by(CaughtBy::Nobody).help("write `settings.interruptionQueue`"));
        }
    }
}

fn check_queue<'d>(object: Object<'d>, text: &'d str, node: Node<'d>) -> Option<Finding<'d>> {
    let whole = node.as_str().unwrap_or_default();
    let range = Span::new(whole.len().saturating_sub(text.len()), whole.len());
    let place = if whole == text { Place::value(node) } else { Place::within(node, range) };
    let (what, name) = if text.starts_with("arn:") {
        ("an ARN", text.rsplit(':').next())
    } else if text.starts_with("https:") || text.starts_with("http:") {
        ("a URL", text.rsplit('/').next())
    } else if text.contains("{{") && chart_values::of(object).is_some() {
        // The chart renders templates in this value.
        return None;
    } else {
        return check_placeholder(object, text, place).or_else(|| check_name(text, node));
    };
    let message = format!(
        "the interruption queue is set to {what}, but Karpenter expects the queue's name; it finds no such queue and handles no interruptions"
    );
    let finding = Finding::new(&RULE, place, message);
    let Some(name) = name.filter(|name| is_name(name)) else {
        return Some(finding.help("write the queue's name"));
    };
    let change = if whole == text {
        Change::Set(node, name.to_owned())
    } else {
        Change::Replace(node, range, name.to_owned())
    };
    Some(finding.write(name).safe_fix("write the queue's name", change))
}

/// Reports a template placeholder, such as the placeholder in the chart's example.
fn check_placeholder<'d>(object: Object<'d>, text: &str, place: Place<'d>) -> Option<Finding<'d>> {
    if !has_placeholder(text) || is_interpolated(place.node()) {
        return None;
    }
    let severity = gravity(ClusterNamePlaceholder::Unreplaced, object.operation());
    let message =
        format!("the interruption queue is set to the placeholder `{text}`, and no queue has that name");
    let finding = Finding::new(&RULE, place, message).severity(severity);
    Some(finding.help("write the queue's name, or leave the value empty if there is no queue"))
}

fn check_name<'d>(text: &str, node: Node<'d>) -> Option<Finding<'d>> {
    if text.is_empty() || is_name(text) || is_bare_reference(text) || is_interpolated(node) {
        return None;
    }
    let message =
        format!("`{text}` is not a valid name of an SQS queue, and Karpenter handles no interruptions");
    let help = "a queue's name has at most 80 characters: letters, digits, `-` and `_`";
    Some(Finding::at(&RULE, node, message).help(help))
}

/// Whether SQS accepts a text as a queue's name. Source: `CreateQueue` in the API reference of SQS.
fn is_name(text: &str) -> bool {
    let name = text.strip_suffix(".fifo").unwrap_or(text);
    let letters = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    !name.is_empty() && text.len() <= 80 && name.bytes().all(letters)
}

/// The key of charts before 0.33.
const OLD_KEY: &str =
    "since 0.33 the chart ignores `interruptionQueueName`, and Karpenter handles no interruptions";

fn check_old_key(settings: ChartSettings<'_>) -> Option<Finding<'_>> {
    if let Some(node) = settings.interruption_queue_name() {
        let finding = Finding::new(&RULE, Place::key(node), OLD_KEY).severity(Severity::Warning);
        let finding = finding.caught_by(CaughtBy::Nobody).help("write `interruptionQueue`");
        if settings.interruption_queue().is_some() {
            return Some(finding.help("remove the key: `interruptionQueue` is set as well"));
        }
        let change = Change::Rename(node, "interruptionQueue".to_owned());
        return Some(finding.safe_fix("write `interruptionQueue`", change));
    }
    let node = settings.aws_interruption_queue_name()?;
    let finding = Finding::new(&RULE, Place::key(node), OLD_KEY).severity(Severity::Warning);
    Some(finding.caught_by(CaughtBy::Nobody).help("write `settings.interruptionQueue`"))
}

#[cfg(test)]
mod tests {
    use rule::settings::Settings;

    use crate::rules::testing::{findings, findings_in_files, fixed, silent};

    fn controller(container: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: Deployment
metadata: {{name: karpenter}}
spec:
  template:
    spec:
      containers:
      - image: karpenter/controller
        {container}
"
        )
    }

    #[test]
    fn a_reference_in_a_terraform_file_may_be_a_name() {
        let release = |value: &str| {
            let text = format!(
                "resource \"helm_release\" \"a\" {{\n  values = [<<-EOT\n    settings: {{clusterName: a, interruptionQueue: '{value}'}}\n  EOT\n  ]\n}}\n"
            );
            findings_in_files(&super::RULE, &[("main.tf", text.as_str())], &Settings::default())
        };
        assert_eq!(release("${module.karpenter.queue_name}"), "");
        assert!(release("a b").contains("is not a valid name"));
    }

    #[test]
    fn replaces_arn_or_url_with_the_name() {
        let text = controller(
            "env: [{name: INTERRUPTION_QUEUE, value: 'arn:aws:sqs:eu-north-1:111122223333:basalt'}]",
        );
        insta::assert_snapshot!(findings(&super::RULE, &text), @r#"
          9 |         env: [{name: INTERRUPTION_QUEUE, value: 'arn:aws:sqs:eu-north-1:111122223333:basalt'}]
            |                                                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error Deployment/karpenter spec.template.spec.containers[0].env[0].value [all]
          the interruption queue is set to an ARN, but Karpenter expects the queue's name; it finds no such queue and handles no interruptions
          help: write `basalt`
          fix: write the queue's name: "'basalt'"
        "#);
        assert!(fixed(&super::RULE, &text).contains("value: 'basalt'}"));
        let text = controller(
            "args: [--interruption-queue=https://sqs.eu-west-1.amazonaws.com/111122223333/basalt]",
        );
        insta::assert_snapshot!(findings(&super::RULE, &text), @r#"
          9 |         args: [--interruption-queue=https://sqs.eu-west-1.amazonaws.com/111122223333/basalt]
            |                                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error Deployment/karpenter spec.template.spec.containers[0].args[0] [all]
          the interruption queue is set to a URL, but Karpenter expects the queue's name; it finds no such queue and handles no interruptions
          help: write `basalt`
          fix: write the queue's name: "basalt"
        "#);
        assert!(fixed(&super::RULE, &text).contains("[--interruption-queue=basalt]"));
    }

    #[test]
    fn renames_the_old_key() {
        let text = "settings:\n  clusterName: a\n  interruptionQueueName: a\n";
        insta::assert_snapshot!(findings(&super::RULE, text), @r#"
          3 |   interruptionQueueName: a
            |   ^^^^^^^^^^^^^^^^^^^^^
        warning / settings.interruptionQueueName [all]
          since 0.33 the chart ignores `interruptionQueueName`, and Karpenter handles no interruptions
          help: write `interruptionQueue`
          fix: write `interruptionQueue`: "interruptionQueue"
        "#);
        assert_eq!(fixed(&super::RULE, text), "settings:\n  clusterName: a\n  interruptionQueue: a\n");
    }

    #[test]
    fn reports_placeholders_and_invalid_names() {
        let said = |value: &str| {
            findings(
                &super::RULE,
                &controller(&format!("env: [{{name: INTERRUPTION_QUEUE, value: '{value}'}}]")),
            )
        };
        assert!(said("${CLUSTER_NAME}").contains("info Deployment"));
        for text in ["<queue>", "$QUEUE", "{{ .Values.queue }}", "YOUR_QUEUE", "__QUEUE__"] {
            assert!(said(text).contains("info Deployment"), "{text}");
        }
        assert!(said("prod queue").contains("error Deployment"));
        assert!(said("arn:aws:sqs:eu-west-1:1:${NAME}").contains("help: write the queue's name"));
    }

    #[test]
    fn accepts_names_and_a_missing_queue() {
        for value in ["prod", "Karpenter-prod_1", "", "a.fifo"] {
            silent(
                &super::RULE,
                &controller(&format!("env: [{{name: INTERRUPTION_QUEUE, value: '{value}'}}]")),
            );
        }
        silent(&super::RULE, &controller("env: [{name: INTERRUPTION_QUEUE, valueFrom: {}}]"));
        silent(&super::RULE, "settings: {clusterName: a, interruptionQueue: '{{ .Values.global.queue }}'}\n");
        silent(&super::RULE, "settings: {clusterName: a, interruptionQueue: ''}\n");
    }
}
