//! Changed documents that could not be read, such as templates of a chart. They may change NodePools.

use std::collections::{BTreeMap, BTreeSet};

use answers::plan::PlannedChange;
use drift::{Effect, ObjectChangeKind};
use manifest::{Document, File, FileKind, is_terraform};
use objects::object::Object;

use super::feeds::{Feeds, chart_of};
use super::named_templates::{without_comments, without_labels};
use super::scope::{PLANNED, PlanScope, without_start};
use super::{PlanPair, PlanSide};

/// The documents of a file that could not be read and may hold objects that change nodes.
struct UnreadFile<'p> {
    file: &'p File,
    /// The place of the first one.
    at: usize,
    /// Whether they are templates, and not texts with mistakes.
    is_template: bool,
    texts: Vec<&'p str>,
}

impl UnreadFile<'_> {
    /// The documents. In the template of a chart, comments, and labels of the objects themselves, change no node.
    fn meaning(&self, is_of_chart: bool) -> String {
        if !is_of_chart {
            return self.texts.concat();
        }
        self.texts.iter().map(|text| without_labels(&without_comments(text))).collect()
    }

    /// The documents with the lines of the file that decide about them: a `range` before a separator has the documents behind it.
    fn text_for_values(&self) -> String {
        let around = deciding_lines(&without_labels(self.file.source.text()));
        let own = self.texts.iter().map(|text| without_labels(text));
        own.chain([around]).collect::<Vec<_>>().join("\n")
    }
}

/// The lines of a template that decide about documents.
pub(super) fn deciding_lines(text: &str) -> String {
    let decides = |line: &&str| {
        line.contains("{{") && ["range ", "with ", "if ", ":="].iter().any(|word| line.contains(word))
    };
    text.lines().filter(decides).collect::<Vec<_>>().join("\n")
}

/// One change for each file whose unread documents differ, and for each template that other changed files feed.
pub(super) fn changes(pair: PlanPair<'_>, feeds: &Feeds<'_>) -> Vec<PlannedChange> {
    let (olds, news) = (by_name(pair.old), by_name(pair.new));
    let names: BTreeSet<&str> = olds.keys().chain(news.keys()).copied().collect();
    let mut found = Vec::new();
    // A file that moves within its chart has the same effect.
    let mut moved: BTreeMap<(Option<&str>, Vec<&str>), usize> = BTreeMap::new();
    for name in names {
        let [old, new] = [olds.get(name).copied(), news.get(name).copied()];
        let (old, new) = (old.and_then(unread_of), new.and_then(|new| unread_beside(new, old)));
        let chart = chart_of(name);
        let texts = |side: &Option<UnreadFile<'_>>| side.as_ref().map(|one| one.meaning(chart.is_some()));
        let has_changed = texts(&old) != texts(&new);
        let Some(shown) = new.or(old) else { continue };
        let (kind, reason) = match (olds.contains_key(name), news.contains_key(name)) {
            (false, _) => {
                (ObjectChangeKind::Added, "is new, and documents in it could not be read".to_owned())
            }
            (_, false) => {
                (ObjectChangeKind::Removed, "is removed, and documents in it could not be read".to_owned())
            }
            _ if has_changed && is_same_text(olds.get(name), news.get(name)) => {
                let reason =
                    "has documents that could not be read, and the values they are made of have changed";
                (ObjectChangeKind::Changed, reason.to_owned())
            }
            _ if has_changed => {
                (ObjectChangeKind::Changed, "has changed, and documents in it could not be read".to_owned())
            }
            _ => {
                let text = shown.text_for_values();
                let Some(feed) = chart.and_then(|chart| feeds.of_template(chart, &text)) else { continue };
                let reason = format!("may render in another way because of {feed}");
                (ObjectChangeKind::Changed, reason)
            }
        };
        let change = change(pair.name, &shown, kind, &reason);
        let key = (chart, shown.texts);
        match moved.get(&key).copied() {
            Some(other) if kind != ObjectChangeKind::Changed && is_opposite(&found, other, kind) => {
                if let Some(entry) = found.get_mut(other) {
                    *entry = None;
                }
            }
            _ => {
                moved.insert(key, found.len());
                found.push(Some(change));
            }
        }
    }
    found.into_iter().flatten().collect()
}

