//! Views of a policy document and its statements.

use super::condition::{ContextValue, IamCondition};
use super::pattern::{Pattern, Wildcards, compare_resource};
use super::policy_text::PolicyText;
use super::truth::Truth;
use crate::object::Object;

/// The action that passes a role to a service.
pub const PASS_ROLE: &str = "iam:PassRole";
/// Names of EC2 in the condition `iam:PassedToService`. Source: `AllowPassingInstanceRole` in
/// website/content/en/docs/getting-started/getting-started-with-karpenter/cloudformation.yaml at v1.14.1.
const EC2: [&str; 2] = ["ec2.amazonaws.com", "ec2.amazonaws.com.cn"];

/// A policy document of an object.
#[derive(Clone, Debug)]
pub struct IamPolicy<'d> {
    /// The object that holds the document.
    pub object: Object<'d>,
    /// Names of the policy: its key in a template, its name in the cluster and in AWS.
    pub names: Vec<String>,
    /// Roles that the object attaches the policy to, as references or names.
    pub roles: Vec<String>,
    /// The statements.
    pub statements: Vec<IamStatement<'d>>,
}

/// Statement of a policy.
#[derive(Clone, Debug)]
pub struct IamStatement<'d> {
    /// `Sid`.
    pub sid: Option<PolicyText<'d>>,
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
    /// The principals of a trust policy; empty in other policies.
    pub principals: Vec<IamPrincipal<'d>>,
}

/// Principal that a trust policy names.
#[derive(Clone, Debug)]
pub struct IamPrincipal<'d> {
    /// `AWS`, `Service`, `Federated` or `CanonicalUser`; `*` for everybody.
    pub kind: String,
    /// The account, role, service or identity provider.
    pub name: PolicyText<'d>,
}

/// Request that a policy allows or denies.
pub struct IamRequest<'r> {
    /// Action such as `ec2:TerminateInstances`.
    pub action: &'r str,
    /// The last part of the resource's ARN, such as `instance/i-0123456789abcdef0`.
    pub resource: &'r str,
    /// Returns the value of the key of a condition.
    pub context: &'r dyn Fn(&IamCondition<'_>) -> ContextValue,
}

impl<'d> IamStatement<'d> {
    /// Whether the statement applies to a request: its action, its resource and all conditions match.
    pub fn covers(&self, request: &IamRequest<'_>) -> Truth {
        let conditions =
            self.conditions.iter().map(|condition| condition.holds((request.context)(condition)));
        let target = [self.covers_action(request.action), self.covers_resource(request)];
        Truth::all(target.into_iter().chain(conditions))
    }

    /// Whether the statement covers an action. Actions are not case-sensitive.
    pub fn covers_action(&self, action: &str) -> Truth {
        let named = Truth::any(self.actions.iter().map(|word| compare_action(word, action)));
        if self.not_actions { named.negated() } else { named }
    }

    fn covers_resource(&self, request: &IamRequest<'_>) -> Truth {
        // The policy of a role's trust has no resource.
        if self.resources.is_empty() {
            return Truth::Yes;
        }
        let service = request.action.split_once(':').map_or(request.action, |(service, _)| service);
        let compare = |word: &PolicyText<'_>| compare_resource(&word.text, service, request.resource);
        let named = Truth::any(self.resources.iter().map(compare));
        if self.not_resources { named.negated() } else { named }
    }

    /// Whether the statement about `iam:PassRole` may apply when a role is passed to EC2.
    pub fn passes_to_ec2(&self) -> bool {
        EC2.iter().any(|service| {
            self.conditions.iter().all(|condition| {
                let of_service = condition.is_on("iam:PassedToService");
                let value = if of_service { ContextValue::Is(service) } else { ContextValue::Unknown };
                condition.holds(value) != Truth::No
            })
        })
    }

    /// The text with which the statement covers an action, or may cover it.
    pub fn action(&self, action: &str) -> Option<&PolicyText<'d>> {
        if self.covers_action(action) == Truth::No {
            return None;
        }
        let named = || self.actions.iter().find(|word| compare_action(word, action) != Truth::No);
        if self.not_actions { self.actions.first() } else { named() }
    }

    /// Whether the statement names an action exactly, not with a pattern.
    pub fn names(&self, action: &str) -> bool {
        !self.not_actions && self.actions.iter().any(|word| word.text.eq_ignore_ascii_case(action))
    }

    /// The action with which the statement allows everything, or all but a few actions, on every resource without a
    /// condition.
    pub fn allows_everything(&self) -> Option<&PolicyText<'d>> {
        let total = |word: &&PolicyText<'d>| matches!(word.text.as_str(), "*" | "*:*");
        let everywhere = !self.not_resources && self.resources.iter().any(|word| word.text == "*");
        if !self.allows || !everywhere || !self.conditions.is_empty() {
            return None;
        }
        if self.not_actions { self.actions.first() } else { self.actions.iter().find(total) }
    }
}

fn compare_action(word: &PolicyText<'_>, action: &str) -> Truth {
    let pattern = Pattern::parse(&word.text, Wildcards::Read).ignoring_case();
    pattern.compare(&action.to_ascii_lowercase())
}

impl<'d> IamPolicy<'d> {
    /// The statements that allow.
    pub fn allowing(&self) -> impl Iterator<Item = &IamStatement<'d>> {
        self.statements.iter().filter(|statement| statement.allows)
    }

    /// The text with which a statement allows an action, or may allow it.
    pub fn action(&self, action: &str) -> Option<&PolicyText<'d>> {
        self.allowing().find_map(|statement| statement.action(action))
    }

    /// Whether the document by itself allows a request: a statement allows it, and no statement denies it.
    pub fn allows(&self, request: &IamRequest<'_>) -> Truth {
        let covered = |allows: bool| {
            let effective = self.statements.iter().filter(move |statement| statement.allows == allows);
            Truth::any(effective.map(|statement| statement.covers(request)))
        };
        Truth::all([covered(true), covered(false).negated()])
    }
}
