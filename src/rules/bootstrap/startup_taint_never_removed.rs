use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use karpenter::release::Releases;
use karpenter::startup_taints;
use manifest::tree::items_of;
use karpenter::kind::Kind;
use objects::object::Object;
use values::placeholder::is_unresolved;
use lint::rule::{Fixes, On};

rule! {
    /// ## What it does
    ///
    /// Finds startup taints of a NodePool that nothing is known to take off: no agent, controller or driver that this tool
    /// knows does, and no workload of the input tolerates the taint by its name.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter puts startup taints on its nodes and waits for them to go; it never takes one off. Until then the node is
    /// not initialized: pods that do not tolerate the taint stay pending beside it (`StartupTaint "…" still exists`), and
    /// the node is not consolidated.
    ///
    /// A controller of your own that removes the taint is none this tool can know. Where it is not in the input, or a taint's
    /// name says that it passes, the finding is no more than a note.
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
    ///       startupTaints:
    ///         - {key: app, value: kong, effect: NoSchedule}
    /// ```
    ///
    /// ## Use instead
    ///
    /// If it is to keep other pods away for good, it is no startup taint:
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       taints:
    ///         - {key: app, value: kong, effect: NoSchedule}
    /// ```
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter#1479, aws/karpenter-provider-aws#5048, #6691, cilium/cilium#31943
    /// - kubernetes-sigs/karpenter `pkg/controllers/nodeclaim/lifecycle/initialization.go`, 1.0-1.14
    RULE {
        name: "startup-taint-never-removed",
        family: Family::Bootstrap,
        severity: Severity::Warning,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "nothing is known to take a startup taint off, and nodes with it never become initialized",
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    let list = object.at(&["spec", "template", "spec", "startupTaints"]);
    for taint in items_of(list) {
        let Some(key) = taint.str_at(&["key"]).filter(|key| !is_unresolved(key)) else { continue };
        let known = startup_taints::remover(key).is_some() || startup_taints::is_named_not_ready(key) || key.starts_with("karpenter.sh/");
        if known || is_tolerated_by_name(key, context) {
            continue;
        }
        let message = format!(
            "nothing is known to take the startup taint `{key}` off, and Karpenter does not: nodes with it never become \
             initialized, and are not consolidated"
        );
        let help = "run what removes it on every node, tolerating it; if it is to stay on the node, write it under `taints`";
        let draft = Draft::new(&RULE, taint.get("key").map_or_else(|| Place::value(taint), Place::value_under_parent), message).help(help);
        drafts.push(if startup_taints::sounds_passing(key) { draft.severity(Severity::Info) } else { draft });
    }
}

/// How many workloads are looked through for one that tolerates a taint; a cluster has its agents in far fewer.
const LOOKED_THROUGH: usize = 2_000;

/// Whether a workload of the same cluster tolerates the taint by its name: what removes a taint has to.
fn is_tolerated_by_name(key: &str, context: &Context<'_, '_>) -> bool {
    let pods = context.inventory.objects().iter().filter_map(|object| object.pod());
    for pod in pods.take(LOOKED_THROUGH) {
        if items_of(pod.at_path(&["spec", "tolerations"])).any(|toleration| toleration.str_at(&["key"]) == Some(key)) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn pool(key: &str) -> String {
        format!(
            "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: a}}\nspec:\n  template:\n    spec:\n      startupTaints:\n      - {{key: {key}, effect: NoSchedule}}\n"
        )
    }

    #[test]
    fn a_taint_of_ones_own_stays() {
        insta::assert_snapshot!(findings(&RULE, &pool("NodeReadiness")), @"
          8 |       - {key: NodeReadiness, effect: NoSchedule}
            |               ^^^^^^^^^^^^^
        warning NodePool/a spec.template.spec.startupTaints[0] [1.0-1.14]
          nothing is known to take the startup taint `NodeReadiness` off, and Karpenter does not: nodes with it never become initialized, and are not consolidated
          help: run what removes it on every node, tolerating it; if it is to stay on the node, write it under `taints`
        ");
    }

    #[test]
    fn a_name_that_says_that_it_passes_is_a_note() {
        assert!(findings(&RULE, &pool("node.spack.io/certificate-pending")).contains("info NodePool/a"));
    }

    #[test]
    fn known_removers_are_left_to_their_work() {
        for key in [
            "node.cilium.io/agent-not-ready",
            "ebs.csi.aws.com/agent-not-ready",
            "node.cloudprovider.kubernetes.io/uninitialized",
            "nidhogg.uswitch.com/kube-system.kiam",
            "readiness.k8s.io/gpu",
            "example.com/agent-not-ready",
            "karpenter.sh/unregistered",
            "'${KEY}'",
        ] {
            silent(&RULE, &pool(key));
        }
    }

    #[test]
    fn who_tolerates_a_taint_by_name_may_be_its_remover() {
        let agent = "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: untaint}\nspec:\n  template:\n    spec:\n      containers: []\n      tolerations: [TOLERATION]\n";
        silent(&RULE, &(pool("app") + &agent.replace("TOLERATION", "{key: app, operator: Exists}")));
        let any = pool("app") + &agent.replace("TOLERATION", "{operator: Exists}");
        assert!(!findings(&RULE, &any).is_empty());
    }
}
