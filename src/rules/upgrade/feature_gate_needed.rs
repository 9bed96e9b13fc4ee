use lint::check::Context;
use lint::finding::{CaughtBy, Draft, Family, Place, Severity};
use karpenter::release::Releases;
use manifest::tree::Node;
use karpenter::kind::Kind;
use objects::object::Object;
use lint::rule::On;

rule! {
    /// ## What it does
    ///
    /// Looks for what a release begins to accept and does nothing with while a feature gate is off, as it is unless set:
    /// NodeOverlay (1.7, `NodeOverlay`), `spec.replicas` of a NodePool (1.8, `StaticCapacity`) and the kind `CapacityBuffer` (1.14,
    /// `CapacityBuffer`).
    ///
    /// ## Why it is bad
    ///
    /// The object is accepted after the upgrade, and nothing comes of it.
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
    /// Set the gate with the upgrade; in the values of the chart:
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
    UPGRADE {
        name: "feature-gate-needed",
        family: Family::Scheduling,
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(7),
        summary: "a release begins to accept what does nothing until a feature gate is on",
        on: &[
            On::Kind(Kind::NODE_OVERLAY),
            On::Kind(Kind::NODE_POOL),
            On::Kind(Kind::of("autoscaling.x-k8s.io", "v1beta1", "CapacityBuffer")),
        ],
        inventory: &[],
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, drafts: &mut Vec<Draft<'d>>) {
    let kind = object.root().get("kind").unwrap_or(object.root());
    let replicas = || object.at(&["spec", "replicas"]).filter(|replicas: &Node<'_>| !replicas.is_null());
    let (place, what, gate, since) = match object.kind() {
        "NodeOverlay" => (Place::value(kind), "NodeOverlays", "NodeOverlay", 7),
        "CapacityBuffer" => (Place::value(kind), "CapacityBuffers", "CapacityBuffer", 14),
        _ => match replicas() {
            Some(replicas) => (Place::key(replicas), "NodePools with `replicas`", "StaticCapacity", 8),
            None => return,
        },
    };
    if context.inventory.feature_gates().get(gate) == Some(true) {
        return;
    }
    let message = format!("Karpenter knows {what}, and does nothing with them while the feature gate `{gate}` is off, as it is unless set");
    drafts.push(
        Draft::new(&RULE, place, message)
            .releases(Releases::since(since))
            .help(format!("set `{gate}=true` in `FEATURE_GATES` with the upgrade, or leave the object out")),
    );
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing};

    const OVERLAY: &str = "apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: a}\n";
    const BUFFER: &str = "apiVersion: autoscaling.x-k8s.io/v1beta1\nkind: CapacityBuffer\nmetadata: {name: a}\n";
    const STATIC: &str = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec:\n  replicas: 3\n";

    #[test]
    fn each_begins_with_its_release() {
        insta::assert_snapshot!(begins(&super::RULE, "1.6", "1.7.0", OVERLAY), @"
        from 1.7 on
          2 | kind: NodeOverlay
            |       ^^^^^^^^^^^
        info NodeOverlay/a kind [1.7-1.14]
          Karpenter knows NodeOverlays, and does nothing with them while the feature gate `NodeOverlay` is off, as it is unless set
          help: set `NodeOverlay=true` in `FEATURE_GATES` with the upgrade, or leave the object out
        ");
        insta::assert_snapshot!(begins(&super::RULE, "1.7", "1.8.0", STATIC), @"
        from 1.8 on
          5 |   replicas: 3
            |   ^^^^^^^^
        info NodePool/a spec.replicas [1.8-1.14]
          Karpenter knows NodePools with `replicas`, and does nothing with them while the feature gate `StaticCapacity` is off, as it is unless set
          help: set `StaticCapacity=true` in `FEATURE_GATES` with the upgrade, or leave the object out
        ");
        insta::assert_snapshot!(begins(&super::RULE, "1.13", "1.14.0", BUFFER), @"
        from 1.14 on
          2 | kind: CapacityBuffer
            |       ^^^^^^^^^^^^^^
        info CapacityBuffer/a kind [1.14]
          Karpenter knows CapacityBuffers, and does nothing with them while the feature gate `CapacityBuffer` is off, as it is unless set
          help: set `CapacityBuffer=true` in `FEATURE_GATES` with the upgrade, or leave the object out
        ");
        begins_nothing(&super::RULE, "1.7", "1.14", OVERLAY);
        begins_nothing(&super::RULE, "1.0", "1.6", OVERLAY);
        begins_nothing(&super::RULE, "1.8", "1.14", STATIC);
        begins_nothing(&super::RULE, "1.0", "1.7", STATIC);
        begins_nothing(&super::RULE, "1.0", "1.13", BUFFER);
    }

    #[test]
    fn a_gate_that_is_on_needs_no_word() {
        let values = "settings: {clusterName: a, featureGates: {staticCapacity: true}}\n";
        begins_nothing(&super::RULE, "1.0", "1.14", &format!("{STATIC}---\n{values}"));
        let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: karpenter}\nspec:\n  template:\n    spec:\n      containers:\n      - name: controller\n        image: public.ecr.aws/karpenter/controller:1.14.0\n        env: [{name: FEATURE_GATES, value: \"NodeOverlay=true,NodeRepair=false\"}]\n";
        begins_nothing(&super::RULE, "1.0", "1.14", &format!("{OVERLAY}---\n{deployment}"));
    }
}
