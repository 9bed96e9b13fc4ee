//! Selector terms: how an EC2NodeClass finds subnets, security groups, images and capacity reservations.

use manifest::tree::{Members, Node, items_of, members_of};

/// A list of selector terms in `spec`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectorField {
    /// `subnetSelectorTerms`.
    Subnets,
    /// `securityGroupSelectorTerms`.
    SecurityGroups,
    /// `amiSelectorTerms`.
    Amis,
    /// `capacityReservationSelectorTerms`.
    CapacityReservations,
}

impl SelectorField {
    /// The key of the list.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Subnets => "subnetSelectorTerms",
            Self::SecurityGroups => "securityGroupSelectorTerms",
            Self::Amis => "amiSelectorTerms",
            Self::CapacityReservations => "capacityReservationSelectorTerms",
        }
    }
}

/// A field of a selector term. No list accepts all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermField {
    /// `alias`.
    Alias,
    /// `id`.
    Id,
    /// `instanceMatchCriteria`.
    InstanceMatchCriteria,
    /// `name`.
    Name,
    /// `owner`.
    Owner,
    /// `ownerID`.
    OwnerId,
    /// `ssmParameter`.
    SsmParameter,
    /// `tags`.
    Tags,
}

impl TermField {
    /// The key of the field.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Alias => "alias",
            Self::Id => "id",
            Self::InstanceMatchCriteria => "instanceMatchCriteria",
            Self::Name => "name",
            Self::Owner => "owner",
            Self::OwnerId => "ownerID",
            Self::SsmParameter => "ssmParameter",
            Self::Tags => "tags",
        }
    }
}

/// View of a list of selector terms, which may be absent.
#[derive(Clone, Copy, Debug)]
pub struct SelectorTerms<'d>(Option<Node<'d>>);

impl<'d> SelectorTerms<'d> {
    pub(super) fn new(list: Option<Node<'d>>) -> Self {
        Self(list)
    }

    /// The list.
    pub fn node(self) -> Option<Node<'d>> {
        self.0
    }

    /// The terms.
    pub fn items(self) -> impl Iterator<Item = SelectorTerm<'d>> {
        items_of(self.0).map(SelectorTerm)
    }
}

/// View of a selector term.
#[derive(Clone, Copy, Debug)]
pub struct SelectorTerm<'d>(Node<'d>);

impl<'d> SelectorTerm<'d> {
    /// A field.
    pub fn field(self, field: TermField) -> Option<Node<'d>> {
        self.0.get(field.name())
    }

    /// A field, where it is a string.
    pub fn text(self, field: TermField) -> Option<&'d str> {
        self.field(field)?.as_str()
    }

    /// The members of `tags`.
    pub fn tags(self) -> Members<'d> {
        members_of(self.field(TermField::Tags))
    }
}
