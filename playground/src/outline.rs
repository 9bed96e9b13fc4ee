//! Objects in the files, for the list of documents and as the API server would receive them.

use karpwarden::answers::OrEmpty;
use karpwarden::answers::page::{ListedObject, ReviewedOperation};
use karpwarden::manifest::tree::Node;
use karpwarden::manifest::{Document, File};
use karpwarden::objects::object::{Object, Operation};
use serde_json::Value as Json;

/// Lists the objects of the files in order.
pub(crate) fn list(files: &[File], whole: bool) -> Vec<ListedObject> {
    let mut outline = Vec::new();
    for file in files {
        for (document, read) in file.documents.iter().enumerate() {
            let Document::Read(tree) = read else { continue };
            outline.extend(Object::all(tree).into_iter().map(|object| entry(file, document, object, whole)));
        }
    }
    outline
}

fn entry(file: &File, document: usize, object: Object<'_>, whole: bool) -> ListedObject {
    let at = file.source.position(object.root().span().start);
    let operation = match object.operation() {
        Operation::Apply => None,
        Operation::Create => Some(ReviewedOperation::Create),
        Operation::Update => Some(ReviewedOperation::Update),
        Operation::Delete => Some(ReviewedOperation::Delete),
    };
    ListedObject {
        file: file.source.name().to_owned(),
        document,
        api_version: object.api_version().to_owned(),
        kind: object.kind().to_owned(),
        namespace: object.namespace().to_owned(),
        name: object.name().to_owned(),
        operation: OrEmpty(operation),
        line: at.line,
        offset: at.offset,
        object: whole.then(|| object.root().to_json()),
        old_object: whole.then(|| object.old().map_or(Json::Null, Node::to_json)),
    }
}
