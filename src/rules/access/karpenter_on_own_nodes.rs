use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::chart_values;
use objects::controller::Controller;
use objects::node_group::has_fargate_for;
use objects::object::Object;
use objects::placeholders::has_placeholder_below;
use objects::pod::{NodeSelectorTerm, Pod, PodSpec};
use objects::workload::Workload;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Checks that Karpenter's controller does not run on nodes that Karpenter launches. Such a controller either
    /// selects nodes by `karpenter.sh/nodepool`, or the chart's affinity that excludes these nodes was removed and
    /// nothing else binds the controller to other nodes.
    ///
    /// ## Why it is bad
    ///
    /// When the controller's node is consolidated, replaced or lost, no controller is left to launch another node.
    /// Nothing scales until somebody adds a node by hand.
    ///
    /// A controller that is bound to a managed node group, to Fargate or to custom node labels is not reported.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata: {name: karpenter, namespace: kube-system}
    /// spec:
    ///   selector: {matchLabels: {app.kubernetes.io/name: karpenter}}
    ///   template:
    ///     spec:
    ///       nodeSelector:
    ///         karpenter.sh/nodepool: system
    ///       containers:
    ///       - image: public.ecr.aws/karpenter/controller:1.14.1
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata: {name: karpenter, namespace: kube-system}
    /// spec:
    ///   selector: {matchLabels: {app.kubernetes.io/name: karpenter}}
    ///   template:
    ///     spec:
    ///       affinity:
    ///         nodeAffinity:
    ///           requiredDuringSchedulingIgnoredDuringExecution:
    ///             nodeSelectorTerms:
    ///             - matchExpressions:
    ///               - {key: karpenter.sh/nodepool, operator: DoesNotExist}
    ///       containers:
    ///       - image: public.ecr.aws/karpenter/controller:1.14.1
    /// ```
    ///
    /// ## References
    ///
    /// - the default `affinity` in charts/karpenter/values.yaml at v1.0.0 to v1.14.1
    RULE {
        formerly: &["identity"],
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "Karpenter's controller runs on nodes that Karpenter launches",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::DEPLOYMENT), On::ChartValues],
        inventory: &[],
        check: check,
    }
}

const NODE_POOL: &str = "karpenter.sh/nodepool";
const HELP: &str = "require that `karpenter.sh/nodepool` does not exist, as the chart does, and run the controller on a managed node group or on Fargate";

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let controller = Controller::of(object);
    let pod = controller.and_then(|_| Some(Pod::of(object)?.spec()));
    // The Helm values have the same fields at the top level.
    let Some(spec) = pod.or_else(|| chart_values::of(object)?.pod_spec()) else { return };
    let wanted = pool_selectors(spec);
    for node in &wanted {
        let message = "the controller runs on nodes that Karpenter launches; when they are gone, no controller is left to launch new nodes";
        findings.push(Finding::new(&RULE, Place::key(*node), message).help(HELP));
    }
    // A Deployment without a selector is a patch, and Helm values keep the chart's default affinity.
    let whole =
        Workload::of(object).selector().is_some() && controller.is_some_and(|controller| controller.certain);
    if wanted.is_empty() && whole && !is_bound(spec) && !is_on_fargate(object, context) {
        let message = "nothing keeps the controller off nodes that Karpenter launches; when they are gone, no controller is left to launch new nodes";
        let finding = Finding::new(&RULE, Place::missing(spec.node(), "affinity"), message);
        findings.push(finding.severity(Severity::Warning).help(HELP));
    }
}

/// Fields that ask for nodes of a NodePool: a node selector, or a required affinity whose terms all do.
fn pool_selectors(spec: PodSpec<'_>) -> Vec<Node<'_>> {
    if let Some((_, node)) = spec.node_selector().find(|(key, _)| *key == NODE_POOL) {
        return vec![node];
    }
    let asks = |term: NodeSelectorTerm<'_>| {
        term.match_expressions().items().any(|expression| {
            expression.key() == Some(NODE_POOL) && matches!(expression.operator_text(), Some("In" | "Exists"))
        })
    };
    match spec.required_term_list() {
        Some(terms) if !terms.is_empty() && spec.required_terms().all(asks) => vec![terms],
        _ => Vec::new(),
    }
}

