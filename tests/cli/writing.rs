//! Files that the program writes: no failure loses one, and no text of a user acts on a terminal.

use std::fs;
use std::path::Path;

use crate::folder::{BAD, Folder, GOOD};

fn names(folder: &Folder) -> Vec<String> {
    let entries = fs::read_dir(folder.path(".")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[cfg(unix)]
#[test]
fn fixes_what_can_be_written_and_names_the_rest() {
    let folder = Folder::with(&[("a.yaml", BAD), ("b.yaml", BAD)]);
    let outside = Folder::with(&[("c.yaml", BAD)]);
    fs::hard_link(folder.path("a.yaml"), outside.path("a.yaml")).unwrap();
    std::os::unix::fs::symlink(outside.path("c.yaml"), folder.path("c.yaml")).unwrap();
    let run = folder.check(&["--fix", "."]);
    assert_eq!(run.status, 4, "{run:?}");
    assert!(run.stderr.contains("`a.yaml` was not fixed: the file has 2 hard links"), "{run:?}");
    assert!(run.stderr.contains("`c.yaml` was not fixed: it is a link to a file outside"), "{run:?}");
    assert!(run.stderr.contains("note: fixed 1 file"), "{run:?}");
    assert_eq!(folder.read("a.yaml"), BAD);
    assert_eq!(folder.read("b.yaml"), GOOD);
    assert_eq!(outside.read("c.yaml"), BAD);
    assert_eq!(run.stdout.matches("error[instance-profile-is-arn]").count(), 2, "{}", run.stdout);
}

#[cfg(unix)]
#[test]
fn fixes_no_file_behind_a_link_to_a_folder_unless_the_folder_is_named() {
    use std::os::unix::fs::symlink;

    let folder = Folder::with(&[("in/a.yaml", BAD), ("out/b.yaml", BAD), ("in/own/c.yaml", BAD)]);
    symlink("../out", folder.path("in/sub")).unwrap();
    symlink("own", folder.path("in/alias")).unwrap();
    let run = folder.check(&["--fix", "in"]);
    assert_eq!(run.status, 4, "{run:?}");
    assert!(run.stderr.contains("`in/sub/b.yaml` was not fixed: it is a link to a file outside"), "{run:?}");
    assert_eq!(folder.read("out/b.yaml"), BAD);
    assert_eq!((folder.read("in/a.yaml").as_str(), folder.read("in/own/c.yaml").as_str()), (GOOD, GOOD));
    for named in [&["in/sub/b.yaml"][..], &["in/sub"], &["in", "out"], &["in", "out/b.yaml"]] {
        folder.write("out/b.yaml", BAD.as_bytes());
        let run = folder.check(&[&["--fix"], named].concat());
        assert_eq!(run.status, 0, "{named:?}: {run:?}");
        assert_eq!(folder.read("out/b.yaml"), GOOD, "{named:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_to_a_missing_file_is_no_link_to_a_file_of_the_working_directory() {
    let folder = Folder::with(&[("a.yaml", BAD), ("out/keep", "")]);
    std::os::unix::fs::symlink("a.yaml", folder.path("out/link")).unwrap();
    for arguments in [&["--format", "json", "--output", "out/link"], &["--write-baseline", "out/link"][..]] {
        folder.check(&[arguments, &["a.yaml"]].concat());
        assert_eq!(folder.read("a.yaml"), BAD, "{arguments:?}");
        assert!(folder.path("out/link").is_symlink(), "{arguments:?}");
        assert!(folder.read("out/a.yaml").contains("instance-profile-is-arn"), "{arguments:?}");
        fs::remove_file(folder.path("out/a.yaml")).unwrap();
    }
}

/// Runs the program in a shell where no file may grow, which is how a full disk looks.
#[cfg(unix)]
fn without_room(folder: &Folder, prefix: &str) -> std::process::Output {
    let program = env!("CARGO_BIN_EXE_karpwarden");
    let script = format!("{prefix} ulimit -f 0; exec '{program}' check --fix a.yaml");
    std::process::Command::new("sh").args(["-c", &script]).current_dir(folder.path(".")).output().unwrap()
}

#[cfg(unix)]
#[test]
fn keeps_the_old_file_if_the_new_one_cannot_be_written() {
    let folder = Folder::with(&[("a.yaml", BAD)]);
    let output = without_room(&folder, "trap '' XFSZ;");
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("`a.yaml` was not fixed: "), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("instance-profile-is-arn"), "{output:?}");
    assert_eq!(folder.read("a.yaml"), BAD);
    assert_eq!(names(&folder), ["a.yaml"]);
}

#[cfg(unix)]
#[test]
fn keeps_the_old_file_if_the_program_is_killed_while_it_writes() {
    let folder = Folder::with(&[("a.yaml", BAD)]);
    let output = without_room(&folder, "");
    assert_eq!(output.status.code(), None, "{output:?}");
    assert_eq!(folder.read("a.yaml"), BAD);
}

#[test]
fn a_reader_sees_the_old_file_or_the_new_one() {
    use std::sync::atomic::{AtomicBool, Ordering};

    let (bad, good) = (padded(BAD), padded(GOOD));
    let folder = Folder::with(&[("a.yaml", &bad)]);
    let is_done = AtomicBool::new(false);
    let other = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut other = Vec::new();
            while !is_done.load(Ordering::Relaxed) {
                match fs::read_to_string(folder.path("a.yaml")) {
                    Ok(text) if text == bad || text == good => {}
                    result => other.push(result.map(|text| text.len())),
                }
            }
            other
        });
        for _ in 0..5 {
            folder.write("b.yaml", bad.as_bytes());
            fs::rename(folder.path("b.yaml"), folder.path("a.yaml")).unwrap();
            folder.check(&["--fix", "a.yaml"]);
            assert!(folder.read("a.yaml") == good);
        }
        is_done.store(true, Ordering::Relaxed);
        reader.join().unwrap()
    });
    assert!(other.is_empty(), "{other:?}");
}

