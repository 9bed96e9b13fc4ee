use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::edit::Change;
use manifest::source::Span;
use manifest::tree::Node;
use objects::node_class::Ec2NodeClass;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::arn;
use values::placeholder::has_placeholder;

rule! {
    /// ## What it does
    ///
    /// Checks that `spec.instanceProfile` of an EC2NodeClass is the name of an instance profile, not its ARN or a path.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter passes the value to EC2 as the profile's *name*. EC2 refuses an ARN with
    /// `Invalid IAM Instance Profile name`. Karpenter assumes that the profile does not exist yet, and waits. The node
    /// class shows `InstanceProfileReady=True`, because Karpenter copies the value without looking it up. Since 1.3.1,
    /// `ValidationSucceeded` and `Ready` stay `Unknown`, and nothing is logged. In earlier releases the node class even
    /// becomes `Ready`, and every launch fails.
    ///
    /// The pull request that is often cited as the fix, aws/karpenter-provider-aws#8074, is about cached profiles; no
    /// release up to 1.14 detects an ARN.
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
    /// In Terraform, use the attribute `name` of the instance profile, not `arn`.
    ///
    /// ## Fix safety
    ///
    /// Safe: the part after the last slash of an instance profile's ARN is its name, which is unique in the account.
    /// There is no fix for the ARN of a role, because a role and its instance profile need not have the same name.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#8072, #8312: node classes that never become ready
    /// - pkg/controllers/nodeclass/instanceprofile.go and validation.go at v1.14.1
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "`spec.instanceProfile` is an ARN or a path instead of the profile name",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

const ROLE_HELP: &str = "write the name of the instance profile that contains the role, or write the role name into `spec.role` instead";

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(node) = Ec2NodeClass::of(object).and_then(Ec2NodeClass::instance_profile) else { return };
    let Some(value) = node.as_str() else { return };
    let finding = |what: &str| {
        let message = format!(
            "`spec.instanceProfile` is {what}, but Karpenter expects the profile name; the EC2NodeClass never becomes \
             Ready"
        );
        Finding::at(&RULE, node, message)
    };
    match arn::IamReference::parse(value) {
        arn::IamReference::Arn { kind: "instance-profile", name, .. } => {
            let change = Change::Set(node, name.to_owned());
            findings.push(finding("an ARN").write(name).safe_fix("write the profile's name", change));
        }
        arn::IamReference::Arn { kind, .. } => {
            let resource = if kind == "role" { "a role" } else { "another resource" };
            findings.push(finding(&format!("the ARN of {resource}")).help(ROLE_HELP));
        }
        arn::IamReference::Path { name } if !has_placeholder(value) => {
            findings.push(finding("a path").help(format!("write only the name, `{name}`")));
        }
        _ => match arn::without_arn(value) {
            Some(name) => findings.extend(reference(node, value, name)),
            None => findings.extend(invalid_name(node, value)),
        },
    }
}

/// Reports a reference to the ARN of an instance profile or a role: to the attribute of the resource, or by its name, which is a warning.
///
/// Source: `website/docs/r/iam_instance_profile.html.markdown` and `iam_role.html.markdown` of hashicorp/terraform-provider-aws, "Attribute
/// Reference".
fn reference<'d>(node: Node<'d>, value: &str, name: &str) -> Option<Finding<'d>> {
    if arn::is_attribute_of(name, "aws_iam_role") {
        let message = format!(
            "`spec.instanceProfile` refers to `{value}`, which is the ARN of a role, but Karpenter expects the profile \
             name; the EC2NodeClass never becomes Ready"
        );
        return Some(Finding::at(&RULE, node, message).help(ROLE_HELP));
    }
    let is_resource = arn::is_attribute_of(name, "aws_iam_instance_profile");
    if !is_resource && !name.to_ascii_lowercase().ends_with("profile_") {
        return None;
    }
    let by_name = if is_resource { "" } else { " by its name" };
    let message = format!(
        "`spec.instanceProfile` refers to `{value}`, which is an ARN{by_name}, but Karpenter expects the profile name; \
         the EC2NodeClass never becomes Ready"
    );
    let word = if name.chars().any(|char| char.is_ascii_lowercase()) { "name" } else { "NAME" };
    let help = format!("refer to the name of the instance profile, such as `${{{name}{word}}}`");
    let finding = Finding::at(&RULE, node, message).help(help);
    if !is_resource {
        return Some(finding.severity(Severity::Warning));
    }
    let start = "${".len() + name.len();
    let change = Change::Replace(node, Span::new(start, start + "arn".len()), word.to_owned());
    Some(finding.safe_fix("refer to the profile's name", change))
}

