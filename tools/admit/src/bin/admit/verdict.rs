//! Prints verdicts for a terminal.

use std::{
    env,
    fmt::Write as _,
    io::{IsTerminal, Stdout},
};

use karpwarden_admit::AdmissionResponse;
use serde_json::Value;

use crate::manifests::ManifestDocument;

/// Result of one document.
pub(crate) enum DocumentVerdict {
    Answered {
        /// The name of the policy; empty if there is only one.
        policy: String,
        response: AdmissionResponse,
    },
    /// The API server does not call the policy for it.
    Skipped(String),
    Unreadable(String),
}

/// Colour and width of the output.
pub(crate) struct OutputStyle {
    colour: bool,
    /// Column to wrap at. Output that is not a terminal is not wrapped.
    width: Option<usize>,
}

#[derive(Clone, Copy)]
enum Colour {
    Red = 31,
    Green = 32,
    Yellow = 33,
    Grey = 90,
}

impl OutputStyle {
    /// Colour for a terminal only, and not if `NO_COLOR` is set (no-color.org).
    pub(crate) fn of(output: &Stdout) -> Self {
        let terminal = output.is_terminal();
        let declined = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = env::var_os("TERM").is_some_and(|value| value == "dumb");
        let columns = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).unwrap_or(100);
        Self { colour: terminal && !declined && !dumb, width: terminal.then_some(columns) }
    }

    fn paint(&self, colour: Colour, text: &str) -> String {
        if self.colour { format!("\x1b[{}m{text}\x1b[0m", colour as u8) } else { text.to_owned() }
    }

    fn bold(&self, text: &str) -> String {
        if self.colour { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Text below the line of the object, indented and wrapped.
    fn paragraph(&self, label: &str, text: &str) -> String {
        const INDENT: usize = 13;
        let room = self.width.map_or(usize::MAX, |width| width.saturating_sub(INDENT).max(40));
        let mut output = String::new();
        for line in format!("{label}{text}").lines().map(printable) {
            for piece in wrapped(&line, room) {
                // Writing to a string does not fail.
                let _ = writeln!(output, "{:INDENT$}{piece}", "");
            }
        }
        output
    }
}

impl DocumentVerdict {
    /// The verdict on a document. The heading is the file, if it differs from the previous document's.
    pub(crate) fn print(
        &self,
        heading: Option<&str>,
        document: &ManifestDocument,
        style: &OutputStyle,
    ) -> String {
        let mut output =
            heading.map(|file| format!("{}\n", style.bold(&printable(file)))).unwrap_or_default();
        let object = document.content.as_ref().map_or_else(|_| String::new(), |object| named(object));
        let (colour, mark, word) = match self {
            Self::Answered { response, .. } if !response.allowed => (Colour::Red, '✗', "denied"),
            Self::Answered { response, .. } if warnings(response).next().is_some() => {
                (Colour::Yellow, '!', "warned")
            }
            Self::Answered { .. } => (Colour::Green, '✓', "allowed"),
            Self::Skipped(_) => (Colour::Grey, '-', "not sent"),
            Self::Unreadable(_) => (Colour::Red, '?', "not read"),
        };
        let verdict = style.paint(colour, &format!("{mark} {word:<8}"));
        let policy = match self {
            Self::Answered { policy, .. } if !policy.is_empty() => {
                style.paint(Colour::Grey, &format!(" ({})", printable(policy)))
            }
            _ => String::new(),
        };
        let line = format!("  {verdict} {}{policy}", printable(&object));
        output.push_str(line.trim_end());
        output.push('\n');
        match self {
            Self::Skipped(reason) | Self::Unreadable(reason) => output += &style.paragraph("", reason),
            Self::Answered { response, .. } => output += &details(response, style),
        }
        output
    }
}

fn details(response: &AdmissionResponse, style: &OutputStyle) -> String {
    let mut output = style.paragraph("", response.message());
    for warning in warnings(response) {
        output += &style.paragraph("warning: ", warning);
    }
    for (key, value) in response.audit_annotations.iter().flatten() {
        output += &style.paragraph(&format!("audit {key}: "), value);
    }
    for change in response.patch().as_ref().and_then(Value::as_array).into_iter().flatten() {
        output += &style.paragraph("change: ", &change.to_string());
    }
    output
}

fn warnings(response: &AdmissionResponse) -> impl Iterator<Item = &String> {
    response.warnings.iter().flatten()
}

/// `NodePool default`, `Deployment web in shop`.
fn named(object: &Value) -> String {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
    let kind = text("/kind").unwrap_or("(no kind)");
    let name = text("/metadata/name").or_else(|| text("/metadata/generateName")).unwrap_or("(no name)");
    let namespace =
        text("/metadata/namespace").map(|namespace| format!(" in {namespace}")).unwrap_or_default();
    format!("{kind} {name}{namespace}")
}

/// Replaces control characters, which could control the terminal.
fn printable(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { '\u{fffd}' } else { character }).collect()
}

