//! `format` and `formatlist`.
//!
//! Reference: zclconf/go-cty `cty/function/stdlib/format.go`; golang/go `src/math/big/intconv.go` and `ftoa.go`.

use super::chars::characters;
use super::json;
use super::{Answer, Call};
use crate::convert::convert;
use crate::number::Number;
use crate::place::TextPlace;
use crate::text::{EvaluatedText, TextBuilder};
use crate::types::Type;
use crate::value::{Data, EvaluatedValue};

/// Width and digits that a verb may ask for.
const MAX_WIDTH: usize = 10_000;
/// Digits before the point from which the shortest form has an exponent.
const SHORTEST_PRECISION: i64 = 6;

/// A verb such as `%-8.2f`.
#[expect(clippy::struct_excessive_bools, reason = "one for each flag")]
#[derive(Default)]
struct Verb {
    zero: bool,
    sharp: bool,
    plus: bool,
    minus: bool,
    space: bool,
    width: Option<usize>,
    precision: Option<usize>,
    argument: Option<usize>,
    mode: char,
}

/// Reason for which a format has no text.
enum Problem {
    /// Terraform refuses it too.
    Wrong(String),
    /// Terraform may know it.
    Other,
}

impl From<String> for Problem {
    fn from(message: String) -> Self {
        Self::Wrong(message)
    }
}

impl From<&str> for Problem {
    fn from(message: &str) -> Self {
        Self::Wrong(message.to_owned())
    }
}

pub(super) fn format(call: &Call<'_>) -> Answer {
    let pattern = call.argument(0)?.as_text().ok_or("The format must be a string.")?;
    let arguments: Vec<&EvaluatedValue> = call.arguments.iter().skip(1).collect();
    match formatted(call, pattern, &arguments) {
        Ok(text) => Ok(EvaluatedValue::text(text, call.place)),
        Err(Problem::Wrong(message)) => Err(message),
        Err(Problem::Other) => call.unknown(Type::String),
    }
}

pub(super) fn formatlist(call: &Call<'_>) -> Answer {
    let pattern = call.argument(0)?.as_text().ok_or("The format must be a string.")?;
    let arguments = call.arguments.get(1..).unwrap_or_default();
    let mut length = None;
    for argument in arguments {
        if let Some(items) = argument.items()
            && *length.get_or_insert(items.len()) != items.len()
        {
            return Err("The lists have different lengths.".to_owned());
        }
    }
    let mut lines = Vec::new();
    for index in 0..length.unwrap_or(1) {
        call.spend(1)?;
        let at = |argument| match EvaluatedValue::items(argument) {
            Some(items) => items.get(index),
            None => Some(argument),
        };
        let arguments: Vec<&EvaluatedValue> = arguments.iter().filter_map(at).collect();
        match formatted(call, pattern, &arguments) {
            Ok(text) => lines.push(EvaluatedValue::text(text, call.place)),
            Err(Problem::Wrong(message)) => return Err(message),
            Err(Problem::Other) => return call.unknown(Type::list(Type::String)),
        }
    }
    call.value(Data::List(Type::String, lines.into_iter().collect()))
}

fn formatted(
    call: &Call<'_>,
    pattern: &EvaluatedText,
    arguments: &[&EvaluatedValue],
) -> Result<EvaluatedText, Problem> {
    let (mut output, mut next, mut highest) = (TextBuilder::default(), 0, 0);
    let whole = pattern.as_str();
    let mut at = 0;
    while let Some((before, rest)) = whole.get(at..).and_then(|rest| rest.split_once('%')) {
        output.push_range(pattern, at, at + before.len());
        let (verb, length) = parse(rest)?;
        let end = at + before.len() + 1 + length;
        if verb.mode == '%' {
            output.push("%", call.place, false);
        } else {
            let index = verb.argument.unwrap_or(next);
            next = index + 1;
            highest = highest.max(next);
            let argument = arguments.get(index).ok_or("The format has more verbs than arguments.")?;
            // The name of a placeholder has another length than its value.
            if (verb.width.is_some() || verb.precision.is_some()) && !call.is_known(index + 1) {
                return Err(Problem::Other);
            }
            write(&verb, argument, call.place, &mut output)?;
        }
        at = end;
        call.spend_text(output.len().min(MAX_WIDTH))?;
    }
    output.push_range(pattern, at, whole.len());
    if highest < arguments.len() {
        return Err("The format has fewer verbs than arguments.".into());
    }
    Ok(output.finish())
}

