//! Tokens → events: scalars, and the starts and ends of collections.

use std::collections::BTreeMap;

use super::messages::DIRECTIVE;
use super::scanner::{Dialect, ScanFault, ScanResult, Scanner, Stopped};
use super::token::{ScalarText, Tag, TokenKind, YamlToken};
use crate::source::{Span, certain};
use crate::tree::Style;

/// One step of a document, in the order of the text.
#[derive(Clone, Copy)]
pub(super) enum YamlEvent {
    /// A scalar, as a value or as a key. An absent scalar has an empty text and an empty span.
    Scalar { text: ScalarText, style: Style, tag: Tag, anchor: usize },
    /// Start of a list or an object.
    Start { is_mapping: bool, in_brackets: bool, anchor: usize },
    /// End of the innermost list or object.
    End,
    /// An alias, with the number of its anchor.
    Alias(usize),
    /// End of the document.
    DocumentEnd,
}

/// Expectation for the next token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before a document, with or without `---`.
    Open,
    /// Before a document that must start with `---`.
    Closed,
    /// After the only value of a document.
    Root,
    /// Before a key by indentation, or the end of the mapping.
    Key,
    Value,
    /// Before a `-`.
    Entry,
    /// Before a `-` in the column of the key above it.
    IndentlessEntry,
    FlowFirstEntry,
    FlowEntry,
    FlowFirstKey,
    FlowKey,
    FlowValue,
    /// After a key without a `:`.
    FlowNoValue,
    /// After the `?` of a pair in a list.
    PairKey,
    PairValue,
    PairEnd,
}

/// Parser of the events of a text.
pub(super) struct EventParser<'t> {
    scanner: Scanner<'t>,
    token: Option<YamlToken>,
    /// The states after each open collection ends.
    states: Vec<State>,
    /// The state inside the innermost collection.
    state: State,
    /// The number of anchors so far.
    anchors: usize,
}

type Found = (YamlEvent, Span);

impl<'t> EventParser<'t> {
    /// Creates a parser that allows `depth` levels of brackets.
    pub(super) fn new(text: &'t str, depth: usize) -> Self {
        Self {
            scanner: Scanner::new(text, depth),
            token: None,
            states: Vec::new(),
            state: State::Open,
            anchors: 0,
        }
    }

    /// Makes errors of the tabs that go-yaml v2 refuses.
    pub(super) fn refusing_tabs(mut self) -> Self {
        self.scanner.dialect = Dialect::GoYaml;
        self
    }

    /// Takes the next comment before a byte, from its `#` to the end of its line.
    pub(super) fn take_comment_before(&mut self, end: usize) -> Option<Span> {
        self.scanner.comments.pop_front_if(|comment| comment.start < end)
    }

    /// The value of the latest scalar.
    pub(super) fn text(&self, text: ScalarText) -> &str {
        let Span { start, end } = text.span;
        if text.composed {
            return certain(self.scanner.composed.get(start..end));
        }
        self.scanner.cursor.slice(start, end)
    }

    /// The next event with its span; `None` at the end of the text.
    pub(super) fn next(&mut self) -> Result<Option<Found>, ScanFault> {
        match self.event() {
            Ok(found) => Ok(found),
            Err(Stopped) => Err(self.scanner.fault),
        }
    }

    /// The fault, or a fault at the open bracket whose end is missing.
    pub(super) fn at_unclosed_bracket(&self, fault: ScanFault) -> ScanFault {
        self.scanner.at_unclosed_bracket(fault)
    }

    fn peek(&mut self) -> ScanResult<YamlToken> {
        if let Some(token) = self.token {
            return Ok(token);
        }
        let token = self.scanner.next()?;
        self.token = Some(token);
        Ok(token)
    }

    /// Takes the current token and returns the next one without taking it.
    fn after(&mut self) -> ScanResult<YamlToken> {
        self.token = None;
        self.peek()
    }

