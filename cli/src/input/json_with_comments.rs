//! JSON with comments and trailing commas, such as `tsconfig.json`. Many repositories contain such files, and none of them
//! is a manifest, so they must not make a run fail.

use jsonc_parser::tokens::Token;
use jsonc_parser::{Scanner, ScannerOptions};
use manifest::limits::Limits;
use manifest::{Document, File, ReadOptions};
use objects::embedded::READ_OPTIONS;

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
    let plain = File::read(name, blanked(text)?, ReadOptions { limits: *limits, ..READ_OPTIONS });
    let is_readable = plain.documents.iter().all(|document| matches!(document, Document::Read(_)));
    is_readable.then_some(plain)
}

/// Replaces each byte of a comment, and each comma before a closing bracket, by a space. Line breaks stay, so every value keeps its
/// place. `None` if the text is not JSON with comments.
fn blanked(text: &str) -> Option<String> {
    let mut plain = text.to_owned();
    let mut comma = None;
    let mut scanner = Scanner::new(text, &ScannerOptions::default());
    while let Some(token) = scanner.scan().ok()? {
        let range = scanner.token_start()..scanner.token_end();
        match token {
            Token::CommentLine(_) | Token::CommentBlock(_) => {
                let comment = text.get(range.clone())?.bytes();
                let blanks = comment.map(|byte| if byte == b'\n' { '\n' } else { ' ' });
                plain.replace_range(range, &blanks.collect::<String>());
                continue;
            }
            Token::CloseBrace | Token::CloseBracket => {
                if let Some(comma) = comma {
                    plain.replace_range(comma, " ");
                }
            }
            _ => {}
        }
        comma = (token == Token::Comma).then_some(range);
    }
    Some(plain)
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
        ] {
            assert_eq!(blanked(text).as_deref(), Some(plain), "{text}");
        }
        assert_eq!((blanked("\"open"), blanked("/* open")), (None, None));
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
