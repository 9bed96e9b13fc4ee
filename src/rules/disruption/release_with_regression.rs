use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{On, Runs};

rule! {
    /// ## What it does
    ///
    /// Reports, once and at the first NodePool, an upgrade that ends at 1.11.0.
    ///
    /// ## Why it is bad
    ///
    /// The controller of 1.11.0 uses far more CPU in large clusters than 1.10. The change is reverted in 1.11.1, and 1.12.0
    /// does not have it. `topology-spread-regression` reports 1.8.4.
    ///
    /// ## Example
    ///
    /// ```yaml,from=1.10 to 1.11.0
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   disruption: {consolidateAfter: 1m}
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// Upgrade to 1.11.1 or later. The manifest needs no change.
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter#2958, reverted by #2957
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::patches(11, 0, 0),
        summary: "the target release has a regression that the next patch removes",
        runs: Runs::OnUpgrade,
        on: &[On::Kind(Kind::NODE_POOL)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    if context.inventory.objects_of(Kind::NODE_POOL).next() != Some(object) {
        return;
    }
    let message = "the controller of 1.11.0 uses far more CPU in large clusters; 1.11.1 reverts the change";
    findings
        .push(Finding::new(&RULE, Place::value(object.root()), message).help("upgrade to 1.11.1 or later"));
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing};

    const POOL: &str = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata:\n  name: a\n";

    #[test]
    fn reports_only_an_upgrade_that_ends_at_the_release() {
        insta::assert_snapshot!(begins(&super::RULE, "1.10", "1.11.0", POOL), @"
        from 1.11 on
          4 |   name: a
            |         ^
        warning NodePool/a  [1.11.0]
          the controller of 1.11.0 uses far more CPU in large clusters; 1.11.1 reverts the change
          help: upgrade to 1.11.1 or later
        ");
        begins_nothing(&super::RULE, "1.10", "1.11", POOL);
        begins_nothing(&super::RULE, "1.8", "1.15", POOL);
    }
}
