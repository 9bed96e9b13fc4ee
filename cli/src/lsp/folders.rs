//! The folders of the editor, and the open documents outside of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use karpwarden::reference::page;
use karpwarden::rule::registry::Registry;
use karpwarden::values::timestamp::Timestamp;
use language_server::{Checked, FolderView, OpenDocument, OpenDocuments, Workspace};
use terraform_objects::is_variables;

use super::folder::{Folder, OpenByPath, watched};
use crate::config;
use crate::disruption::clock;
use crate::form::Color;
use crate::input::resolved;
use crate::terminal;

/// The folders of a session.
pub(super) struct Folders {
    /// The folders of the editor.
    paths: Vec<PathBuf>,
    /// The same folders, without folders within others.
    outermost: Vec<Folder>,
    /// Open documents that belong to no folder: each is checked alone.
    alone: Vec<Folder>,
}

impl Folders {
    pub(super) fn new(paths: Vec<PathBuf>) -> Self {
        // Names in messages start from the first folder.
        if let Some(first) = paths.first() {
            // Without this folder, names start from the folder in which the editor runs.
            let _ = std::env::set_current_dir(first);
        }
        let mut folders = Self { paths, outermost: Vec::new(), alone: Vec::new() };
        folders.update_folders();
        folders
    }

    /// Makes a folder for each path that lies in no other one. A folder that stays keeps its files.
    fn update_folders(&mut self) {
        let mut paths: Vec<PathBuf> =
            self.paths.iter().filter(|path| !is_everything(path)).cloned().collect();
        paths.sort();
        // A folder sorts before the folders within it.
        paths.dedup_by(|path, before| path.starts_with(before));
        let mut known = std::mem::take(&mut self.outermost);
        self.outermost = paths
            .into_iter()
            .map(|path| match known.iter().position(|folder| folder.path() == path) {
                Some(at) => known.swap_remove(at),
                None => Folder::new(path),
            })
            .collect();
    }
}

impl Folders {
    fn all(&self) -> impl Iterator<Item = &Folder> {
        self.outermost.iter().chain(&self.alone)
    }
}

impl Workspace for Folders {
    fn check(&mut self, open: &OpenDocuments) -> Vec<Arc<Checked>> {
        let open = by_path(open);
        for folder in &mut self.outermost {
            folder.update(&open);
            if let Some(note) = folder.note() {
                terminal::note(Color::Never, &note);
            }
        }
        let is_alone = |path: &&PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let is_document = name != config::FILE && !is_variables(name);
            is_document && !self.outermost.iter().any(|folder| folder.decides_about(path, &open))
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
        self.outermost.iter_mut().chain(&mut self.alone).filter_map(|folder| folder.check(&open)).collect()
    }

    fn reload(&mut self, paths: &[PathBuf]) {
        for path in paths {
            let resolved = resolved(path).unwrap_or_else(|| path.clone());
            for folder in self.outermost.iter_mut().chain(&mut self.alone) {
                folder.reload(path, &resolved);
            }
        }
    }

    fn change_folders(&mut self, added: Vec<PathBuf>, removed: &[PathBuf]) {
        self.paths.retain(|path| !removed.contains(path));
        self.paths.extend(added);
        self.update_folders();
    }

    fn watched(&self) -> Vec<String> {
        watched()
    }

    fn page(&self, rule: &str) -> Option<String> {
        REGISTRY.find(rule).map(page)
    }

    fn registry(&self) -> &'static Registry {
        &REGISTRY
    }

    fn folder_of(&self, document: &OpenDocument) -> Option<&dyn FolderView> {
        let path = path_of_document(document);
        let holds = |folder: &&Folder| folder.contents.as_ref().is_some_and(|own| own.is_member(&path));
        self.all().find(holds).map(|folder| folder as &dyn FolderView)
    }

    fn folders(&self) -> Vec<&dyn FolderView> {
        self.all()
            .filter(|folder| folder.contents.is_some())
            .map(|folder| folder as &dyn FolderView)
            .collect()
    }

    fn unread(&self, open: &OpenDocuments) -> Option<String> {
        let open = by_path(open);
        let is_unread = |folder: &&Folder| folder.contents.is_none() && folder.has_open_document(&open);
        self.outermost.iter().find(is_unread).map(|folder| folder.path().display().to_string())
    }

    fn now(&self) -> Timestamp {
        clock::now()
    }
}

/// Whether a folder is not searched: the root of a file system, and the home folder. Their open documents are checked alone.
fn is_everything(path: &Path) -> bool {
    path.parent().is_none() || std::env::home_dir().is_some_and(|home| home == path)
}

/// The open documents by path. Of several documents of one file, the last change counts.
fn by_path(open: &OpenDocuments) -> OpenByPath<'_> {
    let mut documents: Vec<&OpenDocument> = open.iter().collect();
    documents.sort_by_key(|document| document.revision);
    documents.into_iter().map(|document| (path_of_document(document), document)).collect()
}

/// The path of a document. A document that is not a file has one in the working directory, so that the settings there apply.
pub(super) fn path_of_document(document: &OpenDocument) -> PathBuf {
    let name = || document.uri.as_str().replace(['/', ':'], "-");
    let path = document.path.clone().unwrap_or_else(|| Path::new(".").join(name()));
    resolved(&path).unwrap_or(path)
}
