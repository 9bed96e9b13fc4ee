//! The parts of an archive, as `multipart.Reader` finds them (golang/go src/mime/multipart/multipart.go).

use super::header::{HeaderEnd, MediaType, headers, line, media_type};
use super::{Archive, Part, ProblemKind};
use manifest::source::Span;

/// What cloud-init and nodeadm handle (canonical/cloud-init cloudinit/handlers/__init__.py
/// `INCLUSION_TYPES_MAP`, `cloudinit/user_data.py`; awslabs/amazon-eks-ami
/// nodeadm/internal/configprovider/userdata.go).
const PART_TYPES: [&str; 19] = [
    "text/x-shellscript",
    "text/x-shellscript-per-boot",
    "text/x-shellscript-per-instance",
    "text/x-shellscript-per-once",
    "text/cloud-config",
    "text/cloud-config-archive",
    "text/cloud-config-jsonp",
    "text/cloud-boothook",
    "text/jinja2",
    "text/part-handler",
    "text/upstart-job",
    "text/x-include-url",
    "text/x-include-once-url",
    "text/plain",
    "text/x-not-multipart",
    "application/octet-stream",
    "application/gzip",
    "application/x-gzip",
    "application/node.eks.aws",
];

/// What a line is to the reader of parts.
enum Delimiter {
    Opening,
    Closing,
    None,
}

/// `multipart.Reader`: no line is read twice.
pub(super) struct Parts<'t, 'a> {
    pub(super) text: &'t str,
    pub(super) boundary: &'a str,
    /// Whether delimiters are told by CR LF; decided by the first one.
    pub(super) crlf: bool,
    /// Whether a delimiter was seen.
    pub(super) used: bool,
    pub(super) archive: &'a mut Archive,
}

