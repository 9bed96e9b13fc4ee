use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_pool::NodePool;
use objects::object::Object;
use objects::pod::{ExpressionOrigin, LabelExpression, Pod};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{On, Runs};

rule! {
    /// ## What it does
    ///
    /// Finds values of `karpenter.k8s.aws/instance-accelerator-name` that name a Neuron accelerator, in NodePools and
    /// pods.
    ///
    /// ## Why it is bad
    ///
    /// In 1.0 every Neuron accelerator is called `inferentia`. Since 1.1 the names are `inferentia`, `inferentia2` and
    /// `trainium`: a selector for `inferentia` matches only Inf1, and Karpenter creates no node on Inf2, Trn1 and Trn2.
    /// After a downgrade the new names match nothing.
    ///
    /// ## What is not reported
    ///
    /// `inferentia` together with one of the new names: its author knew both sets of names.
    ///
    /// ## Example
    ///
    /// ```yaml,from=1.0 to 1.1
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: train
    /// spec:
    ///   nodeSelector: {karpenter.k8s.aws/instance-accelerator-name: inferentia}
    ///   containers: [{name: train, image: "example.com/train:1"}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// Select the manufacturer, which has the same value in every release, and the instance family if it matters:
    ///
    /// ```yaml,from=1.0 to 1.1
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: train
    /// spec:
    ///   nodeSelector:
    ///     karpenter.k8s.aws/instance-accelerator-manufacturer: aws
    ///     karpenter.k8s.aws/instance-family: trn1
    ///   containers: [{name: train, image: "example.com/train:1"}]
    /// ```
    ///
    /// ## References
    ///
    /// - Upgrade guide, 1.1.0
    /// - pkg/providers/instancetype/types.go of aws/karpenter-provider-aws at v1.0.14 (`Inferentia` for every
    ///   accelerator)
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(1),
        summary: "the name of a Neuron accelerator matches other instance types than before",
        runs: Runs::OnUpgrade,
        on: &[On::Kind(Kind::NODE_POOL), On::Workload],
        inventory: &[],
        check: check,
    }
}

const KEY: &str = "karpenter.k8s.aws/instance-accelerator-name";
const NEW: [&str; 2] = ["inferentia2", "trainium"];

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    if let Some(pool) = NodePool::of(object) {
        for requirement in pool.requirements().items() {
            if requirement.key() == Some(KEY) {
                check_values(&requirement.values().collect::<Vec<_>>(), findings);
            }
        }
    }
    let Some(pod) = Pod::of(object) else { return };
    let of_key = |expression: &LabelExpression<'_>| {
        expression.key == KEY && !matches!(expression.origin, ExpressionOrigin::Preferred { .. })
    };
    for expression in pod.expressions().filter(of_key) {
        check_values(&expression.values().collect::<Vec<_>>(), findings);
    }
}

/// Checks the values of one selector.
fn check_values<'d>(values: &[Node<'d>], findings: &mut Vec<Finding<'d>>) {
    let is_new = |value: &&Node<'d>| value.as_str().is_some_and(|value| NEW.contains(&value));
    let old = values.iter().find(|value| value.as_str() == Some("inferentia"));
    let new = values.iter().find(is_new);
    match (old, new) {
        (Some(old), None) => {
            let message = "`inferentia` matches only Inf1: Inf2, Trn1 and Trn2, which had the same name before, are called `inferentia2` and `trainium`";
            let help = "list every accelerator that you need, or require `karpenter.k8s.aws/instance-accelerator-manufacturer` to be `aws` instead";
            findings.push(Finding::new(&RULE, Place::value(*old), message).help(help));
        }
        (None, Some(new)) => {
            let message = format!(
                "`{}` matches no instance type: every Neuron accelerator is called `inferentia`",
                new.as_str().unwrap_or_default()
            );
            let help =
                "add `inferentia`, and select the instance type by `karpenter.k8s.aws/instance-family`";
            findings.push(
                Finding::new(&RULE, Place::value(*new), message).releases(Releases::until(0)).help(help),
            );
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing};

    fn pool(values: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    spec:
      requirements:
      - key: {}
        operator: In
        values: {values}
",
            super::KEY
        )
    }

    fn pod(value: &str) -> String {
        format!(
            r"apiVersion: v1
kind: Pod
metadata: {{name: a}}
spec:
  containers: []
  nodeSelector:
    {}: {value}
",
            super::KEY
        )
    }

    #[test]
    fn inferentia_matches_only_inf1_since_1_1() {
        insta::assert_snapshot!(begins(&super::RULE, "1.0", "1.1.0", &pool("[inferentia]")), @"
        from 1.1 on
         10 |         values: [inferentia]
            |                  ^^^^^^^^^^
        error NodePool/a spec.template.spec.requirements[0].values[0] [since 1.1]
          `inferentia` matches only Inf1: Inf2, Trn1 and Trn2, which had the same name before, are called `inferentia2` and `trainium`
          help: list every accelerator that you need, or require `karpenter.k8s.aws/instance-accelerator-manufacturer` to be `aws` instead
        ");
        insta::assert_snapshot!(begins(&super::RULE, "1.0", "1.14", &pod("inferentia")), @"
        from 1.1 on
          7 |     karpenter.k8s.aws/instance-accelerator-name: inferentia
            |                                                  ^^^^^^^^^^
        error Pod/a spec.nodeSelector.karpenter.k8s.aws/instance-accelerator-name [since 1.1]
          `inferentia` matches only Inf1: Inf2, Trn1 and Trn2, which had the same name before, are called `inferentia2` and `trainium`
          help: list every accelerator that you need, or require `karpenter.k8s.aws/instance-accelerator-manufacturer` to be `aws` instead
        ");
        begins_nothing(&super::RULE, "1.1.0", "1.14", &pod("inferentia"));
        begins_nothing(&super::RULE, "1.14", "1.0", &pod("inferentia"));
        begins_nothing(&super::RULE, "1.0", "1.14", &pool("[inferentia, inferentia2]"));
        begins_nothing(&super::RULE, "1.0", "1.14", &pool("[gaudi-hl-205]"));
        let other_label = pod("inferentia").replace(super::KEY, "example.com/accelerator");
        begins_nothing(&super::RULE, "1.0", "1.14", &other_label);
        let preference = format!(
            r"apiVersion: v1
kind: Pod
metadata: {{name: a}}
spec:
  containers: []
  affinity: {{nodeAffinity: {{preferredDuringSchedulingIgnoredDuringExecution: [{{weight: 1, preference: {{matchExpressions: [{{key: {}, operator: In, values: [inferentia]}}]}}}}]}}}}
",
            super::KEY
        );
        begins_nothing(&super::RULE, "1.0", "1.14", &preference);
    }

    #[test]
    fn new_names_match_nothing_after_a_downgrade() {
        insta::assert_snapshot!(begins(&super::RULE, "1.1", "1.0", &pod("trainium")), @"
        from 1.0 down
          7 |     karpenter.k8s.aws/instance-accelerator-name: trainium
            |                                                  ^^^^^^^^
        error Pod/a spec.nodeSelector.karpenter.k8s.aws/instance-accelerator-name [1.0]
          `trainium` matches no instance type: every Neuron accelerator is called `inferentia`
          help: add `inferentia`, and select the instance type by `karpenter.k8s.aws/instance-family`
        ");
        begins_nothing(&super::RULE, "1.0", "1.1", &pod("trainium"));
        begins_nothing(&super::RULE, "1.14", "1.1.0", &pod("trainium"));
    }
}
