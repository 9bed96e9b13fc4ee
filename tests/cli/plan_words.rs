//! Words of `karpwarden plan`: values, sentences, refusals, assumptions, and nodes that are never replaced.

use serde_json::{Value, json};

use crate::folder::{Folder, Run};
use crate::plan::{CLASS, POOL};

/// The states before and after an edit of both objects, planned.
fn plan(old: (&str, &str), new: (&str, &str), further: &[&str]) -> Run {
    let edited = |(from, to): (&str, &str)| {
        let text = format!("{POOL}---\n{CLASS}");
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    };
    let folder = Folder::with(&[("old/a.yaml", &edited(old)), ("new/a.yaml", &edited(new))]);
    let release = ["plan", "old", "new", "--karpenter-version", "1.14"];
    let release = if further.contains(&"--karpenter-version") || further.contains(&"--to") {
        &release[..3]
    } else {
        &release[..]
    };
    folder.run(&[release, further].concat())
}

fn json_of(old: (&str, &str), new: (&str, &str), further: &[&str]) -> Value {
    let answer = plan(old, new, &[further, &["--format", "json"]].concat()).json();
    crate::answers::assert_valid("plan", &answer);
    answer
}

const SAME: (&str, &str) = ("team: a", "team: a");

#[test]
fn a_duration_is_shown_as_it_is_written() {
    const EXPIRY: &str = "      expireAfter: 720h\n";
    let never = (EXPIRY, "      expireAfter: Never\n");
    for (old, new, expected) in [
        (SAME, never, ["720h", "Never"]),
        (never, SAME, ["Never", "720h"]),
        (never, (EXPIRY, ""), ["Never", ""]),
        ((EXPIRY, ""), never, ["", "Never"]),
        (SAME, (EXPIRY, "      expireAfter: 240h\n"), ["720h", "240h"]),
    ] {
        let field = &json_of(old, new, &[])["changes"][0]["fields"][0];
        assert_eq!(field["path"], "spec.template.spec.expireAfter", "{field}");
        assert_eq!([&field["old"], &field["new"]], expected, "{field}");
        assert_eq!(field["effect"], "replaces-all");
    }
}

#[test]
fn a_change_that_keeps_the_nodes_says_why() {
    const SUBNETS: &str = "subnetSelectorTerms: [{tags: {d: x}}]";
    const SELECTED: &str = "what was selected is selected as before, so only new nodes are affected";
    const MET: &str = "nodes that met the requirements still meet them, so only new nodes are affected";
    for (from, to, expected) in [
        (SUBNETS, "subnetSelectorTerms: [{tags: {d: x}}, {id: subnet-1}]", SELECTED),
        (
            SUBNETS,
            "subnetSelectorTerms: [{tags: {d: x}}]\n  capacityReservationSelectorTerms: [{id: cr-1}]",
            SELECTED,
        ),
        ("values: [m5.large, m5.xlarge]", "values: [m5.large, m5.xlarge], minValues: 2", MET),
        ("values: [m5.large, m5.xlarge]", "values: [m5.large, m5.xlarge, m5.2xlarge]", MET),
    ] {
        let change = &json_of(SAME, (from, to), &[])["changes"][0];
        assert_eq!(change["effect"], "new-nodes", "{change}");
        assert_eq!(change["fields"][0]["message"], expected, "{change}");
    }
}

