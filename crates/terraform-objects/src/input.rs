//! The files of an input as Terraform finds them: by their paths.

use core::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use manifest::limits::Exceeded;
use manifest::source::Source;
use manifest::{Document, File, ReadError};
use terraform::FolderFiles;

use crate::{FilesBeside, is_variables};

/// Folders above the input that a relative path can lead through.
const FOLDERS_ABOVE: usize = 32;
/// Name of a folder above the input.
const ABOVE: &str = "^";

/// The files of an input, and the files next to it, by path.
///
/// A path of the evaluator never leaves its root. The root is so far above the input that names such as `../modules/eks/main.tf` have
/// paths too.
pub(crate) struct InputFiles<'f> {
    sources: BTreeMap<String, Arc<Source>>,
    beside: &'f dyn FilesBeside,
    /// The files beside the input that were looked for, by path.
    read: RefCell<BTreeMap<String, Option<File>>>,
    /// The paths of all known files, by folder.
    folders: BTreeMap<String, Vec<String>>,
}

impl<'f> InputFiles<'f> {
    pub(crate) fn new(files: &[File], beside: &'f dyn FilesBeside) -> Self {
        let source = |file: &File| (path_of(file.source.name()), Arc::clone(&file.source));
        let sources: BTreeMap<String, Arc<Source>> =
            files.iter().filter(|file| is_whole(file)).map(source).collect();
        let mut folders = BTreeMap::<String, Vec<String>>::new();
        let others = beside.names().into_iter().map(|name| path_of(&name));
        for path in sources.keys().cloned().chain(others.filter(|path| !sources.contains_key(path))) {
            folders.entry(folder_of(&path).to_owned()).or_default().push(path);
        }
        for paths in folders.values_mut() {
            paths.sort();
        }
        Self { sources, beside, read: RefCell::default(), folders }
    }

    /// Whether any text of the input in a folder, without those in folders below, has a property.
    pub(crate) fn any_in(&self, folder: &str, has: impl Fn(&str) -> bool) -> bool {
        let paths = self.folders.get(folder).into_iter().flatten();
        paths.filter_map(|path| self.sources.get(path)).any(|source| has(source.text()))
    }

    /// The paths in a folder, without those in folders below.
    pub(crate) fn paths_of(&self, folder: &str) -> &[String] {
        self.folders.get(folder).map(Vec::as_slice).unwrap_or_default()
    }

    /// Reads the files of variables beside the input.
    pub(crate) fn read_variables(&self) {
        for path in self.folders.values().flatten().filter(|path| is_variables(path)) {
            FolderFiles::read(self, path);
        }
    }

    /// The files beside the input that were read.
    pub(crate) fn into_read(self) -> Vec<File> {
        self.read.into_inner().into_values().flatten().collect()
    }
}

impl FolderFiles for InputFiles<'_> {
    fn read(&self, path: &str) -> Option<Arc<Source>> {
        if let Some(source) = self.sources.get(path) {
            return Some(Arc::clone(source));
        }
        let mut read = self.read.borrow_mut();
        let file = read.entry(path.to_owned()).or_insert_with(|| self.beside.read(&name_of(path)));
        let file = file.as_ref().filter(|file| is_whole(file))?;
        Some(Arc::clone(&file.source))
    }

    fn paths(&self) -> Vec<String> {
        self.folders.values().flatten().cloned().collect()
    }

    fn paths_in(&self, folder: &str) -> Vec<String> {
        let mut paths = self.folders.get(folder).cloned().unwrap_or_default();
        let others = self.beside.names_in(&name_of(folder)).into_iter().map(|name| path_of(&name));
        paths.extend(others);
        paths.sort();
        paths.dedup();
        paths
    }
}

/// Whether the text of a file is all of it. A hash of a part would be the hash of another file.
fn is_whole(file: &File) -> bool {
    let is_cut = |document: &Document| match document {
        Document::Unreadable { error, .. } => {
            let is_encoding = matches!(error, ReadError::Binary | ReadError::NotUtf8 | ReadError::NotUtf16);
            let is_large = matches!(error.exceeded(), Some(Exceeded::FileBytes(_)));
            is_encoding || is_large || matches!(error, ReadError::NotOpened(_))
        }
        Document::Unevaluated { .. } => file.source.text().is_empty(),
        _ => false,
    };
    !file.documents.iter().any(is_cut)
}

pub(crate) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The path of the folder of a name.
pub(crate) fn folder_of_name(name: &str) -> String {
    folder_of(&path_of(name)).to_owned()
}

/// The path of a name.
pub(crate) fn path_of(name: &str) -> String {
    if let Some(absolute) = name.strip_prefix('/') {
        return absolute.to_owned();
    }
    let (mut rest, mut up) = (name, 0);
    loop {
        rest = match rest.strip_prefix("./") {
            Some(inner) => inner,
            None => match rest.strip_prefix("../") {
                Some(above) => {
                    up += 1;
                    above
                }
                None => break,
            },
        };
    }
    let above = vec![ABOVE; FOLDERS_ABOVE.saturating_sub(up)];
    format!("{}/{rest}", above.join("/"))
}

/// The name of a path.
pub(crate) fn name_of(path: &str) -> String {
    let (mut rest, mut above) = (path, 0);
    while let Some(inside) =
        rest.strip_prefix(ABOVE).filter(|inside| inside.is_empty() || inside.starts_with('/'))
    {
        rest = inside.strip_prefix('/').unwrap_or(inside);
        above += 1;
    }
    match above {
        0 => format!("/{path}"),
        FOLDERS_ABOVE if rest.is_empty() => ".".to_owned(),
        _ => format!("{}{rest}", "../".repeat(FOLDERS_ABOVE.saturating_sub(above))),
    }
}

#[cfg(test)]
mod tests {
    use super::{folder_of, name_of, path_of};

    #[test]
    fn names_above_the_input_have_paths() {
        let inside = path_of("live/prod/main.tf");
        let above = path_of("../modules/eks/main.tf");
        let folder = inside.strip_suffix("/live/prod/main.tf").unwrap();
        assert_eq!(above, format!("{}/modules/eks/main.tf", folder.rsplit_once('/').unwrap().0));
        assert_eq!(path_of("./a.tf"), path_of("a.tf"));
        assert_eq!(path_of("/tmp/a.tf"), "tmp/a.tf");
        for name in ["a.tf", "live/a.tf", "../a.tf", "../../live/a.tf", "/tmp/a.tf"] {
            assert_eq!(name_of(&path_of(name)), name);
        }
        assert_eq!(name_of(folder_of(&path_of("a.tf"))), ".");
    }
}
