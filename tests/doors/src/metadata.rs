//! The metadata that a policy module carries in its custom section.

use serde_json::Value;
use wasmparser::{Parser, Payload};

/// The section's name: kubewarden/kubewarden-controller `crates/policy-evaluator/src/constants.rs`.
const SECTION: &str = "io.kubewarden.metadata";

/// The metadata of an annotated module; `None` if it has none or it is not JSON.
pub fn embedded(module: &[u8]) -> Option<Value> {
    Parser::new(0).parse_all(module).map_while(Result::ok).find_map(|payload| match payload {
        Payload::CustomSection(section) if section.name() == SECTION => {
            serde_json::from_slice(section.data()).ok()
        }
        _ => None,
    })
}

/// The kinds that the metadata asks to see, each an apiVersion and a kind: what `kwctl scaffold manifest` grants.
pub fn context_aware_resources(metadata: &Value) -> Vec<(&str, &str)> {
    let resources =
        metadata.get("contextAwareResources").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    resources
        .iter()
        .filter_map(|resource| Some((resource.get("apiVersion")?.as_str()?, resource.get("kind")?.as_str()?)))
        .collect()
}
