use std::collections::{BTreeMap, BTreeSet};

use cluster::index::Index;
use cluster::inventory::Inventory;
use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::tree::Node;
use objects::chart_values::{self, ChartValues};
use objects::controller::{CLUSTER_NAME, Controller, INTERRUPTION_QUEUE};
use objects::interruption_queue::CreatedQueue;
use objects::object::Object;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use values::placeholder::has_placeholder;

use crate::rules::folders::folder;
use crate::rules::indexes::KarpenterModules;
use crate::rules::names::is_certainly_other;

rule! {
    /// ## What it does
    ///
    /// Compares the interruption queue of the controller with the queues that the same Terraform configuration creates: through the
    /// submodule `karpenter` of terraform-aws-modules/eks, eks-blueprints-addons, or an `aws_sqs_queue` with Karpenter's name.
    ///
    /// A module is compared if it is in the same folder as the controller's values, or if both name the same cluster. A name that only
    /// Terraform knows is compared with a name that contains it: `prod` differs from `Karpenter-prod` whatever the cluster is called.
    ///
    /// ## Why it is bad
    ///
    /// Karpenter finds no queue with this name, so it gets no notice before EC2 takes an instance back. The submodule calls its queue
    /// `Karpenter-<cluster>` and eks-blueprints-addons `karpenter-<cluster>`, but the getting started guide calls it like the cluster.
    ///
    /// ## Example
    ///
    /// The first document is the call of a module in Terraform's JSON syntax.
    ///
    /// ```yaml
    /// module:
    ///   karpenter:
    ///     source: terraform-aws-modules/eks/aws//modules/karpenter
    ///     cluster_name: prod
    /// ---
    /// settings:
    ///   clusterName: prod
    ///   interruptionQueue: prod
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// module:
    ///   karpenter:
    ///     source: terraform-aws-modules/eks/aws//modules/karpenter
    ///     cluster_name: prod
    /// ---
    /// settings:
    ///   clusterName: prod
    ///   interruptionQueue: Karpenter-prod
    /// ```
    ///
    /// In Terraform, refer to the output `queue_name` of the module.
    ///
    /// ## References
    ///
    /// - modules/karpenter/main.tf of terraform-aws-modules/terraform-aws-eks at v21.9.0; main.tf of
    ///   aws-ia/terraform-aws-eks-blueprints-addons at v1.9.2
    /// - `NewControllers` in pkg/controllers/controllers.go at v1.14.1
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Controller,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "the controller reads another interruption queue than the one that Terraform creates",
        runs: Runs::OnFiles,
        on: &[On::Kind(Kind::DEPLOYMENT), On::ChartValues],
        inventory: &[],
        check: check,
    }
}

/// Name of a queue that the input creates.
#[derive(Debug)]
struct NamedQueue<'d> {
    /// The name; empty if AWS chooses it.
    name: String,
    node: Node<'d>,
    is_for_karpenter: bool,
    /// The reference with which a configuration gets the name from the module.
    reference: Option<String>,
}

/// Queues, each name once.
#[derive(Debug, Default)]
struct NamedQueues<'d> {
    queues: Vec<NamedQueue<'d>>,
    names: BTreeSet<(String, bool)>,
}

impl<'d> NamedQueues<'d> {
    fn add(&mut self, queue: NamedQueue<'d>) {
        if self.names.insert((queue.name.clone(), queue.is_for_karpenter)) {
            self.queues.push(queue);
        }
    }
}

/// The queues that the input creates.
#[derive(Debug, Default)]
struct Queues<'d> {
    /// Of modules, by the name of their cluster, if it is known.
    by_cluster: BTreeMap<&'d str, NamedQueues<'d>>,
    /// Of modules whose cluster is not known, and of resources, by folder.
    by_folder: BTreeMap<&'d str, NamedQueues<'d>>,
    /// Of modules whose cluster is known, by folder.
    known_by_folder: BTreeMap<&'d str, NamedQueues<'d>>,
}

impl<'d> Queues<'d> {
    /// The queues that may be meant by a controller: of modules for the same cluster, and what is in the same folder. With an unknown cluster,
    /// every module in the folder may be for it.
    fn meant(&self, node: Node<'d>, cluster: Option<&str>) -> impl Iterator<Item = &NamedQueue<'d>> + Clone {
        let folder = folder(node);
        let of_modules = match cluster.filter(|name| !has_placeholder(name)) {
            Some(cluster) => self.by_cluster.get(cluster),
            None => self.known_by_folder.get(folder),
        };
        of_modules.into_iter().chain(self.by_folder.get(folder)).flat_map(|named| &named.queues)
    }
}

impl Index for Queues<'static> {
    type Value<'d> = Queues<'d>;

