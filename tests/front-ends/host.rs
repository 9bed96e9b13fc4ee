//! The policy module in its host, and the same host for the policy library.

use std::sync::LazyLock;

use karpwarden_admit::{FakeCluster, PolicyModule, built};
use karpwarden_policy::admission::validate;
use karpwarden_policy::host::{Host, api_version};
use serde_json::Value;

/// The policy module. Compiled once, because that takes longer than all requests.
pub(crate) fn module() -> &'static PolicyModule {
    static MODULE: LazyLock<PolicyModule> =
        LazyLock::new(|| PolicyModule::load(&built::policy().unwrap()).unwrap());
    &MODULE
}

/// The cluster as the host of the policy library.
pub(crate) struct Native<'c>(pub(crate) &'c FakeCluster);

impl Host for Native<'_> {
    fn call(&self, operation: &str, payload: &[u8]) -> Result<Vec<u8>, String> {
        let answer = self.0.answer("kubewarden", "kubernetes", operation, payload);
        answer.map_err(|error| format!("Host error: {error}"))
    }
}

/// Lets the policy read the kinds that it looks up.
pub(crate) fn granting(cluster: FakeCluster) -> FakeCluster {
    let kinds = karpwarden::ADMISSION.looked_up();
    let grants: Vec<_> = kinds.iter().map(|(kind, _)| (api_version(*kind), kind.name)).collect();
    cluster.granting(grants.iter().map(|(version, kind)| (version.as_str(), *kind)))
}

/// The answer to one request, which the module and the library give alike.
pub(crate) fn answer(module: &PolicyModule, payload: &Value, cluster: &FakeCluster) -> Value {
    let payload = payload.to_string();
    let of_module = module.call("validate", payload.as_bytes(), cluster).unwrap();
    let of_library = validate(payload.as_bytes(), &Native(cluster)).to_json().into_bytes();
    assert_eq!(String::from_utf8(of_module).unwrap(), String::from_utf8(of_library.clone()).unwrap());
    serde_json::from_slice(&of_library).unwrap()
}
