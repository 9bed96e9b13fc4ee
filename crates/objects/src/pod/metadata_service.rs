//! Pods that ask the metadata service of their instance.

use manifest::tree::Node;
use values::placeholder::has_placeholder;

use super::{Container, Pod};

/// The flags with which the AWS Load Balancer Controller does not ask for its VPC.
///
/// Source: `getVpcID` in pkg/aws/cloud.go of kubernetes-sigs/aws-load-balancer-controller at 0353352.
const VPC_FLAGS: [&str; 2] = ["--aws-vpc-id", "--aws-vpc-tags"];

/// Returns the container of an AWS Load Balancer Controller that asks the metadata service for its VPC, through the network
/// of pods. A pod for Fargate does not start without the flag, wherever it runs.
pub fn consumer(pod: Pod<'_>) -> Option<Container<'_>> {
    let spec = pod.spec();
    let is_controller =
        |container: &Container<'_>| container.image_name() == Some("aws-load-balancer-controller");
    let container = spec.containers().find(is_controller)?;
    let is_answered =
        |word: &str| VPC_FLAGS.iter().any(|flag| word.starts_with(flag)) || has_placeholder(word);
    let mut words = container.arguments().filter_map(Node::as_str);
    // With the name of the node, which may be the ID of the instance, the controller asks EC2.
    let has_node_name = container.variables("NODENAME").next().is_some();
    let is_silent =
        words.any(is_answered) || has_node_name || spec.is_for_fargate() || spec.is_in_host_network();
    (!is_silent).then_some(container)
}
