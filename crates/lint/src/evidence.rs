//! Evidence that Karpenter runs in a cluster. A folder can be about a cluster without Karpenter.

use std::sync::OnceLock;

use manifest::File;

use crate::collect::mentions_karpenter;

/// The files of a cluster, and whether they show that Karpenter runs in it.
#[derive(Debug)]
pub(crate) struct Evidence<'d> {
    files: &'d [File],
    /// Computed when a rule first needs it.
    found: OnceLock<bool>,
}

impl<'d> Evidence<'d> {
    pub(crate) fn of(files: &'d [File]) -> Self {
        Self { files, found: OnceLock::new() }
    }

    /// Whether the text of any file mentions Karpenter, or the user chose a file: a file that a user hands to Karpwarden, also
    /// as the only one, is for a cluster with Karpenter. Names do not count: the name of a folder depends on where a run starts.
    pub(crate) fn shows_karpenter(&self) -> bool {
        let shows =
            |file: &File| file.is_relevant == Some(true) || mentions_karpenter(file.source.text().as_bytes());
        self.files.len() < 2 || *self.found.get_or_init(|| self.files.iter().any(shows))
    }
}
