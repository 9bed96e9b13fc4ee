use std::collections::BTreeSet;

use karpenter::kind::Kind;
use karpenter::labels;
use karpenter::release::Releases;
use objects::node_pool::NodePool;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Counts the requirements that every NodeClaim of the NodePool has: the requirements of the NodePool, one for each
    /// label of its template, and the requirements that Karpenter adds.
    ///
    /// ## Why it is bad
    ///
    /// A NodePool may have 100 requirements and 100 labels, but a NodeClaim may have only 100 requirements in total.
    /// Karpenter turns the labels into requirements and adds the NodePool, the node class (since 1.1) and the instance
    /// type. Above 100 the API server refuses every NodeClaim, and nothing is launched.
    ///
    /// ## Example
    ///
    /// 99 labels and one requirement, to which Karpenter adds its own:
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     metadata:
    ///       labels: {
    ///         l0: a, l1: a, l2: a, l3: a, l4: a, l5: a, l6: a, l7: a, l8: a, l9: a, l10: a,
    ///         l11: a, l12: a, l13: a, l14: a, l15: a, l16: a, l17: a, l18: a, l19: a, l20: a, l21: a,
    ///         l22: a, l23: a, l24: a, l25: a, l26: a, l27: a, l28: a, l29: a, l30: a, l31: a, l32: a,
    ///         l33: a, l34: a, l35: a, l36: a, l37: a, l38: a, l39: a, l40: a, l41: a, l42: a, l43: a,
    ///         l44: a, l45: a, l46: a, l47: a, l48: a, l49: a, l50: a, l51: a, l52: a, l53: a, l54: a,
    ///         l55: a, l56: a, l57: a, l58: a, l59: a, l60: a, l61: a, l62: a, l63: a, l64: a, l65: a,
    ///         l66: a, l67: a, l68: a, l69: a, l70: a, l71: a, l72: a, l73: a, l74: a, l75: a, l76: a,
    ///         l77: a, l78: a, l79: a, l80: a, l81: a, l82: a, l83: a, l84: a, l85: a, l86: a, l87: a,
    ///         l88: a, l89: a, l90: a, l91: a, l92: a, l93: a, l94: a, l95: a, l96: a, l97: a, l98: a
    ///       }
    ///     spec:
    ///       requirements:
    ///         - {key: kubernetes.io/arch, operator: Exists}
    /// ```
    ///
    /// ## Use instead
    ///
    /// Write data that no scheduler selects by as annotations.
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     metadata:
    ///       annotations: {l0: a, l1: a}
    ///     spec:
    ///       requirements:
    ///         - {key: kubernetes.io/arch, operator: Exists}
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#6387
    /// - kubernetes-sigs/karpenter `pkg/controllers/provisioning/scheduling/nodeclaimtemplate.go`, 1.0-1.14
    RULE {
        formerly: &["controller"],
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "requirements and labels add up to more than a NodeClaim may have, so no NodeClaim can be created",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

/// Maximum number of requirements in the CRD of NodeClaim.
const MAX_REQUIREMENTS: usize = 100;

/// Requirements that Karpenter adds: the NodePool, the instance type and the node class.
const ADDED: usize = 3;

/// Label that Karpenter adds for every launch that chooses among instance types.
const INSTANCE_TYPE: &str = "node.kubernetes.io/instance-type";

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pool) = NodePool::of(object) else { return };
    let Some(template) = pool.template() else { return };
    if pool.requirements().items().count() + pool.node_labels().count() + ADDED <= MAX_REQUIREMENTS {
        return;
    }
    let mut keys = BTreeSet::new();
    for requirement in pool.requirements().parsed() {
        keys.insert(requirement.label());
    }
    for (key, _) in pool.node_labels() {
        keys.insert(labels::normalised(key));
    }
    keys.insert(labels::NODEPOOL);
    // NodeClaims of a static NodePool carry no instance types; the launch chooses one.
    if pool.replicas().is_none() {
        keys.insert(INSTANCE_TYPE);
    }
    let before_1_1 = keys.len();
    keys.insert(labels::NODE_CLASS);
    if keys.len() <= MAX_REQUIREMENTS {
        return;
    }
    let releases = if before_1_1 > MAX_REQUIREMENTS { Releases::ALL } else { Releases::since(1) };
    let message = format!(
        "with the template's labels and what Karpenter adds, each NodeClaim has at least {} requirements, but may have \
         only {MAX_REQUIREMENTS}; the API server refuses every NodeClaim and nothing is launched",
        keys.len()
    );
    let node = pool.requirements().node().unwrap_or(template.node());
    let help = "remove labels that nothing selects by, or write them as annotations";
    findings.push(Finding::at(&RULE, node, message).help(help).releases(releases));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn pool(labels: usize, more: &str) -> String {
        let labels: Vec<_> = (0..labels).map(|label| format!("l{label}: a")).collect();
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    metadata: {{labels: {{{}}}}}
    spec:
      requirements:
      - {{key: topology.kubernetes.io/zone, operator: Exists}}
{more}",
            labels.join(", ")
        )
    }

    #[test]
    fn allows_100_requirements() {
        // The pool has one requirement, and Karpenter adds three.
        silent(&RULE, &pool(96, ""));
        insta::assert_snapshot!(findings(&RULE, &pool(97, "")), @"
          8 |       requirements:
            |       ^^^^^^^^^^^^
        error NodePool/a spec.template.spec.requirements [since 1.1]
          with the template's labels and what Karpenter adds, each NodeClaim has at least 101 requirements, but may have only 100; the API server refuses every NodeClaim and nothing is launched
          help: remove labels that nothing selects by, or write them as annotations
        ");
        assert!(findings(&RULE, &pool(98, "")).contains("[all]"));
    }

    #[test]
    fn counts_requirements_without_labels() {
        let found = |count: usize| {
            let more: Vec<_> =
                (1..count).map(|key| format!("      - {{key: k{key}, operator: Exists}}\n")).collect();
            findings(&RULE, &pool(0, &more.concat()))
        };
        assert_eq!(found(97), "");
        assert!(found(98).contains("at least 101 requirements"));
    }

    #[test]
    fn counts_repeated_and_renamed_labels_once() {
        let again = r"      - {key: failure-domain.beta.kubernetes.io/zone, operator: Exists}
      - {key: l1, operator: In, values: [a]}
      - {key: node.kubernetes.io/instance-type, operator: Exists}
";
        silent(&RULE, &pool(96, again));
    }
}
