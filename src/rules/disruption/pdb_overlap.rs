use karpenter::kind::Kind;
use objects::object::Object;
use objects::pod_disruption_budget::PodDisruptionBudget;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

use crate::rules::folders::is_elsewhere;
use crate::rules::indexes::Pods;
use crate::rules::indexes::pod_disruption_budgets::PodDisruptionBudgets;

rule! {
    /// ## What it does
    ///
    /// Finds two PodDisruptionBudgets of a namespace that select the same pods.
    ///
    /// ## Why it is bad
    ///
    /// The API server evicts no pod that more than one PodDisruptionBudget selects; it answers with an error. Karpenter
    /// does not consolidate or replace the nodes of such pods, and the drain of an expired node waits for them.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: policy/v1
    /// kind: PodDisruptionBudget
    /// metadata:
    ///   name: web
    /// spec:
    ///   maxUnavailable: 1
    ///   selector:
    ///     matchLabels: {app: web}
    /// ---
    /// apiVersion: policy/v1
    /// kind: PodDisruptionBudget
    /// metadata:
    ///   name: team
    /// spec:
    ///   maxUnavailable: 1
    ///   selector:
    ///     matchLabels: {team: shop}
    /// ---
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: web
    /// spec:
    ///   selector:
    ///     matchLabels: {app: web}
    ///   template:
    ///     metadata:
    ///       labels: {app: web, team: shop}
    ///     spec:
    ///       containers: [{name: web, image: nginx}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: policy/v1
    /// kind: PodDisruptionBudget
    /// metadata:
    ///   name: web
    /// spec:
    ///   maxUnavailable: 1
    ///   selector:
    ///     matchLabels: {app: web}
    /// ---
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: web
    /// spec:
    ///   selector:
    ///     matchLabels: {app: web}
    ///   template:
    ///     metadata:
    ///       labels: {app: web, team: shop}
    ///     spec:
    ///       containers: [{name: web, image: nginx}]
    /// ```
    ///
    /// ## What it needs
    ///
    /// The input must contain both budgets and the workload. The policy, which looks up no PodDisruptionBudgets, cannot see
    /// the problem.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#1414, kubernetes-sigs/karpenter#2361
    /// - pkg/registry/core/pod/storage/eviction.go of kubernetes/kubernetes
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        summary: "two PodDisruptionBudgets select the same pods, which can then not be evicted",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::POD_DISRUPTION_BUDGET)],
        inventory: &[],
        fix: Fixes::None,
        depends_on_karpenter: true,
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some((budget, selector)) =
        PodDisruptionBudget::of(object).and_then(|budget| Some((budget, budget.selector()?)))
    else {
        return;
    };
    let (budgets, pods) =
        (context.inventory.index::<PodDisruptionBudgets>(), context.inventory.index::<Pods>());
    // A pod that both select, and the first other budget. The budget that comes later in the input has the finding.
    let mut firsts = budgets.first_budgets(object);
    let other = firsts.find(|(_, first)| first.object().name() != budget.object().name());
    let overlap = other.and_then(|(id, first)| Some((*pods.get(id)?, first)));
    let Some((pod, first, first_selector)) =
        overlap.and_then(|(pod, first)| Some((pod, first, first.selector()?)))
    else {
        return;
    };
    let workload = pod.object();
    let message = format!(
        "this PodDisruptionBudget and `{}` both select the pods of the {} `{}`: the API server refuses every eviction of these \
         pods, so Karpenter does not consolidate or replace their nodes",
        first.object().name(),
        workload.kind(),
        workload.name()
    );
    // Files in different branches of the folders may be for different clusters.
    let is_certain = !is_elsewhere(selector, first_selector) && !is_elsewhere(selector, workload.root());
    let severity = if is_certain { RULE.severity } else { Severity::Info };
    findings.push(
        Finding::new(&RULE, Place::key(selector), message)
            .severity(severity)
            .help("delete one of the two, or narrow its selector")
            .related(Place::key(first_selector), "the other PodDisruptionBudget")
            .related(
                Place::value(pod.metadata().label_map().unwrap_or(workload.root())),
                "the labels of the pods",
            ),
    );
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, findings_in_files, silent};
    use rule::settings::Settings;

    fn manifest(first: &str, second: &str, labels: &str) -> String {
        format!(
            r"apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: web}}
spec:
  selector: {first}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: team}}
