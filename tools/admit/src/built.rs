//! The modules that the tests run, built on demand by the Makefile's own targets.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// The accept-all policy of `tools/floor`.
pub fn floor() -> Result<&'static [u8], String> {
    static FLOOR: OnceLock<Result<Vec<u8>, String>> = OnceLock::new();
    module(&FLOOR, "floor.wasm", "tools/floor/floor.wasm")
}

/// The policy itself, annotated.
pub fn policy() -> Result<&'static [u8], String> {
    static POLICY: OnceLock<Result<Vec<u8>, String>> = OnceLock::new();
    module(&POLICY, "annotated-policy.wasm", "policies/karpenter/annotated-policy.wasm")
}

type Built = OnceLock<Result<Vec<u8>, String>>;

fn module(built: &'static Built, target: &str, path: &str) -> Result<&'static [u8], String> {
    let module = built.get_or_init(|| make(target).and_then(|root| read(&root.join(path))));
    module.as_deref().map_err(Clone::clone)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Runs a target, which does nothing if the module is up to date, and returns the root of the repository.
fn make(target: &str) -> Result<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // Cargo tells a test about its own package and flags; the module is built with flags of its own.
    let told_by_cargo = std::env::vars_os().map(|(name, _)| name).filter(|name| {
        let name = name.to_string_lossy();
        name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") || name.contains("RUSTFLAGS")
    });
    let mut make = Command::new("make");
    for name in told_by_cargo {
        make.env_remove(name);
    }
    let output = make.args(["--silent", "--no-print-directory", target]).current_dir(&root).output();
    let output = output.map_err(|error| format!("make {target}: {error}"))?;
    if output.status.success() {
        return Ok(root);
    }
    Err(format!("make {target} failed:\n{}", String::from_utf8_lossy(&output.stderr)))
}
