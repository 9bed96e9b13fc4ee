use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use karpenter::release::Releases;
use scheduling::taints::Taint;
use manifest::tree::Node;
use karpenter::kind::Kind;
use objects::object::Object;
use crate::rules::labels::pod_no_matching_pool::{is_certain, releases, stuck};
use lint::rule::{Fixes, On};
use scheduling::fit::{Stuck, toleration};
use scheduling::pod::Pod;

rule! {
    /// ## What it does
    ///
    /// Checks that a pod which selects a NodePool, by its name or by a label that the pool sets, tolerates the taints of the
    /// pool. It speaks where every pool that the pod selects has a taint which the pod does not tolerate.
    ///
    /// Start-up taints (`spec.template.spec.startupTaints`) and the effect `PreferNoSchedule` keep no pod away for good and
    /// do not count.
    ///
    /// ## Why it is bad
    ///
    /// The pod stays pending, and the controller says `did not tolerate taint (taint=dedicated=gpu:NoSchedule)`. A
    /// toleration with another value or effect, or with `Equal` and no value, is as good as none.
    ///
    /// It is an error where the input holds every NodePool (`--complete`) and the pod selects by what Karpenter's nodes alone
    /// have, such as `karpenter.sh/nodepool`; a warning otherwise, as a managed node group may have the label.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: gpu
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: []
    ///       taints: [{key: dedicated, value: gpu, effect: NoSchedule}]
    /// ---
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: train
    /// spec:
    ///   nodeSelector: {karpenter.sh/nodepool: gpu}
    ///   tolerations: [{key: dedicated, operator: Equal, effect: NoSchedule}]
    ///   containers: [{name: train, image: "example.com/train:1"}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: gpu
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: []
    ///       taints: [{key: dedicated, value: gpu, effect: NoSchedule}]
    /// ---
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: train
    /// spec:
    ///   nodeSelector: {karpenter.sh/nodepool: gpu}
    ///   tolerations: [{key: dedicated, operator: Equal, value: gpu, effect: NoSchedule}]
    ///   containers: [{name: train, image: "example.com/train:1"}]
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#5101, #5169, #7636, #2150; kubernetes-sigs/karpenter#2123
    /// - pkg/scheduling/taints.go of kubernetes-sigs/karpenter at v1.14.0
    RULE {
        name: "pod-missing-toleration",
        family: Family::Labels,
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a pod selects a NodePool and does not tolerate its taint",
        on: &[On::Workload],
        inventory: &[Kind::NODE_POOL],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    let Some(pod) = Pod::of(object) else { return };
    stuck(pod, context, |stuck| drafts.extend(draft(pod, stuck, context)));
}

fn draft<'d>(pod: Pod<'d>, stuck: &Stuck<'d>, context: &Context<'_, 'd>) -> Option<Draft<'d>> {
    let (pool, taint, node) = stuck.untolerated?;
    let near = near(pod, &taint);
    let place = match (&near, pod.spec().get("tolerations")) {
        (Some((item, _)), _) => Place::value(*item),
        (None, Some(tolerations)) => Place::key(tolerations),
        (None, None) => Place::missing(pod.spec(), "tolerations"),
    };
    let but = near.map(|(_, but)| format!("; its toleration {but}")).unwrap_or_default();
    let name = pool.name();
    let message =
        format!("this pod selects the NodePool `{name}` and does not tolerate its taint `{taint}`: it gets no node{but}");
    let value = if taint.value.is_empty() { String::new() } else { format!(" value: {},", taint.value) };
    let operator = if taint.value.is_empty() { "Exists" } else { "Equal" };
    let help =
        format!("tolerate `{{key: {}, operator: {operator},{value} effect: {}}}`", taint.key, taint.effect);
    let severity = if is_certain(pod, context) { Severity::Error } else { Severity::Warning };
    let draft = Draft::new(&RULE, place, message).severity(severity).releases(releases(pod)).help(help);
    Some(draft.related(Place::value(node), format!("the taint of `{name}`")))
}

/// A toleration of the same key that does not cover the taint, and what is amiss with it.
fn near<'d>(pod: Pod<'d>, taint: &Taint<'d>) -> Option<(Node<'d>, String)> {
    let items = pod.spec().items_at(&["tolerations"]);
    let mut near = items.filter(|item| item.str_at(&["key"]) == Some(taint.key));
    near.next().map(|item| {
        let toleration = toleration(item);
        let equal = matches!(toleration.operator, "" | "Equal");
        let but = if equal && toleration.value.is_empty() && !taint.value.is_empty() {
            "has no value".to_owned()
        } else if equal && toleration.value != taint.value {
            format!("has the value `{}`", toleration.value)
        } else {
            format!("has the effect `{}`", toleration.effect)
        };
        (item, but)
    })
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with, silent};
    use lint::settings::Settings;

    fn pool(name: &str, labels: &str, taints: &str) -> String {
        format!(
            "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: {name}}}\nspec:\n  template:\n    metadata: {{labels: {{{labels}}}}}\n    spec:\n      {taints}\n---\n"
        )
    }

    fn pod(asks: &str) -> String {
        format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec:\n  containers: []\n  {asks}\n")
    }

    const GPU: &str = "taints: [{key: dedicated, value: gpu, effect: NoSchedule}]";

    #[test]
    fn the_place_is_where_the_toleration_is_wanting_and_the_taint_is_shown() {
        let text = pool("gpu", "", GPU) + &pod("nodeSelector: {karpenter.sh/nodepool: gpu}");
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
         13 | spec:
            | ^^^^
        warning Pod/a spec.tolerations [1.0-1.14]
          this pod selects the NodePool `gpu` and does not tolerate its taint `dedicated=gpu:NoSchedule`: it gets no node
          help: tolerate `{key: dedicated, operator: Equal, value: gpu, effect: NoSchedule}`
          see line 8 spec.template.spec.taints[0]: the taint of `gpu`
        ");
        let complete = Settings { complete_inventory: true, ..Settings::default() };
        assert!(findings_with(&super::RULE, &text, &complete).contains("error Pod/a spec.tolerations"));
    }

    #[test]
    fn a_near_miss_is_named() {
        let of = |toleration: &str| {
            let asks = format!("nodeSelector: {{team: ml}}\n  tolerations:\n  - {toleration}");
            findings(&super::RULE, &(pool("gpu", "team: ml", GPU) + &pod(&asks)))
        };
        insta::assert_snapshot!(of("{key: dedicated, value: cpu}"), @"
         17 |   - {key: dedicated, value: cpu}
            |      ^^^
        warning Pod/a spec.tolerations[0] [1.0-1.14]
          this pod selects the NodePool `gpu` and does not tolerate its taint `dedicated=gpu:NoSchedule`: it gets no node; its toleration has the value `cpu`
          help: tolerate `{key: dedicated, operator: Equal, value: gpu, effect: NoSchedule}`
          see line 8 spec.template.spec.taints[0]: the taint of `gpu`
        ");
        assert!(of("{key: dedicated, operator: Exists, effect: NoExecute}").contains("has the effect `NoExecute`"));
        assert!(of("{key: dedicated}").contains("has no value"));
        assert_eq!(of("{key: dedicated, operator: Exists}"), "");
        assert_eq!(of("{operator: Exists}"), "");
    }

    #[test]
    fn another_pool_that_is_selected_and_open_is_enough() {
        let pools = pool("gpu", "team: ml", GPU) + &pool("open", "team: ml", "requirements: []");
        silent(&super::RULE, &(pools + &pod("nodeSelector: {team: ml}")));
    }

    #[test]
    fn taints_that_give_way_do_not_count() {
        for taints in [
            "startupTaints: [{key: a, effect: NoExecute}]",
            "taints: [{key: a, effect: PreferNoSchedule}]",
        ] {
            silent(&super::RULE, &(pool("gpu", "", taints) + &pod("nodeSelector: {karpenter.sh/nodepool: gpu}")));
        }
    }

    #[test]
    fn a_pod_that_selects_no_pool_may_run_elsewhere() {
        silent(&super::RULE, &(pool("gpu", "", GPU) + &pod("nodeSelector: {kubernetes.io/arch: arm64}")));
        silent(&super::RULE, &(pool("gpu", "", GPU) + &pod("tolerations: []")));
    }
}
