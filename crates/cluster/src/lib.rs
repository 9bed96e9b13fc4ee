//! The files of a cluster, the objects in them as their kustomizations build them, and the inventory that rules ask.

pub mod built;
pub mod built_objects;
pub mod environments;
pub mod evidence;
mod files;
pub mod folders;
pub mod index;
pub mod inventory;

pub use files::Cluster;
