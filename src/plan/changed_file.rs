//! Changed files that give values to charts: their keys, and their role.

use std::collections::{BTreeMap, BTreeSet};

use cluster::KUSTOMIZATION_FILES;
use manifest::tree::Tree;
use manifest::{File, FileKind};

use super::chart_releases::is_helmfile;
use super::feeds::{chart_of, trees};

/// A changed file beside the templates.
#[derive(Debug)]
pub(super) struct ChangedFile<'p> {
    /// The name without the part that tells the sides apart.
    pub(super) name: &'p str,
    /// The changed keys at the top, if the file has values.
    pub(super) keys: BTreeSet<&'p str>,
    pub(super) role: ChartRole,
    /// The names of the `ConfigMaps` and Secrets.
    pub(super) maps: BTreeSet<&'p str>,
}

/// Role of a changed file for a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChartRole {
    /// Values: the name says so, or the document is no object.
    Values,
    /// Named templates for other templates.
    Partial,
    /// A text that templates read with `.Files`.
    Text,
    /// Another file.
    Other,
}

impl ChartRole {
    pub(super) fn of(name: &str, file: &File) -> Self {
        if chart_of(name).is_some() {
            return Self::Partial;
        }
        let base = name.rsplit('/').next().unwrap_or_default();
        if base.contains("values") || (is_values_template(name) && !holds_object(file.source.text())) {
            return Self::Values;
        }
        if file.kind == FileKind::ChartText {
            return Self::Text;
        }
        let is_object = |tree: &Tree| ["apiVersion", "kind"].iter().any(|key| tree.root().get(key).is_some());
        let is_known = base.starts_with("Chart.") || KUSTOMIZATION_FILES.contains(&base);
        let mut roots = trees(file).filter(|tree| tree.root().is_mapping()).peekable();
        if roots.peek().is_some() && !is_known && !roots.any(is_object) { Self::Values } else { Self::Other }
    }
}

/// Whether a file has values for the tests of a chart.
///
/// Source: "ct lint" in `doc/ct_lint.md` of helm/chart-testing: `*-values.yaml` in the folder `ci` of the chart.
pub(super) fn is_of_tests(file: &str, chart: &str) -> bool {
    let inner = file.strip_prefix(chart).and_then(|rest| rest.strip_prefix("ci/"));
    inner.is_some_and(|rest| rest.ends_with("-values.yaml"))
}

/// The keys at the top of some documents whose values differ.
pub(super) fn changed_keys<'p>(olds: &[&'p Tree], news: &[&'p Tree]) -> BTreeSet<&'p str> {
    let all = |trees: &[&'p Tree]| -> BTreeMap<&'p str, String> {
        let members = trees.iter().flat_map(|tree| tree.root().members());
        members.map(|(key, value)| (key, value.to_json().to_string())).collect()
    };
    let (old, new) = (all(olds), all(news));
    let keys: BTreeSet<&'p str> = old.keys().chain(new.keys()).copied().collect();
    keys.into_iter().filter(|key| old.get(key) != new.get(key)).collect()
}

/// The keys at the top of two texts whose lines differ.
pub(super) fn changed_keys_in_text<'p>([old, new]: [&'p str; 2]) -> BTreeSet<&'p str> {
    let (old, new) = (lines_by_key(old), lines_by_key(new));
    let keys: BTreeSet<&'p str> = old.keys().chain(new.keys()).copied().collect();
    keys.into_iter().filter(|key| old.get(key) != new.get(key)).collect()
}

/// The lines of a text that is YAML after it was rendered, by the keys at the top.
pub(super) fn lines_by_key(text: &str) -> BTreeMap<&str, String> {
    let mut found = BTreeMap::<&str, String>::new();
    let mut key = "";
    for line in text.lines() {
        let is_key = line.starts_with(|char: char| char.is_alphanumeric() || char == '_');
        if let Some((own, _)) = line.split_once(':').filter(|_| is_key) {
            key = own.trim_end();
        }
        found.entry(key).or_default().push_str(line);
    }
    found
}

/// Whether a file is a template of values, of helmfile or of Terraform.
///
/// Sources: docs/environments.md of helmfile/helmfile; website/docs/language/functions/templatefile.mdx of hashicorp/terraform.
pub(super) fn is_values_template(file: &str) -> bool {
    [".gotmpl", ".tftpl"].iter().any(|extension| file.ends_with(extension)) && !is_helmfile(file)
}

/// Whether a text has the keys of an object.
fn holds_object(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("apiVersion:"))
}

/// Whether a file of a chart has named templates for other templates.
///
/// Source: "Partials and _ files" in `docs/chart_template_guide/named_templates.md` of helm/helm-www.
pub(super) fn is_partial(name: &str, text: &str) -> bool {
    name.rsplit('/').next().is_some_and(|base| base.starts_with('_')) || text.contains("define \"")
}
