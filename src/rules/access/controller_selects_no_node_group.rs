use cluster::index::Index;
use cluster::inventory::Inventory;
use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::chart_values::{self, ChartValues};
use objects::controller::Controller;
use objects::node_access::CLUSTER_CONFIG;
use objects::node_group::{NodeGroup, is_of_node_group};
use objects::object::Object;
use objects::placeholders::has_placeholder_below;
use objects::pod::{Pod, PodSpec};
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use scheduling::taints::{PoolTaint, Toleration};
use values::placeholder::has_placeholder;

use crate::rules::folders::is_elsewhere;
use crate::rules::names::is_certainly_other;

rule! {
    /// ## What it does
    ///
    /// Compares the node selector and the tolerations of Karpenter's controller with the node groups of the cluster, if the input has the
    /// configuration file of eksctl. It reports a label that no node group has, and node groups that all have a taint which the controller
    /// does not tolerate.
    ///
    /// Labels of Kubernetes and AWS, such as `kubernetes.io/os`, are not compared, and neither is anything if a node group has a placeholder.
    ///
    /// ## Why it is bad
    ///
    /// The controller runs on nodes that it does not launch itself. Without such a node it stays Pending, and no node is launched at
    /// all.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: eksctl.io/v1alpha5
    /// kind: ClusterConfig
    /// metadata: {name: prod, region: eu-west-1}
    /// managedNodeGroups:
    /// - {name: system, labels: {role: system}}
    /// ---
    /// settings: {clusterName: prod, interruptionQueue: prod}
    /// nodeSelector: {role: karpenter}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: eksctl.io/v1alpha5
    /// kind: ClusterConfig
    /// metadata: {name: prod, region: eu-west-1}
    /// managedNodeGroups:
    /// - {name: system, labels: {role: system}}
    /// ---
    /// settings: {clusterName: prod, interruptionQueue: prod}
    /// nodeSelector: {role: system}
    /// ```
    ///
    /// ## References
    ///
    /// - the default `affinity` and `tolerations` in charts/karpenter/values.yaml of aws/karpenter-provider-aws at v1.0.0 to v1.14.1
    /// - userdocs/src/usage/nodegroup-managed.md of eksctl-io/eksctl
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "no node group of the cluster takes the controller, so it stays Pending",
        runs: Runs::OnFiles,
        on: &[On::Kind(Kind::DEPLOYMENT), On::ChartValues],
        inventory: &[],
        check: check,
    }
}

/// The toleration that the chart has unless its values have others.
const DEFAULT: Toleration<'static> =
    Toleration { key: "CriticalAddonsOnly", operator: "Exists", value: "", effect: "" };

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(config) = context.inventory.index::<NodeGroups>() else { return };
    let groups = &config.groups;
    let Some(first) = groups.first() else { return };
    let controller = Controller::of(object).filter(|controller| controller.certain);
    let pod = controller.and_then(|_| Some(Pod::of(object)?.spec()));
    let is_deployment = pod.is_some();
    let values = chart_values::of_this_cluster(object).filter(|_| !is_deployment);
    // Other values may replace these.
    if values.is_some() && config.has_several_values {
        return;
    }
    let Some(spec) = pod.or_else(|| values?.pod_spec()) else { return };
    let cluster = values.and_then(ChartValues::cluster_name).and_then(Node::as_str);
    let is_other = cluster.zip(config.cluster).is_some_and(|(one, other)| is_certainly_other(one, other));
    if is_other || is_elsewhere(spec.node(), first.node()) {
        return;
    }
    if spec.is_for_fargate() || spec.scheduler_name() == Some("fargate-scheduler") {
        return;
    }
    let judged: Vec<(&'d str, Node<'d>)> = spec
        .node_selector()
        .filter(|(key, node)| is_of_node_group(key) && !has_placeholder(node.as_str().unwrap_or("${}")))
        .collect();
    let has = |group: &NodeGroup<'d>, (key, node): &(&'d str, Node<'d>)| group.label(key) == node.as_str();
    if let Some((key, node)) = judged.iter().find(|one| !groups.iter().any(|group| has(group, one))) {
        let message = format!(
            "no node group of this cluster has the label `{key}` with the value `{}`, so the controller stays Pending and launches no node",
            node.as_str().unwrap_or_default()
        );
        let finding = Finding::at(&RULE, *node, message);
        let finding = finding.help("write a label of a node group, or add the label to one");
        findings.push(finding.related(place_of(*first), "a node group without the label"));
        return;
    }
    let selected = groups.iter().filter(|group| judged.iter().all(|one| has(group, one)));
    let refusals: Option<Vec<(NodeGroup<'d>, PoolTaint<'d>)>> =
        selected.map(|group| Some((*group, refusing_taint(*group, spec, is_deployment)?))).collect();
    let Some((group, taint)) = refusals.and_then(|refusals| refusals.first().copied()) else { return };
    let place = spec.toleration_list().map_or_else(
        || spec.node_selector_map().map_or_else(|| Place::missing(spec.node(), "tolerations"), Place::value),
        Place::value,
    );
    let message = format!(
        "each node group that the controller selects has a taint that it does not tolerate, such as `{taint}`, so the controller stays Pending and launches no node"
    );
    let finding =
        Finding::new(&RULE, place, message).help("tolerate the taint, or add a node group without it");
    findings.push(finding.related(place_of(group), "the node group with the taint"));
}

