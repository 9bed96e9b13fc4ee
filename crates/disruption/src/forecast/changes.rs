//! Changes of the cluster in a rollout.

use std::collections::BTreeSet;

use scheduling::simulation::LaunchedNode;

use super::clock::RolloutEvent;
use super::pass::{Arrangement, Decided, PodPlace};
use super::result::{
    Forecast, ForecastNode, RollReason, RolledNode, Rollout, RolloutChange, RolloutStep, StrandedPod,
};
use super::roll::{Drifting, Going, MovedPodKey, Roll, RunningCommand};
use crate::behaviour::Behaviour;
use crate::blocker::NodeBlocker;
use crate::cluster::StateNode;
use crate::cluster::{AddedState, ClusterPod};
use crate::drain::{DrainReason, budget_reason};
use crate::methods::StaticObstacle;

/// Message if no instance type of a new node can be bought.
pub(super) const NOT_SOLD: &str = "no instance type of the new node can be bought";

impl<'s, 'd: 's> Roll<'s, 'd> {
    /// Starts a command: its candidates are tainted, its replacements are launched, and the other nodes that take pods are nominated
    /// (`StartCommand` in pkg/controllers/disruption/queue.go, and `Record` in pkg/controllers/provisioning/scheduling/scheduler.go of
    /// kubernetes-sigs/karpenter at v1.14.1).
    pub(super) fn start(&mut self, decided: Decided<'s, 'd>) {
        let Decided { method, candidates, of_pool, arrangement, command } = decided;
        if self.cluster.names_left() < arrangement.nodes.len() + usize::from(of_pool.is_some()) {
            self.forecast.is_cut = true;
            for name in candidates {
                self.leave_turns(name);
            }
            return;
        }
        if !arrangement.nodes.iter().all(|node| self.cluster.can_add(node)) {
            return self.give_up(&candidates);
        }
        let of_pool = of_pool.map(|pool| self.cluster.add_of_pool(pool));
        if of_pool.as_ref().is_some_and(Option::is_none) {
            return self.give_up(&candidates);
        }
        let now = self.settings.now;
        self.log(RolloutChange::Command(self.forecast.steps.len()));
        for name in &candidates {
            self.leave_turns(name);
            self.change_node(name, |node| (node.is_marked, node.is_in_queue) = (true, true));
            self.going.insert(name, Going::default());
            if let Some(drifting) = self.drifting.get_mut(name) {
                (drifting.start, drifting.has_failed) = (Some(now), false);
            }
        }
        let of_template: Vec<&'s str> =
            of_pool.flatten().map(|added| self.added(&added)).into_iter().collect();
        let awaited: Vec<&'s str> = self.adopt(arrangement).into_iter().chain(of_template).collect();
        self.forecast.steps.push(RolloutStep {
            at: now,
            method,
            command,
            added: awaited.iter().map(|name| (*name).to_owned()).collect(),
        });
        if awaited.is_empty() {
            for name in candidates {
                self.drain(name);
            }
        } else {
            self.running.push(RunningCommand { candidates, awaited: awaited.into_iter().collect() });
        }
    }

    /// Lets candidates wait for good, because no instance type of their replacement can be bought.
    fn give_up(&mut self, candidates: &[&'d str]) {
        for name in candidates {
            self.leave_turns(name);
            if let Some(drifting) = self.drifting.get_mut(name) {
                drifting.has_failed = true;
                NOT_SOLD.clone_into(&mut drifting.failure);
            }
        }
    }

    /// Launches the new nodes of a simulation, and keeps the places of its pods. Returns the names of the new nodes.
    fn adopt(&mut self, arrangement: Arrangement<'s>) -> Vec<&'s str> {
        let Arrangement { nodes, places } = arrangement;
        self.forecast.is_cut |= self.cluster.names_left() < nodes.len();
        let added: Vec<Option<&'s str>> = nodes
            .iter()
            .map(|node| self.cluster.add(node))
            .collect::<Vec<_>>()
            .iter()
            .map(|added| added.as_ref().map(|added| self.added(added)))
            .collect();
        let mut nominated: Vec<&'s str> = Vec::new();
        for (pod, place) in places {
            let node = match place {
                PodPlace::Existing(name) => {
                    nominated.push(name);
                    Some(name)
                }
                PodPlace::New(position) => {
                    let node = added.get(position).copied().flatten();
                    if node.is_none() {
                        self.nowhere.insert(pod, NOT_SOLD.to_owned());
                    }
                    node
                }
                PodPlace::Nowhere(message) => {
                    self.nowhere.insert(pod, message);
                    None
                }
            };
            match node {
                Some(node) => {
                    self.nowhere.remove(&pod);
                    self.places.insert(pod, node);
                }
                None => drop(self.places.remove(&pod)),
            }
        }
        nominated.sort_unstable();
        nominated.dedup();
        nominated.retain(|name| self.state.node(name).is_some());
        let end = self.settings.now.plus(self.settings.nomination);
        for name in nominated {
            if let Some(node) = self.state.node_mut(name) {
                node.nominated_until = Some(end);
                self.clock.at(end, RolloutEvent::Free(node.name()));
                self.log(RolloutChange::Nominated(name.to_owned()));
            }
        }
        self.settle_waiting();
        added.into_iter().flatten().collect()
    }

    /// Lets a node that was added start after a while.
    fn added(&mut self, added: &LaunchedNode<'s>) -> &'s str {
        let (name, pool) = (added.name, added.pool.name());
        let pool = self.state.pools.get_key_value(pool).map(|(name, _)| *name).unwrap_or_default();
        self.state.added.insert(name.to_owned(), AddedState { pool, is_initialized: false });
        self.prices.insert(name, added.price);
        self.resize(pool, added.price, 1);
        self.starts_at(self.settings.now.plus(self.node_start), name);
        self.log(RolloutChange::Added(Box::new(written(added))));
        name
    }

    fn resize(&mut self, pool: &'d str, price: f64, by: i8) {
        self.sizes.entry(pool).or_default().change(by.into());
        self.size.change(by.into());
        self.cost += price * f64::from(by);
        self.forecast.cost.peak = self.forecast.cost.peak.max(self.cost);
    }

    /// Changes a node of the start of the forecast, and counts it anew.
    fn change_node(&mut self, name: &str, change: impl FnOnce(&mut StateNode<'d>)) {
        let Some(node) = self.state.node_mut(name) else { return };
        self.counts.remove(node, &self.settings);
        change(node);
        self.counts.add(node, &self.settings);
    }

    /// Lets a node start completely.
    pub(super) fn started(&mut self, name: &'s str) {
        self.cluster.start(name);
        (self.starting, self.waits_for_start) = (self.starting.saturating_sub(1), false);
        if let Some(added) = self.state.added.get_mut(name) {
            added.is_initialized = true;
            self.counts.add_started(added.pool);
        } else {
            self.change_node(name, |node| node.has_started = true);
            self.free_if_blocked(name);
        }
        self.log(RolloutChange::Started(name.to_owned()));
        self.settle_waiting();
        for command in &mut self.running {
            command.awaited.remove(name);
        }
        let is_ready = |command: &mut RunningCommand<'s, 'd>| command.awaited.is_empty();
        let ready: Vec<RunningCommand<'s, 'd>> = self.running.extract_if(.., is_ready).collect();
        for name in ready.iter().flat_map(|command| &command.candidates) {
            self.drain(name);
        }
    }

    /// Deletes the NodeClaim of a node, so that the node drains.
    pub(super) fn drain(&mut self, name: &'d str) {
        let Some(node) = self.state.node(name) else { return };
        let (now, release) = (self.settings.now, self.settings.release());
        let estimate = self.drains.estimate(node, &self.state, now, release);
        self.change_node(name, |node| node.is_marked = true);
        if let Some(going) = self.going.get_mut(name) {
            going.is_draining = true;
        }
        if !estimate.never {
            let end = now.plus(estimate.longest.unwrap_or(estimate.shortest));
            self.clock.at(end, RolloutEvent::Gone(name));
        }
        if let Some(node) = self.tracked(name) {
            (node.never, node.drain) = (estimate.never, estimate.because);
        }
        self.log(RolloutChange::Deleted(name.to_owned()));
    }

    fn tracked(&mut self, name: &str) -> Option<&mut Drifting<'d>> {
        self.drifting.get_mut(name).or_else(|| self.leaving.get_mut(name))
    }

    /// Removes a node. Its pods run on the nodes where the last simulation placed them.
    pub(super) fn gone(&mut self, name: &'s str) {
        let Some(node) = self.state.node(name) else { return };
        self.counts.remove(node, &self.settings);
        let Some(node) = self.state.remove(name) else { return };
        self.cluster.remove(name);
        self.going.remove(name);
        let price = self.prices.remove(name).unwrap_or_default();
        self.resize(node.pool(), price, -1);
        let now = self.settings.now;
        if let Some(node) = self.tracked(name) {
            node.end = Some(now);
        }
        self.log(RolloutChange::Gone(name.to_owned()));
        for pod in node.pods.iter().copied().filter(|pod| pod.is_reschedulable()) {
            self.state.homeless.push(pod);
            self.log(RolloutChange::Pending(pod.full_name()));
        }
        self.settle_waiting();
        self.place_later();
    }

    /// Lets pods without a node run where the last simulation placed them, on nodes that have started completely.
    fn settle_waiting(&mut self) {
        let waiting: Vec<ClusterPod<'d>> =
            self.state.pending.iter().chain(&self.state.homeless).copied().collect();
        for pod in waiting {
            let Some(node) = self.planned(pod).filter(|node| self.state.is_initialized(node)) else {
                continue;
            };
            self.cluster.settle(pod.object(), node);
            self.state.settle(pod, node);
            self.forecast.moved_pods += usize::from(!pod.node_name().is_empty());
            self.log(RolloutChange::Moved { pod: pod.full_name(), node: node.to_owned() });
            self.free_if_waiting(node);
        }
    }

    /// The node where the last simulation placed a pod, if it is not going.
    fn planned(&self, pod: ClusterPod<'d>) -> Option<&'s str> {
        let key: MovedPodKey<'s> = (pod.namespace(), pod.name());
        self.places.get(&key).copied().filter(|node| self.state.has_lasting(node))
    }

    /// Sorts a drifted node anew after a change of its pods.
    fn free_if_waiting(&mut self, name: &str) {
        let is_waiting = |name: &str| {
            let drifting = self.drifting.get(name);
            drifting.is_some_and(|drifting| drifting.turn.is_some() || drifting.blocker.is_some())
        };
        if is_waiting(name) {
            self.free(name);
        }
    }

    fn free_if_blocked(&mut self, name: &str) {
        if self.drifting.get(name).is_some_and(|drifting| drifting.blocker.is_some()) {
            self.free(name);
        }
    }

    /// Lets the provisioner run if a pod has no node.
    fn place_later(&mut self) {
        if self.state.homeless.iter().any(|pod| self.planned(*pod).is_none()) {
            self.clock.at(self.settings.now, RolloutEvent::Place);
        }
    }

    /// Lets the provisioner place the pods without a node.
    pub(super) fn place(&mut self) {
        if self.is_over() {
            self.forecast.is_cut = true;
            return;
        }
        if let Some((arrangement, is_cut)) = self.arrange() {
            self.forecast.is_cut |= is_cut;
            self.adopt(arrangement);
        }
    }

    /// Explains at the end why pods have no place.
    fn explain(&mut self) {
        self.is_at_end = true;
        let waits = !self.state.pending.is_empty() || !self.state.homeless.is_empty();
        let arranged = if waits && !self.is_over() { self.arrange() } else { None };
        for (pod, place) in arranged.into_iter().flat_map(|(arrangement, _)| arrangement.places) {
            if let PodPlace::Nowhere(message) = place {
                self.nowhere.insert(pod, message);
            }
        }
        let is_unexplained = |drifting: &Drifting<'d>| drifting.has_failed && drifting.failure.is_empty();
        let failed = self.drifting.iter().filter(|(_, drifting)| is_unexplained(drifting));
        for (name, failure) in self.failures(failed.map(|(name, _)| *name).collect()) {
            if let Some(drifting) = self.drifting.get_mut(name) {
                drifting.has_failed = failure.is_some();
                drifting.failure = failure.unwrap_or_default();
            }
        }
    }

    /// The forecast at its end.
    pub(super) fn finish(mut self) -> Forecast<'d> {
        self.explain();
        for (name, blocker) in self.obstacles() {
            if let Some(drifting) = self.drifting.get_mut(name) {
                drifting.blocker = Some(blocker);
            }
        }
        // The differences of many prices would add up to another number.
        self.forecast.cost.after = self.prices.values().sum();
        let waiting = self.state.pending.iter().chain(&self.state.homeless);
        let pending = waiting.map(|pod| StrandedPod {
            pod: pod.full_name(),
            before: self.pending_before.contains(&(pod.namespace(), pod.name())),
            message: self.nowhere.get(&(pod.namespace(), pod.name())).cloned().unwrap_or_default(),
        });
        self.forecast.pending_pods = pending.collect();
        self.let_pods_end();
        let pools: BTreeSet<&'d str> = self.drifting.values().map(|drifting| drifting.pool).collect();
        self.forecast.rollouts = pools.into_iter().map(|pool| self.rollout(pool)).collect();
        self.forecast.nodes = self.drifting.iter().map(|(name, node)| self.rolled(name, node)).collect();
        self.forecast.leaving = self.leaving.iter().map(|(name, node)| self.rolled(name, node)).collect();
        self.forecast.peak_extra_nodes = self.size.peak();
        self.forecast
    }

    fn rollout(&self, pool: &'d str) -> Rollout {
        let of_pool = || self.drifting.values().filter(move |drifting| drifting.pool == pool);
        let ends: Option<Vec<_>> = of_pool().map(|drifting| drifting.end).collect();
        Rollout {
            node_pool: pool.to_owned(),
            nodes: of_pool().count(),
            start: of_pool().filter_map(|drifting| drifting.start).min(),
            end: ends.and_then(|ends| ends.into_iter().max()),
            limited_by: self.limited_by(pool),
            extra_nodes: self.sizes.get(pool).copied().unwrap_or_default().peak(),
        }
    }

    /// The reason for which a node waits at the end, and whether nothing but a change of the objects removes it.
    fn wait_of(&self, name: &str, drifting: &Drifting<'d>) -> (RollReason<'d>, bool) {
        if let Some(blocker) = &drifting.blocker {
            return (RollReason::Blocked(blocker.clone()), is_permanent(blocker));
        }
        let since = self.state.node(name).and_then(|node| node.drifted_since);
        if let Some(since) = since.filter(|since| *since > self.settings.now) {
            return (RollReason::NotYetDrifted(since), false);
        }
        match self.static_obstacle(drifting.pool) {
            Some(StaticObstacle::TooManyNodes) => return (RollReason::TooManyNodes, false),
            Some(StaticObstacle::NodeLimit { by_replicas }) => return (RollReason::NodeLimit, by_replicas),
            None => {}
        }
        let budget = || {
            let allowance = self.counts.allowance(drifting.pool, self.settings.now);
            let is_open = allowance.is_some_and(|allowance| allowance.allowed > 0);
            RollReason::Budget(if is_open { self.counts.count(drifting.pool).unavailable } else { 0 })
        };
        let is_left = self.counts.left(drifting.pool, self.settings.now) > 0;
        let skips_empty = Behaviour::DRIFT_SKIPS_EMPTY.holds_in(self.settings.release());
        let is_empty = drifting.turn.is_some_and(|turn| !turn.has_pods);
        if !drifting.ending.is_empty() {
            let (message, ending) = (drifting.failure.clone(), drifting.ending.clone());
            return (RollReason::NoPlaceYet { message, ending }, false);
        }
        if drifting.has_failed {
            let message = drifting.failure.clone();
            if self.starting > 0 || self.going.keys().any(|name| self.ends(name)) {
                return (RollReason::NoPlaceYet { message, ending: Vec::new() }, false);
            }
            return (RollReason::NoPlace(message), !self.forecast.is_cut);
        }
        let reason = if skips_empty && is_empty {
            RollReason::Empty
        } else if self.forecast.is_cut || (is_left && self.waits_for_start) {
            RollReason::Untried
        } else if is_left && !self.cluster.has_used_pools() {
            RollReason::NoUsedPool
        } else {
            budget()
        };
        (reason, false)
    }

    /// Whether the drain of a node that is going ends at some time.
    fn ends(&self, name: &str) -> bool {
        let node = self.drifting.get(name).or_else(|| self.leaving.get(name));
        node.is_none_or(|node| !node.never)
    }

    fn rolled(&self, name: &'d str, drifting: &Drifting<'d>) -> RolledNode<'d> {
        let mut because: Vec<RollReason<'d>> =
            drifting.drain.iter().cloned().map(RollReason::Drain).collect();
        let waits = drifting.start.is_none();
        let mut never = drifting.never;
        if waits {
            let (reason, is_permanent) = self.wait_of(name, drifting);
            let has_no_budget = self.counts.never_allows(drifting.pool);
            never |= is_permanent || has_no_budget;
            let tells_budget = matches!(reason, RollReason::Budget(_));
            because.push(reason);
            because.extend((has_no_budget && !tells_budget).then_some(RollReason::Budget(0)));
        }
        let tells_expiry =
            because.iter().any(|reason| matches!(reason, RollReason::Drain(DrainReason::Expires(_))));
        let expiry = drifting.expiry.filter(|expiry| drifting.start.is_none_or(|start| *expiry < start));
        because.extend(expiry.filter(|_| !tells_expiry).map(RollReason::Expires));
        RolledNode {
            name,
            node_pool: drifting.pool,
            start: drifting.start,
            end: drifting.end,
            never,
            because,
        }
    }
}

/// Whether nothing but a change of the objects removes the reason against a disruption.
fn is_permanent(blocker: &NodeBlocker<'_>) -> bool {
    match blocker {
        _ if blocker.ends_with_its_pod() => false,
        NodeBlocker::DoNotDisrupt(_)
        | NodeBlocker::SeveralPodBudgets(..)
        | NodeBlocker::NoLabel(..)
        | NodeBlocker::NoPool(..)
        | NodeBlocker::NoInstanceType(..) => true,
        NodeBlocker::PodDoNotDisrupt(_, until) => until.is_none(),
        NodeBlocker::PodBudget(pod, budget) => {
            matches!(budget_reason(pod, *budget), Some(DrainReason::BudgetAllowsNone(..)))
        }
        _ => false,
    }
}

fn written(added: &LaunchedNode<'_>) -> ForecastNode {
    let own = |pairs: &[(&str, &str)]| {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    };
    let amounts = |all: &[(&str, values::quantity::Quantity)]| {
        all.iter().map(|(name, amount)| ((*name).to_owned(), amount.to_string())).collect()
    };
    ForecastNode {
        name: added.name.to_owned(),
        node_pool: added.pool.name().to_owned(),
        instance_type: added.instance_type.to_owned(),
        zone: added.zone.to_owned(),
        capacity_type: added.capacity_type.to_owned(),
        price: added.price,
        labels: own(&added.labels),
        taints: added
            .taints
            .iter()
            .map(|taint| [taint.key, taint.value, taint.effect].map(str::to_owned))
            .collect(),
        capacity: amounts(&added.capacity),
        allocatable: amounts(&added.allocatable),
    }
}
