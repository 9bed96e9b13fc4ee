//! Tokens → what a document is made of: values, and the starts and ends of collections.

use std::collections::BTreeMap;

use super::super::source::Span;
use super::super::tree::Style;
use super::names::{DIRECTIVE, Tag};
use super::tokens::{Fault, Kind, Scanner, Step, Stopped, Token, Words};

/// What a document is made of, in the order of the text.
#[derive(Clone, Copy)]
pub(super) enum Event {
    /// A value or a key. Where it is left out, its text and its span are empty.
    Scalar { text: Words, style: Style, tag: Tag, anchor: usize },
    /// A list or an object starts.
    Start { is_mapping: bool, in_brackets: bool, anchor: usize },
    /// The innermost list or object ends.
    End,
    /// Another value by the number of its anchor.
    Alias(usize),
    /// The document ends.
    DocumentEnd,
}

/// What the next token belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before a document that may start without `---`.
    Open,
    /// Before a document that has to start with `---`.
    Closed,
    /// Behind the only value of a document.
    Root,
    /// Before a key by indentation, or the end of the mapping.
    Key,
    Value,
    /// Before a `-`.
    Entry,
    /// Before a `-` that is indented no further than the key above it.
    IndentlessEntry,
    FlowFirstEntry,
    FlowEntry,
    FlowFirstKey,
    FlowKey,
    FlowValue,
    /// Behind a key without a `:`.
    FlowNoValue,
    /// Behind the `?` of a pair in a list.
    PairKey,
    PairValue,
    PairEnd,
}

/// Reads the documents of a text, one event after another.
pub(super) struct Reader<'t> {
    scanner: Scanner<'t>,
    token: Option<Token>,
    /// What follows the collections that are open, and within the innermost.
    states: Vec<State>,
    state: State,
    /// How many anchors there were.
    anchors: usize,
}

type Found = (Event, Span);

impl<'t> Reader<'t> {
    /// A reader of a text with so many levels of brackets at most.
    pub(super) fn new(text: &'t str, depth: usize) -> Self {
        Self {
            scanner: Scanner::new(text, depth),
            token: None,
            states: Vec::new(),
            state: State::Open,
            anchors: 0,
        }
    }

    /// The comments before a byte that were not asked for yet, each from its `#` on.
    pub(super) fn comments_before(&mut self, end: usize) -> impl Iterator<Item = Span> {
        let comments = &mut self.scanner.comments;
        let count = comments.iter().take_while(|comment| comment.start < end).count();
        comments.drain(..count)
    }

    /// The text of the scalar that was read last.
    pub(super) fn text(&self, words: Words) -> &str {
        let Span { start, end } = words.span;
        if words.composed {
            return self.scanner.composed.get(start..end).unwrap_or_default();
        }
        self.scanner.cursor.slice(start, end)
    }

    /// The next event with its place; nothing at the end of the text.
    pub(super) fn next(&mut self) -> Result<Option<Found>, Fault> {
        match self.event() {
            Ok(found) => Ok(found),
            Err(Stopped) => Err(self.scanner.fault),
        }
    }

    fn peek(&mut self) -> Step<Token> {
        if let Some(token) = self.token {
            return Ok(token);
        }
        let token = self.scanner.next()?;
        self.token = Some(token);
        Ok(token)
    }

    /// The token behind the one that is looked at.
    fn after(&mut self) -> Step<Token> {
        self.token = None;
        self.peek()
    }

