//! Resources of the provider for AWS, as resources of a CloudFormation template, which `objects` reads.

use terraform::TextPlace;

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

/// A template with one resource, whose name is the label of the block.
pub(super) fn template(
    resource: &ResourceInstance<'_>,
    kind: &'static str,
    properties: Vec<DraftMember>,
) -> DocumentDraft {
    let at: TextPlace = resource.block.place;
    let member = |key: &str, value| DraftMember::new(key, at, value);
    let members =
        [member("Type", DraftPart::word(kind, at)), member("Properties", DraftPart::object(properties, at))];
    let label = resource.block.labels.get(1).map_or("", String::as_str);
    let resources = DraftPart::object([member(label, DraftPart::object(members, at))], at);
    DocumentDraft::Document(DraftPart::object([member("Resources", resources)], at))
}
