//! kube-scheduler binds pods to existing nodes before Karpenter looks at the rest.

use crate::world::{places, places_with};

/// Nodes of a managed node group in two zones.
fn nodes(further: &str) -> String {
    let node = |name: &str, zone: &str| {
        format!(
            "
apiVersion: v1
kind: Node
metadata:
  name: {name}
  labels: {{kubernetes.io/hostname: {name}, topology.kubernetes.io/zone: {zone}, kubernetes.io/arch: amd64, kubernetes.io/os: linux,
    node.kubernetes.io/instance-type: t3.large, eks.amazonaws.com/nodegroup: ng}}
spec: {{{further}}}
status:
  allocatable: {{cpu: 1930m, memory: 7Gi, pods: '35'}}
  capacity: {{cpu: '2', memory: 8Gi, pods: '35'}}
  conditions: [{{type: Ready, status: 'True'}}]
"
        )
    };
    [node("a1", "us-east-1a"), node("b1", "us-east-1b")].join("---")
}

/// A pod with a label and further fields; with a node it runs.
fn pod(name: &str, app: &str, node: &str, spec: &str) -> String {
    let place = if node.is_empty() { String::new() } else { format!("nodeName: {node}, ") };
    format!(
        "---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, labels: {{app: {app}}}}}
spec: {{{place}containers: [{{name: c, image: i, resources: {{requests: {{cpu: 500m}}}}}}]{spec}}}
"
    )
}

fn spread(key: &str) -> String {
    format!(
        ", topologySpreadConstraints: [{{maxSkew: 1, topologyKey: {key}, whenUnsatisfiable: DoNotSchedule, \
         labelSelector: {{matchLabels: {{app: web}}}}}}]"
    )
}

fn affinity(kind: &str, app: &str, key: &str) -> String {
    format!(
        ", affinity: {{{kind}: {{requiredDuringSchedulingIgnoredDuringExecution: [{{topologyKey: {key}, \
         labelSelector: {{matchLabels: {{app: {app}}}}}}}]}}}}"
    )
}

/// A web pod on each node, and another one that waits.
fn third(spec: &str) -> String {
    [nodes(""), pod("one", "web", "a1", spec), pod("two", "web", "b1", spec), pod("three", "web", "", spec)]
        .concat()
}

#[test]
fn spreads_over_the_hosts_that_exist() {
    let pods = third(&spread("kubernetes.io/hostname"));
    assert_eq!(places(&pods), ["three: node a1"]);
    // Karpenter's smallest count of a host name is always zero.
    assert_eq!(places_with(&pods, |settings| settings.binds = false), ["three: new node"]);
}

#[test]
fn spreads_over_the_zones_of_nodes_that_exist() {
    let pods = third(&spread("topology.kubernetes.io/zone"));
    assert_eq!(places(&pods), ["three: node a1"]);
    // A NodePool can launch nodes in a third zone, which has no pod.
    assert_eq!(places_with(&pods, |settings| settings.binds = false), ["three: new node"]);
    let full = [
        nodes(""),
        pod("one", "web", "a1", ""),
        pod("three", "web", "", &spread("topology.kubernetes.io/zone")),
    ];
    assert_eq!(places(&full.concat()), ["three: node b1"]);
}

#[test]
fn counts_too_few_domains_as_an_empty_domain() {
    let spec = spread("kubernetes.io/hostname").replace("maxSkew: 1", "maxSkew: 1, minDomains: 3");
    assert_eq!(places(&third(&spec)), ["three: new node"]);
}

#[test]
fn respects_taints_of_nodes() {
    let waiting = |spec: &str| pod("p", "web", "", spec);
    let tainted = nodes("taints: [{key: team, value: blue, effect: NoSchedule}]");
    assert_eq!(places(&(tainted.clone() + &waiting(""))), ["p: new node"]);
    assert_eq!(
        places(&(tainted + &waiting(", tolerations: [{key: team, operator: Exists}]"))),
        ["p: node a1"]
    );
    let preferred = nodes("taints: [{key: team, effect: PreferNoSchedule}]");
    assert_eq!(places(&(preferred + &waiting(""))), ["p: node a1"]);
}

/// A pod that only kube-scheduler places: Karpenter ignores pods that select a host name.
fn on_a1(spec: &str) -> String {
    pod("p", "web", "", &format!(", nodeSelector: {{kubernetes.io/hostname: a1}}{spec}"))
}

#[test]
fn leaves_out_nodes_that_are_cordoned_or_not_ready() {
    assert_eq!(places(&(nodes("") + &on_a1(""))), ["p: node a1"]);
    assert_eq!(places(&(nodes("unschedulable: true") + &on_a1(""))), ["p: ignored"]);
    let unready = nodes("").replace("status: 'True'", "status: 'False'");
    assert_eq!(places(&(unready + &on_a1(""))), ["p: ignored"]);
    // Karpenter does not count on such a node either.
    let on_a = pod("p", "web", "", ", nodeSelector: {topology.kubernetes.io/zone: us-east-1a}");
    assert_eq!(places(&(nodes("") + &on_a)), ["p: node a1"]);
    let unready = nodes("").replace("status: 'True'", "status: 'False'");
    for nodes in [nodes("unschedulable: true"), unready] {
        assert_eq!(places(&(nodes + &on_a)), ["p: new node"]);
    }
}

