//! A pod that the provisioner skips.

use std::cell::LazyCell;
use std::collections::BTreeMap;

use super::draft::{Draft, names};
use super::{Correlation, each};
use karpenter::labels;
use crate::entry::Time;
use crate::history::{History, Ignored};
use crate::vocabulary::When;
use lint::report::Confidence;
use crate::{Diagnosis, Symptom};

/// The correlation.
pub const CORRELATION: Correlation =
    Correlation { symptom: &SYMPTOM, find: |histories, found| each(histories, found, find) };

static SYMPTOM: Symptom = Symptom {
    name: "pod-ignored",
    severity: lint::finding::Severity::Warning,
    summary: "the provisioner skips a pod, and says so at DEBUG only",
    says: "the provisioner skips a pod: {its reason}",
    remedy: "change what the controller names in the pod or its volume claims; it is looked at again every few seconds",
    cause: "\
Before the provisioner looks for nodes it puts aside pods that it cannot judge: with a restricted label in a node selector or
a required node affinity (up to 1.4 a preferred one too), with `matchFields`, or with a volume claim that does not exist, has no
StorageClass, or is to be bound at once and is not. Such a pod waits for as long as that stays so, and no node is made for it.

The log says it at the level `DEBUG` only, `ignoring pod`; from 1.7 on an event `FailedScheduling` at the pod says it too.

Certain for what cannot pass by itself. What is about volumes passes when the volume is bound: it is left out where the pod
was taken afterwards, or where the log goes on for a minute without saying it again, and likely otherwise. A pod that asks to stay off
Karpenter's nodes is meant to be skipped.",
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

/// A log that goes on for so long without saying it again has seen it pass: pods are looked at every ten seconds.
const PASSED: i64 = 60_000;
/// The same of events, which the controller repeats every five minutes: pkg/controllers/provisioning/scheduling/events.go.
const PASSED_EVENTS: i64 = 6 * 60_000;

/// Why pods are skipped.
struct Reason {
    /// What the controller's words hold.
    words: &'static [&'static str],
    /// What that is, in ours; `{}` is the label.
    is: &'static str,
    /// What to do.
    help: &'static str,
    /// Whether it may pass by itself.
    passes: bool,
}

/// The reasons, the more particular first.
/// Source: provisioner.go, volumetopology.go and `nodeclaim_validation.go` at v1.0.0 to v1.14.0.
const REASONS: &[Reason] = &[
    Reason {
        words: &["immediate volume binding mode"],
        is: "its volume claim is not bound, and its StorageClass binds at once, so that Karpenter waits for the zone",
        help: "use a StorageClass with `volumeBindingMode: WaitForFirstConsumer`, and see why the volume is not provisioned (`kubectl describe pvc`)",
        passes: true,
    },
    Reason {
        words: &["kubernetes.io/hostname", "restricted"],
        is: "it asks for the host name of a node, which no new node can have",
        help: "drop `kubernetes.io/hostname` from the node selector and node affinity; to spread pods over nodes, use a topology spread constraint",
        passes: false,
    },
    Reason {
        words: &["restricted"],
        is: "it asks for the restricted label {}",
        help: "ask for a well-known label, or for one of your own that a NodePool sets; from 1.9 on labels of `kubernetes.io` and `k8s.io` are allowed where a NodePool sets them",
        passes: false,
    },
    Reason {
        words: &["is not allowed as it might interfere"],
        is: "it asks for the restricted label {}",
        help: "ask for a well-known label, or for one of your own that a NodePool sets",
        passes: false,
    },
    Reason {
        words: &["matchFields is not supported"],
        is: "its node affinity has `matchFields`, which Karpenter does not read",
        help: "write the terms of the node affinity with `matchExpressions`",
        passes: false,
    },
    Reason {
        words: &["must define a storage class"],
        is: "its volume claim is not bound and names no StorageClass",
        help: "set `storageClassName`, mark one StorageClass as the default, or bind the claim to a volume",
        passes: true,
    },
    Reason {
        words: &["storage class"],
        is: "the StorageClass of its volume claim is not there",
        help: "create the StorageClass, or name one that exists; that of a claim cannot be changed",
        passes: true,
    },
    Reason {
        words: &["persistentvolumeclaim", "being deleted"],
        is: "its volume claim is being deleted",
        help: "let the deletion end, or remove what holds it: the claim's finalizer waits for pods that use it",
        passes: true,
    },
    Reason {
        words: &["non-existent persistentvolume"],
        is: "its volume claim is bound to a volume that is gone",
        help: "delete the claim and restore the volume from a backup",
        passes: true,
    },
    Reason {
        words: &["persistent", "olume"],
        is: "its volume claim or volume is not there or not ready",
        help: "see `kubectl describe pvc` for the claim that the controller names",
        passes: true,
    },
    Reason {
        words: &["pvc"],
        is: "its volume claim is not there or not ready",
        help: "see `kubectl describe pvc` for the claim that the controller names",
        passes: true,
    },
];

