//! The folders outside of which a run reads nothing, for a run that another program asks for.

use std::path::{Path, PathBuf};

use super::clusters::ClusterInputs;
use super::file::InputFile;
use crate::error::CommandError;

/// Folders outside of which nothing is read, and the bound on what is read. Symbolic links are resolved.
#[derive(Clone, Debug)]
pub(crate) struct Confinement {
    /// Folder that the names of files start from, and in which references of the input are followed.
    pub(crate) base: PathBuf,
    pub(crate) roots: Vec<PathBuf>,
    /// Maximum number of bytes of all inputs together.
    pub(crate) max_bytes: usize,
}

impl Confinement {
    /// Whether an existing path is in one of the folders.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        path.canonicalize().is_ok_and(|real| self.holds_real(&real))
    }

    /// Whether an existing path is in none of the folders. A path to nothing leads nowhere.
    pub(crate) fn is_outside(&self, path: &Path) -> bool {
        path.canonicalize().is_ok_and(|real| !self.holds_real(&real))
    }

    fn holds_real(&self, real: &Path) -> bool {
        self.roots.iter().any(|root| real.starts_with(root))
    }

    /// Refuses inputs that are too large together, or too many.
    pub(super) fn refuse_excess(&self, clusters: &[ClusterInputs]) -> Result<(), CommandError> {
        if clusters.iter().any(|cluster| cluster.is_cut) {
            let text = "a folder has more files than the server looks at: name a smaller folder or files";
            return Err(CommandError::Usage(text.to_owned()));
        }
        let inputs = clusters.iter().flat_map(|cluster| &cluster.inputs);
        let bytes = inputs.map(InputFile::len).fold(0, usize::saturating_add);
        if bytes > self.max_bytes {
            let (mebibytes, most) = (bytes.div_ceil(1 << 20), self.max_bytes >> 20);
            let text = format!(
                "the files have {mebibytes} MiB together, and at most {most} MiB are read: name fewer files"
            );
            return Err(CommandError::Usage(text));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn holds_what_is_below_the_folders_after_links_are_resolved() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let root = base.join("root");
        std::fs::create_dir_all(root.join("inner")).unwrap();
        std::fs::write(base.join("secret"), "").unwrap();
        std::os::unix::fs::symlink(base.join("secret"), root.join("out")).unwrap();
        std::os::unix::fs::symlink(root.join("inner"), root.join("in")).unwrap();
        std::os::unix::fs::symlink(base.join("nothing"), root.join("dangling")).unwrap();
        let confinement = Confinement { base: root.clone(), roots: vec![root.clone()], max_bytes: 0 };
        let held =
            |path: &str| (confinement.holds(&root.join(path)), confinement.is_outside(&root.join(path)));
        for path in ["", "inner", "in", "inner/..", "inner/../in"] {
            assert_eq!(held(path), (true, false), "{path}");
        }
        for path in ["out", "..", "../secret", "inner/../../secret"] {
            assert_eq!(held(path), (false, true), "{path}");
        }
        for path in ["dangling", "missing"] {
            assert_eq!(held(path), (false, false), "{path}");
        }
    }
}