#[test]
fn leaves_out_pods_that_kube_scheduler_does_not_look_at() {
    for spec in [
        ", schedulerName: mine",
        ", schedulingGates: [{name: wait}]",
        ", volumes: [{name: v, persistentVolumeClaim: {claimName: missing}}]",
        ", resourceClaims: [{name: gpu, resourceClaimName: gpu}]",
    ] {
        assert_eq!(places(&(nodes("") + &on_a1(spec))), ["p: ignored"], "{spec}");
    }
}

#[test]
fn respects_the_node_affinity() {
    let select =
        |zone: &str| pod("p", "web", "", &format!(", nodeSelector: {{topology.kubernetes.io/zone: {zone}}}"));
    assert_eq!(places(&(nodes("") + &select("us-east-1b"))), ["p: node b1"]);
    assert_eq!(places(&(nodes("") + &select("us-east-1c"))), ["p: new node"]);
    let preferred = ", affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: \
                     {matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [us-east-1b]}]}}]}}";
    assert_eq!(places(&(nodes("") + &pod("p", "web", "", preferred))), ["p: node b1"]);
}

#[test]
fn binds_a_pod_that_karpenter_ignores() {
    let host = pod("p", "web", "", ", nodeSelector: {kubernetes.io/hostname: b1}");
    assert_eq!(places(&(nodes("") + &host)), ["p: node b1"]);
    let unmanaged = ", affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: \
                     [{key: karpenter.sh/nodepool, operator: DoesNotExist}]}]}}}";
    assert_eq!(places(&(nodes("") + &pod("p", "web", "", unmanaged))), ["p: node a1"]);
}

#[test]
fn respects_pod_affinity_and_anti_affinity() {
    let zone = "topology.kubernetes.io/zone";
    let running = nodes("") + &pod("db", "db", "b1", "");
    let near = pod("p", "web", "", &affinity("podAffinity", "db", zone));
    assert_eq!(places(&(running.clone() + &near)), ["p: node b1"]);
    let apart = pod("p", "web", "", &affinity("podAntiAffinity", "db", zone));
    assert_eq!(places(&(running + &apart)), ["p: node a1"]);
    // A running pod keeps others away.
    let repelling = nodes("") + &pod("db", "db", "a1", &affinity("podAntiAffinity", "web", zone));
    assert_eq!(places(&(repelling + &pod("p", "web", "", ""))), ["p: node b1"]);
    // The first pod of a group may go anywhere, and the second follows it.
    let group = affinity("podAffinity", "web", "kubernetes.io/hostname");
    let group = nodes("") + &pod("p", "web", "", &group) + &pod("q", "web", "", &group);
    assert_eq!(places(&group), ["p: node a1", "q: node a1"]);
    // Pods that were just bound keep others away too.
    let alone = affinity("podAntiAffinity", "web", "kubernetes.io/hostname");
    let alone: String = ["p", "q", "r"].map(|name| pod(name, "web", "", &alone)).concat();
    assert_eq!(places(&(nodes("") + &alone)), ["p: node a1", "q: node b1", "r: new node"]);
}

#[test]
fn fills_nodes_by_free_resources_until_they_are_full() {
    let pods: String = (0..7).map(|number| pod(&format!("p{number}"), "web", "", "")).collect();
    assert_eq!(
        places(&(nodes("") + &pods)),
        [
            "p0: node a1",
            "p1: node b1",
            "p2: node a1",
            "p3: node b1",
            "p4: node a1",
            "p5: node b1",
            "p6: new node",
        ]
    );
}

#[test]
fn binds_pods_with_a_higher_priority_first() {
    let class = "
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
---";
    let large = |name: &str, spec: &str| pod(name, "web", "", spec).replace("cpu: 500m", "cpu: 1500m");
    let pods = ["", "", ", priorityClassName: high"];
    let pods: String =
        pods.iter().enumerate().map(|(number, spec)| large(&format!("p{number}"), spec)).collect();
    assert_eq!(places(&[class, &nodes(""), &pods].concat()), ["p0: node b1", "p1: new node", "p2: node a1"]);
}

#[test]
fn respects_host_ports_and_zones_of_volumes() {
    let port = |name: &str, node: &str| {
        pod(name, "web", node, "")
            .replace("image: i,", "image: i, ports: [{containerPort: 80, hostPort: 80}],")
    };
    let ports = [nodes(""), port("one", "a1"), port("two", ""), port("three", "")].concat();
    assert_eq!(places(&ports), ["two: node b1", "three: new node"]);
    let volume = "---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, annotations: {pv.kubernetes.io/bind-completed: 'yes'}}
spec: {volumeName: pv, storageClassName: gp3}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv}
spec:
  csi: {driver: ebs.csi.aws.com}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [us-east-1b]}]}]}}
";
    let mounted = pod("p", "web", "", ", volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]");
    assert_eq!(places(&[&nodes(""), volume, &mounted].concat()), ["p: node b1"]);
}
