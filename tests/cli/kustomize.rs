//! Objects that kustomizations of the input build: places of findings, fixes, counts, and what is not known.

use insta::assert_snapshot;

use crate::folder::{Folder, Run};

const POOL: &str = "\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: default
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
";

/// The instance profile is an ARN, which is an error.
const CLASS: &str = "\
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: default
spec:
  instanceProfile: arn:aws:iam::111122223333:instance-profile/base
  amiSelectorTerms: [{alias: al2023@v20250807}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
";

const BASE: &str = "resources: [pool.yaml, class.yaml]\n";

/// Replaces the instance profile by a text.
fn patch_of(profile: &str) -> String {
    format!(
        r"resources: [../../base]
patches:
- target: {{kind: EC2NodeClass}}
  patch: |-
    - op: replace
      path: /spec/instanceProfile
      value: {profile} # profile
"
    )
}

/// A base, and further files.
fn folder(files: &[(&str, &str)]) -> Folder {
    let base = [("base/kustomization.yaml", BASE), ("base/pool.yaml", POOL), ("base/class.yaml", CLASS)];
    Folder::with(&[&base, files].concat())
}

fn check(folder: &Folder, arguments: &[&str]) -> Run {
    let all = [&["check", "--karpenter-version", "1.14", "--format", "json"], arguments].concat();
    folder.run_in("", &all, "")
}

/// Severity, rule, file, line and column of each finding, then each skipped document.
fn shown(run: &Run) -> String {
    let report = run.json();
    let finding = |finding: &serde_json::Value| {
        let text = |key: &str| finding[key].as_str().unwrap().to_owned();
        let (line, column) = (&finding["line"], &finding["column"]);
        format!(
            "{} {} {}#{}:{line}:{column}",
            text("severity"),
            text("rule"),
            text("file"),
            finding["document"]
        )
    };
    let skipped = |skipped: &serde_json::Value| {
        format!("skipped {}: {}", skipped["file"].as_str().unwrap(), skipped["reason"].as_str().unwrap())
    };
    let findings = report["findings"].as_array().unwrap().iter().map(finding);
    let skipped = report["skipped"].as_array().unwrap().iter().map(skipped);
    let summary = &report["summary"];
    let counted = summary["checked"].as_u64().unwrap() + summary["skipped"].as_u64().unwrap();
    assert_eq!(summary["documents"].as_u64(), Some(counted));
    findings.chain(skipped).collect::<Vec<_>>().join("\n")
}

#[test]
fn checks_the_base_if_no_overlay_changes_it() {
    let folder = folder(&[("overlays/prod/kustomization.yaml", "resources: [../../base]\n")]);
    assert_snapshot!(shown(&check(&folder, &["."])), @"
    error instance-profile-is-arn base/class.yaml#0:6:20
    skipped base/kustomization.yaml: kustomization: its objects are checked as it builds them
    skipped overlays/prod/kustomization.yaml: kustomization: its objects are checked as it builds them
    ");
}

#[test]
fn accepts_a_base_that_the_overlay_repairs() {
    let folder = folder(&[("overlays/prod/kustomization.yaml", &patch_of("nodes"))]);
    assert_snapshot!(shown(&check(&folder, &["."])), @"
    skipped base/kustomization.yaml: kustomization: its objects are checked as it builds them
    skipped overlays/prod/kustomization.yaml: kustomization: its objects are checked as it builds them
    ");
    // Without the overlay, the base is what the cluster gets.
    assert_snapshot!(shown(&check(&folder, &["base"])), @"
    error instance-profile-is-arn base/class.yaml#0:6:20
    skipped base/kustomization.yaml: kustomization: its objects are checked as it builds them
    ");
}

#[test]
fn places_findings_in_the_patch_and_fixes_them_there() {
    let pool = "\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: default
spec:
  disruption:
    consolidateAfter: 30x
";
    let arn = "arn:aws:iam::111122223333:instance-profile/prod";
    let kustomization = format!("{}- path: pool.yaml\n", patch_of(arn));
    let folder =
        folder(&[("overlays/prod/kustomization.yaml", &kustomization), ("overlays/prod/pool.yaml", pool)]);
    let run = check(&folder, &["."]);
    assert_snapshot!(shown(&run), @"
    error instance-profile-is-arn overlays/prod/kustomization.yaml#0:7:14
    error api-pattern overlays/prod/pool.yaml#0:7:23
    skipped base/kustomization.yaml: kustomization: its objects are checked as it builds them
    skipped overlays/prod/kustomization.yaml: kustomization: its objects are checked as it builds them
    skipped overlays/prod/pool.yaml: Kustomize patch: checked as part of `overlays/prod`
    ");
    let run = folder.run(&["check", "--fix", "."]);
    assert_eq!(run.status, 1, "{run:?}");
    assert_eq!(folder.read("overlays/prod/kustomization.yaml"), kustomization.replace(arn, "prod"));
    assert_eq!(folder.read("base/class.yaml"), CLASS);
}

/// An edit of the base would change nothing.
#[test]
fn places_a_value_that_the_patch_repeats_in_the_patch() {
    let patch = "\
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: default
spec:
  instanceProfile: arn:aws:iam::111122223333:instance-profile/base
";
    let folder = folder(&[
        ("overlays/prod/kustomization.yaml", "resources: [../../base]\npatches: [{path: class.yaml}]\n"),
        ("overlays/prod/class.yaml", patch),
    ]);
    let run = check(&folder, &["."]);
    let shown = shown(&run);
    assert_eq!(shown.matches("instance-profile-is-arn").count(), 1, "{shown}");
    assert!(shown.contains("error instance-profile-is-arn overlays/prod/class.yaml#0:6:20"), "{shown}");
}

#[test]
fn reports_a_finding_of_several_overlays_once() {
    let overlay = "resources: [../../base]\nnamespace: karpenter\n";
    let folder = folder(&[
        ("overlays/dev/kustomization.yaml", overlay),
        ("overlays/prod/kustomization.yaml", overlay),
        ("overlays/test/kustomization.yaml", &patch_of("nodes")),
    ]);
    assert_snapshot!(shown(&check(&folder, &["."])), @"
    error instance-profile-is-arn base/class.yaml#0:6:20
    skipped base/kustomization.yaml: kustomization: its objects are checked as it builds them
    skipped overlays/dev/kustomization.yaml: kustomization: its objects are checked as it builds them
    skipped overlays/prod/kustomization.yaml: kustomization: its objects are checked as it builds them
    skipped overlays/test/kustomization.yaml: kustomization: its objects are checked as it builds them
    ");
}

#[test]
fn overlays_of_one_base_are_different_clusters() {
    let rename = |name: &str| format!("resources: [../../base]\nnameSuffix: -{name}\n");
    let good = CLASS.replace("arn:aws:iam::111122223333:instance-profile/base", "nodes");
    let folder = folder(&[
        ("overlays/dev/kustomization.yaml", "resources: [../../base]\ncommonLabels: {stage: dev}\n"),
        ("overlays/prod/kustomization.yaml", &rename("prod")),
    ]);
    folder.write("base/class.yaml", good.as_bytes());
    // `dev` has the EC2NodeClass `default`, but the NodePool of `prod` refers to a name that only `dev` has.
    assert_snapshot!(shown(&check(&folder, &["."])), @"
    info nodeclass-ref-dangling base/pool.yaml#0:8:74
    skipped base/kustomization.yaml: kustomization: its objects are checked as it builds them
    skipped overlays/dev/kustomization.yaml: kustomization: its objects are checked as it builds them
    skipped overlays/prod/kustomization.yaml: kustomization: its objects are checked as it builds them
    ");
}

#[test]
fn says_what_is_not_known_and_reports_infos() {
    let missing = "resources: [../../base]\ncomponents: [https://example.com/component]\n";
    let folder = folder(&[("overlays/prod/kustomization.yaml", missing)]);
    let run = check(&folder, &["."]);
    assert_eq!(run.status, 0, "{run:?}");
    assert_snapshot!(shown(&run), @"
    info instance-profile-is-arn base/class.yaml#0:6:20
    skipped base/kustomization.yaml: kustomization: its objects are checked as it builds them
    skipped overlays/prod/kustomization.yaml: kustomization: its objects are checked as it builds them
    ");
    let help = run.json()["findings"][0]["help"].as_str().unwrap().to_owned();
    assert_snapshot!(help, @"write `base`; the object that `kustomize build` yields is not known: `overlays/prod` uses the component `https://example.com/component`, which is not in the input");
    // A remote base adds objects, but it does not change the others.
    let remote = "resources: [https://example.com/base, ../../base]\npatches: [{path: pool.yaml}]\n";
    folder.write("overlays/prod/kustomization.yaml", remote.as_bytes());
    folder.write("overlays/prod/pool.yaml", POOL.replace("default", "remote").as_bytes());
    assert_snapshot!(shown(&check(&folder, &["."])), @"
    error instance-profile-is-arn base/class.yaml#0:6:20
    skipped base/kustomization.yaml: kustomization: its objects are checked as it builds them
    skipped overlays/prod/kustomization.yaml: kustomization: its objects are checked as it builds them
    skipped overlays/prod/pool.yaml: Kustomize patch, not checked: no build in the input applies it; check the output of `kustomize build`
    ");
}

#[test]
fn counts_removed_objects_as_skipped() {
    let remove = r"resources: [../../base]
patches:
- patch: |-
    $patch: delete
    apiVersion: karpenter.k8s.aws/v1
    kind: EC2NodeClass
    metadata: {name: default}
";
    let folder = folder(&[("overlays/prod/kustomization.yaml", remove)]);
    assert_snapshot!(shown(&check(&folder, &["."])), @"
    skipped base/class.yaml: removed by a patch in `overlays/prod`, not checked
    skipped base/kustomization.yaml: kustomization: its objects are checked as it builds them
    skipped overlays/prod/kustomization.yaml: kustomization: its objects are checked as it builds them
    ");
}

#[test]
fn suppressions_in_base_and_patch_count() {
    let arn = "arn:aws:iam::111122223333:instance-profile/prod";
    let suppressed =
        patch_of(arn).replace("# profile", "# karpwarden: ignore[instance-profile-is-arn] known");
    let folder = folder(&[
        ("overlays/prod/kustomization.yaml", &suppressed),
        ("overlays/dev/kustomization.yaml", "resources: [../../base]\nnamespace: dev\n"),
    ]);
    let class = CLASS.replace("/base\n", "/base # karpwarden: ignore[instance-profile-is-arn] known\n");
    folder.write("base/class.yaml", class.as_bytes());
    assert_snapshot!(shown(&check(&folder, &["."])), @"
    skipped base/kustomization.yaml: kustomization: its objects are checked as it builds them
    skipped overlays/dev/kustomization.yaml: kustomization: its objects are checked as it builds them
    skipped overlays/prod/kustomization.yaml: kustomization: its objects are checked as it builds them
    ");
}

#[test]
fn recognises_a_patch_by_its_shape_only() {
    let folder = Folder::with(&[
        ("a.yaml", "- {op: remove, path: /spec/limits}\n"),
        (
            "b.yaml",
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec: {limits: {$patch: replace, cpu: 1}}
",
        ),
        // An object without its required fields is not a patch.
        (
            "c.yaml",
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec: {limits: {cpu: 1}}
",
        ),
    ]);
    assert_snapshot!(shown(&check(&folder, &["."])), @"
    error api-required c.yaml#0:4:1
    skipped a.yaml: patch, not checked: check the object that it changes
    skipped b.yaml: patch, not checked: check the object that it changes
    ");
}

/// A repository with a base outside of the folder that is checked, and a patch that adds an error.
fn repository() -> Folder {
    let folder = Folder::with(&[
        ("base/kustomization.yaml", BASE),
        ("base/pool.yaml", POOL),
        ("base/class.yaml", &CLASS.replace("arn:aws:iam::111122223333:instance-profile/base", "nodes")),
        ("overlays/prod/kustomization.yaml", &patch_of("arn:aws:iam::111122223333:instance-profile/prod")),
    ]);
    folder.write(".git/HEAD", b"ref: refs/heads/main\n");
    folder
}

/// Runs `check` in the folder of the overlay.
fn check_overlay(folder: &Folder, arguments: &[&str]) -> Run {
    folder.run_in("overlays/prod", &[&["check", "--karpenter-version", "1.14"], arguments].concat(), "")
}

#[test]
fn builds_an_overlay_from_a_base_outside_of_the_input() {
    let folder = repository();
    let run = check_overlay(&folder, &["."]);
    assert_eq!((run.status, run.stderr.as_str()), (1, ""), "{run:?}");
    assert!(run.stdout.contains("--> kustomization.yaml:"), "{run:?}");
    assert_snapshot!(run.summary(), @"1 error in 1 document (1 skipped, 2 documents outside of the input; see --verbose); checked against Karpenter 1.14");
    let json = check_overlay(&folder, &["--format", "json", "."]).json();
    assert_eq!(json["summary"]["documents"], 1, "the base is not in the input");
    // An error in the base is read, but not reported.
    folder.write("base/class.yaml", CLASS.as_bytes());
    folder.write("overlays/prod/kustomization.yaml", b"resources: [../../base]\ncommonAnnotations: {a: b}\n");
    let run = check_overlay(&folder, &["."]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run:?}");
    assert_snapshot!(run.summary(), @"no findings in 1 document (1 skipped, 2 documents outside of the input with 1 finding; see --verbose); checked against Karpenter 1.14");
    let json = check_overlay(&folder, &["--format", "json", "."]).json();
    assert_eq!(
        json["notes"][0],
        "not reported: 1 finding in files outside of the input, to which kustomizations refer"
    );
    // No fix changes a file outside of the input.
    check_overlay(&folder, &["--fix", "."]);
    assert_eq!(folder.read("base/class.yaml"), CLASS);
}

#[test]
fn root_says_which_files_outside_of_the_input_are_read() {
    let folder = repository();
    std::fs::remove_dir_all(folder.path(".git")).unwrap();
    let run = check_overlay(&folder, &["."]);
    assert_eq!(run.status, 0, "{run:?}");
    assert_snapshot!(run.stderr, @"note: `kustomization.yaml` refers to `../../base`, which is outside of the input and not read; `--root DIR` reads what is in DIR");
    assert_snapshot!(run.stdout, @"nothing to check: no Karpenter document and no related object in 1 document (1 skipped; see --verbose)");
    let json = check_overlay(&folder, &["--format", "json", "."]).json();
    assert_eq!(json["notes"].as_array().unwrap().len(), 1, "{json}");
    let run = check_overlay(&folder, &["--root", "..", "."]);
    assert_snapshot!(run.stderr, @"note: `kustomization.yaml` refers to `../../base`, which is outside of the input and of the root `..`, and not read");
    let run = check_overlay(&folder, &["--root", "../..", "."]);
    assert_eq!((run.status, run.stderr.as_str()), (1, ""), "{run:?}");
    assert_eq!(check_overlay(&folder, &["--root", "../none", "."]).status, 2);
    // A reference to another machine or to a missing file is no file outside of the input.
    let remote = "resources: [https://github.com/a/b//base?ref=v1, ../../missing]\n";
    folder.write("overlays/prod/kustomization.yaml", remote.as_bytes());
    assert_eq!(check_overlay(&folder, &["."]).stderr, "");
}

#[test]
fn follows_references_through_components_and_bases() {
    let folder = repository();
    folder.write(
        "overlays/prod/kustomization.yaml",
        b"resources: [../all]\ncomponents: [../../components/arn]\n",
    );
    folder.write("overlays/all/kustomization.yml", b"resources: [../../base, ../all]\n");
    let component =
        format!("kind: Component\n{}", patch_of("nodes").replace("resources: [../../base]\n", ""));
    folder.write("components/arn/kustomization.yaml", component.as_bytes());
    let run = check_overlay(&folder, &["."]);
    assert_eq!(run.stderr, "", "{run:?}");
    assert_snapshot!(run.summary(), @"no findings in 1 document (1 skipped, 2 documents outside of the input; see --verbose); checked against Karpenter 1.14");
}
