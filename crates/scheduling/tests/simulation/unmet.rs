//! The demands for which a pod has no place, and the changes with which it has one.

use karpenter::release::Release;
use karpwarden_scheduling::simulation::{
    Disagreement, Placement, PoolReason, Remedy, Simulation, SimulationSettings,
};
use manifest::File;
use manifest::limits::Limits;
use objects::object::Object;

use crate::tree;

/// NodePool with requirements, and with further fields of its specification and of its template's specification.
fn pool(requirements: &str, spec: &str, template: &str) -> String {
    format!(
        r"---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: general}}
spec:
  {spec}
  template:
    spec:
      nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}
      {template}
      requirements: [{requirements}]
"
    )
}

/// Pod with requests and with further fields of its specification.
fn pod(requests: &str, spec: &str) -> String {
    format!(
        r"---
apiVersion: v1
kind: Pod
metadata: {{name: main}}
spec:
  containers: [{{name: main, image: a, resources: {{requests: {{{requests}}}}}}}]
  {spec}
"
    )
}

/// Requirement `key In values`.
fn within(key: &str, values: &str) -> String {
    format!("{{key: {key}, operator: In, values: [{values}]}}")
}

fn types(values: &str) -> String {
    within("node.kubernetes.io/instance-type", values)
}

/// The first reason of the first pod, as text.
fn reason(release: Release, input: &str) -> String {
    let file = File::read("-", input, &Limits::DEFAULT);
    let objects: Vec<Object<'_>> = file.documents.iter().filter_map(tree).flat_map(Object::all).collect();
    let mut settings = SimulationSettings::new(release);
    settings.assumes_node_classes = true;
    let simulation = Simulation::new(settings, &objects).unwrap();
    let outcome = simulation.run_with_remedies();
    match &outcome.pods.iter().next().unwrap().placement {
        Placement::Unplaced(unplaced) => text(unplaced.reasons.first().unwrap()),
        other => format!("{other:?}"),
    }
}

fn newest(input: &str) -> String {
    reason(Release::NEWEST, input)
}

fn text(reason: &PoolReason<'_>) -> String {
    let unmet: Vec<String> = reason.unmet.iter().map(unmet).collect();
    let remedies: Vec<String> = reason.remedies.iter().map(|all| together(all)).collect();
    format!("{}: {} -> {}", reason.kind.name(), unmet.join(" + "), remedies.join(" | "))
}

fn unmet(demand: &Disagreement<'_>) -> String {
    match demand {
        Disagreement::Taint(taint) => taint.to_string(),
        Disagreement::Label(label) => format!("{} {}", label.key, label.asked.written(true)),
        Disagreement::HostPort(port) => format!("port {port}"),
        Disagreement::Volume(label) => format!("volume {} {}", label.key, label.asked.written(true)),
        Disagreement::Topology(key) => format!("topology {key}"),
        Disagreement::Resource(miss) => format!(
            "{} {} of {} {} ({} too much)",
            miss.resource,
            miss.requested,
            miss.largest,
            miss.instance_type,
            miss.missing()
        ),
        Disagreement::MinValues(miss) => format!("minValues {} of {} {}", miss.least, miss.found, miss.key),
        Disagreement::Limits(miss) => match miss {
            Some(miss) => format!("limit {} {} of {}", miss.resource, miss.needed, miss.left),
            None => "limits".to_owned(),
        },
        Disagreement::OwnRequirement(key) => format!("own {key}"),
    }
}

