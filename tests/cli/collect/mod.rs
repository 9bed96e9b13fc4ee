//! `karpwarden collect`, with a stand-in for kubectl on the PATH.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::symlink;
use std::path::Path;

use insta::assert_snapshot;
use karpwarden::{Document, File, READ_OPTIONS};
use serde_json::{Value, json};

use crate::folder::{Folder, Run};

/// A cluster: kubectl's answers by resource, pod or command.
struct Cluster {
    folder: Folder,
}

const CONTROLLER: &str = "public.ecr.aws/karpenter/controller:1.8.2@sha256:ab";

impl Cluster {
    /// A cluster with a version and without objects.
    fn empty() -> Self {
        let folder = Folder::with(&[]);
        std::fs::create_dir_all(folder.path("bin")).unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cli/collect/kubectl");
        symlink(script, folder.path("bin/kubectl")).unwrap();
        let cluster = Self { folder };
        let version = json!({"clientVersion": {"gitVersion": "v1.33.0"}, "serverVersion": {"gitVersion": "v1.33.1-eks-1"}});
        cluster.answer("version", &version.to_string());
        cluster
    }

    /// A cluster with a NodePool, its node, a pod and the controller.
    fn with_objects() -> Self {
        let cluster = Self::empty();
        cluster.list("nodepools.karpenter.sh", &[node_pool()]);
        cluster.list("ec2nodeclasses.karpenter.k8s.aws", &[node_class()]);
        cluster.list("nodes", &[node()]);
        cluster.list("deployments.apps", &[controller()]);
        cluster.list("pods", &[controller_pod(0), web_pod()]);
        cluster.answer("karpenter-5d8f7c9b6-x2x4z", LOG);
        cluster
    }

    fn answer(&self, name: &str, text: &str) {
        self.folder.write(&format!("bin/answers/{name}"), text.as_bytes());
    }

    fn list(&self, resource: &str, items: &[Value]) {
        let list =
            json!({"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}});
        self.answer(resource, &serde_json::to_string_pretty(&list).unwrap());
    }

    fn error(&self, name: &str, text: &str) {
        self.answer(&format!("{name}.error"), text);
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let path = format!("{}:/usr/bin:/bin", self.folder.path("bin").display());
        let all: Vec<&str> = std::iter::once("collect").chain(arguments.iter().copied()).collect();
        self.folder.run_with("PATH", &path, &all)
    }

    fn calls(&self) -> Vec<String> {
        self.folder.read("bin/calls").lines().map(str::to_owned).collect()
    }

    /// The object of a line of a file.
    fn object(&self, file: &str, line: usize) -> Value {
        let text = self.folder.read(&format!("snap/{file}"));
        serde_json::from_str(text.lines().nth(line).unwrap()).unwrap()
    }

    fn snapshot(&self) -> Value {
        serde_json::from_str(&self.folder.read("snap/snapshot.json")).unwrap()
    }

    /// The result for a kind in `snapshot.json`.
    fn kind(&self, name: &str) -> Value {
        let snapshot = self.snapshot();
        let kinds = snapshot["kinds"].as_array().unwrap();
        kinds.iter().find(|kind| kind["kind"] == name).unwrap().clone()
    }
}

const LOG: &str = concat!(
    r#"{"level":"ERROR","time":"2025-10-21T12:00:00.000Z","logger":"controller","message":"Reconciler error","commit":"31fa2ea","controller":"interruption","namespace":"","name":"","reconcileID":"5a","error":"getting messages from queue, AWS.SimpleQueueService.NonExistentQueue: The specified queue does not exist."}"#,
    "\n"
);

fn node_pool() -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool",
        "metadata": {"name": "default", "managedFields": [{"manager": "kubectl"}], "annotations": {
            "kubectl.kubernetes.io/last-applied-configuration": "{}", "karpenter.sh/nodepool-hash": "1"}},
        "spec": {"template": {"spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
            "requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]}]}}}})
}

fn node_class() -> Value {
    json!({
        "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "default"},
        "spec": {
            "instanceProfile": "arn:aws:iam::111122223333:instance-profile/nodes",
            "amiSelectorTerms": [{"alias": "al2023@v20250101"}],
            "userData": "#!/bin/bash\nexport TOKEN_PASSWORD=hunter2hunter2\n"}})
}

fn node() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": "ip-10-0-0-1", "labels": {"topology.kubernetes.io/zone": "eu-west-1a"}},
        "spec": {"providerID": "aws:///eu-west-1a/i-1"},
        "status": {"allocatable": {"cpu": "2", "memory": "4Gi", "pods": "20"}, "conditions": [{"type": "Ready", "status": "True"}]}})
}

