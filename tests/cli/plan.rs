//! `karpwarden plan` of files: two states, a commit, an AdmissionReview, an upgrade.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::folder::{Folder, Run};

pub(crate) const POOL: &str = "\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    metadata:
      labels: {team: a}
    spec:
      expireAfter: 720h
      requirements:
      - {key: node.kubernetes.io/instance-type, operator: In, values: [m5.large, m5.xlarge]}
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
  limits: {cpu: 100}
";

pub(crate) const CLASS: &str = "\
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: r
  amiSelectorTerms: [{alias: al2023@v20250807}]
  subnetSelectorTerms: [{tags: {d: x}}]
  securityGroupSelectorTerms: [{tags: {d: x}}]
  blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 1024Gi}}]
";

const AT: [&str; 4] = ["--at", "2026-03-11T10:30:00Z", "--karpenter-version", "1.14"];

/// A folder with both states: a NodePool and an EC2NodeClass before, and what replaces parts of them.
fn sides(edits: &[(&str, &str)]) -> Folder {
    let changed = |text: &str| edits.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
    let (pool, class) = (changed(POOL), changed(CLASS));
    assert!(edits.is_empty() || pool != POOL || class != CLASS, "{edits:?}");
    Folder::with(&[
        ("old/pool.yaml", POOL),
        ("old/class.yaml", CLASS),
        ("new/pool.yaml", &pool),
        ("new/class.yaml", &class),
    ])
}

fn plan(folder: &Folder, further: &[&str]) -> Run {
    folder.run(&[&["plan"][..], &AT, further].concat())
}

fn json_of(folder: &Folder, further: &[&str]) -> Value {
    let run = plan(folder, &[&["--format", "json"], further].concat());
    let answer = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"));
    crate::answers::assert_valid("plan", &answer);
    answer
}

fn verdict(changes: &[(&str, &str)]) -> String {
    json_of(&sides(changes), &["old", "new"])["verdict"].as_str().unwrap().to_owned()
}

