//! Errors in a quantity.

/// A text that Kubernetes does not accept as a quantity, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantityError {
    pub(super) text: String,
    pub(super) problem: QuantityProblem,
}

/// Reason why a text is not a quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuantityProblem {
    /// The text is empty.
    Empty,
    /// Whitespace before, after or within the quantity.
    Whitespace,
    /// A number with a percent sign.
    Percentage,
    /// An unknown suffix, as written.
    Suffix(String),
    /// A suffix without a number.
    NoDigits,
    /// Another syntax error: a second point, a comma, a letter that is in no suffix.
    Syntax,
}

impl QuantityError {
    pub(super) fn new(text: &str, problem: QuantityProblem) -> Self {
        Self { text: text.to_owned(), problem }
    }

    /// The error for a text that cannot be split into sign, number and suffix.
    pub(super) fn syntax(text: &str) -> Self {
        let letters = text.trim_start_matches(|c: char| c.is_ascii_digit() || "+-.".contains(c));
        let problem = if text.trim().ends_with('%') {
            QuantityProblem::Percentage
        } else if text.contains(char::is_whitespace) {
            QuantityProblem::Whitespace
        } else if letters.len() < text.len()
            && letters.chars().all(|c| c.is_ascii_alphabetic() || !c.is_ascii())
        {
            QuantityProblem::Suffix(letters.to_owned())
        } else {
            QuantityProblem::Syntax
        };
        Self::new(text, problem)
    }

    /// The reason.
    pub const fn problem(&self) -> &QuantityProblem {
        &self.problem
    }
}
