use std::collections::{BTreeMap, BTreeSet};

use karpenter::cluster_name::{
    ClusterNamePlaceholder, ClusterNameSource, in_role, in_tag, is_other_variable, names_network,
    placeholder, related,
};
use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::{Node, NodeId};
use objects::node_class::{Ec2NodeClass, SelectorField};
use objects::object::{Object, Operation};
use objects::placeholders::is_interpolated;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::is_bare_reference;

use crate::rules::folders::is_elsewhere;
use crate::rules::identity::gravity;
use crate::rules::indexes::cluster_name;
use crate::rules::nodeclass::selector_tag_mismatch::is_reported;

rule! {
    /// ## What it does
    ///
    /// Compares the clusters that an EC2NodeClass names: in the selector tags `karpenter.sh/discovery`,
    /// `karpenter.sh/discovery/<name>` and `kubernetes.io/cluster/<name>`, and in a role called
    /// `KarpenterNodeRole-<name>`. If the cluster's name is known, from the setting `clusterName` or from the
    /// controller's Deployment in the same input, these names are compared with it. Otherwise they are compared with
    /// each other. Placeholders that no tool has replaced are reported as well.
    ///
    /// Other tags and values with wildcards are never compared, and no tag that `selector-tag-mismatch` reports. The value of `karpenter.sh/discovery` and the role's
    /// name only follow a convention. If such a name is the cluster's name with words before or after it, such as
    /// `prod-eu-1` for `prod`, it is treated as a custom naming scheme and not reported.
    ///
    /// The severity follows the certainty, whatever the name selects. EKS and its controllers define the tag
    /// `kubernetes.io/cluster/<name>`, so subnets and security groups that another cluster owns are an error. A name that
    /// follows a convention is a warning, for subnets and security groups as for the role: the tag may mean something
    /// else, and this cluster may accept a role that is named after another cluster. If the controller's configuration is
    /// in another branch of the folders than the EC2NodeClass, the two may be for different clusters, and the severity is
    /// one level lower. A name that occurs several times is one finding.
    ///
    /// ## Why it is bad
    ///
    /// Subnets of one cluster and security groups of another cluster belong to different networks, and every launch
    /// fails with `Security group X and subnet Y belong to different networks`. If both belong to the other cluster,
    /// nodes start in the other cluster's network and never join this cluster. A placeholder selects nothing:
    /// `SubnetsNotFound`.
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
    ///   subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
    ///   securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: staging}}]
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
    /// The controller of another cluster is often blamed for marking nodes as drifted. It cannot do so, because a
    /// controller evaluates drift only for the NodeClaims of its own cluster. But if the other controller uses the same
    /// cluster name, it terminates instances for which it has no NodeClaim.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#1558, #3341, #3390, #7356, #7436
    /// - pkg/providers/subnet/subnet.go and pkg/providers/securitygroup/securitygroup.go at v1.14.1
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "an EC2NodeClass selects the subnets, security groups or role of another cluster",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::NODE_CLASS)],
        // The controller's Deployment is read if the input contains it. At admission the name comes from the settings.
        inventory: &[],
        check: check,
    }
}

/// A field of an EC2NodeClass that names a cluster.
#[derive(Clone, Copy, Debug)]
struct Mention<'d> {
    name: &'d str,
    scheme: ClusterNameSource,
    list: &'static str,
    /// The value that contains the name, or the value of the key that contains the name.
    node: Node<'d>,
}

const SUBNETS: &str = "subnets";
const GROUPS: &str = "security groups";
/// The selector lists, and the resources that they select.
const LISTS: [(SelectorField, &str); 4] = [
    (SelectorField::Subnets, SUBNETS),
    (SelectorField::SecurityGroups, GROUPS),
    (SelectorField::Amis, "images"),
    (SelectorField::CapacityReservations, "capacity reservations"),
];
const ROLE: &str = "role";

impl<'d> Mention<'d> {
    /// All mentions in an EC2NodeClass, in the order of `LISTS`, and then the role.
    fn all(class: Ec2NodeClass<'d>) -> Vec<Self> {
        let mut mentions = Vec::new();
        for (field, list) in LISTS {
            for term in class.terms(field).items() {
                for (key, node) in term.tags() {
                    if let Some((scheme, name)) = in_tag(key, node.as_str().unwrap_or_default()) {
                        mentions.push(Self { name, scheme, list, node });
                    }
                }
            }
        }
        if let Some(node) = class.role()
            && let Some(name) = node.as_str().and_then(in_role)
        {
            mentions.push(Self { name, scheme: ClusterNameSource::NodeRole, list: ROLE, node });
        }
        mentions
    }

