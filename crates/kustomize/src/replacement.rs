//! Replacements: copies of a field into fields of other objects.
//!
//! Source: api/filters/replacement/replacement.go and api/types/replacement.go of kustomize v5.5.0.

use manifest::tree::Node;

use crate::failure::{FieldFailure, ReplacementFailure};
use crate::resource::{ObjectIdentity, Resource};
use crate::selector::TargetSelector;
use crate::steps::{Steps, TooLarge};
use crate::value::{BuiltValue, Shape, scalar_text};

/// The field that a replacement without a field path means.
const DEFAULT_PATH: &str = "metadata.name";

/// Options of a source or a target of a replacement.
#[derive(Clone, Copy, Debug, Default)]
struct ReplacementOptions<'d> {
    delimiter: Option<&'d str>,
    index: i64,
    create: bool,
}

impl<'d> ReplacementOptions<'d> {
    fn of(holder: Node<'d>) -> Self {
        let at = |key| holder.at_path(&["options", key]);
        Self {
            delimiter: at("delimiter").and_then(Node::as_str).filter(|text| !text.is_empty()),
            index: at("index").and_then(Node::as_int).unwrap_or_default(),
            create: at("create").and_then(Node::as_bool).unwrap_or_default(),
        }
    }
}

/// Applies one replacement.
pub(crate) fn apply<'d>(
    resources: &mut [Resource<'d>],
    replacement: Node<'d>,
    steps: &mut Steps,
) -> Result<(), ReplacementFailure> {
    let source = replacement.get("source").ok_or(ReplacementFailure::NoSource)?;
    let value = source_value(resources, source, steps)?;
    for target in replacement.items_at(&["targets"]) {
        let select = target.get("select").and_then(TargetSelector::parse);
        let select = select.ok_or(ReplacementFailure::Target)?;
        let rejects: Option<Vec<TargetSelector>> =
            target.items_at(&["reject"]).map(TargetSelector::parse).collect();
        let rejects = rejects.ok_or(ReplacementFailure::Target)?;
        let options = ReplacementOptions::of(target);
        let paths: Vec<&str> = target.items_at(&["fieldPaths"]).filter_map(Node::as_str).collect();
        let paths = if paths.is_empty() { vec![DEFAULT_PATH] } else { paths };
        for resource in resources.iter_mut() {
            if !select.selects(resource) || rejects.iter().any(|reject| reject.selects(resource)) {
                continue;
            }
            for path in &paths {
                match replace(resource, &keys_of(path), &value, options, steps) {
                    Err(FieldFailure::TooLarge(error)) => return Err(error.into()),
                    Err(reason) => {
                        resource.doubt(&format!("a replacement of it cannot be applied: {reason}"));
                    }
                    Ok(()) => {}
                }
            }
        }
    }
    Ok(())
}

/// The value that a replacement copies.
fn source_value<'d>(
    resources: &[Resource<'d>],
    source: Node<'d>,
    steps: &mut Steps,
) -> Result<BuiltValue<'d>, ReplacementFailure> {
    let text = |key| source.get(key).and_then(scalar_text).filter(|text| !text.is_empty());
    let is = |key, own: &str| text(key).is_none_or(|text| text == own);
    let matches = |id: &ObjectIdentity| {
        is("group", &id.group)
            && is("version", &id.version)
            && is("kind", &id.kind)
            && is("name", &id.name)
            && is("namespace", &id.namespace)
    };
    let has_id = |resource: &&Resource<'d>| resource.previous.iter().any(matches) || matches(&resource.id());
    let mut found = resources.iter().filter(has_id);
    let (Some(resource), None) = (found.next(), found.next()) else {
        return Err(ReplacementFailure::Source);
    };
    if resource.unresolved.is_some() {
        return Err(ReplacementFailure::DoubtfulSource);
    }
    let path = keys_of(text("fieldPath").unwrap_or(DEFAULT_PATH));
    let missing = ReplacementFailure::SourceField;
    let value = copy_at(&resource.value, &path, steps)?.ok_or(missing)?;
    let options = ReplacementOptions::of(source);
    let Some(delimiter) = options.delimiter else { return Ok(value) };
    let part =
        usize::try_from(options.index).ok().and_then(|index| value.text()?.split(delimiter).nth(index));
    Ok(BuiltValue::Computed(part.ok_or(missing)?.to_owned(), value.node()))
}

/// The keys of a field path such as `spec.containers.[name=app].image`. A `.` within brackets or after `\` is part of a key.
///
/// Source: `SmarterPathSplitter` in kyaml/utils/pathsplitter.go.
fn keys_of(path: &str) -> Vec<String> {
    let mut keys = vec![String::new()];
    let (mut is_escaped, mut depth) = (false, 0_usize);
    for char in path.chars() {
        let Some(last) = keys.last_mut() else { break };
        match char {
            _ if is_escaped => {
                last.push(char);
                is_escaped = false;
            }
            '\\' => is_escaped = true,
            '.' if depth == 0 => keys.push(String::new()),
            _ => {
                depth = match char {
                    '[' => depth + 1,
                    ']' => depth.saturating_sub(1),
                    _ => depth,
                };
                last.push(char);
            }
        }
    }
    let bare = |key: String| match key.strip_prefix('[').and_then(|key| key.strip_suffix(']')) {
        Some(name) if !name.contains('=') => name.to_owned(),
        _ => key,
    };
    keys.into_iter().map(bare).filter(|key| !key.is_empty()).collect()
}