fn together(all: &[Remedy<'_>]) -> String {
    all.iter().map(remedy).collect::<Vec<_>>().join(" and ")
}

fn remedy(remedy: &Remedy<'_>) -> String {
    match remedy {
        Remedy::Tolerate(taint) => format!("tolerate {taint}"),
        Remedy::AskValue { key, value } => format!("ask {key}={value}"),
        Remedy::ReplaceLabel { from, to, value } => format!("select {to}={value} for {from}"),
        Remedy::DropLabel(key) => format!("drop {key}"),
        Remedy::Request(amounts) => {
            let all: Vec<String> = amounts.iter().map(|(name, amount)| format!("{amount} {name}")).collect();
            format!("request {}", all.join(", "))
        }
        Remedy::RenameTopology { to, .. } => format!("topologyKey {to}"),
        Remedy::FreePort(port) => format!("free {port}"),
        Remedy::AllowValue { key, value, .. } => format!("allow {key}={value}"),
        Remedy::AddLabel { key, value, .. } => format!("label {key}={value}"),
        Remedy::LowerMinValues { key, to, .. } => format!("minValues {key} {to}"),
        Remedy::RaiseLimit { resource, .. } => format!("raise {resource}"),
    }
}

#[test]
fn a_label_that_matches_is_not_the_reason_in_any_release() {
    let input = pool(&types("c4.4xlarge"), "", "")
        .replace("template:\n", "template:\n    metadata: {labels: {team: a}}\n")
        + &pod("memory: 25600Mi", "nodeSelector: {team: a}");
    for release in Release::minors() {
        let reason = reason(release, &input);
        assert!(reason.starts_with("resources: memory 25Gi of "), "{release}: {reason}");
        assert!(reason.contains("c4.4xlarge"), "{release}: {reason}");
        assert!(reason.contains("-> request "), "{release}: {reason}");
    }
}

#[test]
fn a_request_that_no_type_with_the_architecture_has_is_the_reason() {
    let input = pool(&types("m5.16xlarge, m7g.2xlarge, m7g.large"), "", "")
        + &pod("cpu: 40", "nodeSelector: {kubernetes.io/arch: arm64}");
    assert_eq!(
        newest(&input),
        "resources: cpu 40 of 7910m m7g.2xlarge (32090m too much) -> request 7910m cpu | allow node.kubernetes.io/instance-type=m7g.12xlarge | drop kubernetes.io/arch"
    );
}

#[test]
fn a_request_that_no_type_of_the_family_has_is_the_reason() {
    let input = pool(&within("karpenter.k8s.aws/instance-family", "c7g, m5"), "", "")
        + &pod("memory: 200Gi", "nodeSelector: {karpenter.k8s.aws/instance-family: c7g}");
    assert_eq!(
        newest(&input),
        "resources: memory 200Gi of 112720Mi c7g.16xlarge (92080Mi too much) -> request 112720Mi memory | drop karpenter.k8s.aws/instance-family"
    );
}

#[test]
fn a_request_that_the_named_type_has_not_is_the_reason() {
    let input = pool(&within("karpenter.k8s.aws/instance-family", "m5"), "", "")
        + &pod("cpu: 4", "nodeSelector: {node.kubernetes.io/instance-type: m5.large}");
    assert_eq!(
        newest(&input),
        "resources: cpu 4 of 1930m m5.large (2070m too much) -> request 1930m cpu | drop node.kubernetes.io/instance-type"
    );
}

#[test]
fn all_resources_that_the_closest_type_lacks_are_the_reason() {
    let input = pool(&types("m5.large, c5.large"), "", "") + &pod("cpu: 4, memory: 20Gi", "");
    assert_eq!(
        newest(&input),
        "resources: cpu 4 of 1930m m5.large (2070m too much) + memory 20Gi of 6903Mi m5.large (13577Mi too much) -> request 1930m cpu, 6903Mi memory | allow node.kubernetes.io/instance-type=m5.2xlarge"
    );
}

#[test]
fn a_resource_that_no_type_has_is_the_reason_without_a_change() {
    let input = pool(&types("m5.large"), "", "") + &pod("example.com/fpga: 1", "");
    assert_eq!(newest(&input), "resources: example.com/fpga 1 of 0 m5.large (1 too much) -> ");
}

#[test]
fn a_label_that_excludes_every_type_with_the_resource_is_the_reason() {
    let input = pool(&types("g4dn.xlarge, c7g.large"), "", "")
        + &pod(
            "nvidia.com/gpu: 1",
            "nodeSelector: {karpenter.k8s.aws/instance-family: c7g}\n  tolerations: [{operator: Exists}]",
        );
    assert_eq!(
        newest(&input),
        "requirements: karpenter.k8s.aws/instance-family In c7g -> drop karpenter.k8s.aws/instance-family"
    );
}

#[test]
fn a_label_that_the_pool_has_with_another_value_is_the_reason_if_the_request_fits() {
    let requirements = [types("m5.4xlarge"), within("team", "red")].join(", ");
    let input = pool(&requirements, "", "") + &pod("cpu: 10", "nodeSelector: {team: blue}");
    assert_eq!(newest(&input), "requirements: team In blue -> allow team=blue | ask team=red");
    let set = pool(&types("m5.4xlarge"), "", "")
        .replace("template:\n", "template:\n    metadata: {labels: {team: red}}\n")
        + &pod("cpu: 10", "nodeSelector: {team: blue}");
    assert_eq!(newest(&set), "requirements: team In blue -> ask team=red");
    let absent = pool(&types("m5.4xlarge"), "", "") + &pod("cpu: 10", "nodeSelector: {team: blue}");
    assert_eq!(newest(&absent), "requirements: team In blue -> label team=blue | drop team");
}

#[test]
fn a_label_and_a_request_are_the_reason_together() {
    let requirements = [types("m5.large"), within("team", "red")].join(", ");
    let input = pool(&requirements, "", "") + &pod("cpu: 3", "nodeSelector: {team: blue}");
    assert_eq!(
        newest(&input),
        "requirements: team In blue + cpu 3 of 1930m m5.large (1070m too much) -> allow team=blue and request 1930m cpu"
    );
}

#[test]
fn two_taints_need_two_tolerations() {
    let taints = "taints: [{key: a, value: x, effect: NoSchedule}, {key: b, effect: NoExecute}]";
    let input = pool(&types("m5.large"), "", taints) + &pod("cpu: 1", "");
    assert_eq!(
        newest(&input),
        "taint: a=x:NoSchedule + b:NoExecute -> tolerate a=x:NoSchedule and tolerate b:NoExecute"
    );
    let third = taints.replace(']', ", {key: c, effect: NoSchedule}]");
    let input = pool(&types("m5.large"), "", &third) + &pod("cpu: 1", "");
    assert_eq!(newest(&input), "taint: a=x:NoSchedule + b:NoExecute + c:NoSchedule -> ");
}

#[test]
fn a_value_that_the_pod_excludes_is_the_reason() {
    let terms = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: \
                 [{matchExpressions: [{key: karpenter.k8s.aws/instance-family, operator: NotIn, values: [m5]}]}]}}}";
    let input = pool(&within("karpenter.k8s.aws/instance-family", "m5"), "", "") + &pod("cpu: 1", terms);
    assert_eq!(
        newest(&input),
        "requirements: karpenter.k8s.aws/instance-family NotIn m5 -> drop karpenter.k8s.aws/instance-family"
    );
}

