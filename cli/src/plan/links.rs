//! The symbolic links of a commit.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::input::normalised;

/// Number of links that lead to each other.
const MAX_CHAIN: usize = 8;

/// Largest number of files behind links.
const MAX_FILES: usize = 100_000;

/// A file of a commit.
#[derive(Clone, Debug)]
pub(super) struct TreeFile {
    /// Hash of the text.
    pub(super) hash: String,
    /// The path without links.
    pub(super) real: PathBuf,
}

/// Adds the files behind links under the paths of the links, each file once behind a link. A link out of the repository, or to a folder around
/// the link, leads to no file.
pub(super) fn follow(files: &mut BTreeMap<PathBuf, TreeFile>, links: Vec<(PathBuf, String)>) {
    let target = |link: &Path, text: &str| {
        let folder = Path::new("/").join(link.parent()?);
        // A path from the root of the machine leads out of the repository.
        let is_inside = !text.starts_with('/') && depth(link) > ups(text);
        let target = normalised(&folder.join(text));
        let target = target.strip_prefix("/").ok()?.to_owned();
        (is_inside && !link.starts_with(&target)).then_some(target)
    };
    let links: Vec<(PathBuf, PathBuf)> = links
        .into_iter()
        .filter_map(|(link, text)| {
            let target = target(&link, &text)?;
            Some((link, target))
        })
        .collect();
    // Links to each other lead to a file on exponentially many paths.
    let mut seen = BTreeSet::<(&Path, PathBuf)>::new();
    for _ in 0..MAX_CHAIN {
        let before = files.len();
        for (link, target) in &links {
            let below = files.range(target.clone()..).take_while(|(path, _)| path.starts_with(target));
            let behind: Vec<(PathBuf, TreeFile)> = below
                .filter_map(|(path, file)| {
                    let rest = path.strip_prefix(target).ok()?;
                    let path = if rest.as_os_str().is_empty() { link.clone() } else { link.join(rest) };
                    let is_new = !files.contains_key(&path) && seen.insert((link, file.real.clone()));
                    is_new.then(|| (path, file.clone()))
                })
                .collect();
            if files.len() + behind.len() > before + MAX_FILES {
                return;
            }
            files.extend(behind);
        }
        if files.len() == before {
            break;
        }
    }
}

/// The number of folders around a path and the path itself.
fn depth(path: &Path) -> usize {
    path.components().count()
}

/// The number of folders that a link goes up at its start.
fn ups(text: &str) -> usize {
    text.split('/').take_while(|part| *part == "..").count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_behind_links_have_the_paths_of_the_links_too() {
        for (links, expected) in [
            (&[("b/link.yaml", "../a/x.yaml")][..], "b/link.yaml"),
            (&[("b/link", "../a")], "b/link/c/y.yaml b/link/x.yaml"),
            (&[("b/link", "../d"), ("d", "a/c")], "b/link/y.yaml d/y.yaml"),
            (&[("link", "./a/c/")], "link/y.yaml"),
            // Out of the repository, around the link, to nothing, and in a circle.
            (&[("b/link", "../../a")], ""),
            (&[("b/link", "/a")], ""),
            (&[("a/link", "..")], ""),
            (&[("b/link", "none")], ""),
            (&[("b/link", "other"), ("b/other", "link")], ""),
        ] {
            let own = ["a/c/y.yaml", "a/x.yaml"];
            let file = |path: &&str| TreeFile { hash: String::new(), real: path.into() };
            let mut files: BTreeMap<PathBuf, TreeFile> =
                own.iter().map(|path| (PathBuf::from(path), file(path))).collect();
            follow(&mut files, links.iter().map(|(link, text)| (link.into(), (*text).to_owned())).collect());
            let new = files.keys().filter_map(|path| path.to_str()).filter(|path| !own.contains(path));
            assert_eq!(new.collect::<Vec<_>>().join(" "), expected, "{links:?}");
        }
    }
    #[test]
    fn links_to_each_other_lead_to_each_file_once() {
        let links = [("a/l", "../b"), ("a/m", "../b"), ("b/l", "../a"), ("b/m", "../a")];
        let file = |path: &str| (PathBuf::from(path), TreeFile { hash: String::new(), real: path.into() });
        let mut files: BTreeMap<PathBuf, TreeFile> = ["a/x.yaml", "b/y.yaml"].map(file).into();
        follow(&mut files, links.map(|(link, text)| (link.into(), text.to_owned())).into());
        assert_eq!(files.len(), 2 + links.len() * 2, "{files:?}");
    }
}
