//! `spec.postBuild` of Flux's Kustomization.
//!
//! Source: "Post build variable substitution" in docs/spec/v1/kustomizations.md of fluxcd/kustomize-controller.

use std::collections::{BTreeMap, BTreeSet};

use kustomize::{BuildOutcome, Builds, GeneratedMap, Origin, Overlay};
use manifest::tree::{Node, NodeId, Tree, items_of, members_of};
use manifest::{Document, File, FileNumber};

use super::{MAX_OVERLAYS, NameRepetition, RepeatedNames, Writer, with_values};
use crate::folders::{KnownFolders, parent};

/// Label or annotation of an object whose variables Flux leaves as they are.
const DISABLED: &str = "kustomize.toolkit.fluxcd.io/substitute";

/// A Kustomization with variables, or one of a folder that another Kustomization with variables applies.
struct FluxKustomization<'d> {
    name: &'d str,
    file: &'d str,
    /// The folder of the input that it applies.
    folder: &'d str,
    variables: BTreeMap<&'d str, &'d str>,
}

impl FluxKustomization<'_> {
    /// The name of its overlay of a folder. Of several Kustomizations with one name, the folder or the file is a part of the name.
    fn name_of_overlay(&self, overlay: &str, repeated: &RepeatedNames, start: &str) -> String {
        let file = self.file.strip_prefix(start).map_or(self.file, |rest| rest.trim_start_matches('/'));
        let place = match repeated.get(self.name) {
            None => "",
            Some(NameRepetition::InFolders) => parent(file).unwrap_or_default(),
            Some(NameRepetition::InFiles) => file,
        };
        let separator = if place.is_empty() { "" } else { "/" };
        format!("{overlay} ({place}{separator}{})", self.name)
    }
}

/// Adds an overlay for each Kustomization of Flux with variables, or replaces the overlay that it applies.
pub(super) fn add(
    builds: &mut Builds,
    (files, start): (&[File], &str),
    repeated: &RepeatedNames,
    writer: &mut Writer,
) {
    let generated = core::mem::take(&mut builds.generated);
    let found = kustomizations(files, &generated);
    if found.is_empty() || found.len() > MAX_OVERLAYS {
        return;
    }
    let mut replaced = BTreeSet::new();
    let mut added = Vec::new();
    for one in &found {
        let replace = |text: &str| replaced_in(text, &one.variables);
        // A kustomization in the folder itself says which of the folders below it are applied.
        let is_built_itself = builds.overlays.iter().any(|overlay| overlay.name == one.folder);
        let is_applied = |overlay: &Overlay| {
            if is_built_itself { overlay.name == one.folder } else { is_within(&overlay.name, one.folder) }
        };
        let mut is_built = false;
        for overlay in builds.overlays.iter().filter(|overlay| is_applied(overlay)) {
            is_built = true;
            let objects = overlay.objects.iter().map(|object| {
                let root = match &object.outcome {
                    BuildOutcome::Deleted => None,
                    BuildOutcome::Changed(tree) => Some(tree.root()),
                    BuildOutcome::Unchanged => root_in(files, object.origin),
                };
                (object.origin, root, object.unresolved.clone())
            });
            let name = one.name_of_overlay(&overlay.name, repeated, start);
            if let Some(built) = writer.overlay(name, objects, &replace) {
                replaced.insert(overlay.name.clone());
                added.push(built);
            }
        }
        if !is_built {
            let objects = objects_below(files, one.folder, builds);
            if !objects.is_empty() {
                let name = one.name_of_overlay(one.folder, repeated, start);
                added.extend(writer.overlay(name, objects, &replace));
            }
        }
    }
    builds.overlays.retain(|overlay| !replaced.contains(&overlay.name));
    builds.overlays.extend(added);
}

fn roots(files: &[File]) -> impl Iterator<Item = Node<'_>> {
    files.iter().filter(|file| file.is_input()).flat_map(File::trees).map(Tree::root)
}

/// Whether an object is a Kustomization of Flux.
fn is_flux(root: &Node<'_>) -> bool {
    root.str_at(&["kind"]) == Some("Kustomization")
        && root
            .str_at(&["apiVersion"])
            .is_some_and(|version| version.starts_with("kustomize.toolkit.fluxcd.io/"))
}

/// The Kustomizations of Flux with the folders that they apply: the ones that replace variables, and others that apply the same folder without
/// variables.
fn applied<'d>(files: &'d [File]) -> Vec<(Node<'d>, &'d str)> {
    let has_variables = |root: &Node<'_>| root.at_path(&["spec", "postBuild"]).is_some();
    let found: Vec<Node<'d>> = roots(files).filter(is_flux).collect();
    if !found.iter().any(has_variables) {
        return Vec::new();
    }
    let folders = KnownFolders::of(files);
    let folder = |root: &Node<'d>| folders.find(root.str_at(&["spec", "path"])?);
    let with_variables: BTreeSet<&str> =
        found.iter().filter(|root| has_variables(root)).filter_map(folder).collect();
    let applied = found.into_iter().filter_map(|root| Some((root, folder(&root)?)));
    applied.filter(|(_, folder)| with_variables.contains(folder)).collect()
}