    fn event(&mut self) -> Step<Option<Found>> {
        let token = self.peek()?;
        let (kind, start) = (token.kind, token.span.start);
        let found = match self.state {
            State::Open | State::Closed => return self.document(),
            State::Root => {
                // The document may go on behind what cut the text off.
                if self.scanner.cursor.is_cut_off() {
                    return self.scanner.fail(start, "");
                }
                self.scanner.names.forget_directives();
                self.state = match kind {
                    Kind::DocumentEnd => {
                        self.token = None;
                        State::Open
                    }
                    Kind::Directive => {
                        return self.scanner.fail(start, "a line `...` is missing before this directive");
                    }
                    _ => State::Closed,
                };
                (Event::DocumentEnd, token.span)
            }
            State::Key => match kind {
                Kind::Key => {
                    self.state = State::Value;
                    let next = self.after()?;
                    self.child(ends_block_value(next.kind), next.span.start, true)?
                }
                Kind::Value => self.left_out(start, State::Value),
                Kind::BlockEnd => self.end(token.span),
                _ => {
                    let why = "this is indented like a key, and is none; a `:` may be missing, or the indentation is off";
                    return self.scanner.fail(start, why);
                }
            },
            State::Value => {
                self.state = State::Key;
                if kind == Kind::Value {
                    let next = self.after()?;
                    self.child(ends_block_value(next.kind), start, true)?
                } else {
                    self.left_out(start, State::Key)
                }
            }
            State::Entry | State::IndentlessEntry => match kind {
                Kind::Entry => {
                    let next = self.after()?.kind;
                    let outside = self.state == State::IndentlessEntry && ends_block_value(next);
                    let left_out = outside || matches!(next, Kind::Entry | Kind::BlockEnd);
                    self.child(left_out, start, false)?
                }
                Kind::BlockEnd if self.state == State::Entry => self.end(token.span),
                _ if self.state == State::Entry => {
                    let why = "this is indented like the list above, and does not start with `- `";
                    return self.scanner.fail(start, why);
                }
                _ => {
                    self.leave();
                    (Event::End, Span::new(start, start))
                }
            },
            State::FlowFirstEntry | State::FlowEntry => self.flow_entry(token)?,
            State::FlowFirstKey | State::FlowKey => self.flow_key(token)?,
            State::FlowValue => {
                self.state = State::FlowKey;
                if kind == Kind::Value {
                    let next = self.after()?.kind;
                    self.child(matches!(next, Kind::Comma | Kind::FlowMappingEnd), start, false)?
                } else {
                    self.left_out(start, State::FlowKey)
                }
            }
            State::FlowNoValue => self.left_out(start, State::FlowKey),
            State::PairKey => {
                self.state = State::PairValue;
                self.child(ends_pair(kind), start, false)?
            }
            State::PairValue => {
                self.state = State::PairEnd;
                if kind == Kind::Value {
                    let next = self.after()?;
                    self.child(ends_pair(next.kind), next.span.start, false)?
                } else {
                    self.left_out(start, State::PairEnd)
                }
            }
            State::PairEnd => {
                self.leave();
                (Event::End, Span::new(start, start))
            }
        };
        Ok(Some(found))
    }

    /// The start of a document, which shows in its first value.
    fn document(&mut self) -> Step<Option<Found>> {
        while self.peek()?.kind == Kind::DocumentEnd {
            self.token = None;
        }
        self.scanner.names.anchors = BTreeMap::new();
        let mut token = self.peek()?;
        if token.kind == Kind::End {
            return Ok(None);
        }
        let explicit = matches!(token.kind, Kind::Directive | Kind::DocumentStart);
        if explicit || self.state == State::Closed {
            while token.kind == Kind::Directive {
                if token.tag == Tag::Undeclared {
                    return self.scanner.fail(token.span.start, DIRECTIVE);
                }
                token = self.after()?;
            }
            if token.kind != Kind::DocumentStart {
                return self.scanner.fail(token.span.start, "a line `---` is missing before this");
            }
            let next = self.after()?.kind;
            if matches!(next, Kind::Directive | Kind::DocumentStart | Kind::DocumentEnd | Kind::End) {
                return Ok(Some(self.left_out(token.span.end, State::Root)));
            }
        }
        self.state = State::Root;
        self.node(false).map(Some)
    }

    /// A value that is not there.
    fn left_out(&mut self, at: usize, then: State) -> Found {
        self.state = then;
        nothing(at, Tag::None, 0)
    }

    /// The value of a key or of a `-`, or where it would be.
    fn child(&mut self, is_left_out: bool, at: usize, indentless: bool) -> Step<Found> {
        if is_left_out { Ok(nothing(at, Tag::None, 0)) } else { self.node(indentless) }
    }

    /// Goes on with what is outside of a collection.
    fn leave(&mut self) {
        self.state = self.states.pop().unwrap_or(State::Root);
    }

    fn end(&mut self, span: Span) -> Found {
        self.token = None;
        self.leave();
        (Event::End, span)
    }

