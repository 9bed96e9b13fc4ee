//! IAM policies, as resources of a CloudFormation template, which `objects` reads.
//!
//! Source: `iam_policy.html.markdown`, `iam_role_policy.html.markdown` and `iam_policy_document.html.markdown` in website/docs of
//! hashicorp/terraform-provider-aws; `AWS::IAM::ManagedPolicy` and `AWS::IAM::RolePolicy` in the CloudFormation Template Reference.

use std::sync::Arc;

use objects::iam_policy::allows_everything;
use terraform::{
    BlockBody, EvaluatedBlock, EvaluatedMembers, EvaluatedValue, NestedBlock, TextPlace, decode_yaml,
};

use super::{ResourceInstance, encoded_object, stack, text_of};
use crate::draft::{DocumentDraft, DraftMember, DraftPart};

/// Attribute with documents whose statements come before the own ones.
const SOURCES: &str = "source_policy_documents";
/// Attributes that merge other documents into a document in another way.
const MERGED: [&str; 3] = ["override_policy_documents", "source_json", "override_json"];
/// Documents within documents.
const MAX_SOURCES: usize = 8;
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

/// The document that stands as JSON in a here-document, a file or a template.
fn written_document(value: &EvaluatedValue) -> Option<DraftPart> {
    let text = text_of(value).filter(|text| text.encoded().is_none())?;
    let document = decode_yaml(text, value.place)?;
    document.get("Statement").map(|_| DraftPart::Value(document.clone()))
}

/// The document in a value: an object that `jsonencode` writes, or the `json` of a data source.
fn document_of(resource: &ResourceInstance<'_>, value: &EvaluatedValue) -> Option<DraftPart> {
    let text = text_of(value)?;
    if text.encoded().is_some() {
        let encoded = encoded_object(text)?;
        return encoded.get("Statement").map(|_| DraftPart::Value(encoded.clone()));
    }
    let block = data_source(resource, value)?;
    let statements = statements(resource, block, 0)?.into_iter().map(|(_, statement)| statement).collect();
    let list = DraftPart::List(statements, block.place);
    Some(DraftPart::object([DraftMember::new("Statement", block.place, list)], block.place))
}

/// The data source `aws_iam_policy_document` whose `json` is a value.
fn data_source<'v>(resource: &ResourceInstance<'v>, value: &EvaluatedValue) -> Option<&'v EvaluatedBlock> {
    let address = text_of(value)?.as_str().strip_prefix("${")?.strip_suffix(".json}")?;
    let is_document = address.starts_with("data.aws_iam_policy_document.");
    resource.beside(address).filter(|_| is_document)
}

/// The statements of `aws_iam_policy_document`, each with its `sid`, which replaces the one of a source. `None` if a part of them is elsewhere.
///
/// Source: "Example Using A Source Document" in `iam_policy_document.html.markdown` in website/docs of hashicorp/terraform-provider-aws.
fn statements<'v>(
    resource: &ResourceInstance<'v>,
    block: &'v EvaluatedBlock,
    depth: usize,
) -> Option<Vec<(Option<&'v str>, DraftPart)>> {
    let set = |name: &str| block.body.get(name).filter(|value| !value.is_null());
    if depth > MAX_SOURCES || MERGED.iter().any(|name| set(name).is_some()) {
        return None;
    }
    let mut all = Vec::new();
    if let Some(sources) = set(SOURCES) {
        for source in sources.items()? {
            all.extend(statements(resource, data_source(resource, source)?, depth + 1)?);
        }
    }
    for own in block.body.blocks.iter().filter(|block| block.kind == "statement") {
        let sid = own.body.get("sid").and_then(EvaluatedValue::as_str).filter(|sid| !sid.is_empty());
        let same = all.iter_mut().find(|(known, _)| sid.is_some() && *known == sid);
        match same {
            Some((_, replaced)) => *replaced = statement(own)?,
            None => all.push((sid, statement(own)?)),
        }
    }
    Some(all)
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
    members.extend(conditions(body)?.member(at));
    Some(DraftPart::object(members, at))
}

/// Arguments of modules with managed policies for a role, and the role.
///
/// Sources: modules/karpenter/main.tf of terraform-aws-modules/terraform-aws-eks at v19.21.0, v20.37.2 and v21.9.0; main.tf of
/// aws-ia/terraform-aws-eks-blueprints-addons at v1.9.2.
const ATTACHED: [(&[&str], &str); 4] = [
    (&["node_iam_role_additional_policies"], "karpenter-node"),
    (&["iam_role_additional_policies"], "karpenter-node"),
    (&["karpenter_node", "iam_role_additional_policies"], "karpenter-node"),
    (&["iam_role_policies"], "karpenter-controller"),
];