#[test]
fn a_label_of_the_template_replaces_every_node() {
    let run = plan(&sides(&[("team: a", "team: b")]), &["old", "new"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run:?}");
    assert_snapshot!(run.stdout, @"
    replaces every node of 1 NodePool (default): spec.template.metadata.labels.team
    Karpenter 1.14, at Wed 2026-03-11 10:30 UTC

    changes
      NodePool/default  changed, replaces every node (NodePoolDrifted)
        new/pool.yaml:7  spec.template.metadata.labels.team  a → b
          part of the hash: changing it replaces every node of this NodePool

    NodePools
      default  replaces every node
        2 instance types, from m5.large for $0.0384 per hour

    assumed
      the subnets are in us-east-1a, us-east-1b, us-east-1c (`--zones`)
      on-demand prices are the list prices of us-east-1 (`--prices`)
      spot capacity costs 40 % of the on-demand price in every zone (`--spot-discount`)
      the cluster has no other NodePool, node or pod than the input
      every instance type has capacity in every zone
      webhooks change no pod
      the input has no nodes, so the plan says which NodePools change, and not which nodes and when (`--snapshot`)
    ");
}

#[test]
fn a_rewrite_without_a_change_replaces_no_node() {
    let rewrites: [&[(&str, &str)]; 5] = [
        &[("720h", "43200m")],
        &[("      expireAfter: 720h\n", "")],
        &[("1024Gi", "1Ti")],
        &[("[m5.large, m5.xlarge]", "[m5.xlarge, m5.large]")],
        &[("cpu: 100", "cpu: 100000m")],
    ];
    for rewrite in rewrites {
        assert_eq!(verdict(rewrite), "no node is replaced: the changed objects mean the same", "{rewrite:?}");
    }
    assert_eq!(verdict(&[]), "no node is replaced: no NodePool, EC2NodeClass or NodeOverlay changes");
}

#[test]
fn the_verdict_says_what_the_strongest_change_does() {
    for (from, to, expected) in [
        ("cpu: 100", "cpu: 50", "no node is replaced: spec.limits acts at once"),
        (
            "[m5.large, m5.xlarge]",
            "[m5.large]",
            "replaces the nodes of 1 NodePool (default) that no longer fit: spec.template.spec.requirements",
        ),
        // Other nodes than the ones that run may be cheaper now.
        (
            "[m5.large, m5.xlarge]",
            "[m5.large, m5.xlarge, c5.large]",
            "no node drifts, but consolidation may replace nodes",
        ),
        // Consolidation waits longer.
        (
            "  limits:",
            "  disruption: {consolidateAfter: 5m}\n  limits:",
            "no node is replaced: spec.disruption.consolidateAfter acts at once",
        ),
        (
            "  limits:",
            "  disruption: {consolidateAfter: 0s, budgets: [{nodes: 50%}]}\n  limits:",
            "no node drifts, but nodes that have drifted already may go: spec.disruption.budgets acts at once",
        ),
        (
            "al2023@v20250807",
            "al2023@v20250901",
            "replaces every node of 1 NodePool (default): spec.amiSelectorTerms",
        ),
        (
            "al2023@v20250807",
            "al2023@latest",
            "may replace nodes of 1 NodePool (default): spec.amiSelectorTerms",
        ),
        ("role: r", "role: '${ROLE}'", "may replace nodes of 1 NodePool (default): spec.role"),
    ] {
        assert_eq!(verdict(&[(from, to)]), expected, "{from}");
    }
}

#[test]
fn a_v_before_the_version_of_bottlerocket_is_no_change() {
    let [old, new] = ["bottlerocket@1.40.0", "bottlerocket@v1.40.0"];
    let class = |alias: &str| CLASS.replace("al2023@v20250807", alias);
    let folder = Folder::with(&[("old.yaml", &class(old)), ("new.yaml", &class(new))]);
    let answer = json_of(&folder, &["old.yaml", "new.yaml"]);
    assert_eq!(answer["verdict"], "no node is replaced: the changed objects mean the same");
}

#[test]
fn the_answer_has_the_field_with_its_place() {
    let answer = json_of(&sides(&[("team: a", "team: b")]), &["old", "new"]);
    assert_eq!(
        answer["changes"],
        json!([{
            "cluster": "", "kind": "NodePool", "name": "default", "change": "changed", "effect": "replaces-all",
            "reason": "NodePoolDrifted", "nodePools": ["default"], "message": "", "file": "new/pool.yaml", "line": 3,
            "fields": [{
                "path": "spec.template.metadata.labels.team", "effect": "replaces-all", "reason": "NodePoolDrifted", "old": "a", "new": "b",
                "message": "part of the hash: changing it replaces every node of this NodePool", "file": "new/pool.yaml", "line": 7,
                "oldFile": "old/pool.yaml", "oldLine": 7,
            }],
        }])
    );
    let finding = &answer["findings"][0];
    assert_eq!(
        [&finding["rule"], &finding["severity"], &finding["file"], &finding["line"]],
        [&json!("update-replaces-nodes"), &json!("warning"), &json!("new/pool.yaml"), &json!(7)]
    );
}

/// A field that one side lacks is at the nearest field around it there.
#[test]
fn a_field_has_a_place_on_both_sides() {
    let places = |changes: &[(&str, &str)]| {
        let answer = json_of(&sides(changes), &["old", "new"]);
        let field = &answer["changes"][0]["fields"][0];
        ["file", "line", "oldFile", "oldLine"].map(|key| field[key].clone())
    };
    let added = places(&[("labels: {team: a}", "labels: {team: a}\n      annotations: {a: b}")]);
    assert_eq!(added, [json!("new/pool.yaml"), json!(8), json!("old/pool.yaml"), json!(6)]);
}

#[test]
fn removed_and_renamed_objects_are_told() {
    let folder = sides(&[(
        "metadata: {name: default}\nspec:\n  template",
        "metadata: {name: other}\nspec:\n  template",
    )]);
    let run = plan(&folder, &["old", "new"]);
    assert!(run.stdout.starts_with("removes the nodes of 1 NodePool (default)\n"), "{run:?}");
    assert!(run.stdout.contains("renamed to other, which is a removal and an addition"), "{run:?}");
    folder.write("new/pool.yaml", POOL.as_bytes());
    folder.write("new/class.yaml", b"# none\n");
    let run = plan(&folder, &["old", "new"]);
    assert!(run.stdout.contains("NodePool default launches no nodes from now on"), "{run:?}");
}

#[test]
fn a_budget_that_allows_no_drift_is_told() {
    let budget = "  disruption: {budgets: [{nodes: '0', reasons: [Drifted]}]}\n  limits: {cpu: 100}";
    let folder = sides(&[("team: a", "team: b"), ("  limits: {cpu: 100}", budget)]);
    let answer = json_of(&folder, &["old", "new"]);
    assert_eq!(answer["nodePools"][0]["never"], true);
    assert_eq!(
        answer["nodePools"][0]["blocked"],
        json!(["its budgets never allow the replacement of a drifted node"])
    );
    for (what, status) in [("never", 1), ("blocked", 1), ("replaces", 1), ("pending", 0), ("none", 0)] {
        assert_eq!(plan(&folder, &["--fail-on", what, "old", "new"]).status, status, "{what}");
    }
}

#[test]
fn pods_that_lose_their_place_are_told() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop}\nspec:\n  containers: [{name: a, image: a, resources: {requests: {cpu: 3}}}]\n";
    let folder = sides(&[("[m5.large, m5.xlarge]", "[m5.large]")]);
    folder.write("old/pod.yaml", pod.as_bytes());
    folder.write("new/pod.yaml", pod.as_bytes());
    let answer = json_of(&folder, &["old", "new"]);
    assert_eq!(answer["pods"]["lost"], json!(["shop/web"]));
    assert_eq!(answer["pods"]["pending"], json!(["shop/web"]));
    assert!(answer["verdict"].as_str().unwrap().ends_with("; 1 pod loses its place"), "{answer}");
    assert_eq!(plan(&folder, &["--fail-on", "pending", "old", "new"]).status, 1);
}

