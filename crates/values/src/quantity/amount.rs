//! A quantity and its text.

use core::cmp::Ordering;
use core::fmt;

use super::error::{QuantityError, QuantityProblem};

/// An amount of a resource, exact to a billionth of its unit.
///
/// Quantities compare by value: `1Gi` equals `1024Mi`.
///
/// ```
/// use karpwarden_values::quantity::Quantity;
/// let memory = Quantity::parse("1.5Gi").unwrap();
/// assert_eq!(memory.to_string(), "1536Mi");
/// assert!(memory > Quantity::parse("1.5G").unwrap());
/// assert_eq!(Quantity::parse("1K").unwrap_err().suggestions(), ["1k", "1Ki"]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    /// Billionths of the unit. Go has no limit; here the largest decimal quantity is some 10^29 units.
    nano: i128,
    notation: Notation,
}

/// The family of suffixes in which a quantity is written and printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// Powers of a thousand: `m`, `k`, `M`, or no suffix.
    Decimal,
    /// Powers of 1024: `Ki`, `Mi`, `Gi`.
    Binary,
    /// A power of ten: `1e3`.
    Exponent,
}

const NANO: i128 = 1_000_000_000;

/// The largest binary quantity in units, at which Go caps.
const MAX_BINARY: i128 = i64::MAX as i128;

const DECIMAL_SUFFIXES: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];

const BINARY_SUFFIXES: [(&str, u32); 6] =
    [("Ki", 10), ("Mi", 20), ("Gi", 30), ("Ti", 40), ("Pi", 50), ("Ei", 60)];

/// The factor of a suffix.
#[derive(Clone, Copy)]
enum Scale {
    /// Ten to this power.
    Ten(i32, Notation),
    /// Two to this power.
    Two(u32),
}

impl Scale {
    fn parse(suffix: &str) -> Option<Self> {
        if let Some((_, power)) = DECIMAL_SUFFIXES.iter().find(|(name, _)| *name == suffix) {
            return Some(Self::Ten(*power, Notation::Decimal));
        }
        if let Some((_, power)) = BINARY_SUFFIXES.iter().find(|(name, _)| *name == suffix) {
            return Some(Self::Two(*power));
        }
        let power: i64 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
        #[expect(clippy::cast_possible_truncation, reason = "Go converts to int32 the same way")]
        Some(Self::Ten(power as i32, Notation::Exponent))
    }

    /// Whether Go parses a text without digits (`.`, `-`, `Gi`) as zero. Its fast path, which does not require a digit,
    /// handles the number in these cases.
    fn needs_no_digit(self) -> bool {
        match self {
            Self::Ten(power, _) => power >= -9,
            Self::Two(power) => power <= 40,
        }
    }
}

/// The parts of a quantity; the suffix may still be unknown.
struct Parts<'t> {
    negative: bool,
    whole: &'t str,
    fraction: &'t str,
    suffix: &'t str,
}

impl<'t> Parts<'t> {
    fn split(text: &'t str) -> Option<Self> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (whole, rest) = split_while(rest, |c| c.is_ascii_digit());
        let (fraction, suffix) = match rest.strip_prefix('.') {
            Some(rest) => split_while(rest, |c| c.is_ascii_digit()),
            None => ("", rest),
        };
        let (_, rest) = split_while(suffix, |c| "eEinumkKMGTP".contains(c));
        let digits = rest.strip_prefix(['-', '+']).unwrap_or(rest);
        digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(Self { negative, whole, fraction, suffix })
    }
}

fn split_while(text: &str, wanted: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c| !wanted(c)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

impl Quantity {
    /// Zero.
    pub const ZERO: Self = Self { nano: 0, notation: Notation::Decimal };

    /// Parses a quantity: an optional sign, digits with an optional point, and an optional suffix.
    ///
    /// Fractions below a billionth are rounded away from zero. A binary quantity is capped at 2^63-1 units.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        if text.is_empty() {
            return Err(QuantityError::new(text, QuantityProblem::Empty));
        }
        let parts = Parts::split(text).ok_or_else(|| QuantityError::syntax(text))?;
        let scale = Scale::parse(parts.suffix)
            .ok_or_else(|| QuantityError::new(text, QuantityProblem::Suffix(parts.suffix.to_owned())))?;
        if parts.whole.is_empty() && parts.fraction.is_empty() && !scale.needs_no_digit() {
            return Err(QuantityError::new(text, QuantityProblem::NoDigits));
        }
        let (nano, notation) = match scale {
            Scale::Ten(power, notation) => (decimal(parts.whole, parts.fraction, power), notation),
            Scale::Two(power) => {
                let nano = binary(parts.whole, parts.fraction, power);
                (nano, if (1..NANO).contains(&nano) { Notation::Decimal } else { Notation::Binary })
            }
        };
        Ok(Self { nano: if parts.negative { -nano } else { nano }, notation })
    }

    /// From a number of whole units.
    pub const fn from_units(units: i64) -> Self {
        Self { nano: units as i128 * NANO, notation: Notation::Decimal }
    }

    /// From billionths of the unit.
    pub const fn from_nano(nano: i128, notation: Notation) -> Self {
        Self { nano, notation }
    }

    /// The sum; saturates. Like in Go, zero takes the notation of the other quantity.
    pub const fn plus(self, other: Self) -> Self {
        let notation = if self.nano == 0 { other.notation } else { self.notation };
        Self { nano: self.nano.saturating_add(other.nano), notation }
    }

    /// The difference; saturates.
    pub const fn minus(self, other: Self) -> Self {
        self.plus(Self { nano: other.nano.saturating_neg(), notation: other.notation })
    }

    /// The amount in billionths of the unit.
    pub const fn nano(self) -> i128 {
        self.nano
    }

    /// Whole units, rounded away from zero; saturates. Go's `Value` rounds positive amounts the same way.
    pub fn units(self) -> i64 {
        saturated(round_up(self.nano, NANO))
    }

    /// Thousandths of the unit, rounded like [`Quantity::units`].
    pub fn milli(self) -> i64 {
        saturated(round_up(self.nano, NANO / 1_000))
    }

    /// The family of suffixes in which the quantity is written.
    pub const fn notation(self) -> Notation {
        self.notation
    }

    /// Whether the amount is below zero.
    pub const fn is_negative(self) -> bool {
        self.nano < 0
    }

    /// Whether the amount is zero.
    pub const fn is_zero(self) -> bool {
        self.nano == 0
    }
}

