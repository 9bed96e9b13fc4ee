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
fn says_that_the_input_does_not_mention_an_object() {
    let folder = Folder::with(&[]);
    let run = folder.run(&["diagnose", "--node", "other", STORY]);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""));
    assert_eq!(run.stderr, "note: no input mentions the node or NodeClaim `other`\n");
    for arguments in [&["--pod", "web"][..], &["--node", "a", "--nodepool", "b"], &["--timeline=svg"]] {
        let run = folder.run(&[&["diagnose", STORY], arguments].concat());
        assert_eq!(run.status, 2, "{arguments:?}");
    }
}
