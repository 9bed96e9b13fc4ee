//! Questions to `karpwarden simulate` about a cluster with nodes and pods.

use insta::assert_snapshot;
use serde_json::Value;

use crate::folder::{Folder, Run};

const POOL: &str = "\
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  limits: {cpu: 9}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand, spot]}
        - {key: node.kubernetes.io/instance-type, operator: In, values: [m5.large, m5.xlarge]}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: KarpenterNodeRole
  amiSelectorTerms: [{alias: al2023@latest}]
";

/// Workload with one pod on each host.
const WEB: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 5
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      topologySpreadConstraints:
        - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}
      containers:
        - {name: web, image: nginx, resources: {requests: {cpu: 1900m, memory: 1Gi}}}
";

/// Node with a pod of the workload.
const CLUSTER: &str = "\
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {kubernetes.io/hostname: n1, topology.kubernetes.io/zone: us-east-1a}}
status: {allocatable: {cpu: '8', memory: 14Gi, pods: '58'}}
---
apiVersion: v1
kind: Pod
metadata:
  name: web-abc-1
  namespace: shop
  labels: {app: web, pod-template-hash: abc}
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-abc, uid: u}]
spec:
  nodeName: n1
  containers:
    - {name: web, image: nginx, resources: {requests: {cpu: 1900m, memory: 1Gi}}}
status: {phase: Running}
";

fn folder() -> Folder {
    Folder::with(&[("pool.yaml", POOL), ("web.yaml", WEB), ("cluster.yaml", CLUSTER)])
}

fn simulate(folder: &Folder, arguments: &[&str]) -> Run {
    folder.run(&[&["simulate", "--karpenter-version", "1.14"], arguments].concat())
}