#[test]
fn an_upgrade_says_what_the_hashes_and_aliases_do() {
    let folder = Folder::with(&[("pool.yaml", POOL), ("class.yaml", CLASS)]);
    let run = folder.run(&["plan", "--at", "2026-03-11T10:30:00Z", "--from", "1.8", "--to", "1.14", "."]);
    assert_eq!(run.status, 0, "{run:?}");
    assert_snapshot!(run.stdout, @"
    no node is replaced
    Karpenter 1.8 → 1.14, at Wed 2026-03-11 10:30 UTC

    controller
      release  1.8 → 1.14  changes nothing
        another release replaces no node by itself
      EC2NodeClass hash version  v4 → v5  changes nothing
        Karpenter writes the hash of the new version into each NodeClaim that has not drifted, and replaces no node for it; an edit that is made while no controller runs is absorbed, so that the nodes keep what they have
      EC2NodeClass hash  (not set) → CA bundle  changes nothing
        the cluster's CA bundle becomes a part of the hash of each EC2NodeClass: the upgrade itself replaces no node that has not drifted, but from then on another bundle replaces every node
      AMI alias  al2023@v20250807  changes nothing
        the alias names a version: the nodes of EC2NodeClass `default` keep their image
    ");
    folder.write("class.yaml", CLASS.replace("al2023@v20250807", "al2023@latest").as_bytes());
    let run = folder.run(&["plan", "--at", "2026-03-11T10:30:00Z", "--from", "1.8", "--to", "1.14", "."]);
    assert!(run.stdout.starts_with("may replace nodes of 1 NodePool (default): AMI alias\n"), "{run:?}");
}

#[test]
fn a_review_has_both_states() {
    let spec = |team: &str| {
        json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "default"}, "spec": {"template": {
            "metadata": {"labels": {"team": team}},
            "spec": {"requirements": [], "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}}}}})
    };
    let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {"uid": "1", "operation": "UPDATE", "object": spec("b"), "oldObject": spec("a")}});
    let folder = Folder::with(&[("review.json", &review.to_string()), ("pool.yaml", POOL)]);
    let answer = json_of(&folder, &["review.json"]);
    assert_eq!(
        answer["verdict"],
        "replaces every node of 1 NodePool (default): spec.template.metadata.labels.team"
    );
    let run = plan(&folder, &["pool.yaml"]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.stderr.contains("name OLD and NEW"), "{run:?}");
}

#[test]
fn clusters_are_planned_apart() {
    let folder = Folder::with(&[
        ("old/clusters/dev/pool.yaml", POOL),
        ("old/clusters/prod/pool.yaml", POOL),
        ("new/clusters/dev/pool.yaml", POOL),
        ("new/clusters/prod/pool.yaml", &POOL.replace("team: a", "team: b")),
    ]);
    let answer = json_of(&folder, &["old", "new"]);
    assert_eq!(
        answer["verdict"],
        "replaces every node of 1 NodePool (default in clusters/prod): spec.template.metadata.labels.team"
    );
}

#[test]
fn overlays_are_planned_as_they_build_their_objects() {
    let overlay = |team: &str| {
        format!(
            "resources: [../../base]\npatches:\n- target: {{kind: NodePool}}\n  patch: |\n    - {{op: add, path: /spec/template/metadata/labels/env, value: {team}}}\n"
        )
    };
    let base = "resources: [pool.yaml]\n";
    let folder = Folder::with(&[
        ("old/base/kustomization.yaml", base),
        ("old/base/pool.yaml", POOL),
        ("old/overlays/a/kustomization.yaml", &overlay("x")),
        ("old/overlays/b/kustomization.yaml", &overlay("x")),
        ("new/base/kustomization.yaml", base),
        ("new/base/pool.yaml", POOL),
        ("new/overlays/a/kustomization.yaml", &overlay("x")),
        ("new/overlays/b/kustomization.yaml", &overlay("z")),
    ]);
    let answer = json_of(&folder, &["old", "new"]);
    let verdict = answer["verdict"].as_str().unwrap();
    assert!(verdict.starts_with("replaces every node of 1 NodePool (default in overlays/b)"), "{verdict}");
    let field = &answer["changes"][0]["fields"][0];
    assert_eq!([&field["file"], &field["line"]], [&json!("new/overlays/b/kustomization.yaml"), &json!(5)]);
}

#[test]
fn a_template_that_changes_may_replace_nodes() {
    let template = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: {{ .Values.name }}}\n";
    let folder = Folder::with(&[
        ("old/chart/templates/pool.yaml", template),
        ("old/chart/values.yaml", "name: a\n"),
        ("new/chart/templates/pool.yaml", template),
        ("new/chart/values.yaml", "name: b\n"),
    ]);
    let answer = json_of(&folder, &["old", "new"]);
    let verdict = answer["verdict"].as_str().unwrap();
    assert!(
        verdict.starts_with(
            "may replace nodes: new/chart/templates/pool.yaml may render in another way because of chart/values.yaml"
        ),
        "{verdict}"
    );
    folder.write("new/chart/values.yaml", b"name: a\n");
    let answer = json_of(&folder, &["old", "new"]);
    assert_eq!(answer["verdict"], "no node is replaced: no NodePool, EC2NodeClass or NodeOverlay changes");
}

