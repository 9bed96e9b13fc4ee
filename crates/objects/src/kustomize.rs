//! What a kustomization says of the files beside it: those that it lists as patches hold parts of objects, which are
//! whole only where they are applied.
//!
//! Source: api/types/kustomization.go of kubernetes-sigs/kustomize: `patches`, `patchesJson6902`, `patchesStrategicMerge`
//! and what is deprecated of them, in a Kustomization and in a Component; both fields `apiVersion` and `kind` may be
//! missing.

use std::collections::BTreeSet;

use manifest::tree::Node;
use manifest::{Document, File};

/// The files that are patches, as the kustomizations among the files of a cluster list them.
#[derive(Debug, Default)]
pub struct Patches(BTreeSet<String>);

impl Patches {
    /// Reads the kustomizations. What one of them lists as a resource is an object, whatever another says.
    pub fn of(files: &[File]) -> Self {
        let (mut patches, mut resources) = (BTreeSet::new(), BTreeSet::new());
        for file in files {
            let name = file.source.name();
            for root in file.documents.iter().filter_map(root).filter(|root| is_kustomization(*root, name)) {
                patches.extend(listed(root, &["patches", "patchesJson6902", "patchesStrategicMerge"], name));
                resources.extend(listed(root, &["resources"], name));
            }
        }
        Self(patches.difference(&resources).cloned().collect())
    }

    /// Whether the file of a name is a patch.
    pub fn contains(&self, name: &str) -> bool {
        !self.0.is_empty() && self.0.contains(&path("", name))
    }
}

fn root(document: &Document) -> Option<Node<'_>> {
    if let Document::Read(tree) = document { Some(tree.root()) } else { None }
}

fn is_kustomization(root: Node<'_>, name: &str) -> bool {
    match root.str_at(&["apiVersion"]) {
        Some(version) => version.starts_with("kustomize.config.k8s.io/"),
        None => matches!(name.rsplit('/').next(), Some("kustomization.yaml" | "kustomization.yml")),
    }
}

/// The paths in some lists of a kustomization: an item is a path, or has one. A patch may also stand in the list itself.
fn listed(root: Node<'_>, lists: &[&str], name: &str) -> Vec<String> {
    let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
    let items = lists.iter().filter_map(|list| root.get(list)).flat_map(Node::items);
    let paths = items.filter_map(|item| item.as_str().or_else(|| item.str_at(&["path"])));
    paths.filter(|path| !path.contains('\n')).map(|relative| path(folder, relative)).collect()
}

/// A path below a folder, without `.` and, as far as they lead within it, without `..`.
fn path(folder: &str, relative: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(relative.split('/')) {
        match part {
            "" if !parts.is_empty() || !folder.starts_with('/') && !relative.starts_with('/') => {}
            "." => {}
            ".." if parts.last().is_some_and(|last| !matches!(*last, "" | "..")) => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use manifest::limits::Limits;

    #[test]
    fn paths_lead_from_the_folder_of_the_kustomization() {
        for (folder, relative, expected) in [
            ("overlays/prod", "pool.yaml", "overlays/prod/pool.yaml"),
            ("overlays/prod", "./a/../../pool.yaml", "overlays/pool.yaml"),
            ("/srv/prod", "../pool.yaml", "/srv/pool.yaml"),
            ("", "pool.yaml", "pool.yaml"),
            ("..", "../pool.yaml", "../../pool.yaml"),
            ("", "/srv//pool.yaml", "/srv/pool.yaml"),
        ] {
            assert_eq!(path(folder, relative), expected, "{folder} {relative}");
        }
    }

    #[test]
    fn every_list_of_patches_counts_and_resources_are_none() {
        let read = |name: &str, text: &str| File::read(name, text, &Limits::DEFAULT);
        let files = [
            read(
                "prod/kustomization.yaml",
                "patches: [{path: a.yaml}, {patch: '- op: add'}, b.yaml]\npatchesJson6902: [{path: c.yaml}]\npatchesStrategicMerge:\n  - d.yaml\n  - |-\n    apiVersion: karpenter.sh/v1\n    kind: NodePool\n",
            ),
            read(
                "part/any.yaml",
                "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches: [{path: ../e.yaml}]\n",
            ),
            read("base/kustomization.yaml", "resources: [../prod/b.yaml]\n"),
            read("flux.yaml", "apiVersion: kustomize.toolkit.fluxcd.io/v1\npatches: [{path: f.yaml}]\n"),
            read("values.yaml", "patches: [{path: g.yaml}]\n"),
        ];
        let patches = Patches::of(&files);
        let names: Vec<_> = patches.0.iter().map(String::as_str).collect();
        assert_eq!(names, ["e.yaml", "prod/a.yaml", "prod/c.yaml", "prod/d.yaml"]);
        assert!(patches.contains("./prod/a.yaml") && !patches.contains("prod/b.yaml"));
    }
}