    fn flow_entry(&mut self, mut token: Token) -> Step<Found> {
        if token.kind != Kind::FlowSequenceEnd && self.state == State::FlowEntry {
            if token.kind != Kind::Comma {
                return self.scanner.fail(token.span.start, "a `,` or `]` is missing before this");
            }
            token = self.after()?;
        }
        self.state = State::FlowEntry;
        match token.kind {
            Kind::FlowSequenceEnd => Ok(self.end(token.span)),
            Kind::Key => {
                self.token = None;
                Ok(self.start(true, true, 0, token.span, State::PairKey))
            }
            _ => self.node(false),
        }
    }

    fn flow_key(&mut self, mut token: Token) -> Step<Found> {
        if token.kind != Kind::FlowMappingEnd && self.state == State::FlowKey {
            if token.kind != Kind::Comma {
                return self.scanner.fail(token.span.start, "a `,` or `}` is missing before this");
            }
            token = self.after()?;
        }
        self.state = State::FlowValue;
        match token.kind {
            Kind::FlowMappingEnd => Ok(self.end(token.span)),
            Kind::Key => {
                let next = self.after()?;
                let left_out = matches!(next.kind, Kind::Value | Kind::Comma | Kind::FlowMappingEnd);
                self.child(left_out, next.span.start, false)
            }
            Kind::Value => Ok(self.left_out(token.span.start, State::FlowValue)),
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
        (Event::Start { is_mapping, in_brackets, anchor }, span)
    }

    /// A value with its anchor and its tag. The state is already that behind it.
    fn node(&mut self, indentless: bool) -> Step<Found> {
        let (mut anchor, mut tag) = (0, Tag::None);
        let mut token = self.peek()?;
        let mut properties_end = None;
        loop {
            let name = self.scanner.cursor.slice(token.span.start + 1, token.span.end);
            match token.kind {
                Kind::Anchor if anchor == 0 => {
                    self.anchors += 1;
                    anchor = self.anchors;
                    self.scanner.names.anchors.insert(name, anchor);
                }
                Kind::Tag if tag == Tag::None => {
                    tag = token.tag;
                    if tag == Tag::Undeclared {
                        return self
                            .scanner
                            .fail(token.span.start, "no `%TAG` line declares what this tag starts with");
                    }
                }
                Kind::Alias if properties_end.is_none() => {
                    let Some(anchor) = self.scanner.names.anchors.get(name).copied() else {
                        return self.scanner.fail(
                            token.span.start,
                            "no anchor of this name stands above; quote text that starts with `*`",
                        );
                    };
                    self.token = None;
                    return Ok((Event::Alias(anchor), token.span));
                }
                _ => break,
            }
            properties_end = Some(token.span.end);
            token = self.after()?;
        }
        let span = token.span;
        let (is_mapping, in_brackets, state) = match token.kind {
            Kind::Scalar => {
                self.token = None;
                return Ok((Event::Scalar { text: token.text, style: token.style, tag, anchor }, span));
            }
            // Its `-` is looked at again, as the first member's.
            Kind::Entry if indentless => {
                return Ok(self.start(false, false, anchor, span, State::IndentlessEntry));
            }
            Kind::FlowSequence => (false, true, State::FlowFirstEntry),
            Kind::FlowMapping => (true, true, State::FlowFirstKey),
            Kind::BlockSequence => (false, false, State::Entry),
            Kind::BlockMapping => (true, false, State::Key),
            _ => {
                return match properties_end {
                    Some(end) => Ok(nothing(end, tag, anchor)),
                    None => self.scanner.fail(span.start, "a value is missing before this"),
                };
            }
        };
        self.token = None;
        Ok(self.start(is_mapping, in_brackets, anchor, span, state))
    }
}

/// A value that is left out.
fn nothing(at: usize, tag: Tag, anchor: usize) -> Found {
    let place = Span::new(at, at);
    let text = Words { span: place, composed: false };
    (Event::Scalar { text, style: Style::Plain, tag, anchor }, place)
}

fn ends_block_value(kind: Kind) -> bool {
    matches!(kind, Kind::Key | Kind::Value | Kind::BlockEnd)
}

fn ends_pair(kind: Kind) -> bool {
    matches!(kind, Kind::Comma | Kind::FlowSequenceEnd)
}
