//! Nodes that drift again and again.

use std::collections::BTreeMap;

use super::draft::{Draft, duration, names};
use super::{Correlation, each};
use crate::entry::Time;
use crate::history::{History, Life, Said};
use crate::vocabulary::When;
use lint::report::Confidence;
use crate::{Diagnosis, Symptom};

/// The correlation.
pub const CORRELATION: Correlation =
    Correlation { symptom: &SYMPTOM, find: |histories, found| each(histories, found, find) };

static SYMPTOM: Symptom = Symptom {
    name: "drift-loop",
    severity: lint::finding::Severity::Error,
    summary: "the nodes of a NodePool drift as soon as they are replaced",
    says: "the nodes of a NodePool drift as soon as they are replaced",
    remedy: "see the reason in the line `marking drifted` (at the log level `debug`) or in the condition `Drifted` of the NodeClaims",
    cause: "\
A node drifts when it is no longer what its NodePool and node class ask for, and is replaced once. Where the replacement drifts
too, something differs between what is asked for and what is made, or what is asked for changes all the time.

A change of the NodePool or node class, or a new AMI, makes every older node drift once: that is a wave, no loop. It counts as
a loop where nodes that were made after the first drift of the same NodePool, for the same reason, drift within the hour:
certain from the third generation on, likely from the second where it drifts within a quarter of an hour. A NodePool or node
class can be changed twice in an hour, and an `INFO` log does not tell the reason: there it takes a generation more. Possible: a
node drifts from the security groups or subnets within five minutes, and no older one with it.",
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

/// A replacement that drifts later than this is not counted: a wave comes with every AMI.
const WITHIN: i64 = 60 * 60_000;
/// A replacement that drifts sooner than this never was what is asked for.
const AT_ONCE: i64 = 15 * 60_000;

/// What usually makes nodes drift again and again, by the reason.
fn usual(reason: &str) -> &'static str {
    match reason {
        "SecurityGroupDrift" => {
            "something else changes the security groups of the instances, such as Firewall Manager, or the launch template is that of another cluster with the same name: compare `status.securityGroups` of the node class with the groups of an instance"
        }
        "SubnetDrift" => {
            "the instances are in subnets that the selector does not find any more: compare `status.subnets` of the node class with the subnet of an instance, and see whether the tags of the subnets change"
        }
        "AMIDrift" => {
            "the selector finds another AMI than the one that nodes start with: compare `status.amis` of the node class with `status.imageID` of a NodeClaim, and see whether a pipeline publishes images all the time; pin the version of the alias"
        }
        "NodeClassDrift" => {
            "two writers change the EC2NodeClass in turn, such as a GitOps tool and a person, or two controllers of different releases: see `kubectl get ec2nodeclass -o yaml --show-managed-fields`"
        }
        "NodePoolDrifted" => {
            "two writers change the template of the NodePool in turn, such as a GitOps tool and a person, or two controllers of different releases: see `kubectl get nodepool -o yaml --show-managed-fields`"
        }
        "RequirementsDrifted" => {
            "the nodes carry labels that the NodePool's requirements do not allow: compare the labels of a NodeClaim with `spec.template.spec.requirements`"
        }
        "InstanceTypeNotFound" => {
            "the instance type is not among those that the provider offers: see whether its list of instance types changes, and name the types in the requirements"
        }
        "CapacityReservationDrift" => {
            "the nodes are not in the reservations that the node class selects: compare `status.capacityReservations` with the reservation of an instance"
        }
        "PlacementGroupDrift" => "the nodes are not in the placement group that the node class selects",
        _ => {
            "the reason is in the line `marking drifted`, which is written at the log level `debug`, and in the condition `Drifted` of the NodeClaims"
        }
    }
}

/// A NodeClaim that drifted.
struct Mark<'h> {
    life: &'h Life,
    said: &'h Said,
    at: Time,
    /// How many before it drifted, each made after the one before.
    generation: usize,
    /// How long after its making it drifted; none where that is not known or too long.
    age: Option<i64>,
}

fn find(cluster: usize, history: &History, found: &mut Vec<Diagnosis>) {
    let mut groups: BTreeMap<(&str, &str), Vec<Mark<'_>>> = BTreeMap::new();
    for life in history.lives.all() {
        for drift in &life.drifts {
            let Some(at) = drift.said.time else { continue };
            let age = life.born.and_then(|born| at.since(born)).filter(|age| (0..=WITHIN).contains(age));
            let mark = Mark { life, said: &drift.said, at, generation: 1, age };
            groups.entry((life.pool(), &drift.reason)).or_default().push(mark);
        }
    }
    for ((pool, reason), mut marks) in groups {
        marks.sort_by_key(|mark| (mark.at, mark.said.at));
        count_generations(&mut marks);
        found.extend(judge(cluster, history, pool, reason, &marks));
    }
}

