//! Bound on the nesting of a document.

use manifest::source::Span;
use toml_parser::Source;
use toml_parser::lexer::TokenKind;

use super::error::TomlError;

/// Maximum depth of tables and arrays. Settings of Bottlerocket are at most seven levels deep.
const MAX_DEPTH: usize = 128;

/// Refuses a document whose tables and arrays are nested too deeply.
///
/// The `toml` crate bounds brackets and dotted keys separately, which allows 6,400 levels. It drops its tree recursively
/// and would exhaust the stack of a WebAssembly module.
pub(super) fn check(text: &str) -> Result<(), TomlError> {
    // Levels that each open bracket adds: one, and one for each dot in the key before it.
    let mut open = Vec::new();
    let mut depth = 0;
    let mut dots = 0;
    for token in Source::new(text).lex() {
        match token.kind() {
            TokenKind::Dot => dots += 1,
            TokenKind::LeftCurlyBracket | TokenKind::LeftSquareBracket => {
                open.push(dots + 1);
                depth += dots + 1;
                dots = 0;
            }
            TokenKind::RightCurlyBracket | TokenKind::RightSquareBracket => {
                depth -= open.pop().unwrap_or(0);
                dots = 0;
            }
            TokenKind::Comma | TokenKind::Newline => dots = 0,
            _ => {}
        }
        if depth > MAX_DEPTH {
            let message = format!("tables and arrays are nested more than {MAX_DEPTH} levels deep");
            let span = token.span();
            return Err(TomlError { message, span: Span::new(span.start(), span.end()) });
        }
    }
    Ok(())
}
