//! Texts of a policy document with their locations.

use manifest::source::Span;
use manifest::tree::Node;

/// Location of a part of a policy.
#[derive(Clone, Copy, Debug)]
pub enum PolicyLocation<'d> {
    /// A value of the document.
    Value(Node<'d>),
    /// The key of a value.
    Key(Node<'d>),
    /// Bytes of a string that holds the policy as JSON.
    Within(Node<'d>, Span),
}

/// Text in a policy, with its location.
#[derive(Clone, Debug)]
pub struct PolicyText<'d> {
    /// The text. `${}` encloses what CloudFormation fills in.
    pub text: String,
    /// Location of the text.
    pub at: PolicyLocation<'d>,
}
