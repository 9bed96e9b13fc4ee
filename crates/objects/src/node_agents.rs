//! The agents that run on every node: network plugins and CSI drivers, with the taints that they remove from their node.

use karpenter::kind::Kind;
use manifest::tree::Node;

use crate::addon::VpcCniAddon;
use crate::object::Object;
use crate::pod::Pod;

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

    /// Whether the agent connects pods to the network. A node has one network plugin, or Cilium chained to another plugin.
    pub const fn is_network_plugin(self) -> bool {
        matches!(self, Self::Cilium | Self::VpcCni)
    }

    /// Whether only some pods need the agent, so that a cluster may run it on some nodes: the drivers of shared file systems
    /// and buckets.
    ///
    /// Mountpoint for S3 tolerates every taint by default only since v2: `node.tolerateAllTaints` in
    /// charts/aws-mountpoint-s3-csi-driver/values.yaml of awslabs/mountpoint-s3-csi-driver.
    pub const fn is_optional(self) -> bool {
        matches!(self, Self::EfsCsi | Self::FsxCsi | Self::S3Csi)
    }

    /// The agent of a DaemonSet, and the image that shows it.
    pub fn find(pod: Pod<'_>) -> Option<(Self, Node<'_>)> {
        let is_daemon_set = pod.object().kind() == "DaemonSet";
        Self::ALL.into_iter().filter(|_| is_daemon_set).find_map(|agent| {
            let mut containers = pod.spec().containers();
            let container = containers.find(|container| container.image_name() == Some(agent.image()))?;
            Some((agent, container.image()?))
        })
    }
}

/// The key of the taint of Cilium, unless its configuration has another.
pub const CILIUM_TAINT: &str = "node.cilium.io/agent-not-ready";

/// The agents of a cluster: of each the first DaemonSet.
#[derive(Debug, Default)]
pub struct NodeAgents<'d> {
    found: Vec<FoundAgent<'d>>,
    /// The VPC CNI plugin as the only add-on with settings in the input.
    addon: Option<VpcCniAddon<'d>>,
    cilium_config: Option<Object<'d>>,
}

/// An agent of a cluster.
#[derive(Debug)]
struct FoundAgent<'d> {
    agent: NodeAgent,
    pod: Pod<'d>,
    image: Node<'d>,
    /// Whether no other DaemonSet runs the same agent.
    is_only: bool,
}

impl<'d> NodeAgents<'d> {
    /// Finds the agents among the pods and the objects of a cluster.
    pub fn of(objects: &[Object<'d>], pods: &[Pod<'d>]) -> Self {
        let mut agents = Self::default();
        for pod in pods {
            let Some((agent, image)) = NodeAgent::find(*pod) else { continue };
            match agents.found.iter_mut().find(|found| found.agent == agent) {
                Some(found) => found.is_only = false,
                None => agents.found.push(FoundAgent { agent, pod: *pod, image, is_only: true }),
            }
        }
        let mut addons = objects.iter().filter_map(|object| VpcCniAddon::of(*object));
        // Several add-ons are for several clusters.
        agents.addon = addons.next().filter(|_| addons.next().is_none());
        let config_map = Kind::of("", "v1", "ConfigMap");
        let is_config = |object: &&Object<'d>| object.is(config_map) && object.name() == "cilium-config";
        agents.cilium_config = objects.iter().find(is_config).copied();
        agents
    }

    /// The pod template of an agent, and the image that shows it.
    pub fn find(&self, agent: NodeAgent) -> Option<(Pod<'d>, Node<'d>)> {
        let found = self.found.iter().find(|found| found.agent == agent)?;
        Some((found.pod, found.image))
    }

    /// Whether an object is the only DaemonSet of an agent. A second one, as for Windows, runs on other nodes.
    pub fn is_only(&self, agent: NodeAgent, object: Object<'d>) -> bool {
        self.found.iter().any(|found| found.agent == agent && found.is_only && found.pod.object() == object)
    }

    /// Whether the cluster has a network plugin other than an agent.
    pub fn has_other_network_plugin(&self, agent: NodeAgent) -> bool {
        self.found.iter().any(|found| found.agent != agent && found.agent.is_network_plugin())
    }

    /// Whether an object installs the VPC CNI plugin: a DaemonSet, or an add-on with settings if there is no DaemonSet.
    pub fn is_vpc_cni(&self, object: Object<'d>) -> bool {
        match self.find(NodeAgent::VpcCni) {
            Some((pod, _)) => pod.object() == object,
            None => self.addon.is_some_and(|addon| addon.object() == object),
        }
    }

    /// The value of an environment variable of the VPC CNI plugin: of the DaemonSet, or in the settings of the add-on.
    pub fn vpc_cni_variable(&self, name: &'static str) -> Option<Node<'d>> {
        let Some((pod, _)) = self.find(NodeAgent::VpcCni) else { return self.addon?.variable(name) };
        pod.spec().containers().flat_map(|container| container.variables(name)).last()?.value()
    }

    /// A value of the ConfigMap `cilium-config`.
    pub fn cilium_setting(&self, key: &str) -> Option<&'d str> {
        self.cilium_config?.at(&["data"])?.get(key)?.as_str()
    }
}
