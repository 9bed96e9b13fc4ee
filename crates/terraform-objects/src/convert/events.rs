//! Rules of Amazon `EventBridge` that send events to a queue, as resources of a CloudFormation template, which `objects` reads.
//!
//! Source: `cloudwatch_event_rule.html.markdown` and `cloudwatch_event_target.html.markdown` in website/docs/r of
//! hashicorp/terraform-provider-aws at v6.0.0; `AWS::Events::Rule` in the CloudFormation Template Reference.

use terraform::{EvaluatedBlock, EvaluatedValue};

use super::{ResourceInstance, read_object, stack, text_of, used_text};
use crate::draft::{DocumentDraft, DraftMember, DraftPart};

/// Type of the resources that send the events of a rule to a target.
const TARGET: &str = "aws_cloudwatch_event_target";
const RULE: &str = "aws_cloudwatch_event_rule";

/// `aws_cloudwatch_event_rule` with its targets, if one of them is a queue or only Terraform knows what it is.
pub(super) fn aws_cloudwatch_event_rule(resource: &ResourceInstance<'_>) -> Vec<DocumentDraft> {
    let Some(pattern) = resource.named("event_pattern") else { return Vec::new() };
    let blocks = resource.configuration.blocks.iter();
    let targets = blocks.filter(|block| {
        let is_target = block.labels.first().is_some_and(|kind| kind == TARGET);
        is_target && block.module == resource.block.module && is_of(block, resource)
    });
    let arns: Vec<&EvaluatedValue> = targets.filter_map(|target| target.body.get("arn")).collect();
    let is_queue = |arn: &&EvaluatedValue| {
        let text = text_of(arn).map_or("", |text| text.as_str());
        text.contains("sqs") || text.contains("queue") || text.starts_with("${var.")
    };
    if !arns.iter().any(is_queue) {
        return Vec::new();
    }
    let at = resource.block.place;
    let target = |arn: &&EvaluatedValue| {
        DraftPart::object([DraftMember::new("Arn", arn.place, DraftPart::Value((*arn).clone()))], arn.place)
    };
    let read = read_object(&pattern.value);
    let used = used_text(&pattern.value).filter(|_| read.is_some());
    let known = DraftPart::Value(read.unwrap_or_else(|| pattern.value.clone()));
    let properties = vec![
        DraftMember::new("EventPattern", pattern.key, known),
        DraftMember::new("Targets", at, DraftPart::List(arns.iter().map(target).collect(), at)),
    ];
    [stack::template(resource, "AWS::Events::Rule", properties)].into_iter().chain(used).collect()
}

/// Whether a target is one of a rule, or may be.
fn is_of(target: &EvaluatedBlock, rule: &ResourceInstance<'_>) -> bool {
    let Some(text) = target.body.get("rule").and_then(text_of) else { return false };
    let Some((_, rest)) = text.as_str().split_once(&format!("{RULE}.")) else {
        let name = rule.attribute("name").and_then(text_of);
        return name.is_none_or(|name| name.as_str() == text.as_str()) || text.as_str().contains("${");
    };
    let end = rest.find(|char: char| !(char.is_alphanumeric() || matches!(char, '_' | '-')));
    rest.get(..end.unwrap_or(rest.len())) == rule.block.labels.get(1).map(String::as_str)
}
