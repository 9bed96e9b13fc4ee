//! Inputs of each cluster.

use std::path::{MAIN_SEPARATOR, Path};

use super::file::Input;
use super::patterns::Patterns;
use super::roles;
use super::walk::{Wanted, gather};
use crate::cli::arguments::Check;

/// Inputs of one cluster.
pub(crate) struct ClusterInputs {
    /// Folder that `--cluster` names; empty for the plain paths.
    pub(crate) cluster: String,
    pub(crate) inputs: Vec<Input>,
}

/// Finds the inputs of each cluster. The plain paths are one cluster without a name, and each `--cluster` is another.
pub(crate) fn by_cluster(
    check: &Check,
    config: Option<&Path>,
    excluded: &Patterns,
    wanted: Wanted,
) -> Vec<ClusterInputs> {
    let stdin = check.output.stdin_filename.as_deref().unwrap_or("-");
    let choice = &check.choice;
    let own: Vec<&Path> = [config, choice.baseline.as_deref(), choice.write_baseline.as_deref()]
        .into_iter()
        .flatten()
        .collect();
    let mut clusters = Vec::new();
    if !check.input.paths.is_empty() {
        let inputs = gather(&check.input.paths, &own, excluded, stdin, wanted);
        clusters.push(ClusterInputs { cluster: String::new(), inputs });
    }
    for folder in &check.input.cluster {
        let name = folder.to_string_lossy().replace(MAIN_SEPARATOR, "/");
        let name = name.trim_end_matches('/').to_owned();
        if !clusters.iter().any(|known| known.cluster == name) {
            let inputs = gather(std::slice::from_ref(folder), &own, excluded, stdin, wanted);
            clusters.push(ClusterInputs { cluster: name, inputs });
        }
    }
    roles::mark_patches(clusters.iter_mut().flat_map(|cluster| &mut cluster.inputs), &check.bounds.limits());
    for values in gather(&check.input.helm_values, &[], &Patterns::none(), stdin, Wanted::Manifests) {
        mark_values(&mut clusters, values);
    }
    clusters
}

/// Marks a file of `--helm-values` as chart values, and adds it to the plain paths if it is not an input yet.
fn mark_values(clusters: &mut Vec<ClusterInputs>, values: Input) {
    if roles::mark_values(clusters.iter_mut().flat_map(|cluster| &mut cluster.inputs), &values) {
        return;
    }
    let values = values.into_values();
    match clusters.iter_mut().find(|known| known.cluster.is_empty()) {
        Some(known) => known.inputs.push(values),
        None => clusters.insert(0, ClusterInputs { cluster: String::new(), inputs: vec![values] }),
    }
}

/// Number of inputs in all clusters.
pub(crate) fn count(clusters: &[ClusterInputs]) -> usize {
    clusters.iter().map(|cluster| cluster.inputs.len()).sum()
}
