//! Keys and values of the values of Karpenter's Helm chart.

use karpenter::chart::{
    AWS_GATES, CONTROLLER_KEYS, FeatureGate, GATES, KEYS, MORE_CONTROLLER_KEYS, NESTED_KEYS, SETTINGS,
    values_in,
};
use karpenter::option_values::{Consequence, FIELDS, OPTIONS, SWITCHES, ValueForm};
use karpenter::release::{Release, Releases};
use manifest::{Document, File};
use objects::embedded::READ_OPTIONS;

use super::Question;
use super::suggestion::{Suggestion, SuggestionKind, ValueShape};
use crate::outline::{EntryStep, Outline, OutlinePlace};

/// Keys whose values are objects or lists of Kubernetes, beside those whose keys the tables have.
const OBJECTS: [&str; 3] = ["settings", "controller", "featureGates"];

/// The words of the values of the chart.
pub(super) struct ChartWords {
    /// The number of keys above the values: 1 if a parent chart passes them on.
    depth: usize,
    release: Release,
}

impl ChartWords {
    /// The words of a document with values of the chart, or of one that only the line being typed keeps from being read.
    pub(super) fn of(question: Question<'_>, place: &OutlinePlace<'_, '_>) -> Option<Self> {
        let text = question.text.text();
        let Outline { span, .. } = place.outline;
        if !place.outline.scalar(text, None, "kind").is_empty() {
            return None;
        }
        let document = span.text(text);
        let depth = depth_in(question.name, document)
            .or_else(|| depth_in(question.name, &place.outline.without_words(text)))?;
        Some(Self { depth, release: question.release })
    }

    fn own<'t>(&self, path: &[EntryStep<'t>]) -> Option<Vec<&'t str>> {
        let own = path.get(self.depth..)?;
        own.iter().map(|step| if let EntryStep::Key(key) = step { Some(*key) } else { None }).collect()
    }

    pub(super) fn keys(&self, path: &[EntryStep<'_>]) -> Vec<Suggestion> {
        let Some(own) = self.own(path) else { return Vec::new() };
        let of_release = |(name, releases): &(&'static str, Releases)| {
            releases.contains(self.release).then(|| key(&own, name))
        };
        match own.as_slice() {
            [] => KEYS.iter().filter_map(of_release).collect(),
            ["settings"] => SETTINGS.iter().filter_map(of_release).collect(),
            ["settings", "featureGates"] => self.gates(&GATES),
            ["settings", "awsFeatureGates"] => self.gates(&AWS_GATES),
            ["controller"] => {
                CONTROLLER_KEYS.iter().chain(&MORE_CONTROLLER_KEYS).map(|name| key(&own, name)).collect()
            }
            _ => {
                let nested = NESTED_KEYS.iter().find(|(path, _)| *path == own.as_slice());
                nested.map_or_else(Vec::new, |(_, keys)| keys.iter().map(|name| key(&own, name)).collect())
            }
        }
    }

    pub(super) fn values(&self, path: &[EntryStep<'_>]) -> Vec<Suggestion> {
        let Some(own) = self.own(path) else { return Vec::new() };
        if SWITCHES.contains(&own.as_slice())
            || matches!(own.as_slice(), ["settings", gates, _] if is_gates(gates))
        {
            return Suggestion::booleans();
        }
        match form_of(&own) {
            Some(ValueForm::Boolean) => Suggestion::booleans(),
            Some(ValueForm::OneOf(words)) => Suggestion::texts(words.iter().copied()),
            _ => Vec::new(),
        }
    }

    fn gates(&self, gates: &[FeatureGate]) -> Vec<Suggestion> {
        let own = gates.iter().filter(|gate| gate.releases.contains(self.release));
        own.map(|gate| Suggestion::key(gate.key, ValueShape::Scalar).detail(gate.releases.when())).collect()
    }
}

/// A key of the object at a path.
fn key(holder: &[&str], name: &'static str) -> Suggestion {
    let path: Vec<&str> = holder.iter().copied().chain([name]).collect();
    let has_keys = NESTED_KEYS.iter().any(|(nested, _)| *nested == path.as_slice());
    let shape = if has_keys || OBJECTS.contains(&name) || is_gates(name) {
        ValueShape::Object
    } else {
        ValueShape::Scalar
    };
    let option = OPTIONS.iter().find(|option| option.path == path.as_slice());
    let default = option.and_then(|option| match option.consequence {
        Consequence::UsesDefault(default) => Some(format!("default {default}")),
        _ => None,
    });
    let flag = option.map(|option| format!("Option `--{}` of the controller.", option.flag));
    Suggestion::new(SuggestionKind::Key(shape), name)
        .detail(default.unwrap_or_default())
        .documented(flag.unwrap_or_default())
}

fn is_gates(key: &str) -> bool {
    matches!(key, "featureGates" | "awsFeatureGates")
}

fn form_of(path: &[&str]) -> Option<ValueForm> {
    let option = OPTIONS.iter().find(|option| option.path == path).map(|option| option.form);
    option.or_else(|| FIELDS.iter().find(|(field, _)| *field == path).map(|(_, form)| *form))
}

/// The number of keys above the values of the chart in a document; `None` if it has none.
fn depth_in(name: &str, text: &str) -> Option<usize> {
    let file = File::read(name, text, READ_OPTIONS);
    let Some(Document::Read(tree)) = file.documents.first() else { return None };
    let values = values_in(tree.root())?;
    Some(usize::from(values != tree.root()))
}
