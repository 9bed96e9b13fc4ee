use cluster::inventory::Inventory;
use karpenter::release::Releases;
use manifest::tree::{Node, items_of, members_of};
use objects::object::{Object, Operation};
use objects::placeholders::has_placeholder_below;
use objects::pod::{Pod, PodAffinityTerm};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use scheduling::other_nodes::is_meant_for_other_nodes;
use scheduling::provisionable::is_provisionable;
use scheduling::simulation::{LabelSelector, labels_of};

use crate::rules::indexes::pod_labels::PodLabels;

rule! {
    /// ## What it does
    ///
    /// Checks that a required `podAffinity` of a pod selects the pod itself or another pod of the input. It reports nothing
    /// without `--complete`, because pods outside the input may have the labels. With it the finding is an info, because an
    /// operator may create such pods, and a warning if a value looks like a misspelt label of the input.
    ///
    /// ## Why it is bad
    ///
    /// A required affinity needs a running pod that the selector matches. Only a pod that matches its own selector may be
    /// the first. If no pod matches, the pod stays Pending, and the controller logs
    /// `unsatisfiable topology constraint for pod affinity`.
    ///
    /// ## Example
    ///
    /// ```yaml,complete
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: cache
    /// spec:
    ///   selector: {matchLabels: {app: cache}}
    ///   template:
    ///     metadata: {labels: {app: cache}}
    ///     spec:
    ///       affinity:
    ///         podAffinity:
    ///           requiredDuringSchedulingIgnoredDuringExecution:
    ///           - topologyKey: kubernetes.io/hostname
    ///             labelSelector: {matchLabels: {app: web}}
    ///       containers: [{name: cache, image: redis}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml,complete
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: cache
    /// spec:
    ///   selector: {matchLabels: {app: cache}}
    ///   template:
    ///     metadata: {labels: {app: cache}}
    ///     spec:
    ///       affinity:
    ///         podAffinity:
    ///           requiredDuringSchedulingIgnoredDuringExecution:
    ///           - topologyKey: kubernetes.io/hostname
    ///             labelSelector: {matchLabels: {app: cache}}
    ///       containers: [{name: cache, image: redis}]
    /// ```
    ///
    /// ## What it needs
    ///
    /// The input must contain the pods that the selector may match. The policy in the cluster does not look up pods, so the
    /// finding is only in the report of files. Selectors with labels that a controller adds, such as `pod-template-hash`,
    /// and pods of other namespaces by `namespaceSelector` are not judged.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#8000, #7999; kubernetes-sigs/karpenter#270, #2809
    /// - pkg/controllers/provisioning/scheduling/topologygroup.go (`nextDomainAffinity`) of kubernetes-sigs/karpenter at
    ///   v1.14.1
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a required pod affinity selects no pod of the input",
        runs: Runs::OnFiles,
        on: &[On::Workload],
        inventory: &[],
        check: check,
    }
}

/// The labels that controllers add to pods: of Deployments, StatefulSets, DaemonSets and Jobs.
const OF_CONTROLLERS: [&str; 8] = [
    "pod-template-hash",
    "controller-revision-hash",
    "pod-template-generation",
    "statefulset.kubernetes.io/pod-name",
    "apps.kubernetes.io/pod-index",
    "job-name",
    "controller-uid",
    "batch.kubernetes.io/",
];

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pod) = Pod::of(object).filter(|pod| is_provisionable(*pod)) else { return };
    let is_judged = object.operation() == Operation::Apply && context.inventory.is_complete();
    if !is_judged || is_meant_for_other_nodes(pod) {
        return;
    }
    let selectors = pod.spec().required_pod_affinity_terms().filter_map(|term| Some((term, selector(term)?)));
    findings.extend(selectors.filter_map(|(term, selector)| finding(pod, term, selector, context)));
}

/// The selector of a term, if it can be judged.
fn selector(term: PodAffinityTerm<'_>) -> Option<Node<'_>> {
    let term = term.node();
    let selector = term.get("labelSelector").filter(|selector| selector.is_mapping())?;
    let expressions = items_of(selector.get("matchExpressions"));
    let keys = expressions.filter_map(|item| item.str_at(&["key"]));
    let mut keys = keys.chain(labels_of(selector.get("matchLabels")).into_keys());
    let is_added = |key: &str| OF_CONTROLLERS.iter().any(|added| key.starts_with(added));
    let is_open = term.get("namespaceSelector").is_some_and(|node| !node.is_null()) || keys.any(is_added);
    (!is_open && !has_placeholder_below(term)).then_some(selector)
}

fn finding<'d>(
    pod: Pod<'d>,
    term: PodAffinityTerm<'d>,
    selector: Node<'d>,
    context: &Context<'_, 'd>,
) -> Option<Finding<'d>> {
    let own_namespace = pod.object().namespace();
    let listed: Vec<&str> = items_of(term.node().get("namespaces")).filter_map(Node::as_str).collect();
    let is_in = |namespace: &str| match listed.as_slice() {
        [] => own_namespace.is_empty() || namespace == own_namespace,
        listed => listed.contains(&namespace),
    };
    let own = labels_of(pod.metadata().label_map());
    let selects_itself = is_in(own_namespace) && LabelSelector::parse(Some(selector))?.matches(&own);
    let may_match = |inventory: &Inventory<'d>| inventory.index::<PodLabels>().may_match(selector, is_in);
    if selects_itself || context.anywhere(may_match) {
        return None;
    }
    let (place, hint) = match near_label(selector, context) {
        Some((label, value)) => (Place::value(label), format!(" (did you mean `{value}`?)")),
        None => (Place::key(selector), String::new()),
    };
    let message = format!(
        "the required pod affinity selects no pod of {}, and not the pod itself, so the pod stays Pending{hint}",
        context.scope()
    );
    Some(
        Finding::new(&RULE, place, message)
            .severity(if hint.is_empty() { Severity::Info } else { Severity::Warning })
            .help("select labels that pods of the namespace have, or make the affinity a preference"),
    )
}

