//! Input of `simulate`, `disruption` and `hash`, which are about one cluster.

use std::path::{Path, PathBuf};

use cluster::Cluster;
use manifest::{Document, File};
use rule::settings::Settings;

use super::error::CommandError;
use super::input::pinning::texts_with_pins;
use super::input::{self, Wanted, add_unknown, evaluate_terraform};
use super::messages::Messages;
use super::options::{InputOptions, SettingsOptions};
use super::{bounds, config, output};

/// Settings and manifests of a run.
pub(crate) struct OneCluster {
    pub(crate) settings: Settings,
    pub(crate) cluster: Cluster,
}

/// Reads the config file and the manifests. `output` is the file to write, which must not be an input; `verb` says what the command
/// does with the input.
pub(crate) fn read(
    input: &InputOptions,
    settings: &SettingsOptions,
    output: Option<&Path>,
    verb: &str,
    messages: &dyn Messages,
) -> Result<OneCluster, CommandError> {
    let config = config::read(settings, input, messages)?;
    let excluded = config.excluded(input, messages)?;
    let clusters = input::by_cluster(input, &config, None, &excluded, Wanted::Manifests);
    if input::count(&clusters) == 0 {
        let has_paths = !(input.paths.is_empty() && input.clusters.is_empty());
        let reason =
            if has_paths { input::NO_FILES } else { "name files or folders, or `-` for standard input" };
        let message = format!("nothing to {verb}: {reason}");
        return Err(CommandError::NoInput(message));
    }
    input::refuse_excess(input, &clusters)?;
    output::refuse_input(output, "--output", &clusters, config.path.as_deref())?;
    let inputs = clusters.iter().flat_map(|cluster| &cluster.inputs);
    let config = config.for_files(&inputs.clone(), messages)?;
    let mut files: Vec<File> = inputs.map(|one| one.read(&input.limits).file).collect();
    let unread: Vec<String> = clusters.iter().flat_map(|cluster| cluster.unread.iter().cloned()).collect();
    evaluate_terraform(&mut files, &unread, &config.base, input, input.root());
    if !config.settings.is_karpenter_version_set {
        let pinning: Vec<PathBuf> =
            clusters.iter().flat_map(|cluster| cluster.pinning.iter().cloned()).collect();
        add_unknown(&mut files, texts_with_pins(&pinning, &config.base, input.confinement.as_ref()));
    }
    input.refuse_overdraft()?;
    output::refuse_referenced(output, "--output", &files, &config.base)?;
    Ok(OneCluster { settings: config.settings, cluster: Cluster { name: String::new(), files } })
}

/// Reports the documents that could not be parsed. Returns whether there are any.
pub(crate) fn report_unreadable(files: &[File], messages: &dyn Messages) -> bool {
    let mut found = false;
    for file in files {
        found |= report_unreadable_at(file, None, messages);
    }
    found
}

/// Reports the documents of a file that could not be parsed, in the working tree or in a commit. Returns whether there are any.
pub(crate) fn report_unreadable_at(file: &File, commit: Option<&str>, messages: &dyn Messages) -> bool {
    let at = commit.map(|commit| format!(" in commit {commit}")).unwrap_or_default();
    let mut found = false;
    for document in &file.documents {
        if let Document::Unreadable { error, .. } = document {
            let (name, advice) = (file.source.name(), bounds::advice(error.exceeded()));
            let message = format!("`{name}`{at}: {error}{advice}");
            messages.error(&render::human::printable(&message));
            found = true;
        }
    }
    found
}