    fn place(&self) -> Place<'d> {
        match self.scheme {
            ClusterNameSource::Owner | ClusterNameSource::DiscoveryKey => Place::key(self.node),
            ClusterNameSource::Discovery | ClusterNameSource::NodeRole => Place::value(self.node),
        }
    }

    /// Identifies the selector term by its tags, and the role by itself.
    fn term(&self) -> NodeId {
        let tags = self.node.parent().filter(|_| self.list != ROLE);
        tags.map_or(self.node.id(), Node::id)
    }

    /// Clause of a message that says how the name is used.
    fn clause(&self) -> String {
        if self.list == ROLE {
            format!("the role is named after cluster `{}`", self.name)
        } else {
            format!("the selector for {} names cluster `{}`", self.list, self.name)
        }
    }

    /// Severity if the name differs from `other`, or `None` if the difference is acceptable.
    fn severity(&self, other: &str) -> Option<Severity> {
        let convention = matches!(self.scheme, ClusterNameSource::Discovery | ClusterNameSource::NodeRole);
        let subnets = self.list == SUBNETS;
        let shared_network =
            subnets && self.scheme == ClusterNameSource::Discovery && names_network(self.name);
        if self.name == other || (convention && related(self.name, other)) || shared_network {
            return None;
        }
        // EKS and its controllers define the tag of the owner. Every other name follows a convention, whatever it names.
        // Clusters can share subnets, which then carry the tags of several clusters.
        let owned =
            self.scheme == ClusterNameSource::Owner && (!subnets || self.node.as_str() == Some("owned"));
        let severe = owned && matches!(self.list, SUBNETS | GROUPS);
        Some(if severe { Severity::Error } else { Severity::Warning })
    }

    /// The condition under which a warning matters, as the end of its message.
    fn condition(&self, severity: Severity) -> &'static str {
        match (severity, self.list) {
            (Severity::Warning, SUBNETS | GROUPS) => {
                "; if the resources with this tag belong to another cluster, launches fail or nodes do not join"
            }
            (Severity::Warning, ROLE) => "; if this cluster does not accept that role, nodes do not join",
            _ => "",
        }
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(class) = Ec2NodeClass::of(object) else { return };
    let (mut names, mut placeholders) = (Vec::new(), Vec::new());
    for mention in Mention::all(class) {
        if unreplaced(mention.name, context).is_none() {
            names.extend(Some(mention).filter(|mention| !is_reported(mention.node, context)));
        } else if !is_bare_reference(mention.name)
            && !may_be_other(&mention, object)
            && !is_interpolated(mention.node)
        {
            placeholders.push(mention);
        }
    }
    findings.extend(check_placeholders(object, &placeholders, context));
    if let Some(known) = context.settings.cluster_name.as_deref() {
        compare_with_cluster(&names, known, "the setting `clusterName`", None, findings);
    } else if let Some((known, node)) =
        cluster_name(context.inventory).filter(|(name, _)| placeholder(name).is_none())
    {
        compare_with_cluster(&names, known, "the controller's configuration", Some(node), findings);
    } else {
        compare_with_each_other(&names, findings);
    }
}

/// Whether a placeholder in a file may be for something else than the name of the cluster, as the value of a tag or the name of a
/// role may have it. `terraform-reference-as-text` reports a reference without marks.
fn may_be_other(mention: &Mention<'_>, object: Object<'_>) -> bool {
    let is_convention = matches!(mention.scheme, ClusterNameSource::Discovery | ClusterNameSource::NodeRole);
    is_convention && object.operation() == Operation::Apply && is_other_variable(mention.name)
}

/// The kind of placeholder that a name is, if it is one. Example names are accepted, because some clusters have them.
fn unreplaced(name: &str, context: &Context<'_, '_>) -> Option<ClusterNamePlaceholder> {
    let confirmed = context.settings.cluster_name.as_deref() == Some(name);
    placeholder(name).filter(|what| *what != ClusterNamePlaceholder::Example && !confirmed)
}

