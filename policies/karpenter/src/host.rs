//! What the policy asks the host for.

use karpwarden::object::Kind;

/// The host's answers.
pub trait Host {
    /// The objects of a kind, as the JSON of a Kubernetes list with at least the masked fields of each; or why not, in
    /// words for the person who wrote the request.
    fn list(&self, kind: Kind, fields: &[&str]) -> Result<Vec<u8>, String>;
}

/// The host that runs this module.
#[derive(Clone, Copy, Debug)]
pub struct Wapc;

impl Host for Wapc {
    fn list(&self, kind: Kind, fields: &[&str]) -> Result<Vec<u8>, String> {
        let request = serde_json::json!({
            "api_version": api_version(kind),
            "kind": kind.name,
            "label_selector": null,
            "field_selector": null,
            "field_masks": fields,
        });
        let payload = request.to_string();
        wapc_guest::host_call("kubewarden", "kubernetes", "list_resources_all", payload.as_bytes())
            .map_err(|error| error.to_string())
    }
}

/// `group/version`, or the version alone for the core group.
pub(crate) fn api_version(kind: Kind) -> String {
    if kind.group.is_empty() { kind.version.to_owned() } else { format!("{}/{}", kind.group, kind.version) }
}
