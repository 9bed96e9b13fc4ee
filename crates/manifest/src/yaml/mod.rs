//! The YAML parser.
//!
//! It has the stages of libyaml and go-yaml, without recursion and in linear time:
//!
//! | stage | from → to |
//! |---|---|
//! | `cursor` | bytes → position with line and column |
//! | `scanner` | characters → tokens; indentation and `:` become starts and ends of collections |
//! | `events` | tokens → events: scalars, starts and ends of collections, aliases |
//! | `loader` | events → trees: aliases, merge keys, duplicates, types of scalars |
//!
//! Tests compare the events with granit-parser, byte for byte (`tests/granit.rs`), and with the YAML test suite
//! (`tests/suite.rs`); both files list the differences. The loader follows the Kubernetes tools.

mod cursor;
mod declarations;
mod error;
mod events;
mod loader;
mod mask;
mod messages;
mod scanner;
#[cfg(test)]
mod tests;
mod token;

pub(crate) use error::YamlError;
pub use error::YamlProblem;
pub(crate) use loader::{embed, most_work, read, read_string, read_with_words};
