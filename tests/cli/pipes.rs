//! Readers such as `head`, which close their end of a pipe before the program ends.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::folder::{BAD, Folder, checking};

/// EC2NodeClass with one finding, which has no fix.
const WITHOUT_FIX: &str = r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec: {instanceProfile: 'arn:aws:iam::111122223333:role/x'}
";

/// Exit status and standard error of a check whose standard output has no reader. With `both`, standard error has none
/// either.
fn without_reader(arguments: &[&str], stdin: &str, both: bool) -> (Option<i32>, String) {
    let folder = Folder::with(&[("a.yaml", &[BAD; 100].join("---\n"))]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_karpwarden"));
    command.args(checking(arguments)).current_dir(folder.path("")).stdin(Stdio::piped());
    command.stderr(if both { writer.try_clone().unwrap().into() } else { Stdio::piped() }).stdout(writer);
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn keeps_the_exit_status_without_a_reader() {
    for flags in [
        &["a.yaml"][..],
        &["--diff", "a.yaml"],
        &["--diff", "--quiet", "a.yaml"],
        &["--format", "json", "a.yaml"],
        &["--format", "sarif", "a.yaml"],
        &["--format", "github", "a.yaml"],
        &["--format", "junit", "a.yaml"],
    ] {
        for both in [false, true] {
            assert_eq!(without_reader(flags, "", both).0, Some(1), "{flags:?}");
        }
    }
    assert_eq!(without_reader(&["--fail-on", "never", "a.yaml"], "", true).0, Some(0));
}

#[test]
fn keeps_the_exit_status_of_fixed_standard_input_without_a_reader() {
    let text = format!("{BAD}---\n{WITHOUT_FIX}");
    for both in [false, true] {
        assert_eq!(without_reader(&["--fix", "-"], &text, both).0, Some(1));
        assert_eq!(without_reader(&["--fix", "-"], BAD, both).0, Some(0));
    }
}

#[test]
fn ends_without_a_message_if_nobody_reads() {
    for flags in [&["a.yaml"][..], &["--format", "json", "a.yaml"], &["--format", "sarif", "a.yaml"]] {
        assert_eq!(without_reader(flags, "", false).1, "", "{flags:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_without_an_end_is_not_read() {
    let folder = Folder::with(&[("a.yaml", BAD)]);
    for (arguments, status) in [
        (&["check", "/dev/zero"][..], 4),
        (&["diagnose", "/dev/zero"], 4),
        (&["simulate", "--prices", "/dev/zero", "a.yaml"], 2),
    ] {
        let run = folder.run(arguments);
        assert_eq!(run.status, status, "{arguments:?}: {run:?}");
        let output = run.stdout + &run.stderr;
        assert!(output.contains("a device, not a file or a pipe"), "{arguments:?}: {output}");
    }
    // A pipe has a path too.
    let run = folder.check_text(&["/dev/stdin"], BAD);
    assert_eq!(run.status, 1, "{run:?}");
    assert_ne!(folder.check(&["/dev/null"]).status, 4);
}
