//! The declaration of a rule.

use karpenter::api::served::is_own_group;
use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::object::{Form, Object, Operation};
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
    /// Names of families that the rule belonged to. Settings and suppressions that name them still select the rule.
    pub formerly: &'static [&'static str],
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
    /// Places where it can run.
    pub runs: Runs,
    /// The objects it reads.
    pub on: &'static [On],
    /// The operations on these objects for which it runs.
    pub reviews: Reviews,
    /// The other objects that it looks up.
    pub inventory: &'static [LookUp],
    /// Whether it looks up other objects for this object; if no rule does, the policy asks the cluster for nothing.
    pub looks_up: for<'d> fn(Object<'d>) -> bool,
    /// Runs only where the settings select it: reasonable people differ about its findings.
    pub opt_in: bool,
    /// The time to act on its findings in an upgrade.
    pub phase: Phase,
    /// The rules of family `api-server` whose refusals it explains: at the same key or value, only its finding is shown.
    pub supersedes: &'static [&'static str],
    /// Whether its findings hold only in a cluster with Karpenter. Where nothing shows that Karpenter runs, they are infos.
    pub depends_on_karpenter: bool,
    /// The rules that find the causes of its findings in a manifest, if its findings are diagnoses of a status. `karpwarden diagnose`
    /// shows them with the other diagnoses.
    pub diagnoses: Option<&'static [&'static str]>,
    /// Checks one object and adds its findings.
    pub check: Check,
}

/// Checks one object and adds its findings.
pub type Check = for<'d> fn(Object<'d>, &Context<'_, 'd>, &mut Vec<Finding<'d>>);

/// The objects of a kind that a rule looks up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookUp {
    /// Objects in a cluster or in files, with the fields that the rule reads, such as `spec.template.spec.taints`. For an admission
    /// request, the policy asks the cluster for these fields; `metadata` is always included.
    InCluster(Kind, &'static [&'static str]),
    /// Objects in files, and objects that a program passes to the library. The policy does not ask the cluster for them.
    InFiles(Kind),
}

impl LookUp {
    /// The kind.
    pub const fn kind(self) -> Kind {
        match self {
            Self::InCluster(kind, _) | Self::InFiles(kind) => kind,
        }
    }

    /// The kind and the fields that the policy asks the cluster for.
    pub const fn in_cluster(self) -> Option<(Kind, &'static [&'static str])> {
        match self {
            Self::InCluster(kind, fields) => Some((kind, fields)),
            Self::InFiles(_) => None,
        }
    }
}

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
    /// Values of another Helm chart, whose folder is in the input.
    LocalValues,
    /// Objects whose `apiVersion` or `kind` is missing or misspelt.
    Untyped,
    /// Rules of the Prometheus operator, alert files, and dashboards of Grafana.
    MetricQueries,
    /// Every object.
    Any,
}

impl On {
    /// Whether the objects include objects of Karpenter.
    const fn includes_karpenter(&self) -> bool {
        match self {
            Self::Kind(kind) => is_own_group(kind.group),
            Self::Group(group) => is_own_group(group),
            Self::Any => true,
            Self::Workload
            | Self::IamPolicy
            | Self::ChartValues
            | Self::LocalValues
            | Self::Untyped
            | Self::MetricQueries => false,
        }
    }

    /// Whether rules for these objects read an object.
    fn includes(self, subject: &Subject<'_>) -> bool {
        match self {
            Self::Kind(kind) => {
                subject.kind == kind.name && subject.group == kind.group && subject.version == kind.version
            }
            Self::Group(group) => subject.group == group,
            Self::Workload => subject.is_workload,
            Self::IamPolicy => subject.holds_policies,
            Self::ChartValues => subject.holds_chart_values,
            Self::LocalValues => subject.form == Form::LocalValues,
            Self::Untyped => subject.form == Form::Untyped,
            Self::MetricQueries => subject.holds_metric_queries,
            Self::Any => true,
        }
    }
}

/// The operations on an object for which a rule runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reviews {
    /// The object itself, as it is written, created or updated.
    Objects,
    /// A change: the rule compares the object of an update with the stored one.
    Updates,
    /// The deletion of the object.
    Deletions,
}

