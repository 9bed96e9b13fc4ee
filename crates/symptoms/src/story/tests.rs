//! Stories of a node, told from a log, events and objects in any order.

use answers::story::{StepKind, Story, StoryStep};
use insta::assert_snapshot;
use manifest::limits::Limits;

use super::StoryTarget;
use crate::cluster::DiagnosedCluster;
use crate::entry::At;
use crate::reader::FileReader;
use manifest::Document;
use objects::object::Object;

const LOG: &str = include_str!("example/karpenter.log");
const EVENTS: &str = include_str!("example/events.jsonl");
const OBJECTS: &str = include_str!("example/objects.yaml");

fn told(target: StoryTarget, files: &[(&str, &str)]) -> Option<Story> {
    let mut input = DiagnosedCluster::new("").about(Some(target));
    for (name, text) in files {
        let file = input.files.push((*name).to_owned());
        let mut reader = FileReader::new(name, file, Limits::DEFAULT);
        reader.feed(text.as_bytes(), &mut |entry| input.observe(entry));
        let read = reader.finish(&mut |entry| input.observe(entry));
        for document in read.file.iter().flat_map(|file| &file.documents) {
            let Document::Read(tree) = document else { continue };
            for object in Object::all(tree) {
                input.object(object, At { file, line: 1 });
            }
        }
    }
    input.story.as_ref().and_then(|story| story.tell(&input.name, &input.files, &mut |_| Vec::new()))
}

fn all(target: StoryTarget) -> Option<Story> {
    told(target, &[("karpenter.log", LOG), ("events.jsonl", EVENTS), ("objects.yaml", OBJECTS)])
}

fn line(step: &StoryStep) -> String {
    let time = step.time.as_deref().and_then(|time| time.get(11..19)).unwrap_or("-");
    let times = if step.count > 1 { format!(" x{}", step.count) } else { String::new() };
    let parts = [step.reason.as_str(), step.message.as_str(), step.pod.as_str()];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    format!("{time} {}{times} {}", name(step.event), parts.join(" | "))
}

fn name(event: StepKind) -> String {
    serde_json::to_value(event).unwrap().as_str().unwrap().to_owned()
}

