use crate::rules::indexes::pod_disruption_budgets::{LeastReplicas, SelectedReplicas};
use karpenter::kind::Kind;
use manifest::edit::{Change, Composed};
use manifest::tree::Node;
use objects::object::Object;
use objects::pod_disruption_budget::PodDisruptionBudget;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

use crate::rules::indexes::pod_disruption_budgets::PodDisruptionBudgets;

rule! {
    /// ## What it does
    ///
    /// Finds PodDisruptionBudgets that never allow an eviction: `maxUnavailable: 0`, `minAvailable: 100%`, and a
    /// `minAvailable` that needs every replica of the workload.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter consolidates and replaces no node with such a pod, for drift neither, and reports
    /// `DisruptionBlocked` with the name of the budget. Expiry does not ask first: the node is tainted, its replacement is
    /// launched, and the drain waits for the pod until the `terminationGracePeriod` of the NodePool; without one, nobody
    /// ends it, and both nodes cost money. Percentages of `minAvailable` round up, so `50%` of one replica is one pod.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: policy/v1
    /// kind: PodDisruptionBudget
    /// metadata:
    ///   name: web
    /// spec:
    ///   maxUnavailable: 0
    ///   selector:
    ///     matchLabels: {app: web}
    /// ```
    ///
    /// `minAvailable: 1` has the same effect on a Deployment with one replica.
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
    /// ```
    ///
    /// ## What is not reported
    ///
    /// A budget of pods that all tolerate the taint `karpenter.sh/disrupted`: Karpenter does not evict such pods, whatever their
    /// budget allows. `toleration-prevents-eviction` reports them.
    ///
    /// ## What it needs
    ///
    /// `maxUnavailable: 0` and `minAvailable: 100%` show in the budget alone. For other numbers the input must contain the
    /// workload, and its autoscaler if it has one; the rule counts the least number of pods.
    ///
    /// ## Fix safety
    ///
    /// Unsafe: the budget may forbid evictions on purpose, for example to protect a database that a person moves.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#3854, kubernetes-sigs/karpenter#1121, kubernetes-sigs/karpenter#2600
    /// - pkg/utils/pdb of kubernetes-sigs/karpenter at v1.14.1
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        fix: Fixes::Unsafe,
        summary: "a PodDisruptionBudget never allows an eviction, so Karpenter cannot replace the nodes of its pods",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::POD_DISRUPTION_BUDGET)],
        inventory: &[],
        depends_on_karpenter: true,
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(budget) = PodDisruptionBudget::of(object) else { return };
    if context.inventory.index::<PodDisruptionBudgets>().selects_only_tolerating(object) {
        return;
    }
    findings.extend(never_any(budget).or_else(|| needs_all(budget, context)));
}

/// Reports a budget that allows no eviction, whatever the number of pods is.
fn never_any(budget: PodDisruptionBudget<'_>) -> Option<Finding<'_>> {
    let (node, field) = match (budget.max_unavailable(), budget.min_available()) {
        (Some(node), _) if Amount::parse(node)? == Amount::ZERO => (node, "maxUnavailable"),
        (None, Some(node)) if Amount::parse(node)? == Amount::Percent(100) => (node, "minAvailable"),
        _ => return None,
    };
    let message = "this PodDisruptionBudget never allows an eviction: Karpenter does not consolidate or replace nodes with its pods, and \
         the drain of an expired node waits for them";
    let finding = Finding::at(&RULE, node, message);
    if field == "maxUnavailable" {
        let title = "allow the eviction of one pod at a time";
        return Some(
            finding
                .help("use `maxUnavailable: 1`, which works with any number of replicas")
                .unsafe_fix(title, Change::Write(node, Composed::Number(1))),
        );
    }
    Some(finding.help("use `maxUnavailable: 1` instead, which works with any number of replicas"))
}

/// Reports a budget that needs every pod that the workloads in the input run at least.
fn needs_all<'d>(budget: PodDisruptionBudget<'d>, context: &Context<'_, 'd>) -> Option<Finding<'d>> {
    let node = budget.min_available()?;
    let amount = Amount::parse(node)?;
    let (replicas, at) = replicas(budget, amount.most_needed(), context)?;
    if replicas == 0 || amount.rounded_up(replicas) < replicas {
        return None;
    }
    let pods = if replicas == 1 { "the only pod".to_owned() } else { format!("all {replicas} pods") };
    let is_autoscaled = at.is_some_and(|at| at.key() != "replicas");
    let (runs, when) = if is_autoscaled {
        (", the minimum of the workload's autoscaler", " while no more run")
    } else {
        (" that the workload runs", "")
    };
    let message = format!(
        "`minAvailable` needs {pods}{runs}, so no pod can be evicted{when}: Karpenter does not consolidate or replace \
         their nodes, and the drain of an expired node waits for them"
    );
    let finding = Finding::at(&RULE, node, message).help(
        "use `maxUnavailable: 1`, which works with any number of replicas, or run more replicas than the budget needs",
    );
    Some(match at {
        Some(at) => finding.related(Place::value(at), "the number of pods"),
        None => finding,
    })
}

