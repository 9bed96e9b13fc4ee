//! The causes for which drifted nodes wait.

use std::collections::BTreeMap;

use values::duration::Duration;
use values::timestamp::Timestamp;

use super::result::LimitedBy;

/// The time that the nodes of a NodePool waited, by cause.
#[derive(Clone, Copy, Debug, Default)]
struct Waited {
    budget: i64,
    schedule: i64,
    drain: i64,
    capacity: i64,
}

impl Waited {
    fn add(&mut self, cause: LimitedBy, time: Duration) {
        let sum = match cause {
            LimitedBy::Budget => &mut self.budget,
            LimitedBy::Schedule => &mut self.schedule,
            LimitedBy::Drain => &mut self.drain,
            LimitedBy::Capacity => &mut self.capacity,
            LimitedBy::None => return,
        };
        *sum = sum.saturating_add(time.nanoseconds());
    }

    /// The cause of most of the time.
    fn most(self) -> LimitedBy {
        let all = [
            (self.budget, LimitedBy::Budget),
            (self.schedule, LimitedBy::Schedule),
            (self.drain, LimitedBy::Drain),
            (self.capacity, LimitedBy::Capacity),
        ];
        let mut most = (0, LimitedBy::None);
        for (time, cause) in all {
            if time > most.0 {
                most = (time, cause);
            }
        }
        most.1
    }
}

/// The causes for which the nodes of each NodePool wait.
#[derive(Debug, Default)]
pub(super) struct Waits<'d> {
    now: BTreeMap<&'d str, LimitedBy>,
    sums: BTreeMap<&'d str, Waited>,
}

impl<'d> Waits<'d> {
    /// Lets the causes of now count for a time.
    pub(super) fn pass(&mut self, from: Timestamp, to: Timestamp) {
        for (pool, cause) in &self.now {
            self.sums.entry(pool).or_default().add(*cause, to.since(from));
        }
    }

    /// Sets the causes from now on.
    pub(super) fn set(&mut self, causes: BTreeMap<&'d str, LimitedBy>) {
        self.now = causes;
    }

    /// The cause of most of the time in which nodes of a NodePool waited.
    pub(super) fn most(&self, pool: &str) -> LimitedBy {
        self.sums.get(pool).copied().unwrap_or_default().most()
    }
}
