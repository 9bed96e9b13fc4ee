//! Instances of one cluster that the controller of another cluster terminates.

use std::collections::{BTreeMap, BTreeSet};

use super::correlation::Correlation;
use super::draft::{DiagnosisDraft, at_least, duration, names};
use crate::diagnosis::Diagnosis;
use crate::history::{CollectedInstance, DeletionCause, History, Life, Maker, Record, gap};
use crate::symptom::Symptom;
use crate::vocabulary::When;
use answers::grouped;
use answers::report::Confidence;
use cluster::ids::ClusterId;

/// The correlation.
pub const CORRELATION: Correlation = Correlation { symptom: &SYMPTOM, find };

static SYMPTOM: Symptom = Symptom {
    name: "foreign-collection",
    severity: rule::finding::Severity::Error,
    summary: "the controller of another cluster terminates this cluster's instances",
    says: "the controller of another cluster terminates this cluster's instances",
    remedy: "give every cluster its own name in `settings.clusterName` (the variable `CLUSTER_NAME` of the controller) and its own controller role, whose policy allows `ec2:TerminateInstances` only on instances with that name; CloudTrail names the role that called `TerminateInstances`",
    cause: "\
The provider terminates every instance that has the tag with its cluster name, is older than half a minute and belongs
to no NodeClaim in its own API server. If two clusters of an account and region use one name, each treats the other's
nodes as its own leftovers: they disappear half a minute to two and a half minutes after their launch, are replaced,
and disappear again.

The collecting controller logs `garbage collected cloudprovider instance` at `DEBUG`. The victim notices that the
instance is gone: `garbage collecting nodeclaim with no cloudprovider representation` (`DEBUG`), or `initiating delete
from interruption message` with the kind `instance_terminated`.

Certain: the log of one cluster collects an instance of another (pass the files of the clusters with one `--cluster`
each). Likely: several nodes, or one that is not spot, disappear within minutes of their launch, but after the half
minute in which a failed launch ends; or a log collects instances that it never launched and whose Nodes it does not
have. Possible: one such instance, many that disappear together, or, in an `INFO` log, nodes that are repeatedly
deleted within minutes without a reason.",
    rules: &[
        "cluster-name-shared",
        "cluster-name-mismatch",
        "clustername-empty",
        "iam-delete-unscoped",
        "iam-tag-condition-mismatch",
    ],
    messages: &[],
    when: When::Correlated,
    confidence: Confidence::Likely,
    references: &[
        "pkg/controllers/nodeclaim/garbagecollection/controller.go of aws/karpenter-provider-aws at v1.0.6 and v1.8.0",
        "pkg/controllers/nodeclaim/garbagecollection/controller.go of kubernetes-sigs/karpenter at v1.0.2, v1.2.0 and v1.14.0",
        "pkg/controllers/interruption/controller.go of aws/karpenter-provider-aws at v1.0.6 and v1.8.0",
        "aws/karpenter-provider-aws#7356",
    ],
};

/// The collector ignores an instance for half a minute after its launch. An instance that disappears earlier failed by itself,
/// for example because its EBS key cannot be used.
const SPARED: i64 = 28_000;
/// Both controllers collect every two minutes, and the victim also waits until the node is not ready.
const FRESH: i64 = 6 * 60_000;
/// Instances that disappear within one pass of the collector disappear together.
const PASS: i64 = 150_000;
/// Number of instances that do not disappear together by accident.
const MANY: usize = 3;

fn find(histories: &[History], found: &mut Vec<Diagnosis>) {
    let explained = across(histories, found);
    for (cluster, history) in ClusterId::enumerate(histories) {
        if !explained.victims.contains(&cluster) {
            found.extend(victim(cluster, histories, history));
        }
        if !explained.collectors.contains(&cluster) {
            found.extend(collector(cluster, history));
        }
    }
}

/// Clusters with certain findings.
#[derive(Default)]
struct Explained {
    victims: BTreeSet<ClusterId>,
    collectors: BTreeSet<ClusterId>,
}

