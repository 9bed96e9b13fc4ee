//! Numbers of Terraform: binary floating-point numbers with 512 bits, as `big.Float` of Go.
//!
//! Reference: zclconf/go-cty `cty/value_ops.go` and golang/go `src/math/big/float.go`.

mod decimal;

use core::cmp::Ordering;

use num_bigint::{BigInt, BigUint, Sign};

pub(crate) use decimal::Decimal;

/// Bits of a number that a configuration spells.
const PRECISION: u64 = 512;
/// Bits of a number that a function of Terraform counts, such as `length`.
const COUNTED: u64 = 64;
/// Largest power of two, and of ten, that a number may have. No manifest has such a number, and its digits would be many.
const MAX_EXPONENT: i64 = 20_000;

/// Number with its precision, which decides how its quotients are rounded.
#[derive(Clone, Debug)]
pub struct Number {
    /// Odd, or zero.
    mantissa: BigInt,
    exponent: i64,
    precision: u64,
    /// Whether a zero has a sign, which is printed.
    is_negative_zero: bool,
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.mantissa == other.mantissa && self.exponent == other.exponent
    }
}

impl Eq for Number {}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        let exponent = self.exponent.min(other.exponent);
        self.scaled(exponent).cmp(&other.scaled(exponent))
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self::exact(BigInt::from(value), COUNTED)
    }
}

impl Number {
    /// Parses a decimal number as `cty.ParseNumberVal`: sign, digits with a point, exponent. Numbers beyond 10^20000 have no value.
    pub fn parse(text: &str) -> Option<Self> {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_digits = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        let exponent_digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if whole.len() + fraction.len() == 0
            || !is_digits(whole)
            || !is_digits(fraction)
            || exponent_digits.is_empty()
            || !is_digits(exponent_digits)
        {
            return None;
        }
        let digits = format!("{whole}{fraction}");
        let digits = digits.trim_start_matches('0');
        let shift = exponent.parse::<i64>().ok()?.checked_sub(i64::try_from(fraction.len()).ok()?)?;
        if shift.abs() > MAX_EXPONENT || digits.len() > 20_000 {
            return None;
        }
        let mantissa: BigUint = if digits.is_empty() { BigUint::ZERO } else { digits.parse().ok()? };
        let sign = if text.starts_with('-') { Sign::Minus } else { Sign::Plus };
        let power = BigUint::from(5_u8).pow(u32::try_from(shift.unsigned_abs()).ok()?);
        if shift >= 0 {
            let number = Self::rounded(BigInt::from_biguint(sign, mantissa * power), shift, PRECISION)?;
            return Some(number.signed(text.starts_with('-')));
        }
        let part =
            |mantissa, exponent| Self { mantissa, exponent, precision: PRECISION, is_negative_zero: false };
        let quotient =
            part(BigInt::from_biguint(sign, mantissa), shift).over(&part(BigInt::from(power), 0))?;
        Some(quotient.signed(text.starts_with('-')))
    }

    /// The integer that digits of a radix spell.
    pub(crate) fn from_digits(digits: &str, radix: u32) -> Option<Self> {
        let integer = BigInt::parse_bytes(digits.as_bytes(), radix)?;
        let precision = integer.bits().max(COUNTED);
        (integer.bits() < MAX_EXPONENT.unsigned_abs()).then(|| Self::exact(integer, precision))
    }

    /// A number of 64 bits.
    pub(crate) fn from_float(value: f64) -> Option<Self> {
        if !value.is_finite() {
            return None;
        }
        let bits = value.to_bits();
        let exponent = i64::try_from((bits >> 52) & 0x7ff).ok()?;
        let fraction = bits & 0x000f_ffff_ffff_ffff;
        let (mantissa, exponent) =
            if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
        let sign = if value < 0.0 { Sign::Minus } else { Sign::Plus };
        Self::rounded(BigInt::from_biguint(sign, mantissa.into()), exponent, 53)
    }

    /// The nearest number of 64 bits.
    pub(crate) fn to_float(&self) -> f64 {
        self.decimal().scientific(None).parse().unwrap_or(f64::NAN)
    }

    /// The sum.
    pub(crate) fn plus(&self, other: &Self) -> Option<Self> {
        let exponent = self.exponent.min(other.exponent);
        let sum = self.scaled(exponent) + other.scaled(exponent);
        let is_negative = self.is_negative_zero && other.is_negative_zero;
        Some(Self::rounded(sum, exponent, self.precision.max(other.precision))?.signed(is_negative))
    }

    /// The difference.
    pub(crate) fn minus(&self, other: &Self) -> Option<Self> {
        self.plus(&other.negated())
    }

