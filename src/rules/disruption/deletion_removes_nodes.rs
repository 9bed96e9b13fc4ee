use cluster::inventory::Inventory;
use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::object::{Object, Operation};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Reviews, Runs};

use crate::rules::nodes_in_use::{NODES, NodesInUse, acceptance};

rule! {
    /// ## What it does
    ///
    /// Reports the deletion of a NodePool that has nodes, and of an EC2NodeClass that NodePools or nodes use. Files delete
    /// nothing: the rule runs in the cluster, and on an `AdmissionReview`.
    ///
    /// NodeClaims decide whether there are nodes; without them, `status.resources` of the NodePool does. NodeClaims that
    /// are being deleted do not count.
    ///
    /// If neither is known, for example because the policy may not list NodeClaims, a warning says that the nodes
    /// could not be counted. It stays a warning with the level `deny`, too: a policy that sees no node would otherwise reject
    /// the deletion of every NodePool, used or not.
    ///
    /// ## Why it is bad
    ///
    /// Each NodeClaim has its NodePool as its owner. When the NodePool goes, the garbage collector deletes the NodeClaims, and
    /// Karpenter drains their nodes all at once: the budgets of the NodePool are gone, too, and no replacement is made first.
    ///
    /// An EC2NodeClass keeps a finalizer until its last node is gone. Until then, the NodePools that use it are not Ready
    /// (`NodeClassTerminating`) and get no new nodes.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: admission.k8s.io/v1
    /// kind: AdmissionReview
    /// request:
    ///   operation: DELETE
    ///   object: null
    ///   oldObject:
    ///     apiVersion: karpenter.sh/v1
    ///     kind: NodePool
    ///     metadata: {name: default}
    ///     spec:
    ///       template:
    ///         spec:
    ///           nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///           requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodeClaim
    /// metadata:
    ///   name: default-7h2kx
    ///   labels: {karpenter.sh/nodepool: default}
    /// spec:
    ///   nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    /// ```
    ///
    /// ## Use instead
    ///
    /// Move the pods first. To keep the nodes while the NodePool goes, delete it with `--cascade=orphan`. A NodePool without
    /// nodes can go:
    ///
    /// ```yaml
    /// apiVersion: admission.k8s.io/v1
    /// kind: AdmissionReview
    /// request:
    ///   operation: DELETE
    ///   object: null
    ///   oldObject:
    ///     apiVersion: karpenter.sh/v1
    ///     kind: NodePool
    ///     metadata: {name: default}
    ///     spec:
    ///       template:
    ///         spec:
    ///           nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///           requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodeClaim
    /// metadata:
    ///   name: other-2mq8r
    ///   labels: {karpenter.sh/nodepool: other}
    /// spec:
    ///   nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    /// ```
    ///
    /// ## References
    ///
    /// - `ownerReferences` in pkg/controllers/provisioning/scheduling/nodeclaimtemplate.go, and `NodeClassTerminating` in
    ///   pkg/controllers/nodepool/readiness/controller.go of kubernetes-sigs/karpenter at v1.14.1
    /// - `finalize` in pkg/controllers/nodeclass/controller.go of aws/karpenter-provider-aws at v1.14.1
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a deletion removes nodes, or an EC2NodeClass that is in use",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL), On::Kind(Kind::NODE_CLASS)],
        reviews: Reviews::Deletions,
        inventory: &NODES,
        looks_up: |object| !object.is_being_deleted(),
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    if object.operation() != Operation::Delete || object.is_being_deleted() {
        return;
    }
    let nodes = NodesInUse::of(object, context.inventory);
    if let Some((message, help)) = uncounted(object, &nodes, context.inventory) {
        let help = format!("{help}{}", acceptance(RULE.name, context.settings));
        findings.push(Finding::at(&RULE, object.name_node(), message).help(help).undecided());
        return;
    }
    let (found, help) = if object.is(Kind::NODE_POOL) {
        (of_pool(&nodes), "give the pods another NodePool first, or keep the nodes with `--cascade=orphan`")
    } else {
        (
            of_class(&nodes),
            "move the NodePools to another EC2NodeClass first, and wait until their nodes are replaced",
        )
    };
    let Some(message) = found else { return };
    let help = format!("{help}{}", acceptance(RULE.name, context.settings));
    findings.push(Finding::at(&RULE, object.name_node(), message).help(help));
}

