//! The judgement about a cluster: the nodes that Karpenter would disrupt, and the obstacles of the others.

use std::collections::{BTreeMap, BTreeSet};

use objects::object::Object;
use scheduling::simulation::ClusterInput;
use values::timestamp::Timestamp;

use crate::balanced::Scores;
use crate::blocker::NodeBlocker;
use crate::candidate::{Candidate, DisruptionClass};
use crate::cluster::{ClusterState, StateNode, consolidate_after};
use crate::command::Command;
use crate::draft::Draft;
use crate::engine::{Engine, PoolTotals, SpecialNodes, Totals};
use crate::event::{Event, Recorder};
use crate::methods::{Alone, Method, Pass, Proposal, Unfit};
use crate::quota::PoolCount;
use crate::settings::DisruptionSettings;
use crate::validation::Invalid;

/// Node of a cluster with the obstacles to its disruption.
#[derive(Clone, Debug)]
pub struct JudgedNode<'d> {
    /// The node.
    pub node: StateNode<'d>,
    /// The reason for which no graceful method disrupts it.
    pub blocker: Option<NodeBlocker<'d>>,
    /// The reason for which drift does not disrupt it either.
    pub eventual_blocker: Option<NodeBlocker<'d>>,
    /// The numbers that decide about the order; `None` if no method disrupts the node.
    pub costs: Option<Costs>,
    /// For each method, why it does not consider the candidate.
    pub methods: Vec<(Method, Option<Unfit<'d>>)>,
    /// The end of `consolidateAfter`, while it is not over.
    pub waits_until: Option<Timestamp>,
    /// The result of consolidation of this node alone, if the settings ask for it and the node is a candidate.
    pub alone: Option<Alone>,
}

/// Numbers that decide in which order nodes are disrupted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// The cost of all evictions, which shrinks as the node gets older. It decided until 1.13.
    pub disruption: f64,
    /// One, and the cost of the evictions that cost anything.
    pub rescheduling: f64,
    /// The price in USD per hour, where it is known.
    pub price: Option<f64>,
    /// Price per cost of rescheduling. It decides since 1.14.
    pub savings_ratio: f64,
    /// Whether the node counts as empty.
    pub is_empty: bool,
}

/// Result of a method.
#[derive(Clone, Debug)]
pub struct JudgedMethod {
    /// The method.
    pub method: Method,
    /// The names of the candidates.
    pub candidates: Vec<String>,
    /// The events about nodes that are no candidates.
    pub events: Vec<Event>,
    /// The number of nodes that budgets allow, by NodePool. Empty without a candidate, as nobody asks then.
    pub budget: BTreeMap<String, i64>,
    /// The events about budgets that allow nothing.
    pub budget_events: Vec<Event>,
    /// The events of the computation: why candidates are not disrupted.
    pub compute_events: Vec<Event>,
    /// The commands.
    pub commands: Vec<Command>,
    /// The reason for which a computed command was dropped after the wait.
    pub invalid: Option<Invalid>,
    /// The number of candidates that were not looked at, because there are too many.
    pub unevaluated: usize,
    /// The names of the candidates without a command whose simulation took too much work.
    pub undecided: BTreeSet<String>,
}

/// NodePool of a cluster.
#[derive(Clone, Debug, Default)]
pub struct JudgedPool {
    /// The name.
    pub name: String,
    /// The nodes as budgets count them.
    pub count: PoolCount,
    /// The totals against which `Balanced` scores; `None` without a candidate.
    pub totals: Option<PoolTotals>,
}

/// The judgement about a cluster.
#[derive(Clone, Debug)]
pub struct Judgement<'d> {
    /// The method that acts: the first one in Karpenter's order that has a command.
    pub acts: Option<Method>,
    /// The nodes, by name.
    pub nodes: Vec<JudgedNode<'d>>,
    /// The NodePools, by name.
    pub pools: Vec<JudgedPool>,
    /// The methods, in the order in which they are tried. Each is judged alone, against the same state.
    pub methods: Vec<JudgedMethod>,
}

