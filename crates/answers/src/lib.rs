//! Answers: what a program reads, as types.
//!
//! Every key of a JSON answer is a field here, with its documentation. The crate holds no logic: front ends build the
//! answers and print them.

pub mod catalog;
pub mod disruption;
pub mod hash;
mod or_empty;
pub mod page;
mod place;
pub mod plan;
pub mod report;
pub mod simulation;
pub mod statistics;
pub mod story;
pub mod summary;
mod time;
pub mod why;

use serde::Serialize;
use serde_json::Value;

pub use or_empty::OrEmpty;
pub use place::{CharacterRange, FieldPlace};
pub use time::DateTime;

/// Version of the shape of all answers.
pub const SCHEMA: u8 = 1;

/// Version of Karpwarden.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Number of instance types that an answer names for a node.
pub const MAX_NAMED_TYPES: usize = 5;

/// Returns an answer as JSON whose keys are sorted.
pub fn sorted(answer: &impl Serialize) -> serde_json::Result<Value> {
    serde_json::to_value(answer)
}

/// Instance type with its price.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct PricedType {
    /// Name of the instance type.
    pub name: String,
    /// USD per hour.
    pub price: f64,
}

impl PricedType {
    /// The first of the cheapest instance types.
    pub fn cheapest<'t, N: ToString + 't>(types: impl IntoIterator<Item = &'t (N, f64)>) -> Vec<Self> {
        let named = types.into_iter().take(MAX_NAMED_TYPES);
        named.map(|(name, price)| Self { name: name.to_string(), price: rounded(*price) }).collect()
    }
}

/// Rounds a price, to drop the noise of sums of binary fractions, and the sign of zero.
pub fn rounded(price: f64) -> f64 {
    (price * 1e6).round() / 1e6 + 0.0
}

/// A number with a comma after each three digits, such as `16,048`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{grouped, rounded};

    #[test]
    fn rounds_prices_to_a_zero_without_a_sign() {
        assert_eq!(rounded(0.1 + 0.2).to_string(), "0.3");
        for zero in [-0.0, -1e-9, 0.0] {
            assert_eq!(rounded(zero).to_string(), "0");
        }
    }

    #[test]
    fn groups_digits_by_three() {
        for (number, text) in
            [(0, "0"), (999, "999"), (1_000, "1,000"), (16_048, "16,048"), (1_234_567, "1,234,567")]
        {
            assert_eq!(grouped(number), text);
        }
    }
}
