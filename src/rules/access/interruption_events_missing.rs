use std::collections::BTreeMap;

use cluster::index::Index;
use cluster::inventory::Inventory;
use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::event_rule::EventRule;
use objects::iam_policy::Truth;
use objects::interruption_queue::CreatedQueue;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::has_placeholder;

use crate::rules::access::interruption_queue_unset::FirstSpotPool;
use crate::rules::folders::folder;

rule! {
    /// ## What it does
    ///
    /// Finds interruption queues to which the rules of EventBridge beside them do not send each event on which Karpenter acts: the
    /// interruption of a spot instance, a scheduled event of AWS Health, and the change of an instance's state. It reads `aws_sqs_queue`,
    /// `aws_cloudwatch_event_rule` and `aws_cloudwatch_event_target` of Terraform, and CloudFormation.
    ///
    /// A queue without a rule is not reported: its rules may be elsewhere. The spot interruption is not missed if the input has NodePools and
    /// none of them allows spot instances. Karpenter only logs a rebalance recommendation, so its rule may be absent. Without the state
    /// change, Karpenter replaces a stopped instance later; if only this rule is absent, the finding is an info.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter learns of these events only through the queue. EC2 takes spot instances back two minutes after its warning, whether
    /// Karpenter has drained them or not.
    ///
    /// ## Example
    ///
    /// AWS sends its health events with the source `aws.health`, so that this rule never sends one.
    ///
    /// ```yaml
    /// Resources:
    ///   KarpenterQueue:
    ///     Type: AWS::SQS::Queue
    ///     Properties: {QueueName: prod}
    ///   Events:
    ///     Type: AWS::Events::Rule
    ///     Properties:
    ///       EventPattern:
    ///         source: [aws.ec2]
    ///         detail-type:
    ///         - EC2 Spot Instance Interruption Warning
    ///         - EC2 Instance State-change Notification
    ///         - AWS Health Event
    ///       Targets: [{Id: queue, Arn: !GetAtt KarpenterQueue.Arn}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// Resources:
    ///   KarpenterQueue:
    ///     Type: AWS::SQS::Queue
    ///     Properties: {QueueName: prod}
    ///   Events:
    ///     Type: AWS::Events::Rule
    ///     Properties:
    ///       EventPattern:
    ///         source: [aws.ec2, aws.health]
    ///         detail-type:
    ///         - EC2 Spot Instance Interruption Warning
    ///         - EC2 Instance State-change Notification
    ///         - AWS Health Event
    ///       Targets: [{Id: queue, Arn: !GetAtt KarpenterQueue.Arn}]
    /// ```
    ///
    /// ## References
    ///
    /// - `InstanceStateChangeRule` and its companions in
    ///   website/content/en/docs/getting-started/getting-started-with-karpenter/cloudformation.yaml at v1.14.1
    /// - pkg/controllers/interruption/utils.go (`actionForMessage`) and pkg/controllers/interruption/messages at v1.14.1
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "no rule of EventBridge sends an event on which Karpenter acts to the interruption queue",
        runs: Runs::OnFiles,
        on: &[On::IamPolicy],
        inventory: &[],
        check: check,
    }
}

/// An event on which Karpenter acts.
#[derive(Clone, Copy)]
struct Event {
    source: &'static str,
    detail_type: &'static str,
    /// Severity if no rule sends it.
    severity: Severity,
}

const SPOT: &str = "EC2 Spot Instance Interruption Warning";

