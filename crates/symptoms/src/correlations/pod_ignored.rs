//! A pod that the provisioner skips.

use std::cell::LazyCell;
use std::collections::BTreeMap;

use super::correlation::{Correlation, each};
use super::draft::{DiagnosisDraft, duration, names};
use crate::diagnosis::Diagnosis;
use crate::entry::Time;
use crate::history::{History, IgnoreReason, Ignored, SkippedPeriod};
use crate::symptom::Symptom;
use crate::vocabulary::When;
use answers::report::Confidence;
use cluster::ids::ClusterId;
use karpenter::labels;

/// The correlation.
pub const CORRELATION: Correlation =
    Correlation { symptom: &SYMPTOM, find: |histories, found| each(histories, found, find) };

static SYMPTOM: Symptom = Symptom {
    name: "pod-ignored",
    severity: rule::finding::Severity::Warning,
    summary: "the provisioner skips a pod, and logs it only at DEBUG",
    says: "the provisioner skips a pod: {its reason}",
    remedy: "correct what the controller names in the pod or its volume claims; it checks the pod again every few seconds",
    cause: "\
Before it looks for nodes, the provisioner skips pods that it cannot schedule: pods with a restricted label in a node
selector or a required node affinity (up to 1.4 also a preferred one), with `matchFields`, or with a volume claim that
does not exist, has no StorageClass, or should bind immediately and is not bound. Such a pod waits as long as that
does not change, and Karpenter creates no node for it.

The log reports it only at the level `DEBUG`, as `ignoring pod`; from 1.7 on an event `FailedScheduling` of the pod
reports it too.

Certain for reasons that do not pass by themselves. Reasons about volumes pass when the volume is bound: they are
likely as long as the input does not show that they passed, which is the case if the pod was scheduled later, or if the
log goes on for a minute without repeating them. If they passed, they are reported only if the pod was skipped for ten
minutes or longer without a pause: a volume that is bound in time delays a pod by a few minutes at most. Certain then if
the log shows it, likely if only events show it. A pod that opts out of Karpenter's nodes is skipped on purpose.

The events in `kubectl describe` may lack the name of the pod. They are likely.",
    rules: &[
        "pod-restricted-label",
        "hostname-node-affinity",
        "storageclass-immediate",
        "pvc-unprovisionable",
        "pod-no-matching-pool",
    ],
    messages: &[],
    when: When::Correlated,
    confidence: Confidence::Certain,
    references: &[
        "pkg/controllers/provisioning/provisioner.go of kubernetes-sigs/karpenter at v1.0.0, v1.6.4, v1.7.0, v1.9.0, v1.10.0 and v1.14.0",
        "pkg/controllers/provisioning/scheduling/volumetopology.go of kubernetes-sigs/karpenter at v1.6.4, v1.7.0 and v1.14.0",
        "kubernetes-sigs/karpenter#2415",
    ],
};

/// A log that continues for so long without the message shows that the cause has passed: Karpenter retries every ten seconds.
const PASSED: i64 = 60_000;
/// The same for events, which Karpenter repeats every five minutes: pkg/controllers/provisioning/scheduling/events.go.
const PASSED_EVENTS: i64 = 6 * 60_000;

/// Shortest time of a skip that is reported although it has ended. The controller checks a pending pod every ten seconds and
/// publishes its event every five minutes, so that the pod was skipped about sixty times, or had three events: `RequeueAfter` in pkg/controllers/provisioning/controller.go and `DedupeTimeout` in
/// pkg/controllers/provisioning/scheduling/events.go at v1.0.0 and v1.14.0. Waits of a few minutes are ordinary: a volume is
/// created, or a claim follows its pod. The other diagnoses of pods wait for ten minutes too.
const LONG: i64 = 10 * 60_000;

/// Text of a diagnosis for one reason.
struct Explanation {
    reason: IgnoreReason,
    /// The explanation; `{}` is the label.
    is: &'static str,
    /// The remedy.
    help: &'static str,
    /// Whether the reason may pass by itself.
    passes: bool,
}

