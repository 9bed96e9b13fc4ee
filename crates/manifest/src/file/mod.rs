//! Files of several documents.
//!
//! A YAML file is split at its `---` lines and each section is parsed alone, so that a syntax error in one document
//! affects no other.

mod markdown;
mod marks;
mod number;
mod script;
mod scripts;
mod split;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use markdown::{CodeBlock, code_blocks, is_markdown};
pub use number::{DocumentNumber, FileNumber};
pub(crate) use split::indented_sections;
pub use split::sections;

use self::script::ScriptLanguage;
use self::scripts::{markdown_documents, script_documents, yaml_or_script};
use crate::encoding::Encoding;
use crate::error::ReadError;
use crate::json::{self, JsonError};
use crate::limits::{Exceeded, Limits};
use crate::options::ReadOptions;
use crate::parallel;
use crate::source::{Source, Span, certain};
use crate::tree::{Node, Tree};
use crate::work::WorkBudget;
use crate::yaml::{self, YamlError, YamlProblem};

/// Maximum number of sections that are parsed before the documents are counted again.
const MAX_SECTIONS: usize = 256;

/// A text and its documents, in order.
#[derive(Debug)]
pub struct File {
    /// The text.
    pub source: Arc<Source>,
    /// The documents. An empty document between two separators is left out.
    pub documents: Vec<Document>,
    /// The purpose of the file, if the caller knows it. The parser never sets it.
    pub kind: FileKind,
    /// Whether the file matters to the caller, if the caller knows it. The parser never sets it.
    pub is_relevant: Option<bool>,
}

/// Purpose of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum FileKind {
    /// Not known: the content of each document decides.
    #[default]
    Unknown,
    /// Values of a Helm chart.
    Values,
    /// Patches, that is parts of objects.
    Patch,
    /// A plan or a state of Terraform, whose objects are its documents. It may hold secrets, so that its text is not shown.
    Plan,
    /// A file outside of the input that is read because a file of the input refers to it. Nothing is reported about the file itself.
    Referenced,
    /// A text beside the input that is searched as a whole. It has no documents, and nothing is reported about the file itself.
    TextOnly,
    /// A text of a Helm chart of the input that is searched for the values that it reads: a template that is no input, or the list of all
    /// templates, one name per line, under a name that ends with `/`. It has no documents, and nothing is reported about it.
    ChartText,
}

impl FileKind {
    /// Whether files of the kind are only searched as a whole, and have no documents.
    pub const fn is_text(self) -> bool {
        matches!(self, Self::TextOnly | Self::ChartText)
    }
}

/// One document of a file.
#[derive(Debug)]
pub enum Document {
    /// A parsed document.
    Read(Tree),
    /// A template, which is YAML only after rendering, with the span of its first mark, such as `{{`.
    Template(Span),
    /// A script, or a part of a script that is not a manifest, with its span.
    Script(Span),
    /// Manifests in a here-document whose objects a script deletes, with their span.
    Deleted(Span),
    /// A document whose text is not known: another program makes it, such as Terraform, or the link to its file leads nowhere.
    Unevaluated {
        /// The text that makes the document.
        span: Span,
        /// The reason.
        reason: String,
    },
    /// A part of a file that makes no document, such as a resource of Terraform without an instance.
    Absent {
        /// The part.
        span: Span,
        /// The reason.
        reason: String,
    },
    /// A document that could not be parsed.
    Unreadable {
        /// The byte at which parsing stopped.
        at: usize,
        /// The reason.
        error: ReadError,
    },
}

/// A stretch of a larger text that holds one or more documents, such as a manifest within a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The span in the larger text.
    pub span: Span,
    /// Whether the excerpt is JSON; otherwise it is YAML.
    pub is_json: bool,
}

/// Syntax of a file, according to its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    /// A sequence of JSON values.
    Json,
    /// One JSON value per line.
    JsonLines,
    /// YAML, or JSON if the text is valid JSON.
    Yaml,
    /// YAML, JSON, or a script with manifests in its here-documents.
    Any,
    /// A script, according to the extension.
    Script(ScriptLanguage),
    /// Text with code blocks.
    Markdown,
}

