use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use lint::inventory::Inventory;
use karpenter::cluster_name::placeholder;
use objects::identity::{Identity, Mark};
use karpenter::release::Releases;
use karpenter::kind::Kind;
use objects::object::Object;
use lint::rule::{Fixes, On};

rule! {
    /// ## What it does
    ///
    /// Where the manifests of several clusters are checked together, finds controllers of two clusters that go by the
    /// same name, that are given the endpoint of one cluster under two names, or that act under the same role.
    ///
    /// Clusters whose accounts or regions are known to differ may share a name. Where that is not known, it is a warning.
    ///
    /// ## Why it is bad
    ///
    /// Every controller lists the instances that carry its cluster's name and terminates those it has no NodeClaim for.
    /// Two controllers with one name terminate each other's nodes, half a minute to two and a half minutes after they
    /// start, and delete each other's launch templates and, from 1.7 on, instance profiles. The controller whose node is
    /// gone sees only that it is gone; the other one says so in its debug log: `garbage collected cloudprovider instance`.
    ///
    /// It is often told as nodes being marked as drifted by the other controller. Drift is decided on the NodeClaims of
    /// the controller's own cluster, and has nothing to do with it.
    ///
    /// ## Example
    ///
    /// Each document belongs to a cluster of its own, as with `--cluster one --cluster two`.
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
        name: "cluster-name-shared",
        family: Family::Identity,
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "controllers of two clusters go by the same name",
        on: &[
            On::Kind(Kind::DEPLOYMENT),
            On::Kind(Kind::of("", "v1", "ServiceAccount")),
            On::ChartValues,
        ],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    let earlier = context.clusters.iter().take_while(|other| !core::ptr::eq(*other, context.inventory));
    let own = context.inventory.identity();
    let (name, endpoint, role) = (mine(own.name.as_ref(), object), mine(own.endpoint.as_ref(), object), mine(own.role.as_ref(), object));
    if name.is_none() && endpoint.is_none() && role.is_none() {
        return;
    }
    for other in earlier {
        let that = other.identity();
        if let Some((mark, same)) = pair(name, that.name.as_ref()) {
            drafts.extend(shared_name(mark, same, own, that, other));
        }
        let names =
            own.name.as_ref().zip(that.name.as_ref()).is_some_and(|(one, other)| one.text != other.text);
        if let Some((mark, same)) = pair(endpoint, that.endpoint.as_ref()).filter(|_| names) {
            let message = format_args!("this is the endpoint of cluster `{}` as well, which goes by another name", other.name());
            let draft = Draft::at(&RULE, mark.node, message);
            let draft = draft.help("write the endpoint of this cluster, or leave it out: Karpenter asks EKS for it");
            drafts.push(draft.related(Place::value(same.node), "the same endpoint"));
        }
        if let Some((mark, same)) = pair(role, that.role.as_ref()) {
            let message = format_args!("the controller of cluster `{}` acts under the same role: neither is kept from the other's nodes", other.name());
            let draft = Draft::at(&RULE, mark.node, message).severity(Severity::Warning);
            let draft = draft.help("give each controller a role whose conditions name its own cluster");
            drafts.push(draft.related(Place::value(same.node), "the same role"));
        }
    }
}

/// What stands in this object, and is no placeholder.
#[inline(never)]
fn mine<'m, 'd>(mark: Option<&'m Mark<'d>>, object: Object<'d>) -> Option<&'m Mark<'d>> {
    mark.filter(|mark| mark.object == object && placeholder(mark.text).is_none())
}

fn pair<'m, 'd>(mark: Option<&'m Mark<'d>>, other: Option<&'m Mark<'d>>) -> Option<(&'m Mark<'d>, &'m Mark<'d>)> {
    mark.zip(other).filter(|(mark, other)| mark.text == other.text)
}

