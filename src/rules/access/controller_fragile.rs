use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::chart_values;
use objects::controller::Controller;
use objects::object::Object;
use objects::pod::Pod;
use objects::workload::Workload;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

use crate::rules::indexes::AnyDefaultPriority;

rule! {
    /// ## What it does
    ///
    /// Finds a controller without a priority class. The chart sets `system-cluster-critical`, so that the class is missing
    /// only where somebody removed it or wrote the Deployment by hand.
    ///
    /// The message also names a single replica. A single replica alone is not reported, because many small clusters have one
    /// on purpose. A PriorityClass in the input that is the default for all pods counts as a class, and a controller that
    /// selects Fargate needs none.
    ///
    /// The rule reads files. The policy matches no Deployments unless you add them.
    ///
    /// ## Why it is bad
    ///
    /// When the nodes that the controller may use are full, its pod waits behind every other pod and is the first to be
    /// evicted. While it is Pending, Karpenter launches no nodes for the pods that fill them, and nothing resolves that
    /// without help.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// settings: {clusterName: prod}
    /// priorityClassName: ""
    /// replicas: 1
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// settings: {clusterName: prod}
    /// priorityClassName: system-cluster-critical
    /// replicas: 2
    /// ```
    ///
    /// ## References
    ///
    /// - `priorityClassName` and `replicas` in charts/karpenter/values.yaml of aws/karpenter-provider-aws at v1.0.0 to v1.14.1
    /// - aws/karpenter-provider-aws#7658
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the controller has no priority class, so that it stays Pending when its nodes are full",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::DEPLOYMENT), On::ChartValues],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some((place, replicas)) = in_deployment(object).or_else(|| in_values(object)) else { return };
    if context.anywhere(|inventory| *inventory.index::<AnyDefaultPriority>()) {
        return;
    }
    let single = replicas.filter(|node| node.as_int() == Some(1));
    let alone = if single.is_some() { ", and there is no second replica" } else { "" };
    let message = format!(
        "without a priority class the controller stays Pending when its nodes are full, and then nothing launches nodes{alone}"
    );
    let finding = Finding::new(&RULE, place, message)
        .help("write `priorityClassName: system-cluster-critical`, as the chart does");
    findings.push(match single {
        Some(node) => finding.related(Place::value(node), "the only replica"),
        None => finding,
    });
}

/// The place of the missing class in a Deployment, and the number of replicas. A Deployment without a selector is a patch.
fn in_deployment(object: Object<'_>) -> Option<(Place<'_>, Option<Node<'_>>)> {
    let controller = Controller::of(object).filter(|controller| controller.certain)?;
    let workload = Workload::of(controller.object);
    workload.selector()?;
    let spec = Pod::of(object)?.spec();
    if spec.has_priority() || spec.is_for_fargate() {
        return None;
    }
    let place = match spec.node().get("priorityClassName") {
        Some(node) => Place::value(node),
        None => Place::missing(spec.node(), "priorityClassName"),
    };
    Some((place, workload.replicas()))
}

/// The empty class in the values of the chart.
fn in_values(object: Object<'_>) -> Option<(Place<'_>, Option<Node<'_>>)> {
    let spec = chart_values::of(object)?.pod_spec()?;
    let node = spec.node().get("priorityClassName").filter(|node| node.as_str() == Some(""))?;
    (!spec.is_for_fargate()).then(|| (Place::value(node), spec.node().get("replicas")))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn controller(spec: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: Deployment
metadata: {{name: karpenter}}
spec:
  replicas: 1
  selector: {{matchLabels: {{a: b}}}}
  template:
    spec:
      {spec}
      containers:
      - image: public.ecr.aws/karpenter/controller:1.4.2
"
        )
    }

    #[test]
    fn reports_a_controller_without_priority_class() {
        insta::assert_snapshot!(findings(&RULE, &controller("dnsPolicy: Default")), @"
          8 |     spec:
            |     ^^^^
        warning Deployment/karpenter spec.template.spec.priorityClassName [all]
          without a priority class the controller stays Pending when its nodes are full, and then nothing launches nodes, and there is no second replica
          help: write `priorityClassName: system-cluster-critical`, as the chart does
          see line 5 spec.replicas: the only replica
        ");
        let two = controller("priorityClassName: ''").replace("replicas: 1", "replicas: 2");
        insta::assert_snapshot!(findings(&RULE, &two), @"
          9 |       priorityClassName: ''
            |                          ^^
        warning Deployment/karpenter spec.template.spec.priorityClassName [all]
          without a priority class the controller stays Pending when its nodes are full, and then nothing launches nodes
          help: write `priorityClassName: system-cluster-critical`, as the chart does
        ");
        silent(&RULE, &controller("priorityClassName: system-cluster-critical"));
        silent(&RULE, &controller("priorityClassName: '${CLASS}'"));
        silent(&RULE, &controller("priority: 1000"));
        silent(&RULE, &controller("dnsPolicy: Default").replace("  selector: {matchLabels: {a: b}}\n", ""));
    }

    #[test]
    fn accepts_a_default_class_and_fargate() {
        let class = |default: bool| {
            format!(
                r"---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {{name: a}}
globalDefault: {default}
value: 1000
"
            )
        };
        silent(&RULE, &(controller("dnsPolicy: Default") + &class(true)));
        assert!(!findings(&RULE, &(controller("dnsPolicy: Default") + &class(false))).is_empty());
        silent(&RULE, &controller("tolerations: [{key: eks.amazonaws.com/compute-type, value: fargate}]"));
    }

    #[test]
    fn values_keep_the_class_of_the_chart() {
        silent(&RULE, "settings: {clusterName: a}\nreplicas: 1\n");
        assert!(findings(&RULE, "settings: {clusterName: a}\npriorityClassName: ''\n").contains("warning"));
    }
}
