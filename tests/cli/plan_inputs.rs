//! The inputs of `karpwarden plan`: folders within folders, documents of one name, standard input, paths that do not exist.

use serde_json::{Value, json};

use crate::folder::{Folder, Run};
use crate::plan::{CLASS, POOL};

const LABEL: &str = "spec.template.metadata.labels.team";

fn plan(folder: &Folder, further: &[&str]) -> Run {
    plan_of(folder, further, "")
}

fn plan_of(folder: &Folder, further: &[&str], stdin: &str) -> Run {
    let common = ["plan", "--at", "2026-03-11T10:30:00Z", "--karpenter-version", "1.14"];
    folder.run_in("", &[&common[..], further].concat(), stdin)
}

fn verdict(run: &Run) -> &str {
    run.stdout.lines().next().unwrap_or_default()
}

/// A folder with NodePools of one name in several files of both sides. The changed ones have another label.
fn pools(files: &[&str], changed: &[&str]) -> Folder {
    let folder = Folder::with(&[]);
    for file in files {
        let new = if changed.contains(file) { POOL.replace("team: a", "team: b") } else { POOL.to_owned() };
        folder.write(&format!("old/{file}"), POOL.as_bytes());
        folder.write(&format!("new/{file}"), new.as_bytes());
    }
    folder
}

#[test]
fn the_outermost_folder_is_planned_beside_folders_with_the_same_names() {
    for (files, changed, cluster) in [
        (&["pool.yaml", "dev/pool.yaml"][..], "pool.yaml", "."),
        (&["pool.yaml", "dev/pool.yaml"], "dev/pool.yaml", "dev"),
        (&["pool.yaml", "clusters/dev/pool.yaml", "clusters/prod/pool.yaml"], "pool.yaml", "."),
        (
            &["pool.yaml", "clusters/dev/pool.yaml", "clusters/prod/pool.yaml"],
            "clusters/prod/pool.yaml",
            "clusters/prod",
        ),
        (&["a.yaml", "b.yaml", "dev/a.yaml"], "a.yaml", "a.yaml"),
        (&["prod/pool.yaml", "prod/blue/pool.yaml"], "prod/pool.yaml", "prod"),
    ] {
        let run = plan(&pools(files, &[changed]), &["old", "new", "--fail-on", "replaces"]);
        let expected = format!("replaces every node of 1 NodePool (default in {cluster}): {LABEL}");
        assert_eq!((verdict(&run), run.status), (expected.as_str(), 1), "{files:?} {changed}");
    }
}

#[test]
fn an_object_of_the_outermost_folder_belongs_to_the_folders_that_have_no_other_of_its_name() {
    let folder = pools(&["pool.yaml", "dev/pool.yaml"], &[]);
    folder.write("old/class.yaml", CLASS.as_bytes());
    folder.write("new/class.yaml", CLASS.replace("role: r", "role: s").as_bytes());
    let run = plan(&folder, &["old", "new"]);
    assert_eq!(
        verdict(&run),
        "replaces every node of 2 NodePools (default in ., default in dev): spec.role",
        "{run:?}"
    );
}

#[test]
fn folders_beside_the_current_folder_are_planned_apart() {
    let folder = pools(&["prod/pool.yaml", "dev/pool.yaml", "pool.yaml"], &[]);
    for (name, cluster) in [("prod/pool.yaml", "."), ("dev/pool.yaml", "../dev"), ("pool.yaml", "..")] {
        let run = |arguments: &[&str]| {
            let output = std::process::Command::new("git")
                .arg("-C")
                .arg(folder.path("new"))
                .args(["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"])
                .args(arguments)
                .output()
                .unwrap();
            assert!(output.status.success(), "{output:?}");
        };
        if !folder.path("new/.git").exists() {
            run(&["init", "-q", "-b", "main"]);
        }
        folder.write(&format!("new/{name}"), POOL.as_bytes());
        run(&["add", "-A"]);
        run(&["commit", "-q", "--allow-empty", "-m", "a"]);
        folder.write(&format!("new/{name}"), POOL.replace("team: a", "team: b").as_bytes());
        let arguments = ["plan", "--karpenter-version", "1.14", "--base=main", ".."];
        let run = folder.run_in("new/prod", &arguments, "");
        let expected = format!("replaces every node of 1 NodePool (default in {cluster}): {LABEL}");
        assert_eq!(verdict(&run), expected, "{run:?}");
        folder.write(&format!("new/{name}"), POOL.as_bytes());
    }
}

