//! `--fix` and `--diff`.

use insta::assert_snapshot;

use crate::folder::{BAD, Folder, GOOD};

#[test]
fn writes_fixes_to_the_files() {
    let folder = Folder::with(&[("a.yaml", BAD), ("b.yaml", GOOD), ("c.yaml", &[BAD; 3].join("---\n"))]);
    let run = folder.check(&["--fix", "."]);
    assert_eq!(run.status, 0);
    assert_snapshot!(run.stderr, @"note: fixed 4 findings in 2 files");
    assert_snapshot!(run.stdout, @"no findings in 5 documents; checked against Karpenter 1.14");
    assert_eq!(folder.read("a.yaml"), GOOD);
    assert_eq!(folder.read("c.yaml"), [GOOD; 3].join("---\n"));
    let again = folder.check(&["--fix", "."]);
    assert_eq!((again.status, again.stderr.as_str()), (0, ""));
}

#[test]
fn applies_fixes_for_review_on_request() {
    let shared = BAD.replace("instanceProfile: ", "instanceProfile: &profile ") + "  context: *profile\n";
    let fixed = GOOD.replace("instanceProfile: ", "instanceProfile: &profile ") + "  context: *profile\n";
    let folder = Folder::with(&[("a.yaml", &shared)]);
    let run = folder.check(&["--fix", "a.yaml"]);
    assert_eq!((run.status, folder.read("a.yaml")), (1, shared.clone()));
    let run = folder.check(&["--diff", "--unsafe-fixes", "--quiet", "a.yaml"]);
    assert!(run.stdout.contains("+  instanceProfile: &profile Nodes-prod"), "{run:?}");
    assert_eq!(folder.read("a.yaml"), shared);
    let run = folder.check(&["--unsafe-fixes", "a.yaml"]);
    assert_eq!((run.status, folder.read("a.yaml")), (0, fixed));
}

#[test]
fn changes_only_the_reported_value() {
    for text in [
        format!("\u{feff}{BAD}"),
        BAD.replace('\n', "\r\n"),
        format!(
            "# a\n\n{}",
            BAD.replace(
                "arn:aws:iam::111122223333:instance-profile/nodes/Nodes-prod",
                "'arn:aws:iam::111122223333:instance-profile/Nodes-prod'"
            )
        ),
        BAD.trim_end().to_owned(),
        format!("{BAD}---\na: [1\n---\nb: {{{{ .Values.b }}}}\n"),
    ] {
        let folder = Folder::with(&[("a.yaml", &text)]);
        folder.check(&["--fix", "a.yaml"]);
        let expected = text
            .replace("arn:aws:iam::111122223333:instance-profile/nodes/", "")
            .replace("arn:aws:iam::111122223333:instance-profile/", "");
        assert_eq!(folder.read("a.yaml"), expected);
    }
}

#[test]
fn prints_the_fixed_standard_input() {
    let folder = Folder::with(&[]);
    let run = folder.check_text(&["--fix", "-"], BAD);
    assert_eq!((run.status, run.stdout.as_str()), (0, GOOD));
    assert_snapshot!(run.stderr, @"
    note: fixed 1 finding in 1 file
    no findings in 1 document; checked against Karpenter 1.14
    ");
    let run = folder.check_text(&["--fix", "--quiet", "-"], GOOD);
    assert_eq!((run.status, run.stdout.as_str(), run.stderr.as_str()), (0, GOOD, ""));
}

#[test]
fn diff_shows_changes_without_writing_them() {
    let folder = Folder::with(&[("a.yaml", BAD), ("b.yaml", GOOD), ("c/d.yaml", &BAD.replace('\n', "\r\n"))]);
    let run = folder.check(&["--diff", "--quiet", "."]);
    assert_eq!(run.status, 1);
    assert_snapshot!(run.stdout.replace('\r', "␍"), @"
    --- a.yaml
    +++ a.yaml
    @@ -3,4 +3,4 @@
     metadata:
       name: default
     spec:
    -  instanceProfile: arn:aws:iam::111122223333:instance-profile/nodes/Nodes-prod # the nodes' own
    +  instanceProfile: Nodes-prod # the nodes' own
    --- c/d.yaml
    +++ c/d.yaml
    @@ -3,4 +3,4 @@
     metadata:␍
       name: default␍
     spec:␍
    -  instanceProfile: arn:aws:iam::111122223333:instance-profile/nodes/Nodes-prod # the nodes' own␍
    +  instanceProfile: Nodes-prod # the nodes' own␍
    ");
    assert_eq!(folder.read("a.yaml"), BAD);
}
