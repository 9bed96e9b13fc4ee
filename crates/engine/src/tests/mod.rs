//! Parts of the rule contract whose effect shows only in a check.

mod environments;
mod exceptions;
mod statistics;
mod suppressions;
