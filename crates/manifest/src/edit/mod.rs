//! Changes of a tree, as edits of its text or as a new object.
//!
//! [`Change::edit`] and [`apply`] change the text of an author: all bytes that the change does not concern stay the same.
//! [`rewrite`] makes the same changes to an object that has no text of an author, such as one of an admission request.

mod add;
mod append;
mod change;
mod compose;
mod lines;
mod remove;
mod rewrite;
mod spelling;
mod text_edit;

pub use change::Change;
pub use compose::Composed;
pub use rewrite::rewrite;
pub use text_edit::{TextEdit, apply};
