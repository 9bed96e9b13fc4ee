//! Documents of a file, in a text in which everything else is blank.

use manifest::Excerpt;
use manifest::source::Span;

/// Collector of the documents of a file.
#[derive(Debug)]
pub(super) struct Documents {
    text: String,
    parts: Vec<Excerpt>,
    /// UTF-16 code units and line feeds since the last document, not written yet.
    units: usize,
    feeds: usize,
    /// The start of the open document.
    start: Option<usize>,
    /// Bound on the text in bytes.
    limit: usize,
    /// Lines of documents beyond the bound.
    beyond: u64,
}

impl Documents {
    pub(super) fn new(limit: usize) -> Self {
        Self { text: String::new(), parts: Vec::new(), units: 0, feeds: 0, start: None, limit, beyond: 0 }
    }

    /// Adds text that is not part of a document, as UTF-16 code units and line feeds.
    pub(super) fn blank(&mut self, units: usize, feeds: usize) {
        self.units += units;
        self.feeds += feeds;
    }

    /// Begins a document.
    pub(super) fn begin(&mut self) {
        if self.text.len() + self.units + self.feeds <= self.limit {
            self.text.extend(std::iter::repeat_n(' ', self.units));
            self.text.extend(std::iter::repeat_n('\n', self.feeds));
            (self.units, self.feeds) = (0, 0);
            self.start = Some(self.text.len());
        }
    }

    /// Adds a line of the document, or a part of a line.
    pub(super) fn push(&mut self, text: &str) {
        let fits = self.text.len() + text.len() <= self.limit;
        match self.start {
            Some(_) if fits => self.text.push_str(text),
            start => {
                // A document that exceeds the bound is dropped.
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

    /// Returns the open document.
    pub(super) fn open(&self) -> &str {
        self.start.and_then(|start| self.text.get(start..)).unwrap_or_default()
    }

    /// Ends the open document at a place in it, and begins the next one there.
    pub(super) fn split(&mut self, at: usize) {
        if let Some(start) = self.start {
            self.parts.push(Excerpt { span: Span::new(start, start + at), is_json: false });
            self.start = Some(start + at);
        }
    }

    /// Ends the open document, and keeps or drops it.
    pub(super) fn end(&mut self, keep: bool, is_json: bool) {
        if let Some(start) = self.start.take().filter(|_| keep) {
            self.parts.push(Excerpt { span: Span::new(start, self.text.len()), is_json });
        }
    }

    /// Returns the number of dropped lines.
    pub(super) fn beyond(&self) -> u64 {
        self.beyond
    }

    /// Returns the text, and the spans of the documents in it.
    pub(super) fn finish(self) -> (String, Vec<Excerpt>) {
        (self.text, self.parts)
    }
}
