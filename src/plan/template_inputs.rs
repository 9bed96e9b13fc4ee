//! Changed files that templates of Jsonnet and Jinja read, of which the templates that have NodePools do not change themselves.
//!
//! Sources: "Imports" in doc/learning/tutorial.md of google/jsonnet; "Organizing host and group variables" in
//! `docs/docsite/rst/inventory_guide/intro_inventory.rst` and "Role directory structure" in `docs/docsite/rst/playbook_guide/playbooks_reuse_roles.rst` of
//! ansible/ansible-documentation.

use std::collections::{BTreeMap, BTreeSet};

use answers::plan::PlannedChange;
use cluster::folders::{folders_of, joined, name, parent};
use drift::ObjectChangeKind;
use manifest::File;

use super::changed_file::changed_keys;
use super::feeds::trees;
use super::other_templates::may_have_nodes;
use super::scope::without_start;
use super::{PlanPair, PlanSide};

const JSONNET: [&str; 2] = [".jsonnet", ".libsonnet"];
const JINJA: [&str; 3] = [".j2", ".jinja", ".jinja2"];

/// Folders of an inventory of Ansible with variables.
const INVENTORY: [&str; 2] = ["group_vars", "host_vars"];

/// Folders of a role of Ansible with variables, beside the folder of its templates.
const ROLE: [&str; 2] = ["defaults", "vars"];

/// One change for each template with NodePools that reads another changed file.
pub(super) fn changes(pair: PlanPair<'_>) -> Vec<PlannedChange> {
    let sides = [by_name(pair.old), by_name(pair.new)];
    let text =
        |side: &BTreeMap<&str, &File>, file: &str| side.get(file).map(|file| file.source.text().to_owned());
    let [olds, news] = &sides;
    let is_template = |file: &str, kinds: &[&str]| kinds.iter().any(|kind| file.ends_with(kind));
    let templates = news.iter().filter(|(file, new)| {
        (is_template(file, &JSONNET) || is_template(file, &JINJA))
            && may_have_nodes(new.source.text())
            && text(olds, file).as_deref() == Some(new.source.text())
    });
    let mut variables: Option<Vec<Variables<'_>>> = None;
    let mut found = Vec::new();
    for (file, template) in templates {
        let read = if is_template(file, &JSONNET) {
            imported([olds, news], file)
        } else {
            let all = variables.get_or_insert_with(|| changed_variables([olds, news]));
            all.iter()
                .find(|one| one.reaches(file) && one.is_read(template.source.text()))
                .map(|one| one.file)
        };
        if let Some(read) = read {
            let shown = template.source.name();
            let message = format!(
                "{shown}, a template with objects of Karpenter that is not rendered, reads {read}, which has changed"
            );
            found.push(PlannedChange::of_file(pair.name, ObjectChangeKind::Changed, (shown, 1), message));
        }
    }
    found
}

fn by_name(side: PlanSide<'_>) -> BTreeMap<&str, &File> {
    let files = side.cluster.files.iter();
    files.map(|file| (without_start(file.source.name(), side.folder), file)).collect()
}

/// The first changed file among the ones that a file of Jsonnet imports, directly or through others.
fn imported<'p>([olds, news]: [&BTreeMap<&'p str, &'p File>; 2], file: &'p str) -> Option<&'p str> {
    let text = |side: &BTreeMap<&'p str, &'p File>, name: &str| side.get(name).map(|file| file.source.text());
    let mut seen = BTreeSet::from([file]);
    let mut open = vec![file];
    while let Some(file) = open.pop() {
        let (old, new) = (text(olds, file), text(news, file));
        if old != new {
            return Some(file);
        }
        let folder = parent(file).unwrap_or_default();
        for path in imports(new.unwrap_or_default()) {
            let own = joined(folder, path);
            // A path may be relative to a folder of libraries, which the input does not show.
            let is_library = |name: &&&str| name.strip_suffix(path).is_some_and(|start| start.ends_with('/'));
            let known =
                |side: &BTreeMap<&'p str, &'p File>| side.get_key_value(own.as_str()).map(|(name, _)| *name);
            let found = known(news).or_else(|| known(olds));
            let found = found.or_else(|| news.keys().find(is_library).copied());
            open.extend(found.filter(|name| seen.insert(name)));
        }
    }
    None
}