/// Reports the placeholders of an EC2NodeClass in one finding, at the first placeholder.
fn check_placeholders<'d>(
    object: Object<'d>,
    mentions: &[Mention<'d>],
    context: &Context<'_, 'd>,
) -> Option<Finding<'d>> {
    let (first, others) = mentions.split_first()?;
    let severity = gravity(placeholder(first.name)?, object.operation());
    let what = if first.list == ROLE { "no role has this name" } else { "no resource carries this tag" };
    let is_text = object.operation() == Operation::Apply;
    let until = if is_text { "until it is replaced, " } else { "" };
    let message = format!("`{}` is a placeholder for the cluster's name; {until}{what}", first.name);
    let help = match context.settings.cluster_name.as_deref() {
        Some(name) => format!("write `{name}`"),
        None => "write the cluster's name, or render the template before you apply it".to_owned(),
    };
    let finding = Finding::new(&RULE, first.place(), message).severity(severity).help(help);
    Some(others.iter().fold(finding, |finding, other| finding.related(other.place(), "also here")))
}

/// Compares the names with the known name of this cluster. Each other name gives one finding for each severity, at its first
/// mention.
fn compare_with_cluster<'d>(
    mentions: &[Mention<'d>],
    known: &str,
    source: &str,
    at: Option<Node<'d>>,
    findings: &mut Vec<Finding<'d>>,
) {
    let mut by_name = BTreeMap::<(&str, Severity), usize>::new();
    for mention in in_other_terms(mentions, known) {
        let Some(severity) = mention.severity(known) else { continue };
        let severity =
            if at.is_some_and(|node| is_elsewhere(mention.node, node)) { lower(severity) } else { severity };
        if let Some(finding) =
            by_name.get(&(mention.name, severity)).and_then(|index| findings.get_mut(*index))
        {
            finding.related.push((mention.place(), format!("this names cluster `{}` too", mention.name)));
            continue;
        }
        by_name.insert((mention.name, severity), findings.len());
        let message = format!(
            "{}, but {source} says that this cluster is `{known}`{}",
            mention.clause(),
            mention.condition(severity)
        );
        let finding = Finding::new(&RULE, mention.place(), message).severity(severity);
        let name = mention.name;
        let finding = finding.help(format!("write `{known}`, or correct {source} if `{name}` is right"));
        findings.push(match at {
            Some(node) => finding.related(Place::value(node), "the controller's cluster name"),
            None => finding,
        });
    }
}

/// The next lower severity.
const fn lower(severity: Severity) -> Severity {
    match severity {
        Severity::Error => Severity::Warning,
        Severity::Warning | Severity::Info => Severity::Info,
    }
}

/// Compares the names with each other. The most frequent name counts as right, and the first of equally frequent names.
fn compare_with_each_other<'d>(mentions: &[Mention<'d>], findings: &mut Vec<Finding<'d>>) {
    let mut counts = BTreeMap::<&str, usize>::new();
    for mention in mentions {
        *counts.entry(mention.name).or_default() += 1;
    }
    let mut most = 0;
    let mut right = None;
    for mention in mentions {
        let count = counts.get(mention.name).copied().unwrap_or_default();
        if count > most {
            (most, right) = (count, Some(mention));
        }
    }
    let Some(right) = right else { return };
    let mut own_lists = BTreeSet::new();
    for mention in mentions {
        if mention.name == right.name {
            own_lists.insert(mention.list);
        }
    }
    for mention in in_other_terms(mentions, right.name) {
        let Some(mut severity) = mention.severity(right.name) else { continue };
        // The terms of a list are alternatives, and may select the subnets of two networks on purpose. The values of
        // different tags need not be equal either.
        if own_lists.contains(mention.list) || right.scheme != mention.scheme {
            severity = Severity::Warning;
        }
        if right.severity(mention.name).is_none() {
            continue;
        }
        let message = format!("{}, but {}{}", mention.clause(), right.clause(), mention.condition(severity));
        let finding = Finding::new(&RULE, mention.place(), message).severity(severity);
        let finding = finding.help("write the same cluster name in both fields");
        findings.push(finding.related(right.place(), format!("this names cluster `{}`", right.name)));
    }
}

