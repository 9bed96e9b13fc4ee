//! The folders of the editor, and the open documents outside of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use karpwarden::reference::page;
use language_server::{Checked, OpenDocument, OpenDocuments, Workspace};

use super::folder::Folder;
use crate::cli::config;

/// The open documents by path. A document that is not saved yet has a path in the working directory, so that the settings there
/// apply.
pub(super) type OpenByPath<'o> = BTreeMap<PathBuf, &'o OpenDocument>;

/// The folders of a session.
pub(super) struct Folders {
    /// The folders of the editor, without folders within others.
    folders: Vec<Folder>,
    /// Open documents that belong to no folder: each is checked alone.
    alone: Vec<Folder>,
}

impl Folders {
    pub(super) fn new(paths: &[PathBuf]) -> Self {
        // Names in messages start from the first folder.
        if let Some(first) = paths.first() {
            // Without this folder, names start from the folder in which the editor runs.
            let _ = std::env::set_current_dir(first);
        }
        let mut folders = Self { folders: Vec::new(), alone: Vec::new() };
        folders.set(paths.to_vec());
        folders
    }

    fn set(&mut self, mut paths: Vec<PathBuf>) {
        paths.sort();
        // A folder sorts before the folders within it.
        paths.dedup_by(|path, before| path.starts_with(before));
        self.folders = paths.into_iter().map(Folder::new).collect();
    }
}

impl Workspace for Folders {
    fn check(&mut self, open: &OpenDocuments) -> Vec<Checked> {
        let open: OpenByPath<'_> = open.iter().map(|document| (path_of(document), document)).collect();
        for folder in &mut self.folders {
            folder.update(&open);
        }
        let is_alone = |path: &&PathBuf| {
            let is_config = path.file_name().is_some_and(|name| name == config::FILE);
            !is_config && !self.folders.iter().any(|folder| folder.decides_about(path))
        };
        let alone: Vec<&PathBuf> = open.keys().filter(is_alone).collect();
        self.alone.retain(|known| alone.iter().any(|path| *path == known.path()));
        for path in alone {
            if !self.alone.iter().any(|known| known.path() == path) {
                self.alone.push(Folder::new(path.clone()));
            }
        }
        for document in &mut self.alone {
            document.update(&open);
        }
        self.folders.iter().chain(&self.alone).map(|folder| folder.check(&open)).collect()
    }

    fn reload(&mut self) {
        self.folders.iter_mut().chain(&mut self.alone).for_each(Folder::reload);
    }

    fn change_folders(&mut self, added: Vec<PathBuf>, removed: &[PathBuf]) {
        let mut paths: Vec<PathBuf> = self.folders.iter().map(|folder| folder.path().to_owned()).collect();
        paths.retain(|path| !removed.contains(path));
        paths.extend(added);
        self.set(paths);
    }

    fn page(&self, rule: &str) -> Option<String> {
        REGISTRY.find(rule).map(page)
    }
}

fn path_of(document: &OpenDocument) -> PathBuf {
    let name = || document.uri.as_str().replace(['/', ':'], "-");
    document.path.clone().unwrap_or_else(|| Path::new(".").join(name()))
}
