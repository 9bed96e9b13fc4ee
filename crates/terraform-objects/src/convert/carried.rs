//! Objects that a chart installs as its values have them.

use terraform::{EvaluatedValue, TextPlace};

use super::release::ReleaseValues;
use super::{ResourceInstance, directives, parameters, text_of};
use crate::draft::{DocumentDraft, DraftMember, DraftPart};

/// Name of the chart whose values are objects, and of the values of such a chart in another chart.
const RAW: &str = "raw";

/// The values of the chart `raw` with objects: maps, and texts.
///
/// Source: incubator/raw/README.md of helm/charts at 29dc5e8, and charts/raw/README.md of bedag/helm-charts at 338132f (version 2.0.1).
const OF_RAW: [&str; 2] = ["resources", "templates"];

/// The values with objects that other charts have.
///
/// Source: charts/argo-cd/templates/extra-manifests.yaml of argoproj/argo-helm at 4f3a9e6, which installs the items of `extraObjects`, maps
/// and texts. Charts of bitnami have `extraDeploy`.
const OF_OTHERS: [&str; 4] = ["extraDeploy", "extraManifests", "extraObjects", "extraResources"];

/// Levels of charts within charts whose values are read.
const MAX_CHARTS: usize = 3;

/// The objects in the values of a release of a chart.
pub(super) fn objects(
    resource: &ResourceInstance<'_>,
    chart: &str,
    values: ReleaseValues,
) -> Vec<DocumentDraft> {
    let ReleaseValues { values, used, unevaluated, parameters, uncounted } = values;
    let reader = CarriedReader { resource, chart };
    let mut objects: Vec<DocumentDraft> =
        unevaluated.into_iter().flat_map(|part| reader.unknown(part)).collect();
    let mut values = values.map_or_else(|| DraftPart::object([], resource.block.place), |(_, values)| values);
    let mut refused: Vec<DocumentDraft> = uncounted.into_iter().map(|at| reader.refused("set", at)).collect();
    for parameter in parameters {
        let (name, at) = (parameters::name(&parameter), parameter.place());
        if name.is_none_or(|name| reader.is_carried(name)) {
            match parameters::applied(&values, &parameter) {
                Some(changed) => values = changed,
                None if parameters::may_reach(&values, &parameter) => {
                    refused.push(reader.refused(name.unwrap_or("set"), at));
                }
                None => objects.push(reader.refused(name.unwrap_or("set"), at)),
            }
        }
    }
    let mut carried = Vec::new();
    reader.read(&values, "", chart == RAW, &mut carried);
    // Helm may install the objects otherwise than the values have them.
    if refused.is_empty() {
        objects.extend(carried);
    } else if !carried.is_empty() {
        objects.extend(refused);
    }
    if objects.is_empty() { objects } else { objects.into_iter().chain(used).collect() }
}

/// Reader of the objects of a release.
struct CarriedReader<'r, 'v> {
    resource: &'r ResourceInstance<'v>,
    chart: &'r str,
}

impl CarriedReader<'_, '_> {
    /// Reads the objects of a chart and of the charts within it. `path` is the path of the values, with a dot at its end.
    fn read(&self, values: &DraftPart, path: &str, is_raw: bool, objects: &mut Vec<DocumentDraft>) {
        let keys: &[&str] = if is_raw { &OF_RAW } else { &OF_OTHERS };
        for DraftMember { key, value, .. } in values.members().unwrap_or_default() {
            let name = format!("{path}{key}");
            if keys.contains(&key.as_ref()) {
                self.list(&value, &name, objects);
            } else if self.chart != RAW && path.matches('.').count() < MAX_CHARTS {
                self.read(&value, &format!("{name}."), key.as_ref() == RAW, objects);
            }
        }
    }

    /// Reads the objects of a list, a map or a text.
    fn list(&self, list: &DraftPart, name: &str, objects: &mut Vec<DocumentDraft>) {
        let items =
            list.items().map(|items| (0..).map(|index| format!("{name}[{index}]")).zip(items).collect());
        let members = || {
            let members = list.members().filter(|_| !is_object(list))?.into_iter();
            Some(members.map(|member| (format!("{name}.{}", member.key), member.value)).collect())
        };
        let all: Option<Vec<(String, DraftPart)>> = items.or_else(members);
        for (name, item) in all.unwrap_or_else(|| vec![(name.to_owned(), list.clone())]) {
            objects.extend(self.object(item, &name));
        }
    }

    /// The object that an item is, or the ones in its text.
    fn object(&self, item: DraftPart, name: &str) -> Vec<DocumentDraft> {
        if is_object(&item) {
            return vec![DocumentDraft::Document(item)];
        }
        let DraftPart::Value(value) = item else { return Vec::new() };
        let Some(text) = text_of(&value) else { return Vec::new() };
        if text.is_placeholder() {
            vec![self.resource.unknown(name, &value)]
        } else if !text.directives().is_empty() || text.as_str().contains("kind") {
            self.resource.documents_in(name, &value)
        } else {
            Vec::new()
        }
    }

    /// Values that are not known, and may hold objects.
    fn unknown(&self, part: DraftPart) -> Vec<DocumentDraft> {
        let DraftPart::Value(value) = part else { return Vec::new() };
        let text = text_of(&value);
        let names_objects = |text: &str| OF_OTHERS.iter().any(|key| text.contains(key));
        if self.chart != RAW && !text.is_some_and(|text| names_objects(text.as_str())) {
            return Vec::new();
        }
        match text.and_then(|text| Some((text, text.directives().first()?.place))) {
            Some((text, at)) => {
                let address = &self.resource.block.address;
                let reason = directives::reason(self.resource, "values", text);
                let unknown = DocumentDraft::Unknown(at, format!("`{address}`, not checked: {reason}"));
                vec![unknown, DocumentDraft::Used(text.clone(), value.place)]
            }
            None => vec![self.resource.unknown("values", &value)],
        }
    }

    /// Whether a parameter sets a part of an object.
    fn is_carried(&self, name: &str) -> bool {
        let parts = || name.split(['.', '[']);
        let is_raw = self.chart == RAW || parts().any(|part| part == RAW);
        parts().any(|part| OF_OTHERS.contains(&part) || (is_raw && OF_RAW.contains(&part)))
    }

    /// The objects that a parameter may change in a way that is not known.
    fn refused(&self, name: &str, at: TextPlace) -> DocumentDraft {
        let address = &self.resource.block.address;
        let reason =
            format!("`{address}`, not checked: what `set` does to its objects at `{name}` is not known");
        DocumentDraft::Unknown(at, reason)
    }
}

/// Whether a value is an object of Kubernetes.
fn is_object(part: &DraftPart) -> bool {
    let has = |key: &str| match part {
        DraftPart::Value(value) => value.get(key).is_some_and(|value: &EvaluatedValue| !value.is_null()),
        part => part.members().is_some_and(|all| all.iter().any(|member| member.key.as_ref() == key)),
    };
    has("apiVersion") && has("kind")
}
