use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use manifest::edit::Change;
use values::arn;
use values::placeholder::is_in_name;
use karpenter::release::Releases;
use manifest::tree::Node;
use karpenter::kind::Kind;
use objects::object::Object;
use lint::rule::{Fixes, On};

rule! {
    /// ## What it does
    ///
    /// Checks that `spec.instanceProfile` of an EC2NodeClass is the name of an instance profile, not its ARN or a path.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter passes the value to EC2 as the profile's *name*. EC2 refuses an ARN there with `Invalid IAM Instance
    /// Profile name`, and Karpenter takes that refusal for a profile that does not exist yet and waits. The node class
    /// says `InstanceProfileReady=True`, because the value is copied without being looked up; `ValidationSucceeded` and
    /// `Ready` stay `Unknown`, and nothing is logged (1.3.1 and later; before, the node class is even `Ready` and every
    /// launch fails).
    ///
    /// The pull request that is often named as the fix, aws/karpenter-provider-aws#8074, is about profiles in a cache;
    /// no release up to 1.14 detects an ARN.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   instanceProfile: arn:aws:iam::111122223333:instance-profile/KarpenterNodeProfile-prod
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    ///   subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    ///   securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
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
    ///   instanceProfile: KarpenterNodeProfile-prod
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    ///   subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    ///   securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    /// ```
    ///
    /// In Terraform this is the attribute `name` of the instance profile, not `arn`.
    ///
    /// ## Fix safety
    ///
    /// Safe: what follows the last slash of an instance profile's ARN is its name, which is unique in the account. The ARN
    /// of a role is not replaced, because a role and its instance profile need not have the same name.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#8072, #8312: node classes that never become ready
    /// - pkg/controllers/nodeclass/instanceprofile.go and validation.go at v1.14.1
    RULE {
        name: "instance-profile-is-arn",
        family: Family::Nodeclass,
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "the instance profile is given as an ARN or with a path instead of by its name",
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    let Some(node) = object.at(&["spec", "instanceProfile"]) else { return };
    let Some(value) = node.as_str() else { return };
    let draft = |what: &str| {
        Draft::at(&RULE, node, format_args!("`spec.instanceProfile` is {what}; Karpenter takes the name, and this node class never becomes Ready"),
        )
    };
    match arn::Reference::read(value) {
        arn::Reference::Arn { kind: "instance-profile", name, .. } => {
            let change = Change::Set(node, name.to_owned());
            drafts.push(draft("an ARN").write(name).mend("write the profile's name", change));
        }
        arn::Reference::Arn { kind, .. } => {
            let help = "write the name of the instance profile that holds the role; the role itself goes into `spec.role`";
            let article = if kind == "role" { "a role" } else { "something else" };
            drafts.push(draft(&format!("the ARN of {article}")).help(help));
        }
        arn::Reference::Path { name } if !is_in_name(value) => {
            drafts.push(draft("a path").advise(format_args!("write the name alone, which would be `{name}`")));
        }
        _ => drafts.extend(no_name(node, value)),
    }
}

/// A name that EC2 would refuse just as an ARN. What is yet to be replaced, such as `${PROFILE}`, is not judged.
fn no_name<'d>(node: Node<'d>, value: &str) -> Option<Draft<'d>> {
    let pending = value.is_empty() || is_in_name(value);
    if pending || (arn::is_name(value) && value.len() <= arn::PROFILE_NAME_MAX) {
        return None;
    }
    let message = "`spec.instanceProfile` is no name that IAM takes, and this node class never becomes Ready";
    let help = "a profile's name has at most 128 letters, digits and `+=,.@_-`, and neither blanks nor line breaks";
    Some(Draft::new(&RULE, Place::value(node), message).help(help))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, fixed, silent};

    const CLASS: &str = "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: a}\nspec:\n  instanceProfile: ";

    #[test]
    fn arns_of_every_partition_are_found_and_replaced_by_the_name() {
        for partition in ["aws", "aws-cn", "aws-us-gov", "aws-iso-b"] {
            let text = format!("{CLASS}'arn:{partition}:iam::111122223333:instance-profile/nodes/eu/prod'\n");
            assert_eq!(fixed(&super::RULE, &text), format!("{CLASS}'prod'\n"));
        }
    }

    #[test]
    fn an_arn_that_is_filled_in_later_is_one_already() {
        let text = format!("{CLASS}arn:${{AWS::Partition}}:iam::${{AWS::AccountId}}:instance-profile/nodes/prod\n");
        assert!(findings(&super::RULE, &text).contains("is an ARN; Karpenter takes the name"));
        assert_eq!(fixed(&super::RULE, &text), format!("{CLASS}prod\n"));
        silent(&super::RULE, &format!("{CLASS}'{{{{ profiles/nodes }}}}'\n"));
    }

    #[test]
    fn the_place_is_the_value() {
        let text = format!("{CLASS}arn:aws:iam::111122223333:role/prod\n");
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          5 |   instanceProfile: arn:aws:iam::111122223333:role/prod
            |                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.instanceProfile [1.0-1.14]
          `spec.instanceProfile` is the ARN of a role; Karpenter takes the name, and this node class never becomes Ready
          help: write the name of the instance profile that holds the role; the role itself goes into `spec.role`
        ");
    }

    #[test]
    fn names_that_iam_refuses_are_found() {
        for name in ["'prod node'", "\"prod\\n\"", &"x".repeat(129)] {
            assert!(findings(&super::RULE, &format!("{CLASS}{name}\n")).contains("no name that IAM takes"), "{name}");
        }
    }

    #[test]
    fn names_are_left_alone() {
        for name in ["KarpenterNodeProfile-prod", "eks.nodes@prod_1=a,b+c", "${PROFILE}", "arn-like"] {
            silent(&super::RULE, &format!("{CLASS}'{name}'\n"));
        }
    }
}
