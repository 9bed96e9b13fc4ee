//! Static hashes of the NodePools and EC2NodeClasses of files, as `karpwarden hash` shows them.

use answers::hash::{HashAnswer, HashedObject};
use answers::{SCHEMA, VERSION};
use cluster::built_objects::BuiltObjects;
use drift::{HashError, HashOptions, HashedKind, StaticHash, has_unrecorded_hash, hash, unrecorded_hash};
use manifest::tree::Node;
use manifest::{Document, File};
use objects::location::Place;
use objects::object::Object;
use objects::placeholders::has_placeholder_below;

/// The hashes of the objects in some files, as kustomizations build them, with the assumption about the release only. Also returns the
/// overlays that are left out, because each is a variant of another one.
pub fn answer(files: &[File], options: &HashOptions) -> (HashAnswer, Vec<String>) {
    let built = BuiltObjects::of(files);
    let objects = built.objects(files).into_iter();
    let left_out = built.left_out().into_iter().map(str::to_owned).collect();
    let objects: Vec<Object<'_>> = objects.collect();
    let is_unrecorded = objects.iter().any(|object| has_unrecorded_hash(*object, options.release));
    let answer = HashAnswer {
        schema: SCHEMA,
        version: VERSION,
        karpenter_version: options.release.to_string(),
        objects: objects.into_iter().filter_map(|object| hashed(object, files, options)).collect(),
        assumptions: is_unrecorded.then(|| unrecorded_hash(options.release)).into_iter().collect(),
    };
    (answer, left_out)
}

fn hashed(object: Object<'_>, files: &[File], options: &HashOptions) -> Option<HashedObject> {
    let kind = HashedKind::of(object)?;
    let (hash, error) = match hash(object, options)? {
        Ok(StaticHash { value, .. }) => (value.to_string(), String::new()),
        Err(error) => (String::new(), error_text(object, &error)),
    };
    let annotation = |key: &str| object.annotation(key).and_then(Node::as_str).unwrap_or_default().to_owned();
    let source = object.root().source();
    let start = object.root().span().start;
    Some(HashedObject {
        file: source.name().to_owned(),
        document: document_at(files, source.name(), start),
        line: source.position(start).line,
        kind: object.kind().to_owned(),
        name: object.name().to_owned(),
        hash_version: kind.version(options.release),
        hash,
        annotated_hash: annotation(kind.annotation()),
        annotated_version: annotation(kind.version_annotation()),
        has_placeholders: !options.is_stored && has_placeholder(object),
        error,
    })
}

/// Whether a field of the spec has a placeholder. The variables of a script in user data are no placeholders.
fn has_placeholder(object: Object<'_>) -> bool {
    let fields = object.at(&["spec"]).into_iter().flat_map(Node::members);
    fields.into_iter().any(|(key, value)| key != "userData" && has_placeholder_below(value))
}

/// The reason why an object has no hash.
pub(crate) fn error_text(object: Object<'_>, error: &HashError<'_>) -> String {
    let path = Place::value(error.node).path(object.root());
    if has_placeholder_below(error.node) {
        return format!("{path} has a placeholder");
    }
    format!("Karpenter cannot decode {path}: {}", error.problem)
}

/// The position of the document with a byte of a file.
pub(crate) fn document_at(files: &[File], name: &str, byte: usize) -> usize {
    let Some(file) = files.iter().find(|file| file.source.name() == name) else { return 0 };
    let starts = |document: &Document| match document {
        Document::Read(tree) => tree.root().span().start <= byte,
        _ => false,
    };
    file.documents.iter().rposition(starts).unwrap_or_default()
}