/// A NodeClaim is one generation after the last that drifted before it was made. The marks are in the order of time.
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
    cluster: usize,
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
    // A spec that is changed by hand, or a reason that is not told.
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
        "the nodes of the NodePool `{pool}` drift as soon as they are replaced{because}: {generations} generations one after the other, the youngest {} after it was made",
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
        [made, Some(mark.said)]
    });
    let lives = || again.iter().map(|mark| &*mark.life.name);
    let help = match reason {
        "" => format!("{}; replaced were {}", usual(reason), names(lives())),
        _ => usual(reason).to_owned(),
    };
    let draft = Draft::new(&SYMPTOM, cluster, confidence, message)
        .help(help)
        .count(again.len() as u64)
        .span(marks.first().map(|mark| mark.at), marks.last().map(|mark| mark.at))
        .objects("NodePool", [pool])
        .objects("EC2NodeClass", history.classes_of([pool]))
        .objects("NodeClaim", lives())
        .quote(cluster, quotes);
    Some(draft.done())
}

/// Nodes that drift within minutes of their making, and no others with them: they never were what is asked for. It takes
/// a reason that only what was launched can give.
fn born_drifted(
    cluster: usize,
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
        "the node of {} drifted {} after it was made (`{reason}`): it never was what its node class asks for, and its replacement will not be either",
        names(marks.iter().map(|mark| &*mark.life.name)),
        duration(first.age?)
    );
    let draft = Draft::new(&SYMPTOM, cluster, Confidence::Possible, message)
        .help(usual(reason).to_owned())
        .count(marks.len() as u64)
        .objects("NodePool", [pool])
        .objects("EC2NodeClass", history.classes_of([pool]))
        .objects("NodeClaim", marks.iter().map(|mark| &*mark.life.name))
        .quote(cluster, [first.life.launched.as_ref(), first.life.initialised.as_ref(), Some(first.said)]);
    Some(draft.done())
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::super::testing::{found, verdict};
    use super::CORRELATION;

    /// A NodeClaim that is made at a minute and drifts some minutes later.
    fn life(name: &str, made: u32, drifts: u32, reason: &str) -> String {
        format!(
            "{made}:00 disruption: created nodeclaim {{'claim': 'default-{name}', 'NodePool': {{'name': 'default'}}}}\n\
             {drifts}:30 DEBUG nodeclaim.disruption: marking drifted {{'claim': 'default-{name}', 'reason': '{reason}'}}\n"
        )
    }

    #[test]
    fn replacements_that_drift_in_turn_are_a_loop() {
        let log = [
            life("aaaaa", 0, 2, "SecurityGroupDrift"),
            life("bbbbb", 3, 5, "SecurityGroupDrift"),
            life("ccccc", 6, 8, "SecurityGroupDrift"),
        ]
        .concat();
        insta::assert_snapshot!(found(&CORRELATION, &log), @"
        error certain x2: the nodes of the NodePool `default` drift as soon as they are replaced (`SecurityGroupDrift`): 3 generations one after the other, the youngest 2 minutes after it was made
          help: something else changes the security groups of the instances, such as Firewall Manager, or the launch template is that of another cluster with the same name: compare `status.securityGroups` of the node class with the groups of an instance
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
        // And what drifts for one reason, then for another, was changed in two ways.
        assert_eq!(
            verdict(
                &CORRELATION,
                &two.replacen("SubnetDrift", "AMIDrift", 1).replace("SubnetDrift", "InstanceTypeNotFound")
            ),
            ""
        );
    }

    #[test]
    fn a_wave_is_no_loop() {
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
    fn an_info_log_takes_a_generation_more() {
        let turn = |name: &str, next: &str, minute: u32| {
            format!(
                "{minute}:00 disruption: disrupting node(s) {{'reason': 'drifted', 'disrupted-nodes': [{{'Node': {{'name': 'ip-{name}'}}, 'NodeClaim': {{'name': 'default-{name}'}}}}]}}\n\
                 {minute}:01 disruption: created nodeclaim {{'claim': 'default-{next}', 'NodePool': {{'name': 'default'}}}}\n"
            )
        };
        let log = [turn("aaaaa", "bbbbb", 1), turn("bbbbb", "ccccc", 4), turn("ccccc", "ddddd", 7)].concat();
        insta::assert_snapshot!(found(&CORRELATION, &log), @"
        error likely x2: the nodes of the NodePool `default` drift as soon as they are replaced: 3 generations one after the other, the youngest 2 minutes after it was made
          help: the reason is in the line `marking drifted`, which is written at the log level `debug`, and in the condition `Drifted` of the NodeClaims; replaced were `default-bbbbb`, `default-ccccc`
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
    fn up_to_1_2_nodes_are_named_in_words() {
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
    fn conditions_tell_it_too() {
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
