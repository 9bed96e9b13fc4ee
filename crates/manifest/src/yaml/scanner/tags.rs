//! Tags, anchors and aliases.

use super::{ScanResult, Scanner};
use crate::yaml::cursor::{is_flow, is_space};
use crate::yaml::token::{Tag, TokenKind};

impl Scanner<'_> {
    /// End of a tag handle: letters, digits, `_`, `-`, and a `!`.
    pub(super) fn handle_end(&self, mut at: usize) -> usize {
        while self.cursor.byte(at).is_ascii_alphanumeric() || matches!(self.cursor.byte(at), b'_' | b'-') {
            at += 1;
        }
        at + usize::from(self.cursor.byte(at) == b'!')
    }

    pub(super) fn fetch_tag(&mut self) -> ScanResult {
        self.save_key();
        self.key_allowed = false;
        let mark = self.cursor.mark();
        let Some((end, tag)) = self.tag(mark.at) else {
            return self.fail(mark.at, "not a valid tag; quote text that starts with `!`");
        };
        let next = self.cursor.byte(end);
        let ends = is_space(next) || (self.is_in_flow() && matches!(next, b',' | b']' | b'}'));
        if !ends {
            return self.fail(
                mark.at,
                "a space is missing after this tag; add a space, or quote text that starts with `!`",
            );
        }
        self.cursor.skip(end - mark.at);
        self.push_tagged(TokenKind::Tag, tag, mark, end);
        Ok(())
    }

    /// End and type of a tag.
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
        let prefix = self.declarations.handles.get(handle).copied();
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

    /// Decodes an address or a tag with its escapes. Returns its end, or `None` if an escape is not valid.
    pub(super) fn decode(&self, mut at: usize, is_tag: bool, into: &mut Vec<u8>) -> Option<usize> {
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

    pub(super) fn fetch_anchor(&mut self) -> ScanResult {
        self.save_key();
        self.key_allowed = false;
        let mark = self.cursor.mark();
        let kind = if self.cursor.peek(0) == b'*' { TokenKind::Alias } else { TokenKind::Anchor };
        self.cursor.skip(1);
        let mut end = self.cursor.at;
        while !is_space(self.cursor.byte(end)) && !is_flow(self.cursor.byte(end)) && !self.cursor.is_bom(end)
        {
            end += 1;
        }
        if end == self.cursor.at {
            return self
                .fail(mark.at, "an anchor name is missing here; quote text that starts with `*` or `&`");
        }
        self.cursor.pass(end);
        self.push(kind, mark, end);
        Ok(())
    }
}

/// Prefix of the tags of the core schema.
const CORE: &[u8] = b"tag:yaml.org,2002:";

fn core(name: &[u8]) -> Tag {
    match name.strip_prefix(CORE) {
        Some(b"str") => Tag::String,
        Some(b"bool" | b"float" | b"int" | b"null") => Tag::Core,
        Some(b"merge") => Tag::Merge,
        _ => Tag::Other,
    }
}

/// Whether a character is valid in an address without an escape.
fn is_address_char(char: u8) -> bool {
    char.is_ascii_alphanumeric() || b"-#;/?:@&=+$,_.!~*'()[]".contains(&char)
}

/// Whether a character is valid in a tag after its handle.
pub(super) fn is_tag_char(char: u8) -> bool {
    char == b'%' || (is_address_char(char) && !is_flow(char) && char != b'!')
}