/// Finds instances that one cluster launched and another terminated.
fn across(histories: &[History], found: &mut Vec<Diagnosis>) -> Explained {
    let mut explained = Explained::default();
    if histories.iter().all(|history| history.collected.is_empty()) {
        return explained;
    }
    let mut pairs: BTreeMap<(ClusterId, ClusterId), Vec<(Owner<'_>, &CollectedInstance)>> = BTreeMap::new();
    for (victim, history) in ClusterId::enumerate(histories) {
        for owner in owners(history) {
            let others = ClusterId::enumerate(histories).filter(|(other, _)| *other != victim);
            for (collector, other) in others {
                if let Some(collected) = other.collected.get(owner.provider_id).filter(|one| !one.had_node) {
                    pairs.entry((victim, collector)).or_default().push((owner, collected));
                }
            }
        }
    }
    for ((victim, collector), mut pairs) in pairs {
        pairs.sort_by_key(|(_, collected)| collected.record.key());
        explained.victims.insert(victim);
        explained.collectors.insert(collector);
        let of_victim = victim.item_of(histories);
        let of_both = of_victim.zip(collector.item_of(histories));
        let shared = of_both.and_then(|(one, other)| shared_name(one, other));
        let message = format!(
            "the controller of another cluster of this input terminated {} of this cluster, {}{}",
            instances(pairs.len(), of_victim),
            names(pairs.iter().map(|(owner, _)| owner.provider_id)),
            shared.map(|(name, ..)| format!(": both use the cluster name `{name}`")).unwrap_or_default()
        );
        let mut draft = DiagnosisDraft::new(&SYMPTOM, victim, Confidence::Certain, message)
            .count_of_lives(pairs.len(), of_victim)
            .span(
                pairs.first().and_then(|(_, collected)| collected.record.time),
                pairs.last().and_then(|(_, collected)| collected.record.time),
            )
            .objects("NodeClaim", pairs.iter().filter_map(|(owner, _)| owner.life).map(|life| &*life.name));
        for (owner, collected) in pairs.iter().take(2) {
            let own = owner.life.into_iter().flat_map(|life| [life.launched.as_ref(), life.lost.as_ref()]);
            draft = draft
                .quote(victim, own)
                .quote(victim, [owner.node])
                .quote(collector, [Some(&collected.record)]);
        }
        if let Some((_, own, others)) = shared {
            draft = draft.quote(victim, [Some(own)]).quote(collector, [Some(others)]);
        }
        found.push(draft.done());
    }
    explained
}

/// Evidence that an instance belongs to a cluster.
#[derive(Clone, Copy)]
struct Owner<'h> {
    provider_id: &'h str,
    life: Option<&'h Life>,
    node: Option<&'h Record>,
}

/// The instances of a cluster: of its NodeClaims and of its Nodes.
fn owners(history: &History) -> impl Iterator<Item = Owner<'_>> {
    let of_claims = history.lives.all().filter(|life| !life.provider_id.is_empty());
    let claimed =
        of_claims.map(|life| Owner { provider_id: &life.provider_id, life: Some(life), node: None });
    let claimed_ids: BTreeSet<&str> = history.lives.all().map(|life| &*life.provider_id).collect();
    let alone = history.nodes.iter().filter(move |(id, _)| !claimed_ids.contains(&***id));
    claimed.chain(alone.map(|(id, node)| Owner { provider_id: id, life: None, node: Some(&node.record) }))
}

/// A cluster name that both clusters use, with the lines that show it.
fn shared_name<'h>(one: &'h History, other: &'h History) -> Option<(&'h str, &'h Record, &'h Record)> {
    one.cluster_names.iter().find_map(|(name, own)| Some((&**name, own, other.cluster_names.get(name)?)))
}

