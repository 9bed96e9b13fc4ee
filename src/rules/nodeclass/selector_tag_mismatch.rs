use std::collections::BTreeMap;

use cluster::index::Index;
use cluster::inventory::Inventory;
use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::network_tags::{DISCOVERY, TaggedResource};
use objects::node_class::{Ec2NodeClass, SelectorField};
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::has_placeholder;

use crate::rules::folders::is_elsewhere;

rule! {
    /// ## What it does
    ///
    /// Compares the tag `karpenter.sh/discovery` in the selectors for subnets and security groups with the resources that have the tag in
    /// the same input: `aws_subnet`, `aws_security_group` and `aws_ec2_tag` of Terraform, the modules `vpc` and `eks` of
    /// terraform-aws-modules, and CloudFormation.
    ///
    /// Nothing is compared if one of these resources has a tag or a value that only Terraform knows, or if no resource of the input has the
    /// tag. If the resources are in another branch of the folders than the EC2NodeClass, the two may be for different clusters, and
    /// the finding is an info.
    ///
    /// ## Why it is bad
    ///
    /// No subnet or security group has the tag with this value, so the EC2NodeClass finds none and never becomes Ready:
    /// `SubnetsNotFound` or `SecurityGroupsNotFound`.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// Resources:
    ///   PrivateSubnet:
    ///     Type: AWS::EC2::Subnet
    ///     Properties:
    ///       Tags: [{Key: karpenter.sh/discovery, Value: prod}]
    /// ---
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: KarpenterNodeRole
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    ///   subnetSelectorTerms: [{tags: {karpenter.sh/discovery: production}}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// Resources:
    ///   PrivateSubnet:
    ///     Type: AWS::EC2::Subnet
    ///     Properties:
    ///       Tags: [{Key: karpenter.sh/discovery, Value: prod}]
    /// ---
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   role: KarpenterNodeRole
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    ///   subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    /// ```
    ///
    /// ## References
    ///
    /// - website/content/en/docs/concepts/nodeclasses.md "spec.subnetSelectorTerms" of aws/karpenter-provider-aws at v1.14.1
    /// - `private_subnet_tags` and `node_security_group_tags` in examples/karpenter/main.tf of terraform-aws-modules/terraform-aws-eks at
    ///   v21.9.0
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "an EC2NodeClass selects a tag that the subnets or security groups have with another value",
        runs: Runs::OnFiles,
        on: &[On::Kind(Kind::NODE_CLASS)],
        inventory: &[],
        check: check,
    }
}

/// Maximum number of terms. The API server refuses more (`maxItems` of the selectors in `karpenter.k8s.aws_ec2nodeclasses.yaml` at v1.14.1).
const MAX_TERMS: usize = 30;

/// Maximum number of values in a message.
const MAX_SHOWN: usize = 3;

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(class) = Ec2NodeClass::of(object) else { return };
    let tags = context.inventory.index::<DiscoveryTags>();
    for field in FIELDS {
        let Some(values) = tags.of(field) else { continue };
        if class.terms(field).items().nth(MAX_TERMS).is_some() {
            continue;
        }
        let terms = class.terms(field).items().map(|term| term.tags().find(|(key, _)| *key == DISCOVERY));
        let nodes: Option<Vec<Node<'d>>> = terms.map(|tag| differing(tag?.1, values)).collect();
        let found = nodes.into_iter().flatten().filter_map(|node| finding(field, node, values));
        findings.extend(found);
    }
}

const FIELDS: [SelectorField; 2] = [SelectorField::Subnets, SelectorField::SecurityGroups];

/// The value of the tag in a term, if it is known and no resource has it. One term that may find a resource is enough, so a selector is
/// reported only if this holds for each of its terms.
fn differing<'d>(node: Node<'d>, values: &BTreeMap<String, Node<'d>>) -> Option<Node<'d>> {
    let value = node.as_str()?;
    let is_known = !has_placeholder(value) && !value.contains(['*', '?', ',']);
    (is_known && !values.contains_key(value)).then_some(node)
}

