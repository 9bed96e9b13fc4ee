//! Literals of templates: their escapes, the whitespace that `~` removes, and the indentation of here-documents.
//!
//! Reference: hashicorp/hcl `hclsyntax/parser_template.go`, whose tokens of a template end at line breaks.

use std::collections::BTreeMap;

use hcl_edit::Span as _;
use hcl_edit::template::{Directive, Element, HeredocTemplate, StringTemplate, Strip, Template};
use manifest::source::{Source, Span};

use crate::place::{TextNumber, TextPlace};
use crate::syntax::is_json;
use crate::text::{EvaluatedText, TextBuilder};

/// The literals of a template as they count, by the byte at which each starts.
#[derive(Debug, Default)]
pub(crate) struct TemplateLayout {
    literals: BTreeMap<usize, EvaluatedText>,
}

/// Part of a template that the rules about whitespace tell apart.
enum Token {
    /// A literal up to the end of its line, and the byte at which its whole literal starts.
    Line {
        literal: usize,
        text: TextBuilder,
    },
    Other,
}

/// The characters that an escape can start with.
const ESCAPES: [char; 3] = ['\\', '$', '%'];

/// Escapes of a literal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escapes {
    /// `$${` and `%%{` only.
    Templates,
    /// The same, and escapes with a backslash, of HCL and of JSON.
    Quoted,
    /// The same, in a text in which JSON escapes them again: a string within an expression within a string of JSON.
    Inner,
}

impl Escapes {
    /// The escapes of a string in quotes that starts at a byte.
    fn of_string(source: &Source, start: usize) -> Self {
        let before = start.checked_sub(1).and_then(|before| source.text().as_bytes().get(before));
        if before == Some(&b'\\') { Self::Inner } else { Self::Quoted }
    }
}

struct Tokens<'s> {
    source: &'s Source,
    text: TextNumber,
    escapes: Escapes,
    list: Vec<Token>,
    trims_next: bool,
}

impl TemplateLayout {
    /// The literals of a template file.
    pub(crate) fn of_template(template: &Template, source: &Source, text: TextNumber) -> Self {
        let mut tokens = Tokens::new(source, text, Escapes::Templates);
        tokens.add(template.iter());
        tokens.finish(false)
    }

    /// The literals of a string in quotes.
    pub(crate) fn of_string(template: &StringTemplate, source: &Source, text: TextNumber) -> Self {
        let start = template.span().map_or(0, |span| span.start);
        let mut tokens = Tokens::new(source, text, Escapes::of_string(source, start));
        tokens.add(template.iter());
        tokens.finish(false)
    }

    /// The literals of a here-document; `<<-` removes the indentation that its lines share.
    pub(crate) fn of_heredoc(heredoc: &HeredocTemplate, source: &Source, place: TextPlace) -> Self {
        let mut tokens = Tokens::new(source, place.text, Escapes::Templates);
        tokens.add(heredoc.template.iter());
        tokens.finish(place.span().text(source.text()).starts_with("<<-"))
    }

    /// The literal that starts at a byte.
    pub(super) fn literal(&self, start: usize) -> Option<&EvaluatedText> {
        self.literals.get(&start)
    }
}

impl<'s> Tokens<'s> {
    fn new(source: &'s Source, text: TextNumber, escapes: Escapes) -> Self {
        Self { source, text, escapes, list: Vec::new(), trims_next: false }
    }

