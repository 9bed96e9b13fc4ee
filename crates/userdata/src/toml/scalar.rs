//! Values without quotes: numbers, `true` and `false`, dates and times (RFC 3339 with TOML's leave to drop a half, the
//! offset or, since 1.1, the seconds).

use super::Value;
use crate::Span;

/// What is wrong, and where in the value.
type Defect = (&'static str, Span);

/// What a value without quotes is.
pub(super) fn read(raw: &str) -> Result<Value, Defect> {
    let wrong = if raw.ends_with(['"', '\'']) {
        ("missing opening quote", Span::new(0, 0))
    } else {
        ("string values must be quoted", Span::whole(raw))
    };
    let mut scan = Scan { bytes: raw.as_bytes(), at: 0, wrong };
    scan.value().ok_or(scan.wrong)
}

/// The number that digits make, the underscores between them left out.
fn integer(digits: &[u8], radix: u32, negative: bool) -> Option<i64> {
    let mut number: u64 = 0;
    for byte in digits {
        if *byte != b'_' {
            if number > (1 << 63) / u64::from(radix) {
                return None;
            }
            number = number * u64::from(radix) + u64::from(char::from(*byte).to_digit(radix)?);
        }
    }
    if negative { 0_i64.checked_sub_unsigned(number) } else { i64::try_from(number).ok() }
}

struct Scan<'t> {
    bytes: &'t [u8],
    at: usize,
    /// What is wrong, where there is no value.
    wrong: Defect,
}

impl<'t> Scan<'t> {
    fn value(&mut self) -> Option<Value> {
        let whole = Span::new(0, self.bytes.len());
        let negative = self.eat(b'-');
        let signed = negative || self.eat(b'+');
        let unsigned = self.rest();
        let digits = self.skip_digits();
        if digits > 0 && matches!(self.peek(), b'-' | b':') {
            self.at = 0;
            let valid = self.moment().is_some() && self.at == self.bytes.len();
            return if valid { Some(Value::DateTime) } else { self.refuse("no such date or time", whole) };
        }
        self.at = usize::from(signed);
        if self.bytes.contains(&b' ') {
            return None;
        }
        match unsigned {
            b"true" if !signed => Some(Value::Boolean(true)),
            b"false" if !signed => Some(Value::Boolean(false)),
            b"inf" | b"nan" => Some(Value::Float),
            [b't' | b'T' | b'f' | b'F', ..] if !signed => self.refuse("invalid boolean", whole),
            [b'i' | b'I' | b'n' | b'N', ..] => self.end("invalid float").map(|()| Value::Float),
            [b'0', letter @ (b'x' | b'o' | b'b'), number @ ..] if !signed => {
                self.at = 2;
                let radix = match letter {
                    b'x' => 16,
                    b'o' => 8,
                    _ => 2,
                };
                self.integer(number, radix, false).map(Value::Integer)
            }
            [b'0'..=b'9' | b'_' | b'.', ..] => {
                let mark = unsigned.get(digits);
                let is_float = unsigned.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
                if !is_float && !matches!(mark, None | Some(b'_')) {
                    return None;
                }
                if matches!(unsigned, [b'0', b'0'..=b'9' | b'_', ..]) {
                    return self.refuse("unexpected leading zero", Span::new(self.at, self.at + 1));
                }
                if is_float {
                    self.float().map(|()| Value::Float)
                } else {
                    self.integer(unsigned, 10, negative).map(Value::Integer)
                }
            }
            _ => None,
        }
    }

    fn refuse<T>(&mut self, message: &'static str, span: Span) -> Option<T> {
        self.wrong = (message, span);
        None
    }

    /// A whole number, by its digits.
    fn integer(&mut self, digits: &[u8], radix: u32, negative: bool) -> Option<i64> {
        self.digits(radix)?;
        self.end("invalid number")?;
        let number = integer(digits, radix, negative);
        if number.is_none() {
            self.wrong = ("the number does not fit 64 bits", Span::new(0, self.bytes.len()));
        }
        number
    }

    fn float(&mut self) -> Option<()> {
        self.digits(10)?;
        if self.eat(b'.') {
            self.digits(10)?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            let _ = self.eat(b'+') || self.eat(b'-');
            self.digits(10)?;
        }
        self.end("invalid float")
    }