/// A label of a selector whose value no pod has, with a similar value that pods have.
fn near_label<'d>(selector: Node<'d>, context: &Context<'_, 'd>) -> Option<(Node<'d>, &'d str)> {
    let labels = members_of(selector.get("matchLabels"));
    let pods = context.inventory.index::<PodLabels>();
    labels
        .filter_map(|(key, node)| Some((key, node, node.as_str()?)))
        .filter(|(key, _, value)| !pods.has_label(key, value))
        .find_map(|(key, node, value)| Some((node, pods.nearest_value(key, value)?)))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings_with, silent};
    use rule::settings::Settings;

    fn workload(name: &str, fields: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: a}}
spec:
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      {fields}
      containers: [{{name: a, image: a}}]
---
"
        )
    }

    fn affinity(term: &str) -> String {
        format!(
            "affinity: {{podAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{{topologyKey: kubernetes.io/hostname, {term}}}]}}}}"
        )
    }

    fn selecting(name: &str, labels: &str) -> String {
        workload(name, &affinity(&format!("labelSelector: {{matchLabels: {{{labels}}}}}")))
    }

    fn in_complete(text: &str) -> String {
        findings_with(&RULE, text, &Settings { complete_inventory: true, ..Settings::default() })
    }

    #[test]
    fn reports_selectors_that_match_nothing_in_a_complete_input() {
        insta::assert_snapshot!(in_complete(&selecting("cache", "app: web")), @"
          8 |       affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}}
            |                                                                                                                       ^^^^^^^^^^^^^
        info Deployment/cache spec.template.spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector [all]
          the required pod affinity selects no pod of this input, and not the pod itself, so the pod stays Pending
          help: select labels that pods of the namespace have, or make the affinity a preference
        ");
        silent(&RULE, &selecting("cache", "app: web"));
    }

    #[test]
    fn suggests_a_similar_label() {
        let text = selecting("cache", "app: storefornt") + &workload("storefront", "");
        insta::assert_snapshot!(in_complete(&text), @"
          8 |       affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: storefornt}}}]}}
            |                                                                                                                                                          ^^^^^^^^^^
        warning Deployment/cache spec.template.spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector.matchLabels.app [all]
          the required pod affinity selects no pod of this input, and not the pod itself, so the pod stays Pending (did you mean `storefront`?)
          help: select labels that pods of the namespace have, or make the affinity a preference
        ");
    }

    #[test]
    fn suggests_nothing_for_a_label_that_pods_of_other_namespaces_have() {
        let elsewhere = workload("storefront", "").replace("namespace: a", "namespace: b");
        let text = selecting("cache", "app: storefront") + &elsewhere + &workload("storefronts", "");
        let output = in_complete(&text);
        assert!(output.contains("so the pod stays Pending\n"), "{output}");
    }

    #[test]
    fn accepts_selectors_of_the_pod_itself_and_of_other_pods() {
        assert_eq!(in_complete(&selecting("cache", "app: cache")), "");
        assert_eq!(in_complete(&(selecting("cache", "app: web") + &workload("web", ""))), "");
        let listed =
            affinity("labelSelector: {matchExpressions: [{key: app, operator: In, values: [other, web]}]}");
        assert_eq!(in_complete(&(workload("cache", &listed) + &workload("web", ""))), "");
        assert_ne!(in_complete(&workload("cache", &listed)), "");
    }

    #[test]
    fn compares_the_pods_of_the_namespaces_that_the_term_lists() {
        let elsewhere = workload("web", "").replace("namespace: a", "namespace: b");
        assert_ne!(in_complete(&(selecting("cache", "app: web") + &elsewhere)), "");
        let listed = affinity("namespaces: [b], labelSelector: {matchLabels: {app: web}}");
        assert_eq!(in_complete(&(workload("cache", &listed) + &elsewhere)), "");
        let anywhere = workload("web", "").replace(", namespace: a", "");
        assert_eq!(in_complete(&(selecting("cache", "app: web") + &anywhere)), "");
    }

    #[test]
    fn ignores_selectors_that_the_input_does_not_decide() {
        for term in [
            "namespaceSelector: {}, labelSelector: {matchLabels: {app: web}}",
            "labelSelector: {matchLabels: {pod-template-hash: a}}",
            "labelSelector: {matchLabels: {app: '${APP}'}}",
            "labelSelector: {matchExpressions: [{key: app, operator: Exists}]}",
        ] {
            assert_eq!(in_complete(&workload("cache", &affinity(term))), "", "{term}");
        }
        let placeholder = workload("'${NAME}'", "");
        assert_eq!(in_complete(&(selecting("cache", "app: web") + &placeholder)), "");
        let soft = selecting("cache", "app: web").replace("requiredDuring", "preferredDuring");
        assert_eq!(in_complete(&soft), "");
    }
}
