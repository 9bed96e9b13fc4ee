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
use crate::outline::{EntryStep, ObjectOutline, OutlinePlace};

/// Keys whose values are objects or lists of Kubernetes, beside those whose keys the tables have.
const OBJECTS: [&str; 3] = ["settings", "controller", "featureGates"];

/// The words of the values of the chart.
pub(super) struct ChartWords {
    /// The number of keys above the values: 1 if a parent chart passes them on.
    depth: usize,
    release: Release,
}

impl ChartWords {
    /// The words at a place, if it is in values of the chart: in a document of values, also if only the line being typed keeps it from
    /// being read, or in an object that installs the chart.
    pub(super) fn of(
        question: Question<'_>,
        place: &OutlinePlace<'_, '_>,
        object: ObjectOutline<'_>,
        path: &[EntryStep<'_>],
    ) -> Option<Self> {
        let depth = if object.kind.is_empty() {
            let text = question.text.text();
            depth_in(question.name, place.outline.span.text(text))
                .or_else(|| depth_in(question.name, &place.outline.without_words(text)))
        } else {
            depth_in_object(place, object, path)
        };
        Some(Self { depth: depth?, release: question.release })
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

/// The number of keys above the values of the chart in an object that installs a chart: a HelmRelease of Flux, or an Application or
/// `ApplicationSet` of Argo CD.
///
/// Source: `HelmReleaseSpec` in `api/v2/helmrelease_types.go` of fluxcd/helm-controller, `ApplicationSourceHelm` in
/// pkg/apis/application/v1alpha1/types.go of argoproj/argo-cd.
fn depth_in_object(
    place: &OutlinePlace<'_, '_>,
    object: ObjectOutline<'_>,
    path: &[EntryStep<'_>],
) -> Option<usize> {
    let OutlinePlace { outline, text, .. } = *place;
    let at = |keys: &[&str]| {
        keys.iter().try_fold(object.root, |at, key| outline.member(text, at, key).map(Some)).flatten()
    };
    let (group, _) = object.api_version.split_once('/')?;
    let (depth, chart) = match (group, object.kind) {
        ("helm.toolkit.fluxcd.io", "HelmRelease") => {
            path.starts_with(&[EntryStep::Key("spec"), EntryStep::Key("values")]).then_some(())?;
            let chart = at(&["spec", "chart", "spec"]).map(|spec| outline.scalar(text, Some(spec), "chart"));
            let reference =
                || at(&["spec", "chartRef"]).map(|found| outline.scalar(text, Some(found), "name"));
            (2, chart.or_else(reference)?)
        }
        ("argoproj.io", "Application" | "ApplicationSet") => {
            let values = [EntryStep::Key("helm"), EntryStep::Key("valuesObject")];
            let helm = path.windows(values.len()).position(|steps| steps == values)?;
            let source = *outline.entries_to(place.nearest(), object.root).get(helm.checked_sub(1)?)?;
            let chart = outline.scalar(text, Some(source), "chart");
            let url = outline.scalar(text, Some(source), "repoURL");
            (helm + values.len(), if chart.is_empty() { url } else { chart })
        }
        _ => return None,
    };
    if chart.rsplit('/').next() == Some("karpenter") {
        return Some(depth);
    }
    // A chart around Karpenter's passes its values on.
    (path.get(depth) == Some(&EntryStep::Key("karpenter"))).then_some(depth + 1)
}

/// The number of keys above the values of the chart in a document; `None` if it has none.
fn depth_in(name: &str, text: &str) -> Option<usize> {
    let file = File::read(name, text, READ_OPTIONS);
    let Some(Document::Read(tree)) = file.documents.first() else { return None };
    let values = values_in(tree.root())?;
    Some(usize::from(values != tree.root()))
}
