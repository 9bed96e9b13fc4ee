//! Block device mappings of an EC2NodeClass.

use manifest::tree::Node;

/// View of an item of `spec.blockDeviceMappings`. A field that is null counts as absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockDeviceMapping<'d>(Node<'d>);

impl<'d> BlockDeviceMapping<'d> {
    pub(super) fn new(item: Node<'d>) -> Self {
        Self(item)
    }

    /// The item.
    pub fn node(self) -> Node<'d> {
        self.0
    }

    /// `deviceName`.
    pub fn device_name(self) -> Option<Node<'d>> {
        self.0.get("deviceName").filter(|name| !name.is_null())
    }

    /// `ebs`.
    pub fn ebs(self) -> Option<EbsBlockDevice<'d>> {
        self.0.get("ebs").filter(|ebs| !ebs.is_null()).map(EbsBlockDevice)
    }

    /// Whether `rootVolume` is true.
    pub fn is_root_volume(self) -> bool {
        self.0.get("rootVolume").and_then(Node::as_bool) == Some(true)
    }
}

/// View of `ebs` in a block device mapping. A field that is null counts as absent.
#[derive(Clone, Copy, Debug)]
pub struct EbsBlockDevice<'d>(Node<'d>);

impl<'d> EbsBlockDevice<'d> {
    /// `volumeSize`.
    pub fn volume_size(self) -> Option<Node<'d>> {
        self.field("volumeSize")
    }

    /// `volumeType`.
    pub fn volume_type(self) -> Option<Node<'d>> {
        self.field("volumeType")
    }

    /// `iops`.
    pub fn iops(self) -> Option<Node<'d>> {
        self.field("iops")
    }

    /// `throughput`.
    pub fn throughput(self) -> Option<Node<'d>> {
        self.field("throughput")
    }

    /// `encrypted`.
    pub fn encrypted(self) -> Option<Node<'d>> {
        self.field("encrypted")
    }

    /// `kmsKeyID`.
    pub fn kms_key_id(self) -> Option<Node<'d>> {
        self.field("kmsKeyID")
    }

    fn field(self, key: &str) -> Option<Node<'d>> {
        self.0.get(key).filter(|node| !node.is_null())
    }
}
