use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::node_pool::NodePool;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{On, Phase, Runs};

use crate::rules::indexes::Gates;

rule! {
    /// ## What it does
    ///
    /// Finds objects and fields that a release starts to accept but ignores while a feature gate is off, which is the
    /// default: NodeOverlay (1.7, `NodeOverlay`), `spec.replicas` of a NodePool (1.8, `StaticCapacity`) and the kind
    /// `CapacityBuffer` (1.14, `CapacityBuffer`).
    ///
    /// ## Why it is bad
    ///
    /// The API server accepts the object after the upgrade, but Karpenter does nothing with it.
    ///
    /// ## Example
    ///
    /// ```yaml,from=1.6 to 1.7
    /// apiVersion: karpenter.sh/v1alpha1
    /// kind: NodeOverlay
    /// metadata:
    ///   name: discount
    /// spec:
    ///   requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]
    ///   priceAdjustment: "-10%"
    /// ```
    ///
    /// ## Use instead
    ///
    /// Turn the gate on during the upgrade. In the Helm values:
    ///
    /// ```yaml,from=1.6 to 1.7
    /// settings:
    ///   clusterName: prod
    ///   featureGates: {nodeOverlay: true}
    /// ```
    ///
    /// ## References
    ///
    /// - pkg/operator/options/options.go of kubernetes-sigs/karpenter at v1.7.0, v1.8.0 and v1.14.0
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(7),
        summary: "a new kind or field has no effect until its feature gate is on",
        phase: Phase::With,
        runs: Runs::OnUpgrade,
        on: &[
            On::Kind(Kind::NODE_OVERLAY),
            On::Kind(Kind::NODE_POOL),
            On::Kind(Kind::of("autoscaling.x-k8s.io", "v1beta1", "CapacityBuffer")),
        ],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let kind = object.kind_node().unwrap_or(object.root());
    // EKS Auto Mode has no gates: `auto-static-capacity.adoc` of awsdocs/amazon-eks-user-guide.
    let pool = NodePool::of(object).filter(|pool| !pool.is_of_auto_mode());
    let replicas = || pool?.replicas().filter(|replicas| !replicas.is_null());
    let (place, what, gate, since) = match object.kind() {
        "NodeOverlay" => (Place::value(kind), "NodeOverlays", "NodeOverlay", 7),
        "CapacityBuffer" => (Place::value(kind), "CapacityBuffers", "CapacityBuffer", 14),
        _ => match replicas() {
            Some(replicas) => (Place::key(replicas), "NodePools with `replicas`", "StaticCapacity", 8),
            None => return,
        },
    };
    if context.anywhere(|inventory| inventory.index::<Gates>().get(gate) == Some(true)) {
        return;
    }
    let message = format!(
        "Karpenter accepts {what}, but does nothing with them while the feature gate `{gate}` is off, which is the default"
    );
    findings.push(
        Finding::new(&RULE, place, message)
            .releases(Releases::since(since))
            .help(format!("set `{gate}=true` in `FEATURE_GATES` during the upgrade, or remove the object")),
    );
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing};

    const OVERLAY: &str = r"apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: a}
";
    const BUFFER: &str = r"apiVersion: autoscaling.x-k8s.io/v1beta1
kind: CapacityBuffer
metadata: {name: a}
";
    const STATIC: &str = r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec:
  replicas: 3
";

    #[test]
    fn reports_each_feature_since_its_release() {
        insta::assert_snapshot!(begins(&super::RULE, "1.6", "1.7.0", OVERLAY), @"
        from 1.7 on
          2 | kind: NodeOverlay
            |       ^^^^^^^^^^^
        info NodeOverlay/a kind [since 1.7]
          Karpenter accepts NodeOverlays, but does nothing with them while the feature gate `NodeOverlay` is off, which is the default
          help: set `NodeOverlay=true` in `FEATURE_GATES` during the upgrade, or remove the object
        ");
        insta::assert_snapshot!(begins(&super::RULE, "1.7", "1.8.0", STATIC), @"
        from 1.8 on
          5 |   replicas: 3
            |   ^^^^^^^^
        info NodePool/a spec.replicas [since 1.8]
          Karpenter accepts NodePools with `replicas`, but does nothing with them while the feature gate `StaticCapacity` is off, which is the default
          help: set `StaticCapacity=true` in `FEATURE_GATES` during the upgrade, or remove the object
        ");
        insta::assert_snapshot!(begins(&super::RULE, "1.13", "1.14.0", BUFFER), @"
        from 1.14 on
          2 | kind: CapacityBuffer
            |       ^^^^^^^^^^^^^^
        info CapacityBuffer/a kind [since 1.14]
          Karpenter accepts CapacityBuffers, but does nothing with them while the feature gate `CapacityBuffer` is off, which is the default
          help: set `CapacityBuffer=true` in `FEATURE_GATES` during the upgrade, or remove the object
        ");
        begins_nothing(&super::RULE, "1.7", "1.14", OVERLAY);
        begins_nothing(&super::RULE, "1.0", "1.6", OVERLAY);
        begins_nothing(&super::RULE, "1.8", "1.14", STATIC);
        begins_nothing(&super::RULE, "1.0", "1.7", STATIC);
        let class =
            "  template: {spec: {nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: a}}}\n";
        begins_nothing(&super::RULE, "1.7", "1.8.0", &format!("{STATIC}{class}"));
        begins_nothing(&super::RULE, "1.0", "1.13", BUFFER);
    }

    #[test]
    fn enabled_gates_are_not_reported() {
        let values = "settings: {clusterName: a, featureGates: {staticCapacity: true}}\n";
        begins_nothing(&super::RULE, "1.0", "1.14", &format!("{STATIC}---\n{values}"));
        let deployment = r#"apiVersion: apps/v1
kind: Deployment
metadata: {name: karpenter}
spec:
  template:
    spec:
      containers:
      - name: controller
        image: public.ecr.aws/karpenter/controller:1.14.0
        env: [{name: FEATURE_GATES, value: "NodeOverlay=true,NodeRepair=false"}]
"#;
        begins_nothing(&super::RULE, "1.0", "1.14", &format!("{OVERLAY}---\n{deployment}"));
    }
}
