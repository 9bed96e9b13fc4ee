use karpenter::cluster_name::placeholder;
use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};

use crate::rules::indexes::ClusterIdentity;

rule! {
    /// ## What it does
    ///
    /// When the manifests of several clusters are checked together, finds controllers of two clusters that read the
    /// same interruption queue.
    ///
    /// Queues in different accounts or regions may have the same name. If it is not known whether the accounts and
    /// regions differ, the finding is a warning.
    ///
    /// ## Why it is bad
    ///
    /// A controller deletes the messages about instances that it does not know. The controller that reads a message
    /// first takes it away from the other controller. AWS then reclaims spot instances of that cluster before Karpenter
    /// has drained their pods.
    ///
    /// ## Example
    ///
    /// Each document belongs to a different cluster, as with `--cluster one --cluster two`.
    ///
    /// ```yaml,clusters
    /// settings: {clusterName: one, interruptionQueue: karpenter}
    /// ---
    /// settings: {clusterName: two, interruptionQueue: karpenter}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml,clusters
    /// settings: {clusterName: one, interruptionQueue: one}
    /// ---
    /// settings: {clusterName: two, interruptionQueue: two}
    /// ```
    ///
    /// ## References
    ///
    /// - pkg/controllers/interruption/controller.go (deleteMessage) at v1.0.0 and v1.14.1
    RULE {
        severity: Severity::Error,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "controllers of two clusters read the same interruption queue",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::DEPLOYMENT), On::ChartValues],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let own = context.inventory.index::<ClusterIdentity>();
    let Some(queue) =
        own.queue.as_ref().filter(|mark| mark.object == object && placeholder(mark.text).is_none())
    else {
        return;
    };
    let earlier = context.clusters.iter().take_while(|other| !core::ptr::eq(*other, context.inventory));
    for other in earlier {
        let that = other.index::<ClusterIdentity>();
        let Some(same) = that.queue.as_ref().filter(|mark| name_of(mark.text) == name_of(queue.text)) else {
            continue;
        };
        let severity = match own.is_beside(that) {
            Some(true) => Severity::Error,
            None => Severity::Warning,
            Some(false) => continue,
        };
        let message = format!(
            "the controller of cluster `{}` also reads the queue `{}`, and each controller deletes the other's messages",
            other.name(),
            name_of(queue.text)
        );
        let finding = Finding::at(&RULE, queue.node, message).severity(severity);
        let finding = finding.help("give each cluster a separate queue, named after the cluster");
        findings.push(finding.related(Place::value(same.node), "the same queue"));
    }
}

/// Name of a queue that may be given as an ARN or a URL.
fn name_of(text: &str) -> &str {
    text.rsplit_once(['/', ':']).map_or(text, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::findings_of_clusters;

    fn controller(queue: &str, region: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: Deployment
metadata: {{name: karpenter}}
spec:
  template:
    spec:
      containers:
      - image: karpenter/controller
        env: [{{name: INTERRUPTION_QUEUE, value: '{queue}'}}, {{name: AWS_REGION, value: {region}}}]
"
        )
    }

    #[test]
    fn reports_queue_of_another_cluster() {
        let (one, two) = (controller("karpenter", "eu-west-1"), controller("karpenter", "eu-west-1"));
        insta::assert_snapshot!(findings_of_clusters(&super::RULE, &[&one, &two]), @"cluster-2: warning Deployment/karpenter spec.template.spec.containers[0].env[0].value: the controller of cluster `cluster-1` also reads the queue `karpenter`, and each controller deletes the other's messages");
    }

    #[test]
    fn ignores_separate_queues_and_queues_in_other_regions() {
        for (queue, region) in
            [("two", "eu-west-1"), ("karpenter", "eu-north-1"), ("${NAME}", "eu-west-1"), ("", "eu-west-1")]
        {
            let (one, two) = (controller("karpenter", "eu-west-1"), controller(queue, region));
            assert_eq!(findings_of_clusters(&super::RULE, &[&one, &two]), "");
        }
        let open = controller("${NAME}", "eu-west-1");
        assert_eq!(findings_of_clusters(&super::RULE, &[&open, &open]), "");
    }
}
