use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{On, Runs};

rule! {
    /// ## What it does
    ///
    /// Reports, once and at the first EC2NodeClass, that since 1.12 the hash of every EC2NodeClass includes the
    /// cluster's CA bundle.
    ///
    /// ## Why it is bad
    ///
    /// A node has drifted, and is replaced, when its hash differs from the hash of its EC2NodeClass. Since 1.12 the CA
    /// bundle is part of the hash, so a new bundle replaces every node of the class. The upgrade guide says that the
    /// upgrade itself marks existing nodes as drifted. According to the source, Karpenter recomputes the hash of
    /// NodeClaims that have not drifted, under the hash version `v5`, so that it replaces only nodes that had already
    /// drifted. In both cases, disruption budgets decide how fast nodes are replaced.
    ///
    /// ## Example
    ///
    /// ```yaml,from=1.11 to 1.12
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// The manifest needs no change. Check the budgets of the NodePools before the upgrade: `nodes: "0"` for the reason
    /// `Drifted` keeps the nodes until you remove the budget.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#9083; upgrade guide, 1.12.0
    /// - `EC2NodeClass.Hash` in pkg/apis/v1/ec2nodeclass.go and `updateNodeClaimHash` in
    ///   pkg/controllers/nodeclass/hash/controller.go of aws/karpenter-provider-aws at v1.12.0
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(12),
        summary: "the CA bundle becomes part of the EC2NodeClass hash, and nodes may be replaced",
        runs: Runs::OnUpgrade,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    if context.inventory.objects_of(Kind::NODE_CLASS).next() != Some(object) {
        return;
    }
    let message = "the hash of every EC2NodeClass now includes the cluster's CA bundle: another bundle replaces every node; the upgrade itself does not, because Karpenter writes the new hash into each NodeClaim that has not drifted";
    let help = "check the budgets of the NodePools before the upgrade; they decide how many nodes are replaced at a time";
    findings.push(Finding::new(&RULE, Place::value(object.root()), message).help(help));
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing};

    const CLASS: &str = r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: a
";

    #[test]
    fn reports_the_hash_change_once_since_1_12() {
        insta::assert_snapshot!(begins(&super::RULE, "1.11.0", "1.12.0", CLASS), @"
        from 1.12 on
          4 |   name: a
            |         ^
        info EC2NodeClass/a  [since 1.12]
          the hash of every EC2NodeClass now includes the cluster's CA bundle: another bundle replaces every node; the upgrade itself does not, because Karpenter writes the new hash into each NodeClaim that has not drifted
          help: check the budgets of the NodePools before the upgrade; they decide how many nodes are replaced at a time
        ");
        let two = format!("{CLASS}---\n{}", CLASS.replace("name: a", "name: b"));
        assert_eq!(begins(&super::RULE, "1.11", "1.12", &two).matches("help:").count(), 1);
        begins_nothing(&super::RULE, "1.8", "1.11", CLASS);
        begins_nothing(&super::RULE, "1.12", "1.14", CLASS);
        begins_nothing(&super::RULE, "1.14", "1.8", CLASS);
    }
}
