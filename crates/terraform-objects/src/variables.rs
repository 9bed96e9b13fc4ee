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

/// Words in the names of files of variables that a command names before the file of one cluster, whose values count then.
const FOR_ALL: [&str; 7] = ["base", "common", "default", "defaults", "global", "globals", "shared"];

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
    /// The path of the folder, or of the file of variables.
    pub(crate) name: String,
    /// The paths of the files of variables that a command names.
    pub(crate) files: Vec<String>,
    /// The paths of the files of variables that a command may name for this root module, or for another one.
    pub(crate) possible: Vec<String>,
    /// The variables without a known value: another file of variables sets them.
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
    /// The files among the ones of an input, for the root modules in some folders, which are some of all. A file is of the root module in whose
    /// folder it is, or in a folder below that is no module. Other files are of the root modules that declare one of their variables: of the
    /// one that alone does for some variable, or of the nearest.
    pub(crate) fn of(
        found: &InputFiles<'_>,
        input: &ConfigurationInput<'_>,
        (roots, all_roots): (&[String], &[String]),
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
            let users: Vec<&String> =
                all_roots.iter().filter(|root| modules.declares(root, &given)).collect();
            let near = nearest(&path, &users);
            let only = modules.only(&users, &given).filter(|only| near.contains(only));
            for root in near.into_iter().filter(|root| roots.contains(root)) {
                if only == Some(root) {
                    all.own.entry(root.clone()).or_default().push((path.clone(), given.clone()));
                } else {
                    all.shared.entry(root.clone()).or_default().push(path.clone());
                }
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

    /// The only one of several modules that declares variables which none of the others declares: a file that sets them is for it.
    fn only<'r>(&mut self, folders: &[&'r String], names: &BTreeSet<String>) -> Option<&'r String> {
        let mut found = BTreeSet::new();
        for name in names {
            let declaring = folders.iter().filter(|folder| self.of(folder).contains(name));
            if let [only] = declaring.copied().collect::<Vec<_>>().as_slice() {
                found.insert(*only);
            }
        }
        found.pop_first().filter(|_| found.is_empty())
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
        let given = |(path, names): &(String, BTreeSet<String>)| {
            let others = own.iter().filter(|(other, _)| other != path);
            let of_others: BTreeSet<&String> = others.flat_map(|(_, names)| names).collect();
            let is_for_all = has_word(path, &FOR_ALL);
            let open = of_others.into_iter().filter(|name| is_for_all || !names.contains(*name));
            Self {
                name: path.clone(),
                files: vec![path.clone()],
                possible: shared.clone(),
                open: open.cloned().collect(),
            }
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

/// Whether a file of variables shows others how to write one: `example.tfvars` or `prod.template.tfvars`, and not `node-template.tfvars`.
fn is_for_readers(path: &str) -> bool {
    has_word(path, &FOR_READERS) || stem(path).rsplit('.').next() == Some("template")
}

/// Whether the name of a file of variables has one of some words.
fn has_word(path: &str, words: &[&str]) -> bool {
    stem(path).split(['-', '_', '.']).any(|word| words.contains(&word))
}

/// The name of a file of variables without its end.
fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.split(".tfvars").next().unwrap_or_default()
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
            ("live/template.tfvars", false, true),
            ("live/prod.template.tfvars.json", false, true),
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
        assert_eq!(folders_around("a/b/c.tfvars").collect::<Vec<_>>(), ["a/b", "a", ""]);
    }
}