/// The finding about a tag of a selector with a value that no resource has.
fn finding<'d>(
    field: SelectorField,
    node: Node<'d>,
    values: &BTreeMap<String, Node<'d>>,
) -> Option<Finding<'d>> {
    let value = node.as_str()?;
    let what = if field == SelectorField::Subnets { "subnets" } else { "security groups" };
    let shown: Vec<String> = values.keys().take(MAX_SHOWN).map(|known| format!("`{known}`")).collect();
    let message = format!(
        "the {what} of this input have the tag `{DISCOVERY}` with {}, not with `{value}`: if no others have it, the EC2NodeClass finds no {what} and never becomes Ready",
        shown.join(", ")
    );
    let (first, at) = values.first_key_value()?;
    let is_far = values.values().all(|at| is_elsewhere(node, *at));
    let finding = Finding::at(&RULE, node, message)
        .severity(if is_far { Severity::Info } else { Severity::Warning })
        .help(format!("write `{first}`, or tag the {what} with `{value}`"));
    Some(finding.related(Place::value(*at), "the value of the tag comes from here"))
}

/// Whether the tag of a selector is reported.
pub(crate) fn is_reported<'d>(node: Node<'d>, context: &Context<'_, 'd>) -> bool {
    let tags = context.inventory.index::<DiscoveryTags>();
    let Some(list) = node.parent().and_then(Node::parent).and_then(Node::parent) else { return false };
    if list.items().nth(MAX_TERMS).is_some() {
        return false;
    }
    let Some(values) =
        FIELDS.into_iter().find(|field| field.name() == list.key()).and_then(|field| tags.of(field))
    else {
        return false;
    };
    let mut terms = list.items().map(|term| term.at_path(&["tags", DISCOVERY]));
    node.key() == DISCOVERY && terms.all(|tag| tag.is_some_and(|tag| differing(tag, values).is_some()))
}

/// Values of the tag, each with a place; `None` if no resource has the tag, or if one has a value that is not known.
type KnownValues<'d> = Option<BTreeMap<String, Node<'d>>>;

/// The values of the tag that the subnets and the security groups of the input have.
pub(crate) struct KnownTags<'d> {
    subnets: KnownValues<'d>,
    groups: KnownValues<'d>,
}

impl<'d> KnownTags<'d> {
    fn of(&self, field: SelectorField) -> Option<&BTreeMap<String, Node<'d>>> {
        if field == SelectorField::Subnets { self.subnets.as_ref() } else { self.groups.as_ref() }
    }
}

/// Index of the tags of subnets and security groups.
struct DiscoveryTags;

impl Index for DiscoveryTags {
    type Value<'d> = KnownTags<'d>;

