//! Objects of Flux and Argo CD in the templates of a chart, such as an app of apps: what they apply of Karpenter depends on values of the chart.
//!
//! Source: "App Of Apps" in docs/operator-manual/cluster-bootstrapping.md of argoproj/argo-cd.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use answers::plan::PlannedChange;
use drift::ObjectChangeKind;
use manifest::tree::Node;
use manifest::{Document, File};

use super::applied_objects::AppliedObjects;
use super::appliers::is_own_chart;
use super::elsewhere::is_about;
use super::feeds::{Feeds, chart_of};
use super::named_templates::without_labels;
use super::outside::names_planned;
use super::scope::without_start;
use super::unread::{deciding_lines, kinds};
use super::{PlanPair, PlanSide};

/// Kinds of objects that apply manifests or install charts.
const KINDS: [&str; 4] = ["Application", "ApplicationSet", "HelmRelease", "Kustomization"];

/// Line that separates the documents of a file.
const SEPARATOR: &str = "---";

/// An object that applies manifests, as a template has it.
struct WrittenApplier<'p> {
    kind: &'p str,
    name: &'p str,
    /// The namespace; empty if the object names none.
    namespace: &'p str,
    /// The number of the first line.
    line: usize,
    text: String,
    /// The folders and charts that the object names, without the charts of Karpenter itself. Values of the chart are in their place.
    sources: Vec<String>,
    /// Whether the document is YAML before it is rendered, so that the object is compared by itself.
    is_read: bool,
}

/// The templates of charts on one side.
struct Templates<'p> {
    /// The files of the side by their names without its start.
    files: BTreeMap<&'p str, &'p File>,
}

/// One change for each such object that is written in another way, goes, or gets other values.
pub(super) fn changes(
    pair: PlanPair<'_>,
    (old, new): (&AppliedObjects<'_>, &AppliedObjects<'_>),
    feeds: &Feeds<'_>,
) -> Vec<PlannedChange> {
    let (olds, news) = (Templates::of(pair.old), Templates::of(pair.new));
    let mut found = Vec::new();
    for (name, file) in &olds.files {
        let known = news.appliers_in(name);
        // The branches of a condition may have objects of one name, which are compared in their order.
        let mut by_name: BTreeMap<_, VecDeque<&WrittenApplier<'_>>> = BTreeMap::new();
        for one in &known {
            by_name.entry(one.identity()).or_default().push_back(one);
        }
        for before in olds.appliers_in(name) {
            let applies = |one: &WrittenApplier<'_>| one.applies(old) || one.applies(new);
            let Some(after) = by_name.get_mut(&before.identity()).and_then(VecDeque::pop_front) else {
                if !before.is_read && applies(&before) {
                    found.push(planned(pair, &before, file, None));
                }
                continue;
            };
            if !applies(&before) && !applies(after) {
                continue;
            }
            // Documents that are YAML on both sides are compared elsewhere.
            let is_compared = before.is_read && after.is_read;
            let what = if is_compared || before.text == after.text {
                let feed = chart_of(name).and_then(|chart| feeds.of_template(chart, &after.text));
                let is_meant = |feed: &&str| {
                    !after.is_open()
                        || !after.text.contains("range ")
                        || changes_pools(feed, &olds, &news, new)
                };
                feed.filter(is_meant).map(|feed| format!("reads other values because of {feed}"))
            } else {
                Some("has changed".to_owned())
            };
            let now = news.files.get(name).copied().unwrap_or(file);
            found.extend(what.map(|what| planned(pair, after, now, Some(&what))));
        }
    }
    found
}

impl<'p> Templates<'p> {
    fn of(side: PlanSide<'p>) -> Self {
        let files = side.cluster.files.iter().filter(|file| !file.kind.is_text());
        Self { files: files.map(|file| (without_start(file.source.name(), side.folder), file)).collect() }
    }