/// The mentions in terms that do not contain the name. A resource has to carry all tags of a term, so another cluster's
/// tag next to the right tag does no harm. The mentions of a term are adjacent.
fn in_other_terms<'m, 'd>(mentions: &'m [Mention<'d>], name: &str) -> Vec<&'m Mention<'d>> {
    let mut others = Vec::new();
    for term in mentions.chunk_by(|one, other| one.term() == other.term()) {
        if term.iter().all(|mention| mention.name != name) {
            others.extend(term);
        }
    }
    others
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_with, silent};
    use cluster::Cluster;
    use manifest::File;
    use objects::embedded::READ_OPTIONS;
    use rule::finding::Severity;
    use rule::settings::{RuleSelector, Settings};

    /// An EC2NodeClass with the given spec.
    fn class(spec: &str) -> String {
        format!(
            r"apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: a}}
spec:
{spec}
"
        )
    }

    /// An EC2NodeClass with the given values of `karpenter.sh/discovery` for subnets and for security groups.
    fn discovery(subnets: &str, groups: &str) -> String {
        class(&format!(
            "  subnetSelectorTerms: [{{tags: {{karpenter.sh/discovery: '{subnets}'}}}}]\n  securityGroupSelectorTerms: [{{tags: {{karpenter.sh/discovery: '{groups}'}}}}]"
        ))
    }

    fn known(name: &str) -> Settings {
        Settings { cluster_name: Some(name.to_owned()), ..Settings::default() }
    }

    const CONTROLLER: &str = r"---
apiVersion: apps/v1
kind: Deployment
metadata: {name: karpenter}
spec:
  template:
    spec:
      containers:
      - image: karpenter/controller
        env: [{name: CLUSTER_NAME, value: prod}]
