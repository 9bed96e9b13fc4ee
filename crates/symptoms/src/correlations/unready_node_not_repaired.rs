//! Nodes that stay unhealthy, and whether node repair replaces them.

use std::collections::BTreeMap;

use super::correlation::{Correlation, each};
use super::draft::{DiagnosisDraft, duration, names};
use crate::diagnosis::Diagnosis;
use crate::entry::{EntryObject, Time};
use crate::history::{History, UnmetCondition, tolerated};
use crate::symptom::Symptom;
use crate::vocabulary::When;
use answers::report::Confidence;
use cluster::ids::ClusterId;
use rule::finding::Severity;

/// The correlation.
pub const CORRELATION: Correlation =
    Correlation { symptom: &SYMPTOM, find: |histories, found| each(histories, found, find) };

static SYMPTOM: Symptom = Symptom {
    name: "unready-node-not-repaired",
    severity: Severity::Error,
    summary: "a node that was in use is NotReady, and Karpenter keeps it",
    says: "a node that was in use is NotReady, and Karpenter keeps it",
    remedy: "delete the NodeClaim of the node (`kubectl delete nodeclaim`), and turn on node repair with `settings.featureGates.nodeRepair: true` (since 1.1)",
    cause: "\
Karpenter looks at the health of a node only until it is initialized. If kubelet dies later, the Node becomes NotReady, but
its NodeClaim stays Ready, and the instance runs on: EC2 sees no failure. Its pods stay in `Terminating`, because no
kubelet confirms their end, and consolidation leaves the node alone.

The feature gate `NodeRepair`, alpha and off by default, deletes a node whose `Ready` is False or Unknown for 30 minutes
(Unknown from 1.2 on). It also reads the conditions of the node monitoring agent: `AcceleratedHardwareReady` for 10
minutes, `StorageReady`, `NetworkingReady`, `KernelReady` and `ContainerRuntimeReady` for 30. It repairs nothing while
more than a fifth of the NodePool is unhealthy. Up to 1.14 it ignores PodDisruptionBudgets and budgets; from 1.15 on it
launches a replacement first and respects budgets.",
    rules: &["budget-blocks-node-repair"],
    messages: &[],
    when: When::Correlated,
    confidence: Confidence::Likely,
    references: &[
        "kubernetes-sigs/karpenter#2967, #1659; aws/karpenter-provider-aws#7029, #7479",
        "pkg/controllers/node/health/controller.go of kubernetes-sigs/karpenter at v1.1.0 and v1.14.0",
        "`RepairPolicies` in pkg/cloudprovider/cloudprovider.go of aws/karpenter-provider-aws at v1.1.0, v1.2.0 and v1.14.1",
    ],
};

/// An unhealthy node.
struct Unhealthy<'h> {
    node: &'h EntryObject<'static>,
    claim: &'h str,
    kind: &'h str,
    condition: &'h UnmetCondition,
}

impl Unhealthy<'_> {
    /// Milliseconds for which node repair tolerates the condition.
    fn tolerated(&self) -> i64 {
        tolerated(self.kind, &self.condition.status).unwrap_or_default()
    }
}

fn find(cluster: ClusterId, history: &History, found: &mut Vec<Diagnosis>) {
    let mut by_condition: BTreeMap<(&str, &str, &str), Vec<Unhealthy<'_>>> = BTreeMap::new();
    for (node, kind, condition) in history.unmet.all() {
        if node.kind != "Node"
            || !is_managed(history, &node.name)
            || is_starting(history, node, kind, condition)
        {
            continue;
        }
        let claim = history.lives.claim_of(&node.name).unwrap_or_default();
        // A node that is deleted already is on its way out.
        if history.lives.get(claim).is_some_and(|life| life.deleting.is_some()) {
            continue;
        }
        let pool = history.pools_of_nodes.get(&*node.name).map(|pool| &**pool).unwrap_or_default();
        let unhealthy = Unhealthy { node, claim, kind, condition };
        by_condition.entry((pool, kind, &condition.status)).or_default().push(unhealthy);
    }
    for ((pool, ..), nodes) in by_condition {
        found.extend(diagnosis(cluster, history, pool, &nodes));
    }
}

