//! Nodes that drift repeatedly.

use std::collections::BTreeMap;

use super::correlation::{Correlation, each};
use super::draft::{DiagnosisDraft, duration, names};
use crate::diagnosis::Diagnosis;
use crate::entry::Time;
use crate::history::{History, Life, Record};
use crate::symptom::Symptom;
use crate::vocabulary::When;
use answers::report::Confidence;
use cluster::ids::ClusterId;

/// The correlation.
pub const CORRELATION: Correlation =
    Correlation { symptom: &SYMPTOM, find: |histories, found| each(histories, found, find) };

static SYMPTOM: Symptom = Symptom {
    name: "drift-loop",
    severity: rule::finding::Severity::Error,
    summary: "the nodes of a NodePool drift as soon as they are replaced",
    says: "the nodes of a NodePool drift as soon as they are replaced",
    remedy: "read the reason in the line `marking drifted` (at the log level `debug`) or in the condition `Drifted` of the NodeClaims",
    cause: "\
A node drifts when it no longer matches its NodePool and node class, and Karpenter replaces it once. If the
replacement drifts too, either the new node differs from what the NodePool and node class require, or they change all
the time.

A change of the NodePool or node class, or a new AMI, makes every older node drift once: that is a wave, not a loop.
It counts as a loop if nodes that were created after the first drift of the same NodePool, for the same reason, drift
within the hour: certain from the third generation on, likely from the second if it drifts within a quarter of an
hour. A NodePool or node class can be changed twice in an hour, and an `INFO` log does not contain the reason: in
these cases one more generation is needed. Possible: a node drifts from the security groups or subnets within five
minutes, and no older node drifts with it.",
    rules: &["cluster-name-shared", "two-controllers", "sg-cluster-tag-selector", "selector-cluster-mismatch"],
    messages: &[],
    when: When::Correlated,
    confidence: Confidence::Certain,
    references: &[
        "pkg/controllers/nodeclaim/disruption/drift.go of kubernetes-sigs/karpenter at v1.0.0 and v1.14.0",
        "pkg/cloudprovider/drift.go of aws/karpenter-provider-aws at v1.0.6 and v1.14.0",
        "aws/karpenter-provider-aws#6211, aws/karpenter-provider-aws#6913, aws/karpenter-provider-aws#7356",
    ],
};

/// A replacement that drifts later than this does not count: every new AMI makes all nodes drift.
const WITHIN: i64 = 60 * 60_000;
/// A replacement that drifts sooner than this never matched its NodePool and node class.
const AT_ONCE: i64 = 15 * 60_000;

/// The usual cause of repeated drift, by the reason.
fn usual(reason: &str) -> &'static str {
    match reason {
        "SecurityGroupDrift" => {
            "another tool changes the security groups of the instances, such as Firewall Manager, or the launch template belongs to another cluster with the same name: compare `status.securityGroups` of the node class with the groups of an instance"
        }
        "SubnetDrift" => {
            "the instances are in subnets that the selector no longer matches: compare `status.subnets` of the node class with the subnet of an instance, and check whether the tags of the subnets change"
        }
        "AMIDrift" => {
            "the selector matches another AMI than the nodes use: compare `status.amis` of the node class with `status.imageID` of a NodeClaim, and check whether a pipeline keeps publishing images; pin the version of the alias"
        }
        "NodeClassDrift" => {
            "two writers change the EC2NodeClass in turn, such as a GitOps tool and a person, or two controllers of different releases: check `kubectl get ec2nodeclass -o yaml --show-managed-fields`"
        }
        "NodePoolDrifted" => {
            "two writers change the template of the NodePool in turn, such as a GitOps tool and a person, or two controllers of different releases: check `kubectl get nodepool -o yaml --show-managed-fields`"
        }
        "RequirementsDrifted" => {
            "the nodes have labels that the NodePool's requirements do not allow: compare the labels of a NodeClaim with `spec.template.spec.requirements`"
        }
        "InstanceTypeNotFound" => {
            "the provider does not offer the instance type: check whether its list of instance types changes, and name the types in the requirements"
        }
        "CapacityReservationDrift" => {
            "the nodes are not in the reservations that the node class selects: compare `status.capacityReservations` with the reservation of an instance"
        }
        "PlacementGroupDrift" => "the nodes are not in the placement group that the node class selects",
        _ => {
            "the reason is in the line `marking drifted`, at the log level `debug`, and in the condition `Drifted` of the NodeClaims"
        }
    }
}

