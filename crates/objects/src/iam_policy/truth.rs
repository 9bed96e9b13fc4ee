//! Three-valued truth, for requests that a policy's text describes only in part.

/// Whether something holds. The order makes `min` a conjunction and `max` a disjunction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Truth {
    /// It does not hold.
    No,
    /// It depends on what cannot be seen, such as a placeholder or a policy variable.
    Maybe,
    /// It holds.
    Yes,
}

impl Truth {
    /// Whether all of several facts hold.
    pub fn all(facts: impl IntoIterator<Item = Self>) -> Self {
        facts.into_iter().min().unwrap_or(Self::Yes)
    }

    /// Whether any of several facts holds.
    pub fn any(facts: impl IntoIterator<Item = Self>) -> Self {
        facts.into_iter().max().unwrap_or(Self::No)
    }

    /// Whether the opposite holds.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Maybe => Self::Maybe,
            Self::Yes => Self::No,
        }
    }
}

impl From<bool> for Truth {
    fn from(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}
