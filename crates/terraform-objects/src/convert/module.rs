//! Calls of modules that create what Karpenter needs.

use objects::terraform_module::{is_for_karpenter, is_read};
use terraform::EvaluatedValue;

use super::{ResourceInstance, release};
use crate::draft::{DocumentDraft, DraftMember, DraftPart};

/// The documents of a call of a module.
pub(super) fn documents(module: &ResourceInstance<'_>) -> Vec<DocumentDraft> {
    let source = module.attribute("source").and_then(EvaluatedValue::as_str).unwrap_or_default();
    let call = is_for_karpenter(source).then(|| call(module)).flatten();
    call.into_iter().chain(release::of_module(module, source)).collect()
}

/// A call with the arguments that say what it creates, in Terraform's JSON syntax, from which `objects` makes an object of the form `Module`.
fn call(module: &ResourceInstance<'_>) -> Option<DocumentDraft> {
    let at = module.block.place;
    let attributes = module.block.body.attributes.iter();
    let read = attributes.filter(|attribute| is_read(&attribute.name));
    let arguments = read.filter_map(|attribute| module.member(&attribute.name));
    let label = module.block.labels.first()?;
    let call = DraftPart::object(arguments, at);
    let calls = DraftPart::object([DraftMember::new(label, at, call)], at);
    Some(DocumentDraft::Document(DraftPart::object([DraftMember::new("module", at, calls)], at)))
}
