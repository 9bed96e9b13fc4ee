#![doc = include_str!("../README.md")]

pub mod edit;
mod encoding;
mod error;
mod file;
pub mod json;
pub mod limits;
mod options;
pub mod parallel;
mod scalar;
pub mod source;
pub mod tree;
pub mod work;
mod yaml;

pub use encoding::Encoding;
pub use error::ReadError;
pub use file::{
    CodeBlock, Document, DocumentNumber, Excerpt, File, FileKind, FileNumber, code_blocks, here_documents,
    is_from_terraform, is_markdown, is_terraform, sections,
};
pub use options::{HoldsDocument, IsManifest, ReadOptions};
pub use yaml::YamlProblem;