impl Language {
    fn detect(name: &str) -> Self {
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        if extension.eq_ignore_ascii_case("json") {
            Self::Json
        } else if extension.eq_ignore_ascii_case("jsonl") || extension.eq_ignore_ascii_case("ndjson") {
            Self::JsonLines
        } else if is_terraform(name) {
            Self::Script(ScriptLanguage::Terraform)
        } else if ["sh", "bash"].iter().any(|known| extension.eq_ignore_ascii_case(known)) {
            Self::Script(ScriptLanguage::Shell)
        } else if is_markdown(name) {
            Self::Markdown
        } else {
            Self::Any
        }
    }
}

/// Whether a name is the name of a Terraform file, whose program replaces every `${…}` before it uses a text.
pub fn is_terraform(name: &str) -> bool {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    ["tf", "tofu", "hcl"].iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// Whether Terraform replaces every `${…}` in the text of a node: it is in a configuration or a template of Terraform, or Terraform makes
/// the document.
///
/// Source: website/docs/language/functions/templatefile.mdx of hashicorp/terraform at v1.11, which recommends `*.tftpl` for templates. Before
/// that, `*.tpl` was usual, as in website/docs/d/file.html.md of hashicorp/terraform-provider-template. A `.tpl` of Helm has `{{` where it has values.
pub fn is_from_terraform(node: Node<'_>) -> bool {
    let name = node.source().name();
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let is_template = ["tftpl", "tpl"].iter().any(|known| extension.eq_ignore_ascii_case(known));
    is_template || is_terraform(name) || node.tree().is_evaluated()
}

/// The bodies of the here-documents of a Terraform file.
pub fn here_documents(text: &str) -> Vec<Span> {
    script::heredocs(text, 0, ScriptLanguage::Terraform).into_iter().map(|heredoc| heredoc.body).collect()
}

impl File {
    /// The trees of the documents that are parsed, in the order of the text.
    pub fn trees(&self) -> impl Iterator<Item = &Tree> {
        self.documents.iter().filter_map(Document::tree)
    }

    /// Parses bytes: UTF-8, or UTF-16 after a byte order mark. The name selects the syntax: `.json`, `.jsonl` and `.ndjson` are
    /// JSON, `.sh` and `.tf` are scripts, `.md` and `.mdx` are Markdown, any other name is YAML or a script.
    pub fn from_bytes(name: impl Into<String>, bytes: Vec<u8>, options: impl Into<ReadOptions>) -> Self {
        let (name, options) = (name.into(), options.into());
        let limits = &options.limits;
        if bytes.len() > limits.file_bytes {
            return Self::refused(name, Exceeded::FileBytes(limits.file_bytes).into());
        }
        let encoding = Encoding::detect(&bytes);
        if encoding.is_utf16() {
            return match encoding.decode_utf16(&bytes) {
                Ok(text) => Self::read_as(Language::detect(&name), name, (text, encoding), &options),
                Err(text) => Self::cut_off(name, text, ReadError::NotUtf16),
            };
        }
        if bytes.contains(&0) {
            return Self::refused(name, ReadError::Binary);
        }
        match String::from_utf8(bytes) {
            Ok(text) => Self::read(name, text, options),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let text = String::from_utf8_lossy(certain(error.as_bytes().get(..at))).into_owned();
                Self::cut_off(name, text, ReadError::NotUtf8)
            }
        }
    }

    /// A text that is searched as a whole, without documents.
    pub fn text_only(name: impl Into<String>, text: impl Into<String>) -> Self {
        let file = Self::of(Arc::new(Source::new(name.into(), text.into())), Vec::new());
        Self { kind: FileKind::TextOnly, ..file }
    }

    /// A text of a Helm chart, without documents.
    pub fn chart_text(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { kind: FileKind::ChartText, ..Self::text_only(name, text) }
    }

    /// Whether the file is an input, and not a text or file that is only looked up.
    pub const fn is_input(&self) -> bool {
        !self.kind.is_text() && !matches!(self.kind, FileKind::Referenced)
    }

    /// A file of which only the start of the text can be decoded.
    fn cut_off(name: String, text: String, error: ReadError) -> Self {
        let document = Document::Unreadable { at: text.len(), error };
        Self::of(Arc::new(Source::new(name, text)), vec![document])
    }

    /// A file that could not be opened, with the reason.
    pub fn unreadable(name: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::refused(name.into(), ReadError::NotOpened(reason.into()))
    }

    /// A file without content to read, with the reason.
    pub fn skipped(name: impl Into<String>, reason: impl Into<String>) -> Self {
        let document = Document::Unevaluated { span: Span::new(0, 0), reason: reason.into() };
        Self::of(Arc::new(Source::new(name, "")), vec![document])
    }

    fn refused(name: String, error: ReadError) -> Self {
        let source = Arc::new(Source::new(name, ""));
        Self::of(source, vec![Document::Unreadable { at: 0, error }])
    }

    fn of(source: Arc<Source>, documents: Vec<Document>) -> Self {
        Self { source, documents, kind: FileKind::Unknown, is_relevant: None }
    }

    /// Parses a text. The name selects the syntax, as in [`File::from_bytes`].
    pub fn read(name: impl Into<String>, text: impl Into<String>, options: impl Into<ReadOptions>) -> Self {
        let name = name.into();
        Self::read_as(Language::detect(&name), name, (text.into(), Encoding::Utf8), &options.into())
    }

    /// Parses a text as YAML whatever its name is, or as JSON if it is valid JSON. The text shares the budget with other texts.
    pub fn read_yaml(name: &str, text: &str, options: impl Into<ReadOptions>, budget: &WorkBudget) -> Self {
        let text = (text.to_owned(), Encoding::Utf8);
        Self::read_within(Language::Yaml, name.to_owned(), text, &options.into(), budget)
    }

    fn read_as(language: Language, name: String, text: (String, Encoding), options: &ReadOptions) -> Self {
        let budget = WorkBudget::of_file(text.0.len(), &options.limits);
        Self::read_within(language, name, text, options, &budget)
    }

    fn read_within(
        language: Language,
        name: String,
        (text, encoding): (String, Encoding),
        options: &ReadOptions,
        budget: &WorkBudget,
    ) -> Self {
        let limits = &options.limits;
        if text.len() > limits.file_bytes {
            return Self::refused(name, Exceeded::FileBytes(limits.file_bytes).into());
        }
        // Editors do not count a byte order mark.
        let (text, encoding) = match text.strip_prefix('\u{feff}') {
            Some(marked) => (marked.to_owned(), Encoding::MarkedUtf8),
            None => (text, encoding),
        };
        let source = Arc::new(Source::new(name, text).encoded(encoding));
        let whole = Span::new(0, source.text().len());
        let documents = match language {
            Language::Json => json_values(&source, whole, options, budget),
            Language::JsonLines => json_lines(&source, options, budget),
            Language::Yaml => yaml_or_json(&source, Lines::whole(&source), options, budget),
            Language::Any => yaml_or_script(&source, options, budget),
            Language::Script(ScriptLanguage::Terraform) if (options.leaves_here_documents)(source.name()) => {
                vec![Document::Script(whole)]
            }
            Language::Script(language) => script_documents(&source, language, |_| true, options, budget),
            Language::Markdown => markdown_documents(&source, options, budget),
        };
        let mut file = Self::of(source, documents);
        file.bound(limits.documents);
        file
    }

    /// Parses excerpts of a text and ignores the rest of it. Spans count from the start of the whole text.
    pub fn from_excerpts(
        name: impl Into<String>,
        text: impl Into<String>,
        excerpts: &[Excerpt],
        options: impl Into<ReadOptions>,
    ) -> Self {
        let options = options.into();
        let limits = &options.limits;
        let source = Arc::new(Source::new(name, text));
        let budget = WorkBudget::of_file(source.text().len(), limits);
        let mut documents = Vec::new();
        for excerpt in excerpts {
            if documents.len() > limits.documents {
                break;
            }
            documents.extend(if excerpt.is_json {
                json_values(&source, excerpt.span, &options, &budget)
            } else {
                yaml_or_json(&source, Lines::of(excerpt.span), &options, &budget)
            });
        }
        let mut file = Self::of(source, documents);
        file.bound(limits.documents);
        file
    }

    /// Parses the here-documents of a file of Terraform whose bodies are wanted.
    pub fn here_documents_where(
        &self,
        is_wanted: impl Fn(Span) -> bool,
        options: impl Into<ReadOptions>,
    ) -> Vec<Document> {
        let options = options.into();
        let budget = WorkBudget::of_file(self.source.text().len(), &options.limits);
        script_documents(&self.source, ScriptLanguage::Terraform, is_wanted, &options, &budget)
    }

    fn bound(&mut self, limit: usize) {
        if let Some(next) = self.documents.get(limit) {
            let at = next.start();
            self.documents.truncate(limit);
            self.documents.push(Document::Unreadable { at, error: Exceeded::Documents(limit).into() });
        }
    }
}