/// Finds nodes that disappear without a reason.
fn victim(cluster: ClusterId, histories: &[History], history: &History) -> Option<Diagnosis> {
    let mut gone: Vec<_> = history.lives.all().filter(|life| fate(life).is_some()).collect();
    gone.sort_by_key(|life| fate(life).map(Record::key));
    let fresh: Vec<_> = gone
        .iter()
        .copied()
        .filter(|life| age(life).is_some_and(|age| (SPARED..=FRESH).contains(&age)))
        .collect();
    let (lives, confidence) = match &*fresh {
        [_, _, ..] => (fresh, Confidence::Likely),
        [one] if !one.is_spot => (fresh, Confidence::Likely),
        [_] => (fresh, Confidence::Possible),
        [] => match at_once(&gone) {
            Some(together) => (together, Confidence::Possible),
            None => (unexplained(history)?, Confidence::Possible),
        },
    };
    let mut others = ClusterId::enumerate(histories).filter(|(other, _)| *other != cluster);
    let shared = others.find_map(|(at, other)| Some((at, shared_name(history, other)?)));
    let youngest = lives.iter().filter_map(|life| age(life)).min();
    let message = format!(
        "{} of this cluster disappeared, and this controller did not terminate {}{}{}",
        instances(lives.len(), history),
        if lives.len() == 1 { "it" } else { "them" },
        youngest.map(|age| format!(", {} after launch", duration(age))).unwrap_or_default(),
        match shared {
            Some((_, (name, ..))) => format!(", and another cluster uses the same name, `{name}`"),
            None => ": the controller of another cluster with the same name may terminate them".to_owned(),
        }
    );
    let mut help = SYMPTOM.remedy.to_owned();
    if !history.has_debug && history.has_log {
        help.push_str("; at the log level `debug` the line `garbage collecting nodeclaim with no cloudprovider representation` shows it, and in the log of the other cluster `garbage collected cloudprovider instance`");
    } else {
        help.push_str("; in the log of the other cluster, at the log level `debug`, `garbage collected cloudprovider instance` with the same `provider-id` confirms it");
    }
    let quotes = lives.iter().take(2).flat_map(|life| {
        [life.launched.as_ref(), life.registered.as_ref(), life.lost.as_ref(), life.deleted.as_ref()]
    });
    let ends = || lives.iter().filter_map(|life| ending(life)?.time);
    let mut draft = DiagnosisDraft::new(&SYMPTOM, cluster, confidence, message)
        .help(help)
        .count_of_lives(lives.len(), history)
        .span(ends().min(), ends().max())
        .objects("NodeClaim", lives.iter().map(|life| &*life.name))
        .quote(cluster, quotes);
    if let Some((at, (_, own, others))) = shared {
        draft = draft.quote(cluster, [Some(own)]).quote(at, [Some(others)]);
    }
    Some(draft.done())
}

/// A number of instances as text.
fn instances<'h>(number: usize, history: impl Into<Option<&'h History>>) -> String {
    match (number, history.into().map_or("", at_least)) {
        (1, "") => "an instance".to_owned(),
        (number, at_least) => format!("{at_least}{} instances", grouped(number as u64)),
    }
}

/// The message that an instance is gone, if no other message explains it.
fn fate(life: &Life) -> Option<&Record> {
    let gone = life.lost.as_ref()?;
    // An earlier reason explains it. A later one does not, except a notice of EC2 itself.
    let tells = |(cause, record): &(DeletionCause, Record)| {
        *cause == DeletionCause::Interrupted || record.key() <= gone.key()
    };
    let explained = life.cause.as_ref().is_some_and(tells)
        || life.timed_out.as_ref().is_some_and(|record| record.key() <= gone.key())
        || life.launch_failed.is_some();
    (!explained).then_some(gone)
}

/// The last message about an instance that is gone.
fn ending(life: &Life) -> Option<&Record> {
    fate(life).or(life.deleted.as_ref())
}

/// Time from the launch of an instance to its disappearance.
fn age(life: &Life) -> Option<i64> {
    gap(life.launched.as_ref(), ending(life))
}

