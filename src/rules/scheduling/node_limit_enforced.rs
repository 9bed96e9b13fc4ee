use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::node_pool::NodePool;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{On, Runs};

rule! {
    /// ## What it does
    ///
    /// Finds `spec.limits.nodes` in NodePools without `spec.replicas`.
    ///
    /// ## Why it is bad
    ///
    /// Until 1.10 Karpenter compares the number of nodes with the limit only from time to time, after it has created
    /// nodes, so a NodePool exceeds its limit when many pods are pending. Since 1.11 the scheduler counts nodes before
    /// it creates them: a NodePool at its limit gets no new node, and pods that got a node before the upgrade may stay
    /// Pending after it.
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
    /// Raise the limit above the peak number of nodes, or limit the resources of the nodes instead:
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
    /// - kubernetes-sigs/karpenter#2526, #2657, released in v1.11.0
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(11),
        summary: "Karpenter starts or stops enforcing `limits.nodes` before it creates nodes",
        runs: Runs::OnUpgrade,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pool) = NodePool::of(object) else { return };
    let Some(nodes) = pool.node_limit().filter(|nodes| !nodes.is_null()) else { return };
    if pool.is_of_auto_mode() || pool.replicas().is_some_and(|replicas| !replicas.is_null()) {
        return;
    }
    let limit = nodes.spelling();
    let up = format!(
        "Karpenter enforces the limit of {limit} nodes before it creates a node: once the NodePool has that many, pods that got a node before stay Pending"
    );
    findings.push(
        Finding::new(&RULE, Place::value(nodes), up)
            .help("compare the limit with the NodePool's peak number of nodes, and raise it before the upgrade if needed"),
    );
    let down = format!(
        "Karpenter no longer checks the limit of {limit} nodes before it creates a node: the NodePool can exceed the limit"
    );
    findings.push(
        Finding::new(&RULE, Place::value(nodes), down)
            .releases(Releases::until(10))
            .severity(Severity::Info)
            .help("also limit `cpu` or `memory`, which every release enforces"),
    );
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing};

    fn pool(spec: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  limits: {{cpu: 8, nodes: 10}}
{spec}"
        )
    }

    #[test]
    fn limit_is_enforced_before_node_creation_since_1_11() {
        insta::assert_snapshot!(begins(&super::RULE, "1.10", "1.11.0", &pool("")), @"
        from 1.11 on
          5 |   limits: {cpu: 8, nodes: 10}
            |                           ^^
        warning NodePool/a spec.limits.nodes [since 1.11]
          Karpenter enforces the limit of 10 nodes before it creates a node: once the NodePool has that many, pods that got a node before stay Pending
          help: compare the limit with the NodePool's peak number of nodes, and raise it before the upgrade if needed
        ");
        insta::assert_snapshot!(begins(&super::RULE, "1.11.0", "1.10", &pool("")), @"
        from 1.10 down
          5 |   limits: {cpu: 8, nodes: 10}
            |                           ^^
        info NodePool/a spec.limits.nodes [until 1.10]
          Karpenter no longer checks the limit of 10 nodes before it creates a node: the NodePool can exceed the limit
          help: also limit `cpu` or `memory`, which every release enforces
        ");
        begins_nothing(&super::RULE, "1.0", "1.10", &pool(""));
        begins_nothing(&super::RULE, "1.11", "1.14", &pool(""));
        begins_nothing(&super::RULE, "1.8", "1.14", &pool("  replicas: 3\n"));
        let class =
            "  template: {spec: {nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: a}}}\n";
        begins_nothing(&super::RULE, "1.10", "1.11.0", &pool(class));
    }
}
