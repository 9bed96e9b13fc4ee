//! The documents of configurations in the place of the documents that the files had before.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use manifest::limits::Limits;
use manifest::source::{Source, Span};
use manifest::tree::{ModuleInstance, Node, Value};
use manifest::{Document, File, FileKind, ReadOptions};
use objects::embedded::READ_OPTIONS;
use terraform::{
    EvaluatedConfiguration, EvaluatedText, TextNumber, TextPlace, Texts, is_configuration, is_json,
};

use crate::agreed::{self, TextReading};
use crate::draft::DocumentDraft;
use crate::given::is_template;
use crate::parts::is_verbatim;
use crate::spans::Spans;
use crate::text::{self, PlacedDocument};
use crate::value;

/// Address of a text.
type TextAddress = usize;

/// The documents of all configurations.
pub(crate) struct Merge {
    by_text: BTreeMap<TextAddress, OfText>,
    /// The text that is a plan.
    plan: Option<TextAddress>,
    /// The module whose documents are added.
    module: Option<ModuleInstance>,
    /// Whether a resource that makes no object has a document that says so.
    shows_absent: bool,
}

/// The documents of a text.
#[derive(Default)]
struct OfText {
    documents: Vec<Document>,
    /// The documents by place, so that several calls of a module with the same values have them once.
    by_place: BTreeMap<Span, SamePlace>,
    /// The parts of the text that became documents.
    used: Vec<Span>,
    /// The parts of the text that documents are, letter by letter, and the modules that make them.
    verbatim: Vec<(Span, Option<ModuleInstance>)>,
    /// The starts of the parts of texts that an instance writes in another way.
    altered: BTreeSet<usize>,
    /// The resources that make no object in some configuration: their blocks, their places and the reasons.
    /// By the start of the whole resource.
    absent: BTreeMap<usize, (Span, Span, String)>,
    /// The reasons why the file is not evaluated.
    problems: Vec<(Span, String)>,
}

/// The documents at one place.
struct SamePlace {
    /// Index of the first document.
    first: usize,
    /// The contents of all documents with their indices, if there are several.
    contents: BTreeMap<String, usize>,
}

impl Merge {
    /// The documents of configurations. Says whether a resource that makes no object has a document that says so.
    pub(crate) fn of_configurations(shows_absent: bool) -> Self {
        Self { by_text: BTreeMap::new(), plan: None, module: None, shows_absent }
    }

    /// The documents of a plan.
    pub(crate) fn of_plan(source: &Arc<Source>) -> Self {
        Self { plan: Some(address(source)), ..Self::of_configurations(false) }
    }

    /// Whether the documents are compared with the ones of another side.
    fn is_compared(&self) -> bool {
        !self.shows_absent
    }

    /// Adds the drafts of a module.
    pub(crate) fn add_of_module(
        &mut self,
        module: ModuleInstance,
        drafts: &[DocumentDraft],
        texts: &Texts,
        limits: &Limits,
    ) {
        self.module = Some(module);
        self.add(drafts, texts, limits);
        self.module = None;
    }

    /// Adds the drafts of a configuration.
    pub(crate) fn add(&mut self, drafts: &[DocumentDraft], texts: &Texts, limits: &Limits) {
        for draft in drafts {
            match draft {
                DocumentDraft::Text(text, used) => self.add_text(text, *used, texts, limits),
                DocumentDraft::Alternatives { texts: alternatives, whole, used, at, address, reason } => {
                    let why = |paths: &[String]| {
                        format!("`{address}`, not checked in `{}`: {reason}", paths.join("`, `"))
                    };
                    let unknown = || Document::Unevaluated {
                        span: at.span(),
                        reason: format!("`{address}`, not checked: {reason}"),
                    };
                    let reading = TextReading { used: *used, texts, limits, is_compared: self.is_compared() };
                    let agreed = agreed::agreed(alternatives, &whole.conditions(), reading, why);
                    let placed = agreed.unwrap_or_else(|| PlacedDocument { at: *at, document: unknown() });
                    self.add_document(placed, texts);
                }
                DocumentDraft::Document(part) => {
                    let at = part.place();
                    let Some(tree) = value::document(part, texts, limits.nodes, self.is_compared()) else {
                        continue;
                    };
                    self.add_document(PlacedDocument { at, document: Document::Read(tree) }, texts);
                    self.mark(at, texts, |of_text| &mut of_text.used);
                }
                DocumentDraft::Used(text, used) => self.mark_text(text, *used, texts),
                DocumentDraft::Source(number) => self.mark_template(*number, texts),
                DocumentDraft::Absent { whole, at, reason } => {
                    self.add_absent(*whole, *at, reason, texts);
                }
                DocumentDraft::Unknown(at, reason) => {
                    let document = Document::Unevaluated { span: at.span(), reason: reason.clone() };
                    self.add_document(PlacedDocument { at: *at, document }, texts);
                }
            }
        }
    }

