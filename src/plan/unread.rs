//! Changed files with documents that could not be read, such as templates of a chart. They may change NodePools.

use std::collections::{BTreeMap, BTreeSet};

use answers::OrEmpty;
use answers::plan::PlannedChange;
use drift::{Effect, ObjectChangeKind};
use manifest::{Document, File};

use super::{PlanPair, PlanSide};

/// Words that a file with an object that can change nodes has.
const WORDS: [&str; 3] = ["NodePool", "EC2NodeClass", "NodeOverlay"];

/// The folder with the templates of a chart.
const TEMPLATES: &str = "templates/";

/// One change for each file that could not be read and has another text, and for each template whose chart has other files.
pub(super) fn changes(pair: PlanPair<'_>) -> Vec<PlannedChange> {
    let (olds, news) = (by_name(pair.old), by_name(pair.new));
    let names: BTreeSet<&str> = olds.keys().chain(news.keys()).copied().collect();
    let text =
        |side: &BTreeMap<&str, &File>, name: &str| side.get(name).map(|file| file.source.text().to_owned());
    let changed: BTreeSet<&str> =
        names.iter().copied().filter(|name| text(&olds, name) != text(&news, name)).collect();
    let unread = names.iter().filter_map(|name| {
        let sides = [news.get(name), olds.get(name)].into_iter().flatten();
        let (file, line) = sides.clone().find_map(|file| Some((*file, unread_line(file)?)))?;
        let chart = name.split_once(TEMPLATES).map(|(chart, _)| chart);
        let reason = if changed.contains(name) {
            "has changed, and documents in it could not be read"
        } else if chart.is_some_and(|chart| changed.iter().any(|other| other.starts_with(chart))) {
            "is a template that could not be read, and other files of its chart have changed"
        } else {
            return None;
        };
        let kind = match (olds.contains_key(name), news.contains_key(name)) {
            (false, _) => ObjectChangeKind::Added,
            (_, false) => ObjectChangeKind::Removed,
            _ => ObjectChangeKind::Changed,
        };
        Some(change(pair.name, file, line, kind, reason))
    });
    unread.collect()
}

/// One change for each file that could not be read, whatever the cluster has.
pub(super) fn all(side: PlanSide<'_>) -> Vec<PlannedChange> {
    let unread = by_name(side).into_values().filter_map(|file| {
        let reason = "has documents that could not be read";
        Some(change("", file, unread_line(file)?, ObjectChangeKind::Changed, reason))
    });
    unread.collect()
}

fn change(cluster: &str, file: &File, line: usize, kind: ObjectChangeKind, reason: &str) -> PlannedChange {
    let name = file.source.name();
    PlannedChange {
        cluster: cluster.to_owned(),
        kind: String::new(),
        name: String::new(),
        change: kind,
        effect: Effect::Unknown,
        reason: OrEmpty(None),
        node_pools: Vec::new(),
        message: format!("{name} {reason}; compare the output of `helm template` or `kustomize build`"),
        file: name.to_owned(),
        line,
        fields: Vec::new(),
    }
}

/// The files of a side by their names without the part that tells the sides apart.
fn by_name(side: PlanSide<'_>) -> BTreeMap<&str, &File> {
    let files = side.cluster.files.iter().filter(|file| !file.kind.is_text());
    let named = files.map(|file| {
        let name = file.source.name();
        (name.strip_prefix(side.folder).unwrap_or(name).trim_start_matches('/'), file)
    });
    named.collect()
}

/// The line of the first document that could not be read, if the file may have an object that can change nodes.
fn unread_line(file: &File) -> Option<usize> {
    let start = file.documents.iter().find_map(|document| match document {
        Document::Template(span) | Document::Unevaluated { span, .. } => Some(span.start),
        Document::Unreadable { at, .. } => Some(*at),
        Document::Read(_) | Document::Script(_) | Document::Deleted(_) => None,
    })?;
    let may_concern = WORDS.iter().any(|word| file.source.text().contains(word));
    may_concern.then(|| file.source.position(start).line)
}
