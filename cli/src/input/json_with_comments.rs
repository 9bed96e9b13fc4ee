//! JSON with comments and trailing commas, such as `tsconfig.json`. Many repositories contain such files, and none of them
//! is a manifest, so they must not make a run fail.

use manifest::limits::Limits;
use manifest::{Document, File};

/// Keys that only manifests and AWS documents contain; an error in such a file is reported.
const MANIFEST_KEYS: [&str; 3] = ["\"apiVersion\"", "\"Statement\"", "\"Resources\""];

/// Returns the file without comments and trailing commas, if it is a `.json` file that becomes readable without them. A file
/// that may be a manifest stays unreadable, because `kubectl` refuses it too.
pub(crate) fn read(file: &File, limits: &Limits) -> Option<File> {
    let (name, text) = (file.source.name(), file.source.text());
    let is_json = name.rsplit_once('.').is_some_and(|(_, extension)| extension.eq_ignore_ascii_case("json"));
    let is_broken = file.documents.iter().any(|document| matches!(document, Document::Unreadable { .. }));
    if !is_json || !is_broken || MANIFEST_KEYS.iter().any(|key| text.contains(key)) {
        return None;
    }
    let plain = File::read(name, blanked(text), limits);
    let is_readable = plain.documents.iter().all(|document| matches!(document, Document::Read(_)));
    is_readable.then_some(plain)
}

/// Replaces each byte of a comment, and each comma before a closing bracket, by a space. Line breaks stay.
fn blanked(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    // Offset in `plain` of the last comma, as long as only white space follows it.
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

/// Length in bytes of the string at the start of a text, with its quotes.
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
    fn replaces_comments_and_trailing_commas_by_spaces() {
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
    fn leaves_manifests_and_other_files_unreadable() {
        let is_read = |name: &str, text: &str| {
            read(&File::read(name, text, &Limits::DEFAULT), &Limits::DEFAULT).is_some()
        };
        let config = "{\"compilerOptions\": {}, // a comment\n}";
        assert!(is_read("tsconfig.json", config) && is_read("a.JSON", config));
        assert!(!is_read("tsconfig.txt", "{a: [}") && !is_read("a.jsonl", config));
        assert!(!is_read("pool.json", "{\"apiVersion\": \"karpenter.sh/v1\", // no\n}"));
        assert!(!is_read("a.json", "{\"a\" 1}") && !is_read("a.json", "{}"));
    }
}