fn controller() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "karpenter", "namespace": "kube-system", "labels": {"app.kubernetes.io/name": "karpenter"}},
        "spec": {"template": {"spec": {"containers": [controller_container()]}}}})
}

fn controller_container() -> Value {
    json!({"name": "controller", "image": CONTROLLER, "env": [
        {"name": "CLUSTER_NAME", "value": "prod"}, {"name": "HTTPS_PROXY", "value": "http://user:hunter2@proxy"}]})
}

fn controller_pod(restarts: u64) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": "karpenter-5d8f7c9b6-x2x4z", "namespace": "kube-system",
            "labels": {"app.kubernetes.io/name": "karpenter"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "karpenter-5d8f7c9b6"}]},
        "spec": {"nodeName": "ip-10-0-0-1", "containers": [controller_container()]},
        "status": {"phase": "Running", "containerStatuses": [{"name": "controller", "restartCount": restarts}]}})
}

fn web_pod() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web-1", "namespace": "shop"},
        "spec": {"containers": [{
            "name": "web", "image": "nginx", "args": ["--db-password=hunter2"], "env": [{"name": "A", "value": "hunter2"}],
            "resources": {"requests": {"cpu": "500m"}}}]},
        "status": {"phase": "Pending"}})
}

fn forbidden(resource: &str, group: &str) -> String {
    format!(
        "Error from server (Forbidden): {resource} is forbidden: User \"dev\" cannot list resource \"{resource}\" in API group \"{group}\" at the cluster scope\n"
    )
}