    fn add_absent(&mut self, whole: TextPlace, at: TextPlace, reason: &str, texts: &Texts) {
        if let Some(source) = texts.get(at.text) {
            let of_text = self.by_text.entry(address(source)).or_default();
            of_text.used.push(whole.span());
            let whole = whole.span();
            of_text.absent.entry(whole.start).or_insert_with(|| (whole, at.span(), reason.to_owned()));
        }
    }

    fn add_text(&mut self, text: &EvaluatedText, used: TextPlace, texts: &Texts, limits: &Limits) {
        let whole = Span::whole(text.as_str());
        if is_verbatim(text, whole, texts)
            && let Some(place) = text.place_of(whole.start, whole.end)
        {
            let module = self.module.clone();
            if let Some(source) = texts.get(place.text) {
                let of_text = self.by_text.entry(address(source)).or_default();
                of_text.verbatim.push((place.span(), module));
            }
        } else {
            for place in text.pieces().iter().map(|piece| piece.place) {
                if let Some(source) = texts.get(place.text) {
                    self.by_text.entry(address(source)).or_default().altered.insert(place.span().start);
                }
            }
        }
        self.mark_text(text, used, texts);
        for document in text::documents(text, used, texts, limits) {
            self.add_document(document, texts);
        }
    }

    /// Marks the parts of a string, and the directives of a template between them.
    fn mark_text(&mut self, text: &EvaluatedText, used: TextPlace, texts: &Texts) {
        self.mark(used, texts, |of_text| &mut of_text.used);
        let mut before: Option<TextPlace> = None;
        for place in text.pieces().iter().map(|piece| piece.place) {
            self.mark(place, texts, |of_text| &mut of_text.used);
            let end = before.filter(|before| before.text == place.text).map(|before| before.span().end);
            let gap = end.map(|end| TextPlace::new(place.text, Span::new(end, place.span().start)));
            if let Some(gap) = gap.filter(|gap| gap.span().start < gap.span().end) {
                let between = texts.slice(gap).trim();
                if between.starts_with("%{") && between.ends_with('}') {
                    self.mark(gap, texts, |of_text| &mut of_text.used);
                }
            }
            before = Some(place);
        }
    }

    /// Marks the whole of a text, if it is the template of a file.
    fn mark_template(&mut self, number: TextNumber, texts: &Texts) {
        if let Some(source) = texts.get(number).filter(|source| is_template(source.name())) {
            let whole = TextPlace::new(number, Span::whole(source.text()));
            self.mark(whole, texts, |of_text| &mut of_text.used);
        }
    }

    fn add_document(&mut self, mut placed: PlacedDocument, texts: &Texts) {
        if let (Document::Read(tree), Some(module)) = (&mut placed.document, &self.module) {
            tree.add_module(module.clone());
        }
        if let Some(source) = texts.get(placed.at.text) {
            self.by_text.entry(address(source)).or_default().add(placed.at.span(), placed.document);
        }
    }

    fn mark(&mut self, place: TextPlace, texts: &Texts, list: impl Fn(&mut OfText) -> &mut Vec<Span>) {
        if let Some(source) = texts.get(place.text) {
            list(self.by_text.entry(address(source)).or_default()).push(place.span());
        }
    }

    /// Adds the files that are not evaluated.
    pub(crate) fn add_problems(&mut self, configuration: &EvaluatedConfiguration) {
        for problem in &configuration.problems {
            let Some(source) = configuration.texts.get(problem.place.text) else { continue };
            let of_text = self.by_text.entry(address(source)).or_default();
            let problem = (problem.place.span(), problem.message.clone());
            if !of_text.problems.contains(&problem) {
                of_text.problems.push(problem);
            }
        }
    }

    /// Replaces the documents of files.
    pub(crate) fn apply(mut self, files: &mut [File], limits: &Limits) {
        for file in files {
            let mut of_text = self.by_text.remove(&address(&file.source)).unwrap_or_default();
            if !self.shows_absent {
                of_text.absent.clear();
            }
            let is_plan = self.plan == Some(address(&file.source));
            let is_configuration = is_plan || is_configuration(file.source.name());
            if is_configuration && is_unread(file) {
                file.documents = of_text.here_documents(file, limits);
            }
            of_text.apply(file, is_configuration, is_plan || is_json(file.source.name()));
            if is_configuration && !file.documents.is_empty() && file.kind == FileKind::TextOnly {
                file.kind = FileKind::Unknown;
            } else if is_configuration && file.documents.is_empty() {
                if file.is_relevant == Some(true) {
                    file.documents.push(Document::Script(Span::whole(file.source.text())));
                } else {
                    file.kind = FileKind::TextOnly;
                }
            }
        }
    }
}

impl OfText {
    /// Adds a document. If the same one is at its place, the module makes that one.
    fn add(&mut self, place: Span, document: Document) {
        let index = self.documents.len();
        let same = self
            .by_place
            .entry(place)
            .or_insert_with(|| SamePlace { first: index, contents: BTreeMap::new() });
        if let Some(known) = self.documents.get(same.first) {
            if same.contents.is_empty() {
                same.contents.insert(content(known), same.first);
            }
            let equal = *same.contents.entry(content(&document)).or_insert(index);
            if let Some(known) = self.documents.get_mut(equal) {
                if let (Document::Read(known), Document::Read(tree)) = (known, document) {
                    for module in tree.modules() {
                        known.add_module(module.clone());
                    }
                }
                return;
            }
        }
        self.documents.push(document);
    }