/// Reports a name that EC2 refuses just like an ARN. Skips names with placeholders, such as `${PROFILE}`.
fn invalid_name<'d>(node: Node<'d>, value: &str) -> Option<Finding<'d>> {
    let pending = value.is_empty() || has_placeholder(value);
    if pending || (arn::is_name(value) && value.len() <= arn::MAX_PROFILE_NAME) {
        return None;
    }
    let message = "`spec.instanceProfile` is not a valid name of an instance profile; the EC2NodeClass never becomes Ready";
    let help = "a profile name has at most 128 letters, digits and `+=,.@_-`, without spaces or line breaks";
    Some(Finding::new(&RULE, Place::value(node), message).help(help))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, fixed, silent};

    const CLASS: &str = r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec:
  instanceProfile: ";

    #[test]
    fn replaces_arns_of_every_partition_by_the_name() {
        for partition in ["aws", "aws-cn", "aws-us-gov", "aws-iso-b"] {
            let text = format!("{CLASS}'arn:{partition}:iam::111122223333:instance-profile/nodes/eu/prod'\n");
            assert_eq!(fixed(&super::RULE, &text), format!("{CLASS}'prod'\n"));
        }
    }

    #[test]
    fn recognises_arns_with_placeholders() {
        let text =
            format!("{CLASS}arn:${{AWS::Partition}}:iam::${{AWS::AccountId}}:instance-profile/nodes/prod\n");
        assert!(findings(&super::RULE, &text).contains("is an ARN, but Karpenter expects the profile name"));
        assert_eq!(fixed(&super::RULE, &text), format!("{CLASS}prod\n"));
        silent(&super::RULE, &format!("{CLASS}'{{{{ profiles/nodes }}}}'\n"));
    }

    #[test]
    fn reports_references_to_the_arn_of_an_instance_profile() {
        let found = |value: &str| findings(&super::RULE, &format!("{CLASS}'{value}'\n"));
        let resource = found("${aws_iam_instance_profile.node.arn}");
        assert!(resource.contains("error EC2NodeClass/a spec.instanceProfile"), "{resource}");
        assert!(resource.contains("such as `${aws_iam_instance_profile.node.name}`"), "{resource}");
        assert!(found("${module.nodes.instance_profile_arn}").contains("warning EC2NodeClass/a"));
        let of_role = found("${aws_iam_role.node.arn}");
        assert!(
            of_role.contains("error EC2NodeClass/a") && of_role.contains("the ARN of a role"),
            "{of_role}"
        );
        for resource in ["aws_iam_instance_profile.node[0]", "data.aws_iam_instance_profile.node"] {
            let text = format!("{CLASS}${{{resource}.arn}}\n");
            assert_eq!(fixed(&super::RULE, &text), text.replace(".arn", ".name"));
        }
        for value in [
            "${aws_iam_instance_profile.node.name}",
            "${basename(aws_iam_instance_profile.node.arn)}",
            "${var.arn}",
            "${aws_iam_role.node.arn}-x",
        ] {
            silent(&super::RULE, &format!("{CLASS}'{value}'\n"));
        }
    }

    #[test]
    fn reports_arn_of_a_role() {
        let text = format!("{CLASS}arn:aws:iam::111122223333:role/prod\n");
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          5 |   instanceProfile: arn:aws:iam::111122223333:role/prod
            |                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.instanceProfile [all]
          `spec.instanceProfile` is the ARN of a role, but Karpenter expects the profile name; the EC2NodeClass never becomes Ready
          help: write the name of the instance profile that contains the role, or write the role name into `spec.role` instead
        ");
    }

    #[test]
    fn reports_a_path() {
        let found = findings(&super::RULE, &format!("{CLASS}nodes/prod\n"));
        assert!(found.contains("is a path, but Karpenter expects the profile name"), "{found}");
        assert!(found.contains("help: write only the name, `prod`"), "{found}");
    }

    #[test]
    fn reports_names_that_iam_refuses() {
        for name in ["'prod node'", "\"prod\\n\"", &"x".repeat(129)] {
            assert!(
                findings(&super::RULE, &format!("{CLASS}{name}\n")).contains("not a valid name"),
                "{name}"
            );
        }
    }

    #[test]
    fn accepts_names_and_placeholders() {
        for name in ["KarpenterNodeProfile-prod", "eks.nodes@prod_1=a,b+c", "${PROFILE}", "arn-like"] {
            silent(&super::RULE, &format!("{CLASS}'{name}'\n"));
        }
    }
}