/// Keeps the objects of files that cannot be read any more, of which a change is shown: they count as they were, and are not removed.
pub(super) fn keep<'d>(scopes: &mut [PlanScope<'d>], pair: PlanPair<'_>) {
    let (olds, news) = (by_name(pair.old), by_name(pair.new));
    let texts = |unread: Option<UnreadFile<'_>>| unread.map(|one| one.texts.concat());
    let is_lost = |(name, new): (&&str, &&File)| {
        let old = olds.get(name).copied();
        let unread = unread_beside(new, old);
        unread.is_some() && texts(unread) != texts(old.and_then(unread_of))
    };
    let lost: BTreeSet<&str> = news.iter().filter(|one| is_lost(*one)).map(|(name, _)| *name).collect();
    if lost.is_empty() {
        return;
    }
    let name = |object: &Object<'d>| (object.kind(), object.namespace(), object.name());
    for PlanScope { old, new, .. } in scopes {
        let known: BTreeSet<(&str, &str, &str)> = new.iter().map(name).collect();
        let is_lost = |object: &&Object<'d>| {
            let document = object.root().tree().root();
            let name = without_start(document.source().name(), pair.old.folder);
            lost.contains(name)
                && news
                    .get(name)
                    .is_some_and(|new| new.kind != FileKind::Plan || hides(new, document.span().start))
        };
        new.extend(old.iter().filter(is_lost).filter(|object| !known.contains(&name(object))));
    }
}

/// Whether both sides have the same text of a file.
fn is_same_text(old: Option<&&File>, new: Option<&&File>) -> bool {
    old.zip(new).is_some_and(|(old, new)| old.source.text() == new.source.text())
}

/// Whether a plan of Terraform hides the object of the resource whose address is at a byte.
fn hides(plan: &File, at: usize) -> bool {
    let is_there =
        |document: &Document| matches!(document, Document::Unevaluated { span, .. } if span.start == at);
    plan.documents.iter().any(is_there)
}

/// Whether some documents of a side could not be read and may hold objects.
pub(super) fn is_any(side: PlanSide<'_>) -> bool {
    !files(side).is_empty()
}

/// The files of a side with documents that could not be read and may hold objects.
pub(super) fn files(side: PlanSide<'_>) -> Vec<&File> {
    by_name(side).into_values().filter(|file| unread_of(file).is_some()).collect()
}

/// Whether a change is the addition to a removal, or the removal to an addition.
fn is_opposite(found: &[Option<PlannedChange>], other: usize, kind: ObjectChangeKind) -> bool {
    let other = found.get(other).and_then(Option::as_ref);
    other.is_some_and(|other| other.change != kind && other.change != ObjectChangeKind::Changed)
}

/// One change for each file with unread documents, whatever the cluster has.
pub(super) fn all(side: PlanSide<'_>) -> Vec<PlannedChange> {
    let unread = by_name(side).into_values().filter_map(unread_of);
    let reason = "has documents that could not be read";
    unread.map(|one| change("", &one, ObjectChangeKind::Changed, reason)).collect()
}

fn change(cluster: &str, unread: &UnreadFile<'_>, kind: ObjectChangeKind, reason: &str) -> PlannedChange {
    let source = &unread.file.source;
    let name = source.name();
    let message = match (hidden(unread.file), unread.is_template) {
        (Some(reason), _) => format!("{name}: {reason}"),
        (None, true) if is_terraform(name) => {
            format!("{name} {reason}; a plan of Terraform has their values")
        }
        (None, true) => {
            format!("{name} {reason}; compare the output of `helm template` or `kustomize build`")
        }
        (None, false) => format!("{name} {reason}"),
    };
    // New objects replace no node.
    let effect = if kind == ObjectChangeKind::Added { Effect::NewNodes } else { Effect::Unknown };
    let place = (name, source.position(unread.at).line);
    PlannedChange { effect, ..PlannedChange::of_file(cluster, kind, place, message) }
}

/// The reason why a plan of Terraform hides an object, with the number of further ones.
fn hidden(plan: &File) -> Option<String> {
    let mut reasons = plan.documents.iter().filter(|_| plan.kind == FileKind::Plan).filter_map(|document| {
        if let Document::Unevaluated { reason, .. } = document { Some(reason) } else { None }
    });
    let first = reasons.next()?.clone();
    match reasons.count() {
        0 => Some(first),
        more => Some(format!("{first} (and {more} more)")),
    }
}

/// The files of a side by their names without the part that tells the sides apart.
fn by_name(side: PlanSide<'_>) -> BTreeMap<&str, &File> {
    let files = side.cluster.files.iter().filter(|file| !file.kind.is_text());
    files.map(|file| (without_start(file.source.name(), side.folder), file)).collect()
}