#[test]
fn the_disruption_section_decides_whether_other_types_replace_nodes() {
    let with = |disruption: &str, types: &str| {
        POOL.replace("  limits:", &format!("  disruption: {{{disruption}}}\n  limits:"))
            .replace("[m5.large, m5.xlarge]", types)
    };
    let of = |old: (&str, &str), new: (&str, &str)| {
        let (old, new) = (with(old.0, old.1), with(new.0, new.1));
        let folder = Folder::with(&[
            ("old/pool.yaml", &old),
            ("old/class.yaml", CLASS),
            ("new/pool.yaml", &new),
            ("new/class.yaml", CLASS),
        ]);
        folder
            .run(&["plan", "old", "new", "--karpenter-version", "1.14"])
            .stdout
            .lines()
            .next()
            .unwrap()
            .to_owned()
    };
    let (few, more) = ("[m5.large]", "[m5.large, c5.large]");
    for (disruption, expected) in [
        ("consolidateAfter: 0s", "no node drifts, but consolidation may replace nodes"),
        ("consolidateAfter: Never", "no node is replaced"),
        ("consolidateAfter: 0s, consolidationPolicy: WhenEmpty", "no node is replaced"),
        ("consolidateAfter: 0s, budgets: [{nodes: '0'}]", "no node is replaced"),
    ] {
        assert_eq!(of((disruption, few), (disruption, more)), expected, "{disruption}");
    }
    // A shorter wait.
    for (further, expected) in [
        ("", "no node drifts, but consolidation may replace nodes"),
        (", consolidationPolicy: WhenEmpty", "no node drifts, but consolidation may remove empty nodes"),
        (
            ", budgets: [{nodes: '0', reasons: [Underutilized]}]",
            "no node drifts, but consolidation may remove empty nodes",
        ),
        (", budgets: [{nodes: '0'}]", "no node is replaced"),
    ] {
        let disruption = |wait: &str| format!("consolidateAfter: {wait}{further}");
        let verdict = of((&disruption("1h"), few), (&disruption("5m"), few));
        assert_eq!(verdict, format!("{expected}: spec.disruption.consolidateAfter acts at once"));
    }
    // A freeze that ends lets consolidation go on.
    let frozen = "consolidateAfter: 0s, budgets: [{nodes: '0'}]";
    let verdict = of((frozen, few), ("consolidateAfter: 0s, budgets: [{nodes: '1'}]", few));
    assert_eq!(
        verdict,
        "no node drifts, but consolidation may replace nodes: spec.disruption.budgets acts at once"
    );
}

#[test]
fn a_change_that_the_api_server_refuses_may_replace_nodes() {
    for (from, to, expected) in [
        (
            "  limits: {cpu: 100}\n",
            "  limits: {nodes: 3}\n  replicas: 2\n",
            "the API server refuses the change: spec: Cannot transition NodePool between static (replicas set) and dynamic (replicas unset) provisioning modes",
        ),
        (
            "expireAfter: 720h",
            "expireAfter: 10 days",
            "the API server refuses the change: spec.template.spec.expireAfter in body should match",
        ),
        ("al2023@v20250807", "al2024@v20250807", "the API server refuses the change: spec.amiSelectorTerms"),
        (
            "  securityGroupSelectorTerms: [{tags: {d: x}}]\n",
            "",
            "the API server refuses the change: spec.securityGroupSelectorTerms: Required value",
        ),
    ] {
        let answer = json_of(SAME, (from, to), &[]);
        let change = &answer["changes"][0];
        assert!(change["message"].as_str().unwrap().starts_with(expected), "{change}");
        assert_eq!(
            (&change["effect"], &answer["effect"]),
            (&json!("unknown"), &json!("unknown")),
            "{answer}"
        );
        assert!(
            answer["verdict"].as_str().unwrap().starts_with("may replace nodes of 1 NodePool"),
            "{answer}"
        );
    }
    // A fault of both sides is no fault of the change.
    let from = "{team: a}\n    spec:\n      expireAfter: 720h";
    let bad = |team: &str| from.replace("720h", "10 days").replace("team: a", team);
    assert_eq!(json_of((from, &bad("team: a")), (from, &bad("team: b")), &[])["effect"], "replaces-all");
}