/// A manifest with a long comment.
fn padded(manifest: &str) -> String {
    format!("{manifest}# {}\n", "c".repeat(500_000))
}

#[test]
fn refuses_to_overwrite_an_input() {
    let folder = Folder::with(&[("a.yaml", BAD), ("b.json", "{\"kind\": \"x\"}")]);
    for arguments in [
        &["check", "--output", "a.yaml", "."][..],
        &["check", "--write-baseline", "b.json", "b.json"],
        &["diagnose", "--output", "a.yaml", "."],
        &["simulate", "--output", "a.yaml", "."],
        &["disruption", "--output", "a.yaml", "a.yaml"],
    ] {
        let run = folder.run(arguments);
        assert_eq!(run.status, 2, "{arguments:?}: {run:?}");
        assert!(run.stderr.contains("is also an input"), "{arguments:?}: {run:?}");
    }
    let run = folder.check(&["--write-baseline", "b.json", "a.yaml"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("`b.json` exists and is not a baseline; not overwritten"), "{run:?}");
    assert_eq!((folder.read("a.yaml").as_str(), folder.read("b.json").as_str()), (BAD, "{\"kind\": \"x\"}"));
}

#[test]
fn refuses_to_overwrite_what_it_reads_beside_the_input() {
    const KUSTOMIZATION: &str = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n";
    const README: &str = "```sh\nhelm upgrade --install karpenter oci://public.ecr.aws/karpenter/karpenter --version 1.8.2\n```\n";
    let overlay = format!("{KUSTOMIZATION}resources: [../base]\n");
    let base = format!("{KUSTOMIZATION}resources: [a.yaml]\n");
    let files = [
        ("karpwarden.yaml", "clusterName: prod\n"),
        ("other.yaml", "clusterName: prod\n"),
        ("prices.json", "{}"),
        ("ca.pem", "QQ=="),
        (".git/HEAD", ""),
        ("base/a.yaml", BAD),
        ("base/kustomization.yaml", &base),
        ("over/kustomization.yaml", &overlay),
        ("pins/a.yaml", GOOD),
        ("pins/README.md", README),
    ];
    let folder = Folder::with(&files);
    assert_eq!(folder.check(&["--write-baseline", "known.json", "base"]).status, 0);
    let known = folder.read("known.json");
    for arguments in [
        &["check", "--output", "karpwarden.yaml", "base"][..],
        &["check", "--config", "other.yaml", "--output", "./base/../other.yaml", "base"],
        &["check", "--baseline", "known.json", "--output", "known.json", "base"],
        &["check", "--write-baseline", "new.json", "--output", "base/../new.json", "base"],
        &["check", "--output", "base/a.yaml", "over"],
        &["check", "--output", "pins/README.md", "pins"],
        &["check", "--exclude", "base", "--force-exclude", "--output", "base/a.yaml", "base/a.yaml"],
        &["diagnose", "--output", "karpwarden.yaml", "base"],
        &["simulate", "--output", "karpwarden.yaml", "base"],
        &["simulate", "--prices", "prices.json", "--output", "prices.json", "base"],
        &["simulate", "--output", "pins/README.md", "pins"],
        &["disruption", "--prices", "prices.json", "--output", "prices.json", "base"],
        &["hash", "--ca-bundle", "ca.pem", "--output", "ca.pem", "base"],
        &["plan", "--ca-bundle", "ca.pem", "--output", "ca.pem", "base", "pins"],
        &["plan", "--output", "karpwarden.yaml", "base", "pins"],
        &["plan", "--output", "pins/README.md", "base", "pins"],
    ] {
        let run = folder.run(arguments);
        assert_eq!(run.status, 2, "{arguments:?}: {run:?}");
        assert!(run.stderr.contains("is also an input"), "{arguments:?}: {run:?}");
    }
    for (name, text) in files {
        assert_eq!(folder.read(name), text, "{name}");
    }
    assert!(folder.read("known.json") == known && !folder.path("new.json").exists());
}

/// A NodePool and its EC2NodeClass of v1beta1, whose kubelet settings move from one to the other.
const PAIR: [(&str, &str); 2] = [
    (
        "class.yaml",
        r"apiVersion: karpenter.k8s.aws/v1beta1
kind: EC2NodeClass
metadata: {name: default}
spec:
  amiFamily: AL2023
  role: nodes
  subnetSelectorTerms: [{tags: {a: b}}]
  securityGroupSelectorTerms: [{tags: {a: b}}]
",
    ),
    (
        "pool.yaml",
        r"apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      kubelet: {maxPods: 20}
      nodeClassRef: {name: default}
      requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
",
    ),
];

#[cfg(unix)]
#[test]
fn writes_a_fix_of_several_files_to_all_of_them_or_to_none() {
    let arguments = ["check", "--fix", "--unsafe-fixes", "--karpenter-version", "1.8", "."];
    let folder = Folder::with(&PAIR);
    folder.run(&arguments);
    assert!(folder.read("class.yaml").contains("maxPods: 20"), "{}", folder.read("class.yaml"));
    assert!(!folder.read("pool.yaml").contains("maxPods"), "{}", folder.read("pool.yaml"));
    let (folder, other) = (Folder::with(&PAIR), Folder::with(&[]));
    fs::hard_link(folder.path("class.yaml"), other.path("class.yaml")).unwrap();
    let run = folder.run(&arguments);
    assert_eq!(run.status, 4, "{run:?}");
    assert!(run.stderr.contains("`pool.yaml` was not fixed: a fix changes several files"), "{run:?}");
    for (name, text) in PAIR {
        assert_eq!(folder.read(name), text);
    }
}

#[test]
fn a_report_of_an_earlier_run_is_no_obstacle() {
    let folder = Folder::with(&[("a.yaml", BAD)]);
    for format in ["json", "sarif", "gitlab", "json"] {
        let run = folder.check(&["--format", format, "--output", "report.json", "."]);
        assert_eq!(run.status, 1, "{run:?}");
    }
    for _ in 0..2 {
        let run = folder.check(&["--format", "markdown", "--output", "report.md", "."]);
        assert_eq!(run.status, 1, "{run:?}");
    }
    assert!(folder.read("report.json").contains("instance-profile-is-arn"));
}

#[cfg(unix)]
#[test]
fn a_link_does_not_hide_the_folder_that_it_leads_to() {
    let folder = Folder::with(&[(".gitignore", "/current/*.yaml\n"), ("releases/v2/a.yaml", BAD)]);
    std::os::unix::fs::symlink(folder.path("releases/v2"), folder.path("current")).unwrap();
    assert_eq!(folder.check(&["."]).status, 1);
    fs::remove_file(folder.path(".gitignore")).unwrap();
    assert_eq!(folder.check(&["."]).stdout.matches("error[instance-profile-is-arn]").count(), 1);
}

#[cfg(unix)]
#[test]
fn writes_reports_to_devices() {
    let folder = Folder::with(&[("a.yaml", BAD)]);
    let run = folder.check(&["--output", "/dev/null", "a.yaml"]);
    assert_eq!(run.status, 1, "{run:?}");
    assert!(!Path::new("/dev/null").is_file());
    let run = folder.check(&["--format", "json", "--output", "/dev/stdout", "a.yaml"]);
    assert!(run.stdout.contains("instance-profile-is-arn"), "{run:?}");
    let run = folder.check(&["--write-baseline", "/dev/null", "a.yaml"]);
    assert_eq!(run.status, 2, "{run:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn replaces_a_file_below_dev_as_any_other() {
    let folder = Folder::with(&[("a.yaml", BAD)]);
    let memory = tempfile::tempdir_in("/dev/shm").unwrap();
    let report = memory.path().join("report.json");
    for _ in 0..2 {
        let run = folder.check(&["--format", "json", "--output", report.to_str().unwrap(), "a.yaml"]);
        assert_eq!(run.status, 1, "{run:?}");
        assert!(serde_json::from_str::<serde_json::Value>(&fs::read_to_string(&report).unwrap()).is_ok());
    }
}

#[test]
fn a_report_that_cannot_be_written_has_an_exit_status_of_its_own() {
    let folder = Folder::with(&[("a.yaml", BAD)]);
    let run = folder.check(&["--output", "missing/report.json", "a.yaml"]);
    assert_eq!(run.status, 5, "{run:?}");
    assert!(run.stderr.contains("cannot write `missing/report.json`"), "{run:?}");
}

/// Whether a text has a character that acts on a terminal.
fn has_control(text: &str) -> bool {
    text.chars().any(|char| {
        (char.is_control() && !matches!(char, '\n' | '\t'))
            || matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    })
}

/// A text without its weights and colours.
fn without_styles(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').unwrap_or(("", "\u{1b}")).1)
}

#[test]
fn colours_are_the_only_difference_between_a_report_with_and_without_them() {
    let folder = Folder::with(&[("a.yaml", BAD)]);
    let (plain, colored) = (folder.check(&["a.yaml"]), folder.check(&["--color", "always", "a.yaml"]));
    assert_ne!(plain.stdout, colored.stdout);
    assert_eq!(plain.stdout, without_styles(&colored.stdout));
    let [plain, colored] = [&["--diff", "a.yaml"][..], &["--diff", "--color", "always", "a.yaml"]]
        .map(|arguments| folder.check(arguments).stdout);
    assert_eq!(plain, without_styles(&colored));
    folder.write("a.yaml", BAD.replace('\n', "\r\n").replace("# the", "#\tthe").as_bytes());
    let diff = folder.check(&["--diff", "--color", "always", "a.yaml"]).stdout;
    assert!(without_styles(&diff).contains("Nodes-prod #\tthe nodes' own\r\n"), "{diff:?}");
}

#[cfg(unix)]
#[test]
fn no_text_of_a_user_acts_on_a_terminal() {
    // Black, which no output uses.
    const HOSTILE: &str = "\u{1b}]0;x\u{7}\u{1b}[30m\u{9b}2J\u{202e}\u{7f}\n::error::x";
    let manifest = format!("{}\n# \u{1b}[2J\u{1b}[30m\u{202e}\n  \"\\e[30m\\x85\": 1\n", BAD.trim_end());
    let file = format!("a{}.yaml", HOSTILE.replace('/', ""));
    let folder =
        Folder::with(&[(&file, &manifest), ("pool.yaml", "kind: NodePool\napiVersion: karpenter.sh/v1\n")]);
    let missing = format!("{HOSTILE}.yaml");
    let formats = ["human", "json", "sarif", "github", "gitlab", "junit", "markdown"];
    let mut runs: Vec<_> = formats.iter().map(|format| folder.check(&["--format", format, "."])).collect();
    let mut colored: Vec<_> =
        formats.iter().map(|format| folder.check(&["--color", "always", "--format", format, "."])).collect();
    for arguments in [
        &["check", "--diff", "."][..],
        &["check", &missing],
        &["check", "--select", HOSTILE, "."],
        &["check", "--karpenter-version", HOSTILE, "."],
        &["check", "--output", &format!("{missing}/x"), "."],
        &["check", &format!("--{HOSTILE}")],
        &["explain", HOSTILE],
        &["diagnose", "."],
        &["diagnose", "--node", HOSTILE, "."],
        &["simulate", "--replicas", HOSTILE, "."],
        &["disruption", "--node", HOSTILE, "."],
        &["upgrade", "--from", "1.0", "--to", HOSTILE, "."],
        &["hash", "."],
        &["plan", ".", "pool.yaml"],
    ] {
        runs.push(folder.run(arguments));
        colored.push(folder.run(&[&["--color", "always"], arguments].concat()));
    }
    for run in &colored {
        for text in [&run.stdout, &run.stderr] {
            assert!(!text.contains("\u{1b}[30m") && !has_control(&without_styles(text)), "{text:?}");
        }
    }
    for run in &runs {
        for text in [&run.stdout, &run.stderr] {
            assert!(!has_control(text), "{text:?}");
        }
    }
    // A log of GitHub Actions shows what is for people; a report in XML may have line breaks within names.
    for run in runs.iter().filter(|run| !run.stdout.starts_with("<?xml")) {
        for line in run.stdout.lines().chain(run.stderr.lines()) {
            assert!(!line.trim_start().starts_with("::error::x"), "{line}");
        }
    }
}
