//! Chosen numbers of replicas of workloads whose pods are in the input.

use karpwarden_scheduling::simulation::ReplicaCount;

use crate::world::{POOL, all_places, ask, count};

const DEPLOYMENT: &str = "---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]}
";

/// A node, and a pod of an owner on it.
fn running(name: &str, kind: &str, owner: &str, hash: &str, further: &str) -> String {
    format!(
        "---
apiVersion: v1
kind: Pod
metadata:
  name: {name}
  labels: {{app: web, pod-template-hash: {hash}}}
  ownerReferences: [{{apiVersion: apps/v1, kind: {kind}, name: {owner}, uid: u, controller: true}}]
{further}"
    )
}

const ON_NODE: &str = "spec: {nodeName: n1, containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]}\nstatus: {phase: Running}\n";

fn web_pods(number: usize) -> String {
    (0..number).map(|at| running(&format!("web-abc-{at}"), "ReplicaSet", "web-abc", "abc", ON_NODE)).collect()
}

/// The places of the pods, and the effect on each workload: kept, added, removed.
fn scaled(text: &str, counts: Vec<ReplicaCount>) -> (Vec<String>, Vec<(usize, usize, usize)>) {
    let text = format!("{POOL}{text}");
    ask(
        &text,
        |settings| settings.replicas = counts,
        |result| {
            let effects = result.workloads.iter().map(|one| (one.kept, one.added, one.removed));
            (all_places(result), effects.collect())
        },
    )
}

#[test]
fn keeps_running_pods_and_adds_the_missing_ones() {
    let text = DEPLOYMENT.to_owned() + &web_pods(2);
    let (places, effects) = scaled(&text, vec![count("Deployment", "web", 4)]);
    assert_eq!(places, ["web-2: new node", "web-3: new node"]);
    assert_eq!(effects, [(2, 2, 0)]);
    // Without a chosen number, the pods of the input are the pods of the workload.
    assert_eq!(scaled(&text, Vec::new()).0, [] as [&str; 0]);
    // A snapshot may lack the workload.
    assert_eq!(scaled(&web_pods(2), vec![count("deployment", "web", 3)]).0, ["web-2: new node"]);
}

#[test]
fn finds_the_deployment_by_the_name_of_the_replica_set() {
    let pods = running("web-blue-abc-1", "ReplicaSet", "web-blue-abc", "abc", ON_NODE);
    assert_eq!(scaled(&pods, vec![count("Deployment", "web-blue", 2)]).1, [(1, 1, 0)]);
    assert_eq!(scaled(&pods, vec![count("Deployment", "web", 2)]).1, []);
    let job = running("report-29000000-x", "Job", "report-29000000", "", ON_NODE);
    assert_eq!(scaled(&job, vec![count("CronJob", "report", 2)]).1, [(1, 1, 0)]);
}

#[test]
fn surplus_pods_go_in_the_order_of_the_replica_set_controller() {
    let pending = "spec: {containers: [{name: c, image: i}]}\nstatus: {phase: Pending}\n";
    let unready =
        ON_NODE.replace("phase: Running", "phase: Running, conditions: [{type: Ready, status: 'False'}]");
    let ready = ON_NODE.replace(
        "phase: Running",
        "phase: Running, conditions: [{type: Ready, status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z'}]",
    );
    let pods = [
        running("web-abc-ready", "ReplicaSet", "web-abc", "abc", &ready),
        running("web-abc-unready", "ReplicaSet", "web-abc", "abc", &unready),
        running("web-abc-pending", "ReplicaSet", "web-abc", "abc", pending),
    ]
    .concat();
    // The pending pod goes first: no pod waits any more.
    assert_eq!(scaled(&pods, vec![count("Deployment", "web", 2)]), (Vec::new(), vec![(2, 0, 1)]));
    assert_eq!(scaled(&pods, vec![count("Deployment", "web", 3)]).0, ["web-abc-pending: new node"]);
    // The node has room for one more pod as soon as the unready pod has gone.
    let node = "---
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}
status: {allocatable: {cpu: '2', memory: 7Gi, pods: '35'}}
";
    let other = "---
apiVersion: v1
kind: Pod
metadata: {name: other}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]}
";
    let cluster = [node, &pods, other].concat();
    let (places, _) = scaled(&cluster, vec![count("Deployment", "web", 1)]);
    assert_eq!(places, ["other: node n1"]);
}

#[test]
fn stateful_sets_lose_the_highest_ordinals() {
    let pod = |ordinal: usize| running(&format!("db-{ordinal}"), "StatefulSet", "db", "", ON_NODE);
    let pods = [pod(0), pod(2)].concat();
    assert_eq!(
        scaled(&pods, vec![count("StatefulSet", "db", 4)]),
        (vec!["db-1: new node".to_owned(), "db-3: new node".to_owned()], vec![(2, 2, 0)])
    );
    assert_eq!(scaled(&pods, vec![count("StatefulSet", "db", 1)]), (Vec::new(), vec![(1, 0, 1)]));
}

#[test]
fn an_added_pod_of_a_stateful_set_is_not_bound_to_the_volume_of_another() {
    let pods = running(
        "db-0",
        "StatefulSet",
        "db",
        "",
        "spec: {nodeName: n1, containers: [{name: c, image: i}], volumes: [{name: data, persistentVolumeClaim: {claimName: data-db-0}}]}
status: {phase: Running}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data-db-0, annotations: {pv.kubernetes.io/bind-completed: 'yes'}}
spec: {volumeName: pv, storageClassName: gp3}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv}
spec:
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [us-east-1f]}]}]}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: gp3}
provisioner: ebs.csi.aws.com
volumeBindingMode: WaitForFirstConsumer
",
    );
    assert_eq!(scaled(&pods, vec![count("StatefulSet", "db", 2)]).0, ["db-1: new node"]);
}

#[test]
fn terminated_pods_do_not_count() {
    let finished = web_pods(2).replace("phase: Running", "phase: Succeeded");
    assert_eq!(
        scaled(&(DEPLOYMENT.to_owned() + &finished), vec![count("Deployment", "web", 1)]).1,
        [(0, 1, 0)]
    );
    let going =
        web_pods(1).replace("metadata:\n", "metadata:\n  deletionTimestamp: '2026-01-01T00:00:00Z'\n");
    assert_eq!(scaled(&(DEPLOYMENT.to_owned() + &going), vec![count("Deployment", "web", 1)]).1, [(0, 1, 0)]);
}

#[test]
fn added_pods_have_the_hash_of_the_running_pods() {
    // The spread counts the pods of one revision.
    let spread = "topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, \
                  matchLabelKeys: [pod-template-hash], labelSelector: {matchLabels: {app: web}}}]";
    let node = "---
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}
status: {allocatable: {cpu: '4', memory: 7Gi, pods: '35'}}
---
apiVersion: v1
kind: Node
metadata: {name: n2, labels: {kubernetes.io/hostname: n2}}
status: {allocatable: {cpu: '1100m', memory: 7Gi, pods: '35'}}
";
    let deployment = DEPLOYMENT.replace("spec: {containers", &format!("spec: {{{spread}, containers"));
    let cluster = [node, &deployment, &web_pods(1)].concat();
    // The larger node is freer, but it runs a pod already.
    assert_eq!(scaled(&cluster, vec![count("Deployment", "web", 2)]).0, ["web-1: node n2"]);
}
