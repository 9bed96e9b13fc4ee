//! Two NodeClaims for the same pods.

use std::collections::BTreeSet;

use cluster::ids::ClusterId;
use foldhash::HashMap;

use super::correlation::{Correlation, each};
use super::draft::{DiagnosisDraft, at_least, duration, times};
use crate::diagnosis::Diagnosis;
use crate::history::WriterId;
use crate::history::{Batch, History, Life, Nomination, Record, gap};
use crate::symptom::Symptom;
use crate::vocabulary::When;
use answers::report::Confidence;

/// The correlation.
pub const CORRELATION: Correlation =
    Correlation { symptom: &SYMPTOM, find: |histories, found| each(histories, found, find) };

static SYMPTOM: Symptom = Symptom {
    name: "double-nodeclaim",
    severity: rule::finding::Severity::Error,
    summary: "two NodeClaims are created for the same pods",
    says: "two NodeClaims were created for the same pods",
    remedy: "compare the zones of the two nodes, and check whether more than one controller is active",
    cause: "\
The provisioner creates a NodeClaim and from then on counts on its node. It creates a second one for the same pods
only if they no longer fit the first:

- *In another zone*: their volume was bound in the meantime, by a StorageClass with `volumeBindingMode: Immediate` or none, in a zone
  other than that of the first node. From 1.7 on such pods wait until the volume is bound (`pod-ignored`).
- *In the same zone*, after the first node had registered: the node has a taint, or lacks a label, that Karpenter did not expect,
  such as the taint of an agent that is not among the `startupTaints`.
- *At the same moment*: two controllers are active, from two releases in two namespaces or without leader election.

It is not a double if the pods are different, or if the first NodeClaim failed or was deleted before.

Certain: some batches within minutes had more places on new nodes than pods, none of their NodeClaims failed, and the
cause is visible. Likely: the cause is not visible, or the counts are missing and the batches name the same pods. From
events alone: a pod was nominated to two NodeClaims, and the scheduler names a conflict with its volume (certain) or a
volume that binds immediately (likely).",
    rules: &["storageclass-immediate", "taint-should-be-startup-taint", "two-controllers"],
    messages: &[],
    when: When::Correlated,
    confidence: Confidence::Certain,
    references: &[
        "pkg/controllers/provisioning/provisioner.go and scheduling/scheduler.go of kubernetes-sigs/karpenter at v1.0.0, v1.2.0, v1.3.0, v1.8.0 and v1.14.0",
        "pkg/controllers/provisioning/scheduling/volumetopology.go of kubernetes-sigs/karpenter at v1.6.4 and v1.7.0",
        "aws/karpenter-provider-aws#7800, kubernetes-sigs/karpenter#2415",
    ],
};

/// Longest time that a NodeClaim waits for its node.
const IN_FLIGHT: i64 = 15 * 60_000;
/// A node that was initialized less than this ago may not have its pods yet.
const JUST_NOW: i64 = 30_000;
/// Number of batches that are compared for a pod.
const MAX_BATCHES: usize = 4;
/// A controller collects pods for at least a second before it decides.
/// Source: `BATCH_IDLE_DURATION`, pkg/operator/options/options.go at v1.0.0 and v1.14.0.
const ONE_BATCH: i64 = 900;

/// Two NodeClaims for the same pods.
struct Double<'h> {
    first: &'h Life,
    second: &'h Life,
    /// The batches' lines about the pods.
    pods: [Option<&'h Record>; 2],
    /// One of the pods.
    pod: &'h str,
    /// Time between the two, if it is known.
    gap: Option<i64>,
    /// Whether the counts leave no other explanation.
    is_proven: bool,
    why: Why,
}

/// Reason for the second NodeClaim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Why {
    /// Two controllers were active.
    Controllers,
    /// The zones differ.
    Zones,
    /// The first node had registered but did not suit the pod.
    Node,
    /// Unknown.
    Unknown,
}

