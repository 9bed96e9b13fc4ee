//! A pass of the disruption controller over the drifted nodes.

use std::collections::BTreeMap;

use ids::Id;
use objects::node_pool::NodePool;
use scheduling::simulation::{NewNode, Placement, SimulatedPod};

use super::roll::{MovedPodKey, Roll};
use super::turns::{Turn, Turns};
use crate::behaviour::Behaviour;
use crate::blocker::{NodeBlocker, sentence};
use crate::candidate::{Candidate, DisruptionClass};
use crate::command::Command;
use crate::draft::Draft;
use crate::engine::{Engine, SpecialNodes, Totals};
use crate::event::Recorder;
use crate::methods::{Method, Pass, StaticObstacle};
use crate::quota::Quota;
use crate::simulate::{Purpose, Simulated, existing, has_untried};

/// Place of a pod after a simulation.
#[derive(Debug)]
pub(super) enum PodPlace<'s> {
    /// On an existing node, by name.
    Existing(&'s str),
    /// On a new node, by its position.
    New(usize),
    /// Nowhere, with Karpenter's message.
    Nowhere(String),
}

/// New nodes and places of pods after a simulation.
#[derive(Debug, Default)]
pub(super) struct Arrangement<'s> {
    pub(super) nodes: Vec<NewNode<'s>>,
    pub(super) places: Vec<(MovedPodKey<'s>, PodPlace<'s>)>,
}

/// Command of a pass.
#[derive(Debug)]
pub(super) struct Decided<'s, 'd> {
    pub(super) method: Method,
    pub(super) candidates: Vec<&'d str>,
    /// The NodePool whose template replaces the candidate, without a simulation.
    pub(super) of_pool: Option<&'d str>,
    pub(super) arrangement: Arrangement<'s>,
    pub(super) command: Command,
}

/// Result of a pass.
#[derive(Debug, Default)]
pub(super) struct PassResult<'s, 'd> {
    /// The commands; only static drift has several.
    pub(super) decided: Vec<Decided<'s, 'd>>,
    /// The nodes that no method disrupts.
    pub(super) blocked: Vec<(&'d str, NodeBlocker<'d>)>,
    /// The nodes whose pods find no place.
    pub(super) failed: Vec<&'d str>,
    /// Whether the pass ended early, until another node has started.
    pub(super) waits_for_start: bool,
    /// Whether the pass ended early, because it takes too much work.
    pub(super) is_cut: bool,
}

