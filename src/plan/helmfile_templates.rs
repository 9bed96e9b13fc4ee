//! Helmfiles that are YAML only after they are rendered: their releases of charts that make NodePools, found by their lines. The values of
//! environments reach releases through templates, too.
//!
//! Sources: docs/templating.md and docs/environments.md of helmfile/helmfile.

use std::collections::{BTreeMap, BTreeSet};

use answers::plan::PlannedChange;
use cluster::folders::{joined, parent};
use drift::ObjectChangeKind;
use manifest::{Document, File};

use super::applied_objects::AppliedObjects;
use super::appliers::is_own_chart;
use super::chart_releases::is_helmfile;
use super::elsewhere::is_about;
use super::feeds::Feeds;
use super::outside::names_planned;
use super::scope::without_start;
use super::{PlanPair, PlanSide};

/// Fields of a release that say how helmfile goes about it.
///
/// Source: docs/configuration.md of helmfile/helmfile.
const OF_INSTALLING: [&str; 10] = [
    "atomic",
    "cleanupOnFail",
    "createNamespace",
    "disableValidation",
    "historyMax",
    "needs",
    "timeout",
    "verify",
    "wait",
    "waitForJobs",
];

/// A release, as its lines are written.
#[derive(Debug)]
struct WrittenRelease<'p> {
    name: &'p str,
    chart: &'p str,
    line: usize,
    /// The lines without comments.
    lines: Vec<&'p str>,
}

/// The helmfiles of a side, by their names without the start of the side.
fn of_side(side: PlanSide<'_>) -> BTreeMap<&str, &File> {
    let files = side.cluster.files.iter().filter(|file| !file.kind.is_text());
    let own = files.filter(|file| is_helmfile(file.source.name()));
    own.map(|file| (without_start(file.source.name(), side.folder), file)).collect()
}

/// One change for each such release that is written in another way, or whose values have changed. Of a helmfile that is YAML, only the values
/// of environments are compared here.
pub(super) fn changes<'p>(
    pair: PlanPair<'p>,
    objects: &AppliedObjects<'p>,
    feeds: &Feeds<'p>,
) -> Vec<PlannedChange> {
    let (olds, news) = (of_side(pair.old), of_side(pair.new));
    let mut found = Vec::new();
    for (name, new) in news {
        let Some(old) = olds.get(name) else { continue };
        let is_template =
            |file: &File| file.documents.iter().any(|document| matches!(document, Document::Template(_)));
        let is_template = is_template(old) || is_template(new);
        let known = releases(old.source.text());
        let folder = parent(name).unwrap_or_default();
        for release in releases(new.source.text()) {
            let Some(before) = known.iter().find(|other| other.name == release.name) else { continue };
            let is_local = release.chart.starts_with('.');
            let makes_nodes = if is_local {
                is_template && objects.has_objects_at(release.chart.trim_start_matches("../"))
            } else {
                release.is_of_nodes()
            };
            if !makes_nodes {
                continue;
            }
            let named = || release.words().find_map(|word| feeds.of_file(folder, word));
            let what = if is_template && before.meaning() != release.meaning() {
                Some(format!("{name} installs the release `{}` in another way", release.name))
            } else {
                // The values for a chart in the input are compared with what its templates read.
                let named = || named().filter(|_| is_template && !is_local);
                let text = release.text_with_values(pair.new, folder);
                let feed = named().or_else(|| {
                    words(new.source.text()).find_map(|word| feeds.of_environment(folder, word, &text))
                });
                feed.map(|feed| format!("{feed} feeds the release `{}`, and has changed", release.name))
            };
            let hint = if is_local {
                "compare the output of `helmfile template`"
            } else {
                "the objects of the chart are not in the input"
            };
            found.extend(what.map(|what| {
                PlannedChange::of_file(
                    pair.name,
                    ObjectChangeKind::Changed,
                    (new.source.name(), release.line),
                    format!("{what}; {hint}"),
                )
            }));
        }
    }
    found
}

