use karpenter::labels;
use karpenter::operator::Operator;
use karpenter::release::Releases;
use objects::node_pool::NodePool;
use objects::object::{Object, Operation};
use objects::pod::Pod;
use objects::requirement::RequirementItem;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};
use scheduling::simulation::DaemonLoad;

use crate::rules::node_room::{self, amount, request};

rule! {
    /// ## What it does
    ///
    /// Adds the requests of the DaemonSets that run on the nodes of a NodePool, and compares the sum with the instance types
    /// that the NodePool lists by type or by size. The finding is at the DaemonSet that requests most. It is a warning if
    /// the DaemonSets do not fit an instance type of the list, and an info if they take at least half of one. A sum of
    /// several DaemonSets is a warning only with `--complete`: otherwise they may be for different clusters.
    ///
    /// If the DaemonSets fit no instance type of a NodePool at all, the rule reports it whether or not the NodePool lists
    /// instance types.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter adds the requests of the DaemonSets to the pods of a new node. It never launches an instance type on which
    /// the DaemonSets do not fit, so the NodePool has fewer instance types than its list says. On nodes that exist already
    /// the pods of the DaemonSet stay Pending, because Karpenter launches no node for them. Small instance types that fit
    /// pay mostly for agents.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: node
    ///   amiSelectorTerms: [{alias: al2023@v20250505}]
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: small
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///       - {key: node.kubernetes.io/instance-type, operator: In, values: [t3.small, t3.large]}
    /// ---
    /// apiVersion: apps/v1
    /// kind: DaemonSet
    /// metadata: {name: logs, namespace: logging}
    /// spec:
    ///   selector: {matchLabels: {app: logs}}
    ///   template:
    ///     metadata: {labels: {app: logs}}
    ///     spec:
    ///       containers:
    ///       - {name: logs, image: "example.com/logs:1", resources: {requests: {cpu: 100m, memory: 2Gi}}}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: node
    ///   amiSelectorTerms: [{alias: al2023@v20250505}]
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: small
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///       - {key: node.kubernetes.io/instance-type, operator: In, values: [t3.large, t3.xlarge]}
    /// ---
    /// apiVersion: apps/v1
    /// kind: DaemonSet
    /// metadata: {name: logs, namespace: logging}
    /// spec:
    ///   selector: {matchLabels: {app: logs}}
    ///   template:
    ///     metadata: {labels: {app: logs}}
    ///     spec:
    ///       containers:
    ///       - {name: logs, image: "example.com/logs:1", resources: {requests: {cpu: 100m, memory: 2Gi}}}
    /// ```
    ///
    /// ## What it needs
    ///
    /// The input must contain the DaemonSets, the NodePool and its node class. The policy in the cluster does not have the
    /// instance types, so the finding is only in the report of files.
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter#390; aws/karpenter-provider-aws#1649, #9269
    /// - `buildDaemonOverheadGroups` in pkg/controllers/provisioning/scheduling/scheduler.go of kubernetes-sigs/karpenter at
    ///   v1.14.1
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the DaemonSets take most of an instance type that a NodePool lists, or do not fit",
        runs: Runs::OnFiles,
        on: &[On::Workload],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let daemon = Pod::of(object).filter(|_| object.kind() == "DaemonSet");
    let Some(daemon) = daemon.filter(|_| object.operation() == Operation::Apply) else { return };
    if !node_room::is_known(context) {
        return;
    }
    let room = node_room::room_of(context.inventory, context);
    let loads = room.loads(daemon);
    let found = loads.filter_map(|load| {
        let pool = node_room::pool(&load.pool, context)?;
        Some((severity(load, pool, context)?, load, pool))
    });
    // Errors come first in the order of severities.
    let Some((severity, load, pool)) = found.min_by_key(|(severity, ..)| *severity) else { return };
    findings.push(finding(daemon, load, pool, severity));
}

