//! What a YAML text gives names to: directives, tags and anchors.

use std::collections::BTreeMap;

use super::cursor::{is_blank, is_flow, is_line_end, is_space};
use super::tokens::{Kind, Scanner, Step};

/// The names of one document.
#[derive(Default)]
pub(super) struct Names<'t> {
    /// Anchors, by the number of the last one of a name.
    pub(super) anchors: BTreeMap<&'t str, usize>,
    /// What `%TAG` declares: where the prefix stands that a handle is short for.
    handles: BTreeMap<&'t str, usize>,
    /// There was a `%YAML`.
    version: bool,
}

/// What the tag of a value says about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    /// There is none.
    None,
    /// A string: `!!str`.
    String,
    /// Another type that every reader knows, such as `!!int`.
    Core,
    /// Anything else.
    Other,
    /// Its handle is declared nowhere; of a directive: it stands twice, or is for another YAML.
    Undeclared,
}

pub(super) const DIRECTIVE: &str =
    "a directive reads `%YAML 1.2` or `%TAG !handle! prefix`, each at most once";

/// The longest directive, as for a key: nothing else bounds it.
const LONGEST_DIRECTIVE: usize = 1024;

impl Names<'_> {
    /// Forgets what is said before a document, for that document.
    pub(super) fn forget_directives(&mut self) {
        self.handles = BTreeMap::new();
        self.version = false;
    }
}

impl<'t> Scanner<'t> {
    pub(super) fn fetch_directive(&mut self) -> Step {
        self.end_blocks()?;
        let mark = self.cursor.mark();
        self.cursor.skip(1);
        let start = self.cursor.at;
        self.skip_word();
        let name = self.cursor.slice(start, self.cursor.at);
        let holds = match name {
            _ if name.is_empty() || !is_space(self.cursor.peek(0)) => None,
            "YAML" => self.skip_version(),
            "TAG" => self.skip_handle(),
            _ => self.skip_reserved(),
        };
        let holds = holds.filter(|_| name == "YAML" || self.cursor.at - start <= LONGEST_DIRECTIVE);
        if holds.is_some() {
            self.skip_rest()?;
        }
        if holds.is_none() || !is_line_end(self.cursor.peek(0)) {
            return self.fail(mark.at, DIRECTIVE);
        }
        self.cursor.skip_break();
        let tag = if holds == Some(true) { Tag::None } else { Tag::Undeclared };
        self.push_tagged(Kind::Directive, tag, mark, self.cursor.at);
        Ok(())
    }

    /// Passes everything up to white space.
    fn skip_word(&mut self) {
        let mut end = self.cursor.at;
        while !is_space(self.cursor.byte(end)) && !self.cursor.is_bom(end) {
            end += 1;
        }
        self.cursor.pass(end);
    }

    /// Two numbers of nine digits at most; whether they are a version 1 and the only one.
    fn skip_version(&mut self) -> Option<bool> {
        self.cursor.skip_blanks();
        let major = self.skip_digits()?;
        if self.cursor.peek(0) != b'.' {
            return None;
        }
        self.cursor.skip(1);
        self.skip_digits()?;
        let again = core::mem::replace(&mut self.names.version, true);
        Some(!again && major.trim_start_matches('0') == "1")
    }

