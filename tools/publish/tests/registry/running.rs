//! A running registry, and pushes to it.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

/// An htpasswd file: user `eve`, password `open sesame`, hashed with bcrypt.
const PASSWORDS: &str = "eve:$2y$05$abcdefghijklmnopqrstuupx2xBUC4954936wVIjyyPHmUBFu0wCW\n";

/// A running registry, stopped when dropped.
pub(crate) struct Registry {
    pub(crate) child: Child,
    pub(crate) address: String,
    _folder: tempfile::TempDir,
}

impl Registry {
    /// Starts a registry with additional configuration.
    pub(crate) fn start(storage: &str, more: &str) -> Self {
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

    pub(crate) fn target(&self, rest: &str) -> String {
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
pub(crate) fn module() -> Vec<u8> {
    module_with(
        r##"{"annotations":{"io.kubewarden.policy.title":"karpenter\n","io.kubewarden.policy.usage":"# One\n\nTwo",
        "io.kubewarden.policy.source":"https://git.example/a"}}"##,
    )
}

/// A module that does nothing, with this metadata.
pub(crate) fn module_with(metadata: &str) -> Vec<u8> {
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

pub(crate) fn publish(module: &[u8], target: &str, variables: &[(&str, &str)]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.wasm");
    fs::write(&file, module).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_karpwarden-publish"));
    for name in ["REGISTRY_USER", "REGISTRY_PASSWORD", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        command.env_remove(name);
    }
    // The configuration is empty: the test must not use a login of this machine.
    command.env("DOCKER_CONFIG", folder.path());
    command.args([file.as_os_str(), target.as_ref()]).envs(variables.iter().copied()).output().unwrap()
}

/// The immutable reference that a successful push prints.
pub(crate) fn immutable(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    printed["immutable_ref"].as_str().unwrap().to_owned()
}

pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
