use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::node_agents::{CILIUM_TAINT, NodeAgent};
use objects::node_claim::TaintField;
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::placeholders::has_placeholder_below;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::has_placeholder;

use crate::rules::indexes::Agents;
use crate::rules::pools_of_pod::of_daemon_set;

rule! {
    /// ## What it does
    ///
    /// If the input has the DaemonSet of Cilium's agent, and `set-cilium-node-taints` is true in the ConfigMap
    /// `cilium-config`, checks that each NodePool has the startup taint `node.cilium.io/agent-not-ready`. The key is another
    /// one if `agent-not-ready-taint-key` in the ConfigMap says so. NodePools on whose nodes Cilium does not run need no
    /// taint, because nothing would remove it.
    ///
    /// Of the agents with a taint, only Cilium puts it on nodes by itself. The CSI drivers of AWS only remove their taint, so
    /// that a NodePool without it is not wrong. Calico neither sets nor removes a taint: projectcalico/calico#11331 asks for one.
    ///
    /// The policy does not look up workloads, so the finding is only in the report of files.
    ///
    /// ## Why it is bad
    ///
    /// Cilium's operator taints each new node until the agent runs on it. Karpenter does not expect the taint, and takes the
    /// node for usable. The pods cannot be bound to it yet, so Karpenter launches a second node for them, and removes one of
    /// the two later. In the seconds before the taint is set, pods also start without Cilium's network.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    /// ---
    /// apiVersion: apps/v1
    /// kind: DaemonSet
    /// metadata: {name: cilium, namespace: kube-system}
    /// spec:
    ///   template:
    ///     spec:
    ///       tolerations: [{operator: Exists}]
    ///       containers: [{name: cilium-agent, image: "quay.io/cilium/cilium:v1.17.4"}]
    /// ---
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata: {name: cilium-config, namespace: kube-system}
    /// data: {set-cilium-node-taints: "true"}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       startupTaints:
    ///         - {key: node.cilium.io/agent-not-ready, value: "true", effect: NoExecute}
    /// ---
    /// apiVersion: apps/v1
    /// kind: DaemonSet
    /// metadata: {name: cilium, namespace: kube-system}
    /// spec:
    ///   template:
    ///     spec:
    ///       tolerations: [{operator: Exists}]
    ///       containers: [{name: cilium-agent, image: "quay.io/cilium/cilium:v1.17.4"}]
    /// ---
    /// apiVersion: v1
    /// kind: ConfigMap
    /// metadata: {name: cilium-config, namespace: kube-system}
    /// data: {set-cilium-node-taints: "true"}
    /// ```
    ///
    /// ## References
    ///
    /// - install/kubernetes/cilium/templates/cilium-configmap.yaml of cilium/cilium at 002c6ff: the chart sets
    ///   `set-cilium-node-taints` unless `operator.setNodeTaints` or `operator.removeNodeTaints` is false
    /// - operator/watchers/node_taint_cell.go of cilium/cilium at fae4c2f: without the ConfigMap `set-cilium-node-taints` is false
    /// - docs/install.md of kubernetes-sigs/aws-ebs-csi-driver at 429e202e, "Configure node startup taint"
    /// - projectcalico/calico#11331
    /// - chanzuckerberg/cztack#895, cisco-open/forge#688
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "Karpenter launches two nodes for the same pods, because it does not expect the taint of Cilium",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pool) = NodePool::of(object).filter(|pool| !pool.is_of_auto_mode()) else { return };
    let Some(spec) = pool.claim_spec().filter(|spec| spec.node().is_mapping()) else { return };
    let agents = context.inventory.index::<Agents>();
    let Some((cilium, image)) = agents.find(NodeAgent::Cilium) else { return };
    if agents.cilium_setting("set-cilium-node-taints") != Some("true") {
        return;
    }
    let key = agents.cilium_setting("agent-not-ready-taint-key").unwrap_or(CILIUM_TAINT);
    // Under `taints` the taint is another mistake, and a placeholder may become the taint.
    let mut taints = TaintField::ALL.into_iter().flat_map(|field| pool.taints(field));
    let mut lists = TaintField::ALL.into_iter().filter_map(|field| spec.taint_list(field));
    let is_announced = taints.any(|taint| taint.key() == Some(key)) || lists.any(has_placeholder_below);
    if is_announced || has_placeholder(key) {
        return;
    }
    let mut covered = of_daemon_set(cilium, context).into_iter();
    if !covered.any(|(other, untolerated)| other.object() == object && untolerated.is_none()) {
        return;
    }
    let message = format!(
        "Cilium taints new nodes with `{key}`, which this NodePool does not announce: Karpenter takes the node for usable too early, and launches a second node for the same pods"
    );
    let place = match spec.taint_list(TaintField::StartupTaints) {
        Some(list) => Place::key(list),
        None => Place::missing(spec.node(), "startupTaints"),
    };
    findings.push(
        Finding::new(&RULE, place, message)
            .help(format!(
                "add `{{key: {key}, value: \"true\", effect: NoExecute}}` to `startupTaints`; the nodes of the NodePool drift and are replaced"
            ))
            .related(Place::value(image), "the Cilium agent"),
    );
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    const CILIUM: &str = r"---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: cilium}
spec: {template: {spec: {containers: [{name: cilium-agent, image: 'quay.io/cilium/cilium:v1.17.4@sha256:ab'}]}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: cilium-config}
data: {set-cilium-node-taints: 'true'}
";

    fn pool(taints: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    spec:
      {taints}
      requirements: []
"
        )
    }

    #[test]
    fn reports_a_pool_without_the_taint_of_cilium() {
        insta::assert_snapshot!(findings(&RULE, &(pool("expireAfter: Never") + CILIUM)), @r#"
          6 |     spec:
            |     ^^^^
        warning NodePool/a spec.template.spec.startupTaints [all]
          Cilium taints new nodes with `node.cilium.io/agent-not-ready`, which this NodePool does not announce: Karpenter takes the node for usable too early, and launches a second node for the same pods
          help: add `{key: node.cilium.io/agent-not-ready, value: "true", effect: NoExecute}` to `startupTaints`; the nodes of the NodePool drift and are replaced
          see line 13 spec.template.spec.containers[0].image: the Cilium agent
        "#);
        let other = pool("startupTaints: [{key: ebs.csi.aws.com/agent-not-ready, effect: NoExecute}]");
        assert!(findings(&RULE, &(other + CILIUM)).contains("spec.template.spec.startupTaints "));
        silent(&RULE, &pool("expireAfter: Never"));
        silent(&RULE, &(pool("expireAfter: Never") + &CILIUM.replace("cilium/cilium:", "cilium/operator:")));
    }

    #[test]
    fn accepts_the_taint_in_either_list_and_placeholders() {
        for taints in [
            "startupTaints: [{key: node.cilium.io/agent-not-ready, effect: NoExecute}]",
            "taints: [{key: node.cilium.io/agent-not-ready, effect: NoExecute}]",
            "startupTaints: [{key: '${KEY}', effect: NoExecute}]",
            "startupTaints: '${STARTUP_TAINTS}'",
            "nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: a}",
        ] {
            silent(&RULE, &(pool(taints) + CILIUM));
        }
    }

    #[test]
    fn accepts_pools_on_which_cilium_does_not_run() {
        let text = |os: &str, spec: &str| {
            let requirement =
                format!("requirements: [{{key: kubernetes.io/os, operator: In, values: [{os}]}}]");
            pool("expireAfter: Never").replace("requirements: []", &requirement)
                + &CILIUM.replace("{containers", &format!("{{{spec}, containers"))
        };
        let linux = "nodeSelector: {kubernetes.io/os: linux}";
        silent(&RULE, &text("windows", linux));
        assert!(findings(&RULE, &text("linux", linux)).contains("warning NodePool/a"));
        silent(&RULE, &text("linux", "nodeSelector: {eks.amazonaws.com/nodegroup: system}"));
        silent(&RULE, &text("linux", "nodeSelector: {node.kubernetes.io/instance-type: m5.large}"));
        silent(&RULE, &text("linux", "nodeSelector: '${SELECTOR}'"));
        let other = pool("expireAfter: Never").replace("{name: a}", "{name: b}");
        let found = findings(&RULE, &(text("windows", linux) + "---\n" + &other));
        assert!(found.contains("warning NodePool/b") && !found.contains("NodePool/a"), "{found}");
        silent(&RULE, &(pool("taints: [{key: dedicated, value: gpu, effect: NoSchedule}]") + CILIUM));
    }

    #[test]
    fn follows_the_configuration_of_cilium() {
        let text =
            |data: &str| pool("expireAfter: Never") + &CILIUM.replace("set-cilium-node-taints: 'true'", data);
        silent(&RULE, &text("set-cilium-node-taints: 'false'"));
        // The operator's default is false.
        silent(&RULE, &text(""));
        silent(&RULE, &text("").replace("cilium-config", "other"));
        let found = findings(
            &RULE,
            &text("set-cilium-node-taints: 'true', agent-not-ready-taint-key: example.com/wait"),
        );
        assert!(found.contains("Cilium taints new nodes with `example.com/wait`"), "{found}");
    }
}
