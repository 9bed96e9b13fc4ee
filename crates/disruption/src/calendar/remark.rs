//! Surprises in a calendar: windows that never open, budgets without effect, overlaps, and windows that are too short.

use std::collections::BTreeMap;

use values::duration::Duration;
use values::timestamp::Timestamp;

use super::{Calendar, CalendarInterval};
use crate::allowance::{BudgetId, BudgetState, DisruptionReason};

/// Time in which a disrupted node makes room for the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// The longest time from the start of a disruption to the end of the node.
    pub per_node: Duration,
    /// Whether nodes go one at a time, although the budgets may allow more. The cautious assumption where the nodes are
    /// not known.
    pub one_at_a_time: bool,
}

/// Remark on the budgets of a NodePool over the period of a calendar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// The window of a budget does not open in the period. `next` is its next run; without one it never opens.
    NeverOpens {
        /// The budget.
        budget: BudgetId,
        /// The first run after the period.
        next: Option<Timestamp>,
    },
    /// A budget has a schedule, but its window is open all the time.
    AlwaysOpen {
        /// The budget.
        budget: BudgetId,
    },
    /// A budget is active in the period, but a tighter one always decides.
    NeverDecides {
        /// The budget.
        budget: BudgetId,
    },
    /// Two budgets with windows are active at the same time for the same reason; the tighter one decides.
    Overlap {
        /// The budget that decides.
        tighter: BudgetId,
        /// The other budget.
        looser: BudgetId,
        /// The start of the first overlap.
        start: Timestamp,
        /// The end of the first overlap.
        end: Timestamp,
    },
    /// No disruption is allowed for a reason in the whole period.
    Blocked {
        /// The reason for disruption.
        reason: DisruptionReason,
    },
    /// An interval that allows disruption ends before every node had its turn.
    TooShort {
        /// The reason for disruption.
        reason: DisruptionReason,
        /// The start of the interval.
        start: Timestamp,
        /// The end of the interval.
        end: Timestamp,
        /// The number of nodes that can be disrupted in the interval.
        possible: usize,
        /// The pace of the nodes.
        pace: Pace,
    },
}

impl Calendar<'_, '_> {
    /// The remarks on the budgets, in the order of [`Remark`]. `pace` is known where the drains of the nodes are.
    pub fn remarks(&self, reasons: &[DisruptionReason], nodes: usize, pace: Option<Pace>) -> Vec<Remark> {
        let by_reason: Vec<(DisruptionReason, Vec<CalendarInterval>)> =
            reasons.iter().map(|reason| (*reason, self.intervals(*reason, nodes))).collect();
        let mut remarks: Vec<Remark> = self.window_remarks().collect();
        remarks.extend(self.budgets_without_effect(&by_reason));
        remarks.extend(self.overlaps(reasons, nodes));
        remarks.extend(
            by_reason
                .iter()
                .filter(|(_, intervals)| is_blocked(intervals))
                .map(|(reason, _)| Remark::Blocked { reason: *reason }),
        );
        if let Some(pace) = pace {
            let short =
                by_reason.iter().filter_map(|(reason, intervals)| too_short(*reason, intervals, nodes, pace));
            remarks.extend(short);
        }
        remarks
    }

    fn window_remarks(&self) -> impl Iterator<Item = Remark> {
        let windows = self.openings.enumerate().filter(|(budget, _)| self.budgets.has_window(*budget));
        windows.filter_map(|(budget, openings)| match openings.as_slice() {
            [] => Some(Remark::NeverOpens { budget, next: self.budgets.next_run(budget, self.end) }),
            [all] if (all.start, all.end) == (self.start, self.end) && !self.budgets.is_broken(budget) => {
                Some(Remark::AlwaysOpen { budget })
            }
            _ => None,
        })
    }

    fn budgets_without_effect(&self, by_reason: &[(DisruptionReason, Vec<CalendarInterval>)]) -> Vec<Remark> {
        let all = || by_reason.iter().flat_map(|(_, intervals)| intervals);
        // A budget with an error decides for the whole NodePool.
        if all().any(|interval| !interval.allowance.error.is_empty()) {
            return Vec::new();
        }
        let covers =
            |budget: BudgetId| by_reason.iter().any(|(reason, _)| self.budgets.covers(budget, *reason));
        let decides = |budget: BudgetId| all().any(|interval| interval.allowance.decided_by == Some(budget));
        let open = self.openings.enumerate().filter(|(_, openings)| !openings.is_empty());
        open.map(|(budget, _)| budget)
            .filter(|budget| covers(*budget) && !decides(*budget))
            .map(|budget| Remark::NeverDecides { budget })
            .collect()
    }

