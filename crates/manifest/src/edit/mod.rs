//! Changes of a tree, as edits of its text or as a new object.
//!
//! [`Change::edit`] and [`apply`] change the text of an author: all bytes that the change does not concern stay the same.
//! [`rewrite`] makes the same changes to an object that has no text of an author, such as one of an admission request.
//! [`reparse`] and [`differences`] verify an edit: the text still parses, and only the declared values change.

mod add;
mod append;
mod change;
mod compose;
mod differences;
mod lines;
mod remove;
mod reparse;
mod rewrite;
mod spelling;
mod text_edit;

pub use change::Change;
pub use compose::Composed;
pub use differences::differences;
pub use reparse::reparse;
pub use rewrite::{replace_alias, rewrite};
pub use text_edit::{TextEdit, apply};
