//! The manifests of a commit, read from the objects of the repository through the program `git`.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::links::{self, TreeFile};
use crate::error::CommandError;
use crate::platform;

/// Branches that may be the default branch, if the remote does not say which one is.
const DEFAULT_BRANCHES: [&str; 4] = ["origin/main", "origin/master", "main", "master"];

/// A commit of a repository.
#[derive(Debug)]
pub(super) struct Commit {
    /// The folder with the working tree.
    pub(super) root: PathBuf,
    hash: String,
}

/// A file of a commit.
#[derive(Debug)]
pub(super) struct CommittedFile {
    /// Path in the working tree, where the file may not be any more.
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
}

impl Commit {
    /// Finds the commit at which the current branch left another one, in the repository that has a path. An empty name is the default
    /// branch. A commit that the current branch has is itself that commit.
    pub(super) fn find(path: &Path, name: &str) -> Result<Self, CommandError> {
        let folder = path.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("."));
        let mut command = git_command(folder);
        command.args(["rev-parse", "--show-toplevel"]);
        let root = output(command)?.map_err(|error| {
            let path = path.display();
            let text = format!(
                "`--base`: `{path}` is not in the working tree of a git repository; git says: {error}"
            );
            CommandError::Usage(text)
        })?;
        let root = first_line(&root);
        let root = PathBuf::from(root);
        let default = default_branch(&root)?;
        let wanted = if name.is_empty() { default.as_deref().unwrap_or_default() } else { name };
        if wanted.is_empty() {
            let text = "`--base`: the repository has no branch `main` or `master`; name a commit or a branch";
            return Err(CommandError::Usage(text.to_owned()));
        }
        let is_shallow = git(&root, &["rev-parse", "--is-shallow-repository"])?.as_deref() == Some("true");
        let advice = if is_shallow {
            "; the clone is shallow: fetch the history with `git fetch --unshallow`, or in CI with `fetch-depth: 0`"
        } else {
            ""
        };
        if wanted.starts_with('-') {
            let text = format!("`--base`: `{wanted}` is no name of a commit or a branch");
            return Err(CommandError::Usage(text));
        }
        let commit = format!("{wanted}^{{commit}}");
        let Some(hash) = git(&root, &["rev-parse", "--verify", "--quiet", &commit])? else {
            let advice = if Path::new(wanted).exists() {
                format!("; before a path, write `--base -- {wanted}`, or `--base=REF {wanted}`")
            } else {
                advice.to_owned()
            };
            let text = format!("`--base`: the repository has no commit or branch `{wanted}`{advice}");
            return Err(CommandError::Usage(text));
        };
        let common = git(&root, &["merge-base", "HEAD", &hash])?.filter(|hash| !hash.is_empty());
        let Some(hash) = common else {
            let text = format!("`--base`: the current branch and `{wanted}` have no common commit{advice}");
            return Err(CommandError::Usage(text));
        };
        Ok(Self { root, hash })
    }

    /// The first characters of the hash.
    pub(super) fn short(&self) -> &str {
        self.hash.get(..12).unwrap_or(&self.hash)
    }

    /// The paths of all files of the commit, from the root of the repository, with the hashes of their texts. Submodules are left
    /// out.
    pub(super) fn tree(&self) -> Result<BTreeMap<PathBuf, String>, CommandError> {
        Ok(self.files()?.into_iter().map(|(path, file)| (path, file.hash)).collect())
    }

    /// The text with a hash.
    pub(super) fn text(&self, hash: &str) -> Option<Vec<u8>> {
        self.blobs(vec![hash.to_owned()]).ok()?.remove(hash)
    }

    /// Reads some files, of which the hashes are known. Paths from the root of the repository are taken, too.
    pub(super) fn contents(
        &self,
        wanted: Vec<(PathBuf, String)>,
    ) -> Result<Vec<CommittedFile>, CommandError> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let texts = self.blobs(wanted.iter().map(|(_, hash)| hash.clone()).collect())?;
        let file = |(path, hash): (PathBuf, String)| match texts.get(&hash) {
            Some(bytes) => Ok(CommittedFile { path: self.root.join(path), bytes: bytes.clone() }),
            None => Err(broken("cat-file", &format!("the repository lacks the text of {}", path.display()))),
        };
        wanted.into_iter().map(file).collect()
    }

    /// The files by their paths from the root of the repository, with the hashes of their texts. A file behind a symbolic link is there under
    /// the path of the link, too. Submodules are left out.
    pub(super) fn files(&self) -> Result<BTreeMap<PathBuf, TreeFile>, CommandError> {
        let mut command = git_command(&self.root);
        command.args(["ls-tree", "-r", "-z", "--full-tree", &self.hash]);
        let list = output(command)?.map_err(|error| broken("ls-tree", &error))?;
        let (mut files, mut links) = (BTreeMap::new(), Vec::new());
        for entry in list.split(|byte| *byte == 0) {
            let entry = String::from_utf8_lossy(entry);
            let Some((kind, path)) = entry.split_once('\t') else { continue };
            match kind.split(' ').collect::<Vec<&str>>().as_slice() {
                ["120000", "blob", hash] => links.push((PathBuf::from(path), (*hash).to_owned())),
                [_, "blob", hash] => {
                    let real = PathBuf::from(path);
                    files.insert(real.clone(), TreeFile { hash: (*hash).to_owned(), real });
                }
                _ => {}
            }
        }
        if !links.is_empty() {
            let texts = self.blobs(links.iter().map(|(_, hash)| hash.clone()).collect())?;
            let target =
                |hash: &String| texts.get(hash).map(|text| String::from_utf8_lossy(text).into_owned());
            let links = links.into_iter().filter_map(|(link, hash)| Some((link, target(&hash)?))).collect();
            links::follow(&mut files, links);
        }
        Ok(files)
    }

    /// The contents of blobs, by hash.
    fn blobs(&self, hashes: Vec<String>) -> Result<BTreeMap<String, Vec<u8>>, CommandError> {
        let mut command = git_command(&self.root);
        command
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| cannot_run(&error))?;
        let stdin = child.stdin.take();
        // git writes while it reads.
        let writer = std::thread::spawn(move || -> io::Result<()> {
            let Some(mut stdin) = stdin else { return Ok(()) };
            stdin.write_all(hashes.join("\n").as_bytes())?;
            stdin.write_all(b"\n")
        });
        let output = child.wait_with_output()?;
        // A failure to write shows as missing texts.
        let _ = writer.join();
        let mut found = BTreeMap::new();
        let mut rest = output.stdout.as_slice();
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, after) = rest.split_at(end);
            let after = after.get(1..).unwrap_or_default();
            let line = String::from_utf8_lossy(line).into_owned();
            let fields: Vec<&str> = line.split(' ').collect();
            let [hash, "blob", size] = fields.as_slice() else {
                rest = after;
                continue;
            };
            let size: usize = size.parse().unwrap_or_default();
            let Some((text, behind)) = after.split_at_checked(size) else { break };
            found.insert((*hash).to_owned(), text.to_owned());
            rest = behind.get(1..).unwrap_or_default();
        }
        Ok(found)
    }
}