/// Whether the words are a reason for which pods are skipped: from 1.7 on the same event also tells of pods that fit nowhere.
pub fn is_reason(words: &str) -> bool {
    let is_fit = ["incompatible", "no instance type", "did not tolerate", "unsatisfiable", "would exceed"];
    !is_fit.iter().any(|fit| words.contains(fit)) && reason(words).is_some()
}

fn reason(words: &str) -> Option<&'static Reason> {
    let words = words.to_ascii_lowercase();
    let says = |reason: &&Reason| reason.words.iter().all(|word| words.contains(&word.to_ascii_lowercase()));
    REASONS.iter().find(says)
}

/// The label that is restricted: `label a/b is restricted; …`, `using label a/b is not allowed …`, or among the fields in
/// brackets, `label is restricted; … (label=a/b, …)`.
fn label(words: &str) -> Option<&str> {
    let named = || words.split_once("label=").map(|(_, rest)| rest);
    let spoken = || words.split_once("label ").map(|(_, rest)| rest).filter(|rest| !rest.starts_with("is "));
    let rest = spoken().or_else(named)?;
    let end = rest.find([' ', ',', ')', ';']).unwrap_or(rest.len());
    rest.get(..end).map(|label| label.trim_matches('"')).filter(|label| !label.is_empty())
}

fn find(cluster: usize, history: &History, found: &mut Vec<Diagnosis>) {
    let taken = LazyCell::new(|| taken(history));
    let mut groups: BTreeMap<(usize, &str), Vec<&Ignored>> = BTreeMap::new();
    for pod in history.ignored.all() {
        // A pod that asks for a node that is not Karpenter's is left to those.
        if pod.reason.contains("configured to not run on a Karpenter provisioned node") {
            continue;
        }
        let known = reason(&pod.reason);
        if known.is_none_or(|reason| reason.passes) && has_passed(history, &taken, pod) {
            continue;
        }
        let rank = REASONS.iter().position(|one| known.is_some_and(|known| std::ptr::eq(one, known)));
        // A reason that is not known is a group of its own.
        let (rank, detail) = match rank {
            Some(rank) => {
                (rank, label(&pod.reason).filter(|_| !REASONS.get(rank).is_some_and(|one| one.passes)))
            }
            None => (REASONS.len(), Some(&*pod.reason)),
        };
        groups.entry((rank, detail.unwrap_or_default())).or_default().push(pod);
    }
    for ((rank, detail), mut pods) in groups {
        pods.sort_by_key(|pod| pod.first.key());
        found.push(drafted(cluster, history, REASONS.get(rank), detail, &pods));
    }
}

fn drafted(
    cluster: usize,
    history: &History,
    reason: Option<&Reason>,
    detail: &str,
    pods: &[&Ignored],
) -> Diagnosis {
    let is = match reason {
        Some(reason) => reason.is.replace("{}", &format!("`{detail}`")),
        None => format!("`{detail}`"),
    };
    let who = match pods {
        [one] => format!("the provisioner skips the pod `{}`", one.pod),
        _ => {
            format!("the provisioner skips {} pods, {}", pods.len(), names(pods.iter().map(|pod| &*pod.pod)))
        }
    };
    let mut help = reason.map_or(SYMPTOM.remedy, |reason| reason.help).to_owned();
    if let Some(meant) =
        labels::meant(detail).filter(|_| reason.is_some_and(|reason| reason.is.contains("{}")))
    {
        help = format!("{}; {help}", meant.help());
    }
    let sure = reason.is_some_and(|reason| !reason.passes);
    let confidence = if sure { Confidence::Certain } else { Confidence::Likely };
    let last = pods.iter().max_by_key(|pod| pod.last.key());
    let first = pods.iter().take(3).map(|pod| Some(&pod.first));
    Draft::new(&SYMPTOM, cluster, confidence, format!("{who}: {is}"))
        .help(help)
        .count(pods.iter().map(|pod| pod.count).sum())
        .objects("Pod", pods.iter().map(|pod| &*pod.pod))
        .details(details(history, reason, detail))
        .quote(cluster, first)
        .quote(cluster, [last.map(|pod| &pod.last)])
        .done()
}