    fn event(&mut self) -> ScanResult<Option<Found>> {
        let token = self.peek()?;
        let (kind, start) = (token.kind, token.span.start);
        let found = match self.state {
            State::Open | State::Closed => return self.document(),
            State::Root => {
                // The document may continue after the forbidden character.
                if self.scanner.cursor.is_cut_off() {
                    return self.scanner.fail(start, "");
                }
                self.scanner.declarations.forget_directives();
                self.state = match kind {
                    TokenKind::DocumentEnd => {
                        self.token = None;
                        State::Open
                    }
                    TokenKind::Directive => {
                        return self
                            .scanner
                            .fail(start, "a line `...` is missing before this directive; add it");
                    }
                    _ => State::Closed,
                };
                (YamlEvent::DocumentEnd, token.span)
            }
            State::Key => match kind {
                TokenKind::Key => {
                    self.state = State::Value;
                    let next = self.after()?;
                    self.child(ends_block_value(next.kind), next.span.start, true)?
                }
                TokenKind::Value => self.absent(start, State::Value),
                TokenKind::BlockEnd => self.end(token.span),
                _ => {
                    let why =
                        "this is indented like a key but has no `:`; add the `:`, or correct the indentation";
                    return self.scanner.fail(start, why);
                }
            },
            State::Value => {
                self.state = State::Key;
                if kind == TokenKind::Value {
                    let next = self.after()?;
                    self.child(ends_block_value(next.kind), start, true)?
                } else {
                    self.absent(start, State::Key)
                }
            }
            State::Entry | State::IndentlessEntry => match kind {
                TokenKind::Entry => {
                    let next = self.after()?.kind;
                    let outside = self.state == State::IndentlessEntry && ends_block_value(next);
                    let absent = outside || matches!(next, TokenKind::Entry | TokenKind::BlockEnd);
                    self.child(absent, start, false)?
                }
                TokenKind::BlockEnd if self.state == State::Entry => self.end(token.span),
                _ if self.state == State::Entry => {
                    let why = "this is indented like the list above but does not start with `- `; add it, or correct the indentation";
                    return self.scanner.fail(start, why);
                }
                _ => {
                    self.leave();
                    (YamlEvent::End, Span::new(start, start))
                }
            },
            State::FlowFirstEntry | State::FlowEntry => self.flow_entry(token)?,
            State::FlowFirstKey | State::FlowKey => self.flow_key(token)?,
            State::FlowValue => {
                self.state = State::FlowKey;
                if kind == TokenKind::Value {
                    let next = self.after()?.kind;
                    self.child(matches!(next, TokenKind::Comma | TokenKind::FlowMappingEnd), start, false)?
                } else {
                    self.absent(start, State::FlowKey)
                }
            }
            State::FlowNoValue => self.absent(start, State::FlowKey),
            State::PairKey => {
                self.state = State::PairValue;
                self.child(ends_pair(kind), start, false)?
            }
            State::PairValue => {
                self.state = State::PairEnd;
                if kind == TokenKind::Value {
                    let next = self.after()?;
                    self.child(ends_pair(next.kind), next.span.start, false)?
                } else {
                    self.absent(start, State::PairEnd)
                }
            }
            State::PairEnd => {
                self.leave();
                (YamlEvent::End, Span::new(start, start))
            }
        };
        Ok(Some(found))
    }

    /// Parses the start of a document up to its first value.
    fn document(&mut self) -> ScanResult<Option<Found>> {
        while self.peek()?.kind == TokenKind::DocumentEnd {
            self.token = None;
        }
        self.scanner.declarations.anchors = BTreeMap::new();
        let mut token = self.peek()?;
        if token.kind == TokenKind::End {
            return Ok(None);
        }
        let explicit = matches!(token.kind, TokenKind::Directive | TokenKind::DocumentStart);
        if explicit || self.state == State::Closed {
            while token.kind == TokenKind::Directive {
                if token.tag == Tag::Undeclared {
                    return self.scanner.fail(token.span.start, DIRECTIVE);
                }
                token = self.after()?;
            }
            if token.kind != TokenKind::DocumentStart {
                return self.scanner.fail(token.span.start, "a line `---` is missing before this; add it");
            }
            let next = self.after()?.kind;
            if matches!(
                next,
                TokenKind::Directive | TokenKind::DocumentStart | TokenKind::DocumentEnd | TokenKind::End
            ) {
                return Ok(Some(self.absent(token.span.end, State::Root)));
            }
        }
        self.state = State::Root;
        self.node(false).map(Some)
    }

    /// An absent value.
    fn absent(&mut self, at: usize, then: State) -> Found {
        self.state = then;
        nothing(at, Tag::None, 0)
    }

    /// The value of a key or of a `-`, which may be absent.
    fn child(&mut self, is_absent: bool, at: usize, indentless: bool) -> ScanResult<Found> {
        if is_absent { Ok(nothing(at, Tag::None, 0)) } else { self.node(indentless) }
    }

    /// Returns to the state outside a collection.
    fn leave(&mut self) {
        self.state = self.states.pop().unwrap_or(State::Root);
    }

    fn end(&mut self, span: Span) -> Found {
        self.token = None;
        self.leave();
        (YamlEvent::End, span)
    }

