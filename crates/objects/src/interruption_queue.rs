//! Queues that the input creates.
//!
//! Source: `AWS::SQS::Queue` in the CloudFormation Template Reference.

use manifest::tree::Node;

use crate::iam_policy::text;
use crate::object::{Form, Object};

/// Queue of a CloudFormation template, or of a Terraform configuration.
#[derive(Clone, Copy, Debug)]
pub struct CreatedQueue<'d>(Object<'d>);

impl<'d> CreatedQueue<'d> {
    /// The object as a queue.
    pub fn of(object: Object<'d>) -> Option<Self> {
        (object.form() == Form::StackResource && is_queue(object.root())).then_some(Self(object))
    }

    /// The node of the name; `None` if AWS chooses the name.
    pub fn name(self) -> Option<Node<'d>> {
        self.0.at(&["Properties", "QueueName"])
    }

    /// The name. `${}` encloses what CloudFormation fills in.
    pub fn name_text(self) -> Option<String> {
        self.name().map(text)
    }

    /// The resource.
    pub fn node(self) -> Node<'d> {
        self.0.root()
    }

    /// Whether the name of the resource or of the queue says that it is for Karpenter.
    pub fn is_for_karpenter(self) -> bool {
        let names = [Some(self.0.name().to_owned()), self.name_text()];
        names.into_iter().flatten().any(|name| name.to_ascii_lowercase().contains("karpenter"))
    }
}

/// Whether a resource of a CloudFormation template is a queue.
pub(crate) fn is_queue(resource: Node<'_>) -> bool {
    resource.str_at(&["Type"]) == Some("AWS::SQS::Queue")
}