    /// The product, with as many bits as it needs.
    pub(crate) fn times(&self, other: &Self) -> Option<Self> {
        let exponent = self.exponent.checked_add(other.exponent)?;
        let product = Self::rounded(&self.mantissa * &other.mantissa, exponent, PRECISION)?;
        let precision = self.precision.max(other.precision).max(product.mantissa.bits());
        Some(Self { precision, ..product }.signed(self.is_negative() != other.is_negative()))
    }

    /// The quotient; none if the divisor is zero.
    pub(crate) fn over(&self, other: &Self) -> Option<Self> {
        if other.is_zero() {
            return None;
        }
        let precision = self.precision.max(other.precision);
        // Two bits more than the quotient has, and one that is set if anything is left.
        let wanted = precision + 2 + other.mantissa.bits();
        let shift = wanted.saturating_sub(self.mantissa.bits());
        let numerator = &self.mantissa << shift;
        let quotient = &numerator / &other.mantissa;
        let is_exact = &quotient * &other.mantissa == numerator;
        let sticky = if is_exact {
            quotient << 1
        } else {
            let last = if (numerator.sign() == Sign::Minus) == (other.mantissa.sign() == Sign::Minus) {
                1
            } else {
                -1
            };
            (quotient << 1) + last
        };
        let exponent = self.exponent - other.exponent - i64::try_from(shift).ok()? - 1;
        Some(Self::rounded(sticky, exponent, precision)?.signed(self.is_negative() != other.is_negative()))
    }

    /// The rest of a division whose quotient is rounded towards zero.
    pub(crate) fn modulo(&self, other: &Self) -> Option<Self> {
        if other.is_zero() {
            return Some(self.clone());
        }
        let quotient = self.over(other)?.truncated();
        let quotient = Self::rounded(quotient, 0, self.precision)?;
        let product = Self::rounded(
            &quotient.mantissa * &other.mantissa,
            quotient.exponent + other.exponent,
            self.precision,
        )?;
        let rest = self.minus(&product)?;
        Self::rounded(rest.mantissa, rest.exponent, self.precision)
    }

    /// The number with the other sign.
    pub(crate) fn negated(&self) -> Self {
        let is_negative_zero = self.is_zero() && !self.is_negative_zero;
        Self { mantissa: -&self.mantissa, is_negative_zero, ..*self }
    }

    /// The number, with a sign if it is zero and the result is negative.
    fn signed(self, is_negative: bool) -> Self {
        Self { is_negative_zero: self.is_zero() && is_negative, ..self }
    }

    fn is_negative(&self) -> bool {
        self.mantissa.sign() == Sign::Minus || self.is_negative_zero
    }

    /// The number without its sign.
    pub(crate) fn absolute(&self) -> Self {
        if self.is_negative() { self.negated() } else { self.clone() }
    }

    /// The largest integer that is not larger.
    pub(crate) fn floor(&self) -> Self {
        let below = self.is_fraction() && self.mantissa.sign() == Sign::Minus;
        Self::exact(self.truncated() - i32::from(below), self.precision)
    }

    /// The smallest integer that is not smaller.
    pub(crate) fn ceil(&self) -> Self {
        let above = self.is_fraction() && self.mantissa.sign() == Sign::Plus;
        Self::exact(self.truncated() + i32::from(above), self.precision)
    }

    /// Minus one, zero or one.
    pub(crate) fn signum(&self) -> i64 {
        match self.mantissa.sign() {
            Sign::Minus => -1,
            Sign::NoSign => 0,
            Sign::Plus => 1,
        }
    }

    /// Whether the number is zero.
    pub fn is_zero(&self) -> bool {
        self.mantissa.sign() == Sign::NoSign
    }

    /// Whether the number is not an integer.
    pub(crate) fn is_fraction(&self) -> bool {
        self.exponent < 0 && !self.is_zero()
    }

    /// The number if it is an integer.
    pub(crate) fn integer(&self) -> Option<BigInt> {
        (!self.is_fraction()).then(|| self.truncated())
    }

    /// The number if it is an integer of 64 bits.
    pub fn as_int(&self) -> Option<i64> {
        i64::try_from(self.integer()?).ok()
    }

    /// The shortest decimal number that is read as this one, without exponent.
    pub fn text(&self) -> String {
        let text = self.shortest().plain(None);
        if self.is_negative_zero { format!("-{text}") } else { text }
    }

    /// Some significant digits, with an exponent for large and small numbers: `%g` with a precision.
    pub fn general(&self, precision: usize) -> String {
        let mut decimal = self.decimal();
        decimal.round(precision);
        let count = i64::try_from(decimal.len()).unwrap_or(i64::MAX);
        let wanted = i64::try_from(precision).unwrap_or(i64::MAX);
        let limit = if wanted > count && count >= decimal.exponent() { count } else { wanted };
        let exponent = decimal.exponent() - 1;
        if !self.is_zero() && (exponent < -4 || exponent >= limit) {
            decimal.scientific(None)
        } else {
            decimal.plain(None)
        }
    }

