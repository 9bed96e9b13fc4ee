//! Selection of rules by name or family, or of all rules, and the level that the settings give to them.

use crate::classification::Family;

/// A rule, a symptom, a family, or all rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selector {
    /// One rule or symptom: its name and its family.
    One(&'static str, Family),
    /// All rules of a family.
    Family(Family),
    /// All rules.
    All,
}

impl Selector {
    /// The name of the rule, symptom or family, or `all`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::One(name, _) => name,
            Self::Family(family) => family.name(),
            Self::All => "all",
        }
    }

    /// Whether the selector includes the rule or symptom with this name in this family.
    pub fn selects(self, name: &str, family: Family) -> bool {
        match self {
            Self::One(one, _) => one == name,
            Self::Family(one) => one == family,
            Self::All => true,
        }
    }
}

/// Level that the settings give to the findings of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleLevel {
    /// Errors; the policy rejects the request.
    Deny,
    /// Warnings.
    Warn,
    /// Infos.
    Info,
    /// No findings.
    Off,
}

impl RuleLevel {
    /// The names, strictest first.
    pub const NAMES: [&'static str; 4] = ["deny", "warn", "info", "off"];

    /// Parses the name of a level.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "deny" => Some(Self::Deny),
            "warn" => Some(Self::Warn),
            "info" => Some(Self::Info),
            "off" => Some(Self::Off),
            _ => None,
        }
    }
}
