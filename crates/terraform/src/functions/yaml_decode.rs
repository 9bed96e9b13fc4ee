//! `yamldecode`.
//!
//! Reference: zclconf/go-cty-yaml `decode.go` and `resolve.go`. The crate `manifest` reads the syntax of go-yaml v2.

use std::collections::BTreeMap;
use std::sync::Arc;

use manifest::limits::Limits;
use manifest::source::Span;
use manifest::tree::{Node, Style, Tree, Value as Scalar};
use manifest::{Document, File};
use values::calendar::Date;

use super::{Answer, Call};
use crate::convert::convert;
use crate::number::Number;
use crate::place::{TextNumber, TextPlace};
use crate::text::{EvaluatedText, TextBuilder};
use crate::types::Type;
use crate::value::{Data, EvaluatedMember, EvaluatedValue};

/// Reason for which a document has no value.
enum Problem {
    /// Terraform refuses it too.
    Wrong(String),
    /// Terraform may know it.
    Other,
}

pub(super) fn yamldecode(call: &Call<'_>) -> Answer {
    let text = call.argument(0)?.as_text().ok_or("The argument must be a string.")?;
    if !text.directives().is_empty() {
        return call.unknown(Type::Dynamic);
    }
    // What `yamlencode` wrote with placeholders has its value.
    if let Some(encoded) = text.encoded().filter(|_| !call.is_known(0)) {
        return Ok(encoded.clone().at(call.place));
    }
    let unmarked = text.without_mark();
    let text = &*unmarked;
    call.spend_text(text.as_str().len().saturating_mul(8))?;
    let file = File::read("yaml.yaml", text.as_str(), &Limits::DEFAULT);
    let tree = match file.documents.as_slice() {
        [Document::Read(tree)] if !text.as_str().starts_with('%') => tree,
        [Document::Unreadable { error, .. }] if error.exceeded().is_none() => {
            return Err(format!("The string is not YAML: {error}."));
        }
        [_, _, ..] => return Err("The YAML has more than one document.".to_owned()),
        _ => return call.unknown(Type::Dynamic),
    };
    call.spend(tree.work())?;
    match Decoder::new(tree, text, call.place).value(tree.root()) {
        Ok(value) => Ok(value),
        Err(Problem::Wrong(message)) => Err(message),
        Err(Problem::Other) => call.unknown(Type::Dynamic),
    }
}

/// The value of the only document of a string; none if a directive in it is not resolved.
pub(crate) fn decode(text: &EvaluatedText, used: TextPlace) -> Option<EvaluatedValue> {
    if !text.directives().is_empty() {
        return None;
    }
    let unmarked = text.without_mark();
    let text = &*unmarked;
    let file = File::read("yaml.yaml", text.as_str(), &Limits::DEFAULT);
    match file.documents.as_slice() {
        [Document::Read(tree)] => Decoder::new(tree, text, used).value(tree.root()).ok(),
        // No document, or comments only.
        [] => Some(EvaluatedValue::null(Type::Dynamic, used)),
        _ => None,
    }
}

/// Reader of the values of a document.
struct Decoder<'t> {
    text: &'t EvaluatedText,
    /// The expression that uses the text.
    used: TextPlace,
    /// The node with the anchor of each alias, by the first byte of the alias.
    anchors: BTreeMap<usize, Node<'t>>,
}

impl<'t> Decoder<'t> {
    fn new(tree: &'t Tree, text: &'t EvaluatedText, used: TextPlace) -> Self {
        Self { text, used, anchors: tree.anchors() }
    }

    fn place(&self, span: Span) -> TextPlace {
        self.text.place_of(span.start, span.end).unwrap_or(self.used)
    }

