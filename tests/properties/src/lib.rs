//! Properties that hold for every input: no reader panics, every answer is well formed, and every position is a position in
//! the text.
//!
//! Each function takes one input and panics if a property does not hold. The fuzz targets in `fuzz/` and the replay of
//! their seeds in `tests/seeds.rs` call the same functions.

#![expect(clippy::missing_panics_doc, reason = "every function panics if its property does not hold")]

pub mod additions;
pub mod admission;
pub mod cost;
pub mod diagnosis;
pub mod fixes;
mod formats;
mod input;
pub mod language_server;
mod locations;
pub mod manifests;
pub mod page;
pub mod placement;
pub mod terraform;
pub mod user_data;
pub mod values;
