//! The rules, and their registry. One file a rule, in a folder for each thing that goes wrong.
//!
//! A rule's file holds its documentation (the doc comment of its `RULE`), its metadata, its check and its tests. The
//! documentation is kept beside the registry, not in it, so that a build which never prints it does not carry it.

use crate::check::Context;
use crate::finding::{CaughtBy, Draft, Family, Severity};
pub(crate) use crate::karpenter::placeholder;
use crate::karpenter::{chart_values, iam_policy, release::Releases};
use crate::object::{Kind, Object};

/// What is known of a rule besides its documentation.
#[derive(Debug)]
pub struct Rule {
    /// The name: kebab-case, says what is wrong, never changes.
    pub name: &'static str,
    /// The thing that goes wrong.
    pub family: Family,
    /// The severity of its findings, where a finding says no other.
    pub severity: Severity,
    /// Who else would have told, where a finding says no other.
    pub caught_by: CaughtBy,
    /// The releases in which what it finds is wrong, where a finding says no others.
    pub releases: Releases,
    /// The strongest fix it offers.
    pub fix: Fixes,
    /// The objects it reads.
    pub on: &'static [On],
    /// The kinds it looks up beside the object it checks.
    pub inventory: &'static [Kind],
    /// It speaks of what changes from one release to another, and only where that is asked for.
    pub upgrade_only: bool,
    /// Looks at one object and adds what it finds.
    pub check: Check,
}

/// Looks at one object and adds what it finds.
pub type Check = for<'d> fn(Object<'d>, &Context<'_, 'd>, &mut Vec<Draft<'d>>);

/// What a rule about upgrades does: nothing in a build that never looks at a way between releases, such as the policy,
/// which knows its name all the same, as the settings are the same at every door.
const fn on_the_way(check: Check) -> Check {
    if cfg!(feature = "upgrade") { check } else { |_, _, _| {} }
}

/// The objects that a rule reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// The objects of one kind, in the version given there.
    Kind(Kind),
    /// Every object of an API group, whatever its version.
    Group(&'static str),
    /// Pods, and whatever has a pod template.
    Workload,
    /// Whatever holds IAM policies: a document of its own, a resource of a stack, an operator's object.
    IamPolicy,
    /// Values of Karpenter's Helm chart, in a document of their own or in an object that installs the chart.
    ChartValues,
    /// Every object.
    Any,
}

impl Rule {
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

    /// Whether the rule reads this kind of object in particular, whatever is asked for.
    pub fn reads(&self, object: Object<'_>) -> bool {
        !self.upgrade_only && !self.on.contains(&On::Any) && self.applies(object)
    }
}

/// What kind of fix a rule offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fixes {
    /// None: advice only.
    None,
    /// Edits that mean what the author meant.
    Safe,
    /// Edits that have to be looked at first.
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

