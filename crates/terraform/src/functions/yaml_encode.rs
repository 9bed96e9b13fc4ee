//! `yamlencode`.
//!
//! Reference: zclconf/go-cty-yaml `encode.go` and `emitterc.go`.

use core::fmt::Write as _;

use super::{Answer, Call};
use crate::text::EvaluatedText;
use crate::types::Type;
use crate::value::{Data, EvaluatedValue};

/// Bytes of a key that is written before a `:`.
const MAX_KEY: usize = 128;
const INDENTATION: usize = 2;
/// Column behind which a value is folded.
const MAX_WIDTH: usize = 80;

/// Position of a value in the document.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Root,
    Entry,
    Item,
}

/// A key that only the form with `?` can write.
struct LongKey;

struct Emitter {
    out: String,
    /// A plain scalar at the root, or line breaks that end the document, need a mark of its end.
    is_open: bool,
}

pub(super) fn yamlencode(call: &Call<'_>) -> Answer {
    let value = call.argument(0)?;
    let mut emitter = Emitter { out: String::new(), is_open: false };
    if emitter.value(&value.without_directives(), 0, Position::Root).is_err() {
        return call.unknown(Type::String);
    }
    if !emitter.out.ends_with('\n') {
        emitter.out.push('\n');
    }
    if emitter.is_open {
        emitter.out.push_str("...\n");
    }
    call.spend_text(emitter.out.len())?;
    Ok(EvaluatedValue::text(
        EvaluatedText::computed(emitter.out, call.place).with_encoded(value.clone()),
        call.place,
    ))
}

impl Emitter {
    /// Writes a value that starts behind an indicator. `indent` is the indentation of the collection around it.
    fn value(&mut self, value: &EvaluatedValue, indent: usize, position: Position) -> Result<(), LongKey> {
        match &value.data {
            Data::List(..) | Data::Set(..) | Data::Tuple(_) => {
                let items = value.items().unwrap_or_default();
                self.sequence(items, indent, position)
            }
            Data::Map(_, members) | Data::Object(members) => {
                let members = members.as_map().iter().map(|(name, member)| (name.as_ref(), &member.value));
                self.mapping(members, indent, position)
            }
            _ => {
                self.space(position);
                self.is_open = false;
                self.scalar(value, indent, position);
                Ok(())
            }
        }
    }

    fn space(&mut self, position: Position) {
        if position != Position::Root {
            self.out.push(' ');
        }
    }

    fn sequence(
        &mut self,
        items: &[EvaluatedValue],
        indent: usize,
        position: Position,
    ) -> Result<(), LongKey> {
        if items.is_empty() {
            self.space(position);
            self.is_open = false;
            self.out.push_str("[]");
            return Ok(());
        }
        // A sequence in a mapping has the indentation of the mapping.
        let indent = if position == Position::Item { indent + INDENTATION } else { indent };
        for (index, item) in items.iter().enumerate() {
            self.start(index == 0, indent, position);
            self.out.push('-');
            self.value(item, indent, Position::Item)?;
        }
        Ok(())
    }

