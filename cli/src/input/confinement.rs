//! The folders outside of which a run reads nothing, for a run that another program asks for.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::base::normalised;
use super::clusters::ClusterInputs;
use super::file::InputFile;
use crate::error::CommandError;

/// Folders outside of which nothing is read, and the bound on what is read. Symbolic links are resolved.
#[derive(Clone, Debug)]
pub(crate) struct Confinement {
    /// Folder that the names of files start from, and in which references of the input are followed.
    pub(crate) base: PathBuf,
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) budget: ByteBudget,
}

/// The bytes that a run reads, counted for all copies together.
#[derive(Clone, Debug)]
pub(crate) struct ByteBudget {
    max: usize,
    used: Arc<AtomicUsize>,
}

impl ByteBudget {
    /// A budget of this many bytes.
    pub(crate) fn new(max: usize) -> Self {
        Self { max, used: Arc::default() }
    }

    /// Draws bytes. Returns whether they are within the budget.
    fn draw(&self, bytes: usize) -> bool {
        let used = self.used.fetch_add(bytes, Ordering::Relaxed);
        used.saturating_add(bytes) <= self.max
    }

    /// Refuses a run that has drawn more than there is.
    fn refuse_excess(&self) -> Result<(), CommandError> {
        let used = self.used.load(Ordering::Relaxed);
        if used <= self.max {
            return Ok(());
        }
        let (mebibytes, most) = (used.div_ceil(1 << 20), self.max >> 20);
        let text = format!(
            "the files have {mebibytes} MiB together, and at most {most} MiB are read: name fewer files"
        );
        Err(CommandError::Usage(text))
    }
}

impl Confinement {
    /// Whether an existing path is in one of the folders.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        path.canonicalize().is_ok_and(|real| self.holds_real(&real))
    }

    /// Whether a path is in one of the folders, whether or not there is something: a program must not learn from the answer what exists
    /// elsewhere.
    pub(crate) fn may_hold(&self, path: &Path) -> bool {
        let path = normalised(path);
        let existing = path.ancestors().find(|path| path.symlink_metadata().is_ok());
        self.holds_real(&path) && existing.is_some_and(|path| self.holds(path))
    }

    /// Draws the bytes of a file from the budget. Returns whether the file is read.
    pub(crate) fn affords(&self, path: &Path) -> bool {
        let bytes = path.metadata().map_or(0, |file| file.len());
        self.budget.draw(usize::try_from(bytes).unwrap_or(usize::MAX))
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
        self.budget.draw(inputs.map(InputFile::len).fold(0, usize::saturating_add));
        self.budget.refuse_excess()
    }

    /// Refuses a run that has read too much beside its inputs.
    pub(crate) fn refuse_overdraft(&self) -> Result<(), CommandError> {
        self.budget.refuse_excess()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_bytes_of_all_copies() {
        let budget = ByteBudget::new(2 << 20);
        assert!(budget.draw(1 << 20) && budget.clone().draw(1 << 20) && budget.refuse_excess().is_ok());
        assert!(!budget.draw(1));
        let error = budget.refuse_excess().unwrap_err().to_string();
        assert_eq!(error, "the files have 3 MiB together, and at most 2 MiB are read: name fewer files");
    }

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
        let budget = ByteBudget::new(0);
        let confinement = Confinement { base: root.clone(), roots: vec![root.clone()], budget };
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
        std::os::unix::fs::symlink(&base, root.join("up")).unwrap();
        for (path, may_be_held) in [
            ("missing", true),
            ("inner/missing/x", true),
            ("inner/missing/../../in/x", true),
            ("dangling", false),
            ("../secret", false),
            ("../missing", false),
            ("../missing/../root/inner", true),
            ("up/secret", false),
            ("up/missing", false),
            ("up/missing/x", false),
        ] {
            assert_eq!(confinement.may_hold(&root.join(path)), may_be_held, "{path}");
        }
    }
}