/// A NodeClaim that drifted.
struct Mark<'h> {
    life: &'h Life,
    record: &'h Record,
    at: Time,
    /// Number of drifted NodeClaims before it, each created after the one before, and itself.
    generation: usize,
    /// Time from its creation to its drift; `None` if it is unknown or too long.
    age: Option<i64>,
}

fn find(cluster: ClusterId, history: &History, found: &mut Vec<Diagnosis>) {
    let mut groups: BTreeMap<(&str, &str), Vec<Mark<'_>>> = BTreeMap::new();
    for life in history.lives.all() {
        for drift in &life.drifts {
            let Some(at) = drift.record.time else { continue };
            let age = life.born.and_then(|born| at.since(born)).filter(|age| (0..=WITHIN).contains(age));
            let mark = Mark { life, record: &drift.record, at, generation: 1, age };
            groups.entry((life.pool(), &drift.reason)).or_default().push(mark);
        }
    }
    for ((pool, reason), mut marks) in groups {
        marks.sort_by_key(|mark| (mark.at, mark.record.at));
        count_generations(&mut marks);
        found.extend(judge(cluster, history, pool, reason, &marks));
    }
}

/// Sets the generation of each NodeClaim: one more than the last one that drifted before it was created. The marks are
/// sorted by time.
fn count_generations(marks: &mut [Mark<'_>]) {
    // The highest generation up to each mark, with its time.
    let mut highest: Vec<(Time, usize)> = Vec::with_capacity(marks.len());
    for mark in marks {
        if let Some(born) = mark.life.born.filter(|_| mark.age.is_some()) {
            let before = highest.partition_point(|(at, _)| *at < born);
            let last = before.checked_sub(1).and_then(|last| highest.get(last));
            mark.generation = last.map_or(1, |(_, generation)| generation + 1);
        }
        let most = highest.last().map_or(0, |(_, generation)| *generation);
        highest.push((mark.at, most.max(mark.generation)));
    }
}

fn judge(
    cluster: ClusterId,
    history: &History,
    pool: &str,
    reason: &str,
    marks: &[Mark<'_>],
) -> Option<Diagnosis> {
    let again: Vec<_> = marks.iter().filter(|mark| mark.generation > 1).collect();
    let Some(generations) = again.iter().map(|mark| mark.generation).max() else {
        return born_drifted(cluster, history, pool, reason, marks);
    };
    let youngest = again.iter().filter_map(|mark| mark.age).min()?;
    // The user may change a spec twice, and an unknown reason may be such a change.
    let is_of_spec = matches!(reason, "" | "NodePoolDrifted" | "NodeClassDrift" | "RequirementsDrifted");
    let confidence = match generations {
        3 if is_of_spec => Confidence::Likely,
        4.. if reason.is_empty() => Confidence::Likely,
        3.. => Confidence::Certain,
        2 if youngest <= AT_ONCE && !is_of_spec => Confidence::Likely,
        _ => return None,
    };
    let because = if reason.is_empty() { String::new() } else { format!(" (`{reason}`)") };
    let message = format!(
        "the nodes of the NodePool `{pool}` drift as soon as they are replaced{because}: {generations} generations in a row, the youngest {} after its creation",
        duration(youngest)
    );
    // One line of each generation.
    let mut one_each: Vec<&Mark<'_>> = Vec::new();
    for mark in marks {
        if !one_each.iter().any(|known| known.generation == mark.generation) {
            one_each.push(mark);
        }
    }
    let quotes = one_each.iter().flat_map(|mark| {
        let made = mark.life.created.as_ref().filter(|_| mark.generation > 1);
        [made, Some(mark.record)]
    });
    let lives = || again.iter().map(|mark| &*mark.life.name);
    let help = match reason {
        "" => format!("{}; the replaced nodes are {}", usual(reason), names(lives())),
        _ => usual(reason).to_owned(),
    };
    let draft = DiagnosisDraft::new(&SYMPTOM, cluster, confidence, message)
        .help(help)
        .count_of_lives(again.len(), history)
        .span(again.first().map(|mark| mark.at), again.last().map(|mark| mark.at))
        .objects("NodePool", [pool])
        .objects("EC2NodeClass", history.classes_of([pool]))
        .objects("NodeClaim", lives())
        .quote(cluster, quotes);
    Some(draft.done())
}

/// NodeClaims that drift within minutes of their creation, without older ones: they never matched. This needs a reason that
/// depends only on the launched instance.
fn born_drifted(
    cluster: ClusterId,
    history: &History,
    pool: &str,
    reason: &str,
    marks: &[Mark<'_>],
) -> Option<Diagnosis> {
    let is_young = |mark: &Mark<'_>| mark.age.is_some_and(|age| age <= AT_ONCE / 3);
    if !matches!(reason, "SecurityGroupDrift" | "SubnetDrift") || !marks.iter().all(is_young) {
        return None;
    }
    let first = marks.first()?;
    let message = format!(
        "the node of {} drifted {} after its creation (`{reason}`): it never matched its node class, and its replacement will not match either",
        names(marks.iter().map(|mark| &*mark.life.name)),
        duration(first.age?)
    );
    let draft = DiagnosisDraft::new(&SYMPTOM, cluster, Confidence::Possible, message)
        .help(usual(reason).to_owned())
        .count_of_lives(marks.len(), history)
        .span(marks.first().map(|mark| mark.at), marks.last().map(|mark| mark.at))
        .objects("NodePool", [pool])
        .objects("EC2NodeClass", history.classes_of([pool]))
        .objects("NodeClaim", marks.iter().map(|mark| &*mark.life.name))
        .quote(cluster, [first.life.launched.as_ref(), first.life.initialised.as_ref(), Some(first.record)]);
    Some(draft.done())
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::super::testing::{found, verdict};
    use super::CORRELATION;

    /// A NodeClaim that is created at a minute and drifts some minutes later.
    fn life(name: &str, made: u32, drifts: u32, reason: &str) -> String {
        format!(
            "{made}:00 disruption: created nodeclaim {{'claim': 'default-{name}', 'NodePool': {{'name': 'default'}}}}\n\
             {drifts}:30 DEBUG nodeclaim.disruption: marking drifted {{'claim': 'default-{name}', 'reason': '{reason}'}}\n"
        )
    }

    #[test]
    fn repeatedly_drifting_replacements_are_a_loop() {
        let log = [
            life("aaaaa", 0, 2, "SecurityGroupDrift"),
            life("bbbbb", 3, 5, "SecurityGroupDrift"),
            life("ccccc", 6, 8, "SecurityGroupDrift"),
        ]
        .concat();
        insta::assert_snapshot!(found(&CORRELATION, &log), @"
        error certain x2: the nodes of the NodePool `default` drift as soon as they are replaced (`SecurityGroupDrift`): 3 generations in a row, the youngest 2 minutes after its creation
          help: another tool changes the security groups of the instances, such as Firewall Manager, or the launch template belongs to another cluster with the same name: compare `status.securityGroups` of the node class with the groups of an instance
          objects: NodePool/default, NodeClaim/default-bbbbb, NodeClaim/default-ccccc
          lines: 2, 3, 4, 5, 6
        ");
        let two = [life("aaaaa", 0, 2, "SubnetDrift"), life("bbbbb", 3, 5, "SubnetDrift")].concat();
        assert_eq!(verdict(&CORRELATION, &two), "error likely");
        assert_eq!(verdict(&CORRELATION, &life("aaaaa", 0, 2, "SubnetDrift")), "error possible");
        assert_eq!(verdict(&CORRELATION, &life("aaaaa", 0, 2, "AMIDrift")), "");
        assert_eq!(verdict(&CORRELATION, &life("aaaaa", 0, 20, "SubnetDrift")), "");
        // A NodePool may be changed twice in an hour.
        assert_eq!(verdict(&CORRELATION, &two.replace("SubnetDrift", "NodePoolDrifted")), "");
        // Drift for one reason and then another means two changes.
        assert_eq!(
            verdict(
                &CORRELATION,
                &two.replacen("SubnetDrift", "AMIDrift", 1).replace("SubnetDrift", "InstanceTypeNotFound")
            ),
            ""
        );
    }

    #[test]
    fn ignores_a_wave_of_drift() {
        let mut log = String::new();
        for name in ["aaaaa", "bbbbb", "ccccc", "ddddd"] {
            writeln!(log, "30:00 DEBUG nodeclaim.disruption: marking drifted {{'claim': 'default-{name}', 'reason': 'AMIDrift'}}").unwrap();
        }
        for (minute, name) in [(31, "eeeee"), (36, "fffff"), (41, "ggggg"), (46, "hhhhh")] {
            writeln!(log, "{minute}:00 disruption: created nodeclaim {{'claim': 'default-{name}', 'NodePool': {{'name': 'default'}}}}").unwrap();
        }
        assert_eq!(verdict(&CORRELATION, &log), "");
        // The next AMI, a week later.
        log.push_str("170:00:00 DEBUG nodeclaim.disruption: marking drifted {'claim': 'default-eeeee', 'reason': 'AMIDrift'}\n");
        assert_eq!(verdict(&CORRELATION, &log), "");
    }

    #[test]
    fn needs_one_more_generation_in_an_info_log() {
        let turn = |name: &str, next: &str, minute: u32| {
            format!(
                "{minute}:00 disruption: disrupting node(s) {{'reason': 'drifted', 'disrupted-nodes': [{{'Node': {{'name': 'ip-{name}'}}, 'NodeClaim': {{'name': 'default-{name}'}}}}]}}\n\
                 {minute}:01 disruption: created nodeclaim {{'claim': 'default-{next}', 'NodePool': {{'name': 'default'}}}}\n"
            )
        };
        let log = [turn("aaaaa", "bbbbb", 1), turn("bbbbb", "ccccc", 4), turn("ccccc", "ddddd", 7)].concat();
        insta::assert_snapshot!(found(&CORRELATION, &log), @"
        error likely x2: the nodes of the NodePool `default` drift as soon as they are replaced: 3 generations in a row, the youngest 2 minutes after its creation
          help: the reason is in the line `marking drifted`, at the log level `debug`, and in the condition `Drifted` of the NodeClaims; the replaced nodes are `default-bbbbb`, `default-ccccc`
          objects: NodePool/default, NodeClaim/default-bbbbb, NodeClaim/default-ccccc
          lines: 1, 2, 3, 4, 5
        ");
        let since_1_9 = log.replace(
            "'reason': 'drifted'",
            "'command': 'Drifted/1-2: replace: [ip-a] -> [1 replacement] (savings: $0.10)'",
        );
        assert_eq!(verdict(&CORRELATION, &since_1_9), "error likely");
        assert_eq!(verdict(&CORRELATION, &log.replace("'drifted'", "'underutilized'")), "");
        let two = [turn("aaaaa", "bbbbb", 1), turn("bbbbb", "ccccc", 4)].concat();
        assert_eq!(verdict(&CORRELATION, &two), "");
    }

    #[test]
    fn reads_nodes_from_messages_up_to_1_2() {
        let turn = |node: u32, next: u32, minute: u32| {
            format!(
                "{minute}:00 disruption: disrupting nodeclaim(s) via replace, terminating 1 nodes (3 pods) ip-10-0-0-{node}.ec2.internal/c5.large/spot and replacing with spot node from types c5.large {{'command-id': 'c', 'reason': 'drifted'}}\n\
                 {minute}:01 disruption: created nodeclaim {{'claim': 'default-{next}', 'NodePool': {{'name': 'default'}}}}\n\
                 {minute}:40 nodeclaim.lifecycle: registered nodeclaim {{'claim': 'default-{next}', 'Node': {{'name': 'ip-10-0-0-{next}.ec2.internal'}}}}\n"
            )
        };
        let log = [turn(1, 2, 1), turn(2, 3, 4), turn(3, 4, 7), turn(4, 5, 10)].concat();
        assert_eq!(verdict(&CORRELATION, &log), "error likely");
    }

    #[test]
    fn conditions_show_the_loop() {
        let status = |name: &str, made: u32| {
            format!(
                "{made}:00 condition NodeClaim/default-{name} Launched=True Launched\n\
                 {}:00 condition NodeClaim/default-{name} Drifted=True SecurityGroupDrift: SecurityGroupDrift\n",
                made + 3
            )
        };
        assert_eq!(verdict(&CORRELATION, &[status("aaaaa", 0), status("bbbbb", 5)].concat()), "error likely");
        assert_eq!(
            verdict(&CORRELATION, &[status("aaaaa", 0), status("bbbbb", 1)].concat()),
            "error possible"
        );
    }
}