fn shared_name<'d>(
    mark: &Mark<'d>,
    same: &Mark<'d>,
    own: &Identity<'d>,
    that: &Identity<'d>,
    other: &Inventory<'d>,
) -> Option<Draft<'d>> {
    let (severity, where_) = match own.is_beside(that) {
        Some(false) => return None,
        Some(true) => (Severity::Error, "in the same account and region"),
        None => (Severity::Warning, "unless they are in different accounts or regions"),
    };
    let message = format_args!(
        "the controller of cluster `{}` goes by the name `{}` as well, and the two terminate each other's nodes {where_}",
        other.name(),
        mark.text
    );
    let draft = Draft::at(&RULE, mark.node, message).severity(severity);
    Some(draft.help("give each controller the name of its own EKS cluster").related(Place::value(same.node), "the same name"))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::findings_of_clusters;

    fn controller(env: &str) -> String {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: karpenter}}\nspec:\n  template:\n    spec:\n      containers:\n      - image: karpenter/controller\n        env: [{env}]\n---\n"
        )
    }

    fn role(name: &str) -> String {
        format!(
            "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: karpenter\n  annotations:\n    eks.amazonaws.com/role-arn: arn:aws:iam::111122223333:role/{name}\n"
        )
    }

    const PROD: &str = "{name: CLUSTER_NAME, value: prod}";
    const WEST: &str = "{name: AWS_REGION, value: eu-west-1}";
    const NORTH: &str = "{name: AWS_REGION, value: eu-north-1}";

    #[test]
    fn the_name_of_two_clusters_is_found_on_the_second() {
        let text = controller(PROD);
        insta::assert_snapshot!(findings_of_clusters(&super::RULE, &[&text, &text]), @"cluster-2: warning Deployment/karpenter spec.template.spec.containers[0].env[0].value: the controller of cluster `cluster-1` goes by the name `prod` as well, and the two terminate each other's nodes unless they are in different accounts or regions");
    }

    #[test]
    fn what_is_known_of_accounts_and_regions_decides() {
        let one = controller(&format!("{PROD}, {WEST}")) + &role("a");
        let two = controller(&format!("{PROD}, {WEST}")) + &role("b");
        assert!(findings_of_clusters(&super::RULE, &[&one, &two]).contains("error Deployment/karpenter"));
        let elsewhere = controller(&format!("{PROD}, {NORTH}")) + &role("b");
        assert_eq!(findings_of_clusters(&super::RULE, &[&one, &elsewhere]), "");
    }

    #[test]
    fn a_shared_endpoint_and_a_shared_role_are_found() {
        let with = |name: &str| {
            let endpoint = "{name: CLUSTER_ENDPOINT, value: 'https://0A.gr7.eu-west-1.eks.amazonaws.com'}";
            controller(&format!("{{name: CLUSTER_NAME, value: {name}}}, {endpoint}")) + &role("karpenter")
        };
        insta::assert_snapshot!(findings_of_clusters(&super::RULE, &[&with("one"), &with("two")]), @"
        cluster-2: error Deployment/karpenter spec.template.spec.containers[0].env[1].value: this is the endpoint of cluster `cluster-1` as well, which goes by another name
        cluster-2: warning ServiceAccount/karpenter metadata.annotations.eks.amazonaws.com/role-arn: the controller of cluster `cluster-1` acts under the same role: neither is kept from the other's nodes
        ");
    }

    #[test]
    fn names_of_their_own_placeholders_and_a_single_cluster_are_left_alone() {
        let other = controller("{name: CLUSTER_NAME, value: staging}");
        let open = controller("{name: CLUSTER_NAME, value: '${NAME}'}");
        assert_eq!(findings_of_clusters(&super::RULE, &[&controller(PROD), &other]), "");
        assert_eq!(findings_of_clusters(&super::RULE, &[&open, &open]), "");
        assert_eq!(findings_of_clusters(&super::RULE, &[&(controller(PROD) + &controller(PROD))]), "");
    }
}
