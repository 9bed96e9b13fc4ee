//! The rollout while it is forecast.

use std::collections::{BTreeMap, BTreeSet};

use objects::object::Object;
use scheduling::simulation::SimulatedCluster;
use values::duration::Duration;
use values::timestamp::Timestamp;

use super::ForecastSettings;
use super::clock::{RolloutClock, RolloutEvent};
use super::count::PoolCounters;
use super::pass::PassResult;
use super::result::{Forecast, ForecastChange, LimitedBy, RolloutChange};
use super::turns::{Turn, Turns};
use super::wait::Waits;
use crate::blocker::NodeBlocker;
use crate::candidate::price;
use crate::cluster::{ClusterState, StateNode};
use crate::drain::{DrainReason, Drains, expires_at};
use crate::settings::DisruptionSettings;

/// Namespace and name of a pod.
pub(super) type MovedPodKey<'s> = (&'s str, &'s str);

/// Part of the steps that may be spent on passes that try every node.
const PART_OF_FULL_PASSES: u64 = 16;
/// Number of nodes and pods whose steps a forecast of fewer may also take.
const MIN_PARTS: usize = 10_000;

/// Time after which a NodeClaim without a node is deleted (`registrationTTL` in pkg/controllers/nodeclaim/lifecycle/liveness.go of
/// kubernetes-sigs/karpenter at v1.14.1). A node that has not started by then is taken to stay as it is.
const REGISTRATION: Duration = Duration::from_minutes(15);

/// Drifted node.
#[derive(Debug, Default)]
pub(super) struct Drifting<'d> {
    pub(super) pool: &'d str,
    /// The place in the order of candidates, while the node waits.
    pub(super) turn: Option<Turn<'d>>,
    pub(super) blocker: Option<NodeBlocker<'d>>,
    /// Whether the pods of the node found no place.
    pub(super) has_failed: bool,
    /// Karpenter's message about them, at the end.
    pub(super) failure: String,
    /// The pods whose end makes room for them.
    pub(super) ending: Vec<String>,
    pub(super) start: Option<Timestamp>,
    pub(super) end: Option<Timestamp>,
    pub(super) never: bool,
    pub(super) drain: Vec<DrainReason<'d>>,
    /// The time at which the NodeClaim expires.
    pub(super) expiry: Option<Timestamp>,
}

/// Node that is going.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Going {
    /// Whether it drains, so that it does not wait for a replacement.
    pub(super) is_draining: bool,
}

/// Command whose replacements have not all started.
#[derive(Debug)]
pub(super) struct RunningCommand<'s, 'd> {
    pub(super) candidates: Vec<&'d str>,
    pub(super) awaited: BTreeSet<&'s str>,
}

/// The rollout while it is forecast.
pub(super) struct Roll<'s, 'd> {
    /// The settings; `now` is the time of the forecast.
    pub(super) settings: DisruptionSettings,
    /// The time from the launch of a node until it has started completely.
    pub(super) node_start: Duration,
    end: Timestamp,
    pub(super) state: ClusterState<'d>,
    pub(super) cluster: SimulatedCluster<'s>,
    pub(super) drains: Drains<'d>,
    pub(super) clock: RolloutClock<'s>,
    pub(super) drifting: BTreeMap<&'d str, Drifting<'d>>,
    /// The nodes that are going at the start without being drifted.
    pub(super) leaving: BTreeMap<&'d str, Drifting<'d>>,
    /// The nodes that wait for drift.
    pub(super) turns: Turns<'d>,
    /// The nodes that wait for static drift.
    pub(super) static_turns: Turns<'d>,
    pub(super) going: BTreeMap<&'d str, Going>,
    pub(super) running: Vec<RunningCommand<'s, 'd>>,
    /// The nodes where the last simulation placed pods.
    pub(super) places: BTreeMap<MovedPodKey<'s>, &'s str>,
    /// The messages about pods without a node.
    pub(super) nowhere: BTreeMap<MovedPodKey<'s>, String>,
    pub(super) counts: PoolCounters<'d>,
    waits: Waits<'d>,
    /// The price of each node.
    pub(super) prices: BTreeMap<&'s str, f64>,
    pub(super) cost: f64,
    /// The number of nodes by NodePool.
    pub(super) sizes: BTreeMap<&'d str, RolloutSize>,
    pub(super) size: RolloutSize,
    pub(super) pending_before: BTreeSet<MovedPodKey<'d>>,
    /// The number of nodes that are about to start.
    pub(super) starting: usize,
    /// Whether the last pass ended early, until another node has started.
    pub(super) waits_for_start: bool,
    /// Whether anything changed since the last pass.
    is_changed: bool,
    /// The number of nodes that could be disrupted at the last pass, by NodePool.
    last_left: BTreeMap<&'d str, i64>,
    max_steps: u64,
    /// Whether the events are over.
    pub(super) is_at_end: bool,
    pub(super) forecast: Forecast<'d>,
}

