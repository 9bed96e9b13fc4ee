use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{On, Phase, Runs};

rule! {
    /// ## What it does
    ///
    /// Reports, once and at the first EC2NodeClass, that 1.15 computes the hash of every EC2NodeClass in another way.
    ///
    /// ## Why it is bad
    ///
    /// A node has drifted, and is replaced, when its hash differs from the hash of its EC2NodeClass. Since 1.15 the version
    /// of the hash is `v6`. As in earlier changes of the version, Karpenter rewrites the hashes of NodeClaims that have not
    /// drifted, so the upgrade replaces no nodes by itself. A downgrade computes the old hashes again.
    ///
    /// ## Example
    ///
    /// ```yaml,from=1.14 to 1.15
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
    /// The manifest needs no change. Do not change EC2NodeClasses in the same step as the release.
    ///
    /// ## References
    ///
    /// - website/content/en/v1.15/reference/annotations.md of aws/karpenter-provider-aws
    /// - `updateNodeClaimHash` in pkg/controllers/nodeclass/hash/controller.go at v1.14.1
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(15),
        summary: "the hash of every EC2NodeClass is computed in another way",
        phase: Phase::After,
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
    let message = "the version of the EC2NodeClass hash becomes `v6`: Karpenter rewrites the hashes on NodeClaims, and replaces no nodes for it";
    let help =
        "do not change EC2NodeClasses in the same step as the release, so that drift has one cause at a time";
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
    fn reports_the_hash_version_once_since_1_15() {
        let two = format!("{CLASS}---\n{}", CLASS.replace("name: a", "name: b"));
        insta::assert_snapshot!(begins(&super::RULE, "1.14.1", "1.15.0", &two), @"
        from 1.15 on
          4 |   name: a
            |         ^
        info EC2NodeClass/a  [since 1.15]
          the version of the EC2NodeClass hash becomes `v6`: Karpenter rewrites the hashes on NodeClaims, and replaces no nodes for it
          help: do not change EC2NodeClasses in the same step as the release, so that drift has one cause at a time
        ");
        begins_nothing(&super::RULE, "1.0", "1.14", CLASS);
        begins_nothing(&super::RULE, "1.15.0", "1.15", CLASS);
        begins_nothing(&super::RULE, "1.15", "1.14", CLASS);
    }
}