/// The taint of a group that keeps the controller off its nodes. A list of tolerations in the values takes the place of the chart's.
fn refusing_taint<'d>(group: NodeGroup<'d>, spec: PodSpec<'d>, is_deployment: bool) -> Option<PoolTaint<'d>> {
    let taint = |node: Node<'d>| PoolTaint {
        key: node.str_at(&["key"]).unwrap_or_default(),
        value: node.str_at(&["value"]).unwrap_or_default(),
        effect: node.str_at(&["effect"]).unwrap_or_default(),
    };
    let mut tolerations: Vec<Toleration<'d>> = spec.tolerations().map(Toleration::from_item).collect();
    if !is_deployment && spec.toleration_list().is_none() {
        tolerations.push(DEFAULT);
    }
    let is_placeholder = |text: &str| has_placeholder(text);
    let is_tolerated = |taint: &PoolTaint<'d>| {
        tolerations.iter().any(|one| {
            one.tolerates(taint) || [one.key, one.value, one.effect].into_iter().any(is_placeholder)
        })
    };
    let mut taints = group.taints().map(taint);
    taints.find(|taint| matches!(taint.effect, "NoSchedule" | "NoExecute") && !is_tolerated(taint))
}

fn place_of(group: NodeGroup<'_>) -> Place<'_> {
    Place::value(group.node().get("name").unwrap_or(group.node()))
}

/// The only configuration file of eksctl in the input, if it shows all nodes outside of Karpenter: it has node groups and no Fargate.
struct ClusterOfEksctl<'d> {
    cluster: Option<&'d str>,
    groups: Vec<NodeGroup<'d>>,
    /// Whether several documents are values of Karpenter's chart, which may be layers of one release.
    has_several_values: bool,
}

struct NodeGroups;

impl Index for NodeGroups {
    type Value<'d> = Option<ClusterOfEksctl<'d>>;