/// The explanations, in the order in which they are reported.
const EXPLANATIONS: &[Explanation] = &[
    Explanation {
        reason: IgnoreReason::ImmediateBinding,
        is: "its volume claim is not bound, and its StorageClass binds immediately, so that Karpenter waits for the zone",
        help: "use a StorageClass with `volumeBindingMode: WaitForFirstConsumer`, and check why the volume is not provisioned (`kubectl describe pvc`)",
        passes: true,
    },
    Explanation {
        reason: IgnoreReason::HostName,
        is: "it requires the host name of a node, which no new node can have",
        help: "remove `kubernetes.io/hostname` from the node selector and node affinity; to spread pods over nodes, use a topology spread constraint",
        passes: false,
    },
    Explanation {
        reason: IgnoreReason::RestrictedLabel,
        is: "it requires the restricted label {}",
        help: "use a well-known label, or your own label that a NodePool sets; from 1.9 on labels of `kubernetes.io` and `k8s.io` are allowed if a NodePool sets them",
        passes: false,
    },
    Explanation {
        reason: IgnoreReason::InternalLabel,
        is: "it requires the restricted label {}",
        help: "use a well-known label, or your own label that a NodePool sets",
        passes: false,
    },
    Explanation {
        reason: IgnoreReason::MatchFields,
        is: "its node affinity has `matchFields`, which Karpenter does not support",
        help: "write the terms of the node affinity with `matchExpressions`",
        passes: false,
    },
    Explanation {
        reason: IgnoreReason::NoStorageClass,
        is: "its volume claim is not bound and names no StorageClass",
        help: "set `storageClassName`, mark one StorageClass as the default, or bind the claim to a volume",
        passes: true,
    },
    Explanation {
        reason: IgnoreReason::StorageClassMissing,
        is: "the StorageClass of its volume claim does not exist",
        help: "create the StorageClass, or recreate the claim with an existing one: the field is immutable",
        passes: true,
    },
    Explanation {
        reason: IgnoreReason::ClaimDeleted,
        is: "its volume claim is being deleted",
        help: "wait for the deletion, or delete the pods that use the claim: its finalizer waits for them",
        passes: true,
    },
    Explanation {
        reason: IgnoreReason::VolumeMissing,
        is: "its volume claim is bound to a volume that does not exist",
        help: "delete the claim and restore the volume from a backup",
        passes: true,
    },
    Explanation {
        reason: IgnoreReason::VolumeNotReady,
        is: "its volume claim or volume is missing or not ready",
        help: "run `kubectl describe pvc` for the claim that the controller names",
        passes: true,
    },
    Explanation {
        reason: IgnoreReason::ClaimNotReady,
        is: "its volume claim is missing or not ready",
        help: "run `kubectl describe pvc` for the claim that the controller names",
        passes: true,
    },
];

/// The restricted label in `label a/b is restricted; …`, `using label a/b is not allowed …`, or among the fields in
/// brackets, `label is restricted; … (label=a/b, …)`.
fn label(words: &str) -> Option<&str> {
    let named = || words.split_once("label=").map(|(_, rest)| rest);
    let spoken = || words.split_once("label ").map(|(_, rest)| rest).filter(|rest| !rest.starts_with("is "));
    let rest = spoken().or_else(named)?;
    let end = rest.find([' ', ',', ')', ';']).unwrap_or(rest.len());
    rest.get(..end).map(|label| label.trim_matches('"')).filter(|label| !label.is_empty())
}

fn find(cluster: ClusterId, history: &History, found: &mut Vec<Diagnosis>) {
    let taken = LazyCell::new(|| taken(history));
    let mut groups: BTreeMap<(usize, &str), Vec<&Ignored>> = BTreeMap::new();
    let mut ended: BTreeMap<(usize, &str), Vec<EndedSkip<'_>>> = BTreeMap::new();
    for pod in history.ignored.all() {
        // The pod is meant for nodes that Karpenter does not manage.
        if pod.reason == Some(IgnoreReason::OptedOut) {
            continue;
        }
        let known = EXPLANATIONS.iter().enumerate().find(|(_, one)| Some(one.reason) == pod.reason);
        // Each unknown reason is a group.
        let (rank, detail) = match known {
            Some((rank, one)) => (rank, label(&pod.words).filter(|_| !one.passes)),
            None => (EXPLANATIONS.len(), Some(&*pod.words)),
        };
        let group = (rank, detail.unwrap_or_default());
        if known.is_none_or(|(_, one)| one.passes) && has_passed(history, &taken, pod) {
            if let Some(skip) = EndedSkip::of(pod, taken.get(&*pod.pod).copied()) {
                ended.entry(group).or_default().push(skip);
            }
            continue;
        }
        groups.entry(group).or_default().push(pod);
    }
    for ((rank, detail), mut pods) in groups {
        pods.sort_by_key(|pod| pod.first.key());
        found.push(drafted(cluster, history, EXPLANATIONS.get(rank), detail, &pods));
    }
    for ((rank, words), skips) in ended {
        found.push(drafted_ended(cluster, history, EXPLANATIONS.get(rank), words, &skips));
    }
}