/// Source: pkg/controllers/interruption/messages at v1.14.1.
const EVENTS: [Event; 3] = [
    Event { source: "aws.ec2", detail_type: SPOT, severity: Severity::Warning },
    Event { source: "aws.health", detail_type: "AWS Health Event", severity: Severity::Warning },
    Event {
        source: "aws.ec2",
        detail_type: "EC2 Instance State-change Notification",
        severity: Severity::Info,
    },
];

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(queue) = CreatedQueue::of(object).filter(|queue| queue.is_for_karpenter()) else { return };
    let rules = context.inventory.index::<EventRules>();
    let own = rules.with_target(queue, object.name());
    // A rule whose target is not known may be for another queue.
    if own.is_empty() {
        return;
    }
    let all: Vec<&SentEvents<'d>> = own.into_iter().chain([&rules.unknown]).collect();
    let has_pools = context.inventory.count(Kind::NODE_POOL.group, Kind::NODE_POOL.name) > 0;
    let has_spot = !has_pools || context.inventory.index::<FirstSpotPool>().is_some();
    let is_missing = |(index, event): &(usize, &Event)| {
        (event.detail_type != SPOT || has_spot) && !all.iter().any(|sent| sent.may_send(*index))
    };
    let missing: Vec<(usize, &Event)> = EVENTS.iter().enumerate().filter(is_missing).collect();
    let Some(severity) = missing.iter().map(|(_, event)| event.severity).min() else { return };
    let names: Vec<String> = missing.iter().map(|(_, event)| format!("`{}`", event.detail_type)).collect();
    let message = format!(
        "no rule of EventBridge sends {} to this queue, so Karpenter does not act on such an event",
        names.join(" or ")
    );
    let patterns: Vec<String> = missing
        .iter()
        .map(|(_, event)| format!("`{}` of the source `{}`", event.detail_type, event.source))
        .collect();
    let finding = Finding::at(&RULE, queue.name().unwrap_or(queue.node()), message)
        .severity(severity)
        .help(format!("add a rule with the queue as its target for {}", patterns.join(" and ")));
    let wrong = missing.iter().find_map(|(index, event)| {
        let source = all.iter().find_map(|sent| sent.other_source(*index))?;
        Some((source, event))
    });
    findings.push(match wrong {
        Some((node, event)) => {
            let text = format!(
                "`{}` comes from the source `{}`, not from this one",
                event.detail_type, event.source
            );
            finding.related(Place::value(node), text)
        }
        None => finding,
    });
}

/// What some rules send, for each of [`EVENTS`].
#[derive(Debug, Default)]
struct SentEvents<'d> {
    /// Whether a rule sends the event, or may.
    may_be_sent: [bool; EVENTS.len()],
    /// The source in the pattern of a rule for the type of the event, but for another source.
    other_source: [Option<Node<'d>>; EVENTS.len()],
}

impl<'d> SentEvents<'d> {
    fn of(rule: EventRule<'d>) -> Self {
        Self {
            may_be_sent: EVENTS.map(|event| rule.sends(event.source, event.detail_type) != Truth::No),
            other_source: EVENTS.map(|event| rule.other_source(event.source, event.detail_type)),
        }
    }

    fn add(&mut self, other: &Self) {
        for (own, other) in self.may_be_sent.iter_mut().zip(other.may_be_sent) {
            *own |= other;
        }
        for (own, other) in self.other_source.iter_mut().zip(other.other_source) {
            *own = own.or(other);
        }
    }

    fn may_send(&self, index: usize) -> bool {
        self.may_be_sent.get(index) == Some(&true)
    }

    fn other_source(&self, index: usize) -> Option<Node<'d>> {
        self.other_source.get(index).copied().flatten()
    }
}

/// The rules of `EventBridge` in the input, by their targets.
#[derive(Debug, Default)]
struct EventRules<'d> {
    /// By folder and name of the resource to which a target refers.
    by_reference: BTreeMap<(&'d str, String), SentEvents<'d>>,
    /// By the last part of the ARN of a target.
    by_name: BTreeMap<String, SentEvents<'d>>,
    /// Rules with a target that may be any queue.
    unknown: SentEvents<'d>,
}

impl<'d> EventRules<'d> {
    fn add(&mut self, rule: EventRule<'d>) {
        let sent = SentEvents::of(rule);
        for target in rule.targets() {
            if let Some(name) = resource(&target) {
                self.by_reference.entry((folder(rule.node()), name.to_owned())).or_default().add(&sent);
            }
            if target.contains(":sns:") || target.contains(":lambda:") || is_other_resource(&target) {
                continue;
            }
            if has_placeholder(&target) {
                self.unknown.add(&sent);
            } else if let Some((_, name)) = target.rsplit_once(':') {
                self.by_name.entry(name.to_owned()).or_default().add(&sent);
            }
        }
    }

    /// The rules that certainly have a queue as a target.
    fn with_target(&self, queue: CreatedQueue<'d>, resource: &str) -> Vec<&SentEvents<'d>> {
        let referring = self.by_reference.get(&(folder(queue.node()), resource.to_owned()));
        let naming = queue.name_text().and_then(|name| self.by_name.get(&name));
        referring.into_iter().chain(naming).collect()
    }
}

/// The name of the resource to which a target refers, such as `${Queue.Arn}`, `${aws_sqs_queue.queue.arn}` or `${aws_sqs_queue.queue[0].arn}`.
fn resource(target: &str) -> Option<&str> {
    let inner = target.strip_prefix("${")?.strip_suffix('}')?;
    if let Some(name) = inner.strip_suffix(".Arn") {
        return Some(name);
    }
    let name = inner.strip_prefix("aws_sqs_queue.")?.strip_suffix(".arn")?;
    match name.split_once('[') {
        Some((name, index)) => index.ends_with(']').then_some(name),
        None => Some(name),
    }
}

/// Whether a target is a reference to a resource of another type, or to a queue by its name.
fn is_other_resource(target: &str) -> bool {
    let inner = target.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).unwrap_or_default();
    inner.starts_with("aws_") && !inner.contains('[')
}

