//! Tests of the version that each file gets.

use super::*;
use cluster::Cluster;
use cluster::built::BuiltCluster;
use objects::embedded::READ_OPTIONS;

const POOL: &str = "apiVersion: karpenter.sh/v1\nkind: NodePool\n";

fn chart(version: &str) -> String {
    format!(
        r"apiVersion: helm.cattle.io/v1
kind: HelmChart
spec: {{chart: karpenter/karpenter, version: {version}}}
"
    )
}

fn definitions(version: &str) -> String {
    chart(version).replace("karpenter/karpenter", "karpenter/karpenter-crd")
}

/// A cluster whose scripts and Markdown files are texts beside the manifests.
fn cluster(files: &[(&str, &str)]) -> Cluster {
    let read = |(name, text): &(&str, &str)| match name.rsplit_once('.') {
        Some((_, "sh" | "md" | "tf")) => File::text_only(*name, *text),
        _ => File::read(*name, *text, READ_OPTIONS),
    };
    Cluster { name: String::new(), files: files.iter().map(read).collect() }
}

/// The release that each file is checked against; every file counts as checked.
fn releases(files: &[(&str, &str)], settings: &Settings) -> Vec<String> {
    let clusters = [cluster(files)];
    let built = BuiltCluster::of_all(&clusters);
    let input = Input::new(&clusters, &built);
    let pins = Pins::of(input, settings);
    let release =
        |(id, file): (FileId, &File)| pins.settings_of(id, file.source.name()).karpenter.to_string();
    input.files().map(release).collect()
}

/// The reported pins: folder, version, release, place and note.
fn reported(files: &[(&str, &str)]) -> String {
    let (clusters, settings) = ([cluster(files)], Settings::default());
    let built = BuiltCluster::of_all(&clusters);
    let input = Input::new(&clusters, &built);
    let pins = Pins::of(input, &settings).report(input, |_| true);
    let newest = Release::NEWEST.to_string();
    let line = |pin: ReportedPin| {
        let ReportedPin { folder, version, checked_as, file, line, note, .. } = pin;
        let text = format!("`{folder}` `{version}` {checked_as} {file}:{line} {note}");
        text.trim_end().replace(&newest, "NEWEST") + "\n"
    };
    pins.into_iter().map(line).collect()
}

