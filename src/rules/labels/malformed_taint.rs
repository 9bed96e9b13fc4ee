use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_claim::TaintField;
use objects::node_pool::NodePool;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};
use values::naming::{self, NamingProblem};
use values::placeholder::has_placeholder;

rule! {
    /// ## What it does
    ///
    /// Checks the keys and values of a NodePool's taints and startup taints for mistakes that pass the API server's
    /// pattern although no node can have them: a key or value that is too long, or a value with a slash.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter checks the length when it reads the NodePool: it sets `ValidationSucceeded=False` and launches nothing
    /// from it. Karpenter also accepts a slash in a value, because it validates values by the rules for keys.
    /// Kubernetes does not: no node with such a taint can be created, so instances start but never register, and
    /// Karpenter replaces each of them after 15 minutes.
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
    ///       taints:
    ///         - {key: dedicated, value: team/batch, effect: NoSchedule}
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
    ///       taints:
    ///         - {key: team/dedicated, value: batch, effect: NoSchedule}
    /// ```
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter `pkg/apis/v1/nodeclaim_validation.go` `validateTaintsField`, 1.0-1.14
    /// - kubernetes/kubernetes `pkg/apis/core/validation/validation.go` `validateNodeTaints`
    RULE {
        formerly: &["controller"],
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a taint has a key or value that no node can have",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pool) = NodePool::of(object) else { return };
    for list in TaintField::ALL {
        for taint in pool.taints(list) {
            findings.extend(taint.key_node().and_then(|node| too_long(node, "key")));
            if let Some(value) = taint.value_node() {
                findings.extend(too_long(value, "value").or_else(|| with_slash(value)));
            }
        }
    }
}

/// Reports a key or value that passes the pattern of the CRD but is too long for Karpenter. The pattern refuses every
/// other problem.
fn too_long<'d>(node: Node<'d>, field: &str) -> Option<Finding<'d>> {
    let text = node.as_str().filter(|text| !has_placeholder(text))?;
    let problem = naming::qualified_name_problem(text)?;
    if !matches!(problem, NamingProblem::TooLong(_) | NamingProblem::PrefixTooLong(_)) {
        return None;
    }
    let message = format!(
        "the {field} of this taint is too long: {problem}; the NodePool fails Karpenter's validation, and Karpenter \
         launches no nodes from it"
    );
    Some(Finding::at(&RULE, node, message).help(format!("write a shorter {field}")))
}

fn with_slash(node: Node<'_>) -> Option<Finding<'_>> {
    let text = node.as_str().filter(|text| !has_placeholder(text))?;
    if !text.contains('/') || naming::qualified_name_problem(text).is_some() {
        return None;
    }
    let message = format!(
        "no node can have a taint with the value `{text}`: a taint value must be a valid label value, which has no slash; \
         instances start but never register"
    );
    let help = "move the part before the slash into the key, or replace the slash with a hyphen";
    Some(Finding::at(&RULE, node, message).help(help).caught_by(CaughtBy::Nobody))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn pool(list: &str, taint: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    spec:
      {list}:
      - {taint}
"
        )
    }

    #[test]
    fn reports_value_with_slash_that_karpenter_accepts() {
        insta::assert_snapshot!(findings(&RULE, &pool("taints", "{key: a, value: b/c, effect: NoSchedule}")), @"
          8 |       - {key: a, value: b/c, effect: NoSchedule}
            |                         ^^^
        error NodePool/a spec.template.spec.taints[0].value [all]
          no node can have a taint with the value `b/c`: a taint value must be a valid label value, which has no slash; instances start but never register
          help: move the part before the slash into the key, or replace the slash with a hyphen
        ");
    }

    #[test]
    fn reports_keys_and_values_that_are_too_long() {
        let (fits, long) = ("k".repeat(63), "k".repeat(64));
        silent(
            &RULE,
            &pool("taints", &format!("{{key: example.com/{fits}, value: {fits}, effect: NoSchedule}}")),
        );
        let output = findings(
            &RULE,
            &pool("startupTaints", &format!("{{key: {long}, value: {long}, effect: NoSchedule}}")),
        );
        assert!(
            output.contains("startupTaints[0].key") && output.contains("startupTaints[0].value"),
            "{output}"
        );
        let prefix = "p".repeat(254);
        let output = findings(&RULE, &pool("taints", &format!("{{key: {prefix}/k, effect: NoSchedule}}")));
        assert!(output.contains("its prefix has 254 characters"), "{output}");
    }

    #[test]
    fn ignores_taints_that_the_api_server_refuses() {
        for taint in [
            "{key: 'a b', effect: NoSchedule}",
            "{key: a, value: b c, effect: NoSchedule}",
            "{key: a, value: a/b/c, effect: NoSchedule}",
            "{key: a, value: '', effect: NoSchedule}",
            "{key: a, value: 1, effect: NoSchedule}",
            "{key: a, value: '${TEAM}/x', effect: NoSchedule}",
        ] {
            silent(&RULE, &pool("taints", taint));
        }
    }
}