/// By what the cause is recognised in a manifest: the label, or the StorageClass and the field that is wrong there.
fn details<'h>(history: &'h History, reason: Option<&Reason>, detail: &'h str) -> Vec<&'h str> {
    match reason {
        Some(reason) if !reason.passes => vec![detail],
        Some(reason) if reason.words.contains(&"immediate volume binding mode") => {
            history.immediate.iter().map(|class| &**class).chain(["volumeBindingMode"]).collect()
        }
        _ => Vec::new(),
    }
}

/// When pods were last looked at and taken, as far as that was told.
fn taken(history: &History) -> BTreeMap<&str, Time> {
    let batches = history.batches.in_time();
    let in_batches = batches.iter().flat_map(|batch| batch.pods.iter().map(|pod| (&**pod, batch.time())));
    let nominations = history.nominations.iter();
    let nominated = nominations.flat_map(|(pod, all)| all.iter().map(|one| (&**pod, one.said.time)));
    let mut taken: BTreeMap<&str, Time> = BTreeMap::new();
    for (pod, time) in in_batches.chain(nominated) {
        let Some(time) = time else { continue };
        let latest = taken.entry(pod).or_insert(time);
        *latest = time.max(*latest);
    }
    taken
}

/// Whether a pod was taken after it had been skipped, or was not skipped again while the log went on.
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
    fn a_restricted_label_is_named_as_each_release_says_it() {
        let log = "\
0:05 DEBUG provisioner: ignoring pod, label node-role.kubernetes.io/spot is restricted; specify a well known label: [karpenter.sh/capacity-type], or a custom label that does not use a restricted domain: [kubernetes.io] {'Pod': {'namespace': 'shop', 'name': 'web-1'}}
0:15 DEBUG provisioner: ignoring pod, label node-role.kubernetes.io/spot is restricted; specify a well known label: [karpenter.sh/capacity-type], or a custom label that does not use a restricted domain: [kubernetes.io] {'Pod': {'namespace': 'shop', 'name': 'web-1'}}
0:15 DEBUG provisioner: ignoring pod, label node-role.kubernetes.io/spot is restricted; specify a well known label: [karpenter.sh/capacity-type], or a custom label that does not use a restricted domain: [kubernetes.io] {'Pod': {'namespace': 'shop', 'name': 'web-2'}}
9:00 provisioner: found provisionable pod(s) {'Pods': 'shop/other'}
";
        insta::assert_snapshot!(found(&CORRELATION, log), @"
        warning certain x3: the provisioner skips 2 pods, `shop/web-1`, `shop/web-2`: it asks for the restricted label `node-role.kubernetes.io/spot`
          help: ask for a well-known label, or for one of your own that a NodePool sets; from 1.9 on labels of `kubernetes.io` and `k8s.io` are allowed where a NodePool sets them
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
    fn from_1_10_the_reason_is_in_the_error_and_an_event_tells_it_too() {
        let log = "0:05 DEBUG provisioner: ignoring pod {'Pod': {'namespace': 'shop', 'name': 'web-1'}, 'error': 'using label karpenter.sh/x is not allowed as it might interfere with the internal provisioning logic; specify a well known label: []'}";
        assert_eq!(verdict(&CORRELATION, log), "warning certain");
        let event = "0:05 event Pod/shop/web-1 FailedScheduling: Failed to schedule pod, using label karpenter.sh/x is not allowed as it might interfere with the internal provisioning logic; specify a well known label: []";
        assert_eq!(verdict(&CORRELATION, event), "warning certain");
        // The same event tells of pods that fit nowhere, and the scheduler's has its own words.
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
    fn a_volume_that_is_bound_in_the_end_is_no_trouble() {
        let skipped = "0:05 DEBUG provisioner: ignoring pod, failed to validate pvc, pvc with immediate volume binding mode must be bound {'Pod': {'namespace': 'db', 'name': 'db-0'}}\n";
        insta::assert_snapshot!(found(&CORRELATION, skipped), @"
        warning likely x1: the provisioner skips the pod `db/db-0`: its volume claim is not bound, and its StorageClass binds at once, so that Karpenter waits for the zone
          help: use a StorageClass with `volumeBindingMode: WaitForFirstConsumer`, and see why the volume is not provisioned (`kubectl describe pvc`)
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
    fn a_pod_that_asks_to_stay_away_is_let() {
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
    fn an_event_is_repeated_every_five_minutes() {
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
}
