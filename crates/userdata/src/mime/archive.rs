//! Archive and its parts.

use manifest::source::Span;

use super::header::{Header, find};
use super::problem::{MimeProblem, MimeProblemKind};
use crate::word::SpannedText;

/// MIME archive with its problems.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Archive {
    /// Headers of the archive.
    pub headers: Vec<Header>,
    /// Boundary in the `Content-Type` header.
    pub boundary: Option<SpannedText>,
    /// Parts that Karpenter reads.
    pub parts: Vec<MimePart>,
    /// Problems in the order of the text.
    pub problems: Vec<MimeProblem>,
}

/// Part of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MimePart {
    /// Span of the line `--boundary` before the part.
    pub delimiter: Span,
    /// Headers of the part.
    pub headers: Vec<Header>,
    /// Span between the blank line after the headers and the next delimiter.
    pub body: Span,
    pub(super) media_type: String,
}

impl MimePart {
    /// First header of this name.
    pub fn header(&self, name: &str) -> Option<&Header> {
        find(&self.headers, name)
    }

    /// Media type in lower case, without parameters: `text/x-shellscript`. Empty if the part has no valid type.
    ///
    /// On AL2023 Karpenter keeps only this header of a part, so that a `Content-Transfer-Encoding` is lost and the node
    /// receives encoded text (bootstrap/mime/mime.go `NewArchive`). On AL2 it keeps all headers.
    pub fn media_type(&self) -> &str {
        &self.media_type
    }

    /// `Content-Transfer-Encoding` header, if the body is encoded.
    pub fn encoding(&self) -> Option<&Header> {
        self.header("Content-Transfer-Encoding").filter(|encoding| {
            !["7bit", "8bit", "binary"].iter().any(|plain| encoding.value.value.eq_ignore_ascii_case(plain))
        })
    }
}

impl Archive {
    /// Whether Karpenter rejects the archive.
    pub fn is_rejected(&self) -> bool {
        self.problems.iter().any(|problem| problem.kind.is_rejected())
    }

    pub(super) fn problem(&mut self, kind: MimeProblemKind, span: Span) {
        self.problems.push(MimeProblem { kind, span });
    }
}
