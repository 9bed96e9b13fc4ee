//! Behaviours of single releases that no recorded case has; each test cites the code of Karpenter.

use std::fmt::Write as _;

use karpenter::release::Release;
use karpwarden_scheduling::simulation::{
    Placement, Prices, SimulatedPod, Simulation, SimulationResult, SimulationSettings,
};
use manifest::File;
use manifest::limits::Limits;
use objects::object::Object;

use crate::tree;

const POOL: &str = "
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec: {amiSelectorTerms: [{alias: al2023@latest}]}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: node.kubernetes.io/instance-type, operator: In, values: [m5.large, m5.xlarge]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
";

/// Runs a simulation of the objects of a text, and asks its result.
fn ask<T>(
    text: &str,
    release: &str,
    change: impl FnOnce(&mut SimulationSettings),
    question: impl FnOnce(&SimulationResult<'_>) -> T,
) -> T {
    let file = File::read("-", text, &Limits::DEFAULT);
    let objects: Vec<Object<'_>> = file.documents.iter().filter_map(tree).flat_map(Object::all).collect();
    let mut settings = SimulationSettings::new(Release::parse(release).unwrap());
    change(&mut settings);
    question(&Simulation::new(settings, &objects).unwrap().run())
}

/// The place of a pod in a word, or why it has none.
fn place(pod: &SimulatedPod<'_>) -> String {
    match &pod.placement {
        Placement::New(_) => "new node".to_owned(),
        Placement::Existing(node) => format!("node {}", node.name()),
        Placement::Added(name) => format!("node {name}"),
        Placement::Unplaced(unplaced) => format!("unplaced: {}", unplaced.message),
        Placement::Ignored(reason) => format!("ignored: {reason}"),
        Placement::Unreported => "unreported".to_owned(),
        Placement::Untried => "untried".to_owned(),
    }
}

/// The places of all pods of a text beside the NodePool.
fn places(text: &str, release: &str) -> Vec<String> {
    ask(&format!("{POOL}---{text}"), release, |_| {}, |result| result.pods.iter().map(place).collect())
}

const CLAIM_OF_POD: &str = "
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  resourceClaims: [{name: gpu, resourceClaimName: gpu}]
  containers: [{name: c, resources: {requests: {cpu: 100m}}}]
";

const CLAIM_OF_CONTAINER: &str = "
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  resourceClaims: [{name: gpu, resourceClaimName: gpu}]
  containers: [{name: c, resources: {requests: {cpu: 100m}, claims: [{name: gpu}]}}]
";

/// `ignoreDRARequests` in provisioner.go at v1.8.2 and v1.14.1; `HasDRARequirements` in pkg/utils/pod/scheduling.go at v1.14.1
/// also looks at `spec.resourceClaims`.
#[test]
fn resource_claims_count_by_release() {
    let refusal = "pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter";
    for (text, release, is_refused) in [
        (CLAIM_OF_POD, "1.6.0", false),
        (CLAIM_OF_POD, "1.8.2", false),
        (CLAIM_OF_POD, "1.13.0", false),
        (CLAIM_OF_POD, "1.14.0", true),
        (CLAIM_OF_POD, "1.14.1", true),
        (CLAIM_OF_CONTAINER, "1.6.0", false),
        (CLAIM_OF_CONTAINER, "1.7.0", true),
        (CLAIM_OF_CONTAINER, "1.8.2", true),
        (CLAIM_OF_CONTAINER, "1.14.1", true),
    ] {
        let found = places(text, release);
        if is_refused {
            assert!(found[0].contains(refusal), "{release}: {found:?}");
        } else {
            assert_eq!(found, ["new node"], "{release}");
        }
    }
    let of_init_container = CLAIM_OF_CONTAINER.replace(
        "containers: [{name: c, resources: {requests: {cpu: 100m}, claims: [{name: gpu}]}}]",
        "initContainers: [{name: i, resources: {claims: [{name: gpu}]}}]\n  containers: [{name: c}]",
    );
    assert!(places(&of_init_container, "1.8.2")[0].contains(refusal));
}

/// `isDaemonPodCompatible` in scheduler.go: since 1.7 a daemon with resource claims adds no load.
#[test]
fn a_daemon_set_with_resource_claims_adds_no_load() {
    let text = "
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: d}
spec:
  selector: {matchLabels: {app: d}}
  template:
    metadata: {labels: {app: d}}
    spec:
      resourceClaims: [{name: gpu, resourceClaimName: gpu}]
      containers: [{name: c, resources: {requests: {cpu: '1'}, claims: [{name: gpu}]}}]
---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: c, resources: {requests: {cpu: '3500m'}}}]}
";
    assert!(places(text, "1.6.0")[0].starts_with("unplaced"));
    assert_eq!(places(text, "1.7.0"), ["new node"]);
    assert_eq!(places(text, "1.14.1"), ["new node"]);
}