    fn flow_entry(&mut self, mut token: YamlToken) -> ScanResult<Found> {
        if token.kind != TokenKind::FlowSequenceEnd && self.state == State::FlowEntry {
            if token.kind != TokenKind::Comma {
                return self.scanner.fail(token.span.start, "a `,` or `]` is missing before this; add it");
            }
            token = self.after()?;
        }
        self.state = State::FlowEntry;
        match token.kind {
            TokenKind::FlowSequenceEnd => Ok(self.end(token.span)),
            TokenKind::Key => {
                self.token = None;
                Ok(self.start(true, true, 0, token.span, State::PairKey))
            }
            _ => self.node(false),
        }
    }

    fn flow_key(&mut self, mut token: YamlToken) -> ScanResult<Found> {
        if token.kind != TokenKind::FlowMappingEnd && self.state == State::FlowKey {
            if token.kind != TokenKind::Comma {
                return self.scanner.fail(token.span.start, "a `,` or `}` is missing before this; add it");
            }
            token = self.after()?;
        }
        self.state = State::FlowValue;
        match token.kind {
            TokenKind::FlowMappingEnd => Ok(self.end(token.span)),
            TokenKind::Key => {
                let next = self.after()?;
                let absent =
                    matches!(next.kind, TokenKind::Value | TokenKind::Comma | TokenKind::FlowMappingEnd);
                self.child(absent, next.span.start, false)
            }
            TokenKind::Value => Ok(self.absent(token.span.start, State::FlowValue)),
            _ => {
                self.state = State::FlowNoValue;
                self.node(false)
            }
        }
    }

    fn start(
        &mut self,
        is_mapping: bool,
        in_brackets: bool,
        anchor: usize,
        span: Span,
        state: State,
    ) -> Found {
        self.states.push(self.state);
        self.state = state;
        (YamlEvent::Start { is_mapping, in_brackets, anchor }, span)
    }

    /// The name of an anchor or an alias.
    fn name(&self, token: YamlToken) -> &'t str {
        self.scanner.cursor.slice(token.span.start + 1, token.span.end)
    }

    /// Parses a value with its anchor and tag. The state is already the state after the value.
    fn node(&mut self, indentless: bool) -> ScanResult<Found> {
        let (mut anchor, mut tag) = (0, Tag::None);
        let mut token = self.peek()?;
        let mut properties_end = None;
        loop {
            match token.kind {
                TokenKind::Anchor if anchor == 0 => {
                    let name = self.name(token);
                    self.anchors += 1;
                    anchor = self.anchors;
                    self.scanner.declarations.anchors.insert(name, anchor);
                }
                TokenKind::Tag if tag == Tag::None => {
                    tag = token.tag;
                    if tag == Tag::Undeclared {
                        return self.scanner.fail(
                            token.span.start,
                            "no `%TAG` line declares the handle of this tag; quote text that starts with `!`",
                        );
                    }
                }
                TokenKind::Alias if properties_end.is_none() => {
                    let name = self.name(token);
                    let Some(anchor) = self.scanner.declarations.anchors.get(name).copied() else {
                        return self.scanner.fail(
                            token.span.start,
                            "no anchor above has this name; add the anchor, or quote text that starts with `*`",
                        );
                    };
                    self.token = None;
                    return Ok((YamlEvent::Alias(anchor), token.span));
                }
                _ => break,
            }
            properties_end = Some(token.span.end);
            token = self.after()?;
        }
        let span = token.span;
        let (is_mapping, in_brackets, state) = match token.kind {
            TokenKind::Scalar => {
                self.token = None;
                return Ok((YamlEvent::Scalar { text: token.text, style: token.style, tag, anchor }, span));
            }
            // The `-` stays the current token: it starts the first item.
            TokenKind::Entry if indentless => {
                return Ok(self.start(false, false, anchor, span, State::IndentlessEntry));
            }
            TokenKind::FlowSequence => (false, true, State::FlowFirstEntry),
            TokenKind::FlowMapping => (true, true, State::FlowFirstKey),
            TokenKind::BlockSequence => (false, false, State::Entry),
            TokenKind::BlockMapping => (true, false, State::Key),
            _ => {
                return match properties_end {
                    Some(end) => Ok(nothing(end, tag, anchor)),
                    None => self.scanner.fail(span.start, "a value is missing before this; add it"),
                };
            }
        };
        self.token = None;
        Ok(self.start(is_mapping, in_brackets, anchor, span, state))
    }
}

/// Event of an absent value.
fn nothing(at: usize, tag: Tag, anchor: usize) -> Found {
    let span = Span::new(at, at);
    let text = ScalarText { span, composed: false };
    (YamlEvent::Scalar { text, style: Style::Plain, tag, anchor }, span)
}

fn ends_block_value(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd)
}

fn ends_pair(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Comma | TokenKind::FlowSequenceEnd)
}
