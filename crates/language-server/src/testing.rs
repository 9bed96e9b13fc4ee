//! A folder of texts, for tests.

use std::cell::Cell;

use karpenter::release::Release;
use lsp_types::Uri;
use manifest::File;
use objects::embedded::READ_OPTIONS;
use objects::object::Object;
use rule::Rule;
use rule::registry::{Registry, SuppressionRules};
use scheduling::simulation::SimulationSettings;

use crate::documents::OpenDocument;
use crate::uri::from_path;
use crate::workspace::FolderView;

static RULE: Rule = Rule { name: "some-rule", summary: "something is wrong", ..Rule::DEFAULTS };
static RULES: [&Rule; 1] = [&RULE];

/// A registry of one rule.
pub(crate) static REGISTRY: Registry = Registry {
    rules: &RULES,
    suppressions: SuppressionRules { unknown_rule: &RULE, unused: &RULE, without_reason: &RULE },
    unserved: &RULE,
    left_out: &[],
    symptoms: Vec::new,
    large_indexes: &[],
};

/// Files by name.
pub(crate) struct TextFolder {
    files: Vec<File>,
    release: Release,
    /// The folders that look like separate clusters.
    pub(crate) environments: Vec<&'static str>,
    /// The number of times that the settings for simulations were asked.
    pub(crate) simulations: Cell<usize>,
}

impl TextFolder {
    pub(crate) fn of(files: &[(&str, &str)], release: Release) -> Self {
        let files = files.iter().map(|(name, text)| File::read(*name, *text, READ_OPTIONS)).collect();
        Self { files, release, environments: Vec::new(), simulations: Cell::new(0) }
    }
}

impl TextFolder {
    pub(crate) fn file_named(&self, name: &str) -> Option<&File> {
        self.files.iter().find(|file| file.source.name() == name)
    }
}

impl FolderView for TextFolder {
    fn files(&self) -> &[File] {
        &self.files
    }

    fn is_about_karpenter(&self) -> bool {
        self.files.iter().any(|file| file.source.text().contains("karpenter"))
    }

    fn file_of(&self, document: &OpenDocument) -> Option<&File> {
        self.files.iter().find(|file| document.uri.as_str().ends_with(file.source.name()))
    }

    fn uri_of(&self, file: &File) -> Option<Uri> {
        from_path(&std::path::Path::new("/folder").join(file.source.name()))
    }

    fn environments(&self) -> Vec<&str> {
        self.environments.clone()
    }

    fn release_for(&self, _: Option<&File>) -> Release {
        self.release
    }

    fn simulation_settings(&self, _: &[Object<'_>]) -> SimulationSettings {
        self.simulations.set(self.simulations.get() + 1);
        SimulationSettings::new(self.release)
    }
}