impl<'s, 'd: 's> Roll<'s, 'd> {
    /// The nodes that are special in the simulations of a pass. Only consolidation asks for `waiting`.
    fn special(&self) -> SpecialNodes<'_, 'd> {
        let going = self.going.keys().filter_map(|name| self.state.node(name));
        SpecialNodes { going: going.collect(), waiting: std::collections::BTreeSet::new() }
    }

    /// The disruption engine at this instant. Only the end of a forecast explains why pods have no place.
    fn engine<'e>(&'e self, special: &'e SpecialNodes<'e, 'd>) -> Engine<'e, 's, 'd> {
        Engine {
            state: &self.state,
            rounds: &self.cluster,
            settings: &self.settings,
            special,
            explains: self.is_at_end,
        }
    }

    /// Simulates that the provisioner places the pods that have no node. Returns also whether that takes too much work.
    pub(super) fn arrange(&self) -> Option<(Arrangement<'s>, bool)> {
        let special = self.special();
        let engine = self.engine(&special);
        let mut silent = Recorder::default();
        let Simulated { pods, nodes, .. } = engine.simulate(&[], Purpose::Drift, &mut silent).ok()??;
        Some((Arrangement { nodes, places: places(&pods) }, has_untried(&pods)))
    }

    /// The obstacles of the nodes that still wait for their turn, and that do not go away by themselves. A pass does not look at the
    /// nodes of a NodePool whose budgets allow nothing.
    pub(super) fn obstacles(&self) -> Vec<(&'d str, NodeBlocker<'d>)> {
        let special = self.special();
        let engine = self.engine(&special);
        let mut result = PassResult::default();
        for turn in self.turns.of_pools(|_| true).chain(self.static_turns.of_pools(|_| true)) {
            candidate(engine, turn, &mut result);
        }
        result.blocked.retain(|(_, blocker)| blocker.until().is_none());
        result.blocked
    }

    /// The nodes among some whose pods find no place, each with Karpenter's message.
    pub(super) fn failures(&self, names: Vec<&'d str>) -> Vec<(&'d str, Option<String>)> {
        let special = self.special();
        let engine = self.engine(&special);
        let mut all = Vec::new();
        for name in names {
            if self.is_over() {
                break;
            }
            let node = self.state.node(name);
            let candidate = node.and_then(|node| {
                engine.candidate(node, DisruptionClass::Eventual, &mut Recorder::default()).ok()
            });
            let Some(candidate) = candidate else { continue };
            let simulated = engine.simulate(&[&candidate], Purpose::Drift, &mut Recorder::default());
            let failure = simulated.ok().flatten().and_then(|simulated| simulated.failure);
            let release = self.settings.release();
            all.push((name, failure.map(|failure| sentence(&failure, release))));
        }
        all
    }

    /// The obstacle to the replacement of nodes of a NodePool, if it is static.
    pub(super) fn static_obstacle(&self, pool: &str) -> Option<StaticObstacle> {
        let view = self.state.pools.get(pool).copied().filter(|view| self.is_static(*view))?;
        let special = self.special();
        let engine = self.engine(&special);
        engine.room_for_replacements(view).err()
    }

    /// Whether the counts of nodes, which each change updates, are the counts of the nodes as they are.
    pub(super) fn counts_agree(&self) -> bool {
        let special = self.special();
        let counted = self.engine(&special).pool_counts();
        self.state.pools.keys().all(|pool| {
            let mut count = counted.get(pool).copied().unwrap_or_default();
            let added = self.state.added.values();
            count.nodes += added.filter(|added| added.pool == *pool && added.is_initialized).count();
            count == self.counts.count(pool)
        })
    }

    /// Whether a NodePool has a fixed number of nodes.
    pub(super) fn is_static(&self, pool: NodePool<'_>) -> bool {
        let replicas = pool.replicas().filter(|replicas| !replicas.is_null());
        replicas.is_some() && Behaviour::STATIC_POOLS.holds_in(self.settings.release())
    }

    /// Runs the methods in the order of the release. The first command ends the pass.
    pub(super) fn decide(&self) -> PassResult<'s, 'd> {
        let special = self.special();
        let engine = self.engine(&special);
        let mut result = PassResult::default();
        for method in Method::of_release(self.settings.release()) {
            let turns = match method {
                Method::StaticDrift => &self.static_turns,
                Method::Drift => &self.turns,
                _ => continue,
            };
            let quota = self.quota(turns);
            let mut pass = Pass::new(quota, Totals::new());
            let drafts = match method {
                Method::StaticDrift => self.static_drift(engine, &pass, &mut result),
                _ => self.drift(engine, &mut pass, &mut result).into_iter().collect(),
            };
            result.is_cut |= !pass.recorder.undecided.is_empty();
            if !drafts.is_empty() {
                result.decided = drafts.into_iter().map(|draft| decided(method, draft)).collect();
                break;
            }
        }
        result
    }

    /// The NodePools of waiting nodes with the number of nodes that may be disrupted, if any may be.
    fn quota(&self, turns: &Turns<'d>) -> Quota<'d> {
        let known = turns.pools().filter(|pool| self.cluster.pool(pool).is_some());
        known
            .map(|pool| (pool, self.counts.left(pool, self.settings.now)))
            .filter(|(_, left)| *left > 0)
            .collect()
    }

    fn static_drift<'e>(
        &self,
        engine: Engine<'e, 's, 'd>,
        pass: &Pass<'d>,
        result: &mut PassResult<'s, 'd>,
    ) -> Vec<Draft<'e, 's, 'd>> {
        let mut candidates =
            candidates(engine, self.static_turns.of_pools(|pool| pass.quota.contains_key(pool)), result);
        candidates.sort_by_key(Candidate::name);
        engine.static_drift(&candidates, pass)
    }

    fn drift<'e>(
        &self,
        engine: Engine<'e, 's, 'd>,
        pass: &mut Pass<'d>,
        result: &mut PassResult<'s, 'd>,
    ) -> Option<Draft<'e, 's, 'd>> {
        let release = self.settings.release();
        let pools: BTreeMap<&str, i64> = pass.quota.clone();
        let turns = || self.turns.of_pools(|pool| pools.contains_key(pool));
        if !Behaviour::EMPTINESS_FIRST.holds_in(release) {
            let empty = candidates(engine, turns().take_while(|turn| !turn.has_pods), result);
            if let Some(draft) = engine.drift(empty, pass) {
                return Some(draft);
            }
        }
        let skips_empty = Behaviour::DRIFT_SKIPS_EMPTY.holds_in(release);
        for turn in turns().filter(|turn| turn.has_pods || !skips_empty) {
            if self.is_over() {
                result.is_cut = true;
                return None;
            }
            let Some(candidate) = candidate(engine, turn, result) else { continue };
            // An error stops the method.
            if let Some(draft) = engine.drift_of(&candidate, pass).ok()? {
                return Some(draft);
            }
            if pass.recorder.undecided.contains(turn.name) {
                continue;
            }
            result.failed.push(turn.name);
            if pass.meets_starting && self.is_frugal() && self.starting > 0 {
                result.waits_for_start = true;
                return None;
            }
        }
        None
    }
}