    /// The values in a file; `None` for a file of another kind.
    fn values_in(&self, file: &str) -> Option<Node<'p>> {
        let [Document::Read(tree)] = self.files.get(file)?.documents.as_slice() else { return None };
        Some(tree.root()).filter(|root| root.is_mapping() && root.get("kind").is_none())
    }

    /// The objects of a file, if it is a template.
    fn appliers_in(&self, name: &str) -> Vec<WrittenApplier<'p>> {
        let Some((chart, file)) = chart_of(name).zip(self.files.get(name)) else { return Vec::new() };
        let text = file.source.text();
        if !KINDS.iter().any(|kind| text.contains(kind)) {
            return Vec::new();
        }
        let starts = file.documents.iter().filter_map(|document| match document {
            Document::Template(span) | Document::Unevaluated { span, .. } => Some(span.start),
            Document::Unreadable { at, .. } => Some(*at),
            _ => None,
        });
        let unread: BTreeSet<usize> = starts.map(|at| file.source.position(at).line).collect();
        let deciding = deciding_lines(text);
        let lines: Vec<&str> = text.lines().collect();
        let (mut found, mut first) = (Vec::new(), 0);
        for document in lines.split(|line| line.trim_end() == SEPARATOR) {
            let (start, end) = (first + 1, first + document.len());
            first = end + 1;
            let own = document.join("\n");
            let kind = KINDS.into_iter().find(|known| kinds(&own).any(|kind| kind == *known));
            let name = document.iter().find_map(|line| value_of(line, "name"));
            if let Some((kind, name)) = kind.zip(name) {
                let is_read = unread.range(start..=end).next().is_none();
                let sources = sources(kind, document, self.values_in(&format!("{chart}values.yaml")));
                let text = without_labels(&without_comments(document)) + "\n" + &deciding;
                let namespace = namespace_in(document);
                found.push(WrittenApplier { kind, name, namespace, line: start, text, sources, is_read });
            }
        }
        found
    }
}

/// The folders and charts that some lines name.
fn sources(kind: &str, lines: &[&str], values: Option<Node<'_>>) -> Vec<String> {
    let keys = if kind == "Kustomization" { &["path"][..] } else { &["path", "chart"] };
    let written = keys.iter().flat_map(|key| lines.iter().filter_map(|line| value_of(line, key)));
    // The path of a JSON patch is no folder.
    let written = written.filter(|source| !is_own_chart(source) && !source.starts_with(['/', '[']));
    let known = |source: &str| {
        let path = source.strip_prefix("{{")?.strip_suffix("}}")?.trim_matches(['-', ' ']);
        let keys: Vec<&str> = path.trim_start_matches('$').strip_prefix(".Values.")?.split('.').collect();
        values?.str_at(&keys).map(str::to_owned)
    };
    written.map(|source| known(source).unwrap_or_else(|| source.to_owned())).collect()
}

/// The value of a key in a line, also in an object in one line.
fn value_of<'t>(line: &'t str, key: &str) -> Option<&'t str> {
    let at = line.match_indices(key).find_map(|(at, _)| {
        let is_start = line.get(..at)?.chars().next_back().is_none_or(|char| " {,-\"'".contains(char));
        let rest = line.get(at + key.len()..)?.trim_start_matches(['"', '\'']);
        rest.strip_prefix(':').filter(|_| is_start)
    })?;
    let value = at.trim();
    let value = match value.chars().next()? {
        quote @ ('"' | '\'') => value.get(1..)?.split(quote).next()?,
        _ if value.starts_with("{{") => value.get(..value.find("}}")? + 2)?,
        _ => value.split([',', '}', ' ']).next()?,
    };
    (!value.is_empty()).then_some(value)
}

/// The namespace in the metadata of an object; empty without one.
fn namespace_in<'t>(lines: &[&'t str]) -> &'t str {
    let mut own = lines.iter().skip_while(|line| !line.starts_with("metadata:"));
    let first = own.next().into_iter();
    let inner = own.take_while(|line| line.is_empty() || line.starts_with([' ', '#', '{']));
    first.chain(inner).find_map(|line| value_of(line, "namespace")).unwrap_or_default()
}

fn without_comments(lines: &[&str]) -> String {
    let kept = lines.iter().filter(|line| !line.trim_start().starts_with('#'));
    kept.copied().collect::<Vec<_>>().join("\n")
}

