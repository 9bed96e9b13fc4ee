//! `metadata.yml`: the metadata of a policy.
//!
//! Source of the keys, their order in JSON and their validation: kubewarden/kubewarden-controller
//! `crates/policy-evaluator/src/policy_metadata.rs`. Stricter in one point: an unknown key is an error, while Kubewarden ignores
//! it.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, bail};
use semver::Version;
use serde::{Deserialize, Serialize};

/// The annotation that holds the README: `crates/policy-evaluator/src/constants.rs`.
pub(crate) const USAGE: &str = "io.kubewarden.policy.usage";

/// The annotation in which `kwctl annotate` records its version. This tool does not write it: Kubewarden only prints it, and the
/// bytes of the module then depend on this repository alone.
pub(crate) const KWCTL: &str = "io.kubewarden.kwctl";

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PolicyMetadata {
    protocol_version: Option<ProtocolVersion>,
    rules: Vec<WebhookRule>,
    pub(crate) annotations: Option<BTreeMap<String, String>>,
    mutating: bool,
    #[serde(default = "yes")]
    background_audit: bool,
    #[serde(default)]
    execution_mode: ExecutionMode,
    #[serde(default)]
    policy_type: PolicyType,
    #[serde(default)]
    context_aware_resources: BTreeSet<Resource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) host_capabilities: Option<BTreeSet<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    minimum_kubewarden_version: Option<Version>,
}

#[derive(Debug, PartialEq, Eq, Deserialize, Serialize)]
enum ProtocolVersion {
    #[serde(rename = "v1")]
    V1,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WebhookRule {
    api_groups: Vec<String>,
    api_versions: Vec<String>,
    resources: Vec<String>,
    operations: Vec<WebhookOperation>,
}

#[derive(Debug, PartialEq, Eq, Deserialize, Serialize)]
enum WebhookOperation {
    #[serde(rename = "CREATE")]
    Create,
    #[serde(rename = "UPDATE")]
    Update,
    #[serde(rename = "DELETE")]
    Delete,
    #[serde(rename = "CONNECT")]
    Connect,
    #[serde(rename = "*")]
    All,
}

/// The other modes (Rego, WASI programs) do not apply to a waPC module and fail as unknown values.
#[derive(Debug, Default, Deserialize, Serialize)]
enum ExecutionMode {
    #[default]
    #[serde(rename = "kubewarden-wapc")]
    KubewardenWapc,
}

#[derive(Debug, Default, Deserialize, Serialize)]
enum PolicyType {
    #[default]
    #[serde(rename = "kubernetes")]
    Kubernetes,
    #[serde(rename = "raw")]
    Raw,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Resource {
    api_version: String,
    kind: String,
}

const fn yes() -> bool {
    true
}

impl PolicyMetadata {
    /// Reads and validates `metadata.yml`, and adds the protocol version and the usage. The error lists all mistakes, one a
    /// line.
    pub(crate) fn read(yaml: &str, usage: Option<&str>) -> Result<Self> {
        let mut metadata: Self = serde_saphyr::from_str(yaml).context("metadata")?;
        let mistakes = metadata.mistakes();
        if !mistakes.is_empty() {
            bail!("metadata: {}", mistakes.join("\nmetadata: "));
        }
        metadata.protocol_version = Some(ProtocolVersion::V1);
        let annotations = metadata.annotations.get_or_insert_default();
        if annotations.remove(KWCTL).is_some() {
            bail!("metadata: annotations.\"{KWCTL}\" is written by kwctl only; remove it");
        }
        if let Some(usage) = usage {
            annotations.insert(USAGE.to_owned(), usage.to_owned());
        }
        Ok(metadata)
    }

