//! The folders of the editor, and the open documents outside of them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use karpwarden::answers::page::SourceFile;
use karpwarden::rule::settings::CONFIG_FILE;
use karpwarden::values::timestamp::Timestamp;
use karpwarden::{REGISTRY, Registry, Report};
use language_server::{Checked, FolderView, OpenDocument, OpenDocuments, Workspace};
use terraform_objects::is_variables;

use crate::folder::SentFolder;
use crate::host::EditorHost;

/// The folders of a session.
pub(crate) struct SentFolders {
    folders: Vec<SentFolder>,
    /// Open documents that belong to no folder: each is checked alone.
    alone: Vec<SentFolder>,
    pages: Rc<BTreeMap<String, String>>,
    host: Rc<dyn EditorHost>,
}

impl SentFolders {
    pub(crate) fn new(pages: Rc<BTreeMap<String, String>>, host: Rc<dyn EditorHost>) -> Self {
        Self { folders: Vec::new(), alone: Vec::new(), pages, host }
    }

    /// Takes texts of a folder that are on disk.
    pub(crate) fn update(&mut self, uri: &str, files: Vec<SourceFile>, removed: &[String]) {
        let uri = uri.trim_end_matches('/');
        if !self.folders.iter().any(|folder| folder.is_at(uri)) {
            self.folders.push(SentFolder::new(uri));
        }
        if let Some(folder) = self.folders.iter_mut().find(|folder| folder.is_at(uri)) {
            folder.save(files, removed);
        }
    }

    pub(crate) fn remove(&mut self, uri: &str) {
        self.folders.retain(|folder| !folder.is_at(uri.trim_end_matches('/')));
    }

    /// The report about a folder as of the last check. `None` if its settings have mistakes, and if it does not mention Karpenter.
    pub(crate) fn report(&self, uri: &str) -> Option<Report> {
        self.folders.iter().find(|folder| folder.is_at(uri.trim_end_matches('/')))?.report()
    }

    fn all(&self) -> impl Iterator<Item = &SentFolder> {
        self.folders.iter().chain(&self.alone)
    }
}

impl Workspace for SentFolders {
    fn check(&mut self, open: &OpenDocuments) -> Vec<Arc<Checked>> {
        for folder in &mut self.folders {
            folder.update(open, self.host.as_ref());
        }
        let is_alone = |document: &&OpenDocument| {
            let uri = document.uri.as_str();
            let name = uri.rsplit(['/', ':']).next().unwrap_or_default();
            let is_checked = name != CONFIG_FILE && !is_variables(name);
            is_checked && !self.folders.iter().any(|folder| folder.decides_about(uri))
        };
        let alone: Vec<&str> = open.iter().filter(is_alone).map(|document| document.uri.as_str()).collect();
        self.alone.retain(|known| alone.iter().any(|uri| known.is_about(uri)));
        for uri in alone {
            if !self.alone.iter().any(|known| known.is_about(uri)) {
                self.alone.push(SentFolder::alone(uri));
            }
        }
        for document in &mut self.alone {
            document.update(open, self.host.as_ref());
        }
        self.folders.iter_mut().chain(&mut self.alone).filter_map(|folder| folder.check(open)).collect()
    }

    /// The extension sends the files that change.
    fn reload(&mut self, _: &[PathBuf]) {}

    /// The extension sends the files of new folders, and says which folders are closed.
    fn change_folders(&mut self, _: Vec<PathBuf>, _: &[PathBuf]) {}

    fn watched(&self) -> Vec<String> {
        Vec::new()
    }

    fn page(&self, rule: &str) -> Option<String> {
        self.pages.get(rule).cloned()
    }

    fn registry(&self) -> &'static Registry {
        &REGISTRY
    }

    fn folder_of(&self, document: &OpenDocument) -> Option<&dyn FolderView> {
        self.all().find(|folder| folder.file_of(document).is_some()).map(|folder| folder as &dyn FolderView)
    }

    fn folders(&self) -> Vec<&dyn FolderView> {
        self.all().map(|folder| folder as &dyn FolderView).collect()
    }

    fn unread(&self, _: &OpenDocuments) -> Option<String> {
        None
    }

    fn now(&self) -> Timestamp {
        self.host.now()
    }
}
