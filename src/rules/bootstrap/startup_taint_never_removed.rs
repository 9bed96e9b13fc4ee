use super::user_data::{TAINT_EFFECT, TAINT_KEY};
use karpenter::kind::Kind;
use karpenter::release::Releases;
use karpenter::startup_taints;
use objects::node_claim::TaintField;
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::pod::Pod;
use objects::taint::TaintItem;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::has_placeholder;

use crate::rules::indexes::Pods;
use crate::rules::taint;

rule! {
    /// ## What it does
    ///
    /// Finds startup taints of a NodePool that no known component removes: neither an agent, controller or driver
    /// that the rule knows, nor a workload in the input that tolerates the taint by its key.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter puts startup taints on its nodes and waits until another component removes them. Karpenter itself
    /// never removes one. Until then the node is not initialized: pods that do not tolerate the taint stay Pending
    /// (`StartupTaint "…" still exists`), and Karpenter does not consolidate the node.
    ///
    /// The rule cannot know your own controllers. If one of them removes the taint, add its workload to the input or
    /// suppress the finding. If the key suggests that the taint is temporary, or has the domain of an example such as
    /// `example.com`, the finding is only an info.
    ///
    /// `karpenter.sh/unregistered` is Karpenter's own taint. Karpenter removes it when it registers the node, but only
    /// with the effect `NoExecute`, because it compares the key and the effect. With another effect the taint certainly
    /// stays, so the finding is an error.
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
    /// A taint that keeps other pods off permanently belongs under `taints`:
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
    /// - kubernetes-sigs/karpenter `pkg/controllers/nodeclaim/lifecycle/registration.go` and `UnregisteredNoExecuteTaint`
    ///   in `pkg/apis/v1/taints.go`, at v1.0.0 and v1.14.0
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "no known component removes a startup taint, so nodes with it never become initialized",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pool) = NodePool::of(object) else { return };
    for item in pool.taints(TaintField::StartupTaints) {
        let Some(key) = item.key().filter(|key| !has_placeholder(key)) else { continue };
        if key == TAINT_KEY {
            findings.extend(wrong_effect(item));
            continue;
        }
        let known = startup_taints::remover(key).is_some()
            || startup_taints::is_named_not_ready(key)
            || key.starts_with("karpenter.sh/");
        if known || is_tolerated_by_name(key, context) {
            continue;
        }
        let message = format!(
            "neither Karpenter nor a component that Karpwarden knows removes the startup taint `{key}`: unless a component of \
             yours does, nodes with it never become initialized, and Karpenter does not consolidate them"
        );
        let help = "run the component that removes the taint on every node, with a toleration for it; if the taint is permanent, write it under `taints`";
        let finding = Finding::new(&RULE, taint::place(item), message).help(help);
        let is_uncertain = startup_taints::sounds_temporary(key) || is_example(key);
        // The policy does not look up workloads, which may include the component that removes the taint.
        findings.push(if is_uncertain || !context.is_text {
            finding.severity(Severity::Info)
        } else {
            finding
        });
    }
}

/// Whether the domain of a key is reserved for examples (RFC 2606), where the reader writes another key.
fn is_example(key: &str) -> bool {
    let domain = key.split_once('/').map_or("", |(domain, _)| domain);
    ["example.com", "example.net", "example.org"].iter().any(|reserved| {
        domain.strip_suffix(reserved).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    })
}

