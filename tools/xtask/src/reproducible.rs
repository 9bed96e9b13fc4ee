//! `cargo xtask reproducible`: builds the annotated policy in two folders and compares the bytes.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context as _, Result, bail};

const POLICY: &str = "policies/karpenter/annotated-policy.wasm";

/// Fails if the two builds differ, or if the module names a folder of this machine.
pub(crate) fn check(root: &Path) -> Result<()> {
    let scratch = env::temp_dir().join(format!("karpwarden-reproducible-{}", std::process::id()));
    let result = compare(root, &scratch);
    // The temporary folder is removed at best effort; the result does not depend on it.
    let _ = fs::remove_dir_all(&scratch);
    result
}

fn compare(root: &Path, scratch: &Path) -> Result<()> {
    let files = sources(root)?;
    // Folders of different depth and length.
    let first = build(root, &files, &scratch.join("one"))?;
    let second = build(root, &files, &scratch.join("another/place"))?;
    if first != second {
        bail!("the two builds differ");
    }
    let home = env::var_os("HOME").map(PathBuf::from);
    for folder in [Some(scratch), home.as_deref()].into_iter().flatten().filter_map(Path::to_str) {
        if folder.len() > 1 && first.windows(folder.len()).any(|bytes| bytes == folder.as_bytes()) {
            bail!("the module names the folder {folder}");
        }
    }
    println!("both builds have the same {} bytes", first.len());
    Ok(())
}

/// The files of the repository without the files that git ignores.
fn sources(root: &Path) -> Result<Vec<PathBuf>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root);
    let output = git.output().context("git")?;
    if !output.status.success() {
        bail!("git ls-files: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let names = String::from_utf8_lossy(&output.stdout).into_owned();
    // A file that is deleted but not committed is listed all the same.
    Ok(names.split_terminator('\0').map(PathBuf::from).filter(|file| root.join(file).is_file()).collect())
}

fn build(root: &Path, files: &[PathBuf], folder: &Path) -> Result<Vec<u8>> {
    println!("==> build in {}", folder.display());
    for file in files {
        let copy = folder.join(file);
        if let Some(parent) = copy.parent() {
            fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
        }
        fs::copy(root.join(file), &copy).with_context(|| file.display().to_string())?;
    }
    let make = env::var_os("MAKE").unwrap_or_else(|| OsStr::new("make").to_owned());
    let mut make = Command::new(make);
    make.args(["--silent", "--no-print-directory", "annotated-policy.wasm"]).current_dir(folder);
    // Each copy builds into its own target folder.
    make.env_remove("CARGO_TARGET_DIR").env_remove("MAKEFLAGS");
    let status = make.status().context("make")?;
    if !status.success() {
        bail!("make annotated-policy.wasm failed");
    }
    crate::bytes(&folder.join(POLICY))
}