impl Reviews {
    /// Whether the rule runs for an operation.
    pub fn include(self, operation: Operation) -> bool {
        match self {
            Self::Objects => operation != Operation::Delete,
            Self::Updates => operation == Operation::Update,
            Self::Deletions => operation == Operation::Delete,
        }
    }
}

/// The properties of an object that select its rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::struct_excessive_bools, reason = "independent properties of an object")]
pub struct Subject<'d> {
    kind: &'d str,
    group: &'d str,
    version: &'d str,
    operation: Operation,
    is_workload: bool,
    form: Form,
    holds_policies: bool,
    holds_chart_values: bool,
    holds_metric_queries: bool,
}

impl<'d> Subject<'d> {
    /// The properties of an object.
    pub fn of(object: Object<'d>) -> Self {
        Self {
            kind: object.kind(),
            group: object.group(),
            version: object.version(),
            operation: object.operation(),
            is_workload: object.pod().is_some(),
            form: object.form(),
            holds_policies: iam_policy::holds(object),
            holds_chart_values: chart_values::of(object).is_some(),
            holds_metric_queries: metric_queries::holds(object),
        }
    }

    /// Whether a rule reads the object.
    pub fn concerns(&self, rule: &Rule) -> bool {
        rule.reviews.include(self.operation) && rule.on.iter().any(|on| on.includes(self))
    }
}

impl Rule {
    /// Default values of the fields.
    pub const DEFAULTS: Self = Self {
        name: "",
        family: Family::Document,
        formerly: &[],
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "",
        runs: Runs::InAdmission,
        on: &[],
        reviews: Reviews::Objects,
        inventory: &[],
        looks_up: |_| true,
        opt_in: false,
        phase: Phase::Before,
        supersedes: &[],
        depends_on_karpenter: false,
        diagnoses: None,
        check: |_, _, _| {},
    };

    /// Whether an object that this rule reads counts as checked: `check` runs the rule, and `on` names this kind of object
    /// rather than every object.
    pub fn counts_as_checked(&self) -> bool {
        self.runs != Runs::OnUpgrade && !self.on.contains(&On::Any)
    }

    /// The kinds and fields that it looks up in a cluster.
    pub fn in_cluster(&self) -> impl Iterator<Item = (Kind, &'static [&'static str])> + use<> {
        self.inventory.iter().filter_map(|look_up| look_up.in_cluster())
    }

    /// The names that select the rule.
    pub const fn names(&self) -> RuleNames {
        RuleNames { name: self.name, family: self.family, formerly: self.formerly }
    }

    /// Whether it reads objects of Karpenter.
    pub(crate) const fn reads_karpenter(&self) -> bool {
        let mut on = self.on;
        while let [first, others @ ..] = on {
            if first.includes_karpenter() {
                return true;
            }
            on = others;
        }
        false
    }
}

/// The names by which settings and suppressions select a rule or a symptom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleNames {
    /// The name of the rule or symptom.
    pub name: &'static str,
    /// Its family.
    pub family: Family,
    /// Names of families that it belonged to.
    pub formerly: &'static [&'static str],
}

impl RuleNames {
    /// The names of a symptom.
    pub const fn of_symptom(name: &'static str) -> Self {
        Self { name, family: Family::Symptoms, formerly: &[] }
    }

    /// Whether it belongs to a family with this name, or belonged to it.
    pub fn is_in(self, family: &str) -> bool {
        self.family.name() == family || self.formerly.contains(&family)
    }

    /// Every name: its own, the name of its family, and the names of its former families.
    pub fn all(self) -> impl Iterator<Item = &'static str> {
        [self.name, self.family.name()].into_iter().chain(self.formerly.iter().copied())
    }
}

/// The place where a rule can run, by what it has to see. A rule also runs in the places that see more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// In an admission request: the object and the fields in `inventory` are enough.
    InAdmission,
    /// On files that may hold only Karpenter's own objects: it needs NodePools or node classes whole, of which the policy looks
    /// up only parts, or their text, which a request does not have.
    OnKarpenterFiles,
    /// On files: it reads or compares other objects, such as pods, IAM policies or chart values, that no request has and that the
    /// policy does not look up.
    OnFiles,
    /// Only under `karpwarden upgrade`.
    OnUpgrade,
}

/// The time to act on a finding in an upgrade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "lowercase")]
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
