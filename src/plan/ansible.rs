//! Variables of Ansible with other values, and the templates that read them.
//!
//! Sources: "Organizing host and group variables" in `docs/docsite/rst/inventory_guide/intro_inventory.rst`, "Role directory structure" in
//! `docs/docsite/rst/playbook_guide/playbooks_reuse_roles.rst` and "Standard loops" in `docs/docsite/rst/playbook_guide/playbooks_loops.rst` of
//! ansible/ansible-documentation.

use std::collections::{BTreeMap, BTreeSet};

use cluster::folders::{folders_of, name, parent};
use manifest::File;
use manifest::tree::Node;

use super::changed_file::changed_keys;
use super::feeds::trees;

/// Folders of an inventory with variables.
const INVENTORY: [&str; 2] = ["group_vars", "host_vars"];

/// Folders of a role with variables, beside the folder of its templates.
const ROLE: [&str; 2] = ["defaults", "vars"];

/// Folder of a role with tasks.
const TASKS: &str = "tasks";

/// The variable that has an element of a loop, unless the task names another one.
const ITEM: &str = "item";

/// Some variables with other values.
#[derive(Clone, Debug)]
pub(super) struct Variables<'p> {
    /// The changed file.
    pub(super) file: &'p str,
    names: BTreeSet<&'p str>,
    /// The role whose templates read them; `None` for the ones of an inventory.
    role: Option<&'p str>,
    /// The text of the only task that has them.
    task: Option<String>,
}

impl Variables<'_> {
    /// Whether a file may get the variables.
    pub(super) fn reaches(&self, file: &str) -> bool {
        self.role.is_none_or(|role| folders_of(file).any(|folder| folder == role))
            && self.task.as_ref().is_none_or(|task| task.contains(name(file)))
    }

    /// Whether a template has the name of a variable in an expression or a statement.
    pub(super) fn is_read(&self, template: &str) -> bool {
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

/// A variable whose value is a template too.
struct Definition<'p> {
    file: &'p str,
    name: &'p str,
    value: String,
    role: Option<&'p str>,
    task: Option<String>,
}

/// The changed variables, and the ones whose values read them.
pub(super) fn changed_variables<'p>([olds, news]: [&BTreeMap<&'p str, &'p File>; 2]) -> Vec<Variables<'p>> {
    let names: BTreeSet<&'p str> = olds.keys().chain(news.keys()).copied().collect();
    let of_file = |file: &'p str| {
        let role = VariablesOwner::of(file)?.role();
        let sides = [olds, news]
            .map(|side| side.get(file).into_iter().flat_map(|file| trees(file)).collect::<Vec<_>>());
        let names = changed_keys(&sides[0], &sides[1]);
        (!names.is_empty()).then_some(Variables { file, names, role, task: None })
    };
    let mut found: Vec<Variables<'p>> = names.into_iter().filter_map(of_file).collect();
    if found.is_empty() {
        return found;
    }
    let mut left: Vec<Definition<'p>> = news.iter().flat_map(|(file, one)| definitions(file, one)).collect();
    let mut next = 0;
    while let Some(one) = found.get(next).cloned() {
        let is_fed = |definition: &Definition<'p>| {
            one.task.is_none() && one.reaches(definition.file) && one.is_read(&definition.value)
        };
        let (fed, others): (Vec<_>, Vec<_>) = left.into_iter().partition(is_fed);
        left = others;
        found.extend(fed.into_iter().map(|fed| Variables {
            file: one.file,
            names: BTreeSet::from([fed.name]),
            role: fed.role,
            task: fed.task,
        }));
        next += 1;
    }
    found
}

/// The owner of a file of variables.
enum VariablesOwner<'p> {
    Inventory,
    /// The folder of the role.
    Role(&'p str),
}

impl<'p> VariablesOwner<'p> {
    /// `None` if a file has no variables.
    fn of(file: &'p str) -> Option<Self> {
        if folders_of(file).any(|folder| INVENTORY.contains(&name(folder))) {
            return Some(Self::Inventory);
        }
        let folder = folders_of(file).find(|folder| ROLE.contains(&name(folder)))?;
        Some(Self::Role(parent(folder).unwrap_or_default()))
    }

    const fn role(self) -> Option<&'p str> {
        match self {
            Self::Inventory => None,
            Self::Role(folder) => Some(folder),
        }
    }
}

/// The variables of a file, and the ones that its tasks set for their templates: the element of a loop, and `vars`.
fn definitions<'p>(file: &'p str, read: &'p File) -> Vec<Definition<'p>> {
    let mut found = Vec::new();
    if let Some(role) = VariablesOwner::of(file).map(VariablesOwner::role) {
        for (name, value) in trees(read).flat_map(|tree| tree.root().members()) {
            let value = value.to_json().to_string();
            found.push(Definition { file, name, value, role, task: None });
        }
        return found;
    }
    let tasks = folders_of(file).find(|folder| name(folder) == TASKS);
    let Some(role) = tasks.map(|folder| parent(folder).unwrap_or_default()) else { return found };
    let mut open: Vec<Node<'p>> = trees(read).map(|tree| tree.root()).collect();
    while let Some(node) = open.pop() {
        open.extend(node.children());
        let is_loop = |key: &str| key == "loop" || key.starts_with("with_");
        let own = node.members().find(|(key, _)| is_loop(key)).map(|(_, value)| {
            let name = node.str_at(&["loop_control", "loop_var"]).unwrap_or(ITEM);
            (name, value)
        });
        let all: Vec<_> = own.into_iter().chain(node.members_at(&["vars"])).collect();
        let task = if all.is_empty() { String::new() } else { node.to_json().to_string() };
        found.extend(all.into_iter().map(|(name, value)| Definition {
            file,
            name,
            value: value.to_json().to_string(),
            role: Some(role),
            task: Some(task.clone()),
        }));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::Variables;

    #[test]
    fn a_template_reads_a_variable_by_its_whole_name() {
        let variables =
            Variables { file: "group_vars/all.yaml", names: ["team"].into(), role: None, task: None };
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