impl<'p> WrittenApplier<'p> {
    /// Kind, namespace and name.
    const fn identity(&self) -> [&'p str; 3] {
        [self.kind, self.namespace, self.name]
    }

    /// Whether the object may apply objects of Karpenter: a folder or a chart says so, or the template leaves it open.
    fn applies(&self, objects: &AppliedObjects<'_>) -> bool {
        let is_meant = |source: &String| {
            let is_outside = !objects.has_folder(source);
            objects.has_objects_at(source) || (is_outside && (is_about(source) || is_about(self.name)))
        };
        let describes = self.kind == "HelmRelease" && names_planned(&self.text);
        self.is_open() || describes || self.sources.iter().any(is_meant)
    }

    /// Whether only rendering tells what the object applies.
    fn is_open(&self) -> bool {
        self.sources.iter().any(|source| source.contains("{{"))
    }
}

/// Whether a changed file changes values that are about NodePools: a template for several objects reads the values of all of them. Of the
/// elements of a list or an object, the ones that differ count.
fn changes_pools(
    file: &str,
    olds: &Templates<'_>,
    news: &Templates<'_>,
    objects: &AppliedObjects<'_>,
) -> bool {
    let (Some(old), Some(new)) = (olds.values_in(file), news.values_in(file)) else { return true };
    let is_about = |text: &str| is_about(text) || objects.has_objects_at(text);
    differs_about(old, new, &is_about)
}

/// Whether two values differ in a part that is about NodePools.
fn differs_about(old: Node<'_>, new: Node<'_>, is_about: &dyn Fn(&str) -> bool) -> bool {
    let json = |node: Node<'_>| node.to_json().to_string();
    if json(old) == json(new) {
        return false;
    }
    let is_element = |node: Node<'_>| node.is_mapping() || node.is_sequence();
    let names = |node: Node<'_>| {
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            if node.as_str().is_some_and(is_about) || is_about(node.key()) {
                return true;
            }
            open.extend(node.children());
        }
        false
    };
    if old.is_sequence() && new.is_sequence() {
        let all = |node: Node<'_>| node.items().map(json).collect::<BTreeSet<String>>();
        let (before, after) = (all(old), all(new));
        let gone = old.items().filter(|item| !after.contains(&json(*item)));
        let come = new.items().filter(|item| !before.contains(&json(*item)));
        return gone.chain(come).any(|item| !is_element(item) || names(item));
    }
    if !old.is_mapping() || !new.is_mapping() {
        return true;
    }
    let keys: BTreeSet<&str> = old.members().chain(new.members()).map(|(key, _)| key).collect();
    keys.into_iter().any(|key| match (old.get(key), new.get(key)) {
        (Some(old), Some(new)) if is_element(old) && is_element(new) => {
            let are_objects = old.is_mapping() && new.is_mapping();
            if are_objects && !old.children().chain(new.children()).any(is_element) {
                json(old) != json(new) && (is_about(key) || names(old) || names(new))
            } else {
                differs_about(old, new, is_about)
            }
        }
        (Some(old), Some(new)) => json(old) != json(new),
        (one, other) => one.or(other).is_some_and(|one| !is_element(one) || is_about(key) || names(one)),
    })
}

/// The change of an object; without words, its removal.
fn planned(
    pair: PlanPair<'_>,
    applier: &WrittenApplier<'_>,
    file: &File,
    what: Option<&str>,
) -> PlannedChange {
    let WrittenApplier { kind, name, .. } = applier;
    let (change, message) = match what {
        Some(what) => (
            ObjectChangeKind::Changed,
            format!(
                "{kind}/{name} of a template {what}, which may change what it applies of Karpenter; compare the output of `helm template`"
            ),
        ),
        None => (
            ObjectChangeKind::Removed,
            format!("{kind}/{name} of a template is removed, which changes what it applies of Karpenter"),
        ),
    };
    PlannedChange::of_file(pair.name, change, (file.source.name(), applier.line), message)
}
