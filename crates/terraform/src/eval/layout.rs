//! Literals of templates: their escapes, the whitespace that `~` removes, and the indentation of here-documents.
//!
//! Reference: hashicorp/hcl `hclsyntax/parser_template.go`, whose tokens of a template end at line breaks.

use std::collections::BTreeMap;

use hcl_edit::Span as _;
use hcl_edit::template::{Directive, Element, HeredocTemplate, StringTemplate, Strip, Template};
use manifest::source::{Source, Span};

use crate::place::{TextNumber, TextPlace};
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

struct Tokens<'s> {
    source: &'s Source,
    text: TextNumber,
    is_quoted: bool,
    list: Vec<Token>,
    trims_next: bool,
}

impl TemplateLayout {
    /// The literals of a template file.
    pub(crate) fn of_template(template: &Template, source: &Source, text: TextNumber) -> Self {
        let mut tokens = Tokens::new(source, text, false);
        tokens.add(template.iter());
        tokens.finish(false)
    }

    /// The literals of a string in quotes.
    pub(crate) fn of_string(template: &StringTemplate, source: &Source, text: TextNumber) -> Self {
        let mut tokens = Tokens::new(source, text, true);
        tokens.add(template.iter());
        tokens.finish(false)
    }

    /// The literals of a here-document; `<<-` removes the indentation that its lines share.
    pub(crate) fn of_heredoc(heredoc: &HeredocTemplate, source: &Source, place: TextPlace) -> Self {
        let mut tokens = Tokens::new(source, place.text, false);
        tokens.add(heredoc.template.iter());
        tokens.finish(place.span().text(source.text()).starts_with("<<-"))
    }

    /// The literal that starts at a byte.
    pub(super) fn literal(&self, start: usize) -> Option<&EvaluatedText> {
        self.literals.get(&start)
    }
}

impl<'s> Tokens<'s> {
    fn new(source: &'s Source, text: TextNumber, is_quoted: bool) -> Self {
        Self { source, text, is_quoted, list: Vec::new(), trims_next: false }
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
        for line in whole.split_inclusive('\n') {
            let place = TextPlace::new(self.text, Span::new(start, start + line.len()));
            let mut text = TextBuilder::default();
            decode(line, place, self.is_quoted, &mut text);
            if core::mem::take(&mut self.trims_next) {
                let decoded = text.finish();
                let kept = decoded.as_str().len() - decoded.as_str().trim_start().len();
                text = TextBuilder::default();
                text.push_range(&decoded, kept, decoded.as_str().len());
            }
            self.list.push(Token::Line { literal: span.start, text });
            start += line.len();
        }
    }

    fn finish(mut self, is_flush: bool) -> TemplateLayout {
        if is_flush {
            self.flush();
        }
        let mut literals: BTreeMap<usize, TextBuilder> = BTreeMap::new();
        for token in self.list {
            if let Token::Line { literal, text } = token {
                literals.entry(literal).or_default().push_text(&text.finish());
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
                let whole = core::mem::take(text).finish();
                let removed = whole.as_str().chars().take(smallest).map(char::len_utf8).sum();
                text.push_range(&whole, removed, whole.as_str().len());
            }
        }
    }
}

/// The string in quotes at a place.
pub(super) fn quoted(source: &Source, place: TextPlace) -> EvaluatedText {
    let span = place.span();
    let inner = Span::new(span.start + 1, span.end.saturating_sub(1).max(span.start + 1));
    let mut text = TextBuilder::default();
    decode(inner.text(source.text()), TextPlace::new(place.text, inner), true, &mut text);
    text.finish()
}

/// Resolves the escapes of a literal: `$${` and `%%{`, in quotes also those with a backslash.
fn decode(literal: &str, place: TextPlace, is_quoted: bool, into: &mut TextBuilder) {
    let mut start = 0;
    let mut at = 0;
    let verbatim = |from: usize, to: usize, into: &mut TextBuilder| {
        into.push(literal.get(from..to).unwrap_or_default(), place.part(from, to), true);
    };
    while let Some(rest) = literal.get(at..).filter(|rest| !rest.is_empty()) {
        let (escaped, length) = if rest.starts_with("$${") {
            ("${".to_owned(), 3)
        } else if rest.starts_with("%%{") {
            ("%{".to_owned(), 3)
        } else if is_quoted && rest.starts_with('\\') {
            unescape(rest)
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
            continue;
        };
        verbatim(start, at, into);
        into.push(&escaped, place.part(at, at + length), false);
        at += length;
        start = at;
    }
    verbatim(start, literal.len(), into);
}

/// The character of an escape at the start of a text, and the length of the escape.
fn unescape(text: &str) -> (String, usize) {
    let code = |digits: usize| {
        let code = text.get(2..2 + digits).and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let char = code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER);
        (char.to_string(), 2 + digits)
    };
    match text.chars().nth(1) {
        Some('n') => ("\n".to_owned(), 2),
        Some('r') => ("\r".to_owned(), 2),
        Some('t') => ("\t".to_owned(), 2),
        Some('u') => code(4),
        Some('U') => code(8),
        Some(other) => (other.to_string(), 1 + other.len_utf8()),
        None => (String::new(), 1),
    }
}
