//! Changed and removed objects of Flux and Argo CD that apply objects of Karpenter in another way than before.

use std::collections::{BTreeMap, BTreeSet};

use answers::OrEmpty;
use answers::plan::PlannedChange;
use cluster::appliers::{Applier, sources};
use drift::{Effect, ObjectChangeKind};
use manifest::tree::{Node, items_of};

use super::applied_objects::{AppliedObjects, name_of};
use super::outside::{WORDS, may_patch};
use super::scope::without_start;
use super::{PlanPair, PlanSide};

/// Charts of the controller and of its custom resource definitions, whose versions and values a plan compares by themselves.
const OWN_CHARTS: [&str; 2] = ["karpenter", "karpenter-crd"];

/// Fields of a Kustomization of Flux that change what it applies. Variables are compared where they are used.
const OF_FLUX: [&str; 6] =
    ["namePrefix", "nameSuffix", "components", "sourceRef", "kubeConfig", "decryption"];

/// The patches of a Kustomization of Flux.
const PATCHES: [&str; 3] = ["patches", "patchesJson6902", "patchesStrategicMerge"];

/// Fields of a HelmRelease that change what it installs.
const OF_HELM: [&[&str]; 8] = [
    &["chart", "spec", "chart"],
    &["chart", "spec", "version"],
    &["chart", "spec", "sourceRef"],
    &["chartRef"],
    &["values"],
    &["valuesFrom"],
    &["postRenderers"],
    &["kubeConfig"],
];

/// Fields of a source of Argo CD that change what it applies.
const OF_SOURCE: [&str; 7] =
    ["repoURL", "chart", "targetRevision", "helm", "kustomize", "directory", "plugin"];

/// One change for each object that applies objects of Karpenter in another way, or no longer.
pub(super) fn changes(
    pair: PlanPair<'_>,
    (old, new): (&AppliedObjects<'_>, &AppliedObjects<'_>),
) -> Vec<PlannedChange> {
    let kept: BTreeSet<&str> = pair
        .new
        .cluster
        .files
        .iter()
        .map(|file| without_start(file.source.name(), pair.new.folder))
        .collect();
    let mut found = Vec::new();
    for before in old.appliers.all() {
        let reached = contents(old, before);
        // What is removed or moved is compared by itself.
        let is_there = || {
            let mut files = old.objects_of(before).map(|object| object.root().source().name());
            files.any(|file| kept.contains(without_start(file, pair.old.folder)))
        };
        let outside = named_sources(before);
        if !(is_there() || outside) {
            continue;
        }
        let Some(after) = new.counterpart(before, old) else {
            found.push(change(pair, before, None));
            continue;
        };
        let (olds, news) = (Parts::of(before), Parts::of(after));
        let is_elsewhere = olds.paths != news.paths && (outside || reached != contents(new, after));
        let field = if is_elsewhere { Some("path") } else { olds.difference(&news) };
        let is_generated = || generates_otherwise(before, pair).then_some("git.files");
        found.extend(field.or_else(is_generated).map(|field| change(pair, after, Some(field))));
    }
    found
}

/// The objects of Karpenter that an object applies, as texts.
fn contents(objects: &AppliedObjects<'_>, applier: &Applier<'_>) -> BTreeSet<String> {
    objects.objects_of(applier).map(|object| object.root().to_json().to_string()).collect()
}

/// The parts of an object that change what it applies, by field.
struct Parts {
    paths: Vec<String>,
    fields: BTreeMap<String, String>,
    /// The elements of generators: new ones make new Applications, and change no other.
    elements: BTreeSet<String>,
}

