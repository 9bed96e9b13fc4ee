//! Inputs of `ResourceSets` of Flux that make other NodePools of the same templates: names of objects, texts of templates, and inputs of providers.
//!
//! A field of a NodePool that reads a changed input is found with the other fields, in `feeds`.
//!
//! Sources: "Inputs configuration" and "Resources template" in docs/api/v1/resourceset.md, and "Default values" in
//! docs/api/v1/resourcesetinputprovider.md of controlplaneio-fluxcd/flux-operator.

use std::collections::{BTreeMap, BTreeSet};

use answers::plan::PlannedChange;
use cluster::built_objects::{BuiltObjects, OverlayObject};
use drift::ObjectChangeKind;
use manifest::tree::{Node, items_of};
use objects::object::Object;
use objects::wrapper::{Wrapper, WrapperKind};
use values::placeholder::{has_flux_input, split_at_flux_inputs};

use super::homes::BothBuilt;
use super::other_templates::may_have_nodes;
use super::scope::{PLANNED, without_start};
use super::{PlanPair, PlanSide};

const GROUP: &str = "fluxcd.controlplane.io";
const SET: &str = "ResourceSet";
const PROVIDER: &str = "ResourceSetInputProvider";

/// Field with the way in which inputs of several sources are combined.
const STRATEGY: &str = "inputStrategy";

/// Overlay, namespace, name and file of a `ResourceSet`, without the start of its side.
type SetKey<'p> = [&'p str; 4];

type SetsByKey<'p> = BTreeMap<SetKey<'p>, InputSet<'p>>;

/// One change for each `ResourceSet` with other inputs that its templates of NodePools read.
pub(super) fn changes(pair: PlanPair<'_>, built: &BothBuilt) -> Vec<PlannedChange> {
    let (olds, news) = (of_side(pair.old, &built.old), of_side(pair.new, &built.new));
    on_both_sides(&olds, &news).filter_map(|(old, new)| change(pair, old, new)).collect()
}

/// The `ResourceSets` of both sides. One in another file or folder is the one with its namespace and name that the other side does not have there.
fn on_both_sides<'s, 'p>(
    olds: &'s SetsByKey<'p>,
    news: &'s SetsByKey<'p>,
) -> impl Iterator<Item = (&'s InputSet<'p>, &'s InputSet<'p>)> {
    news.iter().filter_map(|(key, new)| {
        let moved = || {
            let [overlay, namespace, name, file] = *key;
            let free = olds
                .iter()
                .filter(|(other, _)| other[1] == namespace && other[2] == name && !news.contains_key(*other));
            free.min_by_key(|(other, _)| (other[0] != overlay, other[3] != file)).map(|(_, old)| old)
        };
        Some((olds.get(key).or_else(moved)?, new))
    })
}

/// The inputs with other values of each `ResourceSet`, with the file of the values. The inputs of a `ResourceSet` count for it alone.
#[derive(Debug, Default)]
pub(super) struct ChangedInputs<'p>(Vec<(Node<'p>, BTreeMap<&'p str, &'p str>)>);

impl<'p> ChangedInputs<'p> {
    pub(super) fn of(pair: PlanPair<'p>, built: &'p BothBuilt) -> Self {
        let (olds, news) = (of_side(pair.old, &built.old), of_side(pair.new, &built.new));
        let changed = on_both_sides(&olds, &news).filter_map(|(old, new)| {
            let (keys, place) = changed_keys(old, new);
            let file = without_start(place.source().name(), pair.new.folder);
            let inputs: BTreeMap<&'p str, &'p str> = keys.into_iter().map(|key| (key, file)).collect();
            (!inputs.is_empty()).then(|| (new.object.root(), inputs))
        });
        Self(changed.collect())
    }

    /// The first changed input that the text of a node reads in its `ResourceSet`, or else the variable in the rest of the text.
    pub(super) fn or_variable(
        &self,
        node: Node<'_>,
        text: &str,
        variable: impl Fn(&str) -> Option<(&'p str, &'p str)>,
    ) -> Option<(&'p str, &'p str)> {
        let set = Wrapper::around_node(node).filter(|one| one.kind == WrapperKind::ResourceSet);
        let Some(set) = set.filter(|_| has_flux_input(text)) else { return variable(text) };
        let (plain, inner) = split_at_flux_inputs(text);
        let own = self.0.iter().filter(|(root, _)| *root == set.root).flat_map(|(_, inputs)| inputs);
        let mut read = own.filter(|(key, _)| inner.iter().any(|part| reads(part, Some(key))));
        read.next().map(|(key, file)| (*key, *file)).or_else(|| variable(&plain))
    }
}

/// A `ResourceSet` that makes objects of Karpenter.
struct InputSet<'p> {
    object: Object<'p>,
    /// The inputs in the order of the text, each with its values.
    inputs: Vec<Input<'p>>,
    /// The fields that decide about inputs that only the cluster knows, by their source: the strategy, a reference to providers, or a provider.
    sources: BTreeMap<String, BTreeMap<String, Node<'p>>>,
    /// The parts of the templates that no field of a NodePool shows.
    unseen: String,
    /// The templates of the objects of Karpenter.
    all: String,
}

