use std::collections::BTreeMap;

use cluster::index::Index;
use cluster::inventory::Inventory;
use karpenter::cluster_name::placeholder;
use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::identity::{Identity, IdentityText};
use objects::object::Object;
use objects::terraform_module::KarpenterModule;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

use crate::rules::folders::folder;
use crate::rules::indexes::{ClusterIdentity, KarpenterModules};

rule! {
    /// ## What it does
    ///
    /// When the manifests of several clusters are checked together, finds controllers of two clusters that use the same
    /// cluster name, that use the endpoint of one cluster under two names, or that assume the same IAM role.
    ///
    /// In a Terraform configuration, it finds two calls of a module for Karpenter, such as of the submodule `karpenter` of
    /// terraform-aws-modules/eks, that create the same queue for the same cluster name. A call that only adds a role for nodes is fine.
    ///
    /// Clusters in different accounts or regions may share a name. If it is not known whether the accounts and regions
    /// differ, the finding is a warning.
    ///
    /// ## Why it is bad
    ///
    /// Every controller lists the instances that carry its cluster's name and terminates each instance for which it has
    /// no NodeClaim. Two controllers with the same name terminate each other's nodes between 30 seconds and two and a
    /// half minutes after the nodes start. They also delete each other's launch templates and, from 1.7 on, instance
    /// profiles. The controller that loses a node sees only that the instance is gone. The other controller logs
    /// `garbage collected cloudprovider instance` at debug level.
    ///
    /// This is often reported as drift caused by the other controller. Drift is not the cause: a controller evaluates
    /// drift only for the NodeClaims of its own cluster.
    ///
    /// ## Example
    ///
    /// Each document belongs to a different cluster, as with `--cluster one --cluster two`.
    ///
    /// ```yaml,clusters
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata: {name: karpenter, namespace: kube-system}
    /// spec:
    ///   template:
    ///     spec:
    ///       containers:
    ///       - image: public.ecr.aws/karpenter/controller:1.14.1
    ///         env: [{name: CLUSTER_NAME, value: prod}]
    /// ---
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata: {name: karpenter, namespace: kube-system}
    /// spec:
    ///   template:
    ///     spec:
    ///       containers:
    ///       - image: public.ecr.aws/karpenter/controller:1.14.1
    ///         env: [{name: CLUSTER_NAME, value: prod}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml,clusters
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata: {name: karpenter, namespace: kube-system}
    /// spec:
    ///   template:
    ///     spec:
    ///       containers:
    ///       - image: public.ecr.aws/karpenter/controller:1.14.1
    ///         env: [{name: CLUSTER_NAME, value: prod-eu-1}]
    /// ---
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata: {name: karpenter, namespace: kube-system}
    /// spec:
    ///   template:
    ///     spec:
    ///       containers:
    ///       - image: public.ecr.aws/karpenter/controller:1.14.1
    ///         env: [{name: CLUSTER_NAME, value: prod-eu-2}]
    /// ```
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#7356
    /// - pkg/providers/instance/instance.go (List), pkg/controllers/nodeclaim/garbagecollection/controller.go and
    ///   pkg/providers/launchtemplate/launchtemplate.go at v1.0.0 and v1.14.1
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "controllers of two clusters use the same cluster name",
        runs: Runs::InAdmission,
        on: &[
            On::Kind(Kind::DEPLOYMENT),
            On::Kind(Kind::of("", "v1", "ServiceAccount")),
            On::ChartValues,
            On::IamPolicy,
        ],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    if let Some(module) = KarpenterModule::of(object) {
        findings.extend(second_module(module, context));
        return;
    }
    let earlier = context.clusters.iter().take_while(|other| !core::ptr::eq(*other, context.inventory));
    let own = context.inventory.index::<ClusterIdentity>();
    let (name, endpoint, role) = (
        in_object(own.name.as_ref(), object),
        in_object(own.endpoint.as_ref(), object),
        in_object(own.role.as_ref(), object),
    );
    if name.is_none() && endpoint.is_none() && role.is_none() {
        return;
    }
    for other in earlier {
        let that = other.index::<ClusterIdentity>();
        if let Some((mark, same)) = same_text(name, that.name.as_ref()) {
            findings.extend(shared_name(mark, same, own, that, other));
        }
        let names =
            own.name.as_ref().zip(that.name.as_ref()).is_some_and(|(one, other)| one.text != other.text);
        if let Some((mark, same)) = same_text(endpoint, that.endpoint.as_ref()).filter(|_| names) {
            let message = format!(
                "the controller of cluster `{}` uses the same endpoint under a different cluster name",
                other.name()
            );
            let finding = Finding::at(&RULE, mark.node, message);
            let help = "write the endpoint of this cluster, or leave it out: Karpenter then asks EKS for the endpoint";
            let finding = finding.help(help);
            findings.push(finding.related(Place::value(same.node), "the same endpoint"));
        }
        if let Some((mark, same)) = same_text(role, that.role.as_ref()) {
            let message = format!(
                "the controller of cluster `{}` assumes the same IAM role, so that either controller can terminate the other cluster's nodes",
                other.name()
            );
            let finding = Finding::at(&RULE, mark.node, message).severity(Severity::Warning);
            let finding =
                finding.help("give each controller a separate role, with conditions that name its cluster");
            findings.push(finding.related(Place::value(same.node), "the same role"));
        }
    }
}

