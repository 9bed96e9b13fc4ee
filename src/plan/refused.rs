//! Changes that are never made as they are written: the API server refuses the object, or Karpenter cannot read it.

use drift::{Effect, HashOptions, hash};
use objects::object::{Object, Operation};
use objects::placeholders::has_placeholder_below;
use objects::validation::response::{ApiServerResponse, FieldError, response};

use super::change::set_effect;
use crate::hashes::error_text;
use drift::ObjectChange;

/// The reason why a change is not made as it is written, if it is. An object with placeholders is not known.
pub(super) fn reason(change: &ObjectChange<'_>, options: &HashOptions) -> Option<String> {
    let (old, new) = (change.old?, change.new?);
    if new.at(&["spec"]).is_some_and(has_placeholder_below) {
        return None;
    }
    // A fault that the old object has too says nothing about the change.
    let known = errors(old, options);
    let update = Object::in_request(new.root(), Some(old.root()), Operation::Update);
    if let Some(error) = errors(update, options).into_iter().find(|error| !known.contains(error)) {
        let FieldError { path, kind, detail, .. } = error;
        let detail = if detail.is_empty() { kind.to_owned() } else { detail };
        // Some details start with the path.
        let path = path.filter(|path| !detail.starts_with(path)).map(|path| format!("{path}: "));
        return Some(format!("the API server refuses the change: {}{detail}", path.unwrap_or_default()));
    }
    let undecodable = |object: Object<'_>| Some(error_text(object, &hash(object, options)?.err()?));
    undecodable(new).filter(|_| undecodable(old).is_none())
}

fn errors(object: Object<'_>, options: &HashOptions) -> Vec<FieldError> {
    match response(object, options.release) {
        ApiServerResponse::Invalid(errors) => errors,
        ApiServerResponse::Accepted | ApiServerResponse::NotServed | ApiServerResponse::Undecodable(_) => {
            Vec::new()
        }
    }
}

/// Gives a change that is not made as it is written the effect of an unknown one.
pub(super) fn set_unknown(change: &mut ObjectChange<'_>) {
    for field in &mut change.fields {
        field.effect = field.effect.min(Effect::Unknown);
    }
    set_effect(change);
    change.effect = Effect::Unknown;
}