/// The names that several Kustomizations of Flux with variables have, of which one applies a folder of the other. They are of several clusters: in a
/// cluster, a name in a namespace is unique.
pub(crate) fn repeated_names(files: &[File]) -> RepeatedNames {
    let mut by_name: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for (root, folder) in applied(files) {
        if let Some(name) = root.str_at(&["metadata", "name"]) {
            by_name.entry(name).or_default().push((folder, root.source().name()));
        }
    }
    let repetition = |all: &[(&str, &str)]| {
        let pairs = all.iter().enumerate().flat_map(|(at, one)| {
            let others = all.iter().take(at);
            others.map(move |other| (one, other))
        });
        let same = pairs.take(MAX_OVERLAYS * MAX_OVERLAYS).filter(|((one, file), (other, other_file))| {
            file != other_file && (is_within(one, other) || is_within(other, one))
        });
        let kind = |one: &str, other: &str| {
            if parent(one) == parent(other) { NameRepetition::InFiles } else { NameRepetition::InFolders }
        };
        same.map(|((_, one), (_, other))| kind(one, other)).max()
    };
    let repeated = by_name.iter().filter_map(|(name, all)| Some(((*name).to_owned(), repetition(all)?)));
    repeated.collect()
}

/// The Kustomizations of Flux whose variables and whose folder are in the input, and others of the same folders.
fn kustomizations<'d>(files: &'d [File], generated: &'d [GeneratedMap]) -> Vec<FluxKustomization<'d>> {
    let own = applied(files);
    if own.is_empty() {
        return Vec::new();
    }
    let written = roots(files).filter_map(VariableMap::written);
    let mut maps = BTreeMap::<&str, Vec<VariableMap<'d>>>::new();
    for (name, map) in written.chain(generated.iter().map(VariableMap::generated)) {
        maps.entry(name).or_default().push(map);
    }
    let known: Vec<FluxKustomization<'d>> = own
        .into_iter()
        .filter_map(|(root, folder)| {
            let mut variables = BTreeMap::new();
            for source in items_of(root.at_path(&["spec", "postBuild", "substituteFrom"])) {
                let name = source.str_at(&["name"]).filter(|_| source.str_at(&["kind"]) == Some("ConfigMap"));
                let named = name.and_then(|name| maps.get(name)).map_or(&[][..], Vec::as_slice);
                match map_of(root, named) {
                    Some(map) => variables.extend(&map.variables),
                    // A source that the input does not show may have other values for the variables so far.
                    None => variables.clear(),
                }
            }
            // The variables of the object itself win.
            let own = root.at_path(&["spec", "postBuild", "substitute"]);
            variables.extend(own.into_iter().flat_map(texts));
            let name = root.str_at(&["metadata", "name"])?;
            let file = root.source().name();
            Some(FluxKustomization { name, file, folder, variables })
        })
        .collect();
    // Without known values, the objects stay as they are, unless others of the same folder have values.
    let with_values: BTreeSet<&str> =
        known.iter().filter(|one| !one.variables.is_empty()).map(|one| one.folder).collect();
    known.into_iter().filter(|one| with_values.contains(one.folder)).collect()
}

/// A `ConfigMap` with variables.
struct VariableMap<'d> {
    namespace: Option<&'d str>,
    folder: &'d str,
    variables: BTreeMap<&'d str, &'d str>,
}

impl<'d> VariableMap<'d> {
    /// A `ConfigMap` of a file, with its name.
    fn written(root: Node<'d>) -> Option<(&'d str, Self)> {
        let name =
            root.str_at(&["metadata", "name"]).filter(|_| root.str_at(&["kind"]) == Some("ConfigMap"))?;
        let map = Self {
            namespace: root.str_at(&["metadata", "namespace"]),
            folder: parent(root.source().name()).unwrap_or_default(),
            variables: texts(root.get("data")?).collect(),
        };
        Some((name, map))
    }

    /// A `ConfigMap` that a kustomization generates, with its name.
    fn generated(map: &'d GeneratedMap) -> (&'d str, Self) {
        let entries = map.entries.iter().filter(|(_, text)| !text.contains("${"));
        let variables = entries.map(|(key, text)| (key.as_str(), text.as_str())).collect();
        (&map.name, Self { namespace: map.namespace.as_deref(), folder: &map.folder, variables })
    }
}