#[test]
fn of_two_documents_of_one_name_in_a_file_the_last_one_counts() {
    let other = POOL.replace("team: a", "team: c");
    for (new, expected) in [
        (POOL.replace("team: a", "team: b"), format!("replaces every node of 1 NodePool (default): {LABEL}")),
        (POOL.to_owned(), "no node is replaced: no NodePool, EC2NodeClass or NodeOverlay changes".to_owned()),
    ] {
        let folder = Folder::with(&[
            ("old/a.yaml", &format!("{other}---\n{POOL}")),
            ("new/a.yaml", &format!("{other}---\n{new}")),
        ]);
        assert_eq!(verdict(&plan(&folder, &["old", "new"])), expected);
        let first = Folder::with(&[
            ("old/a.yaml", &format!("{POOL}---\n{other}")),
            ("new/a.yaml", &format!("{new}---\n{other}")),
        ]);
        let run = plan(&first, &["old", "new"]);
        assert_eq!(
            verdict(&run),
            "no node is replaced: no NodePool, EC2NodeClass or NodeOverlay changes",
            "{run:?}"
        );
    }
}

#[test]
fn an_admission_review_on_standard_input_has_both_sides() {
    let pool = |team: &str| {
        json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "default"}, "spec": {"template": {
            "metadata": {"labels": {"team": team}},
            "spec": {"requirements": [], "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}}}}})
    };
    let review = |operation: &str, object: Value, old: Value| {
        json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "request": {"uid": "1", "operation": operation, "object": object, "oldObject": old}})
        .to_string()
    };
    for (text, expected) in [
        (
            review("UPDATE", pool("b"), pool("a")),
            format!("replaces every node of 1 NodePool (default): {LABEL}"),
        ),
        (review("DELETE", Value::Null, pool("a")), "removes the nodes of 1 NodePool (default)".to_owned()),
    ] {
        let run = plan_of(&Folder::with(&[]), &["-", "--fail-on", "replaces"], &text);
        assert_eq!((verdict(&run), run.status), (expected.as_str(), 1), "{run:?}");
    }
}

#[test]
fn an_input_that_cannot_be_opened_has_no_plan() {
    let folder = Folder::with(&[("old/pool.yaml", POOL), ("new/pool.yaml", POOL)]);
    for paths in [
        &["missing", "missing2"][..],
        &["missing", "new"],
        &["old", "missing"],
        &["--snapshot", "old", "missing"],
    ] {
        for format in ["human", "json", "markdown"] {
            let run = plan(&folder, &[&["--format", format], paths].concat());
            assert_eq!((run.status, run.stdout.as_str()), (4, ""), "{paths:?} {format}");
            assert!(run.stderr.contains("`missing`: no such file or folder"), "{run:?}");
        }
    }
}

#[test]
fn a_removed_node_pool_has_no_nodes_to_replace() {
    let class = CLASS.replace("role: r", "role: s");
    let folder =
        Folder::with(&[("old/pool.yaml", POOL), ("old/class.yaml", CLASS), ("new/class.yaml", &class)]);
    let answer: Value = plan(&folder, &["--format", "json", "old", "new"]).json();
    assert_eq!(answer["verdict"], "removes the nodes of 1 NodePool (default)");
    assert_eq!(answer["effect"], "removes-nodes");
    let answer: Value = plan(&folder, &["--format", "json", "new", "old"]).json();
    assert_eq!((&answer["verdict"], &answer["effect"]), (&json!("no node is replaced"), &json!("new-nodes")));
}

#[test]
fn a_file_that_cannot_be_read_any_more_may_replace_nodes_and_removes_none() {
    for broken in [format!("{POOL}  x: [\n"), "spec: [\n".to_owned()] {
        let folder = Folder::with(&[
            ("old/pool.yaml", POOL),
            ("old/class.yaml", CLASS),
            ("new/pool.yaml", &broken),
            ("new/class.yaml", CLASS),
        ]);
        let run = plan(&folder, &["old", "new", "--fail-on", "replaces"]);
        assert_eq!(
            (verdict(&run), run.status),
            ("may replace nodes: new/pool.yaml has changed, and documents in it could not be read", 4),
            "{run:?}"
        );
    }
    // A document that could not be read before says nothing about the others.
    let template = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: {{ .Values.x }}}\n";
    let both = format!("{POOL}---\n{template}");
    let rest = format!("# removed\n---\n{template}");
    let folder = Folder::with(&[("old/pool.yaml", &both), ("new/pool.yaml", &rest)]);
    let run = plan(&folder, &["old", "new"]);
    assert_eq!(verdict(&run), "removes the nodes of 1 NodePool (default)", "{run:?}");
}

