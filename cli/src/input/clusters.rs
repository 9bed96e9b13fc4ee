//! Inputs of each cluster.

use std::path::{Path, PathBuf};

use super::file::InputFile;
use super::patterns::Patterns;
use super::roles;
use super::walk::{Gathered, Search, Wanted, gather};
use crate::config::Config;
use crate::error::CommandError;
use crate::options::InputOptions;

/// Inputs of one cluster.
pub(crate) struct ClusterInputs {
    /// Name of the folder of `--cluster`; empty for the plain paths.
    pub(crate) cluster: String,
    pub(crate) inputs: Vec<InputFile>,
    /// Names of the files in the folders that are not read because of their extension.
    pub(crate) unread: Vec<String>,
    /// Files in the folders that are read only for the versions that they pin.
    pub(crate) pinning: Vec<PathBuf>,
    /// Whether a folder has more files than the search looks at.
    pub(crate) is_cut: bool,
}

/// Finds the inputs of each cluster. The plain paths are one cluster without a name, and each `--cluster` is another. `baseline` is
/// an input only if a path names it, like the config file.
pub(crate) fn by_cluster(
    input: &InputOptions,
    config: &Config,
    baseline: Option<&Path>,
    excluded: &Patterns,
    wanted: Wanted,
) -> Vec<ClusterInputs> {
    let base = &config.base;
    let stdin_filename = input.stdin_filename.as_deref();
    let InputOptions { max_walked, include_docs, ref texts, ref confinement, .. } = *input;
    let confinement = confinement.as_ref();
    let search =
        Search { base, excluded, stdin_filename, texts, wanted, max_walked, include_docs, confinement };
    let own: Vec<&Path> = config.path.as_deref().into_iter().chain(baseline).collect();
    let mut clusters = Vec::new();
    if !input.paths.is_empty() {
        let Gathered { inputs, unread, pinning, is_cut } = gather(&input.paths, &own, &search);
        clusters.push(ClusterInputs { cluster: String::new(), inputs, unread, pinning, is_cut });
    }
    for folder in &input.clusters {
        let name = base.name(folder);
        if !clusters.iter().any(|known| known.cluster == name) {
            let Gathered { inputs, unread, pinning, is_cut } =
                gather(std::slice::from_ref(folder), &own, &search);
            clusters.push(ClusterInputs { cluster: name, inputs, unread, pinning, is_cut });
        }
    }
    roles::mark_patches(clusters.iter_mut().flat_map(|cluster| &mut cluster.inputs), base, input);
    let everything = Patterns::none();
    let search = Search { excluded: &everything, wanted: Wanted::Manifests, ..search };
    for values in gather(&input.helm_values, &[], &search).inputs {
        mark_values(&mut clusters, values);
    }
    clusters
}

/// Marks a file of `--helm-values` as chart values, and adds it to the plain paths if it is not an input yet.
fn mark_values(clusters: &mut Vec<ClusterInputs>, values: InputFile) {
    if roles::mark_values(clusters.iter_mut().flat_map(|cluster| &mut cluster.inputs), &values) {
        return;
    }
    let values = values.into_values();
    if let Some(known) = clusters.iter_mut().find(|known| known.cluster.is_empty()) {
        known.inputs.push(values);
    } else {
        let values = ClusterInputs {
            cluster: String::new(),
            inputs: vec![values],
            unread: Vec::new(),
            pinning: Vec::new(),
            is_cut: false,
        };
        clusters.insert(0, values);
    }
}

/// Refuses inputs that exceed the bounds of a confined run.
pub(crate) fn refuse_excess(input: &InputOptions, clusters: &[ClusterInputs]) -> Result<(), CommandError> {
    input.confinement.as_ref().map_or(Ok(()), |confinement| confinement.refuse_excess(clusters))
}

/// Whether the input is one file that is so short that another thread would take longer to start than to help.
pub(crate) fn is_one_short_file(clusters: &[ClusterInputs]) -> bool {
    let mut inputs = clusters.iter().flat_map(|cluster| &cluster.inputs);
    inputs.next().is_some_and(InputFile::is_short) && inputs.next().is_none()
}

/// Number of inputs in all clusters.
pub(crate) fn count(clusters: &[ClusterInputs]) -> usize {
    clusters.iter().map(|cluster| cluster.inputs.len()).sum()
}
