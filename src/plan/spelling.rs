//! Lines of Terraform configurations in one spelling: without comments, and without white space that means nothing.
//!
//! Source: hclsyntax/spec.md of hashicorp/hcl: comments, string templates, and newlines that separate what commas separate too.

/// The meaning of some lines of a configuration.
#[derive(Debug, Default)]
pub(super) struct Spelling {
    text: String,
}

impl Spelling {
    /// Adds a line without its comment.
    pub(super) fn add(&mut self, code: &str) {
        let code = squeezed(code);
        if code.is_empty() {
            return;
        }
        let is_open = self.text.ends_with(['{', '[', '(', ',', '\n']) || self.text.is_empty();
        if !is_open && !code.starts_with(['}', ']', ')']) {
            self.text.push(',');
        }
        self.text.push_str(code.trim_end_matches(','));
    }

    /// Adds a line of a here-document, of which every character counts.
    pub(super) fn add_document(&mut self, line: &str) {
        if !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text.push_str(line);
        self.text.push('\n');
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }
}

/// A line without the comment at its end.
pub(super) fn code(line: &str) -> &str {
    let mut last = ' ';
    for (at, char, is_text) in characters(line) {
        if !is_text && char == '#' {
            return line.get(..at).unwrap_or_default();
        }
        let rest = line.get(at..).unwrap_or_default();
        // Code behind a comment on the line counts.
        let is_last = || rest.split_once("*/").is_none_or(|(_, behind)| behind.trim().is_empty());
        if !is_text && last == '/' && (char == '/' || (char == '*' && is_last())) {
            return line.get(..at - 1).unwrap_or_default();
        }
        last = if is_text { ' ' } else { char };
    }
    line
}

/// The brackets that a line opens, less the ones that it closes.
pub(super) fn depth(code: &str) -> isize {
    let brackets = characters(code).filter(|(_, _, is_text)| !is_text);
    brackets.fold(0, |depth, (_, char, _)| match char {
        '{' | '[' | '(' => depth + 1,
        '}' | ']' | ')' => depth - 1,
        _ => depth,
    })
}

/// The parts of a text between the commas that are in no brackets and in no string. `None` if the text closes a bracket that it does not open.
pub(super) fn items(text: &str) -> Option<Vec<&str>> {
    let (mut found, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, char, is_text) in characters(text) {
        match char {
            _ if is_text => {}
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                found.push(text.get(start..at)?);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(text.get(start..)?);
    Some(found)
}

/// A line with white space only between words and in strings, and without a comma before a closing bracket.
fn squeezed(code: &str) -> String {
    let is_word = |char: char| char.is_alphanumeric() || matches!(char, '_' | '-');
    let mut found = String::new();
    let mut is_apart = false;
    for (_, char, is_text) in characters(code.trim()) {
        if !is_text && char.is_whitespace() {
            is_apart = true;
            continue;
        }
        if is_apart && !is_text && is_word(char) && found.ends_with(is_word) {
            found.push(' ');
        }
        if !is_text && matches!(char, '}' | ']' | ')') && found.ends_with(',') {
            found.pop();
        }
        found.push(char);
        is_apart = false;
    }
    found
}

/// The characters of a line with their places, and whether they belong to a string.
pub(super) fn characters(line: &str) -> impl Iterator<Item = (usize, char, bool)> {
    // The strings around a character, and the interpolations in them.
    let mut around: Vec<char> = Vec::new();
    let mut last = ' ';
    line.char_indices().map(move |(at, char)| {
        let was_in = !around.is_empty();
        let is_escaped = around.last() == Some(&'"') && last == '\\';
        match (around.last().copied(), char) {
            (Some('"'), '"') if !is_escaped => {
                around.pop();
            }
            (Some('"'), '{') if matches!(last, '$' | '%') => around.push('{'),
            (Some('{'), '{') => around.push('{'),
            (Some('{'), '}') => {
                around.pop();
            }
            (None | Some('{'), '"') => around.push('"'),
            _ => {}
        }
        last = if is_escaped { ' ' } else { char };
        (at, char, was_in || !around.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(lines: &[&str]) -> String {
        let mut spelling = Spelling::default();
        for line in lines {
            spelling.add(code(line));
        }
        spelling.into_text()
    }

    #[test]
    fn commas_in_brackets_and_strings_separate_nothing() {
        assert_eq!(items("a={b=1,c=[2]},d=\",\",e").unwrap(), ["a={b=1,c=[2]}", "d=\",\"", "e"]);
        assert_eq!(items("a}),f({b"), None);
    }

    #[test]
    fn comments_and_layout_mean_nothing() {
        let expected = "a={b=[\"x # y\",\"//\"],c=\"${f(\"}\")} z\"}";
        for lines in [
            &["a = { b = [\"x # y\", \"//\"], c = \"${f(\"}\")} z\" }"][..],
            &[
                "a={",
                "  b = [",
                "    \"x # y\", # one",
                "    \"//\", // two",
                "  ] /* three */",
                "  c = \"${f(\"}\")} z\"",
                "}",
            ],
            &["a = {", "", "  b   = [\"x # y\", \"//\",]", "  # four", "  c   = \"${f(\"}\")} z\",", "}"],
        ] {
            assert_eq!(spelled(lines), expected);
        }
        assert_ne!(spelled(&["a = /* b */ 1"]), spelled(&["a = /* b */ 2"]));
        assert_ne!(spelled(&["a = \"x  y\""]), spelled(&["a = \"x y\""]));
        assert_ne!(spelled(&["a = b - c"]), spelled(&["a = b-c"]));
        assert_eq!(spelled(&["a = \"\\\"#\" # b"]), "a=\"\\\"#\"");
        assert_eq!(depth("a = { b = \"${f({})}{\" ("), 2);
    }
}
