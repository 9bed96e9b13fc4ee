use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::node_pool::NodePool;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::has_placeholder;
use values::spelling;

rule! {
    /// ## What it does
    ///
    /// Finds limits of a NodePool for a resource that no node has: an unqualified name that is not a Kubernetes
    /// resource, or a misspelt name of a resource that Karpenter counts.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter compares each limit with the capacity of the NodePool's nodes by resource name. If no node has the
    /// resource, the limit is never exceeded and has no effect, and no component reports it.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   limits:
    ///     cpus: "100"
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
    ///   limits:
    ///     cpu: "100"
    /// ```
    ///
    /// ## Fix safety
    ///
    /// Unsafe: the limit was never enforced, so the corrected limit may be lower than what already runs.
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter `pkg/apis/v1/nodepool.go` `Limits.ExceededBy`, 1.0-1.14
    /// - aws/karpenter-provider-aws `pkg/apis/v1/labels.go`, resources
    RULE {
        formerly: &["controller"],
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::Unsafe,
        summary: "a limit is set for a resource that no node has, so it has no effect",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

/// Resources in the capacity of AWS nodes (aws/karpenter-provider-aws `pkg/providers/instancetype/types.go`
/// `computeCapacity`, 1.0-1.14), and `nodes`, which Karpenter counts itself.
const COUNTED: [&str; 15] = [
    "cpu",
    "memory",
    "ephemeral-storage",
    "pods",
    "nodes",
    "nvidia.com/gpu",
    "amd.com/gpu",
    "aws.amazon.com/neuron",
    "aws.amazon.com/neuroncore",
    "habana.ai/gaudi",
    "vpc.amazonaws.com/efa",
    "vpc.amazonaws.com/pod-eni",
    "vpc.amazonaws.com/PrivateIPv4Address",
    // The first is the name until 1.14, the second since 1.15.
    "eks.amazonaws.com/nip-slots",
    "eks.amazonaws.com/nitro-sandbox",
];

/// Wrong names that people use for counted resources.
const ALIASES: [(&str, &str); 12] = [
    ("cpus", "cpu"),
    ("vcpu", "cpu"),
    ("vcpus", "cpu"),
    ("cores", "cpu"),
    ("mem", "memory"),
    ("ram", "memory"),
    ("storage", "ephemeral-storage"),
    ("gpu", "nvidia.com/gpu"),
    ("gpus", "nvidia.com/gpu"),
    ("instances", "nodes"),
    ("requests.cpu", "cpu"),
    ("requests.memory", "memory"),
];

/// Number of limits that are compared with similar names. More limits are not misspelt.
const MAX_COMPARED: usize = 100;

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(limits) = NodePool::of(object).and_then(NodePool::limits) else { return };
    for (index, (key, node)) in limits.members().enumerate() {
        // The API server refuses collections and empty keys.
        if COUNTED.contains(&key)
            || key.is_empty()
            || has_placeholder(key)
            || node.is_mapping()
            || node.is_sequence()
        {
            continue;
        }
        let lower = key.to_ascii_lowercase();
        let alias = ALIASES.iter().find(|(word, _)| *word == lower).map(|(_, counted)| *counted);
        let similar = || if index < MAX_COMPARED { spelling::nearest(key, COUNTED) } else { None };
        let meant = alias.or_else(similar);
        // A name with a domain may be the extended resource of a device plugin; the kubelet itself reports the two
        // prefixes.
        let may_exist =
            key.contains('/') || key.starts_with("hugepages-") || key.starts_with("attachable-volumes-");
        if may_exist && meant.is_none() {
            continue;
        }
        let message = format!("no node has a resource `{key}`, so this limit has no effect");
        let finding = Finding::new(&RULE, Place::key(node), message);
        findings.push(match meant {
            Some(meant) if limits.get(meant).is_none() => finding.rename(node, meant),
            _ => finding.help("Karpenter counts `cpu`, `memory`, `nodes` and the other resources in the capacity of the nodes"),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn pool(limits: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  limits: {limits}
"
        )
    }

    #[test]
    fn suggests_the_resource_for_near_misses() {
        insta::assert_snapshot!(findings(&RULE, &pool("{cpu: 100, gpu: 4}")), @r#"
          5 |   limits: {cpu: 100, gpu: 4}
            |                      ^^^
        warning NodePool/a spec.limits.gpu [all]
          no node has a resource `gpu`, so this limit has no effect
          help: write `nvidia.com/gpu`
          unsafe fix: write `nvidia.com/gpu`: "nvidia.com/gpu"
        "#);
        assert!(findings(&RULE, &pool("{nvidia.com/gpus: 4}")).contains("write `nvidia.com/gpu`"));
        assert!(findings(&RULE, &pool("{Memory: 4Gi}")).contains("write `memory`"));
        assert!(findings(&RULE, &pool("{licences: 4}")).contains("Karpenter counts"));
    }

    #[test]
    fn accepts_resources_that_nodes_may_have() {
        for limits in [
            "{cpu: 100, memory: 1Ti, nodes: 3, ephemeral-storage: 1Ti, pods: 10}",
            "{nvidia.com/gpu: 4, vpc.amazonaws.com/pod-eni: 4, aws.amazon.com/neuroncore: 2}",
            "{smarter-devices/fuse: 4, nvidia.com/mig-1g.5gb: 3, hugepages-2Mi: 1Gi}",
            "{resources: {cpu: 4}}",
            "{'${RESOURCE}': 4}",
        ] {
            silent(&RULE, &pool(limits));
        }
    }

    #[test]
    fn compares_a_bounded_number_of_limits() {
        let found = |others: usize| {
            let others: Vec<_> = (0..others).map(|index| format!("example.com/r{index}: 1, ")).collect();
            findings(&RULE, &pool(&format!("{{{}memry: 4Gi}}", others.concat())))
        };
        assert!(found(super::MAX_COMPARED - 1).contains("write `memory`"));
        assert!(found(super::MAX_COMPARED).contains("Karpenter counts"));
    }

    #[test]
    fn renames_no_limit_to_a_name_that_is_taken() {
        let pool = |limits: &str| {
            format!(
                r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  limits: {{{limits}}}
"
            )
        };
        assert!(findings(&super::RULE, &pool("cpus: 2")).contains("fix:"));
        let taken = findings(&super::RULE, &pool("cpu: 1, cpus: 2"));
        assert!(taken.contains("help: Karpenter counts `cpu`") && !taken.contains("fix:"), "{taken}");
    }
}
