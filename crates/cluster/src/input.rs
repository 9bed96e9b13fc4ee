//! The input of a check: the files of one or several clusters.

use manifest::{Document, File};

use crate::built::BuiltCluster;
use crate::files::{Cluster, file, files_of};
use crate::ids::{ClusterId, DocumentId, FileId};

/// The clusters of a check with the builds of their kustomizations, by id.
#[derive(Clone, Copy, Debug)]
pub struct Input<'d> {
    clusters: &'d [Cluster],
    built: &'d [BuiltCluster],
}

impl<'d> Input<'d> {
    /// The input of some clusters, and the builds of each.
    pub const fn new(clusters: &'d [Cluster], built: &'d [BuiltCluster]) -> Self {
        Self { clusters, built }
    }

    /// The clusters in report order.
    pub fn clusters(self) -> impl ExactSizeIterator<Item = (ClusterId, &'d Cluster)> {
        self.clusters.iter().enumerate().map(|(index, cluster)| (ClusterId(index), cluster))
    }

    /// The files of all clusters in report order.
    pub fn files(self) -> impl Iterator<Item = (FileId, &'d File)> {
        self.clusters().flat_map(|(cluster, of_cluster)| files_of(cluster, &of_cluster.files))
    }

    /// A cluster.
    pub fn cluster(self, id: ClusterId) -> Option<&'d Cluster> {
        found(self.clusters.get(id.index()))
    }

    /// The builds of a cluster.
    pub fn built(self, id: ClusterId) -> Option<&'d BuiltCluster> {
        found(self.built.get(id.index()))
    }

    /// Whether some objects of a cluster have parts of several texts: a kustomization builds them, or a configuration of Terraform makes
    /// them. Then several objects can have the same text.
    pub fn has_assembled(self, id: ClusterId) -> bool {
        let is_assembled =
            |document: &Document| matches!(document, Document::Read(tree) if tree.is_assembled());
        let mut files = self.cluster(id).into_iter().flat_map(|cluster| &cluster.files);
        self.built(id).is_some_and(|built| !built.is_empty())
            || files.any(|file| file.documents.iter().any(is_assembled))
    }

    /// A file.
    pub fn file(self, id: FileId) -> Option<&'d File> {
        file(self.clusters, id)
    }

    /// A document.
    pub fn document(self, id: DocumentId) -> Option<&'d Document> {
        found(self.file(id.file)?.documents.get(id.index))
    }
}

/// A part that exists, because its id comes from a walk over the input.
fn found<T>(part: Option<&T>) -> Option<&T> {
    debug_assert!(part.is_some(), "an id names no part of this input");
    part
}
