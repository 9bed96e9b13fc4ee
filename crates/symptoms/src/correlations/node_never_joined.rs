//! An instance that never became a node.

use super::correlation::{Correlation, each};
use super::draft::{DiagnosisDraft, names};
use crate::diagnosis::Diagnosis;
use crate::history::{History, Life, gap};
use crate::symptom::Symptom;
use crate::vocabulary::When;
use answers::report::Confidence;
use cluster::ids::ClusterId;
use rule::finding::Severity;

/// The correlation.
pub const CORRELATION: Correlation =
    Correlation { symptom: &SYMPTOM, find: |histories, found| each(histories, found, find) };

static SYMPTOM: Symptom = Symptom {
    name: "node-never-joined",
    severity: Severity::Error,
    summary: "an instance is launched and never becomes a node",
    says: "an instance was launched and never became a node",
    remedy: "check on the instance why the kubelet does not join (`journalctl -u kubelet`, `/var/log/cloud-init-output.log`): the access entry or `aws-auth` mapping of the node role, the security groups and routes to the API server, and cluster name, endpoint and certificate in the user data",
    cause: "\
Karpenter waits fifteen minutes for the Node of a NodeClaim, then deletes the NodeClaim and its instance, and the pods
get another instance with the same problem. No Node appears if the kubelet does not reach the API server or is not
authorised: the node role has no access entry or `aws-auth` mapping, a security group or route is missing, or the user
data names another cluster, has a wrong endpoint or certificate, or fails before the kubelet starts.

Certain: launched, never registered, and deleted after the timeout. Karpenter logs the timeout only at `DEBUG`. From
an `INFO` log it is likely if an unregistered NodeClaim is deleted fourteen to twenty-five minutes after its launch,
and possible if the log ends earlier. A status shows it if `Registered` has been `Unknown` with the reason
`NodeNotFound` for that long.",
    rules: &[
        "cluster-name-mismatch",
        "bootstrap-argument-ignored",
        "ami-custom-without-bootstrap",
        "userdata-family-mismatch",
        "userdata-nodeconfig-incomplete",
        "userdata-mime-malformed",
        "userdata-template-residue",
    ],
    messages: &[],
    when: When::Correlated,
    confidence: Confidence::Certain,
    references: &[
        "pkg/controllers/nodeclaim/lifecycle/liveness.go and registration.go of kubernetes-sigs/karpenter at v1.0.2, v1.6.0, v1.7.0 and v1.14.0",
    ],
};

/// The registration timeout, minus clock differences and rounding.
const TIMEOUT: i64 = 14 * 60_000 + 30_000;
/// Longest time until the instance is removed.
const REMOVED: i64 = 25 * 60_000;
/// Nodes join within two minutes; from here on it is suspicious.
const LATE: i64 = 5 * 60_000;

const SETTLES: &str = "; at the log level `debug` the line `terminating due to timeout` (up to 1.6: `terminating due to registration ttl`) confirms it";

