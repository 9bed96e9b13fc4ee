//! Path patterns in the syntax of ignore files.

use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::error::CommandError;
use crate::messages::Messages;

/// Patterns of a config file and of flags.
#[derive(Clone, Debug)]
pub(crate) struct Patterns {
    sets: Vec<Gitignore>,
}

impl Patterns {
    pub(crate) fn none() -> Self {
        Self { sets: Vec::new() }
    }

    /// Patterns of a config file, relative to its folder, and patterns of flags, relative to the working directory. Reports
    /// each invalid pattern.
    pub(crate) fn new(
        config: Option<&Path>,
        in_config: &[String],
        in_flags: &[String],
        messages: &dyn Messages,
    ) -> Result<Self, CommandError> {
        let here = PathBuf::from(".").canonicalize().ok();
        let config = config.and_then(|path| path.canonicalize().ok());
        let folder = config.as_deref().and_then(Path::parent).map(Path::to_owned).or_else(|| here.clone());
        let sets =
            [(folder, in_config), (here, in_flags)].into_iter().filter(|(_, patterns)| !patterns.is_empty());
        let sets: Option<Vec<Gitignore>> =
            sets.map(|(folder, patterns)| set(&folder?, patterns, messages)).collect();
        Ok(Self { sets: sets.ok_or(CommandError::Printed)? })
    }

    /// Whether a pattern matches a path or one of its parent folders. The path need not exist: an editor also names files
    /// that are not saved yet.
    pub(crate) fn matches(&self, path: &Path, is_folder: bool) -> bool {
        let Some(path) = resolved(path) else { return false };
        self.sets.iter().any(|set| {
            // `matched_path_or_any_parents` panics on a path outside the folder of the patterns.
            path.starts_with(set.path()) && set.matched_path_or_any_parents(&path, is_folder).is_ignore()
        })
    }
}

/// Absolute path, with symbolic links resolved as far as the path exists.
pub(crate) fn resolved(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    path.ancestors().find_map(|existing| {
        let canonical = existing.canonicalize().ok()?;
        let rest = path.strip_prefix(existing).ok()?;
        Some(canonical.components().chain(rest.components()).collect())
    })
}

fn set(folder: &Path, patterns: &[String], messages: &dyn Messages) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(folder);
    let mut is_valid = true;
    for pattern in patterns {
        if let Err(error) = builder.add_line(None, pattern) {
            messages.error(&format!("`{pattern}` is not a valid path pattern: {error}"));
            is_valid = false;
        }
    }
    let set = builder.build().map_err(|error| messages.error(&error.to_string())).ok();
    set.filter(|_| is_valid)
}
