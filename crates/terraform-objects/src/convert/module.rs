//! Calls of modules that create what Karpenter needs.

use objects::terraform_module::{STATEMENTS, is_for_karpenter, is_read};
use terraform::EvaluatedValue;

use super::{ResourceInstance, addon, eks_cluster, iam, network, release};
use crate::draft::{DocumentDraft, DraftMember, DraftPart};

/// The documents of a call of a module.
pub(super) fn documents(module: &ResourceInstance<'_>) -> Vec<DocumentDraft> {
    let source = module.attribute("source").and_then(EvaluatedValue::as_str).unwrap_or_default();
    let mut documents = Vec::new();
    if is_for_karpenter(source) {
        documents.extend(call(module));
        documents.extend(iam::broad_roles(module));
    }
    documents.extend(release::of_module(module, source));
    documents.extend(network::of_module(module, source));
    documents.extend(addon::of_module(module, source));
    documents.extend(eks_cluster::of_module(module, source));
    documents
}

/// A call with the arguments that say what it creates, in Terraform's JSON syntax, from which `objects` makes an object of the form `Module`.
fn call(module: &ResourceInstance<'_>) -> Option<DocumentDraft> {
    let at = module.block.place;
    let attributes = module.block.body.attributes.iter();
    let read = attributes.filter(|attribute| is_read(&attribute.name));
    let arguments = read.filter_map(|attribute| match attribute.name.as_str() {
        STATEMENTS if attribute.value.is_null() => None,
        STATEMENTS => {
            Some(DraftMember::new(STATEMENTS, attribute.key, iam::added_statements(&attribute.value)))
        }
        name => module.member(name),
    });
    let label = module.block.labels.first()?;
    let call = DraftPart::object(arguments, at);
    let calls = DraftPart::object([DraftMember::new(label, at, call)], at);
    Some(DocumentDraft::Document(DraftPart::object([DraftMember::new("module", at, calls)], at)))
}