/// The field and the value of a key such as `[name=app]`.
fn condition(key: &str) -> Option<(&str, &str)> {
    key.strip_prefix('[')?.strip_suffix(']')?.split_once('=')
}

/// Whether a key selects an item of a list.
fn selects_item(key: &str, position: usize, item: &BuiltValue<'_>) -> bool {
    match condition(key) {
        Some(("", value)) => item.text() == Some(value),
        Some((field, value)) => item.text_at(&[field]).as_deref() == Some(value),
        None => key == "*" || key.parse() == Ok(position),
    }
}

/// A copy of the value at a path, for the source of a replacement.
fn copy_at<'d>(
    value: &BuiltValue<'d>,
    path: &[String],
    steps: &mut Steps,
) -> Result<Option<BuiltValue<'d>>, TooLarge> {
    let Some((key, rest)) = path.split_first() else { return steps.copy(value).map(Some) };
    match value.shape() {
        Shape::Mapping => value.get(key).map_or(Ok(None), |value| copy_at(&value, rest, steps)),
        Shape::Sequence => {
            let mut items = value.parts().into_iter().enumerate();
            let found = items.find(|(position, (_, item))| selects_item(key, *position, item));
            found.map_or(Ok(None), |(_, (_, item))| copy_at(&item, rest, steps))
        }
        Shape::Null | Shape::Scalar => Ok(None),
    }
}

/// Writes a value to a field of an object.
fn replace<'d>(
    resource: &mut Resource<'d>,
    path: &[String],
    value: &BuiltValue<'d>,
    options: ReplacementOptions<'d>,
    steps: &mut Steps,
) -> Result<(), FieldFailure> {
    let mut written = Ok(0);
    let mut write = |slot: &mut BuiltValue<'d>| {
        let new = replaced(slot, value, options, steps);
        written = match (written, new) {
            (Ok(count), Ok(new)) => {
                *slot = new;
                Ok(count + 1)
            }
            (Err(reason), _) | (_, Err(reason)) => Err(reason),
        };
    };
    visit(&mut resource.value, path, options.create.then_some(value), &mut write);
    resource.is_changed = true;
    match written {
        Ok(0) => Err(FieldFailure::Missing),
        Ok(_) => Ok(()),
        Err(reason) => Err(reason),
    }
}

/// Calls a function for each value at a path, whose missing keys are created for a value.
fn visit<'d>(
    holder: &mut BuiltValue<'d>,
    path: &[String],
    create: Option<&BuiltValue<'d>>,
    found: &mut dyn FnMut(&mut BuiltValue<'d>),
) {
    let Some((key, rest)) = path.split_first() else { return found(holder) };
    match holder.shape() {
        Shape::Mapping => {
            if let Some(value) = create
                && holder.get(key).is_none()
            {
                // The new value has the type of the source until it is written.
                let new = match value {
                    BuiltValue::Written(_) | BuiltValue::Computed(..) if rest.is_empty() => value.clone(),
                    _ => BuiltValue::Mapping(value.node(), Vec::new()),
                };
                holder.set(key, new);
            }
            if holder.get(key).is_some()
                && let Some(member) = holder.get_mut(key)
            {
                visit(member, rest, create, found);
            }
        }
        Shape::Sequence => {
            for (position, item) in holder.items().into_iter().flatten().enumerate() {
                if selects_item(key, position, item) {
                    visit(item, rest, create, found);
                }
            }
        }
        Shape::Null | Shape::Scalar => {}
    }
}

/// The new value of a field. A scalar keeps its type.
fn replaced<'d>(
    old: &BuiltValue<'d>,
    value: &BuiltValue<'d>,
    options: ReplacementOptions<'d>,
    steps: &mut Steps,
) -> Result<BuiltValue<'d>, FieldFailure> {
    let new = match options.delimiter {
        None => steps.copy(value)?,
        Some(delimiter) => {
            let (Some(old), Some(text)) = (old.text(), value.text()) else {
                return Err(FieldFailure::Delimiter);
            };
            let mut parts: Vec<&str> = old.split(delimiter).collect();
            match usize::try_from(options.index) {
                Err(_) => parts.insert(0, text),
                Ok(index) => match parts.get_mut(index) {
                    Some(part) => *part = text,
                    None => parts.push(text),
                },
            }
            BuiltValue::Computed(parts.join(delimiter), value.node())
        }
    };
    let is_string = |value: &BuiltValue<'_>| match value {
        BuiltValue::Written(node) => node.as_str().is_some(),
        _ => true,
    };
    if old.shape() != Shape::Scalar || is_string(old) == is_string(&new) {
        return Ok(new);
    }
    match new.text() {
        Some(text) if is_string(old) => Ok(BuiltValue::Computed(text.to_owned(), new.node())),
        _ => Err(FieldFailure::Type),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_field_paths() {
        for (path, expected) in [
            ("metadata.name", vec!["metadata", "name"]),
            ("spec.containers.[name=a.b].image", vec!["spec", "containers", "[name=a.b]", "image"]),
            ("metadata.annotations.[a.b/c]", vec!["metadata", "annotations", "a.b/c"]),
            (r"metadata.labels.a\.b", vec!["metadata", "labels", "a.b"]),
            ("spec.items.*.0", vec!["spec", "items", "*", "0"]),
        ] {
            assert_eq!(keys_of(path), expected, "{path}");
        }
    }
}
