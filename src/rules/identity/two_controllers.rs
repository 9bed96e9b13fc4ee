use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use objects::controller::{CLUSTER_NAME, Controller, LEADER_ELECTION_OFF, Setting};
use karpenter::release::Releases;
use manifest::tree::Node;
use karpenter::kind::Kind;
use objects::object::Object;
use lint::rule::{Fixes, On};

rule! {
    /// ## What it does
    ///
    /// Checks that a cluster has one Deployment of Karpenter's controller, and that its replicas elect a leader.
    ///
    /// Deployments with different cluster names are taken for those of different clusters. EKS Auto Mode beside
    /// Karpenter is legal: each serves the NodePools of its own node class.
    ///
    /// ## Why it is bad
    ///
    /// The lease by which a leader is elected lies in the controller's own namespace. Two releases in two namespaces both
    /// lead, both see the same NodePools, and both launch nodes for the same pods. Replicas without an election do so,
    /// too.
    ///
    /// ## Example
    ///
    /// ```yaml
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
    /// metadata: {name: karpenter, namespace: karpenter}
    /// spec:
    ///   template:
    ///     spec:
    ///       containers:
    ///       - image: public.ecr.aws/karpenter/controller:1.0.6
    ///         env: [{name: CLUSTER_NAME, value: prod}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata: {name: karpenter, namespace: kube-system}
    /// spec:
    ///   replicas: 2
    ///   template:
    ///     spec:
    ///       containers:
    ///       - image: public.ecr.aws/karpenter/controller:1.14.1
    ///         env: [{name: CLUSTER_NAME, value: prod}]
    /// ```
    ///
    /// ## References
    ///
    /// - `LeaderElectionNamespace` in pkg/operator/operator.go of kubernetes-sigs/karpenter at v1.0.0 and v1.14.0
    RULE {
        name: "two-controllers",
        family: Family::Identity,
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "two controllers of Karpenter work in one cluster",
        on: &[On::Kind(Kind::DEPLOYMENT)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    let Some(controller) = Controller::of(object) else { return };
    drafts.extend(second(&controller, context));
    drafts.extend(no_election(&controller));
}

/// The first controller of the input is taken for the one that stays.
fn second<'d>(controller: &Controller<'d>, context: &Context<'_, 'd>) -> Option<Draft<'d>> {
    let first = context.inventory.controllers().first().filter(|first| !is_same(first.object, controller.object))?;
    let name = |one: &Controller<'d>| one.setting(CLUSTER_NAME).text().map(|(name, _)| name);
    let (ours, theirs) = (name(controller), name(first));
    if ours.is_some() && theirs.is_some() && ours != theirs {
        return None;
    }
    let namespaces = controller.object.namespace() != first.object.namespace();
    let certain = ours.is_some() && ours == theirs && namespaces && controller.certain && first.certain;
    let why = if namespaces {
        "in two namespaces both lead, and both launch nodes for the same pods"
    } else {
        "of two releases only one leads, and which one changes"
    };
    let message = format_args!(
        "this is a second controller of Karpenter beside `{}`: {why}",
        if namespaces { format!("{}/{}", first.object.namespace(), first.object.name()) } else { first.object.name().to_owned() }
    );
    let draft = Draft::at(&RULE, name_of(controller.object), message);
    let draft = draft.severity(if certain { Severity::Error } else { Severity::Warning });
    let draft = draft.help("remove one of the two releases; if they belong to two clusters, check each cluster on its own");
    Some(draft.related(Place::value(name_of(first.object)), "the first controller"))
}

/// Replicas that all lead.
fn no_election<'d>(controller: &Controller<'d>) -> Option<Draft<'d>> {
    let Setting::Text(text, node) = controller.setting(LEADER_ELECTION_OFF) else { return None };
    let replicas = controller.object.at(&["spec", "replicas"]).and_then(Node::as_int).unwrap_or(1);
    if !matches!(text, "true" | "True" | "TRUE" | "1" | "t" | "T") || replicas < 2 {
        return None;
    }
    let message = format_args!("without leader election all {replicas} replicas lead, and each launches nodes for the same pods");
    Some(Draft::at(&RULE, node, message).help("remove it, or run one replica"))
}

fn name_of(object: Object<'_>) -> Node<'_> {
    object.at(&["metadata", "name"]).unwrap_or(object.root())
}

/// Whether two objects are the same one, perhaps in two versions.
fn is_same(one: Object<'_>, other: Object<'_>) -> bool {
    one == other || (one.name() == other.name() && one.namespace() == other.namespace())
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, silent};

    fn controller(namespace: &str, env: &str) -> String {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: karpenter, namespace: {namespace}}}\nspec:\n  replicas: 2\n  template:\n    spec:\n      containers:\n      - image: karpenter/controller\n        env: [{env}]\n---\n"
        )
    }

    const PROD: &str = "{name: CLUSTER_NAME, value: prod}";

    #[test]
    fn two_releases_in_two_namespaces_both_lead() {
        let text = controller("kube-system", PROD) + &controller("karpenter", PROD);
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
         14 | metadata: {name: karpenter, namespace: karpenter}
            |                  ^^^^^^^^^
        error Deployment/karpenter metadata.name [1.0-1.14]
          this is a second controller of Karpenter beside `kube-system/karpenter`: in two namespaces both lead, and both launch nodes for the same pods
          help: remove one of the two releases; if they belong to two clusters, check each cluster on its own
          see line 3 metadata.name: the first controller
        ");
    }

    #[test]
    fn where_a_name_is_not_known_it_is_a_warning() {
        let unknown = "{name: CLUSTER_NAME, valueFrom: {configMapKeyRef: {}}}";
        let text = controller("kube-system", PROD) + &controller("karpenter", unknown);
        assert!(findings(&super::RULE, &text).contains("warning Deployment"));
    }

    #[test]
    fn replicas_without_an_election_are_found() {
        let text = controller("kube-system", "{name: DISABLE_LEADER_ELECTION, value: 'true'}");
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
         10 |         env: [{name: DISABLE_LEADER_ELECTION, value: 'true'}]
            |                                                      ^^^^^^
        error Deployment/karpenter spec.template.spec.containers[0].env[0].value [1.0-1.14]
          without leader election all 2 replicas lead, and each launches nodes for the same pods
          help: remove it, or run one replica
        ");
        silent(&super::RULE, &text.replace("replicas: 2", "replicas: 1"));
        silent(&super::RULE, &text.replace("'true'", "'false'"));
    }

    #[test]
    fn two_clusters_in_one_folder_and_two_versions_of_one_deployment_are_left_alone() {
        let staging = "{name: CLUSTER_NAME, value: staging}";
        silent(&super::RULE, &(controller("kube-system", PROD) + &controller("karpenter", staging)));
        silent(&super::RULE, &(controller("kube-system", PROD) + &controller("kube-system", PROD)));
    }
}
