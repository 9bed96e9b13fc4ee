//! Subnets and security groups that the input creates, with the tag by which EC2NodeClasses find them.
//!
//! Sources: `AWS::EC2::Subnet` and `AWS::EC2::SecurityGroup` in the CloudFormation Template Reference; `karpenter.sh/discovery` in
//! website/content/en/docs/concepts/nodeclasses.md of aws/karpenter-provider-aws at v1.14.1.

use manifest::tree::Node;

use crate::iam_policy::text;
use crate::object::{Form, Object};

/// Key of the tag.
pub const DISCOVERY: &str = "karpenter.sh/discovery";
/// Type of a subnet.
pub const SUBNET: &str = "AWS::EC2::Subnet";
/// Type of a security group.
pub const SECURITY_GROUP: &str = "AWS::EC2::SecurityGroup";

/// Resource of a CloudFormation template or of a Terraform configuration that has the tag, or may have it.
#[derive(Clone, Copy, Debug)]
pub struct TaggedResource<'d>(Node<'d>);

impl<'d> TaggedResource<'d> {
    /// The object as such a resource.
    pub fn of(object: Object<'d>) -> Option<Self> {
        let is_tagged = object.form() == Form::StackResource && is_tagged(object.root());
        is_tagged.then_some(Self(object.root()))
    }

    /// Whether it is a subnet, and not a security group.
    pub fn is_subnet(self) -> bool {
        self.0.str_at(&["Type"]) == Some(SUBNET)
    }

    /// The node of the value of the tag; `None` if it is not known whether the resource has the tag.
    pub fn value(self) -> Option<Node<'d>> {
        tags(self.0)?.items().find(|tag| key_of(*tag) == Some(DISCOVERY))?.get("Value")
    }

    /// The value of the tag. `${}` encloses what CloudFormation fills in.
    pub fn value_text(self) -> Option<String> {
        self.value().map(text)
    }
}

/// Whether a resource of a CloudFormation template is a subnet or a security group with the tag, or one with tags that are not known.
pub(crate) fn is_tagged(resource: Node<'_>) -> bool {
    let is_kind = resource.str_at(&["Type"]).is_some_and(|kind| kind == SUBNET || kind == SECURITY_GROUP);
    let Some(tags) = tags(resource).filter(|_| is_kind) else { return false };
    !tags.is_sequence() || tags.items().any(|tag| key_of(tag).is_none_or(|key| key == DISCOVERY))
}

fn tags(resource: Node<'_>) -> Option<Node<'_>> {
    resource.at_path(&["Properties", "Tags"]).filter(|tags| !tags.is_null())
}

fn key_of(tag: Node<'_>) -> Option<&str> {
    tag.get("Key")?.as_str()
}