/// The cluster after the wait before a command is validated.
#[derive(Clone, Copy, Debug)]
pub struct Later<'a, 'd> {
    /// The objects.
    pub objects: &'a [Object<'d>],
    /// The facts that they do not show.
    pub settings: &'a DisruptionSettings,
}

/// Number of nodes and pods whose steps the judgement of a smaller cluster may also take.
const MIN_PARTS: usize = 2_000;

/// Largest number of steps of work in all simulations.
fn max_steps(state: &ClusterState<'_>, settings: &DisruptionSettings) -> u64 {
    let pods: usize = state.nodes.iter().map(|node| node.pods.len()).sum();
    let parts = (state.nodes.len() + state.pending.len() + pods).max(MIN_PARTS);
    settings.steps_per_part.saturating_mul(u64::try_from(parts).unwrap_or(u64::MAX))
}

/// Judges a cluster. Without a later state, nothing changes during the wait before a command is validated.
pub fn judge<'d>(
    objects: &[Object<'d>],
    settings: &DisruptionSettings,
    later: Option<Later<'_, 'd>>,
) -> Judgement<'d> {
    let state = ClusterState::of(objects, settings);
    let input = ClusterInput::new(settings.simulation.clone(), objects);
    let rounds = input.cluster().within_steps(max_steps(&state, settings));
    let special = SpecialNodes::of(&state, &rounds, settings);
    let engine = Engine { state: &state, rounds: &rounds, settings, special: &special, explains: true };
    let Some(later) = later else { return engine.judge(None) };
    let later_state = ClusterState::of(later.objects, later.settings);
    let later_input = ClusterInput::new(later.settings.simulation.clone(), later.objects);
    let later_rounds = later_input.cluster().within_steps(max_steps(&later_state, later.settings));
    let special = SpecialNodes::of(&later_state, &later_rounds, later.settings);
    let settings = later.settings;
    engine.judge(Some(Engine {
        state: &later_state,
        rounds: &later_rounds,
        settings,
        special: &special,
        explains: true,
    }))
}