/// The verb behind a `%`, and its length.
fn parse(text: &str) -> Result<(Verb, usize), Problem> {
    let mut verb = Verb::default();
    let mut chars = text.char_indices().peekable();
    while let Some((_, flag)) = chars.peek().copied() {
        match flag {
            '0' => verb.zero = true,
            '#' => verb.sharp = true,
            '+' => verb.plus = true,
            '-' => verb.minus = true,
            ' ' => verb.space = true,
            _ => break,
        }
        chars.next();
    }
    let mut digits = || {
        let mut number = String::new();
        while let Some((_, digit)) = chars.next_if(|(_, char)| char.is_ascii_digit()) {
            number.push(digit);
        }
        (number, chars.peek().map(|(_, char)| *char))
    };
    let bounded = |number: String| match number.parse::<usize>() {
        Ok(number) if number <= MAX_WIDTH => Ok(Some(number)),
        _ if number.is_empty() => Ok(None),
        _ => Err(Problem::Other),
    };
    let (width, following) = digits();
    verb.width = bounded(width)?;
    let mut following = following;
    if following == Some('.') {
        chars.next();
        let mut number = String::new();
        while let Some((_, digit)) = chars.next_if(|(_, char)| char.is_ascii_digit()) {
            number.push(digit);
        }
        verb.precision = Some(bounded(number)?.ok_or("The format has no digits after a point.")?);
        following = chars.peek().map(|(_, char)| *char);
    }
    if following == Some('[') {
        chars.next();
        let mut number = String::new();
        while let Some((_, digit)) = chars.next_if(|(_, char)| char.is_ascii_digit()) {
            number.push(digit);
        }
        let index = bounded(number)?.and_then(|index| index.checked_sub(1));
        verb.argument = Some(index.ok_or("The format has a wrong argument number.")?);
        if chars.next().is_none_or(|(_, char)| char != ']') {
            return Err("The format has an argument number without an end.".into());
        }
    }
    let (start, mode) = chars.next().ok_or("The format ends within a verb.")?;
    let is_bare = start == 0;
    if !"%vtbdoxXeEfgGsq".contains(mode) || mode == '%' && !is_bare {
        return Err(format!("The format has an unknown verb %{mode}.").into());
    }
    verb.mode = mode;
    Ok((verb, start + mode.len_utf8()))
}

fn write(
    verb: &Verb,
    value: &EvaluatedValue,
    place: TextPlace,
    output: &mut TextBuilder,
) -> Result<(), Problem> {
    if value.is_null() {
        return Err("A null value cannot be formatted.".into());
    }
    let text = match verb.mode {
        'v' => match &value.data {
            Data::String(text) if !verb.sharp => return padded(verb, text, output),
            Data::Number(number) if !verb.sharp => shortest(number),
            _ => {
                let mut text = String::new();
                json::write(value, &mut text);
                text
            }
        },
        't' => {
            let value = convert(value, &Type::Bool)?;
            output.push(if value.as_bool() == Some(true) { "true" } else { "false" }, place, false);
            return Ok(());
        }
        's' | 'q' => {
            let value = convert(value, &Type::String)?;
            let value = if verb.mode == 'q' { value.without_directives() } else { value };
            let text = value.as_text().ok_or("The argument must be a string.")?;
            let kept = match verb.precision {
                Some(precision) if precision > 0 => {
                    let characters = characters(text.as_str()).ok_or(Problem::Other)?;
                    characters.iter().take(precision).map(|character| character.len()).sum()
                }
                _ => text.as_str().len(),
            };
            let text = text.slice(0, kept);
            if verb.mode == 's' {
                return padded(verb, &text, output);
            }
            let mut quoted = String::new();
            json::quote(text.as_str(), &mut quoted);
            quoted
        }
        mode => {
            let value = convert(value, &Type::Number)?;
            let number = value.as_number().ok_or("The argument must be a number.")?;
            let text = if "bdoxX".contains(mode) { integer(verb, number)? } else { float(verb, number) };
            output.push(&text, place, false);
            return Ok(());
        }
    };
    padded(verb, &EvaluatedText::computed(text, place), output)
}