#[test]
fn what_cannot_hold_an_object_or_does_not_feed_it_is_no_change() {
    let pool =
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a, labels: {x: {{ .Values.x }}}}\n";
    let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: {{ .Values.x }}}\nspec: {names: {kind: EC2NodeClass}}\n";
    let rest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: for-NodePool, labels: {{ .Values.y }}}\n";
    let values = "x: a\ny: b\n";
    let folder = Folder::with(&[
        ("old/chart/templates/crd.yaml", definition),
        ("new/chart/templates/crd.yaml", &definition.replace("names:", "scope: Cluster, names:")),
        ("old/chart/templates/pool.yaml", &format!("{pool}---\n{rest}")),
        ("new/chart/templates/pool.yaml", &format!("{pool}---\n{}", rest.replace("v1", "v2"))),
        ("old/chart/values.yaml", values),
        ("new/chart/values.yaml", &values.replace("y: b", "y: c")),
    ]);
    let verdict = |folder: &Folder| json_of(folder, &["old", "new"])["verdict"].as_str().unwrap().to_owned();
    assert_eq!(verdict(&folder), "no node is replaced: no NodePool, EC2NodeClass or NodeOverlay changes");
    folder.write("new/chart/values.yaml", values.replace("x: a", "x: c").as_bytes());
    assert!(verdict(&folder).contains("because of chart/values.yaml"), "{}", verdict(&folder));
    // A new file replaces no node, and a removed one may.
    std::fs::remove_dir_all(folder.path("old/chart")).unwrap();
    assert_eq!(verdict(&folder), "no node is replaced");
    folder.write("old/x.yaml", pool.as_bytes());
    std::fs::remove_dir_all(folder.path("new/chart")).unwrap();
    folder.write("new/y.yaml", b"a: b\n");
    assert!(verdict(&folder).starts_with("may replace nodes: old/x.yaml is removed"), "{}", verdict(&folder));
    folder.write("new/y.yaml", pool.as_bytes());
    assert_eq!(verdict(&folder), "no node is replaced: no NodePool, EC2NodeClass or NodeOverlay changes");
}

