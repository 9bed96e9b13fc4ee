//! Pushes to Debian's docker-registry, on a free port of this machine.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may panic")]

mod checkout;
mod running;

use std::collections::BTreeMap;
use std::fs;
use std::process::Output;

use karpwarden_publish::registry::client;
use karpwarden_publish::target::reference;
use oci_client::secrets::RegistryAuth;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use running::{Registry, immutable, module, module_with, publish, wait};

fn failed(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn pull_by_tag_and_by_digest_returns_what_was_pushed() {
    let registry = Registry::start("", "");
    let (module, target) = (module(), registry.target("policies/karpenter:v1.0.0"));
    let immutable = immutable(&publish(&module, &format!("registry://{target}"), &[]));
    let tagged = reference(&target).unwrap();
    let by_digest: oci_client::Reference = immutable.parse().unwrap();
    for place in [&tagged, &by_digest] {
        let anonymous = RegistryAuth::Anonymous;
        let accepted = ["application/vnd.oci.image.manifest.v1+json"];
        let (raw, digest) = wait(client(place).pull_manifest_raw(place, &anonymous, &accepted)).unwrap();
        let hash = Sha256::digest(&raw).iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
        assert_eq!(digest, format!("sha256:{hash}"));
        assert!(immutable.ends_with(&digest), "{immutable}");
        let manifest: Value = serde_json::from_slice(&raw).unwrap();
        assert_eq!(manifest["schemaVersion"], 2);
        assert_eq!(manifest["config"]["mediaType"], "application/vnd.wasm.config.v1+json");
        assert_eq!(manifest["config"]["size"], 2);
        assert_eq!(manifest["layers"].as_array().unwrap().len(), 1);
        assert_eq!(manifest["layers"][0]["mediaType"], "application/vnd.wasm.content.layer.v1+wasm");
        let annotations: BTreeMap<String, String> =
            serde_json::from_value(manifest["annotations"].clone()).unwrap();
        let expected = [
            ("io.kubewarden.policy.source", "https://git.example/a"),
            ("io.kubewarden.policy.title", "karpenter"),
            ("org.opencontainers.image.source", "https://git.example/a"),
        ];
        assert_eq!(annotations, expected.map(|(key, value)| (key.to_owned(), value.to_owned())).into());
        let layer = "application/vnd.wasm.content.layer.v1+wasm";
        let image = wait(client(place).pull(place, &anonymous, vec![layer])).unwrap();
        assert_eq!(image.layers[0].data, module);
        assert_eq!(&image.config.data[..], b"{}");
    }
}

#[test]
fn keeps_the_image_source_of_the_metadata() {
    let module = module_with(
        r#"{"annotations":{"io.kubewarden.policy.source":"https://git.example/a",
        "org.opencontainers.image.source":"https://git.example/b"}}"#,
    );
    let annotations = karpwarden_publish::metadata::annotations(&module).unwrap();
    assert_eq!(annotations["org.opencontainers.image.source"], "https://git.example/b");
}

#[test]
fn same_module_has_same_digest() {
    let registry = Registry::start("", "");
    let digest = |tag| {
        immutable(&publish(&module(), &registry.target(tag), &[])).rsplit('@').next().unwrap().to_owned()
    };
    assert_eq!(digest("policies/karpenter:v1.0.0"), digest("other/place:latest"));
}

#[test]
fn reports_an_unreachable_registry() {
    let mut registry = Registry::start("", "");
    registry.child.kill().unwrap();
    registry.child.wait().unwrap();
    let (status, message) = failed(&publish(&module(), &registry.target("policies/karpenter:v1.0.0"), &[]));
    assert_eq!(status, Some(3), "{message}");
    assert!(message.contains(&format!("{} cannot be reached", registry.address)), "{message}");
}

#[test]
fn reports_a_rejected_push() {
    let registry = Registry::start("  maintenance: {readonly: {enabled: true}}\n", "");
    let (status, message) = failed(&publish(&module(), &registry.target("policies/karpenter:v1.0.0"), &[]));
    assert_eq!(status, Some(5), "{message}");
    assert!(message.contains("rejects"), "{message}");
}

#[test]
fn asks_for_a_login_and_uses_it() {
    let registry = Registry::start("", "auth: {htpasswd: {realm: test, path: 'PASSWORDS'}}\n");
    let target = registry.target("policies/karpenter:v1.0.0");
    let (status, message) = failed(&publish(&module(), &target, &[]));
    assert_eq!(status, Some(4), "{message}");
    assert!(message.contains("REGISTRY_USER"), "{message}");
    let wrong = publish(&module(), &target, &[("REGISTRY_USER", "eve"), ("REGISTRY_PASSWORD", "wrong")]);
    assert_eq!(failed(&wrong).0, Some(4), "{}", failed(&wrong).1);
    let right =
        publish(&module(), &target, &[("REGISTRY_USER", "eve"), ("REGISTRY_PASSWORD", "open sesame")]);
    assert!(immutable(&right).contains("@sha256:"));
}

#[test]
fn uses_a_credential_helper() {
    use std::os::unix::fs::PermissionsExt as _;

    let registry = Registry::start("", "auth: {htpasswd: {realm: test, path: 'PASSWORDS'}}\n");
    let target = registry.target("policies/karpenter:v1.0.0");
    let folder = tempfile::tempdir().unwrap();
    let helper = folder.path().join("docker-credential-test");
    let answer = r#"{"ServerURL":"'"$server"'","Username":"eve","Secret":"open sesame"}"#;
    fs::write(
        &helper,
        format!(
            "#!/bin/sh\nserver=$(cat)\ntest \"$1 $server\" = 'get {}' && echo '{answer}'\n",
            registry.address
        ),
    )
    .unwrap();
    fs::set_permissions(&helper, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let config = folder.path().to_str().unwrap();
    let address = &registry.address;
    for (text, status) in [
        (r#"{"credsStore": "test"}"#.to_owned(), Some(0)),
        (format!(r#"{{"auths": {{"{address}": {{}}}}, "credsStore": "test"}}"#), Some(0)),
        (format!(r#"{{"credHelpers": {{"{address}": "test"}}}}"#), Some(0)),
        (r#"{"credHelpers": {"other.example": "test"}}"#.to_owned(), Some(4)),
    ] {
        fs::write(folder.path().join("config.json"), &text).unwrap();
        let pushed = publish(&module(), &target, &[("DOCKER_CONFIG", config), ("PATH", &path)]);
        assert_eq!(pushed.status.code(), status, "{text}: {}", String::from_utf8_lossy(&pushed.stderr));
    }
}

#[test]
fn does_not_push_a_module_without_metadata() {
    for (bytes, reason) in
        [(&b"\0asm\x01\0\0\0"[..], "is not annotated"), (b"text", "not a WebAssembly module")]
    {
        let (status, message) = failed(&publish(bytes, "127.0.0.1:1/policies/karpenter:v1.0.0", &[]));
        assert_eq!(status, Some(2), "{message}");
        assert!(message.contains(reason), "{message}");
    }
}
