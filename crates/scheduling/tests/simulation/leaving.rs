//! Nodes that are being deleted, and their pods.
//!
//! Source: `Schedule` in pkg/controllers/provisioning/provisioner.go, `Deleted` in pkg/controllers/state/statenode.go and
//! `IsCurrentlyReschedulable` in pkg/utils/pdb/pdb.go of kubernetes-sigs/karpenter at v1.14.1; `ReschedulablePods` in provisioner.go at
//! v1.0.0.

use karpenter::release::Release;

use crate::world::{POOL, all_places, ask, places_with};

/// Node `old`, whose NodeClaim is being deleted, and which has room for ten pods.
const OLD: &str = "
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: default-1, deletionTimestamp: '2026-01-01T00:00:00Z', labels: {karpenter.sh/nodepool: default}}
status: {nodeName: old, providerID: aws:///old}
---
apiVersion: v1
kind: Node
metadata:
  name: old
  labels: {karpenter.sh/nodepool: default, karpenter.sh/registered: 'true', karpenter.sh/initialized: 'true', kubernetes.io/hostname: old}
spec: {providerID: aws:///old}
status:
  capacity: {cpu: '2', memory: 8Gi, pods: '29'}
  allocatable: {cpu: '2', memory: 8Gi, pods: '29'}
";

/// Node `other` with room for one pod.
const OTHER: &str = "
apiVersion: v1
kind: Node
metadata: {name: other, labels: {kubernetes.io/hostname: other}}
status:
  capacity: {cpu: 250m, memory: 8Gi, pods: '29'}
  allocatable: {cpu: 250m, memory: 8Gi, pods: '29'}
";

/// Pod that requests 200m CPU, on node `old` unless the specification says otherwise.
fn pod(name: &str, metadata: &str, spec: &str) -> String {
    format!(
        "
apiVersion: v1
kind: Pod
metadata: {{name: {name}, labels: {{app: web}}{metadata}}}
spec:
  containers: [{{name: app, resources: {{requests: {{cpu: 200m}}}}}}]
  {spec}
status: {{phase: Running, conditions: [{{type: PodScheduled, status: 'True'}}]}}
"
    )
}

fn on_old(name: &str, metadata: &str) -> String {
    pod(name, metadata, "nodeName: old")
}

fn joined(parts: &[&str]) -> String {
    parts.join("---")
}

#[test]
fn pods_of_a_node_that_goes_look_for_a_place() {
    let waiting = "
apiVersion: v1
kind: Pod
metadata: {name: waiting}
spec: {containers: [{name: app, resources: {requests: {cpu: '1'}}}]}
";
    let text = joined(&[POOL, OLD, OTHER, &on_old("web-1", ""), &on_old("web-2", ""), waiting]);
    ask(
        &text,
        |_| {},
        |result| {
            assert_eq!(all_places(result), ["waiting: new node", "web-1: node other", "web-2: new node"]);
            let leaves: Vec<Option<&str>> = result.pods.iter().map(|pod| pod.leaves).collect();
            assert_eq!(leaves, [None, Some("old"), Some("old")]);
            assert_eq!(result.leaving_nodes, ["old"]);
            // The pods share a new node.
            assert_eq!(result.claims.len(), 1);
        },
    );
    let karpenter = |settings: &mut karpwarden_scheduling::simulation::SimulationSettings| {
        settings.binds = false;
        settings.rounds = Some(1);
    };
    let text = joined(&[OLD, OTHER, &on_old("web-1", ""), &on_old("web-2", "")]);
    assert_eq!(places_with(&text, karpenter), ["web-1: node other", "web-2: new node"]);
    let left_out =
        |settings: &mut karpwarden_scheduling::simulation::SimulationSettings| settings.without_nodes = true;
    assert_eq!(places_with(&text, left_out), [] as [&str; 0]);
}

#[test]
fn a_node_goes_with_its_instance_or_without_a_node_claim() {
    let terminating = OLD.replace(", deletionTimestamp: '2026-01-01T00:00:00Z'", "").replace(
        "providerID: aws:///old}\n---",
        "providerID: aws:///old, conditions: [{type: InstanceTerminating, status: 'True'}]}\n---",
    );
    let node = OLD
        .split_once("---")
        .unwrap()
        .1
        .replace("name: old\n", "name: old\n  deletionTimestamp: '2026-01-01T00:00:00Z'\n");
    let stays = OLD.replace(", deletionTimestamp: '2026-01-01T00:00:00Z'", "");
    let moving = on_old("web", "");
    for (old, expected) in [(terminating.as_str(), 1), (&node, 1), (&stays, 0)] {
        let places = places_with(&joined(&[old, &moving]), |_| {});
        assert_eq!(places.len(), expected, "{old}: {places:?}");
    }
}

#[test]
fn only_pods_that_can_leave_move() {
    let daemon = on_old("daemon", ", ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: agent}]");
    let protected = on_old("protected", ", annotations: {karpenter.sh/do-not-disrupt: 'true'}");
    let guarded = on_old("guarded", "").replace("app: web", "app: db");
    let budget = "
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: db}
spec: {maxUnavailable: 0, selector: {matchLabels: {app: db}}}
";
    let finished = on_old("finished", "").replace("phase: Running", "phase: Succeeded");
    let going = on_old("going", ", deletionTimestamp: '2026-01-01T00:00:00Z'");
    let set = ", deletionTimestamp: '2026-01-01T00:00:00Z', ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db}]";
    let member = on_old("member", set);
    let text = joined(&[OLD, &daemon, &protected, &guarded, budget, &finished, &going, &member]);
    let at = |release: &str| {
        let release = Release::parse(release).unwrap();
        let places = places_with(&text, |settings| settings.release = release);
        places.iter().map(|place| place.split(':').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(at("1.14.1"), ["member"]);
    assert_eq!(at("1.0.10"), ["member"]);
    // kubernetes-sigs/karpenter#2033
    assert_eq!(at("1.0.9"), ["protected", "guarded", "member"]);
}

#[test]
fn the_limits_of_a_pool_do_not_count_a_node_that_goes() {
    let limited = POOL.replace("limits: {}", "limits: {cpu: 4}");
    let text = format!("{limited}---{}", joined(&[OLD, &on_old("web", "")]));
    assert_eq!(ask(&text, |_| {}, all_places), ["web: new node"]);
    let stays = OLD.replace(", deletionTimestamp: '2026-01-01T00:00:00Z'", "");
    let large = pod("large", "", "nodeSelector: {node.kubernetes.io/instance-type: m5.xlarge}")
        .replace("{type: PodScheduled, status: 'True'}", "");
    for (old, expected) in [(OLD, "new node"), (&stays, "unplaced")] {
        let text = format!("{limited}---{}", joined(&[old, &large]));
        assert_eq!(ask(&text, |_| {}, all_places), [format!("large: {expected}")]);
    }
}

#[test]
fn pods_that_stay_on_a_node_that_goes_count_for_topology() {
    let protected = on_old("protected", ", annotations: {karpenter.sh/do-not-disrupt: 'true'}");
    let zone = OLD.replace(
        "kubernetes.io/hostname: old}",
        "kubernetes.io/hostname: old, topology.kubernetes.io/zone: us-east-1a}",
    );
    let repelled = pod(
        "repelled",
        "",
        "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: topology.kubernetes.io/zone, \
         labelSelector: {matchLabels: {app: web}}}]}}",
    )
    .replace("{type: PodScheduled, status: 'True'}", "");
    let zones = |pods: &[&str]| {
        let text = joined(&[&[POOL, zone.as_str()], pods].concat());
        ask(
            &text,
            |settings| settings.binds = false,
            |result| result.claims.iter().next().map(|claim| claim.zones.join(" ")).unwrap_or_default(),
        )
    };
    assert_eq!(zones(&[&repelled]), "us-east-1a us-east-1b us-east-1c");
    assert_eq!(zones(&[&repelled, &protected]), "us-east-1b us-east-1c");
}
