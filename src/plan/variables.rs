//! The variables that objects of Flux give to others.

use manifest::tree::Tree;
use objects::object::Object;

/// The variables with their values in a document: of `ConfigMaps` and Secrets, and of the `substitute` of a Flux Kustomization. The inputs of a
/// `ResourceSet` are its own.
///
/// Source: "Post build variable substitution" in docs/spec/v1/kustomizations.md of fluxcd/kustomize-controller.
pub(super) fn variables_of(tree: &Tree) -> Vec<(&str, String)> {
    let mut found = Vec::new();
    for object in Object::all(tree) {
        let maps: &[&[&str]] = match object.kind() {
            "ConfigMap" => &[&["data"]],
            "Secret" => &[&["data"], &["stringData"]],
            "Kustomization" => &[&["spec", "postBuild", "substitute"]],
            _ => &[],
        };
        for map in maps.iter().filter_map(|path| object.at(path)) {
            found.extend(map.members().map(|(key, value)| (key, value.spelling().to_owned())));
        }
    }
    found
}
