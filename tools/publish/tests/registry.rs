//! Pushes to Debian's docker-registry, on a free port of this machine.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Output, Stdio};

use karpwarden_publish::registry::client;
use karpwarden_publish::target::reference;
use oci_client::secrets::RegistryAuth;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// An htpasswd file: user `eve`, password `open sesame`, hashed with bcrypt.
const PASSWORDS: &str = "eve:$2y$05$abcdefghijklmnopqrstuupx2xBUC4954936wVIjyyPHmUBFu0wCW\n";

/// A running registry, stopped when dropped.
struct Registry {
    child: Child,
    address: String,
    _folder: tempfile::TempDir,
}

impl Registry {
    /// Starts a registry with additional configuration.
    fn start(storage: &str, more: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().display();
        let passwords = folder.path().join("passwords");
        fs::write(&passwords, PASSWORDS).unwrap();
        let mut config = format!(
            r"version: 0.1
log: {{level: info}}
storage:
  filesystem: {{rootdirectory: {root}}}
{storage}"
        );
        let _ = write!(
            config,
            "http: {{addr: '127.0.0.1:0'}}\n{}",
            more.replace("PASSWORDS", &passwords.display().to_string())
        );
        let file = folder.path().join("config.yml");
        fs::write(&file, config).unwrap();
        let mut command = Command::new("docker-registry");
        command.arg("serve").arg(file).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| {
            panic!("docker-registry does not start: {error}; install what the tests need with `make setup`")
        });
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = lines.by_ref().map(Result::unwrap).find_map(|line| {
            let (_, rest) = line.split_once("listening on ")?;
            Some(rest.split(['"', ' ']).next()?.to_owned())
        });
        // Reads the rest of the log: the registry blocks when the pipe is full.
        std::thread::spawn(move || lines.for_each(drop));
        let address = address.unwrap_or_else(|| panic!("the registry's log does not name its address"));
        Self { child, address, _folder: folder }
    }

    fn target(&self, rest: &str) -> String {
        format!("{}/{rest}", self.address)
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        // Fails if the test has stopped it already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A module that does nothing, with metadata.
fn module() -> Vec<u8> {
    module_with(
        r##"{"annotations":{"io.kubewarden.policy.title":"karpenter\n","io.kubewarden.policy.usage":"# One\n\nTwo",
        "io.kubewarden.policy.source":"https://git.example/a"}}"##,
    )
}

/// A module that does nothing, with this metadata.
fn module_with(metadata: &str) -> Vec<u8> {
    let name = b"io.kubewarden.metadata";
    let mut content = vec![u8::try_from(name.len()).unwrap()];
    content.extend_from_slice(name);
    content.extend_from_slice(metadata.as_bytes());
    let mut module = b"\0asm\x01\0\0\0\0".to_vec();
    let length = content.len();
    module.extend([u8::try_from(length & 0x7f).unwrap() | 0x80, u8::try_from(length >> 7).unwrap()]);
    module.extend(content);
    module
}

fn publish(module: &[u8], target: &str, variables: &[(&str, &str)]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.wasm");
    fs::write(&file, module).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_karpwarden-publish"));
    for name in ["REGISTRY_USER", "REGISTRY_PASSWORD", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        command.env_remove(name);
    }
    // An empty configuration, so that no login of this machine is used.
    command.env("DOCKER_CONFIG", folder.path());
    command.args([file.as_os_str(), target.as_ref()]).envs(variables.iter().copied()).output().unwrap()
}

/// The immutable reference that a successful push prints.
fn immutable(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    printed["immutable_ref"].as_str().unwrap().to_owned()
}

fn failed(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
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
