//! Variables that Flux and Argo CD replace in the objects of an input: each set of values is an overlay, as if a kustomization built the
//! objects with them.
//!
//! A variable whose value the input does not show stays a placeholder.

mod argo;
mod flux;

use std::collections::BTreeMap;

pub(crate) use argo::texts_of_elements;
pub(crate) use flux::repeated_names;

use kustomize::{BuildOutcome, Builds, BuiltObject, Origin, Overlay};
use manifest::File;
use manifest::limits::Limits;
use manifest::tree::{Assembly, NewValue, Node, NodeId, Style, Tree, Value};

/// Maximum number of overlays with variables. Beyond it, variables stay placeholders.
const MAX_OVERLAYS: usize = 100;

/// The part of their place by which Kustomizations of Flux differ that have one name and apply one folder, each in another cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameRepetition {
    /// The folder of the file.
    InFolders,
    /// The file: several files of one folder have the name.
    InFiles,
}

/// The names that several Kustomizations of Flux have.
pub type RepeatedNames = BTreeMap<String, NameRepetition>;

/// Adds the overlays of Flux and of Argo CD to the builds of some files, whose names have a start that does not count.
pub(crate) fn add(
    builds: &mut Builds,
    (files, start): (&[File], &str),
    repeated: &RepeatedNames,
    limits: &Limits,
) {
    let mut writer = Writer { nodes: limits.nodes, overlays: MAX_OVERLAYS };
    flux::add(builds, (files, start), repeated, &mut writer);
    argo::add(builds, files, &mut writer);
}

/// Replaces variables in a text. `None` if no variable in it has a known value.
type Replace<'r> = &'r dyn Fn(&str) -> Option<String>;

/// The text with a value for each mark whose name has one, such as `${cluster}`. `None` if no name has one, or a mark does not end.
fn with_values<'v>(
    text: &str,
    [open, close]: [&str; 2],
    value: impl Fn(&str) -> Option<&'v str>,
) -> Option<String> {
    let (mut rest, mut whole, mut is_changed) = (text, String::new(), false);
    while let Some((before, after)) = rest.split_once(open) {
        let (inner, after) = after.split_once(close)?;
        whole.push_str(before);
        match value(inner) {
            Some(value) => {
                whole.push_str(value);
                is_changed = true;
            }
            None => whole.extend([open, inner, close]),
        }
        rest = after;
    }
    whole.push_str(rest);
    is_changed.then_some(whole)
}

/// Writer of objects with values in the place of variables, with a bound on all of them.
struct Writer {
    /// Number of nodes that may still be written.
    nodes: usize,
    /// Number of overlays that may still be written.
    overlays: usize,
}

impl Writer {
    /// The object with values in the place of variables; `None` if it has none of them, or would be too large.
    fn replaced(&mut self, root: Node<'_>, replace: Replace<'_>) -> Option<Tree> {
        if !has_variable(root, replace) {
            return None;
        }
        let mut assembly = Assembly::new(root, self.nodes);
        copy(&mut assembly, None, root, replace)?;
        self.nodes = self.nodes.saturating_sub(assembly.len());
        Some(assembly.finish())
    }

    /// A copy of an object; `None` if it would be too large.
    fn copied(&mut self, root: Node<'_>) -> Option<Tree> {
        let mut assembly = Assembly::new(root, self.nodes);
        assembly.copy(None, None, root)?;
        self.nodes = self.nodes.saturating_sub(assembly.len());
        Some(assembly.finish())
    }

    /// An overlay with objects: each with its place in the input, its root, and the reason why it is not known for certain.
    fn overlay<'d>(
        &mut self,
        name: String,
        objects: impl IntoIterator<Item = (Origin, Option<Node<'d>>, Option<String>)>,
        replace: Replace<'_>,
    ) -> Option<Overlay> {
        self.overlays = self.overlays.checked_sub(1)?;
        let built = |(origin, root, unresolved): (Origin, Option<Node<'d>>, Option<String>)| {
            let Some(root) = root else {
                return BuiltObject { origin, outcome: BuildOutcome::Deleted, unresolved };
            };
            if let Some(tree) = self.replaced(root, replace) {
                return BuiltObject { origin, outcome: BuildOutcome::Changed(Box::new(tree)), unresolved };
            }
            if !root.tree().is_assembled() {
                return BuiltObject { origin, outcome: BuildOutcome::Unchanged, unresolved };
            }
            let outcome = self.copied(root).map(|tree| BuildOutcome::Changed(Box::new(tree)));
            let unresolved = match outcome {
                Some(_) => unresolved,
                None => Some("the objects of the builds are too large".to_owned()),
            };
            BuiltObject { origin, outcome: outcome.unwrap_or(BuildOutcome::Unchanged), unresolved }
        };
        Some(Overlay { name, objects: objects.into_iter().map(built).collect() })
    }
}

fn has_variable(node: Node<'_>, replace: Replace<'_>) -> bool {
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        if replace(node.key()).is_some() || node.as_str().is_some_and(|text| replace(text).is_some()) {
            return true;
        }
        open.extend(node.children());
    }
    false
}

fn copy(
    assembly: &mut Assembly,
    parent: Option<NodeId>,
    from: Node<'_>,
    replace: Replace<'_>,
) -> Option<NodeId> {
    let is_member = parent.is_some() && from.parent().is_some_and(Node::is_mapping);
    let key = is_member.then(|| replace(from.key()).unwrap_or_else(|| from.key().to_owned()));
    let text = from.as_str().and_then(replace);
    let value = match &text {
        // Without quotes, the text is read after the value is in it.
        Some(text) if from.style() == Style::Plain => scalar(text),
        Some(text) => Some(Value::String(text)),
        None => None,
    };
    let is_derived = value.is_some() || from.is_derived();
    let id =
        assembly.add(parent, key.as_deref(), value.map_or(NewValue::Same, NewValue::Of), from, is_derived)?;
    for child in from.children() {
        copy(assembly, Some(id), child, replace)?;
    }
    assembly.complete(id);
    Some(id)
}

/// The value of a text without quotes; `None` for a text with another meaning than a string that is not read here, such as `1e3`.
fn scalar(text: &str) -> Option<Value<'_>> {
    if let Ok(known) = text.parse::<bool>() {
        return Some(Value::Bool(known));
    }
    let digits = text.trim_start_matches('-');
    if let Ok(number) = text.parse::<i64>() {
        // YAML reads other numbers with a zero at the start as octal.
        return (digits == "0" || !digits.starts_with(['0', '+'])).then_some(Value::Int(number));
    }
    let may_be_number = text.parse::<f64>().is_ok() || digits.starts_with(|char: char| char.is_ascii_digit());
    let is_word = !text.is_empty() && !may_be_number && !WORDS.contains(&text);
    is_word.then_some(Value::String(text))
}

/// Texts that YAML reads as something else than a string.
const WORDS: [&str; 12] =
    ["null", "Null", "NULL", "~", "yes", "no", "on", "off", "True", "False", "TRUE", "FALSE"];
