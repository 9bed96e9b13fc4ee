//! Values that are not known because others are not.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use manifest::source::Span;

use crate::eval::Evaluation;
use crate::place::{TextNumber, TextPlace};
use crate::text::fingerprint;
use crate::types::Type;
use crate::value::{Data, EvaluatedValue};

/// Parts of a value whose contents cost as much as a step.
const VALUES_PER_STEP: usize = 4;

impl Evaluation<'_> {
    /// A value that the expression at a place computes of others that are not known.
    pub(crate) fn derived(&self, place: TextPlace, of: Type, causes: &[&EvaluatedValue]) -> EvaluatedValue {
        let name = self.name_of(place, self.slice(place), causes);
        derived(place, &name, of, causes.iter().copied())
    }

    /// A value that an expression computes, without a failure of one of the others.
    pub(crate) fn composed(&self, place: TextPlace, of: Type, causes: &[&EvaluatedValue]) -> EvaluatedValue {
        EvaluatedValue::unknown(of, &self.name_of(place, self.slice(place), causes), place)
    }

    /// The name of a value that the expression at a place computes of others. In an input whose names show contents, two values with one name are
    /// the same: the name has a fingerprint of everything that the expression does not show, such as the text of a template.
    pub(crate) fn name_of<'n>(
        &self,
        place: TextPlace,
        name: &'n str,
        causes: &[&EvaluatedValue],
    ) -> Cow<'n, str> {
        if !self.session.input.names_show_contents() || !self.spend_contents(causes.iter().copied()) {
            return Cow::Borrowed(name);
        }
        let mut contents = HiddenContents { place, name, found: Vec::new() };
        for cause in causes {
            contents.add(cause);
        }
        if contents.found.is_empty() {
            return Cow::Borrowed(name);
        }
        let found: Vec<&str> = contents.found.iter().map(String::as_str).collect();
        Cow::Owned(format!("{name} {}", fingerprint(&found)))
    }

    /// Takes the steps of comparing the contents of some values.
    pub(super) fn spend_contents<'v>(&self, values: impl IntoIterator<Item = &'v EvaluatedValue>) -> bool {
        let size = values.into_iter().map(EvaluatedValue::size).fold(0, usize::saturating_add);
        self.session.spend(size / VALUES_PER_STEP)
    }
}

/// Name of everything that some values are.
pub(crate) fn contents_fingerprint<'v>(values: impl IntoIterator<Item = &'v EvaluatedValue>) -> String {
    let nowhere = TextPlace::new(TextNumber::default(), Span::default());
    let mut contents = HiddenContents { place: nowhere, name: "", found: Vec::new() };
    for value in values {
        contents.add(value);
    }
    fingerprint(&contents.found.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Contents of values that their expression does not show.
struct HiddenContents<'n> {
    /// The expression.
    place: TextPlace,
    /// The text of the expression.
    name: &'n str,
    found: Vec<String>,
}

impl HiddenContents<'_> {
    fn add(&mut self, value: &EvaluatedValue) {
        match &value.data {
            Data::Unknown(unknown) => {
                let text = &unknown.text;
                let inner = text.as_str().trim_start_matches("${").trim_end_matches('}');
                if !text.directives().is_empty() || !self.name.contains(inner) {
                    self.found.push(text.fingerprint());
                }
            }
            Data::Null(_) => self.add_scalar(value, "null"),
            Data::Bool(known) => self.add_scalar(value, if *known { "true" } else { "false" }),
            Data::Number(number) => self.add_scalar(value, &number.text()),
            Data::String(text) if text.directives().is_empty() => self.add_scalar(value, text.as_str()),
            Data::String(text) => self.found.push(text.fingerprint()),
            Data::List(_, items) | Data::Set(_, items) | Data::Tuple(items) => {
                let items = items.as_slice();
                self.add_scalar(value, &format!("[{}]", items.len()));
                for item in items {
                    self.add(item);
                }
            }
            Data::Map(_, members) | Data::Object(members) => {
                for (key, member) in members.as_map() {
                    self.add_written(member.key, key);
                    self.add(&member.value);
                }
            }
        }
    }

    fn add_scalar(&mut self, value: &EvaluatedValue, content: &str) {
        self.add_written(value.origin, content);
    }

    /// Adds a content, unless the expression has it.
    fn add_written(&mut self, origin: TextPlace, content: &str) {
        let (within, span) = (self.place.span(), origin.span());
        let is_inside =
            origin.text == self.place.text && within.start <= span.start && span.end <= within.end;
        // The expression does not spell the length of a list, but has its items.
        let is_list = content.starts_with('[');
        if !(is_inside && (is_list || self.name.contains(content))) {
            self.found.push(content.to_owned());
        }
    }
}

/// A value that is not known because others are not, or failed because others did.
pub(crate) fn derived<'v>(
    place: TextPlace,
    name: &str,
    of: Type,
    causes: impl IntoIterator<Item = &'v EvaluatedValue>,
) -> EvaluatedValue {
    let mut value = EvaluatedValue::unknown(of, name, place);
    let failure = causes.into_iter().find_map(|cause| cause.failure().cloned());
    if let (Data::Unknown(unknown), Some(failure)) = (&mut value.data, failure) {
        unknown.failure = Some(failure);
    }
    value
}

/// The texts that some values come from.
pub(crate) fn sources_of<'v>(
    values: impl IntoIterator<Item = &'v EvaluatedValue>,
) -> Option<Arc<Vec<TextNumber>>> {
    let mut sources = BTreeSet::new();
    for value in values {
        add_sources(value, &mut sources);
    }
    (!sources.is_empty()).then(|| Arc::new(sources.into_iter().collect()))
}

fn add_sources(value: &EvaluatedValue, sources: &mut BTreeSet<TextNumber>) {
    let unknown = value.as_unknown();
    for text in value.as_text().into_iter().chain(unknown.map(|unknown| &unknown.text)) {
        sources.extend(text.pieces().iter().map(|piece| piece.place.text));
    }
    sources.extend(unknown.and_then(|unknown| unknown.sources.as_deref()).into_iter().flatten());
    for element in value.elements() {
        add_sources(element, sources);
    }
}
