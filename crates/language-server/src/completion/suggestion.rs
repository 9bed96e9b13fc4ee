//! A suggestion, and the text that it writes at a place.

use std::borrow::Cow;

use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionTextEdit, Documentation, InsertTextMode, MarkupContent,
    MarkupKind, TextEdit,
};
use manifest::source::Span;

use crate::lines::LinedText;
use crate::outline::{OutlinePlace, Spot};

/// Kind of a suggestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SuggestionKind {
    /// A key, whose value is of this form.
    Key(ValueShape),
    /// A string.
    Text,
    /// A number, a boolean or `null`.
    Literal,
    /// The name of an object.
    Name,
    /// The name of a rule, in a comment or as a value.
    Rule,
    /// Text to write as it is.
    Verbatim,
}

/// Form of the value of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueShape {
    Scalar,
    Object,
    List,
    /// A list of objects.
    ObjectList,
}

/// A suggestion.
#[derive(Clone, Debug)]
pub(crate) struct Suggestion {
    pub(crate) text: Cow<'static, str>,
    pub(crate) kind: SuggestionKind,
    /// A few words beside the text.
    pub(crate) detail: String,
    /// Markdown.
    pub(crate) documentation: String,
    /// Suggestions with a lower number come first.
    pub(crate) rank: usize,
}

impl Suggestion {
    pub(crate) fn new(kind: SuggestionKind, text: impl Into<Cow<'static, str>>) -> Self {
        let text = text.into();
        Self { text, kind, detail: String::new(), documentation: String::new(), rank: 1 }
    }

    pub(crate) fn key(text: impl Into<Cow<'static, str>>, shape: ValueShape) -> Self {
        Self::new(SuggestionKind::Key(shape), text)
    }

    /// The strings of a list, in its order.
    pub(crate) fn texts<T: Into<Cow<'static, str>>>(all: impl IntoIterator<Item = T>) -> Vec<Self> {
        let all = all.into_iter().enumerate();
        all.map(|(rank, text)| Self { rank, ..Self::new(SuggestionKind::Text, text) }).collect()
    }

    /// `true` and `false`.
    pub(crate) fn booleans() -> Vec<Self> {
        ["true", "false"].map(|text| Self::new(SuggestionKind::Literal, text)).into()
    }

    #[must_use]
    pub(crate) fn detail(self, detail: impl Into<String>) -> Self {
        Self { detail: detail.into(), ..self }
    }

    #[must_use]
    pub(crate) fn documented(self, documentation: impl Into<String>) -> Self {
        Self { documentation: documentation.into(), ..self }
    }

    #[must_use]
    pub(crate) fn ranked(self, rank: usize) -> Self {
        Self { rank, ..self }
    }

    /// The completion item that writes the suggestion at a place.
    pub(crate) fn item(self, form: &InsertionForm<'_, '_>, text: &LinedText) -> CompletionItem {
        let new_text = form.written(&self);
        let documentation = Documentation::MarkupContent(MarkupContent {
            kind: MarkupKind::Markdown,
            value: self.documentation,
        });
        let is_documented =
            !matches!(&documentation, Documentation::MarkupContent(own) if own.value.is_empty());
        CompletionItem {
            // Editors compare with the text that is replaced.
            filter_text: Some(self.text.clone().into_owned()),
            kind: Some(match self.kind {
                SuggestionKind::Key(_) => CompletionItemKind::FIELD,
                SuggestionKind::Text | SuggestionKind::Literal => CompletionItemKind::VALUE,
                SuggestionKind::Name => CompletionItemKind::REFERENCE,
                SuggestionKind::Rule => CompletionItemKind::CONSTANT,
                SuggestionKind::Verbatim => CompletionItemKind::SNIPPET,
            }),
            data: (self.kind == SuggestionKind::Rule).then(|| self.text.as_ref().into()),
            label: self.text.into_owned(),
            detail: Some(self.detail).filter(|detail| !detail.is_empty()),
            documentation: is_documented.then_some(documentation),
            sort_text: Some(format!("{:04}", self.rank.min(9999))),
            insert_text_mode: Some(InsertTextMode::AS_IS),
            text_edit: Some(CompletionTextEdit::Edit(TextEdit {
                range: text.range(form.replaced),
                new_text,
            })),
            ..CompletionItem::default()
        }
    }
}