    /// The shortest decimal number that is read as this one.
    pub(crate) fn shortest(&self) -> Decimal {
        let bits = self.mantissa.bits();
        let is_counted = self.exponent >= 0 && bits + self.exponent.unsigned_abs() < self.precision;
        let exact = self.decimal();
        if is_counted || self.is_zero() {
            return exact;
        }
        // Half a unit in the last place, below and above: golang/go `src/math/big/ftoa.go`, roundShortest.
        let shift = (self.precision + 1).saturating_sub(bits);
        let mantissa = BigInt::from(self.mantissa.magnitude() << shift);
        let exponent = self.exponent - i64::try_from(shift).unwrap_or(0);
        let bound = |mantissa: BigInt| Decimal::of(&mantissa, exponent);
        let is_inclusive = !mantissa.bit(1);
        let (lower, upper) = (bound(&mantissa - 1), bound(&mantissa + 1));
        exact.shortest_between(&lower, &upper, is_inclusive)
    }

    /// All digits of the number.
    pub(crate) fn decimal(&self) -> Decimal {
        Decimal::of(&self.mantissa, self.exponent)
    }

    fn exact(integer: BigInt, precision: u64) -> Self {
        let precision = precision.max(integer.bits());
        let mut number = Self { mantissa: integer, exponent: 0, precision, is_negative_zero: false };
        number.normalize();
        number
    }

    /// The mantissa of the number for an exponent that is not larger than its own.
    fn scaled(&self, exponent: i64) -> BigInt {
        &self.mantissa << (self.exponent - exponent).unsigned_abs()
    }

    fn truncated(&self) -> BigInt {
        if self.exponent >= 0 {
            return &self.mantissa << self.exponent.unsigned_abs();
        }
        let magnitude = self.mantissa.magnitude() >> self.exponent.unsigned_abs();
        BigInt::from_biguint(self.mantissa.sign(), magnitude)
    }

    /// Rounds to the nearest number with some bits, halves to even ones. Numbers that are too large or too small have no value.
    fn rounded(mantissa: BigInt, exponent: i64, precision: u64) -> Option<Self> {
        let mut number = Self { mantissa, exponent, precision, is_negative_zero: false };
        let excess = number.mantissa.bits().saturating_sub(precision);
        if excess > 0 {
            let (sign, magnitude) = number.mantissa.into_parts();
            let kept = &magnitude >> excess;
            let rest = &magnitude - (&kept << excess);
            let half = BigUint::from(1_u8) << (excess - 1);
            let up = match rest.cmp(&half) {
                Ordering::Less => false,
                Ordering::Equal => kept.bit(0),
                Ordering::Greater => true,
            };
            number.mantissa = BigInt::from_biguint(sign, kept + u8::from(up));
            number.exponent += i64::try_from(excess).ok()?;
        }
        number.normalize();
        let top = number.exponent.checked_add(i64::try_from(number.mantissa.bits()).ok()?)?;
        (top.abs() <= 4 * MAX_EXPONENT && number.exponent.abs() <= 4 * MAX_EXPONENT).then_some(number)
    }

    fn normalize(&mut self) {
        match self.mantissa.trailing_zeros() {
            None => self.exponent = 0,
            Some(0) => {}
            Some(zeros) => {
                self.mantissa >>= zeros;
                self.exponent += i64::try_from(zeros).unwrap_or(0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        Number::parse(text).unwrap()
    }

    #[test]
    fn prints_the_shortest_decimal_number() {
        for (text, printed) in [
            ("1.50", "1.5"),
            ("0.1", "0.1"),
            ("1e21", "1000000000000000000000"),
            ("1e-7", "0.0000001"),
            ("-0", "-0"),
            ("123456789.123456789", "123456789.123456789"),
        ] {
            assert_eq!(number(text).text(), printed);
        }
    }

    #[test]
    fn refuses_what_is_no_decimal_number() {
        for text in ["", "-", "0x1", "1_0", " 1", "inf", "1e", "1e99999999", "e5", "."] {
            assert_eq!(Number::parse(text), None, "{text}");
        }
    }

    #[test]
    fn rounds_quotients_to_the_precision_of_the_operands() {
        let third = number("1").over(&number("3")).unwrap();
        assert_eq!(third.text().len(), 157);
        assert_eq!(Number::from(1).over(&Number::from(3)).unwrap().text(), "0.33333333333333333334");
        assert_eq!(number("-7").modulo(&number("3")).unwrap().text(), "-1");
    }
}
