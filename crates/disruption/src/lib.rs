//! Karpenter's disruption controllers, offline: the nodes that Karpenter would disrupt now, and the obstacles of the others.
//!
//! | module | content |
//! |---|---|
//! | [`budget`] | budgets as far as they parse, for rules |
//! | [`allowance`] | what the budgets of a NodePool allow at an instant, exactly as a release computes it |
//! | [`calendar`] | the numbers that they allow over a week |
//! | [`settings`] | facts that objects do not show: the time, the controller's settings and memory |
//! | [`cluster`] | nodes with their NodeClaims and pods, PodDisruptionBudgets |
//! | [`blocked_by`], [`blocker`], `candidate` | the nodes that may be disrupted, and the reasons for the others |
//! | [`methods`], `simulate`, [`balanced`] | emptiness, drift and consolidation |
//! | `draft`, [`command`], [`validation`], [`event`] | commands and events of the methods |
//! | [`judgement`] | all of it about a cluster |
//! | [`forecast`] | one disruption after the other: the rollout of drifted nodes |
//! | [`drain`] | the termination of a node: evictions, volumes, and how long it can take |
//!
//! This crate knows objects and schedules. It knows no rules and no findings, and it reads no clock.

pub mod allowance;
pub mod balanced;
mod behaviour;
pub mod blocked_by;
pub mod blocker;
pub mod calendar;
mod candidate;
pub mod cluster;
pub mod command;
mod draft;
pub mod drain;
mod engine;
pub mod event;
pub mod forecast;
pub mod judgement;
pub mod methods;
mod quota;
pub mod settings;
mod simulate;
pub mod validation;

pub use candidate::DisruptionClass;
pub use engine::PoolTotals;
pub use quota::PoolCount;