    fn add<'t>(&mut self, elements: impl Iterator<Item = &'t Element>) {
        for element in elements {
            match element {
                Element::Literal(literal) => self.literal(literal.span().unwrap_or(0..0)),
                Element::Interpolation(interpolation) => self.control(interpolation.strip),
                Element::Directive(directive) => self.directive(directive),
            }
        }
    }

    fn directive(&mut self, directive: &Directive) {
        match directive {
            Directive::If(directive) => {
                self.control(directive.if_expr.strip);
                self.add(directive.if_expr.template.iter());
                if let Some(otherwise) = &directive.else_expr {
                    self.control(otherwise.strip);
                    self.add(otherwise.template.iter());
                }
                self.control(directive.endif_expr.strip);
            }
            Directive::For(directive) => {
                self.control(directive.for_expr.strip);
                self.add(directive.for_expr.template.iter());
                self.control(directive.endfor_expr.strip);
            }
        }
    }

    fn control(&mut self, strip: Strip) {
        if strip.strip_start()
            && let Some(Token::Line { text, .. }) = self.list.last_mut()
        {
            text.trim_end(0);
        }
        self.trims_next = strip.strip_end();
        self.list.push(Token::Other);
    }

    fn literal(&mut self, span: core::ops::Range<usize>) {
        let whole = self.source.text().get(span.clone()).unwrap_or_default();
        let mut start = span.start;
        for line in self.lines(whole) {
            let place = TextPlace::new(self.text, Span::new(start, start + line.len()));
            let mut text = TextBuilder::default();
            decode(line, place, self.escapes, &mut text);
            if core::mem::take(&mut self.trims_next) {
                let decoded = core::mem::take(&mut text);
                let kept = decoded.as_str().len() - decoded.as_str().trim_start().len();
                text.push_built(&decoded, kept);
            }
            self.list.push(Token::Line { literal: span.start, text });
            start += line.len();
        }
    }

    /// The lines of a literal. In a string of JSON, a line ends at an escape.
    fn lines<'t>(&self, literal: &'t str) -> Vec<&'t str> {
        if self.escapes != Escapes::Quoted || !is_json(self.source.name()) {
            return literal.split_inclusive('\n').collect();
        }
        let (mut lines, mut start, mut at) = (Vec::new(), 0, 0);
        while let Some(found) = literal.get(at..).and_then(|rest| rest.find('\\')) {
            let (char, length) = unescape(literal.get(at + found..).unwrap_or_default());
            at += found + length;
            if char == "\n" {
                lines.extend(literal.get(start..at));
                start = at;
            }
        }
        lines.extend(literal.get(start..).filter(|rest| !rest.is_empty()));
        lines
    }

    fn finish(mut self, is_flush: bool) -> TemplateLayout {
        if is_flush {
            self.flush();
        }
        let mut literals: BTreeMap<usize, TextBuilder> = BTreeMap::new();
        for token in self.list {
            if let Token::Line { literal, text } = token {
                literals.entry(literal).or_default().push_built(&text, 0);
            }
        }
        TemplateLayout {
            literals: literals.into_iter().map(|(start, text)| (start, text.finish())).collect(),
        }
    }

    /// Removes the indentation that all lines share, apart from blank ones.
    fn flush(&mut self) {
        let mut smallest = usize::MAX;
        let mut is_start = true;
        let mut indented = Vec::new();
        for (index, token) in self.list.iter().enumerate() {
            let content = match token {
                Token::Line { text, .. } => Some(text.as_str()),
                Token::Other => None,
            };
            if is_start {
                let indentation = content.map_or(Some(0), |content| {
                    let trimmed = content.trim_start();
                    let is_blank = trimmed.is_empty() && content.ends_with('\n');
                    (!is_blank).then(|| content.chars().count() - trimmed.chars().count())
                });
                if let Some(indentation) = indentation {
                    smallest = smallest.min(indentation);
                    indented.push(index);
                }
            }
            is_start = content.is_some_and(|content| content.ends_with('\n'));
        }
        for index in indented {
            if let Some(Token::Line { text, .. }) = self.list.get_mut(index) {
                let whole = core::mem::take(text);
                let removed = whole.as_str().chars().take(smallest).map(char::len_utf8).sum();
                text.push_built(&whole, removed);
            }
        }
    }
}