/// The default branch: what the remote says, else the first known name that exists.
fn default_branch(root: &Path) -> Result<Option<String>, CommandError> {
    let head = git(root, &["symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"])?;
    if head.is_some() {
        return Ok(head);
    }
    for branch in DEFAULT_BRANCHES {
        if git(root, &["rev-parse", "--verify", "--quiet", &format!("{branch}^{{commit}}")])?.is_some() {
            return Ok(Some(branch.to_owned()));
        }
    }
    Ok(None)
}

fn git_command(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).env("GIT_OPTIONAL_LOCKS", "0");
    command
}

/// Runs git. Returns the first line of its output; `None` if git fails.
fn git(folder: &Path, arguments: &[&str]) -> Result<Option<String>, CommandError> {
    let mut command = git_command(folder);
    command.args(arguments);
    Ok(output(command)?.ok().map(|bytes| first_line(&bytes)))
}

fn first_line(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).lines().next().unwrap_or_default().to_owned()
}

/// Runs a command. Returns its output, or the first line of its error.
fn output(mut command: Command) -> Result<Result<Vec<u8>, String>, CommandError> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| cannot_run(&error))?;
    Ok(if output.status.success() { Ok(output.stdout) } else { Err(first_line(&output.stderr)) })
}

fn broken(command: &str, error: &str) -> CommandError {
    CommandError::Usage(format!("`--base`: `git {command}` failed: {error}"))
}

fn cannot_run(error: &io::Error) -> CommandError {
    CommandError::Usage(format!("`--base`: cannot run `git`: {}", platform::start_failure(error)))
}
