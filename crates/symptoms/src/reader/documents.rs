//! The documents of a file, in a text in which all else is blank.

use manifest::Excerpt;
use manifest::source::Span;

/// Collects the documents of a file.
#[derive(Debug)]
pub(super) struct Documents {
    text: String,
    parts: Vec<Excerpt>,
    /// UTF-16 code units and line feeds since the last document, which have not been written yet.
    units: usize,
    feeds: usize,
    /// The byte at which the document starts that is open.
    start: Option<usize>,
    /// The bytes that the text may have.
    limit: usize,
    /// Lines of documents that have not been kept.
    beyond: u64,
}

impl Documents {
    pub(super) fn new(limit: usize) -> Self {
        Self { text: String::new(), parts: Vec::new(), units: 0, feeds: 0, start: None, limit, beyond: 0 }
    }

    /// Something that is no document: so many UTF-16 code units and line feeds.
    pub(super) fn blank(&mut self, units: usize, feeds: usize) {
        self.units += units;
        self.feeds += feeds;
    }

    /// A document starts here.
    pub(super) fn begin(&mut self) {
        if self.text.len() + self.units + self.feeds <= self.limit {
            self.text.extend(std::iter::repeat_n(' ', self.units));
            self.text.extend(std::iter::repeat_n('\n', self.feeds));
            (self.units, self.feeds) = (0, 0);
            self.start = Some(self.text.len());
        }
    }

    /// A line of the document, or a part of one.
    pub(super) fn push(&mut self, text: &str) {
        let fits = self.text.len() + text.len() <= self.limit;
        match self.start {
            Some(_) if fits => self.text.push_str(text),
            start => {
                // What is longer than the bound is none of its documents.
                if let Some(start) = start {
                    let lost = self.text.split_off(start);
                    self.lose(&lost);
                    self.start = None;
                }
                self.lose(text);
            }
        }
    }

    fn lose(&mut self, text: &str) {
        let feeds = text.bytes().filter(|byte| *byte == b'\n').count();
        self.beyond += feeds.max(1) as u64;
        self.blank(text.encode_utf16().count() - feeds, feeds);
    }

    /// The document that is open.
    pub(super) fn open(&self) -> &str {
        self.start.and_then(|start| self.text.get(start..)).unwrap_or_default()
    }

    /// The document ends here, and is kept or was none.
    pub(super) fn end(&mut self, keep: bool, is_json: bool) {
        if let Some(start) = self.start.take().filter(|_| keep) {
            self.parts.push(Excerpt { span: Span::new(start, self.text.len()), is_json });
        }
    }

    /// Lines that have not been kept.
    pub(super) fn beyond(&self) -> u64 {
        self.beyond
    }

    /// The text, and where the documents stand in it.
    pub(super) fn finish(self) -> (String, Vec<Excerpt>) {
        (self.text, self.parts)
    }
}