#[test]
fn file_has_the_version_of_the_nearest_folder_with_a_pin() {
    let (old, new) = (chart("1.5.0"), chart("1.6.2"));
    let files = [
        ("dev/karpenter/chart.yaml", old.as_str()),
        ("dev/pools/pool.yaml", POOL),
        ("prod/karpenter.yaml", &new),
        ("prod/pool.yaml", POOL),
        ("pool.yaml", POOL),
    ];
    let newest = Release::NEWEST.to_string();
    assert_eq!(releases(&files, &Settings::default()), ["1.5.0", "1.5.0", "1.6.2", "1.6.2", newest.as_str()]);
    insta::assert_snapshot!(reported(&files), @"
    `` `` NEWEST dev/karpenter/chart.yaml:3 1.5.0 in dev/karpenter/chart.yaml:3, but 1.6.2 in prod/karpenter.yaml:3: manifests without a pin in their own folder are checked as NEWEST
    `dev` `1.5.0` 1.5.0 dev/karpenter/chart.yaml:3
    `prod` `1.6.2` 1.6.2 prod/karpenter.yaml:3
    ");
}

#[test]
fn one_version_is_reported_once() {
    let chart = chart("1.6.2");
    let files = [
        ("a/karpenter/chart.yaml", chart.as_str()),
        ("a/pools/pool.yaml", POOL),
        ("b/karpenter/chart.yaml", &chart),
        ("b/pool.yaml", POOL),
        ("pool.yaml", POOL),
    ];
    assert_eq!(releases(&files, &Settings::default()), ["1.6.2"; 5]);
    insta::assert_snapshot!(reported(&files), @"`` `1.6.2` 1.6.2 a/karpenter/chart.yaml:3");
}

#[test]
fn file_that_pins_a_version_has_it_whatever_its_folder_pins() {
    let (old, new) = (chart("1.5.0"), chart("1.6.2"));
    let files = [("dev.yaml", old.as_str()), ("prod.yaml", &new)];
    assert_eq!(releases(&files, &Settings::default()), ["1.5.0", "1.6.2"]);
    insta::assert_snapshot!(reported(&files), @"
    `dev.yaml` `1.5.0` 1.5.0 dev.yaml:3
    `prod.yaml` `1.6.2` 1.6.2 prod.yaml:3
    ");
}

#[test]
fn controller_decides_if_its_definitions_have_another_version() {
    let (controller, crds) = (chart("1.6.2"), definitions("1.1.1"));
    let files = [("a/chart.yaml", controller.as_str()), ("a/crds.yaml", &crds), ("a/pool.yaml", POOL)];
    assert_eq!(releases(&files, &Settings::default()), ["1.6.2", "1.1.1", "1.6.2"]);
    assert_eq!(releases(&files[1..], &Settings::default()), ["1.1.1", "1.1.1"]);
}

#[test]
fn patches_of_one_minor_release_agree_on_it() {
    let (one, other) = (chart("1.6.1"), chart("1.6.2"));
    let files = [("a/chart.yaml", one.as_str()), ("b/chart.yaml", &other), ("pool.yaml", POOL)];
    assert_eq!(releases(&files, &Settings::default()), ["1.6.1", "1.6.2", "1.6"]);
}

#[test]
fn settings_and_overrides_take_precedence() {
    let chart = chart("1.6.2");
    let files = [("a/chart.yaml", chart.as_str()), ("a/pool.yaml", POOL), ("b.yaml", POOL)];
    let target = |text: &str| Target::parse(text).unwrap();
    let set = Settings { karpenter: target("1.8.3"), is_karpenter_version_set: true, ..Settings::default() };
    assert_eq!(releases(&files, &set), ["1.8.3"; 3]);
    let range = Settings { karpenter: target("1.0..1.8"), ..Settings::default() };
    assert_eq!(releases(&files, &range), ["1.0..1.8"; 3]);
    let overriding = rule::settings::Override {
        files: vec!["a/pool.yaml".to_owned()],
        karpenter: Some(target("1.7.1")),
        ..Default::default()
    };
    let settings = Settings { overrides: vec![overriding], ..Settings::default() };
    assert_eq!(releases(&files, &settings), ["1.6.2", "1.7.1", "1.6.2"]);
    let other = rule::settings::Override {
        files: vec!["a/pool.yaml".to_owned()],
        kubernetes_minor: Some(33),
        ..Default::default()
    };
    let settings = Settings { overrides: vec![other], ..Settings::default() };
    assert_eq!(releases(&files, &settings), ["1.6.2"; 3]);
}

#[test]
fn versions_without_facts_are_explained() {
    let (old, patch, new) = (chart("0.37.0"), chart("1.6.99"), chart("1.99.0"));
    let files = [("old/a.yaml", old.as_str()), ("patch/a.yaml", &patch), ("z/new.yaml", &new)];
    let newest = Release::NEWEST.to_string();
    assert_eq!(releases(&files, &Settings::default()), [newest.as_str(), "1.6", newest.as_str()]);
    insta::assert_snapshot!(reported(&files), @"
    `old` `0.37.0` NEWEST old/a.yaml:3 releases before 1.0 are not covered: the controller and the values of its chart are not checked, and objects of v1 are checked as the newest known release
    `patch` `1.6.99` 1.6 patch/a.yaml:3 checked as 1.6.8, its newest known patch
    `z` `1.99.0` NEWEST z/new.yaml:3 checked as NEWEST, the newest known release
    ");
}

#[test]
fn contradiction_is_reported_only_if_a_checked_file_has_no_version() {
    let (old, new) = (chart("1.5.0"), chart("1.6.2"));
    let files = [("a/chart.yaml", old.as_str()), ("b/chart.yaml", &new), ("c.yaml", "a: 1\n")];
    let (clusters, settings) = ([cluster(&files)], Settings::default());
    let folders = |is_checked: bool| {
        let built = BuiltCluster::of_all(&clusters);
        let input = Input::new(&clusters, &built);
        let pins = Pins::of(input, &settings).report(input, |_| is_checked);
        pins.into_iter().map(|pin| pin.folder).collect::<Vec<_>>()
    };
    assert_eq!(folders(false), ["a", "b"]);
    assert_eq!(folders(true), ["", "a", "b"]);
}

const SCRIPT: &str = "helm upgrade karpenter oci://public.ecr.aws/karpenter/karpenter --version 1.5.0\n";

#[test]
fn script_beside_the_manifests_counts_only_without_a_pin_in_them() {
    let chart = chart("1.6.2");
    let pool = ("clusters/a/pool.yaml", POOL);
    let script = ("clusters/a/scripts/install.sh", SCRIPT);
    let newest = Release::NEWEST.to_string();
    // The script itself is no input, but has an id.
    assert_eq!(releases(&[pool, script], &Settings::default()), ["1.5.0", newest.as_str()]);
    let files = [pool, script, ("karpenter.yaml", chart.as_str())];
    assert_eq!(releases(&files, &Settings::default()), ["1.6.2", newest.as_str(), "1.6.2"]);
    insta::assert_snapshot!(reported(&files), @"`` `1.6.2` 1.6.2 karpenter.yaml:3");
    insta::assert_snapshot!(reported(&[pool, script]), @"`clusters/a` `1.5.0` 1.5.0 clusters/a/scripts/install.sh:1");
}

#[test]
fn pin_in_another_folder_does_not_count_against_a_nearer_text() {
    let chart = chart("1.2.0");
    let variable = "variable \"karpenter_version\" {\n  default = \"1.12.0\"\n}\n";
    let files = [("a/karpenter.yaml", chart.as_str()), ("b/pool.yaml", POOL), ("b/variables.tf", variable)];
    assert_eq!(releases(&files, &Settings::default())[1], Release::NEWEST.to_string());
    insta::assert_snapshot!(reported(&files), @r"
    `a` `1.2.0` 1.2.0 a/karpenter.yaml:3
    `b` `` NEWEST b/variables.tf:2 1.12.0 in b/variables.tf:2, but 1.2.0 in a/karpenter.yaml:3: manifests without a pin in their own folder are checked as NEWEST
    ");
    let same = variable.replace("1.12.0", "1.2.0");
    let files = [("a/karpenter.yaml", chart.as_str()), ("b/pool.yaml", POOL), ("b/variables.tf", &same)];
    assert_eq!(releases(&files, &Settings::default())[1], "1.2.0");
}

#[test]
fn scripts_that_disagree_decide_nothing() {
    let other = SCRIPT.replace("1.5.0", "1.8.0");
    let files = [("pool.yaml", POOL), ("a.sh", SCRIPT), ("b.sh", other.as_str())];
    let newest = Release::NEWEST.to_string();
    assert_eq!(releases(&files, &Settings::default())[0], newest);
    insta::assert_snapshot!(reported(&files), @"`` `` NEWEST a.sh:1 1.5.0 in a.sh:1, but 1.8.0 in b.sh:1: manifests without a pin in their own folder are checked as NEWEST");
}

#[test]
fn script_below_1_0_counts_only_without_objects_of_v1() {
    let old = SCRIPT.replace("1.5.0", "0.31.0");
    let before_v1 = |text: &str| {
        let clusters = [cluster(&[("pools/pool.yaml", text), ("install.sh", &old)])];
        let (built, settings) = (BuiltCluster::of_all(&clusters), Settings::default());
        let input = Input::new(&clusters, &built);
        let (id, file) = input.files().next().unwrap();
        Pins::of(input, &settings).version_of(id, file.source.name()).before_v1.is_some()
    };
    assert!(!before_v1(POOL));
    assert!(before_v1("apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\n"));
}

#[test]
fn markdown_counts_where_it_installs_karpenter() {
    let guide = format!("# Install\n\n```bash\n{SCRIPT}```\n");
    assert_eq!(releases(&[("pool.yaml", POOL), ("README.md", &guide)], &Settings::default())[0], "1.5.0");
    let prose = format!("Once it was: {SCRIPT}");
    let newest = Release::NEWEST.to_string();
    assert_eq!(releases(&[("pool.yaml", POOL), ("README.md", &prose)], &Settings::default())[0], newest);
}

#[test]
fn upgrade_starts_at_a_script_only_if_no_manifest_pins_a_version() {
    let chart = chart("1.6.2");
    let versions = |files: &[(&str, &str)]| {
        placed_pins(&[cluster(files)]).iter().map(|pin| pin.version.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(versions(&[("pool.yaml", POOL), ("a.sh", SCRIPT)]), ["1.5.0"]);
    assert_eq!(versions(&[("a.yaml", &chart), ("a.sh", SCRIPT)]), ["1.6.2"]);
}
