//! Inputs as a run reads them: files, settings, and the report.

use std::collections::BTreeSet;

use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use karpwarden::lint::check::{Cluster, MAX_FINDINGS, check_within};
use karpwarden::lint::report::Report;
use karpwarden::lint::settings::Settings;
use karpwarden::manifest::File;
use karpwarden::manifest::limits::Limits;

/// Bounds that keep one input fast.
pub(crate) const LIMITS: Limits = Limits { file_bytes: 1 << 16, documents: 200, depth: 64, nodes: 5_000 };

/// Start of a line that names the file of the following lines.
const FILE: &str = "#== ";

/// Name of the file with the settings.
const CONFIG: &str = "karpwarden.yaml";

/// The files of one cluster, and the settings among them.
pub(crate) struct Input {
    pub(crate) clusters: [Cluster; 1],
    pub(crate) settings: Settings,
}

impl Input {
    /// Cuts a text at the lines that begin with `#== `. The text before the first of these lines is the file `a.yaml`. The
    /// text of `karpwarden.yaml` is the settings, if they are valid.
    pub(crate) fn parse(text: &str) -> Self {
        let mut names = BTreeSet::from(["a.yaml"]);
        let mut texts = vec![("a.yaml", String::new())];
        for line in text.split_inclusive('\n') {
            match line.strip_prefix(FILE).map(str::trim_end).filter(|name| names.insert(name)) {
                Some(name) => texts.push((name, String::new())),
                None => texts.iter_mut().next_back().into_iter().for_each(|(_, text)| text.push_str(line)),
            }
        }
        let (config, files): (Vec<File>, Vec<File>) = texts
            .into_iter()
            .map(|(name, text)| File::read(name, text, &LIMITS))
            .partition(|file| file.source.name() == CONFIG);
        let settings = config.first().and_then(|file| Settings::parse_file(file, &REGISTRY).ok());
        let clusters = [Cluster { name: String::new(), files }];
        Self { clusters, settings: settings.unwrap_or_default() }
    }

    pub(crate) fn files(&self) -> &[File] {
        let [cluster] = &self.clusters;
        &cluster.files
    }

    pub(crate) fn check(&self) -> Report {
        check_within(&REGISTRY, &self.clusters, &self.settings, MAX_FINDINGS)
    }

    /// The same settings with other texts in the files of the same names.
    pub(crate) fn with_texts(&self, text: impl Fn(&File) -> String) -> Self {
        let files = self.files().iter().map(|file| File::read(file.source.name(), text(file), &LIMITS));
        let clusters = [Cluster { name: String::new(), files: files.collect() }];
        Self { clusters, settings: self.settings.clone() }
    }
}
