//! Judgements about disruption as front ends run them: calendar, nodes, methods and drains of a cluster, and the result as
//! JSON.

pub mod json;
mod obstacle;
pub mod overview;
pub mod story;
pub mod words;

use std::collections::{BTreeMap, BTreeSet};

use disruption::allowance::{DisruptionReason, PoolBudgets, RefusedPool};
use disruption::calendar::{Calendar, CalendarInterval, Pace};
use disruption::cluster::ClusterState;
use disruption::drain::{DrainEstimate, estimate};
use disruption::judgement::{JudgedMethod, JudgedNode, Judgement, judge};
use disruption::methods::{Alone, Method};
use disruption::settings::DisruptionSettings;
use karpenter::release::Release;
use manifest::tree::Node;
use objects::controller::Controller;
use objects::feature_gates::FeatureGates;
use objects::node_claim::NodeClaimSpec;
use objects::node_pool::NodePool;
use objects::object::Object;
use scheduling::simulation::SimulationSettings;
use values::duration::Duration;
use values::timestamp::Timestamp;

pub use obstacle::FirstObstacle;

/// The gate that lets spot nodes replace spot nodes. It is off by default.
const SPOT_TO_SPOT: &str = "SpotToSpotConsolidation";

/// The number of nodes of a NodePool where the input shows none: percentages read as numbers.
const ASSUMED_NODES: usize = 100;

/// Facts about the cluster that the user adds to the input.
#[derive(Clone, Debug)]
pub struct Question {
    /// The time to judge at.
    pub at: Timestamp,
    /// The number of nodes, by NodePool.
    pub node_counts: BTreeMap<String, usize>,
    /// The nodes that are nominated for a pending pod.
    pub nominated: BTreeSet<String>,
    /// The nodes that the controller has marked for deletion.
    pub marked_for_deletion: BTreeSet<String>,
    /// Feature gates of the controller.
    pub feature_gates: BTreeMap<String, bool>,
    /// The node whose consolidation is judged even if another node comes first.
    pub alone: Option<String>,
}

/// Disruption in a NodePool.
#[derive(Clone, Debug)]
pub struct PoolDisruption<'d> {
    /// The name.
    pub name: &'d str,
    /// The object.
    pub pool: NodePool<'d>,
    /// The budgets, or the text with which the controller's client refuses the NodePool.
    pub budgets: Result<PoolBudgets<'d>, RefusedPool>,
    /// The nodes that budgets count.
    pub nodes: usize,
    /// Of these, the nodes that are not ready or going. They use up the budgets.
    pub unavailable: usize,
    /// Whether the input shows no nodes and the number is an assumption.
    pub is_assumed: bool,
    /// The time that a node takes, where the input shows it.
    pub pace: Option<Pace>,
}

/// Week of a NodePool.
#[derive(Clone, Debug)]
pub struct SharedWeek {
    /// The reasons for disruption that have this week.
    pub reasons: Vec<DisruptionReason>,
    /// The allowed numbers, in the order of time.
    pub intervals: Vec<CalendarInterval>,
}

/// Disruption in a cluster: budgets, nodes, methods and drains.
#[derive(Clone, Debug)]
pub struct ClusterDisruption<'d> {
    /// The time.
    pub at: Timestamp,
    /// The release.
    pub release: Release,
    /// The nodes, and the commands of each method.
    pub judgement: Judgement<'d>,
    /// The NodePools, by name.
    pub pools: Vec<PoolDisruption<'d>>,
    /// The estimated termination of each node, by name.
    pub drains: Vec<(&'d str, DrainEstimate<'d>)>,
    /// The first method that disrupts a node, by the name of the node.
    disrupted: BTreeMap<String, Method>,
    /// The reasons of methods against a node, by the name of the node, in the order of the methods.
    rejections: BTreeMap<String, Vec<(Method, String)>>,
}

