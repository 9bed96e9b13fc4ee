//! Inputs of `ResourceSets` of Flux that make other NodePools of the same templates: names of objects, texts of templates, and inputs of providers.
//!
//! A field of a NodePool that reads an input is compared with the other fields, in `feeds`.
//!
//! Sources: "Inputs configuration" and "Resources template" in docs/api/v1/resourceset.md, and "Default values" in
//! docs/api/v1/resourcesetinputprovider.md of controlplaneio-fluxcd/flux-operator.

use std::collections::{BTreeMap, BTreeSet};

use answers::plan::PlannedChange;
use cluster::built_objects::{BuiltObjects, OverlayObject};
use drift::ObjectChangeKind;
use manifest::tree::{Node, items_of};
use objects::object::Object;

use super::homes::BothBuilt;
use super::other_templates::may_have_nodes;
use super::scope::{PLANNED, without_start};
use super::{PlanPair, PlanSide};

const GROUP: &str = "fluxcd.controlplane.io";
const SET: &str = "ResourceSet";
const PROVIDER: &str = "ResourceSetInputProvider";

/// Overlay, namespace, name and file of a `ResourceSet`, without the start of its side.
type SetKey<'p> = [&'p str; 4];

/// One change for each `ResourceSet` with other inputs that its templates of NodePools read.
pub(super) fn changes(pair: PlanPair<'_>, built: &BothBuilt) -> Vec<PlannedChange> {
    let (olds, news) = (of_side(pair.old, &built.old), of_side(pair.new, &built.new));
    let both = olds.iter().filter_map(|(key, old)| Some((old, news.get(key)?)));
    both.filter_map(|(old, new)| change(pair, old, new)).collect()
}

/// A `ResourceSet` that makes objects of Karpenter.
struct InputSet<'p> {
    object: Object<'p>,
    /// The inputs in the order of the text, each with its values.
    inputs: Vec<Input<'p>>,
    /// What decides about further inputs that only the cluster knows, with its place.
    unknown: BTreeMap<String, Node<'p>>,
    /// The parts of the templates that no field of a NodePool shows.
    unseen: String,
    /// The templates of the objects of Karpenter.
    all: String,
}

/// The values of an input by key.
type Values<'p> = BTreeMap<&'p str, String>;

/// An input with its place.
type Input<'p> = (Node<'p>, Values<'p>);

fn of_side<'p>(side: PlanSide<'p>, built: &'p BuiltObjects) -> BTreeMap<SetKey<'p>, InputSet<'p>> {
    let is_wanted = |object: Object<'p>| object.group() == GROUP && [SET, PROVIDER].contains(&object.kind());
    let objects = built.objects_by_overlay(&side.cluster.files, is_wanted);
    let (sets, providers): (Vec<_>, Vec<_>) = objects.into_iter().partition(|one| one.object.kind() == SET);
    let mut by_namespace: BTreeMap<&str, Vec<OverlayObject<'p>>> = BTreeMap::new();
    for provider in providers {
        by_namespace.entry(provider.object.namespace()).or_default().push(provider);
    }
    let keyed = sets.into_iter().filter_map(|set| {
        let object = set.object;
        let near = by_namespace.get(object.namespace()).map(Vec::as_slice).unwrap_or_default();
        let file = without_start(object.root().source().name(), side.folder);
        let key = [without_start(set.overlay, side.folder), object.namespace(), object.name(), file];
        Some((key, InputSet::of(set, near)?))
    });
    keyed.collect()
}

impl<'p> InputSet<'p> {
    fn of(set: OverlayObject<'p>, providers: &[OverlayObject<'p>]) -> Option<Self> {
        let object = set.object;
        let is_planned = |one: &Node<'p>| {
            let kind = one.str_at(&["kind"]).unwrap_or_default();
            one.str_at(&["apiVersion"]).is_some_and(|version| version.contains("karpenter"))
                && PLANNED.into_iter().any(|planned| planned.name == kind)
        };
        let made: Vec<Node<'p>> = items_of(object.at(&["spec", "resources"])).filter(is_planned).collect();
        let template = object.at(&["spec", "resourcesTemplate"]).and_then(Node::as_str);
        let template = template.filter(|text| may_have_nodes(text)).unwrap_or_default();
        if made.is_empty() && template.is_empty() {
            return None;
        }
        let texts = |nodes: &mut dyn Iterator<Item = Node<'p>>| {
            nodes.map(|node| node.to_json().to_string()).collect::<Vec<_>>().join("\n")
        };
        let metadata = texts(&mut made.iter().filter_map(|one| one.get("metadata")));
        let mut found = Self {
            object,
            inputs: items_of(object.at(&["spec", "inputs"])).map(|input| (input, values(input))).collect(),
            unknown: BTreeMap::new(),
            unseen: format!("{metadata}\n{template}"),
            all: format!("{}\n{template}", texts(&mut made.iter().copied())),
        };
        let open = ["inputsFrom", "inputStrategy"].map(|key| object.at(&["spec", key]));
        found.unknown.extend(open.into_iter().flatten().map(|node| (node.to_json().to_string(), node)));
        let own: Vec<&OverlayObject<'p>> =
            providers.iter().filter(|one| one.overlay == set.overlay).collect();
        let own = if own.is_empty() { providers.iter().collect() } else { own };
        for reference in items_of(object.at(&["spec", "inputsFrom"])) {
            for provider in own.iter().filter(|one| is_meant(reference, one.object)) {
                found.add(provider.object);
            }
        }
        Some(found)
    }

    /// Adds a provider: its default values are a part of each of its inputs.
    fn add(&mut self, provider: Object<'p>) {
        for (key, value) in provider.root().members_at(&["spec"]) {
            if key == "defaultValues" {
                self.inputs.push((value, values(value)));
            } else {
                self.unknown.insert(format!("{}: {key}: {}", provider.name(), value.to_json()), value);
            }
        }
    }
}

