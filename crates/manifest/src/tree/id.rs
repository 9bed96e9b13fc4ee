//! Ids of nodes and texts.

/// A node of a tree. Ids increase in parsing order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

impl NodeId {
    /// The outermost value.
    pub const ROOT: Self = Self(0);
    /// Link that leads nowhere.
    pub(crate) const NONE: Self = Self(u32::MAX);

    /// The node at an index of the arena. [`Limits::nodes`](crate::limits::Limits::nodes) is far below 2³².
    pub(crate) fn new(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// The node before this one in parsing order.
    pub(crate) fn previous(self) -> Option<Self> {
        self.0.checked_sub(1).map(Self)
    }

    /// The index in the arena.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A text of a tree: the main text, or a further text of an [assembled](super::Assembly) tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(u16);

impl SourceId {
    /// The main text.
    pub const MAIN: Self = Self(0);

    /// The further text at an index.
    pub(super) fn further(index: usize) -> Option<Self> {
        u16::try_from(index + 1).ok().map(Self)
    }

    /// The index among the further texts; `None` for the main text.
    pub(super) fn index_of_further(self) -> Option<usize> {
        usize::from(self.0).checked_sub(1)
    }
}