    fn skip_digits(&mut self) -> Option<&'t str> {
        let start = self.cursor.at;
        while self.cursor.peek(0).is_ascii_digit() {
            self.cursor.skip(1);
        }
        let digits = self.cursor.slice(start, self.cursor.at);
        (1..=9).contains(&digits.len()).then_some(digits)
    }

    /// A handle and the prefix it is short for; whether the handle is declared once.
    fn skip_handle(&mut self) -> Option<bool> {
        self.cursor.skip_blanks();
        let start = self.cursor.at;
        let handle_end = self.handle_end(start + 1);
        let handle = self.cursor.slice(start, handle_end);
        if !(handle.starts_with('!') && handle.ends_with('!')) {
            return None;
        }
        self.cursor.at = handle_end;
        self.cursor.skip_blanks();
        let prefix = self.cursor.at;
        let first = self.cursor.peek(0);
        if first != b'!' && !is_tag_char(first) {
            return None;
        }
        self.cursor.at = self.decode(prefix, false, &mut Vec::new())?;
        let again = self.names.handles.contains_key(handle);
        self.names.handles.insert(handle, prefix);
        is_space(self.cursor.peek(0)).then_some(!again)
    }

    /// The words of a directive that YAML keeps for later, sixteen at most.
    fn skip_reserved(&mut self) -> Option<bool> {
        let mut words = 0;
        loop {
            let mut next = self.cursor.at;
            while is_blank(self.cursor.byte(next)) {
                next += 1;
            }
            if next == self.cursor.at || self.cursor.byte(next) == b'#' || is_space(self.cursor.byte(next)) {
                return (words <= 16).then_some(true);
            }
            self.cursor.at = next;
            self.skip_word();
            words += 1;
        }
    }

    /// Where a handle ends: letters, digits, `_` and `-`, and a `!`.
    fn handle_end(&self, mut at: usize) -> usize {
        while self.cursor.byte(at).is_ascii_alphanumeric() || matches!(self.cursor.byte(at), b'_' | b'-') {
            at += 1;
        }
        at + usize::from(self.cursor.byte(at) == b'!')
    }

    pub(super) fn fetch_tag(&mut self) -> Step {
        self.save_key();
        self.key_allowed = false;
        let mark = self.cursor.mark();
        let Some((end, tag)) = self.tag(mark.at) else {
            return self.fail(mark.at, "this is no tag; quote text that starts with `!`");
        };
        let next = self.cursor.byte(end);
        let ends = is_space(next) || (self.is_in_flow() && matches!(next, b',' | b']' | b'}'));
        if !ends {
            return self.fail(mark.at, "a space is missing behind this tag");
        }
        self.cursor.skip(end - mark.at);
        self.push_tagged(Kind::Tag, tag, mark, end);
        Ok(())
    }

    /// The end of a tag, and what it says.
    fn tag(&self, start: usize) -> Option<(usize, Tag)> {
        let mut name = Vec::new();
        if self.cursor.byte(start + 1) == b'<' {
            let end = self.decode(start + 2, false, &mut name)?;
            let good = !name.is_empty() && self.cursor.byte(end) == b'>';
            return good.then(|| (end + 1, core(&name)));
        }
        let mut suffix = self.handle_end(start + 1);
        let mut handle = self.cursor.slice(start, suffix);
        let named = handle.len() > 1 && handle.ends_with('!');
        if !named {
            suffix = start + 1;
            handle = "!";
        }
        let prefix = self.names.handles.get(handle).copied();
        match prefix {
            Some(prefix) => {
                self.decode(prefix, false, &mut name);
            }
            None if handle == "!!" => name.extend_from_slice(CORE),
            None => name.push(b'!'),
        }
        let mut rest = Vec::new();
        let end = self.decode(suffix, true, &mut rest)?;
        name.append(&mut rest);
        let empty = end == suffix;
        let tag = match prefix {
            None if named && handle != "!!" => Tag::Undeclared,
            _ if empty => Tag::Other,
            _ => core(&name),
        };
        (!(named && empty)).then_some((end, tag))
    }

    /// Appends what a stretch of an address or of a tag stands for, and gives its end; nothing where an escape in it is none.
    fn decode(&self, mut at: usize, is_tag: bool, into: &mut Vec<u8>) -> Option<usize> {
        loop {
            let char = self.cursor.byte(at);
            if char == b'%' {
                let high = char::from(self.cursor.byte(at + 1)).to_digit(16)?;
                let low = char::from(self.cursor.byte(at + 2)).to_digit(16)?;
                into.push(u8::try_from(high * 16 + low).ok()?);
                at += 3;
            } else if is_tag_char(char) || (!is_tag && is_address_char(char)) {
                into.push(char);
                at += 1;
            } else {
                break;
            }
        }
        core::str::from_utf8(into).is_ok().then_some(at)
    }

    pub(super) fn fetch_anchor(&mut self) -> Step {
        self.save_key();
        self.key_allowed = false;
        let mark = self.cursor.mark();
        let kind = if self.cursor.peek(0) == b'*' { Kind::Alias } else { Kind::Anchor };
        self.cursor.skip(1);
        let mut end = self.cursor.at;
        while !is_space(self.cursor.byte(end)) && !is_flow(self.cursor.byte(end)) && !self.cursor.is_bom(end)
        {
            end += 1;
        }
        if end == self.cursor.at {
            return self.fail(mark.at, "a name is missing here; quote text that starts with `*` or `&`");
        }
        self.cursor.pass(end);
        self.push(kind, mark, end);
        Ok(())
    }
}

/// What the tags of the core schema start with.
const CORE: &[u8] = b"tag:yaml.org,2002:";

fn core(name: &[u8]) -> Tag {
    match name.strip_prefix(CORE) {
        Some(b"str") => Tag::String,
        Some(b"bool" | b"float" | b"int" | b"map" | b"null" | b"seq") => Tag::Core,
        _ => Tag::Other,
    }
}

/// A character of an address, escaped ones aside.
fn is_address_char(char: u8) -> bool {
    char.is_ascii_alphanumeric() || b"-#;/?:@&=+$,_.!~*'()[]".contains(&char)
}

/// A character of a tag behind its handle.
fn is_tag_char(char: u8) -> bool {
    char == b'%' || (is_address_char(char) && !is_flow(char) && char != b'!')
}