/// Whether Karpenter may manage a Node: the input does not show that another tool does.
fn is_managed(history: &History, node: &str) -> bool {
    history.pools_of_nodes.get(node).is_none_or(|pool| !pool.is_empty())
}

/// Whether a Node is not initialized yet: other diagnoses explain why. Only `Ready=Unknown` shows that kubelet reported before.
fn is_starting(history: &History, node: &EntryObject<'_>, kind: &str, condition: &UnmetCondition) -> bool {
    let name = history.lives.claim_of(&node.name).unwrap_or_default();
    let claim = EntryObject { kind: "NodeClaim".into(), namespace: "".into(), name: name.to_owned().into() };
    let is_unmet = |of_type: &str| history.unmet.get(&claim, of_type).is_some();
    let is_initialized = history.initialized_nodes.contains(&*node.name)
        || history.lives.get(name).is_some_and(|life| life.initialised.is_some());
    // A table shows only `Ready`. A NodeClaim stays Ready if its node becomes unready later.
    let is_from_table = &*condition.status == "NotReady";
    is_unmet("Initialized")
        || is_unmet("Registered")
        || (is_from_table && is_unmet("Ready"))
        || (kind == "Ready" && &*condition.status == "False" && !is_initialized)
}

fn diagnosis(
    cluster: ClusterId,
    history: &History,
    pool: &str,
    nodes: &[Unhealthy<'_>],
) -> Option<Diagnosis> {
    let first = nodes.first()?;
    let since = nodes.iter().filter_map(|one| one.condition.record.time).min();
    let lasted = history.lasted(since).filter(|lasted| *lasted > 0);
    let (plural, verb) = if nodes.len() == 1 { ("", "is") } else { ("s", "are") };
    let is_from_table = &*first.condition.status == "NotReady";
    let state = if is_from_table {
        "NotReady".to_owned()
    } else if first.kind == "Ready" {
        format!("NotReady (`Ready` is {})", first.condition.status)
    } else {
        format!("unhealthy (`{}` is {})", first.kind, first.condition.status)
    };
    let lasts = match (lasted, since) {
        (Some(lasted), _) if lasted >= first.tolerated() => format!(" for {}", duration(lasted)),
        (_, Some(since)) => format!(" since {since}"),
        _ => String::new(),
    };
    let told = first.condition.message.trim_end_matches('.');
    let told = if told.is_empty() { String::new() } else { format!(", {told}") };
    let (repair, help, severity) = repair(history, pool, nodes, since);
    // A table shows neither since when the node is unready nor, without more columns, that Karpenter manages it.
    let may_be_other = is_from_table && pool.is_empty() && first.claim.is_empty();
    let condition = match nodes {
        [_] if may_be_other => "if it is Karpenter's, ",
        _ if may_be_other => "if they are Karpenter's, ",
        _ => "",
    };
    let message = format!(
        "the node{plural} {} {verb} {state}{lasts}{told}: {condition}{repair}",
        names(nodes.iter().map(|one| &*one.node.name)),
    );
    let is_long = lasted.is_some_and(|lasted| lasted >= first.tolerated());
    let confidence = if may_be_other {
        Confidence::Possible
    } else if is_long {
        Confidence::Certain
    } else {
        Confidence::Likely
    };
    let draft = DiagnosisDraft::new(&SYMPTOM, cluster, confidence, message)
        .severity(severity)
        .help(help)
        .count(nodes.len() as u64)
        .objects("Node", nodes.iter().map(|one| &*one.node.name))
        .objects("NodeClaim", nodes.iter().map(|one| one.claim))
        .quote(cluster, nodes.iter().map(|one| Some(&one.condition.record)));
    Some(draft.done())
}

/// The action of node repair on the nodes, the remedy, and the severity.
fn repair(
    history: &History,
    pool: &str,
    nodes: &[Unhealthy<'_>],
    since: Option<Time>,
) -> (String, String, Severity) {
    let tolerated = nodes.first().map(Unhealthy::tolerated).unwrap_or_default();
    let minutes = tolerated / 60_000;
    let delete = match nodes {
        [one] if !one.claim.is_empty() => format!("`kubectl delete nodeclaim {}`", one.claim),
        _ => "`kubectl delete nodeclaim`".to_owned(),
    };
    let on = "`settings.featureGates.nodeRepair: true`";
    let it = if nodes.len() == 1 { "it" } else { "them" };
    if !history.repair.is_on {
        let off = if history.repair.is_known {
            format!("node repair is off, so Karpenter keeps {it}")
        } else {
            format!("Karpenter keeps {it} unless node repair is on, which is off by default")
        };
        let help = format!(
            "replace the node with {delete}: its pods do not end by themselves, because no kubelet confirms it; turn on node repair with {on}, so that Karpenter does the same after {minutes} minutes"
        );
        return (off, help, Severity::Error);
    }
    let unhealthy = nodes.len();
    let all = history.pools_of_nodes.values().filter(|other| ***other == *pool).count();
    if let Some(held) = nodes.iter().find(|one| history.unrepairable.contains(&*one.node.name)) {
        let text = "node repair is on, but the annotation `karpenter.sh/do-not-repair` keeps it";
        let help = format!(
            "remove the annotation from `{}` once it may be replaced, or delete it: {delete}",
            held.node.name
        );
        return (text.to_owned(), help, Severity::Error);
    }
    // The allowed part is rounded up: `GetScaledValueFromIntOrPercent(…, true)` in pkg/controllers/node/health/controller.go.
    if !pool.is_empty() && all > 0 && unhealthy > all.div_ceil(5) {
        let text = format!(
            "node repair is on, but repairs nothing while more than a fifth of the NodePool `{pool}` is unhealthy ({unhealthy} of {all} nodes)"
        );
        let help = format!(
            "find what the nodes have in common: the image, the zone, the network, a DaemonSet; replace some by hand: {delete}"
        );
        return (text, help, Severity::Error);
    }
    let at = since.filter(|since| !since.is_age()).map(|since| format!(", at {}", Time(since.0 + tolerated)));
    let text = format!(
        "node repair is on and replaces {it} {minutes} minutes after the change{}",
        at.unwrap_or_default()
    );
    let help = if history.repair.is_legacy {
        "if the node is still there later, look for the event `NodeRepairBlocked`".to_owned()
    } else {
        "if the node is still there later, look for the event `NodeRepairBlocked`; from 1.15 on node repair respects budgets and waits for a replacement".to_owned()
    };
    (text, help, Severity::Warning)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{found, verdict};
    use super::CORRELATION;

    fn nodes(number: usize, more: &str) -> String {
        let node = |at: usize| {
            format!(
                r"---
apiVersion: v1
kind: Node
metadata: {{name: node-{at}, labels: {{karpenter.sh/nodepool: web}}{more}}}
spec: {{providerID: 'aws:///eu-west-1a/i-{at}'}}
---
---
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {{name: web-{at}, labels: {{karpenter.sh/nodepool: web}}}}
status: {{nodeName: node-{at}}}
---
"
            )
        };
        (1..=number).map(node).collect()
    }

    const DEAD: &str =
        "0:10 condition Node/node-1 Ready=Unknown NodeStatusUnknown: Kubelet stopped posting node status.\n";

    const VALUES: &str = r"---
settings: {clusterName: prod, featureGates: {nodeRepair: true}}
---
";

    #[test]
    fn tells_that_node_repair_is_off() {
        insta::assert_snapshot!(found(&CORRELATION, &format!("{}{DEAD}50:10 karpenter: hello\n", nodes(1, ""))), @"
        error certain x1: the node `node-1` is NotReady (`Ready` is Unknown) for 50 minutes, Kubelet stopped posting node status: Karpenter keeps it unless node repair is on, which is off by default
          help: replace the node with `kubectl delete nodeclaim web-1`: its pods do not end by themselves, because no kubelet confirms it; turn on node repair with `settings.featureGates.nodeRepair: true`, so that Karpenter does the same after 30 minutes
          objects: Node/node-1, NodeClaim/web-1
          lines: 13
        ");
        let off = VALUES.replace(", featureGates: {nodeRepair: true}", "");
        let text = found(&CORRELATION, &format!("{off}{}{DEAD}", nodes(1, "")));
        assert!(text.contains("node repair is off, so Karpenter keeps it"), "{text}");
    }

    #[test]
    fn tells_what_node_repair_does() {
        let on = |nodes: &str, dead: &str| found(&CORRELATION, &format!("{VALUES}{nodes}{dead}"));
        let text = on(&nodes(5, ""), DEAD);
        assert!(
            text.starts_with("warning likely") && text.contains("replaces it 30 minutes after the change"),
            "{text}"
        );
        let second = DEAD.replace("node-1", "node-2");
        let text = on(&nodes(5, ""), &format!("{DEAD}{second}"));
        assert!(
            text.contains("more than a fifth of the NodePool `web` is unhealthy (2 of 5 nodes)"),
            "{text}"
        );
        let text = on(&nodes(5, ", annotations: {karpenter.sh/do-not-repair: 'true'}"), DEAD);
        assert!(text.contains("`karpenter.sh/do-not-repair` keeps it"), "{text}");
    }

    #[test]
    fn ignores_nodes_that_recover_start_go_or_belong_to_others() {
        let alive = "0:20 condition Node/node-1 Ready=True KubeletReady: kubelet is posting ready status\n";
        assert_eq!(verdict(&CORRELATION, &format!("{}{DEAD}{alive}", nodes(1, ""))), "");
        let starting =
            "0:10 condition NodeClaim/web-1 Initialized=Unknown NodeNotReady: Node status is NotReady\n";
        assert_eq!(verdict(&CORRELATION, &format!("{}{starting}{DEAD}", nodes(1, ""))), "");
        let other =
            nodes(1, "").replace("labels: {karpenter.sh/nodepool: web}}\nspec", "labels: {a: b}}\nspec");
        assert_eq!(verdict(&CORRELATION, &format!("{other}{DEAD}")), "");
        let going =
            nodes(1, "").replace("{name: web-1,", "{name: web-1, deletionTimestamp: '2026-03-31T16:05:00Z',");
        assert_eq!(verdict(&CORRELATION, &format!("{going}{DEAD}")), "");
    }

    #[test]
    fn kubelet_that_is_not_ready_counts_on_initialized_nodes() {
        let unready = "0:10 condition Node/node-1 Ready=False KubeletNotReady: PLEG is not healthy\n";
        assert_eq!(verdict(&CORRELATION, &format!("{}{unready}", nodes(1, ""))), "");
        let initialized = nodes(1, "").replace(
            "{karpenter.sh/nodepool: web}}\nspec",
            "{karpenter.sh/nodepool: web, karpenter.sh/initialized: 'true'}}\nspec",
        );
        assert_eq!(verdict(&CORRELATION, &format!("{initialized}{unready}")), "error likely");
    }

    #[test]
    fn row_of_a_table_shows_neither_since_when_nor_whether_karpenter_manages_the_node() {
        let row = "- condition Node/node-1 Ready=NotReady\n";
        insta::assert_snapshot!(found(&CORRELATION, row), @"
        error possible x1: the node `node-1` is NotReady: if it is Karpenter's, Karpenter keeps it unless node repair is on, which is off by default
          help: replace the node with `kubectl delete nodeclaim`: its pods do not end by themselves, because no kubelet confirms it; turn on node repair with `settings.featureGates.nodeRepair: true`, so that Karpenter does the same after 30 minutes
          objects: Node/node-1
          lines: 1
        ");
        assert_eq!(verdict(&CORRELATION, &format!("{}{row}", nodes(1, ""))), "error likely");
        // The NodeClaim stays Ready if its node was in use.
        let starting = "- condition NodeClaim/web-1 Ready=Unknown\n";
        assert_eq!(verdict(&CORRELATION, &format!("{}{starting}{row}", nodes(1, ""))), "");
    }

    #[test]
    fn reads_conditions_of_the_node_monitoring_agent() {
        let gpu = "0:10 condition Node/node-1 AcceleratedHardwareReady=False NvidiaXID: XID 79\n";
        let text = found(&CORRELATION, &format!("{}{gpu}", nodes(1, "")));
        assert!(
            text.contains("unhealthy (`AcceleratedHardwareReady` is False)") && text.contains("10 minutes"),
            "{text}"
        );
    }
}
