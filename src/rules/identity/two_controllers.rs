use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::controller::{CLUSTER_NAME, Controller, LEADER_ELECTION_OFF, OptionValue};
use objects::object::{Object, Operation};
use objects::workload::Workload;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::has_placeholder;

use crate::rules::indexes::Controllers;

rule! {
    /// ## What it does
    ///
    /// Checks that a cluster has one Deployment of Karpenter's controller, and that its replicas elect a leader.
    ///
    /// Deployments with different cluster names are assumed to belong to different clusters. EKS Auto Mode may run next
    /// to Karpenter: each serves the NodePools whose `nodeClassRef` has its group.
    ///
    /// ## Why it is bad
    ///
    /// The lease for leader election is in the controller's own namespace. Two installations in two namespaces both
    /// lead, both see the same NodePools, and both launch nodes for the same pods. Replicas without leader election do
    /// the same.
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
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "two Karpenter controllers run in one cluster",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::DEPLOYMENT)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(controller) = Controller::of(object) else { return };
    findings.extend(second(&controller, context));
    findings.extend(no_election(&controller));
}

/// Reports a controller after the first controller of the input, which is assumed to stay.
fn second<'d>(controller: &Controller<'d>, context: &Context<'_, 'd>) -> Option<Finding<'d>> {
    let first = context
        .inventory
        .index::<Controllers>()
        .first()
        .filter(|first| !is_same(first.object, controller.object))?;
    let name = |one: &Controller<'d>| one.setting(CLUSTER_NAME).text().map(|(name, _)| name);
    let (ours, theirs) = (name(controller), name(first));
    if ours.is_some() && theirs.is_some() && ours != theirs {
        return None;
    }
    // A name that is not known yet may make the two controllers one, or belong to another cluster.
    let is_open = |one: &Controller<'d>| {
        let names = [Some(one.object.name()), Some(one.object.namespace()), name(one)];
        names.into_iter().flatten().any(has_placeholder)
    };
    if controller.object.operation() == Operation::Apply && (is_open(controller) || is_open(first)) {
        return None;
    }
    let namespaces = controller.object.namespace() != first.object.namespace();
    let certain = ours.is_some() && ours == theirs && namespaces && controller.certain && first.certain;
    let why = if namespaces {
        "in two namespaces both lead and launch nodes for the same pods"
    } else {
        "in one namespace only one of them leads at a time, and the leader changes"
    };
    let message = format!(
        "this is a second Karpenter controller next to `{}`: {why}",
        if namespaces {
            format!("{}/{}", first.object.namespace(), first.object.name())
        } else {
            first.object.name().to_owned()
        }
    );
    let finding = Finding::at(&RULE, controller.object.name_node(), message);
    let finding = finding.severity(if certain { Severity::Error } else { Severity::Warning });
    let finding = finding.help(
        "remove one of the two controllers; if they belong to two clusters, check each cluster separately",
    );
    Some(finding.related(Place::value(first.object.name_node()), "the first controller"))
}

/// Reports several replicas without leader election.
fn no_election<'d>(controller: &Controller<'d>) -> Option<Finding<'d>> {
    let OptionValue::Text(text, node) = controller.setting(LEADER_ELECTION_OFF) else { return None };
    let replicas = Workload::of(controller.object).replicas().and_then(Node::as_int).unwrap_or(1);
    if !matches!(text, "true" | "True" | "TRUE" | "1" | "t" | "T") || replicas < 2 {
        return None;
    }
    let message =
        format!("without leader election all {replicas} replicas lead and launch nodes for the same pods");
    Some(Finding::at(&RULE, node, message).help("remove the setting, or run one replica"))
}

/// Whether two objects are the same object, possibly in two versions.
fn is_same(one: Object<'_>, other: Object<'_>) -> bool {
    one == other || (one.name() == other.name() && one.namespace() == other.namespace())
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, silent};

    fn controller(namespace: &str, env: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: Deployment
metadata: {{name: karpenter, namespace: {namespace}}}
spec:
  replicas: 2
  template:
    spec:
      containers:
      - image: karpenter/controller
        env: [{env}]
---
"
        )
    }

    const PROD: &str = "{name: CLUSTER_NAME, value: prod}";

    #[test]
    fn reports_second_controller_in_another_namespace() {
        let text = controller("kube-system", PROD) + &controller("karpenter", PROD);
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
         14 | metadata: {name: karpenter, namespace: karpenter}
            |                  ^^^^^^^^^
        error Deployment/karpenter metadata.name [all]
          this is a second Karpenter controller next to `kube-system/karpenter`: in two namespaces both lead and launch nodes for the same pods
          help: remove one of the two controllers; if they belong to two clusters, check each cluster separately
          see line 3 metadata.name: the first controller
        ");
    }

    #[test]
    fn second_controller_in_the_same_namespace_is_a_warning() {
        let other = controller("kube-system", PROD).replace("name: karpenter", "name: other");
        let found = findings(&super::RULE, &(controller("kube-system", PROD) + &other));
        assert!(found.contains("warning Deployment/other"), "{found}");
        assert!(found.contains("in one namespace only one of them leads at a time"), "{found}");
    }

    #[test]
    fn unknown_cluster_name_is_a_warning() {
        let unknown = "{name: CLUSTER_NAME, valueFrom: {configMapKeyRef: {}}}";
        let text = controller("kube-system", PROD) + &controller("karpenter", unknown);
        assert!(findings(&super::RULE, &text).contains("warning Deployment"));
    }

    #[test]
    fn reports_replicas_without_leader_election() {
        let text = controller("kube-system", "{name: DISABLE_LEADER_ELECTION, value: 'true'}");
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
         10 |         env: [{name: DISABLE_LEADER_ELECTION, value: 'true'}]
            |                                                      ^^^^^^
        error Deployment/karpenter spec.template.spec.containers[0].env[0].value [all]
          without leader election all 2 replicas lead and launch nodes for the same pods
          help: remove the setting, or run one replica
        ");
        silent(&super::RULE, &text.replace("replicas: 2", "replicas: 1"));
        silent(&super::RULE, &text.replace("'true'", "'false'"));
    }

    #[test]
    fn ignores_two_clusters_and_two_versions_of_one_deployment() {
        let staging = "{name: CLUSTER_NAME, value: staging}";
        silent(&super::RULE, &(controller("kube-system", PROD) + &controller("karpenter", staging)));
        silent(&super::RULE, &(controller("kube-system", PROD) + &controller("kube-system", PROD)));
        silent(&super::RULE, &(controller("kube-system", PROD) + &controller("'${NAMESPACE}'", PROD)));
        silent(
            &super::RULE,
            &(controller("kube-system", PROD) + &controller("karpenter", &PROD.replace("prod", "<name>"))),
        );
    }
}