/// The roles of a module for Karpenter that get a managed policy with which everything is allowed.
pub(super) fn broad_roles(module: &ResourceInstance<'_>) -> Vec<DocumentDraft> {
    let role = |(path, name): &(&[&str], &'static str)| {
        let (first, rest) = path.split_first()?;
        let attribute = module.named(first)?;
        let policies = rest.iter().try_fold(&attribute.value, |value, key| value.get(key))?;
        let arns = policies.members()?.as_map().values().map(|member| &member.value);
        let broad = arns.filter(|arn| arn.as_str().is_some_and(allows_everything));
        let broad: Vec<DraftPart> = broad.map(|arn| DraftPart::Value(arn.clone())).collect();
        if broad.is_empty() {
            return None;
        }
        let list = DraftPart::List(broad, policies.place);
        let property = DraftMember::new("ManagedPolicyArns", attribute.key, list);
        Some(stack::template_of(module, name, "AWS::IAM::Role", vec![property]))
    };
    ATTACHED.iter().filter_map(role).collect()
}

/// The statements that the argument `iam_policy_statements` of the module `karpenter` adds to the policy of the controller: of each list,
/// the statements that are known.
///
/// Source: `iam_policy_statements` in modules/karpenter/variables.tf of terraform-aws-modules/terraform-aws-eks at v20.37.2, where the
/// conditions are in `conditions` or `condition`, and at v21.9.0.
pub(super) fn added_statements(value: &EvaluatedValue) -> DraftPart {
    let of_list = value.items().unwrap_or_default().iter();
    let of_map = value.members().into_iter().flat_map(|members| members.as_map().values());
    let all = of_list.chain(of_map.map(|member| &member.value));
    let statements = all.filter_map(|item| added_statement(item.members()?, item.place)).collect();
    let list = DraftPart::List(statements, value.place);
    DraftPart::object([DraftMember::new("Statement", value.place, list)], value.place)
}

fn added_statement(members: &EvaluatedMembers, at: TextPlace) -> Option<DraftPart> {
    let known = |name: &str| members.get(name).filter(|value| !value.is_null());
    let effect =
        known("effect").map_or(DraftPart::word("Allow", at), |value| DraftPart::Value(value.clone()));
    let mut parts = vec![DraftMember::new("Effect", at, effect)];
    for (name, member) in members.as_map().iter().filter(|(_, member)| !member.value.is_null()) {
        let Some((_, key)) = STATEMENT.iter().find(|(known, _)| **known == **name) else { continue };
        if has_policy_variable(&member.value) {
            return None;
        }
        parts.push(DraftMember::new(key, member.key, DraftPart::Value(member.value.clone())));
    }
    let mut conditions = Conditions::default();
    for list in ["condition", "conditions"].into_iter().filter_map(known) {
        for item in list.items()? {
            let condition = item.members()?;
            let [test, variable, values] = ["test", "variable", "values"].map(|name| condition.get(name));
            conditions.add(test?, variable?, values?)?;
        }
    }
    parts.extend(conditions.member(at));
    Some(DraftPart::object(parts, at))
}

/// The conditions of a statement.
#[derive(Default)]
struct Conditions {
    /// The keys of each operator, with their values.
    operators: Vec<(Arc<str>, Vec<DraftMember>)>,
}

impl Conditions {
    /// Adds a condition. `None` if it is not known.
    fn add(
        &mut self,
        test: &EvaluatedValue,
        variable: &EvaluatedValue,
        values: &EvaluatedValue,
    ) -> Option<()> {
        let (test, key) = (test.as_str()?, text_of(variable)?.as_str());
        if has_policy_variable(values) || has_policy_variable(variable) {
            return None;
        }
        let member = DraftMember::new(key, variable.place, DraftPart::Value(values.clone()));
        match self.operators.iter_mut().find(|(known, _)| **known == *test) {
            Some((_, members)) if members.iter().any(|known| *known.key == *key) => return None,
            Some((_, members)) => members.push(member),
            None => self.operators.push((test.into(), vec![member])),
        }
        Some(())
    }

    /// The member of the statement: an object for each operator, with a member for each key. `None` without conditions.
    fn member(self, at: TextPlace) -> Option<DraftMember> {
        let operator = |(test, members): (Arc<str>, Vec<DraftMember>)| {
            DraftMember::new(&test, at, DraftPart::object(members, at))
        };
        let operators: Vec<DraftMember> = self.operators.into_iter().map(operator).collect();
        (!operators.is_empty()).then(|| DraftMember::new("Condition", at, DraftPart::object(operators, at)))
    }
}

/// The conditions of the blocks of a statement. `None` if one is not known.
fn conditions(body: &BlockBody) -> Option<Conditions> {
    let mut conditions = Conditions::default();
    for block in body.blocks.iter().filter(|block| block.kind == "condition") {
        let [test, variable, values] = ["test", "variable", "values"].map(|name| block.body.get(name));
        if !block.is_counted {
            return None;
        }
        conditions.add(test?, variable?, values?)?;
    }
    Some(conditions)
}

/// Whether a value has a policy variable in the spelling of the data source, `&{aws:username}`.
fn has_policy_variable(value: &EvaluatedValue) -> bool {
    let has = |value: &EvaluatedValue| value.as_str().is_some_and(|text| text.contains("&{"));
    has(value) || value.items().unwrap_or_default().iter().any(has)
}