#[test]
fn writes_a_snapshot_and_says_what_it_redacted() {
    let cluster = Cluster::with_objects();
    let run = cluster.run(&["snap"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run:?}");
    assert_snapshot!(run.stdout, @"
    wrote 6 objects and 1 log to snap
      NodePool                        1
      EC2NodeClass                    1
      Node                            1
      Deployment                      1
      Pod                             2
    no objects of: NodeClass, NodeClaim, NodeOverlay, CapacityBuffer, Namespace, StatefulSet, DaemonSet, ReplicaSet, ReplicationController, Job, CronJob, PodDisruptionBudget, HorizontalPodAutoscaler, LimitRange, PersistentVolumeClaim, PersistentVolume, StorageClass, CSINode, VolumeAttachment, PriorityClass, ServiceAccount, SecurityGroupPolicy, PrometheusRule, VMRule, Event, ClusterReport, Report, ClusterPolicyReport, PolicyReport
    redacted: 3 environment values, 1 command, 1 annotation, 1 secret in user data, 0 volume attributes, 0 verdicts of other policies
    next: karpwarden diagnose snap, karpwarden check --complete snap, karpwarden disruption snap
    ");
    let metadata = &cluster.object("nodepools.jsonl", 0)["metadata"];
    assert_eq!(*metadata, json!({"name": "default", "annotations": {"karpenter.sh/nodepool-hash": "1"}}));
    let container = &cluster.object("pods.jsonl", 1)["spec"]["containers"][0];
    assert_eq!((&container["env"][0]["value"], &container["args"]), (&json!("REDACTED"), &Value::Null));
    let options = &cluster.object("deployments.jsonl", 0)["spec"]["template"]["spec"]["containers"][0]["env"];
    assert_eq!((&options[0]["value"], &options[1]["value"]), (&json!("prod"), &json!("REDACTED")));
    for entry in std::fs::read_dir(cluster.folder.path("snap")).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        assert!(!text.contains("hunter2"), "{text}");
    }
    assert_eq!(cluster.snapshot()["kubernetesVersion"], "v1.33.1-eks-1");
    assert_eq!(cluster.folder.read("snap/log-kube-system-karpenter-5d8f7c9b6-x2x4z-controller.log"), LOG);
}

#[test]
fn calls_kubectl_with_the_flags_of_the_user_and_only_to_read() {
    let cluster = Cluster::with_objects();
    let run = cluster.run(&["snap", "--context", "prod", "--kubeconfig", "my.conf", "--since", "30m"]);
    assert_eq!(run.status, 0, "{run:?}");
    let calls = cluster.calls();
    let flags = "--kubeconfig my.conf --context=prod";
    assert_eq!(calls[0], format!("version --output=json --request-timeout=30s {flags}"));
    let get = "--output=json --chunk-size=500 --request-timeout=60s";
    assert_eq!(calls[1], format!("get nodepools.karpenter.sh {get} {flags}"));
    assert!(calls.contains(&format!("get pods {get} --all-namespaces {flags}")), "{calls:#?}");
    let log = format!(
        "logs pod/karpenter-5d8f7c9b6-x2x4z --namespace=kube-system --container=controller --since=30m {flags}"
    );
    assert_eq!(calls.last(), Some(&log));
    assert!(calls.iter().all(|call| ["version ", "get ", "logs "].iter().any(|verb| call.starts_with(verb))));
    assert!(!calls.iter().any(|call| call.contains("secret") || call.contains("configmap")));
}

#[test]
fn snapshot_is_the_input_of_the_other_commands() {
    let cluster = Cluster::with_objects();
    assert_eq!(cluster.run(&["snap"]).status, 0);
    let checked = cluster.folder.run(&["check", "--format", "json", "snap"]);
    assert_eq!(checked.status, 1, "{checked:?}");
    let report = checked.json();
    assert_eq!(report["unreadable"], json!([]));
    let human = cluster.folder.run(&["check", "--verbose", "snap"]);
    assert!(
        human.stdout.contains("`snap/` pins Karpenter 1.8.2 (from snap/deployments.jsonl:1)"),
        "{human:?}"
    );
    let rules: Vec<&str> =
        report["findings"].as_array().unwrap().iter().map(|one| one["rule"].as_str().unwrap()).collect();
    assert!(rules.contains(&"instance-profile-is-arn"), "{rules:?}");
    let diagnosed = cluster.folder.run(&["diagnose", "--format", "json", "snap"]).json();
    assert_eq!(diagnosed["findings"][0]["rule"], "interruption-queue-missing", "{}", diagnosed["findings"]);
    let simulated = cluster.folder.run(&["simulate", "--format", "json", "snap"]).json();
    assert_eq!(simulated["pods"][0]["name"], "web-1", "{simulated}");
    assert_eq!(
        (&simulated["pods"][0]["placed"], &simulated["pods"][0]["node"]),
        (&json!("existing"), &json!("ip-10-0-0-1"))
    );
    let at = "2026-03-11T10:30:00Z";
    let judged = cluster.folder.run(&["disruption", "--at", at, "--format", "json", "snap"]).json();
    assert_eq!(judged["nodes"][0]["name"], "ip-10-0-0-1", "{judged}");
    assert_eq!(judged["nodes"][0]["blockedBy"], "unmanaged", "{judged}");
}

/// The objects of a manifest by resource, as kubectl lists them: `nodepools.karpenter.sh`.
fn by_resource(path: &Path) -> BTreeMap<String, Vec<Value>> {
    let file = File::read("a", std::fs::read_to_string(path).unwrap(), READ_OPTIONS);
    let mut all: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for document in &file.documents {
        let Document::Read(tree) = document else { continue };
        let object = tree.root().to_json();
        let (Some(version), Some(kind)) = (object["apiVersion"].as_str(), object["kind"].as_str()) else {
            continue;
        };
        let kind = kind.to_lowercase();
        let plural = match kind.strip_suffix('y') {
            Some(stem) => format!("{stem}ies"),
            None if kind.ends_with('s') => format!("{kind}es"),
            None => format!("{kind}s"),
        };
        let group = version.split_once('/').map_or(String::new(), |(group, _)| format!(".{group}"));
        all.entry(format!("{plural}{group}")).or_default().push(object);
    }
    all
}

/// The findings of a run, as the rule and its message. A diagnosis of a contradiction in a status has another place.
fn rules_and_messages(run: &Run) -> BTreeSet<String> {
    let report = run.json();
    assert_eq!(report["unreadable"], json!([]));
    let findings = report["findings"].as_array().unwrap().iter();
    findings.map(|one| format!("{}: {}", one["rule"], one["message"])).collect()
}

#[test]
fn diagnose_finds_in_a_snapshot_what_check_finds() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut found, mut rules) = (0, BTreeSet::new());
    for folder in ["examples", "examples/symptoms/double-nodeclaim", "tests/problems"] {
        let mut files: Vec<_> =
            std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
        files.sort();
        for path in files {
            let cluster = Cluster::with_objects();
            for (resource, objects) in by_resource(&path) {
                cluster.list(&resource, &objects);
            }
            assert!(cluster.run(&["snap"]).status < 2);
            // The log names a release, which `check` does not read.
            let run = |command| {
                let arguments = [command, "--karpenter-version", "1.8", "--format", "json", "snap"];
                rules_and_messages(&cluster.folder.run(&arguments))
            };
            let (checked, diagnosed) = (run("check"), run("diagnose"));
            let missing: Vec<_> = checked.difference(&diagnosed).collect();
            assert!(missing.is_empty(), "{}: {missing:#?}", path.display());
            found += checked.len();
            rules.extend(checked.iter().filter_map(|one| one.split(':').next().map(str::to_owned)));
        }
    }
    assert!(found > 40 && rules.len() > 20, "{found} {rules:?}");
    assert!(rules.contains("\"storageclass-immediate\""), "{rules:?}");
}

