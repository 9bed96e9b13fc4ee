//! The schedules of disruption budgets, parsed and evaluated as Karpenter does.
//!
//! Karpenter passes `TZ=UTC ` and the schedule to `cron.ParseStandard` of robfig/cron v3.0.1. A budget is active if the
//! next run of the schedule after `now - duration` is not after now (kubernetes-sigs/karpenter pkg/apis/v1/nodepool.go,
//! `Budget.IsActive`). If a schedule cannot be parsed, the NodePool allows no disruption for any reason.
//!
//! Reference: robfig/cron v3.0.1 parser.go (syntax), spec.go (runs), constantdelay.go (`@every`). Other dialects of cron
//! differ: this one has no weekday 7, no six fields, no time zone except UTC, and no ranges that wrap around.

mod error;
mod field;
mod go_text;
mod openings;
mod parse;
#[cfg(test)]
mod properties;
mod repair;
mod schedule;
#[cfg(test)]
mod tests;
mod week;
mod windows;

pub use crate::calendar::Minute;
pub use error::{CronError, CronProblem};
pub use field::CronField;
pub use go_text::atoi_error;
pub use openings::Opening;
pub use repair::ScheduleRepair;
pub use schedule::Schedule;
pub use week::{WeekMinutes, WeekRun};
pub use windows::BudgetWindows;