fn saturated(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
}

fn round_up(value: i128, unit: i128) -> i128 {
    let (whole, rest) = (value / unit, value % unit);
    if rest == 0 { whole } else { whole + rest.signum() }
}

fn digit(byte: u8) -> i128 {
    i128::from(byte.wrapping_sub(b'0'))
}

/// `whole.fraction` times ten to a power, in billionths, rounded up, saturating.
fn decimal(whole: &str, fraction: &str, power: i32) -> i128 {
    // Number of digits down to a billionth. Later digits only affect rounding.
    let kept = i64::try_from(whole.len()).unwrap_or(i64::MAX).saturating_add(i64::from(power) + 9);
    let mut digits = whole.bytes().chain(fraction.bytes());
    let (mut nano, mut position) = (0_i128, 0_i64);
    for byte in digits.by_ref().take(usize::try_from(kept).unwrap_or(0)) {
        nano = nano.saturating_mul(10).saturating_add(digit(byte));
        position += 1;
    }
    if digits.any(|byte| byte != b'0') {
        nano = nano.saturating_add(1);
    }
    // The remaining digits are zeros. A number other than zero saturates within 39 of them.
    for _ in position..kept.min(position + 39) {
        nano = nano.saturating_mul(10);
    }
    nano
}

/// `whole.fraction` times two to a power of at most 60, in billionths, rounded up, capped.
fn binary(whole: &str, fraction: &str, power: u32) -> i128 {
    let cap = MAX_BINARY * NANO;
    let factor = NANO << power;
    let mut nano = 0_i128;
    for byte in whole.bytes() {
        nano = (nano * 10 + digit(byte)).min(MAX_BINARY);
    }
    nano = (nano * (1 << power)).min(MAX_BINARY) * NANO;
    // From the last digit to the first, dividing by ten after each digit. Any remainder rounds the result up.
    let (mut part, mut inexact) = (0_i128, false);
    for byte in fraction.bytes().rev() {
        part += digit(byte) * factor;
        inexact |= part % 10 != 0;
        part /= 10;
    }
    (nano + part + i128::from(inexact)).min(cap)
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nano == other.nano
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nano.cmp(&other.nano)
    }
}

/// Prints the canonical form: no fraction, and the largest suffix without loss, in the notation in which the quantity is
/// written. apimachinery's `CanonicalizeBytes` prints a sum beyond `E` without its suffix; here it keeps the `E`.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nano == 0 {
            return f.write_str("0");
        }
        let binary =
            self.notation == Notation::Binary && self.nano.abs() >= 1024 * NANO && self.nano % NANO == 0;
        if binary { self.fmt_binary(f) } else { self.fmt_decimal(f) }
    }
}

impl Quantity {
    fn fmt_binary(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut number, mut suffix) = (self.nano / NANO, "");
        for (name, _) in BINARY_SUFFIXES {
            if number % 1024 != 0 {
                break;
            }
            (number, suffix) = (number / 1024, name);
        }
        write!(f, "{number}{suffix}")
    }

    fn fmt_decimal(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut number, mut power, mut suffix) = (self.nano, -9, "n");
        for (name, next) in DECIMAL_SUFFIXES.into_iter().skip(1) {
            if number % 1_000 != 0 {
                break;
            }
            (number, power, suffix) = (number / 1_000, next, name);
        }
        while self.notation == Notation::Exponent && number % 1_000 == 0 {
            (number, power) = (number / 1_000, power + 3);
        }
        match (self.notation, power) {
            (Notation::Exponent, 0) => write!(f, "{number}"),
            (Notation::Exponent, _) => write!(f, "{number}e{power}"),
            _ => write!(f, "{number}{suffix}"),
        }
    }
}
