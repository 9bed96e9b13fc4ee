//! Calendar of a NodePool: how many nodes its budgets allow to disrupt at each moment of a period.
//!
//! The intervals follow from the openings and closings of the windows. Karpenter's clock is UTC.

mod remark;

use std::collections::BTreeSet;

use ids::IdVec;
use values::cron::Opening;
use values::duration::Duration;
use values::timestamp::Timestamp;

use crate::allowance::{Allowance, BudgetId, BudgetState, DisruptionReason, PoolBudgets};

pub use remark::{Pace, Remark};

/// The period of a calendar: one week.
pub const WEEK: Duration = Duration::from_minutes(values::calendar::MINUTES_PER_WEEK);

/// Half-open interval of time in which a NodePool allows the same number of disruptions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalendarInterval {
    /// The first instant.
    pub start: Timestamp,
    /// The first instant after the interval.
    pub end: Timestamp,
    /// The allowed number, with the deciding budget.
    pub allowance: Allowance,
}

/// Budgets of a NodePool over a period.
#[derive(Clone, Debug)]
pub struct Calendar<'b, 'd> {
    budgets: &'b PoolBudgets<'d>,
    start: Timestamp,
    end: Timestamp,
    /// For each budget, the intervals in which it is active or broken.
    openings: IdVec<BudgetId, Vec<Opening>>,
    /// The instants at which the state of a budget changes, with the start of the period and without its end.
    changes: Vec<Timestamp>,
}

impl<'b, 'd> Calendar<'b, 'd> {
    /// The calendar of a week.
    pub fn of_week(budgets: &'b PoolBudgets<'d>, start: Timestamp) -> Self {
        Self::new(budgets, start, start.plus(WEEK))
    }

    /// The calendar between two instants.
    pub fn new(budgets: &'b PoolBudgets<'d>, start: Timestamp, end: Timestamp) -> Self {
        let openings: IdVec<BudgetId, Vec<Opening>> =
            budgets.ids().map(|budget| budgets.openings(budget, start, end)).collect();
        let edges = openings.iter().flatten().flat_map(|opening| [opening.start, opening.end]);
        let changes: BTreeSet<Timestamp> =
            edges.filter(|edge| start < *edge && *edge < end).chain([start]).collect();
        Self { budgets, start, end, openings, changes: changes.into_iter().collect() }
    }

    /// The budgets.
    pub fn budgets(&self) -> &'b PoolBudgets<'d> {
        self.budgets
    }

    /// The start of the period.
    pub fn start(&self) -> Timestamp {
        self.start
    }

    /// The end of the period.
    pub fn end(&self) -> Timestamp {
        self.end
    }

    /// The allowed numbers for a reason, in a NodePool of some nodes. Neighbouring intervals differ in the number, the
    /// error or the deciding budget.
    pub fn intervals(&self, reason: DisruptionReason, nodes: usize) -> Vec<CalendarInterval> {
        let mut intervals: Vec<CalendarInterval> = Vec::new();
        self.for_each_change(|start, end, states| {
            let allowance = self.budgets.allowance_in(states, nodes, reason);
            match intervals.last_mut().filter(|last| last.allowance == allowance) {
                Some(last) => last.end = end,
                None => intervals.push(CalendarInterval { start, end, allowance }),
            }
        });
        intervals
    }

    /// Calls a function for each interval in which no budget changes its state.
    fn for_each_change(&self, mut visit: impl FnMut(Timestamp, Timestamp, &IdVec<BudgetId, BudgetState>)) {
        let mut positions = vec![0_usize; self.openings.len()];
        let mut states: IdVec<BudgetId, BudgetState> =
            self.openings.iter().map(|_| BudgetState::Inactive).collect();
        for (index, start) in self.changes.iter().enumerate() {
            let end = self.changes.get(index + 1).copied().unwrap_or(self.end);
            let budgets = self.openings.enumerate().zip(&mut positions).zip(&mut states);
            for (((budget, openings), position), state) in budgets {
                while openings.get(*position).is_some_and(|opening| opening.end <= *start) {
                    *position += 1;
                }
                let is_open = openings.get(*position).is_some_and(|opening| opening.start <= *start);
                *state = match is_open {
                    true if self.budgets.is_broken(budget) => BudgetState::Broken,
                    true => BudgetState::Active,
                    false => BudgetState::Inactive,
                };
            }
            visit(*start, end, &states);
        }
    }
}

/// The instant at which the number in force at the start of a calendar ends; `None` if it stays for the whole period.
pub fn first_change(intervals: &[CalendarInterval]) -> Option<Timestamp> {
    let first = intervals.first()?;
    let is_same = |other: &&CalendarInterval| {
        other.allowance.allowed == first.allowance.allowed && other.allowance.error == first.allowance.error
    };
    let same = intervals.iter().take_while(is_same).count();
    intervals.get(same).map(|interval| interval.start)
}

#[cfg(test)]
mod tests;
