use std::collections::{BTreeMap, BTreeSet};

use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use karpenter::cluster_name::{Placeholder, Scheme, in_role, in_tag, placeholder, names_network, related};
use karpenter::release::Releases;
use manifest::tree::Node;
use karpenter::kind::Kind;
use objects::object::Object;
use crate::rules::identity::gravity;
use lint::rule::{Fixes, On};

rule! {
    /// ## What it does
    ///
    /// Compares the clusters that an EC2NodeClass names: in the selector tags `karpenter.sh/discovery`,
    /// `karpenter.sh/discovery/<name>` and `kubernetes.io/cluster/<name>`, and in a role called
    /// `KarpenterNodeRole-<name>`. Where the cluster's name is known, from the setting `clusterName` or from the
    /// controller's Deployment in the same input, they are compared with it; else with one another. Placeholders that
    /// nothing has replaced are found as well.
    ///
    /// Other tags are never compared, and neither are values with wildcards. The value of `karpenter.sh/discovery` and
    /// the role's name follow a convention only: where they are the cluster's name with words before or after it, such as
    /// `prod` in `prod-eu-1`, they are taken for a scheme of their own.
    ///
    /// ## Why it is bad
    ///
    /// Subnets of one cluster with security groups of another lie in different networks, and every launch fails with
    /// `Security group X and subnet Y belong to different networks`. If both belong to the other cluster, nodes start in
    /// its network and never join. With a placeholder nothing is selected: `SubnetsNotFound`.
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
    /// It is often told that the controller of another cluster marks nodes as drifted. It cannot: drift is decided on the
    /// NodeClaims of a controller's own cluster. What it does, if it goes by the same cluster name, is to terminate
    /// instances that it has no NodeClaim for.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#1558, #3341, #3390, #7356, #7436
    /// - pkg/providers/subnet/subnet.go and pkg/providers/securitygroup/securitygroup.go at v1.14.1
    RULE {
        name: "selector-cluster-mismatch",
        family: Family::Identity,
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a node class selects the subnets, security groups or role of another cluster",
        on: &[On::Kind(Kind::NODE_CLASS)],
        // The controller's Deployment is read where the input holds it; a cluster is told its name by the settings.
        inventory: &[],
        check: check,
    }
}

/// A place in a node class that names a cluster.
#[derive(Clone, Copy, Debug)]
struct Mention<'d> {
    name: &'d str,
    scheme: Scheme,
    list: &'static str,
    /// The value, or where the key holds the name, what stands under it.
    node: Node<'d>,
}

const SUBNETS: &str = "subnets";
const GROUPS: &str = "security groups";
/// The lists of selectors, and what they select.
const LISTS: [(&str, &str); 4] = [
    ("subnetSelectorTerms", SUBNETS),
    ("securityGroupSelectorTerms", GROUPS),
    ("amiSelectorTerms", "images"),
    ("capacityReservationSelectorTerms", "capacity reservations"),
];
const ROLE: &str = "role";

impl<'d> Mention<'d> {
    /// All mentions in a node class, those of subnets first.
    fn all(class: Object<'d>) -> Vec<Self> {
        let mut mentions = Vec::new();
        for (field, list) in LISTS {
            for term in class.items_at(&["spec", field]) {
                for (key, node) in term.members_at(&["tags"]) {
                    if let Some((scheme, name)) = in_tag(key, node.as_str().unwrap_or_default()) {
                        mentions.push(Self { name, scheme, list, node });
                    }
                }
            }
        }
        if let Some(node) = class.at(&["spec", "role"])
            && let Some(name) = node.as_str().and_then(in_role)
        {
            mentions.push(Self { name, scheme: Scheme::NodeRole, list: ROLE, node });
        }
        mentions
    }

