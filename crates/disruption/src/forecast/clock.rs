//! Time of a forecast: the events that are to come, and the passes of the disruption controller.

use std::collections::BTreeSet;

use values::duration::Duration;
use values::timestamp::Timestamp;

/// Time between two passes after a pass in which no method acts (`pollingPeriod` in pkg/controllers/disruption/controller.go of
/// kubernetes-sigs/karpenter at v1.14.1).
const POLL: Duration = Duration::from_nanoseconds(10_000_000_000);

/// Event of a forecast. Events of an instant happen in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RolloutEvent<'s> {
    /// The drain of a node ends.
    Gone(&'s str),
    /// A node has started completely.
    Started(&'s str),
    /// A candidate is free again, or may be.
    Free(&'s str),
    /// The provisioner places pods without a node.
    Place,
    /// The disruption controller runs.
    Pass,
}

/// Events that are to come.
#[derive(Debug)]
pub(super) struct RolloutClock<'s> {
    events: BTreeSet<(Timestamp, RolloutEvent<'s>)>,
    /// The last pass in which no method acted.
    last_poll: Timestamp,
}

impl<'s> RolloutClock<'s> {
    /// A clock whose first pass is at an instant.
    pub(super) fn new(start: Timestamp) -> Self {
        Self { events: BTreeSet::from([(start, RolloutEvent::Pass)]), last_poll: start }
    }

    /// Adds an event.
    pub(super) fn at(&mut self, time: Timestamp, event: RolloutEvent<'s>) {
        self.events.insert((time, event));
    }

    /// Adds the first pass that is not before an instant. An event at the instant of the last pass waits for the next one.
    pub(super) fn poll_after(&mut self, time: Timestamp) {
        let (since, poll) = (time.since(self.last_poll).nanoseconds(), POLL.nanoseconds());
        let polls = since.saturating_add(poll - 1).div_euclid(poll).max(1);
        let wait = Duration::from_nanoseconds(polls.saturating_mul(poll));
        self.at(self.last_poll.plus(wait), RolloutEvent::Pass);
    }

    /// Notes a pass in which no method acted.
    pub(super) fn polled(&mut self, time: Timestamp) {
        self.last_poll = time;
    }

    /// The next event.
    pub(super) fn next(&mut self) -> Option<(Timestamp, RolloutEvent<'s>)> {
        self.events.pop_first()
    }
}
