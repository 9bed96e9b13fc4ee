//! Files of folders that are read only for the Karpenter version that they pin: scripts, CI files, Terraform and Markdown.
//!
//! They are no inputs: nothing is reported about them, and a file that cannot be read is left out.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use cluster::evidence::mentions_karpenter;
use manifest::{File, parallel};
use objects::version_pin::pins_beside;

use super::base::BaseFolder;
use super::confinement::Confinement;

/// Maximum number of files that are read for one cluster.
pub(crate) const MAX_FILES: usize = 10_000;

/// Maximum size of a file in bytes.
const MAX_BYTES: u64 = 256 * 1024;

/// Extensions of scripts, files of variables and Markdown. Configurations of Terraform are inputs.
const EXTENSIONS: [&str; 10] = ["sh", "bash", "zsh", "fish", "ps1", "mk", "env", "tfvars", "hcl", "md"];

/// Names of files without one of these extensions.
const NAMES: [&str; 8] = [
    "Makefile",
    "GNUmakefile",
    "makefile",
    "Jenkinsfile",
    "Justfile",
    "justfile",
    "Dockerfile",
    "Containerfile",
];

/// Hidden files of a folder, and hidden folders whose YAML files count. A walk through a folder leaves hidden files out.
const HIDDEN_FILES: [&str; 2] = [".gitlab-ci.yml", ".circleci/config.yml"];
const HIDDEN_FOLDERS: [&str; 2] = [".github/workflows", ".github/actions"];

/// Glob patterns of the files that a folder walk takes for their pins.
pub(crate) fn patterns() -> Vec<String> {
    let mut patterns =
        vec![format!("**/*.{{{}}}", EXTENSIONS.join(",")), format!("**/{{{}}}", NAMES.join(","))];
    patterns.extend(HIDDEN_FILES.map(|name| format!("**/{name}")));
    patterns.extend(HIDDEN_FOLDERS.map(|folder| format!("**/{folder}/*.{{yml,yaml}}")));
    patterns
}

/// Whether the file is read for its pins, as a file of a folder or as a hidden file.
pub(crate) fn is_read(path: &Path) -> bool {
    let is_hidden = HIDDEN_FILES.iter().any(|name| path.ends_with(name));
    let folder = path.parent().unwrap_or(Path::new(""));
    let is_in_hidden = || HIDDEN_FOLDERS.iter().any(|name| folder.ends_with(name)) && is_yaml(path);
    may_pin(path) || is_hidden || is_in_hidden()
}

/// Whether the name of a file is the name of a YAML file.
fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yml" || extension == "yaml")
}

/// Whether a folder walk takes the file for its pins.
pub(super) fn may_pin(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known)) || NAMES.contains(&name)
}

/// The hidden files of a folder that may pin a version, sorted by path.
pub(super) fn hidden_in(folder: &Path) -> Vec<PathBuf> {
    let files = HIDDEN_FILES.iter().map(|name| folder.join(name)).filter(|path| path.is_file());
    let mut found: Vec<PathBuf> = files.collect();
    for inner in HIDDEN_FOLDERS.iter().filter_map(|name| fs::read_dir(folder.join(name)).ok()) {
        let paths = inner.filter_map(Result::ok).map(|entry| entry.path());
        found.extend(paths.filter(|path| is_yaml(path) && path.is_file()));
    }
    found.sort();
    found
}

/// The texts of the files that pin a version, in the same order.
pub(crate) fn texts_with_pins(
    paths: &[PathBuf],
    base: &BaseFolder,
    confinement: Option<&Confinement>,
) -> Vec<File> {
    let is_afforded = |path: &Path| confinement.is_none_or(|confinement| confinement.affords(path));
    let read = |path: &PathBuf| {
        let name = base.name(path);
        let text = text_of(path, is_afforded).ok().flatten()?;
        (!pins_beside(&text, &name).is_empty()).then(|| File::text_only(name, text))
    };
    let paths = paths.get(..paths.len().min(MAX_FILES)).unwrap_or_default();
    parallel::map(paths, read).into_iter().flatten().collect()
}

/// The text of a regular file that mentions Karpenter; `None` for a larger file and for other bytes.
fn text_of(path: &Path, is_afforded: impl Fn(&Path) -> bool) -> io::Result<Option<String>> {
    // Opening a pipe may block forever.
    let file = fs::metadata(path)?;
    if !file.is_file() || file.len() > MAX_BYTES || !is_afforded(path) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES || !mentions_karpenter(&bytes) {
        return Ok(None);
    }
    Ok(String::from_utf8(bytes).ok())
}
