//! Values without quotes: numbers, `true` and `false`, dates and times (RFC 3339 with TOML's leave to drop a half, the
//! offset or, since 1.1, the seconds).

use super::Value;
use crate::userdata::Span;

/// What is wrong, and where in the value.
type Defect = (&'static str, Span);

/// What a value without quotes is.
pub(super) fn read(raw: &str) -> Result<Value, Defect> {
    let whole = Span::whole(raw);
    let bytes = raw.as_bytes();
    let mut scan = Scan { bytes, at: 0 };
    let negative = scan.peek() == b'-';
    let signed = negative || scan.peek() == b'+';
    scan.at += usize::from(signed);
    let unsigned = scan.rest();
    let digits = scan.skip_digits();
    if digits > 0 && matches!(scan.peek(), b'-' | b':') {
        scan.at = 0;
        let valid = scan.moment().is_some() && scan.at == bytes.len();
        return if valid { Ok(Value::DateTime) } else { Err(("no such date or time", whole)) };
    }
    scan.at = usize::from(signed);
    let unread = if matches!(bytes, [.., b'"' | b'\'']) {
        Err(("missing opening quote", Span::new(0, 0)))
    } else {
        Err(("string values must be quoted", whole))
    };
    if bytes.contains(&b' ') {
        return unread;
    }
    match unsigned {
        b"true" if !signed => Ok(Value::Boolean(true)),
        b"false" if !signed => Ok(Value::Boolean(false)),
        b"inf" | b"nan" => Ok(Value::Float),
        [b't' | b'T' | b'f' | b'F', ..] if !signed => Err(("invalid boolean", whole)),
        [b'i' | b'I' | b'n' | b'N', ..] => Err(("invalid float", Span::new(scan.at, bytes.len()))),
        [b'0', letter @ (b'x' | b'o' | b'b'), number @ ..] if !signed => {
            let radix = match letter {
                b'x' => 16,
                b'o' => 8,
                _ => 2,
            };
            scan.at = 2;
            scan.digits(radix)?;
            scan.end("invalid number")?;
            integer(number, radix, false).ok_or(("the number does not fit 64 bits", whole))
        }
        [b'0'..=b'9' | b'_' | b'.', ..] => {
            let mark = unsigned.get(digits).copied();
            let is_float = unsigned.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
            if !is_float && !matches!(mark, None | Some(b'_')) {
                return unread;
            }
            if matches!(unsigned, [b'0', b'0'..=b'9' | b'_', ..]) {
                return Err(("unexpected leading zero", Span::new(scan.at, scan.at + 1)));
            }
            scan.digits(10)?;
            if !is_float {
                scan.end("invalid number")?;
                return integer(unsigned, 10, negative).ok_or(("the number does not fit 64 bits", whole));
            }
            if scan.eat(b'.') {
                scan.digits(10)?;
            }
            if scan.eat(b'e') || scan.eat(b'E') {
                let _ = scan.eat(b'+') || scan.eat(b'-');
                scan.digits(10)?;
            }
            scan.end("invalid float")?;
            Ok(Value::Float)
        }
        _ => unread,
    }
}

/// The number that digits make, the underscores between them left out.
fn integer(digits: &[u8], radix: u32, negative: bool) -> Option<Value> {
    let mut number: u64 = 0;
    for byte in digits {
        if *byte != b'_' {
            if number > (1 << 63) / u64::from(radix) {
                return None;
            }
            number = number * u64::from(radix) + u64::from(char::from(*byte).to_digit(radix)?);
        }
    }
    let number = if negative { 0_i64.checked_sub_unsigned(number) } else { i64::try_from(number).ok() };
    number.map(Value::Integer)
}

struct Scan<'t> {
    bytes: &'t [u8],
    at: usize,
}

impl<'t> Scan<'t> {
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
    fn digits(&mut self, radix: u32) -> Result<(), Defect> {
        let start = self.at;
        let mut is_between = false;
        loop {
            let byte = self.peek();
            let is_digit = char::from(byte).is_digit(radix);
            if byte == b'_' {
                let next = self.bytes.get(self.at + 1).copied().unwrap_or(b'_');
                if !is_between || !char::from(next).is_digit(radix) {
                    return Err(("`_` may only go between digits", Span::new(self.at, self.at + 1)));
                }
            } else if !is_digit {
                break;
            }
            is_between = is_digit;
            self.at += 1;
        }
        if self.at == start { Err(("digits are missing", Span::new(start, start))) } else { Ok(()) }
    }

    fn end(&self, message: &'static str) -> Result<(), Defect> {
        let rest = Span::new(self.at, self.bytes.len());
        if rest.is_empty() { Ok(()) } else { Err((message, rest)) }
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