#[test]
fn a_new_pod_without_a_place_is_in_the_verdict() {
    let old = format!("{POOL}---\n{CLASS}");
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: big}\nspec: {containers: [{name: a, image: a, resources: {requests: {cpu: '90'}}}]}\n";
    let new = format!("{}---\n{pod}", old.replace("team: a", "team: b"));
    let folder = Folder::with(&[("old/a.yaml", &old), ("new/a.yaml", &new)]);
    let run = folder.run(&["plan", "old", "new", "--karpenter-version", "1.14", "--fail-on", "pending"]);
    let verdict = run.stdout.lines().next().unwrap();
    let expected = "replaces every node of 1 NodePool (default): spec.template.metadata.labels.team; 1 new pod finds no place";
    assert_eq!((verdict, run.status), (expected, 1), "{run:?}");
}

#[test]
fn what_keeps_nodes_for_ever_fails_without_nodes_too() {
    let workload = |annotations: &str| {
        format!(
            "\
apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: db, namespace: shop}}
spec:
  replicas: 1
  selector: {{matchLabels: {{app: db}}}}
  template:
    metadata: {{labels: {{app: db}}, annotations: {{{annotations}}}}}
    spec: {{containers: [{{name: c, image: i}}]}}
"
        )
    };
    let budget = "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: db, namespace: shop}\nspec: {maxUnavailable: 0, selector: {matchLabels: {app: db}}}\n";
    let protected = workload("karpenter.sh/do-not-disrupt: 'true'");
    let grace = "      expireAfter: 720h\n      terminationGracePeriod: 24h\n";
    for (old, new, beside, expected) in [
        (SAME, ("team: a", "team: b"), String::new(), ""),
        (
            SAME,
            ("team: a", "team: b"),
            format!("{}---\n{budget}", workload("")),
            "PodDisruptionBudget shop/db",
        ),
        (SAME, ("team: a", "team: b"), protected.clone(), "StatefulSet shop/db"),
        (
            ("      expireAfter: 720h\n", grace),
            ("      expireAfter: 720h\n", &grace.replace("24h", "25h")),
            protected,
            "",
        ),
        (SAME, ("team: a", "team: a"), budget.to_owned(), ""),
        (
            ("  limits: {cpu: 100}\n", "  disruption: {consolidateAfter: 1m, budgets: [{nodes: '0'}]}\n"),
            (
                "  limits: {cpu: 100}\n",
                "  disruption: {consolidateAfter: 1m, budgets: [{nodes: '0'}]}\n  #\n",
            ),
            String::new(),
            "",
        ),
    ] {
        let new = (format!("{POOL}---\n{CLASS}").replace(new.0, new.1), beside);
        let old = format!("{POOL}---\n{CLASS}").replace(old.0, old.1);
        let folder = Folder::with(&[
            ("old/a.yaml", &old),
            ("new/a.yaml", &new.0),
            ("new/b.yaml", &new.1),
            ("old/b.yaml", &new.1),
        ]);
        let run = folder.run(&["plan", "old", "new", "--karpenter-version", "1.14", "--fail-on", "never"]);
        assert_eq!(run.status, i32::from(!expected.is_empty()), "{run:?}");
        let text = format!("; but {expected} lets no node with its pods go");
        let verdict = run.stdout.lines().next().unwrap();
        assert_eq!(verdict.contains("; but "), !expected.is_empty(), "{run:?}");
        assert!(expected.is_empty() || verdict.ends_with(&text), "{run:?}");
        if !expected.is_empty() {
            assert!(verdict.starts_with("replaces every node of"), "{run:?}");
        }
    }
    let closed = |team: &str| {
        POOL.replace("team: a", team).replace(
            "  limits: {cpu: 100}\n",
            "  disruption: {consolidateAfter: 1m, budgets: [{nodes: '0'}]}\n",
        )
    };
    let folder = Folder::with(&[("old.yaml", &closed("team: a")), ("new.yaml", &closed("team: b"))]);
    let run =
        folder.run(&["plan", "old.yaml", "new.yaml", "--karpenter-version", "1.14", "--fail-on", "never"]);
    assert_eq!(run.status, 1, "{run:?}");
    assert_eq!(
        run.stdout.lines().next().unwrap(),
        "would replace every node of 1 NodePool (default), but its budgets let none go: spec.template.metadata.labels.team"
    );
}