/// Breaks a line between words. A word that is too long stays whole.
fn wrapped(line: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in line.split(' ') {
        match lines.last_mut() {
            Some(last) if last.chars().count() + 1 + word.chars().count() <= room => {
                last.push(' ');
                last.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Number of documents by result.
#[derive(Default)]
pub(crate) struct VerdictCounts {
    allowed: usize,
    warned: usize,
    denied: usize,
    skipped: usize,
    unreadable: usize,
}

impl VerdictCounts {
    pub(crate) fn count(&mut self, verdict: &DocumentVerdict) {
        let counter = match verdict {
            DocumentVerdict::Answered { response, .. } if !response.allowed => &mut self.denied,
            DocumentVerdict::Answered { response, .. } if warnings(response).next().is_some() => {
                &mut self.warned
            }
            DocumentVerdict::Answered { .. } => &mut self.allowed,
            DocumentVerdict::Skipped(_) => &mut self.skipped,
            DocumentVerdict::Unreadable(_) => &mut self.unreadable,
        };
        *counter += 1;
    }

    pub(crate) fn print(&self, style: &OutputStyle) -> String {
        let parts = [
            (self.denied, "denied", Colour::Red),
            (self.warned, "allowed with warnings", Colour::Yellow),
            (self.allowed, "allowed", Colour::Green),
            (self.skipped, "not sent", Colour::Grey),
            (self.unreadable, "not read", Colour::Red),
        ];
        let parts = parts.iter().filter(|(count, ..)| *count > 0);
        let parts: Vec<_> =
            parts.map(|(count, what, colour)| style.paint(*colour, &format!("{count} {what}"))).collect();
        if parts.is_empty() { "no documents".to_owned() } else { format!("\n{}", parts.join(", ")) }
    }

    pub(crate) const fn exit_status(&self) -> u8 {
        let answered = self.allowed + self.warned + self.denied + self.skipped;
        match (self.unreadable, self.denied, answered) {
            (1.., ..) => 4,
            (0, 1.., _) => 1,
            (0, 0, 0) => 3,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::sync::Arc;

    const PLAIN: OutputStyle = OutputStyle { colour: false, width: None };

    fn document() -> ManifestDocument {
        let object = json!({"kind": "NodePool", "metadata": {"name": "de\u{1b}[31mfault"}});
        ManifestDocument { file: "pool.yaml".to_owned(), content: Ok(Arc::new(object)) }
    }

    fn answer(fields: Value) -> DocumentVerdict {
        DocumentVerdict::Answered { policy: String::new(), response: serde_json::from_value(fields).unwrap() }
    }

    #[test]
    fn denial_shows_message_warnings_and_audit_annotations() {
        let denied = answer(json!({"uid": "", "allowed": false, "status": {"message": "no\nnever"},
            "warnings": ["mind"], "auditAnnotations": {"k": "v"}}));
        assert_eq!(
            denied.print(Some("pool.yaml"), &document(), &PLAIN),
            "\
pool.yaml
  ✗ denied   NodePool de\u{fffd}[31mfault
             no
             never
             warning: mind
             audit k: v
"
        );
    }

    #[test]
    fn terminal_gets_colour_and_wrapped_lines() {
        let style = OutputStyle { colour: true, width: Some(53) };
        let text = style.paragraph("", "a word and another one, and then some more of them");
        assert_eq!(text, "             a word and another one, and then some\n             more of them\n");
        let allowed = answer(json!({"uid": "", "allowed": true}));
        assert!(
            allowed.print(None, &document(), &style).starts_with("  \u{1b}[32m✓ allowed \u{1b}[0m NodePool")
        );
    }

    #[test]
    fn exit_status_is_that_of_the_worst_result() {
        let status = |verdicts: &[DocumentVerdict]| {
            let mut tally = VerdictCounts::default();
            for verdict in verdicts {
                tally.count(verdict);
            }
            (tally.exit_status(), tally.print(&PLAIN))
        };
        let denied = || answer(json!({"uid": "", "allowed": false}));
        let allowed = || answer(json!({"uid": "", "allowed": true}));
        assert_eq!(status(&[]), (3, "no documents".to_owned()));
        assert_eq!(status(&[allowed()]), (0, "\n1 allowed".to_owned()));
        assert_eq!(status(&[allowed(), denied()]), (1, "\n1 denied, 1 allowed".to_owned()));
        let unreadable = DocumentVerdict::Unreadable(String::new());
        assert_eq!(status(&[denied(), unreadable]), (4, "\n1 denied, 1 not read".to_owned()));
    }
}