fn find(cluster: ClusterId, history: &History, found: &mut Vec<Diagnosis>) {
    let judged = history.lives.all().filter_map(|life| Some((judge(history, life)?, life)));
    let mut judged: Vec<_> = judged.collect();
    judged.sort_by_key(|(confidence, life)| (*confidence, life.born, life.name.clone()));
    let Some((confidence, _)) = judged.first().copied() else {
        found.extend(unhealthy(cluster, history));
        return;
    };
    let mut pools: Vec<_> = judged.iter().map(|(_, life)| life.pool()).collect();
    pools.sort_unstable();
    pools.dedup();
    let lives = || judged.iter().map(|(_, life)| *life);
    let joined =
        history.lives.all().filter(|life| life.registered.is_some() && pools.contains(&life.pool())).count();
    let is_over = confidence != Confidence::Possible;
    let message = format!(
        "{} launched and never became {}{}",
        match judged.len() {
            1 => format!("the instance of {} was", names(lives().map(|life| &*life.name))),
            count => format!("{count} instances of the NodePools {} were", names(pools.iter().copied())),
        },
        if judged.len() == 1 { "a node" } else { "nodes" },
        if is_over {
            ": no Node appeared until the NodeClaim was deleted after 15 minutes"
        } else {
            " so far"
        },
    );
    // If other nodes of the NodePool join, the cause is not common to them.
    let mut help = SYMPTOM.remedy.to_owned();
    if joined > 0 {
        help = format!(
            "{joined} other nodes of the same NodePool joined: look for a difference, such as the subnet or instance type; {help}"
        );
    }
    if confidence != Confidence::Certain && !history.has_debug && history.has_log {
        help.push_str(SETTLES);
    }
    let quotes = lives().take(2).flat_map(|life| {
        [
            life.created.as_ref(),
            life.launched.as_ref(),
            life.node_not_found.as_ref(),
            life.timed_out.as_ref(),
            life.deleted.as_ref(),
        ]
    });
    let unhealthy = pools.iter().map(|pool| history.unhealthy_pools.get(*pool));
    let is_grave = is_over && joined <= judged.len();
    let severity = if is_grave { SYMPTOM.severity } else { Severity::Warning };
    let draft = DiagnosisDraft::new(&SYMPTOM, cluster, confidence, message)
        .severity(severity)
        .help(help)
        .count_of_lives(judged.len(), history)
        .span(lives().filter_map(|life| life.born).min(), lives().filter_map(|life| life.born).max())
        .objects("NodeClaim", lives().take(1).map(|life| &*life.name))
        .objects("EC2NodeClass", history.classes_of(pools.iter().copied()))
        .objects("NodeClaim", lives().map(|life| &*life.name))
        .quote(cluster, quotes)
        .quote(cluster, unhealthy);
    found.push(draft.done());
}

/// Confidence that a NodeClaim never got a Node; `None` if it did, or if another message explains it.
fn judge(history: &History, life: &Life) -> Option<Confidence> {
    let has_node = history.nodes.contains_key(&*life.provider_id);
    let other = life.registered.is_some()
        || life.initialised.is_some()
        || life.taint_missing.is_some()
        || life.launch_failed.is_some()
        || life.lost.is_some()
        || life.cause.is_some()
        // The name of the Node is known from the registration on.
        || life.has_node
        || has_node;
    if other {
        return None;
    }
    if life.timed_out.is_some() {
        // Up to 1.6 the same line also reports a failed launch.
        return Some(if life.launched.is_some() { Confidence::Certain } else { Confidence::Likely });
    }
    let launched = life.launched.as_ref()?;
    if let Some(deleted) = &life.deleted {
        let lived = gap(Some(launched), Some(deleted))?;
        return (TIMEOUT..=REMOVED).contains(&lived).then_some(Confidence::Likely);
    }
    if let Some(deleting) = life.deleting {
        let lived = deleting.since(life.born?)?;
        return (lived >= TIMEOUT).then_some(Confidence::Likely);
    }
    let age = history.since(launched.time).max(history.since(life.aged))?;
    match &life.node_not_found {
        Some(_) if age >= TIMEOUT => Some(Confidence::Likely),
        Some(_) if age >= LATE => Some(Confidence::Possible),
        // A log that continues for so long without mentioning it may have a gap.
        None if age >= TIMEOUT => Some(Confidence::Possible),
        _ => None,
    }
}

