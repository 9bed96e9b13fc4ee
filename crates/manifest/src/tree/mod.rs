//! The document model: a tree of values, each with its parent, its key and, where there is a text, its span.

mod assembly;
mod build;
mod copies;
mod embedded;
mod id;
mod node;
mod placed;
mod store;
mod walk;
mod within;

pub(crate) use build::AddedNode;
pub(crate) use store::{NodeValue, StringLocation};

pub use assembly::{Assembly, NewValue};
pub use id::{NodeId, SourceId};
pub use node::{Node, Value};
pub use placed::{NodePlace, StringPart};
pub use store::{Comment, DuplicateKey, ModuleInstance, Style, Tree};
pub use walk::{Children, Members, items_of, members_of, sort_by_text};