fn severity(load: &DaemonLoad, pool: NodePool<'_>, context: &Context<'_, '_>) -> Option<Severity> {
    let DaemonLoad { requested, allocatable, .. } = load;
    // A sum is right only if all DaemonSets run in the same cluster.
    let is_certain = load.daemons == 1 || context.inventory.is_complete();
    let too_big = if is_certain { Severity::Warning } else { Severity::Info };
    match load.instance_type {
        None => Some(too_big),
        Some(_) if !pool.requirements().items().any(lists_types) => None,
        Some(_) if requested > allocatable => Some(too_big),
        Some(_) if requested.plus(*requested) >= *allocatable => Some(Severity::Info),
        Some(_) => None,
    }
}

/// Whether a requirement lists instance types by type or by size.
fn lists_types(item: RequirementItem<'_>) -> bool {
    const KEYS: [&str; 2] = ["node.kubernetes.io/instance-type", "karpenter.k8s.aws/instance-size"];
    item.operator() == Some(Operator::In)
        && item.key().is_some_and(|key| KEYS.contains(&labels::normalised(key)))
}

fn finding<'d>(daemon: Pod<'d>, load: &DaemonLoad, pool: NodePool<'d>, severity: Severity) -> Finding<'d> {
    let DaemonLoad { resource, requested, allocatable, .. } = load;
    let name = &load.pool;
    let sum = format!(
        "with this DaemonSet, the DaemonSets on the nodes of the NodePool `{name}` request {} {resource}",
        request(resource, *requested)
    );
    let (message, help) = match load.instance_type {
        None => (
            format!(
                "{sum}, but its largest instance type leaves {} after its reservations, so Karpenter launches no nodes from the NodePool",
                amount(resource, *allocatable)
            ),
            "lower the requests of the DaemonSets, or allow larger instance types".to_owned(),
        ),
        Some(kind) => {
            let left = amount(resource, *allocatable);
            let message = if requested > allocatable {
                format!(
                    "{sum}, but its instance type `{kind}` leaves {left} after its reservations, so Karpenter never launches it"
                )
            } else {
                format!(
                    "{sum}, at least half of the {left} that its instance type `{kind}` leaves after its reservations"
                )
            };
            (
                message,
                format!(
                    "remove `{kind}` and similar instance types from the NodePool, or lower the requests of the DaemonSets"
                ),
            )
        }
    };
    Finding::new(&RULE, node_room::place_of_request(daemon, resource), message)
        .severity(severity)
        .help(help)
        .related(node_room::place_of_types(pool), format!("the instance types of the NodePool `{name}`"))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::node_room::fixtures::{al2023, class, daemon, pool};
    use crate::rules::testing::{findings, findings_with, silent};
    use rule::settings::Settings;

    fn with(types: &str, daemons: &str) -> String {
        al2023() + &pool("default", types, "") + daemons
    }

    #[test]
    fn warns_of_a_listed_type_on_which_the_daemon_sets_do_not_fit() {
        let daemons = daemon("logs", "memory: 1Gi", "") + &daemon("metrics", "memory: 512Mi", "");
        let complete = Settings { complete_inventory: true, ..Settings::default() };
        insta::assert_snapshot!(findings_with(&RULE, &with("t3.small, t3.large", &daemons), &complete), @"
         28 |         resources: {requests: {memory: 1Gi}}
            |                                        ^^^
        warning DaemonSet/logs spec.template.spec.containers[0].resources.requests.memory [all]
          with this DaemonSet, the DaemonSets on the nodes of the NodePool `default` request 1.5Gi memory, but its instance type `t3.small` leaves 1.3Gi after its reservations, so Karpenter never launches it
          help: remove `t3.small` and similar instance types from the NodePool, or lower the requests of the DaemonSets
          see line 15 spec.template.spec.requirements: the instance types of the NodePool `default`
        ");
        let small = daemon("logs", "memory: 512Mi", "") + &daemon("metrics", "memory: 1Gi", "");
        // Without `--complete` they may run in different clusters.
        assert!(findings(&RULE, &with("t3.small", &small)).contains("info DaemonSet/metrics"));
        let alone = with("t3.small", &daemon("logs", "memory: 1500Mi", ""));
        assert!(findings(&RULE, &alone).contains("warning DaemonSet/logs"));
        // Two files with the same DaemonSet: 1200Mi fit, twice as much does not.
        let logs = daemon("logs", "memory: 600Mi", "");
        silent(&RULE, &with("t3.small", &(logs.clone() + &logs)));
    }

    #[test]
    fn informs_of_daemon_sets_that_take_half_of_a_listed_type() {
        // A t3.medium has 2 CPUs, of which 70m are reserved.
        insta::assert_snapshot!(findings(&RULE, &with("t3.medium", &daemon("logs", "cpu: 965m", ""))), @"
         28 |         resources: {requests: {cpu: 965m}}
            |                                     ^^^^
        info DaemonSet/logs spec.template.spec.containers[0].resources.requests.cpu [all]
          with this DaemonSet, the DaemonSets on the nodes of the NodePool `default` request 965m cpu, at least half of the 1930m that its instance type `t3.medium` leaves after its reservations
          help: remove `t3.medium` and similar instance types from the NodePool, or lower the requests of the DaemonSets
          see line 15 spec.template.spec.requirements: the instance types of the NodePool `default`
        ");
        silent(&RULE, &with("t3.medium", &daemon("logs", "cpu: 964m", "")));
        let all = findings(&RULE, &with("t3.medium", &daemon("logs", "cpu: 1930m", "")));
        assert!(all.contains("info DaemonSet/logs") && all.contains("at least half of the 1930m"), "{all}");
    }

    #[test]
    fn counts_only_daemon_sets_that_run_on_the_type() {
        silent(
            &RULE,
            &with("t3.small", &daemon("logs", "cpu: 4", "nodeSelector: {kubernetes.io/arch: arm64}")),
        );
        let tainted = al2023() + &pool("default", "t3.small", "taints: [{key: a, effect: NoSchedule}]");
        silent(&RULE, &(tainted.clone() + &daemon("logs", "cpu: 4", "")));
        assert!(
            !findings(&RULE, &(tainted + &daemon("logs", "cpu: 4", "tolerations: [{operator: Exists}]")))
                .is_empty()
        );
    }

    #[test]
    fn judges_open_nodepools_only_if_no_type_is_left() {
        let open = |key: &str, value: &str| {
            let listed = pool("default", value, "");
            al2023()
                + &listed
                    .replace("node.kubernetes.io/instance-type", &format!("karpenter.k8s.aws/instance-{key}"))
        };
        silent(&RULE, &(open("family", "t3") + &daemon("logs", "cpu: 4", "")));
        assert!(!findings(&RULE, &(open("size", "large") + &daemon("logs", "cpu: 4", ""))).is_empty());
        insta::assert_snapshot!(findings(&RULE, &(open("family", "t3") + &daemon("logs", "cpu: 8", ""))), @"
         28 |         resources: {requests: {cpu: 8}}
            |                                     ^
        warning DaemonSet/logs spec.template.spec.containers[0].resources.requests.cpu [all]
          with this DaemonSet, the DaemonSets on the nodes of the NodePool `default` request 8 cpu, but its largest instance type leaves 7910m after its reservations, so Karpenter launches no nodes from the NodePool
          help: lower the requests of the DaemonSets, or allow larger instance types
          see line 15 spec.template.spec.requirements: the instance types of the NodePool `default`
        ");
    }

    #[test]
    fn ignores_nodepools_without_a_known_node_class() {
        let logs = daemon("logs", "cpu: 8", "");
        silent(&RULE, &(pool("default", "t3.small", "") + &logs));
        let open = class("default", "amiFamily: AL2023\n  kubelet: {systemReserved: {cpu: '${CPU}'}}");
        silent(&RULE, &(open + &pool("default", "t3.small", "") + &logs));
        silent(&RULE, &with("${TYPES}", &logs));
    }
}
