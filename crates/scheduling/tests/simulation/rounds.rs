//! Rounds of the provisioner until nothing changes.

use karpwarden_scheduling::simulation::SimulatedClaim;

use crate::world::{POOL, all_places, ask};

/// A workload with one pod on each host.
fn web(replicas: usize, cpu: &str) -> String {
    format!(
        "---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      containers: [{{name: c, image: i, resources: {{requests: {{cpu: {cpu}}}}}}}]
      topologySpreadConstraints:
        - {{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, labelSelector: {{matchLabels: {{app: web}}}}}}
"
    )
}

/// The round of each node and of each pod.
fn rounds(text: &str, most: Option<usize>) -> (Vec<usize>, Vec<Option<usize>>) {
    ask(
        text,
        |settings| settings.rounds = most,
        |result| {
            let nodes = result.claims.iter().map(|claim| claim.round).collect();
            (nodes, result.pods.iter().map(|pod| pod.round).collect())
        },
    )
}

#[test]
fn a_later_round_uses_what_the_cheapest_types_leave_of_the_limits() {
    // A node may be an m5.xlarge with 4 vCPUs, so that one round opens two nodes under a limit of 9. As m5.large, four nodes use 8.
    let text = POOL.replace("limits: {}", "limits: {cpu: 9}") + &web(5, "1900m");
    assert_eq!(rounds(&text, Some(1)).0, [1, 1]);
    let (nodes, pods) = rounds(&text, None);
    assert_eq!(nodes, [1, 1, 2, 3]);
    assert_eq!(pods, [Some(1), Some(1), Some(2), Some(3), None]);
    assert_eq!(rounds(&text, Some(2)).0, [1, 1, 2]);
    let unlimited = POOL.to_owned() + &web(4, "1900m");
    assert_eq!(rounds(&unlimited, None).0, [1, 1, 1, 1]);
}

#[test]
fn kube_scheduler_binds_pods_to_the_nodes_of_an_earlier_round() {
    // Karpenter puts one pod on each new host. When all hosts have one, kube-scheduler may put a second one on each.
    let text = POOL.replace("limits: {}", "limits: {cpu: 5}") + &web(3, "900m");
    let (nodes, pods) = rounds(&text, None);
    assert_eq!(nodes, [1, 2]);
    assert_eq!(pods, [Some(1), Some(2), Some(2)]);
}

#[test]
fn rounds_end_where_the_limits_are_used_up() {
    let text = POOL.replace("limits: {}", "limits: {cpu: 3}") + &web(2, "1900m");
    assert_eq!(ask(&text, |_| {}, all_places), ["web-0: new node", "web-1: unplaced"]);
    assert_eq!(rounds(&text, None).1, [Some(1), None]);
}

#[test]
fn a_reservation_that_is_used_up_is_not_offered_again() {
    let text = POOL
        .replace("values: [on-demand]", "values: [on-demand, reserved]")
        .replace(
            "spec: {amiSelectorTerms: [{alias: al2023@latest}]}",
            "spec: {amiSelectorTerms: [{alias: al2023@latest}]}
status: {capacityReservations: [{id: cr-1, instanceType: m5.large, availabilityZone: us-east-1a, reservationType: default}]}",
        )
        + &web(2, "1900m");
    let capacity = ask(
        &text,
        |settings| {
            settings.reservation_capacity.insert("cr-1".to_owned(), 1);
        },
        |result| {
            let types = result.claims.iter().map(|claim| (claim.round, claim.capacity_types.join(" ")));
            types.collect::<Vec<_>>()
        },
    );
    assert_eq!(capacity, [(1, "reserved".to_owned()), (2, "on-demand".to_owned())]);
}

#[test]
fn requests_of_a_node_include_the_pods_of_later_rounds() {
    let text = POOL.replace("limits: {}", "limits: {cpu: 5}") + &web(2, "900m");
    let cpu = |claim: &SimulatedClaim<'_>| {
        let cpu = claim.requests.iter().find(|(name, _)| *name == "cpu").map(|(_, amount)| amount.milli());
        (claim.pods.len(), cpu)
    };
    let nodes: Vec<_> = ask(&text, |_| {}, |result| result.claims.iter().map(cpu).collect());
    assert_eq!(nodes, [(2, Some(1800))]);
}
