//! Changed files that templates of Jsonnet and Jinja read, of which the templates that have NodePools do not change themselves, and changed texts of
//! Jsonnet that give them arguments.

use std::collections::BTreeMap;

use answers::plan::PlannedChange;
use drift::ObjectChangeKind;
use manifest::File;

use super::ansible::{self, Variables};
use super::jsonnet::{Imports, is_jsonnet};
use super::other_templates::may_have_nodes;
use super::scope::without_start;
use super::{PlanPair, PlanSide};

const JINJA: [&str; 3] = [".j2", ".jinja", ".jinja2"];

/// Apposition for a template.
const TEMPLATE: &str = "a template with objects of Karpenter that is not rendered";

/// One change for each template with NodePools that reads another changed file, or that gets something from a changed text.
pub(super) fn changes(pair: PlanPair<'_>) -> Vec<PlannedChange> {
    let sides = [by_name(pair.old), by_name(pair.new)];
    let [olds, news] = &sides;
    let imports = Imports::of([olds, news]);
    let of = |shown: &str, message: String| {
        PlannedChange::of_file(pair.name, ObjectChangeKind::Changed, (shown, 1), message)
    };
    let is_jinja = |file: &str| JINJA.iter().any(|kind| file.ends_with(kind));
    let templates = news.iter().filter(|(file, new)| {
        (is_jsonnet(file) || is_jinja(file))
            && may_have_nodes(text(new))
            && olds.get(*file).is_some_and(|old| text(old) == text(new))
    });
    let mut variables: Option<Vec<Variables<'_>>> = None;
    let mut found = Vec::new();
    for (file, template) in templates {
        let read = if is_jsonnet(file) {
            imports.changed_below(file)
        } else {
            let all = variables.get_or_insert_with(|| ansible::changed_variables([olds, news]));
            all.iter().find(|one| one.reaches(file) && one.is_read(text(template))).map(|one| one.file)
        };
        let shown = template.source.name();
        let message = |read: &str| format!("{shown}, {TEMPLATE}, reads {read}, which has changed");
        found.extend(read.map(|read| of(shown, message(read))));
    }
    for one in imports.changed_importers() {
        let shown = news.get(one.file).or_else(|| olds.get(one.file)).map(|file| file.source.name());
        let shown = shown.unwrap_or(one.file);
        let change = if one.changed == one.file {
            "has changed".to_owned()
        } else {
            format!("reads {}, which has changed", one.changed)
        };
        found.push(of(shown, format!("{shown}, which imports {}, {TEMPLATE}, {change}", one.template)));
    }
    found
}

fn text(file: &File) -> &str {
    file.source.text()
}

fn by_name(side: PlanSide<'_>) -> BTreeMap<&str, &File> {
    let files = side.cluster.files.iter();
    files.map(|file| (without_start(file.source.name(), side.folder), file)).collect()
}
