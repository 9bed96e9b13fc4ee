//! The files of one cluster.

use manifest::File;

/// The files of one cluster.
#[derive(Debug, Default)]
pub struct Cluster {
    /// The name of the cluster; empty if the check has only one cluster.
    pub name: String,
    /// The files in report order.
    pub files: Vec<File>,
}
