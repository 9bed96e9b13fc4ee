//! Types of unquoted YAML scalars, as the Kubernetes tools resolve them.
//!
//! The tools use sigs.k8s.io/yaml, which decodes with go-yaml v2 (YAML 1.1: `yes` and `on` are booleans, `0644`
//! is octal) and then writes JSON, which turns `1.0` into `1`. Source: kubernetes-sigs/yaml v1.6.0 yaml.go,
//! go-yaml v2 resolve.go.

use std::borrow::Cow;

use crate::source::certain;

/// Type and value of an unquoted scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scalar {
    /// Empty text, `~` or `null`.
    Null,
    /// One of the 22 words for true and false of YAML 1.1.
    Bool(bool),
    /// An integer that fits 64 bits with a sign.
    Int(i64),
    /// Any other number. JSON cannot represent the infinite ones and NaN.
    Float(f64),
    /// The text itself.
    String,
}

/// Resolves an unquoted scalar without a tag.
pub(crate) fn resolve(text: &str) -> Scalar {
    match resolve_exactly(text) {
        Scalar::Float(value) => from_float(value),
        other => other,
    }
}

/// Resolves an unquoted scalar without a tag; a double stays a double even if it has no fraction.
fn resolve_exactly(text: &str) -> Scalar {
    match text.bytes().next() {
        None => Scalar::Null,
        Some(b'+' | b'-' | b'0'..=b'9' | b'.') => number(text).unwrap_or(Scalar::String),
        Some(b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~') => word(text),
        Some(_) => Scalar::String,
    }
}

fn word(text: &str) -> Scalar {
    match text {
        "~" | "null" | "Null" | "NULL" => Scalar::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Scalar::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Scalar::Bool(false)
        }
        _ => Scalar::String,
    }
}

fn number(text: &str) -> Option<Scalar> {
    match text {
        ".nan" | ".NaN" | ".NAN" => return Some(Scalar::Float(f64::NAN)),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Some(Scalar::Float(f64::INFINITY)),
        "-.inf" | "-.Inf" | "-.INF" => return Some(Scalar::Float(f64::NEG_INFINITY)),
        _ => {}
    }
    if text.starts_with('.') {
        // Go's `strconv.ParseFloat` allows an underscore between two digits.
        let digits: Vec<&str> = text.split('_').collect();
        let between = |pair: &[&str]| matches!(pair, [left, right] if left.ends_with(|c: char| c.is_ascii_digit()) && right.starts_with(|c: char| c.is_ascii_digit()));
        return decimal(&digits.concat()).filter(|_| digits.windows(2).all(between)).map(Scalar::Float);
    }
    let plain = text.replace('_', "");
    let (negative, digits) = match plain.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, plain.strip_prefix('+').unwrap_or(&plain)),
    };
    if let Some(value) = whole(digits) {
        let signed = if negative { -i128::from(value) } else { i128::from(value) };
        if let Ok(value) = i64::try_from(signed) {
            return Some(Scalar::Int(value));
        }
        // Go's `strconv.ParseUint`, which reads the numbers beyond, allows no sign.
        #[expect(clippy::cast_precision_loss, reason = "a number beyond 63 bits is a double")]
        if plain.starts_with(|c: char| c.is_ascii_digit()) {
            return Some(Scalar::Float(value as f64));
        }
    }
    // The reference reads a sign after `0b`, too.
    let binary = || i64::from_str_radix(plain.strip_prefix("0b")?, 2).ok();
    decimal(&plain).map(Scalar::Float).or_else(|| binary().map(Scalar::Int))
}

/// Digits in the base of a prefix of Go: `0x`, `0o` or a bare `0`, `0b`; otherwise ten. `None` for a number beyond 64 bits.
fn whole(digits: &str) -> Option<u64> {
    let lower = digits.get(..2).map(str::to_ascii_lowercase);
    let (base, rest) = match lower.as_deref() {
        Some("0x") => (16, digits.get(2..)?),
        Some("0o") => (8, digits.get(2..)?),
        Some("0b") => (2, digits.get(2..)?),
        Some(_) if digits.starts_with('0') => (8, digits.get(1..)?),
        _ => (10, digits),
    };
    let is_number = rest.chars().all(|char| char.is_digit(base));
    u64::from_str_radix(rest, base).ok().filter(|_| is_number)
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn decimal(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let good_mantissa = digits(before) && digits(after) && !(before.is_empty() && after.is_empty());
    let good_exponent = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !exponent.is_empty() && digits(exponent)
    });
    let value = text.parse().ok().filter(|_| good_mantissa && good_exponent);
    value.filter(|value: &f64| value.is_finite())
}

/// Converts a double as its JSON spelling reads: Go writes a double without a fraction and below 10^21 as an integer, with
/// the fewest digits that tell it from other doubles.
fn from_float(value: f64) -> Scalar {
    if value.fract() == 0.0 && value.abs() < 1e21 {
        return value.to_string().parse().map_or(Scalar::Float(value), Scalar::Int);
    }
    Scalar::Float(value)
}

