//! IAM policies, as resources of a CloudFormation template, which `objects` reads.
//!
//! Source: `iam_policy.html.markdown`, `iam_role_policy.html.markdown` and `iam_policy_document.html.markdown` in website/docs of
//! hashicorp/terraform-provider-aws; `AWS::IAM::ManagedPolicy` and `AWS::IAM::RolePolicy` in the CloudFormation Template Reference.

use std::sync::Arc;

use terraform::{
    BlockBody, EvaluatedBlock, EvaluatedText, EvaluatedValue, NestedBlock, TextPlace, decode_yaml,
};

use super::{ResourceInstance, stack};
use crate::draft::{DocumentDraft, DraftMember, DraftPart};

/// Attributes that merge other documents into a document.
const MERGED: [&str; 4] =
    ["source_policy_documents", "override_policy_documents", "source_json", "override_json"];
/// Attributes of a statement, with their names in a policy document.
const STATEMENT: [(&str, &str); 5] = [
    ("sid", "Sid"),
    ("actions", "Action"),
    ("not_actions", "NotAction"),
    ("resources", "Resource"),
    ("not_resources", "NotResource"),
];

/// `aws_iam_policy`: a managed policy.
pub(super) fn aws_iam_policy(resource: &ResourceInstance<'_>) -> Vec<DocumentDraft> {
    policy(resource, "AWS::IAM::ManagedPolicy", &[("name", "ManagedPolicyName")])
}

/// `aws_iam_role_policy`: a policy of one role.
pub(super) fn aws_iam_role_policy(resource: &ResourceInstance<'_>) -> Vec<DocumentDraft> {
    policy(resource, "AWS::IAM::RolePolicy", &[("name", "PolicyName"), ("role", "RoleName")])
}

fn policy(resource: &ResourceInstance<'_>, kind: &'static str, names: &[(&str, &str)]) -> Vec<DocumentDraft> {
    let Some(attribute) = resource.named("policy") else { return Vec::new() };
    let value = &attribute.value;
    let written = written_document(value);
    // The document in a here-document or a file is not a second policy.
    let used = text_of(value).filter(|_| written.is_some());
    let used = used.map(|text| DocumentDraft::Used(text.clone(), value.place));
    let document =
        written.or_else(|| document_of(resource, value)).unwrap_or_else(|| unknown_document(value));
    let mut properties = stack::properties(resource, names);
    properties.push(DraftMember::new("PolicyDocument", attribute.key, document));
    [stack::template(resource, kind, properties)].into_iter().chain(used).collect()
}

/// A document that may allow anything.
fn unknown_document(value: &EvaluatedValue) -> DraftPart {
    let at = value.place;
    let unknown = |key| DraftMember::new(key, at, DraftPart::Value(value.clone()));
    let effect = DraftMember::new("Effect", at, DraftPart::word("Allow", at));
    let statement = DraftPart::object([effect, unknown("Action"), unknown("Resource")], at);
    DraftPart::object([DraftMember::new("Statement", at, DraftPart::List(vec![statement], at))], at)
}

/// The text of a value with the placeholders of what is not known.
fn text_of(value: &EvaluatedValue) -> Option<&EvaluatedText> {
    value.as_text().or(value.as_unknown().map(|unknown| &unknown.text))
}

/// The document that stands as JSON in a here-document, a file or a template.
fn written_document(value: &EvaluatedValue) -> Option<DraftPart> {
    let text = text_of(value).filter(|text| text.encoded().is_none())?;
    let document = decode_yaml(text, value.place)?;
    document.get("Statement").map(|_| DraftPart::Value(document.clone()))
}

/// The document in a value: an object that `jsonencode` writes, or the `json` of a data source.
fn document_of(resource: &ResourceInstance<'_>, value: &EvaluatedValue) -> Option<DraftPart> {
    let text = text_of(value)?;
    if let Some(encoded) = text.encoded() {
        return encoded.get("Statement").map(|_| DraftPart::Value(encoded.clone()));
    }
    let address = text.as_str().strip_prefix("${")?.strip_suffix(".json}")?;
    let is_document = address.starts_with("data.aws_iam_policy_document.");
    document_of_block(resource.beside(address).filter(|_| is_document)?)
}

/// The document of `aws_iam_policy_document`. `None` if a part of it is elsewhere.
fn document_of_block(block: &EvaluatedBlock) -> Option<DraftPart> {
    let is_set = |name: &&str| block.body.get(name).is_some_and(|value| !value.is_null());
    if MERGED.iter().any(is_set) {
        return None;
    }
    let blocks = block.body.blocks.iter().filter(|block| block.kind == "statement");
    let statements: Option<Vec<DraftPart>> = blocks.map(statement).collect();
    let list = DraftPart::List(statements?, block.place);
    Some(DraftPart::object([DraftMember::new("Statement", block.place, list)], block.place))
}

fn statement(block: &NestedBlock) -> Option<DraftPart> {
    let (at, body) = (block.place, &block.body);
    if !block.is_counted {
        return None;
    }
    let effect = body.get("effect").filter(|value| !value.is_null());
    let effect = effect.map_or(DraftPart::word("Allow", at), |value| DraftPart::Value(value.clone()));
    let mut members = vec![DraftMember::new("Effect", at, effect)];
    for attribute in body.attributes.iter().filter(|attribute| !attribute.value.is_null()) {
        let Some((_, name)) = STATEMENT.iter().find(|(name, _)| *name == attribute.name) else { continue };
        if has_policy_variable(&attribute.value) {
            return None;
        }
        members.push(DraftMember::new(name, attribute.key, DraftPart::Value(attribute.value.clone())));
    }
    let conditions = conditions(body, at)?;
    if !conditions.is_empty() {
        members.push(DraftMember::new("Condition", at, DraftPart::object(conditions, at)));
    }
    Some(DraftPart::object(members, at))
}

/// The conditions of a statement: a member for each operator, with a member for each key. `None` if one is not known.
fn conditions(body: &BlockBody, at: TextPlace) -> Option<Vec<DraftMember>> {
    let mut operators: Vec<(Arc<str>, Vec<DraftMember>)> = Vec::new();
    for block in body.blocks.iter().filter(|block| block.kind == "condition") {
        let [test, variable, values] = ["test", "variable", "values"].map(|name| block.body.get(name));
        let (test, variable, values) = (test?.as_str()?, variable?, values?);
        let key = variable.as_text().or(variable.as_unknown().map(|unknown| &unknown.text))?.as_str();
        if !block.is_counted || has_policy_variable(values) || has_policy_variable(variable) {
            return None;
        }
        let member = DraftMember::new(key, variable.place, DraftPart::Value(values.clone()));
        match operators.iter_mut().find(|(known, _)| **known == *test) {
            Some((_, members)) if members.iter().any(|known| *known.key == *key) => return None,
            Some((_, members)) => members.push(member),
            None => operators.push((test.into(), vec![member])),
        }
    }
    let operator = |(test, members): (Arc<str>, Vec<DraftMember>)| {
        DraftMember::new(&test, at, DraftPart::object(members, at))
    };
    Some(operators.into_iter().map(operator).collect())
}

/// Whether a value has a policy variable in the spelling of the data source, `&{aws:username}`.
fn has_policy_variable(value: &EvaluatedValue) -> bool {
    let has = |value: &EvaluatedValue| value.as_str().is_some_and(|text| text.contains("&{"));
    has(value) || value.items().unwrap_or_default().iter().any(has)
}
