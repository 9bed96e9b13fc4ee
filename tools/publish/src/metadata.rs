//! The annotations of the registry's manifest.

use std::collections::BTreeMap;

use serde_json::Value;
use wasmparser::{Parser, Payload};

use crate::PublishFailure;

/// The section that holds the metadata: kubewarden/kubewarden-controller `crates/policy-evaluator/src/constants.rs`.
const SECTION: &str = "io.kubewarden.metadata";

/// URL of the sources, as the OCI image specification names it.
const SOURCE: &str = "org.opencontainers.image.source";

/// The annotations of the policy that have one line: a registry accepts no other, so the usage is left out.
///
/// Source: kubewarden/kubewarden-controller `crates/kwctl/src/push.rs`, `build_oci_annotations`.
pub fn annotations(module: &[u8]) -> Result<BTreeMap<String, String>, PublishFailure> {
    let mut metadata = None;
    for payload in Parser::new(0).parse_all(module) {
        match payload {
            Ok(Payload::CustomSection(section)) if section.name() == SECTION => {
                metadata = Some(section.data());
                break;
            }
            Ok(_) => {}
            Err(error) => return Err(PublishFailure::Usage(format!("not a WebAssembly module: {error}"))),
        }
    }
    let not_annotated =
        || PublishFailure::Usage("the module is not annotated: run `make annotated-policy.wasm`".to_owned());
    let metadata: Value =
        serde_json::from_slice(metadata.ok_or_else(not_annotated)?).map_err(|_| not_annotated())?;
    let all = metadata.get("annotations").and_then(Value::as_object).ok_or_else(not_annotated)?;
    let mut annotations: BTreeMap<String, String> = all
        .iter()
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        .filter(|(_, value)| value.lines().count() <= 1)
        .map(|(key, value)| (key, value.trim().to_owned()))
        .collect();
    if let Some(source) = annotations.get("io.kubewarden.policy.source").cloned() {
        annotations.entry(SOURCE.to_owned()).or_insert(source);
    }
    Ok(annotations)
}
