//! Lives of the NodeClaims of a story, one row each.

use std::collections::BTreeMap;

use answers::story::{Lifeline, StepKind};

use super::step::Step;
use super::{Cast, StoryTeller};

impl StoryTeller {
    /// The lives of the NodeClaims, in the order of their first step.
    pub(super) fn lifelines(&self, steps: &[Step], cast: &Cast<'_>) -> Vec<Lifeline> {
        let mut order: Vec<Lifeline> = Vec::new();
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        for step in steps.iter().filter(|step| cast.claims.contains(&*step.claim)) {
            let at = *known.entry(&step.claim).or_insert_with(|| {
                order.push(self.begun(&step.claim));
                order.len() - 1
            });
            if let Some(lifeline) = order.get_mut(at) {
                add(lifeline, step);
            }
        }
        order
    }

    fn begun(&self, claim: &str) -> Lifeline {
        Lifeline {
            node_claim: claim.to_owned(),
            node: self.nodes.get(claim).map(ToString::to_string).unwrap_or_default(),
            node_pool: self.pool_of(claim).to_owned(),
            instance: self.instances.get(claim).cloned().unwrap_or_default(),
            ..Lifeline::default()
        }
    }
}

fn add(lifeline: &mut Lifeline, step: &Step) {
    let slot = match step.kind {
        StepKind::Created => &mut lifeline.created,
        StepKind::Launched => &mut lifeline.launched,
        StepKind::Registered => &mut lifeline.registered,
        StepKind::Initialized => &mut lifeline.initialized,
        StepKind::Disrupted => {
            if lifeline.reason.is_empty() {
                lifeline.reason = step.reason.to_string();
            }
            &mut lifeline.disrupted
        }
        // Each deletion begins the drain, and the taint shows it.
        StepKind::Draining | StepKind::Deleting => &mut lifeline.draining,
        StepKind::Drained => &mut lifeline.drained,
        StepKind::Terminated => &mut lifeline.terminated,
        StepKind::Bound if !step.pod.is_empty() => {
            lifeline.pods.push(step.pod.to_string());
            return;
        }
        _ => return,
    };
    if slot.is_none() {
        *slot = step.first.filter(|time| !time.is_age()).map(|time| time.to_string());
    }
}
