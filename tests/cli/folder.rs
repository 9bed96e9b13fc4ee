//! Temporary folder for each test, in which the binary runs.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use karpenter::release::Release;

use crate::guard::Guard;

/// EC2NodeClass with one finding, which has a safe fix.
pub(crate) const BAD: &str = "\
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: default
spec:
  instanceProfile: arn:aws:iam::111122223333:instance-profile/nodes/Nodes-prod # the nodes' own
";

/// The same EC2NodeClass after the fix.
pub(crate) const GOOD: &str = "\
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: default
spec:
  instanceProfile: Nodes-prod # the nodes' own
";

/// Document that no rule reads.
pub(crate) const OTHER: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: other}\n";

/// Folder that is removed at the end of its test.
pub(crate) struct Folder {
    root: tempfile::TempDir,
}

/// Result of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Folder {
    /// Creates a folder with files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self { root: tempfile::tempdir().unwrap() };
        for (name, text) in files {
            folder.write(name, text.as_bytes());
        }
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        String::from_utf8(fs::read(self.path(name)).unwrap()).unwrap()
    }

    /// Runs the binary in this folder.
    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        self.run_in("", arguments, "")
    }

    /// Runs the binary in this folder, with an environment variable.
    #[cfg(unix)]
    pub(crate) fn run_with(&self, variable: &str, value: &str, arguments: &[&str]) -> Run {
        let mut command = Command::new(env!("CARGO_BIN_EXE_karpwarden"));
        command.env(variable, value);
        run_command(command, &self.path(""), arguments, b"")
    }

    /// Runs the binary in a subfolder, with a text on standard input.
    pub(crate) fn run_in(&self, below: &str, arguments: &[&str], stdin: &str) -> Run {
        run(&self.path(below), arguments, stdin.as_bytes())
    }

    /// Checks with one rule, for which the samples above are written, against one release. So neither new rules nor new
    /// releases change the output.
    pub(crate) fn check(&self, arguments: &[&str]) -> Run {
        self.check_text(arguments, "")
    }

    pub(crate) fn check_text(&self, arguments: &[&str], stdin: &str) -> Run {
        self.run_in("", &checking(arguments), stdin)
    }
}

/// Arguments of a check with one rule, against one release unless they name another.
pub(crate) fn checking<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    let mut all = vec!["check", "--select", "instance-profile-is-arn"];
    if !arguments.contains(&"--karpenter-version") {
        all.extend(["--karpenter-version", "1.14"]);
    }
    all.extend(arguments);
    all
}

pub(crate) fn run(folder: &Path, arguments: &[&str], stdin: &[u8]) -> Run {
    run_command(Command::new(env!("CARGO_BIN_EXE_karpwarden")), folder, arguments, stdin)
}

fn run_command(mut command: Command, folder: &Path, arguments: &[&str], stdin: &[u8]) -> Run {
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    let command = command.args(arguments).current_dir(folder).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let _guard = Guard::of(&child);
    let mut input = child.stdin.take().unwrap();
    let text = stdin.to_vec();
    // A run that does not read its input closes it, which does not fail the test.
    let writer = std::thread::spawn(move || drop(input.write_all(&text)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Run {
        status: output.status.code().unwrap(),
        stdout: without_newest(&String::from_utf8(output.stdout).unwrap()),
        stderr: without_newest(&String::from_utf8(output.stderr).unwrap()),
    }
}

/// An output without the name of the newest release, so that a new release changes no snapshot.
fn without_newest(output: &str) -> String {
    let newest = Release::NEWEST;
    output
        .replace(&format!("known release is {newest}"), "known release is NEWEST")
        .replace(&format!("checked against Karpenter {newest}\n"), "checked against Karpenter NEWEST\n")
        .replace(&format!("or {newest} without a pin"), "or NEWEST without a pin")
}

impl Run {
    /// The report as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The last line of the output.
    pub(crate) fn summary(&self) -> &str {
        self.stdout.lines().last().unwrap_or_default()
    }
}
