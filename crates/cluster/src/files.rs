//! The files of one cluster.

use manifest::File;

use crate::ids::{ClusterId, FileId};

/// The files of one cluster.
#[derive(Debug, Default)]
pub struct Cluster {
    /// The name of the cluster; empty if the check has only one cluster.
    pub name: String,
    /// The files in report order.
    pub files: Vec<File>,
}

/// The files of a cluster with their ids.
pub fn files_of(cluster: ClusterId, files: &[File]) -> impl Iterator<Item = (FileId, &File)> {
    files.iter().enumerate().map(move |(index, file)| (FileId { cluster, index }, file))
}
