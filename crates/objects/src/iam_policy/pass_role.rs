//! The roles that the policies of Karpenter's controller allow it to pass to instances.

use super::pattern::{matches, resource_part};
use super::policy::{IamPolicy, PolicyText};
use values::placeholder::has_placeholder;

/// The action.
pub const PASS_ROLE: &str = "iam:PassRole";
/// Number of distinct patterns to compare with each role. With more patterns, every role counts as passed.
const MOST_PATTERNS: usize = 64;

/// Roles that policies allow passing.
#[derive(Debug, Default)]
pub struct PassedRoles<'d> {
    /// Names without wildcards, sorted.
    names: Vec<String>,
    /// Patterns with wildcards or placeholders, without duplicates.
    patterns: Vec<String>,
    /// Whether a statement may allow any role.
    open: bool,
    /// First resource of the first such statement of Karpenter's controller.
    first: Option<PolicyText<'d>>,
}

impl<'d> PassedRoles<'d> {
    /// Collects the roles that policies pass. Any policy can add a role, but only policies of Karpenter's controller show
    /// that a role is missing.
    pub fn of(policies: &[IamPolicy<'d>]) -> Self {
        let mut passed = Self::default();
        for policy in policies {
            let karpenter = policy.is_karpenter();
            for statement in
                policy.statements.iter().filter(|one| one.allows && one.action(PASS_ROLE).is_some())
            {
                if karpenter && passed.first.is_none() && statement.names(PASS_ROLE) {
                    passed.first = statement.resources.first().cloned();
                }
                passed.open |= statement.not_resources || statement.resources.is_empty();
                for word in &statement.resources {
                    passed.add(&word.text);
                }
            }
        }
        for texts in [&mut passed.names, &mut passed.patterns] {
            texts.sort();
            texts.dedup();
        }
        passed
    }

    fn add(&mut self, resource: &str) {
        // An EC2NodeClass names a role without its path, so names are compared without it.
        let name = resource_part(resource).and_then(|part| part.rsplit('/').next());
        match name {
            Some(name) if name.contains(['*', '?']) || has_placeholder(name) => {
                self.patterns.push(name.to_owned());
            }
            Some(name) => self.names.push(name.to_owned()),
            None => self.open = true,
        }
    }

    /// The resource with which a policy of Karpenter's controller passes other roles, if no policy passes this role.
    pub fn leaves_out(&self, role: &str) -> Option<&PolicyText<'d>> {
        let passed = self.open
            || self.patterns.len() > MOST_PATTERNS
            || self.names.binary_search_by(|name| name.as_str().cmp(role)).is_ok()
            || self.patterns.iter().any(|pattern| matches(pattern, role));
        if passed { None } else { self.first.as_ref() }
    }
}