    fn value(&self, node: Node<'t>) -> Result<EvaluatedValue, Problem> {
        let at = self.place(node.span());
        // The text of an alias is at its anchor.
        let anchor = if node.is_copied() { self.anchors.get(&node.span().start) } else { None };
        let source = *anchor.unwrap_or(&node);
        if is_tagged(source) {
            return Err(Problem::Other);
        }
        match node.value() {
            Scalar::Sequence => {
                let items = node.children().map(|item| self.value(item));
                Ok(EvaluatedValue::tuple(items.collect::<Result<Vec<_>, _>>()?, at))
            }
            // Of a list of mappings that `<<` merges, Terraform takes others.
            Scalar::Mapping if merges_list(node) => Err(Problem::Other),
            Scalar::Mapping => {
                let mut members = Vec::new();
                for child in node.children().filter(|child| !child.is_overridden()) {
                    let (key, at) = (key(child)?, self.place(child.key_span()));
                    members.push((key, EvaluatedMember { key: at, value: self.value(child)? }));
                }
                Ok(EvaluatedValue::object(members, at))
            }
            Scalar::String(string) if node.style() != Style::Plain && node.style() != Style::Alias => {
                Ok(EvaluatedValue::new(Data::String(placed(node, string, self.text, at)), at))
            }
            scalar => {
                let written = source.spelling();
                if let Scalar::String(string) = scalar
                    // A scalar of several lines is a string.
                    && (written.contains('\n') || written.starts_with(['"', '\'', '|', '>']))
                {
                    return Ok(EvaluatedValue::string(string, at));
                }
                resolve(written, at)
            }
        }
    }
}

/// Whether a mapping merges a list of mappings.
fn merges_list(node: Node<'_>) -> bool {
    let text = node.span().text(node.source().text());
    let is_list = |(at, key): (usize, &str)| {
        let rest =
            text.get(at + key.len()..).unwrap_or_default().trim_start_matches(['"', '\'']).trim_start();
        rest.strip_prefix(':').is_some_and(|value| value.trim_start().starts_with(['[', '-']))
    };
    node.children().any(Node::is_merged) && text.match_indices("<<").any(is_list)
}

/// The string of a node with the places of its lines, where the text has the string or the line letter by letter.
fn placed(node: Node<'_>, string: &str, text: &EvaluatedText, at: TextPlace) -> EvaluatedText {
    let span = node.span();
    let whole = span.text(text.as_str());
    if let Some(start) = whole.find(string).filter(|_| !string.is_empty()) {
        return text.slice(span.start + start, span.start + start + string.len());
    }
    let is_block = matches!(node.style(), Style::Literal | Style::Folded);
    if !is_block {
        return EvaluatedText::computed(string, at);
    }
    // The lines of a block scalar have an indentation that is no part of the string.
    let mut builder = TextBuilder::default();
    let mut from = span.start;
    for line in string.split_inclusive('\n') {
        let words = line.trim_end_matches('\n');
        let found = text.as_str().get(from..span.end).and_then(|rest| rest.find(words)).map(|at| from + at);
        match found {
            Some(start) => {
                builder.push_range(text, start, start + words.len());
                from = start + words.len();
            }
            None => builder.push(words, at, false),
        }
        if line.ends_with('\n') {
            let is_break = text.as_str().get(from..).is_some_and(|rest| rest.starts_with('\n'));
            if is_break {
                builder.push_range(text, from, from + 1);
                from += 1;
            } else {
                builder.push("\n", at, false);
            }
        }
    }
    builder.finish()
}

/// Whether a node has a tag.
fn is_tagged(node: Node<'_>) -> bool {
    let before = node.source().text().get(..node.span().start).unwrap_or_default();
    let words = before.trim_end_matches(' ').rsplit([' ', '\n']);
    let is_tag = |word: &str| word.starts_with('!');
    let tagged_before = words.take_while(|word| is_tag(word) || word.starts_with('&')).any(is_tag);
    tagged_before
        || node.spelling().starts_with('!')
            && node.style() != Style::DoubleQuoted
            && node.style() != Style::SingleQuoted
}

