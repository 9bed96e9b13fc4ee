use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use manifest::edit::Change;
use values::arn;
use values::placeholder::is_in_name;
use karpenter::release::Releases;
use manifest::tree::Node;
use karpenter::kind::Kind;
use objects::object::{Object, Operation};
use lint::rule::{Fixes, On};

rule! {
    /// ## What it does
    ///
    /// Checks that `spec.role` of an EC2NodeClass is the name of an IAM role: no ARN, no path, nothing that IAM refuses
    /// in a name.
    ///
    /// ## Why it is bad
    ///
    /// Up to 1.1 the value goes to IAM as it is, which refuses it: `The specified value for roleName is invalid`. The
    /// node class never gets an instance profile.
    ///
    /// From 1.2 on Karpenter attaches what follows the last slash, so that nodes start; but it compares the whole value
    /// with the role's name, and the two are never equal. Up to 1.6 the role is taken off and put on again each time a
    /// cache expires. From 1.7 on a new instance profile is made each time, and the account fills with them.
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
    /// In Terraform this is the attribute `name` of the role, not `arn`; of the EKS module's `karpenter` submodule the
    /// output `node_iam_role_name`. The controller's `iam:PassRole` permission keeps naming the ARN, path included.
    ///
    /// ## Fix safety
    ///
    /// Safe: a role's name is unique in its account whatever its path, and what follows the last slash is what Karpenter
    /// attaches anyway. On a live object it is offered only where every release in question lets `spec.role` change,
    /// which is 1.7 and later.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#6650, #6036, #8838 (hundreds of instance profiles)
    /// - pkg/providers/instanceprofile/instanceprofile.go at v1.1.6, v1.2.0 and v1.14.1
    /// - pkg/controllers/nodeclass/instanceprofile.go at v1.7.0 and v1.14.1
    RULE {
        name: "nodeclass-role-is-arn",
        family: Family::Nodeclass,
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::Safe,
        summary: "the node role is given as an ARN or with a path instead of by its name",
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

/// The value goes to IAM as it is, which refuses it.
const REFUSED: Releases = Releases::until(1);
/// What follows the last slash is attached.
const ATTACHED: Releases = Releases::since(2);
/// `spec.role` of a live object may change.
const MUTABLE: Releases = Releases::since(7);

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    let Some(node) = object.at(&["spec", "role"]) else { return };
    let Some(value) = node.as_str() else { return };
    let fixable = object.operation() != Operation::Update
        || context.settings.karpenter.releases().without(MUTABLE).is_empty();
    match arn::Reference::read(value) {
        arn::Reference::Arn { kind: "role", name, .. } => found(node, "an ARN", name, fixable, drafts),
        arn::Reference::Arn { kind, .. } => {
            let help = if kind == "instance-profile" {
                "write the name of the role here, or the profile's name into `spec.instanceProfile`, but not both"
            } else {
                "write the name of an IAM role"
            };
            let what = if kind == "instance-profile" { "the ARN of an instance profile" } else { "no role" };
            for (releases, severity) in [(REFUSED, Severity::Error), (ATTACHED, Severity::Warning)] {
                let message = format_args!("`spec.role` is {what}; Karpenter takes the name of a role");
                let draft = Draft::at(&RULE, node, message).help(help);
                drafts.push(draft.releases(releases).severity(severity));
            }
        }
        _ if value.starts_with("arn:") && !is_in_name(value) => {
            let message = "`spec.role` is an ARN of no IAM role; Karpenter takes the name of a role, and no node gets one";
            drafts.push(Draft::new(&RULE, Place::value(node), message).help("write the role's name"));
        }
        arn::Reference::Path { name } if !is_in_name(value) => found(node, "a path", name, fixable, drafts),
        _ => drafts.extend(no_name(node, value)),
    }
}

/// An ARN or a path: refused up to 1.1, and never equal to the role's name from 1.2 on.
fn found<'d>(node: Node<'d>, what: &str, name: &'d str, fixable: bool, drafts: &mut Vec<Draft<'d>>) {
    const BEFORE: &str = "IAM refuses it, and this node class never gets an instance profile";
    const NOW: &str = "Karpenter never finds it equal to the role's name, and replaces the instance profile again and again";
    let certain = arn::is_name(name);
    for (releases, severity, why) in
        [(REFUSED, Severity::Error, BEFORE), (ATTACHED, Severity::Warning, NOW)]
    {
        let message = format_args!("`spec.role` is {what} instead of the role's name: {why}");
        let draft = Draft::at(&RULE, node, message).releases(releases).severity(severity);
        let draft = if certain { draft.write(name) } else { draft.help("write the role's name alone") };
        drafts.push(if certain && fixable {
            draft.mend("write the role's name", Change::Set(node, name.to_owned()))
        } else {
            draft
        });
    }
}