";

    #[test]
    fn reports_subnets_and_security_groups_of_two_clusters() {
        insta::assert_snapshot!(findings(&super::RULE, &discovery("prod", "staging")), @"
          6 |   securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: 'staging'}}]
            |                                                                ^^^^^^^^^
        warning EC2NodeClass/a spec.securityGroupSelectorTerms[0].tags.karpenter.sh/discovery [all]
          the selector for security groups names cluster `staging`, but the selector for subnets names cluster `prod`; if the resources with this tag belong to another cluster, launches fail or nodes do not join
          help: write the same cluster name in both fields
          see line 5 spec.subnetSelectorTerms[0].tags.karpenter.sh/discovery: this names cluster `prod`
        ");
    }

    #[test]
    fn configuration_in_another_branch_of_the_folders_may_be_for_another_cluster() {
        let severities = |class_file: &str, controller_file: &str| {
            let class = discovery("staging", "staging");
            let files = [(class_file, class.as_str()), (controller_file, CONTROLLER)];
            let read = |(name, text): (&str, &str)| File::read(name, text, READ_OPTIONS);
            let files = files.into_iter().map(read).collect();
            let settings =
                Settings { select: vec![RuleSelector::One(super::RULE.names())], ..Settings::default() };
            let report = crate::check(&[Cluster { name: String::new(), files }], &settings);
            report.findings.iter().map(|finding| finding.severity).collect::<Vec<_>>()
        };
        assert_eq!(severities("a/class.yaml", "a/controller.yaml"), [Severity::Warning]);
        assert_eq!(severities("a/b/class.yaml", "a/controller.yaml"), [Severity::Warning]);
        assert_eq!(severities("class.yaml", "a/controller.yaml"), [Severity::Warning]);
        assert_eq!(severities("old/class.yaml", "a/controller.yaml"), [Severity::Info]);
        assert_eq!(severities("ab/class.yaml", "a/controller.yaml"), [Severity::Info]);
    }

    #[test]
    fn severity_is_the_same_for_the_same_certainty() {
        let severities = |spec: &str| {
            let output = findings_with(&super::RULE, &class(spec), &known("prod"));
            let lines = output.lines().filter(|line| line.contains(" EC2NodeClass/a "));
            lines.filter_map(|line| line.split(' ').next()).collect::<Vec<_>>().join(" ")
        };
        let by_convention = "  role: KarpenterNodeRole-staging\n  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: staging}}]\n  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery/staging: '*'}}]";
        assert_eq!(severities(by_convention), "warning");
        let by_owner = "  subnetSelectorTerms: [{tags: {kubernetes.io/cluster/staging: owned}}]\n  securityGroupSelectorTerms: [{tags: {kubernetes.io/cluster/staging: owned}}]";
        assert_eq!(severities(by_owner), "error");
        let shared = "  subnetSelectorTerms: [{tags: {kubernetes.io/cluster/staging: shared}}]";
        assert_eq!(severities(shared), "warning");
    }

    #[test]
    fn takes_the_most_frequent_name_as_right() {
        let text = class(
            "  role: KarpenterNodeRole-staging\n  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]\n  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: staging}}]",
        );
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          6 |   subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
            |                                                         ^^^^
        warning EC2NodeClass/a spec.subnetSelectorTerms[0].tags.karpenter.sh/discovery [all]
          the selector for subnets names cluster `prod`, but the selector for security groups names cluster `staging`; if the resources with this tag belong to another cluster, launches fail or nodes do not join
          help: write the same cluster name in both fields
          see line 7 spec.securityGroupSelectorTerms[0].tags.karpenter.sh/discovery: this names cluster `staging`
        ");
    }

    #[test]
    fn reports_role_of_another_cluster() {
        let text = format!("{}  role: KarpenterNodeRole-staging\n", discovery("prod", "prod"));
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          7 |   role: KarpenterNodeRole-staging
            |         ^^^^^^^^^^^^^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.role [all]
          the role is named after cluster `staging`, but the selector for subnets names cluster `prod`; if this cluster does not accept that role, nodes do not join
          help: write the same cluster name in both fields
          see line 5 spec.subnetSelectorTerms[0].tags.karpenter.sh/discovery: this names cluster `prod`
        ");
    }

    #[test]
    fn reports_name_in_a_key() {
        let text = class(
            "  subnetSelectorTerms: [{tags: {karpenter.sh/discovery/prod: '*'}}]\n  securityGroupSelectorTerms: [{tags: {kubernetes.io/cluster/staging: owned}}]",
        );
        insta::assert_snapshot!(findings_with(&super::RULE, &text, &known("prod")), @"
          6 |   securityGroupSelectorTerms: [{tags: {kubernetes.io/cluster/staging: owned}}]
            |                                        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.securityGroupSelectorTerms[0].tags.kubernetes.io/cluster/staging [all]
          the selector for security groups names cluster `staging`, but the setting `clusterName` says that this cluster is `prod`
          help: write `prod`, or correct the setting `clusterName` if `staging` is right
        ");
        assert!(findings(&super::RULE, &text).starts_with("  6 |"));
    }

    #[test]
    fn compares_names_with_the_controller() {
        let text = format!("{}{CONTROLLER}", discovery("staging", "staging"));
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          5 |   subnetSelectorTerms: [{tags: {karpenter.sh/discovery: 'staging'}}]
            |                                                         ^^^^^^^^^
        warning EC2NodeClass/a spec.subnetSelectorTerms[0].tags.karpenter.sh/discovery [all]
          the selector for subnets names cluster `staging`, but the controller's configuration says that this cluster is `prod`; if the resources with this tag belong to another cluster, launches fail or nodes do not join
          help: write `prod`, or correct the controller's configuration if `staging` is right
          see line 16 spec.template.spec.containers[0].env[0].value: the controller's cluster name
          see line 6 spec.securityGroupSelectorTerms[0].tags.karpenter.sh/discovery: this names cluster `staging` too
        ");
        silent(&super::RULE, &format!("{}{CONTROLLER}", discovery("prod", "prod")));
    }

    #[test]
    fn reports_all_placeholders_in_one_finding() {
        let text = format!(
            "{}  role: KarpenterNodeRole-${{CLUSTER_NAME}}\n",
            discovery("${CLUSTER_NAME}", "${CLUSTER_NAME}")
        );
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          5 |   subnetSelectorTerms: [{tags: {karpenter.sh/discovery: '${CLUSTER_NAME}'}}]
            |                                                         ^^^^^^^^^^^^^^^^^
        info EC2NodeClass/a spec.subnetSelectorTerms[0].tags.karpenter.sh/discovery [all]
          `${CLUSTER_NAME}` is a placeholder for the cluster's name; until it is replaced, no resource carries this tag
          help: write the cluster's name, or render the template before you apply it
          see line 6 spec.securityGroupSelectorTerms[0].tags.karpenter.sh/discovery: also here
          see line 7 spec.role: also here
        ");
        let review = format!(
            r"apiVersion: admission.k8s.io/v1
kind: AdmissionReview
request:
  operation: UPDATE
  object:
    {}",
            text.replace('\n', "\n    ").trim_end(),
        );
        assert!(findings(&super::RULE, &review).contains("error EC2NodeClass/a"));
    }

    #[test]
    fn accepts_one_cluster_in_different_tags() {
        silent(&super::RULE, &discovery("prod", "prod"));
        silent(&super::RULE, &discovery("my-cluster", "my-cluster"));
        silent(
            &super::RULE,
            &class(
                "  role: KarpenterNodeRole-prod\n  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod, kubernetes.io/cluster/prod: shared}}]\n  securityGroupSelectorTerms: [{tags: {kubernetes.io/cluster/prod: owned}}]",
            ),
        );
        assert_eq!(findings_with(&super::RULE, &discovery("prod", "prod"), &known("prod")), "");
    }

    #[test]
    fn ignores_custom_naming_schemes() {
        for text in [
            class(
                "  subnetSelectorTerms: [{tags: {Name: '*prod*'}}]\n  securityGroupSelectorTerms: [{tags: {team: staging}}]",
            ),
            class(
                "  subnetSelectorTerms: [{id: subnet-1}]\n  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: staging}}]",
            ),
            // A tag that marks resources without naming a cluster.
            discovery("true", "prod"),
            // Wildcards may select the resources of several clusters.
            discovery("*", "prod"),
            discovery("prod-*", "prod"),
            // The network of a cluster, or a network that several clusters share.
            discovery("prod-private", "prod"),
            discovery("prod", "prod-eu-1"),
            discovery("shared-vpc", "prod"),
            // A different naming scheme for roles.
            format!("{}  role: eks-staging-karpenter-node\n", discovery("prod", "prod")),
            // Subnets that carry the tags of two clusters.
            class(
                "  subnetSelectorTerms: [{tags: {kubernetes.io/cluster/prod: shared, kubernetes.io/cluster/staging: shared}}]\n  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]",
            ),
        ] {
            silent(&super::RULE, &text);
        }
    }

    #[test]
    fn two_clusters_within_a_list_are_a_warning() {
        let text = class(
            r"  subnetSelectorTerms:
  - tags: {karpenter.sh/discovery: prod}
  - tags: {karpenter.sh/discovery: legacy}
  securityGroupSelectorTerms:
  - tags: {karpenter.sh/discovery: prod}",
        );
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          7 |   - tags: {karpenter.sh/discovery: legacy}
            |                                    ^^^^^^
        warning EC2NodeClass/a spec.subnetSelectorTerms[1].tags.karpenter.sh/discovery [all]
          the selector for subnets names cluster `legacy`, but the selector for subnets names cluster `prod`; if the resources with this tag belong to another cluster, launches fail or nodes do not join
          help: write the same cluster name in both fields
          see line 6 spec.subnetSelectorTerms[0].tags.karpenter.sh/discovery: this names cluster `prod`
        ");
    }

    #[test]
    fn alternatives_and_tags_of_different_kinds_are_a_warning() {
        let severities = |subnets: &str, groups: &str| {
            let text = class(&format!(
                "  subnetSelectorTerms: [{subnets}]\n  securityGroupSelectorTerms: [{groups}]"
            ));
            let report = findings(&super::RULE, &text);
            let lines = report.lines().filter(|line| line.contains(" EC2NodeClass/a "));
            lines.filter_map(|line| line.split(' ').next()).collect::<Vec<_>>().join(" ")
        };
        let owner = |name: &str| format!("{{tags: {{kubernetes.io/cluster/{name}: owned}}}}");
        let discovery = "{tags: {karpenter.sh/discovery: prod}}";
        assert_eq!(severities(&owner("prod"), &owner("staging")), "error");
        assert_eq!(
            severities(&format!("{}, {}", owner("prod"), owner("staging")), &owner("prod")),
            "warning"
        );
        assert_eq!(severities(discovery, &owner("staging")), "warning");
    }

    #[test]
    fn variable_for_another_thing_is_not_taken_for_the_name_of_the_cluster() {
        let class_with = |tag: &str| {
            format!(
                "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {{name: a}}\nspec: {{subnetSelectorTerms: [{{tags: {{karpenter.sh/discovery: '{tag}'}}}}]}}\n"
            )
        };
        silent(&super::RULE, &class_with("${environment}"));
        silent(&super::RULE, &class_with("{{ .Values.stage }}-eks"));
        assert!(
            findings(&super::RULE, &class_with("${CLUSTER_NAME}"))
                .contains("is a placeholder for the cluster's name")
        );
    }
}
