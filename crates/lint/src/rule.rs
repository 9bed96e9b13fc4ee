//! The rule contract: what a rule declares about itself, and the registry of rules.

use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::object::Object;
use objects::{chart_values, iam_policy};

use crate::check::Context;
use crate::finding::{CaughtBy, Family, Finding, Severity};

/// A rule without its documentation.
#[derive(Debug)]
pub struct Rule {
    /// The name: kebab-case, states the fault, never changes.
    pub name: &'static str,
    /// The family the rule belongs to.
    pub family: Family,
    /// Severity of its findings, unless a finding sets another.
    pub severity: Severity,
    /// The component that would otherwise report the problem, unless a finding names another.
    pub caught_by: CaughtBy,
    /// The releases in which its findings hold, unless a finding sets others.
    pub releases: Releases,
    /// The strongest fix it offers.
    pub fix: Fixes,
    /// The problem in one sentence, without a full stop.
    pub summary: &'static str,
    /// The objects it reads.
    pub on: &'static [On],
    /// The kinds it looks up besides the object it checks.
    pub inventory: &'static [Kind],
    /// Runs only under `karpwarden upgrade`.
    pub upgrade_only: bool,
    /// The rules of family `api-server` whose refusals it explains: at the same key or value, only its finding is shown.
    pub supersedes: &'static [&'static str],
    /// Checks one object and adds its findings.
    pub check: Check,
}

/// Checks one object and adds its findings.
pub type Check = for<'d> fn(Object<'d>, &Context<'_, 'd>, &mut Vec<Finding<'d>>);

/// The objects that a rule reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// Objects of one kind, in the version given there.
    Kind(Kind),
    /// Every object of an API group, in any version.
    Group(&'static str),
    /// Pods, and every object with a pod template.
    Workload,
    /// Everything that holds IAM policies: a policy document, a CloudFormation resource, an operator's object.
    IamPolicy,
    /// Values of Karpenter's Helm chart, in a document of their own or in an object that installs the chart.
    ChartValues,
    /// Every object.
    Any,
}

impl Rule {
    /// What a declaration need not repeat.
    pub const DEFAULTS: Self = Self {
        name: "",
        family: Family::Document,
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "",
        on: &[],
        inventory: &[],
        upgrade_only: false,
        supersedes: &[],
        check: |_, _, _| {},
    };

    /// Whether the rule reads an object.
    pub fn applies(&self, object: Object<'_>) -> bool {
        self.on.iter().any(|on| match on {
            On::Kind(kind) => object.is(*kind),
            On::Group(group) => object.group() == *group,
            On::Workload => object.pod().is_some(),
            On::IamPolicy => iam_policy::holds(object),
            On::ChartValues => chart_values::of(object).is_some(),
            On::Any => true,
        })
    }

    /// Whether the rule reads this kind of object in particular, and runs under `check`.
    pub fn reads(&self, object: Object<'_>) -> bool {
        !self.upgrade_only && !self.on.contains(&On::Any) && self.applies(object)
    }
}

/// The strongest fix that a rule offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fixes {
    /// No fix.
    None,
    /// Edits that keep what the author meant.
    Safe,
    /// Edits that the author has to review.
    Unsafe,
}

impl Fixes {
    /// `none`, `safe` or `unsafe`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Safe => "safe",
            Self::Unsafe => "unsafe",
        }
    }
}

/// The rules of a program. Settings, suppressions and the driver find rules only here.
#[derive(Clone, Copy, Debug)]
pub struct Registry {
    /// The rules, family by family, in the order in which they are listed.
    pub families: &'static [&'static [&'static Rule]],
    /// The rules whose findings the driver makes itself.
    pub suppressions: SuppressionRules,
    /// The names of the symptoms that settings may name beside rules.
    pub symptoms: fn() -> Vec<&'static str>,
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
    /// The same rules in a program that knows symptoms too.
    #[must_use]
    pub const fn with_symptoms(self, symptoms: fn() -> Vec<&'static str>) -> Self {
        Self { symptoms, ..self }
    }

    /// All rules in the order in which they are listed.
    pub fn rules(&self) -> impl Iterator<Item = &'static Rule> + Clone + use<> {
        self.families.iter().copied().flatten().copied()
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
        pub(crate) static RULE: $crate::rule::Rule = $crate::rule::Rule {
            $($fields)*
            ..$crate::rule::Rule::DEFAULTS
        };

        /// The doc comment, each line with its leading space.
        pub(super) const DOC: &str = concat!($($doc, "\n"),*);
    };
}

/// Declares the rules of a family, one module each.
#[macro_export]
macro_rules! family {
    ($($rule:ident),* $(,)?) => {
        $(pub(crate) mod $rule;)*

        /// The rules of this family.
        pub(super) const RULES: &[&$crate::rule::Rule] = &[$(&$rule::RULE),*];

        /// Module path and documentation of each rule, in the same order.
        pub(super) const DOCS: &[(&str, &str)] =
            &[$((concat!(module_path!(), "::", stringify!($rule)), $rule::DOC)),*];
    };
}