/// Reports a module for Karpenter after another one for the same cluster. Several configurations may make one call with their own values.
fn second_module<'d>(module: KarpenterModule<'d>, context: &Context<'_, 'd>) -> Option<Finding<'d>> {
    let key = ModuleKey::of(module)?;
    let (node, name) = (module.cluster_name()?, key.cluster);
    let same = context.inventory.index::<FirstModules>().get(&key)?;
    let (own, root) = (module.object().root(), same.object().root());
    if own.source().name() == root.source().name() && own.span() == root.span() {
        return None;
    }
    let message = format!(
        "the module `{}` is for the cluster `{name}` too: two controllers with this cluster name terminate each other's nodes, \
         unless they work in different accounts or regions",
        same.object().name()
    );
    let finding = Finding::at(&RULE, node, message).severity(Severity::Warning);
    let finding = finding.help("give each module the name of its own EKS cluster");
    Some(finding.related(Place::value(same.cluster_name()?), "the same name"))
}

/// What modules for one cluster have in common.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ModuleKey<'d> {
    /// A placeholder has the same value only within one module.
    folder: &'d str,
    cluster: &'d str,
    queue: String,
}

impl<'d> ModuleKey<'d> {
    fn of(module: KarpenterModule<'d>) -> Option<Self> {
        let cluster = module.cluster_name().filter(|_| module.is_single())?;
        let folder = folder(module.object().root());
        Some(Self { folder, cluster: cluster.as_str()?, queue: module.queue()?.text })
    }
}

/// The first module of each key.
struct FirstModules;

impl Index for FirstModules {
    type Value<'d> = BTreeMap<ModuleKey<'d>, KarpenterModule<'d>>;

    fn compute<'d>(inventory: &Inventory<'d>) -> BTreeMap<ModuleKey<'d>, KarpenterModule<'d>> {
        let mut first = BTreeMap::new();
        for module in inventory.index::<KarpenterModules>() {
            if let Some(key) = ModuleKey::of(*module) {
                first.entry(key).or_insert(*module);
            }
        }
        first
    }
}

/// The mark, if it is in this object and is not a placeholder.
fn in_object<'m, 'd>(mark: Option<&'m IdentityText<'d>>, object: Object<'d>) -> Option<&'m IdentityText<'d>> {
    mark.filter(|mark| mark.object == object && placeholder(mark.text).is_none())
}

fn same_text<'m, 'd>(
    mark: Option<&'m IdentityText<'d>>,
    other: Option<&'m IdentityText<'d>>,
) -> Option<(&'m IdentityText<'d>, &'m IdentityText<'d>)> {
    mark.zip(other).filter(|(mark, other)| mark.text == other.text)
}

