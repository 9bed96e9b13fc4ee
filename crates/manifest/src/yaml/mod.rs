//! The YAML parser.
//!
//! The stages are those of libyaml and go-yaml, without recursion and in linear time:
//!
//! | stage | from → to |
//! |---|---|
//! | `cursor` | bytes → position with line and column |
//! | `scanner` | characters → tokens; indentation and `:` become starts and ends of collections |
//! | `events` | tokens → events: scalars, starts and ends of collections, aliases |
//! | `loader` | events → trees: aliases, merge keys, duplicates, types of scalars |
//!
//! The events are those of granit-parser, byte for byte (`tests/granit.rs`), and those of the YAML test suite, except for
//! the differences that `tests/suite.rs` lists. The loader does what the Kubernetes tools do.

mod cursor;
mod declarations;
mod error;
mod events;
mod loader;
mod messages;
mod scanner;
#[cfg(test)]
mod tests;
mod token;

pub(crate) use error::{YamlError, YamlProblem};
pub(crate) use loader::{embed, read};
