//! Evidence that Karpenter runs in a cluster. A folder can be about a cluster without Karpenter.

use std::sync::OnceLock;

use manifest::File;

/// The files of a cluster, and whether they show that Karpenter runs in it.
#[derive(Debug)]
pub struct KarpenterEvidence<'d> {
    files: &'d [File],
    /// Computed when a rule first needs it.
    found: OnceLock<bool>,
}

impl<'d> KarpenterEvidence<'d> {
    /// The evidence in the files of a cluster.
    pub fn of(files: &'d [File]) -> Self {
        Self { files, found: OnceLock::new() }
    }

    /// Whether the text of any file mentions Karpenter, or the user chose a file: a file that a user hands to Karpwarden is for a
    /// cluster with Karpenter. The number of files does not count, so that another file hides no error. Names do not count
    /// either: the name of a folder depends on where a run starts.
    pub fn shows_karpenter(&self) -> bool {
        let shows =
            |file: &File| file.is_relevant == Some(true) || mentions_karpenter(file.source.text().as_bytes());
        // A script beside the manifests can be about any cluster.
        let mut files = self.files.iter().filter(|file| !file.kind.is_text());
        *self.found.get_or_init(|| files.any(shows))
    }
}

/// Whether a text contains the word `karpenter`, in upper or lower case. Null bytes do not count, so that UTF-16 is
/// understood.
pub fn mentions_karpenter(text: &[u8]) -> bool {
    const WORD: &[u8] = b"karpenter";
    let mut matched = 0;
    for byte in text.iter().map(u8::to_ascii_lowercase).filter(|byte| *byte != 0) {
        // The first letter of the word does not occur again in it, so a mismatch restarts the word.
        matched = if WORD.get(matched) == Some(&byte) { matched + 1 } else { usize::from(byte == b'k') };
        if matched == WORD.len() {
            return true;
        }
    }
    false
}