    fn compute<'d>(inventory: &Inventory<'d>) -> Option<ClusterOfEksctl<'d>> {
        let mut configs = inventory.own().iter().copied().filter(|object| object.is(CLUSTER_CONFIG));
        let config = configs.next().filter(|_| configs.next().is_none())?;
        let groups = NodeGroup::all(config);
        let is_open = |group: &NodeGroup<'d>| has_placeholder_below(group.node());
        let is_known = !groups.is_empty()
            && config.at(&["fargateProfiles"]).is_none()
            && config.at(&["autoModeConfig"]).is_none()
            && !groups.iter().any(is_open);
        let values =
            inventory.own().iter().filter(|object| chart_values::of_this_cluster(**object).is_some());
        let has_several_values = values.take(2).count() == 2;
        let cluster = config.str_at(&["metadata", "name"]);
        is_known.then_some(ClusterOfEksctl { cluster, groups, has_several_values })
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, findings_in_files, silent};
    use rule::settings::Settings;

    /// The form of examples/15-managed-nodes.yaml and examples/34-taints.yaml of eksctl-io/eksctl.
    fn config(groups: &str) -> String {
        format!(
            "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {{name: prod, region: eu-west-1}}\nmanagedNodeGroups: [{groups}]\n---\n"
        )
    }

    fn values(spec: &str) -> String {
        format!("settings: {{clusterName: prod, interruptionQueue: prod}}\n{spec}\n")
    }

    #[test]
    fn other_clusters_and_layers_of_values_are_not_judged() {
        let selected = "nodeSelector: {role: karpenter}";
        silent(&RULE, &(config(SYSTEM) + &values(selected).replace("prod", "dev")));
        silent(&RULE, &(config(SYSTEM) + &values(selected) + "---\n" + &values("replicas: 2")));
        let (config, values) = (config(SYSTEM), values(selected));
        let found = |file: &str| {
            let files = [("clusters/a/cluster.yaml", config.as_str()), (file, values.as_str())];
            findings_in_files(&RULE, &files, &Settings::default())
        };
        assert!(found("clusters/a/values.yaml").starts_with("warning"));
        assert_eq!(found("clusters/b/values.yaml"), "");
    }

    const SYSTEM: &str = "{name: system, labels: {role: system}}";
    const TAINTED: &str = "{name: system, taints: [{key: dedicated, value: system, effect: NoSchedule}]}";

    #[test]
    fn reports_a_label_that_no_group_has() {
        let text = config(SYSTEM) + &values("nodeSelector: {role: karpenter}");
        insta::assert_snapshot!(findings(&RULE, &text), @"
          7 | nodeSelector: {role: karpenter}
            |                      ^^^^^^^^^
        warning / nodeSelector.role [all]
          no node group of this cluster has the label `role` with the value `karpenter`, so the controller stays Pending and launches no node
          help: write a label of a node group, or add the label to one
          see line 4 managedNodeGroups[0].name: a node group without the label
        ");
        let named = values("nodeSelector: {eks.amazonaws.com/nodegroup: karpenter}");
        assert!(findings(&RULE, &(config(SYSTEM) + &named)).contains("`eks.amazonaws.com/nodegroup`"));
    }

    #[test]
    fn reports_groups_with_taints_that_the_controller_does_not_tolerate() {
        let text = config(TAINTED) + &values("replicas: 2");
        insta::assert_snapshot!(findings(&RULE, &text), @"
          6 | settings: {clusterName: prod, interruptionQueue: prod}
            | ^^^^^^^^
        warning / tolerations [all]
          each node group that the controller selects has a taint that it does not tolerate, such as `dedicated=system:NoSchedule`, so the controller stays Pending and launches no node
          help: tolerate the taint, or add a node group without it
          see line 4 managedNodeGroups[0].name: the node group with the taint
        ");
        let addons = "{name: system, taints: [{key: CriticalAddonsOnly, effect: NoSchedule}]}";
        silent(&RULE, &(config(addons) + &values("replicas: 2")));
        assert!(!findings(&RULE, &(config(addons) + &values("tolerations: []"))).is_empty());
        silent(&RULE, &(config(&format!("{TAINTED}, {SYSTEM}")) + &values("replicas: 2")));
        let tolerated = values("tolerations: [{key: dedicated, operator: Exists}]");
        silent(&RULE, &(config(TAINTED) + &tolerated));
        let open = values("tolerations: [{key: '${KEY}', operator: Exists}]");
        silent(&RULE, &(config(TAINTED) + &open));
    }

    #[test]
    fn accepts_groups_that_take_the_controller_and_what_is_not_known() {
        for selector in ["{role: system}", "{kubernetes.io/os: linux}", "{role: '${ROLE}'}", "{}"] {
            silent(&RULE, &(config(SYSTEM) + &values(&format!("nodeSelector: {selector}"))));
        }
        let other = values("nodeSelector: {role: karpenter}");
        silent(&RULE, &(config("") + &other));
        silent(&RULE, &(config("{name: system, labels: {role: '${ROLE}'}}") + &other));
        let fargate = config(SYSTEM)
            .replace("---", "fargateProfiles: [{name: a, selectors: [{namespace: karpenter}]}]\n---");
        silent(&RULE, &(fargate + &other));
        silent(&RULE, &(config(SYSTEM) + &config(SYSTEM) + &other));
        silent(&RULE, &other);
    }
}