impl Document {
    /// Parses the documents that a string holds. Their spans point into the text of the string: into its lines if it is a
    /// literal block scalar, otherwise at the whole string.
    pub fn within(string: Node<'_>, limits: &Limits) -> Vec<Self> {
        let result = |result| match result {
            Ok(tree) => Self::Read(tree),
            Err(YamlError { at, problem }) => Self::Unreadable { at, error: problem.into() },
        };
        yaml::read_string(string, limits).into_iter().map(result).collect()
    }

    /// The tree of a document that is parsed.
    pub const fn tree(&self) -> Option<&Tree> {
        if let Self::Read(tree) = self { Some(tree) } else { None }
    }

    /// The byte at which the document starts, or at which parsing stopped.
    pub fn start(&self) -> usize {
        match self {
            Self::Read(tree) => tree.root().span().start,
            Self::Template(span)
            | Self::Script(span)
            | Self::Deleted(span)
            | Self::Unevaluated { span, .. }
            | Self::Absent { span, .. } => span.start,
            Self::Unreadable { at, .. } => *at,
        }
    }
}

/// Whole lines of a text, which have an indentation of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lines {
    span: Span,
    indent: usize,
}

impl Lines {
    /// Lines without an indentation.
    const fn of(span: Span) -> Self {
        Self { span, indent: 0 }
    }