/// Several nodes that disappear within one pass of the collector.
fn at_once<'h>(gone: &[&'h Life]) -> Option<Vec<&'h Life>> {
    let late = |life: &&&Life| age(life).is_none_or(|age| age > SPARED) && !life.is_spot;
    let old: Vec<_> = gone.iter().filter(late).copied().collect();
    let together = old.windows(MANY).find(|window| {
        let (first, last) =
            (window.first().and_then(|life| fate(life)), window.last().and_then(|life| fate(life)));
        gap(first, last).is_some_and(|gap| gap <= PASS)
    });
    together.map(<[_]>::to_vec)
}

/// In an `INFO` log: nodes that joined and were deleted within minutes, each created after the one before was gone.
fn unexplained(history: &History) -> Option<Vec<&Life>> {
    if history.has_debug || !history.has_log {
        return None;
    }
    let short = |life: &&Life| {
        let explained = life.cause.is_some()
            || life.timed_out.is_some()
            || life.launch_failed.is_some()
            || life.taint_missing.is_some();
        let lived = gap(life.launched.as_ref(), life.deleted.as_ref());
        !explained
            && life.maker != Maker::Disruption
            && life.registered.is_some()
            && lived.is_some_and(|lived| (SPARED..=FRESH).contains(&lived))
    };
    let mut lives: Vec<_> = history.lives.all().filter(short).collect();
    lives.sort_by_key(|life| life.born);
    let deleted = |life: &Life| life.deleted.as_ref().and_then(|record| record.time);
    let mut generations = 0;
    let mut last = None;
    for life in &lives {
        if last.is_none_or(|last| life.born > last) {
            generations += 1;
            last = Some(deleted(life));
        }
    }
    // Spot instances disappear more often without another cause.
    let enough = if lives.iter().any(|life| life.is_spot) { MANY } else { MANY - 1 };
    (generations >= enough).then_some(lives)
}