/// The changes between two states, each with its cluster, in order. Files other than kustomizations hold a NodePool of that name.
fn changes(old: &[(&str, &str)], new: &[(&str, &str)]) -> Vec<String> {
    let folder = Folder::with(&[]);
    for (side, files) in [("old", old), ("new", new)] {
        for (file, text) in files {
            let pool = POOL.replace("{name: default}", &format!("{{name: {text}}}"));
            let text = if file.ends_with("kustomization.yaml") { *text } else { &pool };
            folder.write(&format!("{side}/clusters/{file}"), text.as_bytes());
        }
    }
    let run = plan(&folder, &["--format", "json", "old", "new"]);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    let text = |change: &Value| {
        let [name, change, cluster] = ["name", "change", "cluster"].map(|key| change[key].as_str().unwrap());
        format!("{name} {change} in {cluster}")
    };
    let mut changes: Vec<String> = answer["changes"].as_array().unwrap().iter().map(text).collect();
    changes.sort();
    changes
}

#[test]
fn a_node_pool_that_moves_to_another_environment_is_removed_in_the_first() {
    let (dev, prod) = (("dev/a.yaml", "a"), ("prod/b.yaml", "b"));
    let moved = ["a added in clusters/prod", "a removed in clusters/dev"];
    for (old, new) in [
        (&[dev, ("dev/c.yaml", "c"), prod][..], &[("dev/c.yaml", "c"), ("prod/a.yaml", "a"), prod][..]),
        (&[dev, prod], &[("prod/a.yaml", "a"), prod]),
        (&[dev, ("dev/b.yaml", "b")], &[("prod/a.yaml", "a"), ("dev/b.yaml", "b")]),
    ] {
        assert_eq!(changes(old, new), moved, "{old:?} {new:?}");
    }
    let exchanged = changes(&[dev, prod], &[("dev/b.yaml", "b"), ("prod/a.yaml", "a")]);
    let of_b = ["b added in clusters/dev", "b removed in clusters/prod"];
    assert_eq!(exchanged, [&moved[..], &of_b].concat());
    // The environment has another name, or the file is in another folder of it.
    let none: [&str; 0] = [];
    assert_eq!(changes(&[dev, prod], &[("development/a.yaml", "a"), prod]), none);
    assert_eq!(changes(&[dev, prod], &[("dev/pools/a.yaml", "a"), prod]), none);
}

#[test]
fn a_node_pool_that_moves_to_another_overlay_is_removed_in_the_first() {
    const OF_A: &str = "resources: [../base/a.yaml]";
    const OF_B: &str = "resources: [../base/b.yaml]";
    const OF_BOTH: &str = "resources: [../base/a.yaml, ../base/b.yaml]";
    const OF_NONE: &str = "resources: []";
    let planned = |old: [&'static str; 2], new: [&'static str; 2]| {
        let side = |[one, two]: [&'static str; 2]| -> Vec<(&str, &str)> {
            let overlays = [("one/kustomization.yaml", one), ("two/kustomization.yaml", two)];
            let pools = [("base/a.yaml", "a"), ("base/b.yaml", "b")];
            overlays.into_iter().filter(|(_, text)| !text.is_empty()).chain(pools).collect()
        };
        changes(&side(old), &side(new)).join(", ")
    };
    for (old, new, expected) in [
        ([OF_A, OF_B], [OF_NONE, OF_BOTH], "a added in clusters/two, a removed in clusters/one"),
        ([OF_A, OF_B], [OF_A, OF_BOTH], "a added in clusters/two"),
        ([OF_A, OF_BOTH], [OF_A, OF_B], "a removed in clusters/two"),
        // An overlay goes, and another one is new.
        ([OF_A, OF_BOTH], ["", OF_BOTH], "a removed in clusters/one"),
        (["", OF_BOTH], [OF_A, OF_BOTH], "a added in clusters/one"),
    ] {
        assert_eq!(planned(old, new), expected, "{old:?} {new:?}");
    }
}