    fn rest(&self) -> &'t [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// The next byte; a blank at the end.
    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(b' ')
    }

    fn eat(&mut self, byte: u8) -> bool {
        let eaten = self.at < self.bytes.len() && self.peek() == byte;
        self.at += usize::from(eaten);
        eaten
    }

    fn skip_digits(&mut self) -> usize {
        let start = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        self.at - start
    }

    /// Digits, and underscores between two of them.
    fn digits(&mut self, radix: u32) -> Option<()> {
        let start = self.at;
        let mut is_between = false;
        loop {
            let byte = self.peek();
            let is_digit = char::from(byte).is_digit(radix);
            if byte == b'_' {
                let next = self.bytes.get(self.at + 1).copied().unwrap_or(b'_');
                if !is_between || !char::from(next).is_digit(radix) {
                    let span = Span::new(self.at, self.at + 1);
                    return self.refuse("`_` may only go between digits", span);
                }
            } else if !is_digit {
                break;
            }
            is_between = is_digit;
            self.at += 1;
        }
        if self.at == start { self.refuse("digits are missing", Span::new(start, start)) } else { Some(()) }
    }

    /// Nothing more.
    fn end(&mut self, message: &'static str) -> Option<()> {
        let rest = Span::new(self.at, self.bytes.len());
        if rest.is_empty() { Some(()) } else { self.refuse(message, rest) }
    }

    /// Two digits that make a number up to a greatest one.
    fn two(&mut self, greatest: u8) -> Option<u8> {
        let [tens @ b'0'..=b'9', ones @ b'0'..=b'9', ..] = self.rest() else { return None };
        self.at += 2;
        let number = (tens - b'0') * 10 + (ones - b'0');
        (number <= greatest).then_some(number)
    }

    /// A date, a time or both that a calendar and a clock can show.
    fn moment(&mut self) -> Option<()> {
        let has_date = self.bytes.get(4) == Some(&b'-');
        if has_date {
            let (century, year) = (self.two(99)?, self.two(99)?);
            let month = self.after(b'-', 12)?;
            let day = self.after(b'-', 31)?;
            let leap = if year == 0 { century } else { year } % 4 == 0;
            let days = match month {
                0 => 0,
                4 | 6 | 9 | 11 => 30,
                2 => 28 + u8::from(leap),
                _ => 31,
            };
            if day == 0 || day > days {
                return None;
            }
            if self.at == self.bytes.len() {
                return Some(());
            }
            if !(self.eat(b'T') || self.eat(b't') || self.eat(b' ')) {
                return None;
            }
        }
        self.clock()?;
        if self.peek() == b':' {
            // 60 is a leap second.
            self.after(b':', 60)?;
            if self.eat(b'.') && self.skip_digits() == 0 {
                return None;
            }
        }
        if has_date && !(self.eat(b'Z') || self.eat(b'z')) && (self.eat(b'+') || self.eat(b'-')) {
            self.clock()?;
        }
        Some(())
    }

    /// `HH:MM`
    fn clock(&mut self) -> Option<u8> {
        self.two(23)?;
        self.after(b':', 59)
    }

    /// A mark, and two digits behind it.
    fn after(&mut self, mark: u8, greatest: u8) -> Option<u8> {
        if self.eat(mark) { self.two(greatest) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_calendar_and_a_clock_decide() {
        for valid in [
            "1979-05-27",
            "2024-02-29",
            "2000-02-29",
            "07:32:00",
            "07:32",
            "1979-05-27T07:32:00.999999",
            "1979-05-27 07:32:00Z",
            "1979-05-27t07:32:00-07:00",
        ] {
            assert_eq!(read(valid), Ok(Value::DateTime), "{valid}");
        }
        for invalid in [
            "1979-13-01",
            "1979-00-01",
            "1979-01-00",
            "2023-02-29",
            "1900-02-29",
            "1979-05-27T",
            "1979-5-27",
            "24:00:00",
            "07:32:00Z",
            "07:32:00.",
            "1979-05-27x",
        ] {
            assert!(read(invalid).is_err(), "{invalid}");
        }
    }

    #[test]
    fn numbers_keep_to_64_bits() {
        for (raw, number) in [
            ("0", 0),
            ("-0", 0),
            ("+1_000", 1000),
            ("0x7fff_ffff_ffff_ffff", i64::MAX),
            ("0o17", 15),
            ("0b1_0", 2),
            ("9223372036854775807", i64::MAX),
            ("-9223372036854775808", i64::MIN),
        ] {
            assert_eq!(read(raw), Ok(Value::Integer(number)), "{raw}");
        }
        for raw in
            ["9223372036854775808", "-9223372036854775809", "0x8000000000000000", "18446744073709551616"]
        {
            assert_eq!(read(raw).unwrap_err().0, "the number does not fit 64 bits", "{raw}");
        }
    }
}
