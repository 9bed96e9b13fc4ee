//! Files of the charts in the input that only templates read: named templates and texts. They are no manifests.
//!
//! Source: "Accessing Files Inside Templates" and "Named Templates" in `docs/chart_template_guide` of helm/helm-www.

use std::collections::BTreeSet;

use cluster::folders::{folders_of, name, parent};
use manifest::File;

/// Maximum number of bytes of such a file.
pub(super) const MAX_BYTES: usize = 1 << 20;

/// Files of a chart that templates do not read: Helm's own, and documents for people.
const OTHERS: [&str; 5] = ["Chart.", "README", "LICENSE", "CHANGELOG", "NOTES.txt"];

/// The folders of the charts in the input.
pub(super) struct ChartFolders(BTreeSet<String>);

impl ChartFolders {
    pub(super) fn of<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        let definitions = names.filter(|file| name(file) == "Chart.yaml");
        Self(definitions.filter_map(parent).map(str::to_owned).collect())
    }

    /// Whether a file that is no manifest may be read by the templates of a chart.
    pub(super) fn may_read(&self, file: &str) -> bool {
        let base = name(file);
        let is_other = base.starts_with('.') || OTHERS.iter().any(|other| base.starts_with(other));
        !self.0.is_empty() && !is_other && folders_of(file).any(|folder| self.0.contains(folder))
    }
}

/// A file with a text; `None` for an archive or a picture.
pub(super) fn text(name: String, bytes: Vec<u8>) -> Option<File> {
    let text = String::from_utf8(bytes).ok().filter(|text| text.len() <= MAX_BYTES)?;
    Some(File::chart_text(name, text))
}
