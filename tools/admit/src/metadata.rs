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

/// Whether a rule of the metadata is about the request: what the API server decides before it asks the policy. Without
/// rules, everything is.
pub fn is_about(metadata: &Value, request: &Value) -> bool {
    let rules = metadata.get("rules").and_then(Value::as_array).filter(|rules| !rules.is_empty());
    let asked = |pointer: &str| request.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let covers = |rule: &Value, field: &str, wanted: &str| {
        let listed = rule.get(field).and_then(Value::as_array);
        listed.is_some_and(|listed| listed.iter().any(|value| value == "*" || value == wanted))
    };
    rules.is_none_or(|rules| {
        rules.iter().any(|rule| {
            covers(rule, "apiGroups", asked("/resource/group"))
                && covers(rule, "apiVersions", asked("/resource/version"))
                && covers(rule, "resources", asked("/resource/resource"))
                && covers(rule, "operations", asked("/operation"))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Request;
    use serde_json::json;

    #[test]
    fn a_rule_is_about_its_groups_versions_resources_and_operations() {
        let metadata = json!({"rules": [
            {"apiGroups": ["karpenter.sh"], "apiVersions": ["v1"], "resources": ["nodepools"], "operations": ["CREATE"]},
            {"apiGroups": ["apps"], "apiVersions": ["*"], "resources": ["*"], "operations": ["*"]},
        ]});
        let object = |api_version: &str, kind: &str| json!({"apiVersion": api_version, "kind": kind});
        let about = |request: Request| is_about(&metadata, &request.to_json().unwrap());
        assert!(about(Request::create(object("karpenter.sh/v1", "NodePool"))));
        assert!(about(Request::delete(object("apps/v1", "Deployment"))));
        assert!(!about(Request::delete(object("karpenter.sh/v1", "NodePool"))));
        assert!(!about(Request::create(object("karpenter.sh/v1beta1", "NodePool"))));
        assert!(!about(Request::create(object("v1", "Pod"))));
        assert!(is_about(&json!({}), &json!({})));
    }

    #[test]
    fn a_module_without_the_section_has_no_metadata() {
        assert_eq!(embedded(b"\0asm\x01\0\0\0"), None);
        let mut annotated = b"\0asm\x01\0\0\0\0\x19\x16io.kubewarden.metadata{}".to_vec();
        assert_eq!(embedded(&annotated), Some(json!({})));
        annotated.truncate(12);
        assert_eq!(embedded(&annotated), None);
    }
}