/// Finds a controller that terminates instances that it never launched.
fn collector(cluster: ClusterId, history: &History) -> Option<Diagnosis> {
    if history.collected.is_empty() {
        return None;
    }
    let own = |id: &str| history.nodes.contains_key(id);
    let launched: BTreeSet<&str> = history.lives.all().map(|life| &*life.provider_id).collect();
    let mut foreign: Vec<_> = history
        .collected
        .iter()
        .filter(|(id, one)| !one.had_node && !one.is_own && !own(id) && !launched.contains(&***id))
        .collect();
    foreign.sort_by_key(|(_, one)| one.record.key());
    let confidence = match foreign.len() {
        0 => return None,
        1 => Confidence::Possible,
        _ => Confidence::Likely,
    };
    let name = history.cluster_names.iter().next();
    let message = format!(
        "this controller terminated {} that it never launched, {}: another cluster may use the same name{}",
        instances(foreign.len(), history),
        names(foreign.iter().map(|(id, _)| &***id)),
        name.map(|(name, _)| format!(", `{name}`")).unwrap_or_default()
    );
    let help = format!(
        "find out which cluster launched these instances: its log has `launched nodeclaim` with the same `provider-id`; {}",
        SYMPTOM.remedy
    );
    let draft = DiagnosisDraft::new(&SYMPTOM, cluster, confidence, message)
        .help(help)
        .count_of_lives(foreign.len(), history)
        .span(
            foreign.first().and_then(|(_, one)| one.record.time),
            foreign.last().and_then(|(_, one)| one.record.time),
        )
        .quote(cluster, foreign.iter().take(3).map(|(_, one)| Some(&one.record)))
        .quote(cluster, [name.map(|(_, record)| record)]);
    Some(draft.done())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{found, found_in, verdict};
    use super::CORRELATION;

    /// A node that joins at a minute.
    fn node(name: &str, minute: u32) -> String {
        format!(
            "{minute}:00 provisioner: created nodeclaim {{'claim': 'default-{name}', 'NodePool': {{'name': 'default'}}}}\n\
             {minute}:03 nodeclaim.lifecycle: launched nodeclaim {{'claim': 'default-{name}', 'provider-id': 'aws:///eu-west-1a/i-{name}', 'zone': 'eu-west-1a', 'capacity-type': 'on-demand'}}\n\
             {minute}:40 nodeclaim.lifecycle: registered nodeclaim {{'claim': 'default-{name}', 'Node': {{'name': 'ip-{name}'}}}}\n"
        )
    }

    fn gone(name: &str, time: &str) -> String {
        format!(
            "{time} DEBUG nodeclaim.garbagecollection: garbage collecting nodeclaim with no cloudprovider representation {{'claim': 'default-{name}', 'provider-id': 'aws:///eu-west-1a/i-{name}'}}\n"
        )
    }

    fn collected(name: &str, time: &str) -> String {
        format!(
            "{time} DEBUG instance.garbagecollection: garbage collected cloudprovider instance {{'provider-id': 'aws:///eu-west-1a/i-{name}'}}\n"
        )
    }

    #[test]
    fn is_certain_with_both_logs() {
        let victim = [node("aaaaa", 0), gone("aaaaa", "2:50")].concat();
        let collector = [
            "0:01 DEBUG : hydrated launch template cache {'tag-key': 'eks:eks-cluster-name', 'tag-value': 'prod'}\n".to_owned(),
            collected("aaaaa", "1:10"),
        ]
        .concat();
        insta::assert_snapshot!(found_in(&CORRELATION, &[&victim, &collector]), @"
        error certain x1: the controller of another cluster of this input terminated an instance of this cluster, `aws:///eu-west-1a/i-aaaaa`
          help: give every cluster its own name in `settings.clusterName` (the variable `CLUSTER_NAME` of the controller) and its own controller role, whose policy allows `ec2:TerminateInstances` only on instances with that name; CloudTrail names the role that called `TerminateInstances`
          objects: NodeClaim/default-aaaaa
          lines: 0:2, 1:2, 0:4
        ");
        // The same instance in one log is a lost launch, and an existing Node shows that it is the cluster's own instance.
        assert_eq!(verdict(&CORRELATION, &[node("aaaaa", 0), collected("aaaaa", "1:10")].concat()), "");
    }

    #[test]
    fn is_likely_with_the_log_of_the_victim() {
        let log = [node("aaaaa", 0), gone("aaaaa", "2:50"), node("bbbbb", 3), gone("bbbbb", "5:10")].concat();
        insta::assert_snapshot!(found(&CORRELATION, &log), @"
        error likely x2: 2 instances of this cluster disappeared, and this controller did not terminate them, 2 minutes after launch: the controller of another cluster with the same name may terminate them
          help: give every cluster its own name in `settings.clusterName` (the variable `CLUSTER_NAME` of the controller) and its own controller role, whose policy allows `ec2:TerminateInstances` only on instances with that name; CloudTrail names the role that called `TerminateInstances`; in the log of the other cluster, at the log level `debug`, `garbage collected cloudprovider instance` with the same `provider-id` confirms it
          objects: NodeClaim/default-aaaaa, NodeClaim/default-bbbbb
          lines: 2, 3, 4, 6, 7, 8
        ");
        let spot = [node("aaaaa", 0), gone("aaaaa", "2:50")].concat().replace("on-demand", "spot");
        assert_eq!(verdict(&CORRELATION, &spot), "error possible");
        let explained = "1:20 interruption: initiating delete from interruption message {'claim': 'default-aaaaa', 'messageKind': 'instance_terminated', 'queue': 'prod'}\n";
        assert_eq!(verdict(&CORRELATION, &[node("aaaaa", 0), explained.to_owned()].concat()), "error likely");
    }

    #[test]
    fn is_likely_with_the_log_of_the_collector() {
        let log = [collected("aaaaa", "0:10"), collected("bbbbb", "2:10")].concat();
        insta::assert_snapshot!(found(&CORRELATION, &log), @"
        error likely x2: this controller terminated 2 instances that it never launched, `aws:///eu-west-1a/i-aaaaa`, `aws:///eu-west-1a/i-bbbbb`: another cluster may use the same name
          help: find out which cluster launched these instances: its log has `launched nodeclaim` with the same `provider-id`; give every cluster its own name in `settings.clusterName` (the variable `CLUSTER_NAME` of the controller) and its own controller role, whose policy allows `ec2:TerminateInstances` only on instances with that name; CloudTrail names the role that called `TerminateInstances`
          objects: 
          lines: 1, 2
        ");
        assert_eq!(verdict(&CORRELATION, &collected("aaaaa", "0:10")), "error possible");
        let own = "0:11 DEBUG instance.garbagecollection: garbage collected node {'provider-id': 'aws:///eu-west-1a/i-aaaaa', 'Node': {'name': 'ip-a'}}\n";
        assert_eq!(verdict(&CORRELATION, &[collected("aaaaa", "0:10"), own.to_owned()].concat()), "");
    }

    #[test]
    fn is_possible_with_repeated_losses_in_an_info_log() {
        let deleted = |name: &str, time: &str| {
            format!("{time} nodeclaim.lifecycle: deleted nodeclaim {{'claim': 'default-{name}'}}\n")
        };
        let turn = |name: &str, minute: u32| {
            [node(name, minute), deleted(name, &format!("{}:50", minute + 2))].concat()
        };
        let log = [turn("aaaaa", 0), turn("bbbbb", 3), turn("ccccc", 6)].concat();
        insta::assert_snapshot!(found(&CORRELATION, &log), @"
        error possible x3: 3 instances of this cluster disappeared, and this controller did not terminate them, 2 minutes after launch: the controller of another cluster with the same name may terminate them
          help: give every cluster its own name in `settings.clusterName` (the variable `CLUSTER_NAME` of the controller) and its own controller role, whose policy allows `ec2:TerminateInstances` only on instances with that name; CloudTrail names the role that called `TerminateInstances`; at the log level `debug` the line `garbage collecting nodeclaim with no cloudprovider representation` shows it, and in the log of the other cluster `garbage collected cloudprovider instance`
          objects: NodeClaim/default-aaaaa, NodeClaim/default-bbbbb, NodeClaim/default-ccccc
          lines: 2, 3, 4, 6, 7, 8
        ");
        let two = [turn("aaaaa", 0), turn("bbbbb", 3)].concat();
        assert_eq!(verdict(&CORRELATION, &two), "error possible");
        assert_eq!(verdict(&CORRELATION, &two.replace("on-demand", "spot")), "");
        assert_eq!(verdict(&CORRELATION, &turn("aaaaa", 0)), "");
        // A deleted NodePool removes all its nodes at once.
        let at_once = [
            node("aaaaa", 0),
            node("bbbbb", 0),
            node("ccccc", 1),
            deleted("aaaaa", "3:00"),
            deleted("bbbbb", "3:00"),
            deleted("ccccc", "3:01"),
        ];
        assert_eq!(verdict(&CORRELATION, &at_once.concat()), "");
    }

    #[test]
    fn ignores_instances_with_another_cause() {
        for end in [
            // After a spot interruption the instance stops.
            "1:50 interruption: initiating delete from interruption message {'claim': 'default-aaaaa', 'messageKind': 'spot_interrupted'}\n3:50 DEBUG nodeclaim.garbagecollection: garbage collecting nodeclaim with no cloudprovider representation {'claim': 'default-aaaaa'}",
            // An EBS key that cannot be used ends an instance within seconds.
            "0:12 interruption: initiating delete from interruption message {'claim': 'default-aaaaa', 'messageKind': 'instance_terminated'}",
            // Long after its launch, a single instance may fail.
            "3:20:00 DEBUG nodeclaim.garbagecollection: garbage collecting nodeclaim with no cloudprovider representation {'claim': 'default-aaaaa'}",
        ] {
            assert_eq!(verdict(&CORRELATION, &format!("{}{end}\n", node("aaaaa", 0))), "", "{end}");
        }
    }
}
