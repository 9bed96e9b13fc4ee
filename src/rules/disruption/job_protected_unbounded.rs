use karpenter::labels::DO_NOT_DISRUPT;
use karpenter::release::Releases;
use objects::job::JobSpec;
use objects::object::Object;
use objects::pod::Pod;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

rule! {
    /// ## What it does
    ///
    /// Finds Jobs and CronJobs whose pods have `karpenter.sh/do-not-disrupt: "true"` and no deadline.
    ///
    /// ## Why it is bad
    ///
    /// The annotation keeps the node for as long as the pod runs. If a run hangs, nothing ends it: Karpenter neither
    /// consolidates nor replaces the node, not even for a security update, until a person deletes the pod. Drift and
    /// expiry wait as long, unless the NodePool has a `terminationGracePeriod`.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: batch/v1
    /// kind: Job
    /// metadata:
    ///   name: migrate
    /// spec:
    ///   template:
    ///     metadata:
    ///       annotations: {karpenter.sh/do-not-disrupt: "true"}
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
    /// - kubernetes-sigs/karpenter#752, #2656
    /// - website/content/en/v1.14/concepts/disruption.md of aws/karpenter-provider-aws, "Pod-Level Controls"
    RULE {
        severity: Severity::Info,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a protected Job has no deadline, so a run that hangs keeps its node",
        runs: Runs::InAdmission,
        on: &[On::Workload],
        inventory: &[],
        opt_in: true,
        check: check,
    }
}

fn check<'d>(object: Object<'d>, _: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let (Some(job), Some(pod)) = (JobSpec::of(object), Pod::of(object)) else { return };
    let protection = pod.metadata().annotation(DO_NOT_DISRUPT).filter(|node| node.as_str() == Some("true"));
    let Some(protection) = protection else { return };
    let deadline = job.active_deadline_seconds().or_else(|| pod.spec().active_deadline_seconds());
    if deadline.is_some_and(|node| !node.is_null()) {
        return;
    }
    let message = "this Job has no deadline: a run that hangs keeps its node, which Karpenter neither consolidates nor replaces";
    findings.push(
        Finding::new(&RULE, Place::key(protection), message)
            .help("set `activeDeadlineSeconds` of the Job to the longest time that a run may take"),
    );
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn job(spec: &str, annotation: &str) -> String {
        format!(
            r"apiVersion: batch/v1
kind: Job
metadata: {{name: a}}
spec:
  {spec}
  template:
    metadata: {{annotations: {{karpenter.sh/do-not-disrupt: '{annotation}'}}}}
    spec: {{restartPolicy: Never, containers: []}}
"
        )
    }

    #[test]
    fn reports_protected_jobs_without_a_deadline() {
        insta::assert_snapshot!(findings(&RULE, &job("parallelism: 1", "true")), @"
          7 |     metadata: {annotations: {karpenter.sh/do-not-disrupt: 'true'}}
            |                              ^^^^^^^^^^^^^^^^^^^^^^^^^^^
        info Job/a spec.template.metadata.annotations.karpenter.sh/do-not-disrupt [all]
          this Job has no deadline: a run that hangs keeps its node, which Karpenter neither consolidates nor replaces
          help: set `activeDeadlineSeconds` of the Job to the longest time that a run may take
        ");
        let cron = r"apiVersion: batch/v1
kind: CronJob
metadata: {name: a}
spec:
  jobTemplate:
    spec:
      template: {metadata: {annotations: {karpenter.sh/do-not-disrupt: 'true'}}, spec: {containers: []}}
";
        assert!(!findings(&RULE, cron).is_empty());
    }

    #[test]
    fn accepts_deadlines_and_jobs_without_protection() {
        silent(&RULE, &job("activeDeadlineSeconds: 60", "true"));
        silent(&RULE, &job("parallelism: 1", "false"));
        silent(&RULE, &job("parallelism: 1", "30m"));
        let in_pod =
            job("parallelism: 1", "true").replace("restartPolicy: Never", "activeDeadlineSeconds: 60");
        silent(&RULE, &in_pod);
        silent(
            &RULE,
            &job("parallelism: 1", "true").replace("batch/v1", "apps/v1").replace("Job", "Deployment"),
        );
    }
}