#[test]
fn a_variable_with_another_value_may_replace_nodes() {
    let pool = POOL.replace("team: a", "team: '${TEAM}'").replace("cpu: 100", "cpu: '${CPU}'");
    let variables = |team: &str, cpu: u8| {
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: a}}\nspec: {{postBuild: {{substitute: {{TEAM: {team}, CPU: '{cpu}'}}}}}}\n"
        )
    };
    let folder = Folder::with(&[
        ("old/pool.yaml", &pool),
        ("new/pool.yaml", &pool),
        ("old/flux.yaml", &variables("a", 1)),
        ("new/flux.yaml", &variables("b", 1)),
    ]);
    let answer = json_of(&folder, &["old", "new"]);
    assert_eq!(
        answer["verdict"],
        "may replace nodes of 1 NodePool (default): spec.template.metadata.labels.team"
    );
    assert_eq!(answer["changes"][0]["message"], "flux.yaml changes `TEAM`");
    // The value is written as before: what it refers to has changed.
    let field = &answer["changes"][0]["fields"][0];
    assert_eq!((&field["old"], &field["new"]), (&json!("${TEAM}"), &json!("${TEAM}")));
    let run = plan(&folder, &["old", "new"]);
    assert!(run.stdout.contains("spec.template.metadata.labels.team  ${TEAM}\n"), "{run:?}");
    let finding = answer["findings"][0]["message"].as_str().unwrap();
    assert!(
        finding.starts_with("may replace nodes: flux.yaml changes `TEAM`; part of the hash"),
        "{finding}"
    );
    folder.write("new/flux.yaml", variables("a", 2).as_bytes());
    assert_eq!(
        json_of(&folder, &["old", "new"])["verdict"],
        "no node is replaced: spec.limits.cpu acts at once"
    );
    folder.write("new/flux.yaml", format!("# the same\n{}", variables("a", 1)).as_bytes());
    assert_eq!(
        json_of(&folder, &["old", "new"])["verdict"],
        "no node is replaced: no NodePool, EC2NodeClass or NodeOverlay changes"
    );
}

#[test]
fn a_kustomization_that_builds_an_object_in_an_unknown_way_may_replace_nodes() {
    let kustomization = "resources: [pool.yaml]\ntransformers: [labels.yaml]\n";
    let folder = Folder::with(&[
        ("old/kustomization.yaml", kustomization),
        ("old/pool.yaml", POOL),
        ("new/kustomization.yaml", &kustomization.replace("labels", "others")),
        ("new/pool.yaml", POOL),
    ]);
    let answer = json_of(&folder, &["old", "new"]);
    assert_eq!(answer["effect"], "unknown", "{answer}");
    assert!(
        answer["changes"][0]["message"].as_str().unwrap().ends_with("; kustomization.yaml has changed"),
        "{answer}"
    );
}