/// The paths that a text of Jsonnet imports.
fn imports(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with(['#', '/']));
    lines.flat_map(|line| line.split("import").skip(1)).filter_map(|rest| {
        let rest = rest.strip_prefix("str").or_else(|| rest.strip_prefix("bin")).unwrap_or(rest).trim_start();
        let quote = rest.chars().next().filter(|char| ['\'', '"'].contains(char))?;
        rest.get(1..)?.split_once(quote).map(|(path, _)| path)
    })
}

/// A file of Ansible with other values of some variables.
struct Variables<'p> {
    file: &'p str,
    names: BTreeSet<&'p str>,
    /// The role whose templates read them; `None` for the ones of an inventory.
    role: Option<&'p str>,
}

impl Variables<'_> {
    /// Whether a template may get the variables.
    fn reaches(&self, template: &str) -> bool {
        self.role.is_none_or(|role| folders_of(template).any(|folder| folder == role))
    }

    /// Whether a template has the name of a variable in an expression or a statement.
    fn is_read(&self, template: &str) -> bool {
        let is_part = |char: char| char.is_alphanumeric() || char == '_';
        let expressions = [("{{", "}}"), ("{%", "%}")].into_iter().flat_map(|(start, end)| {
            template.split(start).skip(1).filter_map(move |rest| Some(rest.split_once(end)?.0))
        });
        // A name behind a dot is a key of another variable.
        expressions.flat_map(|inner| inner.split(|char: char| !is_part(char) && char != '.')).any(|word| {
            let first = word.split('.').next().unwrap_or_default();
            self.names.contains(first)
        })
    }
}

fn changed_variables<'p>([olds, news]: [&BTreeMap<&'p str, &'p File>; 2]) -> Vec<Variables<'p>> {
    let names: BTreeSet<&'p str> = olds.keys().chain(news.keys()).copied().collect();
    let of_file = |file: &'p str| {
        let mut folders = folders_of(file);
        let is_inventory = folders_of(file).any(|folder| INVENTORY.contains(&name(folder)));
        let role = folders
            .find(|folder| ROLE.contains(&name(folder)))
            .map(|folder| parent(folder).unwrap_or_default());
        if !is_inventory && role.is_none() {
            return None;
        }
        let sides = [olds, news]
            .map(|side| side.get(file).into_iter().flat_map(|file| trees(file)).collect::<Vec<_>>());
        let names = changed_keys(&sides[0], &sides[1]);
        (!names.is_empty()).then_some(Variables { file, names, role: role.filter(|_| !is_inventory) })
    };
    names.into_iter().filter_map(of_file).collect()
}

#[cfg(test)]
mod tests {
    use super::{Variables, imports};

    #[test]
    fn imports_are_the_texts_behind_the_word() {
        let text = "local a = import 'a.libsonnet';\n// import 'b.libsonnet'\n{x: importstr \"c/d.txt\", y: (import 'e.jsonnet') + {important: 'f'}}\n";
        assert_eq!(imports(text).collect::<Vec<_>>(), ["a.libsonnet", "c/d.txt", "e.jsonnet"]);
    }

    #[test]
    fn a_template_reads_a_variable_by_its_whole_name() {
        let variables = Variables { file: "group_vars/all.yaml", names: ["team"].into(), role: None };
        for (template, expected) in [
            ("a: {{ team }}", true),
            ("a: {{ team.name | default('x') }}", true),
            ("{% for one in team %}", true),
            ("a: {{ teams }}", false),
            ("a: {{ other.team }}", false),
            ("a: team", false),
        ] {
            assert_eq!(variables.is_read(template), expected, "{template}");
        }
    }
}