/// The values of an input by key.
type Values<'p> = BTreeMap<&'p str, String>;

/// An input with its place.
type Input<'p> = (Node<'p>, Values<'p>);

fn of_side<'p>(side: PlanSide<'p>, built: &'p BuiltObjects) -> SetsByKey<'p> {
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
            sources: BTreeMap::from([(STRATEGY.to_owned(), BTreeMap::new())]),
            unseen: format!("{metadata}\n{template}"),
            all: format!("{}\n{template}", texts(&mut made.iter().copied())),
        };
        if let Some(strategy) = object.at(&["spec", STRATEGY]) {
            found.add_source(STRATEGY.to_owned(), strategy.to_json().to_string(), strategy);
        }
        let own: Vec<&OverlayObject<'p>> =
            providers.iter().filter(|one| one.overlay == set.overlay).collect();
        let own = if own.is_empty() { providers.iter().collect() } else { own };
        for reference in items_of(object.at(&["spec", "inputsFrom"])) {
            found.add_source(reference.to_json().to_string(), String::new(), reference);
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
                self.add_source(provider.name().to_owned(), format!("{key}: {}", value.to_json()), value);
            }
        }
    }

    fn add_source(&mut self, source: String, text: String, node: Node<'p>) {
        self.sources.entry(source).or_default().insert(text, node);
    }

    /// Whether the inputs are combined with each other, so that further inputs change the objects of others.
    fn is_permuted(&self) -> bool {
        let strategy = self.object.at(&["spec", STRATEGY, "name"]).and_then(Node::as_str);
        strategy.is_some_and(|name| name != "Flatten")
    }

    /// The place of what decides in another way than before about inputs that only the cluster knows. A further source only makes further objects.
    fn other_source(&self, old: &Self) -> Option<Node<'p>> {
        let of_known = old.sources.iter().find_map(|(source, before)| {
            let after = self.sources.get(source);
            let mut come = after.into_iter().flatten().filter(|(text, _)| !before.contains_key(*text));
            let is_left = after.is_some_and(|after| before.keys().all(|text| after.contains_key(text)));
            let place = come.next().map(|(_, node)| *node);
            place.or_else(|| (!is_left).then(|| self.object.root()))
        });
        let further = || {
            let further = self.sources.iter().filter(|(source, _)| !old.sources.contains_key(*source));
            further.flat_map(|(_, texts)| texts.values().copied()).next().filter(|_| self.is_permuted())
        };
        of_known.or_else(further)
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
    if let Some(place) = new.other_source(old) {
        let message =
            format!("{set} gets inputs in another way, which its templates of objects of Karpenter read");
        return (reads(&old.all, None) || reads(&new.all, None)).then(|| of(place, message))?;
    }
    let (keys, place) = changed_keys(old, new);
    let is_read = |key: &&str| reads(&old.unseen, Some(key)) || reads(&new.unseen, Some(key));
    let read = keys.into_iter().find(is_read)?;
    of(place, format!("{set} has another input `{read}`, which its templates of objects of Karpenter read"))
}

/// The keys with other values of the inputs that a `ResourceSet` no longer has, among the keys that its templates read, and the place of the new values. A
/// further input only makes further objects.
fn changed_keys<'p>(old: &InputSet<'p>, new: &InputSet<'p>) -> (BTreeSet<&'p str>, Node<'p>) {
    let is_read = |key: &str| reads(&old.all, Some(key)) || reads(&new.all, Some(key));
    let read = |set: &InputSet<'p>| -> Vec<Input<'p>> {
        let own = |values: &Values<'p>| values.clone().into_iter().filter(|(key, _)| is_read(key)).collect();
        set.inputs.iter().map(|(node, values)| (*node, own(values))).collect()
    };
    let (olds, news) = (read(old), read(new));
    let (gone, come) = (left(&olds, &news), left(&news, &olds));
    let place = come.first().map(|(node, _)| *node).or_else(|| new.object.at(&["spec", "inputs"]));
    let place = place.unwrap_or_else(|| new.object.root());
    if gone.is_empty() {
        return (BTreeSet::new(), place);
    }
    let values = |side: &[&Input<'p>], key: &str| -> Vec<Option<String>> {
        let mut values: Vec<_> = side.iter().map(|(_, values)| values.get(key).cloned()).collect();
        values.sort_unstable();
        values
    };
    let all = || gone.iter().chain(&come).flat_map(|(_, values)| values.keys().copied());
    let mut keys: BTreeSet<&'p str> = all().filter(|key| values(&gone, key) != values(&come, key)).collect();
    // Inputs that only exchange values.
    if keys.is_empty() {
        keys.extend(all().filter(|key| {
            let mut own = values(&gone, key);
            own.dedup();
            own.len() > 1
        }));
    }
    (keys, place)
}

/// The inputs that other inputs lack.
fn left<'i, 'p>(inputs: &'i [Input<'p>], others: &[Input<'p>]) -> Vec<&'i Input<'p>> {
    let known: BTreeSet<&Values<'p>> = others.iter().map(|(_, values)| values).collect();
    inputs.iter().filter(|(_, values)| !known.contains(values)).collect()
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