/// `IsProvisionable` in pkg/utils/pod/scheduling.go, the same in every release.
#[test]
fn karpenter_does_not_look_at_some_pending_pods() {
    let pod = |name: &str, more: &str| {
        format!(
            "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}{more}\nspec: {{containers: [{{name: c}}]}}\n"
        )
    };
    let owner = |api_version: &str, kind: &str| {
        format!(
            ", ownerReferences: [{{apiVersion: {api_version}, kind: {kind}, name: o, controller: true}}]}}"
        )
    };
    let status = |fields: &str| format!("}}\nstatus: {{phase: Pending, {fields}}}");
    let scheduled = |reason: &str| {
        status(&format!("conditions: [{{type: PodScheduled, status: 'False', reason: {reason}}}]"))
    };
    let text: String = [
        pod("a-plain", "}"),
        pod("b-daemon", &owner("apps/v1", "DaemonSet")),
        pod("c-mirror", &owner("v1", "Node")),
        pod("d-replica", &owner("apps/v1", "ReplicaSet")),
        pod("e-unschedulable", &scheduled("Unschedulable")),
        pod("f-gated", &scheduled("SchedulingGated")),
        pod("g-error", &scheduled("SchedulerError")),
        pod("h-preempting", &status("nominatedNodeName: n1")),
        pod("i-other-daemon", &owner("apps.kruise.io/v1alpha1", "DaemonSet")),
        pod("j-not-nominated", &status("nominatedNodeName: ''")),
    ]
    .concat();
    for release in ["1.0.9", "1.8.2", "1.14.1"] {
        let expected = [
            "new node",
            "ignored: not provisionable: a DaemonSet owns the pod",
            "ignored: not provisionable: the pod is static",
            "new node",
            "new node",
            "ignored: not provisionable: kube-scheduler has not marked the pod as unschedulable (`PodScheduled` has the reason SchedulingGated)",
            "ignored: not provisionable: kube-scheduler has not marked the pod as unschedulable (`PodScheduled` has the reason SchedulerError)",
            "ignored: not provisionable: kube-scheduler makes room for the pod on node n1 (`status.nominatedNodeName`)",
            "new node",
            "new node",
        ];
        let places = ask(
            &format!("{POOL}{text}"),
            release,
            |_| {},
            |result| {
                let mut all: Vec<_> = result.pods.iter().map(|pod| (pod.name.clone(), place(pod))).collect();
                all.sort();
                all.into_iter().map(|(_, place)| place).collect::<Vec<_>>()
            },
        );
        assert_eq!(places, expected, "{release}");
    }
}

/// A managed node of the type m5.xlarge with its NodeClaim.
fn managed_node(labels: &str, taints: &str, startup_taints: &str) -> String {
    format!(
        "
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {{karpenter.sh/nodepool: default, karpenter.sh/registered: 'true', node.kubernetes.io/instance-type: m5.xlarge,
    kubernetes.io/hostname: n1, topology.kubernetes.io/zone: us-east-1a, kubernetes.io/arch: amd64, kubernetes.io/os: linux,
    karpenter.sh/capacity-type: on-demand{labels}}}
spec: {{providerID: 'aws:///us-east-1a/i-1', taints: [{taints}]}}
status:
  allocatable: {{cpu: 3920m, memory: 14Gi, pods: '58'}}
  capacity: {{cpu: '4', memory: 16Gi, pods: '58'}}
  conditions: [{{type: Ready, status: 'True'}}]
---
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {{name: c1, labels: {{karpenter.sh/nodepool: default}}}}
spec:
  nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}
  requirements: []
  startupTaints: [{startup_taints}]
status:
  providerID: aws:///us-east-1a/i-1
  nodeName: n1
  conditions: [{{type: Launched, status: 'True'}}, {{type: Registered, status: 'True'}}]
---
apiVersion: v1
kind: Pod
metadata: {{name: a}}
spec: {{containers: [{{name: c, resources: {{requests: {{cpu: 100m}}}}}}]}}
"
    )
}

