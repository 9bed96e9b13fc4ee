//! The variables that objects of Flux give to others.

use manifest::tree::{Node, Tree};
use objects::object::Object;

/// The variables with their values in a document: of `ConfigMaps` and Secrets, of the `substitute` of a Flux Kustomization, and the inputs of a
/// `ResourceSet` and the default values of its providers.
///
/// Sources: "Post build variable substitution" in docs/spec/v1/kustomizations.md of fluxcd/kustomize-controller; "Inputs" in
/// docs/api/v1/resourceset.md and "Default values" in docs/api/v1/resourcesetinputprovider.md of controlplaneio-fluxcd/flux-operator.
pub(super) fn variables_of(tree: &Tree) -> Vec<(&str, String)> {
    let mut found = Vec::new();
    for object in Object::all(tree) {
        let maps: &[&[&str]] = match object.kind() {
            "ConfigMap" => &[&["data"]],
            "Secret" => &[&["data"], &["stringData"]],
            "Kustomization" => &[&["spec", "postBuild", "substitute"]],
            "ResourceSet" | "ResourceSetInputProvider" => {
                let key = if object.kind() == "ResourceSet" { "inputs" } else { "defaultValues" };
                found.extend(object.at(&["spec", key]).into_iter().flat_map(scalars_in));
                &[]
            }
            _ => &[],
        };
        for map in maps.iter().filter_map(|path| object.at(path)) {
            found.extend(map.members().map(|(key, value)| (key, value.spelling().to_owned())));
        }
    }
    found
}

/// The scalars below a node, each with its key.
fn scalars_in(node: Node<'_>) -> Vec<(&str, String)> {
    let (mut open, mut found) = (vec![node], Vec::new());
    while let Some(node) = open.pop() {
        if !node.is_mapping() && !node.is_sequence() && !node.key().is_empty() {
            found.push((node.key(), node.spelling().to_owned()));
        }
        open.extend(node.children());
    }
    found
}
