//! The metadata in the custom section of a policy module.

use serde_json::Value;
use wasmparser::{Parser, Payload};

/// The section's name: kubewarden/kubewarden-controller `crates/policy-evaluator/src/constants.rs`.
const SECTION: &str = "io.kubewarden.metadata";

/// The metadata of an annotated module; `None` if the section is missing or is not JSON.
pub fn embedded(module: &[u8]) -> Option<Value> {
    Parser::new(0).parse_all(module).map_while(Result::ok).find_map(|payload| match payload {
        Payload::CustomSection(section) if section.name() == SECTION => {
            serde_json::from_slice(section.data()).ok()
        }
        _ => None,
    })
}

/// The `contextAwareResources` of the metadata: pairs of apiVersion and kind. `kwctl scaffold manifest` grants them.
pub fn context_aware_resources(metadata: &Value) -> Vec<(&str, &str)> {
    let resources =
        metadata.get("contextAwareResources").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    resources
        .iter()
        .filter_map(|resource| Some((resource.get("apiVersion")?.as_str()?, resource.get("kind")?.as_str()?)))
        .collect()
}

/// Whether the rules of the metadata match the request. The API server decides this before it calls the policy. Metadata
/// without rules matches everything.
pub fn matches(metadata: &Value, request: &Value) -> bool {
    metadata.get("rules").is_none_or(|rules| rules_match(rules, request))
}

/// Whether the rules of a policy match the request. An empty list matches everything.
pub fn rules_match(rules: &Value, request: &Value) -> bool {
    let rules = rules.as_array().filter(|rules| !rules.is_empty());
    let requested = |pointer: &str| request.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let covers = |rule: &Value, field: &str, wanted: &str| {
        let listed = rule.get(field).and_then(Value::as_array);
        listed.is_some_and(|listed| listed.iter().any(|value| value == "*" || value == wanted))
    };
    rules.is_none_or(|rules| {
        rules.iter().any(|rule| {
            covers(rule, "apiGroups", requested("/resource/group"))
                && covers(rule, "apiVersions", requested("/resource/version"))
                && covers(rule, "resources", requested("/resource/resource"))
                && covers(rule, "operations", requested("/operation"))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Request;
    use serde_json::json;

    #[test]
    fn rule_matches_by_group_version_resource_and_operation() {
        let metadata = json!({"rules": [
            {"apiGroups": ["karpenter.sh"], "apiVersions": ["v1"], "resources": ["nodepools"], "operations": ["CREATE"]},
            {"apiGroups": ["apps"], "apiVersions": ["*"], "resources": ["*"], "operations": ["*"]},
        ]});
        let object = |api_version: &str, kind: &str| json!({"apiVersion": api_version, "kind": kind});
        let matches_request = |request: Request| matches(&metadata, &request.to_json().unwrap());
        assert!(matches_request(Request::create(object("karpenter.sh/v1", "NodePool"))));
        assert!(matches_request(Request::delete(object("apps/v1", "Deployment"))));
        assert!(!matches_request(Request::delete(object("karpenter.sh/v1", "NodePool"))));
        assert!(!matches_request(Request::create(object("karpenter.sh/v1beta1", "NodePool"))));
        assert!(!matches_request(Request::create(object("v1", "Pod"))));
        assert!(matches(&json!({}), &json!({})));
    }

    #[test]
    fn module_without_the_section_has_no_metadata() {
        assert_eq!(embedded(b"\0asm\x01\0\0\0"), None);
        let mut annotated = b"\0asm\x01\0\0\0\0\x19\x16io.kubewarden.metadata{}".to_vec();
        assert_eq!(embedded(&annotated), Some(json!({})));
        annotated.truncate(12);
        assert_eq!(embedded(&annotated), None);
    }
}