fn find(cluster: ClusterId, history: &History, found: &mut Vec<Diagnosis>) {
    let mut doubles = of_batches(history);
    let known: BTreeSet<_> =
        doubles.iter().flat_map(|double| [&*double.first.name, &*double.second.name]).collect();
    doubles.extend(of_events(history, &known));
    doubles.sort_by_key(|double| (double.why, double.second.born, double.second.name.clone()));
    for group in doubles.chunk_by(|one, other| one.why == other.why) {
        found.extend(drafted(cluster, history, group));
    }
}

/// Compares each batch with earlier batches that named the same pods.
fn of_batches(history: &History) -> Vec<Double<'_>> {
    let mut doubles = Vec::new();
    let interleaved = history.interleaved();
    // The last batches that created NodeClaims and named the pod, the latest first.
    let mut last: HashMap<&str, Vec<&Batch>> = HashMap::default();
    for batch in history.batches.in_time() {
        if batch.claims.is_empty() {
            continue;
        }
        let mut before: Vec<&Batch> =
            batch.pods.iter().filter_map(|pod| last.get(&**pod)).flatten().copied().collect();
        before.sort_by_key(|batch| std::cmp::Reverse(batch.found.as_ref().map(Record::key)));
        before.dedup_by(|one, other| std::ptr::eq(*one, *other));
        // More batches have more pods: the double may show only in few batches or only in many.
        let found =
            (1..=before.len()).find_map(|count| compare(history, &interleaved, before.get(..count)?, batch));
        doubles.extend(found);
        for pod in &batch.pods {
            let batches = last.entry(pod).or_default();
            batches.insert(0, batch);
            batches.truncate(MAX_BATCHES);
        }
    }
    doubles
}

/// Whether some batches, the latest first, and the batch after them had more places on new nodes than pods.
fn compare<'h>(
    history: &'h History,
    interleaved: &BTreeSet<(WriterId, WriterId)>,
    earlier: &[&'h Batch],
    batch: &'h Batch,
) -> Option<Double<'h>> {
    let (when, latest) = (batch.time()?, *earlier.first()?);
    let apart = |earlier: &Batch| when.since(earlier.time()?);
    let lives = |batch: &'h Batch| batch.claims.iter().filter_map(|claim| history.lives.get(claim));
    let ended = |life: &Life| {
        let is_before = |record: Option<&Record>| {
            record.is_some_and(|record| record.time.is_none_or(|time| time <= when))
        };
        is_before(life.launch_failed.as_ref()) || is_before(life.end())
    };
    let counts = |earlier: &Batch| {
        apart(earlier).is_some_and(|apart| (0..=IN_FLIGHT).contains(&apart)) && !earlier.failed
    };
    // A failed NodeClaim returned its pods, and their number is unknown.
    if !earlier.iter().all(|batch| counts(batch) && !lives(batch).any(ended)) {
        return None;
    }
    let settled = |life: &Life| {
        let time = life.initialised.as_ref().and_then(|record| record.time);
        time.and_then(|time| when.since(time)).is_some_and(|since| since > JUST_NOW)
    };
    let first = earlier.iter().rev().flat_map(|batch| lives(batch)).find(|life| !settled(life))?;
    let second = lives(batch).next()?;

    let all = || earlier.iter().copied().chain([batch]);
    let named: BTreeSet<&str> = all().flat_map(|batch| batch.pods.iter().map(|pod| &**pod)).collect();
    let unnamed: u64 = all().map(|batch| batch.total.saturating_sub(batch.pods.len() as u64)).sum();
    let places: Option<u64> = all().map(|batch| batch.on_new).sum();
    let counted = places.map(|places| places > unnamed.saturating_add(named.len() as u64));
    // Without counts: exactly the same pods, all of them named.
    let pod = batch.pods.iter().find(|pod| latest.pods.contains(pod))?;
    let is_same = || {
        unnamed == 0 && latest.pods.iter().all(|pod| batch.pods.contains(pod)) && latest.total == batch.total
    };
    if !counted.unwrap_or_else(is_same) {
        return None;
    }
    Some(Double {
        first,
        second,
        pods: [earlier.last()?.found.as_ref(), batch.found.as_ref()],
        pod,
        gap: gap(first.created.as_ref(), second.created.as_ref()),
        is_proven: counted.is_some() && first.launched.is_some() && second.launched.is_some(),
        why: why(history, first, second, apart(latest)?, (latest.writer, batch.writer), interleaved),
    })
}

