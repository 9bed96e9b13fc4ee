//! Resources that have an object as it is.

use super::{ResourceInstance, files};
use crate::draft::{DocumentDraft, DraftPart};

/// `kubectl_manifest`: YAML in `yaml_body`. A plan says that it is sensitive, and has it in `yaml_body_parsed` without its secrets.
///
/// Source: `docs/resources/kubectl_manifest.md` and `kubernetes/resource_kubectl_manifest.go` of alekc/terraform-provider-kubectl, which
/// gavinbunney/terraform-provider-kubectl has too.
pub(super) fn kubectl_manifest(resource: &ResourceInstance<'_>) -> Vec<DocumentDraft> {
    let parsed = resource.attribute("yaml_body_parsed").filter(|parsed| parsed.as_str().is_some());
    in_string(resource, if parsed.is_some() { "yaml_body_parsed" } else { "yaml_body" })
}

/// `k8s_manifest`: YAML in `content`.
///
/// Source: README.md of banzaicloud/terraform-provider-k8s.
pub(super) fn k8s_manifest(resource: &ResourceInstance<'_>) -> Vec<DocumentDraft> {
    in_string(resource, "content")
}

fn in_string(resource: &ResourceInstance<'_>, name: &str) -> Vec<DocumentDraft> {
    if let Some(documents) = files::documents(resource, name) {
        return documents;
    }
    resource.attribute(name).map(|body| resource.documents_in(name, body)).unwrap_or_default()
}

/// `kubernetes_manifest`: an object in `manifest`, from which the provider removes what is `null`.
///
/// Source: docs/resources/manifest.md and `manifest/morph/scaffold.go` of hashicorp/terraform-provider-kubernetes.
pub(super) fn kubernetes_manifest(resource: &ResourceInstance<'_>) -> Vec<DocumentDraft> {
    if let Some(documents) = files::documents(resource, "manifest") {
        return documents;
    }
    let Some(manifest) = resource.attribute("manifest") else { return Vec::new() };
    match resource.document_of("manifest", manifest) {
        DocumentDraft::Document(DraftPart::Value(value)) => {
            vec![DocumentDraft::Document(DraftPart::WithoutNulls(value))]
        }
        other => vec![other],
    }
}