impl<'e, 's, 'o: 's> Engine<'e, 's, 'o> {
    fn judge<'l, 't>(&self, later: Option<Engine<'l, 't, 'o>>) -> Judgement<'o>
    where
        'o: 't,
    {
        let order = Method::of_release(self.settings.release());
        let (_, totals) = self.candidates(Method::SingleNodeConsolidation, &mut Recorder::default());
        let nodes = self.state.nodes.iter().map(|node| self.judge_node(node, &order, &totals)).collect();
        let methods: Vec<JudgedMethod> =
            order.iter().map(|method| self.judge_method(*method, later)).collect();
        let acts = methods.iter().find(|method| !method.commands.is_empty()).map(|method| method.method);
        Judgement { acts, nodes, pools: self.judge_pools(&totals), methods }
    }

    fn judge_node(&self, node: &'e StateNode<'o>, order: &[Method], totals: &Totals<'o>) -> JudgedNode<'o> {
        let mut silent = Recorder::default();
        let graceful = self.candidate(node, DisruptionClass::Graceful, &mut silent);
        let eventual = self.candidate(node, DisruptionClass::Eventual, &mut silent);
        let of_class = |method: &Method| match method.class() {
            DisruptionClass::Graceful => graceful.as_ref(),
            DisruptionClass::Eventual => eventual.as_ref(),
        };
        let methods = order.iter().filter_map(|method| {
            let candidate = of_class(method).ok()?;
            Some((*method, self.check(*method, candidate).err()))
        });
        let methods = methods.collect();
        let asked = self.settings.alone.contains(node.name());
        let candidate = graceful.as_ref().ok().filter(|_| asked);
        let fits = |candidate: &&Candidate<'e, 's, 'o>| {
            self.check(Method::SingleNodeConsolidation, candidate).is_ok()
        };
        let alone = candidate.filter(fits).map(|candidate| self.alone(candidate, totals));
        let pool = self.state.pools.get(node.pool());
        let end = pool.and_then(|pool| node.consolidatable_from(consolidate_after(*pool)));
        let costs = eventual.as_ref().ok().map(|candidate| self.costs(candidate));
        JudgedNode {
            node: node.clone(),
            blocker: graceful.err().map(|blocker| *blocker),
            eventual_blocker: eventual.err().map(|blocker| *blocker),
            costs,
            methods,
            waits_until: end.filter(|end| self.settings.now < *end),
            alone,
        }
    }

    fn costs(&self, candidate: &Candidate<'e, 's, 'o>) -> Costs {
        Costs {
            disruption: candidate.disruption_cost,
            rescheduling: candidate.reschedule_cost,
            price: candidate.price,
            savings_ratio: candidate.savings_ratio(),
            is_empty: candidate.is_empty(self.settings.release()),
        }
    }

    fn judge_pools(&self, totals: &Totals<'o>) -> Vec<JudgedPool> {
        let counts = self.pool_counts();
        let pool = |name: &&'o str| JudgedPool {
            name: (*name).to_owned(),
            count: counts.get(name).copied().unwrap_or_default(),
            totals: totals.get(name).copied(),
        };
        self.state.pools.keys().map(pool).collect()
    }

    fn judge_method<'l, 't>(&self, method: Method, later: Option<Engine<'l, 't, 'o>>) -> JudgedMethod
    where
        'o: 't,
    {
        let mut events = Recorder::default();
        let (candidates, totals) = self.candidates(method, &mut events);
        let mut judged = JudgedMethod {
            method,
            candidates: candidates.iter().map(|candidate| candidate.name().to_owned()).collect(),
            events: events.events,
            budget: BTreeMap::new(),
            budget_events: Vec::new(),
            compute_events: Vec::new(),
            commands: Vec::new(),
            invalid: None,
            unevaluated: 0,
            undecided: BTreeSet::new(),
        };
        if candidates.is_empty() {
            return judged;
        }
        let mut budget_events = Recorder::default();
        let quota = self.quota(method.reason(), &mut budget_events);
        judged.budget = quota.iter().map(|(pool, left)| ((*pool).to_owned(), *left)).collect();
        judged.budget_events = budget_events.events;
        let mut pass = Pass::new(quota, totals);
        let proposals = self.propose(method, candidates, &mut pass);
        judged.unevaluated = pass.unevaluated;
        let mut recorder = pass.recorder;
        for Proposal { draft, scores } in proposals {
            approve(&scores, &mut recorder);
            match confirm(method, &draft, later, &mut recorder) {
                Ok(command) => judged.commands.push(command),
                Err(invalid) => judged.invalid = Some(invalid),
            }
        }
        // The recorder drops what it has just published (pkg/events/recorder.go).
        let known = judged.events.iter().chain(&judged.budget_events);
        let mut known: BTreeSet<Event> = known.cloned().collect();
        recorder.events.retain(|event| known.insert(event.clone()));
        judged.compute_events = recorder.events;
        for candidate in judged.commands.iter().flat_map(|command| &command.candidates) {
            recorder.undecided.remove(candidate);
        }
        judged.undecided = recorder.undecided;
        judged
    }
}

/// Publishes the scores of a command about several nodes.
fn approve(scores: &Scores<'_>, recorder: &mut Recorder) {
    for (pool, score) in scores {
        recorder.approved(format!("NodePool/{pool}"), score.text());
    }
}

/// The command after its validation.
fn confirm<'t, 'o: 't>(
    method: Method,
    draft: &Draft<'_, '_, 'o>,
    later: Option<Engine<'_, 't, 'o>>,
    recorder: &mut Recorder,
) -> Result<Command, Invalid> {
    let Some(later) = later else { return Ok(draft.finish()) };
    match method {
        Method::StaticDrift | Method::Drift => Ok(draft.finish()),
        Method::Emptiness => {
            let valid = later.valid_empty(draft, recorder);
            if valid.is_empty() { Err(Invalid::Churn) } else { Ok(Draft::delete(valid).finish()) }
        }
        Method::MultiNodeConsolidation | Method::SingleNodeConsolidation => {
            let valid = later.validate(method, draft, recorder);
            // The rejection of several nodes has no event, as the failed command is empty.
            if let (Err(invalid), 1) = (valid, draft.candidates.len()) {
                draft.reject(invalid.name(), later.settings.release(), recorder);
            }
            valid.map(|()| draft.finish())
        }
    }
}
