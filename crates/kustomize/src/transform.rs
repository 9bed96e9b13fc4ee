//! The transformers of a kustomization, other than patches and replacements.
//!
//! Source: api/internal/builtins/*.go and api/filters of kustomize v5.5.0.

use manifest::tree::{Node, items_of, members_of};
use regex_lite::Regex;

use crate::field_spec::{
    ANNOTATIONS, FieldSpec, NAMESPACES, OWN_LABELS, TEMPLATE_LABELS, set_label, set_selector_label,
};
use crate::json_patch;
use crate::resource::Resource;
use crate::value::{BuiltValue, Shape, scalar_text};

/// `namespace`.
///
/// Source: api/filters/namespace/namespace.go.
pub(crate) fn set_namespace<'d>(resources: &mut [Resource<'d>], kustomization: Node<'d>) {
    let Some(namespace) = kustomization.get("namespace") else { return };
    if namespace.as_str().is_none_or(str::is_empty) {
        return;
    }
    for resource in resources {
        resource.remember_id();
        let id = resource.id();
        let mut is_changed = false;
        if !id.is_cluster_scoped()
            && let Some(metadata) = resource.value.member_or_object("metadata", namespace)
        {
            is_changed |= Resource::set_within(metadata, "namespace", BuiltValue::Written(namespace));
        }
        for spec in NAMESPACES.iter().filter(|spec| spec.applies(&id)) {
            is_changed |= spec.set_scalar(resource, namespace);
        }
        if matches!(id.kind.as_str(), "RoleBinding" | "ClusterRoleBinding") {
            Resource::visit(&mut resource.value, &["subjects"], None, &mut |subjects| {
                for subject in subjects.items().into_iter().flatten() {
                    if subject.text_at(&["name"]).as_deref() == Some("default") {
                        is_changed |=
                            Resource::set_within(subject, "namespace", BuiltValue::Written(namespace));
                    }
                }
            });
        }
        resource.is_changed |= is_changed;
    }
}

/// `namePrefix` and `nameSuffix`.
///
/// Source: api/internal/builtins/PrefixTransformer.go and SuffixTransformer.go.
pub(crate) fn rename(resources: &mut [Resource<'_>], kustomization: Node<'_>) {
    for key in ["namePrefix", "nameSuffix"] {
        let Some(part) = kustomization.get(key).and_then(scalar_text).filter(|text| !text.is_empty()) else {
            continue;
        };
        for resource in resources.iter_mut() {
            let original = resource.previous.first().cloned().unwrap_or_else(|| resource.id());
            let keeps_name = matches!(
                (original.group.as_str(), original.kind.as_str()),
                (_, "CustomResourceDefinition" | "Namespace") | ("apiregistration.k8s.io", "APIService")
            );
            let Some(name) = resource.value.text_at(&["metadata", "name"]).filter(|_| !keeps_name) else {
                continue;
            };
            resource.remember_id();
            let parts = if key == "namePrefix" { &mut resource.prefixes } else { &mut resource.suffixes };
            parts.push(part.to_owned());
            let new = if key == "namePrefix" { format!("{part}{name}") } else { format!("{name}{part}") };
            if let Some(metadata) = resource.value.get_mut("metadata")
                && let Some(at) = metadata.get("name").map(|value| value.node())
            {
                metadata.set("name", BuiltValue::Computed(new, at));
                resource.is_changed = true;
            }
        }
    }
}

/// `labels` and `commonLabels`.
///
/// Source: `LabelTransformer` in `api/internal/target/kusttarget_configplugin.go`.
pub(crate) fn set_labels<'d>(resources: &mut [Resource<'d>], kustomization: Node<'d>) {
    for entry in items_of(kustomization.get("labels")) {
        let flag = |key| entry.get(key).and_then(Node::as_bool).unwrap_or(false);
        let fields: Vec<FieldSpec<'_>> = entry.items_at(&["fields"]).map(FieldSpec::read).collect();
        let selectors = flag("includeSelectors");
        let own = if selectors || flag("includeTemplates") { TEMPLATE_LABELS } else { OWN_LABELS };
        for (key, label) in entry.members_at(&["pairs"]) {
            for resource in resources.iter_mut() {
                let mut is_changed = set_label(resource, &fields, key, label);
                is_changed |= set_label(resource, own, key, label);
                is_changed |= selectors && set_selector_label(resource, key, label);
                resource.is_changed |= is_changed;
            }
        }
    }
    for (key, label) in members_of(kustomization.get("commonLabels")) {
        for resource in resources.iter_mut() {
            let own = set_label(resource, TEMPLATE_LABELS, key, label);
            let selectors = set_selector_label(resource, key, label);
            resource.is_changed |= own | selectors;
        }
    }
}

/// `commonAnnotations`.
pub(crate) fn set_annotations<'d>(resources: &mut [Resource<'d>], kustomization: Node<'d>) {
    for (key, annotation) in members_of(kustomization.get("commonAnnotations")) {
        for resource in resources.iter_mut() {
            resource.is_changed |= set_label(resource, ANNOTATIONS, key, annotation);
        }
    }
}

