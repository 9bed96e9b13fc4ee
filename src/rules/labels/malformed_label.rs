use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::object::Object;
use objects::requirement_holder::RequirementHolder;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::naming::{self, NamingProblem};
use values::placeholder::has_placeholder;

rule! {
    /// ## What it does
    ///
    /// Checks that the labels of a NodePool's template have valid Kubernetes label names, and that the keys and values
    /// of requirements are valid label names and label values.
    ///
    /// ## Why it is bad
    ///
    /// The API server does not check the names of template labels at all, and its limits for the values of requirements
    /// are in the wrong place in the CRD and have no effect. Karpenter checks both when it reads the object: it sets
    /// `ValidationSucceeded=False`, launches nothing from a NodePool, and ignores the whole NodeOverlay.
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
    ///     metadata:
    ///       labels:
    ///         cost center: "4711"
    ///     spec:
    ///       requirements:
    ///         - {key: team, operator: In, values: ["data & analytics"]}
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
    ///     metadata:
    ///       labels:
    ///         cost-center: "4711"
    ///     spec:
    ///       requirements:
    ///         - {key: team, operator: In, values: ["data-analytics"]}
    /// ```
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter `pkg/apis/v1/nodepool_validation.go` and `nodeclaim_validation.go`, 1.0-1.14
    /// - kubernetes-sigs/karpenter `pkg/apis/v1alpha1/nodeoverlay_validation.go`, 1.7-1.14
    RULE {
        formerly: &["controller"],
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a label name or value is not valid in Kubernetes, so the object fails Karpenter's validation",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL), On::Kind(Kind::NODE_OVERLAY)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(holder) = RequirementHolder::of(object) else { return };
    let effect = if object.is(Kind::NODE_POOL) {
        "the NodePool fails Karpenter's validation, and Karpenter launches no nodes from it"
    } else {
        "the NodeOverlay fails Karpenter's validation, and Karpenter ignores it"
    };
    if let RequirementHolder::Pool(pool) = holder {
        for (key, node) in pool.node_labels() {
            let problem = naming::qualified_name_problem(key).filter(|_| !has_placeholder(key));
            if let Some(problem) = problem {
                let message = format!("`{key}` is not a valid label name: {problem}; {effect}");
                findings.push(Finding::new(&RULE, Place::key_of_map(node), message).help(HELP));
            }
        }
    }
    for requirement in holder.requirements().parsed() {
        let too_long = naming::qualified_name_problem(requirement.key)
            .filter(|problem| matches!(problem, NamingProblem::TooLong(_) | NamingProblem::PrefixTooLong(_)));
        // The pattern of the CRD refuses every other problem; it allows keys of up to 316 characters.
        if let (Some(problem), Some(node)) = (too_long, requirement.item.key_node()) {
            let passes = requirement.key.len() <= 316 && !has_placeholder(requirement.key);
            if passes {
                let message = format!("this label name is too long: {problem}; {effect}");
                findings.push(Finding::at(&RULE, node, message).help("write a shorter name"));
            }
        }
        // The other operators take no value or one number, which is always a valid label value.
        let listed = matches!(requirement.operator, "In" | "NotIn");
        for (value, node) in requirement.values() {
            let problem = naming::label_value_problem(value).filter(|_| listed && !has_placeholder(value));
            if let Some(problem) = problem {
                let message = format!("`{value}` is not a valid label value: {problem}; {effect}");
                let help = "write a valid label value; no node can have this one";
                findings.push(Finding::at(&RULE, node, message).help(help));
            }
        }
    }
}

const HELP: &str = "write a name such as `team` or `example.com/team`";

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn pool(rest: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
{rest}"
        )
    }

    fn requirement(requirement: &str) -> String {
        pool(&format!("    spec:\n      requirements:\n      - {requirement}\n"))
    }

    #[test]
    fn reports_invalid_template_label_name() {
        insta::assert_snapshot!(findings(&RULE, &pool("    metadata:\n      labels:\n        Example.com/team: a\n")), @"
          8 |         Example.com/team: a
            |         ^^^^^^^^^^^^^^^^
        error NodePool/a spec.template.metadata.labels [all]
          `Example.com/team` is not a valid label name: its prefix is not a DNS subdomain in lower case; the NodePool fails Karpenter's validation, and Karpenter launches no nodes from it
          help: write a name such as `team` or `example.com/team`
        ");
    }

    #[test]
    fn reports_invalid_label_value_in_requirement() {
        let text = requirement("{key: team, operator: In, values: [data, \"a/b\"]}");
        insta::assert_snapshot!(findings(&RULE, &text), @r#"
          8 |       - {key: team, operator: In, values: [data, "a/b"]}
            |                                                  ^^^^^
        error NodePool/a spec.template.spec.requirements[0].values[1] [all]
          `a/b` is not a valid label value: it may contain letters, digits, `-`, `_` and `.`, and must start and end with a letter or digit; the NodePool fails Karpenter's validation, and Karpenter launches no nodes from it
          help: write a valid label value; no node can have this one
        "#);
        let long = requirement(&format!("{{key: team, operator: NotIn, values: [{}]}}", "v".repeat(64)));
        assert!(findings(&RULE, &long).contains("it has 64 characters, but at most 63 are allowed"));
        silent(&RULE, &requirement(&format!("{{key: team, operator: NotIn, values: [{}]}}", "v".repeat(63))));
    }

    #[test]
    fn reports_long_key_that_the_api_server_accepts() {
        let output = findings(&RULE, &requirement(&format!("{{key: {}, operator: Exists}}", "k".repeat(64))));
        assert!(output.contains("requirements[0].key"), "{output}");
        silent(&RULE, &requirement(&format!("{{key: a.b/{}, operator: Exists}}", "k".repeat(63))));
        silent(&RULE, &requirement(&format!("{{key: {}, operator: Exists}}", "k".repeat(317))));
    }

    #[test]
    fn reports_invalid_label_value_in_node_overlay() {
        let text = r"apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: a}
spec:
  requirements:
  - {key: team, operator: In, values: [a b]}
";
        assert!(findings(&RULE, text).contains("the NodeOverlay fails"));
    }

    #[test]
    fn ignores_empty_values_placeholders_and_what_the_api_server_refuses() {
        for text in [
            requirement("{key: team, operator: In, values: ['']}"),
            requirement("{key: team, operator: In, values: ['${TEAM}', '<team>']}"),
            requirement("{key: 'a b', operator: Exists}"),
            requirement("{key: karpenter.k8s.aws/instance-cpu, operator: Gt, values: ['-1 2']}"),
            requirement("{key: team, operator: In, values: [1, true]}"),
            pool("    metadata:\n      labels: {team: 'a b', '{{ .Values.label }}': x}\n"),
        ] {
            silent(&RULE, &text);
        }
    }
}
