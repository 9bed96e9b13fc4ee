//! The agents that run on every node: network plugins and CSI drivers, with the taints that they remove from their node.

use karpenter::kind::Kind;
use manifest::tree::Node;

use crate::object::Object;
use crate::pod::{Container, Pod};

/// An agent that runs on every node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeAgent {
    /// The agent of Cilium.
    Cilium,
    /// The VPC CNI plugin of AWS.
    VpcCni,
    /// The node plugin of the EBS CSI driver.
    EbsCsi,
    /// The node plugin of the EFS CSI driver.
    EfsCsi,
    /// The node plugin of the `FSx` CSI driver.
    FsxCsi,
    /// The node plugin of the Mountpoint for S3 CSI driver.
    S3Csi,
}

impl NodeAgent {
    /// Every agent.
    pub const ALL: [Self; 6] =
        [Self::Cilium, Self::VpcCni, Self::EbsCsi, Self::EfsCsi, Self::FsxCsi, Self::S3Csi];

    /// The last part of its image, without tag.
    const fn image(self) -> &'static str {
        match self {
            Self::Cilium => "cilium",
            Self::VpcCni => "amazon-k8s-cni",
            Self::EbsCsi => "aws-ebs-csi-driver",
            Self::EfsCsi => "aws-efs-csi-driver",
            Self::FsxCsi => "aws-fsx-csi-driver",
            Self::S3Csi => "aws-mountpoint-s3-csi-driver",
        }
    }

    /// The name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cilium => "the Cilium agent",
            Self::VpcCni => "the VPC CNI plugin",
            Self::EbsCsi => "the EBS CSI driver",
            Self::EfsCsi => "the EFS CSI driver",
            Self::FsxCsi => "the FSx CSI driver",
            Self::S3Csi => "the Mountpoint for S3 CSI driver",
        }
    }

    /// The key of the taint that the agent, or its operator, removes from a node on which the agent is ready. The VPC CNI
    /// plugin removes none.
    ///
    /// Sources: docs/install.md of kubernetes-sigs/aws-ebs-csi-driver, and the same file of the other drivers; docs.cilium.io
    /// "Considerations on Node Pool Taints and Unmanaged Pods".
    pub const fn taint(self) -> Option<&'static str> {
        match self {
            Self::Cilium => Some(CILIUM_TAINT),
            Self::VpcCni => None,
            Self::EbsCsi => Some("ebs.csi.aws.com/agent-not-ready"),
            Self::EfsCsi => Some("efs.csi.aws.com/agent-not-ready"),
            Self::FsxCsi => Some("fsx.csi.aws.com/agent-not-ready"),
            Self::S3Csi => Some("s3.csi.aws.com/agent-not-ready"),
        }
    }

    /// The agent of a DaemonSet, and the image that shows it.
    pub fn of(pod: Pod<'_>) -> Option<(Self, Node<'_>)> {
        let images = || pod.spec().containers().filter_map(Container::image);
        let is_daemon_set = pod.object().kind() == "DaemonSet";
        Self::ALL.into_iter().filter(|_| is_daemon_set).find_map(|agent| {
            let image = images().find(|image| image.as_str().map(last_part) == Some(agent.image()))?;
            Some((agent, image))
        })
    }
}

/// The key of the taint of Cilium, unless its configuration has another.
pub const CILIUM_TAINT: &str = "node.cilium.io/agent-not-ready";

/// The last part of an image's name, without tag and digest.
fn last_part(image: &str) -> &str {
    let name = image.rsplit('/').next().unwrap_or_default();
    name.split([':', '@']).next().unwrap_or_default()
}

/// The agents of a cluster: of each the first DaemonSet.
#[derive(Debug, Default)]
pub struct NodeAgents<'d> {
    found: Vec<(NodeAgent, Pod<'d>, Node<'d>)>,
    cilium_config: Option<Object<'d>>,
}

impl<'d> NodeAgents<'d> {
    /// Finds the agents among the pods and the objects of a cluster.
    pub fn of(objects: &[Object<'d>], pods: &[Pod<'d>]) -> Self {
        let mut agents = Self::default();
        for pod in pods {
            if let Some((agent, image)) = NodeAgent::of(*pod)
                && agents.find(agent).is_none()
            {
                agents.found.push((agent, *pod, image));
            }
        }
        let config_map = Kind::of("", "v1", "ConfigMap");
        let is_config = |object: &&Object<'d>| object.is(config_map) && object.name() == "cilium-config";
        agents.cilium_config = objects.iter().find(is_config).copied();
        agents
    }

    /// The pod template of an agent, and the image that shows it.
    pub fn find(&self, agent: NodeAgent) -> Option<(Pod<'d>, Node<'d>)> {
        let (_, pod, image) = self.found.iter().find(|(found, ..)| *found == agent)?;
        Some((*pod, *image))
    }

    /// The value of an environment variable of the VPC CNI plugin.
    pub fn vpc_cni_variable(&self, name: &'static str) -> Option<Node<'d>> {
        let (pod, _) = self.find(NodeAgent::VpcCni)?;
        pod.spec().containers().flat_map(|container| container.variables(name)).last()?.value()
    }

    /// A value of the ConfigMap `cilium-config`.
    pub fn cilium_setting(&self, key: &str) -> Option<&'d str> {
        self.cilium_config?.at(&["data"])?.get(key)?.as_str()
    }
}
