//! Evidence that Karpenter runs in a cluster. A folder can be about a cluster without Karpenter.

use core::cell::OnceCell;

use manifest::File;

use crate::check::mentions_karpenter;

/// The files of a cluster, and whether they show that Karpenter runs in it.
#[derive(Debug)]
pub(crate) struct Evidence<'d> {
    files: &'d [File],
    /// Computed when a rule first needs it.
    found: OnceCell<bool>,
}

impl<'d> Evidence<'d> {
    pub(crate) fn of(files: &'d [File]) -> Self {
        Self { files, found: OnceCell::new() }
    }

    /// Whether any file mentions Karpenter in its text or its name, or was chosen by the user: a file that a user hands to
    /// Karpwarden, also as the only one, is for a cluster with Karpenter.
    pub(crate) fn shows_karpenter(&self) -> bool {
        let shows = |file: &File| {
            let source = &file.source;
            file.is_relevant == Some(true)
                || mentions_karpenter(source.name().as_bytes())
                || mentions_karpenter(source.text().as_bytes())
        };
        self.files.len() < 2 || *self.found.get_or_init(|| self.files.iter().any(shows))
    }
}
