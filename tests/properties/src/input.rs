//! Inputs as a run reads them: files, settings, and the report.

use std::collections::BTreeSet;

use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use karpwarden::answers::report::Report;
use karpwarden::cluster::Cluster;
use karpwarden::engine::check::{MAX_FINDINGS, check_within};
use karpwarden::manifest::File;
use karpwarden::manifest::limits::Limits;
use karpwarden::rule::settings::Settings;

/// Bounds that keep one input fast.
pub(crate) const LIMITS: Limits = Limits { file_bytes: 1 << 16, documents: 200, depth: 64, nodes: 5_000 };

/// Start of a line that names the file of the following lines.
const FILE: &str = "#== ";

/// Name of the file with the settings.
pub(crate) const CONFIG: &str = "karpwarden.yaml";

/// Names and texts of files, and the text of the settings.
pub(crate) struct Texts<'t> {
    pub(crate) files: Vec<(&'t str, String)>,
    pub(crate) settings: String,
}

impl<'t> Texts<'t> {
    /// Cuts a text at the lines that begin with `#== `. The text before the first of these lines is the file `a.yaml`, and
    /// the text of `karpwarden.yaml` is the settings.
    pub(crate) fn cut(text: &'t str) -> Self {
        let mut names = BTreeSet::from(["a.yaml"]);
        let mut files = Vec::new();
        let mut last = ("a.yaml", String::new());
        for line in text.split_inclusive('\n') {
            match line.strip_prefix(FILE).map(str::trim_end).filter(|name| names.insert(name)) {
                Some(name) => files.push(core::mem::replace(&mut last, (name, String::new()))),
                None => last.1.push_str(line),
            }
        }
        files.push(last);
        let at = files.iter().position(|(name, _)| *name == CONFIG);
        let settings = at.map(|at| files.remove(at).1).unwrap_or_default();
        Self { files, settings }
    }
}

/// The files of one cluster, and valid settings.
pub(crate) struct Input {
    pub(crate) clusters: [Cluster; 1],
    pub(crate) settings: Settings,
}

impl Input {
    /// Reads the files and the settings in a text. Settings with a mistake are the defaults.
    pub(crate) fn parse(text: &str) -> Self {
        let texts = Texts::cut(text);
        let config = File::read(CONFIG, texts.settings, &LIMITS);
        let settings = Settings::parse_file(&config, &REGISTRY).unwrap_or_default();
        let files = texts.files.into_iter().map(|(name, text)| File::read(name, text, &LIMITS));
        Self { clusters: [Cluster { name: String::new(), files: files.collect() }], settings }
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
