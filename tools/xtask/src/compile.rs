//! `cargo xtask module`: compiles a WebAssembly module of this repository.
//!
//! The same sources give the same bytes in every folder and on every machine. Panic messages name source files: Cargo names
//! the files of the workspace relative to its root, and the paths of downloaded dependencies are remapped here.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

/// A module, and where its build goes.
struct ModuleBuild {
    name: &'static str,
    /// Folder of the Cargo workspace.
    workspace: &'static str,
    package: &'static str,
    target: &'static str,
    profile: &'static str,
    kind: ModuleKind,
    output: &'static str,
}

/// Shape of a module.
enum ModuleKind {
    /// Functions that a host calls.
    Library,
    /// A program for WASI, with the name of the binary.
    Program(&'static str),
}

/// Bytes of the stack of a program. `karpwarden` needs it for the largest value of `--max-depth`.
const STACK: usize = 64 << 20;

const MODULES: [ModuleBuild; 9] = [
    ModuleBuild {
        name: "policy",
        workspace: ".",
        package: "karpwarden-policy",
        target: "wasm32-wasip1",
        profile: "policy",
        kind: ModuleKind::Library,
        output: "policies/karpenter/policy.wasm",
    },
    ModuleBuild {
        name: "floor",
        workspace: "tools/floor",
        package: "karpwarden-floor",
        target: "wasm32-wasip1",
        profile: "release",
        kind: ModuleKind::Library,
        output: "tools/floor/floor.wasm",
    },
    ModuleBuild {
        name: "counted",
        workspace: ".",
        package: "karpwarden-counted",
        target: "wasm32-wasip1",
        profile: "policy",
        kind: ModuleKind::Library,
        output: "tools/counted/counted.wasm",
    },
    ModuleBuild {
        name: "playground",
        workspace: ".",
        package: "karpwarden-playground",
        target: "wasm32-unknown-unknown",
        profile: "web",
        kind: ModuleKind::Library,
        output: "playground/build/engine.wasm",
    },
    ModuleBuild {
        name: "playground-checker",
        workspace: ".",
        package: "karpwarden-playground-checker",
        target: "wasm32-unknown-unknown",
        profile: "web-first",
        kind: ModuleKind::Library,
        output: "playground/build/checker.wasm",
    },
    ModuleBuild {
        name: "playground-symptoms",
        workspace: ".",
        package: "karpwarden-playground-symptoms",
        target: "wasm32-unknown-unknown",
        profile: "web",
        kind: ModuleKind::Library,
        output: "playground/build/symptoms.wasm",
    },
    ModuleBuild {
        name: "playground-placement",
        workspace: ".",
        package: "karpwarden-playground-placement",
        target: "wasm32-unknown-unknown",
        profile: "web",
        kind: ModuleKind::Library,
        output: "playground/build/placement.wasm",
    },
    ModuleBuild {
        name: "playground-editor",
        workspace: ".",
        package: "karpwarden-playground-editor",
        target: "wasm32-unknown-unknown",
        profile: "web",
        output: "playground/build/editor.wasm",
        kind: ModuleKind::Library,
    },
    ModuleBuild {
        name: "command",
        workspace: ".",
        package: "karpwarden-cli",
        target: "wasm32-wasip1",
        profile: "command",
        kind: ModuleKind::Program("karpwarden"),
        output: "playground/build/command.wasm",
    },
];

/// Compiles the module of this name and copies it to its place in the repository.
pub(crate) fn compile(root: &Path, name: &str) -> Result<()> {
    let Some(module) = MODULES.iter().find(|module| module.name == name) else {
        let names: Vec<&str> = MODULES.iter().map(|module| module.name).collect();
        bail!("unknown module `{name}`; the modules are {}", names.join(", "));
    };
    println!("==> {}: {} build for {}", module.package, module.profile, module.target);
    let built = module.build(&root.join(module.workspace))?;
    let output = root.join(module.output);
    let copied = output.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::copy(&built, &output));
    copied.with_context(|| output.display().to_string())?;
    Ok(())
}

