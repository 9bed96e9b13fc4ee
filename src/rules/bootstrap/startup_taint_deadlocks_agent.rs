use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::node_agents::NodeAgent;
use objects::node_claim::TaintField;
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::placeholders::has_placeholder_below;
use objects::pod::{Pod, TolerationItem};
use objects::taint::TaintItem;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use scheduling::taints::{PoolTaint, Toleration};

use crate::rules::indexes::Agents;
use crate::rules::pools_of_pod::of_daemon_set;
use crate::rules::taint;

rule! {
    /// ## What it does
    ///
    /// Checks that the DaemonSet of an agent tolerates the startup taints of the NodePools that only this agent removes:
    /// Cilium, and the CSI drivers for EBS, EFS, FSx and S3. The VPC CNI plugin removes no taint, but has to tolerate every
    /// startup taint, because agents without the network of the host need it.
    ///
    /// Only NodePools whose nodes the DaemonSet selects count. The rule is silent if the DaemonSet selects labels other than
    /// the operating system and the architecture, or if another DaemonSet runs the same agent. The policy does not look up
    /// NodePools for a DaemonSet, so the finding is only in the report of files.
    ///
    /// ## Why it is bad
    ///
    /// The agent does not start on a node with the taint, and the taint stays until the agent runs. The node never becomes
    /// initialized, its pods stay Pending (`StartupTaint "…" still exists`), and Karpenter launches further nodes that end the
    /// same way.
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
    ///       startupTaints: [{key: ebs.csi.aws.com/agent-not-ready, effect: NoExecute}]
    /// ---
    /// apiVersion: apps/v1
    /// kind: DaemonSet
    /// metadata: {name: ebs-csi-node, namespace: kube-system}
    /// spec:
    ///   template:
    ///     spec:
    ///       tolerations: [{key: CriticalAddonsOnly, operator: Exists}]
    ///       containers: [{name: ebs-plugin, image: "public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver:v1.48.0"}]
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
    ///       startupTaints: [{key: ebs.csi.aws.com/agent-not-ready, effect: NoExecute}]
    /// ---
    /// apiVersion: apps/v1
    /// kind: DaemonSet
    /// metadata: {name: ebs-csi-node, namespace: kube-system}
    /// spec:
    ///   template:
    ///     spec:
    ///       tolerations: [{operator: Exists}]
    ///       containers: [{name: ebs-plugin, image: "public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver:v1.48.0"}]
    /// ```
    ///
    /// ## References
    ///
    /// - charts/aws-ebs-csi-driver/values.yaml (`node.tolerateAllTaints`) and docs/install.md ("Configure node startup taint")
    ///   of kubernetes-sigs/aws-ebs-csi-driver
    /// - METR/hawk#25, terraform-aws-modules/terraform-aws-eks#3621, aws/karpenter-provider-aws#628
    /// - pkg/controllers/nodeclaim/lifecycle/initialization.go of kubernetes-sigs/karpenter at v1.0.0 and v1.14.0
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the agent that removes a startup taint does not tolerate it, so nodes never become initialized",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::of("apps", "v1", "DaemonSet"))],
        inventory: &[],
        check: check,
    }
}

/// Maximum number of NodePools that a finding shows.
const MAX_RELATED: usize = 3;

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pod) = Pod::of(object) else { return };
    let Some((agent, _)) = NodeAgent::find(pod) else { return };
    if !context.inventory.index::<Agents>().is_only(agent, object) {
        return;
    }
    let pools = of_daemon_set(pod, context).into_iter().map(|(pool, _)| pool);
    let stuck = pools
        .filter(|pool| !pool.is_of_auto_mode())
        .filter_map(|pool| Some((pool, untolerated(agent, pod, pool)?)));
    let stuck: Vec<_> = stuck.collect();
    let Some((pool, item)) = stuck.first() else { return };
    let taint = PoolTaint::from_item(*item);
    let name = pool.object().name();
    let (message, severity) = if agent.taint() == Some(taint.key) {
        let message = format!(
            "{} does not tolerate `{taint}` of the NodePool `{name}`, and nothing else removes this taint: its nodes never become initialized",
            agent.name()
        );
        // Another DaemonSet of the agent may be outside of the input.
        let is_certain = context.inventory.is_complete();
        (message, if is_certain { Severity::Error } else { Severity::Warning })
    } else {
        let message = format!(
            "{} does not tolerate `{taint}` of the NodePool `{name}`: if what removes the taint needs the network of pods, its nodes never become initialized",
            agent.name()
        );
        (message, Severity::Warning)
    };
    let place = match pod.spec().toleration_list() {
        Some(list) => Place::key(list),
        None => Place::missing(pod.spec().node(), "tolerations"),
    };
    let mut finding = Finding::new(&RULE, place, message).severity(severity).help(format!(
        "add the toleration `{{operator: Exists}}`, so that the agent runs on every node, or `{{key: {}, operator: Exists}}`",
        taint.key
    ));
    for (pool, item) in stuck.iter().take(MAX_RELATED) {
        finding = finding.related(
            taint::place(*item),
            format!("startup taint of the NodePool `{}`", pool.object().name()),
        );
    }
    findings.push(finding);
}