impl Index for EventRules<'static> {
    type Value<'d> = EventRules<'d>;

    fn compute<'d>(inventory: &Inventory<'d>) -> EventRules<'d> {
        let mut rules = EventRules::default();
        inventory.own().iter().copied().filter_map(EventRule::of).for_each(|rule| rules.add(rule));
        rules
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn template(pattern: &str, target: &str) -> String {
        format!(
            "Resources:\n  KarpenterQueue:\n    Type: AWS::SQS::Queue\n    Properties: {{QueueName: prod}}\n  Events:\n    Type: AWS::Events::Rule\n    Properties:\n      EventPattern: {pattern}\n      Targets: [{{Id: a, Arn: {target}}}]\n"
        )
    }

    const QUEUE: &str = "!GetAtt KarpenterQueue.Arn";
    const ALL: &str =
        "[EC2 Spot Instance Interruption Warning, EC2 Instance State-change Notification, AWS Health Event]";

    fn pattern(source: &str, types: &str) -> String {
        format!("{{source: {source}, detail-type: {types}}}")
    }

    #[test]
    fn reports_events_that_no_rule_sends() {
        let text = template(&pattern("[aws.ec2]", ALL), QUEUE);
        insta::assert_snapshot!(findings(&RULE, &text), @"
          4 |     Properties: {QueueName: prod}
            |                             ^^^^
        warning /KarpenterQueue Properties.QueueName [all]
          no rule of EventBridge sends `AWS Health Event` to this queue, so Karpenter does not act on such an event
          help: add a rule with the queue as its target for `AWS Health Event` of the source `aws.health`
          see line 8 Properties.EventPattern.source: `AWS Health Event` comes from the source `aws.health`, not from this one
        ");
        let only_spot = pattern("[aws.ec2]", "[EC2 Spot Instance Interruption Warning]");
        let found = findings(&RULE, &template(&only_spot, QUEUE));
        assert!(found.contains("`AWS Health Event` or `EC2 Instance State-change Notification`"), "{found}");
        let without_state =
            pattern("[aws.ec2, aws.health]", "[EC2 Spot Instance Interruption Warning, AWS Health Event]");
        assert!(findings(&RULE, &template(&without_state, QUEUE)).contains("info /KarpenterQueue"));
    }

    #[test]
    fn accepts_rules_that_send_or_may_send_each_event() {
        silent(&RULE, &template(&pattern("[aws.ec2, aws.health]", ALL), QUEUE));
        silent(&RULE, &template("{source: [aws.ec2, aws.health]}", QUEUE));
        silent(&RULE, &template(&pattern("[{prefix: aws.}]", ALL), QUEUE));
        silent(&RULE, &template("'${pattern}'", QUEUE));
        silent(&RULE, &template(&pattern("['${source}']", ALL), QUEUE));
    }

    #[test]
    fn ignores_queues_without_rules_and_queues_of_other_software() {
        let text = template(&pattern("[aws.ec2]", ALL), QUEUE);
        silent(&RULE, &text.replace("KarpenterQueue", "Jobs"));
        silent(&RULE, &template(&pattern("[aws.ec2]", ALL), "!GetAtt Other.Arn"));
        silent(&RULE, &template(&pattern("[aws.ec2]", ALL), "arn:aws:sns:eu-west-1:111122223333:prod"));
        let known = template(&pattern("[aws.ec2]", ALL), "arn:aws:sqs:eu-west-1:111122223333:prod");
        assert!(findings(&RULE, &known).contains("AWS Health Event"));
    }

    #[test]
    fn misses_no_spot_interruption_where_no_pool_allows_spot() {
        let text = template(
            &pattern("[aws.ec2, aws.health]", "[AWS Health Event, EC2 Instance State-change Notification]"),
            QUEUE,
        );
        let pool = |types: &str| {
            format!(
                "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: a}}\nspec: {{template: {{spec: {{requirements: [{{key: karpenter.sh/capacity-type, operator: In, values: [{types}]}}]}}}}}}\n"
            )
        };
        assert!(findings(&RULE, &text).contains("Spot Instance Interruption"));
        assert!(findings(&RULE, &(text.clone() + &pool("spot"))).contains("Spot Instance Interruption"));
        silent(&RULE, &(text + &pool("on-demand")));
    }
}
