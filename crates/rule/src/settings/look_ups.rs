//! The objects that the policy looks up in the cluster.

use karpenter::kind::Kind;

/// The objects that the policy looks up in the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookUps {
    /// Every kind that rules compare with.
    All,
    /// Only NodePools.
    Pools,
    /// No objects.
    None,
}

impl LookUps {
    /// The names, the default first.
    pub const NAMES: [&str; 3] = ["all", "pools", "none"];

    /// Parses a name.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "all" => Some(Self::All),
            "pools" => Some(Self::Pools),
            "none" => Some(Self::None),
            _ => None,
        }
    }

    /// Whether objects of a kind are looked up.
    pub fn include(self, kind: Kind) -> bool {
        match self {
            Self::All => true,
            Self::Pools => kind == Kind::NODE_POOL,
            Self::None => false,
        }
    }
}