/// The least number of pods that the selected workloads run together, and the place of the number if a single workload has
/// one. `None` if the input does not show the number: for a DaemonSet, a bare pod, or no pod at all. Counting stops above `most`.
fn replicas<'d>(
    budget: PodDisruptionBudget<'d>,
    most: i64,
    context: &Context<'_, 'd>,
) -> Option<(i64, Option<Node<'d>>)> {
    match context.inventory.index::<PodDisruptionBudgets>().replicas(budget.object(), most) {
        SelectedReplicas::None | SelectedReplicas::Unknown => None,
        SelectedReplicas::One(LeastReplicas { number, node }) => Some((number, node)),
        SelectedReplicas::Several(number) => Some((number, None)),
    }
}

/// A number or a percentage of pods.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Amount {
    Number(i64),
    Percent(i64),
}

impl Amount {
    const ZERO: Self = Self::Number(0);

    /// Parses a number or a percentage; `0%` is the number 0. `None` for what the API server refuses, and for placeholders.
    fn parse(node: Node<'_>) -> Option<Self> {
        if let Some(number) = node.as_int() {
            return Some(Self::Number(number));
        }
        let percent: i64 = node.as_str()?.strip_suffix('%')?.parse().ok()?;
        Some(if percent == 0 { Self::ZERO } else { Self::Percent(percent) })
    }

    /// The largest number of pods that the amount can cover completely.
    fn most_needed(self) -> i64 {
        match self {
            Self::Number(number) => number,
            // Of 100 pods, 99% leave one.
            Self::Percent(..100) => 100,
            Self::Percent(_) => i64::MAX,
        }
    }

