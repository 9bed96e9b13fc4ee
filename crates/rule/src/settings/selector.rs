//! Selection of rules by name or family, or of all rules, and the level that the settings give to them.

use crate::RuleNames;

/// A rule, a symptom, a family, or all rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleSelector {
    /// One rule or symptom.
    One(RuleNames),
    /// All rules that belong to the family with this name, or belonged to it.
    Family(&'static str),
    /// All rules.
    All,
}

impl RuleSelector {
    /// The name of the rule, symptom or family, or `all`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::One(names) => names.name,
            Self::Family(family) => family,
            Self::All => "all",
        }
    }

    /// Whether the selector includes the rule or symptom with these names.
    pub fn selects(self, names: RuleNames) -> bool {
        match self {
            Self::One(one) => one.name == names.name,
            Self::Family(family) => names.is_in(family),
            Self::All => true,
        }
    }

    /// Precedence of a level that the selector has in the settings, for the rule or symptom with these names. Settings that name
    /// a former family of a rule were written for the rule; settings that name its present family may predate the move.
    pub(super) fn precedence(self, names: RuleNames) -> u8 {
        match self {
            Self::One(_) => 2,
            Self::Family(family) if family != names.family.name() => 1,
            Self::Family(_) | Self::All => 0,
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

/// Error for a name that no rule, symptom or family has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no rule or family `{name}`{hint}")]
pub struct UnknownName {
    /// The name.
    pub name: String,
    /// The nearest name, as the end of a sentence; empty if none is near.
    pub hint: String,
}