/// Declares a rule: `RULE`, and its doc comment as text. `UPGRADE` in the place of `RULE` declares one that speaks only of
/// the way from one release to another.
macro_rules! rule {
    ($(#[doc = $doc:literal])* RULE {
        name: $name:expr, family: $family:expr, severity: $severity:expr, caught_by: $caught_by:expr,
        releases: $releases:expr, fix: $fix:expr, summary: $summary:expr, $($field:ident: $value:expr),* $(,)?
    }) => {
        $(#[doc = $doc])*
        pub(crate) static RULE: $crate::rules::Rule = $crate::rules::Rule {
            name: $name,
            family: $family,
            severity: $severity,
            caught_by: $caught_by,
            releases: $releases,
            fix: $fix,
            upgrade_only: false,
            $($field: $value),*
        };

        pub(super) const SUMMARY: &str = $summary;

        /// The doc comment, with a blank before every line.
        pub(super) const DOC: &str = concat!($($doc, "\n"),*);
    };
    ($(#[doc = $doc:literal])* UPGRADE {
        name: $name:expr, family: $family:expr, severity: $severity:expr, caught_by: $caught_by:expr,
        releases: $releases:expr, summary: $summary:expr, $($field:ident: $value:expr),* $(,)?
    }) => {
        $(#[doc = $doc])*
        pub(crate) static RULE: $crate::rules::Rule = $crate::rules::Rule {
            name: $name,
            family: $family,
            severity: $severity,
            caught_by: $caught_by,
            releases: $releases,
            fix: $crate::rules::Fixes::None,
            upgrade_only: true,
            check: $crate::rules::on_the_way(check),
            $($field: $value),*
        };

        pub(super) const SUMMARY: &str = $summary;

        /// The doc comment, with a blank before every line.
        pub(super) const DOC: &str = concat!($($doc, "\n"),*);
    };
}

/// Declares the rules of a family: a module each.
macro_rules! family {
    ($($rule:ident),* $(,)?) => {
        $(pub(crate) mod $rule;)*

        /// The rules of this family.
        pub(super) const RULES: &[&$crate::rules::Rule] = &[$(&$rule::RULE),*];

        /// What each tells in one sentence, in the same order.
        pub(super) const SUMMARIES: &[&str] = &[$($rule::SUMMARY),*];

        /// Their documentation, in the same order.
        pub(super) const DOCS: &[&str] = &[$($rule::DOC),*];
    };
}

mod ami_family;
mod api_server;
mod bootstrap;
mod controller;
mod disruption;
pub(crate) mod document;
mod identity;
mod labels;
#[cfg(test)]
mod meta;
mod nodeclass;
mod requirements;
mod storage;
#[cfg(test)]
pub(crate) mod testing;
mod upgrade;

/// The rules of every family, in the order in which they are listed. The last are no family but the rules about upgrades,
/// each of which is of the family of what goes wrong.
const RULES: [&[&Rule]; 10] = [
    api_server::RULES,
    bootstrap::RULES,
    controller::RULES,
    disruption::RULES,
    document::RULES,
    identity::RULES,
    labels::RULES,
    nodeclass::RULES,
    storage::RULES,
    upgrade::RULES,
];

/// What each tells in one sentence. Apart from the rules, as is their documentation, so that a module which never prints
/// either does not carry it.
const SUMMARIES: [&[&str]; 10] = [
    api_server::SUMMARIES,
    bootstrap::SUMMARIES,
    controller::SUMMARIES,
    disruption::SUMMARIES,
    document::SUMMARIES,
    identity::SUMMARIES,
    labels::SUMMARIES,
    nodeclass::SUMMARIES,
    storage::SUMMARIES,
    upgrade::SUMMARIES,
];

/// Their documentation.
const DOCS: [&[&str]; 10] = [
    api_server::DOCS,
    bootstrap::DOCS,
    controller::DOCS,
    disruption::DOCS,
    document::DOCS,
    identity::DOCS,
    labels::DOCS,
    nodeclass::DOCS,
    storage::DOCS,
    upgrade::DOCS,
];

/// The rule that says that a kind or version is not served at all.
pub(crate) const NOT_SERVED: &str = "removed-api-version";

/// The rules that say that a field is not known, and that fields do not go together.
pub(crate) const UNKNOWN_FIELD: &str = "api-unknown-field";
pub(crate) const RELATION: &str = "api-rule";

/// All rules.
pub fn all() -> All {
    All { family: 0, rule: 0 }
}

/// What [`all`] goes through.
#[derive(Clone, Debug)]
pub struct All {
    family: usize,
    rule: usize,
}

impl Iterator for All {
    type Item = &'static Rule;

    // One copy of it keeps the policy module small.
    #[inline(never)]
    fn next(&mut self) -> Option<&'static Rule> {
        loop {
            let rules = RULES.get(self.family)?;
            if let Some(rule) = rules.get(self.rule) {
                self.rule += 1;
                return Some(rule);
            }
            self.family += 1;
            self.rule = 0;
        }
    }
}

/// The rule of a name.
pub fn find(name: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.name == name)
}

/// What one of two tables holds of a rule.
fn look_up(table: [&[&'static str]; 10], rule: &Rule) -> &'static str {
    let texts = table.into_iter().flatten().copied();
    all().zip(texts).find(|(other, _)| other.name == rule.name).map_or("", |(_, text)| text)
}

/// What a rule tells, in one sentence without a full stop.
pub fn summary(rule: &Rule) -> &'static str {
    look_up(SUMMARIES, rule)
}

/// A rule's documentation as Markdown, without its title.
pub fn documentation(rule: &Rule) -> String {
    let lines = look_up(DOCS, rule).lines().map(|line| line.strip_prefix(' ').unwrap_or(line));
    let mut markdown = lines.collect::<Vec<_>>().join("\n").trim().to_owned();
    markdown.push('\n');
    markdown
}