/// Message and help if nothing shows whether the object has nodes or NodePools, and some may be unknown.
fn uncounted(
    object: Object<'_>,
    nodes: &NodesInUse<'_>,
    inventory: &Inventory<'_>,
) -> Option<(String, String)> {
    let (kind, name) = (object.kind(), object.name());
    if object.is(Kind::NODE_POOL) {
        let message = format!(
            "the nodes of {kind} `{name}` could not be counted, because its NodeClaims are not known: Karpenter drains those that exist \
             without budgets, and launches no replacement first"
        );
        let help = format!("`kubectl get nodeclaims -l karpenter.sh/nodepool={name}` lists them");
        return nodes.count.is_none().then_some((message, help));
    }
    let is_known = inventory.knows(Kind::NODE_CLAIM) && inventory.knows(Kind::NODE_POOL);
    let is_used = nodes.count.is_some_and(|count| count > 0) || !nodes.pools.is_empty();
    let message = format!(
        "the nodes of {kind} `{name}` could not be counted, because the NodeClaims or the NodePools are not known: Karpenter's finalizer \
         keeps it until the last node is gone, and NodePools that use it cannot become Ready"
    );
    let help = "`kubectl get nodepools,nodeclaims -o wide` shows which use it".to_owned();
    (!is_known && !is_used).then_some((message, help))
}

fn of_pool(nodes: &NodesInUse<'_>) -> Option<String> {
    nodes.count.filter(|count| *count > 0)?;
    let removed = nodes.named(None);
    let message = format!(
        "NodeClaims go with their NodePool: Karpenter drains {removed} without budgets, and launches no replacement first"
    );
    Some(message)
}

/// The state of a NodePool without its EC2NodeClass.
const UNREADY: &str = "cannot become Ready, and Karpenter launches no nodes there";

fn of_class(nodes: &NodesInUse<'_>) -> Option<String> {
    let pools = (!nodes.pools.is_empty()).then(|| nodes.owner());
    let message = match (nodes.count.filter(|count| *count > 0), pools) {
        (None, None) => return None,
        (None, Some(pools)) => {
            format!("without the EC2NodeClass, {pools} {UNREADY}")
        }
        (Some(_), pools) => {
            let meanwhile =
                pools.map(|pools| format!("; until then {pools} {UNREADY} (`NodeClassTerminating`)"));
            format!(
                "the EC2NodeClass is in use by {}, and Karpenter's finalizer keeps it until the last one is gone{}",
                nodes.named(None),
                meanwhile.unwrap_or_default()
            )
        }
    };
    Some(message)
}

#[cfg(test)]
mod tests {
    use rule::settings::{RuleLevel, RuleSelector, Settings};

    use crate::rules::testing::{findings, findings_with, silent};

    const REFERENCE: &str = "{group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}";

    fn deletion(object: &str) -> String {
        format!(
            r"apiVersion: admission.k8s.io/v1
kind: AdmissionReview
request:
  operation: DELETE
  object: null
  oldObject: {object}
"
        )
    }

    fn pool(name: &str, more: &str) -> String {
        format!(
            "{{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {{name: {name}}}{more}, \
             spec: {{template: {{spec: {{nodeClassRef: {REFERENCE}}}}}}}}}"
        )
    }

    const CLASS: &str = "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: default}}";

    fn claim(pool: &str, name: &str, more: &str) -> String {
        format!(
            r"---
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {{name: {name}, labels: {{karpenter.sh/nodepool: {pool}}}{more}}}
spec: {{nodeClassRef: {REFERENCE}}}
"
        )
    }

    const GOING: &str = ", deletionTimestamp: '2026-11-27T00:00:00Z'";

