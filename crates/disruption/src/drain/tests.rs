use karpenter::release::Release;
use manifest::limits::Limits;
use manifest::{Document, File};
use objects::object::Object;
use values::duration::Duration;
use values::timestamp::Timestamp;

use super::{DrainEstimate, DrainReason, estimate};
use crate::cluster::ClusterState;
use crate::settings::DisruptionSettings;

/// A node that was created at midnight and expires after a day.
const NODE: &str = "
{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {karpenter.sh/nodepool: default, karpenter.sh/initialized: 'true'}}, spec: {providerID: 'aws:///a/i-1'}}
---
{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: c1, creationTimestamp: '2026-03-11T00:00:00Z'},
 spec: {expireAfter: 24h}, status: {providerID: 'aws:///a/i-1', nodeName: n1}}
";

const LIMITED: &str = "
{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {karpenter.sh/nodepool: default, karpenter.sh/initialized: 'true'}}, spec: {providerID: 'aws:///a/i-1'}}
---
{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: c1},
 spec: {expireAfter: 24h, terminationGracePeriod: 1h}, status: {providerID: 'aws:///a/i-1', nodeName: n1}}
";

const ZERO: &str = "---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: p}, spec: {selector: {matchLabels: {app: a}}, maxUnavailable: 0}}
";

fn pod(name: &str, metadata: &str, spec: &str) -> String {
    format!(
        "---\n{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, labels: {{app: {name}}}{metadata}}}, \
         spec: {{nodeName: n1, containers: [{{name: c, image: i}}]{spec}}}, status: {{phase: Running, startTime: '2026-03-11T10:00:00Z'}}}}\n"
    )
}