/// The changes between two states of NodePools and EC2NodeClasses, each given as its file, its kind and name, and its label or role.
fn cluster_changes(old: &[[&str; 3]], new: &[[&str; 3]]) -> (String, Vec<String>) {
    let folder = Folder::with(&[]);
    for (side, objects) in [("old", old), ("new", new)] {
        for [file, object, value] in objects {
            let (kind, name) = object.split_once(' ').unwrap();
            let text = match kind {
                "pool" => POOL
                    .replacen("{name: default}", &format!("{{name: {name}}}"), 1)
                    .replace("team: a", &format!("team: {value}")),
                _ => CLASS
                    .replace("{name: default}", &format!("{{name: {name}}}"))
                    .replace("role: r", &format!("role: {value}")),
            };
            folder.write(&format!("{side}/{file}"), text.as_bytes());
        }
    }
    let answer: Value = plan(&folder, &["--format", "json", "old", "new"]).json();
    let text = |change: &Value| {
        let [kind, name, change, cluster] =
            ["kind", "name", "change", "cluster"].map(|key| change[key].as_str().unwrap());
        format!("{kind} {name} {change} in {cluster}")
    };
    let changes = answer["changes"].as_array().unwrap().iter().map(text).collect();
    (answer["verdict"].as_str().unwrap().to_owned(), changes)
}

#[test]
fn an_object_with_a_unique_name_belongs_to_the_folder_of_its_cluster() {
    // Both have an EC2NodeClass of one name, so that they are two clusters.
    for [class_a, from, class_b, to, other] in [
        ["team-a/c.yaml", "team-a/spot.yaml", "team-b/c.yaml", "team-b/spot.yaml", "team-b/od.yaml"],
        [
            "team-a/c/c.yaml",
            "team-a/p/spot.yaml",
            "team-b/c/c.yaml",
            "team-b/p/spot.yaml",
            "team-b/p/od.yaml",
        ],
    ] {
        let state = |file| {
            let classes = [[class_a, "class default", "a"], [class_b, "class default", "b"]];
            [classes[0], classes[1], [file, "pool spot", "x"], [other, "pool od", "x"]]
        };
        let (verdict, changes) = cluster_changes(&state(from), &state(to));
        assert_eq!(verdict, "removes the nodes of 1 NodePool (spot in team-a)");
        assert_eq!(changes, ["NodePool spot removed in team-a", "NodePool spot added in team-b"]);
    }
}

#[test]
fn the_class_of_a_cluster_has_the_node_pools_of_its_folder() {
    let state = |role| {
        [
            ["cluster-a/class.yaml", "class default", role],
            ["cluster-a/pool.yaml", "pool pool-a", "x"],
            ["cluster-b/class.yaml", "class default", "b"],
            ["cluster-b/pool.yaml", "pool pool-b", "x"],
        ]
    };
    let (verdict, _) = cluster_changes(&state("a"), &state("c"));
    assert_eq!(verdict, "replaces every node of 1 NodePool (pool-a in cluster-a): spec.role");
    // The folders are parts of one cluster.
    let parts = |role| [["classes/c.yaml", "class default", role], ["pools/p.yaml", "pool p", "x"]];
    let (verdict, _) = cluster_changes(&parts("a"), &parts("c"));
    assert_eq!(verdict, "replaces every node of 1 NodePool (p): spec.role");
}

#[test]
fn a_cluster_with_another_name_is_compared_with_itself() {
    let old = [["demo01/class.yaml", "class default", "a"], ["demo01/pool.yaml", "pool spot", "x"]];
    let new = |role| {
        [
            ["manifests/basic/class.yaml", "class default", role],
            ["manifests/basic/pool.yaml", "pool spot", "x"],
            ["manifests/highload/class.yaml", "class default", "b"],
            ["manifests/highload/pool.yaml", "pool default", "x"],
        ]
    };
    let (verdict, _) = cluster_changes(&old, &new("b"));
    assert_eq!(verdict, "replaces every node of 1 NodePool (spot in manifests/basic): spec.role");
    assert_eq!(cluster_changes(&old, &new("a")).0, "no node is replaced");
    // Either cluster may be the old one.
    let either = [new("b")[0], new("b")[1], new("b")[2], ["manifests/highload/pool.yaml", "pool spot", "x"]];
    assert_eq!(cluster_changes(&old, &either).0, "removes the nodes of 1 NodePool (spot in demo01)");
}
