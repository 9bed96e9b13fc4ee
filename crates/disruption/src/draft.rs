//! Commands while they are computed.
//!
//! Source: `Command` in pkg/controllers/disruption/types.go of kubernetes-sigs/karpenter at v1.14.1.

use ids::IdVec;
use karpenter::release::Release;
use scheduling::simulation::{NewNode, PodId, SimulatedClaim, SimulatedPod};

use crate::behaviour::Behaviour;
use crate::candidate::{Candidate, source_cost};
use crate::command::{Command, Decision, Replacement};
use crate::event::Recorder;
use crate::simulate::{Simulated, full_name, pods_on_nodes};

/// Command while it is computed.
pub(crate) struct Draft<'e, 's, 'o> {
    /// The nodes that go.
    pub(crate) candidates: Vec<Candidate<'e, 's, 'o>>,
    /// The nodes that replace them.
    pub(crate) nodes: Vec<NewNode<'s>>,
    /// The NodePool whose template replaces a node of a static NodePool.
    pub(crate) template: Option<SimulatedClaim<'s>>,
    /// The pods of the simulation with their places.
    pub(crate) pods: IdVec<PodId, SimulatedPod<'s>>,
}

impl<'e, 's, 'o> Draft<'e, 's, 'o> {
    /// A command that deletes nodes without a simulation.
    pub(crate) fn delete(candidates: Vec<Candidate<'e, 's, 'o>>) -> Self {
        Self { candidates, nodes: Vec::new(), template: None, pods: IdVec::default() }
    }

    /// A command that replaces a node by the template of its NodePool, without a simulation.
    pub(crate) fn replace(candidate: Candidate<'e, 's, 'o>) -> Self {
        let template = Some(candidate.pool.template());
        Self { template, ..Self::delete(vec![candidate]) }
    }

    /// A command with the result of a simulation.
    pub(crate) fn of(candidates: &[&Candidate<'e, 's, 'o>], simulated: Simulated<'s>) -> Self {
        let candidates = candidates.iter().copied().cloned().collect();
        Self { candidates, nodes: simulated.nodes, template: None, pods: simulated.pods }
    }

    /// The fate of the candidates.
    pub(crate) fn decision(&self) -> Decision {
        if self.nodes.is_empty() && self.template.is_none() { Decision::Delete } else { Decision::Replace }
    }

    /// The price of the candidates.
    pub(crate) fn source_cost(&self, release: Release) -> f64 {
        source_cost(self.candidates.iter().map(|candidate| candidate.price), release)
    }

    /// The price that the candidates cost more than their replacement.
    fn savings(&self) -> f64 {
        let replacements = self.nodes.iter().filter_map(NewNode::price_of_first);
        self.candidates.iter().map(Candidate::price_or_zero).sum::<f64>() - replacements.sum::<f64>()
    }

    /// The savings by which Karpenter scores the command, and which its events have (`EstimatedSavings` in types.go). Before
    /// 1.14.1 the price of a replacement is too low if its first type is cheaper in a capacity type that it must not have.
    pub(crate) fn estimated_savings(&self, release: Release) -> f64 {
        let replacements = self.nodes.iter().filter_map(NewNode::estimated_price);
        self.source_cost(release) - replacements.sum::<f64>()
    }

    /// Publishes that a replacement was computed (`EmitCandidateEvents`).
    pub(crate) fn announce(&self, release: Release, recorder: &mut Recorder) {
        if !Behaviour::CANDIDATE_EVENTS.holds_in(release) {
            return;
        }
        for candidate in &self.candidates {
            recorder.candidate(candidate.node, &self.text(candidate), self.estimated_savings(release));
        }
    }

    /// Publishes that the command was not valid any more (`EmitRejectedEvents`).
    pub(crate) fn reject(&self, reason: &str, release: Release, recorder: &mut Recorder) {
        if !Behaviour::CANDIDATE_EVENTS.holds_in(release) {
            return;
        }
        for candidate in &self.candidates {
            let savings = self.estimated_savings(release);
            recorder.rejected(candidate.node, &self.text(candidate), reason, savings);
        }
    }

    /// The command from the view of a candidate (`StringForNode`).
    fn text(&self, candidate: &Candidate<'_, '_, '_>) -> String {
        let (decision, name, count) = (self.decision().name(), candidate.name(), self.candidates.len());
        if count > 1 {
            return format!("{decision}: [{name}] (part of {count}-node consolidation)");
        }
        match self.nodes.len() {
            0 => format!("{decision}: [{name}]"),
            1 => format!("{decision}: [{name}] -> [1 replacement]"),
            more => format!("{decision}: [{name}] -> [{more} replacements]"),
        }
    }

    /// The command as plain data.
    pub(crate) fn finish(&self) -> Command {
        let nodes = self.nodes.iter().map(|node| self.replacement(&node.describe()));
        let template = self.template.iter().map(|template| self.replacement(template));
        Command {
            decision: self.decision(),
            candidates: self.candidates.iter().map(|candidate| candidate.name().to_owned()).collect(),
            replacements: nodes.chain(template).collect(),
            pods_to_existing: pods_on_nodes(&self.pods),
            savings: self.savings(),
        }
    }

    fn replacement(&self, claim: &SimulatedClaim<'_>) -> Replacement {
        let own = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
        let requests = claim.requests.iter().map(|(name, amount)| ((*name).to_owned(), amount.to_string()));
        Replacement {
            pool: claim.pool.name().to_owned(),
            pods: claim.pods.iter().filter_map(|pod| Some(full_name(self.pods.get(*pod)?))).collect(),
            instance_types: claim.instance_types,
            offered: claim.offered,
            cheapest: claim.cheapest.clone(),
            zones: own(&claim.zones),
            capacity_types: own(&claim.capacity_types),
            requests: requests.collect(),
            requirements: claim
                .requirements
                .iter()
                .map(|(key, value)| ((*key).to_owned(), value.clone()))
                .collect(),
        }
    }
}
