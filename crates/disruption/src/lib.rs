//! Karpenter's disruption controllers, offline: the disruption budgets of NodePools and what they allow.
//!
//! | module | content |
//! |---|---|
//! | [`budget`] | budgets as far as they parse, for rules |
//! | [`allowance`] | what the budgets of a NodePool allow at an instant, exactly as a release computes it |
//!
//! This crate knows objects and schedules. It knows no rules and no findings, and it reads no clock.

pub mod allowance;
pub mod budget;
