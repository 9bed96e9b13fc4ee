//! Completion: what may be written at a place, by release.
//!
//! | module | content |
//! |---|---|
//! | `suggestion` | a suggestion, and the text that it writes |
//! | `object`, `slots`, `labels`, `names` | objects of the Kubernetes API: fields, values by the path, labels, names in the folder |
//! | `settings`, `chart` | `karpwarden.yaml`, and the values of Karpenter's chart |
//! | `suppressions` | comments that accept findings |

mod chart;
mod labels;
mod names;
mod object;
mod settings;
mod slots;
mod suggestion;
mod suppressions;
#[cfg(test)]
mod tests;

use std::path::Path;

use karpenter::release::Release;
use lsp_types::CompletionList;
use manifest::File;
use objects::object::Object;
use rule::registry::Registry;
use rule::settings::CONFIG_FILE;

use crate::folder::objects;
use crate::lines::LinedText;
use crate::outline::{EntryStep, Outline, OutlinePlace, Spot};
use crate::workspace::FolderView;

use suggestion::{InsertionForm, Suggestion};

/// Maximum number of suggestions. With more, the typed text chooses.
const MAX_SUGGESTIONS: usize = 200;

/// A place where somebody types, with what is known around it.
#[derive(Clone, Copy)]
pub(crate) struct Question<'q> {
    /// The text of the document.
    pub(crate) text: &'q LinedText,
    /// The byte of the cursor.
    pub(crate) byte: usize,
    /// The name of the file.
    pub(crate) name: &'q str,
    /// The folder of the document.
    pub(crate) folder: Option<&'q dyn FolderView>,
    /// The file of the document in its folder, as of the last check.
    pub(crate) file: Option<&'q File>,
    pub(crate) release: Release,
    pub(crate) registry: &'static Registry,
}

impl<'q> Question<'q> {
    /// The objects beside the document.
    fn objects(self) -> Vec<Object<'q>> {
        self.folder.map(|folder| objects(folder, self.file)).unwrap_or_default()
    }
}

/// Language of a document: what it may have as keys and as values.
enum Vocabulary<'q> {
    Object(object::ObjectWords<'q>),
    Settings(settings::SettingsWords<'q>),
    ChartValues(chart::ChartWords),
}

impl Vocabulary<'_> {
    /// The keys of the object at a path.
    fn keys(&self, path: &[EntryStep<'_>]) -> Vec<Suggestion> {
        match self {
            Self::Object(words) => words.keys(path),
            Self::Settings(words) => words.keys(path),
            Self::ChartValues(words) => words.keys(path),
        }
    }

    /// The scalars that the value at a path may be.
    fn values(&self, path: &[EntryStep<'_>]) -> Vec<Suggestion> {
        match self {
            Self::Object(words) => words.values(path),
            Self::Settings(words) => words.values(path),
            Self::ChartValues(words) => words.values(path),
        }
    }
}

/// The completions at a place.
pub(crate) fn at(question: Question<'_>) -> CompletionList {
    let text = question.text.text();
    let is_settings = question.name.rsplit(['/', '\\']).next() == Some(CONFIG_FILE);
    // A folder that is not read yet may be about Karpenter.
    if !is_settings && question.folder.is_some_and(|folder| !folder.is_about_karpenter()) {
        return CompletionList::default();
    }
    let outline = Outline::of_file(question.name, text, question.byte);
    let place = outline.as_ref().and_then(|outline| outline.place(text, question.byte));
    let Some(place) = place else { return CompletionList::default() };
    if place.spot == Spot::Comment {
        let (replaced, suggestions) = suppressions::at(question, place.word);
        let form = InsertionForm { place: &place, replaced, is_item: false, is_json: false };
        return list(suggestions, &form, question);
    }
    let object = place.object();
    let path = place.outline.path(text, place.nearest(), object.root);
    let vocabulary = if is_settings {
        Vocabulary::Settings(settings::SettingsWords(question))
    } else if let Some(words) = chart::ChartWords::of(question, &place, object, &path) {
        Vocabulary::ChartValues(words)
    } else {
        let words = object::ObjectWords { question, place: &place, object };
        if !words.is_object(&path) {
            return CompletionList::default();
        }
        Vocabulary::Object(words)
    };
    let (is_item, suggestions) = suggestions(&vocabulary, &place, path);
    let is_json = is_json(question.name);
    let form = InsertionForm { place: &place, replaced: place.word, is_item, is_json };
    list(suggestions, &form, question)
}

/// The suggestions at a place whose path is given, and whether they are items of a list that has no other text there.
fn suggestions(
    vocabulary: &Vocabulary<'_>,
    place: &OutlinePlace<'_, '_>,
    mut path: Vec<EntryStep<'_>>,
) -> (bool, Vec<Suggestion>) {
    let absent = |suggestions: Vec<Suggestion>, present: &[&str]| -> Vec<Suggestion> {
        suggestions.into_iter().filter(|one| !present.contains(&one.text.as_ref())).collect()
    };
    let is_at_item = matches!(path.last(), Some(EntryStep::Item(_)));
    match place.spot {
        Spot::Comment => return (false, Vec::new()),
        Spot::Key => {
            path.pop();
            let keys = vocabulary.keys(&path);
            if !keys.is_empty() {
                return (false, absent(keys, &place.present()));
            }
        }
        Spot::New => {
            let keys = vocabulary.keys(&path);
            if !keys.is_empty() {
                return (false, absent(keys, &place.present()));
            }
        }
        Spot::Value if is_at_item => {
            let keys = vocabulary.keys(&path);
            if !keys.is_empty() {
                return (false, keys);
            }
            let values = vocabulary.values(&path);
            return (true, absent(values, &place.present_items(place.holder)));
        }
        Spot::Value => {
            let values = vocabulary.values(&path);
            if !values.is_empty() {
                return (false, values);
            }
        }
    }
    // An item of a list.
    let list = if place.spot == Spot::Value { place.entry } else { place.holder };
    path.push(EntryStep::Item(0));
    let keys = if place.spot == Spot::New { vocabulary.keys(&path) } else { Vec::new() };
    if !keys.is_empty() {
        return (true, keys);
    }
    (true, absent(vocabulary.values(&path), &place.present_items(list)))
}

/// Whether the name of a file says that it is JSON.
pub(crate) fn is_json(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}

fn list(
    suggestions: Vec<Suggestion>,
    form: &InsertionForm<'_, '_>,
    question: Question<'_>,
) -> CompletionList {
    let typed =
        question.text.text().get(form.replaced.start..question.byte).unwrap_or_default().to_lowercase();
    let is_incomplete = suggestions.len() > MAX_SUGGESTIONS;
    let fits = |one: &Suggestion| !is_incomplete || one.text.to_lowercase().contains(&typed);
    let chosen = suggestions.into_iter().filter(fits).take(MAX_SUGGESTIONS);
    let items = chosen.map(|one| one.item(form, question.text)).collect();
    CompletionList { is_incomplete, items }
}
