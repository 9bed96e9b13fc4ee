//! The documents of files and folders.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use karpwarden::{
    manifest::{self, File},
    objects::{embedded::READ_OPTIONS, object::Object},
};
use serde_json::Value;

/// An object, or a document that could not be read.
#[derive(Debug)]
pub(crate) struct ManifestDocument {
    /// The path as given, or as found below a given folder.
    pub(crate) file: String,
    pub(crate) content: Result<Arc<Value>, String>,
}

/// Every document of these files and folders, in the order of the paths. Files in a folder are sorted by name.
pub(crate) fn read(paths: &[PathBuf]) -> Vec<ManifestDocument> {
    let mut documents = Vec::new();
    for path in paths {
        if path.is_dir() {
            read_folder(path, &mut documents);
        } else {
            read_file(path, &mut documents);
        }
    }
    documents
}

fn read_folder(folder: &Path, documents: &mut Vec<ManifestDocument>) {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = match entries {
        Ok(entries) => entries,
        Err(error) => return documents.push(refused(folder, &error)),
    };
    let mut paths: Vec<_> = entries.iter().map(fs::DirEntry::path).collect();
    paths.sort();
    for path in paths {
        // Links are not followed: they can form a cycle.
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            read_folder(&path, documents);
        } else if path.extension().is_some_and(|kind| kind == "yaml" || kind == "yml" || kind == "json") {
            read_file(&path, documents);
        }
    }
}

fn read_file(path: &Path, documents: &mut Vec<ManifestDocument>) {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) => return documents.push(refused(path, &error)),
    };
    let name = path.display().to_string();
    let file = File::from_bytes(name.clone(), bytes, READ_OPTIONS);
    for document in &file.documents {
        let add = |content| documents.push(ManifestDocument { file: name.clone(), content });
        match document {
            manifest::Document::Read(tree) => {
                Object::all(tree)
                    .into_iter()
                    .map(|object| Ok(Arc::new(object.root().to_json())))
                    .for_each(add);
            }
            manifest::Document::Template(_) => {
                documents.push(refused(path, &"a template; render it first"));
            }
            manifest::Document::Script(_)
            | manifest::Document::Deleted(_)
            | manifest::Document::Absent { .. }
            | manifest::Document::Unevaluated { .. } => {
                documents.push(refused(path, &"a script; write YAML"));
            }
            manifest::Document::Unreadable { at, error } => {
                let line = file.source.position(*at).line;
                documents.push(refused(path, &format!("line {line}: {error}")));
            }
        }
    }
}

fn refused(path: &Path, error: &dyn core::fmt::Display) -> ManifestDocument {
    ManifestDocument { file: path.display().to_string(), content: Err(error.to_string()) }
}
