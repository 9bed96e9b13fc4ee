//! The policy's host calls.

use karpwarden::karpenter::kind::Kind;

/// A host that answers the policy's calls.
pub trait Host {
    /// Calls an operation of the namespace `kubernetes`. The error is the host's message.
    fn call(&self, operation: &str, payload: &[u8]) -> Result<Vec<u8>, String>;
}

/// The waPC host that runs this module.
#[derive(Clone, Copy, Debug)]
pub struct Wapc;

impl Host for Wapc {
    fn call(&self, operation: &str, payload: &[u8]) -> Result<Vec<u8>, String> {
        wapc_guest::host_call("kubewarden", "kubernetes", operation, payload)
            .map_err(|error| error.to_string())
    }
}

/// Lists the objects of a kind. The result is the JSON of a Kubernetes list, whose items have at least the given fields.
pub(crate) fn list(host: &dyn Host, kind: Kind, fields: &[&str]) -> Result<Vec<u8>, String> {
    // Names of kinds and fields need no JSON escapes.
    let request = format!(
        r#"{{"api_version":"{}","field_masks":["{}"],"field_selector":null,"kind":"{}","label_selector":null}}"#,
        api_version(kind),
        fields.join("\",\""),
        kind.name,
    );
    host.call("list_resources_all", request.as_bytes())
}

/// The apiVersion of a kind: `group/version`, or only the version for the core group.
pub fn api_version(kind: Kind) -> String {
    if kind.group.is_empty() { kind.version.to_owned() } else { format!("{}/{}", kind.group, kind.version) }
}