impl Parts {
    fn of(applier: &Applier<'_>) -> Self {
        let spec = applier.root.get("spec");
        let mut parts = Self { paths: Vec::new(), fields: BTreeMap::new(), elements: BTreeSet::new() };
        match applier.root.str_at(&["kind"]) {
            Some("Kustomization") => parts.add_flux(spec),
            Some("HelmRelease") => {
                for keys in OF_HELM {
                    parts.add(&keys.join("."), spec.and_then(|spec| spec.at_path(keys)));
                }
            }
            Some("ApplicationSet") => {
                parts.add_generators(spec);
                parts.add_argo(spec.and_then(|spec| spec.at_path(&["template", "spec"])));
            }
            _ => parts.add_argo(spec),
        }
        parts
    }

    fn add(&mut self, field: &str, node: Option<Node<'_>>) {
        if let Some(node) = node {
            self.fields.insert(field.to_owned(), node.to_json().to_string());
        }
    }

    fn add_flux(&mut self, spec: Option<Node<'_>>) {
        let Some(spec) = spec else { return };
        self.paths.extend(spec.str_at(&["path"]).map(plain));
        for field in OF_FLUX {
            self.add(field, spec.get(field));
        }
        for field in PATCHES {
            let patches = items_of(spec.get(field)).filter(|item| may_patch(*item));
            let texts: Vec<String> = patches.map(|item| item.to_json().to_string()).collect();
            if !texts.is_empty() {
                self.fields.insert(field.to_owned(), texts.concat());
            }
        }
    }

    fn add_argo(&mut self, spec: Option<Node<'_>>) {
        let Some(spec) = spec else { return };
        self.add("destination", spec.get("destination"));
        for (index, source) in sources(Some(spec)).filter(|source| !is_own(*source)).enumerate() {
            self.paths.extend(source.str_at(&["path"]).map(plain));
            for field in OF_SOURCE {
                let name =
                    if index == 0 { field.to_owned() } else { format!("{field} of source {}", index + 1) };
                self.add(&name, source.get(field));
            }
        }
    }

    fn add_generators(&mut self, spec: Option<Node<'_>>) {
        for generator in items_of(spec.and_then(|spec| spec.get("generators"))) {
            let lists = [&["list", "elements"][..], &["git", "directories"], &["git", "files"]];
            let elements = lists.iter().flat_map(|list| items_of(generator.at_path(list)));
            let before = self.elements.len();
            for element in elements {
                let text = element.to_json().to_string();
                if element.get("exclude").and_then(Node::as_bool) == Some(true) {
                    self.fields.insert(format!("generators: {text}"), text);
                } else {
                    self.elements.insert(text);
                }
            }
            if self.elements.len() == before {
                let text = generator.to_json().to_string();
                self.fields.insert(format!("generators: {text}"), text);
            }
        }
    }

    /// A field that differs.
    fn difference<'p>(&'p self, new: &'p Self) -> Option<&'p str> {
        let names = self.fields.keys().chain(new.fields.keys());
        let mut changed = names.filter(|name| self.fields.get(*name) != new.fields.get(*name));
        let field = changed.next().map(|name| name.split(':').next().unwrap_or(name));
        field.or_else(|| (!self.elements.is_subset(&new.elements)).then_some("generators"))
    }
}

/// Whether a file has changed from which an `ApplicationSet` generates Applications.
///
/// Source: "Git Generator: Files" in docs/operator-manual/applicationset/Generators-Git.md of argoproj/argo-cd.
fn generates_otherwise(applier: &Applier<'_>, pair: PlanPair<'_>) -> bool {
    let generators = items_of(applier.root.at_path(&["spec", "generators"]));
    let files = generators.flat_map(|generator| items_of(generator.at_path(&["git", "files"])));
    let patterns: Vec<&str> = files.filter_map(|file| file.str_at(&["path"])).collect();
    let texts = |side: PlanSide<'_>| -> BTreeSet<(String, String)> {
        let files = side.cluster.files.iter().map(|file| {
            (without_start(file.source.name(), side.folder).to_owned(), file.source.text().to_owned())
        });
        files.filter(|(name, _)| patterns.iter().any(|pattern| is_meant(pattern, name))).collect()
    };
    // A new file makes another Application.
    !patterns.is_empty() && !texts(pair.old).is_subset(&texts(pair.new))
}

