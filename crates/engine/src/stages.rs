//! Stages of a check that Karpenter's own objects in one folder do not need.

use answers::plan::ControllerChange;
use cluster::charts::LocalCharts;
use cluster::environments::Environments;
use cluster::ids::ClusterId;
use cluster::input::Input;
use cluster::input_object::InputObject;
use karpenter::upgrade_path::UpgradePath;
use manifest::File;
use manifest::limits::Limits;
use terraform_objects::NoFilesBeside;

use crate::objects::Objects;
use crate::release_changes::{alias_changes, hash_changes};

/// The stages, as pointers: a program that checks without them does not link them.
pub(crate) struct Stages {
    /// Finds charts whose folders are in the input.
    pub(crate) charts: fn(&[File]) -> LocalCharts,
    /// Finds folders that look like clusters.
    pub(crate) environments: for<'d> fn(ClusterId, &[File], &[InputObject<'d>], bool) -> Environments<'d>,
    /// Evaluates configurations of Terraform again, to verify fixes of what they make.
    pub(crate) evaluate: fn(&mut Vec<File>),
    /// Says what an upgrade changes.
    pub(crate) controller_changes: fn(Input<'_>, &Objects<'_>, UpgradePath) -> Vec<ControllerChange>,
}

/// All stages.
pub(crate) static ALL: Stages = Stages {
    charts: LocalCharts::of,
    environments: |cluster, files, objects, is_complete| {
        Environments::of(cluster, files, objects, is_complete)
    },
    evaluate: |files| terraform_objects::evaluate(files, &NoFilesBeside, &Limits::DEFAULT),
    controller_changes,
};

/// The changes of the controller in an upgrade, and what the AMI aliases of each cluster find after it.
fn controller_changes(input: Input<'_>, objects: &Objects<'_>, path: UpgradePath) -> Vec<ControllerChange> {
    let (from, to) = path.ends();
    let mut changes = hash_changes(from, to);
    for (id, cluster) in input.clusters().filter(|_| from != to) {
        let of_cluster = alias_changes(objects.in_cluster(id).iter().map(|one| one.object));
        let named = of_cluster.into_iter();
        changes.extend(named.map(|change| ControllerChange { cluster: cluster.name.clone(), ..change }));
    }
    changes
}
