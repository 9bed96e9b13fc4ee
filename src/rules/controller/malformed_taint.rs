use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Severity};
use values::naming::{self, NamingProblem};
use karpenter::release::Releases;
use manifest::tree::{Node, items_of};
use karpenter::kind::Kind;
use objects::object::Object;
use values::placeholder::is_unresolved;
use lint::rule::{Fixes, On};

rule! {
    /// ## What it does
    ///
    /// Checks the keys and values of a NodePool's taints and startup taints for what the API server's pattern lets through
    /// and a node cannot have: a key or value that is too long, a value with a slash.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter checks the length when it reads the NodePool, sets `ValidationSucceeded=False` and launches nothing from
    /// it. A slash in a value passes Karpenter too, which holds values to the rules for keys. Kubernetes does not: no node
    /// with such a taint can be created, so instances start and never register, and Karpenter replaces each of them after
    /// 15 minutes.
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
        name: "malformed-taint",
        family: Family::Controller,
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a taint has a key or a value that no node can have",
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    for list in ["taints", "startupTaints"] {
        let items = object.at(&["spec", "template", "spec", list]);
        for taint in items_of(items) {
            drafts.extend(taint.get("key").and_then(|node| too_long(node, "key")));
            if let Some(value) = taint.get("value") {
                drafts.extend(too_long(value, "value").or_else(|| with_slash(value)));
            }
        }
    }
}

/// What the pattern of the CRD lets through and Karpenter does not. Everything else that is wrong with a key or value,
/// the pattern refuses.
fn too_long<'d>(node: Node<'d>, field: &str) -> Option<Draft<'d>> {
    let text = node.as_str().filter(|text| !is_unresolved(text))?;
    let problem = naming::qualified_name_problem(text)?;
    if !matches!(problem, NamingProblem::TooLong(_) | NamingProblem::PrefixTooLong(_)) {
        return None;
    }
    let message = format_args!(
        "the {field} of this taint is too long: {problem}; Karpenter refuses the NodePool and launches nothing from it"
    );
    Some(Draft::at(&RULE, node, message).advise(format_args!("write a shorter {field}")))
}

fn with_slash(node: Node<'_>) -> Option<Draft<'_>> {
    let text = node.as_str().filter(|text| !is_unresolved(text))?;
    if !text.contains('/') || naming::qualified_name_problem(text).is_some() {
        return None;
    }
    let message = format_args!(
        "no node can have a taint with the value `{text}`: it would need to be the value of a label, which has no slash; \
         instances start and never register"
    );
    let help = "put what stands before the slash into the key, or write a hyphen in its place";
    Some(Draft::at(&RULE, node, message).help(help).caught_by(CaughtBy::Nobody))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn pool(list: &str, taint: &str) -> String {
        format!(
            "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: a}}\nspec:\n  template:\n    spec:\n      {list}:\n      - {taint}\n"
        )
    }

    #[test]
    fn a_value_with_a_slash_passes_karpenter_and_not_kubernetes() {
        insta::assert_snapshot!(findings(&RULE, &pool("taints", "{key: a, value: b/c, effect: NoSchedule}")), @"
          8 |       - {key: a, value: b/c, effect: NoSchedule}
            |                         ^^^
        error NodePool/a spec.template.spec.taints[0].value [1.0-1.14]
          no node can have a taint with the value `b/c`: it would need to be the value of a label, which has no slash; instances start and never register
          help: put what stands before the slash into the key, or write a hyphen in its place
        ");
    }

    #[test]
    fn length_has_two_sides() {
        let (fits, long) = ("k".repeat(63), "k".repeat(64));
        silent(&RULE, &pool("taints", &format!("{{key: example.com/{fits}, value: {fits}, effect: NoSchedule}}")));
        let said = findings(&RULE, &pool("startupTaints", &format!("{{key: {long}, value: {long}, effect: NoSchedule}}")));
        assert!(said.contains("startupTaints[0].key") && said.contains("startupTaints[0].value"), "{said}");
        let prefix = "p".repeat(254);
        let said = findings(&RULE, &pool("taints", &format!("{{key: {prefix}/k, effect: NoSchedule}}")));
        assert!(said.contains("its prefix has 254 characters"), "{said}");
    }

    #[test]
    fn what_the_api_server_refuses_is_its_to_say() {
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