#[test]
fn objects_of_versions_before_v1_are_no_objects_without_a_change() {
    let older = |text: &str| text.replace("karpenter.sh/v1", "karpenter.sh/v1beta1");
    let folder = Folder::with(&[
        ("old/pool.yaml", &older(POOL)),
        ("new/pool.yaml", &older(&POOL.replace("team: a", "team: b"))),
    ]);
    let verdict = |folder: &Folder| json_of(folder, &["old", "new"])["verdict"].as_str().unwrap().to_owned();
    let expected = "may replace nodes of 1 NodePool (default): a plan does not compare the fields of karpenter.sh/v1beta1";
    assert_eq!(verdict(&folder), expected);
    folder.write("new/pool.yaml", POOL.as_bytes());
    assert_eq!(verdict(&folder), expected);
    folder.write("new/pool.yaml", b"a: b\n");
    assert_eq!(verdict(&folder), "removes the nodes of 1 NodePool (default)");
    folder.write("new/pool.yaml", older(POOL).as_bytes());
    assert_eq!(verdict(&folder), "no node is replaced: no NodePool, EC2NodeClass or NodeOverlay changes");
}

#[test]
fn values_before_and_after_show_the_difference() {
    let script = |size: &str| format!("  userData: |\n    #!/bin/bash\n    set -e\n    resize {size}\n");
    let old = format!("{CLASS}{}", script("1"));
    let new = format!("{CLASS}{}", script("2")).replace("1024Gi", "2048Gi");
    let narrower = POOL.replace("[m5.large, m5.xlarge]", "[m5.large, m6i.large]");
    let folder = Folder::with(&[
        ("old/pool.yaml", POOL),
        ("old/class.yaml", &old),
        ("new/pool.yaml", &narrower),
        ("new/class.yaml", &new),
    ]);
    let answer = json_of(&folder, &["old", "new"]);
    let fields =
        answer["changes"].as_array().unwrap().iter().flat_map(|one| one["fields"].as_array().unwrap());
    let shown: Vec<[&str; 3]> =
        fields.map(|field| ["path", "old", "new"].map(|key| field[key].as_str().unwrap())).collect();
    assert_eq!(
        shown,
        [
            [
                "spec.template.spec.requirements",
                "node.kubernetes.io/instance-type In [m5.large, m5.xlarge]",
                "node.kubernetes.io/instance-type In [m5.large, m6i.large]"
            ],
            ["spec.userData", "…resize 1", "…resize 2"],
            ["spec.blockDeviceMappings[0].ebs.volumeSize", "1024Gi", "2048Gi"],
        ]
    );
}

#[test]
fn a_class_without_its_pools_is_not_taken_for_a_class_without_nodes() {
    let new = CLASS.replace("role: r", "role: s");
    let folder = Folder::with(&[("old.yaml", CLASS), ("new.yaml", &new)]);
    let run = plan(&folder, &["--fail-on", "replaces", "old.yaml", "new.yaml"]);
    assert_eq!(run.status, 1, "{run:?}");
    assert!(
        run.stdout.starts_with(
            "replaces every node that uses EC2NodeClass default (the input has no NodePool that uses it): spec.role\n"
        ),
        "{run:?}"
    );
    assert_eq!(json_of(&folder, &["old.yaml", "new.yaml"])["effect"], "replaces-all");
}

#[test]
fn two_states_stay_two_states_beside_an_upgrade() {
    let folder = sides(&[("team: a", "team: b")]);
    let run =
        folder.run(&["plan", "--at", "2026-03-11T10:30:00Z", "--from", "1.13", "--to", "1.14", "old", "new"]);
    assert!(run.stdout.starts_with("replaces every node of 1 NodePool (default)"), "{run:?}");
}