    /// All lines of a text, without an indentation.
    fn whole(source: &Source) -> Self {
        Self::of(Span::whole(source.text()))
    }
}

/// Parses a sequence of JSON values up to the first syntax error: after an error the start of the next value is unknown.
fn json_values(
    source: &Arc<Source>,
    within: Span,
    options: &ReadOptions,
    budget: &WorkBudget,
) -> Vec<Document> {
    let mut documents = Vec::new();
    let mut rest = within;
    while documents.len() <= options.limits.documents {
        match json::read(source, rest, options) {
            Ok(None) => break,
            // Only documents within strings can have more values than bytes.
            Ok(Some((tree, _))) if tree.work() > budget.left() => {
                let at = tree.root().span().start;
                documents.push(Document::Unreadable { at, error: Exceeded::Work(budget.limit()).into() });
                break;
            }
            Ok(Some((tree, end))) => {
                budget.spend(tree.work());
                documents.push(Document::Read(tree));
                rest.start = end;
            }
            Err(error) => {
                documents.push(unreadable_json(source, rest, error));
                break;
            }
        }
    }
    documents
}

/// Parses each line as JSON; a syntax error in one line affects no other.
fn json_lines(source: &Arc<Source>, options: &ReadOptions, budget: &WorkBudget) -> Vec<Document> {
    let mut documents = Vec::new();
    let mut start = 0;
    for line in source.text().split_inclusive('\n') {
        if documents.len() > options.limits.documents || ends_at_budget(&documents) {
            break;
        }
        if line.bytes().any(|byte| !byte.is_ascii_whitespace()) {
            documents.extend(json_values(source, Span::new(start, start + line.len()), options, budget));
        }
        start += line.len();
    }
    documents
}

/// Parses a stream that starts with `{` as JSON and, if it is not valid JSON, as YAML, like the Kubernetes tools.
fn yaml_or_json(
    source: &Arc<Source>,
    Lines { span: within, indent }: Lines,
    options: &ReadOptions,
    budget: &WorkBudget,
) -> Vec<Document> {
    if source.slice(within).trim_start().starts_with('{') {
        let documents = json_values(source, within, options, budget);
        if ends_at_budget(&documents)
            || documents.iter().all(|document| matches!(document, Document::Read(_)))
        {
            return documents;
        }
    }
    let mut documents = Vec::new();
    let text = source.slice(within);
    let sections = if indent == 0 { split::sections(text) } else { split::indented_sections(text, indent) };
    let mut rest = sections.as_slice();
    while !rest.is_empty() && documents.len() <= options.limits.documents && !ends_at_budget(&documents) {
        let (now, later) = rest.split_at(at_once(rest, options, budget));
        let (limit, left) = (budget.limit(), budget.left());
        let parse = |section: &Span| {
            let section = Span::new(within.start + section.start, within.start + section.end);
            let budget = WorkBudget::part(limit, left);
            let documents = yaml_section(source, section, options, &budget);
            (documents, left - budget.left())
        };
        for (parsed, spent) in parallel::map(now, parse) {
            budget.spend(spent);
            documents.extend(parsed);
        }
        rest = later;
    }
    documents
}