    fn compute<'d>(inventory: &Inventory<'d>) -> Queues<'d> {
        let mut queues = Queues::default();
        for module in inventory.index::<KarpenterModules>() {
            let Some(queue) = module.queue() else { continue };
            let named = || NamedQueue {
                name: queue.text.clone(),
                node: queue.node,
                is_for_karpenter: true,
                reference: Some(module.queue_reference()),
            };
            let own = folder(module.object().root());
            let cluster = module.cluster_name().and_then(Node::as_str);
            if let Some(cluster) = cluster.filter(|name| !has_placeholder(name)) {
                queues.by_cluster.entry(cluster).or_default().add(named());
                queues.known_by_folder.entry(own).or_default().add(named());
            } else {
                queues.by_folder.entry(own).or_default().add(named());
            }
        }
        for queue in inventory.own().iter().copied().filter_map(CreatedQueue::of) {
            let name = queue.name_text().unwrap_or_default();
            let node = queue.name().unwrap_or(queue.node());
            let is_for_karpenter = queue.is_for_karpenter() && !name.is_empty();
            let named = NamedQueue { name, node, is_for_karpenter, reference: None };
            queues.by_folder.entry(folder(queue.node())).or_default().add(named);
        }
        queues
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let controller = Controller::of(object);
    let values = chart_values::of_this_cluster(object);
    let in_values = values.and_then(ChartValues::interruption_queue);
    let set = controller.as_ref().and_then(|controller| controller.setting(INTERRUPTION_QUEUE).text());
    let Some((name, node)) = set.or_else(|| in_values.and_then(|node| Some((node.as_str()?, node)))) else {
        return;
    };
    // An ARN or a URL is a mistake that another rule reports.
    if name.is_empty() || (!has_placeholder(name) && name.contains(['/', ':'])) {
        return;
    }
    let in_values = values.and_then(ChartValues::cluster_name).and_then(Node::as_str);
    let cluster = controller.as_ref().and_then(|one| Some(one.setting(CLUSTER_NAME).text()?.0)).or(in_values);
    let mut queues = context.inventory.index::<Queues>().meant(node, cluster);
    let Some(expected) = queues.clone().find(|queue| queue.is_for_karpenter) else { return };
    let is_other = |queue: &NamedQueue<'_>| {
        if queue.is_for_karpenter {
            is_certainly_other(name, &queue.name)
        } else {
            queue.name != name && !has_placeholder(&queue.name)
        }
    };
    if !queues.all(is_other) {
        return;
    }
    let message = format!(
        "the controller reads the queue `{name}`, but this configuration creates the queue `{}` for it",
        expected.name
    );
    let finding = Finding::at(&RULE, node, message);
    let reference = expected.reference.as_ref();
    let reference =
        reference.map(|text| format!("; in Terraform, refer to what creates the queue: `{text}`"));
    let finding = finding.help(format!("write `{}`{}", expected.name, reference.unwrap_or_default()));
    findings.push(finding.related(Place::value(expected.node), "the name of the queue comes from here"));
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, findings_in_files, silent};
    use rule::settings::Settings;

    fn module(arguments: &str) -> String {
        format!(
            "module:\n  k:\n    source: terraform-aws-modules/eks/aws//modules/karpenter\n    {arguments}\n---\n"
        )
    }

    fn values(cluster: &str, queue: &str) -> String {
        format!("settings:\n  clusterName: '{cluster}'\n  interruptionQueue: '{queue}'\n")
    }

    #[test]
    fn reports_a_queue_that_the_module_does_not_create() {
        let text = module("cluster_name: prod") + &values("prod", "prod");
        insta::assert_snapshot!(findings(&RULE, &text), @"
          8 |   interruptionQueue: 'prod'
            |                      ^^^^^^
        warning / settings.interruptionQueue [all]
          the controller reads the queue `prod`, but this configuration creates the queue `Karpenter-prod` for it
          help: write `Karpenter-prod`; in Terraform, refer to what creates the queue: `${module.k.queue_name}`
          see line 4 cluster_name: the name of the queue comes from here
        ");
        let reference = "${module.eks.cluster_name}";
        let text = module(&format!("cluster_name: '{reference}'")) + &values(reference, reference);
        assert!(findings(&RULE, &text).contains("creates the queue `Karpenter-${module.eks.cluster_name}`"));
        let other = "---\nResources: {a: {Type: 'AWS::SQS::Queue', Properties: {QueueName: jobs}}}\n";
        assert!(findings(&RULE, &(text.clone() + other)).contains("creates the queue"));
        silent(&RULE, &(text + &other.replace("jobs", &format!("'{reference}'"))));
        let text = module("{cluster_name: prod, queue_name: a}").replace("    {", "    x: {");
        silent(&RULE, &(text + &values("prod", "Karpenter-prod")));
    }

    #[test]
    fn accepts_names_that_may_be_the_name_of_the_queue() {
        for queue in
            ["Karpenter-prod", "${module.k.queue_name}", "${aws_sqs_queue.a.name}", "", "{{ queue }}"]
        {
            silent(&RULE, &(module("cluster_name: prod") + &values("prod", queue)));
        }
        let open = module("cluster_name: '${var.cluster}'");
        silent(&RULE, &(open.clone() + &values("prod", "prod")));
        silent(&RULE, &(open + &values("${var.cluster}", "Karpenter-${var.cluster}")));
        silent(&RULE, &(module("cluster_name: dev") + &values("prod", "prod")));
        silent(&RULE, &(module("enable_spot_termination: false") + &values("prod", "prod")));
    }

    #[test]
    fn compares_with_queues_of_the_same_folder() {
        let queue =
            "Resources:\n  karpenter: {Type: 'AWS::SQS::Queue', Properties: {QueueName: prod-queue}}\n";
        let found = |file: &str, text: &str| {
            let files = [(file, queue), ("a/values.yaml", text)];
            findings_in_files(&RULE, &files, &Settings::default())
        };
        assert!(found("a/q.yaml", &values("prod", "prod")).contains("creates the queue `prod-queue`"));
        assert_eq!(found("a/q.yaml", &values("prod", "prod-queue")), "");
        assert_eq!(found("b/q.yaml", &values("prod", "prod")), "");
        let other = queue.replace("karpenter", "other");
        silent(&RULE, &(other + "---\n" + &values("prod", "prod")));
    }
}
