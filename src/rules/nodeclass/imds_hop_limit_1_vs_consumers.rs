use karpenter::kind::Kind;
use karpenter::release::Releases;
use objects::object::Object;
use objects::pod::Pod;
use objects::pod::metadata_service;
use rule::context::Context;
use rule::finding::{CaughtBy, Finding, Place, Severity};
use rule::{Fixes, On, Runs};
use scheduling::other_nodes::node_group_label;

use crate::rules::indexes::NodeClasses;
use crate::rules::pools_of_pod::selected;

rule! {
    /// ## What it does
    ///
    /// Finds the AWS Load Balancer Controller without `--aws-vpc-id` and `--aws-vpc-tags`, if a NodePool that can launch its
    /// nodes has an EC2NodeClass whose nodes answer pods no requests to the metadata service:
    /// `metadataOptions.httpPutResponseHopLimit` is 1, which is the default since Karpenter 1.0.
    ///
    /// Pods in the network of the host reach the metadata service anyway, and pods for node groups or Fargate do not run on
    /// nodes of Karpenter. The policy does not look up Deployments, so the finding is only in the report of files.
    ///
    /// ## Why it is bad
    ///
    /// The controller asks the metadata service for its VPC when it starts. The answer is dropped after one hop, which is the
    /// node itself. The controller stops (`failed to fetch VPC ID from instance metadata`), and no load balancer changes
    /// any more.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata: {name: aws-load-balancer-controller, namespace: kube-system}
    /// spec:
    ///   template:
    ///     spec:
    ///       containers:
    ///       - image: public.ecr.aws/eks/aws-load-balancer-controller:v2.13.0
    ///         args: [--cluster-name=prod]
    /// ---
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```yaml
    /// apiVersion: apps/v1
    /// kind: Deployment
    /// metadata: {name: aws-load-balancer-controller, namespace: kube-system}
    /// spec:
    ///   template:
    ///     spec:
    ///       containers:
    ///       - image: public.ecr.aws/eks/aws-load-balancer-controller:v2.13.0
    ///         args: [--cluster-name=prod, --aws-region=eu-west-1, --aws-vpc-id=vpc-0123456789abcdef0]
    /// ---
    /// apiVersion: karpenter.k8s.aws/v1
    /// kind: EC2NodeClass
    /// metadata:
    ///   name: default
    /// spec:
    ///   amiSelectorTerms: [{alias: al2023@v20250807}]
    /// ---
    /// apiVersion: karpenter.sh/v1
    /// kind: NodePool
    /// metadata:
    ///   name: default
    /// spec:
    ///   template:
    ///     spec:
    ///       nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
    /// ```
    ///
    /// A hop limit of 2 works as well, but then every pod can ask for the credentials of its node.
    ///
    /// ## References
    ///
    /// - `getVpcID` in pkg/aws/cloud.go of kubernetes-sigs/aws-load-balancer-controller at 0353352
    /// - pkg/apis/v1/ec2nodeclass.go (`HTTPPutResponseHopLimit`) of aws/karpenter-provider-aws at v1.0.0 and v1.14.1
    /// - kubernetes-sigs/aws-load-balancer-controller#3818, #3695; aws/karpenter-provider-aws#7200
    RULE {
        severity: Severity::Warning,
        caught_by: CaughtBy::Nobody,
        releases: Releases::ALL,
        fix: Fixes::None,
        summary: "a pod needs the metadata service, which the nodes of an EC2NodeClass keep from pods",
        runs: Runs::InAdmission,
        on: &[On::Kind(Kind::DEPLOYMENT)],
        inventory: &[],
        check: check,
    }
}