#[test]
fn the_zone_of_a_volume_is_the_reason() {
    let volume = r"---
apiVersion: v1
kind: PersistentVolume
metadata: {name: data}
spec:
  csi: {driver: ebs.csi.aws.com}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [us-east-1b]}]}]}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, annotations: {pv.kubernetes.io/bind-completed: 'yes'}}
spec: {volumeName: data, storageClassName: gp3}
status: {phase: Bound}
";
    let zone = within("topology.kubernetes.io/zone", "us-east-1a");
    let input = pool(&zone, "", "")
        + volume
        + &pod("cpu: 1", "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]");
    let expected =
        "volume topology.kubernetes.io/zone In us-east-1b -> allow topology.kubernetes.io/zone=us-east-1b";
    for release in Release::minors() {
        let reason = reason(release, &input);
        assert!(reason.ends_with(expected), "{release}: {reason}");
    }
}

#[test]
fn too_few_values_for_min_values_are_the_reason() {
    let requirements =
        "{key: karpenter.k8s.aws/instance-family, operator: In, values: [m5, m6i, m7i], minValues: 3}";
    let input =
        pool(requirements, "", "") + &pod("cpu: 1", "nodeSelector: {karpenter.k8s.aws/instance-family: m5}");
    assert_eq!(
        newest(&input),
        "min-values: minValues 3 of 1 karpenter.k8s.aws/instance-family -> minValues karpenter.k8s.aws/instance-family 1"
    );
}