    /// The pairs of budgets with windows that are active together, each pair once, with its first overlap.
    fn overlaps(&self, reasons: &[DisruptionReason], nodes: usize) -> Vec<Remark> {
        let windowed: Vec<BudgetId> =
            self.budgets.ids().filter(|budget| self.budgets.has_window(*budget)).collect();
        let mut found: BTreeMap<(BudgetId, BudgetId), (Timestamp, Timestamp)> = BTreeMap::new();
        self.for_each_change(|start, end, states| {
            let is_active = |budget: &&BudgetId| states.get(**budget) == Some(&BudgetState::Active);
            let active: Vec<BudgetId> = windowed.iter().filter(is_active).copied().collect();
            for (index, first) in active.iter().enumerate() {
                for second in active.iter().skip(index + 1) {
                    let shared = |reason: &DisruptionReason| {
                        self.budgets.covers(*first, *reason) && self.budgets.covers(*second, *reason)
                    };
                    if reasons.iter().any(shared) {
                        let overlap = found.entry((*first, *second)).or_insert((start, end));
                        // Continue the first overlap; later ones are the same story.
                        overlap.1 = if overlap.1 == start { end } else { overlap.1 };
                    }
                }
            }
        });
        found.into_iter().filter_map(|(pair, span)| self.overlap(pair, span, nodes)).collect()
    }

    /// The remark on a pair of budgets; `None` if both allow the same number.
    fn overlap(
        &self,
        (first, second): (BudgetId, BudgetId),
        (start, end): (Timestamp, Timestamp),
        nodes: usize,
    ) -> Option<Remark> {
        let value = |budget: BudgetId| self.budgets.value_when_active(budget, nodes);
        let (tighter, looser) = match value(first)?.cmp(&value(second)?) {
            std::cmp::Ordering::Less => (first, second),
            std::cmp::Ordering::Equal => return None,
            std::cmp::Ordering::Greater => (second, first),
        };
        Some(Remark::Overlap { tighter, looser, start, end })
    }
}

fn is_blocked(intervals: &[CalendarInterval]) -> bool {
    intervals.iter().all(|interval| interval.allowance.allowed <= 0)
}

/// The first interval that allows disruption, ends in the period, and is too short for all nodes.
fn too_short(
    reason: DisruptionReason,
    intervals: &[CalendarInterval],
    nodes: usize,
    pace: Pace,
) -> Option<Remark> {
    let stretches = intervals.split(|interval| interval.allowance.allowed <= 0);
    let (first, last) = (intervals.first()?.start, intervals.last()?.end);
    stretches.filter(|stretch| !stretch.is_empty()).find_map(|stretch| {
        let (start, end) = (stretch.first()?.start, stretch.last()?.end);
        let possible = disruptions_in(stretch, nodes, pace);
        // An interval at the edge of the period may be longer than its part in the period.
        let is_whole = start > first && end < last;
        (is_whole && possible < nodes).then_some(Remark::TooShort { reason, start, end, possible, pace })
    })
}

/// The number of nodes whose disruption can start in consecutive intervals. Budgets gate the start of a disruption, so a
/// node may end after the interval. As many nodes as allowed start at once, and the next ones when these are gone.
fn disruptions_in(stretch: &[CalendarInterval], nodes: usize, pace: Pace) -> usize {
    let Some(mut now) = stretch.first().map(|interval| interval.start) else { return 0 };
    let step = pace.per_node.max(Duration::from_nanoseconds(1_000_000_000));
    let mut count = 0_usize;
    for interval in stretch {
        while now < interval.end && count < nodes {
            let allowed = if pace.one_at_a_time { 1 } else { interval.allowance.allowed };
            count = count.saturating_add(usize::try_from(allowed).unwrap_or_default());
            now = now.plus(step);
        }
    }
    count.min(nodes)
}
