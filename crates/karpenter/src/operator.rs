//! The operators of requirements and node affinities.

/// Operator of a requirement: the comparison of its values with a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// The label has one of the values.
    In,
    /// The label has none of the values, or is absent.
    NotIn,
    /// The label has any value.
    Exists,
    /// The label is absent.
    DoesNotExist,
    /// The label is greater than the value.
    Gt,
    /// The label is less than the value.
    Lt,
    /// The label is greater than or equal to the value. Only in Karpenter, since 1.9.
    Gte,
    /// The label is less than or equal to the value. Only in Karpenter, since 1.9.
    Lte,
}

impl Operator {
    /// Parses an operator in the spelling of the API.
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

    /// Whether a node without the label matches.
    pub const fn is_negative(self) -> bool {
        matches!(self, Self::NotIn | Self::DoesNotExist)
    }
}
