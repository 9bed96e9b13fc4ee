use karpenter::release::Releases;
use objects::object::Object;
use objects::pod::Pod;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};
use scheduling::simulation::{Misfit, MissingResource, Shortage};

use crate::rules::node_room::{self, amount};

rule! {
    /// ## What it does
    ///
    /// Compares the requests of a pod with the instance types of every NodePool in the input that takes the pod, and
    /// reports the pod if it fits none of them. The comparison is the same as in `karpwarden simulate`: an instance type
    /// leaves its capacity minus the reservations of the kubelet and the system, minus the requests of the DaemonSets
    /// that run on its nodes.
    ///
    /// ## Why it is bad
    ///
    /// The pod stays Pending, and the controller logs `no instance type has enough resources`. The usual cause is a request
    /// as large as an instance type, such as 16 CPUs where the NodePool has instance types with 16 CPUs, or a DaemonSet
    /// that takes the rest.
    ///
    /// The finding is an error if the input holds every NodePool (`--complete`) and the pod selects a label that only
    /// Karpenter's nodes have, such as `karpenter.sh/nodepool`. Otherwise it is a warning or, if nothing shows that the
    /// pod belongs on nodes of Karpenter, an info.
    ///
    /// ## What is not reported
    ///
    /// - pods that request at most 1 CPU and 1Gi of memory, which all but the smallest instance types have;
    /// - pods for which a NodePool matches that lists an instance type newer than Karpwarden's table, or whose node class is
    ///   not in the input, or has placeholders or expressions in the fields about resources;
    /// - pods that do not select a label of Karpenter's nodes, if the input has nodes that Karpenter did not launch;
    /// - pods that would be compared more than 250 times, with each NodePool for each term of their node affinity; and pods
    ///   in an input with two NodePools of the same name;
    /// - pods whose labels or tolerations match no NodePool: `pod-no-matching-pool` and `pod-missing-toleration` report
    ///   them;
    /// - resources that no instance type has: `unknown-extended-resource` reports them. Ephemeral storage has its own
    ///   rule, `ephemeral-request-too-big`.
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
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///       - {key: node.kubernetes.io/instance-type, operator: In, values: [m6i.2xlarge, m6i.4xlarge]}
    /// ---
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: report
    /// spec:
    ///   nodeSelector: {karpenter.sh/nodepool: default}
    ///   containers:
    ///   - name: report
    ///     image: "example.com/report:1"
    ///     resources: {requests: {cpu: "16", memory: 32Gi}}
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
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///       - {key: node.kubernetes.io/instance-type, operator: In, values: [m6i.2xlarge, m6i.4xlarge]}
    /// ---
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: report
    /// spec:
    ///   nodeSelector: {karpenter.sh/nodepool: default}
    ///   containers:
    ///   - name: report
    ///     image: "example.com/report:1"
    ///     resources: {requests: {cpu: "15", memory: 32Gi}}
    /// ```
    ///
    /// ## What it needs
    ///
    /// The input must contain the pod, the NodePools and their node classes. The policy in the cluster does not have the
    /// instance types, so the finding is only in the report of files.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#6015, #3199; kubernetes-sigs/karpenter#2414
    /// - pkg/providers/instancetype/types.go of aws/karpenter-provider-aws at v1.14.1: capacity and overhead
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a pod requests more than any instance type of its NodePools has",
        runs: Runs::OnFiles,
        on: &[On::Workload],
        inventory: &[],
        check: check,
    }
}

/// The resource of the rule `ephemeral-request-too-big`.
const STORAGE: &str = "ephemeral-storage";

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pod) = Pod::of(object) else { return };
    let Some(misfit) = node_room::misfit(pod, context) else { return };
    findings.extend(finding(pod, &misfit, context));
}

