use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::node_class::Ec2NodeClass;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{On, Phase, Runs};
use values::arn::IamReference;
use values::placeholder::has_placeholder;

rule! {
    /// ## What it does
    ///
    /// Finds EC2NodeClasses whose `spec.role` is a path or an ARN.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter compares the value with the role's name, which never contains a slash, and concludes that the role has
    /// changed. Until 1.6 it adds the role to the same instance profile again. Since 1.7 a changed role gets a new
    /// instance profile, so profiles accumulate until the account reaches its quota. Such a value is wrong in every
    /// release; `nodeclass-role-is-arn` reports that.
    ///
    /// ## Example
    ///
    /// ```yaml,from=1.6 to 1.7
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: eks/KarpenterNodeRole-prod
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml,from=1.6 to 1.7
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: KarpenterNodeRole-prod
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#8838; upgrade guide, 1.7.0
    /// - pkg/providers/instanceprofile/instanceprofile.go at v1.6.8 and v1.7.0
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(7),
        summary: "Karpenter creates one instance profile after another for a role with a path",
        phase: Phase::With,
        runs: Runs::OnUpgrade,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(node) = Ec2NodeClass::of(object).and_then(Ec2NodeClass::role) else { return };
    let Some(role) = node.as_str().filter(|role| role.contains('/') && !has_placeholder(role)) else {
        return;
    };
    let name = match IamReference::parse(role) {
        IamReference::Arn { name, .. } | IamReference::Path { name } => name,
        IamReference::Name => return,
    };
    let message = "`spec.role` contains a path: Karpenter never finds it equal to the role's name, and creates a new instance profile each time";
    let help = format!(
        "write `{name}` during the upgrade, because the field can be changed since 1.7, or create a new EC2NodeClass with it before the upgrade"
    );
    findings.push(Finding::new(&RULE, Place::value(node), message).help(help));
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing};

    fn class(role: &str) -> String {
        format!(
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec:
  role: {role}
"
        )
    }

    #[test]
    fn profiles_accumulate_since_1_7() {
        insta::assert_snapshot!(begins(&super::RULE, "1.6", "1.7.0", &class("arn:aws:iam::111122223333:role/nodes")), @"
        from 1.7 on
          5 |   role: arn:aws:iam::111122223333:role/nodes
            |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.role [since 1.7]
          `spec.role` contains a path: Karpenter never finds it equal to the role's name, and creates a new instance profile each time
          help: write `nodes` during the upgrade, because the field can be changed since 1.7, or create a new EC2NodeClass with it before the upgrade
        ");
        begins_nothing(&super::RULE, "1.0", "1.6", &class("a/b"));
        begins_nothing(&super::RULE, "1.7", "1.14", &class("a/b"));
        begins_nothing(&super::RULE, "1.0", "1.14", &class("KarpenterNodeRole-prod"));
        begins_nothing(&super::RULE, "1.0", "1.14", &class("${PATH}/a"));
    }
}