/// The first startup taint of a NodePool that keeps the agent off its nodes, and that waits for the agent.
fn untolerated<'d>(agent: NodeAgent, pod: Pod<'d>, pool: NodePool<'d>) -> Option<TaintItem<'d>> {
    pool.taints(TaintField::StartupTaints).find(|item| {
        let taint = PoolTaint::from_item(*item);
        let waits = agent.taint().is_none_or(|key| key == taint.key);
        let may_tolerate = |toleration: TolerationItem<'d>| {
            has_placeholder_below(toleration.node()) || Toleration::from_item(toleration).tolerates(&taint)
        };
        waits
            && matches!(taint.effect, "NoSchedule" | "NoExecute")
            && !is_of_kubernetes(taint.key)
            && !has_placeholder_below(item.node())
            && !pod.spec().tolerations().any(may_tolerate)
    })
}

/// Whether the DaemonSet controller adds a toleration for the taint by itself.
///
/// Source: `AddOrUpdateDaemonPodTolerations` in `pkg/controller/daemon/util/daemonset_util.go` of kubernetes/kubernetes.
fn is_of_kubernetes(key: &str) -> bool {
    key.starts_with("node.kubernetes.io/")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, findings_with, silent};
    use rule::settings::Settings;

    fn pool(taint: &str) -> String {
        format!(
            r"---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: web}}
spec: {{template: {{spec: {{startupTaints: [{taint}]}}}}}}
"
        )
    }

    fn agent(image: &str, spec: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: DaemonSet
metadata: {{name: agent}}
spec:
  template:
    spec:
      {spec}
      containers: [{{name: a, image: '{image}'}}]
"
        )
    }

    const EBS: &str = "public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver:v1.48.0";
    const EBS_TAINT: &str = "{key: ebs.csi.aws.com/agent-not-ready, effect: NoExecute}";
    const CNI: &str = "602401143452.dkr.ecr.us-west-2.amazonaws.com/amazon-k8s-cni:v1.19.0";

    #[test]
    fn reports_an_agent_that_does_not_tolerate_its_own_taint() {
        let text = agent(EBS, "tolerations: [{key: a, operator: Exists}]") + &pool(EBS_TAINT);
        let complete = Settings { complete_inventory: true, ..Settings::default() };
        assert!(findings(&RULE, &text).contains("warning DaemonSet/agent"));
        insta::assert_snapshot!(findings_with(&RULE, &text, &complete), @"
          7 |       tolerations: [{key: a, operator: Exists}]
            |       ^^^^^^^^^^^
        error DaemonSet/agent spec.template.spec.tolerations [all]
          the EBS CSI driver does not tolerate `ebs.csi.aws.com/agent-not-ready:NoExecute` of the NodePool `web`, and nothing else removes this taint: its nodes never become initialized
          help: add the toleration `{operator: Exists}`, so that the agent runs on every node, or `{key: ebs.csi.aws.com/agent-not-ready, operator: Exists}`
          see line 13 spec.template.spec.startupTaints[0]: startup taint of the NodePool `web`
        ");
        let without = agent(EBS, "nodeSelector: {kubernetes.io/os: linux}") + &pool(EBS_TAINT);
        assert!(findings(&RULE, &without).contains("spec.template.spec.tolerations"));
        let other_effect =
            "tolerations: [{key: ebs.csi.aws.com/agent-not-ready, operator: Exists, effect: NoSchedule}]";
        assert!(!findings(&RULE, &(agent(EBS, other_effect) + &pool(EBS_TAINT))).is_empty());
    }

    #[test]
    fn accepts_agents_that_tolerate_the_taint_or_run_elsewhere() {
        for spec in [
            "tolerations: [{operator: Exists}]",
            "tolerations: [{key: ebs.csi.aws.com/agent-not-ready, operator: Exists}]",
            "tolerations: [{key: '${KEY}', operator: Exists}]",
            "nodeSelector: {role: system}",
        ] {
            silent(&RULE, &(agent(EBS, spec) + &pool(EBS_TAINT)));
        }
        let plain = agent(EBS, "dnsPolicy: Default");
        silent(&RULE, &plain);
        silent(&RULE, &(plain.clone() + &pool("{key: node.cilium.io/agent-not-ready, effect: NoExecute}")));
        silent(&RULE, &(plain.clone() + &pool(&EBS_TAINT.replace("NoExecute", "PreferNoSchedule"))));
        silent(&RULE, &(plain.replace("DaemonSet", "Deployment") + &pool(EBS_TAINT)));
    }

    #[test]
    fn accepts_pools_that_the_daemon_set_does_not_select() {
        let windows = pool(EBS_TAINT).replace(
            "{startupTaints",
            "{requirements: [{key: kubernetes.io/os, operator: In, values: [windows]}], startupTaints",
        );
        let on = |os: &str| agent(EBS, &format!("nodeSelector: {{kubernetes.io/os: {os}}}"));
        silent(&RULE, &(on("linux") + &windows));
        assert!(findings(&RULE, &(on("windows") + &windows)).contains("warning DaemonSet/agent"));
        let linux = windows.replace("[windows]", "[linux]");
        let excluding = |values: &str| {
            agent(
                EBS,
                &format!(
                    "affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{{matchExpressions: [{values}]}}]}}}}}}"
                ),
            )
        };
        let types = "{key: node.kubernetes.io/instance-type, operator: NotIn, values: [a1.large]}, {key: eks.amazonaws.com/compute-type, operator: NotIn, values: [fargate]}";
        assert!(findings(&RULE, &(excluding(types) + &linux)).contains("warning DaemonSet/agent"));
        silent(&RULE, &(excluding(&types.replace("NotIn, values: [a1", "In, values: [a1")) + &linux));
        silent(
            &RULE,
            &(agent(EBS, "nodeSelector: {node.kubernetes.io/instance-type: m5.large}") + &pool(EBS_TAINT)),
        );
    }

    #[test]
    fn accepts_a_second_daemon_set_of_the_agent_and_placeholders() {
        let second = agent(EBS, "tolerations: [{operator: Exists}]").replace("name: agent", "name: other");
        silent(&RULE, &(agent(EBS, "dnsPolicy: Default") + "---\n" + &second + &pool(EBS_TAINT)));
        silent(&RULE, &(agent(EBS, "tolerations: '${TOLERATIONS}'") + &pool(EBS_TAINT)));
        silent(&RULE, &(agent(EBS, "nodeSelector: '${SELECTOR}'") + &pool(EBS_TAINT)));
        silent(
            &RULE,
            &(agent(EBS, "dnsPolicy: Default")
                + &pool(EBS_TAINT)
                    .replace("[{key: ebs.csi.aws.com/agent-not-ready, effect: NoExecute}]", "'${TAINTS}'")),
        );
    }

    #[test]
    fn the_vpc_cni_plugin_has_to_tolerate_every_startup_taint() {
        let text = agent(CNI, "dnsPolicy: Default") + &pool(EBS_TAINT);
        insta::assert_snapshot!(findings(&RULE, &text), @"
          6 |     spec:
            |     ^^^^
        warning DaemonSet/agent spec.template.spec.tolerations [all]
          the VPC CNI plugin does not tolerate `ebs.csi.aws.com/agent-not-ready:NoExecute` of the NodePool `web`: if what removes the taint needs the network of pods, its nodes never become initialized
          help: add the toleration `{operator: Exists}`, so that the agent runs on every node, or `{key: ebs.csi.aws.com/agent-not-ready, operator: Exists}`
          see line 13 spec.template.spec.startupTaints[0]: startup taint of the NodePool `web`
        ");
        silent(&RULE, &(agent(CNI, "tolerations: [{operator: Exists}]") + &pool(EBS_TAINT)));
        let of_kubernetes = "{key: node.kubernetes.io/not-ready, effect: NoSchedule}";
        silent(&RULE, &(agent(CNI, "dnsPolicy: Default") + &pool(of_kubernetes)));
    }
}