/// Judges the cluster that objects describe.
pub fn answer<'d>(
    question: &Question,
    settings: SimulationSettings,
    objects: &[Object<'d>],
) -> ClusterDisruption<'d> {
    let settings = disruption_settings(question, settings, objects);
    let release = settings.release();
    let judgement = judge(objects, &settings, None);
    let cluster = ClusterState::of(objects, &settings);
    let drains = estimate(&cluster, objects, question.at, release);
    let pools = judgement.pools.iter().filter_map(|pool| {
        let (name, view) = cluster.pools.get_key_value(pool.name.as_str())?;
        let counted = question.node_counts.get(*name);
        let shows_nodes = !cluster.nodes.is_empty();
        let (nodes, unavailable) = match counted {
            Some(count) => (*count, 0),
            None if shows_nodes => (pool.count.nodes, pool.count.unavailable),
            None => (ASSUMED_NODES, 0),
        };
        let is_assumed = counted.is_none() && !shows_nodes;
        let pace = pace(*view, &judgement.nodes, &drains).filter(|_| !is_assumed);
        let budgets = PoolBudgets::parse(*view, release);
        Some(PoolDisruption { name, pool: *view, budgets, nodes, unavailable, is_assumed, pace })
    });
    let pools = pools.collect();
    let (disrupted, rejections) = (disrupted(&judgement), rejections(&judgement));
    ClusterDisruption { at: question.at, release, judgement, pools, drains, disrupted, rejections }
}

impl<'d> ClusterDisruption<'d> {
    /// The reasons that budgets limit.
    pub fn reasons(&self) -> Vec<DisruptionReason> {
        DisruptionReason::of_release(self.release)
    }

    /// The weeks of a NodePool, with the reasons that share them. Empty if the client refuses the NodePool.
    pub fn weeks(&self, pool: &PoolDisruption<'_>) -> Vec<SharedWeek> {
        let mut weeks: Vec<SharedWeek> = Vec::new();
        for reason in self.reasons() {
            let intervals = pool.week(self.at, reason);
            match weeks.iter_mut().find(|present| present.intervals == intervals) {
                Some(present) => present.reasons.push(reason),
                None if intervals.is_empty() => {}
                None => weeks.push(SharedWeek { reasons: vec![reason], intervals }),
            }
        }
        weeks
    }

    /// A node by name.
    pub fn node(&self, name: &str) -> Option<&JudgedNode<'d>> {
        let nodes = &self.judgement.nodes;
        let index = nodes.binary_search_by_key(&name, |node| node.node.name()).ok()?;
        nodes.get(index)
    }

    /// The estimated termination of a node.
    pub fn drain(&self, name: &str) -> Option<&DrainEstimate<'d>> {
        let index = self.drains.binary_search_by_key(&name, |(node, _)| *node).ok()?;
        self.drains.get(index).map(|(_, estimate)| estimate)
    }

    /// The first method that disrupts a node.
    pub fn disrupted_by(&self, name: &str) -> Option<Method> {
        self.disrupted.get(name).copied()
    }

    /// Whether the simulation of a node takes too much work, so that the fate of the node is unknown.
    pub fn is_undecided(&self) -> bool {
        let alone = |node: &JudgedNode<'_>| matches!(node.alone, Some(Alone::Undecided));
        self.judgement.methods.iter().any(|method| !method.undecided.is_empty())
            || self.judgement.nodes.iter().any(alone)
    }

    /// The reasons of methods against a node, in Karpenter's words, and the simulations that take too much work.
    pub fn rejections(&self, name: &str) -> &[(Method, String)] {
        self.rejections.get(name).map(Vec::as_slice).unwrap_or_default()
    }
}

impl PoolDisruption<'_> {
    /// The allowed numbers for a reason in the week after a time. Empty if the client refuses the NodePool.
    pub fn week(&self, at: Timestamp, reason: DisruptionReason) -> Vec<CalendarInterval> {
        let Ok(budgets) = &self.budgets else { return Vec::new() };
        Calendar::of_week(budgets, at).intervals(reason, self.nodes)
    }

    /// The rest of an allowed number: nodes that are not ready or going use it up.
    pub fn left(&self, allowed: i64) -> i64 {
        match i64::try_from(self.unavailable) {
            Ok(0) => allowed,
            Ok(unavailable) => allowed.saturating_sub(unavailable).max(0),
            Err(_) => 0,
        }
    }
}

