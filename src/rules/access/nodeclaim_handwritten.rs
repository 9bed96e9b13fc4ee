use karpenter::kind::Kind;
use karpenter::labels;
use karpenter::release::Releases;
use objects::node_claim::NodeClaim;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Finds NodeClaims that belong to no NodePool: without an owner of the kind NodePool and without the label
    /// `karpenter.sh/nodepool`.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter launches a node for such a NodeClaim at once, and leaves it alone afterwards: it neither consolidates nor
    /// replaces the node, because budgets, policy and limits are fields of the NodePool. The node runs until the NodeClaim
    /// is deleted or expires, also without pods.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodeClaim
    /// metadata:
    ///   name: batch
    /// spec:
    ///   nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///   requirements:
    ///     - {key: node.kubernetes.io/instance-type, operator: In, values: [m7i.large]}
    /// ```
    ///
    /// ## Use instead
    ///
    /// A NodePool, from which Karpenter creates the NodeClaims. Since 1.8 a NodePool with `replicas` keeps a number of nodes
    /// without pods (the feature gate `StaticCapacity`).
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: batch
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///         - {key: node.kubernetes.io/instance-type, operator: In, values: [m7i.large]}
    /// ```
    ///
    /// ## References
    ///
    /// - `NewCandidate` in pkg/controllers/disruption/types.go of kubernetes-sigs/karpenter at v1.0.0 and v1.14.0, which
    ///   finds the NodePool of a node by the label `karpenter.sh/nodepool`
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a NodeClaim belongs to no NodePool, so Karpenter neither consolidates nor replaces its node",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLAIM)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let metadata = object.metadata();
    // Without a name or a specification the object is an excerpt.
    let is_whole = metadata.name().is_some() && NodeClaim::of(object).and_then(NodeClaim::spec).is_some();
    let has_pool =
        metadata.owner_kinds().any(|kind| kind == "NodePool") || metadata.label(labels::NODEPOOL).is_some();
    if !is_whole || has_pool {
        return;
    }
    let message = "Karpenter launches a node for this NodeClaim, and then neither consolidates nor replaces the node, because the NodeClaim belongs to no NodePool";
    findings.push(
        Finding::new(&RULE, Place::value(object.name_node()), message)
            .help("write a NodePool, from which Karpenter creates NodeClaims"),
    );
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn claim(metadata: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {{{metadata}}}
spec: {{requirements: []}}
"
        )
    }

    #[test]
    fn reports_claims_without_a_pool() {
        insta::assert_snapshot!(findings(&RULE, &claim("name: a")), @"
          3 | metadata: {name: a}
            |                  ^
        info NodeClaim/a metadata.name [all]
          Karpenter launches a node for this NodeClaim, and then neither consolidates nor replaces the node, because the NodeClaim belongs to no NodePool
          help: write a NodePool, from which Karpenter creates NodeClaims
        ");
        assert!(!findings(&RULE, &claim("name: a, ownerReferences: [{kind: Machine, name: a}]")).is_empty());
    }

    #[test]
    fn accepts_claims_of_a_pool_and_excerpts() {
        silent(&RULE, &claim("name: a, ownerReferences: [{kind: NodePool, name: a}]"));
        silent(&RULE, &claim("name: a, labels: {karpenter.sh/nodepool: a}"));
        silent(&RULE, &claim("labels: {}"));
        silent(&RULE, "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: a}\n");
    }
}
