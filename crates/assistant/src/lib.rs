//! Karpwarden's side of the Model Context Protocol, without input and output: the [tools](tool) with their
//! [arguments](query), [answers of a bounded size](bounded), [resources](resource) and [prompts](prompt).
//!
//! ```text
//! arguments ──▶ query ──▶ (the front end reads and computes) ──▶ answer ──▶ bounded answer, rest by cursor
//! ```
//!
//! Source: the Model Context Protocol, revisions 2025-11-25 and 2026-07-28.

pub mod bounded;
pub mod example;
pub mod prompt;
pub mod query;
pub mod resource;
mod schema;
pub mod tool;