/// The number of sections that may be parsed at the same time: even if aliases make as much as possible of each, the budget
/// is enough for all, or for the first alone.
fn at_once(sections: &[Span], options: &ReadOptions, budget: &WorkBudget) -> usize {
    let most = options.limits.documents.saturating_add(1).min(MAX_SECTIONS);
    let mut left = budget.left();
    let fits = |section: &&Span| {
        let rest = left.checked_sub(yaml::most_work(section.len()));
        left = rest.unwrap_or(left);
        rest.is_some()
    };
    sections.iter().take(most).take_while(fits).count().max(1)
}

/// Whether the budget was not enough for the last document.
fn ends_at_budget(documents: &[Document]) -> bool {
    let last = documents.last();
    matches!(last, Some(Document::Unreadable { error, .. }) if matches!(error.exceeded(), Some(Exceeded::Work(_))))
}

/// Parses a section between two `---` lines. After a `...` line it may hold further documents.
fn yaml_section(
    source: &Arc<Source>,
    section: Span,
    options: &ReadOptions,
    budget: &WorkBudget,
) -> Vec<Document> {
    let parsed = yaml::read(source, section, options, budget);
    let mut with_words = None;
    if parsed.iter().any(|document| document.as_ref().is_err_and(is_of_text)) {
        match yaml::read_with_words(source, section, options, budget) {
            Some(Ok(trees)) => return trees.into_iter().map(Document::Read).collect(),
            Some(Err((error, text))) if is_of_text(&error) => with_words = Some((error, text)),
            _ => {}
        }
    }
    let mut rest = section;
    let document = |result: Result<Tree, YamlError>| match result {
        Ok(tree) => {
            rest.start = tree.root().span().end;
            Document::Read(tree)
        }
        Err(error) => {
            let (error, words) = with_words.take().map_or((error, None), |(error, text)| (error, Some(text)));
            let words = words.as_deref().and_then(|words| words.get(rest.start - section.start..));
            unreadable_yaml(source, rest, error, words)
        }
    };
    parsed.into_iter().map(document).collect()
}

/// Whether an error is a mistake in the text, and not a bound.
fn is_of_text(error: &YamlError) -> bool {
    matches!(error.problem, YamlProblem::Template | YamlProblem::Syntax(_))
}

/// A JSON value with a syntax error, at the start of `rest`.
fn unreadable_json(source: &Source, rest: Span, error: JsonError) -> Document {
    match marks::conflict_marker(source.slice(rest)) {
        Some((at, mark)) => conflict(rest.start + at, mark),
        None => Document::Unreadable { at: error.at, error: error.problem.into() },
    }
}

/// A YAML document with a syntax error, at the start of `rest`: a template if it has the mark of a template. `words` is the text of the
/// section with words instead of expressions, if the error is in it.
fn unreadable_yaml(source: &Source, rest: Span, error: YamlError, words: Option<&str>) -> Document {
    if is_of_text(&error) {
        let text = source.slice(rest);
        if let Some((at, mark)) = marks::conflict_marker(text) {
            return conflict(rest.start + at, mark);
        }
        let words = words.unwrap_or(text);
        if let Some(mark) = marks::template_mark(text, words, error.at.saturating_sub(rest.start)) {
            return Document::Template(Span::new(rest.start + mark.start, rest.start + mark.end));
        }
    }
    Document::Unreadable { at: error.at, error: error.problem.into() }
}

/// A document with a conflict that Git could not merge.
fn conflict(at: usize, mark: &str) -> Document {
    Document::Unreadable { at, error: ReadError::Conflict(mark.to_owned()) }
}