/// Number of nodes, now and at the peak, beyond the number at the start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RolloutSize {
    more: i64,
    peak: i64,
}

impl RolloutSize {
    pub(super) fn change(&mut self, by: i64) {
        self.more += by;
        self.peak = self.peak.max(self.more);
    }

    pub(super) fn peak(self) -> usize {
        usize::try_from(self.peak).unwrap_or_default()
    }
}

impl<'s, 'd: 's> Roll<'s, 'd> {
    /// The start of a rollout.
    pub(super) fn new(
        objects: &[Object<'d>],
        mut state: ClusterState<'d>,
        cluster: SimulatedCluster<'s>,
        settings: &DisruptionSettings,
        drifted: &BTreeMap<&str, Timestamp>,
        how: &ForecastSettings,
    ) -> Self {
        let (now, end) = (settings.now, settings.now.plus(how.horizon.max(Duration::ZERO)));
        for node in &mut state.nodes {
            node.drifted_since = drifted.get(node.name()).copied();
            node.is_drifted = node.drifted_since.is_some();
        }
        let pods: usize = state.nodes.iter().map(|node| node.pods.len()).sum();
        let parts = (state.nodes.len() + pods + state.pending.len()).max(MIN_PARTS);
        let managed = state.nodes.iter().filter(|node| node.claim.is_some());
        let price_of = |node: &StateNode<'d>| Some((node.name(), price(node, cluster.pool(node.pool())?)?));
        let prices: BTreeMap<&str, f64> = managed.filter_map(price_of).collect();
        let cost = prices.values().sum();
        let mut roll = Self {
            counts: PoolCounters::of(&state, settings, end),
            pending_before: state.pending.iter().map(|pod| (pod.namespace(), pod.name())).collect(),
            settings: settings.clone(),
            node_start: how.node_start.max(Duration::ZERO),
            end,
            state,
            cluster,
            drains: Drains::of(objects),
            clock: RolloutClock::new(now),
            drifting: BTreeMap::new(),
            leaving: BTreeMap::new(),
            turns: Turns::default(),
            static_turns: Turns::default(),
            going: BTreeMap::new(),
            running: Vec::new(),
            places: BTreeMap::new(),
            nowhere: BTreeMap::new(),
            waits: Waits::default(),
            prices,
            cost,
            sizes: BTreeMap::new(),
            size: RolloutSize::default(),
            starting: 0,
            waits_for_start: false,
            is_changed: true,
            last_left: BTreeMap::new(),
            max_steps: u64::try_from(parts).unwrap_or(u64::MAX).saturating_mul(how.steps_per_part),
            is_at_end: false,
            forecast: Forecast::default(),
        };
        roll.forecast.cost.before = cost;
        roll.forecast.cost.peak = cost;
        roll.read_nodes();
        roll
    }

    /// Finds the nodes that are drifted, going or starting.
    fn read_nodes(&mut self) {
        let now = self.settings.now;
        let of_node = |node: &StateNode<'d>| (node.name(), node.pool(), expires_at(node));
        let nodes: Vec<_> = self.state.nodes.iter().map(of_node).collect();
        for (name, pool, expiry) in nodes {
            let Some(node) = self.state.node(name) else { continue };
            let (is_going, drifted_since) = (node.is_going() || node.is_in_queue, node.drifted_since);
            let nominated = node.nominated_until;
            let start = start_of(node, now, self.node_start);
            if drifted_since.is_some() {
                self.drifting.insert(name, Drifting { pool, expiry, ..Drifting::default() });
            }
            if is_going {
                let leaving = Drifting { pool, start: Some(now), expiry, ..Drifting::default() };
                match self.drifting.get_mut(name) {
                    Some(drifting) => drifting.start = Some(now),
                    None => drop(self.leaving.insert(name, leaving)),
                }
                self.going.insert(name, Going::default());
                self.drain(name);
                continue;
            }
            if let Some(end) = nominated {
                self.clock.at(end, RolloutEvent::Free(name));
            }
            if let Some(start) = start {
                self.starts_at(start, name);
            }
            if let Some(since) = drifted_since {
                if since > now {
                    self.clock.at(since, RolloutEvent::Free(name));
                } else {
                    self.free(name);
                }
            }
        }
    }

    /// Lets a node start at a time.
    pub(super) fn starts_at(&mut self, time: Timestamp, name: &'s str) {
        self.clock.at(time, RolloutEvent::Started(name));
        self.starting += 1;
    }

    /// Whether passes end at the first node whose pods would go to a node that has not started, as too much work is done to try the
    /// others.
    pub(super) fn is_frugal(&self) -> bool {
        self.cluster.steps() > self.max_steps / PART_OF_FULL_PASSES
    }

    /// Whether the work is over.
    pub(super) fn is_over(&self) -> bool {
        self.cluster.steps() > self.max_steps
    }

    /// Logs a change.
    pub(super) fn log(&mut self, change: RolloutChange) {
        self.forecast.changes.push(ForecastChange { at: self.settings.now, change });
    }

    /// Runs the rollout to its end or to the horizon.
    pub(super) fn run(mut self) -> Forecast<'d> {
        while let Some((time, event)) = self.clock.next() {
            if time > self.end {
                break;
            }
            self.wait_until(time);
            match event {
                RolloutEvent::Gone(name) => self.gone(name),
                RolloutEvent::Started(name) => self.started(name),
                RolloutEvent::Free(name) => self.try_free(name),
                RolloutEvent::Place => self.place(),
                RolloutEvent::Pass => {
                    self.pass();
                    continue;
                }
            }
            debug_assert!(self.counts_agree(), "the nodes of a NodePool are miscounted");
            self.is_changed = true;
            self.clock.poll_after(time);
        }
        self.wait_until(self.end);
        self.finish()
    }

    fn wait_until(&mut self, time: Timestamp) {
        self.waits.pass(self.settings.now, time);
        self.settings.now = time;
    }

    /// Lets a drifted node wait for its turn if it is found to be drifted, and has not been disrupted. A nomination may be over.
    fn try_free(&mut self, name: &str) {
        let now = self.settings.now;
        let Some(node) = self.state.node_mut(name) else { return };
        node.nominated_until = node.nominated_until.filter(|end| *end > now);
        if node.drifted_since.is_some_and(|since| since <= now) {
            self.free(name);
        }
    }

    /// Lets a drifted node wait for its turn.
    pub(super) fn free(&mut self, name: &str) {
        let Some(node) = self.state.node(name).filter(|node| !node.is_going()) else { return };
        let (turn, pool) = (Turn::of(node), node.pool());
        let is_static = self.state.pools.get(pool).is_some_and(|view| self.is_static(*view));
        let Some(drifting) = self.drifting.get_mut(name) else { return };
        let turns = if is_static { &mut self.static_turns } else { &mut self.turns };
        if let Some(old) = drifting.turn.replace(turn) {
            turns.remove(pool, &old);
        }
        drifting.blocker = None;
        turns.insert(pool, turn);
    }

    /// Lets a drifted node wait no longer.
    pub(super) fn leave_turns(&mut self, name: &str) {
        let Some(drifting) = self.drifting.get_mut(name) else { return };
        if let Some(turn) = drifting.turn.take() {
            self.turns.remove(drifting.pool, &turn);
            self.static_turns.remove(drifting.pool, &turn);
        }
    }

    /// Lets a drifted node wait until the reason against its disruption ends.
    fn block(&mut self, name: &'d str, blocker: NodeBlocker<'d>) {
        self.leave_turns(name);
        if let Some(end) = blocker.until() {
            self.clock.at(end, RolloutEvent::Free(name));
        }
        if let Some(drifting) = self.drifting.get_mut(name) {
            drifting.blocker = Some(blocker);
        }
    }

    /// Runs passes of the controller until no method acts.
    fn pass(&mut self) {
        let may_act = self.is_changed || self.has_more_left();
        if !may_act || (self.waits_for_start && self.starting > 0) {
            self.waits.set(self.causes());
            return self.poll_at_edges();
        }
        loop {
            if self.is_over() {
                self.forecast.is_cut = true;
                break;
            }
            let PassResult { decided, blocked, failed, waits_for_start, is_cut } = self.decide();
            self.forecast.is_cut |= is_cut;
            self.waits_for_start = waits_for_start;
            self.forecast.is_rough |= waits_for_start;
            for (name, blocker) in blocked {
                self.block(name, blocker);
            }
            for name in failed {
                if let Some(drifting) = self.drifting.get_mut(name) {
                    drifting.has_failed = true;
                }
            }
            if decided.is_empty() {
                break;
            }
            for decided in decided {
                self.start(decided);
            }
        }
        self.clock.polled(self.settings.now);
        self.is_changed = false;
        self.waits.set(self.causes());
        self.last_left = self.left();
        self.poll_at_edges();
    }

    /// The number of nodes that may be disrupted, by NodePool of waiting nodes.
    fn left(&self) -> BTreeMap<&'d str, i64> {
        let pools = self.turns.pools().chain(self.static_turns.pools());
        pools.map(|pool| (pool, self.counts.left(pool, self.settings.now))).collect()
    }

    fn has_more_left(&self) -> bool {
        self.left()
            .into_iter()
            .any(|(pool, left)| left > self.last_left.get(pool).copied().unwrap_or_default())
    }

    /// Lets the controller run when a window opens or closes.
    fn poll_at_edges(&mut self) {
        let now = self.settings.now;
        let pools = self.turns.pools().chain(self.static_turns.pools());
        let edges: BTreeSet<Timestamp> = pools.filter_map(|pool| self.counts.next_edge(pool, now)).collect();
        for edge in edges {
            self.clock.poll_after(edge);
        }
    }

    /// The causes for which nodes wait after a pass in which no method acts.
    fn causes(&self) -> BTreeMap<&'d str, LimitedBy> {
        let pools = self.turns.pools().chain(self.static_turns.pools());
        pools.map(|pool| (pool, self.cause(pool))).collect()
    }

    fn cause(&self, pool: &str) -> LimitedBy {
        let now = self.settings.now;
        let Some(allowance) = self.counts.allowance(pool, now) else { return LimitedBy::Budget };
        let count = self.counts.count(pool);
        if count.left(allowance.allowed) > 0 {
            return LimitedBy::Capacity;
        }
        if allowance.allowed <= 0 {
            let has_window = allowance.decided_by.is_some_and(|budget| self.counts.has_window(pool, budget));
            return if has_window { LimitedBy::Schedule } else { LimitedBy::Budget };
        }
        let is_of_pool = |name: &str| self.state.node(name).is_some_and(|node| node.pool() == pool);
        let draining =
            self.going.iter().filter(|(name, going)| going.is_draining && is_of_pool(name)).count();
        let draining = i64::try_from(draining).unwrap_or(i64::MAX);
        if draining >= allowance.allowed { LimitedBy::Drain } else { LimitedBy::Budget }
    }

    /// The cause of most of the time in which nodes of a NodePool waited.
    pub(super) fn limited_by(&self, pool: &str) -> LimitedBy {
        self.waits.most(pool)
    }
}

/// The time at which a node starts completely; `None` if it has started, or does not start any more.
fn start_of(node: &StateNode<'_>, now: Timestamp, node_start: Duration) -> Option<Timestamp> {
    let claim = node.claim.filter(|_| !node.is_initialized())?.object();
    let created = claim.str_at(&["metadata", "creationTimestamp"]).and_then(Timestamp::parse)?;
    let start = created.plus(node_start).max(now);
    (now.since(created) < REGISTRATION.max(node_start)).then_some(start)
}
