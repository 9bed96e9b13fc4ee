//! Views of a policy document and its statements.

use manifest::source::Span;
use manifest::tree::Node;
use values::placeholder::has_placeholder;

use super::pattern::{matches, resource_part};
use crate::object::Object;

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

/// A policy document of an object.
#[derive(Clone, Debug)]
pub struct IamPolicy<'d> {
    /// The object that holds the document.
    pub object: Object<'d>,
    /// The statements.
    pub statements: Vec<IamStatement<'d>>,
}

/// Statement of a policy.
#[derive(Clone, Debug)]
pub struct IamStatement<'d> {
    /// Whether `Effect` is `Allow`; otherwise the statement denies.
    pub allows: bool,
    /// `Action` or `NotAction`.
    pub actions: Vec<PolicyText<'d>>,
    /// `Resource` or `NotResource`.
    pub resources: Vec<PolicyText<'d>>,
    /// Whether the actions come from `NotAction`.
    pub not_actions: bool,
    /// Whether the resources come from `NotResource`.
    pub not_resources: bool,
    /// The conditions, all of which have to be true.
    pub conditions: Vec<IamCondition<'d>>,
}

/// Condition of a statement: compares a key with values.
#[derive(Clone, Debug)]
pub struct IamCondition<'d> {
    /// Operator such as `StringEquals`.
    pub operator: String,
    /// Key such as `aws:ResourceTag/karpenter.sh/nodepool`.
    pub key: PolicyText<'d>,
    /// Values, one of which has to match.
    pub values: Vec<PolicyText<'d>>,
}

impl<'d> IamStatement<'d> {
    /// The text with which the statement covers an action.
    pub fn action(&self, action: &str) -> Option<&PolicyText<'d>> {
        let action = action.to_ascii_lowercase();
        let named = self.actions.iter().find(|word| matches(&word.text.to_ascii_lowercase(), &action));
        if self.not_actions {
            return if named.is_none() { self.actions.first() } else { None };
        }
        named
    }

    /// Whether the statement names an action exactly, not with a pattern.
    pub fn names(&self, action: &str) -> bool {
        !self.not_actions && self.actions.iter().any(|word| word.text.eq_ignore_ascii_case(action))
    }

    /// Whether the statement covers a resource, in any account and region. The resource is the last part of an ARN, such
    /// as `role/x`.
    pub fn reaches(&self, resource: &str) -> bool {
        let named = self.resources.iter().any(|word| match resource_part(&word.text) {
            Some(pattern) => matches(pattern, resource),
            None => true,
        });
        if self.not_resources { !named } else { self.resources.is_empty() || named }
    }
}

impl<'d> IamCondition<'d> {
    /// Whether the values are allowed, not excluded.
    pub fn is_positive(&self) -> bool {
        !self.operator.contains("Not") && !self.operator.contains("Null")
    }

    /// Whether the condition is also true if the key is absent.
    pub fn if_exists(&self) -> bool {
        self.operator.ends_with("IfExists") || self.operator.starts_with("ForAllValues")
    }

    /// The tag that the condition compares, of the existing resource or of the request.
    pub fn tag(&self) -> Option<&str> {
        let (prefix, tag) = self.key.text.split_once('/')?;
        let prefix = prefix.to_ascii_lowercase();
        (prefix.ends_with(":resourcetag") || prefix.ends_with(":requesttag")).then_some(tag)
    }

    /// The tag that the condition compares, of the existing resource.
    pub fn resource_tag(&self) -> Option<&str> {
        let existing = self.key.text.to_ascii_lowercase().contains(":resourcetag/");
        self.tag().filter(|_| existing)
    }

    /// Whether a value matches a text.
    pub fn takes(&self, text: &str) -> bool {
        self.values.iter().any(|word| matches(&word.text, text))
    }

    /// The cluster names that the condition requires in tags of Karpenter, without placeholders and wildcards.
    pub fn clusters(&self) -> Vec<PolicyText<'d>> {
        let plain = |text: &str| !text.is_empty() && !text.contains(['*', '?']) && !has_placeholder(text);
        let Some(tag) = self.tag().filter(|_| self.is_positive()) else { return Vec::new() };
        if let Some(name) = tag.strip_prefix("kubernetes.io/cluster/") {
            let word = PolicyText { text: name.to_owned(), at: self.key.at };
            return if plain(name) { vec![word] } else { Vec::new() };
        }
        if tag != "eks:eks-cluster-name" {
            return Vec::new();
        }
        self.values.iter().filter(|word| plain(&word.text)).cloned().collect()
    }
}

impl IamPolicy<'_> {
    /// Whether the policy belongs to Karpenter's controller: a condition names a tag of Karpenter, or the statements name
    /// the actions to create fleets and to run or terminate instances.
    pub fn is_karpenter(&self) -> bool {
        let mut conditions = self.statements.iter().flat_map(|statement| &statement.conditions);
        let tagged = conditions.any(|condition| {
            condition
                .tag()
                .is_some_and(|tag| tag.starts_with("karpenter.sh/") || tag.starts_with("karpenter.k8s.aws/"))
        });
        let names = |action: &str| self.statements.iter().any(|one| one.allows && one.names(action));
        tagged || (names("ec2:CreateFleet") && (names("ec2:RunInstances") || names("ec2:TerminateInstances")))
    }
}