    /// The documents in the here-documents of the text, except the ones that [`Self::apply`] replaces.
    fn here_documents(&self, file: &File, limits: &Limits) -> Vec<Document> {
        let is_replaced = |body: Span| {
            let is_used = self.used.iter().any(|span| span.start <= body.start && body.end <= span.end);
            is_used && !self.verbatim.iter().any(|(span, _)| span.start <= body.end && body.start <= span.end)
        };
        let options = ReadOptions { limits: *limits, ..READ_OPTIONS };
        file.here_documents_where(|body| !is_replaced(body), options)
    }

    /// Replaces the documents of the text.
    fn apply(self, file: &mut File, is_configuration: bool, is_json: bool) {
        let Self { documents, used, verbatim, altered, absent, problems, .. } = self;
        let before = core::mem::take(&mut file.documents);
        // A document that is literally in the file was read before, with the spelling of every value.
        let mut starts_before: BTreeMap<usize, bool> = BTreeMap::new();
        for document in &before {
            *starts_before.entry(document.start()).or_insert(true) &= matches!(document, Document::Read(_));
        }
        let read_before = |span: &Span| {
            let mut within =
                starts_before.range(span.start..=span.end).map(|(_, is_read)| *is_read).peekable();
            within.peek().is_some() && within.all(|is_read| is_read) && !is_json
        };
        let mut makers: BTreeMap<Span, Vec<ModuleInstance>> = BTreeMap::new();
        for (span, module) in verbatim {
            makers.entry(span).or_default().extend(module);
        }
        // Another instance of the text has other values, so that the documents of all instances count.
        let is_altered = |span: &Span| altered.range(span.start..=span.end).next().is_some();
        makers.retain(|span, _| read_before(span) && !is_altered(span));
        let (unchanged, used) = (Spans::of(makers.keys().copied()), Spans::of(used));
        let is_kept = |document: &Document| {
            let is_script = is_configuration && matches!(document, Document::Script(_));
            // The blocks of a configuration in JSON are one document for the reader of files.
            let is_whole = is_json && matches!(document, Document::Read(_));
            !is_script && !is_whole && (unchanged.hold(document.start()) || !used.hold(document.start()))
        };
        file.documents = before.into_iter().filter(is_kept).collect();
        add_makers(&mut file.documents, &makers);
        file.documents.extend(documents.into_iter().filter(|document| !unchanged.hold(document.start())));
        let starts: BTreeSet<usize> = file.documents.iter().map(Document::start).collect();
        for (whole, span, reason) in absent.into_values() {
            // Another configuration may have an instance.
            if starts.range(whole.start..=whole.end).next().is_none() {
                file.documents.push(Document::Absent { span, reason });
            }
        }
        let is_unreadable = |document: &Document| matches!(document, Document::Unreadable { .. });
        if is_json && file.documents.iter().any(is_unreadable) {
            return;
        }
        let rest = if is_json { "" } else { ", only its here-documents are read" };
        for (span, message) in problems {
            let reason = format!("Terraform, not evaluated{rest}: {message}");
            file.documents.push(Document::Unevaluated { span, reason });
        }
        file.documents.sort_by_key(Document::start);
    }
}

/// Adds the modules that make the documents in some parts of a text.
fn add_makers(documents: &mut [Document], makers: &BTreeMap<Span, Vec<ModuleInstance>>) {
    let mut by_start: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, document) in documents.iter().enumerate() {
        by_start.entry(document.start()).or_default().push(index);
    }
    for (span, modules) in makers {
        for index in by_start.range(span.start..=span.end).flat_map(|(_, indices)| indices) {
            if let Some(Document::Read(tree)) = documents.get_mut(*index) {
                for module in modules {
                    tree.add_module(module.clone());
                }
            }
        }
    }
}

/// Whether the reader left the here-documents of a configuration unread: [`OPTIONS_BEFORE_EVALUATION`](crate::OPTIONS_BEFORE_EVALUATION).
fn is_unread(file: &File) -> bool {
    matches!(file.documents.as_slice(), [Document::Script(span)] if *span == Span::whole(file.source.text()))
}

/// Text by which equal documents at one place are recognised.
fn content(document: &Document) -> String {
    let mut content = String::new();
    match document {
        Document::Read(tree) => write_content(tree.root(), &mut content),
        Document::Unevaluated { reason, .. } => content.push_str(reason),
        _ => {}
    }
    content
}

fn write_content(node: Node<'_>, content: &mut String) {
    let _ = write!(content, "{:?} {:?}", node.key(), node.value());
    if matches!(node.value(), Value::Mapping | Value::Sequence) {
        content.push('(');
        node.children().for_each(|child| write_content(child, content));
        content.push(')');
    }
}

fn address(source: &Arc<Source>) -> TextAddress {
    Arc::as_ptr(source).addr()
}
