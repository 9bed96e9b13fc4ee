use karpenter::release::Releases;
use objects::object::Object;
use objects::pod::Pod;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{On, Runs};
use scheduling::provisionable::is_provisionable;

rule! {
    /// ## What it does
    ///
    /// Finds pods with `resourceClaims` (dynamic resource allocation).
    ///
    /// ## Why it is bad
    ///
    /// Until 1.6 Karpenter does not know the field, and creates a node for the other requests of the pod. Since 1.7
    /// Karpenter ignores such pods, and does not count the pods of DaemonSets with claims when it sizes a node, unless
    /// `IGNORE_DRA_REQUESTS` is `false`. With `IGNORE_DRA_REQUESTS=false`, 1.14 is the first release that allocates the
    /// claims.
    ///
    /// ## Example
    ///
    /// ```yaml,from=1.6 to 1.7
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: train
    /// spec:
    ///   resourceClaims: [{name: gpu, resourceClaimTemplateName: one-gpu}]
    ///   containers: [{name: train, image: "example.com/train:1", resources: {claims: [{name: gpu}]}}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// Request the device as a resource, which Karpenter counts:
    ///
    /// ```yaml,from=1.6 to 1.7
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: train
    /// spec:
    ///   containers: [{name: train, image: "example.com/train:1", resources: {limits: {nvidia.com/gpu: 1}}}]
    /// ```
    ///
    /// ## References
    ///
    /// - Upgrade guide, 1.7.0
    /// - pkg/controllers/provisioning/scheduling/scheduler.go and pkg/operator/options/options.go of
    ///   kubernetes-sigs/karpenter at v1.7.0 and v1.14.0
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Controller,
        releases: Releases::since(7),
        summary: "Karpenter ignores pods with resource claims",
        runs: Runs::OnUpgrade,
        on: &[On::Workload],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pod) = Pod::of(object).filter(|pod| is_provisionable(*pod) || pod.is_daemon()) else { return };
    let Some(claims) = pod.spec().resource_claims().filter(|claims| !claims.is_empty()) else { return };
    let message = if pod.is_daemon() {
        "Karpenter does not count these pods when it sizes a node, because they have resource claims"
    } else {
        "Karpenter ignores this pod and creates no node for it, because the pod has resource claims"
    };
    let help = "request the device as a resource, or run the pod on nodes that Karpenter does not create; 1.14 and later allocate claims with `IGNORE_DRA_REQUESTS=false`";
    findings.push(Finding::new(&RULE, Place::key(claims), message).help(help));
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{begins, begins_nothing};

    fn workload(kind: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: {kind}
metadata: {{name: a}}
spec:
  template:
    spec:
      containers: []
      resourceClaims: [{{name: gpu}}]
"
        )
    }

    #[test]
    fn claims_are_ignored_since_1_7() {
        insta::assert_snapshot!(begins(&super::RULE, "1.6", "1.7.0", &workload("Deployment")), @"
        from 1.7 on
          8 |       resourceClaims: [{name: gpu}]
            |       ^^^^^^^^^^^^^^
        warning Deployment/a spec.template.spec.resourceClaims [since 1.7]
          Karpenter ignores this pod and creates no node for it, because the pod has resource claims
          help: request the device as a resource, or run the pod on nodes that Karpenter does not create; 1.14 and later allocate claims with `IGNORE_DRA_REQUESTS=false`
        ");
        insta::assert_snapshot!(begins(&super::RULE, "1.6", "1.7.0", &workload("DaemonSet")), @"
        from 1.7 on
          8 |       resourceClaims: [{name: gpu}]
            |       ^^^^^^^^^^^^^^
        warning DaemonSet/a spec.template.spec.resourceClaims [since 1.7]
          Karpenter does not count these pods when it sizes a node, because they have resource claims
          help: request the device as a resource, or run the pod on nodes that Karpenter does not create; 1.14 and later allocate claims with `IGNORE_DRA_REQUESTS=false`
        ");
        begins_nothing(&super::RULE, "1.0", "1.6", &workload("Deployment"));
        begins_nothing(&super::RULE, "1.7", "1.14", &workload("Deployment"));
        begins_nothing(&super::RULE, "1.0", "1.14", &workload("Deployment").replace("[{name: gpu}]", "[]"));
    }
}
