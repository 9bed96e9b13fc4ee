//! The input of a rule besides the object that it checks.

use std::cell::OnceCell;

use karpenter::kind::Kind;
use karpenter::release::PinnedVersion;
use manifest::limits::Limits;
use objects::budget::{self, Budget};
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::validation::{self, Refusal};
use userdata::parts::ParsedParts;

use crate::settings::Settings;
use cluster::charts::{LocalChart, LocalCharts};
use cluster::evidence::KarpenterEvidence;
use cluster::inventory::Inventory;

/// The input of a rule besides the object that it checks.
#[derive(Debug)]
pub struct Context<'c, 'd> {
    /// The settings of the check.
    pub settings: &'c Settings,
    /// The objects of the same cluster.
    pub inventory: &'c Inventory<'d>,
    /// All clusters of the check, including this one.
    pub clusters: &'c [Inventory<'d>],
    /// Whether the object comes from a text. An object from an API server has been pruned already.
    pub is_text: bool,
    /// The version of Karpenter that the input pins for the object, if the version is below 1.0.
    pub version_before_v1: Option<PinnedVersion>,
    /// The objects of the whole input, if folders of the input look like several clusters.
    input: Option<&'c Inventory<'d>>,
    /// The files of the cluster; `None` for a request, because only a cluster with Karpenter has the policy.
    evidence: Option<&'c KarpenterEvidence<'d>>,
    /// The charts of the cluster whose folders are in the input.
    charts: Option<&'c LocalCharts>,
    /// The object that the rules check.
    object: Object<'d>,
    /// Its refusals, computed when a rule first asks for them.
    refusals: OnceCell<Vec<Refusal<'d>>>,
    /// The parsed parts of its user data.
    user_data: ParsedParts,
    /// Its disruption budgets, parsed when a rule first asks for them.
    budgets: OnceCell<Option<Vec<Budget<'d>>>>,
}

impl<'c, 'd> Context<'c, 'd> {
    /// The context of one object among the objects of its cluster.
    pub fn new(
        settings: &'c Settings,
        inventory: &'c Inventory<'d>,
        clusters: &'c [Inventory<'d>],
        object: Object<'d>,
        is_text: bool,
    ) -> Self {
        Self {
            settings,
            inventory,
            clusters,
            is_text,
            version_before_v1: None,
            input: None,
            evidence: None,
            charts: None,
            object,
            refusals: OnceCell::new(),
            user_data: ParsedParts::sharing(values_left(object)),
            budgets: OnceCell::new(),
        }
    }

    /// The same context for an object that the input pins to a version below 1.0.
    pub fn before_v1(self, version: Option<PinnedVersion>) -> Self {
        Self { version_before_v1: version, ..self }
    }

    /// The same context for an object in files that show whether Karpenter runs in their cluster.
    pub fn with_evidence(self, evidence: &'c KarpenterEvidence<'d>) -> Self {
        Self { evidence: Some(evidence), ..self }
    }

    /// The same context for an object in files that may hold charts.
    pub fn with_charts(self, charts: &'c LocalCharts) -> Self {
        Self { charts: Some(charts), ..self }
    }

    /// The same context for an object of an environment, with the objects of the whole input.
    pub fn among_environments(self, input: &'c Inventory<'d>) -> Self {
        Self { input: Some(input), ..self }
    }

    /// The object that the rules check.
    pub const fn object(&self) -> Object<'d> {
        self.object
    }

    /// The chart in the input to whose values the object, a document of values, belongs.
    pub fn local_chart(&self) -> Option<&'c LocalChart> {
        self.charts?.of_values(self.object.root().source().name())
    }

    /// Whether the objects of the cluster, or of a folder that looks like another cluster, have something. A rule asks this
    /// before it reports an absence: such folders may belong to the same cluster after all.
    pub fn anywhere(&self, has: impl Fn(&Inventory<'d>) -> bool) -> bool {
        has(self.inventory) || self.input.is_some_and(has)
    }

    /// Whether objects of a kind are only in folders that look like clusters, and the object is outside of these folders.
    /// Which of them the object meets is unknown, unless the input is complete.
    pub fn may_be_in_environment(&self, kind: Kind) -> bool {
        let count = |inventory: &Inventory<'d>| inventory.count(kind.group, kind.name);
        self.inventory.has_environments()
            && !self.inventory.is_complete()
            && self.input.is_some_and(|input| count(input) > count(self.inventory))
    }

    /// Whether anything shows that Karpenter runs in the cluster.
    pub fn shows_karpenter(&self) -> bool {
        // An upgrade of Karpenter is about a cluster with Karpenter.
        self.settings.karpenter.upgrade_path().is_some()
            || self.evidence.is_none_or(KarpenterEvidence::shows_karpenter)
    }

    /// The origin of the other objects, for messages.
    pub const fn scope(&self) -> &'static str {
        if self.is_text { "this input" } else { "the cluster" }
    }

    /// The parsed parts of the user data of the object, an EC2NodeClass.
    pub const fn user_data(&self) -> &ParsedParts {
        &self.user_data
    }

    /// The disruption budgets of the object, a NodePool, as [`budget::parse`] returns them.
    pub fn budgets(&self) -> Option<&[Budget<'d>]> {
        self.budgets.get_or_init(|| NodePool::of(self.object).and_then(budget::parse)).as_deref()
    }

    /// The refusals of the API server for the object that the rules check, in every release.
    pub fn refusals(&self) -> &[Refusal<'d>] {
        let keeps_unchanged = validation::keeps_unchanged_faults(self.settings.kubernetes_minor);
        self.refusals.get_or_init(|| validation::refusals(self.object, self.is_text, keeps_unchanged))
    }
}

/// The number of values that aliases in the user data of an object may make: what the document leaves of the bound on values. The objects
/// of a list share the rest by their length, and an object that an alias repeats has no part of it.
fn values_left(object: Object<'_>) -> usize {
    let root = object.root();
    if root.is_copied() {
        return 0;
    }
    let rest = Limits::DEFAULT.nodes.saturating_sub(root.tree().work()) as u64;
    let whole = root.tree().root().span().len().max(1) as u64;
    let part = (root.span().len() as u64).min(whole);
    usize::try_from(rest * part / whole).unwrap_or_default()
}
