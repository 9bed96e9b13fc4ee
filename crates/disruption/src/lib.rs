//! Karpenter's disruption controllers, offline: the disruption budgets of NodePools and what they allow.
//!
//! This crate knows objects and schedules. It knows no rules and no findings.

pub mod budget;