    fn mistakes(&self) -> Vec<String> {
        let mut mistakes = Vec::new();
        for (index, rule) in self.rules.iter().enumerate() {
            let here = |field: &str| format!("rules[{index}].{field}");
            let lists = [("apiGroups", &rule.api_groups), ("apiVersions", &rule.api_versions)];
            for (field, values) in lists {
                check_list(
                    &here(field),
                    values.len(),
                    values.iter().any(|value| value == "*"),
                    &mut mistakes,
                );
            }
            let any = rule.operations.contains(&WebhookOperation::All);
            check_list(&here("operations"), rule.operations.len(), any, &mut mistakes);
            check_resources(&here("resources"), &rule.resources, &mut mistakes);
        }
        for (index, Resource { api_version, kind }) in self.context_aware_resources.iter().enumerate() {
            if api_version.is_empty() || kind.is_empty() {
                mistakes.push(format!("contextAwareResources[{index}] needs an apiVersion and a kind"));
            }
        }
        mistakes
    }
}

fn check_list(field: &str, length: usize, has_asterisk: bool, mistakes: &mut Vec<String>) {
    if length == 0 {
        mistakes.push(format!("{field} is empty"));
    }
    if has_asterisk && length > 1 {
        mistakes.push(format!("{field}: no other elements can be defined when `*` is used"));
    }
}

/// The API server's validation: kubernetes/kubernetes `pkg/apis/admissionregistration/validation/validation.go`.
fn check_resources(field: &str, resources: &[String], mistakes: &mut Vec<String>) {
    check_list(field, resources.len(), false, mistakes);
    let mut whole_resources = BTreeSet::new();
    let mut whole_sub_resources = BTreeSet::new();
    for resource in resources {
        if resource.is_empty() {
            mistakes.push(format!("{field} has an empty name"));
        }
        let Some((name, sub_resource)) = resource.split_once('/') else { continue };
        if whole_resources.contains(name) {
            mistakes.push(format!("{field}: if `{name}/*` is present, `{resource}` must not be"));
        }
        if whole_sub_resources.contains(sub_resource) {
            mistakes.push(format!("{field}: if `*/{sub_resource}` is present, `{resource}` must not be"));
        }
        if sub_resource == "*" {
            whole_resources.insert(name);
        }
        if name == "*" {
            whole_sub_resources.insert(sub_resource);
        }
    }
    let has = |wanted: &str| resources.iter().any(|resource| resource == wanted);
    if has("*/*") && resources.len() > 1 {
        mistakes.push(format!("{field}: if `*/*` is present, no other resource must be"));
    }
    if has("*") && resources.iter().any(|resource| resource != "*" && !resource.contains('/')) {
        mistakes
            .push(format!("{field}: if `*` is present, no other resource without a sub-resource must be"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: &str = "\
rules:
- apiGroups: [karpenter.sh]
  apiVersions: [v1]
  resources: [nodepools]
  operations: [CREATE, UPDATE]
mutating: false
";

    fn json(yaml: &str) -> String {
        serde_json::to_string(&PolicyMetadata::read(yaml, None).unwrap()).unwrap()
    }

    #[test]
    fn writes_defaults_in_kubewardens_order() {
        assert_eq!(
            json(LEAST),
            concat!(
                r#"{"protocolVersion":"v1","rules":[{"apiGroups":["karpenter.sh"],"apiVersions":["v1"],"#,
                r#""resources":["nodepools"],"operations":["CREATE","UPDATE"]}],"annotations":{},"mutating":false,"#,
                r#""backgroundAudit":true,"executionMode":"kubewarden-wapc","policyType":"kubernetes","#,
                r#""contextAwareResources":[]}"#
            )
        );
    }

    #[test]
    fn sorts_sets_and_writes_optional_keys_last() {
        let more = format!(
            r"{LEAST}minimumKubewardenVersion: 1.33.0
hostCapabilities: [b, a]
contextAwareResources:
- {{apiVersion: v1, kind: Pod}}
- {{apiVersion: karpenter.sh/v1, kind: NodePool}}
"
        );
        let json = json(&more);
        let end = concat!(
            r#""contextAwareResources":[{"apiVersion":"karpenter.sh/v1","kind":"NodePool"},"#,
            r#"{"apiVersion":"v1","kind":"Pod"}],"hostCapabilities":["a","b"],"minimumKubewardenVersion":"1.33.0"}"#
        );
        assert!(json.ends_with(end), "{json}");
    }

    #[test]
    fn adds_the_usage_to_the_annotations() {
        let metadata = PolicyMetadata::read(LEAST, Some("# Karpenter\n")).unwrap();
        assert_eq!(metadata.annotations.unwrap()[USAGE], "# Karpenter\n");
    }

    #[test]
    fn reports_all_mistakes_at_once() {
        let wrong = "\
rules:
- apiGroups: ['*', karpenter.sh]
  apiVersions: []
  resources: [nodepools/*, nodepools/status, '', '*/scale', nodeclaims/scale]
  operations: [CREATE, '*']
- apiGroups: ['*']
  apiVersions: ['*']
  resources: ['*', nodepools, '*/*']
  operations: ['*']
mutating: false
contextAwareResources:
- {apiVersion: v1, kind: ''}
";
        assert_eq!(
            PolicyMetadata::read(wrong, None).unwrap_err().to_string(),
            "\
metadata: rules[0].apiGroups: no other elements can be defined when `*` is used
metadata: rules[0].apiVersions is empty
metadata: rules[0].operations: no other elements can be defined when `*` is used
metadata: rules[0].resources: if `nodepools/*` is present, `nodepools/status` must not be
metadata: rules[0].resources has an empty name
metadata: rules[0].resources: if `*/scale` is present, `nodeclaims/scale` must not be
metadata: rules[1].resources: if `*/*` is present, no other resource must be
metadata: rules[1].resources: if `*` is present, no other resource without a sub-resource must be
metadata: contextAwareResources[0] needs an apiVersion and a kind"
        );
    }

    #[test]
    fn names_unknown_and_missing_keys() {
        let error = |yaml: &str| format!("{:#}", PolicyMetadata::read(yaml, None).unwrap_err());
        assert!(error(&format!("{LEAST}contextAware: true\n")).contains("unknown field `contextAware`"));
        assert!(error("rules: []\n").contains("missing field `mutating`"));
        assert!(error(&format!("{LEAST}executionMode: opa\n")).contains("unknown variant `opa`"));
        assert!(error(&LEAST.replace("UPDATE", "PATCH")).contains("unknown variant `PATCH`"));
        assert!(error(&format!("{LEAST}annotations: {{io.kubewarden.kwctl: '1'}}\n")).contains("remove it"));
    }
}
