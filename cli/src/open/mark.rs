//! Mark of an input, which changes when a file of the input changes.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use crate::config;
use crate::error::CommandError;
use crate::input::{self, Wanted};
use crate::messages::CollectedMessages;
use crate::report::PageOptions;

/// The mark of the files of an input, of the config file, and of further files: their paths, sizes and times.
pub(super) fn mark(options: &PageOptions, further: &BTreeSet<PathBuf>) -> Result<String, CommandError> {
    let messages = CollectedMessages::default();
    let config = config::read(&options.settings, &options.input, &messages)?;
    let excluded = config.excluded(&options.input, &messages)?;
    let mut hasher = DefaultHasher::new();
    let files = [config.path.as_deref(), options.prices.as_deref()];
    files.into_iter().flatten().for_each(|path| add(path, &mut hasher));
    for path in further {
        add(path, &mut hasher);
    }
    for wanted in [Wanted::Manifests, Wanted::Texts] {
        for cluster in input::by_cluster(&options.input, &config, None, &excluded, wanted) {
            let paths = cluster.inputs.iter().filter_map(input::InputFile::path);
            paths.chain(cluster.pinning.iter().map(AsRef::as_ref)).for_each(|path| add(path, &mut hasher));
        }
    }
    Ok(format!("{:016x}", hasher.finish()))
}

fn add(path: &Path, hasher: &mut DefaultHasher) {
    path.hash(hasher);
    if let Ok(file) = fs::metadata(path) {
        (file.len(), file.modified().ok()).hash(hasher);
    }
}