/// `replicas`.
///
/// Source: api/internal/builtins/ReplicaCountTransformer.go.
pub(crate) fn set_replicas<'d>(resources: &mut [Resource<'d>], kustomization: Node<'d>) {
    const KINDS: [&str; 4] = ["Deployment", "ReplicationController", "ReplicaSet", "StatefulSet"];
    let spec = FieldSpec { group: "", version: "", kind: "", path: "spec/replicas", create: true };
    for entry in items_of(kustomization.get("replicas")) {
        let (Some(name), Some(count)) = (entry.get("name").and_then(scalar_text), entry.get("count")) else {
            continue;
        };
        for resource in resources.iter_mut() {
            let current = resource.id();
            let original = resource.previous.first().unwrap_or(&current);
            if (current.name == name || original.name == name) && KINDS.contains(&current.kind.as_str()) {
                resource.is_changed |= spec.set_scalar(resource, count);
            }
        }
    }
}

/// `images` and `imageTags`. Every list `containers` or `initContainers` counts, at whatever depth.
///
/// Source: api/filters/imagetag and api/image/image.go.
pub(crate) fn set_images<'d>(resources: &mut [Resource<'d>], kustomization: Node<'d>) {
    let entries = ["images", "imageTags"].into_iter().flat_map(|key| items_of(kustomization.get(key)));
    for entry in entries {
        let name = entry.get("name").and_then(scalar_text).unwrap_or_default();
        let tail = "(:[a-zA-Z0-9_.{}-]*)?(@sha256:[a-zA-Z0-9_.{}-]*)?";
        let Ok(pattern) = Regex::new(&format!("^{name}{tail}$")) else { continue };
        for resource in
            resources.iter_mut().filter(|resource| resource.id().kind != "CustomResourceDefinition")
        {
            let mut images = Vec::new();
            find_images(&resource.value, &mut Vec::new(), &mut images);
            for (path, image) in images.into_iter().filter(|(_, image)| pattern.is_match(image)) {
                let new = renamed(&image, entry);
                if let Some(slot) = json_patch::slot(&mut resource.value, &path).filter(|_| new != image) {
                    let at = ["newTag", "digest", "newName"].into_iter().find_map(|key| entry.get(key));
                    *slot = BuiltValue::Computed(new, at.unwrap_or(entry));
                    resource.is_changed = true;
                }
            }
        }
    }
}

/// Collects the images of containers, each with its path.
fn find_images(value: &BuiltValue<'_>, path: &mut Vec<String>, images: &mut Vec<(Vec<String>, String)>) {
    match value.shape() {
        Shape::Mapping => {
            for (key, member) in value.parts() {
                path.push(key.clone().into_owned());
                find_images(&member, path, images);
                if matches!(&*key, "containers" | "initContainers") && member.shape() == Shape::Sequence {
                    for (index, (_, item)) in member.parts().iter().enumerate() {
                        if let Some(image) = item.text_at(&["image"]) {
                            let own = [index.to_string(), "image".to_owned()];
                            images.push((path.iter().cloned().chain(own).collect(), image));
                        }
                    }
                }
                path.pop();
            }
        }
        Shape::Sequence => {
            for (index, (_, item)) in value.parts().iter().enumerate() {
                path.push(index.to_string());
                find_images(item, path, images);
                path.pop();
            }
        }
        Shape::Null | Shape::Scalar => {}
    }
}

/// An image with the new name, tag and digest of an entry.
fn renamed(image: &str, entry: Node<'_>) -> String {
    let text = |key| entry.get(key).and_then(scalar_text).filter(|text| !text.is_empty());
    let (name, tag, digest) = split_image(image);
    let name = text("newName").unwrap_or(name);
    let suffixed = text("tagSuffix").map(|suffix| format!("{tag}{suffix}"));
    let (tag, digest) = match (text("newTag"), text("digest"), &suffixed) {
        (Some(tag), digest, _) => (tag, digest.unwrap_or_default()),
        (None, Some(digest), _) => ("", digest),
        (None, None, Some(tag)) => (tag.as_str(), ""),
        (None, None, None) => (tag, digest),
    };
    let colon = if tag.is_empty() { "" } else { ":" };
    let at = if digest.is_empty() { "" } else { "@" };
    format!("{name}{colon}{tag}{at}{digest}")
}

/// The name, tag and digest of an image. The port of a registry is not a tag.
fn split_image(image: &str) -> (&str, &str, &str) {
    let (rest, digest) = image.split_once('@').unwrap_or((image, ""));
    let slash = rest.find('/').filter(|slash| *slash > 0).unwrap_or(0);
    let colon = rest.get(slash..).and_then(|path| path.find(':')).map(|colon| slash + colon);
    let (name, tag) = colon.and_then(|colon| rest.split_at_checked(colon)).unwrap_or((rest, ""));
    (name, tag.strip_prefix(':').unwrap_or(tag), digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_images_into_name_tag_and_digest() {
        for (image, expected) in [
            ("nginx", ("nginx", "", "")),
            ("nginx:1.2", ("nginx", "1.2", "")),
            ("host:5000/nginx", ("host:5000/nginx", "", "")),
            ("host:5000/a/nginx:1@sha256:ab", ("host:5000/a/nginx", "1", "sha256:ab")),
            ("a/nginx@sha256:ab", ("a/nginx", "", "sha256:ab")),
        ] {
            assert_eq!(split_image(image), expected, "{image}");
        }
    }
}
