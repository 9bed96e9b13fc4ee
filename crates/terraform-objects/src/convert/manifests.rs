//! Resources that have an object as it is.

use terraform::decode_yaml;

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

/// `kubernetes_manifest`: an object in `manifest`, from which the provider removes what is `null`, and whose scalars it converts.
///
/// Source: docs/resources/manifest.md, `manifest/morph/scaffold.go` and `manifest/morph/morph.go` of hashicorp/terraform-provider-kubernetes.
pub(super) fn kubernetes_manifest(resource: &ResourceInstance<'_>) -> Vec<DocumentDraft> {
    if let Some(documents) = files::documents(resource, "manifest") {
        return documents.into_iter().flat_map(adapted).collect();
    }
    let Some(manifest) = resource.attribute("manifest") else { return Vec::new() };
    adapted(resource.document_of("manifest", manifest))
}

/// A document as the provider `kubernetes` adapts it to the schema of its kind.
fn adapted(draft: DocumentDraft) -> Vec<DocumentDraft> {
    match draft {
        DocumentDraft::Document(DraftPart::Value(value)) => {
            vec![DocumentDraft::Document(DraftPart::Adapted(value))]
        }
        DocumentDraft::Text(text, used) => {
            match decode_yaml(&text, used).filter(|value| value.members().is_some()) {
                Some(value) => {
                    vec![DocumentDraft::Used(text, used), DocumentDraft::Document(DraftPart::Adapted(value))]
                }
                None => vec![DocumentDraft::Text(text, used)],
            }
        }
        other => vec![other],
    }
}
