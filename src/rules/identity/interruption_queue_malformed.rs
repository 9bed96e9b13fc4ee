use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use manifest::edit::Change;
use objects::chart_values::{self, Key};
use karpenter::cluster_name::{Placeholder, placeholder};
use objects::controller::{Controller, INTERRUPTION_QUEUE, Setting};
use karpenter::release::Releases;
use manifest::source::Span;
use manifest::tree::Node;
use karpenter::kind::Kind;
use objects::object::Object;
use crate::rules::identity::gravity;
use lint::rule::{Fixes, On};

rule! {
    /// ## What it does
    ///
    /// Checks that the interruption queue is given by its name, under the key that the chart reads: in
    /// `INTERRUPTION_QUEUE` or `--interruption-queue` of the controller's Deployment, and in `settings.interruptionQueue`
    /// of the Helm values.
    ///
    /// An empty queue is legal: it turns the handling of interruptions off.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter asks SQS for the queue of that *name*, which does not exist. Up to 1.3 the controller stops at its start;
    /// from 1.4 on it runs, logs `failed to create valid sqs provider`, and handles no interruption: spot instances are
    /// taken away without their pods being moved. So it is where the key `interruptionQueueName` of charts before 0.33 is
    /// ignored.
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
    /// Safe: the last part of a queue's ARN or address is its name, and Karpenter looks for it in its own account and
    /// region only.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#6024, #7124; kubernetes-sigs/karpenter#1799, #2490
    /// - pkg/controllers/controllers.go and pkg/controllers/interruption/controller.go at v1.3.8 and v1.4.0
    RULE {
        name: "interruption-queue-malformed",
        family: Family::Identity,
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "the interruption queue is not given by its name, or under a key that nothing reads",
        on: &[On::Kind(Kind::DEPLOYMENT), On::ChartValues],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    if let Some(controller) = Controller::of(object)
        && let Setting::Text(text, node) = controller.setting(INTERRUPTION_QUEUE)
    {
        drafts.extend(malformed(object, text, node));
    }
    let Some(values) = chart_values::of(object) else { return };
    if let Some(node) = values.at(&["settings", "interruptionQueue"])
        && let Some(text) = node.as_str()
    {
        drafts.extend(malformed(object, text, node));
    }
    drafts.extend(values.map().and_then(|values| old_name(values.get("settings")?)));
    for (key, at) in values.keys(&["settings"]) {
        if let ("interruptionQueueName", Key::Parameter(name)) = (key, at) {
            let draft = Draft::new(&RULE, Place::value(name), OLD_NAME).severity(Severity::Warning);
            drafts.push(draft.caught_by(CaughtBy::Nobody).help("write `settings.interruptionQueue`"));
        }
    }
}

fn malformed<'d>(object: Object<'d>, text: &'d str, node: Node<'d>) -> Option<Draft<'d>> {
    let whole = node.as_str().unwrap_or_default();
    let range = Span::new(whole.len().saturating_sub(text.len()), whole.len());
    let place = if whole == text { Place::value(node) } else { Place::within(node, range) };
    let (what, name) = if text.starts_with("arn:") {
        ("an ARN", text.rsplit(':').next())
    } else if text.starts_with("https:") || text.starts_with("http:") {
        ("an address", text.rsplit('/').next())
    } else {
        return unreplaced(object, text, place).or_else(|| no_name(text, node));
    };
    let message = format!("the interruption queue is given as {what}; Karpenter takes its name, finds none like this, and handles no interruption");
    let draft = Draft::new(&RULE, place, message);
    let Some(name) = name.filter(|name| is_name(name)) else { return Some(draft.help("write the queue's name")) };
    let change = if whole == text {
        Change::Set(node, name.to_owned())
    } else {
        Change::Replace(node, range, name.to_owned())
    };
    Some(draft.write(name).mend("write the queue's name", change))
}

/// The mark of a template, as in the chart's own example.
fn unreplaced<'d>(object: Object<'d>, text: &str, place: Place<'d>) -> Option<Draft<'d>> {
    // The chart renders templates in this value itself.
    let what = placeholder(text).filter(|what| matches!(what, Placeholder::Later | Placeholder::Mark));
    let severity = gravity(what.filter(|_| !text.contains("{{"))?, object.operation());
    let message = format!("the interruption queue is the placeholder `{text}`; there is no such queue");
    let draft = Draft::new(&RULE, place, message).severity(severity);
    Some(draft.help("write the queue's name, or leave the value empty where there is none"))
}

fn no_name<'d>(text: &str, node: Node<'d>) -> Option<Draft<'d>> {
    if text.is_empty() || is_name(text) || text.contains("{{") {
        return None;
    }
    let message = format_args!("`{text}` is no name that SQS takes for a queue, and no interruption is handled");
    let help = "a queue's name has letters, digits, `-` and `_` only, at most 80 of them";
    Some(Draft::at(&RULE, node, message).help(help))
}