#[test]
fn a_limit_below_the_smallest_type_for_the_pod_is_the_reason() {
    let input = pool(&types("m5.large, m5.xlarge"), "limits: {cpu: 2}", "") + &pod("cpu: 3", "");
    assert_eq!(
        newest(&input),
        "resources: cpu 3 of 1930m m5.large (1070m too much) -> request 1930m cpu | raise cpu"
    );
    let none = pool(&types("m5.xlarge"), "limits: {cpu: 2}", "") + &pod("cpu: 3", "");
    assert_eq!(newest(&none), "limits: limit cpu 4 of 2 -> raise cpu");
}

#[test]
fn a_change_that_takes_the_place_of_another_pod_is_not_shown() {
    let taint = "taints: [{key: team, effect: NoSchedule}]";
    let large = pod("cpu: 7", "tolerations: [{operator: Exists}]");
    let alone = pool(&types("m5.xlarge"), "", taint) + &large;
    assert_eq!(
        newest(&alone),
        "resources: cpu 7 of 3920m m5.xlarge (3080m too much) -> request 3920m cpu | allow node.kubernetes.io/instance-type=m5.2xlarge"
    );
    // With a smaller request, the pod would go to the node on which alone the other pod can run.
    let node = r"---
apiVersion: v1
kind: Node
metadata: {name: old, labels: {kubernetes.io/hostname: old}}
status: {capacity: {cpu: 4, memory: 16Gi, pods: 58}, allocatable: {cpu: 4, memory: 15Gi, pods: 58}}
";
    let other = pod("cpu: 3", "").replace("metadata: {name: main}", "metadata: {name: other}");
    assert_eq!(
        newest(&(alone + node + &other)),
        "resources: cpu 7 of 3920m m5.xlarge (3080m too much) -> allow node.kubernetes.io/instance-type=m5.2xlarge"
    );
}

#[test]
fn a_limit_that_is_used_up_and_a_request_are_the_reason_together() {
    let other = pod("cpu: 3", "").replace("metadata: {name: main}", "metadata: {name: other}");
    let input = pool(&types("m5.xlarge"), "limits: {cpu: 4}", "") + &pod("cpu: 7", "") + &other;
    assert_eq!(
        newest(&input),
        "limits: limit cpu 4 of 0 + cpu 7 of 3920m m5.xlarge (3080m too much) -> raise cpu and request 3920m cpu"
    );
}

#[test]
fn a_taken_host_port_is_the_reason() {
    let daemon = r"---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec: {template: {spec: {containers: [{name: agent, image: a, ports: [{containerPort: 80, hostPort: 8080}]}]}}}
";
    let input = pool(&types("m5.large"), "", "")
        + daemon
        + &pod("cpu: 1", "").replace("image: a,", "image: a, ports: [{containerPort: 80, hostPort: 8080}],");
    for release in Release::minors() {
        let reason = reason(release, &input);
        let places = reason.starts_with("New(");
        assert!(places || reason == "host-port: port 8080 -> free 8080", "{release}: {reason}");
    }
    assert!(newest(&input).starts_with("host-port"));
}

#[test]
fn an_unknown_topology_key_is_the_reason() {
    let spread = "topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zones, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}]";
    let input = pool(&types("m5.large"), "", "") + &pod("cpu: 1", spread);
    assert_eq!(
        newest(&input),
        "topology: topology topology.kubernetes.io/zones -> topologyKey topology.kubernetes.io/zone"
    );
}
