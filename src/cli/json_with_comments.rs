//! JSON as JavaScript's tools write it for themselves, with comments and commas before closing brackets: a repository is
//! full of it, and none of it is for a cluster.

use manifest::limits::Limits;
use manifest::{Document, File};

/// What only a file has that is meant for a cluster or for AWS; its mistakes are worth telling.
const OURS: [&str; 3] = ["\"apiVersion\"", "\"Statement\"", "\"Resources\""];

/// The same file with blanks for what is no JSON, where it is called `.json` and only that makes it readable. One that may be
/// a manifest stays unreadable, for `kubectl` refuses it as well.
pub(crate) fn read(file: &File, limits: &Limits) -> Option<File> {
    let (name, text) = (file.source.name(), file.source.text());
    let is_json = name.rsplit_once('.').is_some_and(|(_, extension)| extension.eq_ignore_ascii_case("json"));
    let is_broken = file.documents.iter().any(|document| matches!(document, Document::Unreadable { .. }));
    if !is_json || !is_broken || OURS.iter().any(|mark| text.contains(mark)) {
        return None;
    }
    let plain = File::read(name, blanked(text), limits);
    let is_readable = plain.documents.iter().all(|document| matches!(document, Document::Read(_)));
    is_readable.then_some(plain)
}

/// The text with a blank for each byte of a comment and for each comma with nothing but a closing bracket after it. Lines
/// stay where they are.
fn blanked(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    // Where the last comma stands in `plain`, as long as nothing but blanks came after it.
    let mut comma: Option<usize> = None;
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let comment = match rest.get(..2) {
            Some("//") => rest.find('\n').unwrap_or(rest.len()),
            Some("/*") => rest.find("*/").map_or(rest.len(), |at| at + 2),
            _ => 0,
        };
        let taken = match char {
            _ if comment > 0 => comment,
            '"' => string(rest),
            _ => char.len_utf8(),
        };
        let (piece, after) = rest.split_at(taken);
        rest = after;
        if comment > 0 {
            plain.extend(piece.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
            continue;
        }
        match char {
            ',' => comma = Some(plain.len()),
            '}' | ']' => {
                if let Some(at) = comma.take() {
                    plain.replace_range(at..=at, " ");
                }
            }
            _ if char.is_ascii_whitespace() => {}
            _ => comma = None,
        }
        plain.push_str(piece);
    }
    plain
}

/// How many bytes the string takes that a text starts with, quotes included.
fn string(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |at| at + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_take_the_place_of_what_is_no_json() {
        for (text, plain) in [
            ("{\"a\": 1, // é\n}", "{\"a\": 1       \n}"),
            ("[1, /* a\nb */ 2,]", "[1,     \n     2 ]"),
            (r#"{"a//": "\\", "b": "\",}", }"#, r#"{"a//": "\\", "b": "\",}"  }"#),
            ("{\"a\": \"/* no */\"}", "{\"a\": \"/* no */\"}"),
            ("// only", "       "),
            ("\"open", "\"open"),
            ("/* open", "       "),
        ] {
            assert_eq!(blanked(text), plain, "{text}");
        }
    }

    #[test]
    fn a_manifest_is_not_read_so() {
        let is_read = |name: &str, text: &str| {
            read(&File::read(name, text, &Limits::DEFAULT), &Limits::DEFAULT).is_some()
        };
        let config = "{\"compilerOptions\": {}, // of ours\n}";
        assert!(is_read("tsconfig.json", config) && is_read("a.JSON", config));
        assert!(!is_read("tsconfig.txt", "{a: [}") && !is_read("a.jsonl", config));
        assert!(!is_read("pool.json", "{\"apiVersion\": \"karpenter.sh/v1\", // no\n}"));
        assert!(!is_read("a.json", "{\"a\" 1}") && !is_read("a.json", "{}"));
    }
}
