//! Root modules with files of variables that a command names, such as `-var-file dev.tfvars`: each may be for another cluster.
//!
//! Source: "Variable definitions files" in language/values/variables of the documentation of Terraform: only `terraform.tfvars` and
//! `*.auto.tfvars` are read without a command that names them.

use std::collections::BTreeSet;

use terraform::{FolderFiles, is_configuration};

use crate::input::{InputFiles, folder_of};
use crate::is_variables;

/// Largest number of files of variables with which a root module is evaluated.
const MAX_FILES: usize = 20;

/// Words in the names of files of variables that are for readers.
const FOR_READERS: [&str; 3] = ["example", "sample", "template"];

/// Whether each file of variables is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedVariables {
    /// The root module is evaluated with each file by itself.
    Apart,
    /// The root module is evaluated once. What the files set is not known.
    Open,
}

/// A root module with values for its variables.
pub(crate) struct GivenRoot {
    /// The path of the folder, or of the file of variables in it.
    pub(crate) name: String,
    /// The paths of the files of variables that a command names.
    pub(crate) files: Vec<String>,
    /// The variables without a known default: another file of variables sets them.
    pub(crate) open: BTreeSet<String>,
}

/// The files of variables that a command may name.
pub(crate) struct CommandFiles {
    paths: Vec<String>,
    /// Whether they may be anywhere: the input has one root module.
    is_any: bool,
    named: NamedVariables,
}

impl CommandFiles {
    /// The files among the ones of an input, for a number of root modules.
    pub(crate) fn of(found: &InputFiles<'_>, roots: usize, named: NamedVariables) -> Self {
        let paths = found.paths().into_iter().filter(|path| is_variables(path) && !is_for_readers(path));
        Self { paths: paths.collect(), is_any: roots == 1, named }
    }
}

impl GivenRoot {
    /// The root module in a folder with each of the files of variables in it and in folders below that are no modules.
    pub(crate) fn all(root: &str, found: &InputFiles<'_>, files: Option<&CommandFiles>) -> Vec<Self> {
        let plain = |open| vec![Self { name: root.to_owned(), files: Vec::new(), open }];
        let Some(files) = files else { return plain(BTreeSet::new()) };
        let declares = |name: &str| found.any_in(root, |text| text.contains(&format!("variable \"{name}\"")));
        let own = files.paths.iter().filter(|path| {
            let home = folders_around(path).find(|folder| has_configuration(folder, found));
            let is_near = home.map_or(files.is_any, |home| home == root);
            is_near && !is_read_always(path, root)
        });
        let set = own.map(|path| {
            let text = found.read(path);
            let names = text.iter().flat_map(|source| names_in(source.text())).filter(|name| declares(name));
            let names: BTreeSet<String> = names.map(str::to_owned).collect();
            (path, names)
        });
        let set: Vec<(&String, BTreeSet<String>)> = set.filter(|(_, names)| !names.is_empty()).collect();
        let all: BTreeSet<String> = set.iter().flat_map(|(_, names)| names).cloned().collect();
        if set.is_empty() || files.named == NamedVariables::Open || set.len() > MAX_FILES {
            return plain(all);
        }
        let given = |(path, names): &(&String, BTreeSet<String>)| Self {
            name: name_in(root, path),
            files: vec![(*path).clone()],
            open: all.difference(names).cloned().collect(),
        };
        set.iter().map(given).collect()
    }
}

/// Whether a file of variables shows others how to write one.
fn is_for_readers(path: &str) -> bool {
    FOR_READERS.iter().any(|word| path.rsplit('/').next().is_some_and(|name| name.contains(word)))
}

/// Whether Terraform reads a file of variables without a command that names it.
fn is_read_always(path: &str, root: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    folder_of(path) == root && (name == "terraform.tfvars" || name.ends_with(".auto.tfvars"))
}

fn has_configuration(folder: &str, found: &InputFiles<'_>) -> bool {
    found.paths_of(folder).iter().any(|path| is_configuration(path))
}

/// The folders of a path, from the nearest.
fn folders_around(path: &str) -> impl Iterator<Item = &str> {
    core::iter::successors(Some(folder_of(path)), |folder| (!folder.is_empty()).then(|| folder_of(folder)))
}

/// A path for a root module with a file of variables: the path of the file if it is below the folder of the root module.
fn name_in(root: &str, path: &str) -> String {
    let same = root.split('/').zip(path.split('/')).take_while(|(one, other)| one == other).count();
    let rest: Vec<&str> = path.split('/').skip(same).collect();
    let start = if root.is_empty() { String::new() } else { format!("{root}/") };
    format!("{start}{}", rest.join("/"))
}

/// The names that a file of variables sets: at the starts of lines.
fn names_in(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let (name, _) = line.split_once('=')?;
        let name = name.trim_end();
        let is_name = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
        (!name.is_empty() && name.chars().all(is_name)).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_in_a_file_of_variables_are_at_the_starts_of_lines() {
        let text = "# team = 1\nteam   = \"a\"\npools = {\n  team2 = 1\n}\nlist=[\n]\n";
        assert_eq!(names_in(text).collect::<Vec<_>>(), ["team", "pools", "list"]);
        assert!(
            is_read_always("live/terraform.tfvars", "live") && is_read_always("live/a.auto.tfvars", "live")
        );
        assert!(
            !is_read_always("live/env/terraform.tfvars", "live")
                && !is_read_always("live/dev.tfvars", "live")
        );
        assert!(is_for_readers("live/example.tfvars") && !is_for_readers("live/dev.tfvars"));
    }

    #[test]
    fn a_root_module_with_a_file_of_variables_has_the_name_of_both() {
        for (root, path, expected) in [
            ("x/live", "x/live/env/dev.tfvars", "x/live/env/dev.tfvars"),
            ("x/live", "x/env/dev.tfvars", "x/live/env/dev.tfvars"),
            ("", "dev.tfvars", "dev.tfvars"),
        ] {
            assert_eq!(name_in(root, path), expected);
        }
        assert_eq!(folders_around("a/b/c.tfvars").collect::<Vec<_>>(), ["a/b", "a", ""]);
    }
}
