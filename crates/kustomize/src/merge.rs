//! Strategic merge patches.
//!
//! Source: kyaml/yaml/merge2/merge2.go, kyaml/yaml/merge2/smpdirective.go and kyaml/yaml/walk/*.go of kustomize v5.5.0.

use std::collections::BTreeMap;

use ids::{IdVec, ids};
use manifest::tree::{Node, Style};

use crate::failure::PatchFailure;
use crate::schema::MergeSchema;
use crate::value::{BuiltValue, Member, Shape, scalar_text, shape_of};

/// Key of a directive in a patch.
const DIRECTIVE: &str = "$patch";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Directive {
    Merge,
    Replace,
    Delete,
}

fn directive_of(value: Node<'_>) -> Result<Directive, PatchFailure> {
    match value.as_str() {
        Some("merge") => Ok(Directive::Merge),
        Some("replace") => Ok(Directive::Replace),
        Some("delete") => Ok(Directive::Delete),
        _ => Err(PatchFailure::Directive),
    }
}

fn directive_of_mapping(patch: Node<'_>) -> Result<Directive, PatchFailure> {
    patch.get(DIRECTIVE).map_or(Ok(Directive::Merge), directive_of)
}

/// The directive for a whole list: an item with nothing but `$patch`.
fn directive_of_list(patch: Node<'_>) -> Result<Directive, PatchFailure> {
    let item = patch.items().find(|item| item.get(DIRECTIVE).is_some());
    match item.filter(|item| item.len() == 1).and_then(|item| item.get(DIRECTIVE)) {
        Some(value) => directive_of(value),
        None => Ok(Directive::Merge),
    }
}

fn is_list_directive(item: Node<'_>) -> bool {
    item.len() == 1 && item.get(DIRECTIVE).is_some()
}

/// Merges a patch into an object. Returns whether the object stays.
pub(crate) fn merge<'d>(
    object: &mut BuiltValue<'d>,
    patch: Node<'d>,
    schema: MergeSchema,
) -> Result<bool, PatchFailure> {
    match directive_of_mapping(patch)? {
        Directive::Delete => return Ok(false),
        Directive::Replace => {
            *object = without_directives(patch, schema)?.unwrap_or(BuiltValue::Mapping(patch, Vec::new()));
            return Ok(true);
        }
        Directive::Merge => {}
    }
    for (key, value) in patch.members().filter(|(key, _)| *key != DIRECTIVE) {
        merge_member(object, key, value, schema.field(key))?;
    }
    Ok(true)
}

/// Merges one member of a patch into an object.
pub(crate) fn merge_member<'d>(
    object: &mut BuiltValue<'d>,
    key: &str,
    value: Node<'d>,
    schema: MergeSchema,
) -> Result<(), PatchFailure> {
    let before = object.get(key).map(|old| old.shape());
    let stays = match (before, shape_of(value)) {
        (None, Shape::Null) => return Ok(()),
        (_, Shape::Null) => false,
        (None | Some(Shape::Null), _) => match without_directives(value, schema)? {
            Some(value) => {
                object.set(key, value);
                true
            }
            None => false,
        },
        (Some(Shape::Mapping), Shape::Mapping) => match object.get_mut(key) {
            Some(old) => merge(old, value, schema)?,
            None => true,
        },
        (Some(Shape::Sequence), Shape::Sequence) => match (schema, object.get_mut(key)) {
            (MergeSchema::List(keys, item), Some(old)) => merge_list(old, value, keys, *item)?,
            (_, Some(old)) => {
                *old = BuiltValue::Written(value);
                true
            }
            _ => true,
        },
        (Some(Shape::Scalar), Shape::Scalar) => {
            // Also where the values are equal: the author has to edit the patch, which decides the value.
            let new = in_style_of(object, key, value);
            object.set(key, new);
            true
        }
        _ => return Err(PatchFailure::Shape),
    };
    if !stays {
        object.remove(key);
    }
    Ok(())
}

/// The scalar of a patch. It becomes a string where the scalar that it replaces has quotes, because `FieldSetter` in
/// kyaml/yaml/fns.go keeps the style.
fn in_style_of<'d>(object: &BuiltValue<'d>, key: &str, new: Node<'d>) -> BuiltValue<'d> {
    let is_quoted = object.get(key).is_some_and(|old| match &*old {
        BuiltValue::Written(old) => {
            old.as_str().is_some() && !matches!(old.style(), Style::Plain | Style::Alias)
        }
        _ => false,
    });
    match scalar_text(new) {
        Some(text) if is_quoted && new.as_str().is_none() => BuiltValue::Computed(text.to_owned(), new),
        _ => BuiltValue::Written(new),
    }
}

