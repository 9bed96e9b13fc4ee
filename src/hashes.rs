//! Static hashes of the NodePools and EC2NodeClasses of files, as `karpwarden hash` shows them.

use answers::hash::{HashAnswer, HashedObject};
use answers::{SCHEMA, VERSION};
use cluster::built_objects::BuiltObjects;
use drift::{
    FieldEffect, HashError, HashOptions, HashedKind, StaticHash, has_unrecorded_hash, hash, unrecorded_hash,
};
use karpenter::kind::Kind;
use karpenter::known_values::is_replaced;
use manifest::tree::Node;
use manifest::{Document, File};
use objects::location::Place;
use objects::object::Object;
use objects::placeholders::{has_placeholder_below, is_replaced_by_terraform};
use values::placeholder::has_placeholder;

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
    let open = || if options.is_stored { None } else { open_path(object) };
    let (hash, error) = match hash(object, options)? {
        Ok(StaticHash { value, .. }) => match open() {
            Some(path) => (String::new(), format!("{path} has a placeholder")),
            None => (value.to_string(), String::new()),
        },
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
        has_placeholders: !options.is_stored && has_placeholders(object),
        error,
    })
}

/// Whether a field of the spec has a placeholder. The variables of a script in user data are no placeholders.
fn has_placeholders(object: Object<'_>) -> bool {
    let fields = object.at(&["spec"]).into_iter().flat_map(Node::members);
    fields.into_iter().any(|(key, value)| key != "userData" && has_placeholder_below(value))
}

/// The path of the first value that the hash depends on and that has a placeholder: the cluster has another value there, and another hash.
fn open_path(object: Object<'_>) -> Option<String> {
    let kind = [Kind::NODE_POOL, Kind::NODE_CLASS].into_iter().find(|kind| object.is(*kind))?;
    let names_family = object.at(&["spec", "amiFamily"]).is_some_and(|family| !family.is_null());
    let mut nodes = vec![object.at(&["spec"])?];
    while let Some(node) = nodes.pop() {
        let above = nodes.len();
        nodes.extend(node.children());
        nodes.get_mut(above..).unwrap_or_default().reverse();
        if !is_open(node) {
            continue;
        }
        let path = Place::value(node).path(object.root());
        // The terms may have an alias, which names the family.
        let terms = path.strip_prefix("spec.amiSelectorTerms").filter(|_| !names_family);
        let hides_family = terms.is_some_and(|item| !item.contains('.'));
        if hides_family || FieldEffect::is_in_hash(kind, &path) {
            return Some(path);
        }
    }
    None
}

/// Whether the key or the value of a node has a placeholder. In user data, only Terraform replaces text: a script has variables of the same
/// form.
fn is_open(node: Node<'_>) -> bool {
    if node.key() == "userData" {
        return node.as_str().is_some_and(|text| is_replaced_by_terraform(node, text));
    }
    has_placeholder(node.key()) || node.as_str().is_some_and(|value| is_replaced(node.key(), value))
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