fn why(
    history: &History,
    first: &Life,
    second: &Life,
    apart: i64,
    writers: (WriterId, WriterId),
    interleaved: &BTreeSet<(WriterId, WriterId)>,
) -> Why {
    let leases = writers.0 != writers.1 && history.leases.len() > 1;
    if apart < ONE_BATCH || interleaved.contains(&writers) || leases {
        return Why::Controllers;
    }
    let zones_known = !first.zone.is_empty() && !second.zone.is_empty();
    if zones_known && first.zone != second.zone {
        return Why::Zones;
    }
    let registered = first.registered.as_ref().and_then(|record| record.time);
    let made = second.created.as_ref().and_then(|record| record.time);
    let is_after = registered.zip(made).is_some_and(|(registered, made)| registered <= made);
    if is_after { Why::Node } else { Why::Unknown }
}

/// Pods that events nominate to two NodeClaims. Without batches, only their volume can explain it.
fn of_events<'h>(history: &'h History, known: &BTreeSet<&str>) -> Vec<Double<'h>> {
    let mut doubles = Vec::new();
    // Events without the name of the pod may be about several pods.
    for (pod, nominations) in history.nominations.iter().filter(|(pod, _)| !pod.is_empty()) {
        let mut nominations: Vec<&Nomination> = nominations.iter().collect();
        nominations.sort_by_key(|nomination| nomination.record.key());
        let pairs = nominations.windows(2).filter_map(|pair| match pair {
            [one, other] => Some((*one, *other)),
            _ => None,
        });
        for (one, other) in pairs {
            let lives = history.lives.get(&one.claim).zip(history.lives.get(&other.claim));
            let (Some((first, second)), true) = (lives, history.volume_waits.contains_key(pod)) else {
                continue;
            };
            let between = gap(Some(&one.record), Some(&other.record));
            let is_near = between.is_none_or(|between| between.abs() <= IN_FLIGHT);
            let ended = first.launch_failed.is_some() || first.end().is_some();
            if !is_near || ended || known.contains(&*first.name) || known.contains(&*second.name) {
                continue;
            }
            doubles.push(Double {
                first,
                second,
                pods: [Some(&one.record), Some(&other.record)],
                pod,
                gap: between,
                is_proven: false,
                why: Why::Zones,
            });
        }
    }
    doubles
}