fn finding<'d>(pod: Pod<'d>, misfit: &Misfit, context: &Context<'_, 'd>) -> Option<Finding<'d>> {
    if node_room::needs_toleration(misfit) {
        return None;
    }
    let shortages = &misfit.shortages;
    let (first, missing) = shortages
        .iter()
        .map(|one| (one, wanted(one)))
        .find(|(one, missing)| missing.is_some() || one.missing.is_empty())?;
    let comparison = node_room::comparison(first, missing);
    let others = match shortages.len() {
        0 | 1 => "",
        _ => "; the other NodePools that take the pod are too small as well",
    };
    let overhead = if node_room::is_within_overhead(first, context) {
        ". This includes the memory that Karpenter keeps for the hypervisor (`vmMemoryOverheadPercent`)"
    } else {
        ""
    };
    let resource = missing.map_or("cpu", |missing| missing.name.as_str());
    let message = format!("Karpenter launches no node for this pod: {comparison}{others}{overhead}");
    let mut finding = Finding::new(&RULE, node_room::place_of_request(pod, resource), message)
        .severity(node_room::severity(pod, shortages, context)?)
        .help(help(first, missing, &misfit.tainted));
    for pool in shortages.iter().filter_map(|one| node_room::pool(&one.pool, context)) {
        let name = pool.object().name();
        finding = finding
            .related(node_room::place_of_types(pool), format!("the instance types of the NodePool `{name}`"));
    }
    Some(finding)
}

/// The first resource that is missing, except storage.
fn wanted(shortage: &Shortage) -> Option<&MissingResource> {
    shortage.missing.iter().find(|missing| missing.name != STORAGE)
}

