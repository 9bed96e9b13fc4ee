use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::node_class::{Ec2NodeClass, SelectorField, TermField};
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::has_placeholder;

rule! {
    /// ## What it does
    ///
    /// Finds selector terms that list several IDs or several tag values in one string, separated by commas.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter split lists of tag values until 0.32. Since then it passes the whole string to EC2 as one value, as it
    /// does with an ID. No resource has an ID with a comma, so the term matches nothing. A tag can have a value with a
    /// comma, so a list of tag values is a warning.
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
    ///   subnetSelectorTerms:
    ///   - id: subnet-0123456789abcdef0,subnet-0fedcba9876543210
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
    ///   subnetSelectorTerms:
    ///   - id: subnet-0123456789abcdef0
    ///   - id: subnet-0fedcba9876543210
    ///   securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    /// ```
    ///
    /// ## References
    ///
    /// - `getFilterSets` in pkg/providers/subnet/subnet.go of aws/karpenter-provider-aws at v1.14.1
    /// - website/content/en/docs/upgrading/upgrade-guide.md of aws/karpenter-provider-aws at v1.14.1, 0.33.0
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a selector term lists several values in one string, which matches nothing",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

const LISTS: [SelectorField; 4] = [
    SelectorField::Subnets,
    SelectorField::SecurityGroups,
    SelectorField::Amis,
    SelectorField::CapacityReservations,
];

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(class) = Ec2NodeClass::of(object) else { return };
    for term in LISTS.into_iter().flat_map(|list| class.terms(list).items()) {
        if let Some(id) = term.field(TermField::Id).filter(|id| is_list(*id)) {
            let message = "Karpenter looks for one resource with this ID, commas included, and finds none";
            let finding = Finding::new(&RULE, Place::value(id), message);
            findings.push(finding.help("write one term for each ID"));
        }
        for (_, value) in term.tags().filter(|(_, value)| is_list(*value)) {
            let message =
                "Karpenter looks for a tag with this whole value, commas included; it is not a list";
            let finding = Finding::new(&RULE, Place::value(value), message).severity(Severity::Warning);
            findings.push(
                finding.help("write one term for each value: a resource that matches any term is selected"),
            );
        }
    }
}

/// Whether a string has a comma between two texts.
fn is_list(value: Node<'_>) -> bool {
    let Some(text) = value.as_str().filter(|text| !has_placeholder(text)) else { return false };
    text.split_once(',').is_some_and(|(before, after)| !before.trim().is_empty() && !after.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn class(terms: &str) -> String {
        format!(
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec:
  subnetSelectorTerms: [{terms}]
"
        )
    }

    #[test]
    fn reports_lists_of_ids_and_of_tag_values() {
        let terms = "{id: 'subnet-0a1b2c3d, subnet-1a2b3c4d'}, {tags: {Name: 'private-a,private-b'}}";
        insta::assert_snapshot!(findings(&RULE, &class(terms)), @"
          5 |   subnetSelectorTerms: [{id: 'subnet-0a1b2c3d, subnet-1a2b3c4d'}, {tags: {Name: 'private-a,private-b'}}]
            |                              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.subnetSelectorTerms[0].id [all]
          Karpenter looks for one resource with this ID, commas included, and finds none
          help: write one term for each ID
          5 |   subnetSelectorTerms: [{id: 'subnet-0a1b2c3d, subnet-1a2b3c4d'}, {tags: {Name: 'private-a,private-b'}}]
            |                                                                                 ^^^^^^^^^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.subnetSelectorTerms[1].tags.Name [all]
          Karpenter looks for a tag with this whole value, commas included; it is not a list
          help: write one term for each value: a resource that matches any term is selected
        ");
    }

    #[test]
    fn accepts_single_values_and_templates() {
        silent(&RULE, &class("{id: subnet-0a1b2c3d}, {tags: {Name: private-a}}"));
        silent(&RULE, &class("{tags: {Name: 'private-a,'}}, {tags: {Name: '${join(\",\", a)}'}}"));
    }
}
