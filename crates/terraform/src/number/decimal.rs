//! Decimal digits of a number.
//!
//! Reference: golang/go `src/math/big/decimal.go` and `src/math/big/ftoa.go`.

use core::fmt::Write as _;

use num_bigint::{BigInt, BigUint, Sign};

/// Decimal number `0.digits × 10^exponent`.
#[derive(Clone, Debug)]
pub(crate) struct Decimal {
    is_negative: bool,
    /// ASCII digits without zeros at the start and at the end; empty for zero.
    digits: Vec<u8>,
    exponent: i64,
}

impl Decimal {
    /// All digits of `mantissa × 2^exponent`.
    pub(super) fn of(mantissa: &BigInt, exponent: i64) -> Self {
        let magnitude = mantissa.magnitude();
        let scale = u32::try_from(exponent.unsigned_abs()).unwrap_or(u32::MAX);
        let (integer, shift) = if exponent >= 0 {
            (magnitude << scale, 0)
        } else {
            (magnitude * BigUint::from(5_u8).pow(scale), i64::from(scale))
        };
        let mut digits = integer.to_string().into_bytes();
        let exponent = i64::try_from(digits.len()).unwrap_or(i64::MAX) - shift;
        trim(&mut digits);
        let is_zero = digits.is_empty();
        Self {
            is_negative: mantissa.sign() == Sign::Minus,
            digits,
            exponent: if is_zero { 0 } else { exponent },
        }
    }

    /// Number of digits.
    pub(crate) fn len(&self) -> usize {
        self.digits.len()
    }

    /// Power of ten of the first digit, plus one.
    pub(crate) fn exponent(&self) -> i64 {
        self.exponent
    }

    /// The digits that distinguish the number from its neighbours.
    pub(super) fn shortest_between(mut self, lower: &Self, upper: &Self, is_inclusive: bool) -> Self {
        let at = |digits: &[u8], index: usize| digits.get(index).copied().unwrap_or(b'0');
        for index in 0..self.digits.len() {
            let (low, digit, high) =
                (at(&lower.digits, index), at(&self.digits, index), at(&upper.digits, index));
            let down = low != digit || is_inclusive && index + 1 == lower.digits.len();
            let up = digit != high && (is_inclusive || digit + 1 < high || index + 1 < upper.digits.len());
            match (down, up) {
                (true, true) => self.round(index + 1),
                (true, false) => self.round_down(index + 1),
                (false, true) => self.round_up(index + 1),
                (false, false) => continue,
            }
            break;
        }
        self
    }

    /// Keeps some digits; halves are rounded to even digits.
    pub(crate) fn round(&mut self, count: usize) {
        let Some(&next) = self.digits.get(count) else { return };
        let is_half = next == b'5' && count + 1 == self.digits.len();
        let up = if is_half {
            count > 0 && self.digits.get(count - 1).is_some_and(|digit| digit % 2 == 1)
        } else {
            next >= b'5'
        };
        if up { self.round_up(count) } else { self.round_down(count) }
    }

    fn round_up(&mut self, count: usize) {
        self.digits.truncate(count);
        while let Some(digit) = self.digits.pop() {
            if digit < b'9' {
                self.digits.push(digit + 1);
                return;
            }
        }
        self.digits.push(b'1');
        self.exponent += 1;
    }

    fn round_down(&mut self, count: usize) {
        self.digits.truncate(count);
        trim(&mut self.digits);
        if self.digits.is_empty() {
            self.exponent = 0;
        }
    }

    /// The number without exponent, with some digits behind the point or with all of them.
    pub(crate) fn plain(&self, fraction: Option<usize>) -> String {
        let mut number = self.clone();
        if let Some(fraction) = fraction {
            let count = number.exponent + i64::try_from(fraction).unwrap_or(i64::MAX);
            match usize::try_from(count) {
                Ok(count) => number.round(count),
                Err(_) => number.round_down(0),
            }
        }
        let digit = |index: i64| {
            let digit = usize::try_from(index).ok().and_then(|index| number.digits.get(index));
            char::from(digit.copied().unwrap_or(b'0'))
        };
        let mut text = String::new();
        if number.is_negative && !(fraction.is_none() && number.digits.is_empty()) {
            text.push('-');
        }
        if number.exponent > 0 {
            text.extend((0..number.exponent).map(digit));
        } else {
            text.push('0');
        }
        let all = i64::try_from(number.digits.len()).unwrap_or(i64::MAX) - number.exponent;
        let fraction = fraction.map_or(all, |fraction| i64::try_from(fraction).unwrap_or(i64::MAX));
        if fraction > 0 && (!number.digits.is_empty() || fraction < i64::MAX) {
            text.push('.');
            text.extend((0..fraction).map(|index| digit(number.exponent + index)));
        }
        text
    }

    /// The number with an exponent, with some digits behind the point or with all of them.
    pub(crate) fn scientific(&self, fraction: Option<usize>) -> String {
        let mut number = self.clone();
        if let Some(fraction) = fraction {
            number.round(fraction + 1);
        }
        let digit = |index: usize| char::from(number.digits.get(index).copied().unwrap_or(b'0'));
        let mut text = String::from(if number.is_negative { "-" } else { "" });
        text.push(digit(0));
        let fraction = fraction.unwrap_or(number.digits.len().saturating_sub(1));
        if fraction > 0 {
            text.push('.');
            text.extend((1..=fraction).map(digit));
        }
        let exponent = if number.digits.is_empty() { 0 } else { number.exponent - 1 };
        let sign = if exponent < 0 { '-' } else { '+' };
        let _ = write!(text, "e{sign}{:02}", exponent.abs());
        text
    }
}

fn trim(digits: &mut Vec<u8>) {
    while digits.last() == Some(&b'0') {
        digits.pop();
    }
}
