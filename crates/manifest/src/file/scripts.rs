//! Documents in scripts, in the code blocks of Markdown, and in scripts that are strings of a document.

use std::sync::Arc;

use super::markdown::{CodeBlock, code_blocks};
use super::script::{self, DocumentHeredoc, ScriptLanguage, Usage, heredocs};
use super::{Document, Lines, ends_at_budget, yaml_or_json};
use crate::options::ReadOptions;
use crate::source::{Source, Span};
use crate::tree::{Style, Tree};
use crate::work::WorkBudget;

/// Languages of code blocks that hold YAML or JSON. Many blocks name no language.
const MANIFESTS: [&str; 6] = ["", "yaml", "yml", "json", "jsonc", "json5"];

/// Text that every manifest has.
const MANIFEST: &str = "apiVersion:";

/// Languages of code blocks that hold commands.
const SHELLS: [&str; 7] = ["bash", "sh", "shell", "zsh", "console", "shell-session", "shellscript"];

/// Parses YAML, JSON, or the here-documents of a shell script.
pub(super) fn yaml_or_script(
    source: &Arc<Source>,
    options: &ReadOptions,
    budget: &WorkBudget,
) -> Vec<Document> {
    let text = source.text();
    if !heredocs(text, 0, ScriptLanguage::Shell).is_empty() {
        return script_documents(source, ScriptLanguage::Shell, |_| true, options, budget);
    }
    let documents = yaml_or_json(source, Lines::whole(source), options, budget);
    let is_manifest = documents.iter().any(is_mapping);
    if script::has_shell(text) && !is_manifest {
        return vec![script(text)];
    }
    add_documents_of_scripts(source, documents, options, budget)
}

/// Parses the here-documents of a script whose bodies are wanted. A script without a manifest is one document.
pub(super) fn script_documents(
    source: &Arc<Source>,
    language: ScriptLanguage,
    is_wanted: impl Fn(Span) -> bool,
    options: &ReadOptions,
    budget: &WorkBudget,
) -> Vec<Document> {
    let mut documents = Vec::new();
    for heredoc in heredocs(source.text(), 0, language).into_iter().filter(|one| is_wanted(one.body)) {
        if documents.len() > options.limits.documents || ends_at_budget(&documents) {
            break;
        }
        documents.extend(heredoc_documents(source, heredoc, 0, options, budget));
    }
    if documents.is_empty() { vec![script(source.text())] } else { documents }
}

/// Parses a here-document.
fn heredoc_documents(
    source: &Arc<Source>,
    heredoc: DocumentHeredoc,
    indent: usize,
    options: &ReadOptions,
    budget: &WorkBudget,
) -> Vec<Document> {
    if heredoc.usage == Usage::Deletion {
        return vec![Document::Deleted(heredoc.body)];
    }
    let body = source.slice(heredoc.body);
    // The parser has the text of the file, in which a tab cannot indent.
    if heredoc.strips_tabs
        && body.lines().any(|line| line.get(indent..).is_some_and(|line| line.starts_with('\t')))
    {
        let is_manifest = heredoc.usage == Usage::Document || body.contains(MANIFEST);
        return vec![if is_manifest {
            let reason = "here-document, not checked: `<<-` removes the tabs at the start of its lines";
            Document::Unevaluated { span: heredoc.body, reason: reason.to_owned() }
        } else {
            Document::Script(heredoc.body)
        }];
    }
    let parsed = yaml_or_json(source, Lines { span: heredoc.body, indent }, options, budget);
    let may_be_manifest =
        |document: &Document| is_mapping(document) || matches!(document, Document::Template(_));
    if heredoc.usage == Usage::Document || parsed.iter().all(may_be_manifest) {
        parsed.into_iter().map(|document| unless_expanded(source, heredoc, document)).collect()
    } else if body.contains(MANIFEST) && body.lines().any(|line| line.starts_with('\t')) {
        // Terraform removes the indentation that all lines share, also tabs.
        let reason = "here-document, not checked: tabs indent its lines".to_owned();
        vec![Document::Unevaluated { span: heredoc.body, reason }]
    } else {
        vec![Document::Script(heredoc.body)]
    }
}

