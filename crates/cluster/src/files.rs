//! The files of one cluster.

use manifest::{Document, File, is_markdown};

use crate::ids::{ClusterId, FileId};

/// The files of one cluster.
#[derive(Debug, Default)]
pub struct Cluster {
    /// The name of the cluster; empty if the check has only one cluster.
    pub name: String,
    /// The files in report order.
    pub files: Vec<File>,
}

/// Kinds whose objects a document that could not be read may hold, if its text names them.
const KINDS: [&str; 2] = ["NodePool", "EC2NodeClass"];

/// Whether files of a cluster may have more objects than were read: in a document that another program makes, such as Terraform, or in a
/// template or a text with mistakes that names a kind of Karpenter.
pub fn may_have_more_objects(files: &[File]) -> bool {
    let mut read = files.iter().filter(|file| !file.kind.is_text() && !is_markdown(file.source.name()));
    let names_kind = |file: &File| KINDS.iter().any(|kind| file.source.text().contains(kind));
    read.any(|file| {
        file.documents.iter().any(|document| match document {
            Document::Unevaluated { .. } => true,
            Document::Template(_) | Document::Unreadable { .. } => names_kind(file),
            Document::Read(_) | Document::Script(_) | Document::Deleted(_) | Document::Absent { .. } => false,
        })
    })
}

/// The files of a cluster with their ids.
pub fn files_of(cluster: ClusterId, files: &[File]) -> impl Iterator<Item = (FileId, &File)> {
    files.iter().enumerate().map(move |(index, file)| (FileId { cluster, index }, file))
}

/// A file of some clusters.
pub fn file(clusters: &[Cluster], id: FileId) -> Option<&File> {
    let file = clusters.get(id.cluster.index()).and_then(|cluster| cluster.files.get(id.index()));
    debug_assert!(file.is_some(), "{id:?} is of another input");
    file
}

/// A file of some clusters, to change it.
pub fn file_mut(clusters: &mut [Cluster], id: FileId) -> Option<&mut File> {
    let cluster = clusters.get_mut(id.cluster.index());
    let file = cluster.and_then(|cluster| cluster.files.get_mut(id.index()));
    debug_assert!(file.is_some(), "a file of another input");
    file
}

/// The files of all clusters with their ids, and the names of the clusters.
pub fn all_files(clusters: &[Cluster]) -> impl Iterator<Item = (&str, FileId, &File)> {
    ClusterId::enumerate(clusters).flat_map(|(id, cluster)| {
        let files = files_of(id, &cluster.files);
        files.map(|(id, file)| (cluster.name.as_str(), id, file))
    })
}