/// The `ConfigMap` of a Kustomization among those with its name: the only one in its namespace, else the only one of these in its folder.
fn map_of<'m, 'd>(kustomization: Node<'d>, named: &'m [VariableMap<'d>]) -> Option<&'m VariableMap<'d>> {
    let own = kustomization.str_at(&["metadata", "namespace"]);
    let folder = parent(kustomization.source().name()).unwrap_or_default();
    let is_near = |map: &&VariableMap<'d>| map.namespace.zip(own).is_none_or(|(one, other)| one == other);
    let only = |found: &mut dyn Iterator<Item = &'m VariableMap<'d>>| {
        found.next().filter(|_| found.next().is_none())
    };
    let near = || named.iter().filter(is_near);
    only(&mut near()).or_else(|| only(&mut near().filter(|map| map.folder == folder)))
}

/// The members of an object that are texts without variables.
fn texts(data: Node<'_>) -> impl Iterator<Item = (&str, &str)> {
    let members = members_of(Some(data)).filter_map(|(key, node)| Some((key, node.as_str()?)));
    members.filter(|(_, text)| !text.contains("${"))
}

/// Whether a folder is another one or below it.
fn is_within(folder: &str, above: &str) -> bool {
    folder.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The objects of the files in a folder and below it that no kustomization of the input is about.
fn objects_below<'d>(
    files: &'d [File],
    folder: &str,
    builds: &Builds,
) -> Vec<(Origin, Option<Node<'d>>, Option<String>)> {
    let mut objects = Vec::new();
    for (number, file) in FileNumber::enumerate(files) {
        let own = file.source.name().rsplit_once('/').map_or("", |(folder, _)| folder);
        let is_other = builds.kustomizations.contains(&number) || builds.patches.contains_key(&number);
        if !file.is_input() || is_other || !is_within(own, folder) {
            continue;
        }
        for (position, document) in file.documents.iter().enumerate() {
            let Document::Read(tree) = document else { continue };
            let root = tree.root();
            let is_object = root.get("kind").is_some() && root.get("items").is_none();
            if is_object && !is_disabled(root) && !tree.is_assembled() {
                let origin = Origin { document: number.document(position), root: NodeId::ROOT };
                objects.push((origin, Some(root), None));
            }
        }
    }
    objects
}

fn root_in(files: &[File], origin: Origin) -> Option<Node<'_>> {
    let Document::Read(tree) = origin.document.within(files)? else { return None };
    Some(tree.node(origin.root))
}

fn is_disabled(root: Node<'_>) -> bool {
    ["labels", "annotations"].iter().any(|map| {
        root.at_path(&["metadata", map]).and_then(|map| map.get(DISABLED)?.as_str()) == Some("disabled")
    })
}