impl Parts<'_, '_> {
    fn newline(&self) -> &'static str {
        if self.crlf { "\r\n" } else { "\n" }
    }

    fn rest(&self, at: usize) -> &str {
        self.text.get(at..).unwrap_or("")
    }

    /// Where the line that starts here ends, its line feed included.
    fn line_end(&self, at: usize) -> usize {
        self.rest(at).find('\n').map_or(self.text.len(), |length| at + length + 1)
    }

    fn delimiter(&mut self, line: Span) -> Delimiter {
        let content = line.text(self.text);
        let Some(rest) = content.strip_prefix("--").and_then(|rest| rest.strip_prefix(self.boundary)) else {
            return Delimiter::None;
        };
        let blank = [' ', '\t'];
        let after = rest.trim_start_matches(blank);
        if self.archive.parts.is_empty() && after == "\n" {
            self.crlf = false;
        }
        if after == self.newline() {
            return Delimiter::Opening;
        }
        match rest.strip_prefix("--").map(|rest| rest.trim_start_matches(blank)) {
            Some(rest) if rest.is_empty() || rest == self.newline() => Delimiter::Closing,
            _ => Delimiter::None,
        }
    }

    pub(super) fn read(&mut self, body: usize) {
        let mut at = body;
        let mut between = false;
        let mut preamble: Option<Span> = None;
        while at < self.text.len() {
            let line = Span::new(at, self.line_end(at));
            let delimiter = self.delimiter(line);
            self.used |= !matches!(delimiter, Delimiter::None);
            match delimiter {
                Delimiter::Closing => {
                    self.after_closing(line.end);
                    break;
                }
                Delimiter::Opening => {
                    let Some(next) = self.part(line) else { break };
                    at = next;
                    between = false;
                    continue;
                }
                Delimiter::None => {}
            }
            let ends = !line.text(self.text).ends_with('\n');
            // A closing delimiter alone is an archive without parts, though Go does not recognise it before
            // LF.
            let dashes = line.text(self.text).trim_end().strip_prefix("--");
            let alone = dashes.and_then(|rest| rest.strip_prefix(self.boundary));
            let closes = alone.is_some_and(|rest| rest == "--" || (ends && rest.is_empty()));
            self.used |= closes;
            if self.archive.parts.is_empty() {
                if !closes && !line.text(self.text).trim().is_empty() {
                    preamble = Some(preamble.map_or(line, |first| first.to(line)));
                }
            } else if ends {
                let kind =
                    if between { ProblemKind::BareFinalDelimiter } else { ProblemKind::UnexpectedLine };
                self.archive.problem(kind, line);
            } else if !between && line.text(self.text) == self.newline() {
                between = true;
            } else {
                self.archive.problem(ProblemKind::UnexpectedLine, self.trimmed(line));
                break;
            }
            at = line.end;
        }
        if let Some(preamble) = preamble {
            self.archive.problem(ProblemKind::TextBeforeFirstPart, preamble);
        }
    }

    fn trimmed(&self, line: Span) -> Span {
        Span::new(line.start, line.start + line.text(self.text).trim_end().len())
    }

    /// Reads a part; gives where it ends, `None` where reading ends.
    fn part(&mut self, delimiter: Span) -> Option<usize> {
        let delimiter_line = self.trimmed(delimiter);
        if delimiter.end >= self.text.len() {
            self.archive.problem(ProblemKind::BareFinalDelimiter, delimiter_line);
            return None;
        }
        let (headers, end) = headers(self.text, delimiter.end, true, &mut self.archive.problems);
        let body = match end {
            HeaderEnd::Body(body) => body,
            HeaderEnd::Refused => return None,
            HeaderEnd::Text => {
                self.archive.problem(ProblemKind::PartWithoutBody, delimiter_line);
                return None;
            }
        };
        let end = self.body_end(body);
        let span = Span::new(body, end.unwrap_or(self.text.len()));
        let mut part = Part { delimiter: delimiter_line, headers, body: span, media_type: String::new() };
        self.judge(&mut part);
        self.archive.parts.push(part);
        if end.is_none() {
            let misspelt = self.misspelt(span);
            if let Some(line) = misspelt {
                self.archive.problem(ProblemKind::MisspeltDelimiter, line);
            }
            self.archive.problem(ProblemKind::NotClosed, misspelt.unwrap_or(delimiter_line));
        }
        end
    }

    /// Where the body ends: before the line break of the next delimiter.
    fn body_end(&self, body: usize) -> Option<usize> {
        let dashed = ["--", self.boundary].concat();
        let follows = |at: usize| {
            let rest = self.rest(at);
            matches!(rest.as_bytes().first(), None | Some(b' ' | b'\t' | b'\r' | b'\n'))
                || rest.starts_with("--")
        };
        let mut at = body;
        if self.rest(body).starts_with(&dashed) {
            at += dashed.len();
            if follows(at) {
                return Some(body);
            }
        }
        let pattern = [self.newline(), &dashed].concat();
        while let Some(found) = self.rest(at).find(&pattern) {
            let after = at + found + pattern.len();
            if follows(after) {
                return Some(at + found);
            }
            at = after;
        }
        None
    }

    /// The last line of dashes around the boundary.
    fn misspelt(&self, body: Span) -> Option<Span> {
        let name = self.boundary.trim_matches('-');
        let mut found = None;
        let mut at = body.start;
        while at < body.end {
            let (span, next) = line(self.text, at);
            let content = span.text(self.text).trim();
            let proper = content.strip_prefix("--").and_then(|rest| rest.strip_prefix(self.boundary));
            let proper = proper.is_some_and(|rest| matches!(rest, "" | "--"));
            if content.starts_with('-') && content.trim_matches('-') == name && !name.is_empty() && !proper {
                found = Some(span);
            }
            at = next;
        }
        found
    }

    fn after_closing(&mut self, start: usize) {
        let mut at = start;
        while at < self.text.len() {
            let line = Span::new(at, self.line_end(at));
            if matches!(self.delimiter(line), Delimiter::Opening) {
                self.archive.problem(ProblemKind::PartAfterClosing, self.trimmed(line));
            }
            at = line.end;
        }
    }

    fn judge(&mut self, part: &mut Part) {
        for header in &part.headers {
            let name = header.name.value.to_ascii_lowercase();
            if !["content-", "mime-", "x-", "merge-type", "launch-index"]
                .iter()
                .any(|known| name.starts_with(known))
            {
                self.archive.problem(ProblemKind::BodyReadAsHeader, header.name.span);
                break;
            }
        }
        let Some(header) = part.header("Content-Type") else {
            return self.archive.problem(ProblemKind::PartWithoutContentType, part.delimiter);
        };
        let span = header.value.span;
        let Ok(MediaType { name, .. }) = media_type(&header.value) else {
            return self.archive.problem(ProblemKind::MalformedPartType, span);
        };
        if !PART_TYPES.contains(&name.as_str()) && !name.starts_with("multipart/") {
            self.archive.problem(ProblemKind::UnknownPartType, span);
        }
        let body = part.body.text(self.text);
        let encoded = part.header("Content-Transfer-Encoding").is_some();
        if name.starts_with("text/x-shellscript")
            && !encoded
            && !body.trim().is_empty()
            && !body.starts_with("#!")
        {
            let length = body.trim_end().lines().next().unwrap_or("").len();
            let span = Span::new(part.body.start, part.body.start + length);
            self.archive.problem(ProblemKind::ShellPartWithoutShebang, span);
        }
        part.media_type = name;
    }
}