/// Parses the code blocks of a Markdown text. Blocks that are no manifest are left out: they show a part of one, or something else.
pub(super) fn markdown_documents(
    source: &Arc<Source>,
    options: &ReadOptions,
    budget: &WorkBudget,
) -> Vec<Document> {
    let mut documents = Vec::new();
    for CodeBlock { language, body } in code_blocks(source.text()) {
        if documents.len() > options.limits.documents || ends_at_budget(&documents) {
            break;
        }
        let lines = Lines { span: body, indent: indent(source.slice(body)) };
        let parsed = if is_any(language, &MANIFESTS) {
            yaml_or_json(source, lines, options, budget)
        } else if is_any(language, &SHELLS) {
            let all = heredocs_within(source, lines);
            all.flat_map(|one| heredoc_documents(source, one, lines.indent, options, budget)).collect()
        } else {
            Vec::new()
        };
        documents.extend(parsed.into_iter().filter_map(|document| in_code_block(document, options)));
    }
    documents
}

fn is_any(language: &str, known: &[&str]) -> bool {
    let language = language.trim_start_matches('.');
    known.iter().any(|known| language.eq_ignore_ascii_case(known))
}

/// A document of a code block, if it may be a manifest. A syntax error is no fault: many blocks show parts, with `...` between them.
fn in_code_block(document: Document, options: &ReadOptions) -> Option<Document> {
    match document {
        Document::Read(tree) => (options.is_manifest)(tree.root()).then_some(Document::Read(tree)),
        Document::Unreadable { at, error } if error.exceeded().is_none() => {
            let reason = format!("code block, not checked: {error}");
            Some(Document::Unevaluated { span: Span::new(at, at), reason })
        }
        Document::Script(_) => None,
        other => Some(other),
    }
}

/// Adds the manifests in the scripts of documents, such as the steps of a workflow: the here-documents that a script in a literal block
/// scalar hands to a client of the cluster.
fn add_documents_of_scripts(
    source: &Arc<Source>,
    documents: Vec<Document>,
    options: &ReadOptions,
    budget: &WorkBudget,
) -> Vec<Document> {
    if !source.text().contains("<<") {
        return documents;
    }
    let mut all = Vec::with_capacity(documents.len());
    for document in documents {
        let scripts = if let Document::Read(tree) = &document { scripts_in(tree) } else { Vec::new() };
        all.push(document);
        for lines in scripts {
            for heredoc in heredocs_within(source, lines).filter(|heredoc| heredoc.is_applied) {
                let parsed = heredoc_documents(source, heredoc, lines.indent, options, budget);
                all.extend(parsed.into_iter().filter(|document| match document {
                    Document::Read(tree) => (options.is_manifest)(tree.root()),
                    Document::Template(_) | Document::Deleted(_) => true,
                    _ => false,
                }));
            }
        }
    }
    all
}

/// The literal block scalars of a document that may have a here-document.
fn scripts_in(tree: &Tree) -> Vec<Lines> {
    let mut found = Vec::new();
    let mut open = vec![tree.root()];
    while let Some(node) = open.pop() {
        let is_script = |text: &str| text.contains("<<");
        if node.style() == Style::Literal && node.is_verbatim() && node.as_str().is_some_and(is_script) {
            let span = node.source().lines_of_block(node.span());
            found.push(Lines { span, indent: node.span().start - span.start });
        }
        open.extend(node.children());
    }
    found.sort_by_key(|lines| lines.span.start);
    found.dedup();
    found
}

/// The here-documents of a shell script in some lines of a text.
fn heredocs_within(source: &Source, lines: Lines) -> impl Iterator<Item = DocumentHeredoc> {
    let found = heredocs(source.slice(lines.span), lines.indent, ScriptLanguage::Shell);
    let start = lines.span.start;
    found.into_iter().map(move |one| DocumentHeredoc { body: one.body.shifted(start), ..one })
}

/// The indentation that all lines of a text have, except blank ones.
fn indent(text: &str) -> usize {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| line.len() - line.trim_start_matches(' ').len()).min().unwrap_or_default()
}

/// A whole text as a script.
fn script(text: &str) -> Document {
    Document::Script(Span::whole(text))
}

fn is_mapping(document: &Document) -> bool {
    matches!(document, Document::Read(tree) if tree.root().is_mapping())
}

/// A document of a here-document. If it does not parse and a program replaces parts of it first, it is a template.
fn unless_expanded(source: &Source, heredoc: DocumentHeredoc, document: Document) -> Document {
    match document {
        Document::Unreadable { at, .. }
            if heredoc.expands && source.slice(heredoc.body).contains(['$', '`', '\\']) =>
        {
            Document::Template(Span::new(at, at))
        }
        other => other,
    }
}
