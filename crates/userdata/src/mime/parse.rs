//! Headers of an archive, which determine its boundary.

use manifest::source::Span;

use super::archive::Archive;
use super::header::{HeaderEnd, find, headers, line};
use super::media_type::{MediaType, media_type};
use super::parts::MimeParts;
use super::problem::MimeProblemKind;
use crate::word::SpannedText;

impl Archive {
    /// Parses a text as an archive.
    pub fn parse(text: &str) -> Self {
        let mut archive = Self::default();
        if let Some((boundary, body)) = archive.parse_headers(text) {
            let is_used = MimeParts::new(text, &boundary.value, &mut archive).parse(body);
            if !is_used {
                archive.problem(MimeProblemKind::BoundaryNeverUsed, boundary.span);
            }
            archive.boundary = Some(boundary);
        }
        archive.problems.sort_by_key(|problem| problem.span);
        archive
    }

    /// Parses the headers. Returns the boundary and the start of the body; `None` if Go stops before the body.
    fn parse_headers(&mut self, text: &str) -> Option<(SpannedText, usize)> {
        let (headers, end) = headers(text, 0, false, &mut self.problems);
        let body = match end {
            HeaderEnd::Body(body) => body,
            HeaderEnd::Text => text.len(),
            HeaderEnd::Rejected => return None,
        };
        let content_type = find(&headers, "Content-Type").map(|header| header.value.clone());
        let name = find(&headers, "Content-Type").map_or(Span::default(), |header| header.name.span);
        let has_no_headers = headers.is_empty();
        self.headers = headers;
        let Some(content_type) = content_type else {
            let leading = text.len() - text.trim_start().len();
            if has_no_headers && leading > 0 {
                self.problem(MimeProblemKind::LeadingBlankLine, Span::new(0, leading));
            } else {
                self.problem(MimeProblemKind::NoContentType, line(text, 0).0);
            }
            return None;
        };
        match media_type(&content_type) {
            Err(span) => self.problem(MimeProblemKind::MalformedContentType, span),
            Ok(parsed) if !parsed.name.starts_with("multipart/") => {
                self.problem(MimeProblemKind::NotMultipart, content_type.span);
            }
            Ok(parsed) if parsed.encoded_boundary => {
                self.problem(MimeProblemKind::BoundaryNotRead, content_type.span);
            }
            Ok(MediaType { boundary: Some(boundary), .. }) if !boundary.value.is_empty() => {
                return Some((boundary, body));
            }
            Ok(_) => self.problem(MimeProblemKind::NoBoundary, name.to(content_type.span)),
        }
        None
    }
}