fn check<'d>(object: Object<'d>, context: &Context<'_, 'd>, findings: &mut Vec<Finding<'d>>) {
    let Some(pod) = Pod::of(object) else { return };
    let Some(container) = metadata_service::consumer(pod) else { return };
    if pod.expressions().any(|one| node_group_label(&one).is_some()) {
        return;
    }
    let fitting = selected(pod, context).into_iter().filter(|(_, untolerated)| untolerated.is_none());
    let mut classes =
        fitting.filter_map(|(pool, _)| Some(context.inventory.index::<NodeClasses>().of_pool(pool)?.0));
    let Some(class) = classes.find(|class| class.has_one_hop()) else { return };
    let message = format!(
        "the AWS Load Balancer Controller asks the metadata service for its VPC and stops without an answer on nodes of the EC2NodeClass `{}`, whose hop limit is 1",
        class.object().name()
    );
    let place = match container.node().get("args") {
        Some(args) => Place::key(args),
        None => Place::missing(container.node(), "args"),
    };
    let node = class.hop_limit().unwrap_or(class.object().name_node());
    findings.push(
        Finding::new(&RULE, place, message)
            .help("add `--aws-vpc-id` and `--aws-region`, or `vpcId` and `region` in the values of its chart")
            .related(Place::value(node), "the nodes of this class have a hop limit of 1"),
    );
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{findings, silent};

    fn controller(args: &str, spec: &str) -> String {
        format!(
            r"apiVersion: apps/v1
kind: Deployment
metadata: {{name: lbc}}
spec:
  template:
    spec:
      {spec}
      containers:
      - image: public.ecr.aws/eks/aws-load-balancer-controller:v2.13.0
        args: [{args}]
"
        )
    }

    fn class(options: &str) -> String {
        format!(
            r"---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: web}}
spec: {{role: a{options}}}
"
        ) + &pool("web")
    }

    fn pool(name: &str) -> String {
        format!(
            r"---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: {name}}}
spec: {{template: {{spec: {{nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: {name}}}}}}}}}
"
        )
    }

    const PLAIN: &str = "dnsPolicy: Default";

    #[test]
    fn reports_a_controller_that_asks_the_metadata_service() {
        insta::assert_snapshot!(findings(&RULE, &(controller("--cluster-name=a", PLAIN) + &class(""))), @"
         10 |         args: [--cluster-name=a]
            |         ^^^^
        warning Deployment/lbc spec.template.spec.containers[0].args [all]
          the AWS Load Balancer Controller asks the metadata service for its VPC and stops without an answer on nodes of the EC2NodeClass `web`, whose hop limit is 1
          help: add `--aws-vpc-id` and `--aws-region`, or `vpcId` and `region` in the values of its chart
          see line 14 metadata.name: the nodes of this class have a hop limit of 1
        ");
        let one = class(", metadataOptions: {httpPutResponseHopLimit: 1}");
        assert!(
            findings(&RULE, &(controller("", PLAIN) + &one))
                .contains("spec.metadataOptions.httpPutResponseHopLimit: the nodes")
        );
    }

    #[test]
    fn judges_no_class_that_the_input_has_twice() {
        let other = class(", metadataOptions: {httpPutResponseHopLimit: 2}").replace(&pool("web"), "");
        silent(&RULE, &(controller("", PLAIN) + &other + &class("")));
    }

    #[test]
    fn judges_the_classes_of_nodepools_that_can_launch_the_node() {
        let system = class(", metadataOptions: {httpPutResponseHopLimit: 2}").replace("web", "system");
        let both = |spec: &str| controller("", spec) + &class("") + &system;
        silent(&RULE, &both("nodeSelector: {karpenter.sh/nodepool: system}"));
        assert!(findings(&RULE, &both("nodeSelector: {karpenter.sh/nodepool: web}")).contains("`web`"));
        silent(&RULE, &both("nodeSelector: {role: infra}"));
        let tainted =
            pool("web").replace("{nodeClassRef", "{taints: [{key: gpu, effect: NoSchedule}], nodeClassRef");
        silent(&RULE, &(controller("", PLAIN) + &class("").replace(&pool("web"), &tainted)));
        silent(&RULE, &(controller("", PLAIN) + &class("").replace(&pool("web"), "")));
        silent(&RULE, &(controller("", PLAIN) + &class(", metadataOptions: '${METADATA}'")));
    }

    #[test]
    fn accepts_controllers_that_need_no_answer() {
        for args in
            ["--aws-vpc-id=vpc-1", "--aws-vpc-id, vpc-1", "'--aws-vpc-tags=Name=a'", "'{{ .Values.args }}'"]
        {
            silent(&RULE, &(controller(args, PLAIN) + &class("")));
        }
        for spec in [
            "hostNetwork: true",
            "nodeSelector: {eks.amazonaws.com/nodegroup: system}",
            "tolerations: [{key: eks.amazonaws.com/compute-type, value: fargate}]",
        ] {
            silent(&RULE, &(controller("", spec) + &class("")));
        }
        silent(&RULE, &controller("", PLAIN));
        silent(&RULE, &(controller("", PLAIN) + &class(", metadataOptions: {httpPutResponseHopLimit: 2}")));
        silent(
            &RULE,
            &(controller("", PLAIN) + &class(", metadataOptions: {httpPutResponseHopLimit: '${HOPS}'}")),
        );
    }
}