#[test]
fn says_which_round_places_what_and_what_it_costs() {
    let run = simulate(&folder(), &["pool.yaml", "web.yaml"]);
    assert_eq!(run.status, 1, "{run:?}");
    assert_snapshot!(run.stdout, @"
    4 of 5 pods placed on 4 new nodes, about $0.15 per hour with spot capacity; 1 pod fits nowhere
      cheapest  $0.15 per hour, $112.13 per month
      on demand $0.38 per hour, $280.32 per month
      spot      $0.15 per hour, $112.13 per month (60 % less)
      round 1 places 2 pods, round 2 places 1 pod, round 3 places 1 pod

    node 1 of NodePool general
      types     m5.large $0.0384, m5.xlarge $0.0768
      zones     us-east-1a, us-east-1b, us-east-1c
      capacity  on-demand, spot
      cpu       ███████████████████░ 1900m of 1930m
      memory    ██░░░░░░░░░░░░░░░░░░ 1Gi of 6903Mi
      pods      ░░░░░░░░░░░░░░░░░░░░ 1 of 29
      runs      shop/web

    node 2 of NodePool general
      types     m5.large $0.0384, m5.xlarge $0.0768
      zones     us-east-1a, us-east-1b, us-east-1c
      capacity  on-demand, spot
      cpu       ███████████████████░ 1900m of 1930m
      memory    ██░░░░░░░░░░░░░░░░░░ 1Gi of 6903Mi
      pods      ░░░░░░░░░░░░░░░░░░░░ 1 of 29
      runs      shop/web

    node 3 of NodePool general, opened in round 2
      types     m5.large $0.0384, m5.xlarge $0.0768
      zones     us-east-1a, us-east-1b, us-east-1c
      capacity  on-demand, spot
      cpu       ███████████████████░ 1900m of 1930m
      memory    ██░░░░░░░░░░░░░░░░░░ 1Gi of 6903Mi
      pods      ░░░░░░░░░░░░░░░░░░░░ 1 of 29
      runs      shop/web

    node 4 of NodePool general, opened in round 3
      types     m5.large $0.0384
      zones     us-east-1a, us-east-1b, us-east-1c
      capacity  on-demand, spot
      cpu       ███████████████████░ 1900m of 1930m
      memory    ██░░░░░░░░░░░░░░░░░░ 1Gi of 6903Mi
      pods      ░░░░░░░░░░░░░░░░░░░░ 1 of 29
      runs      shop/web

    no node for shop/web
      NodePool general (limits): all available instance types exceed limits for nodepool (NodePool=general)
        the limit leaves 1 cpu, the smallest type for the pod has 2
        NodePool pool.yaml:5 spec.limits
            limits: {cpu: 9}
            ^^^^^^
        to fit: raise `spec.limits.cpu` of the NodePool

    assumed
      the subnets are in us-east-1a, us-east-1b, us-east-1c (`--zones`)
      on-demand prices are the list prices of us-east-1 (`--prices`)
      spot capacity costs 40 % of the on-demand price in every zone (`--spot-discount`)
      the cluster has no other NodePool, node or pod than the input
      every instance type has capacity in every zone
      webhooks change no pod
      before each further round, the nodes join with their cheapest type in the first of their zones, and run their pods (`--rounds 1`)

    1 finding about this input: `karpwarden check` shows it
    ");
    let single = simulate(&folder(), &["--rounds", "1", "pool.yaml", "web.yaml"]);
    assert!(single.stdout.starts_with("2 of 5 pods placed on 2 new nodes"), "{single:?}");
    let json = simulate(&folder(), &["--format", "json", "pool.yaml", "web.yaml"]).json();
    let rounds: Vec<u64> =
        json["nodeClaims"].as_array().unwrap().iter().map(|node| node["round"].as_u64().unwrap()).collect();
    assert_eq!(rounds, [1, 1, 2, 3]);
    assert_eq!(json["summary"]["rounds"], 3);
    assert_eq!((&json["pods"][3]["round"], &json["pods"][4]["round"]), (&3.into(), &Value::Null));
    let price = |key: &str| json["summary"][key].as_f64().unwrap();
    assert!((price("pricePerMonth") - 730.0 * price("pricePerHour")).abs() < 0.001);
    assert!((price("onDemandPricePerHour") - 4.0 * 0.096).abs() < 0.001);
    assert!((price("spotPricePerHour") - price("pricePerHour")).abs() < 0.001);
}

#[test]
fn adds_pods_to_the_running_ones_and_binds_them_first() {
    let run = simulate(&folder(), &["--replicas", "deploy/web=2", "."]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(
        run.stdout.starts_with(
            "1 of 1 pod placed on existing nodes\nDeployment shop/web keeps 1 pod, 1 is added\n"
        ),
        "{run:?}"
    );
    assert!(run.stdout.contains("kube-scheduler first binds the pods"), "{run:?}");
    let karpenter = simulate(&folder(), &["--no-bind", "--replicas", "deploy/web=2", "."]);
    assert!(karpenter.stdout.starts_with("1 of 1 pod placed on 1 new node"), "{karpenter:?}");
    assert!(!karpenter.stdout.contains("kube-scheduler"), "{karpenter:?}");
    let json = simulate(&folder(), &["--replicas", "deploy/web=2", "--format", "json", "."]).json();
    assert_eq!(json["pods"][0]["node"], "n1");
    let web = &json["workloads"][0];
    assert_eq!(
        (&web["kind"], &web["namespace"], &web["kept"], &web["added"]),
        (&"Deployment".into(), &"shop".into(), &1.into(), &1.into())
    );
}

#[test]
fn answers_a_smaller_number_of_replicas() {
    let run = simulate(&folder(), &["--replicas", "deployment/shop/web=0", "."]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(
        run.stdout.starts_with("no pod needs a node: Deployment shop/web keeps 0 pods, 1 goes\n"),
        "{run:?}"
    );
    let run = simulate(&folder(), &["--replicas", "deployments.apps/web=1", "."]);
    assert!(run.stdout.starts_with("no pod needs a node: Deployment shop/web keeps 1 pod\n"), "{run:?}");
}

#[test]
fn refuses_replicas_of_what_the_input_lacks() {
    for (value, expected) in [
        ("deploy/wob=60", "`--replicas`: the input has no Deployment `wob` (did you mean `web`?)"),
        ("sts/web=2", "the input has no StatefulSet `web` (did you mean `Deployment/shop/web`?)"),
        ("deploy/live/web=2", "the input has no Deployment `live/web` (did you mean `Deployment/shop/web`?)"),
        ("node/web=2", "the input has no"),
    ] {
        let run = simulate(&folder(), &["--replicas", value, "."]);
        assert_eq!(run.status, 2, "{value}: {run:?}");
        assert!(run.stderr.contains(expected), "{value}: {run:?}");
    }
    let run = simulate(&folder(), &["--rounds", "0", "."]);
    assert_eq!(run.status, 2, "{run:?}");
}

#[test]
fn names_the_line_and_the_value_of_an_ignored_pod() {
    let pod = "\
apiVersion: v1
kind: Pod
metadata: {name: batch}
spec:
  nodeSelector:
    karpenter.sh/capacity-type: ondemand
  containers: [{name: batch, image: nginx}]
---
apiVersion: v1
kind: Pod
metadata: {name: host}
spec:
  nodeSelector: {kubernetes.io/hostname: n9}
  containers: [{name: host, image: nginx}]
---
apiVersion: v1
kind: Pod
metadata: {name: data}
spec:
  containers: [{name: data, image: nginx}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
";
    let folder = Folder::with(&[("pool.yaml", POOL), ("pod.yaml", pod)]);
    let run = simulate(&folder, &["pool.yaml", "pod.yaml"]);
    assert_eq!(run.status, 1, "{run:?}");
    let (shown, _) = run.stdout.split_once("\nassumed").unwrap();
    assert_snapshot!(shown, @r#"
    0 of 3 pods placed; Karpenter ignores 3 pods

    Karpenter ignores default/data
      getting persistent volume claim, persistentvolumeclaims "data" not found (PersistentVolumeClaim=data)
      the input lacks this object: add it if the cluster has it

    Karpenter ignores default/batch
      `karpenter.sh/capacity-type` is never `ondemand`
        pod pod.yaml:6 spec.nodeSelector.karpenter.sh/capacity-type
              karpenter.sh/capacity-type: ondemand
                                          ^^^^^^^^
        to fix: write `on-demand`

    Karpenter ignores default/host
      Karpenter does not launch nodes for pods that select `kubernetes.io/hostname`
        pod pod.yaml:13 spec.nodeSelector.kubernetes.io/hostname
            nodeSelector: {kubernetes.io/hostname: n9}
                           ^^^^^^^^^^^^^^^^^^^^^^
        to fix: select a well-known label, such as `topology.kubernetes.io/zone`, or a label of your NodePool
    "#);
    let json = simulate(&folder, &["--format", "json", "pool.yaml", "pod.yaml"]).json();
    assert_eq!(json["summary"]["ignored"], 3);
    let batch = &json["pods"][0];
    assert_eq!((&batch["placed"], &batch["ignored"]["place"]["line"]), (&"ignored".into(), &6.into()));
    assert_eq!(batch["ignored"]["remedy"], "write `on-demand`");
    assert_eq!(batch["ignored"]["path"], "spec.nodeSelector.karpenter.sh/capacity-type");
    assert_eq!(json["pods"][2]["ignored"], Value::Null);
}

#[test]
fn keeps_the_built_in_price_of_types_without_a_given_price() {
    let folder = folder();
    folder.write("prices.json", b"{\"m5.xlarge\": 0.01}\n");
    let run = simulate(&folder, &["--prices", "prices.json", "pool.yaml", "web.yaml"]);
    assert!(run.stdout.contains("types     m5.xlarge $0.0040, m5.large $0.0384"), "{run:?}");
    assert!(run.stdout.contains("of the instance types have no given price"), "{run:?}");
    for (text, expected) in [
        (
            "{\n  \"m5.large\": 0.1,\n  \"m5.xlarge\": -1\n}",
            "`--prices prices.json`: line 3: the price of `m5.xlarge` is -1",
        ),
        ("{\n  \"m5.large\": \"cheap\"\n}", "line 2: the price of `m5.large` is \"cheap\""),
        ("{\n  \"m5.large\": 0.1,\n}", "line 3"),
    ] {
        folder.write("prices.json", text.as_bytes());
        let run = simulate(&folder, &["--prices", "prices.json", "pool.yaml", "web.yaml"]);
        assert_eq!(run.status, 2, "{text}: {run:?}");
        assert!(run.stderr.contains(expected), "{text}: {run:?}");
    }
}
