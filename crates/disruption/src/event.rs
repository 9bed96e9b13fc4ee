//! Events that the disruption controllers publish.
//!
//! Source: pkg/controllers/disruption/events/events.go and pkg/utils/pod/scheduling.go of kubernetes-sigs/karpenter at v1.14.1.

use std::collections::BTreeSet;

use karpenter::release::Release;

use crate::allowance::DisruptionReason;
use crate::behaviour::Behaviour;
use crate::cluster::{ClusterPod, Protection, StateNode};
use karpenter::labels::DO_NOT_DISRUPT;

/// Event of the disruption controllers. What is published for a Node and its NodeClaim counts once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    /// Kind and name of the object: `Node/n1`, `Pod/default/web-0`.
    pub on: String,
    /// The reason, such as `Unconsolidatable`.
    pub reason: &'static str,
    /// The message.
    pub message: String,
}

/// The events of a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorder {
    /// The events.
    pub(crate) events: Vec<Event>,
    /// The names of the nodes of simulations that took too much work. Karpenter has no event for that.
    pub(crate) undecided: BTreeSet<String>,
}

impl Recorder {
    fn publish(&mut self, on: String, reason: &'static str, message: String) {
        self.events.push(Event { on, reason, message });
    }

    /// Publishes that a node cannot be disrupted.
    pub(crate) fn blocked(&mut self, node: &StateNode<'_>, message: String, release: Release) {
        let kind = if node.node.is_some() { "Node" } else { "NodeClaim" };
        let message = if Behaviour::PLAIN_NODE.holds_in(release) {
            message
        } else {
            format!("Cannot disrupt {kind}: {message}")
        };
        self.publish(subject(node), "DisruptionBlocked", message);
    }

    /// Publishes that the budgets of a NodePool allow no disruption for any reason. Until 1.0.
    pub(crate) fn pool_blocked_entirely(&mut self, pool: &str) {
        let message = "No allowed disruptions due to blocking budget".to_owned();
        self.publish(format!("NodePool/{pool}"), "DisruptionBlocked", message);
    }

    /// Publishes that a budget of a NodePool allows no disruption.
    pub(crate) fn pool_blocked(&mut self, pool: &str, reason: DisruptionReason) {
        let message = format!("No allowed disruptions for disruption reason {reason} due to blocking budget");
        self.publish(format!("NodePool/{pool}"), "DisruptionBlocked", message);
    }

    /// Publishes that a node is not consolidated.
    pub(crate) fn unconsolidatable(&mut self, node: &StateNode<'_>, message: String) {
        self.publish(subject(node), "Unconsolidatable", message);
    }

    /// Publishes that a node is a candidate of a computed command.
    pub(crate) fn candidate(&mut self, node: &StateNode<'_>, command: &str, savings: f64) {
        let message = format!("Consolidation candidate: {command} (savings: ${savings:.2})");
        self.publish(subject(node), "ConsolidationCandidate", message);
    }

    /// Publishes that a computed command was not valid any more.
    pub(crate) fn rejected(&mut self, node: &StateNode<'_>, command: &str, reason: &str, savings: f64) {
        let message = format!("Consolidation rejected: {command}, reason: {reason} (savings: ${savings:.2})");
        self.publish(subject(node), "ConsolidationRejected", message);
    }

    /// Publishes the score of a move; of several nodes, on the NodePool.
    pub(crate) fn approved(&mut self, on: String, score: String) {
        self.publish(on, "ConsolidationApproved", score);
    }

    /// Publishes the state of a pod's protection.
    pub(crate) fn protection(&mut self, pod: ClusterPod<'_>, protection: &Protection) {
        if let Some((reason, message)) = of_protection(protection) {
            self.publish(format!("Pod/{}", pod.full_name()), reason, message);
        }
    }
}

/// The reason and the message of the event about a pod's protection.
pub(crate) fn of_protection(protection: &Protection) -> Option<(&'static str, String)> {
    match protection {
        Protection::None | Protection::Always => None,
        Protection::Until(end) => {
            Some(("DoNotDisruptUntil", format!("The {DO_NOT_DISRUPT} grace period will elapse at {end}")))
        }
        Protection::Over => Some((
            "DoNotDisruptGracePeriodElapsed",
            format!("The {DO_NOT_DISRUPT} grace period has elapsed, pod is now disruptable"),
        )),
        Protection::Invalid(problem) => Some((
            "InvalidDoNotDisruptAnnotation",
            format!("Invalid {DO_NOT_DISRUPT} annotation: {problem}, ignoring annotation"),
        )),
    }
}

/// The object that an event about a node names.
pub(crate) fn subject(node: &StateNode<'_>) -> String {
    let kind = if node.node.is_some() { "Node" } else { "NodeClaim" };
    format!("{kind}/{}", node.name())
}