fn help(shortage: &Shortage, missing: Option<&MissingResource>, tainted: &[String]) -> String {
    let help = match missing {
        Some(missing) if missing.largest.is_zero() => {
            format!("allow instance types with `{}` in a NodePool that takes the pod", missing.name)
        }
        Some(missing) => format!(
            "request at most {} {}, or allow larger instance types in a NodePool",
            amount(&missing.name, missing.largest),
            missing.name
        ),
        None => "request less, or allow other instance types in a NodePool".to_owned(),
    };
    let daemons = if shortage.is_due_to_daemons { ", or lower the requests of the DaemonSets" } else { "" };
    let tainted = tainted.first().map_or_else(String::new, |pool| {
        format!(", or tolerate the taint of the NodePool `{pool}`, which has room for the pod")
    });
    format!("{help}{daemons}{tainted}")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::node_room::fixtures::{al2023, class, daemon, pod, pool};
    use crate::rules::testing::{findings, findings_with, silent};
    use rule::settings::Settings;

    const NAMED: &str = "nodeSelector: {karpenter.sh/nodepool: default}";

    fn complete() -> Settings {
        Settings { complete_inventory: true, ..Settings::default() }
    }

    fn types(types: &str) -> String {
        al2023() + &pool("default", types, "")
    }

    #[test]
    fn reports_requests_as_large_as_the_largest_type() {
        let text = types("m6i.2xlarge, m6i.4xlarge") + &pod("cpu: 16", NAMED);
        insta::assert_snapshot!(findings_with(&RULE, &text, &complete()), @"
         25 |     resources: {requests: {cpu: 16}}
            |                                 ^^
        error Pod/a spec.containers[0].resources.requests.cpu [all]
          Karpenter launches no node for this pod: it requests 16 cpu, and the largest instance type of the NodePool `default` leaves 15890m after its reservations
          help: request at most 15890m cpu, or allow larger instance types in a NodePool
          see line 15 spec.template.spec.requirements: the instance types of the NodePool `default`
        ");
        // Of 16 CPUs, 110m are reserved.
        silent(&RULE, &(types("m6i.4xlarge") + &pod("cpu: 15890m", NAMED)));
        assert!(findings(&RULE, &(types("m6i.4xlarge") + &pod("cpu: 15891m", NAMED))).contains("largest"));
    }

    #[test]
    fn is_as_certain_as_the_input() {
        let text = |fields| types("m6i.4xlarge") + &pod("cpu: 16", fields);
        assert!(findings_with(&RULE, &text(NAMED), &complete()).contains("\nerror Pod/a"));
        assert!(findings(&RULE, &text(NAMED)).contains("\nwarning Pod/a"));
        assert!(findings_with(&RULE, &text(""), &complete()).contains("\nwarning Pod/a"));
        assert!(findings(&RULE, &text("")).contains("\ninfo Pod/a"));
        silent(&RULE, &text("priorityClassName: system-node-critical"));
    }

    #[test]
    fn ignores_pods_that_may_run_on_other_nodes_of_the_input() {
        let text = |labels: &str, fields| {
            let node = format!(
                r"apiVersion: v1
kind: Node
metadata: {{name: n, labels: {{{labels}}}}}
---
"
            );
            types("m6i.4xlarge") + &node + &pod("cpu: 16", fields)
        };
        silent(&RULE, &text("eks.amazonaws.com/nodegroup: a", ""));
        assert!(!findings(&RULE, &text("eks.amazonaws.com/nodegroup: a", NAMED)).is_empty());
        assert!(!findings(&RULE, &text("karpenter.sh/nodepool: default", "")).is_empty());
    }

    #[test]
    fn counts_the_daemon_sets_that_run_on_the_nodes() {
        let agent = |fields| daemon("agent", "cpu: 1500m", fields);
        let text = |fields| types("m6i.4xlarge") + &agent(fields) + &pod("cpu: 15", NAMED);
        insta::assert_snapshot!(findings(&RULE, &text("")), @"
         37 |     resources: {requests: {cpu: 15}}
            |                                 ^^
        info Pod/a spec.containers[0].resources.requests.cpu [all]
          Karpenter launches no node for this pod: it requests 15 cpu, and the largest instance type of the NodePool `default` leaves 14390m after its reservations and the DaemonSets
          help: request at most 14390m cpu, or allow larger instance types in a NodePool, or lower the requests of the DaemonSets
          see line 15 spec.template.spec.requirements: the instance types of the NodePool `default`
        ");
        silent(&RULE, &text("nodeSelector: {kubernetes.io/arch: arm64}"));
        silent(&RULE, &(types("m6i.4xlarge, m6i.8xlarge") + &agent("") + &pod("cpu: 15", NAMED)));
    }

    #[test]
    fn tells_memory_that_karpenter_keeps_for_the_hypervisor_apart() {
        let text = |memory: &str| types("m6i.large") + &pod(&format!("memory: {memory}"), NAMED);
        insta::assert_snapshot!(findings_with(&RULE, &text("7Gi"), &complete()), @"
         25 |     resources: {requests: {memory: 7Gi}}
            |                                    ^^^
        warning Pod/a spec.containers[0].resources.requests.memory [all]
          Karpenter launches no node for this pod: it requests 7Gi memory, and the largest instance type of the NodePool `default` leaves 6.7Gi after its reservations. This includes the memory that Karpenter keeps for the hypervisor (`vmMemoryOverheadPercent`)
          help: request at most 6.7Gi memory, or allow larger instance types in a NodePool
          see line 15 spec.template.spec.requirements: the instance types of the NodePool `default`
        ");
        insta::assert_snapshot!(findings_with(&RULE, &text("8Gi"), &complete()), @"
         25 |     resources: {requests: {memory: 8Gi}}
            |                                    ^^^
        error Pod/a spec.containers[0].resources.requests.memory [all]
          Karpenter launches no node for this pod: it requests 8Gi memory, and the largest instance type of the NodePool `default` leaves 6.7Gi after its reservations
          help: request at most 6.7Gi memory, or allow larger instance types in a NodePool
          see line 15 spec.template.spec.requirements: the instance types of the NodePool `default`
        ");
        silent(&RULE, &text("6Gi"));
    }

    #[test]
    fn reports_devices_that_no_type_has_and_resources_that_no_type_has_together() {
        let gpu = types("m6i.large") + &pod("nvidia.com/gpu: 1", NAMED);
        insta::assert_snapshot!(findings(&RULE, &gpu), @"
         25 |     resources: {requests: {nvidia.com/gpu: 1}}
            |                                            ^
        warning Pod/a spec.containers[0].resources.requests.nvidia.com/gpu [all]
          Karpenter launches no node for this pod: no instance type of the NodePool `default` has `nvidia.com/gpu`
          help: allow instance types with `nvidia.com/gpu` in a NodePool that takes the pod
          see line 15 spec.template.spec.requirements: the instance types of the NodePool `default`
        ");
        silent(&RULE, &(types("m6i.large, g5.xlarge") + &pod("nvidia.com/gpu: 1", NAMED)));
        let both = types("c6i.4xlarge, r6i.xlarge") + &pod("cpu: 15, memory: 28Gi", NAMED);
        assert!(findings(&RULE, &both).contains("has enough of all requested resources together"));
    }

    #[test]
    fn names_a_tainted_nodepool_that_has_room() {
        let tainted = pool("big", "m6i.16xlarge", "taints: [{key: big, effect: NoSchedule}]");
        let text = types("m6i.4xlarge") + &tainted + &pod("cpu: 32", "");
        assert!(findings(&RULE, &text).contains("tolerate the taint of the NodePool `big`"));
        silent(&RULE, &(tainted + &al2023() + &pod("cpu: 32", "")));
    }

    #[test]
    fn judges_only_the_types_that_the_pod_selects() {
        let selects = "nodeSelector: {karpenter.k8s.aws/instance-family: c6i}";
        let text = types("c6i.xlarge, m6i.4xlarge") + &pod("cpu: 8", selects);
        assert!(findings(&RULE, &text).contains("leaves 3920m"));
        silent(&RULE, &(types("m6i.4xlarge") + &pod("cpu: 32", selects)));
        let either = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [c6i]}]}, {matchExpressions: [{key: karpenter.k8s.aws/instance-family, operator: In, values: [m6i]}]}]}}}";
        silent(&RULE, &(types("c6i.xlarge, m6i.4xlarge") + &pod("cpu: 8", either)));
    }

    #[test]
    fn ignores_nodepools_whose_types_are_not_known() {
        let large = pod("cpu: 64", NAMED);
        silent(&RULE, &(pool("default", "m6i.large", "") + &large));
        silent(&RULE, &(types("${TYPES}") + &large));
        let placeholder =
            class("default", "amiSelectorTerms: [{alias: al2023@latest}]\n  kubelet: {maxPods: '${MAX}'}");
        silent(&RULE, &(placeholder + &pool("default", "m6i.large", "") + &large));
        silent(&RULE, &(types("m6i.large") + &pool("default", "m6i.32xlarge", "") + &large));
        silent(&RULE, &(types("m6i.large") + &class("default", "amiFamily: Bottlerocket") + &large));
        silent(&RULE, &(types("x99.large") + &large));
    }

    #[test]
    fn ignores_inputs_that_do_not_show_which_pods_a_nodepool_takes() {
        let small = types("m6i.large");
        silent(&RULE, &(small.clone() + &pod("cpu: 64", "tolerations: [{key: '${KEY}', operator: Exists}]")));
        let large = pod("cpu: 64", NAMED);
        let open = pool("open", "m6i.large", "taints: [{key: '${KEY}', effect: NoSchedule}]");
        silent(&RULE, &(small.clone() + &open + &large));
        let of_azure = pool("azure", "Standard_D2", "").replace("karpenter.k8s.aws", "karpenter.azure.com");
        silent(&RULE, &(small + &of_azure + &large));
    }

    #[test]
    fn ignores_pods_that_other_rules_judge() {
        silent(&RULE, &(types("m6i.large") + &pod("ephemeral-storage: 60Gi", NAMED)));
        silent(&RULE, &(types("m6i.large") + &pod("smarter-devices/fuse: 1", NAMED)));
        silent(
            &RULE,
            &(types("m6i.large") + &pod("cpu: 64", "nodeSelector: {karpenter.sh/nodepool: other}")),
        );
        silent(&RULE, &(types("m6i.large") + &pod("cpu: '${CPU}'", NAMED)));
        silent(
            &RULE,
            &(types("m6i.large") + &pod("cpu: 64", "nodeSelector: {eks.amazonaws.com/nodegroup: a}")),
        );
        silent(&RULE, &(types("m6i.large") + &daemon("agent", "cpu: 64", "")));
    }
}
