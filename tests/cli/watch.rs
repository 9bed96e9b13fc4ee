//! `check --watch`, and `karpwarden` without a command.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::folder::{BAD, Folder, GOOD, OTHER};

/// Longest wait for an output, far longer than any takes.
const PATIENCE: Duration = Duration::from_mins(1);

/// A running watch, with the lines that it prints.
struct Watch {
    child: Child,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
}

impl Watch {
    fn start(folder: &Folder, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_karpwarden"));
        command.args([
            "check",
            "--watch",
            "--select",
            "instance-profile-is-arn",
            "--karpenter-version",
            "1.14",
        ]);
        command.args(arguments).current_dir(folder.path(""));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (stdout, stderr) = (lines(child.stdout.take().unwrap()), lines(child.stderr.take().unwrap()));
        Self { child, stdout, stderr }
    }

    /// Waits for a line with a text.
    fn wait(lines: &Receiver<String>, text: &str) -> String {
        loop {
            let line = lines.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("{error}: no `{text}`"));
            if line.contains(text) {
                return line;
            }
        }
    }

    fn wait_for_report(&self, text: &str) {
        Self::wait(&self.stdout, text);
        Self::wait(&self.stderr, "note: watching ");
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }
}

fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

#[test]
fn checks_again_when_a_file_changes_appears_or_goes() {
    let folder = Folder::with(&[("class.yaml", BAD)]);
    let watch = Watch::start(&folder, &["."]);
    let line = Watch::wait(&watch.stdout, "1 error");
    assert!(!line.contains('\u{1b}'), "no terminal, so nothing is cleared: {line}");
    Watch::wait(&watch.stderr, "note: watching 1 file; Ctrl-C ends this");
    folder.write("class.yaml", GOOD.as_bytes());
    Watch::wait(&watch.stderr, "note: checking again: `class.yaml` changed");
    watch.wait_for_report("no findings");
    folder.write("more/other.yaml", BAD.as_bytes());
    Watch::wait(&watch.stderr, "`more/other.yaml` changed");
    watch.wait_for_report("1 error");
    std::fs::remove_file(folder.path("more/other.yaml")).unwrap();
    watch.wait_for_report("no findings");
}

#[test]
fn watches_the_config_file_also_while_it_is_invalid() {
    let files = [("class.yaml", BAD), ("docs.md", "# Pools\n"), ("karpwarden.yaml", "exclude: [other/]\n")];
    let folder = Folder::with(&files);
    let watch = Watch::start(&folder, &["--format", "json"]);
    watch.wait_for_report("\"errors\":1");
    folder.write("karpwarden.yaml", b"excluded: [class.yaml]\n");
    Watch::wait(&watch.stderr, "note: checking again: `karpwarden.yaml` changed");
    Watch::wait(&watch.stderr, "excluded: unknown key");
    Watch::wait(&watch.stderr, "note: watching ");
    folder.write("karpwarden.yaml", b"rules:\n  instance-profile-is-arn: warn\n");
    watch.wait_for_report("\"errors\":0");
}

#[cfg(unix)]
#[test]
fn ends_at_a_signal() {
    use std::os::unix::process::ExitStatusExt as _;

    // A shell without job control lets what it runs in the background ignore SIGINT.
    const SIGTERM: i32 = 15;
    let folder = Folder::with(&[("class.yaml", BAD)]);
    let mut watch = Watch::start(&folder, &["."]);
    watch.wait_for_report("1 error");
    let signalled = Command::new("kill").args(["-TERM", &watch.child.id().to_string()]).status().unwrap();
    assert!(signalled.success());
    // Both streams end, without another word, when the process does.
    assert!(watch.stderr.recv_timeout(PATIENCE).is_err() && watch.stdout.recv_timeout(PATIENCE).is_err());
    let status = watch.child.wait().unwrap();
    assert_eq!(status.signal(), Some(SIGTERM), "{status}");
}

#[test]
fn refuses_to_watch_what_does_not_change_and_to_change_what_it_watches() {
    let folder = Folder::with(&[("class.yaml", BAD)]);
    let run = folder.check_text(&["--watch", "-"], BAD);
    assert_eq!(run.status, 2);
    assert_eq!(run.stderr, "error: `--watch` needs files: standard input does not change\n");
    for flag in ["--fix", "--diff", "--unsafe-fixes"] {
        assert_eq!(folder.check(&["--watch", flag, "."]).status, 2);
    }
    assert_eq!(folder.read("class.yaml"), BAD);
}

#[test]
fn checks_the_folder_without_a_command_and_names_the_other_commands() {
    let folder = Folder::with(&[("class.yaml", BAD)]);
    let bare = folder.run(&[]);
    let check = folder.run(&["check"]);
    assert_eq!((bare.status, &bare.stdout), (1, &check.stdout));
    let hint = bare.stderr.strip_prefix(check.stderr.as_str()).unwrap();
    assert_eq!(hint.lines().count(), 1, "{hint}");
    assert!(hint.starts_with("note: checked this folder; `karpwarden --help` lists "), "{hint}");
    let foreign = Folder::with(&[("namespace.yaml", OTHER)]).run(&[]);
    assert!(foreign.status == 0 && foreign.stdout.starts_with("nothing to check"), "{foreign:?}");
}

#[test]
fn shows_the_help_without_a_command_in_a_folder_without_manifests() {
    let folder = Folder::with(&[("notes.txt", "none")]);
    let run = folder.run(&[]);
    assert_eq!((run.status, run.stdout.as_str()), (3, ""));
    let (help, note) = run.stderr.split_once("note: ").unwrap();
    assert_eq!(help, folder.run(&["-h"]).stdout);
    assert!(note.starts_with("nothing to check in this folder: found no .yaml"), "{note}");
    folder.write("karpwarden.yaml", b"rule: {}\n");
    let run = folder.run(&[]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("rule: unknown key"), "{}", run.stderr);
}