    fn compute<'d>(inventory: &Inventory<'d>) -> KnownTags<'d> {
        let values = |is_subnet: bool| {
            let all = inventory.own().iter().copied().filter_map(TaggedResource::of);
            let values: Option<BTreeMap<String, Node<'d>>> = all
                .filter(|resource| resource.is_subnet() == is_subnet)
                .map(|resource| {
                    let value = resource.value_text().filter(|value| !has_placeholder(value))?;
                    Some((value, resource.value()?))
                })
                .collect();
            values.filter(|values| !values.is_empty())
        };
        KnownTags { subnets: values(true), groups: values(false) }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, findings_in_files, silent};
    use rule::settings::Settings;

    fn class(field: &str, value: &str) -> String {
        format!(
            "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {{name: a}}\nspec: {{{field}: [{{tags: {{karpenter.sh/discovery: '{value}'}}}}]}}\n"
        )
    }

    fn tagged(kind: &str, tags: &str) -> String {
        format!("Resources:\n  a: {{Type: 'AWS::EC2::{kind}', Properties: {{Tags: {tags}}}}}\n")
    }

    const SUBNETS: &str = "subnetSelectorTerms";
    const GROUPS: &str = "securityGroupSelectorTerms";
    const PROD: &str = "[{Key: Name, Value: b}, {Key: karpenter.sh/discovery, Value: prod}]";

    #[test]
    fn reports_a_value_that_no_resource_has() {
        let text = tagged("Subnet", PROD) + "---\n" + &class(SUBNETS, "production");
        insta::assert_snapshot!(findings(&RULE, &text), @"
          7 | spec: {subnetSelectorTerms: [{tags: {karpenter.sh/discovery: 'production'}}]}
            |                                                              ^^^^^^^^^^^^
        warning EC2NodeClass/a spec.subnetSelectorTerms[0].tags.karpenter.sh/discovery [all]
          the subnets of this input have the tag `karpenter.sh/discovery` with `prod`, not with `production`: if no others have it, the EC2NodeClass finds no subnets and never becomes Ready
          help: write `prod`, or tag the subnets with `production`
          see line 2 Properties.Tags[1].Value: the value of the tag comes from here
        ");
        let text = tagged("SecurityGroup", PROD) + "---\n" + &class(GROUPS, "dev");
        assert!(findings(&RULE, &text).contains("the security groups of this input"));
    }

    #[test]
    fn accepts_values_that_a_resource_has_and_what_is_not_known() {
        let subnet = tagged("Subnet", PROD);
        for value in ["prod", "${CLUSTER}", "pro*", "*"] {
            silent(&RULE, &(subnet.clone() + "---\n" + &class(SUBNETS, value)));
        }
        silent(&RULE, &(subnet.clone() + "---\n" + &class(GROUPS, "dev")));
        silent(&RULE, &class(SUBNETS, "dev"));
        let dev = class(SUBNETS, "dev");
        for tags in
            ["[{Key: karpenter.sh/discovery, Value: '${x}'}]", "'${merge(var.tags)}'", "[{'Fn::If': []}]"]
        {
            silent(&RULE, &(subnet.clone() + "---\n" + &tagged("Subnet", tags) + "---\n" + &dev));
        }
        let second = tagged("Subnet", &PROD.replace("prod", "dev"));
        silent(&RULE, &(subnet.clone() + "---\n" + &second + "---\n" + &dev));
        silent(
            &RULE,
            &(subnet
                + "---\n"
                + &tagged("VPC", &PROD.replace("prod", "dev"))
                + "---\n"
                + &class(SUBNETS, "prod")),
        );
    }

    #[test]
    fn one_term_that_may_find_a_resource_is_enough() {
        let text = |terms: &str| {
            let class = class(SUBNETS, "dev");
            tagged("Subnet", PROD) + "---\n" + &class.replace("}}]}", &format!("}}}}, {terms}]}}"))
        };
        let tag = |value: &str| format!("{{tags: {{karpenter.sh/discovery: {value}}}}}");
        for terms in ["{id: subnet-0123456789abcdef0}", "{tags: {Name: a}}", &tag("prod"), &tag("'${x}'")] {
            silent(&RULE, &text(terms));
        }
        assert_eq!(findings(&RULE, &text(&tag("edge"))).matches("warning").count(), 2);
    }

    #[test]
    fn resources_in_another_branch_of_the_folders_may_be_for_another_cluster() {
        let severity = |class_file: &str| {
            let (class, subnet) = (class(SUBNETS, "dev"), tagged("Subnet", PROD));
            let files = [(class_file, class.as_str()), ("a/network.yaml", subnet.as_str())];
            let found = findings_in_files(&RULE, &files, &Settings::default());
            found.split(' ').next().unwrap_or_default().to_owned()
        };
        assert_eq!(severity("a/class.yaml"), "warning");
        assert_eq!(severity("b/class.yaml"), "info");
    }
}
