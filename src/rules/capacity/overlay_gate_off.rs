use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

use crate::rules::indexes::Gates;

rule! {
    /// ## What it does
    ///
    /// Finds NodeOverlays where the controller in the input has the feature gate `NodeOverlay` off.
    ///
    /// ## Why it is bad
    ///
    /// The API server accepts the NodeOverlay, but Karpenter runs neither its controller nor its prices and capacities while the gate
    /// is off. The NodeOverlay gets no status that would say so.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1alpha1
    /// kind: NodeOverlay
    /// metadata:
    ///   name: discount
    /// spec:
    ///   requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]
    ///   priceAdjustment: "-10%"
    /// ---
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: karpenter
    ///   namespace: kube-system
    /// spec:
    ///   chart: {spec: {chart: karpenter}}
    ///   values:
    ///     settings:
    ///       featureGates: {nodeOverlay: false}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: karpenter.sh/v1alpha1
    /// kind: NodeOverlay
    /// metadata:
    ///   name: discount
    /// spec:
    ///   requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]
    ///   priceAdjustment: "-10%"
    /// ---
    /// apiVersion: helm.toolkit.fluxcd.io/v2
    /// kind: HelmRelease
    /// metadata:
    ///   name: karpenter
    ///   namespace: kube-system
    /// spec:
    ///   chart: {spec: {chart: karpenter}}
    ///   values:
    ///     settings:
    ///       featureGates: {nodeOverlay: true}
    /// ```
    ///
    /// ## What it needs
    ///
    /// The values of the chart, or the Deployment of the controller, must be in the input and set the gate. If the input has several
    /// of them, each must turn the gate off. The policy looks up none of them, so the finding is only in the report of files.
    ///
    /// ## References
    ///
    /// - `FeatureGates.NodeOverlay` in `pkg/controllers/controllers.go` and `pkg/cloudprovider/overlay/cloudprovider.go` of
    ///   kubernetes-sigs/karpenter at v1.14.1
    /// - kubernetes-sigs/karpenter#2404, which added the gate
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::since(7),
        fix: Fixes::None,
        summary: "a NodeOverlay has no effect, because the feature gate for overlays is off",
        runs: Runs::OnFiles,
        on: &[On::Kind(Kind::NODE_OVERLAY)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    if context.inventory.index::<Gates>().is_off("NodeOverlay") {
        let place = Place::value(object.kind_node().unwrap_or(object.root()));
        let message = "the feature gate NodeOverlay is off, so Karpenter ignores this NodeOverlay";
        findings.push(
            Finding::new(&RULE, place, message)
                .help("turn on `settings.featureGates.nodeOverlay`, or remove the NodeOverlay"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    const OVERLAY: &str = r"apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: a}
---
";

    fn controller(gates: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: Deployment
metadata: {{name: karpenter}}
spec: {{template: {{spec: {{containers: [{{name: controller, image: public.ecr.aws/karpenter/controller:1.14.0, env: [{{name: FEATURE_GATES, value: {gates:?}}}]}}]}}}}}}
---
"
        )
    }

    #[test]
    fn reports_overlays_where_the_gate_is_off() {
        let text = OVERLAY.to_owned() + &controller("NodeRepair=true,NodeOverlay=false");
        insta::assert_snapshot!(findings(&RULE, &text), @"
          2 | kind: NodeOverlay
            |       ^^^^^^^^^^^
        warning NodeOverlay/a kind [since 1.7]
          the feature gate NodeOverlay is off, so Karpenter ignores this NodeOverlay
          help: turn on `settings.featureGates.nodeOverlay`, or remove the NodeOverlay
        ");
    }

    #[test]
    fn accepts_the_gate_on_or_unknown_and_controllers_that_disagree() {
        silent(&RULE, OVERLAY);
        silent(&RULE, &(OVERLAY.to_owned() + &controller("NodeRepair=false")));
        let on = OVERLAY.to_owned() + &controller("NodeOverlay=true");
        silent(&RULE, &on);
        let off = controller("NodeOverlay=false");
        silent(&RULE, &(on + &off));
        silent(&RULE, &(OVERLAY.to_owned() + &off + &controller("NodeRepair=false")));
        assert!(!findings(&RULE, &(OVERLAY.to_owned() + &off + &off)).is_empty());
    }
}