/// The input has no NodeClaims, but the NodePool says that they do not register.
fn unhealthy(cluster: ClusterId, history: &History) -> Option<Diagnosis> {
    let explained =
        |pool: &str| history.lives.all().any(|life| life.pool() == pool && life.taint_missing.is_some());
    let pools: Vec<_> = history.unhealthy_pools.iter().filter(|(pool, _)| !explained(pool)).collect();
    if pools.is_empty() {
        return None;
    }
    let message = format!(
        "the nodes of the NodePool {} do not register",
        names(pools.iter().map(|(pool, _)| &***pool))
    );
    let draft = DiagnosisDraft::new(&SYMPTOM, cluster, Confidence::Likely, message)
        .count(pools.len() as u64)
        .objects("NodePool", pools.iter().map(|(pool, _)| &***pool))
        .objects("EC2NodeClass", history.classes_of(pools.iter().map(|(pool, _)| &***pool)))
        .quote(cluster, pools.iter().map(|(_, record)| Some(*record)));
    Some(draft.done())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{found, verdict};
    use super::CORRELATION;

    const LAUNCHED: &str = "\
0:00 provisioner: created nodeclaim {'claim': 'default-abcde', 'NodePool': {'name': 'default'}}
0:03 nodeclaim.lifecycle: launched nodeclaim {'claim': 'default-abcde', 'provider-id': 'aws:///eu-west-1a/i-1', 'zone': 'eu-west-1a'}
";

    #[test]
    fn is_certain_with_a_timeout_line() {
        let log = format!(
            "{LAUNCHED}15:00 DEBUG nodeclaim.lifecycle: terminating due to registration ttl {{'claim': 'default-abcde', 'ttl': '15m0s'}}\n\
             16:10 nodeclaim.lifecycle: deleted nodeclaim {{'claim': 'default-abcde'}}\n"
        );
        insta::assert_snapshot!(found(&CORRELATION, &log), @"
        error certain x1: the instance of `default-abcde` was launched and never became a node: no Node appeared until the NodeClaim was deleted after 15 minutes
          help: check on the instance why the kubelet does not join (`journalctl -u kubelet`, `/var/log/cloud-init-output.log`): the access entry or `aws-auth` mapping of the node role, the security groups and routes to the API server, and cluster name, endpoint and certificate in the user data
          objects: NodeClaim/default-abcde
          lines: 1, 2, 3, 4
        ");
        let since_1_7 = log
            .replace("registration ttl", "timeout")
            .replace("'ttl'", "'reason': 'registration_timeout', 'timeout'");
        assert_eq!(verdict(&CORRELATION, &since_1_7), "error certain");
        // A failed launch is another problem.
        assert_eq!(verdict(&CORRELATION, &since_1_7.replace("registration_timeout", "launch_timeout")), "");
    }

    #[test]
    fn is_likely_from_the_time_of_the_deletion() {
        let deleted = |at: &str| {
            format!("{LAUNCHED}{at} nodeclaim.lifecycle: deleted nodeclaim {{'claim': 'default-abcde'}}\n")
        };
        assert_eq!(verdict(&CORRELATION, &deleted("15:50")), "error likely");
        assert_eq!(verdict(&CORRELATION, &deleted("1:02")), "");
        assert_eq!(verdict(&CORRELATION, &deleted("40:00")), "");
        let help = found(&CORRELATION, &deleted("15:50"));
        assert!(help.contains("at the log level `debug` the line `terminating due to timeout`"), "{help}");
    }

    #[test]
    fn ignores_nodes_that_join_late() {
        let late = "14:10 nodeclaim.lifecycle: registered nodeclaim {'claim': 'default-abcde', 'Node': {'name': 'ip-10-0-1-2'}}\n\
                    40:00 nodeclaim.lifecycle: deleted nodeclaim {'claim': 'default-abcde'}\n";
        assert_eq!(verdict(&CORRELATION, &format!("{LAUNCHED}{late}")), "");
        assert_eq!(verdict(&CORRELATION, LAUNCHED), "");
        assert_eq!(
            verdict(&CORRELATION, &format!("{LAUNCHED}16:00 provisioner: found provisionable pod(s) {{}}\n")),
            "warning possible"
        );
    }

    #[test]
    fn ignores_nodeclaims_whose_node_is_named() {
        let deleted = "17:00 nodeclaim.lifecycle: deleted nodeclaim {'claim': 'default-abcde', 'Node': {'name': 'ip-10-0-1-2'}}";
        assert_eq!(verdict(&CORRELATION, &format!("{LAUNCHED}{deleted}\n")), "");
        // Up to 1.0 the field exists and is empty.
        let empty = deleted.replace("ip-10-0-1-2", "");
        assert_eq!(verdict(&CORRELATION, &format!("{LAUNCHED}{empty}\n")), "error likely");
    }

    #[test]
    fn ignores_nodeclaims_with_another_failure() {
        for line in [
            "14:58 ERROR nodeclaim.lifecycle: Reconciler error {'claim': 'default-abcde', 'error': 'missing required startup taint, karpenter.sh/unregistered'}",
            "0:40 interruption: initiating delete from interruption message {'claim': 'default-abcde', 'messageKind': 'instance_terminated'}",
            "0:40 interruption: initiating delete from interruption message {'claim': 'default-abcde', 'messageKind': 'spot_interrupted'}",
        ] {
            let log = format!(
                "{LAUNCHED}{line}\n15:50 nodeclaim.lifecycle: deleted nodeclaim {{'claim': 'default-abcde'}}\n"
            );
            assert_eq!(verdict(&CORRELATION, &log), "", "{line}");
        }
    }

    #[test]
    fn judges_a_status_by_its_age() {
        let status = |now: &str| {
            format!(
                "0:00 condition NodeClaim/default-abcde Launched=True Launched\n\
                 0:00 condition NodeClaim/default-abcde Registered=Unknown NodeNotFound: Node not registered with cluster\n\
                 {now} condition NodeClaim/default-zzzzz Launched=True Launched\n"
            )
        };
        assert_eq!(verdict(&CORRELATION, &status("1:00")), "");
        assert_eq!(verdict(&CORRELATION, &status("6:00")), "warning possible");
        assert_eq!(verdict(&CORRELATION, &status("16:00")), "error likely");
        let deleting = r"---
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: default-abcde, creationTimestamp: '2026-03-31T16:00:00Z', deletionTimestamp: '2026-03-31T16:15:02Z'}
---
";
        assert_eq!(verdict(&CORRELATION, &format!("{}{deleting}", status("0:30"))), "error likely");
    }

    #[test]
    fn reads_the_condition_of_the_nodepool() {
        let pool = "0:00 condition NodePool/default NodeRegistrationHealthy=False RegistrationFailed: Failed to register node";
        insta::assert_snapshot!(found(&CORRELATION, pool), @"
        error likely x1: the nodes of the NodePool `default` do not register
          help: check on the instance why the kubelet does not join (`journalctl -u kubelet`, `/var/log/cloud-init-output.log`): the access entry or `aws-auth` mapping of the node role, the security groups and routes to the API server, and cluster name, endpoint and certificate in the user data
          objects: NodePool/default
          lines: 1
        ");
    }

    #[test]
    fn lowers_the_severity_if_others_join() {
        let others: String = ["a", "b"]
            .map(|name| {
                format!("1:00 nodeclaim.lifecycle: registered nodeclaim {{'claim': 'default-{name}'}}\n")
            })
            .concat();
        let log = format!(
            "{LAUNCHED}{others}15:50 nodeclaim.lifecycle: deleted nodeclaim {{'claim': 'default-abcde'}}\n"
        );
        assert_eq!(verdict(&CORRELATION, &log), "warning likely");
        assert!(found(&CORRELATION, &log).contains("2 other nodes of the same NodePool joined"));
    }

    #[test]
    fn uses_ages_of_descriptions() {
        let described = "\
0:03 condition NodeClaim/default-abcde Launched=True Launched
0:00 condition NodeClaim/default-abcde Registered=Unknown NodeNotFound: Node not registered with cluster
12m event NodeClaim/default-abcde Launched: Status condition transitioned, Type: Launched, Status: Unknown -> True, Reason: Launched
12m condition NodeClaim/default-abcde Launched=True Launched
2m41s event NodeClaim/default-abcde DisruptionBlocked: Nodeclaim does not have an associated node
";
        assert_eq!(verdict(&CORRELATION, described), "warning possible");
        assert_eq!(verdict(&CORRELATION, &described.replace("12m", "3m")), "");
        let without_events: Vec<_> = described.lines().take(2).collect();
        assert_eq!(verdict(&CORRELATION, &without_events.join("\n")), "");
    }
}
