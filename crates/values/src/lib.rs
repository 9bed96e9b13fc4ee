//! Small grammars that no published crate reads exactly as Kubernetes and Karpenter do: quantities, durations, cron
//! schedules, label names, ARNs, placeholders that a template engine fills in later, and the calendar that schedules need.
//!
//! Everything here is a pure function on text.

pub mod arn;
pub mod calendar;
pub mod cron;
pub mod duration;
pub mod kubelet_expression;
pub mod naming;
pub mod placeholder;
pub mod quantity;
pub mod spelling;
pub mod timestamp;