fn shared_name<'d>(
    mark: &IdentityText<'d>,
    same: &IdentityText<'d>,
    own: &Identity<'d>,
    that: &Identity<'d>,
    other: &Inventory<'d>,
) -> Option<Finding<'d>> {
    let (severity, consequence) = match own.is_beside(that) {
        Some(false) => return None,
        Some(true) => {
            (Severity::Error, "both work in the same account and region and terminate each other's nodes")
        }
        None => (
            Severity::Warning,
            "they terminate each other's nodes, unless they work in different accounts or regions",
        ),
    };
    let message = format!(
        "the controller of cluster `{}` uses the same cluster name `{}`; {consequence}",
        other.name(),
        mark.text
    );
    let finding = Finding::at(&RULE, mark.node, message).severity(severity);
    Some(
        finding
            .help("give each controller the name of its own EKS cluster")
            .related(Place::value(same.node), "the same name"),
    )
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, findings_of_clusters, silent};

    fn controller(env: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: Deployment
metadata: {{name: karpenter}}
spec:
  template:
    spec:
      containers:
      - image: karpenter/controller
        env: [{env}]
---
"
        )
    }

    fn role(name: &str) -> String {
        format!(
            r"apiVersion: v1
kind: ServiceAccount
metadata:
  name: karpenter
  annotations:
    eks.amazonaws.com/role-arn: arn:aws:iam::111122223333:role/{name}
"
        )
    }

    const PROD: &str = "{name: CLUSTER_NAME, value: prod}";
    const WEST: &str = "{name: AWS_REGION, value: eu-west-1}";
    const NORTH: &str = "{name: AWS_REGION, value: eu-north-1}";

    #[test]
    fn reports_shared_name_on_the_second_cluster() {
        let text = controller(PROD);
        insta::assert_snapshot!(findings_of_clusters(&super::RULE, &[&text, &text]), @"cluster-2: warning Deployment/karpenter spec.template.spec.containers[0].env[0].value: the controller of cluster `cluster-1` uses the same cluster name `prod`; they terminate each other's nodes, unless they work in different accounts or regions");
    }

    #[test]
    fn severity_depends_on_known_accounts_and_regions() {
        let one = controller(&format!("{PROD}, {WEST}")) + &role("a");
        let two = controller(&format!("{PROD}, {WEST}")) + &role("b");
        assert!(findings_of_clusters(&super::RULE, &[&one, &two]).contains("error Deployment/karpenter"));
        let elsewhere = controller(&format!("{PROD}, {NORTH}")) + &role("b");
        assert_eq!(findings_of_clusters(&super::RULE, &[&one, &elsewhere]), "");
    }

    #[test]
    fn reports_shared_endpoint_and_shared_role() {
        let with = |name: &str| {
            let endpoint = "{name: CLUSTER_ENDPOINT, value: 'https://0A.gr7.eu-west-1.eks.amazonaws.com'}";
            controller(&format!("{{name: CLUSTER_NAME, value: {name}}}, {endpoint}")) + &role("karpenter")
        };
        insta::assert_snapshot!(findings_of_clusters(&super::RULE, &[&with("one"), &with("two")]), @"
        cluster-2: error Deployment/karpenter spec.template.spec.containers[0].env[1].value: the controller of cluster `cluster-1` uses the same endpoint under a different cluster name
        cluster-2: warning ServiceAccount/karpenter metadata.annotations.eks.amazonaws.com/role-arn: the controller of cluster `cluster-1` assumes the same IAM role, so that either controller can terminate the other cluster's nodes
        ");
    }

    #[test]
    fn reports_two_modules_with_one_cluster_name() {
        let module = |name: &str, cluster: &str| {
            format!(
                "module:\n  {name}:\n    source: terraform-aws-modules/eks/aws//modules/karpenter\n    cluster_name: '{cluster}'\n---\n"
            )
        };
        insta::assert_snapshot!(findings(&super::RULE, &(module("eu", "prod") + &module("us", "prod"))), @"
          9 |     cluster_name: 'prod'
            |                   ^^^^^^
        warning module/us cluster_name [all]
          the module `eu` is for the cluster `prod` too: two controllers with this cluster name terminate each other's nodes, unless they work in different accounts or regions
          help: give each module the name of its own EKS cluster
          see line 4 cluster_name: the same name
        ");
        let open = "${module.eks.cluster_name}";
        assert!(
            findings(&super::RULE, &(module("a", open) + &module("b", open))).contains("warning module/b")
        );
        silent(&super::RULE, &(module("a", "prod") + &module("b", "dev")));
        let more_nodes = module("b", "prod").replace("'prod'", "'prod'\n    enable_spot_termination: false");
        silent(&super::RULE, &(module("a", "prod") + &more_nodes));
        let one_of_two = module("b", "prod").replace("'prod'", "'prod'\n    count: 1");
        silent(&super::RULE, &(module("a", "prod") + &one_of_two));
    }

    #[test]
    fn ignores_different_names_placeholders_and_a_single_cluster() {
        let other = controller("{name: CLUSTER_NAME, value: staging}");
        let open = controller("{name: CLUSTER_NAME, value: '${NAME}'}");
        assert_eq!(findings_of_clusters(&super::RULE, &[&controller(PROD), &other]), "");
        assert_eq!(findings_of_clusters(&super::RULE, &[&open, &open]), "");
        assert_eq!(findings_of_clusters(&super::RULE, &[&(controller(PROD) + &controller(PROD))]), "");
    }
}