/// The key of a member: a scalar like others, as a string.
fn key(child: Node<'_>) -> Result<Arc<str>, Problem> {
    let spelling = child.key_span().text(child.source().text());
    if child.is_merged() || spelling.starts_with(['"', '\'']) {
        return Ok(child.key().into());
    }
    if spelling.starts_with(['!', '&', '*', '?', '|', '>']) || spelling.contains('\n') {
        return Err(Problem::Other);
    }
    let place = TextPlace::new(TextNumber::default(), Span::default());
    let value = resolve(spelling, place)?;
    match convert(&value, &Type::String) {
        Ok(EvaluatedValue { data: Data::String(text), .. }) => Ok(text.shared()),
        _ => Err(Problem::Wrong("A key is null.".to_owned())),
    }
}

/// The value of a plain scalar.
fn resolve(text: &str, at: TextPlace) -> Result<EvaluatedValue, Problem> {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => EvaluatedValue::null(Type::Dynamic, at),
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            EvaluatedValue::bool(true, at)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            EvaluatedValue::bool(false, at)
        }
        ".nan" | ".NaN" | ".NAN" => {
            return Err(Problem::Wrong("The YAML has a number that is none.".to_owned()));
        }
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" | "-.inf" | "-.Inf" | "-.INF" => {
            return Err(Problem::Other);
        }
        _ if !text.starts_with(|char: char| char.is_ascii_digit() || "+-.".contains(char)) => {
            EvaluatedValue::string(text, at)
        }
        _ => match timestamp(text) {
            Some(instant) => EvaluatedValue::string(instant, at),
            None => number(text, at)?,
        },
    })
}

fn number(text: &str, at: TextPlace) -> Result<EvaluatedValue, Problem> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (digits, radix) = match text.split_at_checked(2) {
        Some(("0x", digits)) => (digits, 16),
        Some(("0o", digits)) => (digits, 8),
        _ => {
            return match Number::parse(text) {
                Some(number) => Ok(EvaluatedValue::number(number, at)),
                // A number that is too large for us.
                None if unsigned.bytes().all(|byte| byte.is_ascii_digit() || b"eE.+-".contains(&byte))
                    && unsigned.contains(['e', 'E']) =>
                {
                    Err(Problem::Other)
                }
                None => Ok(EvaluatedValue::string(text, at)),
            };
        }
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Ok(EvaluatedValue::string(text, at));
    }
    let number = i64::from_str_radix(digits, radix).map_err(|_| Problem::Other)?;
    Ok(EvaluatedValue::number(Number::from(number), at))
}

/// An instant as Terraform writes it, if a scalar is one.
fn timestamp(text: &str) -> Option<String> {
    let split = text.find(['T', 't', ' ']).unwrap_or(text.len());
    let (date, time) = text.split_at(split);
    let mut parts = date.split('-');
    let year = parts.next().filter(|year| year.len() == 4)?;
    let number = |part: &str| {
        let is_short = (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<u8>().ok().filter(|_| is_short)
    };
    let (month, day) = (number(parts.next()?)?, number(parts.next()?)?);
    if parts.next().is_some() || !year.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Date::new(year.parse().ok()?, month, day)?;
    let date = format!("{year}-{month:02}-{day:02}");
    let Some(clock) = time.get(1..) else { return Some(format!("{date}T00:00:00Z")) };
    let is_spaced = time.starts_with(' ');
    let end = clock.find(['Z', '+', '-']).unwrap_or(clock.len());
    let (clock, zone) = clock.split_at(end);
    if is_spaced != zone.is_empty() {
        return None;
    }
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut parts = clock.split(':').map(number);
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let zone = match zone {
        "" | "Z" | "+00:00" | "-00:00" => "Z",
        other => {
            let (hours, minutes) = other.get(1..)?.split_once(':')?;
            let is_exact = hours.len() == 2 && minutes.len() == 2;
            (is_exact && number(hours)? < 24 && number(minutes)? < 60).then_some(other)?
        }
    };
    Some(format!("{date}T{hour:02}:{minute:02}:{second:02}{zone}"))
}
