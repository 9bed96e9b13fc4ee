//! The files of a cluster, the objects in them as their kustomizations build them, and the inventory that rules ask.

pub mod appliers;
mod bases;
pub mod built;
pub mod built_objects;
pub mod charts;
pub mod environments;
pub mod evidence;
pub mod files;
pub mod folders;
pub mod ids;
pub mod index;
pub mod input;
pub mod input_object;
pub mod inventory;
mod substitution;

pub use files::Cluster;
pub use kustomize::{
    KUSTOMIZATION_FILES, generator_files, generators, references, sources_of_variables, text_of,
    unexecuted_fields, unexecuted_files,
};
pub use substitution::{NameRepetition, RepeatedNames};
