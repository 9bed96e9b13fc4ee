//! Files of values in the folders of charts: the values of one chart are none of another, unless the first depends on the second or
//! something names the file.
//!
//! Source: "Subcharts and Global Values" in `docs/chart_template_guide` of helm/helm-www.

use std::collections::BTreeSet;

use cluster::charts::ChartsBelow;
use cluster::folders::folders_of;
use manifest::tree::Node;
use manifest::{Document, File, is_terraform};

use super::scope::with_start;
use super::{PlanPair, PlanSide};

/// Keys of lists and texts that name files with values: of sources of Argo CD, of charts of Flux, and of charts that kustomizations render.
const KEYS: [&str; 4] = ["valueFiles", "valuesFiles", "valuesFile", "additionalValuesFiles"];

/// The charts of both sides, and the files of values that something names.
#[derive(Debug, Default)]
pub(super) struct ChartHomes<'p> {
    sides: Vec<(&'p str, ChartsBelow<'p>)>,
    /// The ends of the names of files that objects name.
    named: BTreeSet<&'p str>,
    /// The texts of configurations of Terraform.
    configurations: Vec<&'p str>,
}

impl<'p> ChartHomes<'p> {
    pub(super) fn of(pair: PlanPair<'p>) -> Self {
        let mut homes = Self::default();
        for side in [pair.old, pair.new] {
            homes.add(side);
        }
        homes
    }

    fn add(&mut self, side: PlanSide<'p>) {
        let files = &side.cluster.files;
        self.sides.push((side.folder, ChartsBelow::of(files)));
        for file in files.iter().filter(|file| file.is_input()) {
            if is_terraform(file.source.name()) {
                self.configurations.push(file.source.text());
                continue;
            }
            let text = file.source.text();
            if KEYS.iter().any(|key| text.contains(key)) {
                self.named.extend(roots(file).flat_map(named_in));
            }
        }
    }

    /// Whether a file of values is for another chart than the one in a folder.
    pub(super) fn is_of_other(&self, file: &str, chart: &str) -> bool {
        let chart = chart.trim_end_matches('/');
        let is_other = |(start, charts): &(&str, ChartsBelow<'_>)| {
            let home = charts.around(&with_start(file, start))?;
            let own = with_start(chart, start);
            let is_around = home == own || folders_of(&own).any(|around| around == home);
            Some(!is_around && !charts.dependencies(home).contains(own.as_str()))
        };
        let known: Vec<bool> = self.sides.iter().filter_map(is_other).collect();
        !known.is_empty() && known.iter().all(|is_other| *is_other) && !self.is_named(file)
    }

    /// Whether something names a file, in which only the start of the path may differ.
    fn is_named(&self, file: &str) -> bool {
        let is_end = |end: &&&str| {
            file.strip_suffix(**end).is_some_and(|start| start.is_empty() || start.ends_with('/'))
        };
        let mut parts = file.rsplit('/');
        let base = parts.next().unwrap_or_default();
        let end = parts.next().map_or_else(|| base.to_owned(), |folder| format!("{folder}/{base}"));
        self.named.iter().any(|name| is_end(&name))
            || self.configurations.iter().any(|text| text.contains(&end))
    }
}

/// The ends of the names of files in a document. A name without a folder is in the folder of its chart.
fn named_in(root: Node<'_>) -> Vec<&str> {
    let (mut open, mut found) = (vec![root], Vec::new());
    while let Some(node) = open.pop() {
        for (_, value) in node.members().filter(|(key, _)| KEYS.contains(key)) {
            let texts = value.items().filter_map(Node::as_str).chain(value.as_str());
            found.extend(texts.map(end_of).filter(|end| end.contains('/')));
        }
        open.extend(node.children());
    }
    found
}

/// The part of a path behind `./`, `../` and the name of a source of Argo CD, such as `$values/`.
fn end_of(text: &str) -> &str {
    let text = text.strip_prefix('$').and_then(|text| text.split_once('/')).map_or(text, |(_, rest)| rest);
    text.trim_start_matches(['.', '/'])
}

fn roots(file: &File) -> impl Iterator<Item = Node<'_>> {
    file.documents.iter().filter_map(|document| match document {
        Document::Read(tree) => Some(tree.root()),
        _ => None,
    })
}
