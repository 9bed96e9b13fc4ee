//! The operators of requirements and node affinities.

/// How a requirement's values are compared with a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// One of the values.
    In,
    /// None of the values, or no such label.
    NotIn,
    /// Any value.
    Exists,
    /// No such label.
    DoesNotExist,
    /// Greater than the one value.
    Gt,
    /// Less than the one value.
    Lt,
    /// Greater than or equal to the one value; Karpenter's own, since 1.9.
    Gte,
    /// Less than or equal to the one value; Karpenter's own, since 1.9.
    Lte,
}

impl Operator {
    /// Reads an operator as the API spells it.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "In" => Self::In,
            "NotIn" => Self::NotIn,
            "Exists" => Self::Exists,
            "DoesNotExist" => Self::DoesNotExist,
            "Gt" => Self::Gt,
            "Lt" => Self::Lt,
            "Gte" => Self::Gte,
            "Lte" => Self::Lte,
            _ => return None,
        })
    }

    /// Whether a node without the label will do.
    pub const fn is_negative(self) -> bool {
        matches!(self, Self::NotIn | Self::DoesNotExist)
    }
}