/// A name that IAM would refuse. What is yet to be replaced, such as `${ROLE}`, is not judged.
fn no_name<'d>(node: Node<'d>, value: &str) -> Option<Draft<'d>> {
    let pending = value.is_empty() || is_in_name(value);
    let draft = |what: &str, help: &str| {
        let message = format_args!("`spec.role` {what}, and this node class never gets an instance profile");
        Some(Draft::at(&RULE, node, message).help(help))
    };
    if !pending && !arn::is_name(value) {
        return draft(
            "is no name that IAM takes",
            "a role's name has letters, digits and `+=,.@_-` only, and neither blanks nor line breaks",
        );
    }
    if !pending && value.len() > arn::ROLE_NAME_MAX {
        return draft("is longer than the 64 letters of an IAM role's name", "write the role's name");
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with, fixed, silent};
    use lint::settings::{Settings, Target};

    const CLASS: &str =
        "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: a}\nspec:\n  role: ";

    fn at(release: &str) -> Settings {
        Settings { karpenter: Target::parse(release).unwrap(), ..Settings::default() }
    }

    #[test]
    fn severity_follows_what_the_release_does_with_it() {
        let text = format!("{CLASS}arn:aws:iam::111122223333:role/karpenter/prod-node\n");
        insta::assert_snapshot!(findings_with(&super::RULE, &text, &at("1.1")), @r#"
          5 |   role: arn:aws:iam::111122223333:role/karpenter/prod-node
            |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.role [1.0-1.1]
          `spec.role` is an ARN instead of the role's name: IAM refuses it, and this node class never gets an instance profile
          help: write `prod-node`
          fix: write the role's name: "prod-node"
        "#);
        insta::assert_snapshot!(findings_with(&super::RULE, &text, &at("1.2")), @r#"
          5 |   role: arn:aws:iam::111122223333:role/karpenter/prod-node
            |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.role [1.2-1.14]
          `spec.role` is an ARN instead of the role's name: Karpenter never finds it equal to the role's name, and replaces the instance profile again and again
          help: write `prod-node`
          fix: write the role's name: "prod-node"
        "#);
    }

    #[test]
    fn a_range_over_the_boundary_says_both() {
        let text = format!("{CLASS}karpenter/prod-node\n");
        insta::assert_snapshot!(findings_with(&super::RULE, &text, &at("1.0..1.14")), @r#"
          5 |   role: karpenter/prod-node
            |         ^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.role [1.0-1.1]
          `spec.role` is a path instead of the role's name: IAM refuses it, and this node class never gets an instance profile
          help: write `prod-node`
          fix: write the role's name: "prod-node"
          5 |   role: karpenter/prod-node
            |         ^^^^^^^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.role [1.2-1.14]
          `spec.role` is a path instead of the role's name: Karpenter never finds it equal to the role's name, and replaces the instance profile again and again
          help: write `prod-node`
          fix: write the role's name: "prod-node"
        "#);
    }

    #[test]
    fn arns_of_every_partition_are_replaced_by_the_name() {
        for partition in ["aws", "aws-cn", "aws-us-gov", "aws-iso-b"] {
            let text = format!("{CLASS}'arn:{partition}:iam::111122223333:role/nodes/eu/prod'\n");
            assert_eq!(fixed(&super::RULE, &text), format!("{CLASS}'prod'\n"));
        }
    }

    #[test]
    fn what_is_no_role_gets_advice_and_no_fix() {
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
    fn names_that_iam_refuses_are_found() {
        let text = format!("{CLASS}\"prod node\\n\"\n");
        insta::assert_snapshot!(findings(&super::RULE, &text), @r#"
          5 |   role: "prod node\n"
            |         ^^^^^^^^^^^^^
        error EC2NodeClass/a spec.role [1.0-1.14]
          `spec.role` is no name that IAM takes, and this node class never gets an instance profile
          help: a role's name has letters, digits and `+=,.@_-` only, and neither blanks nor line breaks
        "#);
        assert!(!findings(&super::RULE, &format!("{CLASS}{}\n", "x".repeat(65))).is_empty());
    }

    #[test]
    fn a_live_object_gets_a_fix_only_where_the_field_may_change() {
        let review = format!(
            "apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nrequest:\n  operation: UPDATE\n  object:\n    {}arn:aws:iam::111122223333:role/prod\n",
            CLASS.replace('\n', "\n    "),
        );
        assert!(findings_with(&super::RULE, &review, &at("1.7")).contains("fix:"));
        assert!(!findings_with(&super::RULE, &review, &at("1.6")).contains("fix:"));
        let created = review.replace("UPDATE", "CREATE");
        assert!(findings_with(&super::RULE, &created, &at("1.6")).contains("fix:"));
    }

    #[test]
    fn names_and_what_is_yet_to_be_replaced_are_left_alone() {
        let long = "x".repeat(64);
        for name in ["KarpenterNodeRole-prod", "a=b,c.d@e_f+g", "${ROLE}", "<<ROLE NAME>>", "$ROLE", "", &long] {
            silent(&super::RULE, &format!("{CLASS}'{name}'\n"));
        }
        silent(&super::RULE, &format!("{CLASS}{{a: b}}\n"));
    }
}
