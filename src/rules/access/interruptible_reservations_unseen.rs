use karpenter::release::Releases;
use manifest::tree::Node;
use objects::object::{Form, Object};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{On, Runs};

use crate::rules::indexes::{AnyReservations, Iam};

rule! {
    /// ## What it does
    ///
    /// Checks that a CloudFormation template with Karpenter's interruption queue sends the warnings about interruptible
    /// capacity reservations to the queue. The rule runs if an EC2NodeClass in the input selects capacity reservations.
    ///
    /// ## Why it is bad
    ///
    /// Since 1.10 Karpenter uses interruptible capacity reservations, and drains their instances when EC2 sends
    /// `EC2 Capacity Reservation Instance Interruption Warning`. Without an EventBridge rule for this message, EC2 takes the
    /// instances while pods run on them. Reservations that are not interruptible need no rule.
    ///
    /// ## Example
    ///
    /// ```yaml,from=1.9 to 1.10
    /// Resources:
    ///   KarpenterControllerInterruptionPolicy:
    ///     Type: AWS::IAM::ManagedPolicy
    ///     Properties:
    ///       PolicyDocument:
    ///         Statement: [{Effect: Allow, Action: sqs:ReceiveMessage, Resource: "*"}]
    ///   SpotInterruptionRule:
    ///     Type: AWS::Events::Rule
    ///     Properties:
    ///       EventPattern: {source: [aws.ec2], detail-type: [EC2 Spot Instance Interruption Warning]}
    /// ---
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   capacityReservationSelectorTerms: [{tags: {team: web}}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml,from=1.9 to 1.10
    /// Resources:
    ///   KarpenterControllerInterruptionPolicy:
    ///     Type: AWS::IAM::ManagedPolicy
    ///     Properties:
    ///       PolicyDocument:
    ///         Statement: [{Effect: Allow, Action: sqs:ReceiveMessage, Resource: "*"}]
    ///   SpotInterruptionRule:
    ///     Type: AWS::Events::Rule
    ///     Properties:
    ///       EventPattern:
    ///         source: [aws.ec2]
    ///         detail-type:
    ///           - EC2 Spot Instance Interruption Warning
    ///           - EC2 Capacity Reservation Instance Interruption Warning
    /// ---
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   capacityReservationSelectorTerms: [{tags: {team: web}}]
    /// ```
    ///
    /// ## References
    ///
    /// - Upgrade guide, 1.10.0
    RULE {
        formerly: &["identity"],
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(10),
        summary: "no EventBridge rule for the interruption of capacity reservations",
        runs: Runs::OnUpgrade,
        on: &[On::IamPolicy],
        inventory: &[],
        check: check,
    }
}

const SPOT: &str = "EC2 Spot Instance Interruption Warning";
const RESERVATION: &str = "EC2 Capacity Reservation Instance Interruption Warning";

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    if object.form() != Form::StackResource || !*context.inventory.index::<AnyReservations>() {
        return;
    }
    // One policy of a template reads the queue.
    let mut policies = context.inventory.index::<Iam>().policies_of(object);
    if !policies.any(|owned| owned.policy.action("sqs:ReceiveMessage").is_some()) {
        return;
    }
    let resources = || object.root().tree().root().members_at(&["Resources"]).map(|(_, node)| node);
    let rules = || resources().filter(|node| node.str_at(&["Type"]) == Some("AWS::Events::Rule"));
    let Some(spot) = rules().find(|rule| has_string(*rule, SPOT)) else { return };
    if rules().any(|rule| has_string(rule, RESERVATION)) {
        return;
    }
    let message = format!(
        "no rule sends `{RESERVATION}` to the queue: Karpenter does not drain instances of interruptible capacity reservations before EC2 takes them"
    );
    let help = "add the detail type to the rule before you use interruptible reservations; other reservations need none";
    findings.push(Finding::new(&RULE, Place::key(spot), message).help(help));
}

fn has_string(node: Node<'_>, text: &str) -> bool {
    node.as_str() == Some(text) || node.children().any(|child| has_string(child, text))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing};

    fn text(detail: &str, terms: &str) -> String {
        format!(
            r"Resources:
  KarpenterControllerPolicy:
    Type: AWS::IAM::ManagedPolicy
    Properties: {{PolicyDocument: {{Statement: [{{Effect: Allow, Action: sqs:ReceiveMessage, Resource: '*'}}]}}}}
  Rule:
    Type: AWS::Events::Rule
    Properties: {{EventPattern: {{detail-type: [{detail}]}}}}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec: {{capacityReservationSelectorTerms: [{terms}]}}
"
        )
    }

    #[test]
    fn reports_the_missing_rule_since_1_10_if_reservations_are_used() {
        let spot = text(super::SPOT, "{id: cr-1}");
        insta::assert_snapshot!(begins(&super::RULE, "1.9", "1.10.0", &spot), @"
        from 1.10 on
          5 |   Rule:
            |   ^^^^
        warning /KarpenterControllerPolicy Resources.Rule [since 1.10]
          no rule sends `EC2 Capacity Reservation Instance Interruption Warning` to the queue: Karpenter does not drain instances of interruptible capacity reservations before EC2 takes them
          help: add the detail type to the rule before you use interruptible reservations; other reservations need none
        ");
        begins_nothing(&super::RULE, "1.10", "1.15", &spot);
        begins_nothing(&super::RULE, "1.9", "1.10", &text(super::SPOT, ""));
        begins_nothing(
            &super::RULE,
            "1.9",
            "1.10",
            &text(&format!("{}, {}", super::SPOT, super::RESERVATION), "{id: cr-1}"),
        );
    }
}