/// The string in quotes at a place.
pub(super) fn quoted(source: &Source, place: TextPlace) -> EvaluatedText {
    let span = place.span();
    let inner = Span::new(span.start + 1, span.end.saturating_sub(1).max(span.start + 1));
    let mut text = TextBuilder::default();
    let escapes = Escapes::of_string(source, span.start);
    decode(inner.text(source.text()), TextPlace::new(place.text, inner), escapes, &mut text);
    text.finish()
}

/// The string of JSON at a place, in quotes.
pub(crate) fn json_string(source: &Source, place: TextPlace) -> EvaluatedText {
    let span = place.span();
    let inner = Span::new(span.start + 1, span.end.saturating_sub(1).max(span.start + 1));
    let (mut whole, mut text) = (TextBuilder::default(), TextBuilder::default());
    let inner_place = TextPlace::new(place.text, inner);
    whole.push(inner.text(source.text()), inner_place, true);
    resolve(&whole.finish(), inner_place, |rest| rest.starts_with('\\').then(|| unescape(rest)), &mut text);
    text.finish()
}

/// Resolves the escapes of a literal.
fn decode(literal: &str, place: TextPlace, escapes: Escapes, into: &mut TextBuilder) {
    if !literal.contains(ESCAPES) {
        into.push(literal, place, true);
        return;
    }
    let mut whole = TextBuilder::default();
    whole.push(literal, place, true);
    let mut text = whole.finish();
    if escapes == Escapes::Inner && literal.contains('\\') {
        let mut json = TextBuilder::default();
        resolve(&text, place, |rest| rest.starts_with('\\').then(|| unescape(rest)), &mut json);
        text = json.finish();
    }
    let escape = |rest: &str| {
        if rest.starts_with("$${") {
            Some(("${".to_owned(), 3))
        } else if rest.starts_with("%%{") {
            Some(("%{".to_owned(), 3))
        } else {
            (escapes != Escapes::Templates && rest.starts_with('\\')).then(|| unescape(rest))
        }
    };
    resolve(&text, place, escape, into);
}

/// Adds a text with the characters that its escapes are.
fn resolve(
    text: &EvaluatedText,
    place: TextPlace,
    escape: impl Fn(&str) -> Option<(String, usize)>,
    into: &mut TextBuilder,
) {
    let literal = text.as_str();
    let (mut start, mut at) = (0, 0);
    while let Some(found) = literal.get(at..).and_then(|rest| rest.find(ESCAPES)) {
        at += found;
        let Some((escaped, length)) = escape(literal.get(at..).unwrap_or_default()) else {
            at += 1;
            continue;
        };
        into.push_range(text, start, at);
        into.push(&escaped, text.place_of(at, at + length).unwrap_or(place), false);
        at += length;
        start = at;
    }
    into.push_range(text, start, literal.len());
}

/// The character of an escape at the start of a text, and the length of the escape.
fn unescape(text: &str) -> (String, usize) {
    let number = |start: usize, digits: usize| {
        text.get(start..start + digits).and_then(|digits| u32::from_str_radix(digits, 16).ok())
    };
    let code = |digits: usize| {
        let code = number(2, digits);
        // JSON has two halves of a character beyond 16 bits.
        let low = number(8, 4).filter(|_| text.get(6..8) == Some("\\u"));
        if digits == 4
            && let (Some(high @ 0xD800..0xDC00), Some(low @ 0xDC00..0xE000)) = (code, low)
        {
            let char = char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00));
            return (char.unwrap_or(char::REPLACEMENT_CHARACTER).to_string(), 12);
        }
        let char = code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER);
        (char.to_string(), 2 + digits)
    };
    match text.chars().nth(1) {
        Some('n') => ("\n".to_owned(), 2),
        Some('r') => ("\r".to_owned(), 2),
        Some('t') => ("\t".to_owned(), 2),
        Some('b') => ("\u{8}".to_owned(), 2),
        Some('f') => ("\u{c}".to_owned(), 2),
        Some('u') => code(4),
        Some('U') => code(8),
        Some(other) => (other.to_string(), 1 + other.len_utf8()),
        None => (String::new(), 1),
    }
}
