//! EKS clusters with a version, as resources of a CloudFormation template, which `objects` reads.
//!
//! Sources: `eks_cluster.html.markdown` in website/docs/r of hashicorp/terraform-provider-aws at v6.0.0; `AWS::EKS::Cluster` in the
//! CloudFormation Template Reference; the arguments `cluster_version` and `kubernetes_version` in variables.tf of
//! terraform-aws-modules/terraform-aws-eks at v20.37.2 and v21.9.0.

use super::{ResourceInstance, addon, stack};
use crate::draft::{DocumentDraft, DraftMember, DraftPart};

/// `aws_eks_cluster`.
pub(super) fn aws_eks_cluster(resource: &ResourceInstance<'_>) -> Vec<DocumentDraft> {
    cluster(resource, &["name"], &["version"]).into_iter().collect()
}

/// The cluster that the module `eks` creates.
pub(super) fn of_module(module: &ResourceInstance<'_>, source: &str) -> Vec<DocumentDraft> {
    if !addon::is_eks_module(source) {
        return Vec::new();
    }
    let (names, versions) = (["cluster_name", "name"], ["cluster_version", "kubernetes_version"]);
    cluster(module, &names, &versions).into_iter().collect()
}

fn cluster(resource: &ResourceInstance<'_>, names: &[&str], versions: &[&str]) -> Option<DocumentDraft> {
    let first = |attributes: &[&str], property: &'static str| {
        let attribute = attributes.iter().find_map(|name| resource.named(name))?;
        Some(DraftMember::new(property, attribute.key, DraftPart::Value(attribute.value.clone())))
    };
    let version = first(versions, "Version")?;
    let properties = first(names, "Name").into_iter().chain([version]).collect();
    Some(stack::template(resource, "AWS::EKS::Cluster", properties))
}
