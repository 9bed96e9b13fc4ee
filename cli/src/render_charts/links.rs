//! Symbolic links in the folder of a chart. helm follows them, so that a link could show a file of this machine to the templates.

use std::fs;
use std::path::{Path, PathBuf};

/// Maximum number of files and folders of a chart.
const MAX_ENTRIES: usize = 10_000;

/// The first symbolic link in a folder that leads out of it; the folder itself if it has too many files, or cannot be read.
pub(super) fn leading_out(folder: &Path) -> Option<PathBuf> {
    let Ok(root) = folder.canonicalize() else { return Some(folder.to_owned()) };
    let (mut open, mut seen) = (vec![folder.to_owned()], 0);
    while let Some(next) = open.pop() {
        let Ok(entries) = fs::read_dir(&next) else { return Some(next) };
        for entry in entries {
            seen += 1;
            let Some(entry) = entry.ok().filter(|_| seen <= MAX_ENTRIES) else {
                return Some(folder.to_owned());
            };
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(path),
                Ok(kind) if kind.is_symlink() => {
                    if !path.canonicalize().is_ok_and(|real| real.starts_with(&root)) {
                        return Some(path);
                    }
                }
                Ok(_) => {}
                Err(_) => return Some(path),
            }
        }
    }
    None
}