/// Whether SQS takes a text for a queue's name. Source: `CreateQueue` in the API reference of SQS.
fn is_name(text: &str) -> bool {
    let name = text.strip_suffix(".fifo").unwrap_or(text);
    let letters = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    !name.is_empty() && text.len() <= 80 && name.bytes().all(letters)
}

/// The key of charts before 0.33.
const OLD_NAME: &str =
    "the chart does not read `interruptionQueueName` since 0.33, and interruptions are not handled";

fn old_name(settings: Node<'_>) -> Option<Draft<'_>> {
    if let Some(node) = settings.get("interruptionQueueName") {
        let draft = Draft::new(&RULE, Place::key(node), OLD_NAME).severity(Severity::Warning);
        let draft = draft.caught_by(CaughtBy::Nobody).help("write `interruptionQueue`");
        if settings.get("interruptionQueue").is_some() {
            return Some(draft.help("remove it: `interruptionQueue` is there as well"));
        }
        let change = Change::Rename(node, "interruptionQueue".to_owned());
        return Some(draft.mend("write `interruptionQueue`", change));
    }
    let node = settings.at_path(&["aws", "interruptionQueueName"])?;
    let draft = Draft::new(&RULE, Place::key(node), OLD_NAME).severity(Severity::Warning);
    Some(draft.caught_by(CaughtBy::Nobody).help("write `settings.interruptionQueue`"))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, fixed, silent};

    fn controller(container: &str) -> String {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: karpenter}}\nspec:\n  template:\n    spec:\n      containers:\n      - image: karpenter/controller\n        {container}\n"
        )
    }

    #[test]
    fn an_arn_or_an_address_is_replaced_by_the_name() {
        let text = controller("env: [{name: INTERRUPTION_QUEUE, value: 'arn:aws:sqs:eu-north-1:111122223333:basalt'}]");
        insta::assert_snapshot!(findings(&super::RULE, &text), @r#"
          9 |         env: [{name: INTERRUPTION_QUEUE, value: 'arn:aws:sqs:eu-north-1:111122223333:basalt'}]
            |                                                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error Deployment/karpenter spec.template.spec.containers[0].env[0].value [1.0-1.14]
          the interruption queue is given as an ARN; Karpenter takes its name, finds none like this, and handles no interruption
          help: write `basalt`
          fix: write the queue's name: "'basalt'"
        "#);
        assert!(fixed(&super::RULE, &text).contains("value: 'basalt'}"));
        let text = controller("args: [--interruption-queue=https://sqs.eu-west-1.amazonaws.com/111122223333/basalt]");
        insta::assert_snapshot!(findings(&super::RULE, &text), @r#"
          9 |         args: [--interruption-queue=https://sqs.eu-west-1.amazonaws.com/111122223333/basalt]
            |                                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error Deployment/karpenter spec.template.spec.containers[0].args[0] [1.0-1.14]
          the interruption queue is given as an address; Karpenter takes its name, finds none like this, and handles no interruption
          help: write `basalt`
          fix: write the queue's name: "basalt"
        "#);
        assert!(fixed(&super::RULE, &text).contains("[--interruption-queue=basalt]"));
    }

    #[test]
    fn the_old_key_is_renamed() {
        let text = "settings:\n  clusterName: a\n  interruptionQueueName: a\n";
        insta::assert_snapshot!(findings(&super::RULE, text), @r#"
          3 |   interruptionQueueName: a
            |   ^^^^^^^^^^^^^^^^^^^^^
        warning / settings.interruptionQueueName [1.0-1.14]
          the chart does not read `interruptionQueueName` since 0.33, and interruptions are not handled
          help: write `interruptionQueue`
          fix: write `interruptionQueue`: "interruptionQueue"
        "#);
        assert_eq!(fixed(&super::RULE, text), "settings:\n  clusterName: a\n  interruptionQueue: a\n");
    }

    #[test]
    fn placeholders_and_what_is_no_name_are_found() {
        let said = |value: &str| findings(&super::RULE, &controller(&format!("env: [{{name: INTERRUPTION_QUEUE, value: '{value}'}}]")));
        assert!(said("${CLUSTER_NAME}").contains("info Deployment"));
        assert!(said("<queue>").contains("warning Deployment"));
        assert!(said("prod queue").contains("error Deployment"));
        assert!(said("arn:aws:sqs:eu-west-1:1:${NAME}").contains("help: write the queue's name"));
    }

    #[test]
    fn names_and_no_queue_at_all_are_left_alone() {
        for value in ["prod", "Karpenter-prod_1", "", "a.fifo"] {
            silent(&super::RULE, &controller(&format!("env: [{{name: INTERRUPTION_QUEUE, value: '{value}'}}]")));
        }
        silent(&super::RULE, &controller("env: [{name: INTERRUPTION_QUEUE, valueFrom: {}}]"));
        silent(&super::RULE, "settings: {clusterName: a, interruptionQueue: '{{ .Values.global.queue }}'}\n");
        silent(&super::RULE, "settings: {clusterName: a, interruptionQueue: ''}\n");
    }
}