fn drafted(cluster: ClusterId, history: &History, doubles: &[Double<'_>]) -> Option<Diagnosis> {
    let shown = doubles.iter().max_by_key(|double| double.is_proven)?;
    let (first, second) = (shown.first, shown.second);
    let volume = doubles.iter().find_map(|double| history.volume_waits.get(double.pod));
    let is_explained = match shown.why {
        Why::Controllers => true,
        Why::Zones => volume.is_some() || !history.immediate.is_empty(),
        Why::Node | Why::Unknown => false,
    };
    // The first node exists, and the volume is in another zone.
    let conflicts = volume.is_some_and(|wait| wait.in_other_zone);
    let confidence = match (shown.is_proven, is_explained) {
        (_, true) if conflicts && shown.why == Why::Zones => Confidence::Certain,
        (true, true) => Confidence::Certain,
        (true, false) | (false, true) => Confidence::Likely,
        (false, false) => Confidence::Possible,
    };
    let place = |life: &Life| match &*life.zone {
        "" => format!("`{}`", life.name),
        zone => format!("`{}` in {zone}", life.name),
    };
    let message = format!(
        "two NodeClaims were created for the same pods{}{}: {}, then {}",
        shown.gap.map(|gap| format!(" within {}", duration(gap))).unwrap_or_default(),
        if doubles.len() == 1 {
            String::new()
        } else {
            format!(", {}{} in all", at_least(history), times(doubles.len() as u64))
        },
        place(first),
        place(second),
    );
    let pod = shown.pod;
    let help = match shown.why {
        Why::Controllers => "two controllers are active at once: keep one release of Karpenter in one namespace, with leader election".to_owned(),
        Why::Zones => format!("the volume of `{pod}` is in another zone than the first node: use a StorageClass with `volumeBindingMode: WaitForFirstConsumer`; from 1.7 on Karpenter waits until such a volume is bound"),
        Why::Node => format!("the first node had registered but does not suit `{pod}`: if an agent removes a taint of the node, list the taint under `startupTaints`, and compare the labels of the node with the labels that the pod requires"),
        Why::Unknown => format!("check with `kubectl describe pod` why `{pod}` does not fit the first node; `launched nodeclaim` shows the zones of both, and two lines `successfully acquired lease` show two controllers"),
    };
    // Names that identify the cause in a manifest.
    let details: Vec<&str> = match shown.why {
        Why::Controllers => vec!["controller"],
        Why::Zones => history.immediate.iter().map(|class| &**class).chain(["volumeBindingMode"]).collect(),
        Why::Node => vec!["taints"],
        Why::Unknown => Vec::new(),
    };
    let quotes = [
        shown.pods[0],
        first.created.as_ref(),
        first.launched.as_ref(),
        first.registered.as_ref().filter(|_| shown.why == Why::Node),
        shown.pods[1],
        second.created.as_ref(),
        second.launched.as_ref(),
        volume.map(|wait| &wait.record),
    ];
    let draft = DiagnosisDraft::new(&SYMPTOM, cluster, confidence, message)
        .help(help)
        .count_of_lives(doubles.len(), history)
        .span(
            doubles.iter().filter_map(|double| double.second.born).min(),
            doubles.iter().filter_map(|double| double.second.born).max(),
        )
        .objects("NodeClaim", doubles.iter().flat_map(|double| [&*double.first.name, &*double.second.name]))
        .objects("Pod", doubles.iter().map(|double| double.pod))
        .details(details)
        .quote(cluster, quotes);
    Some(draft.done())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{found, verdict};
    use super::CORRELATION;

    /// A batch that creates a NodeClaim for one of the pods that it names.
    fn batch(id: &str, time: &str, pods: &str, claim: &str) -> String {
        format!(
            "{time} provisioner: found provisionable pod(s) {{'Pods': '{pods}', 'reconcileID': '{id}'}}\n\
             {time} provisioner: computed new nodeclaim(s) to fit pod(s) {{'nodeclaims': 1, 'pods': 1, 'reconcileID': '{id}'}}\n\
             {time} provisioner: created nodeclaim {{'claim': '{claim}', 'NodePool': {{'name': 'default'}}, 'reconcileID': '{id}'}}\n"
        )
    }

    fn launched(time: &str, claim: &str, zone: &str) -> String {
        format!(
            "{time} nodeclaim.lifecycle: launched nodeclaim {{'claim': '{claim}', 'provider-id': 'aws:///{zone}/i-{claim}', 'zone': '{zone}'}}\n"
        )
    }

    fn storage() -> String {
        [
            batch("r1", "0:01", "db/db-0", "a-1"),
            launched("0:04", "a-1", "eu-west-1a"),
            batch("r2", "0:11", "db/db-0", "a-2"),
            launched("0:14", "a-2", "eu-west-1b"),
        ]
        .concat()
    }

    #[test]
    fn different_zones_point_to_storage() {
        insta::assert_snapshot!(found(&CORRELATION, &storage()), @"
        error likely x1: two NodeClaims were created for the same pods within 10 seconds: `a-1` in eu-west-1a, then `a-2` in eu-west-1b
          help: the volume of `db/db-0` is in another zone than the first node: use a StorageClass with `volumeBindingMode: WaitForFirstConsumer`; from 1.7 on Karpenter waits until such a volume is bound
          objects: NodeClaim/a-1, NodeClaim/a-2, Pod/db-0
          details: volumeBindingMode
          lines: 1, 3, 4, 5, 7, 8
        ");
        let class = r"---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: ebs.csi.aws.com
---
";
        assert_eq!(verdict(&CORRELATION, &format!("{}{class}", storage())), "error certain");
        let event = "0:03 event Pod/db/db-0 FailedScheduling: 0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.\n";
        assert_eq!(verdict(&CORRELATION, &format!("{}{event}", storage())), "error certain");
    }

    #[test]
    fn same_zone_after_registration_points_to_taints() {
        let log = [
            batch("r1", "0:01", "shop/web-1", "a-1"),
            launched("0:04", "a-1", "eu-west-1a"),
            "0:40 nodeclaim.lifecycle: registered nodeclaim {'claim': 'a-1'}\n".to_owned(),
            batch("r2", "0:47", "shop/web-1", "a-2"),
            launched("0:50", "a-2", "eu-west-1a"),
        ];
        insta::assert_snapshot!(found(&CORRELATION, &log.concat()), @"
        error likely x1: two NodeClaims were created for the same pods within 46 seconds: `a-1` in eu-west-1a, then `a-2` in eu-west-1a
          help: the first node had registered but does not suit `shop/web-1`: if an agent removes a taint of the node, list the taint under `startupTaints`, and compare the labels of the node with the labels that the pod requires
          objects: NodeClaim/a-1, NodeClaim/a-2, Pod/web-1
          details: taints
          lines: 1, 3, 4, 5, 6, 8, 9
        ");
    }

    #[test]
    fn simultaneous_decisions_point_to_two_controllers() {
        let log = [
            batch("r1", "0:01.100", "shop/web-1", "a-1"),
            batch("s1", "0:01.600", "shop/web-1", "a-2"),
            launched("0:04", "a-1", "eu-west-1a"),
            launched("0:04", "a-2", "eu-west-1b"),
        ]
        .concat();
        insta::assert_snapshot!(found(&CORRELATION, &log), @"
        error certain x1: two NodeClaims were created for the same pods within 1 second: `a-1` in eu-west-1a, then `a-2` in eu-west-1b
          help: two controllers are active at once: keep one release of Karpenter in one namespace, with leader election
          objects: NodeClaim/a-1, NodeClaim/a-2, Pod/web-1
          details: controller
          lines: 1, 3, 4, 6, 7, 8
        ");
        let of = |line: &str| {
            if line.contains("a-2") || line.contains("s1") { "@karpenter-2:" } else { "@karpenter-1:" }
        };
        let prefix = |line: &str| line.replacen(':', ";", 1).replacen(':', of(line), 1).replacen(';', ":", 1);
        let prefixed = log.replace("0:01.600", "0:03").lines().map(prefix).collect::<Vec<_>>().join("\n");
        assert_eq!(verdict(&CORRELATION, &prefixed), "error certain");
    }

    #[test]
    fn ignores_nodeclaims_for_other_pods() {
        let others =
            storage().replacen("'db/db-0', 'reconcileID': 'r2'", "'db/db-1', 'reconcileID': 'r2'", 1);
        assert_eq!(verdict(&CORRELATION, &others), "");
        // The first pod is still listed while it waits; the new NodeClaim is for the second pod.
        let both = storage().replacen(
            "'db/db-0', 'reconcileID': 'r2'",
            "'db/db-0, db/db-1', 'reconcileID': 'r2'",
            1,
        );
        assert_eq!(verdict(&CORRELATION, &both), "");
        // With two pods for the new NodeClaim, one pod has two.
        let two = both.replacen("'pods': 1, 'reconcileID': 'r2'", "'pods': 2, 'reconcileID': 'r2'", 1);
        assert_eq!(verdict(&CORRELATION, &two), "error likely");
        // A pod that the first batch could not place gets its node in the second batch.
        let left = storage().replace("'db/db-0', ", "'db/db-0, db/db-1', ");
        assert_eq!(verdict(&CORRELATION, &left), "");
    }

    #[test]
    fn compares_three_batches() {
        // The second NodeClaim is for the second pod, the third for one of the two again.
        let log = [
            batch("r1", "0:01", "db/db-0", "a-1"),
            batch("r2", "0:11", "db/db-0, db/db-1", "a-2"),
            batch("r3", "0:21", "db/db-0, db/db-1", "a-3"),
            launched("0:24", "a-1", "eu-west-1a"),
            launched("0:24", "a-3", "eu-west-1b"),
        ];
        assert_eq!(verdict(&CORRELATION, &log.concat()), "error likely");
    }

    #[test]
    fn ignores_retries() {
        for (time, line) in [
            (
                "0:06",
                "ERROR nodeclaim.lifecycle: failed launching nodeclaim {'claim': 'a-1', 'error': 'insufficient capacity'}",
            ),
            ("0:06", "nodeclaim.lifecycle: deleted nodeclaim {'claim': 'a-1'}"),
            ("0:06", "nodeclaim.lifecycle: initialized nodeclaim {'claim': 'a-1'}"),
        ] {
            let log = storage().replace("0:11", "1:11").replace("0:14", "1:14");
            assert_eq!(verdict(&CORRELATION, &format!("{log}{time} {line}\n")), "", "{line}");
        }
        let late = storage().replace("0:11", "16:11").replace("0:14", "16:14");
        assert_eq!(verdict(&CORRELATION, &late), "");
    }

    #[test]
    fn events_suffice_with_a_volume_conflict() {
        let nominated = "\
0:01 event Pod/db/db-0 Nominated: Pod should schedule on: nodeclaim/a-1
0:11 event Pod/db/db-0 Nominated: Pod should schedule on: nodeclaim/a-2
0:01 condition NodeClaim/a-1 Launched=True Launched
0:11 condition NodeClaim/a-2 Launched=True Launched
";
        assert_eq!(verdict(&CORRELATION, nominated), "");
        let volume = "0:30 event Pod/db/db-0 FailedScheduling: 0/4 nodes are available: 1 node(s) had volume node affinity conflict.\n";
        insta::assert_snapshot!(found(&CORRELATION, &format!("{nominated}{volume}")), @"
        error certain x1: two NodeClaims were created for the same pods within 10 seconds: `a-1`, then `a-2`
          help: the volume of `db/db-0` is in another zone than the first node: use a StorageClass with `volumeBindingMode: WaitForFirstConsumer`; from 1.7 on Karpenter waits until such a volume is bound
          objects: NodeClaim/a-1, NodeClaim/a-2, Pod/db-0
          details: volumeBindingMode
          lines: 1, 3, 2, 4, 5
        ");
        let failed = "0:05 event NodeClaim/a-1 InsufficientCapacityError: NodeClaim a-1 event: insufficient capacity\n";
        assert_eq!(verdict(&CORRELATION, &format!("{nominated}{volume}{failed}")), "");
    }

    #[test]
    fn orders_events_by_age() {
        let events = "\
118s event Pod/db/db-0 Nominated: Pod should schedule on: nodeclaim/a-2
2m8s event Pod/db/db-0 Nominated: Pod should schedule on: nodeclaim/a-1
60s event Pod/db/db-0 FailedScheduling: 0/6 nodes are available: 1 node(s) had volume node affinity conflict.
";
        let all = found(&CORRELATION, events);
        assert!(
            all.contains("within 10 seconds: `a-1`, then `a-2`") && all.contains("lines: 2, 1, 3"),
            "{all}"
        );
        // Hours apart.
        assert_eq!(verdict(&CORRELATION, &events.replace("2m8s", "5h")), "");
    }
}
