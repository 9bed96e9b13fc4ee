//! Tags by which EC2NodeClasses find subnets and security groups, as resources of a CloudFormation template, which `objects` reads.
//!
//! Sources: `subnet.html.markdown`, `security_group.html.markdown` and `ec2_tag.html.markdown` in website/docs/r of
//! hashicorp/terraform-provider-aws at v6.0.0; main.tf of terraform-aws-modules/terraform-aws-vpc at v6.6.0; `main.tf` and `node_groups.tf` of
//! terraform-aws-modules/terraform-aws-eks at v20.37.2 and v21.9.0.

use std::sync::Arc;

use objects::network_tags::{DISCOVERY, SECURITY_GROUP, SUBNET};
use terraform::{EvaluatedMember, EvaluatedMembers, EvaluatedValue, TextPlace, Unknown};

use super::{ResourceInstance, stack};
use crate::draft::{DocumentDraft, DraftMember, DraftPart};

/// Source of a module that creates subnets.
pub(super) const VPC: &str = "terraform-aws-modules/vpc/aws";
/// Source of a module that creates security groups.
pub(super) const EKS: &str = "terraform-aws-modules/eks/aws";
/// Arguments with tags for the security groups of the module `eks`.
const TAGS_OF_GROUPS: [&str; 5] = [
    "tags",
    "cluster_tags",
    "node_security_group_tags",
    "cluster_security_group_tags",
    "security_group_tags",
];

/// `aws_subnet`.
pub(super) fn aws_subnet(resource: &ResourceInstance<'_>) -> Vec<DocumentDraft> {
    of_resource(resource, SUBNET)
}

/// `aws_security_group`.
pub(super) fn aws_security_group(resource: &ResourceInstance<'_>) -> Vec<DocumentDraft> {
    of_resource(resource, SECURITY_GROUP)
}

/// A plan has the tags of the provider's `default_tags` too, in `tags_all`.
fn of_resource(resource: &ResourceInstance<'_>, kind: &'static str) -> Vec<DocumentDraft> {
    if resource.is_compared {
        return with_all_tags(resource, kind).into_iter().collect();
    }
    let all = resource.attribute("tags_all").filter(|tags| tags.members().is_some());
    let tags = all.or_else(|| resource.attribute("tags")).and_then(Tag::in_tags);
    tags.map(|tag| tag.on(resource, kind)).into_iter().collect()
}

/// A resource with its ID, which a plan has, and with its tags.
fn with_all_tags(resource: &ResourceInstance<'_>, kind: &'static str) -> Option<DocumentDraft> {
    let all = resource.attribute("tags_all").and_then(EvaluatedValue::members);
    let tags = all.or_else(|| resource.attribute("tags").and_then(EvaluatedValue::members))?;
    let at = resource.block.place;
    let item = |(key, member): (&Arc<str>, &EvaluatedMember)| {
        DraftPart::object(
            [
                DraftMember::new("Key", member.key, DraftPart::word(key.to_string(), member.key)),
                DraftMember::new("Value", member.key, DraftPart::Value(member.value.clone())),
            ],
            member.key,
        )
    };
    let tags = DraftPart::List(tags.as_map().iter().map(item).collect(), at);
    let id = resource.attribute("id").map(|id| DraftMember::new("Id", at, DraftPart::Value(id.clone())));
    let properties = id.into_iter().chain([DraftMember::new("Tags", at, tags)]).collect();
    Some(stack::template_of(resource, &resource.block.address, kind, properties))
}

/// `aws_ec2_tag`: the reference to the resource says what has the tag. Otherwise the tag may be on both.
pub(super) fn aws_ec2_tag(resource: &ResourceInstance<'_>) -> Vec<DocumentDraft> {
    let Some((key, value)) = resource.attribute("key").zip(resource.attribute("value")) else {
        return Vec::new();
    };
    let tag = match key.as_str() {
        Some(DISCOVERY) => Tag::Known(resource.block.place, value.clone()),
        Some(_) => return Vec::new(),
        None => Tag::Unknown(key.clone()),
    };
    let texts = ["resource_id", "for_each", "count"].map(|name| reference(resource.attribute(name)));
    let is_on = |word: &str| texts.iter().any(|text| text.contains(word));
    let kinds = match (is_on("subnet"), is_on("security_group")) {
        (true, false) => vec![SUBNET],
        (false, true) => vec![SECURITY_GROUP],
        _ => vec![SUBNET, SECURITY_GROUP],
    };
    kinds.into_iter().map(|kind| tag.clone().on(resource, kind)).collect()
}

