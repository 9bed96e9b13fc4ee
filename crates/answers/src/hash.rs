//! Static hashes of NodePools and EC2NodeClasses: the answer of `hash --format json`.

use serde::Serialize;

/// The hashes of the objects in the input.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct HashAnswer {
    /// Version of the shape of this answer.
    #[cfg_attr(feature = "schema", schemars(extend("const" = 1)), ts(type = "1"))]
    pub schema: u8,
    /// Version of Karpwarden.
    pub version: &'static str,
    /// Release of Karpenter.
    pub karpenter_version: String,
    /// The NodePools and EC2NodeClasses, in the order of the input.
    pub objects: Vec<HashedObject>,
    /// Assumptions about facts that the input does not show.
    pub assumptions: Vec<String>,
}

/// A NodePool or an EC2NodeClass with its hash.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct HashedObject {
    /// Name of the file.
    pub file: String,
    /// Position of the document in the file, from 0.
    pub document: usize,
    /// Line of the object, from 1.
    pub line: usize,
    /// Kind of the object.
    pub kind: String,
    /// Name of the object.
    pub name: String,
    /// Version of the hash. Hashes of two versions say nothing about each other.
    pub hash_version: &'static str,
    /// The hash, a decimal number; empty with an `error`.
    pub hash: String,
    /// The hash in the object's annotation, where Karpenter keeps it; empty without the annotation.
    pub annotated_hash: String,
    /// The version of the hash in the annotation; empty without the annotation.
    pub annotated_version: String,
    /// Whether the object has placeholders, which the cluster has other values for. User data is not searched.
    pub has_placeholders: bool,
    /// Reason why there is no hash: a value that Karpenter cannot decode, or a placeholder in its place; else empty.
    pub error: String,
}
