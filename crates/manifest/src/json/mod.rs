//! JSON with spans. Numbers have the types that the API server gives them: `1.0` is not the integer `1`.

mod cursor;
mod error;
mod parser;
#[cfg(test)]
mod tests;
mod write;

pub use cursor::{Cursor, Unexpected};
pub use error::{JsonError, JsonProblem};
pub use parser::read;
pub use write::quote;