/// The unread documents of a file that may hold objects that change nodes.
fn unread_of(file: &File) -> Option<UnreadFile<'_>> {
    let starts = file.documents.iter().filter_map(|document| match document {
        Document::Template(span) => Some((span.start, None)),
        Document::Unevaluated { span, reason } => Some((span.start, Some(reason.as_str()))),
        Document::Unreadable { at, .. } => Some((*at, None)),
        Document::Read(_) | Document::Script(_) | Document::Deleted(_) | Document::Absent { .. } => None,
    });
    let around = |at: usize| (at, document_around(file.source.text(), at));
    // The text of a plan of Terraform has all resources.
    let is_plan = file.kind == FileKind::Plan;
    // A document of a configuration may be made of other texts, which its reason names.
    let is_configuration = !is_plan && is_terraform(file.source.name());
    let mut holding: Vec<(usize, &str)> = Vec::new();
    for (at, reason) in starts {
        let reason = reason.filter(|_| is_configuration);
        let names_kind = |text: &str| PLANNED.into_iter().any(|kind| text.contains(kind.name));
        let own = around(at);
        if is_plan || may_hold_objects(own.1) {
            holding.push(own);
            holding.extend(reason.map(|reason| (at, reason)));
        } else {
            holding.extend(reason.filter(|reason| names_kind(reason)).map(|reason| (at, reason)));
        }
    }
    let (at, _) = holding.first()?;
    let is_template = !file.documents.iter().any(|document| matches!(document, Document::Unreadable { .. }));
    Some(UnreadFile {
        file,
        at: *at,
        is_template,
        texts: holding.into_iter().map(|(_, text)| text).collect(),
    })
}

/// The unread documents of a file that may hold objects. A text with mistakes may hold the objects that the file had before.
fn unread_beside<'p>(file: &'p File, old: Option<&File>) -> Option<UnreadFile<'p>> {
    let is_planned = |object: Object<'_>| PLANNED.into_iter().any(|kind| object.is_in_any_version(kind));
    let had_objects = || {
        let documents = old.into_iter().flat_map(|old| &old.documents);
        let trees = documents.filter_map(Document::tree);
        trees.flat_map(Object::all).any(is_planned)
    };
    let mistake = || {
        file.documents.iter().find_map(|document| match document {
            Document::Unreadable { at, .. } => Some(*at),
            _ => None,
        })
    };
    unread_of(file).or_else(|| {
        let at = mistake().filter(|_| had_objects())?;
        Some(UnreadFile { file, at, is_template: false, texts: vec![file.source.text()] })
    })
}

/// The document of a text that has a byte: the lines between two separators.
fn document_around(text: &str, at: usize) -> &str {
    const SEPARATOR: &str = "\n---";
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    let start = before.rfind(SEPARATOR).map_or(0, |at| at + 1);
    let end = after.find(SEPARATOR).map_or(text.len(), |end| at + end + 1);
    text.get(start..end).unwrap_or_default()
}

/// Whether a document may hold an object that can change nodes: it names such a kind, its kind is a template, or it has none. The
/// definition of a kind names the kind too, and holds no object.
fn may_hold_objects(text: &str) -> bool {
    let kinds: Vec<&str> = kinds(text).collect();
    if kinds.contains(&"CustomResourceDefinition") {
        return false;
    }
    let is_planned = |kind: &str| PLANNED.into_iter().any(|planned| planned.name == kind);
    let names_kind = || PLANNED.into_iter().any(|kind| text.contains(kind.name));
    let is_template = |kind: &str| kind.contains(['{', '$', '<', '%', '#']);
    kinds.iter().any(|kind| is_planned(kind))
        || (kinds.is_empty() && names_kind())
        || (kinds.iter().any(|kind| is_template(kind)) && text.to_ascii_lowercase().contains("karpenter"))
}

/// The values of the keys `kind` in a text that is not YAML.
pub(super) fn kinds(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| {
        line.match_indices("kind").filter_map(move |(at, word)| {
            let is_word = line.get(..at)?.chars().next_back().is_none_or(|char| !char.is_alphanumeric());
            let rest = line.get(at + word.len()..)?.trim_start_matches(['"', '\'']).trim_start();
            let value = rest.strip_prefix(':').filter(|_| is_word)?.trim().trim_start_matches(['"', '\'']);
            let end = value.find([',', '}', '"', '\'', ' ']).filter(|end| *end > 0);
            value.get(..end.unwrap_or(value.len()))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::may_hold_objects;

    #[test]
    fn documents_that_hold_no_object_of_the_kinds_are_told_apart() {
        for (text, expected) in [
            ("kind: NodePool\nmetadata: {name: {{ .x }}}\n", true),
            ("items:\n- kind: \"EC2NodeClass\" # a\n  metadata: {{ .x }}\n", true),
            ("{\"kind\": \"NodePool\", \"metadata\": {{ .x }}}", true),
            ("{{- include \"a.NodePool\" . }}\n", true),
            ("apiVersion: karpenter.sh/v1\nkind: {{ .kind }}\n", true),
            (
                "kind: CustomResourceDefinition\nspec:\n  names:\n    kind: EC2NodeClass\n  x: {{ .x }}\n",
                false,
            ),
            ("kind: ClusterRole\n# for NodePool\nrules: {{ .x }}\n", false),
            ("apiVersion: apps/v1\nkind: {{ .kind }}\n", false),
            ("{{- if .Values.karpenter }}\n", false),
        ] {
            assert_eq!(may_hold_objects(text), expected, "{text}");
        }
    }
}
