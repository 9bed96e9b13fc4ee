//! The first thing that keeps a node from being disrupted.

use disruption::blocked_by::BlockedBy;
use disruption::calendar::first_change;
use disruption::judgement::JudgedNode;
use disruption::methods::{Method, Unfit};
use objects::location::Place;
use values::timestamp::Timestamp;

use super::{ClusterDisruption, words};

/// The first thing that keeps a node from being disrupted; every field is empty without one.
#[derive(Clone, Debug, Default)]
pub struct FirstObstacle<'d> {
    /// The kind; `None` for what only a method finds.
    pub kind: Option<BlockedBy>,
    /// Karpenter's text, or a text in its words where Karpenter says nothing.
    pub message: String,
    /// The fields that are the reason.
    pub places: Vec<Place<'d>>,
    /// The time at which the obstacle goes away by itself.
    pub until: Option<Timestamp>,
}

impl FirstObstacle<'_> {
    /// The meaning and the remedy; empty where nothing is known.
    pub fn advice(&self) -> &'static str {
        self.kind.map_or_else(|| words::remedy(&self.message), words::advice)
    }
}

impl<'d> ClusterDisruption<'d> {
    /// The first thing that keeps a node from being disrupted, in Karpenter's order: what blocks every method, what each
    /// method requires, the budget, and last what the search for a replacement finds.
    pub fn obstacle(&self, node: &JudgedNode<'d>) -> FirstObstacle<'d> {
        if let Some(blocker) = &node.blocker {
            return FirstObstacle {
                kind: Some(blocker.kind()),
                message: blocker.message(self.release),
                places: blocker.places(),
                until: blocker.until(),
            };
        }
        if self.disrupted_by(node.node.name()).is_some() {
            return FirstObstacle::default();
        }
        let considering = node.methods.iter().filter(|(_, unfit)| unfit.is_none()).map(|(method, _)| *method);
        let considering: Vec<Method> = considering.collect();
        let unfit =
            node.methods.iter().rev().filter_map(|(_, unfit)| *unfit).find(|unfit| unfit.kind().is_some());
        match (considering.first(), unfit) {
            (None, Some(unfit)) => self.unfit(node, unfit),
            (None, None) => FirstObstacle::default(),
            (Some(first), _) => {
                self.budget(node, *first).or_else(|| self.rejection(node, &considering)).unwrap_or_default()
            }
        }
    }

    fn unfit(&self, node: &JudgedNode<'d>, unfit: Unfit<'d>) -> FirstObstacle<'d> {
        let message = words::unfit(unfit, self.release);
        let waits = matches!(unfit, Unfit::NotConsolidatable);
        let until = node.waits_until.filter(|_| waits);
        FirstObstacle { kind: unfit.kind(), message, places: Vec::new(), until }
    }

    fn budget(&self, node: &JudgedNode<'d>, method: Method) -> Option<FirstObstacle<'d>> {
        let pool = self.pools.iter().find(|pool| pool.name == node.node.pool())?;
        let reason = method.reason();
        let judged = self.judgement.methods.iter().find(|judged| judged.method == method)?;
        let is_blocked = judged.budget.get(pool.name).is_some_and(|left| *left == 0);
        is_blocked.then(|| FirstObstacle {
            kind: Some(BlockedBy::Budget),
            message: format!("No allowed disruptions for disruption reason {reason} due to blocking budget"),
            places: Vec::new(),
            until: first_change(&pool.week(self.at, reason)),
        })
    }

    fn rejection(&self, node: &JudgedNode<'d>, methods: &[Method]) -> Option<FirstObstacle<'d>> {
        let mut rejections = self.rejections(node.node.name()).iter().rev();
        let (_, message) = rejections.find(|(method, _)| methods.contains(method))?;
        Some(FirstObstacle { message: message.clone(), ..FirstObstacle::default() })
    }
}