fn candidates<'e, 's, 'd: 's>(
    engine: Engine<'e, 's, 'd>,
    turns: impl Iterator<Item = Turn<'d>>,
    result: &mut PassResult<'s, 'd>,
) -> Vec<Candidate<'e, 's, 'd>> {
    turns.filter_map(|turn| candidate(engine, turn, result)).collect()
}

fn candidate<'e, 's, 'd: 's>(
    engine: Engine<'e, 's, 'd>,
    turn: Turn<'d>,
    result: &mut PassResult<'s, 'd>,
) -> Option<Candidate<'e, 's, 'd>> {
    let node = engine.state.node(turn.name)?;
    match engine.candidate(node, DisruptionClass::Eventual, &mut Recorder::default()) {
        Ok(candidate) => Some(candidate),
        Err(blocker) => {
            result.blocked.push((turn.name, *blocker));
            None
        }
    }
}

fn decided<'s, 'd: 's>(method: Method, draft: Draft<'_, 's, 'd>) -> Decided<'s, 'd> {
    let mut command = draft.finish();
    for replacement in &mut command.replacements {
        replacement.cheapest.truncate(1);
    }
    let first = draft.candidates.first().map(Candidate::pool_name);
    Decided {
        method,
        candidates: draft.candidates.iter().map(Candidate::name).collect(),
        of_pool: first.filter(|_| draft.template.is_some()),
        arrangement: Arrangement { places: places(&draft.pods), nodes: draft.nodes },
        command,
    }
}

fn places<'p, 's: 'p>(
    pods: impl IntoIterator<Item = &'p SimulatedPod<'s>>,
) -> Vec<(MovedPodKey<'s>, PodPlace<'s>)> {
    let place = |placement: &Placement<'s>| match placement {
        Placement::New(claim) => Some(PodPlace::New(claim.position())),
        Placement::Unplaced(unplaced) => Some(PodPlace::Nowhere(unplaced.message.clone())),
        Placement::Ignored(message) => Some(PodPlace::Nowhere(message.clone())),
        _ => existing(placement).map(PodPlace::Existing),
    };
    let of =
        |pod: &SimulatedPod<'s>| Some(((pod.namespace, pod.pod.object().name()), place(&pod.placement)?));
    pods.into_iter().filter_map(of).collect()
}
