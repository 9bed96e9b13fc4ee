//! Names that symbolic links give to files of OLD and NEW.
//!
//! A walk reads each file under one name. Where one folder has two files and the other one a file and a link to it, both names count on both
//! sides, as in a comparison with a commit.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::input::{BaseFolder, ClusterInputs, InputFile};

/// The inputs of a folder that its walk has taken under other names, although the walk through the other folder has taken a file under
/// the name.
pub(super) fn further_inputs(
    (own, folder): (&[ClusterInputs], &Path),
    (other, other_folder): (&[ClusterInputs], &Path),
    base: &BaseFolder,
) -> Vec<InputFile> {
    let inputs = || own.iter().flat_map(|one| &one.inputs);
    let names: BTreeSet<&str> = inputs().map(|input| input.name.as_str()).collect();
    let taken: BTreeSet<PathBuf> = inputs().filter_map(|input| input.path()?.canonicalize().ok()).collect();
    let start = base.name(other_folder);
    let others = other.iter().flat_map(|one| &one.inputs);
    let further = others.filter_map(|input| {
        let rest = input.name.strip_prefix(&start)?.strip_prefix('/')?;
        let path = folder.join(rest);
        let is_link =
            !names.contains(base.name(&path).as_str()) && taken.contains(&path.canonicalize().ok()?);
        is_link.then(|| InputFile::file(path, folder, base).if_regular())
    });
    further.collect()
}
