//! Root modules with files of variables that a command names, such as `-var-file dev.tfvars`: each may be for another cluster.
//!
//! Source: "Variable definitions files" in language/values/variables of the documentation of Terraform: only `terraform.tfvars` and
//! `*.auto.tfvars` are read without a command that names them.

use std::collections::{BTreeMap, BTreeSet};

use terraform::{ConfigurationInput, FolderFiles, declared_variables, is_configuration, variables_in};

use crate::input::{InputFiles, folder_of};
use crate::is_variables;

/// Largest number of files of variables with which a root module is evaluated.
const MAX_FILES: usize = 20;

/// End of the names of files of variables in JSON.
const JSON: &str = ".tfvars.json";

/// Words in the names of files of variables that are for readers.
const FOR_READERS: [&str; 2] = ["example", "sample"];

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
    /// The paths of the files of variables that a command may name for this root module, or for another one.
    pub(crate) possible: Vec<String>,
    /// The variables without a known default: another file of variables sets them.
    pub(crate) open: Vec<String>,
}

/// The files of variables that a command may name.
pub(crate) struct CommandFiles {
    /// The files of one root module alone, by its folder, with the variables that they set.
    own: BTreeMap<String, Vec<(String, BTreeSet<String>)>>,
    /// The files that several root modules can use, by the folder of each.
    shared: BTreeMap<String, Vec<String>>,
    named: NamedVariables,
}

impl CommandFiles {
    /// The files among the ones of an input, for the root modules in some folders. A file is of the root module in whose folder it is, or in a
    /// folder below that is no module. Other files are of the root modules that declare one of their variables: of one alone, or of the nearest.
    pub(crate) fn of(
        found: &InputFiles<'_>,
        input: &ConfigurationInput<'_>,
        roots: &[String],
        named: NamedVariables,
    ) -> Self {
        let mut all = Self { own: BTreeMap::new(), shared: BTreeMap::new(), named };
        let mut modules = DeclaredVariables { found, input, by_folder: BTreeMap::new() };
        let is_one = |path: &String| (is_variables(path) || path.ends_with(JSON)) && !is_for_readers(path);
        for path in found.paths().into_iter().filter(is_one) {
            let given = variables_in(input, &path);
            if let Some(home) = modules.home(&path, &given) {
                if modules.declares(&home, &given) && roots.contains(&home) && !is_read_always(&path, &home) {
                    all.own.entry(home).or_default().push((path, given));
                }
                continue;
            }
            let users: Vec<&String> = roots.iter().filter(|root| modules.declares(root, &given)).collect();
            if let [only] = users.as_slice() {
                all.own.entry((*only).clone()).or_default().push((path, given));
                continue;
            }
            for root in nearest(&path, &users) {
                all.shared.entry(root.clone()).or_default().push(path.clone());
            }
        }
        for (root, files) in &mut all.own {
            for (_, names) in files {
                names.retain(|name| modules.of(root).contains(name));
            }
        }
        all
    }
}

/// The variables that the modules in folders declare.
struct DeclaredVariables<'f> {
    found: &'f InputFiles<'f>,
    input: &'f ConfigurationInput<'f>,
    by_folder: BTreeMap<String, BTreeSet<String>>,
}

impl DeclaredVariables<'_> {
    fn of(&mut self, folder: &str) -> &BTreeSet<String> {
        let (found, input) = (self.found, self.input);
        self.by_folder.entry(folder.to_owned()).or_insert_with(|| {
            let has_configuration = found.paths_of(folder).iter().any(|path| is_configuration(path));
            if has_configuration { declared_variables(input, folder) } else { BTreeSet::new() }
        })
    }

    fn declares(&mut self, folder: &str, names: &BTreeSet<String>) -> bool {
        !self.of(folder).is_disjoint(names)
    }

    /// The folder of the module to which a file of variables belongs: its own folder, or the nearest one around it whose module declares one of
    /// the variables.
    fn home(&mut self, path: &str, names: &BTreeSet<String>) -> Option<String> {
        let own = folder_of(path);
        let is_home = |folder: &&str| {
            if *folder == own { !self.of(folder).is_empty() } else { self.declares(folder, names) }
        };
        folders_around(path).find(is_home).map(str::to_owned)
    }
}

