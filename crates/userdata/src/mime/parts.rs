//! Parts of an archive, as `multipart.Reader` finds them (golang/go src/mime/multipart/multipart.go).

use manifest::source::{Span, certain};

use super::archive::{Archive, MimePart};
use super::header::{HeaderEnd, headers, line};
use super::media_type::{MediaType, media_type};
use super::problem::MimeProblemKind;

/// Media types that cloud-init and nodeadm handle (canonical/cloud-init cloudinit/handlers/__init__.py
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

/// Kind of delimiter on a line.
enum Delimiter {
    Opening,
    Closing,
    None,
}

/// Parser of parts, equivalent to `multipart.Reader`. Reads each line once.
pub(super) struct MimeParts<'t, 'a> {
    text: &'t str,
    boundary: &'a str,
    /// Whether delimiters end in CR LF; the first delimiter decides.
    crlf: bool,
    /// Whether a delimiter was found.
    used: bool,
    /// Whether the previous line is the empty line that Go accepts after a part.
    after_empty_line: bool,
    /// Text before the first delimiter.
    preamble: Option<Span>,
    archive: &'a mut Archive,
}

impl<'t, 'a> MimeParts<'t, 'a> {
    pub(super) fn new(text: &'t str, boundary: &'a str, archive: &'a mut Archive) -> Self {
        Self { text, boundary, crlf: true, used: false, after_empty_line: false, preamble: None, archive }
    }
}

impl MimeParts<'_, '_> {
    fn newline(&self) -> &'static str {
        if self.crlf { "\r\n" } else { "\n" }
    }

    fn rest(&self, at: usize) -> &str {
        certain(self.text.get(at..))
    }

    /// End of the line at an offset, including the line feed.
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

    /// Parses the parts of a body that starts at an offset. Returns whether the body contains a delimiter.
    pub(super) fn parse(mut self, body: usize) -> bool {
        let mut at = body;
        while at < self.text.len() {
            let line = Span::new(at, self.line_end(at));
            let delimiter = self.delimiter(line);
            self.used |= !matches!(delimiter, Delimiter::None);
            let next = match delimiter {
                Delimiter::Closing => {
                    self.after_closing(line.end);
                    None
                }
                Delimiter::Opening => {
                    self.after_empty_line = false;
                    self.part(line)
                }
                Delimiter::None => self.other_line(line),
            };
            let Some(next) = next else { break };
            at = next;
        }
        if let Some(preamble) = self.preamble {
            self.archive.problem(MimeProblemKind::TextBeforeFirstPart, preamble);
        }
        self.used
    }

    /// Checks a line outside the parts that is not a delimiter. Returns its end; `None` if Go stops here.
    fn other_line(&mut self, line: Span) -> Option<usize> {
        let content = line.text(self.text);
        let is_last = !content.ends_with('\n');
        // A closing delimiter without parts uses the boundary, although Go does not recognise it before LF.
        let after = content.trim_end().strip_prefix("--").and_then(|rest| rest.strip_prefix(self.boundary));
        let closes = after.is_some_and(|rest| rest == "--" || (is_last && rest.is_empty()));
        self.used |= closes;
        if self.archive.parts.is_empty() {
            if !closes && !content.trim().is_empty() {
                self.preamble = Some(self.preamble.map_or(line, |first| first.to(line)));
            }
        } else if is_last && self.after_empty_line {
            self.archive.problem(MimeProblemKind::BareFinalDelimiter, line);
        } else if is_last {
            self.archive.problem(MimeProblemKind::UnexpectedLine, line);
        } else if !self.after_empty_line && content == self.newline() {
            self.after_empty_line = true;
        } else {
            self.archive.problem(MimeProblemKind::UnexpectedLine, self.trimmed(line));
            return None;
        }
        Some(line.end)
    }

    fn trimmed(&self, line: Span) -> Span {
        Span::new(line.start, line.start + line.text(self.text).trim_end().len())
    }

    /// Parses a part. Returns its end; `None` if Go stops here.
    fn part(&mut self, delimiter: Span) -> Option<usize> {
        let delimiter_line = self.trimmed(delimiter);
        if delimiter.end >= self.text.len() {
            self.archive.problem(MimeProblemKind::BareFinalDelimiter, delimiter_line);
            return None;
        }
        let (headers, end) = headers(self.text, delimiter.end, true, &mut self.archive.problems);
        let body = match end {
            HeaderEnd::Body(body) => body,
            HeaderEnd::Rejected => return None,
            HeaderEnd::Text => {
                self.archive.problem(MimeProblemKind::PartWithoutBody, delimiter_line);
                return None;
            }
        };
        let end = self.body_end(body);
        let span = Span::new(body, end.unwrap_or(self.text.len()));
        let mut part = MimePart { delimiter: delimiter_line, headers, body: span, media_type: String::new() };
        self.check(&mut part);
        self.archive.parts.push(part);
        if end.is_none() {
            let misspelt = self.misspelt(span);
            if let Some(line) = misspelt {
                self.archive.problem(MimeProblemKind::MisspeltDelimiter, line);
            }
            self.archive.problem(MimeProblemKind::NotClosed, misspelt.unwrap_or(delimiter_line));
        }
        end
    }

    /// End of a body: before the line break of the next delimiter.
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

    /// Last misspelt delimiter in a body: the boundary between other dashes.
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

    /// Reports delimiters after the closing delimiter.
    fn after_closing(&mut self, start: usize) {
        let mut at = start;
        while at < self.text.len() {
            let line = Span::new(at, self.line_end(at));
            if matches!(self.delimiter(line), Delimiter::Opening) {
                self.archive.problem(MimeProblemKind::PartAfterClosing, self.trimmed(line));
            }
            at = line.end;
        }
    }

    /// Reports problems of a part and sets its media type.
    fn check(&mut self, part: &mut MimePart) {
        for header in &part.headers {
            let name = header.name.value.to_ascii_lowercase();
            if !["content-", "mime-", "x-", "merge-type", "launch-index"]
                .iter()
                .any(|known| name.starts_with(known))
            {
                self.archive.problem(MimeProblemKind::BodyReadAsHeader, header.name.span);
                break;
            }
        }
        let Some(header) = part.header("Content-Type") else {
            return self.archive.problem(MimeProblemKind::PartWithoutContentType, part.delimiter);
        };
        let span = header.value.span;
        let Ok(MediaType { name, .. }) = media_type(&header.value) else {
            return self.archive.problem(MimeProblemKind::MalformedPartType, span);
        };
        if !PART_TYPES.contains(&name.as_str()) && !name.starts_with("multipart/") {
            self.archive.problem(MimeProblemKind::UnknownPartType, span);
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
            self.archive.problem(MimeProblemKind::ShellPartWithoutShebang, span);
        }
        part.media_type = name;
    }
}
