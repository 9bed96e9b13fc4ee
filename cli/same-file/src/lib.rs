//! Identity of folders, for the crates `walkdir` and `ignore`: a walk that follows symbolic links finds out whether a link leads back to
//! a parent folder.
//!
//! It replaces the crate of this name (BurntSushi/same-file 1.0.6), which fails on WebAssembly: `src/unknown.rs`. A walk of the npm package
//! could not enter a linked folder.

use std::fs::{Metadata, canonicalize, metadata};
use std::io;
use std::path::{Path, PathBuf};

/// Path of a folder with symbolic links resolved.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Handle(PathBuf);

impl Handle {
    /// Returns the identity of a folder, or an error if the folder does not exist or cannot be read.
    pub fn from_path(path: impl AsRef<Path>) -> io::Result<Self> {
        canonicalize(path).map(Self)
    }

    /// Always fails: a stream has no path. `ignore` asks for it only to leave out the file that standard output is.
    pub fn stdout() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns the folder, of which `ignore` asks only the metadata.
    pub fn as_file(&self) -> &Self {
        self
    }

    /// Reads the metadata of the folder.
    pub fn metadata(&self) -> io::Result<Metadata> {
        metadata(&self.0)
    }

    /// Number of the folder's inode, or 0 if the folder exists no longer.
    #[cfg(unix)]
    pub fn ino(&self) -> u64 {
        self.metadata().map_or(0, |folder| std::os::unix::fs::MetadataExt::ino(&folder))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use walkdir::WalkDir;

    #[test]
    fn a_walk_enters_linked_folders_and_sees_loops() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = |name| folder.path().join(name);
        fs::create_dir_all(path("real"))?;
        fs::create_dir(path("walk"))?;
        fs::write(path("real/a.yaml"), "")?;
        symlink(path("real"), path("walk/linked"))?;
        symlink("..", path("walk/up"))?;
        symlink(path("walk"), path("walk/loop"))?;
        let (mut files, mut loops) = (Vec::new(), Vec::new());
        for entry in WalkDir::new(path("walk")).follow_links(true).sort_by_file_name() {
            match entry {
                Ok(entry) if entry.file_type().is_file() => files.push(entry.into_path()),
                Ok(_) => {}
                Err(error) => {
                    loops.extend(error.loop_ancestor().map(|_| error.path().map(ToOwned::to_owned)));
                }
            }
        }
        assert!(files.contains(&path("walk/linked/a.yaml")), "{files:?}");
        assert!(loops.contains(&Some(path("walk/loop"))), "{loops:?}");
        assert!(files.len() < 10, "{files:?}");
        Ok(())
    }
}