fn estimated<T>(text: &str, look: impl FnOnce(&DrainEstimate<'_>) -> T) -> T {
    let file = File::read("-", text, &Limits::DEFAULT);
    let trees = file.documents.iter().map(|document| match document {
        Document::Read(tree) => tree,
        other => panic!("{other:?}"),
    });
    let objects: Vec<Object<'_>> = trees.flat_map(Object::all).collect();
    let now = Timestamp::parse("2026-03-11T10:30:00Z").unwrap();
    let release = Release::parse("1.14").unwrap();
    let cluster = ClusterState::of(&objects, &DisruptionSettings::new(release, now));
    let estimates = estimate(&cluster, &objects, now, release);
    let [(name, estimate)] = estimates.as_slice() else { panic!("{estimates:?}") };
    assert_eq!(*name, "n1");
    look(estimate)
}

/// The longest time in seconds, whether it never ends, and the kinds of the reasons.
fn told(text: &str) -> (Option<i64>, bool, Vec<String>) {
    estimated(text, |estimate| {
        let kinds = estimate.because.iter().map(|reason| match reason {
            DrainReason::Protected { pod, until, .. } => {
                format!(
                    "protected {} {}",
                    pod.name(),
                    until.map(|until| until.to_string()).unwrap_or_default()
                )
            }
            DrainReason::BudgetAllowsNone(pod, budget) => format!("none {} {}", pod.name(), budget.name()),
            DrainReason::BudgetAllowsNoneNow(pod, budget) => format!("now {} {}", pod.name(), budget.name()),
            DrainReason::SeveralBudgets(pod, budgets) => format!("several {} {}", pod.name(), budgets.len()),
            DrainReason::Volumes(names) => format!("volumes {}", names.join(",")),
            DrainReason::Expires(time) => format!("expires {time}"),
            DrainReason::GracePeriod(limit) => format!("limit {limit}"),
        });
        (estimate.longest.map(Duration::seconds), estimate.never, kinds.collect())
    })
}

#[test]
fn an_empty_node_takes_five_seconds() {
    assert_eq!(told(NODE), (Some(5), false, vec![]));
}

#[test]
fn the_longest_grace_period_of_each_tier_counts() {
    let plain = pod("a", "", ", terminationGracePeriodSeconds: 60") + &pod("b", "", "");
    assert_eq!(told(&format!("{NODE}{plain}")), (Some(60), false, vec![]));
    let owner = ", ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: ds}]";
    let daemon = pod("ds", owner, ", terminationGracePeriodSeconds: 20");
    assert_eq!(told(&format!("{NODE}{plain}{daemon}")), (Some(80), false, vec![]));
    let critical = pod("c", "", ", priorityClassName: system-cluster-critical");
    assert_eq!(told(&format!("{NODE}{plain}{critical}")), (Some(90), false, vec![]));
}

#[test]
fn a_pod_that_nothing_evicts_never_ends_and_two_nodes_are_paid() {
    let expires = "expires 2026-03-12T00:00:00Z".to_owned();
    let protected = pod("a", ", annotations: {karpenter.sh/do-not-disrupt: 'true'}", "");
    assert_eq!(
        told(&format!("{NODE}{protected}")),
        (None, true, vec!["protected a ".to_owned(), expires.clone()])
    );
    let budget = pod("a", "", "") + ZERO;
    assert_eq!(told(&format!("{NODE}{budget}")), (None, true, vec!["none a p".to_owned(), expires.clone()]));
    let several =
        budget + &ZERO.replace("name: p", "name: q").replace("maxUnavailable: 0", "maxUnavailable: 1");
    assert_eq!(told(&format!("{NODE}{several}")), (None, true, vec!["several a 2".to_owned(), expires]));
}

#[test]
fn a_job_under_protection_can_end_by_itself() {
    let job = pod("a", ", annotations: {karpenter.sh/do-not-disrupt: 'true'}", ", restartPolicy: Never");
    assert_eq!(told(&format!("{NODE}{job}")), (None, false, vec!["protected a ".to_owned()]));
}

#[test]
fn the_grace_period_of_the_claim_limits_everything() {
    let protected = pod("a", ", annotations: {karpenter.sh/do-not-disrupt: 'true'}", "") + ZERO;
    assert_eq!(
        told(&format!("{LIMITED}{protected}")),
        (Some(3600), false, vec!["protected a ".to_owned(), "limit 1h0m0s".to_owned()])
    );
    let slow = pod("a", "", ", terminationGracePeriodSeconds: 7200");
    assert_eq!(told(&format!("{LIMITED}{slow}")), (Some(3600), false, vec!["limit 1h0m0s".to_owned()]));
    assert_eq!(told(&format!("{LIMITED}{}", pod("a", "", ""))), (Some(30), false, vec![]));
    let going = LIMITED.replace(
        "name: c1",
        "name: c1, annotations: {karpenter.sh/nodeclaim-termination-timestamp: '2026-03-11T10:40:00Z'}",
    );
    assert_eq!(told(&format!("{going}{protected}")).0, Some(600));
}

#[test]
fn protection_for_a_time_delays_the_drain() {
    // Started at 10:00, so half an hour is left.
    let protected = pod("a", ", annotations: {karpenter.sh/do-not-disrupt: 1h}", "");
    assert_eq!(
        told(&format!("{NODE}{protected}")),
        (Some(1830), false, vec!["protected a 2026-03-11T11:00:00Z".to_owned()])
    );
    let over = pod("a", ", annotations: {karpenter.sh/do-not-disrupt: 30m}", "");
    assert_eq!(told(&format!("{NODE}{over}")), (Some(30), false, vec![]));
}

#[test]
fn a_budget_that_needs_every_pod_never_allows_an_eviction() {
    let with = |status: &str| {
        let budget = ZERO.replace("maxUnavailable: 0}", &format!("minAvailable: 2}}, status: {status}"));
        told(&format!("{NODE}{}{budget}", pod("a", "", ""))).2
    };
    let needs_all = "{disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 2, expectedPods: 2}";
    assert_eq!(with(needs_all).first().map(String::as_str), Some("none a p"));
    let degraded = "{disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 2, expectedPods: 3}";
    assert_eq!(with(degraded), ["now a p"]);
    let fine = "{disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2, expectedPods: 3}";
    assert_eq!(with(fine), Vec::<String>::new());
}

#[test]
fn attached_volumes_have_no_time_limit() {
    let attachment = "---\n{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {name: va}, \
                      spec: {nodeName: n1, source: {persistentVolumeName: pv}}}\n";
    assert_eq!(told(&format!("{NODE}{attachment}")), (None, false, vec!["volumes va".to_owned()]));
    assert_eq!(told(&format!("{LIMITED}{attachment}")).0, Some(3600));
    // A pod that the drain leaves alone keeps its volume.
    let claim = "---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {volumeName: pv}}\n";
    let spec =
        ", tolerations: [{operator: Exists}], volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]";
    let tolerant = pod("a", "", spec);
    assert_eq!(told(&format!("{NODE}{attachment}{claim}{tolerant}")), (Some(5), false, vec![]));
}