    fn place(&self) -> Place<'d> {
        match self.scheme {
            Scheme::Owner | Scheme::DiscoveryKey => Place::key(self.node),
            Scheme::Discovery | Scheme::NodeRole => Place::value(self.node),
        }
    }

    /// What tells its term from others: the order of the term's tags; of the role, its own.
    fn term(&self) -> usize {
        let tags = self.node.parent().filter(|_| self.list != ROLE);
        tags.map_or(self.node.order(), Node::order)
    }

    /// What it does with the name.
    fn verb(&self) -> String {
        if self.list == ROLE {
            format!("the role is that of cluster `{}`", self.name)
        } else {
            format!("the {} are selected by the name of cluster `{}`", self.list, self.name)
        }
    }

    /// How grave it is that the name is not the given one; `None` where it need not be.
    fn severity(&self, other: &str) -> Option<Severity> {
        let convention = matches!(self.scheme, Scheme::Discovery | Scheme::NodeRole);
        let subnets = self.list == SUBNETS;
        let shared_network = subnets && self.scheme == Scheme::Discovery && names_network(self.name);
        if self.name == other || (convention && related(self.name, other)) || shared_network {
            return None;
        }
        // Subnets are shared by clusters, and then carry the tags of several.
        let shared = subnets && self.scheme == Scheme::Owner && self.node.as_str() != Some("owned");
        let grave = matches!(self.list, SUBNETS | GROUPS) && !shared;
        Some(if grave { Severity::Error } else { Severity::Warning })
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    let (mut names, mut stand_ins) = (Vec::new(), Vec::new());
    for mention in Mention::all(object) {
        if stand_in(mention.name, context).is_none() {
            names.push(mention);
        } else {
            stand_ins.push(mention);
        }
    }
    drafts.extend(unreplaced(object, &stand_ins, context));
    if let Some(known) = context.settings.cluster_name.as_deref() {
        against(&names, known, "the setting `clusterName`", None, drafts);
    } else if let Some((known, node)) = context.inventory.cluster_name().filter(|(name, _)| placeholder(name).is_none()) {
        against(&names, known, "the controller", Some(node), drafts);
    } else {
        among(&names, drafts);
    }
}

/// What a name stands for that no cluster has. An example's name is believed: some clusters do have it.
fn stand_in(name: &str, context: &Context<'_, '_>) -> Option<Placeholder> {
    let said = context.settings.cluster_name.as_deref() == Some(name);
    placeholder(name).filter(|what| *what != Placeholder::Example && !said)
}

/// One finding for the placeholders of a node class, at the first of them.
fn unreplaced<'d>(object: Object<'d>, mentions: &[Mention<'d>], context: &Context<'_, 'd>) -> Option<Draft<'d>> {
    let (first, others) = mentions.split_first()?;
    let severity = gravity(placeholder(first.name)?, object.operation());
    let what = if first.list == ROLE { "no role has that name" } else { "nothing carries such a tag" };
    let until = if severity == Severity::Info { "as long as it is not filled in, " } else { "" };
    let message = format!("`{}` is a placeholder for the name of the cluster: {until}{what}", first.name);
    let help = match context.settings.cluster_name.as_deref() {
        Some(name) => format!("write `{name}`"),
        None => "write the name of the cluster, or render the template before it is applied".to_owned(),
    };
    let draft = Draft::new(&RULE, first.place(), message).severity(severity).help(help);
    Some(others.iter().fold(draft, |draft, other| draft.related(other.place(), "and here")))
}

/// Compares the names with the one that is known.
fn against<'d>(
    mentions: &[Mention<'d>],
    known: &str,
    source: &str,
    at: Option<Node<'d>>,
    drafts: &mut Vec<Draft<'d>>,
) {
    for mention in in_other_terms(mentions, known) {
        let Some(severity) = mention.severity(known) else { continue };
        let message = format!("{}, but {source} says that this cluster is `{known}`", mention.verb());
        let draft = Draft::new(&RULE, mention.place(), message).severity(severity);
        let draft = draft.advise(format_args!("write `{known}`, or correct the name there if this one is right"));
        drafts.push(match at {
            Some(node) => draft.related(Place::value(node), "the controller's cluster"),
            None => draft,
        });
    }
}

/// Compares the names with one another: the one that most places agree on is taken for right, else the first.
fn among<'d>(mentions: &[Mention<'d>], drafts: &mut Vec<Draft<'d>>) {
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
        // Terms of a list are alternatives, which may select the subnets of two networks on purpose; and what one tag
        // says need not be what another says.
        if own_lists.contains(mention.list) || right.scheme != mention.scheme {
            severity = Severity::Warning;
        }
        if right.severity(mention.name).is_none() {
            continue;
        }
        let message = format!("{}, but {}", mention.verb(), right.verb());
        let draft = Draft::new(&RULE, mention.place(), message).severity(severity);
        let draft = draft.help("write the same cluster's name in both places");
        drafts.push(draft.related(right.place(), format!("this names `{}`", right.name)));
    }
}

