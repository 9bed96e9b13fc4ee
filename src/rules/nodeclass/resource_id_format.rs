use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::node_class::{Ec2NodeClass, SelectorField, TermField};
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::has_placeholder;

rule! {
    /// ## What it does
    ///
    /// Checks that the `id` of a selector term has the form of an ID of EC2: the prefix of the resource, such as
    /// `subnet-`, and 8 or 17 hexadecimal digits.
    ///
    /// ## Why it is bad
    ///
    /// The API server accepts any text that contains the prefix before a letter or a digit, such as
    /// `old-subnet-todo`. EC2 finds no such resource. If no other term matches, the EC2NodeClass never becomes Ready. If
    /// another term matches, Karpenter silently uses only that term.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: KarpenterNodeRole-prod
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    ///   subnetSelectorTerms: [{id: subnet-private}, {id: subnet-0123456789abcdef0}]
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
    ///   subnetSelectorTerms: [{tags: {Name: private}}, {id: subnet-0123456789abcdef0}]
    ///   securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    /// ```
    ///
    /// ## References
    ///
    /// - pkg/apis/crds/karpenter.k8s.aws_ec2nodeclasses.yaml of aws/karpenter-provider-aws at v1.14.1: the patterns
    ///   `subnet-[0-9a-z]+`, `sg-[0-9a-z]+` and `ami-[0-9a-z]+` are not anchored
    /// - Resource IDs, Amazon EC2 User Guide
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the ID in a selector term is not an ID of EC2, so the term matches nothing",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

/// The lists of selector terms, each with the prefix of the IDs in it and the resource.
const LISTS: [(SelectorField, &str, &str); 4] = [
    (SelectorField::Subnets, "subnet-", "subnet"),
    (SelectorField::SecurityGroups, "sg-", "security group"),
    (SelectorField::Amis, "ami-", "image"),
    (SelectorField::CapacityReservations, "cr-", "capacity reservation"),
];

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(class) = Ec2NodeClass::of(object) else { return };
    for (list, prefix, resource) in LISTS {
        for id in class.terms(list).items().filter_map(|term| term.field(TermField::Id)) {
            let Some(text) = id.as_str().filter(|text| is_judged(text, prefix)) else { continue };
            if is_id(text, prefix) {
                continue;
            }
            let message = format!("no {resource} has the ID `{text}`, so this term matches nothing");
            let help = format!("write an ID such as `{prefix}0123456789abcdef0`, or select by tags");
            findings.push(Finding::new(&RULE, Place::value(id), message).help(help));
        }
    }
}

/// Whether the rule judges a text. The API server refuses a text without the prefix, and `selector-comma-list` reports a
/// list. A short number, such as `ami-123` in Karpenter's own examples (examples/v1 of aws/karpenter-provider-aws), is a
/// placeholder.
fn is_judged(text: &str, prefix: &str) -> bool {
    let is_short_number = |digits: &str| digits.len() < 8 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_example = text.strip_prefix(prefix).is_some_and(is_short_number);
    text.contains(prefix) && !text.contains(',') && !is_example && !has_placeholder(text)
}

/// Whether a text is the prefix and 8 or 17 hexadecimal digits.
fn is_id(text: &str, prefix: &str) -> bool {
    let Some(digits) = text.strip_prefix(prefix) else { return false };
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    matches!(digits.len(), 8 | 17) && digits.bytes().all(is_digit)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn class(list: &str, id: &str) -> String {
        format!(
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec:
  {list}: [{{id: '{id}'}}]
"
        )
    }

    #[test]
    fn reports_ids_that_the_api_server_accepts_and_ec2_does_not_know() {
        insta::assert_snapshot!(findings(&RULE, &class("subnetSelectorTerms", "old-subnet-0123456789abcdef0")), @"
          5 |   subnetSelectorTerms: [{id: 'old-subnet-0123456789abcdef0'}]
            |                              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.subnetSelectorTerms[0].id [all]
          no subnet has the ID `old-subnet-0123456789abcdef0`, so this term matches nothing
          help: write an ID such as `subnet-0123456789abcdef0`, or select by tags
        ");
        for (list, id) in [
            ("securityGroupSelectorTerms", "sg-netops"),
            ("amiSelectorTerms", "ami-0123456789abcdef"),
            ("amiSelectorTerms", "ami-0123456789abcdef01"),
            ("capacityReservationSelectorTerms", "cr-0123456789abcdefg"),
            ("subnetSelectorTerms", "subnet-0A1B2C3D"),
        ] {
            assert!(findings(&RULE, &class(list, id)).contains(&format!("`{id}`")), "{id}");
        }
    }

    #[test]
    fn accepts_short_and_long_ids_and_templates() {
        for id in [
            "subnet-0a1b2c3d",
            "subnet-0123456789abcdef0",
            "subnet-${ID}",
            "${SUBNET}",
            "subnet-REPLACE_ME",
            "subnet-123",
        ] {
            silent(&RULE, &class("subnetSelectorTerms", id));
        }
    }

    #[test]
    fn leaves_other_faults_to_other_rules() {
        silent(&RULE, &class("subnetSelectorTerms", "private"));
        silent(&RULE, &class("subnetSelectorTerms", "subnet-0a1b2c3d,subnet-private"));
    }
}
