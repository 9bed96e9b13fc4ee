//! JSON patches (RFC 6902).
//!
//! Source: api/filters/patchjson6902/patchjson6902.go of kustomize v5.5.0, which applies the patch with
//! evanphx/json-patch v4.

use manifest::tree::Node;

use crate::failure::PatchFailure;
use crate::steps::Steps;
use crate::value::{BuiltValue, Member, Shape, scalar_text};

/// Whether a document of a patch is a JSON patch: a list of operations.
pub(crate) fn is_json_patch(patch: Node<'_>) -> bool {
    patch.is_sequence() && !patch.is_empty() && patch.items().all(|item| item.get("op").is_some())
}

/// Applies all operations of a patch to an object.
pub(crate) fn apply<'d>(
    object: &mut BuiltValue<'d>,
    patch: Node<'d>,
    steps: &mut Steps,
) -> Result<(), PatchFailure> {
    patch.items().try_for_each(|operation| apply_one(object, operation, steps))
}

fn apply_one<'d>(
    object: &mut BuiltValue<'d>,
    operation: Node<'d>,
    steps: &mut Steps,
) -> Result<(), PatchFailure> {
    let pointer =
        |key| operation.get(key).and_then(scalar_text).and_then(keys_of).ok_or(PatchFailure::Operation);
    let path = pointer("path")?;
    // An operation without `value` writes null.
    let value = || BuiltValue::Written(operation.get("value").unwrap_or(operation));
    match operation.str_at(&["op"]) {
        Some("add") => add(object, &path, value()),
        Some("replace") => match slot(object, &path) {
            Some(slot) => {
                *slot = value();
                Ok(())
            }
            None => Err(PatchFailure::MissingPath),
        },
        Some("remove") => remove(object, &path).map(drop),
        Some("move") => {
            let moved = remove(object, &pointer("from")?)?;
            add(object, &path, moved)
        }
        Some("copy") => {
            let copied = slot(object, &pointer("from")?).ok_or(PatchFailure::MissingPath)?;
            let copied = steps.copy(copied)?;
            add(object, &path, copied)
        }
        Some("test") => {
            let found = slot(object, &path);
            steps.spend(found.as_ref().map_or(0, |found| found.size()))?;
            let found = found.is_some_and(|found| found.equals(&value()));
            if found { Ok(()) } else { Err(PatchFailure::Test) }
        }
        _ => Err(PatchFailure::Operation),
    }
}

/// The keys of a pointer such as `/spec/limits/cpu`; `None` if the text is not a pointer.
fn keys_of(pointer: &str) -> Option<Vec<String>> {
    if pointer.is_empty() {
        return Some(Vec::new());
    }
    let keys = pointer.strip_prefix('/')?.split('/');
    Some(keys.map(|key| key.replace("~1", "/").replace("~0", "~")).collect())
}

/// The position of an item in a list of a length. A negative number counts from the end.
fn position(key: &str, length: usize) -> Option<usize> {
    match key.strip_prefix('-') {
        Some(back) => length.checked_sub(back.parse::<usize>().ok().filter(|back| *back > 0)?),
        None => key.parse().ok(),
    }
}

/// The value at a path.
pub(crate) fn slot<'v, 'd>(
    object: &'v mut BuiltValue<'d>,
    path: &[String],
) -> Option<&'v mut BuiltValue<'d>> {
    let mut at = object;
    for key in path {
        at = match at.shape() {
            Shape::Mapping => at.get_mut(key)?,
            Shape::Sequence => {
                let items = at.items()?;
                let position = position(key, items.len())?;
                items.get_mut(position)?
            }
            Shape::Null | Shape::Scalar => return None,
        };
    }
    Some(at)
}

/// The object or list that holds the value at a path, and the key of the value.
fn holder<'v, 'd, 'p>(
    object: &'v mut BuiltValue<'d>,
    path: &'p [String],
) -> Result<(&'v mut BuiltValue<'d>, &'p str), PatchFailure> {
    let (last, above) = path.split_last().ok_or(PatchFailure::MissingPath)?;
    Ok((slot(object, above).ok_or(PatchFailure::MissingPath)?, last))
}

fn add<'d>(object: &mut BuiltValue<'d>, path: &[String], value: BuiltValue<'d>) -> Result<(), PatchFailure> {
    let (holder, key) = holder(object, path)?;
    match holder.shape() {
        Shape::Mapping => {
            holder.set(key, value);
            Ok(())
        }
        Shape::Sequence => {
            let items = holder.items().ok_or(PatchFailure::MissingPath)?;
            let length = items.len();
            let position = if key == "-" { Some(length) } else { position(key, length) };
            let position =
                position.filter(|position| *position <= length).ok_or(PatchFailure::MissingPath)?;
            items.insert(position, value);
            Ok(())
        }
        Shape::Null | Shape::Scalar => Err(PatchFailure::MissingPath),
    }
}

fn remove<'d>(object: &mut BuiltValue<'d>, path: &[String]) -> Result<BuiltValue<'d>, PatchFailure> {
    let (holder, key) = holder(object, path)?;
    match holder.shape() {
        Shape::Mapping => {
            let members = holder.members().ok_or(PatchFailure::MissingPath)?;
            let is_key = |member: &Member<'d>| member.key == key;
            let last = members.iter().rposition(is_key).ok_or(PatchFailure::MissingPath)?;
            let removed = members.remove(last).value;
            members.retain(|member| !is_key(member));
            Ok(removed)
        }
        Shape::Sequence => {
            let items = holder.items().ok_or(PatchFailure::MissingPath)?;
            let position = position(key, items.len()).filter(|position| *position < items.len());
            Ok(items.remove(position.ok_or(PatchFailure::MissingPath)?))
        }
        Shape::Null | Shape::Scalar => Err(PatchFailure::MissingPath),
    }
}
