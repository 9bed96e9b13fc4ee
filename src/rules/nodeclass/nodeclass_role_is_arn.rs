use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::edit::Change;
use manifest::source::Span;
use manifest::tree::Node;
use objects::node_class::Ec2NodeClass;
use objects::object::{Object, Operation};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::arn;
use values::placeholder::has_placeholder;

rule! {
    /// ## What it does
    ///
    /// Checks that `spec.role` of an EC2NodeClass is the name of an IAM role: not an ARN, not a path, and not a name
    /// that IAM refuses. A reference that is an ARN by its name, such as `${module.karpenter.node_iam_role_arn}`, is a warning.
    ///
    /// ## Why it is bad
    ///
    /// Until 1.1 Karpenter passes the value to IAM unchanged. IAM refuses it with
    /// `The specified value for roleName is invalid`, and the node class never gets an instance profile.
    ///
    /// Since 1.2 Karpenter attaches the role named after the last slash, so nodes start. But it compares the whole
    /// value with the role's name, and the two are never equal. Until 1.6 it detaches the role and attaches it again
    /// each time a cache expires. Since 1.7 it creates a new instance profile each time, and the profiles pile up in
    /// the account.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: arn:aws:iam::111122223333:role/KarpenterNodeRole-prod
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
    ///   role: KarpenterNodeRole-prod
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    ///   subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    ///   securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    /// ```
    ///
    /// In Terraform, use the attribute `name` of the role, not `arn`; with the EKS module's `karpenter` submodule, use
    /// the output `node_iam_role_name`. The controller's `iam:PassRole` permission still needs the ARN, including the
    /// path.
    ///
    /// ## Fix safety
    ///
    /// Safe: a role's name is unique in its account whatever its path, and Karpenter attaches the part after the last
    /// slash anyway. For a live object the fix is offered only if every checked release allows `spec.role` to change,
    /// which means 1.7 and later.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#6650, #6036, #8838 (hundreds of instance profiles)
    /// - pkg/providers/instanceprofile/instanceprofile.go at v1.1.6, v1.2.0 and v1.14.1
    /// - pkg/controllers/nodeclass/instanceprofile.go at v1.7.0 and v1.14.1
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "`spec.role` is an ARN or a path instead of the role name",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

/// Releases that pass the value to IAM unchanged, which refuses it.
const REFUSED: Releases = Releases::until(1);
/// Releases that attach the role named after the last slash.
const ATTACHED: Releases = Releases::since(2);
/// Releases that allow `spec.role` of a live object to change.
const MUTABLE: Releases = Releases::since(7);

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(node) = Ec2NodeClass::of(object).and_then(Ec2NodeClass::role) else { return };
    let Some(value) = node.as_str() else { return };
    let fixable = object.operation() != Operation::Update
        || context.settings.karpenter.releases().all(|release| MUTABLE.contains(release));
    match arn::IamReference::parse(value) {
        arn::IamReference::Arn { kind: "role", name, .. } => {
            arn_or_path(node, "an ARN", name, fixable, findings);
        }
        arn::IamReference::Arn { kind, .. } => {
            let help =
                if kind == "instance-profile" { PROFILE_HELP } else { "write the name of an IAM role" };
            let resource =
                if kind == "instance-profile" { "an instance profile" } else { "another resource" };
            for (releases, severity) in [(REFUSED, Severity::Error), (ATTACHED, Severity::Warning)] {
                let message =
                    format!("`spec.role` is the ARN of {resource}, but Karpenter expects the role name");
                let finding = Finding::at(&RULE, node, message).help(help);
                findings.push(finding.releases(releases).severity(severity));
            }
        }
        _ if value.starts_with("arn:") && !has_placeholder(value) => {
            let message = "`spec.role` is not the ARN of an IAM role; Karpenter expects the role name, and nodes get no role";
            findings.push(Finding::new(&RULE, Place::value(node), message).help("write the role name"));
        }
        arn::IamReference::Path { name } if !has_placeholder(value) => {
            arn_or_path(node, "a path", name, fixable, findings);
        }
        _ => match arn_reference(value) {
            Some(name) => reference(node, value, name, fixable, findings),
            None => findings.extend(invalid_name(node, value)),
        },
    }
}