/// The releases in a text: items of a list that have a name and a chart.
fn releases(text: &str) -> Vec<WrittenRelease<'_>> {
    let mut found: Vec<(usize, WrittenRelease<'_>)> = Vec::new();
    let mut is_open = false;
    for (number, line) in text.lines().enumerate() {
        let rest = line.trim_start();
        let indent = line.len() - rest.len();
        if rest.is_empty() || rest.starts_with(['#', '{']) {
            continue;
        }
        let is_item = rest.starts_with("- name:") || rest.starts_with("- chart:");
        let outer = found.last().map(|(outer, _)| *outer).filter(|_| is_open);
        if is_item && outer.is_none_or(|outer| indent <= outer) {
            let release = WrittenRelease { name: "", chart: "", line: number + 1, lines: Vec::new() };
            found.push((indent, release));
            is_open = true;
        } else if outer.is_some_and(|outer| indent < outer || (indent == outer && !rest.starts_with('-'))) {
            is_open = false;
        }
        if let Some((_, release)) = found.last_mut().filter(|_| is_open) {
            let (key, value) = rest.trim_start_matches("- ").split_once(':').unwrap_or_default();
            let value = value.trim().trim_matches(['"', '\'']);
            match key {
                "name" if release.name.is_empty() => release.name = value,
                "chart" if release.chart.is_empty() => release.chart = value,
                _ => {}
            }
            release.lines.push(line);
        }
    }
    let all = found.into_iter().map(|(_, release)| release);
    all.filter(|release| !release.name.is_empty() && !release.chart.is_empty()).collect()
}

impl<'p> WrittenRelease<'p> {
    /// Whether the release makes NodePools or EC2NodeClasses of a chart that is not in the input.
    fn is_of_nodes(&self) -> bool {
        let is_meant =
            is_about(self.chart) || is_about(self.name) || self.lines.iter().any(|line| names_planned(line));
        is_meant && !is_own_chart(self.chart) && !self.chart.starts_with('.')
    }

    /// The words of the lines, which may be paths.
    fn words(&self) -> impl Iterator<Item = &'p str> {
        self.lines.iter().flat_map(|line| words(line))
    }

    /// The lines without the fields of the release that say how helmfile goes about it. Values may have such keys too.
    fn meaning(&self) -> Vec<&'p str> {
        let key_start = |line: &str| line.len() - line.trim_start().trim_start_matches("- ").len();
        let own = self.lines.iter().filter(|line| !line.trim().is_empty()).map(|line| key_start(line)).min();
        let is_meant = |line: &&str| {
            let start = key_start(line);
            let key = line.get(start..).and_then(|rest| rest.split(':').next()).unwrap_or_default();
            Some(start) != own || !OF_INSTALLING.contains(&key)
        };
        self.lines.iter().copied().filter(is_meant).collect()
    }

    /// The lines, and the templates of values that they name.
    fn text_with_values(&self, side: PlanSide<'_>, folder: &str) -> String {
        let names: BTreeSet<String> =
            self.words().filter(|word| word.ends_with(".gotmpl")).map(|word| joined(folder, word)).collect();
        let files = side.cluster.files.iter().filter(|_| !names.is_empty());
        let own = files.filter(|file| names.contains(without_start(file.source.name(), side.folder)));
        let texts = own.map(|file| file.source.text());
        self.meaning().into_iter().chain(texts).collect::<Vec<_>>().join("\n")
    }
}

/// The words of a text, which may be paths.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_between = |char: char| char.is_whitespace() || matches!(char, '"' | '\'' | '[' | ']' | ',');
    text.split(is_between).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::releases;

    #[test]
    fn finds_releases_by_their_lines() {
        let text = "repositories:\n- name: acme\n  url: x\nreleases:\n{{- if .x }}\n  - name: \"a\"\n    chart: acme/a\n    set:\n    - name: b\n      value: {{ .y }}\n{{- end }}\n  # c\n  - chart: acme/d\n    name: d\n";
        let shown: Vec<String> = releases(text)
            .iter()
            .map(|one| format!("{} {} {} {}", one.name, one.chart, one.line, one.lines.len()))
            .collect();
        assert_eq!(shown, ["a acme/a 6 5", "d acme/d 13 2"]);
    }
}
