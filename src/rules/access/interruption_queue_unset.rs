use cluster::index::Index;
use cluster::inventory::Inventory;
use karpenter::kind::Kind;
use karpenter::labels;
use karpenter::release::Releases;
use objects::chart_values::{self, ChartSettings, ChartValues};
use objects::controller::{Controller, INTERRUPTION_QUEUE, OptionValue};
use objects::node_pool::NodePool;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

use crate::rules::indexes::{ClusterIdentity, Pools};

rule! {
    /// ## What it does
    ///
    /// Finds controllers without an interruption queue in a cluster whose NodePools may launch spot instances. A NodePool
    /// without a requirement on `karpenter.sh/capacity-type` may launch them, too.
    ///
    /// The rule reads the Deployment of the controller, or the values of its chart. It is silent if another object of the
    /// input sets the queue, or may set it: through a ConfigMap, `valuesFrom` or `valueFiles`. The policy does not look up
    /// NodePools for it, so the finding is only in the report of files.
    ///
    /// ## Why it is bad
    ///
    /// EC2 announces two minutes before that it takes a spot instance back. Karpenter reads these messages only from the
    /// queue. Without a queue nothing drains the node, and its pods stop without notice when the instance is gone.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// settings:
    ///   clusterName: prod
    ///   interruptionQueue: ""
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///         - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// settings:
    ///   clusterName: prod
    ///   interruptionQueue: prod
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    ///       requirements:
    ///         - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
    /// ```
    ///
    /// The template of the getting started guide creates the queue, and the EventBridge rules that fill it.
    ///
    /// ## References
    ///
    /// - `NewControllers` in pkg/controllers/controllers.go of aws/karpenter-provider-aws at v1.0.0 and v1.14.1
    /// - website/content/en/docs/concepts/disruption.md, "Interruption"
    /// - aws/karpenter-provider-aws#3796, eksctl-io/eksctl#6373
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "spot instances are taken back without notice, because the controller has no interruption queue",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::DEPLOYMENT), On::ChartValues],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let unset = Controller::of(object).and_then(|controller| in_deployment(&controller));
    let Some(place) = unset.or_else(|| chart_values::of_this_cluster(object).and_then(in_values)) else {
        return;
    };
    if context.anywhere(|inventory| inventory.index::<ClusterIdentity>().may_have_queue) {
        return;
    }
    let Some(pool) = *context.inventory.index::<FirstSpotPool>() else { return };
    let message = format!(
        "Karpenter gets no notice when EC2 takes back the spot instances of the NodePool `{}`: without an interruption queue \
         nothing drains their pods",
        pool.name()
    );
    findings.push(
        Finding::new(&RULE, place, message)
            .help("create the queue and its EventBridge rules, and write the queue's name")
            .related(place_of_spot(pool), "allows spot instances"),
    );
}

fn in_deployment<'d>(controller: &Controller<'d>) -> Option<Place<'d>> {
    match controller.setting(INTERRUPTION_QUEUE) {
        OptionValue::Absent => Some(Place::missing(controller.container.node(), "env")),
        OptionValue::Text("", node) => Some(Place::value(node)),
        _ => None,
    }
}

