//! Templates of other programs, such as Jinja or Jsonnet, that have NodePools: they are not rendered.

use std::collections::BTreeMap;

use answers::plan::PlannedChange;
use drift::ObjectChangeKind;
use manifest::{File, FileKind};
use objects::object::Object;

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
    /// The number of its first line.
    line: usize,
}

/// The file of a template without the start of its side, and the namespace and the name of a `ResourceSet` that has it.
type TemplateKey<'p> = [&'p str; 3];

/// Whether a text may be of NodePools, EC2NodeClasses or NodeOverlays.
pub fn may_have_nodes(text: &str) -> bool {
    text.contains("karpenter") && PLANNED.into_iter().any(|kind| text.contains(kind.name))
}

/// One change for each such template with another text, or that is removed.
pub(super) fn changes(pair: PlanPair<'_>) -> Vec<PlannedChange> {
    let (olds, news) = (of_side(pair.old), of_side(pair.new));
    let mut found = Vec::new();
    for (key, old) in &olds {
        let (template, change, verb) = match news.get(key) {
            Some(new) if meaning(old.text) == meaning(new.text) => continue,
            Some(new) => (new, ObjectChangeKind::Changed, "has changed"),
            None => (old, ObjectChangeKind::Removed, "is removed"),
        };
        let source = &template.file.source;
        let line = template.line_after(news.get(key).map(|_| old.text).unwrap_or_default());
        found.push(PlannedChange::of_file(
            pair.name,
            change,
            (source.name(), line),
            format!("{} {verb}, a template with objects of Karpenter that is not rendered", source.name()),
        ));
    }
    found
}

/// The templates of a side.
fn of_side(side: PlanSide<'_>) -> BTreeMap<TemplateKey<'_>, Template<'_>> {
    let mut found = BTreeMap::new();
    for file in &side.cluster.files {
        let name = without_start(file.source.name(), side.folder);
        // Values and the named templates of charts are compared with what reads them.
        if file.kind == FileKind::ChartText && chart_of(name).is_none() && !name.ends_with('/') {
            found.insert([name, "", ""], Template { file, text: file.source.text(), line: 1 });
        } else if file.kind != FileKind::ChartText {
            let own = templates_in(file).into_iter();
            found.extend(own.map(|([namespace, set], template)| ([name, namespace, set], template)));
        }
    }
    found.retain(|_, template| may_have_nodes(template.text));
    found
}

/// The templates of the `ResourceSets` among the documents of a file, by namespace and name.
fn templates_in<'p>(file: &'p File) -> Vec<([&'p str; 2], Template<'p>)> {
    let trees = file.trees();
    let sets = trees.flat_map(Object::all).filter(|object| object.kind() == "ResourceSet");
    let template = |set: Object<'p>| {
        let node = set.at(TEMPLATE)?;
        let line = node.source().position(node.span().start).line;
        Some(([set.namespace(), set.name()], Template { file, text: node.as_str()?, line }))
    };
    sets.filter_map(template).collect()
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
            return self.line;
        }
        1 + whole.lines().zip(old.lines()).take_while(|(new, old)| new == old).count()
    }
}