/// Whether something binds the pod to particular nodes: a node selector or required affinity on a label that not every
/// node has, or a toleration for Fargate.
fn is_bound(spec: PodSpec<'_>) -> bool {
    /// Labels that nodes of Karpenter have as well.
    const COMMON: [&str; 6] = [
        "kubernetes.io/os",
        "kubernetes.io/arch",
        "beta.kubernetes.io/os",
        "beta.kubernetes.io/arch",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
    ];
    let own = |key: &str| !COMMON.contains(&key);
    let selected = spec.node_selector().any(|(key, _)| own(key));
    let required = spec
        .required_terms()
        .any(|term| term.match_expressions().items().any(|expression| expression.key().is_some_and(own)));
    let hidden =
        |field: &str| spec.node().get(field).filter(|node| node.as_str().is_some() || field == "affinity");
    let may_be = ["affinity", "nodeSelector"].into_iter().filter_map(hidden).any(has_placeholder_below);
    let named = spec.node_name().is_some() || spec.scheduler_name() == Some("fargate-scheduler");
    selected || required || may_be || spec.is_for_fargate() || named
}

/// Whether a profile of Fargate in a configuration file of eksctl takes the pods of the namespace.
fn is_on_fargate(object: Object<'_>, context: &Context<'_, '_>) -> bool {
    context.inventory.own().iter().any(|config| has_fargate_for(*config, object.namespace()))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{findings, silent};

    fn controller(spec: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: Deployment
metadata: {{name: karpenter}}
spec:
  selector: {{matchLabels: {{a: b}}}}
  template:
    spec:
      {spec}
      containers:
      - image: public.ecr.aws/karpenter/controller:1.4.2
"
        )
    }

    fn affinity(expression: &str) -> String {
        controller(&format!(
            "affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{{matchExpressions: [{expression}]}}]}}}}}}"
        ))
    }

    #[test]
    fn reports_selector_on_a_pool() {
        let text = controller("nodeSelector: {kubernetes.io/os: linux, karpenter.sh/nodepool: system}");
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          8 |       nodeSelector: {kubernetes.io/os: linux, karpenter.sh/nodepool: system}
            |                                               ^^^^^^^^^^^^^^^^^^^^^
        error Deployment/karpenter spec.template.spec.nodeSelector.karpenter.sh/nodepool [all]
          the controller runs on nodes that Karpenter launches; when they are gone, no controller is left to launch new nodes
          help: require that `karpenter.sh/nodepool` does not exist, as the chart does, and run the controller on a managed node group or on Fargate
        ");
        assert!(
            findings(&super::RULE, &affinity("{key: karpenter.sh/nodepool, operator: In, values: [a]}"))
                .contains("error")
        );
        let values = "settings: {clusterName: a}\nnodeSelector: {karpenter.sh/nodepool: a}\n";
        assert!(findings(&super::RULE, values).contains("error"));
    }

    #[test]
    fn reports_removed_affinity() {
        let text = controller("nodeSelector: {kubernetes.io/os: linux}");
        insta::assert_snapshot!(findings(&super::RULE, &text), @"
          7 |     spec:
            |     ^^^^
        warning Deployment/karpenter spec.template.spec.affinity [all]
          nothing keeps the controller off nodes that Karpenter launches; when they are gone, no controller is left to launch new nodes
          help: require that `karpenter.sh/nodepool` does not exist, as the chart does, and run the controller on a managed node group or on Fargate
        ");
    }

    #[test]
    fn ignores_controller_bound_to_other_nodes() {
        silent(&super::RULE, &affinity("{key: karpenter.sh/nodepool, operator: DoesNotExist}"));
        silent(&super::RULE, &affinity("{key: eks.amazonaws.com/nodegroup, operator: In, values: [system]}"));
        silent(&super::RULE, &controller("nodeSelector: {role: system}"));
        silent(&super::RULE, &controller("nodeName: ip-10-0-0-1"));
        silent(&super::RULE, &controller("schedulerName: fargate-scheduler"));
        silent(
            &super::RULE,
            &controller("tolerations: [{key: eks.amazonaws.com/compute-type, value: fargate}]"),
        );
        silent(&super::RULE, "settings: {clusterName: a}\nnodeSelector: {kubernetes.io/os: linux}\n");
        // The form of examples/16-fargate-profile.yaml of eksctl-io/eksctl.
        let profile = "---\napiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: a}\nfargateProfiles: [{name: a, selectors: [{namespace: NAMESPACE}]}]\n";
        let in_namespace = controller("dnsPolicy: Default")
            .replace("name: karpenter}", "name: karpenter, namespace: kube-system}");
        silent(&super::RULE, &(in_namespace.clone() + &profile.replace("NAMESPACE", "kube-system")));
        assert!(
            !findings(&super::RULE, &(in_namespace + &profile.replace("NAMESPACE", "default"))).is_empty()
        );
        // Another layer may set what a patch leaves out.
        silent(
            &super::RULE,
            &controller("dnsPolicy: Default").replace("  selector: {matchLabels: {a: b}}\n", ""),
        );
    }
}
