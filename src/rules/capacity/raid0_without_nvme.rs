use karpenter::instance_types::lacks_local_disks;
use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::node_pool::NodePool;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use scheduling::requirements::{EffectiveOperator, Requirements};
use scheduling::template::NodeTemplate;

use crate::rules::indexes::NodeClasses;

rule! {
    /// ## What it does
    ///
    /// Finds NodePools that allow only instance types without local disks, while their EC2NodeClass has
    /// `instanceStorePolicy: RAID0`. The names of the instance types or families in the requirements decide; other requirements
    /// are not judged, except that `karpenter.k8s.aws/instance-local-nvme` does not exist.
    ///
    /// ## Why it is bad
    ///
    /// The policy has no effect: containers and their ephemeral storage stay on the root volume. The size of that volume limits the
    /// pods, and not the size of a fast local disk as the policy promises.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   instanceStorePolicy: RAID0
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///         - {key: karpenter.k8s.aws/instance-family, operator: In, values: [m7i, c7i]}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   instanceStorePolicy: RAID0
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///         - {key: karpenter.k8s.aws/instance-family, operator: In, values: [m6id, c6id]}
    /// ```
    ///
    /// ## What it needs
    ///
    /// The input must have the NodePool and its EC2NodeClass. The policy looks up only the names of node classes, so the finding is
    /// only in the report of files.
    ///
    /// ## References
    ///
    /// - `ephemeralStorage` in `pkg/providers/instancetype/types.go` of aws/karpenter-provider-aws at v1.14.1
    /// - aws/karpenter-provider-aws#4735, #7543, #7594
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a NodePool allows only instance types without local disks, but its EC2NodeClass combines local disks",
        runs: Runs::OnKarpenterFiles,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        opt_in: true,
        check: check,
    }
}

const FAMILY: &str = "karpenter.k8s.aws/instance-family";
const TYPE: &str = "node.kubernetes.io/instance-type";
const DISK: &str = "karpenter.k8s.aws/instance-local-nvme";

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pool) = NodePool::of(object) else { return };
    let Some((class, name)) = context.inventory.index::<NodeClasses>().of_pool(pool) else { return };
    let policy = class.instance_store_policy().filter(|policy| policy.as_str() == Some("RAID0"));
    let Some(policy) = policy.filter(|_| excludes_disks(&NodeTemplate::of(pool).requirements)) else {
        return;
    };
    let message = format!(
        "this NodePool allows only instance types without local disks, so `instanceStorePolicy` of the EC2NodeClass `{}` has no effect on its nodes",
        class.object().name()
    );
    findings.push(
        Finding::new(&RULE, Place::value(name), message)
            .help("allow instance types with local disks, such as `m6id`, or use an EC2NodeClass without the policy and with a large root volume")
            .related(Place::value(policy), "combines the local disks"),
    );
}

/// Whether the instance types that requirements name have no local disks.
fn excludes_disks(requirements: &Requirements<'_>) -> bool {
    let lack = |key: &str| {
        requirements.get(key).is_some_and(|names| {
            let mut families = names.named_values().map(|name| name.split('.').next().unwrap_or(name));
            names.operator() == EffectiveOperator::In && families.all(lacks_local_disks)
        })
    };
    let is_absent = |disk| disk == EffectiveOperator::DoesNotExist;
    lack(TYPE) || lack(FAMILY) || requirements.get(DISK).is_some_and(|disk| is_absent(disk.operator()))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn text(requirement: &str, policy: &str) -> String {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: a}}
spec:
  template:
    spec:
      nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}}
      requirements: [{{key: {requirement}}}]
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec: {{instanceStorePolicy: {policy}}}
"
        )
    }

    fn types(names: &str) -> String {
        text(&format!("node.kubernetes.io/instance-type, operator: In, values: [{names}]"), "RAID0")
    }

    #[test]
    fn reports_pools_without_local_disks() {
        insta::assert_snapshot!(findings(&RULE, &types("m7i.large, c7g.xlarge")), @"
          7 |       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}
            |                                                                          ^
        info NodePool/a spec.template.spec.nodeClassRef.name [all]
          this NodePool allows only instance types without local disks, so `instanceStorePolicy` of the EC2NodeClass `a` has no effect on its nodes
          help: allow instance types with local disks, such as `m6id`, or use an EC2NodeClass without the policy and with a large root volume
          see line 13 spec.instanceStorePolicy: combines the local disks
        ");
        for requirement in [
            "karpenter.k8s.aws/instance-family, operator: In, values: [t3]",
            "karpenter.k8s.aws/instance-local-nvme, operator: DoesNotExist",
        ] {
            assert!(findings(&RULE, &text(requirement, "RAID0")).contains("has no effect"), "{requirement}");
        }
    }

    #[test]
    fn accepts_pools_that_may_have_local_disks() {
        for names in ["m7i.large, c6id.xlarge", "i4i.large", "m3.large", "'${TYPE}'", "new9.large"] {
            silent(&RULE, &types(names));
        }
        silent(&RULE, &types("m7i.large").replace("operator: In", "operator: NotIn"));
        silent(&RULE, &text("karpenter.k8s.aws/instance-category, operator: In, values: [c]", "RAID0"));
        silent(&RULE, &text("karpenter.k8s.aws/instance-family, operator: In, values: [t3]", "null"));
    }
}