#[test]
fn missing_rights_do_not_stop_the_rest() {
    let cluster = Cluster::with_objects();
    cluster.error("nodes", &forbidden("nodes", ""));
    std::fs::remove_file(cluster.folder.path("bin/answers/nodes")).unwrap();
    cluster.error("events", &forbidden("events", ""));
    let log = "karpenter-5d8f7c9b6-x2x4z";
    std::fs::remove_file(cluster.folder.path(&format!("bin/answers/{log}"))).unwrap();
    cluster.error(log, "Error from server (Forbidden): pods \"karpenter-5d8f7c9b6-x2x4z\" is forbidden: User \"dev\" cannot get resource \"pods/log\" in API group \"\" in the namespace \"kube-system\"\n");
    let run = cluster.run(&["snap", "--quiet"]);
    assert_eq!((run.status, run.stdout.as_str()), (4, ""));
    assert_snapshot!(run.stderr, @r#"
    error: nodes not read: Error from server (Forbidden): nodes is forbidden: User "dev" cannot list resource "nodes" in API group "" at the cluster scope
    error: events not read: Error from server (Forbidden): events is forbidden: User "dev" cannot list resource "events" in API group "" at the cluster scope
    error: log of kube-system/karpenter-5d8f7c9b6-x2x4z not read: Error from server (Forbidden): pods "karpenter-5d8f7c9b6-x2x4z" is forbidden: User "dev" cannot get resource "pods/log" in API group "" in the namespace "kube-system"
    note: missing rights: list nodes, list events in all namespaces, get pods and pods/log in namespace kube-system; `karpwarden collect --print-rbac` prints a role that has them
    "#);
    let events = cluster.kind("Event");
    assert_eq!(
        (&events["state"], &events["missing"]),
        (&json!("forbidden"), &json!("list events in all namespaces"))
    );
    assert_eq!(cluster.kind("Pod")["state"], "read");
    assert_eq!(cluster.snapshot()["logs"][0]["state"], "forbidden");
    assert!(!cluster.folder.path("snap/log-kube-system-karpenter-5d8f7c9b6-x2x4z-controller.log").exists());
}

#[test]
fn kinds_that_the_cluster_lacks_are_no_error() {
    let cluster = Cluster::with_objects();
    cluster.error(
        "nodeoverlays.karpenter.sh",
        "error: the server doesn't have a resource type \"nodeoverlays\"\n",
    );
    let run = cluster.run(&["snap"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    assert!(run.stdout.contains("no objects of: NodeClass, NodeClaim, NodeOverlay, "), "{}", run.stdout);
    assert_eq!(cluster.kind("NodeOverlay")["state"], "absent");
    assert_eq!(cluster.kind("NodeClaim")["state"], "read");
}

/// A report of Kubewarden's audit scanner on an EC2NodeClass: a verdict of Karpwarden's policy, and the verdict of another one.
fn audit_report(api_version: &str, kind: &str) -> Value {
    let rejection = "1 error in EC2NodeClass/other (Karpenter 1.8)\n\
        1. instance-profile-is-arn at spec.instanceProfile\n   `spec.instanceProfile` is an ARN\n   help: write `nodes`";
    let verdict =
        |policy: &str, message: &str| json!({"policy": policy, "result": "fail", "message": message});
    json!({
        "apiVersion": api_version, "kind": kind,
        "metadata": {"name": "7d1f", "labels": {"app.kubernetes.io/managed-by": "kubewarden"}},
        "scope": {"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "name": "other"},
        "results": [verdict("clusterwide-labels", "the label is hunter2"), verdict("clusterwide-karpenter", rejection)]})
}

#[test]
fn collects_the_reports_of_the_audit_scanner_if_the_cluster_has_the_kinds() {
    for (present, version, kind, absent) in [
        ("clusterreports.openreports.io", "openreports.io/v1alpha1", "ClusterReport", "wgpolicyk8s.io"),
        ("policyreports.wgpolicyk8s.io", "wgpolicyk8s.io/v1alpha2", "PolicyReport", "openreports.io"),
    ] {
        let cluster = Cluster::with_objects();
        cluster.list(present, &[audit_report(version, kind)]);
        let resources = if absent == "openreports.io" {
            ["reports", "clusterreports"]
        } else {
            ["policyreports", "clusterpolicyreports"]
        };
        for resource in resources {
            let error = format!("error: the server doesn't have a resource type \"{resource}\"\n");
            cluster.error(&format!("{resource}.{absent}"), &error);
        }
        let run = cluster.run(&["snap"]);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run:?}");
        assert_eq!(
            (&cluster.kind(kind)["state"], &cluster.kind(kind)["objects"]),
            (&json!("read"), &json!(1))
        );
        assert!(run.stdout.contains(", 1 verdict of another policy\n"), "{}", run.stdout);
        let calls = cluster.calls();
        let selector = "--selector=app.kubernetes.io/managed-by=kubewarden";
        assert!(calls.iter().any(|call| call.contains(present) && call.ends_with(selector)), "{calls:#?}");
        let text = cluster.folder.read(&format!("snap/{}.jsonl", kind.to_lowercase() + "s"));
        assert!(!text.contains("hunter2") && text.contains("instance-profile-is-arn"), "{text}");
        let diagnosed = cluster.folder.run(&["diagnose", "--format", "json", "snap"]).json();
        let findings = diagnosed["findings"].as_array().unwrap();
        let found = |one: &&Value| one["rule"] == "instance-profile-is-arn" && one["name"] == "other";
        assert_eq!(findings.iter().filter(found).count(), 1, "{diagnosed}");
        let report = cluster.folder.run(&["report", "snap", "-o", "report.html"]);
        assert!(report.status < 2, "{report:?}");
        assert!(cluster.folder.read("report.html").contains("\"auditErrors\":1"));
    }
}

#[test]
fn keeps_what_came_before_an_error() {
    let cluster = Cluster::with_objects();
    cluster.error("pods", "Error from server (Expired): The provided continue parameter is too old\n");
    cluster.answer("jobs.batch", "{\"items\": [");
    let run = cluster.run(&["snap"]);
    assert_eq!(run.status, 4);
    assert!(run.stderr.contains("pods not read completely: Error from server (Expired)"), "{}", run.stderr);
    assert!(run.stderr.contains("jobs.batch not read: kubectl printed no list"), "{}", run.stderr);
    assert_eq!(
        (&cluster.kind("Pod")["state"], &cluster.kind("Pod")["objects"]),
        (&json!("failed"), &json!(2))
    );
}

#[test]
fn says_that_no_controller_runs() {
    let cluster = Cluster::empty();
    cluster.list("nodes", &[node()]);
    let run = cluster.run(&["snap"]);
    assert_eq!(run.status, 0);
    assert_snapshot!(run.stderr, @"note: no pod runs Karpenter's controller, so there are no logs; EKS Auto Mode runs it outside the cluster");
}

#[test]
fn collects_the_log_before_a_restart() {
    let cluster = Cluster::with_objects();
    cluster.list("pods", &[controller_pod(2)]);
    cluster.answer("karpenter-5d8f7c9b6-x2x4z-previous", "panic: boom\n");
    assert_eq!(cluster.run(&["snap"]).status, 0);
    let file = "snap/log-kube-system-karpenter-5d8f7c9b6-x2x4z-controller-previous.log";
    assert_eq!(cluster.folder.read(file), "panic: boom\n");
    let gone = Cluster::with_objects();
    gone.list("pods", &[controller_pod(2)]);
    gone.error("karpenter-5d8f7c9b6-x2x4z-previous", "Error from server (BadRequest): previous terminated container \"controller\" in pod \"karpenter-5d8f7c9b6-x2x4z\" not found\n");
    assert_eq!(gone.run(&["snap"]).status, 0);
    assert_eq!(gone.snapshot()["logs"][1]["state"], "absent");
}

#[test]
fn names_in_the_cluster_choose_no_file_and_no_flag() {
    let cluster = Cluster::with_objects();
    let pod = |namespace: &str, name: &str| {
        let mut pod = controller_pod(0);
        pod["metadata"]["namespace"] = json!(namespace);
        pod["metadata"]["name"] = json!(name);
        pod
    };
    let long = "x".repeat(5_000);
    let names = [
        ("a-b", "c"),
        ("a", "b-c"),
        ("../..", "../evil"),
        ("a", "--kubeconfig=/x"),
        ("a\n", "b\u{1b}[2J"),
        ("CON", &long),
    ];
    cluster.list("pods", &names.map(|(namespace, name)| pod(namespace, name)));
    for (_, name) in names.into_iter().filter(|(_, name)| !name.contains(['/', '\n']) && name.len() < 200) {
        cluster.answer(name, LOG);
    }
    let run = cluster.run(&["snap"]);
    assert_eq!(run.status, 0, "{run:?}");
    let entries = std::fs::read_dir(cluster.folder.path("snap")).unwrap();
    let files: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let is_safe = |char: char| char.is_ascii_alphanumeric() || ".-_".contains(char);
    assert!(files.iter().all(|name| name.len() < 220 && name.chars().all(is_safe)), "{files:#?}");
    assert_eq!(files.iter().filter(|name| name.starts_with("log-")).count(), names.len(), "{files:#?}");
    assert!(files.contains(&"log-a-b-c-controller-2.log".to_owned()), "{files:#?}");
    let logs = cluster.snapshot()["logs"].as_array().unwrap().clone();
    assert!(logs.iter().all(|log| files.contains(&log["file"].as_str().unwrap().to_owned())), "{logs:#?}");
    for call in cluster.calls().iter().filter(|call| call.starts_with("logs ")) {
        assert!(call.starts_with("logs pod/"), "{call}");
    }
    let outside = std::fs::read_dir(cluster.folder.path(".")).unwrap().count();
    assert_eq!(outside, 2, "only the snapshot and the stand-in");
}

#[test]
fn one_namespace_comes_with_the_controller_and_the_events_of_nodes() {
    let cluster = Cluster::with_objects();
    cluster.list("pods@shop", &[web_pod()]);
    let run = cluster.run(&["snap", "-n", "shop"]);
    assert_eq!(run.status, 0, "{run:?}");
    let calls = cluster.calls();
    let get = "--output=json --chunk-size=500 --request-timeout=60s";
    for call in [
        format!("get pods {get} --namespace=shop"),
        format!("get pods {get} --all-namespaces --selector=app.kubernetes.io/name=karpenter"),
        format!("get events {get} --namespace=default"),
        format!("get nodes {get}"),
    ] {
        assert!(calls.contains(&call), "{call} {calls:#?}");
    }
    // The stand-in ignores the selector, so that the pod of the shop comes twice.
    assert_eq!(cluster.kind("Pod")["objects"], 2);
    assert_eq!(cluster.snapshot()["logs"].as_array().unwrap().len(), 1);
}

#[test]
fn stops_if_kubectl_is_missing_or_does_not_reach_the_cluster() {
    let folder = Folder::with(&[]);
    let run = folder.run_with("PATH", &folder.path("").display().to_string(), &["collect", "snap"]);
    assert_eq!(run.status, 3);
    assert_eq!(
        run.stderr,
        "error: kubectl is not on the PATH: install it, see kubernetes.io/docs/tasks/tools\n"
    );
    let cluster = Cluster::empty();
    cluster.error(
        "version",
        "The connection to the server localhost:8080 was refused - did you specify the right host or port?\n",
    );
    let run = cluster.run(&["snap"]);
    assert_eq!(run.status, 3);
    assert!(
        run.stderr.starts_with(
            "error: kubectl cannot reach the cluster: The connection to the server localhost:8080"
        )
    );
    assert!(!cluster.folder.path("snap").exists() && cluster.calls().len() == 1);
}

#[test]
fn a_user_without_any_right_gets_no_snapshot_but_the_reasons() {
    let cluster = Cluster::empty();
    let calls = || cluster.folder.read("bin/calls");
    assert_eq!(cluster.run(&["first"]).status, 0);
    for call in calls().lines().filter_map(|call| call.strip_prefix("get ")) {
        let resource = call.split(' ').next().unwrap();
        cluster.error(resource, &forbidden(resource, ""));
    }
    // kubectl finds out about a kind that the cluster does not have before it lists anything.
    let absent = "nodeoverlays.karpenter.sh";
    cluster.error(absent, "error: the server doesn't have a resource type \"nodeoverlays\"\n");
    let run = cluster.run(&["snap"]);
    assert_eq!(cluster.kind("NodeOverlay")["state"], "absent");
    assert_eq!(run.status, 3);
    assert!(run.stderr.contains("missing rights: list nodepools.karpenter.sh, "), "{}", run.stderr);
    assert!(
        run.stdout.ends_with("\nnext: karpwarden collect --print-rbac, for a role with the missing rights\n"),
        "{}",
        run.stdout
    );
    assert!(!run.stdout.contains("diagnose"), "{}", run.stdout);
    assert_eq!(cluster.kind("NodePool")["state"], "forbidden");
    // The command for the rights has the namespaces of this collection.
    let flags = ["--namespace", "shop", "--karpenter-namespace", "infra"];
    let run = cluster.run(&[&["of-shop"], &flags[..]].concat());
    let command = format!("karpwarden collect --print-rbac {}", flags.join(" "));
    assert!(
        run.stdout.ends_with(&format!("\nnext: {command}, for a role with the missing rights\n")),
        "{}",
        run.stdout
    );
    assert!(run.stderr.contains(&format!("; `{command}` prints a role")), "{}", run.stderr);
    // An empty list is no object either.
    std::fs::remove_file(cluster.folder.path("bin/answers/persistentvolumes.error")).unwrap();
    cluster.list("persistentvolumes", &[]);
    let run = cluster.run(&["empty"]);
    assert_eq!(run.status, 3);
    assert!(!run.stdout.contains("diagnose"), "{}", run.stdout);
}

#[test]
fn refuses_a_folder_that_is_not_empty_and_a_duration_that_kubectl_cannot_read() {
    let cluster = Cluster::with_objects();
    assert_eq!(cluster.run(&["snap"]).status, 0);
    let again = cluster.run(&["snap"]);
    assert_eq!(
        (again.status, again.stderr.as_str()),
        (2, "error: `snap` is not empty: name another folder, or remove it\n")
    );
    for since in ["1d", "0s", "-1h", ""] {
        assert_eq!(cluster.run(&["other", &format!("--since={since}")]).status, 2, "{since}");
    }
}

#[test]
fn prints_the_role_without_kubectl() {
    let folder = Folder::with(&[]);
    let run = folder.run_with("PATH", "/nowhere", &["collect", "--print-rbac"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(run.stdout.contains("kind: ClusterRole\n") && !run.stdout.contains("secrets"), "{}", run.stdout);
    let checked = folder.run_in("", &["check", "-"], &run.stdout);
    assert_eq!(checked.status, 0, "valid YAML: {checked:?}");
}
