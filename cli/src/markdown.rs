//! Renders the Markdown of the rules' documentation for a terminal: headings, paragraphs, lists, tables and code blocks.

use anstyle::{AnsiColor, Style};

const TITLE: Style = Style::new().bold().underline();
const HEADING: Style = AnsiColor::Green.on_default().bold();
const CODE: Style = AnsiColor::Cyan.on_default();
const BLOCK: Style = AnsiColor::Cyan.on_default();

/// Renders Markdown, wrapped to a width. Without colour the markup stays, because it is the only sign of headings and code.
pub(crate) fn render(markdown: &str, width: usize, color: bool) -> String {
    let mut page = Page { text: String::new(), width, color };
    let mut paragraph = Paragraph::default();
    let mut in_code = false;
    for line in markdown.lines() {
        if line.trim_start().starts_with("```") {
            paragraph.end(&mut page);
            in_code = !in_code;
        } else if in_code {
            page.line(&format!("    {}", page.styled(BLOCK, line)));
        } else if let Some(heading) = line.strip_prefix('#') {
            paragraph.end(&mut page);
            let style = if heading.starts_with('#') { HEADING } else { TITLE };
            let words = heading.trim_start_matches('#').trim();
            let heading = if page.color { page.styled(style, words) } else { line.to_owned() };
            page.line(&heading);
        } else if line.trim().is_empty() {
            paragraph.end(&mut page);
            page.line("");
        } else if line.starts_with('|') {
            paragraph.end(&mut page);
            let line = page.inline(line);
            page.line(&line);
        } else {
            if let Some(indent) = item(line) {
                paragraph.end(&mut page);
                paragraph.indent = indent;
            }
            paragraph.words.extend(line.split_whitespace().map(str::to_owned));
        }
    }
    paragraph.end(&mut page);
    page.text
}

/// Indentation of the text of a list item; `None` if the line starts no list item.
fn item(line: &str) -> Option<usize> {
    let rest = line.trim_start();
    let lead = line.len() - rest.len();
    let number = rest.trim_start_matches(|char: char| char.is_ascii_digit());
    let is_number = number.len() < rest.len() && number.starts_with(". ");
    let mark = if rest.starts_with("- ") || rest.starts_with("* ") {
        2
    } else if is_number {
        rest.len() - number.len() + 2
    } else {
        return None;
    };
    Some(lead + mark)
}

/// Words of a paragraph or list item, to wrap.
#[derive(Default)]
struct Paragraph {
    words: Vec<String>,
    /// Columns before every line except the first.
    indent: usize,
}

impl Paragraph {
    fn end(&mut self, page: &mut Page) {
        let indent = std::mem::take(&mut self.indent);
        let words = std::mem::take(&mut self.words);
        let mark = words.first().map_or(0, |word| word.chars().count() + 1);
        let mut lines: Vec<String> = Vec::new();
        let mut line = " ".repeat(indent.saturating_sub(mark));
        let mut columns = line.len();
        let mut is_fresh = true;
        for word in &words {
            // Back-ticks are hidden with colour.
            let length = word.chars().filter(|char| !page.color || *char != '`').count();
            if !is_fresh && columns + 1 + length > page.width {
                lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
                columns = indent;
                is_fresh = true;
            }
            if !is_fresh {
                line.push(' ');
                columns += 1;
            }
            line.push_str(word);
            columns += length;
            is_fresh = false;
        }
        if !is_fresh {
            lines.push(line);
        }
        // Code may continue on the next line, so the lines are wrapped before they are coloured.
        if !lines.is_empty() {
            let text = page.inline(&lines.join("\n"));
            page.line(&text);
        }
    }
}

struct Page {
    text: String,
    width: usize,
    color: bool,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn styled(&self, style: Style, text: &str) -> String {
        if self.color { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// Applies the styles of code, strong and emphasised text.
    fn inline(&self, text: &str) -> String {
        if !self.color {
            return text.to_owned();
        }
        let parts = text
            .split('`')
            .enumerate()
            .map(|(index, part)| if index % 2 == 1 { self.styled(CODE, part) } else { emphasis(part) });
        parts.collect()
    }
}

/// Applies the styles of `**strong**` and `*emphasised*` text.
fn emphasis(text: &str) -> String {
    const STRONG: Style = Style::new().bold();
    const EMPHASIS: Style = Style::new().italic();
    let toggled = |text: &str, mark: &str, style: Style| -> String {
        let parts: Vec<&str> = text.split(mark).collect();
        // An unpaired mark is an ordinary character.
        if parts.len().is_multiple_of(2) {
            return text.to_owned();
        }
        let styled = parts.iter().enumerate().map(|(index, part)| {
            if index % 2 == 1 { format!("{style}{part}{style:#}") } else { (*part).to_owned() }
        });
        styled.collect()
    };
    toggled(&toggled(text, "**", STRONG), "*", EMPHASIS)
}

#[cfg(test)]
mod tests {
    use super::render;

    #[test]
    fn wraps_paragraphs_but_not_code() {
        let text = r"# title

Some words that are
wrapped `as one`.

- an item that is long enough
  to go on
- two

```yaml
a: a line that is longer than the width
```
";
        insta::assert_snapshot!(render(text, 20, false), @"
        # title

        Some words that are
        wrapped `as one`.

        - an item that is
          long enough to go
          on
        - two

            a: a line that is longer than the width
        ");
    }

    #[test]
    fn replaces_markup_by_colour() {
        insta::assert_debug_snapshot!(render("## A\n\n`b` *c* **d** e*f\n", 40, true), @r#""\u{1b}[1m\u{1b}[32mA\u{1b}[0m\n\n\u{1b}[36mb\u{1b}[0m *c* \u{1b}[1md\u{1b}[0m e*f\n""#);
    }
}
