//! The documents of files and folders.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::Deserialize as _;
use serde_json::Value;

/// One document, or one item of a List, or a file that could not be read.
#[derive(Debug)]
pub(crate) struct Document {
    /// As it was named, or found below a folder that was.
    pub(crate) file: String,
    pub(crate) content: Result<Arc<Value>, String>,
}

/// Every document below these paths, in the order of the paths; the content of a folder is sorted by name.
pub(crate) fn read(paths: &[PathBuf]) -> Vec<Document> {
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

fn read_folder(folder: &Path, documents: &mut Vec<Document>) {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = match entries {
        Ok(entries) => entries,
        Err(error) => return documents.push(unreadable(folder, &error)),
    };
    let mut paths: Vec<_> = entries.iter().map(fs::DirEntry::path).collect();
    paths.sort();
    for path in paths {
        // A link is not followed: it may lead back up.
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

fn read_file(path: &Path, documents: &mut Vec<Document>) {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => return documents.push(unreadable(path, &error)),
    };
    for document in serde_yaml_ng::Deserializer::from_str(&text) {
        match Value::deserialize(document) {
            Ok(Value::Null) => {}
            Ok(value) => unpack(path, value, documents),
            // The parser does not find its way back into the next document.
            Err(error) => return documents.push(unreadable(path, &error)),
        }
    }
}

fn unpack(path: &Path, mut value: Value, documents: &mut Vec<Document>) {
    let is_list = value.get("kind").and_then(Value::as_str) == Some("List");
    if let Some(items) = value.get_mut("items").and_then(Value::as_array_mut).filter(|_| is_list) {
        for item in core::mem::take(items) {
            unpack(path, item, documents);
        }
    } else {
        documents.push(Document { file: path.display().to_string(), content: Ok(Arc::new(value)) });
    }
}

fn unreadable(path: &Path, error: &dyn core::fmt::Display) -> Document {
    Document { file: path.display().to_string(), content: Err(error.to_string()) }
}