/// Reports Karpenter's own taint with an effect that Karpenter does not remove.
fn wrong_effect(item: TaintItem<'_>) -> Option<Finding<'_>> {
    // The API server refuses every other effect.
    let effect = item.effect().filter(|effect| matches!(*effect, "NoSchedule" | "PreferNoSchedule"))?;
    let message = format!(
        "Karpenter removes the taint `{TAINT_KEY}` only with the effect `{TAINT_EFFECT}`, so this startup taint with the \
         effect `{effect}` stays: nodes with it never become initialized, and Karpenter does not consolidate them"
    );
    let help = format!(
        "remove the taint, because nodes register with `{TAINT_KEY}:{TAINT_EFFECT}` anyway, or write `{TAINT_EFFECT}`"
    );
    Some(Finding::new(&RULE, taint::place(item), message).severity(Severity::Error).help(help))
}

/// Maximum number of workloads to search for a toleration. A cluster has far fewer agents.
const MAX_WORKLOADS: usize = 2_000;

/// Whether a workload of the same cluster tolerates the taint by its key. A component that removes a taint has to.
fn is_tolerated_by_name(key: &str, context: &Context<'_, '_>) -> bool {
    let tolerates = |pod: &Pod<'_>| pod.spec().tolerations().any(|toleration| toleration.key() == Some(key));
    context.anywhere(|inventory| inventory.index::<Pods>().iter().take(MAX_WORKLOADS).any(tolerates))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn pool(key: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    spec:
      startupTaints:
      - {{key: {key}, effect: NoSchedule}}
"
        )
    }

    #[test]
    fn reports_taint_without_a_known_remover() {
        insta::assert_snapshot!(findings(&RULE, &pool("NodeReadiness")), @"
          8 |       - {key: NodeReadiness, effect: NoSchedule}
            |               ^^^^^^^^^^^^^
        warning NodePool/a spec.template.spec.startupTaints[0] [all]
          neither Karpenter nor a component that Karpwarden knows removes the startup taint `NodeReadiness`: unless a component of yours does, nodes with it never become initialized, and Karpenter does not consolidate them
          help: run the component that removes the taint on every node, with a toleration for it; if the taint is permanent, write it under `taints`
        ");
    }

    #[test]
    fn reports_taint_of_karpenter_with_an_effect_that_it_does_not_remove() {
        insta::assert_snapshot!(findings(&RULE, &pool("karpenter.sh/unregistered")), @"
          8 |       - {key: karpenter.sh/unregistered, effect: NoSchedule}
            |               ^^^^^^^^^^^^^^^^^^^^^^^^^
        error NodePool/a spec.template.spec.startupTaints[0] [all]
          Karpenter removes the taint `karpenter.sh/unregistered` only with the effect `NoExecute`, so this startup taint with the effect `NoSchedule` stays: nodes with it never become initialized, and Karpenter does not consolidate them
          help: remove the taint, because nodes register with `karpenter.sh/unregistered:NoExecute` anyway, or write `NoExecute`
        ");
        silent(&RULE, &pool("karpenter.sh/unregistered").replace("NoSchedule", "NoExecute"));
        silent(&RULE, &pool("karpenter.sh/unregistered").replace("NoSchedule", "'${EFFECT}'"));
        silent(&RULE, &pool("karpenter.sh/unregistered").replace(", effect: NoSchedule", ""));
    }

    #[test]
    fn is_an_info_if_the_key_suggests_a_temporary_taint() {
        assert!(findings(&RULE, &pool("node.spack.io/certificate-pending")).contains("info NodePool/a"));
    }

    #[test]
    fn is_an_info_if_the_key_is_of_an_example() {
        for key in ["example.com/another-taint", "team.example.org/gpu"] {
            assert!(findings(&RULE, &pool(key)).contains("info NodePool/a"), "{key}");
        }
        for key in ["example-com/gpu", "myexample.com/gpu", "example.com"] {
            assert!(findings(&RULE, &pool(key)).contains("warning NodePool/a"), "{key}");
        }
    }

    #[test]
    fn accepts_taints_with_a_known_remover() {
        for key in [
            "node.cilium.io/agent-not-ready",
            "ebs.csi.aws.com/agent-not-ready",
            "node.cloudprovider.kubernetes.io/uninitialized",
            "nidhogg.uswitch.com/kube-system.kiam",
            "readiness.k8s.io/gpu",
            "example.com/agent-not-ready",
            "karpenter.sh/disrupted",
            "'${KEY}'",
        ] {
            silent(&RULE, &pool(key));
        }
    }

    #[test]
    fn accepts_taint_that_a_workload_tolerates_by_key() {
        let agent = r"---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: untaint}
spec:
  template:
    spec:
      containers: []
      tolerations: [TOLERATION]
";
        silent(&RULE, &(pool("app") + &agent.replace("TOLERATION", "{key: app, operator: Exists}")));
        let any = pool("app") + &agent.replace("TOLERATION", "{operator: Exists}");
        assert!(!findings(&RULE, &any).is_empty());
    }
}