const PROFILE_HELP: &str =
    "write the role name here or the profile name into `spec.instanceProfile`, but not both";
const WHEN_REFUSED: &str = "IAM refuses it, and the EC2NodeClass never gets an instance profile";
const WHEN_ATTACHED: &str =
    "the value never equals the role's name, so Karpenter keeps replacing the instance profile";

/// The effects of a value that is not the role's name, by release.
const EFFECTS: [(Releases, Severity, &str); 2] =
    [(REFUSED, Severity::Error, WHEN_REFUSED), (ATTACHED, Severity::Warning, WHEN_ATTACHED)];

/// The reference without its last word, `arn`, if a value is a reference to the ARN of a role by its name.
fn arn_reference(value: &str) -> Option<&str> {
    let name = arn::without_arn(value)?;
    (name.to_ascii_lowercase().ends_with("role_") || name.ends_with('.')).then_some(name)
}

/// Reports a reference to the ARN of a role or an instance profile: to the attribute of the resource, or by its name, which is a warning.
///
/// Source: `website/docs/r/iam_role.html.markdown` and `iam_instance_profile.html.markdown` of hashicorp/terraform-provider-aws, "Attribute
/// Reference".
fn reference<'d>(node: Node<'d>, value: &str, name: &str, fixable: bool, findings: &mut Vec<Finding<'d>>) {
    let (is_role, is_profile) =
        (arn::is_attribute_of(name, "aws_iam_role"), arn::is_attribute_of(name, "aws_iam_instance_profile"));
    let word = if name.chars().any(|char| char.is_ascii_lowercase()) { "name" } else { "NAME" };
    for (releases, severity, why) in EFFECTS {
        let what = match (is_role, is_profile) {
            (true, _) => "an ARN",
            (_, true) => "the ARN of an instance profile",
            _ => "an ARN by its name",
        };
        let message = format!(
            "`spec.role` refers to `{value}`, which is {what}, but Karpenter expects the role name; {why}"
        );
        let severity = if is_role || is_profile { severity } else { Severity::Warning };
        let finding = Finding::at(&RULE, node, message).releases(releases).severity(severity);
        if is_profile {
            findings.push(finding.help(PROFILE_HELP));
            continue;
        }
        let finding = finding.help(format!("refer to the name of the role, such as `${{{name}{word}}}`"));
        findings.push(if is_role && fixable {
            let start = "${".len() + name.len();
            let change = Change::Replace(node, Span::new(start, start + "arn".len()), word.to_owned());
            finding.safe_fix("refer to the role's name", change)
        } else {
            finding
        });
    }
}

/// Reports an ARN or a path: IAM refuses it until 1.1, and it never equals the role's name since 1.2.
fn arn_or_path<'d>(
    node: Node<'d>,
    what: &str,
    name: &'d str,
    fixable: bool,
    findings: &mut Vec<Finding<'d>>,
) {
    let certain = arn::is_name(name);
    for (releases, severity, why) in EFFECTS {
        let message = format!("`spec.role` is {what}, but Karpenter expects the role name; {why}");
        let finding = Finding::at(&RULE, node, message).releases(releases).severity(severity);
        let finding = if certain { finding.write(name) } else { finding.help("write only the role name") };
        findings.push(if certain && fixable {
            finding.safe_fix("write the role's name", Change::Set(node, name.to_owned()))
        } else {
            finding
        });
    }
}

