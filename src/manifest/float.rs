//! Doubles from their decimal spelling and back, exactly as the standard library has them.
//!
//! A manifest has few of them. The standard library is quick at it, with tables that no compression makes smaller: 16 KiB
//! of the policy module. Here they are small and slow: long division, and the digits as Steele and White generate them
//! ("How to print floating-point numbers accurately", 1990).

use core::cmp::Ordering;

/// The bits of a double's fraction, with the one that is not stored.
const PRECISION: i32 = 53;
/// The exponent of the smallest doubles: they are whole multiples of 2 to this power.
const SMALLEST: i32 = -1074;

/// Reads digits with or without a sign, a point and an exponent, as JSON and YAML have them; nothing else may be given.
/// Beyond the largest double there is infinity.
pub(crate) fn parse(text: &str) -> f64 {
    /// Digits beyond do not decide between two doubles, but for whether any of them is not zero.
    const DIGITS: usize = 800;
    /// Powers of ten beyond are infinite or zero, whatever the digits.
    const BEYOND: i64 = 2000;
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(unsigned) => (true, unsigned),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let mut exponent = whole(exponent);
    let mut number = Big::from(0);
    let mut digits = 0;
    let mut rest = false;
    let mut after_point = false;
    for byte in mantissa.bytes() {
        let digit = u32::from(byte.wrapping_sub(b'0'));
        if digit > 9 {
            after_point = true;
        } else if digits < DIGITS {
            number.multiply(10, digit);
            digits += usize::from(digits > 0 || digit > 0);
            exponent -= i64::from(after_point);
        } else {
            rest |= digit > 0;
            exponent += i64::from(!after_point);
        }
    }
    if rest {
        number.multiply(10, 1);
        exponent -= 1;
    }
    let value = if number.is_zero() || exponent < -BEYOND {
        0.0
    } else if exponent > BEYOND {
        f64::INFINITY
    } else {
        let mut divisor = Big::from(1);
        let scaled = if exponent < 0 { &mut divisor } else { &mut number };
        for _ in 0..exponent.unsigned_abs() {
            scaled.multiply(10, 0);
        }
        quotient(number, divisor)
    };
    if negative { -value } else { value }
}

/// A whole number with or without a sign, as large as it matters.
fn whole(text: &str) -> i64 {
    let digits = text.trim_start_matches(['-', '+']);
    let digits = digits.bytes().map(|byte| i64::from(byte.wrapping_sub(b'0')));
    let value = digits.fold(0_i64, |sum, digit| sum.saturating_mul(10).saturating_add(digit).min(1 << 40));
    if text.starts_with('-') { -value } else { value }
}

/// The double next to a quotient, and of two that are as near the even one.
fn quotient(mut number: Big, mut divisor: Big) -> f64 {
    // The divisor is brought to the number's length, and the quotient then has one bit before the point, or none.
    let power = number.bits() - divisor.bits();
    if power < SMALLEST - 1 {
        return 0.0;
    }
    number.double(power.min(0).unsigned_abs());
    divisor.double(power.max(0).unsigned_abs());
    let (mut bits, mut taken, mut last) = (0_u64, 0, power);
    while taken < PRECISION && last >= SMALLEST {
        let one = number.take(&divisor);
        bits = bits << 1 | u64::from(one);
        taken += i32::from(bits > 0);
        number.double(1);
        last -= 1;
    }
    // What is left is twice what is not taken yet: more or less than half a bit.
    let up = match number.compare(&divisor) {
        Ordering::Less => false,
        Ordering::Equal => bits & 1 == 1,
        Ordering::Greater => true,
    };
    let bits = bits + u64::from(up);
    let exponent = last + 1;
    // A fraction of zeros that is rounded up to the next power of two is carried into the exponent, as it should be.
    let stored = if bits < 1 << (PRECISION - 1) {
        bits
    } else {
        let exponent = u64::from((exponent - SMALLEST).unsigned_abs().min(0x7ff));
        bits + (exponent << (PRECISION - 1))
    };
    f64::from_bits(stored.min(f64::INFINITY.to_bits()))
}

/// The fewest digits that tell a double from its neighbours, without an exponent.
pub(crate) fn write(value: f64) -> String {
    let stored = value.abs().to_bits();
    let fraction = stored & ((1 << (PRECISION - 1)) - 1);
    spelled(
        value,
        fraction,
        i32::try_from(stored >> (PRECISION - 1)).unwrap_or_default(),
        PRECISION,
        SMALLEST,
    )
}

