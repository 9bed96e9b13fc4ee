use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use karpenter::release::Releases;
use karpenter::kind::Kind;
use objects::object::Object;
use lint::rule::On;

rule! {
    /// ## What it does
    ///
    /// Looks for `spec.limits.nodes` in NodePools without a fixed number of nodes.
    ///
    /// ## Why it is bad
    ///
    /// Up to 1.10 the number of nodes is compared with the limit only now and then, after nodes were made, and a pool goes
    /// beyond it when many pods wait. From 1.11 on the scheduler counts nodes before it makes them: a pool at its limit
    /// makes none, and pods that had a node before the upgrade may wait after it.
    ///
    /// ## Example
    ///
    /// ```yaml,from=1.10 to 1.11
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   limits: {nodes: 10}
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: []
    /// ```
    ///
    /// ## Use instead
    ///
    /// Raise the limit above what the pool has at its busiest, or limit what nodes are made of:
    ///
    /// ```yaml,from=1.10 to 1.11
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   limits: {cpu: 160}
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: []
    /// ```
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter#2526, #2657; in v1.11.0
    UPGRADE {
        name: "node-limit-enforced",
        family: Family::Scheduling,
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(11),
        summary: "`limits.nodes` begins to hold before nodes are made, or ceases to",
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    let Some(nodes) = object.at(&["spec", "limits", "nodes"]).filter(|nodes| !nodes.is_null()) else { return };
    if object.at(&["spec", "replicas"]).is_some_and(|replicas| !replicas.is_null()) {
        return;
    }
    let limit = nodes.spelling();
    let up = format!("the limit of {limit} nodes holds before a node is made: where the pool has as many, pods wait that had a node before");
    drafts.push(
        Draft::new(&RULE, Place::value(nodes), up)
            .help("compare it with the nodes that the pool has at its busiest, and raise it before the upgrade"),
    );
    let down = format!("the limit of {limit} nodes is no longer counted before a node is made: the pool can go beyond it");
    drafts.push(
        Draft::new(&RULE, Place::value(nodes), down)
            .releases(Releases::until(10))
            .severity(Severity::Info)
            .help("limit `cpu` or `memory` as well, which every release counts"),
    );
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing};

    fn pool(spec: &str) -> String {
        format!("apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: a}}\nspec:\n  limits: {{cpu: 8, nodes: 10}}\n{spec}")
    }

    #[test]
    fn nodes_are_counted_before_they_are_made_from_1_11_on() {
        insta::assert_snapshot!(begins(&super::RULE, "1.10", "1.11.0", &pool("")), @"
        from 1.11 on
          5 |   limits: {cpu: 8, nodes: 10}
            |                           ^^
        warning NodePool/a spec.limits.nodes [1.11-1.14]
          the limit of 10 nodes holds before a node is made: where the pool has as many, pods wait that had a node before
          help: compare it with the nodes that the pool has at its busiest, and raise it before the upgrade
        ");
        insta::assert_snapshot!(begins(&super::RULE, "1.11.0", "1.10", &pool("")), @"
        from 1.10 down
          5 |   limits: {cpu: 8, nodes: 10}
            |                           ^^
        info NodePool/a spec.limits.nodes [1.0-1.10]
          the limit of 10 nodes is no longer counted before a node is made: the pool can go beyond it
          help: limit `cpu` or `memory` as well, which every release counts
        ");
        begins_nothing(&super::RULE, "1.0", "1.10", &pool(""));
        begins_nothing(&super::RULE, "1.11", "1.14", &pool(""));
        begins_nothing(&super::RULE, "1.8", "1.14", &pool("  replicas: 3\n"));
    }
}
