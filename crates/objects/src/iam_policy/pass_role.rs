//! The roles that the policies of Karpenter's controller allow it to pass to instances.

use values::placeholder::has_placeholder;

use super::access::IamAccess;
use super::owner::PolicyOwner;
use super::pattern::{Pattern, Wildcards, resource_part};
use super::policy::{IamStatement, PASS_ROLE};
use super::policy_text::PolicyText;
use super::role::last_part;
use super::truth::Truth;

/// Number of distinct patterns to compare with each role. With more patterns, every role counts as passed.
const MAX_PATTERNS: usize = 64;

/// Roles that policies allow passing.
#[derive(Debug, Default)]
pub struct PassedRoles<'d> {
    /// Names without wildcards, sorted.
    names: Vec<String>,
    /// Patterns with wildcards or placeholders, without duplicates.
    patterns: Vec<String>,
    /// Roles that a policy of Karpenter's controller forbids to pass.
    denied: Vec<PolicyText<'d>>,
    /// Whether a statement may allow any role.
    open: bool,
    /// Whether a policy of Karpenter's controller passes a role.
    passing: bool,
    /// First resource of the first statement of Karpenter's controller that names the action.
    first: Option<PolicyText<'d>>,
}

/// The reason that a role is not passed.
#[derive(Clone, Copy, Debug)]
pub enum PassRefusal<'p, 'd> {
    /// The controller may pass other roles only; the first of them.
    LeftOut(&'p PolicyText<'d>),
    /// A Deny statement names the role.
    Denied(&'p PolicyText<'d>),
}

impl<'d> PassedRoles<'d> {
    /// Collects the roles that policies pass. Any policy can add a role, but only policies of Karpenter's controller show
    /// that a role is missing.
    pub fn of(access: &IamAccess<'d>) -> Self {
        let mut passed = Self::default();
        for owned in access.policies() {
            let karpenter = owned.owner == PolicyOwner::Controller;
            for statement in &owned.policy.statements {
                let covers = statement.covers_action(PASS_ROLE) != Truth::No;
                if covers && statement.allows && statement.passes_to_ec2() {
                    passed.add_statement(statement, karpenter);
                } else if covers && karpenter && !statement.allows {
                    passed.deny(statement);
                }
            }
        }
        for texts in [&mut passed.names, &mut passed.patterns] {
            texts.sort();
            texts.dedup();
        }
        passed
    }

    fn add_statement(&mut self, statement: &IamStatement<'d>, karpenter: bool) {
        self.passing |= karpenter;
        if karpenter && self.first.is_none() && statement.names(PASS_ROLE) {
            self.first = statement.resources.first().cloned();
        }
        self.open |= statement.not_resources || statement.resources.is_empty();
        for word in &statement.resources {
            self.add(&word.text);
        }
    }

    fn add(&mut self, resource: &str) {
        // An EC2NodeClass names a role without its path, so names are compared without it.
        let name = resource_part(resource).map(last_part);
        match name {
            Some(name) if name.contains(['*', '?']) || has_placeholder(name) => {
                self.patterns.push(name.to_owned());
            }
            Some(name) => self.names.push(name.to_owned()),
            None => self.open = true,
        }
    }

    /// Notes the roles that an unconditional Deny statement names.
    fn deny(&mut self, statement: &IamStatement<'d>) {
        let certain = statement.covers_action(PASS_ROLE) == Truth::Yes;
        if certain && !statement.not_resources && statement.conditions.is_empty() {
            let free = MAX_PATTERNS.saturating_sub(self.denied.len());
            self.denied.extend(statement.resources.iter().take(free).cloned());
        }
    }

    /// The reason that no policy passes a role; `None` if a policy may pass it.
    pub fn refusal(&self, role: &str) -> Option<PassRefusal<'_, 'd>> {
        if let Some(word) = self.denied.iter().find(|word| matches(&word.text, role) == Truth::Yes) {
            return Some(PassRefusal::Denied(word));
        }
        let compare = |pattern: &String| Pattern::parse(pattern, Wildcards::Read).compare(role) != Truth::No;
        let passed = self.open
            || self.patterns.len() > MAX_PATTERNS
            || self.names.binary_search_by(|name| name.as_str().cmp(role)).is_ok()
            || self.patterns.iter().any(compare);
        if passed { None } else { self.first.as_ref().map(PassRefusal::LeftOut) }
    }

    /// Whether a policy of Karpenter's controller passes roles to EC2.
    pub fn is_passing(&self) -> bool {
        self.passing
    }
}

/// Whether a resource covers the role with a name, in any path.
fn matches(resource: &str, role: &str) -> Truth {
    let name = resource_part(resource).map(last_part);
    Pattern::parse(name.unwrap_or(resource), Wildcards::Read).compare(role)
}