/// The way in which the text at a place is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InsertionForm<'p, 't> {
    pub(crate) place: &'p OutlinePlace<'p, 't>,
    /// The bytes that a suggestion replaces.
    pub(crate) replaced: Span,
    /// Whether the suggestions are items of a list that the place holds, not its value.
    pub(crate) is_item: bool,
    pub(crate) is_json: bool,
}

impl InsertionForm<'_, '_> {
    fn written(&self, suggestion: &Suggestion) -> String {
        match suggestion.kind {
            SuggestionKind::Verbatim => suggestion.text.clone().into_owned(),
            SuggestionKind::Key(shape) => self.key(&suggestion.text, shape),
            kind => self.value(&suggestion.text, kind == SuggestionKind::Literal),
        }
    }

    fn before(&self) -> &str {
        self.place.text.get(..self.replaced.start).unwrap_or_default()
    }

    fn is_in_quotes(&self) -> bool {
        self.before().ends_with(['"', '\''])
    }

    /// The dash of a new item.
    fn dash(&self) -> &'static str {
        let is_new = self.is_item && !self.place.is_flow && self.place.spot != Spot::Value;
        if is_new { "- " } else { "" }
    }

    fn key(&self, key: &str, shape: ValueShape) -> String {
        let place = self.place;
        let entry = place.entry.and_then(|id| place.outline.entry(id));
        let has_colon = entry.is_some_and(|entry| entry.key.is_some() && entry.colon.is_some());
        let is_quoted = self.is_json && !self.is_in_quotes();
        let key = if is_quoted { format!("\"{key}\"") } else { key.to_owned() };
        // A closing quote stands between the key and its colon.
        if has_colon || self.is_in_quotes() {
            return key;
        }
        if place.is_flow && !self.is_json && (self.is_item || self.is_at_item()) {
            // Without braces each pair is a separate object.
            return format!("{{{key}: }}");
        }
        if place.is_flow || self.is_json {
            return if self.dash().is_empty() { format!("{key}: ") } else { key };
        }
        let dash = self.dash();
        // A key after a dash is one step further in.
        let is_after_dash = entry.is_some_and(|entry| entry.key.is_none());
        let column = place.column + if is_after_dash || !dash.is_empty() { 2 } else { 0 };
        let indent = " ".repeat(column + 2);
        let rest = match shape {
            ValueShape::Scalar => " ".to_owned(),
            ValueShape::Object => format!("\n{indent}"),
            ValueShape::List | ValueShape::ObjectList => format!("\n{indent}- "),
        };
        format!("{}{dash}{key}:{rest}", self.space())
    }

    fn value(&self, value: &str, is_literal: bool) -> String {
        let needs_quotes = !is_literal && (self.is_json || is_ambiguous(value)) && !self.is_in_quotes();
        let value = if needs_quotes { format!("\"{value}\"") } else { value.to_owned() };
        let is_list_value = self.is_item && self.place.spot == Spot::Value && !self.is_at_item();
        let value = if is_list_value { format!("[{value}]") } else { value };
        format!("{}{}{value}", self.space(), self.dash())
    }

    /// The space that a colon or a dash needs behind it, if nobody has typed it.
    fn space(&self) -> &'static str {
        let is_bare_dash = self.before().ends_with('-') && self.is_at_item() && !self.place.is_flow;
        let is_bare_colon = self.before().ends_with(':') && !self.is_json;
        if is_bare_dash || is_bare_colon { " " } else { "" }
    }

    fn is_at_item(&self) -> bool {
        let entry = self.place.entry.and_then(|id| self.place.outline.entry(id));
        entry.is_some_and(|entry| entry.key.is_none())
    }
}

/// Whether YAML reads a plain scalar as something other than a string.
fn is_ambiguous(value: &str) -> bool {
    let is_word = |words: &[&str]| words.iter().any(|word| value.eq_ignore_ascii_case(word));
    value.is_empty()
        || value.parse::<f64>().is_ok()
        || is_word(&["true", "false", "null", "yes", "no", "on", "off", "y", "n"])
        || value.starts_with(['*', '&', '!', '@', '%', '`', '{', '[', '#', '|', '>'])
}