#[test]
fn a_release_that_was_not_run_is_an_assumption() {
    const SOURCE: &str = "Karpenter 1.15 hashes an EC2NodeClass as its source between 1.14.1 and 1.15.0 does";
    let kubelet =
        |pods: u8| format!("role: r\n  kubelet: {{maxPods: {pods}, systemReserved: {{cpu: 100m}}}}");
    let (old, new) = (kubelet(50), kubelet(60));
    for (release, is_assumed) in [("1.14", false), ("1.15", true)] {
        let answer = json_of(("role: r", &old), ("role: r", &new), &["--karpenter-version", release]);
        let assumptions = answer["assumptions"].as_array().unwrap();
        assert_eq!(assumptions.contains(&json!(SOURCE)), is_assumed, "{answer}");
        let field = &answer["changes"][0]["fields"][0];
        assert_eq!(
            [&field["path"], &field["old"], &field["new"]],
            ["spec.kubelet.maxPods", "50", "60"],
            "{release}"
        );
        let folder = Folder::with(&[("a.yaml", CLASS), ("pool.yaml", POOL)]);
        let hash = folder.run(&["hash", "a.yaml", "--karpenter-version", release, "--format", "json"]).json();
        assert_eq!(hash["assumptions"].as_array().unwrap().contains(&json!(SOURCE)), is_assumed, "{hash}");
        let hash =
            folder.run(&["hash", "pool.yaml", "--karpenter-version", release, "--format", "json"]).json();
        assert_eq!(hash["assumptions"], json!([]));
    }
    let class = json_of(SAME, ("role: r", &new), &["--karpenter-version", "1.15"]);
    let paths: Vec<&Value> =
        class["changes"][0]["fields"].as_array().unwrap().iter().map(|field| &field["path"]).collect();
    assert_eq!(paths, ["spec.kubelet.maxPods", "spec.kubelet.systemReserved.cpu"]);
}

#[test]
fn an_edit_beside_an_upgrade_is_applied_while_karpenter_runs() {
    let is_said = |new: (&str, &str)| {
        let answer = json_of(SAME, new, &["--from", "1.8", "--to", "1.14"]);
        let assumptions = answer["assumptions"].as_array().unwrap().clone();
        assumptions
            .iter()
            .any(|one| one.as_str().unwrap().starts_with("the files are applied while Karpenter runs"))
    };
    assert!(is_said(("team: a", "team: b")));
    assert!(!is_said(SAME));
}

#[test]
fn an_added_overlay_says_what_it_does() {
    let overlay = "  limits: {cpu: 100}\n---\napiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: o}\nspec: {requirements: [], price: '1'}\n";
    let change = &json_of(SAME, ("  limits: {cpu: 100}\n", overlay), &[])["changes"][0];
    assert_eq!(
        change["message"],
        "Karpenter launches and consolidates with the new prices and resources; no node is replaced because of drift"
    );
    let run = plan(("  limits: {cpu: 100}\n", overlay), SAME, &["--format", "markdown"]);
    let row = "| `NodeOverlay/o` | | removed | acts at once; no node drifts: Karpenter launches";
    assert!(run.stdout.contains(row), "{run:?}");
}

#[test]
fn a_path_after_base_gets_a_hint() {
    let folder = Folder::with(&[("clusters/pool.yaml", POOL)]);
    for arguments in [&["init", "-q", "-b", "main"][..], &["add", "-A"], &["commit", "-q", "-m", "a"]] {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"];
        let mut git = std::process::Command::new("git");
        let output = git.arg("-C").arg(folder.path("")).args(identity).args(arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let run = folder.run(&["plan", "--base", "clusters/"]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.stderr.contains("write `--base -- clusters/`, or `--base=REF clusters/`"), "{run:?}");
    for arguments in [&["--base", "--", "clusters/"][..], &["--base=main", "clusters/"]] {
        assert_eq!(folder.run(&[&["plan"][..], arguments].concat()).status, 0);
    }
}
