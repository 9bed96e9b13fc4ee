//! Files that kustomizations list as patches. A patch holds a part of an object, so rules do not check it.
//!
//! Source: api/types/kustomization.go of kubernetes-sigs/kustomize: `patches`, `patchesJson6902`, `patchesStrategicMerge`
//! and the deprecated forms, in a Kustomization and in a Component; both fields `apiVersion` and `kind` may be
//! missing.

use std::collections::BTreeSet;

use manifest::tree::Node;
use manifest::{Document, File};

use crate::{json_patch, path};

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
        !self.0.is_empty() && self.0.contains(&path::join("", name))
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
    let folder = path::folder(name);
    let items = lists.iter().filter_map(|list| root.get(list)).flat_map(Node::items);
    let paths = items.filter_map(|item| item.as_str().or_else(|| item.str_at(&["path"])));
    paths.filter(|path| !path.contains('\n')).map(|relative| path::join(folder, relative)).collect()
}

/// Whether a document has the shape of a patch: a list of JSON patch operations, or an object of Karpenter or a workload with
/// `$patch`. Policies of other tools hold patches for other objects.
pub fn looks_like_patch(root: Node<'_>) -> bool {
    let version = root.str_at(&["apiVersion"]).unwrap_or_default();
    let group = version.split_once('/').map_or("", |(group, _)| group);
    let is_known = matches!(group, "" | "apps" | "batch" | "karpenter.sh" | "karpenter.k8s.aws");
    json_patch::is_json_patch(root)
        || (is_known && !version.is_empty() && root.spelling().contains("$patch") && has_directive(root))
}

/// Whether a file is called a patch and its document is only a part of an object: a NodePool, an EC2NodeClass or a
/// PodDisruptionBudget without fields that every complete one has. Without the kustomization that lists the file, nothing else shows that it is a patch.
pub fn is_named_patch(file: &str, root: Node<'_>) -> bool {
    let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
    let folder = folder.rsplit_once('/').map_or(folder, |(_, name)| name);
    let is_called_patch = name.split(['-', '_', '.']).any(|word| word == "patch") || folder == "patches";
    is_called_patch && is_part(root)
}

/// Whether a document is only a part of an object: a NodePool, an EC2NodeClass or a PodDisruptionBudget without fields that every
/// complete one has.
pub fn is_part(root: Node<'_>) -> bool {
    let lacks = |path: &[&str]| root.at_path(path).is_none_or(Node::is_null);
    match root.str_at(&["kind"]) {
        Some("NodePool") => {
            lacks(&["spec", "template", "spec", "nodeClassRef"])
                || lacks(&["spec", "template", "spec", "requirements"])
        }
        Some("EC2NodeClass") => {
            let terms = ["amiSelectorTerms", "subnetSelectorTerms", "securityGroupSelectorTerms"];
            terms.iter().any(|field| lacks(&["spec", *field]))
        }
        Some("PodDisruptionBudget") => lacks(&["spec", "selector"]),
        _ => false,
    }
}

fn has_directive(node: Node<'_>) -> bool {
    node.get("$patch").is_some() || node.children().any(has_directive)
}

#[cfg(test)]
mod tests {
    use super::*;
    use manifest::limits::Limits;

    #[test]
    fn a_part_of_an_object_in_a_file_called_patch_is_a_patch() {
        let is_patch = |name: &str, text: &str| {
            let file = File::read(name, text, &Limits::DEFAULT);
            let Some(Document::Read(tree)) = file.documents.first() else { panic!("{text}") };
            is_named_patch(name, tree.root())
        };
        let part = r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec: {role: a}
";
        for name in [
            "patch-class.yaml",
            "prod/class_patch.yaml",
            "prod/patches/class.yaml",
            "patch.yaml",
            "class.patch.yaml",
        ] {
            assert!(is_patch(name, part), "{name}");
        }
        for name in ["class.yaml", "dispatch.yaml", "patches/prod/class.yaml"] {
            assert!(!is_patch(name, part), "{name}");
        }
        let whole = r"kind: EC2NodeClass
spec: {amiSelectorTerms: [], subnetSelectorTerms: [], securityGroupSelectorTerms: []}
";
        assert!(!is_patch("patch.yaml", whole));
        assert!(is_patch("patch.yaml", "kind: NodePool\nspec: {weight: 1}\n"));
        let budget = "kind: PodDisruptionBudget\nspec: {minAvailable: 1}\n";
        assert!(is_patch("pdb.patch.yaml", budget) && !is_patch("pdb.yaml", budget));
        assert!(!is_patch("pdb.patch.yaml", &budget.replace('}', ", selector: {}}")));
        assert!(!is_patch("patch.yaml", "kind: Deployment\nspec: {replicas: 1}\n"));
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
