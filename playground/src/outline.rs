//! Objects in the files, for the list of documents and as the API server would receive them.

use checker::json::value_of;
use karpwarden::manifest::{Document, File};
use karpwarden::objects::object::{Object, Operation};
use serde_json::{Value as Json, json};

/// Lists the objects of the files in order.
pub(crate) fn of(files: &[File], whole: bool) -> Json {
    let mut outline = Vec::new();
    for file in files {
        for (document, read) in file.documents.iter().enumerate() {
            let Document::Read(tree) = read else { continue };
            outline.extend(Object::all(tree).into_iter().map(|object| entry(file, document, object, whole)));
        }
    }
    Json::Array(outline)
}

fn entry(file: &File, document: usize, object: Object<'_>, whole: bool) -> Json {
    let at = file.source.position(object.root().span().start);
    let operation = match object.operation() {
        Operation::Apply => "",
        Operation::Create => "CREATE",
        Operation::Update => "UPDATE",
    };
    let mut entry = json!({
        "file": file.source.name(),
        "document": document,
        "apiVersion": object.api_version(),
        "kind": object.kind(),
        "namespace": object.namespace(),
        "name": object.name(),
        "operation": operation,
        "line": at.line,
        "offset": at.offset,
    });
    if let Some(entry) = entry.as_object_mut().filter(|_| whole) {
        entry.insert("object".to_owned(), value_of(object.root()));
        entry.insert("oldObject".to_owned(), object.old().map_or(Json::Null, value_of));
    }
    entry
}
