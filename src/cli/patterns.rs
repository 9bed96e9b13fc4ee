//! Patterns of paths, as ignore files have them, in the folder of the config file.

use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::arguments::Color;
use super::terminal;

/// Patterns of a config file and of flags.
#[derive(Clone, Debug)]
pub(crate) struct Patterns {
    sets: Vec<Gitignore>,
}

impl Patterns {
    /// No patterns.
    pub(crate) fn none() -> Self {
        Self { sets: Vec::new() }
    }

    /// The patterns of a config file, which are about its folder, and those of flags, which are about this one. One that
    /// cannot be read is said on standard error.
    pub(crate) fn new(
        config: Option<&Path>,
        in_config: &[String],
        in_flags: &[String],
        color: Color,
    ) -> Option<Self> {
        let here = PathBuf::from(".").canonicalize().ok();
        let of_config = config.and_then(|path| path.canonicalize().ok());
        let folder = of_config.as_deref().and_then(Path::parent).map(Path::to_owned).or_else(|| here.clone());
        let sets =
            [(folder, in_config), (here, in_flags)].into_iter().filter(|(_, patterns)| !patterns.is_empty());
        let sets: Option<Vec<Gitignore>> =
            sets.map(|(folder, patterns)| set(&folder?, patterns, color)).collect();
        Some(Self { sets: sets? })
    }

    /// Whether a path fits, itself or by a folder above it. An editor names files that are not saved yet.
    pub(crate) fn fit(&self, path: &Path, is_folder: bool) -> bool {
        let Some(path) = resolved(path) else { return false };
        self.sets.iter().any(|set| {
            // Patterns of a folder say nothing of what lies outside.
            path.starts_with(set.path()) && set.matched_path_or_any_parents(&path, is_folder).is_ignore()
        })
    }
}

/// The path without links and dots: what of it is there as the file system has it, the rest as it is named.
fn resolved(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    path.ancestors().find_map(|there| {
        let there_is = there.canonicalize().ok()?;
        let rest = path.strip_prefix(there).ok()?;
        Some(there_is.components().chain(rest.components()).collect())
    })
}

fn set(folder: &Path, patterns: &[String], color: Color) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(folder);
    let mut is_sound = true;
    for pattern in patterns {
        if let Err(error) = builder.add_line(None, pattern) {
            terminal::error(color, &format!("`{pattern}` is no pattern of paths: {error}"));
            is_sound = false;
        }
    }
    let set = builder.build().map_err(|error| terminal::error(color, &error.to_string())).ok();
    set.filter(|_| is_sound)
}