impl GivenRoot {
    /// The root module in a folder with each of its files of variables.
    pub(crate) fn all(root: &str, files: Option<&CommandFiles>) -> Vec<Self> {
        let shared = files.and_then(|files| files.shared.get(root)).cloned().unwrap_or_default();
        let own = files.and_then(|files| files.own.get(root)).map(Vec::as_slice).unwrap_or_default();
        let is_open = files.is_none_or(|files| files.named == NamedVariables::Open);
        if own.is_empty() || is_open || own.len() > MAX_FILES {
            let own = own.iter().map(|(path, _)| path.clone());
            let possible = shared.into_iter().chain(own).collect();
            return vec![Self { name: root.to_owned(), files: Vec::new(), possible, open: Vec::new() }];
        }
        let all: BTreeSet<&String> = own.iter().flat_map(|(_, names)| names).collect();
        let given = |(path, names): &(String, BTreeSet<String>)| Self {
            name: name_in(root, path),
            files: vec![path.clone()],
            possible: shared.clone(),
            open: all.iter().filter(|name| !names.contains(**name)).map(|name| (*name).clone()).collect(),
        };
        own.iter().map(given).collect()
    }
}

/// The folders of root modules that are nearest to a file: they share the most of its path.
fn nearest<'r>(path: &str, roots: &[&'r String]) -> Vec<&'r String> {
    let below = |folder: &str| -> Vec<&'r String> {
        let is_below = |root: &&String| {
            let rest = root.strip_prefix(folder);
            rest.is_some_and(|rest| folder.is_empty() || rest.is_empty() || rest.starts_with('/'))
        };
        roots.iter().copied().filter(is_below).collect()
    };
    folders_around(path).map(below).find(|roots| !roots.is_empty()).unwrap_or_default()
}

/// Whether a file of variables shows others how to write one: `example.tfvars` or `template.tfvars`, and not `node-template.tfvars`.
fn is_for_readers(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let stem = name.split(".tfvars").next().unwrap_or_default();
    let is_word = |word: &str| FOR_READERS.contains(&word);
    stem.split(['-', '_', '.']).any(is_word) || matches!(stem, "template" | "terraform.template")
}

/// Whether Terraform reads a file of variables without a command that names it.
fn is_read_always(path: &str, root: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let name = name.strip_suffix(".json").unwrap_or(name);
    folder_of(path) == root && (name == "terraform.tfvars" || name.ends_with(".auto.tfvars"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_variables_is_read_always_or_by_name_or_by_readers() {
        for (path, is_always, is_example) in [
            ("live/terraform.tfvars", true, false),
            ("live/terraform.tfvars.json", true, false),
            ("live/a.auto.tfvars", true, false),
            ("live/env/terraform.tfvars", false, false),
            ("live/dev.tfvars", false, false),
            ("live/node-template.tfvars", false, false),
            ("live/sampler.tfvars", false, false),
            ("live/example.tfvars", false, true),
            ("live/prod-example.tfvars.json", false, true),
            ("live/terraform.template.tfvars", false, true),
        ] {
            assert_eq!(
                (is_read_always(path, "live"), is_for_readers(path)),
                (is_always, is_example),
                "{path}"
            );
        }
    }

    #[test]
    fn a_file_of_variables_is_near_the_root_modules_that_share_its_folder() {
        let roots = ["a/live", "a/other", "b/live"].map(str::to_owned);
        let nearest = |path: &str| nearest(path, &roots.iter().collect::<Vec<_>>()).len();
        assert_eq!((nearest("a/vars/prod.tfvars"), nearest("b/prod.tfvars")), (2, 1));
        assert_eq!((nearest("vars/prod.tfvars"), nearest("prod.tfvars")), (3, 3));
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
