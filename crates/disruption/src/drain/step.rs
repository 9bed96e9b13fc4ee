//! Result of one pass of the termination controller.

use values::duration::Duration;

/// Requests and events of one pass of the termination controller and the eviction queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DrainStep {
    /// The time until the next pass; `None` if the pass is the last one or has an error.
    pub requeue_after: Option<Duration>,
    /// The error of the pass.
    pub error: Option<String>,
    /// The pods for which the eviction API is called, each with the HTTP status of the answer.
    pub evictions: Vec<(String, u16)>,
    /// The pods that are deleted because the node has to go, each with its grace period in seconds.
    pub deletes: Vec<(String, i64)>,
    /// The events.
    pub events: Vec<DrainEvent>,
    /// The number of calls that delete the instance.
    pub provider_delete_calls: u32,
    /// Whether the Node is gone after the pass.
    pub is_node_gone: bool,
}

/// Event of a termination.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DrainEvent {
    /// The object, such as `Node/n1` or `Pod/default/web-0`.
    pub on: String,
    /// The reason, such as `FailedDraining`.
    pub reason: &'static str,
    /// The message.
    pub message: String,
    /// Whether the event is a warning.
    pub is_warning: bool,
}

impl DrainStep {
    pub(super) fn event(&mut self, on: String, reason: &'static str, message: String) {
        self.events.push(DrainEvent { on, reason, message, is_warning: false });
    }

    pub(super) fn warning(&mut self, on: String, reason: &'static str, message: String) {
        self.events.push(DrainEvent { on, reason, message, is_warning: true });
    }
}