/// As [`write`], for 32 bits.
pub(crate) fn write_single(value: f32) -> String {
    let stored = value.abs().to_bits();
    let exponent = i32::try_from(stored >> 23).unwrap_or_default();
    spelled(f64::from(value), u64::from(stored & ((1 << 23) - 1)), exponent, 24, -149)
}

fn spelled(value: f64, fraction: u64, exponent: i32, precision: i32, smallest: i32) -> String {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return format!("{sign}inf");
    }
    let implied = 1_u64 << (precision - 1);
    let (bits, power) =
        if exponent == 0 { (fraction, smallest) } else { (fraction | implied, smallest + exponent - 1) };
    if bits == 0 {
        return format!("{sign}0");
    }
    let (digits, point) = shortest(bits, power, fraction == 0 && exponent > 1);
    let before = usize::try_from(point).unwrap_or_default();
    let mut text = sign.to_owned();
    if point <= 0 {
        text.push_str("0.");
        text.extend((point..0).map(|_| '0'));
    }
    for (index, digit) in digits.iter().enumerate() {
        if index == before && point > 0 {
            text.push('.');
        }
        text.push(char::from(b'0' + digit));
    }
    text.extend((digits.len()..before).map(|_| '0'));
    text
}

/// The digits of `bits` times a power of two, and where the point is among them. The neighbour below is half as far as
/// the one above where the bits are a power of two themselves.
fn shortest(bits: u64, power: i32, lopsided: bool) -> (Vec<u8>, i32) {
    let even = bits & 1 == 0;
    let within = |order: Ordering| order.is_lt() || (even && order.is_eq());
    let doubled = u32::from(lopsided);
    let (up, down) = (power.max(0).unsigned_abs(), power.min(0).unsigned_abs());
    // The number over `unit`; halfway to its neighbours are `above` and `below` over `unit`.
    let (mut number, mut unit, mut above, mut below) =
        (Big::from(bits), Big::from(1), Big::from(1), Big::from(1));
    number.double(up + 1 + doubled);
    unit.double(down + 1 + doubled);
    above.double(up + doubled);
    below.double(up);
    let mut point = 0;
    while within(unit.compare(&number.plus(&above))) {
        unit.multiply(10, 0);
        point += 1;
    }
    let mut digits = Vec::new();
    loop {
        for part in [&mut number, &mut above, &mut below] {
            part.multiply(10, 0);
        }
        let mut digit = 0;
        while number.take(&unit) {
            digit += 1;
        }
        let low = within(number.compare(&below));
        let high = within(unit.compare(&number.plus(&above)));
        if digits.is_empty() && digit == 0 && !low && !high {
            point -= 1;
            continue;
        }
        if low || high {
            number.double(1);
            let nearer = !low || number.compare(&unit).is_ge();
            digits.push(digit + u8::from(high && nearer));
            return (digits, point);
        }
        digits.push(digit);
    }
}

/// A whole number of any size, in parts of 32 bits, the least first; the last is not zero.
#[derive(Clone, Debug)]
struct Big(Vec<u32>);

impl Big {
    fn from(value: u64) -> Self {
        let mut big = Self(Vec::new());
        big.multiply(0, low(value >> 32));
        big.double(32);
        big.add(&[low(value)]);
        big
    }

    fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// How many bits it has.
    fn bits(&self) -> i32 {
        let last = self.0.last().map_or(0, |last| 32 - last.leading_zeros());
        i32::try_from(self.0.len().saturating_sub(1) * 32).unwrap_or(i32::MAX).saturating_add_unsigned(last)
    }

    /// Multiplies by one number and adds another.
    fn multiply(&mut self, by: u32, plus: u32) {
        let mut carry = u64::from(plus);
        for part in &mut self.0 {
            carry += u64::from(*part) * u64::from(by);
            *part = low(carry);
            carry >>= 32;
        }
        if carry > 0 {
            self.0.push(low(carry));
        }
    }

    /// Doubles it so many times.
    fn double(&mut self, times: u32) {
        for _ in 0..times / 31 {
            self.multiply(1 << 31, 0);
        }
        self.multiply(1 << (times % 31), 0);
    }