    /// The findings without the line of the text.
    fn found(text: &str) -> String {
        let output = findings(&super::RULE, text);
        let shown = output.lines().filter(|line| !line.contains(" | "));
        shown.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn nodepool_with_nodes_is_an_error() {
        let nodes = claim("default", "default-a", "") + &claim("default", "default-b", GOING);
        insta::assert_snapshot!(found(&(deletion(&pool("default", "")) + &nodes)), @"
        error NodePool/default metadata.name [all]
          NodeClaims go with their NodePool: Karpenter drains the only node of NodePool `default` (`default-a`) without budgets, and launches no replacement first
          help: give the pods another NodePool first, or keep the nodes with `--cascade=orphan`
        ");
        insta::assert_snapshot!(found(&deletion(&pool("default", ", status: {resources: {nodes: '31'}}"))), @"
        error NodePool/default metadata.name [all]
          NodeClaims go with their NodePool: Karpenter drains all 31 nodes of NodePool `default` without budgets, and launches no replacement first
          help: give the pods another NodePool first, or keep the nodes with `--cascade=orphan`
        ");
    }

    #[test]
    fn nodepool_without_nodes_can_go() {
        silent(&super::RULE, &(deletion(&pool("default", "")) + &claim("other", "other-a", "")));
        silent(&super::RULE, &(deletion(&pool("default", "")) + &claim("default", "default-a", GOING)));
        silent(&super::RULE, &deletion(&pool("default", ", status: {resources: {nodes: '0'}}")));
        // It is deleted already, and waits for a finalizer.
        let going =
            pool("default", "").replace("name: default}, spec", &format!("name: default{GOING}}}, spec"));
        silent(&super::RULE, &(deletion(&going) + &claim("default", "default-a", "")));
        // A manifest deletes nothing.
        silent(&super::RULE, &(pool("default", "") + "\n" + &claim("default", "default-a", "")));
    }

    #[test]
    fn node_class_in_use_is_an_error() {
        let pools = format!("---\n{}\n---\n{}\n", pool("default", ""), pool("batch", ""));
        insta::assert_snapshot!(found(&(deletion(CLASS) + &pools)), @"
        error EC2NodeClass/default metadata.name [all]
          without the EC2NodeClass, NodePools `batch`, `default` cannot become Ready, and Karpenter launches no nodes there
          help: move the NodePools to another EC2NodeClass first, and wait until their nodes are replaced
        ");
        insta::assert_snapshot!(found(&(deletion(CLASS) + &pools + &claim("default", "default-a", ""))), @"
        error EC2NodeClass/default metadata.name [all]
          the EC2NodeClass is in use by the only node of NodePool `default` (`default-a`), and Karpenter's finalizer keeps it until the last one is gone; until then NodePools `batch`, `default` cannot become Ready, and Karpenter launches no nodes there (`NodeClassTerminating`)
          help: move the NodePools to another EC2NodeClass first, and wait until their nodes are replaced
        ");
        let other = pools.replace("name: default}}", "name: other}}");
        let elsewhere = claim("default", "default-a", "").replace("name: default}", "name: other}");
        silent(&super::RULE, &(deletion(CLASS) + &other + &elsewhere));
        // The NodePools that use it are enough.
        assert!(found(&(deletion(CLASS) + &pools + &elsewhere)).contains("error EC2NodeClass/default"));
    }

    #[test]
    fn nodes_that_nothing_shows_are_a_warning_at_every_level() {
        insta::assert_snapshot!(found(&deletion(&pool("default", ""))), @"
        warning NodePool/default metadata.name [all]
          the nodes of NodePool `default` could not be counted, because its NodeClaims are not known: Karpenter drains those that exist without budgets, and launches no replacement first
          help: `kubectl get nodeclaims -l karpenter.sh/nodepool=default` lists them
        ");
        insta::assert_snapshot!(found(&deletion(CLASS)), @"
        warning EC2NodeClass/default metadata.name [all]
          the nodes of EC2NodeClass `default` could not be counted, because the NodeClaims or the NodePools are not known: Karpenter's finalizer keeps it until the last node is gone, and NodePools that use it cannot become Ready
          help: `kubectl get nodepools,nodeclaims -o wide` shows which use it
        ");
        let others = format!("---\n{}\n", pool("default", "").replace("name: default}}", "name: other}}"));
        assert!(found(&(deletion(CLASS) + &others)).contains("warning EC2NodeClass/default"));
        let settings = Settings {
            levels: vec![(RuleSelector::One(super::RULE.names()), RuleLevel::Deny)],
            ..Settings::default()
        };
        let denied = findings_with(&super::RULE, &deletion(&pool("default", "")), &settings);
        assert!(denied.contains("warning NodePool/default"), "{denied}");
    }

    #[test]
    fn annotation_with_a_reason_accepts_the_deletion() {
        let with = |annotation: &str| {
            let metadata = format!("name: default, annotations: {{karpwarden/ignore: {annotation}}}}}, spec");
            let pool = pool("default", "").replace("name: default}, spec", &metadata);
            found(&(deletion(&pool) + &claim("default", "default-a", "")))
        };
        assert_eq!(with("deletion-removes-nodes -- moved to batch"), "");
        assert!(with("deletion-removes-nodes").contains("error NodePool/default"));
    }
}