/// `StateNode.Taints` in pkg/controllers/state/statenode.go: until the node is initialized, its startup taints and the ephemeral
/// taints do not count, whatever their values (`MatchTaint`).
#[test]
fn a_pod_may_land_on_a_node_that_still_has_startup_taints() {
    let startup = "{key: example.com/agent, effect: NoSchedule, value: starting}";
    for release in ["1.0.9", "1.4.1", "1.8.2", "1.14.1"] {
        let found = |labels: &str, taints: &str, startup: &str| {
            places(&managed_node(labels, taints, startup), release).join(", ")
        };
        assert_eq!(found("", startup, startup), "node n1", "{release}");
        // The value of a taint does not matter, its effect does.
        assert_eq!(
            found("", "{key: example.com/agent, effect: NoSchedule}", startup),
            "node n1",
            "{release}"
        );
        assert_eq!(
            found("", "{key: example.com/agent, effect: NoExecute}", startup),
            "new node",
            "{release}"
        );
        // A taint that is no startup taint counts.
        assert_eq!(found("", startup, ""), "new node", "{release}");
        // An initialized node does not become startable again.
        let initialized = ", karpenter.sh/initialized: 'true'";
        assert_eq!(found(initialized, startup, startup), "new node", "{release}");
        let not_ready = "{key: node.kubernetes.io/not-ready, effect: NoSchedule}";
        assert_eq!(found("", not_ready, ""), "node n1", "{release}");
        assert_eq!(found(initialized, not_ready, ""), "new node", "{release}");
    }
    // `not-ready` with NoExecute is ephemeral since 1.7.
    let no_execute = managed_node("", "{key: node.kubernetes.io/not-ready, effect: NoExecute}", "");
    assert_eq!(places(&no_execute, "1.6.0"), ["new node"]);
    assert_eq!(places(&no_execute, "1.7.0"), ["node n1"]);
}

/// `ForPodsWithAntiAffinity` in pkg/controllers/state/cluster.go has every pod with a node; `IgnoredForTopology` in topology.go
/// leaves terminating pods out elsewhere.
#[test]
fn the_anti_affinity_of_a_terminating_pod_still_holds() {
    let text = |deleted: &str, affinity: &str| {
        format!(
            "
apiVersion: v1
kind: Pod
metadata: {{name: old, labels: {{app: a}}{deleted}}}
spec:
  nodeName: n1
  containers: [{{name: c}}]
  affinity: {{podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{{topologyKey: topology.kubernetes.io/zone,
    labelSelector: {{matchLabels: {{app: {affinity}}}}}}}]}}}}
status: {{phase: Running}}
---{}",
            managed_node(", karpenter.sh/initialized: 'true'", "", "")
                .replace("name: a}\nspec", "name: a, labels: {app: b}}\nspec")
        )
    };
    let gone = ", deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30";
    for deleted in ["", gone] {
        assert_eq!(places(&text(deleted, "b"), "1.14.1"), ["new node"]);
        assert_eq!(places(&text(deleted, "c"), "1.14.1"), ["node n1"]);
    }
}

fn reserved(pods: usize, more: &str) -> String {
    let mut text = "
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  amiSelectorTerms: [{alias: al2023@latest}]
  capacityReservationSelectorTerms: [{id: cr-12345678901234567}]
status:
  capacityReservations:
    - {id: cr-12345678901234567, instanceType: m5.large, availabilityZone: us-east-1a, instanceMatchCriteria: targeted,
       ownerID: '111111111111', reservationType: default, state: active}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand, reserved]}
"
    .to_owned();
    for number in 0..pods {
        write!(
            text,
            "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p{number}, labels: {{app: a}}}}\nspec:\n  {more}\n  \
             containers: [{{name: c, resources: {{requests: {{cpu: 1200m}}}}}}]\n"
        )
        .unwrap();
    }
    text
}

const HOST_SPREAD: &str = "topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, \
    whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: a}}}]";

/// The number of new nodes, and how many of them may use the reservation.
fn new_and_reserved(text: &str, release: &str, left: u32) -> (usize, usize) {
    let change = |settings: &mut SimulationSettings| {
        settings.reservation_capacity.insert("cr-12345678901234567".to_owned(), left);
    };
    ask(text, release, change, |result| {
        let reserved = result.claims.iter().filter(|claim| !claim.reservations.is_empty());
        (result.claims.len(), reserved.count())
    })
}