/// Whether a pattern from the root of a repository may mean a file: the input may be a part of the repository, or be around it.
fn is_meant(pattern: &str, file: &str) -> bool {
    let mut own = file.rsplit('/');
    let mut parts = pattern.trim_start_matches("./").rsplit('/').take_while(|part| *part != "**");
    parts.all(|part| {
        let (start, end) = part.split_once('*').unwrap_or((part, ""));
        let is_like = |own: &str| {
            let is_open = part.contains('*');
            if is_open {
                own.starts_with(start) && (end.contains('*') || own.ends_with(end))
            } else {
                own == part
            }
        };
        own.next().is_none_or(is_like)
    })
}

fn plain(path: &str) -> String {
    path.trim_start_matches("./").trim_matches('/').to_owned()
}

/// Whether an object applies what is outside of the input, and its name says that this is of Karpenter.
pub(super) fn named_sources(applier: &Applier<'_>) -> bool {
    let root = applier.root;
    let spec = root.get("spec");
    let text = |keys: &[&str]| spec.and_then(|spec| spec.str_at(keys));
    let own = root.str_at(&["metadata", "name"]);
    let texts: Vec<&str> = match root.str_at(&["kind"]) {
        Some("Kustomization") if applier.is_outside => {
            [own, text(&["path"]), text(&["sourceRef", "name"])].into_iter().flatten().collect()
        }
        Some("HelmRelease") => {
            let chart = text(&["chart", "spec", "chart"]).or(text(&["chartRef", "name"])).unwrap_or_default();
            // The templates of a chart in a folder are compared by themselves.
            if is_own_chart(chart) || chart.starts_with('.') {
                return false;
            }
            [own, Some(chart)].into_iter().flatten().collect()
        }
        Some("Application" | "ApplicationSet") if applier.is_outside => {
            let template = spec.and_then(|spec| spec.at_path(&["template", "spec"]));
            let all =
                sources(template.or(spec)).filter(|source| !is_own(*source) && source.get("ref").is_none());
            let all: Vec<Node<'_>> = all.collect();
            let names = ["path", "chart"].into_iter();
            let texts = names.flat_map(|field| all.iter().filter_map(move |source| source.str_at(&[field])));
            texts.chain(own.filter(|_| !all.is_empty())).collect()
        }
        _ => Vec::new(),
    };
    texts.iter().any(|text| {
        let text = text.to_ascii_lowercase().replace(['-', '_'], "");
        WORDS.iter().any(|word| text.contains(word))
    })
}

fn is_own(source: Node<'_>) -> bool {
    source.str_at(&["chart"]).is_some_and(is_own_chart)
}

pub(super) fn is_own_chart(chart: &str) -> bool {
    OWN_CHARTS.contains(&chart.rsplit('/').next().unwrap_or(chart))
}

/// The change of an object with another field, or that is removed.
fn change(pair: PlanPair<'_>, applier: &Applier<'_>, field: Option<&str>) -> PlannedChange {
    let (kind, _, name) = name_of(applier);
    let place = applier.root.at_path(&["metadata", "name"]).unwrap_or(applier.root);
    let source = place.source();
    let (change, what) = match field {
        Some(field) => (ObjectChangeKind::Changed, format!("has another `{field}`")),
        None => (ObjectChangeKind::Removed, "is removed".to_owned()),
    };
    PlannedChange {
        cluster: pair.name.to_owned(),
        kind: String::new(),
        name: String::new(),
        change,
        effect: Effect::Unknown,
        reason: OrEmpty(None),
        node_pools: Vec::new(),
        message: format!("{kind}/{name} {what}, which changes what it applies of Karpenter"),
        file: source.name().to_owned(),
        line: source.position(place.span().start).line,
        fields: Vec::new(),
    }
}
