//! Templates of other programs, such as Jinja or Jsonnet, that have NodePools: they are not rendered.

use std::collections::BTreeMap;

use answers::plan::PlannedChange;
use drift::ObjectChangeKind;
use manifest::{Document, File, FileKind};

use super::feeds::chart_of;
use super::scope::{PLANNED, without_start};
use super::{PlanPair, PlanSide};

/// Key of the templates of a `ResourceSet` of Flux, which are a text.
///
/// Source: "Resources template" in docs/api/v1/resourceset.md of controlplaneio-fluxcd/flux-operator.
const TEMPLATE: &[&str] = &["spec", "resourcesTemplate"];

/// A text that may have NodePools after it was rendered.
struct Template<'p> {
    file: &'p File,
    text: &'p str,
}

/// Whether a text may be of NodePools, EC2NodeClasses or NodeOverlays.
pub fn may_have_nodes(text: &str) -> bool {
    text.contains("karpenter") && PLANNED.into_iter().any(|kind| text.contains(kind.name))
}

/// One change for each such template with another text, or that is removed.
pub(super) fn changes(pair: PlanPair<'_>) -> Vec<PlannedChange> {
    let (olds, news) = (of_side(pair.old), of_side(pair.new));
    let mut found = Vec::new();
    for (name, old) in &olds {
        let (template, change, verb) = match news.get(name) {
            Some(new) if meaning(old.text) == meaning(new.text) => continue,
            Some(new) => (new, ObjectChangeKind::Changed, "has changed"),
            None => (old, ObjectChangeKind::Removed, "is removed"),
        };
        let source = &template.file.source;
        let line = template.line_after(news.get(name).map(|_| old.text).unwrap_or_default());
        found.push(PlannedChange::of_file(
            pair.name,
            change,
            (source.name(), line),
            format!("{} {verb}, a template with objects of Karpenter that is not rendered", source.name()),
        ));
    }
    found
}

/// The templates of a side by the names of their files, without its start.
fn of_side(side: PlanSide<'_>) -> BTreeMap<&str, Template<'_>> {
    let mut found = BTreeMap::new();
    for file in &side.cluster.files {
        let name = without_start(file.source.name(), side.folder);
        let text = if file.kind == FileKind::ChartText {
            // Values and the named templates of charts are compared with what reads them.
            Some(file.source.text()).filter(|_| chart_of(name).is_none() && !name.ends_with('/'))
        } else {
            template_in(file)
        };
        if let Some(text) = text.filter(|text| may_have_nodes(text)) {
            found.insert(name, Template { file, text });
        }
    }
    found
}

/// The text of the templates in a `ResourceSet` among the documents of a file.
fn template_in(file: &File) -> Option<&str> {
    file.documents.iter().find_map(|document| match document {
        Document::Read(tree) if tree.root().str_at(&["kind"]) == Some("ResourceSet") => {
            tree.root().str_at(TEMPLATE)
        }
        _ => None,
    })
}

/// The lines of a text without empty ones.
fn meaning(text: &str) -> Vec<&str> {
    text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect()
}

impl Template<'_> {
    /// The number of the first line that differs from the lines before the change.
    fn line_after(&self, old: &str) -> usize {
        let whole = self.file.source.text();
        if whole != self.text {
            return 1;
        }
        1 + whole.lines().zip(old.lines()).take_while(|(new, old)| new == old).count()
    }
}
