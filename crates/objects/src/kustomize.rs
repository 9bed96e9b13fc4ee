//! Files that kustomizations list as patches. A patch holds a part of an object, so rules do not check it.
//!
//! Source: api/types/kustomization.go of kubernetes-sigs/kustomize: `patches`, `patchesJson6902`, `patchesStrategicMerge`
//! and the deprecated forms, in a Kustomization and in a Component; both fields `apiVersion` and `kind` may be
//! missing.

use std::collections::BTreeSet;

use manifest::tree::Node;
use manifest::{Document, File};

/// Names of the files that the kustomizations of a cluster list as patches.
#[derive(Debug, Default)]
pub struct Patches(BTreeSet<String>);

impl Patches {
    /// Collects the patches. A file that any kustomization lists as a resource is not a patch.
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

    /// Whether the file with a name is a patch.
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

/// Returns the paths in lists of a kustomization. An item is a path, an object with `path`, or a patch as text.
fn listed(root: Node<'_>, lists: &[&str], name: &str) -> Vec<String> {
    let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
    let items = lists.iter().filter_map(|list| root.get(list)).flat_map(Node::items);
    let paths = items.filter_map(|item| item.as_str().or_else(|| item.str_at(&["path"])));
    paths.filter(|path| !path.contains('\n')).map(|relative| path(folder, relative)).collect()
}

/// Joins a folder and a relative path, and resolves `.` and `..` as far as possible.
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
    fn resolves_paths_from_the_folder_of_the_kustomization() {
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
    fn collects_every_list_of_patches_without_resources() {
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
