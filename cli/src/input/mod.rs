//! Input files: the files that paths lead to, in the same order on every run, and their texts.

mod base;
mod beside;
pub(crate) mod charts;
mod clusters;
mod compressed;
mod confinement;
mod error;
mod file;
mod json_with_comments;
mod patterns;
pub(crate) mod pinning;
mod references;
mod regular;
mod roles;
mod walk;

pub(crate) use base::{BaseFolder, normalised};
pub(crate) use beside::{add_unknown, evaluate_managed, evaluate_terraform, evaluate_unsaved};
pub(crate) use clusters::{ClusterInputs, by_cluster, count, is_one_short_file, refuse_excess};
pub(crate) use compressed::each_text;
pub(crate) use confinement::{ByteBudget, Confinement};
pub(crate) use error::InputError;
pub(crate) use file::{InputFile, Loaded};
pub(crate) use patterns::{Patterns, resolved};
pub(crate) use references::{NotFollowed, referenced};
pub(crate) use regular::{read_finite, read_regular};
pub(crate) use walk::{NO_FILES, Wanted, is_manifest, is_template, manifest_patterns};
