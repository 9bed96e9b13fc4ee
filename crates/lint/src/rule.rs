//! The rule contract: the declaration of a rule, and the findings that its check returns.
//!
//! [`Rule`] and [`Finding`] refer to each other, so they share this file.

use karpenter::kind::Kind;
use karpenter::release::{ReleaseSet, Releases};
use manifest::edit::Change;
use manifest::tree::Node;
use objects::location::Place;
use objects::object::Object;
use objects::{chart_values, iam_policy};

use crate::classification::{CaughtBy, Family, Severity};
use crate::context::Context;
use crate::fix::Fix;

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
    /// The kinds of other objects that it looks up.
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
    /// Objects of one kind in one version.
    Kind(Kind),
    /// Every object of an API group, in any version.
    Group(&'static str),
    /// Pods, and every object with a pod template.
    Workload,
    /// Every object with IAM policies: a policy document, a CloudFormation resource, an operator's object.
    IamPolicy,
    /// Values of Karpenter's Helm chart, in a values file or in an object that installs the chart.
    ChartValues,
    /// Every object.
    Any,
}

impl Rule {
    /// Default values of the fields.
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

    /// Whether the rule runs under `check` and names this kind of object, rather than every object.
    pub fn reads(&self, object: Object<'_>) -> bool {
        !self.upgrade_only && !self.on.contains(&On::Any) && self.applies(object)
    }
}

/// The strongest fix that a rule offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fixes {
    /// No fix.
    None,
    /// Edits that keep the intent of the author.
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

/// A finding of a rule.
#[derive(Debug)]
pub struct Finding<'d> {
    /// The rule that found it.
    pub rule: &'static Rule,
    /// The place it is reported at.
    pub place: Place<'d>,
    /// The problem, in one sentence without a full stop.
    pub message: String,
    /// The remedy, in one or two sentences; empty if unknown.
    pub help: String,
    /// The severity.
    pub severity: Severity,
    /// The component that would otherwise report the problem.
    pub caught_by: CaughtBy,
    /// The releases for which the finding holds.
    pub releases: ReleaseSet,
    /// Related places, each with its message.
    pub related: Vec<(Place<'d>, String)>,
    /// The fix.
    pub fix: Option<Fix<'d>>,
    /// Further nodes at which the finding explains the refusals that its rule supersedes.
    pub explains: Vec<Node<'d>>,
}

impl<'d> Finding<'d> {
    /// A finding with the severity, the releases and the reporting component of its rule.
    pub fn new(rule: &'static Rule, place: Place<'d>, message: impl Into<String>) -> Self {
        Self {
            rule,
            place,
            message: message.into(),
            help: String::new(),
            severity: rule.severity,
            caught_by: rule.caught_by,
            releases: rule.releases.set(),
            related: Vec::new(),
            fix: None,
            explains: Vec::new(),
        }
    }

    /// A finding at a value.
    pub fn at(rule: &'static Rule, node: Node<'d>, message: impl Into<String>) -> Self {
        Self::new(rule, Place::value(node), message)
    }

    /// Sets the help.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }

    /// Sets the help to ``write `text` ``.
    pub fn write(self, text: &str) -> Self {
        self.help(format!("write `{text}`"))
    }

    /// Sets the severity.
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// Sets the component that would otherwise report the problem.
    pub fn caught_by(mut self, caught_by: CaughtBy) -> Self {
        self.caught_by = caught_by;
        self
    }

    /// Sets the releases for which the finding holds.
    pub fn releases(mut self, releases: impl Into<ReleaseSet>) -> Self {
        self.releases = releases.into();
        self
    }

    /// Adds a related place.
    pub fn related(mut self, place: Place<'d>, message: impl Into<String>) -> Self {
        self.related.push((place, message.into()));
        self
    }

    /// Adds a node at which the finding explains the refusals that its rule supersedes.
    pub fn explains(mut self, node: Node<'d>) -> Self {
        self.explains.push(node);
        self
    }

    /// Sets the fix.
    pub fn fix(mut self, fix: Fix<'d>) -> Self {
        self.fix = Some(fix);
        self
    }

    /// Sets a safe fix with one change.
    pub fn safe_fix(self, title: &str, change: Change<'d>) -> Self {
        self.fix(Fix::safe(title, vec![change]))
    }

    /// Sets an unsafe fix with one change.
    pub fn unsafe_fix(self, title: &str, change: Change<'d>) -> Self {
        self.fix(Fix::for_review(title, vec![change]))
    }

    /// Sets help and a safe fix that writes a value.
    pub fn set(self, node: Node<'d>, text: &str) -> Self {
        let finding = self.write(text);
        let title = finding.help.clone();
        finding.safe_fix(&title, Change::Set(node, text.to_owned()))
    }

    /// Sets help and an unsafe fix that renames a key.
    pub fn rename(self, node: Node<'d>, key: &str) -> Self {
        let finding = self.write(key);
        let title = finding.help.clone();
        finding.unsafe_fix(&title, Change::Rename(node, key.to_owned()))
    }
}
