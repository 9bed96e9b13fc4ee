//! The declaration of a rule.

use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::object::{Form, Object};
use objects::{chart_values, iam_policy, metric_queries};
use serde::Serialize;

use crate::classification::{CaughtBy, Family, Severity};
use crate::context::Context;
use crate::finding::Finding;

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
    /// Whether it looks up other objects for this object; if no rule does, the policy asks the cluster for nothing.
    pub looks_up: for<'d> fn(Object<'d>) -> bool,
    /// Runs only under `karpwarden upgrade`.
    pub upgrade_only: bool,
    /// Runs only where the settings select it: reasonable people differ about its findings.
    pub opt_in: bool,
    /// The time to act on its findings in an upgrade.
    pub phase: Phase,
    /// The rules of family `api-server` whose refusals it explains: at the same key or value, only its finding is shown.
    pub supersedes: &'static [&'static str],
    /// Whether its findings hold only in a cluster with Karpenter. Where nothing shows that Karpenter runs, they are infos.
    pub depends_on_karpenter: bool,
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
    /// Objects whose `apiVersion` or `kind` is missing or misspelt.
    Untyped,
    /// Rules of the Prometheus operator, alert files, and dashboards of Grafana.
    MetricQueries,
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
        looks_up: |_| true,
        upgrade_only: false,
        opt_in: false,
        phase: Phase::Before,
        supersedes: &[],
        depends_on_karpenter: false,
        check: |_, _, _| {},
    };

    /// Whether the object is one that `on` names.
    pub fn applies(&self, object: Object<'_>) -> bool {
        self.on.iter().any(|on| match on {
            On::Kind(kind) => object.is(*kind),
            On::Group(group) => object.group() == *group,
            On::Workload => object.pod().is_some(),
            On::IamPolicy => iam_policy::holds(object),
            On::ChartValues => chart_values::of(object).is_some(),
            On::Untyped => object.form() == Form::Untyped,
            On::MetricQueries => metric_queries::holds(object),
            On::Any => true,
        })
    }

    /// Whether the object counts as checked because of this rule: `check` runs it, and `on` names this kind of object
    /// rather than every object.
    pub fn counts_as_checked(&self, object: Object<'_>) -> bool {
        !self.upgrade_only && !self.on.contains(&On::Any) && self.applies(object)
    }
}

/// The time to act on a finding in an upgrade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Before the release is installed.
    Before,
    /// In the same step as the release.
    With,
    /// When the release runs.
    After,
}

impl Phase {
    /// `before`, `with` or `after`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::With => "with",
            Self::After => "after",
        }
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