/// Reports a name that IAM refuses. Skips names with placeholders, such as `${ROLE}`.
fn invalid_name<'d>(node: Node<'d>, value: &str) -> Option<Finding<'d>> {
    let pending = value.is_empty() || has_placeholder(value);
    let finding = |what: &str, help: &str| {
        let message = format!("`spec.role` {what}; the EC2NodeClass never gets an instance profile");
        Some(Finding::at(&RULE, node, message).help(help))
    };
    if !pending && !arn::is_name(value) {
        return finding(
            "is not a valid name of an IAM role",
            "a role name contains only letters, digits and `+=,.@_-`, without spaces or line breaks",
        );
    }
    if !pending && value.len() > arn::MAX_ROLE_NAME {
        return finding("is longer than the 64 characters of an IAM role name", "write the role name");
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with, fixed, silent};
    use rule::settings::{Settings, Target};

    const CLASS: &str = r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec:
  role: ";

    fn at(release: &str) -> Settings {
        Settings { karpenter: Target::parse(release).unwrap(), ..Settings::default() }
    }

    #[test]
    fn severity_depends_on_the_release() {
        let text = format!("{CLASS}arn:aws:iam::111122223333:role/karpenter/prod-node\n");
        insta::assert_snapshot!(findings_with(&super::RULE, &text, &at("1.1")), @r#"
          5 |   role: arn:aws:iam::111122223333:role/karpenter/prod-node
            |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.role [until 1.1]
          `spec.role` is an ARN, but Karpenter expects the role name; IAM refuses it, and the EC2NodeClass never gets an instance profile
          help: write `prod-node`
          fix: write the role's name: "prod-node"
        "#);
        insta::assert_snapshot!(findings_with(&super::RULE, &text, &at("1.2")), @r#"
          5 |   role: arn:aws:iam::111122223333:role/karpenter/prod-node
            |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.role [since 1.2]
          `spec.role` is an ARN, but Karpenter expects the role name; the value never equals the role's name, so Karpenter keeps replacing the instance profile
          help: write `prod-node`
          fix: write the role's name: "prod-node"
        "#);
    }

    #[test]
    fn reports_both_effects_for_a_range_of_releases() {
        let text = format!("{CLASS}karpenter/prod-node\n");
        insta::assert_snapshot!(findings_with(&super::RULE, &text, &at("1.0..1.14")), @r#"
          5 |   role: karpenter/prod-node
            |         ^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.role [until 1.1]
          `spec.role` is a path, but Karpenter expects the role name; IAM refuses it, and the EC2NodeClass never gets an instance profile
          help: write `prod-node`
          fix: write the role's name: "prod-node"
          5 |   role: karpenter/prod-node
            |         ^^^^^^^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.role [since 1.2]
          `spec.role` is a path, but Karpenter expects the role name; the value never equals the role's name, so Karpenter keeps replacing the instance profile
          help: write `prod-node`
          fix: write the role's name: "prod-node"
        "#);
    }

    #[test]
    fn replaces_arns_of_every_partition_by_the_name() {
        for partition in ["aws", "aws-cn", "aws-us-gov", "aws-iso-b"] {
            let text = format!("{CLASS}'arn:{partition}:iam::111122223333:role/nodes/eu/prod'\n");
            assert_eq!(fixed(&super::RULE, &text), format!("{CLASS}'prod'\n"));
        }
    }

    #[test]
    fn offers_no_fix_if_the_role_name_is_unknown() {
        for value in [
            "arn:aws:iam::111122223333:instance-profile/prod",
            "arn:aws:sts::111122223333:assumed-role/prod/session",
            "'arn:aws:iam::${ACCOUNT}:role/Node-${CLUSTER}'",
            "role/",
        ] {
            let text = format!("{CLASS}{value}\n");
            assert!(!findings(&super::RULE, &text).is_empty(), "{value}");
            assert_eq!(fixed(&super::RULE, &text), text);
        }
    }

    #[test]
    fn warns_of_a_reference_that_is_an_arn_by_its_name() {
        let text = format!("{CLASS}'${{module.karpenter.node_iam_role_arn}}'\n");
        insta::assert_snapshot!(findings_with(&super::RULE, &text, &at("1.8")), @"
          5 |   role: '${module.karpenter.node_iam_role_arn}'
            |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.role [since 1.2]
          `spec.role` refers to `${module.karpenter.node_iam_role_arn}`, which is an ARN by its name, but Karpenter expects the role name; the value never equals the role's name, so Karpenter keeps replacing the instance profile
          help: refer to the name of the role, such as `${module.karpenter.node_iam_role_name}`
        ");
        let found =
            findings_with(&super::RULE, &format!("{CLASS}'${{KARPENTER_NODE_ROLE_ARN}}'\n"), &at("1.1"));
        assert!(found.contains("warning EC2NodeClass/a"), "{found}");
        for value in [
            "${module.karpenter.node_iam_role_name}",
            "${basename(aws_iam_role.node.arn)}",
            "${split(\"/\", aws_iam_role.node.arn)[1]}",
            "node-${local.arn}",
            "${barn}",
            "${var.node_arn}",
        ] {
            silent(&super::RULE, &format!("{CLASS}'{value}'\n"));
        }
    }

    #[test]
    fn refers_to_the_name_of_a_resource_instead_of_its_arn() {
        for resource in ["aws_iam_role.node", "aws_iam_role.node[\"a\"]", "data.aws_iam_role.node"] {
            let text = format!("{CLASS}'${{{resource}.arn}}'\n");
            let found = findings_with(&super::RULE, &text, &at("1.1"));
            assert!(
                found.contains("error EC2NodeClass/a") && found.contains("which is an ARN, but"),
                "{found}"
            );
            assert!(findings_with(&super::RULE, &text, &at("1.2")).contains("warning EC2NodeClass/a"));
            assert_eq!(fixed(&super::RULE, &text), text.replace(".arn", ".name"));
            silent(&super::RULE, &text.replace(".arn", ".name"));
        }
        let profile = format!("{CLASS}'${{aws_iam_instance_profile.node.arn}}'\n");
        insta::assert_snapshot!(findings_with(&super::RULE, &profile, &at("1.8")), @"
          5 |   role: '${aws_iam_instance_profile.node.arn}'
            |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.role [since 1.2]
          `spec.role` refers to `${aws_iam_instance_profile.node.arn}`, which is the ARN of an instance profile, but Karpenter expects the role name; the value never equals the role's name, so Karpenter keeps replacing the instance profile
          help: write the role name here or the profile name into `spec.instanceProfile`, but not both
        ");
        assert_eq!(fixed(&super::RULE, &profile), profile);
        silent(&super::RULE, &profile.replace(".arn", ".role"));
    }

    #[test]
    fn reports_names_that_iam_refuses() {
        let text = format!("{CLASS}\"prod node\\n\"\n");
        insta::assert_snapshot!(findings(&super::RULE, &text), @r#"
          5 |   role: "prod node\n"
            |         ^^^^^^^^^^^^^
        error EC2NodeClass/a spec.role [all]
          `spec.role` is not a valid name of an IAM role; the EC2NodeClass never gets an instance profile
          help: a role name contains only letters, digits and `+=,.@_-`, without spaces or line breaks
        "#);
        assert!(!findings(&super::RULE, &format!("{CLASS}{}\n", "x".repeat(65))).is_empty());
    }

    #[test]
    fn offers_a_fix_for_a_live_object_only_if_the_field_may_change() {
        let review = format!(
            r"apiVersion: admission.k8s.io/v1
kind: AdmissionReview
request:
  operation: UPDATE
  object:
    {}arn:aws:iam::111122223333:role/prod
",
            CLASS.replace('\n', "\n    "),
        );
        assert!(findings_with(&super::RULE, &review, &at("1.7")).contains("fix:"));
        assert!(!findings_with(&super::RULE, &review, &at("1.6")).contains("fix:"));
        let created = review.replace("UPDATE", "CREATE");
        assert!(findings_with(&super::RULE, &created, &at("1.6")).contains("fix:"));
    }

    #[test]
    fn accepts_names_and_placeholders() {
        let long = "x".repeat(64);
        for name in
            ["KarpenterNodeRole-prod", "a=b,c.d@e_f+g", "${ROLE}", "<<ROLE NAME>>", "$ROLE", "", &long]
        {
            silent(&super::RULE, &format!("{CLASS}'{name}'\n"));
        }
        silent(&super::RULE, &format!("{CLASS}{{a: b}}\n"));
    }

    #[test]
    fn names_the_resource_of_another_arn() {
        let found = |value: &str| findings(&super::RULE, &format!("{CLASS}{value}\n"));
        let profile = found("arn:aws:iam::111122223333:instance-profile/nodes");
        assert!(profile.contains("is the ARN of an instance profile"), "{profile}");
        assert!(profile.contains("the profile name into `spec.instanceProfile`"), "{profile}");
        let user = found("arn:aws:iam::111122223333:user/nodes");
        assert!(user.contains("is the ARN of another resource"), "{user}");
        assert!(user.contains("help: write the name of an IAM role"), "{user}");
        silent(&super::RULE, &format!("{CLASS}'team/${{ROLE}}'\n"));
    }
}
