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
        self.0.get("volumeSize").filter(|size| !size.is_null())
    }
}