/// Whether a reference of a `ResourceSet` means a provider.
fn is_meant(reference: Node<'_>, provider: Object<'_>) -> bool {
    match (reference.str_at(&["name"]), reference.get("selector")) {
        (Some(name), _) => name == provider.name(),
        (None, Some(selector)) => {
            let label = |key: &str| provider.at(&["metadata", "labels", key]).and_then(Node::as_str);
            selector.members_at(&["matchLabels"]).all(|(key, value)| label(key) == value.as_str())
        }
        (None, None) => false,
    }
}

fn values(input: Node<'_>) -> Values<'_> {
    input.members().map(|(key, value)| (key, value.to_json().to_string())).collect()
}

fn change(pair: PlanPair<'_>, old: &InputSet<'_>, new: &InputSet<'_>) -> Option<PlannedChange> {
    let set = format!("{SET}/{}", new.object.name());
    let of = |node: Node<'_>, message: String| {
        let source = node.source();
        let line = source.position(node.span().start).line;
        Some(PlannedChange::of_file(pair.name, ObjectChangeKind::Changed, (source.name(), line), message))
    };
    let is_other = |(text, _): &(&String, &Node<'_>)| !old.unknown.contains_key(*text);
    let is_gone = old.unknown.keys().any(|text| !new.unknown.contains_key(text));
    let open = new.unknown.iter().find(is_other).map(|(_, node)| *node);
    if open.is_some() || is_gone {
        let message =
            format!("{set} gets inputs in another way, which its templates of objects of Karpenter read");
        return (reads(&old.all, None) || reads(&new.all, None))
            .then(|| of(open.unwrap_or_else(|| new.object.root()), message))?;
    }
    let (gone, come) = (left(&old.inputs, &new.inputs), left(&new.inputs, &old.inputs));
    // A further input only makes further objects.
    gone.first()?;
    let is_changed = |key: &&str| {
        let all = |side: &[&Input<'_>]| {
            let mut values: Vec<Option<String>> =
                side.iter().map(|(_, values)| values.get(key).cloned()).collect();
            values.sort_unstable();
            values
        };
        all(&gone) != all(&come)
    };
    let keys: BTreeSet<&str> =
        gone.iter().chain(&come).flat_map(|(_, values)| values.keys().copied()).collect();
    let is_read = |key: &&str| reads(&old.unseen, Some(key)) || reads(&new.unseen, Some(key));
    let read: Vec<&str> = keys.into_iter().filter(is_changed).filter(is_read).collect();
    let place = come.first().map(|(node, _)| *node).or_else(|| new.object.at(&["spec", "inputs"]));
    let message = format!(
        "{set} has another input `{}`, which its templates of objects of Karpenter read",
        read.first()?
    );
    of(place.unwrap_or_else(|| new.object.root()), message)
}

/// The inputs that other inputs lack.
fn left<'i, 'p>(inputs: &'i [Input<'p>], others: &'i [Input<'p>]) -> Vec<&'i Input<'p>> {
    let mut counts: BTreeMap<&Values<'p>, usize> = BTreeMap::new();
    for (_, values) in others {
        *counts.entry(values).or_default() += 1;
    }
    let mut found = Vec::new();
    for input in inputs {
        match counts.get_mut(&input.1).filter(|count| **count > 0) {
            Some(count) => *count -= 1,
            None => found.push(input),
        }
    }
    found
}

/// Whether a template reads an input, or all of them at once; without a key, whether it reads any.
fn reads(template: &str, key: Option<&str>) -> bool {
    const INPUTS: &str = "inputs";
    let is_in_word = |char: char| char.is_alphanumeric() || matches!(char, '_' | '-');
    template.match_indices(INPUTS).any(|(at, _)| {
        let before = template.get(..at).and_then(|text| text.chars().next_back());
        let after = template.get(at + INPUTS.len()..).unwrap_or_default();
        if before.is_some_and(is_in_word) || after.starts_with(is_in_word) {
            return false;
        }
        let (Some(key), Some(path)) = (key, after.strip_prefix('.')) else { return true };
        path.strip_prefix(key).is_some_and(|rest| !rest.starts_with(is_in_word))
    })
}

#[cfg(test)]
mod tests {
    use super::reads;

    #[test]
    fn a_template_reads_an_input_by_its_whole_name_or_all_inputs() {
        for (template, expected) in [
            ("pool-<< inputs.team >>", true),
            ("pool-<< inputs.team.name >>", true),
            ("<<- range $one := inputs.team >>", true),
            ("<< inputs | toYaml >>", true),
            ("pool-<< inputs.teams >>", false),
            ("pool-<< inputs.other >>", false),
            ("my-inputs.team", false),
            ("plain", false),
        ] {
            assert_eq!(reads(template, Some("team")), expected, "{template}");
        }
        assert!(reads("<< inputs.other >>", None));
    }
}
