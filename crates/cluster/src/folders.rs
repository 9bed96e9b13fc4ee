//! The folders in the names of files.

use std::collections::{BTreeMap, BTreeSet};

use manifest::File;

/// The folders of a file, from its own folder to the start of the name: `a/b`, `a` and the empty text for `a/b/c.yaml`.
pub fn folders_of(file: &str) -> impl Iterator<Item = &str> {
    core::iter::successors(parent(file), |folder| parent(folder))
}

/// The folder that holds a file or folder; `None` for the empty text.
pub fn parent(path: &str) -> Option<&str> {
    if path.is_empty() {
        return None;
    }
    Some(path.rsplit_once('/').map_or("", |(folder, _)| folder))
}

/// The last part of a path.
pub fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// A relative path from a folder, without `.` and `..`.
pub fn joined(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The folders of an input, with the folders above them.
#[derive(Debug)]
pub(crate) struct KnownFolders<'d> {
    all: BTreeSet<&'d str>,
    /// The folders by the last part of their path.
    by_name: BTreeMap<&'d str, Vec<&'d str>>,
    /// The root of the repository, if it is known.
    root: Option<&'d str>,
}

impl<'d> KnownFolders<'d> {
    pub(crate) fn of(files: &'d [File]) -> Self {
        Self::around(files.iter().map(|file| file.source.name()))
    }

    fn around(files: impl Iterator<Item = &'d str>) -> Self {
        let mut all = BTreeSet::from([""]);
        for file in files {
            // A known folder has its folders above it already.
            all.extend(folders_of(file).take_while(|folder| !all.contains(folder)).collect::<Vec<_>>());
        }
        let mut by_name = BTreeMap::<_, Vec<_>>::new();
        for folder in &all {
            by_name.entry(name(folder)).or_default().push(*folder);
        }
        Self { all, by_name, root: None }
    }

    /// The same folders in a repository with a root.
    #[must_use]
    pub(crate) fn with_root(self, root: &'d str) -> Self {
        Self { root: Some(root.trim_end_matches('/')), ..self }
    }

    pub(crate) const fn all(&self) -> &BTreeSet<&'d str> {
        &self.all
    }

    /// The folder that a path from the root of a repository means: the input may be a part of the repository, or be around it. `None` if no
    /// folder or several may be meant.
    pub(crate) fn find(&self, path: &str) -> Option<&'d str> {
        let path = path.trim_start_matches("./").trim_matches('/');
        if path.is_empty() || path == "." {
            return self.root;
        }
        if let Some(folder) = self.all.get(path) {
            return Some(folder);
        }
        let is_around = |folder: &&&str| folder.strip_suffix(path).is_some_and(|rest| rest.ends_with('/'));
        let mut found = self.by_name.get(name(path))?.iter().filter(is_around);
        found.next().copied().filter(|_| found.next().is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_only_folder_that_a_path_may_mean() {
        let folders = KnownFolders::around(
            ["x/clusters/a/pool.yaml", "x/clusters/b/pool.yaml", "y/a/pool.yaml"].into_iter(),
        );
        for (path, expected) in [
            ("./clusters/a", Some("x/clusters/a")),
            ("y/a/", Some("y/a")),
            ("b", Some("x/clusters/b")),
            ("a", None),
            ("lusters/a", None),
            (".", None),
        ] {
            assert_eq!(folders.find(path), expected, "{path}");
        }
        let folders = folders.with_root("x/");
        assert_eq!((folders.find("."), folders.find("./")), (Some("x"), Some("x")));
    }

    #[test]
    fn lists_the_folders_of_a_file_from_the_inside_out() {
        let all = |file| folders_of(file).collect::<Vec<_>>();
        assert_eq!(all("a/b/c.yaml"), ["a/b", "a", ""]);
        assert_eq!(all("c.yaml"), [""]);
        assert_eq!(all("/srv/c.yaml"), ["/srv", ""]);
        assert_eq!(all("../a/c.yaml"), ["../a", "..", ""]);
        assert_eq!((name("a/b"), name("a"), name("")), ("b", "a", ""));
    }
}