    fn add(&mut self, other: &[u32]) {
        let length = self.0.len().max(other.len());
        self.0.resize(length, 0);
        let mut carry = 0;
        for (index, part) in self.0.iter_mut().enumerate() {
            carry += u64::from(*part) + u64::from(other.get(index).copied().unwrap_or_default());
            *part = low(carry);
            carry >>= 32;
        }
        self.0.extend((carry > 0).then(|| low(carry)));
        self.trim();
    }

    fn plus(&self, other: &Self) -> Self {
        let mut sum = self.clone();
        sum.add(&other.0);
        sum
    }

    fn compare(&self, other: &Self) -> Ordering {
        let length = self.0.len().cmp(&other.0.len());
        length.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }

    /// Takes another number away where this one is as large, and tells whether it is.
    fn take(&mut self, other: &Self) -> bool {
        if self.compare(other).is_lt() {
            return false;
        }
        let mut borrow = 0;
        for (index, part) in self.0.iter_mut().enumerate() {
            let less = u64::from(other.0.get(index).copied().unwrap_or_default()) + borrow;
            let left = u64::from(*part).wrapping_sub(less);
            *part = low(left);
            borrow = left >> 63;
        }
        self.trim();
        true
    }

    fn trim(&mut self) {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the lower half is what is asked for")]
fn low(value: u64) -> u32 {
    value as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn same(text: &str) {
        let expected: f64 = text.parse().unwrap();
        assert_eq!(parse(text).to_bits(), expected.to_bits(), "{text}: {} is not {expected}", parse(text));
    }

    #[test]
    fn what_lies_at_a_boundary_is_read_and_written() {
        for text in [
            "0",
            "-0.0",
            "1",
            "-1.5",
            "+2",
            ".5",
            "5.",
            "1e0",
            "00.00e5",
            "9007199254740993",
            "9007199254740992.5",
            "9007199254740993.0000000000000000000000000000000000000001",
            "1.7976931348623157e308",
            "1.7976931348623158e308",
            "1.7976931348623159e308",
            "1e309",
            "1e999999999999999999999",
            "0e999999999999",
            "1e-999999999999999999999",
            "4.9406564584124654e-324",
            "2.4703282292062327e-324",
            "2.4703282292062328e-324",
            "2.2250738585072014e-308",
            "2.2250738585072011e-308",
            "1e23",
            "8.5e22",
            "123456789012345678901234567890",
            "0.1000000000000000055511151231257827",
        ] {
            same(text);
        }
        same(&format!("{}.{}e-900", "7".repeat(1200), "3".repeat(900)));
        same(&format!("0.{}1", "0".repeat(1000)));
        same(&format!("1{}e-1000", "0".repeat(1000)));
        same(&format!("9007199254740993{}1", "0".repeat(900)));
        for value in
            [0.0, -0.0, f64::MAX, f64::MIN_POSITIVE, 5e-324, 1.0, 0.1, 1e21, 1e23, 4_503_599_627_370_496.0]
        {
            assert_eq!(write(value), value.to_string());
            assert_eq!(write(-value), (-value).to_string());
        }
        for value in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            assert_eq!(write(value), value.to_string());
        }
    }

    proptest! {
        #[test]
        fn reads_and_writes_as_the_standard_library_does(bits in any::<u64>(), single in any::<u32>(), exponent in -330..310) {
            let value = f64::from_bits(bits);
            prop_assert_eq!(write(value), value.to_string());
            prop_assert_eq!(write_single(f32::from_bits(single)), f32::from_bits(single).to_string());
            // Powers of two, whose neighbours are not as far below as above.
            let power = f64::from_bits(bits & (0x7ff << 52));
            prop_assert_eq!(write(power), power.to_string());
            let power = f32::from_bits(single & (0xff << 23));
            prop_assert_eq!(write_single(power), power.to_string());
            if value.is_finite() {
                same(&value.to_string());
                same(&format!("{value:e}"));
            }
            same(&format!("{bits}e{exponent}"));
        }

        #[test]
        fn reads_any_digits_as_the_standard_library_does(text in "[-+]?[0-9]{1,40}(\\.[0-9]{0,40})?([eE][-+]?[0-9]{1,3})?") {
            same(&text);
        }
    }
}
