//! The compiled modules that the tests run. `make modules` builds them; a test never does.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context as _, Result, bail};

/// The accept-all policy of `tools/floor`.
pub fn floor() -> Result<Vec<u8>> {
    module("tools/floor/floor.wasm", "floor.wasm", &["tools/floor/src", "tools/floor/Cargo.lock"])
}

/// The annotated policy.
pub fn policy() -> Result<Vec<u8>> {
    const SOURCES: [&str; 7] = [
        "build.rs",
        "crates",
        "src",
        "policies/karpenter/src",
        "policies/karpenter/metadata.yml",
        "Cargo.toml",
        "Cargo.lock",
    ];
    module("policies/karpenter/annotated-policy.wasm", "annotated-policy.wasm", &SOURCES)
}

/// The engine with every rule, of `tools/counted`.
pub fn counted() -> Result<Vec<u8>> {
    const SOURCES: [&str; 6] = ["build.rs", "crates", "src", "tools/counted/src", "Cargo.toml", "Cargo.lock"];
    module("tools/counted/counted.wasm", "counted.wasm", &SOURCES)
}

/// Reads a module. A module that is older than its sources is an error: the tests would pass on code that is gone.
fn module(path: &str, target: &str, sources: &[&str]) -> Result<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let file = root.join(path);
    let built = modified(&file).with_context(|| format!("{path} is missing; run `make {target}`"))?;
    let newest = sources.iter().filter_map(|source| newest(&root.join(source))).max();
    if let Some((_, source)) = newest.filter(|(changed, _)| *changed > built) {
        let source = source.strip_prefix(&root).unwrap_or(&source).display();
        bail!("{path} is older than {source}; run `make {target}`");
    }
    fs::read(&file).with_context(|| path.to_owned())
}

/// The file that changed last, of a file or of everything in a folder.
fn newest(path: &Path) -> Option<(SystemTime, PathBuf)> {
    if !path.is_dir() {
        return Some((modified(path)?, path.to_owned()));
    }
    let entries = fs::read_dir(path).ok()?.filter_map(Result::ok);
    entries.filter_map(|entry| newest(&entry.path())).max()
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}