/// The mentions in terms that do not name a cluster: all tags of a term have to be there, so that another cluster's tag in
/// it takes nothing away. The mentions of a term stand together.
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
    use lint::settings::Settings;

    /// A node class with the given selectors.
    fn class(spec: &str) -> String {
        format!(
            "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {{name: a}}\nspec:\n{spec}\n"
        )
    }

    /// A node class with the value of `karpenter.sh/discovery` for subnets and for security groups.
    fn discovery(subnets: &str, groups: &str) -> String {
        class(&format!(
            "  subnetSelectorTerms: [{{tags: {{karpenter.sh/discovery: '{subnets}'}}}}]\n  securityGroupSelectorTerms: [{{tags: {{karpenter.sh/discovery: '{groups}'}}}}]"
        ))
    }

    fn known(name: &str) -> Settings {
        Settings { cluster_name: Some(name.to_owned()), ..Settings::default() }
    }

    const CONTROLLER: &str = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: karpenter}\nspec:\n  template:\n    spec:\n      containers:\n      - image: karpenter/controller\n        env: [{name: CLUSTER_NAME, value: prod}]\n";

    #[test]
    fn subnets_and_security_groups_of_two_clusters_are_found() {
        insta::assert_snapshot!(findings(&super::RULE, &discovery("prod", "staging")), @"
          6 |   securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: 'staging'}}]
            |                                                                ^^^^^^^^^
        error EC2NodeClass/a spec.securityGroupSelectorTerms[0].tags.karpenter.sh/discovery [1.0-1.14]
          the security groups are selected by the name of cluster `staging`, but the subnets are selected by the name of cluster `prod`
          help: write the same cluster's name in both places
          see line 5 spec.subnetSelectorTerms[0].tags.karpenter.sh/discovery: this names `prod`
        ");
    }

    #[test]
    fn what_most_places_agree_on_is_taken_for_right() {
        let text = class(
            "  role: KarpenterNodeRole-staging\n  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]\n  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: staging}}]",
        );
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          6 |   subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
            |                                                         ^^^^
        error EC2NodeClass/a spec.subnetSelectorTerms[0].tags.karpenter.sh/discovery [1.0-1.14]
          the subnets are selected by the name of cluster `prod`, but the security groups are selected by the name of cluster `staging`
          help: write the same cluster's name in both places
          see line 7 spec.securityGroupSelectorTerms[0].tags.karpenter.sh/discovery: this names `staging`
        ");
    }

    #[test]
    fn the_role_of_another_cluster_is_found() {
        let text = format!("{}  role: KarpenterNodeRole-staging\n", discovery("prod", "prod"));
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          7 |   role: KarpenterNodeRole-staging
            |         ^^^^^^^^^^^^^^^^^^^^^^^^^
        warning EC2NodeClass/a spec.role [1.0-1.14]
          the role is that of cluster `staging`, but the subnets are selected by the name of cluster `prod`
          help: write the same cluster's name in both places
          see line 5 spec.subnetSelectorTerms[0].tags.karpenter.sh/discovery: this names `prod`
        ");
    }

    #[test]
    fn the_name_in_a_key_is_marked() {
        let text = class(
            "  subnetSelectorTerms: [{tags: {karpenter.sh/discovery/prod: '*'}}]\n  securityGroupSelectorTerms: [{tags: {kubernetes.io/cluster/staging: owned}}]",
        );
        insta::assert_snapshot!(findings_with(&super::RULE, &text, &known("prod")), @"
          6 |   securityGroupSelectorTerms: [{tags: {kubernetes.io/cluster/staging: owned}}]
            |                                        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        error EC2NodeClass/a spec.securityGroupSelectorTerms[0].tags.kubernetes.io/cluster/staging [1.0-1.14]
          the security groups are selected by the name of cluster `staging`, but the setting `clusterName` says that this cluster is `prod`
          help: write `prod`, or correct the name there if this one is right
        ");
        assert!(findings(&super::RULE, &text).starts_with("  6 |"));
    }

    #[test]
    fn the_name_of_the_controller_is_compared_with() {
        let text = format!("{}{CONTROLLER}", discovery("staging", "staging"));
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          5 |   subnetSelectorTerms: [{tags: {karpenter.sh/discovery: 'staging'}}]
            |                                                         ^^^^^^^^^
        error EC2NodeClass/a spec.subnetSelectorTerms[0].tags.karpenter.sh/discovery [1.0-1.14]
          the subnets are selected by the name of cluster `staging`, but the controller says that this cluster is `prod`
          help: write `prod`, or correct the name there if this one is right
          see line 16 spec.template.spec.containers[0].env[0].value: the controller's cluster
          6 |   securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: 'staging'}}]
            |                                                                ^^^^^^^^^
        error EC2NodeClass/a spec.securityGroupSelectorTerms[0].tags.karpenter.sh/discovery [1.0-1.14]
          the security groups are selected by the name of cluster `staging`, but the controller says that this cluster is `prod`
          help: write `prod`, or correct the name there if this one is right
          see line 16 spec.template.spec.containers[0].env[0].value: the controller's cluster
        ");
        silent(&super::RULE, &format!("{}{CONTROLLER}", discovery("prod", "prod")));
    }

    #[test]
    fn placeholders_are_found_once_a_class() {
        let text = format!("{}  role: KarpenterNodeRole-${{CLUSTER_NAME}}\n", discovery("${CLUSTER_NAME}", "${CLUSTER_NAME}"));
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          5 |   subnetSelectorTerms: [{tags: {karpenter.sh/discovery: '${CLUSTER_NAME}'}}]
            |                                                         ^^^^^^^^^^^^^^^^^
        info EC2NodeClass/a spec.subnetSelectorTerms[0].tags.karpenter.sh/discovery [1.0-1.14]
          `${CLUSTER_NAME}` is a placeholder for the name of the cluster: as long as it is not filled in, nothing carries such a tag
          help: write the name of the cluster, or render the template before it is applied
          see line 6 spec.securityGroupSelectorTerms[0].tags.karpenter.sh/discovery: and here
          see line 7 spec.role: and here
        ");
        let review = format!(
            "apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nrequest:\n  operation: UPDATE\n  object:\n    {}",
            text.replace('\n', "\n    ").trim_end(),
        );
        assert!(findings(&super::RULE, &review).contains("error EC2NodeClass/a"));
    }

    #[test]
    fn one_cluster_everywhere_is_right_whatever_the_spelling_of_the_tag() {
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
    fn schemes_of_ones_own_are_never_compared() {
        for text in [
            class("  subnetSelectorTerms: [{tags: {Name: '*prod*'}}]\n  securityGroupSelectorTerms: [{tags: {team: staging}}]"),
            class("  subnetSelectorTerms: [{id: subnet-1}]\n  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: staging}}]"),
            // A tag that marks resources without naming a cluster.
            discovery("true", "prod"),
            // Wildcards may select more than one cluster's.
            discovery("*", "prod"),
            discovery("prod-*", "prod"),
            // The network of a cluster, or one that several share.
            discovery("prod-private", "prod"),
            discovery("prod", "prod-eu-1"),
            discovery("shared-vpc", "prod"),
            // Another scheme for the names of roles.
            format!("{}  role: eks-staging-karpenter-node\n", discovery("prod", "prod")),
            // Subnets that carry the tags of two clusters.
            class("  subnetSelectorTerms: [{tags: {kubernetes.io/cluster/prod: shared, kubernetes.io/cluster/staging: shared}}]\n  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]"),
        ] {
            silent(&super::RULE, &text);
        }
    }

    #[test]
    fn alternatives_within_a_list_are_a_warning() {
        let text = class(
            "  subnetSelectorTerms:\n  - tags: {karpenter.sh/discovery: prod}\n  - tags: {karpenter.sh/discovery: legacy}\n  securityGroupSelectorTerms:\n  - tags: {karpenter.sh/discovery: prod}",
        );
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          7 |   - tags: {karpenter.sh/discovery: legacy}
            |                                    ^^^^^^
        warning EC2NodeClass/a spec.subnetSelectorTerms[1].tags.karpenter.sh/discovery [1.0-1.14]
          the subnets are selected by the name of cluster `legacy`, but the subnets are selected by the name of cluster `prod`
          help: write the same cluster's name in both places
          see line 6 spec.subnetSelectorTerms[0].tags.karpenter.sh/discovery: this names `prod`
        ");
    }
}
