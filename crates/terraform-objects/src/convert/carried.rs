//! Objects that a chart installs as its values have them.

use terraform::{EvaluatedValue, decode_yaml};

use super::release::ReleaseValues;
use crate::draft::{DocumentDraft, DraftPart};

/// The values of the chart `raw` with objects: maps, and texts.
///
/// Source: incubator/raw/README.md of helm/charts at 29dc5e8, and charts/raw/README.md of bedag/helm-charts at 338132f (version 2.0.1).
const OF_RAW: [&str; 2] = ["resources", "templates"];

/// The values with objects that other charts have.
///
/// Source: charts/argo-cd/templates/extra-manifests.yaml of argoproj/argo-helm at 4f3a9e6, which installs the items of `extraObjects`, maps
/// and texts. Charts of bitnami have `extraDeploy`.
const OF_OTHERS: [&str; 4] = ["extraDeploy", "extraManifests", "extraObjects", "extraResources"];

/// The objects in the values of a release of a chart.
pub(super) fn objects(chart: &str, values: ReleaseValues) -> Vec<DocumentDraft> {
    let ReleaseValues { values, used, .. } = values;
    let keys: &[&str] = if chart == "raw" { &OF_RAW } else { &OF_OTHERS };
    let members = values.and_then(|(_, values)| values.members()).unwrap_or_default();
    let lists = members.into_iter().filter(|member| keys.contains(&member.key.as_ref()));
    let items = lists.filter_map(|member| match member.value {
        DraftPart::Value(list) => list.items().map(<[EvaluatedValue]>::to_vec),
        _ => None,
    });
    let objects: Vec<DocumentDraft> = items.flatten().filter_map(object).collect();
    if objects.is_empty() { objects } else { objects.into_iter().chain(used).collect() }
}

/// The object that an item is, or that is in its text.
fn object(item: EvaluatedValue) -> Option<DocumentDraft> {
    let text = item.as_text().or(item.as_unknown().map(|unknown| &unknown.text));
    let value = match text {
        Some(text) => text.encoded().cloned().or_else(|| decode_yaml(text, item.place))?,
        None => item,
    };
    let is_object = value.get("apiVersion").is_some() && value.get("kind").is_some();
    is_object.then_some(DocumentDraft::Document(DraftPart::Value(value)))
}
