//! The registry of rules, and the macros that declare rules and families.

use cluster::inventory::Inventory;
use objects::object::Object;

use crate::classification::Family;
use crate::{Rule, Subject};

/// The rules of a program. Settings, suppressions and the driver find rules only here.
#[derive(Clone, Copy, Debug)]
pub struct Registry {
    /// The rules, family by family, in the order in which they are listed.
    pub families: &'static [&'static [&'static Rule]],
    /// The rules about suppressions.
    pub suppressions: SuppressionRules,
    /// The rule that reports a kind or version that a release does not serve. Where a release does not serve an object, its other
    /// findings matter less.
    pub unserved: &'static Rule,
    /// The rules that this program leaves out. Settings and suppressions may name them, so that one file serves every program.
    pub left_out: &'static [&'static [LeftOut]],
    /// The names of the symptoms that settings may name in addition to rules.
    pub symptoms: fn() -> Vec<&'static str>,
    /// Functions that compute the largest indexes. A check on several cores calls them at the same time, before the rules run.
    pub large_indexes: &'static [fn(&Inventory<'_>)],
}

/// Name and family of a rule that a program leaves out.
pub type LeftOut = (&'static str, Family);

/// Origin of a rule: its module, its documentation, and the feature of the program that includes it.
#[derive(Clone, Copy, Debug)]
pub struct RuleSource {
    /// The path of the module.
    pub module: &'static str,
    /// The doc comment, each line with its leading space.
    pub doc: &'static str,
    /// The feature that includes the rule. Empty for a rule that every program includes.
    pub feature: &'static str,
}

/// The rules about suppressions. The driver makes their findings, because only it knows which suppressions were used.
#[derive(Clone, Copy, Debug)]
pub struct SuppressionRules {
    /// A suppression names a rule that does not exist.
    pub unknown_rule: &'static Rule,
    /// A suppression suppresses nothing.
    pub unused: &'static Rule,
    /// A suppression gives no reason.
    pub without_reason: &'static Rule,
}

impl Registry {
    /// The same registry with the names of symptoms.
    #[must_use]
    pub const fn with_symptoms(self, symptoms: fn() -> Vec<&'static str>) -> Self {
        Self { symptoms, ..self }
    }

    /// All rules in the order in which they are listed.
    pub fn rules(&self) -> impl Iterator<Item = &'static Rule> + Clone + use<> {
        self.families.iter().copied().flatten().copied()
    }

    /// The rules that read an object, in the same order.
    pub fn rules_on(&self, object: Object<'_>) -> Vec<&'static Rule> {
        self.rules_on_subject(Subject::of(object))
    }

    /// The rules that read the objects of a subject, in the same order.
    pub fn rules_on_subject(&self, subject: Subject<'_>) -> Vec<&'static Rule> {
        let mut rules = Vec::new();
        for family in self.families {
            rules.extend(family.iter().copied().filter(|rule| subject.concerns(rule)));
        }
        rules
    }

    /// Whether a rule reports a kind or version that a release does not serve.
    pub fn reports_unserved(&self, rule: &Rule) -> bool {
        rule.name == self.unserved.name
    }

    /// The rule with a name.
    pub fn find(&self, name: &str) -> Option<&'static Rule> {
        self.rules().find(|rule| rule.name == name)
    }
}

/// Declares a rule: `RULE`, and its doc comment as text. `UPGRADE` instead of `RULE` declares a rule that runs only under
/// `karpwarden upgrade`.
#[macro_export]
macro_rules! rule {
    ($(#[doc = $doc:literal])* RULE { $($fields:tt)* }) => {
        $crate::rule!(@declare [$($doc)*] { $($fields)* });
    };
    ($(#[doc = $doc:literal])* UPGRADE { $($fields:tt)* }) => {
        $crate::rule!(@declare [$($doc)*] { upgrade_only: true, check: check, $($fields)* });
    };
    (@declare [$($doc:literal)*] { $($fields:tt)* }) => {
        $(#[doc = $doc])*
        pub(crate) static RULE: $crate::Rule = $crate::Rule {
            $($fields)*
            ..$crate::Rule::DEFAULTS
        };

        /// The doc comment, each line with its leading space.
        pub(super) const DOC: &str = concat!($($doc, "\n"),*);
    };
}

/// Lists the rules of a family by their modules. `name in "feature"` is a rule that only programs with this feature include.
#[macro_export]
macro_rules! family {
    ($($rule:ident $(in $feature:tt)?),* $(,)?) => {
        /// The rules of this family that the program includes.
        pub(super) const RULES: &[&$crate::Rule] =
            &[$($(#[cfg(feature = $feature)])? &$rule::RULE),*];

        /// The rules of this family that the program leaves out.
        pub(super) const LEFT_OUT: &[$crate::registry::LeftOut] =
            &[$($(#[cfg(not(feature = $feature))] ($rule::RULE.name, $rule::RULE.family),)?)*];

        /// The source of each rule, in the same order as `RULES`.
        pub(super) const SOURCES: &[$crate::registry::RuleSource] = &[$(
            $(#[cfg(feature = $feature)])?
            $crate::registry::RuleSource {
                module: concat!(module_path!(), "::", stringify!($rule)),
                doc: $rule::DOC,
                feature: concat!($($feature)?),
            }
        ),*];
    };
}
