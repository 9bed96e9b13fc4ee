use karpenter::release::Releases;
use objects::object::Object;
use objects::pod::Pod;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Finds containers without a request or limit for CPU or memory.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter chooses the size of a node by requests. A container without them counts as nothing, so Karpenter packs
    /// too many pods on a node: they throttle each other, and the node can run out of memory.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: web
    /// spec:
    ///   replicas: 2
    ///   selector: {matchLabels: {app: web}}
    ///   template:
    ///     metadata: {labels: {app: web}}
    ///     spec:
    ///       containers:
    ///       - name: web
    ///         image: "example.com/web:1"
    ///         resources: {}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata:
    ///   name: web
    /// spec:
    ///   replicas: 2
    ///   selector: {matchLabels: {app: web}}
    ///   template:
    ///     metadata: {labels: {app: web}}
    ///     spec:
    ///       containers:
    ///       - name: web
    ///         image: "example.com/web:1"
    ///         resources: {requests: {cpu: 100m, memory: 128Mi}}
    /// ```
    ///
    /// ## What it needs
    ///
    /// A LimitRange in the input silences the rule, because it may set the requests. The policy looks up no LimitRanges; the
    /// API server has written their defaults into a pod that it asks about, but not into a Deployment.
    ///
    /// ## References
    ///
    /// - aws/karpenter-provider-aws#6090
    /// - website/content/en/v1.14/troubleshooting.md of aws/karpenter-provider-aws
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a container without requests counts as nothing when Karpenter chooses a node",
        runs: Runs::InAdmission,
        on: &[On::Workload],
        inventory: &[],
        opt_in: true,
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pod) = Pod::of(object).filter(|pod| pod.spec().resources().is_none()) else { return };
    // A LimitRange of the namespace may set requests.
    if context.inventory.count("", "LimitRange") > 0 {
        return;
    }
    for container in pod.spec().containers() {
        let is_missing = |name: &&str| container.request(name).or_else(|| container.limit(name)).is_none();
        let missing: Vec<_> = ["cpu", "memory"].into_iter().filter(is_missing).collect();
        if missing.is_empty() {
            continue;
        }
        let missing = missing.join(" and ");
        let message = format!(
            "this container has no request for {missing}, so Karpenter packs its pods as if they needed none"
        );
        findings.push(
            Finding::new(&RULE, Place::value(container.node()), message)
                .help("set `resources.requests` to what the container uses under load"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn pod(resources: &str) -> String {
        format!(
            r"apiVersion: v1
kind: Pod
metadata: {{name: a}}
spec:
  containers: [{{name: a, resources: {{{resources}}}}}]
"
        )
    }

    #[test]
    fn reports_missing_requests() {
        insta::assert_snapshot!(findings(&RULE, &pod("requests: {cpu: 1}")), @"
          5 |   containers: [{name: a, resources: {requests: {cpu: 1}}}]
            |                 ^^^^
        info Pod/a spec.containers[0] [all]
          this container has no request for memory, so Karpenter packs its pods as if they needed none
          help: set `resources.requests` to what the container uses under load
        ");
        assert!(findings(&RULE, &pod("")).contains("cpu and memory"));
    }

    #[test]
    fn accepts_requests_limits_pod_level_resources_and_limit_ranges() {
        silent(&RULE, &pod("requests: {cpu: 1, memory: 1Gi}"));
        silent(&RULE, &pod("limits: {cpu: 1, memory: 1Gi}"));
        silent(&RULE, &(pod("") + "  resources: {requests: {cpu: 1, memory: 1Gi}}\n"));
        silent(
            &RULE,
            &(pod("")
                + r"---
apiVersion: v1
kind: LimitRange
metadata: {name: a}
spec: {limits: []}
"),
        );
    }
}