fn disrupted(judgement: &Judgement<'_>) -> BTreeMap<String, Method> {
    let mut disrupted = BTreeMap::new();
    for judged in &judgement.methods {
        for candidate in judged.commands.iter().flat_map(|command| &command.candidates) {
            disrupted.entry(candidate.clone()).or_insert(judged.method);
        }
    }
    disrupted
}

fn rejections(judgement: &Judgement<'_>) -> BTreeMap<String, Vec<(Method, String)>> {
    let mut rejections: BTreeMap<String, Vec<(Method, String)>> = BTreeMap::new();
    for judged in &judgement.methods {
        for (node, message) in rejections_of(judged) {
            rejections.entry(node.to_owned()).or_default().push((judged.method, message.to_owned()));
        }
        for node in &judged.undecided {
            rejections.entry(node.clone()).or_default().push((judged.method, words::UNDECIDED.to_owned()));
        }
    }
    rejections
}

/// The nodes that a method looks at and does not disrupt, with Karpenter's text.
fn rejections_of(method: &JudgedMethod) -> impl Iterator<Item = (&str, &str)> {
    // The node already has the obstacles to every method.
    let fitting = method.events.iter().filter(|event| event.reason != "DisruptionBlocked");
    let all = fitting.chain(&method.compute_events).filter(|event| {
        matches!(event.reason, "Unconsolidatable" | "ConsolidationRejected" | "DisruptionBlocked")
    });
    all.filter_map(|event| Some((event.on.strip_prefix("Node/")?, event.message.as_str())))
}

fn disruption_settings(
    question: &Question,
    simulation: SimulationSettings,
    objects: &[Object<'_>],
) -> DisruptionSettings {
    let mut settings = DisruptionSettings::new(simulation.release, question.at);
    settings.simulation = SimulationSettings {
        whole_state: settings.simulation.whole_state,
        reservation_fallback: settings.simulation.reservation_fallback,
        ..simulation
    };
    let controllers: Vec<Controller<'_>> =
        objects.iter().filter_map(|object| Controller::of(*object)).collect();
    let gate = question.feature_gates.get(SPOT_TO_SPOT).copied();
    let shown = FeatureGates::of(objects, &controllers).get(SPOT_TO_SPOT);
    settings.spot_to_spot = gate.or(shown).unwrap_or_default();
    settings.nominated = question.nominated.iter().map(|name| (name.clone(), question.at)).collect();
    settings.alone = question.alone.iter().cloned().collect();
    settings.marked_for_deletion.clone_from(&question.marked_for_deletion);
    settings
}

/// The pace of a NodePool: its nodes in parallel, each for the longest drain that has a limit. Where no node shows a drain,
/// one node at a time for `terminationGracePeriod` of the NodePool; without it, the pace is unknown.
fn pace(pool: NodePool<'_>, nodes: &[JudgedNode<'_>], drains: &[(&str, DrainEstimate<'_>)]) -> Option<Pace> {
    let own: BTreeSet<&str> = nodes
        .iter()
        .filter(|node| node.node.pool() == pool.object().name())
        .map(|node| node.node.name())
        .collect();
    let longest =
        drains.iter().filter(|(name, _)| own.contains(name)).filter_map(|(_, one)| one.longest).max();
    if let Some(per_node) = longest {
        return Some(Pace { per_node, one_at_a_time: false });
    }
    let written = pool.claim_spec().and_then(NodeClaimSpec::termination_grace_period).and_then(Node::as_str);
    let per_node = Duration::parse(written?).ok()?;
    Some(Pace { per_node, one_at_a_time: true })
}