    /// The number of pods out of `total`. Kubernetes rounds up
    /// (`GetScaledValueFromIntOrPercent` in pkg/controller/disruption/disruption.go of kubernetes/kubernetes).
    fn rounded_up(self, total: i64) -> i64 {
        match self {
            Self::Number(number) => number,
            Self::Percent(percent) => {
                let hundredths = i128::from(percent) * i128::from(total);
                i64::try_from(hundredths.div_euclid(100) + i128::from(hundredths.rem_euclid(100) > 0))
                    .unwrap_or(i64::MAX)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    const POOL: &str = r"---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec: {template: {spec: {}}}
";

    fn budget(spec: &str) -> String {
        format!(
            r"apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: web}}
spec:
  {spec}
  selector: {{matchLabels: {{app: web}}}}
{POOL}"
        )
    }

    fn with_workload(spec: &str, replicas: &str) -> String {
        let budget = budget(spec);
        format!(
            r"{budget}---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  {replicas}
  template: {{metadata: {{labels: {{app: web}}}}, spec: {{containers: []}}}}
"
        )
    }

    fn with_autoscaler(least: &str) -> String {
        let workload = with_workload("minAvailable: 2", "replicas: 2");
        format!(
            r"{workload}---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{name: web}}
spec: {{scaleTargetRef: {{kind: Deployment, name: web}}, {least} maxReplicas: 9}}
"
        )
    }

    #[test]
    fn reports_budgets_that_allow_no_eviction_of_any_number_of_pods() {
        insta::assert_snapshot!(findings(&RULE, &budget("maxUnavailable: 0")), @r#"
          5 |   maxUnavailable: 0
            |                   ^
        warning PodDisruptionBudget/web spec.maxUnavailable [all]
          this PodDisruptionBudget never allows an eviction: Karpenter does not consolidate or replace nodes with its pods, and the drain of an expired node waits for them
          help: use `maxUnavailable: 1`, which works with any number of replicas
          unsafe fix: allow the eviction of one pod at a time: ": 1"
        "#);
        insta::assert_snapshot!(findings(&RULE, &budget("minAvailable: 100%")), @"
          5 |   minAvailable: 100%
            |                 ^^^^
        warning PodDisruptionBudget/web spec.minAvailable [all]
          this PodDisruptionBudget never allows an eviction: Karpenter does not consolidate or replace nodes with its pods, and the drain of an expired node waits for them
          help: use `maxUnavailable: 1` instead, which works with any number of replicas
        ");
        assert!(findings(&RULE, &budget("maxUnavailable: 0%")).contains("never allows an eviction"));
        for spec in [
            "maxUnavailable: 1",
            "maxUnavailable: 1%",
            "minAvailable: 99%",
            "minAvailable: 1",
            "maxUnavailable: ${MAX}",
        ] {
            silent(&RULE, &budget(spec));
        }
    }

    #[test]
    fn reports_budgets_that_need_every_replica() {
        insta::assert_snapshot!(findings(&RULE, &with_workload("minAvailable: 2", "replicas: 2")), @"
          5 |   minAvailable: 2
            |                 ^
        warning PodDisruptionBudget/web spec.minAvailable [all]
          `minAvailable` needs all 2 pods that the workload runs, so no pod can be evicted: Karpenter does not consolidate or replace their nodes, and the drain of an expired node waits for them
          help: use `maxUnavailable: 1`, which works with any number of replicas, or run more replicas than the budget needs
          see line 17 spec.replicas: the number of pods
        ");
        for (spec, replicas) in [
            ("minAvailable: 1", "replicas: 1"),
            ("minAvailable: 1", ""),
            ("minAvailable: 50%", "replicas: 1"),
            ("minAvailable: 67%", "replicas: 3"),
            ("minAvailable: 3", "replicas: 2"),
        ] {
            assert!(
                findings(&RULE, &with_workload(spec, replicas)).contains("so no pod can be evicted"),
                "{spec} {replicas}"
            );
        }
        for (spec, replicas) in [
            ("minAvailable: 1", "replicas: 2"),
            ("minAvailable: 66%", "replicas: 3"),
            ("minAvailable: 1", "replicas: 0"),
            ("minAvailable: 1", "replicas: ${N}"),
            ("maxUnavailable: 50%", "replicas: 1"),
        ] {
            silent(&RULE, &with_workload(spec, replicas));
        }
    }

    #[test]
    fn accepts_budgets_of_pods_that_karpenter_does_not_evict() {
        for toleration in ["{operator: Exists}", "{key: karpenter.sh/disrupted, operator: Exists}"] {
            for spec in ["minAvailable: 1", "maxUnavailable: 0", "minAvailable: 100%"] {
                let text = with_workload(spec, "replicas: 1")
                    .replace("containers: []", &format!("containers: [], tolerations: [{toleration}]"));
                silent(&RULE, &text);
                let other = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: b, labels: {app: web}}\nspec: {containers: []}\n";
                let is_counted = spec != "minAvailable: 1";
                assert_eq!(findings(&RULE, &format!("{text}{other}")).is_empty(), !is_counted, "{spec}");
            }
        }
        let others = "containers: [], tolerations: [{key: karpenter.sh/disrupted, operator: Exists, effect: NoExecute}]";
        let text = with_workload("minAvailable: 1", "replicas: 1").replace("containers: []", others);
        assert!(!findings(&RULE, &text).is_empty());
    }

    #[test]
    fn the_autoscaler_says_the_least_number_of_pods() {
        silent(&RULE, &with_autoscaler("minReplicas: 3,"));
        let least = findings(&RULE, &with_autoscaler("minReplicas: 2,"));
        let expected = "needs all 2 pods, the minimum of the workload's autoscaler, so no pod can be evicted while no more run";
        assert!(least.contains(expected), "{least}");
        assert!(findings(&RULE, &with_autoscaler("")).contains("the only pod"));
    }

    #[test]
    fn replicas_of_other_namespaces_and_daemon_sets_do_not_count() {
        let other = with_workload("minAvailable: 1", "replicas: 1")
            .replace("name: web}\nspec:\n  replicas", "name: web, namespace: b}\nspec:\n  replicas");
        silent(&RULE, &other);
        silent(&RULE, &with_workload("minAvailable: 1", "").replace("kind: Deployment", "kind: DaemonSet"));
    }

    #[test]
    fn rounds_a_share_up_only_if_it_is_no_whole_number() {
        silent(&RULE, &with_workload("minAvailable: 50%", "replicas: 2"));
        assert!(!findings(&RULE, &with_workload("minAvailable: 51%", "replicas: 2")).is_empty());
    }
}
