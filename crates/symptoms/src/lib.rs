//! Diagnoses from logs, events and status.
//!
//! ```text
//! bytes ──▶ reader ──┬─▶ entries ──▶ recognise ──┬─▶ tally ─────────────────▶┐
//!                    │               (once)      └─▶ history ─▶ correlations ┼─▶ diagnoses ─▶ report
//!                    └─▶ documents ──▶ check ──▶ findings ──────────────────▶┘
//! ```
//!
//! A log is read once, line by line, in bounded memory. [`recognise`] matches each entry against the [`vocabulary`] and
//! gives the identities of its messages; everything after it looks at identities and fields, not at words. The [`tally`]
//! counts messages by cause. The [`history`] keeps what happened to NodeClaims, pods and instances, and [`correlations`]
//! look at it. Both give diagnoses: findings of the family `symptoms` with evidence and a confidence.

mod answer;
mod audit;
mod catalog;
mod cluster;
mod conditions;
mod consequences;
mod controller;
pub mod correlations;
pub mod diagnosis;
pub mod entry;
pub mod history;
mod log;
mod object;
pub mod reader;
pub mod reading;
pub mod recognise;
mod settling;
mod story;
mod summary;
pub mod symptom;
mod table;
pub mod tally;
mod time;
pub mod vocabulary;

pub use answer::BINARY;
pub use audit::{is_audit_report, is_rejection};
pub use catalog::{all, find, names};
pub use controller::is_controller;
pub use diagnosis::Diagnosis;
pub use reading::{Diagnosed, Reading};
pub use story::StoryTarget;
pub use symptom::Symptom;