/// The text with the values of the variables that are known, such as `${cluster}`, also with a default, as in `${cluster:=prod}`.
fn replaced_in(text: &str, variables: &BTreeMap<&str, &str>) -> Option<String> {
    if !text.contains("${") || text.contains("$${") {
        return None;
    }
    with_values(text, ["${", "}"], |inner| {
        let length =
            inner.find(|char: char| !(char.is_ascii_alphanumeric() || char == '_')).unwrap_or(inner.len());
        let (name, operation) = inner.split_at_checked(length)?;
        let has_default = [":=", ":-", "=", "-"].iter().any(|start| operation.starts_with(start));
        let is_used = |value: &&str| operation.is_empty() || (has_default && !value.is_empty());
        variables.get(name).copied().filter(is_used)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use manifest::limits::Limits;
    use objects::embedded::READ_OPTIONS;

    /// The form of "Post build variable substitution" in docs/spec/v1/kustomizations.md of fluxcd/kustomize-controller, and of
    /// infrastructure/base/karpenter-nodepools/default-ec2nc.yaml of Smana/cloud-native-ref.
    const FLUX: &str = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: NAME}\nspec:\n  path: ./infrastructure/karpenter\n  postBuild:\n    substitute: {cluster_name: CLUSTER, team: '${other}'}\n    substituteFrom: [{kind: Secret, name: keys}, {kind: ConfigMap, name: vars}]\n";
    const CLASS: &str = "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: a}\nspec:\n  role: KarpenterNodeRole-${cluster_name}\n  tags: {a: '${cluster_name:=x}', b: '${region}', c: '${team}', d: '${unknown}', e: '$${cluster_name}'}\n  kubelet: {maxPods: ${pods}, '${region}': '${pods}'}\n";
    const VARS: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: vars}\ndata: {region: eu-west-1, cluster_name: no, pods: '110'}\n";

    fn built(inputs: &[(&str, &str)]) -> Vec<(String, Vec<String>)> {
        let files: Vec<File> =
            inputs.iter().map(|(name, text)| File::read(*name, *text, READ_OPTIONS)).collect();
        let mut builds = Builds::of(&files, &Limits::DEFAULT);
        let repeated = repeated_names(&files);
        super::super::add(&mut builds, (&files, ""), &repeated, &Limits::DEFAULT);
        let shown = |overlay: &Overlay| {
            let objects = overlay.objects.iter().map(|object| match &object.outcome {
                BuildOutcome::Changed(tree) => tree.root().get("spec").map(|spec| spec.to_json().to_string()),
                other => Some(format!("{other:?}")),
            });
            (overlay.name.clone(), objects.flatten().collect())
        };
        builds.overlays.iter().map(shown).collect()
    }

    #[test]
    fn each_kustomization_gives_its_values() {
        let (one, two) = (
            FLUX.replace("NAME", "one").replace("CLUSTER", "dev"),
            FLUX.replace("NAME", "two").replace("CLUSTER", "prod"),
        );
        let files = [
            ("clusters/one.yaml", one.as_str()),
            ("clusters/two.yaml", two.as_str()),
            ("clusters/vars.yaml", VARS),
            ("infrastructure/karpenter/class.yaml", CLASS),
        ];
        let built = built(&files);
        let names: Vec<&str> = built.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["infrastructure/karpenter (one)", "infrastructure/karpenter (two)"]);
        assert_eq!(
            built[0].1,
            [
                r#"{"kubelet":{"eu-west-1":"110","maxPods":110},"role":"KarpenterNodeRole-dev","tags":{"a":"dev","b":"eu-west-1","c":"${team}","d":"${unknown}","e":"$${cluster_name}"}}"#
            ]
        );
        assert!(built[1].1[0].contains("KarpenterNodeRole-prod"), "{built:?}");
    }

    #[test]
    fn a_source_that_is_not_certain_gives_no_values() {
        let flux = FLUX.replace("NAME", "one").replace("CLUSTER", "dev");
        let class = ("infrastructure/karpenter/class.yaml", CLASS);
        let region = |flux: &str, maps: &[(&str, &str)]| {
            let files = [&[("clusters/dev/one.yaml", flux), class], maps].concat();
            let built = built(&files);
            ["eu-west-1", "us-east-1"].into_iter().find(|region| built[0].1[0].contains(region))
        };
        let other = VARS.replace("eu-west-1", "us-east-1");
        let (dev, prod) = (("clusters/dev/vars.yaml", VARS), ("clusters/prod/vars.yaml", other.as_str()));
        assert_eq!(region(&flux, &[prod]), Some("us-east-1"));
        // Of several with one name, the one beside the Kustomization counts.
        assert_eq!(region(&flux, &[dev, prod]), Some("eu-west-1"));
        assert_eq!(region(&flux, &[prod, ("clusters/test/vars.yaml", VARS)]), None);
        let namespaced = flux.replace("{name: one}", "{name: one, namespace: a}");
        let elsewhere = VARS.replace("{name: vars}", "{name: vars, namespace: b}");
        assert_eq!(region(&namespaced, &[("clusters/vars.yaml", &elsewhere)]), None);
        // The secret may have another value.
        let last = flux.replace(
            "{kind: ConfigMap, name: vars}]",
            "{kind: ConfigMap, name: vars}, {kind: Secret, name: k}]",
        );
        assert_eq!(region(&last, &[dev]), None);
    }

    #[test]
    fn the_build_of_a_kustomization_gets_the_values() {
        let flux = FLUX.replace("NAME", "one").replace("CLUSTER", "dev");
        let kustomization = "resources: [class.yaml]\nnamePrefix: x-\n";
        let files = [
            ("repository/clusters/one.yaml", flux.as_str()),
            ("repository/infrastructure/karpenter/kustomization.yaml", kustomization),
            ("repository/infrastructure/karpenter/class.yaml", CLASS),
        ];
        let built = built(&files);
        assert_eq!(built.len(), 1, "{built:?}");
        assert_eq!(built[0].0, "repository/infrastructure/karpenter (one)");
        assert!(built[0].1[0].contains("KarpenterNodeRole-dev"), "{built:?}");
    }

    #[test]
    fn objects_stay_as_they_are_without_a_folder_or_where_flux_leaves_them() {
        let flux = FLUX.replace("NAME", "one").replace("CLUSTER", "dev");
        assert!(built(&[("one.yaml", &flux), ("elsewhere/class.yaml", CLASS)]).is_empty());
        let left = CLASS.replace(
            "{name: a}",
            "{name: a, annotations: {kustomize.toolkit.fluxcd.io/substitute: disabled}}",
        );
        assert!(built(&[("one.yaml", &flux), ("infrastructure/karpenter/class.yaml", &left)]).is_empty());
    }
}
