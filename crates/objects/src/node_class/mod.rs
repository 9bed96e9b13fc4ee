//! EC2NodeClasses.

mod block_device;
mod kubelet;
mod selector;

use karpenter::kind::Kind;
use manifest::tree::{Members, Node, items_of, members_of};

use crate::object::Object;
use crate::status::StatusCondition;

pub use block_device::{BlockDeviceMapping, EbsBlockDevice};
pub use kubelet::KubeletConfiguration;
pub use selector::{SelectorField, SelectorTerm, SelectorTerms, TermField};

/// View of an EC2NodeClass.
#[derive(Clone, Copy, Debug)]
pub struct Ec2NodeClass<'d>(Object<'d>);

impl<'d> Ec2NodeClass<'d> {
    /// The object as an EC2NodeClass, where it is one.
    pub fn of(object: Object<'d>) -> Option<Self> {
        object.is_in_any_version(Kind::NODE_CLASS).then_some(Self(object))
    }

    /// The object.
    pub fn object(self) -> Object<'d> {
        self.0
    }

    /// `spec.role`.
    pub fn role(self) -> Option<Node<'d>> {
        self.0.spec()?.get("role")
    }

    /// `spec.instanceProfile`.
    pub fn instance_profile(self) -> Option<Node<'d>> {
        self.0.spec()?.get("instanceProfile")
    }

    /// `spec.amiFamily`.
    pub fn ami_family(self) -> Option<Node<'d>> {
        self.0.spec()?.get("amiFamily")
    }

    /// The aliases in `spec.amiSelectorTerms`.
    pub fn ami_aliases(self) -> impl Iterator<Item = Node<'d>> {
        self.terms(SelectorField::Amis).items().filter_map(|term| term.field(TermField::Alias))
    }

    /// A list of selector terms.
    pub fn terms(self, field: SelectorField) -> SelectorTerms<'d> {
        SelectorTerms::new(self.0.spec().and_then(|spec| spec.get(field.name())))
    }

    /// `spec.userData`.
    pub fn user_data(self) -> Option<Node<'d>> {
        self.0.spec()?.get("userData")
    }

    /// The members of `spec.tags`.
    pub fn tags(self) -> Members<'d> {
        members_of(self.0.spec().and_then(|spec| spec.get("tags")))
    }

    /// `spec.instanceStorePolicy`.
    pub fn instance_store_policy(self) -> Option<Node<'d>> {
        self.0.spec()?.get("instanceStorePolicy")
    }

    /// `spec.placementGroupSelector`.
    pub fn placement_group(self) -> Option<Node<'d>> {
        self.0.spec()?.get("placementGroupSelector")
    }

    /// `spec.metadataOptions.httpTokens`, unless it is null.
    pub fn http_tokens(self) -> Option<Node<'d>> {
        self.metadata_option("httpTokens")
    }

    /// `spec.metadataOptions.httpPutResponseHopLimit`, unless it is null. The default is 1.
    pub fn hop_limit(self) -> Option<Node<'d>> {
        self.metadata_option("httpPutResponseHopLimit")
    }

    /// Whether the nodes answer only their own network about metadata: a hop limit of 1, or none. Options that are a text,
    /// such as a placeholder, can have another limit.
    pub fn has_one_hop(self) -> bool {
        let options = self.0.spec().and_then(|spec| spec.get("metadataOptions"));
        let is_unknown = options.is_some_and(|node| node.as_str().is_some());
        !is_unknown && self.hop_limit().is_none_or(|node| node.as_int() == Some(1))
    }

    fn metadata_option(self, key: &str) -> Option<Node<'d>> {
        self.0.spec()?.get("metadataOptions")?.get(key).filter(|node| !node.is_null())
    }

    /// `spec.kubelet`.
    pub fn kubelet(self) -> Option<KubeletConfiguration<'d>> {
        self.0.spec()?.get("kubelet").map(KubeletConfiguration::new)
    }

    /// The items of `spec.blockDeviceMappings` that are objects.
    pub fn block_device_mappings(self) -> impl Iterator<Item = BlockDeviceMapping<'d>> {
        let list = self.0.spec().and_then(|spec| spec.get("blockDeviceMappings"));
        items_of(list).filter(|item| item.is_mapping()).map(BlockDeviceMapping::new)
    }

    /// `status`.
    pub fn status(self) -> Option<Ec2NodeClassStatus<'d>> {
        self.0.root().get("status").map(Ec2NodeClassStatus)
    }
}

/// View of `status`, which the controller writes.
#[derive(Clone, Copy, Debug)]
pub struct Ec2NodeClassStatus<'d>(Node<'d>);

impl<'d> Ec2NodeClassStatus<'d> {
    /// The whole `status`.
    pub fn node(self) -> Node<'d> {
        self.0
    }

    /// `conditions`.
    pub fn condition_list(self) -> Option<Node<'d>> {
        self.0.get("conditions")
    }

    /// The items of `conditions` that parse.
    pub fn conditions(self) -> impl Iterator<Item = StatusCondition<'d>> {
        items_of(self.condition_list()).filter_map(StatusCondition::parse)
    }

    /// `subnets`.
    pub fn subnets(self) -> Option<Node<'d>> {
        self.0.get("subnets")
    }

    /// `securityGroups`.
    pub fn security_groups(self) -> Option<Node<'d>> {
        self.0.get("securityGroups")
    }

    /// `amis`.
    pub fn amis(self) -> Option<Node<'d>> {
        self.0.get("amis")
    }

    /// `instanceProfile`.
    pub fn instance_profile(self) -> Option<Node<'d>> {
        self.0.get("instanceProfile")
    }
}