/// Adds a text with as many characters as the verb asks for.
fn padded(verb: &Verb, text: &EvaluatedText, output: &mut TextBuilder) -> Result<(), Problem> {
    let place = text.pieces().first().map(|piece| piece.place);
    let Some(width) = verb.width else {
        output.push_text(text);
        return Ok(());
    };
    let count = characters(text.as_str()).ok_or(Problem::Other)?.len();
    let padding = if verb.zero { "0" } else { " " }.repeat(width.saturating_sub(count));
    let place = place.ok_or(Problem::Other)?;
    if verb.minus {
        output.push_text(text);
        output.push(&padding, place, false);
    } else {
        output.push(&padding, place, false);
        output.push_text(text);
    }
    Ok(())
}

fn sign(verb: &Verb, is_negative: bool) -> &'static str {
    match is_negative {
        true => "-",
        false if verb.plus => "+",
        false if verb.space => " ",
        false => "",
    }
}

/// Pads a number: zeros go behind its sign and prefix.
fn padded_number(verb: &Verb, sign: &str, digits: &str, zero: bool) -> String {
    let padding = verb.width.unwrap_or(0).saturating_sub(sign.len() + digits.len());
    if verb.minus {
        format!("{sign}{digits}{}", " ".repeat(padding))
    } else if zero {
        format!("{sign}{}{digits}", "0".repeat(padding))
    } else {
        format!("{}{sign}{digits}", " ".repeat(padding))
    }
}

fn integer(verb: &Verb, number: &Number) -> Result<String, Problem> {
    let integer = number.integer().ok_or("The argument must be a whole number.")?;
    let magnitude = integer.magnitude();
    let (radix, prefix) = match verb.mode {
        'b' => (2, "0b"),
        'o' => (8, "0"),
        'x' => (16, "0x"),
        'X' => (16, "0X"),
        _ => (10, ""),
    };
    let mut digits = magnitude.to_str_radix(radix);
    if verb.mode == 'X' {
        digits.make_ascii_uppercase();
    }
    if let Some(precision) = verb.precision {
        if precision == 0 && digits == "0" {
            digits.clear();
        }
        digits = format!("{}{digits}", "0".repeat(precision.saturating_sub(digits.len())));
    }
    let sign = format!("{}{}", sign(verb, number.signum() < 0), if verb.sharp { prefix } else { "" });
    Ok(padded_number(verb, &sign, &digits, verb.zero && verb.precision.is_none()))
}

fn float(verb: &Verb, number: &Number) -> String {
    let magnitude = number.absolute();
    let digits = match verb.mode.to_ascii_lowercase() {
        'e' => magnitude.decimal().scientific(Some(verb.precision.unwrap_or(6))),
        'f' => magnitude.decimal().plain(Some(verb.precision.unwrap_or(6))),
        _ => match verb.precision {
            None => shortest(&magnitude),
            Some(precision) => magnitude.general(precision.max(1)),
        },
    };
    let digits = if verb.mode.is_ascii_uppercase() { digits.to_ascii_uppercase() } else { digits };
    padded_number(verb, sign(verb, number.signum() < 0), &digits, verb.zero)
}

/// The shortest form, with an exponent for large and small numbers: golang/go `src/math/big/ftoa.go`, `%e is used if the exponent from the
/// conversion is less than -4 or greater than or equal to the precision`, where "if precision was the shortest possible, use precision 6 for
/// this decision".
fn shortest(number: &Number) -> String {
    let decimal = number.shortest();
    let exponent = decimal.exponent() - 1;
    if number.is_zero() || (-4..SHORTEST_PRECISION).contains(&exponent) {
        decimal.plain(None)
    } else {
        decimal.scientific(None)
    }
}
