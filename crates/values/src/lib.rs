//! Small grammars that no published crate reads exactly as Kubernetes and Karpenter do: quantities, durations, cron
//! schedules, label names, ARNs, and placeholders that a template engine fills in later.
//!
//! Everything here is a pure function on text.

pub mod arn;
pub mod calendar;
pub mod cron;
pub mod duration;
pub mod naming;
pub mod placeholder;
pub mod quantity;
pub mod spelling;
