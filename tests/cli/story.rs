//! `karpwarden diagnose --node`, `--pod` and `--nodepool`: the story of one object.

use serde_json::Value;

use crate::folder::Folder;

/// Log, events and objects of three NodeClaims.
const STORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/symptoms/src/story/example");

const NODE: &str = "ip-10-0-37-12.eu-west-1.compute.internal";

#[test]
fn tells_the_story_of_a_node() {
    let run = Folder::with(&[]).run(&["diagnose", "--node", NODE, STORY]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run:?}");
    insta::assert_snapshot!(run.stdout, @"
    Node ip-10-0-37-12.eu-west-1.compute.internal, NodeClaim default-7xk2p of NodePool default, c6i.large spot eu-west-1a, terminated
    2025-10-21
       12:00:01  created        for pending pods
       12:00:01  nominated      shop/api-6d5f7c9b8-qk2vx
       12:00:04  launched       c6i.large spot eu-west-1a
       12:00:40  registered     ip-10-0-37-12.eu-west-1.compute.internal
       12:00:55  initialized
       12:00:56  pod bound      shop/api-6d5f7c9b8-qk2vx
       12:00:56  pod bound      shop/web-0
       12:10:00  left alone     x5 until 13:30:00  Pdb prevents pod evictions (PodDisruptionBudget=[shop/api])
                                the PodDisruptionBudget allows no eviction now
       13:45:00  left alone     x4 until 14:45:00  Can't replace with a cheaper node
                                no instance type that takes the pods is cheaper
       15:00:00  disrupted      underutilized  replace
       15:01:10  draining
       15:01:12  waiting        x2 until 15:01:40  Failed to drain node, 2 pods are waiting to be evicted
                                the node is terminated after its pods are gone
       15:01:15  pod evicted    Underutilized  shop/api-6d5f7c9b8-qk2vx
       15:01:15  pod evicted    Underutilized  shop/web-0
       15:02:30  node deleted
       15:02:31  terminated
    ");
}

#[test]
fn prints_timelines_as_a_table_and_as_csv() {
    let folder = Folder::with(&[]);
    let run = folder.run(&["diagnose", "--nodepool", "default", "--timeline", STORY]);
    assert_eq!(run.status, 0);
    insta::assert_snapshot!(run.stdout, @"
    2025-10-21
    nodeClaim      node                                      nodePool  instance                    created   launched  registered  initialized  disrupted  reason         draining  terminated  pods
    default-7xk2p  ip-10-0-37-12.eu-west-1.compute.internal  default   c6i.large spot eu-west-1a   12:00:01  12:00:04  12:00:40    12:00:55     15:00:00   underutilized  15:01:10  15:02:31    2
    default-b4r7d  ip-10-0-37-99.eu-west-1.compute.internal  default   c6i.medium spot eu-west-1a  15:00:01  15:00:04  15:00:50    15:01:05                                                     1
    ");
    let run = folder.run(&["diagnose", "--timeline=csv", STORY]);
    insta::assert_snapshot!(run.stdout, @"
    cluster,nodeClaim,node,nodePool,instance,created,launched,registered,initialized,disrupted,reason,draining,drained,terminated,pods
    ,default-7xk2p,ip-10-0-37-12.eu-west-1.compute.internal,default,c6i.large spot eu-west-1a,2025-10-21T12:00:01Z,2025-10-21T12:00:04Z,2025-10-21T12:00:40Z,2025-10-21T12:00:55Z,2025-10-21T15:00:00Z,underutilized,2025-10-21T15:01:10Z,,2025-10-21T15:02:31Z,shop/api-6d5f7c9b8-qk2vx shop/web-0
    ,gpu-zz9zz,,gpu,,2025-10-21T12:30:00Z,,,,,,,,,
    ,default-b4r7d,ip-10-0-37-99.eu-west-1.compute.internal,default,c6i.medium spot eu-west-1a,2025-10-21T15:00:01Z,2025-10-21T15:00:04Z,2025-10-21T15:00:50Z,2025-10-21T15:01:05Z,,,,,,shop/api-6d5f7c9b8-n3w00
    ");
}

#[test]
fn story_is_a_key_of_the_report_only_if_it_is_asked_for() {
    let folder = Folder::with(&[]);
    let report = folder.run(&["diagnose", "--format", "json", STORY]).json();
    assert_eq!(report["findings"], Value::Array(vec![]), "normal reasons are no diagnoses");
    assert_eq!(report.get("stories"), None);
    let report =
        folder.run(&["diagnose", "--format", "json", "--pod", "shop/api-6d5f7c9b8-qk2vx", STORY]).json();
    let story = &report["stories"][0];
    assert_eq!((&story["kind"], &story["steps"][0]["event"]), (&"Pod".into(), &"podFound".into()));
    assert_eq!(story["lifelines"][0]["nodeClaim"], "default-7xk2p");
}

#[test]
fn takes_the_start_of_a_name_and_other_names_of_a_node() {
    let folder = Folder::with(&[]);
    // The title has the name of the Node or of the NodeClaim.
    let steps = |name: &str| {
        let run = folder.run(&["diagnose", "--node", name, STORY]);
        run.stdout.split_once('\n').unwrap().1.to_owned()
    };
    let whole = steps(NODE);
    for name in ["ip-10-0-37-12", "default-7xk2p", "default-7"] {
        assert_eq!(steps(name), whole, "{name}");
    }
    let pod = folder.run(&["diagnose", "--pod", "shop/web-0", STORY]).stdout;
    for name in ["web-0", "web", "shop/web"] {
        assert_eq!(folder.run(&["diagnose", "--pod", name, STORY]).stdout, pod, "{name}");
    }
}

#[test]
fn tells_the_cause_and_the_remedy_with_the_story_of_a_pod() {
    let log = r#"{"level":"ERROR","time":"2026-02-10T10:14:26.274Z","logger":"controller","message":"could not schedule pod","commit":"e7e1327","controller":"provisioner","Pod":{"name":"api-0","namespace":"shop"},"error":"incompatible requirements, label \"team\" does not have known values"}"#;
    let folder = Folder::with(&[("karpenter.log", log)]);
    let run = folder.run(&["diagnose", "--pod", "shop/api-0", "karpenter.log"]);
    insta::assert_snapshot!(run.stdout, @r#"
    Pod shop/api-0
    2026-02-10
       10:14:26  error          could not schedule pod: incompatible requirements, label "team" does not have known values  shop/api-0
      error[label-unknown-to-every-pool]: pods require `team` that no NodePool has, and get no node (certain)
        help: add the label to a NodePool under `spec.template.metadata.labels`, or remove it from the pod's `nodeSelector` and `nodeAffinity`; if the message suggests another label, correct the key
    "#);
    let report = folder.run(&["diagnose", "--pod", "shop/api-0", "--format", "json", "karpenter.log"]).json();
    assert_eq!(report["stories"][0]["causes"][0]["rule"], "label-unknown-to-every-pool");
}

#[test]
fn groups_equal_steps_of_a_nodepool() {
    let line = |claim: usize, message: &str| {
        format!(
            "{{\"level\":\"INFO\",\"time\":\"2026-02-10T10:{claim:02}:00.000Z\",\"logger\":\"controller\",\"message\":\"{message}\",\"controller\":\"nodeclaim.lifecycle\",\"NodeClaim\":{{\"name\":\"web-{claim}\"}},\"NodePool\":{{\"name\":\"web\"}}}}\n"
        )
    };
    let log: String = (0..30)
        .map(|claim| line(claim, "created nodeclaim") + &line(claim, "registered nodeclaim"))
        .collect();
    let folder = Folder::with(&[("karpenter.log", &log)]);
    insta::assert_snapshot!(folder.run(&["diagnose", "--nodepool", "web", "karpenter.log"]).stdout, @"
    NodePool web, 30 NodeClaims
    2026-02-10
       10:00:00  created        x30 until 10:29:00  web-0, web-1, web-10 and 27 more
       10:00:00  registered     x30 until 10:29:00  web-0, web-1, web-10 and 27 more
    ");
}

#[test]
fn says_that_the_input_does_not_mention_an_object() {
    let folder = Folder::with(&[]);
    for (flag, name, expected) in [
        ("--node", "other", "error: `--node`: no input mentions the node, NodeClaim or instance `other`\n"),
        (
            "--node",
            "defalt-7xk2p",
            "error: `--node`: no input mentions the node, NodeClaim or instance `defalt-7xk2p` (did you mean `default-7xk2p`?)\n",
        ),
        (
            "--pod",
            "shop/wob-0",
            "error: `--pod`: no input mentions the pod `shop/wob-0` (did you mean `shop/web-0`?)\n",
        ),
        (
            "--pod",
            "api",
            "error: `--pod`: no input mentions the pod `api` (it is the start of `shop/api-6d5f7c9b8-n3w00`, `shop/api-6d5f7c9b8-qk2vx`)\n",
        ),
        (
            "--nodepool",
            "defaultt",
            "error: `--nodepool`: no input mentions the NodePool `defaultt` (did you mean `default`?)\n",
        ),
    ] {
        for format in ["human", "json"] {
            let run = folder.run(&["diagnose", flag, name, "--format", format, STORY]);
            assert_eq!((run.status, run.stdout.as_str(), run.stderr.as_str()), (2, "", expected));
        }
    }
    for arguments in [&["--node", "a", "--nodepool", "b"][..], &["--timeline=svg"]] {
        let run = folder.run(&[&["diagnose", STORY], arguments].concat());
        assert_eq!(run.status, 2, "{arguments:?}");
    }
}

#[test]
fn knows_the_objects_that_only_their_status_describes() {
    let pool = r#"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
status:
  conditions:
  - {type: Ready, status: "False", reason: NodeClassNotReady, message: x, lastTransitionTime: "2026-01-01T00:00:00Z"}
"#;
    let folder = Folder::with(&[("pool.yaml", pool), ("other.yaml", &pool.replace("general", "other"))]);
    let run = folder.run(&["diagnose", "--nodepool", "general", "pool.yaml"]);
    assert!(
        run.stdout.starts_with("NodePool general\n") && run.stdout.contains("[object-not-ready]"),
        "{run:?}"
    );
    assert_eq!(folder.run(&["diagnose", "--nodepool", "general", "other.yaml"]).status, 2);
    let quiet = Folder::with(&[(
        "pool.yaml",
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\n",
    )]);
    let run = quiet.run(&["diagnose", "--nodepool", "general", "pool.yaml"]);
    assert!(run.stdout.contains("no log, event or status in the input tells what happened to it"), "{run:?}");
}
