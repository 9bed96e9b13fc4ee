//! Instance profiles that the input creates.
//!
//! Source: `AWS::IAM::InstanceProfile` in the CloudFormation Template Reference.

use manifest::tree::{Node, items_of};

use crate::iam_policy::text;
use crate::object::{Form, Object};

/// Instance profile of a CloudFormation template or of a Terraform configuration.
#[derive(Clone, Copy, Debug)]
pub struct CreatedProfile<'d>(Object<'d>);

impl<'d> CreatedProfile<'d> {
    /// The object as an instance profile.
    pub fn of(object: Object<'d>) -> Option<Self> {
        (object.form() == Form::StackResource && is_profile(object.root())).then_some(Self(object))
    }

    /// The resource.
    pub fn node(self) -> Node<'d> {
        self.0.root()
    }

    /// The name of the resource in the template or the configuration.
    pub fn label(self) -> &'d str {
        self.0.name()
    }

    /// The name; `None` if AWS chooses it. `${}` encloses what CloudFormation or Terraform fills in.
    pub fn name(self) -> Option<String> {
        self.0.at(&["Properties", "InstanceProfileName"]).map(text)
    }

    /// The node of the name of its role.
    pub fn role(self) -> Option<Node<'d>> {
        items_of(self.0.at(&["Properties", "Roles"])).next()
    }

    /// The name of its role. `${}` encloses what CloudFormation or Terraform fills in.
    pub fn role_name(self) -> Option<String> {
        self.role().map(text)
    }
}

/// Whether a resource of a CloudFormation template is an instance profile.
pub(crate) fn is_profile(resource: Node<'_>) -> bool {
    resource.str_at(&["Type"]) == Some("AWS::IAM::InstanceProfile")
}
