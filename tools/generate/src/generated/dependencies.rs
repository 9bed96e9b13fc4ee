//! The dependencies of the modules, at the end of the security model.

use std::collections::BTreeSet;
use std::env;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::home;

/// Path of the security model.
pub(super) const PATH: &str = "docs/security.md";

const HEADING: &str = "## Dependencies\n";

/// The security model with the current trees.
pub(super) fn text() -> Result<String> {
    let page = home::text(PATH)?;
    let (before, _) =
        page.split_once(HEADING).with_context(|| format!("{PATH} has no `{}`", HEADING.trim()))?;
    let policy = tree(&["karpwarden-policy"], "wasm32-wasip1")?;
    let modules = [
        "karpwarden-playground",
        "karpwarden-playground-checker",
        "karpwarden-playground-editor",
        "karpwarden-playground-placement",
        "karpwarden-playground-symptoms",
    ];
    let modules = tree(&modules, "wasm32-unknown-unknown")?;
    Ok(format!(
        "{before}{HEADING}\n\
         `make generate` writes these trees from `Cargo.lock`, and a test compares them. They leave out this repository's own crates, and\n\
         crates that only run while compiling; `(*)` marks a crate whose dependencies are listed above. The linker drops what is never called. `Cargo.lock` has\n\
         the versions, and every release an SBOM.\n\n\
         The policy:\n\n```text\n{policy}```\n\n\
         The modules of the page and of the extension for VS Code:\n\n```text\n{modules}```\n"
    ))
}

/// The crates of others in the dependency tree of packages, without versions, so that an update changes nothing here. Cargo
/// marks a crate whose dependencies it has listed before with `(*)`.
fn tree(packages: &[&str], target: &str) -> Result<String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["tree", "--locked", "--offline", "--edges", "normal,no-proc-macro", "--prefix", "depth"]);
    command.args(["--target", target]).current_dir(home::path(""));
    for package in packages {
        command.args(["--package", package]);
    }
    let output = command.output().context("cargo tree")?;
    if !output.status.success() {
        bail!("cargo tree: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let lines = String::from_utf8(output.stdout).context("cargo tree")?;
    let mut tree = String::new();
    // The depth of the crate of others that one of ours depends on.
    let mut root: Option<usize> = None;
    let mut roots = BTreeSet::new();
    for line in lines.lines().filter(|line| !line.is_empty()) {
        let package = line.trim_start_matches(|character: char| character.is_ascii_digit());
        let depth = line.strip_suffix(package).and_then(|depth| depth.parse::<usize>().ok());
        let depth = depth.with_context(|| format!("cargo tree: `{line}` has no depth"))?;
        // Our crates come with their folders.
        if package.contains(" (/") || package.contains(":\\") {
            root = None;
            continue;
        }
        let name = package.split(' ').next().unwrap_or_default();
        let first = root.filter(|first| *first <= depth).unwrap_or(depth);
        root = Some(first);
        let indent = depth.saturating_sub(first);
        let is_new = indent > 0 || roots.insert(name);
        if is_new {
            tree.push_str(&"  ".repeat(indent));
            tree.push_str(name);
            tree.push_str(if package.ends_with(" (*)") { " (*)\n" } else { "\n" });
        }
    }
    Ok(tree)
}
