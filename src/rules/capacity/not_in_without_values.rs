use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_pool::NodePool;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Finds requirements of a NodePool with `operator: NotIn` and no values.
    ///
    /// ## Why it is bad
    ///
    /// The API server and Karpenter accept it, but it excludes nothing: like `Exists`, it requires the label with any
    /// value. A custom label then gets a random number on every node. (In a NodeOverlay the API server refuses it.)
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
    ///       requirements:
    ///         - {key: karpenter.k8s.aws/instance-family, operator: NotIn, values: []}
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
    ///       requirements:
    ///         - {key: karpenter.k8s.aws/instance-family, operator: NotIn, values: [t2, t3]}
    /// ```
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter `pkg/scheduling/requirement.go`, 1.0-1.14: `NotIn` without values is `Exists`
    RULE {
        formerly: &["controller"],
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a `NotIn` requirement has no values, so it excludes nothing",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pool) = NodePool::of(object) else { return };
    for requirement in pool.requirements().parsed().filter(|requirement| requirement.operator == "NotIn") {
        let values = requirement.item.value_list();
        let nothing = |values: Node<'_>| values.is_null() || (values.is_sequence() && values.is_empty());
        if !values.is_none_or(nothing) {
            continue;
        }
        let place = values.map_or_else(|| Place::missing(requirement.item.node(), "values"), Place::value);
        let message = format!(
            "this requirement excludes nothing: `NotIn` without values only requires that the label `{}` exists",
            requirement.key
        );
        findings.push(
            Finding::new(&RULE, place, message).help("list the values to exclude, or remove the requirement"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn pool(requirement: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    spec:
      requirements:
      - {requirement}
"
        )
    }

    #[test]
    fn reports_an_empty_list_and_a_missing_list() {
        insta::assert_snapshot!(findings(&RULE, &pool("{key: team, operator: NotIn, values: []}")), @"
          8 |       - {key: team, operator: NotIn, values: []}
            |                                      ^^^^^^
        info NodePool/a spec.template.spec.requirements[0].values [all]
          this requirement excludes nothing: `NotIn` without values only requires that the label `team` exists
          help: list the values to exclude, or remove the requirement
        ");
        assert!(findings(&RULE, &pool("{key: team, operator: NotIn}")).contains("requirements[0].values"));
    }

    #[test]
    fn ignores_lists_with_values_and_other_operators() {
        silent(&RULE, &pool("{key: team, operator: NotIn, values: ['']}"));
        silent(&RULE, &pool("{key: team, operator: NotIn, values: '{{ list }}'}"));
        silent(&RULE, &pool("{key: team, operator: DoesNotExist}"));
    }
}
