//! Hashes that Karpenter's own code gave (`README.md`).

#![expect(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a test may panic")]

mod decisions;
mod hashes;
mod newest;
mod objects;
mod pairs;

use std::io::Read as _;

use ::objects::object::Object;
use karpenter::kind::Kind;
use karpenter::release::Release;
use karpwarden_drift::{HashOptions, hash};
use manifest::limits::Limits;
use manifest::{Document, File};
use serde_json::Value as Json;

/// The rows of a file.
fn rows(packed: &[u8]) -> Vec<Json> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A manifest as a file.
fn file(manifest: &Json) -> File {
    File::read("manifest.json", manifest.to_string(), &Limits::DEFAULT)
}

/// The object in a file.
fn object(file: &File) -> Object<'_> {
    let [Document::Read(document)] = file.documents.as_slice() else { panic!("{file:?}") };
    let root = document.root();
    let kind = if root.str_at(&["kind"]) == Some("NodePool") { Kind::NODE_POOL } else { Kind::NODE_CLASS };
    Object::of_kind(root, kind)
}

/// The hash of a manifest at a release, as text; an error if Karpenter cannot decode the manifest.
fn hash_at(manifest: &Json, release: &str, is_stored: bool, ca_bundle: &str) -> Result<String, String> {
    let file = file(manifest);
    let mut options = HashOptions::new(Release::parse(release).unwrap());
    options.is_stored = is_stored;
    ca_bundle.clone_into(&mut options.ca_bundle);
    let hash = hash(object(&file), &options).unwrap();
    hash.map(|hash| hash.to_string()).map_err(|error| error.problem.to_string())
}
