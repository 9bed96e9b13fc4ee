//! Which roles the policies of Karpenter's controller let it pass to instances.

use super::{Policy, Word, matches, resource_part};

/// The action.
pub const PASS_ROLE: &str = "iam:PassRole";
/// Distinct patterns that are compared with each role; beyond, no role is said to be left out.
const MOST_PATTERNS: usize = 64;

/// The roles that are passed.
#[derive(Debug, Default)]
pub struct PassedRoles<'d> {
    /// Names without wildcards, in order.
    names: Vec<String>,
    /// Patterns with wildcards or marks, each once.
    patterns: Vec<String>,
    /// Any role may be meant.
    open: bool,
    /// The resource of the first statement that says so for Karpenter.
    first: Option<Word<'d>>,
}

impl<'d> PassedRoles<'d> {
    /// Gathers what policies pass. Only policies of Karpenter's controller tell that something is left out, but any
    /// policy may add to it.
    pub fn of(policies: &[Policy<'d>]) -> Self {
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
        // A path is not known from a node class, so that names are compared without it.
        let name = resource_part(resource).and_then(|part| part.rsplit('/').next());
        match name {
            Some(name) if name.contains(['*', '?', '$', '<']) => self.patterns.push(name.to_owned()),
            Some(name) => self.names.push(name.to_owned()),
            None => self.open = true,
        }
    }

    /// Where a policy of Karpenter's controller passes roles, but not this one.
    pub fn leaves_out(&self, role: &str) -> Option<&Word<'d>> {
        let passed = self.open
            || self.patterns.len() > MOST_PATTERNS
            || self.names.binary_search_by(|name| name.as_str().cmp(role)).is_ok()
            || self.patterns.iter().any(|pattern| matches(pattern, role));
        if passed { None } else { self.first.as_ref() }
    }
}