/// A value of a patch that an object does not have yet: without directives and without null. `None` if nothing is left.
fn without_directives(patch: Node<'_>, schema: MergeSchema) -> Result<Option<BuiltValue<'_>>, PatchFailure> {
    match shape_of(patch) {
        Shape::Null => Ok(None),
        Shape::Scalar => Ok(Some(BuiltValue::Written(patch))),
        Shape::Mapping => {
            if directive_of_mapping(patch)? == Directive::Delete {
                return Ok(None);
            }
            let mut members = Vec::new();
            let mut is_same = patch.get(DIRECTIVE).is_none();
            for (key, value) in patch.members().filter(|(key, _)| *key != DIRECTIVE) {
                match without_directives(value, schema.field(key))? {
                    Some(value) => {
                        is_same &= matches!(value, BuiltValue::Written(_));
                        members.push(Member { key: key.into(), value });
                    }
                    None => is_same = false,
                }
            }
            Ok(Some(if is_same { BuiltValue::Written(patch) } else { BuiltValue::Mapping(patch, members) }))
        }
        Shape::Sequence => {
            let MergeSchema::List(_, schema) = schema else { return Ok(Some(BuiltValue::Written(patch))) };
            if directive_of_list(patch)? == Directive::Delete {
                return Ok(None);
            }
            let mut items = Vec::new();
            let mut is_same = true;
            for item in patch.items() {
                match without_directives(item, *schema)?.filter(|_| !is_list_directive(item)) {
                    Some(value) => {
                        is_same &= matches!(value, BuiltValue::Written(_));
                        items.push(value);
                    }
                    None => is_same = false,
                }
            }
            Ok(Some(if is_same { BuiltValue::Written(patch) } else { BuiltValue::Sequence(patch, items) }))
        }
    }
}

/// Merges a list item by item. Returns whether the list stays.
///
/// The items of the patch come first, then the other items of the list. With several keys, only the new items of the patch
/// come first.
fn merge_list<'d>(
    list: &mut BuiltValue<'d>,
    patch: Node<'d>,
    keys: &[&str],
    schema: MergeSchema,
) -> Result<bool, PatchFailure> {
    match directive_of_list(patch)? {
        Directive::Delete => return Ok(false),
        Directive::Replace => {
            let mut items = Vec::new();
            for item in patch.items().filter(|item| !is_list_directive(*item)) {
                items.extend(without_directives(item, schema)?);
            }
            *list = BuiltValue::Sequence(patch, items);
            return Ok(true);
        }
        Directive::Merge => {}
    }
    let Some(items) = list.items() else { return Ok(true) };
    let mut old: IdVec<ItemId, Option<BuiltValue<'d>>> =
        core::mem::take(items).into_iter().map(Some).collect();
    let index = KeyIndex::of(&old, keys);
    let mut first = Vec::new();
    for item in patch.items().filter(|item| !is_list_directive(*item)) {
        let found = match index.find(&BuiltValue::Written(item), keys, &old) {
            Some((_, ItemMatch::LessSpecific)) => continue,
            Some((found, ItemMatch::Same)) => Some(found),
            None => None,
        };
        let Some(slot) = found.and_then(|found| old.get_mut(found)) else {
            first.extend(without_directives(item, schema)?.filter(|value| !is_empty_mapping(value)));
            continue;
        };
        if shape_of(item) == Shape::Scalar {
            first.extend(slot.take());
            continue;
        }
        // The item in the list stays where the patch says `replace`: appendListNode in associative_sequence.go puts the
        // old item over the new one.
        let stays = match (slot.as_mut(), directive_of_mapping(item)?) {
            (Some(value), Directive::Merge) => merge(value, item, schema)?,
            (_, directive) => directive != Directive::Delete,
        };
        if !stays {
            *slot = None;
        } else if keys.len() == 1 {
            first.extend(slot.take());
        }
    }
    first.extend(old.into_iter().flatten());
    *items = first;
    Ok(true)
}

fn is_empty_mapping(value: &BuiltValue<'_>) -> bool {
    match value {
        BuiltValue::Written(node) => node.is_mapping() && node.is_empty(),
        BuiltValue::Mapping(_, members) => members.is_empty(),
        BuiltValue::Computed(..) | BuiltValue::Sequence(..) => false,
    }
}

/// Relation of an item of a patch to an item of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ItemMatch {
    /// Both have the same keys.
    Same,
    /// The item of the patch lacks a key that the other one has, such as `protocol`. kustomize drops it then:
    /// `setAssociativeSequenceElements` completes its keys and finds no item of the patch that has all of them.
    LessSpecific,
}

ids! {
    /// Item of a list.
    ItemId;
}

/// The items of a list by their first key.
struct KeyIndex(BTreeMap<String, Vec<ItemId>>);

/// The text under a key of an item; the text of the item itself for the key "".
fn key_text(item: &BuiltValue<'_>, key: &str) -> Option<String> {
    if key.is_empty() { item.text().map(str::to_owned) } else { item.text_at(&[key]) }
}

impl KeyIndex {
    fn of(items: &IdVec<ItemId, Option<BuiltValue<'_>>>, keys: &[&str]) -> Self {
        let mut index = BTreeMap::<_, Vec<ItemId>>::new();
        for (id, item) in items.enumerate() {
            let text = item.as_ref().and_then(|item| key_text(item, keys.first()?));
            if let Some(text) = text {
                index.entry(text).or_default().push(id);
            }
        }
        Self(index)
    }

    /// The first item with the same keys, or an item whose keys are more specific.
    fn find(
        &self,
        item: &BuiltValue<'_>,
        keys: &[&str],
        items: &IdVec<ItemId, Option<BuiltValue<'_>>>,
    ) -> Option<(ItemId, ItemMatch)> {
        let (first, rest) = keys.split_first()?;
        let candidates = self.0.get(&key_text(item, first)?)?;
        let is_like = |id: ItemId, likeness| {
            let Some(Some(other)) = items.get(id) else { return false };
            rest.iter().all(|key| match (key_text(item, key), key_text(other, key)) {
                (None, Some(_)) => likeness == ItemMatch::LessSpecific,
                (one, two) => one == two,
            })
        };
        [ItemMatch::Same, ItemMatch::LessSpecific].into_iter().find_map(|likeness| {
            let found = candidates.iter().copied().find(|id| is_like(*id, likeness))?;
            Some((found, likeness))
        })
    }
}

/// Whether a document of a patch is a strategic merge patch: an object with `apiVersion`, `kind` and `metadata.name`.
pub(crate) fn is_strategic(patch: Node<'_>) -> bool {
    patch.is_mapping() && patch.get("kind").and_then(scalar_text).is_some()
}