/// The empty queue in the values, or the settings without a queue. Values without a cluster's name are completed by others.
fn in_values(values: ChartValues<'_>) -> Option<Place<'_>> {
    let name = values.cluster_name().filter(|name| name.as_str() != Some(""))?;
    if let Some(node) = values.interruption_queue() {
        return (node.is_null() || node.as_str() == Some("")).then(|| Place::value(node));
    }
    let settings = values.settings().map(ChartSettings::node);
    Some(settings.map_or(Place::value(name), |settings| Place::missing(settings, "interruptionQueue")))
}

/// The requirement on the capacity type of a NodePool, or its name.
fn place_of_spot(pool: Object<'_>) -> Place<'_> {
    let mut requirements = NodePool::of(pool).into_iter().flat_map(|pool| pool.requirements().parsed());
    let stated = requirements.find(|requirement| requirement.key == labels::CAPACITY_TYPE);
    Place::value(stated.map_or(pool.name_node(), |requirement| requirement.item.node()))
}

/// The first NodePool whose nodes may be spot instances: a NodePool without a requirement on the capacity type is one.
pub(super) struct FirstSpotPool;

impl Index for FirstSpotPool {
    type Value<'d> = Option<Object<'d>>;

    fn compute<'d>(inventory: &Inventory<'d>) -> Option<Object<'d>> {
        let groups = inventory.index::<Pools>().groups().iter();
        let spot = groups.filter(|group| {
            let capacity_types = group.template.requirements.get(labels::CAPACITY_TYPE);
            capacity_types.is_none_or(|types| types.has("spot"))
        });
        let mut pools = spot.flat_map(|group| group.pools.iter().copied());
        pools.find(|pool| NodePool::of(*pool).is_some_and(|pool| !pool.is_of_auto_mode()))
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn pool(requirement: &str) -> String {
        format!(
            r"---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: web}}
spec:
  template:
    spec:
      requirements: [{requirement}]
"
        )
    }

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
        env: [{{name: CLUSTER_NAME, value: prod}}{env}]
"
        )
    }

    const SPOT: &str = "{key: karpenter.sh/capacity-type, operator: In, values: [on-demand, spot]}";
    const ON_DEMAND: &str = "{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}";

    #[test]
    fn reports_values_without_queue_if_a_pool_allows_spot() {
        let values = "settings:\n  clusterName: prod\n";
        insta::assert_snapshot!(findings(&RULE, &(values.to_owned() + &pool(SPOT))), @"
          1 | settings:
            | ^^^^^^^^
        warning / settings.interruptionQueue [all]
          Karpenter gets no notice when EC2 takes back the spot instances of the NodePool `web`: without an interruption queue nothing drains their pods
          help: create the queue and its EventBridge rules, and write the queue's name
          see line 10 spec.template.spec.requirements[0]: allows spot instances
        ");
        silent(&RULE, values);
        silent(&RULE, &(values.to_owned() + &pool(ON_DEMAND)));
        silent(&RULE, &(values.to_owned() + "  interruptionQueue: prod\n" + &pool(SPOT)));
        silent(&RULE, &(values.to_owned() + "  interruptionQueue: ${QUEUE}\n" + &pool(SPOT)));
        silent(&RULE, &(values.to_owned() + "  interruptionQueueName: prod\n" + &pool(SPOT)));
    }

    #[test]
    fn reports_the_deployment_if_the_capacity_type_is_open() {
        let empty = controller(", {name: INTERRUPTION_QUEUE, value: ''}");
        insta::assert_snapshot!(findings(&RULE, &(empty + &pool(""))), @"
          9 |         env: [{name: CLUSTER_NAME, value: prod}, {name: INTERRUPTION_QUEUE, value: ''}]
            |                                                                                    ^^
        warning Deployment/karpenter spec.template.spec.containers[0].env[1].value [all]
          Karpenter gets no notice when EC2 takes back the spot instances of the NodePool `web`: without an interruption queue nothing drains their pods
          help: create the queue and its EventBridge rules, and write the queue's name
          see line 13 metadata.name: allows spot instances
        ");
        assert!(findings(&RULE, &(controller("") + &pool(""))).contains("warning Deployment/karpenter"));
        for env in [
            ", {name: INTERRUPTION_QUEUE, value: prod}",
            ", {name: INTERRUPTION_QUEUE, valueFrom: {configMapKeyRef: {name: a, key: b}}}",
        ] {
            silent(&RULE, &(controller(env) + &pool("")));
        }
    }

    #[test]
    fn accepts_a_queue_that_another_object_sets_or_may_set() {
        let release = |rest: &str| {
            format!(
                r"apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: karpenter}}
spec:
  chart: {{spec: {{chart: karpenter}}}}
  values: {{settings: {{clusterName: prod}}}}
{rest}"
            )
        };
        assert!(findings(&RULE, &(release("") + &pool(SPOT))).contains("HelmRelease/karpenter"));
        silent(&RULE, &(release("  valuesFrom: [{kind: ConfigMap, name: queue}]\n") + &pool(SPOT)));
        let other = "---\nsettings: {interruptionQueue: prod, clusterName: prod}\n";
        silent(&RULE, &(release("") + other + &pool(SPOT)));
    }

    #[test]
    fn ignores_pools_of_auto_mode() {
        let auto = pool(SPOT).replace(
            "      requirements",
            "      nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: default}\n      requirements",
        );
        silent(&RULE, &("settings: {clusterName: prod}\n".to_owned() + &auto));
    }
}