#[test]
fn findings_are_at_the_changed_lines() {
    let folder = sides(&[("team: a", "team: b"), ("cpu: 100", "cpu: 50")]);
    let run = plan(&folder, &["--format", "github", "old", "new"]);
    assert_snapshot!(run.stdout, @"
    ::warning file=new/pool.yaml,line=7,endLine=7,col=22,endColumn=23,title=update-replaces-nodes::part of the hash: changing it replaces every node of this NodePool (NodePool/default)%0Ahttps://karpwarden.github.io/karpwarden/rules/update-replaces-nodes
    ::notice file=new/pool.yaml,line=13,endLine=13,col=3,endColumn=9,title=update-keeps-nodes::Karpenter launches no node beyond the new limits, and removes none because of them (NodePool/default)
    ");
    let run = plan(&folder, &["--format", "sarif", "old", "new"]);
    let sarif: Value = serde_json::from_str(&run.stdout).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let found: Vec<(&str, &str)> =
        results.iter().map(|one| (one["ruleId"].as_str().unwrap(), one["level"].as_str().unwrap())).collect();
    assert_eq!(found, [("update-replaces-nodes", "warning"), ("update-keeps-nodes", "note")]);
    let run = plan(&folder, &["--format", "markdown", "old", "new"]);
    assert_snapshot!(run.stdout, @r#"
    ## Plan for the nodes

    **replaces every node of 1 NodePool (default): spec.template.metadata.labels.team**

    | object | field | change | effect |
    |---|---|---|---|
    | `NodePool/default` | `spec.template.metadata.labels.team` (`new/pool.yaml:7`) | `a` → `b` | replaces every node (NodePoolDrifted) |
    | `NodePool/default` | `spec.limits` (`new/pool.yaml:13`) | `{"cpu":100}` → `{"cpu":50}` | acts at once; no node drifts |


    <details><summary>Assumed</summary>

    - the subnets are in us-east-1a, us-east-1b, us-east-1c (`--zones`)
    - on-demand prices are the list prices of us-east-1 (`--prices`)
    - spot capacity costs 40 % of the on-demand price in every zone (`--spot-discount`)
    - the cluster has no other NodePool, node or pod than the input
    - every instance type has capacity in every zone
    - webhooks change no pod
    - the input has no nodes, so the plan says which NodePools change, and not which nodes and when (`--snapshot`)

    </details>
    "#);
}

#[test]
fn the_sides_of_a_wrong_command_line_are_told() {
    let folder = sides(&[]);
    for (arguments, message) in [
        (&["plan"][..], "name OLD and NEW"),
        (&["plan", "--base", "main", "--snapshot", "s"], "cannot be used with"),
        (&["plan", "--complete", "old", "new"], "--snapshot"),
        (&["plan", "--from", "0.1", "."], "--from"),
        (&["plan", "--at", "noon", "old", "new"], "--at"),
    ] {
        let run = folder.run(arguments);
        assert_eq!(run.status, 2, "{run:?}");
        assert!(run.stderr.contains(message), "{arguments:?}: {run:?}");
    }
    assert_eq!(folder.run(&["plan", "old", "missing"]).status, 4);
    let empty = Folder::with(&[("a/x.txt", ""), ("b/x.txt", "")]);
    std::fs::remove_file(empty.path("a/x.txt")).unwrap();
    std::fs::remove_file(empty.path("b/x.txt")).unwrap();
    assert_eq!(empty.run(&["plan", "a", "b"]).status, 3);
}

#[test]
fn folders_of_kubectl_diff_have_no_extensions() {
    let folder = Folder::with(&[
        ("LIVE/karpenter.sh.v1.NodePool..default", POOL),
        ("MERGED/karpenter.sh.v1.NodePool..default", &POOL.replace("team: a", "team: b")),
    ]);
    let answer = json_of(&folder, &["LIVE", "MERGED"]);
    assert_eq!(answer["effect"], "replaces-all");
}