impl ModuleBuild {
    /// Runs Cargo and returns the path of the compiled file.
    fn build(&self, workspace: &Path) -> Result<PathBuf> {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        // Only the sources of dependencies that are downloaded can be remapped.
        let mut fetch = Command::new(&cargo);
        fetch.args(["fetch", "--quiet", "--locked", "--target", self.target]).current_dir(workspace);
        ensure!(fetch.status().context("cargo fetch")?.success(), "cargo fetch failed");
        let mut build = Command::new(&cargo);
        build.args(["rustc", "--locked", "--target", self.target, "--profile", self.profile]);
        // The packages are libraries for Cargo. If they were modules too, a package that depends on one would compile all crates
        // for linking without optimisation as well, and Cargo would skip link-time optimisation.
        build.args(["--package", self.package]);
        match self.kind {
            ModuleKind::Library => build.args(["--lib", "--crate-type", "cdylib"]),
            ModuleKind::Program(name) => build.args(["--bin", name]),
        };
        build.arg("--message-format=json-render-diagnostics").current_dir(workspace);
        build.env_remove("RUSTFLAGS").env("CARGO_ENCODED_RUSTFLAGS", remapping()?);
        if let ModuleKind::Program(_) = self.kind {
            build.args(["--".to_owned(), format!("-Clink-arg=-zstack-size={STACK}")]);
        }
        let output = build.stderr(Stdio::inherit()).output().context("cargo")?;
        ensure!(output.status.success(), "{} does not compile", self.package);
        let messages = String::from_utf8_lossy(&output.stdout);
        let name = match self.kind {
            ModuleKind::Library => self.package.replace('-', "_"),
            ModuleKind::Program(name) => name.to_owned(),
        };
        compiled_file(&messages, &name)
            .with_context(|| format!("Cargo reports no WebAssembly file for {}", self.package))
    }
}

/// Compiler flags that replace the folder of the downloaded sources in paths, in the encoding of
/// `CARGO_ENCODED_RUSTFLAGS`.
fn remapping() -> Result<OsString> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")));
    let sources = home.context("neither CARGO_HOME nor HOME is set")?.join("registry/src");
    let entries = fs::read_dir(&sources).with_context(|| sources.display().to_string())?;
    let mut registries: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    registries.sort();
    let flags = registries.iter().map(|registry| {
        let mut flag = OsString::from("--remap-path-prefix=");
        flag.push(registry);
        flag.push("=/crates");
        flag
    });
    Ok(flags.collect::<Vec<_>>().join(OsStr::new("\u{1f}")))
}

/// The WebAssembly file of a library or a binary among Cargo's messages.
fn compiled_file(messages: &str, target: &str) -> Option<PathBuf> {
    let artifacts = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut artifacts = artifacts.filter(|message| {
        let name = message.pointer("/target/name").and_then(Value::as_str);
        message.get("reason").and_then(Value::as_str) == Some("compiler-artifact") && name == Some(target)
    });
    // A library and a binary of a package can have the same name.
    artifacts.find_map(|artifact| {
        let mut files =
            artifact.get("filenames")?.as_array()?.iter().filter_map(Value::as_str).map(PathBuf::from);
        files.find(|file| file.extension().is_some_and(|extension| extension == "wasm"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_file_of_the_package_among_cargos_messages() {
        let messages = r#"{"reason":"compiler-artifact","target":{"name":"serde"},"filenames":["/t/libserde.rlib"]}
not JSON
{"reason":"compiler-artifact","target":{"name":"karpwarden_policy"},"filenames":["/t/karpwarden_policy.wasm"]}
{"reason":"build-finished","success":true}"#;
        let found = compiled_file(messages, "karpwarden_policy");
        assert_eq!(found, Some(PathBuf::from("/t/karpwarden_policy.wasm")));
        assert_eq!(compiled_file(messages, "karpwarden_floor"), None);
    }

    #[test]
    fn names_the_modules_when_asked_for_an_unknown_one() {
        let error = compile(Path::new("."), "polcy").unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown module `polcy`; the modules are policy, floor, counted, playground, playground-checker, \
             playground-symptoms, playground-placement, playground-editor, command"
        );
    }
}
