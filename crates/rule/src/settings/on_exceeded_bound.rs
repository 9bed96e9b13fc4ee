//! The answer to a request whose check a bound stopped.

use karpenter::kind::is_karpenter_group;

/// The answer to a request whose check a bound stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnExceededBound {
    /// The policy rejects objects of Karpenter, and accepts others with a warning.
    Auto,
    /// The policy rejects the object.
    Deny,
    /// The policy accepts the object with a warning.
    Warn,
}

impl OnExceededBound {
    /// The names, the default first.
    pub const NAMES: [&str; 3] = ["auto", "deny", "warn"];

    /// Parses a name.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "auto" => Some(Self::Auto),
            "deny" => Some(Self::Deny),
            "warn" => Some(Self::Warn),
            _ => None,
        }
    }

    /// Whether an object of an API group is rejected.
    pub fn rejects(self, group: &str) -> bool {
        match self {
            Self::Auto => is_karpenter_group(group),
            Self::Deny => true,
            Self::Warn => false,
        }
    }
}