/// Spelling of an unquoted scalar as a key: numbers and booleans get their canonical spelling. `None` for null, which the
/// Kubernetes tools refuse as a key.
pub(crate) fn as_key(text: &str) -> Option<Cow<'_, str>> {
    canonical(resolve_exactly(text), text)
}

/// Canonical spelling of a scalar, for use as a key; `text` is the value of a string.
pub(crate) fn canonical(scalar: Scalar, text: &str) -> Option<Cow<'_, str>> {
    Some(match scalar {
        Scalar::Null => return None,
        Scalar::Bool(value) => value.to_string().into(),
        Scalar::Int(value) => value.to_string().into(),
        Scalar::Float(value) => float_key(value).into(),
        Scalar::String => text.into(),
    })
}

/// Spelling of a double as a key, from Go's `strconv.FormatFloat(value, 'g', -1, 32)`, which sigs.k8s.io/yaml calls.
fn float_key(value: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the reference writes keys with 32 bits of precision"
    )]
    let value = value as f32;
    if value.is_nan() {
        return ".nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    match certain(exponent.parse::<i32>().ok()) {
        -4..6 => value.to_string(),
        exponent => format!("{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn resolves_words_of_yaml_1_1_to_booleans() {
        for text in ["y", "Yes", "on", "TRUE"] {
            assert_eq!(resolve(text), Scalar::Bool(true), "{text}");
        }
        for text in ["n", "No", "off", "False"] {
            assert_eq!(resolve(text), Scalar::Bool(false), "{text}");
        }
        for text in ["yEs", "truE", "onn", "yes ", "Nope", "none"] {
            assert_eq!(resolve(text), Scalar::String, "{text}");
        }
    }

    #[test]
    fn resolves_numbers_as_go_does() {
        for (text, value) in [
            ("0", 0),
            ("-0", 0),
            ("0644", 420),
            ("0o644", 420),
            ("08", 8),
            ("1_000", 1000),
            ("0b11", 3),
            ("-0b11", -3),
            ("0b-11", -3),
            ("0x1F", 31),
            ("+5", 5),
            ("1.0", 1),
            ("1e3", 1000),
            ("5.", 5),
            ("1234567890123456768.0", 1_234_567_890_123_456_800),
            (".1_5e2", 15),
            ("9223372036854775807", i64::MAX),
            ("-9223372036854775808", i64::MIN),
        ] {
            assert_eq!(resolve(text), Scalar::Int(value), "{text}");
        }
        for (text, value) in [
            ("1.5", 1.5),
            (".5", 0.5),
            ("-.5", -0.5),
            ("1e-3", 0.001),
            ("9223372036854775808", 9_223_372_036_854_775_808.0),
            ("999999999999999999999", 999_999_999_999_999_999_999.0),
            ("0xffffffffffffffff", 18_446_744_073_709_551_615.0),
            // Too long for an octal number.
            ("01000000000000000000000001", 1e24),
        ] {
            assert_eq!(resolve(text), Scalar::Float(value), "{text}");
        }
        for text in [
            "1.2.3",
            "12:30:45",
            "2024-01-01",
            "0x",
            "-",
            "+",
            ".",
            "1e",
            "al2023@latest",
            "1Gi",
            "0o8",
            "--1",
            "._5",
            ".5_",
            "0x10000000000000000",
            "-0x8000000000000001",
            ".5__0",
        ] {
            assert_eq!(resolve(text), Scalar::String, "{text}");
        }
    }

    #[test]
    fn resolves_empty_text_to_null() {
        for text in ["", "~", "null", "Null", "NULL"] {
            assert_eq!(resolve(text), Scalar::Null, "{text}");
        }
    }

    #[test]
    fn spells_keys_as_strings() {
        assert_eq!(as_key("on").as_deref(), Some("true"));
        assert_eq!(as_key("0644").as_deref(), Some("420"));
        assert_eq!(as_key("1.5").as_deref(), Some("1.5"));
        // A hash that consists of digits around an `e` is a number.
        assert_eq!(as_key("7e10").as_deref(), Some("7e+10"));
        assert_eq!(as_key("1000000.0").as_deref(), Some("1e+06"));
        assert_eq!(as_key("-1e-5").as_deref(), Some("-1e-05"));
        assert_eq!(as_key("~"), None);
    }

    proptest! {
        #[test]
        fn resolves_every_integer(value in any::<i64>()) {
            prop_assert_eq!(resolve(&value.to_string()), Scalar::Int(value));
        }

        #[test]
        fn never_panics(text in any::<String>(), digits in "[-+0-9._eExob]{0,30}") {
            resolve(&text);
            resolve(&digits);
            as_key(&digits);
        }
    }
}