/// `reserveOfferings` in nodeclaim.go at v1.4.1, and `offeringsToReserve` since v1.5.0: once nodes of the round have taken the
/// reservation, pods wait for the next round. A reservation that was used up before does not count.
#[test]
fn a_capacity_reservation_runs_out_within_a_round() {
    for release in ["1.3.0", "1.4.1", "1.5.3", "1.8.2", "1.14.1"] {
        for more in ["terminationGracePeriodSeconds: 30", HOST_SPREAD] {
            for (left, expected) in [(0, (3, 0)), (1, (1, 1)), (2, (2, 2)), (5, (3, 3))] {
                let found = new_and_reserved(&reserved(3, more), release, left);
                assert_eq!(found, expected, "{release}, {left} left, {more}");
            }
        }
    }
}

/// `UpdateDaemonSet` in pkg/controllers/state/cluster.go and `getDaemonSetPods` in provisioner.go, alike at v1.0.0 and v1.14.1.
#[test]
fn a_daemon_set_takes_the_resources_of_its_newest_pod() {
    let set = "
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: d, namespace: default, uid: own}
spec:
  selector: {matchLabels: {app: d}}
  template:
    metadata: {labels: {app: d}}
    spec: {containers: [{name: c, resources: {requests: {cpu: 100m}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: c, resources: {requests: {cpu: '3500m'}}}]}
";
    let pod = |name: &str, created: &str, uid: &str, cpu: &str| {
        format!(
            r"---
apiVersion: v1
kind: Pod
metadata:
  name: {name}
  namespace: default
  creationTimestamp: '{created}'
  ownerReferences: [{{apiVersion: apps/v1, kind: DaemonSet, name: d, uid: {uid}, controller: true}}]
spec: {{nodeName: gone, containers: [{{name: c, resources: {{requests: {{cpu: {cpu}}}}}}}]}}
"
        )
    };
    let older = pod("older", "2026-01-01T00:00:00Z", "own", "50m");
    let newer = pod("newer", "2026-02-01T00:00:00Z", "own", "'1'");
    let other = pod("other", "2026-03-01T00:00:00Z", "gone", "50m");
    for release in ["1.0.0", "1.14.1"] {
        assert_eq!(places(set, release)[0], "new node", "{release}");
        let in_either_order = [[older.as_str(), &newer].concat(), [newer.as_str(), &older].concat()];
        for pods in in_either_order {
            let found = places(&format!("{set}{pods}"), release);
            assert!(found[0].starts_with("unplaced"), "{release}: {found:?}");
        }
        assert_eq!(places(&format!("{set}{other}"), release)[0], "new node", "{release}");
    }
}

/// `GetOverlayPrice` in pkg/providers/instancetype/offering/offering.go of aws/karpenter-provider-aws at v1.14.1
/// (aws/karpenter-provider-aws#9249).
#[test]
fn a_type_without_a_price_has_the_price_of_an_overlay_since_1_14() {
    let pod = "
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: c, resources: {requests: {cpu: '3'}}}]}
";
    let overlay = |requirements: &str, spec: &str| {
        format!(
            r"{POOL}---{pod}---
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {{name: preview}}
spec: {{requirements: [{requirements}], {spec}}}
"
        )
    };
    let named = "{key: node.kubernetes.io/instance-type, operator: In, values: [m5.xlarge]}";
    let both = format!("{named}, {{key: kubernetes.io/arch, operator: In, values: [amd64]}}");
    let prices = |text: &str, release: &str| {
        let change = |settings: &mut SimulationSettings| {
            settings.node_overlays = true;
            settings.prices = Prices::Listed([("m5.large".to_owned(), 0.1)].into());
        };
        ask(text, release, change, |result| {
            result.claims.iter().flat_map(|claim| claim.cheapest.clone()).collect::<Vec<_>>()
        })
    };
    let preview = overlay(named, "price: '0.05'");
    assert_eq!(prices(&preview, "1.13.0"), []);
    assert_eq!(prices(&preview, "1.14.0"), [("m5.xlarge", 0.05)]);
    assert_eq!(prices(&overlay(named, "priceAdjustment: '+1'"), "1.14.0"), []);
    assert_eq!(prices(&overlay(&both, "price: '0.05'"), "1.14.0"), []);
    let refused =
        format!("{preview}status: {{conditions: [{{type: ValidationSucceeded, status: 'False'}}]}}\n");
    assert_eq!(prices(&refused, "1.14.0"), []);
}