/// The text of a value that only Terraform knows.
fn reference(value: Option<&EvaluatedValue>) -> &str {
    value.and_then(EvaluatedValue::as_unknown).map_or("", |unknown| unknown.text.as_str())
}

/// The subnets of the module `vpc`, and the security groups of the module `eks`.
pub(super) fn of_module(module: &ResourceInstance<'_>, source: &str) -> Vec<DocumentDraft> {
    let mut drafts = Vec::new();
    let is_vpc = source.contains(VPC);
    let is_eks = source.contains(EKS) && !source.contains("aws//");
    if !is_vpc && !is_eks {
        return drafts;
    }
    for attribute in module.block.body.attributes.iter().filter(|attribute| !attribute.value.is_null()) {
        let (name, value) = (attribute.name.as_str(), &attribute.value);
        let kinds = match name {
            // Tags of all resources, such as the default security group of the network.
            "tags" if is_vpc => vec![SUBNET, SECURITY_GROUP],
            "default_security_group_tags" if is_vpc => vec![SECURITY_GROUP],
            _ if is_vpc && name.ends_with("subnet_tags") => vec![SUBNET],
            _ if is_vpc && name.ends_with("subnet_tags_per_az") => {
                let zones = value.members().into_iter().flat_map(|zones| zones.as_map().values());
                let tags = zones.filter_map(|member| Tag::in_tags(&member.value));
                drafts.extend(tags.map(|tag| tag.on(module, SUBNET)));
                continue;
            }
            _ if !is_vpc && TAGS_OF_GROUPS.contains(&name) => vec![SECURITY_GROUP],
            _ => continue,
        };
        let tag = Tag::in_tags(value);
        drafts.extend(kinds.into_iter().filter_map(|kind| Some(tag.clone()?.on(module, kind))));
    }
    drafts
}

/// The tag `karpenter.sh/discovery` of a resource.
#[derive(Clone, Debug)]
enum Tag {
    /// The place of its key, and its value.
    Known(TextPlace, EvaluatedValue),
    /// Whether there is one is not known.
    Unknown(EvaluatedValue),
}

impl Tag {
    /// The tag among tags. `None` if it certainly is not among them.
    fn in_tags(tags: &EvaluatedValue) -> Option<Self> {
        let known = tags.as_unknown().and_then(Unknown::object).unwrap_or(tags);
        let Some(members) = known.members() else { return Some(Self::Unknown(tags.clone())) };
        if let Some(member) = members.as_map().get(DISCOVERY) {
            return Some(Self::Known(member.key, member.value.clone()));
        }
        may_have_it(members).then(|| Self::Unknown(tags.clone()))
    }

    /// A resource of a kind with the tag.
    fn on(self, resource: &ResourceInstance<'_>, kind: &'static str) -> DocumentDraft {
        let tags = match self {
            Self::Known(key, value) => {
                let at = value.place;
                let item = DraftPart::object(
                    [
                        DraftMember::new("Key", key, DraftPart::word(DISCOVERY, key)),
                        DraftMember::new("Value", key, DraftPart::Value(value)),
                    ],
                    at,
                );
                DraftMember::new("Tags", key, DraftPart::List(vec![item], at))
            }
            Self::Unknown(value) => {
                let at = value.place;
                let text = reference(Some(&value));
                let text = if text.is_empty() { "${tags}" } else { text };
                DraftMember::new("Tags", at, DraftPart::word(text.to_owned(), at))
            }
        };
        stack::template(resource, kind, vec![tags])
    }
}

/// Whether a key that only Terraform knows may be the tag.
fn may_have_it(tags: &EvaluatedMembers) -> bool {
    tags.as_map().keys().any(|key| key.starts_with("${"))
}
