use karpenter::labels::DO_NOT_DISRUPT;
use karpenter::release::Releases;
use objects::job::JobSpec;
use objects::object::Object;
use objects::pod::Pod;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Finds Jobs and CronJobs with `backoffLimit: 0` whose pods lack `karpenter.sh/do-not-disrupt`.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter evicts pods when it consolidates or replaces their node. A Job with `backoffLimit: 0` does not start
    /// another pod, so the eviction fails the Job.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: batch/v1
    /// kind: Job
    /// metadata:
    ///   name: migrate
    /// spec:
    ///   backoffLimit: 0
    ///   template:
    ///     spec:
    ///       restartPolicy: Never
    ///       containers: [{name: migrate, image: "example.com/migrate:1"}]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: batch/v1
    /// kind: Job
    /// metadata:
    ///   name: migrate
    /// spec:
    ///   backoffLimit: 0
    ///   activeDeadlineSeconds: 7200
    ///   template:
    ///     metadata:
    ///       annotations: {karpenter.sh/do-not-disrupt: "true"}
    ///     spec:
    ///       restartPolicy: Never
    ///       containers: [{name: migrate, image: "example.com/migrate:1"}]
    /// ```
    ///
    /// ## References
    ///
    /// - kubernetes-sigs/karpenter#701; aws/karpenter-provider-aws#3778, #3594
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "an eviction by Karpenter fails a Job that does not try again",
        runs: Runs::InAdmission,
        on: &[On::Workload],
        inventory: &[],
        opt_in: true,
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let (Some(job), Some(pod)) = (JobSpec::of(object), Pod::of(object)) else { return };
    let limit = job.backoff_limit().filter(|node| node.as_int() == Some(0));
    let Some(limit) = limit.filter(|_| pod.metadata().annotation(DO_NOT_DISRUPT).is_none()) else { return };
    // A policy can ignore pods that were disrupted.
    if job.pod_failure_policy().is_some() {
        return;
    }
    let message = "Karpenter may evict the pod when it consolidates or replaces its node, and this Job does not try again";
    findings.push(Finding::at(&RULE, limit, message).help(
        "annotate the pod template with `karpenter.sh/do-not-disrupt: \"true\"` and set `activeDeadlineSeconds`, or allow another try",
    ));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn job(spec: &str, metadata: &str) -> String {
        format!(
            r"apiVersion: batch/v1
kind: Job
metadata: {{name: a}}
spec:
  {spec}
  template: {{metadata: {{{metadata}}}, spec: {{restartPolicy: Never, containers: []}}}}
"
        )
    }

    #[test]
    fn reports_jobs_that_an_eviction_fails() {
        insta::assert_snapshot!(findings(&RULE, &job("backoffLimit: 0", "")), @r#"
          5 |   backoffLimit: 0
            |                 ^
        info Job/a spec.backoffLimit [all]
          Karpenter may evict the pod when it consolidates or replaces its node, and this Job does not try again
          help: annotate the pod template with `karpenter.sh/do-not-disrupt: "true"` and set `activeDeadlineSeconds`, or allow another try
        "#);
    }

    #[test]
    fn accepts_further_tries_protection_and_failure_policies() {
        for spec in ["backoffLimit: 1", "parallelism: 1", "backoffLimit: 0\n  podFailurePolicy: {rules: []}"]
        {
            silent(&RULE, &job(spec, ""));
        }
        silent(&RULE, &job("backoffLimit: 0", "annotations: {karpenter.sh/do-not-disrupt: 'true'}"));
    }
}