    fn mapping<'v>(
        &mut self,
        members: impl ExactSizeIterator<Item = (&'v str, &'v EvaluatedValue)>,
        indent: usize,
        position: Position,
    ) -> Result<(), LongKey> {
        if members.len() == 0 {
            self.space(position);
            self.is_open = false;
            self.out.push_str("{}");
            return Ok(());
        }
        let indent = if position == Position::Root { indent } else { indent + INDENTATION };
        for (index, (name, value)) in members.enumerate() {
            if name.len() > MAX_KEY || name.contains(is_break) {
                return Err(LongKey);
            }
            self.start(index == 0, indent, position);
            self.quoted(name, None);
            self.out.push(':');
            self.value(value, indent, Position::Entry)?;
        }
        Ok(())
    }

    /// Starts an item or a member: the first one of a collection in a sequence is on the line of its dash.
    fn start(&mut self, is_first: bool, indent: usize, position: Position) {
        if is_first && position == Position::Item {
            self.out.push(' ');
        } else {
            if !self.out.is_empty() && !self.out.ends_with('\n') {
                self.out.push('\n');
            }
            self.out.extend(core::iter::repeat_n(' ', indent));
        }
    }

    fn scalar(&mut self, value: &EvaluatedValue, indent: usize, position: Position) {
        let plain = match &value.data {
            Data::Bool(value) => value.to_string(),
            Data::Number(number) => number.text(),
            Data::String(text) => {
                let text = text.as_str();
                let indent = if position == Position::Root { 0 } else { indent } + INDENTATION;
                if text.contains('\n') && is_block(text) {
                    self.literal(text, indent);
                } else {
                    self.quoted(text, Some(indent));
                }
                return;
            }
            _ => "null".to_owned(),
        };
        self.out.push_str(&plain);
        self.is_open = position == Position::Root;
    }

    fn literal(&mut self, text: &str, indent: usize) {
        self.out.push('|');
        if text.starts_with([' ', '\n']) {
            let _ = write!(self.out, "{INDENTATION}");
        }
        let breaks = text.len() - text.trim_end_matches('\n').len();
        if breaks == 0 {
            self.out.push('-');
        } else if breaks > 1 || text == "\n" {
            self.out.push('+');
        }
        self.out.push('\n');
        for line in text.split_inclusive('\n') {
            if line != "\n" {
                self.out.extend(core::iter::repeat_n(' ', indent));
            }
            self.out.push_str(line);
        }
    }

    /// Writes a string in double quotes. A value is folded at spaces behind the 80th column, with an indentation.
    fn quoted(&mut self, text: &str, fold: Option<usize>) {
        self.out.push('"');
        let line = self.out.rfind('\n').map_or(0, |line| line + 1);
        let mut columns = Columns { from: line, count: 0 };
        let mut after_space = false;
        for (at, char) in text.char_indices() {
            let is_inner = at > 0 && at + 1 < text.len();
            if char == ' ' {
                let is_full =
                    fold.is_some() && !after_space && is_inner && columns.up_to_end(&self.out) > MAX_WIDTH;
                if let Some(indent) = fold.filter(|_| is_full) {
                    self.out.push('\n');
                    columns = Columns { from: self.out.len(), count: 0 };
                    self.out.extend(core::iter::repeat_n(' ', indent));
                    if text.get(at + 1..).is_some_and(|rest| rest.starts_with(' ')) {
                        self.out.push('\\');
                    }
                } else {
                    self.out.push(' ');
                }
                after_space = true;
                continue;
            }
            after_space = false;
            let escape = match char {
                '\0' => '0',
                '\u{7}' => 'a',
                '\u{8}' => 'b',
                '\t' => 't',
                '\n' => 'n',
                '\u{b}' => 'v',
                '\u{c}' => 'f',
                '\r' => 'r',
                '\u{1b}' => 'e',
                '"' => '"',
                '\\' => '\\',
                '\u{85}' => 'N',
                '\u{2028}' => 'L',
                '\u{2029}' => 'P',
                _ if is_printable(char) => {
                    self.out.push(char);
                    continue;
                }
                _ => {
                    let code = u32::from(char);
                    let _ = match code {
                        0..=0xff => write!(self.out, "\\x{code:02X}"),
                        0x100..=0xffff => write!(self.out, "\\u{code:04X}"),
                        _ => write!(self.out, "\\U{code:08X}"),
                    };
                    continue;
                }
            };
            self.out.push('\\');
            self.out.push(escape);
        }
        self.out.push('"');
    }
}

/// Characters of the last line, counted once.
struct Columns {
    from: usize,
    count: usize,
}

impl Columns {
    fn up_to_end(&mut self, out: &str) -> usize {
        self.count += out.get(self.from..).map_or(0, |new| new.chars().count());
        self.from = out.len();
        self.count
    }
}

fn is_break(char: char) -> bool {
    matches!(char, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Characters that the emitter does not escape: zclconf/go-cty-yaml `yamlprivateh.go`.
fn is_printable(char: char) -> bool {
    matches!(char, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}

/// Whether a text can be a block scalar.
fn is_block(text: &str) -> bool {
    let has_space_before_break =
        text.contains(" \n") || text.contains(" \u{2028}") || text.contains(" \u{2029}");
    !has_space_before_break && !text.ends_with(' ') && text.chars().all(is_printable)
}
