//! Resources of the provider for AWS, as resources of a CloudFormation template, which `objects` reads.

use terraform::{EvaluatedValue, TextPlace};

use super::ResourceInstance;
use crate::draft::{DocumentDraft, DraftMember, DraftPart};

/// A type of resources with its name in CloudFormation, and its attributes with theirs.
type StackResource = (&'static str, &'static [(&'static str, &'static str)]);

/// Source: `eks_pod_identity_association.html.markdown` in website/docs/r of hashicorp/terraform-provider-aws at v6.0.0;
/// `AWS::EKS::PodIdentityAssociation` in the CloudFormation Template Reference.
const POD_IDENTITY_ASSOCIATION: StackResource = (
    "AWS::EKS::PodIdentityAssociation",
    &[
        ("cluster_name", "ClusterName"),
        ("namespace", "Namespace"),
        ("service_account", "ServiceAccount"),
        ("role_arn", "RoleArn"),
    ],
);

/// Source: `eks_access_entry.html.markdown` in website/docs/r of hashicorp/terraform-provider-aws at v6.0.0; `AWS::EKS::AccessEntry` in the
/// CloudFormation Template Reference.
const ACCESS_ENTRY: StackResource = (
    "AWS::EKS::AccessEntry",
    &[
        ("cluster_name", "ClusterName"),
        ("principal_arn", "PrincipalArn"),
        ("type", "Type"),
        ("user_name", "Username"),
        ("kubernetes_groups", "KubernetesGroups"),
    ],
);

/// Source: `sqs_queue.html.markdown` in website/docs/r of hashicorp/terraform-provider-aws at v6.0.0; `AWS::SQS::Queue` in the CloudFormation
/// Template Reference.
const QUEUE: StackResource = ("AWS::SQS::Queue", &[("name", "QueueName")]);

/// Source: `iam_instance_profile.html.markdown` in website/docs/r of hashicorp/terraform-provider-aws at v6.0.0; `AWS::IAM::InstanceProfile` in
/// the CloudFormation Template Reference.
const INSTANCE_PROFILE: StackResource =
    ("AWS::IAM::InstanceProfile", &[("name", "InstanceProfileName"), ("path", "Path")]);

/// `aws_iam_instance_profile`. If the role is a resource of the same module with a name, the name replaces the reference.
pub(super) fn aws_iam_instance_profile(resource: &ResourceInstance<'_>) -> Vec<DocumentDraft> {
    let (kind, names) = &INSTANCE_PROFILE;
    let mut properties = properties(resource, names);
    if let Some(role) = resource.named("role") {
        let value = name_of_role(resource, &role.value).unwrap_or(&role.value).clone();
        let item = DraftPart::Value(EvaluatedValue { place: role.value.place, ..value });
        properties.push(DraftMember::new("Roles", role.key, DraftPart::List(vec![item], role.value.place)));
    }
    vec![template(resource, kind, properties)]
}

/// The name in the configuration of the role that a reference such as `${aws_iam_role.node.name}` leads to.
fn name_of_role<'v>(resource: &ResourceInstance<'v>, role: &EvaluatedValue) -> Option<&'v EvaluatedValue> {
    let reference = role.as_unknown()?.text.as_str().strip_prefix("${aws_iam_role.")?;
    let label = reference.strip_suffix(".name}").or_else(|| reference.strip_suffix(".id}"))?;
    let name = resource.beside(&format!("aws_iam_role.{label}"))?.body.get("name")?;
    (!name.is_null()).then_some(name)
}

/// `aws_sqs_queue`.
pub(super) fn aws_sqs_queue(resource: &ResourceInstance<'_>) -> Vec<DocumentDraft> {
    vec![same(resource, &QUEUE)]
}

/// `aws_eks_pod_identity_association`.
pub(super) fn aws_eks_pod_identity_association(resource: &ResourceInstance<'_>) -> Vec<DocumentDraft> {
    vec![same(resource, &POD_IDENTITY_ASSOCIATION)]
}

/// `aws_eks_access_entry`.
pub(super) fn aws_eks_access_entry(resource: &ResourceInstance<'_>) -> Vec<DocumentDraft> {
    vec![same(resource, &ACCESS_ENTRY)]
}

/// A resource whose attributes have the values of the properties.
fn same(resource: &ResourceInstance<'_>, (kind, names): &StackResource) -> DocumentDraft {
    template(resource, kind, properties(resource, names))
}

/// The attributes that have a value, under other names.
pub(super) fn properties(resource: &ResourceInstance<'_>, names: &[(&str, &str)]) -> Vec<DraftMember> {
    let property = |(name, property): &(&str, &str)| {
        let found = resource.named(name)?;
        Some(DraftMember::new(property, found.key, DraftPart::Value(found.value.clone())))
    };
    names.iter().filter_map(property).collect()
}

/// A template with one resource, whose name is the last label of the block.
pub(super) fn template(
    resource: &ResourceInstance<'_>,
    kind: &'static str,
    properties: Vec<DraftMember>,
) -> DocumentDraft {
    template_of(resource, resource.block.labels.last().map_or("", String::as_str), kind, properties)
}

/// A template with one resource.
pub(super) fn template_of(
    resource: &ResourceInstance<'_>,
    name: &str,
    kind: &'static str,
    properties: Vec<DraftMember>,
) -> DocumentDraft {
    let at: TextPlace = resource.block.place;
    let member = |key: &str, value| DraftMember::new(key, at, value);
    let members =
        [member("Type", DraftPart::word(kind, at)), member("Properties", DraftPart::object(properties, at))];
    let resources = DraftPart::object([member(name, DraftPart::object(members, at))], at);
    DocumentDraft::Document(DraftPart::object([member("Resources", resources)], at))
}
