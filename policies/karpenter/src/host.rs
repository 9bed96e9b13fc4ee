//! What the policy asks the host for.

use karpwarden::karpenter::kind::Kind;

/// The host's answers.
pub trait Host {
    /// Calls an operation of the namespace `kubernetes`; gives the answer, or why there is none.
    fn call(&self, operation: &str, payload: &[u8]) -> Result<Vec<u8>, String>;
}

/// The host that runs this module.
#[derive(Clone, Copy, Debug)]
pub struct Wapc;

impl Host for Wapc {
    fn call(&self, operation: &str, payload: &[u8]) -> Result<Vec<u8>, String> {
        wapc_guest::host_call("kubewarden", "kubernetes", operation, payload)
            .map_err(|error| error.to_string())
    }
}

/// The objects of a kind, as the JSON of a Kubernetes list with at least the named fields of each.
pub(crate) fn list(host: &dyn Host, kind: Kind, fields: &[&str]) -> Result<Vec<u8>, String> {
    // Names of kinds and fields have nothing that JSON would escape.
    let request = format!(
        r#"{{"api_version":"{}","field_masks":["{}"],"field_selector":null,"kind":"{}","label_selector":null}}"#,
        api_version(kind),
        fields.join("\",\""),
        kind.name,
    );
    host.call("list_resources_all", request.as_bytes())
}

/// `group/version`, or the version alone for the core group.
pub(crate) fn api_version(kind: Kind) -> String {
    if kind.group.is_empty() { kind.version.to_owned() } else { format!("{}/{}", kind.group, kind.version) }
}