spec:
  selector: {second}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  template:
    metadata: {{labels: {labels}}}
    spec: {{nodeSelector: {{karpenter.sh/nodepool: a}}, containers: []}}
"
        )
    }

    #[test]
    fn reports_the_second_budget_of_the_same_pods() {
        let text = manifest(
            "{matchLabels: {app: web}}",
            "{matchExpressions: [{key: team, operator: Exists}]}",
            "{app: web, team: shop}",
        );
        insta::assert_snapshot!(findings(&RULE, &text), @"
         11 |   selector: {matchExpressions: [{key: team, operator: Exists}]}
            |   ^^^^^^^^
        error PodDisruptionBudget/team spec.selector [all]
          this PodDisruptionBudget and `web` both select the pods of the Deployment `web`: the API server refuses every eviction of these pods, so Karpenter does not consolidate or replace their nodes
          help: delete one of the two, or narrow its selector
          see line 5 spec.selector: the other PodDisruptionBudget
          see line 18 spec.template.metadata.labels: the labels of the pods
        ");
    }

    #[test]
    fn files_in_other_branches_of_the_folders_may_be_for_other_clusters() {
        let text = manifest("{}", "{}", "{app: web}");
        let parts: Vec<&str> = text.split("---\n").collect();
        let found = |names: [&str; 3]| {
            let files: Vec<_> = names.into_iter().zip(parts.iter().copied()).collect();
            findings_in_files(&RULE, &files, &Settings::default())
        };
        let same = found(["shop/first.yaml", "shop/second.yaml", "shop/web.yaml"]);
        assert!(same.starts_with("error PodDisruptionBudget/"), "{same}");
        for names in [
            ["shop/first.yaml", "shop/second.yaml", "old/web.yaml"],
            ["shop/first.yaml", "old/second.yaml", "shop/web.yaml"],
        ] {
            assert!(found(names).starts_with("info PodDisruptionBudget/"), "{names:?}");
        }
    }

    #[test]
    fn an_empty_selector_selects_every_pod_of_the_namespace() {
        let text = manifest("{}", "{matchLabels: {app: web}}", "{app: web}");
        assert!(findings(&RULE, &text).contains("both select the pods of the Deployment `web`"));
        silent(&RULE, &text.replacen("{name: web}", "{name: web, namespace: b}", 1));
    }

    #[test]
    fn accepts_pods_that_karpenter_does_not_evict() {
        let text = manifest("{}", "{matchLabels: {app: web}}", "{app: web}");
        let tolerating = "containers: [], tolerations: [{operator: Exists}]";
        silent(&RULE, &text.replace("containers: []", tolerating));
        let other = tolerating.replace("operator: Exists", "key: team, operator: Exists");
        assert!(!findings(&RULE, &text.replace("containers: []", &other)).is_empty());
    }

    #[test]
    fn expressions_select_as_the_api_server_reads_them() {
        let expression = |text: &str| format!("{{matchExpressions: [{text}]}}");
        for (first, second, is_overlap) in [
            ("{key: app, operator: In, values: [api, web]}", "{key: app, operator: Exists}", true),
            ("{key: app, operator: In, values: [api, db]}", "{key: app, operator: Exists}", false),
            ("{key: app, operator: In, values: []}", "{key: app, operator: Exists}", false),
            ("{key: app, operator: NotIn, values: [db]}", "{key: team, operator: DoesNotExist}", true),
            ("{key: app, operator: NotIn, values: [web]}", "{key: app, operator: Exists}", false),
            ("{key: team, operator: Exists}", "{key: app, operator: In, values: [web, db]}", false),
            (
                "{key: app, operator: Exists}, {key: team, operator: NotIn, values: [a]}",
                "{key: app, operator: Exists}, {key: team, operator: NotIn, values: [b]}",
                true,
            ),
        ] {
            for pair in [[first, second], [second, first]] {
                let [one, two] = pair.map(expression);
                let found = findings(&RULE, &manifest(&one, &two, "{app: web}"));
                assert_eq!(found.contains("both select the pods"), is_overlap, "{one} {two}: {found}");
            }
        }
    }

    #[test]
    fn accepts_budgets_of_different_pods_and_two_versions_of_one_budget() {
        silent(&RULE, &manifest("{matchLabels: {app: web}}", "{matchLabels: {app: api}}", "{app: web}"));
        let same = manifest("{matchLabels: {app: web}}", "{matchLabels: {app: web}}", "{app: web}");
        silent(&RULE, &same.replace("name: team", "name: web"));
    }
}