fn shown(story: &Story) -> String {
    story.steps.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn tells_the_life_of_a_node_from_every_source() {
    let story = all(StoryTarget::Node("ip-10-0-37-12.eu-west-1.compute.internal".to_owned())).unwrap();
    assert_snapshot!(shown(&story), @"
    12:00:01 created for pending pods
    12:00:01 podNominated shop/api-6d5f7c9b8-qk2vx
    12:00:04 launched c6i.large spot eu-west-1a
    12:00:40 registered 
    12:00:55 initialized 
    12:00:56 podBound shop/api-6d5f7c9b8-qk2vx
    12:00:56 podBound shop/web-0
    12:10:00 blocked x5 pdb | Pdb prevents pod evictions (PodDisruptionBudget=[shop/api])
    13:45:00 blocked x4 not-cheaper | Can't replace with a cheaper node
    15:00:00 disrupted underutilized | replace
    15:01:10 draining 
    15:01:12 blocked x2 pods-remain | Failed to drain node, 2 pods are waiting to be evicted
    15:01:15 podEvicted Underutilized | shop/api-6d5f7c9b8-qk2vx
    15:01:15 podEvicted Underutilized | shop/web-0
    15:02:30 nodeDeleted 
    15:02:31 terminated
    ");
    assert!(story.steps.iter().all(|step| step.node_claim == "default-7xk2p"), "{story:#?}");
    let by_claim = all(StoryTarget::Node("default-7xk2p".to_owned())).unwrap();
    assert_eq!((by_claim.steps, by_claim.lifelines), (story.steps, story.lifelines));
}

#[test]
fn tells_the_story_of_a_pod_without_the_other_pods() {
    let story = all(StoryTarget::Pod("shop/api-6d5f7c9b8-qk2vx".to_owned())).unwrap();
    assert_snapshot!(shown(&story), @"
    12:00:00 podFound shop/api-6d5f7c9b8-qk2vx, shop/web-0
    12:00:01 created for pending pods
    12:00:01 podNominated shop/api-6d5f7c9b8-qk2vx
    12:00:04 launched c6i.large spot eu-west-1a
    12:00:40 registered 
    12:00:55 initialized 
    12:00:56 podBound shop/api-6d5f7c9b8-qk2vx
    12:10:00 blocked x5 pdb | Pdb prevents pod evictions (PodDisruptionBudget=[shop/api])
    13:45:00 blocked x4 not-cheaper | Can't replace with a cheaper node
    15:00:00 disrupted underutilized | replace
    15:01:10 draining 
    15:01:12 blocked x2 pods-remain | Failed to drain node, 2 pods are waiting to be evicted
    15:01:15 podEvicted Underutilized | shop/api-6d5f7c9b8-qk2vx
    15:02:30 nodeDeleted 
    15:02:31 terminated
    ");
}

#[test]
fn a_nodepool_has_a_lifeline_for_each_nodeclaim() {
    let story = all(StoryTarget::NodePool("default".to_owned())).unwrap();
    assert!(story.steps.iter().any(|step| step.reason == "budget"), "{}", shown(&story));
    assert_snapshot!(format!("{:#?}", story.lifelines), @r#"
    [
        Lifeline {
            node_claim: "default-7xk2p",
            node: "ip-10-0-37-12.eu-west-1.compute.internal",
            node_pool: "default",
            instance: "c6i.large spot eu-west-1a",
            created: Some(
                "2025-10-21T12:00:01Z",
            ),
            launched: Some(
                "2025-10-21T12:00:04Z",
            ),
            registered: Some(
                "2025-10-21T12:00:40Z",
            ),
            initialized: Some(
                "2025-10-21T12:00:55Z",
            ),
            disrupted: Some(
                "2025-10-21T15:00:00Z",
            ),
            reason: "underutilized",
            draining: Some(
                "2025-10-21T15:01:10Z",
            ),
            drained: None,
            terminated: Some(
                "2025-10-21T15:02:31Z",
            ),
            pods: [
                "shop/api-6d5f7c9b8-qk2vx",
                "shop/web-0",
            ],
        },
        Lifeline {
            node_claim: "default-b4r7d",
            node: "ip-10-0-37-99.eu-west-1.compute.internal",
            node_pool: "default",
            instance: "c6i.medium spot eu-west-1a",
            created: Some(
                "2025-10-21T15:00:01Z",
            ),
            launched: Some(
                "2025-10-21T15:00:04Z",
            ),
            registered: Some(
                "2025-10-21T15:00:50Z",
            ),
            initialized: Some(
                "2025-10-21T15:01:05Z",
            ),
            disrupted: None,
            reason: "",
            draining: None,
            drained: None,
            terminated: None,
            pods: [
                "shop/api-6d5f7c9b8-n3w00",
            ],
        },
    ]
    "#);
    let cluster = all(StoryTarget::Cluster).unwrap();
    assert!(cluster.steps.is_empty());
    assert_eq!(cluster.lifelines.len(), 3);
}

#[test]
fn the_order_of_the_files_changes_no_story() {
    let target = || StoryTarget::Node("default-7xk2p".to_owned());
    let first = told(target(), &[("a", LOG), ("b.jsonl", EVENTS), ("c.yaml", OBJECTS)]).unwrap();
    let other = told(target(), &[("c.yaml", OBJECTS), ("b.jsonl", EVENTS), ("a", LOG)]).unwrap();
    assert_eq!(shown(&first), shown(&other));
}

#[test]
fn an_unknown_object_has_no_story() {
    for target in [
        StoryTarget::Node("other".to_owned()),
        StoryTarget::Pod("shop/other".to_owned()),
        StoryTarget::NodePool("other".to_owned()),
        StoryTarget::Node(String::new()),
    ] {
        assert_eq!(all(target.clone()), None, "{target:?}");
    }
    assert_eq!(told(StoryTarget::Cluster, &[("a", "hello\n")]), None);
}

#[test]
fn reads_the_table_of_events_of_an_early_release() {
    let events = "\
LAST SEEN   TYPE      REASON              OBJECT                     MESSAGE
40m         Normal    DisruptionBlocked   nodeclaim/default-7xk2p    Cannot disrupt NodeClaim: pdb \"shop/api\" prevents pod evictions
10m         Normal    Unconsolidatable    nodeclaim/default-7xk2p    NodePool \"default\" has non-empty consolidation disabled
2m          Warning   FailedDraining      node/ip-10-0-37-12         Failed to drain node, 1 pods are waiting to be evicted
5m          Normal    Starting            node/ip-10-0-37-12         Starting kubelet.
";
    let story = told(StoryTarget::Node("default-7xk2p".to_owned()), &[("events.txt", events)]).unwrap();
    let reasons: Vec<_> =
        story.steps.iter().map(|step| (step.reason.as_str(), step.message.as_str())).collect();
    assert_eq!(
        reasons,
        [
            ("pdb", "pdb \"shop/api\" prevents pod evictions"),
            ("not-empty", "NodePool \"default\" has non-empty consolidation disabled"),
        ]
    );
    let story = told(StoryTarget::Node("ip-10-0-37-12".to_owned()), &[("events.txt", events)]).unwrap();
    let events: Vec<_> = story.steps.iter().map(|step| (step.event, step.reason.as_str())).collect();
    assert_eq!(events, [(StepKind::Event, "Starting"), (StepKind::Blocked, "pods-remain")]);
    assert!(story.lifelines.is_empty(), "no input names its NodeClaim");
}

/// The story of the example's log followed by more logs, with a bound on the steps.
fn bounded(target: StoryTarget, most: usize, more: &str) -> Story {
    let mut input = DiagnosedCluster::new("").about(Some(target));
    input.story.as_mut().unwrap().most = most;
    let file = input.files.push(String::new());
    let mut reader = FileReader::new("karpenter.log", file, Limits::DEFAULT);
    reader.feed(LOG.as_bytes(), &mut |entry| input.observe(entry));
    reader.feed(more.as_bytes(), &mut |entry| input.observe(entry));
    input.story.as_ref().unwrap().tell("", &input.files, &mut |_| Vec::new()).unwrap()
}

#[test]
fn keeps_the_newest_steps_of_a_nodepool() {
    let story = bounded(StoryTarget::NodePool("default".to_owned()), 4, "");
    assert!(story.steps.len() <= 4 && story.forgotten > 0, "{}", shown(&story));
    assert_eq!(story.steps.last().map(|step| step.event), Some(StepKind::Terminated));
}

#[test]
fn keeps_every_step_of_a_node_among_thousands_of_others() {
    let other = |number: usize| {
        LOG.replace("default-7xk2p", &format!("web-{number}"))
            .replace("ip-10-0-37-12", &format!("ip-{number}"))
    };
    let others: String = (0..100).map(other).collect();
    let target = || StoryTarget::Node("ip-10-0-37-12.eu-west-1.compute.internal".to_owned());
    let (alone, among) = (bounded(target(), 1_000, ""), bounded(target(), 100, &others));
    assert_eq!((shown(&among), among.lifelines), (shown(&alone), alone.lifelines));
}

#[test]
fn knows_objects_to_which_nothing_happened() {
    let objects = r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
---
apiVersion: v1
kind: Pod
metadata: {name: web-0, namespace: shop}
---
apiVersion: v1
kind: Node
metadata: {name: n1}
";
    for target in [
        StoryTarget::NodePool("general".to_owned()),
        StoryTarget::Pod("shop/web-0".to_owned()),
        StoryTarget::Node("n1".to_owned()),
    ] {
        let story = told(target.clone(), &[("objects.yaml", objects)]).unwrap();
        assert!(story.steps.is_empty(), "{target:?}");
    }
    assert!(told(StoryTarget::NodePool("other".to_owned()), &[("objects.yaml", objects)]).is_none());
}

#[test]
fn a_story_asked_by_the_nodeclaim_has_the_name_of_the_node() {
    let claim = r"apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: a-1, labels: {karpenter.sh/nodepool: a}, creationTimestamp: '2025-12-01T00:00:00Z'}
status: {nodeName: n1}
";
    for asked in ["a-1", "n1"] {
        let story = told(StoryTarget::Node(asked.to_owned()), &[("claim.yaml", claim)]).unwrap();
        assert_eq!((story.name.as_str(), story.lifelines.len()), ("n1", 1), "{asked}");
    }
}