/// A pod that was skipped for a long time, and is no longer skipped.
struct EndedSkip<'h> {
    pod: &'h Ignored,
    period: SkippedPeriod,
    /// The time at which the pod was scheduled, or else of the last message.
    until: Time,
}

impl<'h> EndedSkip<'h> {
    /// `None` if the pod waited for a few minutes only.
    fn of(pod: &'h Ignored, taken: Option<Time>) -> Option<Self> {
        let period = pod.longest().filter(|period| period.length() >= LONG)?;
        // The pod may have been scheduled after a later period.
        let is_end = |taken: &Time| taken.since(period.to).is_some_and(|since| (0..=LONG).contains(&since));
        Some(Self { pod, period, until: taken.filter(is_end).unwrap_or(period.to) })
    }

    fn length(&self) -> i64 {
        self.until.since(self.period.from).unwrap_or_default()
    }
}

/// The diagnosis of pods that were skipped for a long time, and are no longer skipped.
fn drafted_ended(
    cluster: ClusterId,
    history: &History,
    reason: Option<&Explanation>,
    words: &str,
    skips: &[EndedSkip<'_>],
) -> Diagnosis {
    let why = match reason {
        Some(reason) => format!("the provisioner found that {}", reason.is),
        None => format!("the provisioner logged `{words}`"),
    };
    let most = duration(skips.iter().map(EndedSkip::length).max().unwrap_or_default());
    let until = skips.iter().map(|skip| skip.until).max().map(|time| time.to_string()).unwrap_or_default();
    let message = match skips {
        [one] if one.pod.pod.is_empty() => format!("a pod was skipped for {most}, until {until}: {why}"),
        [one] => format!("the pod `{}` was skipped for {most}, until {until}: {why}", one.pod.pod),
        _ => {
            let named = names(skips.iter().map(|skip| &*skip.pod.pod).filter(|name| !name.is_empty()));
            format!("{} pods, {named}, were skipped for up to {most}, until {until}: {why}", skips.len())
        }
    };
    let is_logged = skips.iter().all(|skip| skip.pod.logged);
    let confidence = if is_logged { Confidence::Certain } else { Confidence::Likely };
    let pods = || skips.iter().map(|skip| skip.pod);
    DiagnosisDraft::new(&SYMPTOM, cluster, confidence, message)
        .help(reason.map_or(SYMPTOM.remedy, |reason| reason.help).to_owned())
        .count(pods().map(|pod| pod.count).sum())
        .lower_bound(history.ignored.more > 0)
        .span(pods().filter_map(|pod| pod.first.time).min(), pods().filter_map(|pod| pod.last.time).max())
        .objects("Pod", pods().map(|pod| &*pod.pod))
        .details(details(history, reason, words))
        .quote(cluster, pods().take(3).flat_map(|pod| [Some(&pod.first), Some(&pod.last)]))
        .done()
}

fn drafted(
    cluster: ClusterId,
    history: &History,
    reason: Option<&Explanation>,
    detail: &str,
    pods: &[&Ignored],
) -> Diagnosis {
    let is = match reason {
        Some(reason) => reason.is.replace("{}", &format!("`{detail}`")),
        None => format!("`{detail}`"),
    };
    let who = match pods {
        [one] if one.pod.is_empty() => "the provisioner skips a pod".to_owned(),
        [one] => format!("the provisioner skips the pod `{}`", one.pod),
        _ => {
            let named = names(pods.iter().map(|pod| &*pod.pod).filter(|name| !name.is_empty()));
            format!("the provisioner skips {} pods, {named}", pods.len())
        }
    };
    let mut help = reason.map_or(SYMPTOM.remedy, |reason| reason.help).to_owned();
    if let Some(meant) =
        labels::likely_label(detail).filter(|_| reason.is_some_and(|reason| reason.is.contains("{}")))
    {
        help = format!("{}; {help}", meant.help());
    }
    let is_named = pods.iter().any(|pod| !pod.pod.is_empty());
    let sure = reason.is_some_and(|reason| !reason.passes) && is_named;
    let confidence = if sure { Confidence::Certain } else { Confidence::Likely };
    let last = pods.iter().max_by_key(|pod| pod.last.key());
    let first = pods.iter().take(3).map(|pod| Some(&pod.first));
    DiagnosisDraft::new(&SYMPTOM, cluster, confidence, format!("{who}: {is}"))
        .help(help)
        .count(pods.iter().map(|pod| pod.count).sum())
        .lower_bound(history.ignored.more > 0)
        .span(
            pods.iter().filter_map(|pod| pod.first.time).min(),
            pods.iter().filter_map(|pod| pod.last.time).max(),
        )
        .objects("Pod", pods.iter().map(|pod| &*pod.pod))
        .details(details(history, reason, detail))
        .quote(cluster, first)
        .quote(cluster, [last.map(|pod| &pod.last)])
        .done()
}

/// Names that identify the cause in a manifest: the label, or the StorageClass and its wrong field.
fn details<'h>(history: &'h History, reason: Option<&Explanation>, detail: &'h str) -> Vec<&'h str> {
    match reason {
        Some(reason) if !reason.passes => vec![detail],
        Some(Explanation { reason: IgnoreReason::ImmediateBinding, .. }) => {
            history.immediate.iter().map(|class| &**class).chain(["volumeBindingMode"]).collect()
        }
        _ => Vec::new(),
    }
}

/// The last time at which each pod was scheduled, if the input shows it.
fn taken(history: &History) -> BTreeMap<&str, Time> {
    let batches = history.batches.in_time();
    let in_batches = batches.iter().flat_map(|batch| batch.pods.iter().map(|pod| (&**pod, batch.time())));
    let nominations = history.nominations.iter();
    let nominated = nominations.flat_map(|(pod, all)| all.iter().map(|one| (&**pod, one.record.time)));
    let mut taken: BTreeMap<&str, Time> = BTreeMap::new();
    for (pod, time) in in_batches.chain(nominated) {
        let Some(time) = time else { continue };
        let latest = taken.entry(pod).or_insert(time);
        *latest = time.max(*latest);
    }
    taken
}

/// Whether a pod was scheduled after it was skipped, or was not skipped again while the log went on.
fn has_passed(history: &History, taken: &BTreeMap<&str, Time>, pod: &Ignored) -> bool {
    let is_after = |taken: &Time| {
        let since = pod.last.time.and_then(|last| taken.since(last));
        since.is_none_or(|since| since >= 0)
    };
    let is_taken = taken.get(&*pod.pod).is_some_and(is_after);
    let passed = if pod.logged { PASSED } else { PASSED_EVENTS };
    let quiet = history.since(pod.last.time).is_some_and(|since| since > passed);
    is_taken || quiet
}

#[cfg(test)]
mod tests {
    use super::super::testing::{found, verdict};
    use super::{CORRELATION, label};

    #[test]
    fn names_the_restricted_label_in_every_wording() {
        let log = "\
0:05 DEBUG provisioner: ignoring pod, label node-role.kubernetes.io/spot is restricted; specify a well known label: [karpenter.sh/capacity-type], or a custom label that does not use a restricted domain: [kubernetes.io] {'Pod': {'namespace': 'shop', 'name': 'web-1'}}
0:15 DEBUG provisioner: ignoring pod, label node-role.kubernetes.io/spot is restricted; specify a well known label: [karpenter.sh/capacity-type], or a custom label that does not use a restricted domain: [kubernetes.io] {'Pod': {'namespace': 'shop', 'name': 'web-1'}}
0:15 DEBUG provisioner: ignoring pod, label node-role.kubernetes.io/spot is restricted; specify a well known label: [karpenter.sh/capacity-type], or a custom label that does not use a restricted domain: [kubernetes.io] {'Pod': {'namespace': 'shop', 'name': 'web-2'}}
9:00 provisioner: found provisionable pod(s) {'Pods': 'shop/other'}
";
        insta::assert_snapshot!(found(&CORRELATION, log), @"
        warning certain x3: the provisioner skips 2 pods, `shop/web-1`, `shop/web-2`: it requires the restricted label `node-role.kubernetes.io/spot`
          help: use a well-known label, or your own label that a NodePool sets; from 1.9 on labels of `kubernetes.io` and `k8s.io` are allowed if a NodePool sets them
          objects: Pod/web-1, Pod/web-2
          details: node-role.kubernetes.io/spot
          lines: 1, 3
        ");
        for (words, expected) in [
            ("label a.b/c is restricted; specify a well known label: [x]", "a.b/c"),
            (
                "label is restricted; specify a well known label or a custom label that does not use a restricted domain (label=a.b/c, restricted-labels=[x])",
                "a.b/c",
            ),
            (
                "using label a.b/c is not allowed as it might interfere with the internal provisioning logic; specify a well known label: [x]",
                "a.b/c",
            ),
        ] {
            assert_eq!(label(words), Some(expected), "{words}");
        }
    }

    #[test]
    fn reads_the_reason_from_errors_and_events_since_1_10() {
        let log = "0:05 DEBUG provisioner: ignoring pod {'Pod': {'namespace': 'shop', 'name': 'web-1'}, 'error': 'using label karpenter.sh/x is not allowed as it might interfere with the internal provisioning logic; specify a well known label: []'}";
        assert_eq!(verdict(&CORRELATION, log), "warning certain");
        let event = "0:05 event Pod/shop/web-1 FailedScheduling: Failed to schedule pod, using label karpenter.sh/x is not allowed as it might interfere with the internal provisioning logic; specify a well known label: []";
        assert_eq!(verdict(&CORRELATION, event), "warning certain");
        // Pods that fit nowhere get the same event, and the scheduler's event has another wording.
        for words in [
            "Failed to schedule pod, incompatible requirements, label ´a/b´ does not have known values",
            "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/3 nodes are available",
        ] {
            assert_eq!(
                verdict(&CORRELATION, &format!("0:05 event Pod/shop/web-1 FailedScheduling: {words}")),
                ""
            );
        }
    }

    #[test]
    fn ignores_volumes_that_were_bound_later() {
        let skipped = "0:05 DEBUG provisioner: ignoring pod, failed to validate pvc, pvc with immediate volume binding mode must be bound {'Pod': {'namespace': 'db', 'name': 'db-0'}}\n";
        insta::assert_snapshot!(found(&CORRELATION, skipped), @"
        warning likely x1: the provisioner skips the pod `db/db-0`: its volume claim is not bound, and its StorageClass binds immediately, so that Karpenter waits for the zone
          help: use a StorageClass with `volumeBindingMode: WaitForFirstConsumer`, and check why the volume is not provisioned (`kubectl describe pvc`)
          objects: Pod/db-0
          details: volumeBindingMode
          lines: 1
        ");
        let taken = format!("{skipped}0:15 provisioner: found provisionable pod(s) {{'Pods': 'db/db-0'}}\n");
        assert_eq!(verdict(&CORRELATION, &taken), "");
        let turned: Vec<_> = taken.lines().rev().collect();
        assert_eq!(verdict(&CORRELATION, &turned.join("\n")), "");
        let quiet = format!("{skipped}3:00 provisioner: found provisionable pod(s) {{'Pods': 'a/b'}}\n");
        assert_eq!(verdict(&CORRELATION, &quiet), "");
        let goes_on = format!("{skipped}{}", skipped.replace("0:05", "8:05"));
        assert_eq!(verdict(&CORRELATION, &goes_on), "warning likely");
    }

    #[test]
    fn ignores_pods_that_opted_out() {
        for words in [
            "configured to not run on a Karpenter provisioned node via the karpenter.sh/nodepool DoesNotExist requirement",
            "configured to not run on a Karpenter provisioned node (requirement=karpenter.sh/nodepool DoesNotExist)",
        ] {
            let log = format!(
                "0:05 DEBUG provisioner: ignoring pod, {words} {{'Pod': {{'namespace': 'kube-system', 'name': 'karpenter-1'}}}}"
            );
            assert_eq!(verdict(&CORRELATION, &log), "", "{words}");
        }
    }

    #[test]
    fn waits_longer_for_repeated_events() {
        let skipped = "3m10s event Pod/db/db-0 FailedScheduling: Failed to schedule pod, failed to validate pvc, pvc with immediate volume binding mode must be bound\n";
        let other = "8s event Pod/db/db-1 Scheduled: Successfully assigned db/db-1 to ip-1\n";
        assert_eq!(verdict(&CORRELATION, &format!("{other}{skipped}")), "warning likely");
        assert_eq!(verdict(&CORRELATION, &format!("{other}{}", skipped.replace("3m10s", "7m"))), "");
        let nominated = "2m event Pod/db/db-0 Nominated: Pod should schedule on: nodeclaim/a-1\n";
        assert_eq!(verdict(&CORRELATION, &format!("{nominated}{skipped}")), "");
        assert_eq!(
            verdict(&CORRELATION, &format!("{}{skipped}", nominated.replace("2m", "5m"))),
            "warning likely"
        );
    }

    /// A line about a skipped pod every ten seconds, from one second of the hour to another.
    fn skipped(from: u32, to: u32) -> String {
        let line = |second: u32| {
            let (minutes, seconds) = (second / 60, second % 60);
            format!(
                "{minutes}:{seconds:02} DEBUG provisioner: ignoring pod, failed to validate pvc, pvc with immediate volume binding mode must be bound {{'Pod': {{'namespace': 'db', 'name': 'db-0'}}}}\n"
            )
        };
        (from..=to).step_by(10).map(line).collect()
    }

    const TAKEN: &str = "0:31:10 provisioner: found provisionable pod(s) {'Pods': 'db/db-0'}\n";

    #[test]
    fn reports_long_skip_although_the_pod_was_scheduled_later() {
        let log = format!("{}{TAKEN}", skipped(300, 1860));
        insta::assert_snapshot!(found(&CORRELATION, &log), @"
        warning certain x157: the pod `db/db-0` was skipped for 26 minutes, until 2026-03-31T16:31:10Z: the provisioner found that its volume claim is not bound, and its StorageClass binds immediately, so that Karpenter waits for the zone
          help: use a StorageClass with `volumeBindingMode: WaitForFirstConsumer`, and check why the volume is not provisioned (`kubectl describe pvc`)
          objects: Pod/db-0
          details: volumeBindingMode
          lines: 1, 157
        ");
        // The order of the lines does not count.
        let turned: Vec<_> = log.lines().rev().collect();
        assert_eq!(verdict(&CORRELATION, &turned.join("\n")), "warning certain");
        // The pod was deleted, or its volume was bound: it is not skipped again.
        let quiet = format!(
            "{}0:45:00 provisioner: found provisionable pod(s) {{'Pods': 'a/b'}}\n",
            skipped(300, 1860)
        );
        assert!(found(&CORRELATION, &quiet).contains("was skipped for 26 minutes, until"), "{quiet}");
    }

    #[test]
    fn ignores_skips_of_a_few_minutes() {
        assert_eq!(verdict(&CORRELATION, &format!("{}{TAKEN}", skipped(1270, 1860))), "");
        assert_eq!(verdict(&CORRELATION, &format!("{}{TAKEN}", skipped(1260, 1860))), "warning certain");
        // Two short skips of a pod that was restarted are not a long one.
        let again = format!("{}{}{TAKEN}", skipped(0, 60), skipped(1800, 1860));
        assert_eq!(verdict(&CORRELATION, &again), "");
        let apart = format!("{}{}{TAKEN}", skipped(1000, 1500), skipped(1630, 1860));
        assert_eq!(verdict(&CORRELATION, &apart), "");
        let joined = format!("{}{}{TAKEN}", skipped(1000, 1500), skipped(1620, 1860));
        assert_eq!(verdict(&CORRELATION, &joined), "warning certain");
    }

    #[test]
    fn reports_long_skip_from_events() {
        let words = "Failed to schedule pod, failed to validate pvc, pvc with immediate volume binding mode must be bound";
        let event = |age: &str| format!("{age} event Pod/db/db-0 FailedScheduling: {words}\n");
        let nominated = "1m event Pod/db/db-0 Nominated: Pod should schedule on: nodeclaim/a-1\n";
        let long: String = ["27m", "22m", "17m", "12m", "7m", "2m"].map(event).concat();
        insta::assert_snapshot!(found(&CORRELATION, &format!("{long}{nominated}")), @"
        warning likely x6: the pod `db/db-0` was skipped for 26 minutes, until 60s ago: the provisioner found that its volume claim is not bound, and its StorageClass binds immediately, so that Karpenter waits for the zone
          help: use a StorageClass with `volumeBindingMode: WaitForFirstConsumer`, and check why the volume is not provisioned (`kubectl describe pvc`)
          objects: Pod/db-0
          details: volumeBindingMode
          lines: 1, 6
        ");
        let short: String = ["7m", "2m"].map(event).concat();
        assert_eq!(verdict(&CORRELATION, &format!("{short}{nominated}")), "");
    }
}
