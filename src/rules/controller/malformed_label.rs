use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use values::naming::{self, NamingProblem};
use karpenter::release::Releases;
use karpenter::kind::Kind;
use objects::object::Object;
use values::placeholder::is_unresolved;
use crate::rules::requirements;
use lint::rule::{Fixes, On};

rule! {
    /// ## What it does
    ///
    /// Checks that the labels of a NodePool's template have names that Kubernetes takes, and that what requirements ask for
    /// are names and values of labels.
    ///
    /// ## Why it is bad
    ///
    /// The API server does not check the names of template labels at all, and its bounds for the values of requirements stand
    /// at the wrong place and have no effect. Karpenter checks both when it reads the object: a NodePool turns
    /// `ValidationSucceeded=False` and launches nothing, a NodeOverlay is left out as a whole.
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
        name: "malformed-label",
        family: Family::Controller,
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a label's name or value is none that Kubernetes takes, which stops the NodePool",
        on: &[On::Kind(Kind::NODE_POOL), On::Kind(Kind::NODE_OVERLAY)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    let effect = if object.is(Kind::NODE_POOL) {
        "Karpenter refuses the NodePool and launches nothing from it"
    } else {
        "Karpenter refuses the NodeOverlay and leaves it out"
    };
    if object.is(Kind::NODE_POOL) {
        for (key, node) in requirements::template_labels(object).filter(|(key, _)| !is_unresolved(key)) {
            if let Some(problem) = naming::qualified_name_problem(key) {
                let message = format!("`{key}` is no name of a label: {problem}; {effect}");
                drafts.push(Draft::new(&RULE, Place::key_of_map(node), message).help(HELP));
            }
        }
    }
    for requirement in requirements::of(object) {
        let too_long = naming::qualified_name_problem(requirement.key)
            .filter(|problem| matches!(problem, NamingProblem::TooLong(_) | NamingProblem::PrefixTooLong(_)));
        // The pattern of the CRD refuses everything else, and its own bound is 316 in all.
        if let (Some(problem), Some(node)) = (too_long, requirement.node.get("key")) {
            let passes = requirement.key.len() <= 316 && !is_unresolved(requirement.key);
            if passes {
                let message = format_args!("this name of a label is too long: {problem}; {effect}");
                drafts.push(Draft::at(&RULE, node, message).help("write a shorter name"));
            }
        }
        // The other operators take one number, which is always the value of a label.
        let listed = matches!(requirement.operator, "In" | "NotIn");
        for (value, node) in requirement.values() {
            let problem = naming::label_value_problem(value).filter(|_| listed && !is_unresolved(value));
            if let Some(problem) = problem {
                let message = format_args!("`{value}` is no value of a label: {problem}; {effect}");
                let help = "write a value that a node's label can have; no node has this one";
                drafts.push(Draft::at(&RULE, node, message).help(help));
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
        format!("apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: a}}\nspec:\n  template:\n{rest}")
    }

    fn requirement(requirement: &str) -> String {
        pool(&format!("    spec:\n      requirements:\n      - {requirement}\n"))
    }

    #[test]
    fn names_of_template_labels_are_checked_by_nobody_at_apply() {
        insta::assert_snapshot!(findings(&RULE, &pool("    metadata:\n      labels:\n        Example.com/team: a\n")), @"
          8 |         Example.com/team: a
            |         ^^^^^^^^^^^^^^^^
        error NodePool/a spec.template.metadata.labels [1.0-1.14]
          `Example.com/team` is no name of a label: what stands before its slash is no DNS name in lower case; Karpenter refuses the NodePool and launches nothing from it
          help: write a name such as `team` or `example.com/team`
        ");
    }

    #[test]
    fn values_of_requirements_are_values_of_labels() {
        let text = requirement("{key: team, operator: In, values: [data, \"a/b\"]}");
        insta::assert_snapshot!(findings(&RULE, &text), @r#"
          8 |       - {key: team, operator: In, values: [data, "a/b"]}
            |                                                  ^^^^^
        error NodePool/a spec.template.spec.requirements[0].values[1] [1.0-1.14]
          `a/b` is no value of a label: it may have letters, digits, `-`, `_` and `.`, and begins and ends with a letter or digit; Karpenter refuses the NodePool and launches nothing from it
          help: write a value that a node's label can have; no node has this one
        "#);
        let long = requirement(&format!("{{key: team, operator: NotIn, values: [{}]}}", "v".repeat(64)));
        assert!(findings(&RULE, &long).contains("it has 64 characters, and may have 63"));
        silent(&RULE, &requirement(&format!("{{key: team, operator: NotIn, values: [{}]}}", "v".repeat(63))));
    }

    #[test]
    fn a_key_may_be_too_long_and_still_pass_the_api_server() {
        let said = findings(&RULE, &requirement(&format!("{{key: {}, operator: Exists}}", "k".repeat(64))));
        assert!(said.contains("requirements[0].key"), "{said}");
        silent(&RULE, &requirement(&format!("{{key: a.b/{}, operator: Exists}}", "k".repeat(63))));
        silent(&RULE, &requirement(&format!("{{key: {}, operator: Exists}}", "k".repeat(317))));
    }

    #[test]
    fn an_overlay_is_left_out() {
        let text = "apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: a}\nspec:\n  requirements:\n  - {key: team, operator: In, values: [a b]}\n";
        assert!(findings(&RULE, text).contains("refuses the NodeOverlay"));
    }

    #[test]
    fn empty_values_placeholders_and_what_the_api_server_refuses_are_left_alone() {
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
