//! Objects that a chart installs as its values have them.

use terraform::{EvaluatedText, EvaluatedValue, TextPlace, Unknown, decode_yaml, to_json};

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
    let mut objects: Vec<DocumentDraft> = Vec::new();
    for part in unevaluated {
        let known = reader.known(&part);
        // Of a text with directives, everything is known that they may write.
        if known.is_empty() || (chart == RAW && !has_directives(&part)) {
            objects.extend(reader.unknown(part));
        }
        objects.extend(known);
    }
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
        for DraftMember { key, value, .. } in members_of(values).unwrap_or_default() {
            let name = format!("{path}{key}");
            if keys.contains(&key.as_ref()) {
                self.list(&value, &name, |_| true, objects);
            } else if !is_raw && has_objects(&value) {
                // Beside the objects may be defaults that the chart merges into them.
                self.list(&value, &name, |item| !is_object(item) || is_whole(item), objects);
            } else if self.chart != RAW && path.matches('.').count() < MAX_CHARTS {
                self.read(&value, &format!("{name}."), key.as_ref() == RAW, objects);
            }
        }
    }

    /// Reads the objects of a list, a map or a text.
    fn list(
        &self,
        list: &DraftPart,
        name: &str,
        is_read: fn(&DraftPart) -> bool,
        objects: &mut Vec<DocumentDraft>,
    ) {
        let items =
            items_of(list).map(|items| (0..).map(|index| format!("{name}[{index}]")).zip(items).collect());
        let members = || {
            let members = members_of(list).filter(|_| !is_object(list))?.into_iter();
            Some(members.map(|member| (format!("{name}.{}", member.key), member.value)).collect())
        };
        let all: Option<Vec<(String, DraftPart)>> = items.or_else(members);
        let is_open = matches!(list, DraftPart::Value(value) if value.as_unknown().is_some_and(is_open));
        if is_open || all.is_none() {
            objects.extend(self.object(list.clone(), name));
        }
        for (name, item) in all.unwrap_or_default().into_iter().filter(|(_, item)| is_read(item)) {
            objects.extend(self.object(item, &name));
        }
    }

    /// The object that an item is, or the ones in its text.
    fn object(&self, item: DraftPart, name: &str) -> Vec<DocumentDraft> {
        if is_object(&item) {
            return vec![if is_part(&item) {
                self.completed(name, &item)
            } else {
                DocumentDraft::Document(item)
            }];
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

    /// The object that a chart makes of a part of one.
    fn completed(&self, name: &str, part: &DraftPart) -> DocumentDraft {
        let address = &self.resource.block.address;
        let reason = format!(
            "`{address}`, not checked: the chart completes the object in `{name}`, which has no `metadata`"
        );
        DocumentDraft::Unknown(part.place(), reason)
    }

    /// The known objects of values of which others are not known: of an object with further members, and of the texts that directives may lead to.
    fn known(&self, part: &DraftPart) -> Vec<DocumentDraft> {
        let DraftPart::Value(value) = part else { return Vec::new() };
        let Some(text) = text_of(value) else { return Vec::new() };
        let read = |values: &EvaluatedValue| {
            let mut objects = Vec::new();
            self.read(&DraftPart::Value(values.clone()), "", self.chart == RAW, &mut objects);
            objects
        };
        if text.directives().is_empty() {
            let mut objects = text.encoded().map(read).unwrap_or_default();
            // Members that are not known are no objects.
            objects.retain(DocumentDraft::is_known);
            return objects;
        }
        let alternatives = text.alternatives(directives::MAX_ALTERNATIVES).unwrap_or_default();
        let decoded = alternatives.iter().map(|one| decode_yaml(&one.text, value.place));
        let Some(decoded) = decoded.collect::<Option<Vec<EvaluatedValue>>>() else { return Vec::new() };
        let all: Vec<Vec<DocumentDraft>> = decoded.iter().map(read).collect();
        let mut objects: Vec<DocumentDraft> = Vec::new();
        for object in all.into_iter().flatten() {
            let DocumentDraft::Document(part) = &object else { return Vec::new() };
            let at = part.place();
            let same = objects
                .iter()
                .find(|known| matches!(known, DocumentDraft::Document(known) if known.place() == at));
            match same {
                None => objects.push(object),
                Some(DocumentDraft::Document(known)) if is_same(known, part) => {}
                // A directive writes a part of the object.
                Some(_) => return Vec::new(),
            }
        }
        if !objects.is_empty() {
            objects.push(DocumentDraft::Used(text.clone(), value.place));
        }
        objects
    }

    /// Values that are not known, and may hold objects.
    fn unknown(&self, part: DraftPart) -> Vec<DocumentDraft> {
        let DraftPart::Value(value) = part else { return Vec::new() };
        let text = text_of(&value);
        let names_objects = |text: &EvaluatedText| {
            text.texts().iter().any(|text| OF_OTHERS.iter().any(|key| text.contains(key)))
        };
        if self.chart != RAW && !text.is_some_and(names_objects) {
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

/// Whether a value has objects of Kubernetes as its items or members, or is one.
fn has_objects(part: &DraftPart) -> bool {
    let items = || items_of(part).unwrap_or_default().iter().any(is_whole);
    let members = || members_of(part).unwrap_or_default().iter().any(|member| is_whole(&member.value));
    is_whole(part) || items() || members()
}

/// Whether a value is an object, or what a chart makes one of: without a name it has defaults for objects that the chart writes.
fn is_whole(part: &DraftPart) -> bool {
    is_object(part) && (is_named(part) || is_part(part))
}

/// Whether an object has a name, or metadata that may have one.
fn is_named(part: &DraftPart) -> bool {
    let metadata = part.members().into_iter().flatten().find(|member| member.key.as_ref() == "metadata");
    metadata.is_some_and(|metadata| match &metadata.value {
        DraftPart::Value(value) if value.as_unknown().is_some() => true,
        metadata => has(metadata, "name"),
    })
}

/// Whether a value is an object of Karpenter without metadata, of which the chart makes another one.
fn is_part(part: &DraftPart) -> bool {
    let version = part.members().into_iter().flatten().find(|member| member.key.as_ref() == "apiVersion");
    let is_karpenter = version.is_some_and(|version| match version.value {
        DraftPart::Value(value) => value.as_str().is_some_and(|text| text.starts_with("karpenter.")),
        _ => false,
    });
    is_karpenter && has(part, "spec") && !has(part, "metadata")
}

/// The members of an object, as far as they are known.
fn members_of(part: &DraftPart) -> Option<Vec<DraftMember>> {
    let DraftPart::Value(value) = part else { return part.members() };
    let Some(unknown) = value.as_unknown() else { return part.members() };
    let known = || {
        let known = unknown.text.known_members()?.as_map().iter();
        Some(
            known
                .map(|(key, one)| DraftMember::new(key, one.key, DraftPart::Value(one.value.clone())))
                .collect(),
        )
    };
    let object = unknown.object().or_else(|| unknown.possible_object());
    object.and_then(|object| DraftPart::Value(object.clone()).members()).or_else(known)
}

/// The items of a list, as far as they are known.
fn items_of(part: &DraftPart) -> Option<Vec<DraftPart>> {
    let DraftPart::Value(value) = part else { return part.items() };
    let Some(unknown) = value.as_unknown() else { return part.items() };
    Some(unknown.text.known_items()?.iter().cloned().map(DraftPart::Value).collect())
}

/// Whether a value is a text with directives that are not resolved.
fn has_directives(part: &DraftPart) -> bool {
    matches!(part, DraftPart::Value(value) if text_of(value).is_some_and(|text| !text.directives().is_empty()))
}

/// Whether a collection that is not known may have further elements than the known ones.
fn is_open(unknown: &Unknown) -> bool {
    unknown.object().is_none() && unknown.possible_object().is_none()
}

/// Whether two objects have the same content.
fn is_same(one: &DraftPart, other: &DraftPart) -> bool {
    match (one, other) {
        (DraftPart::Value(one), DraftPart::Value(other)) => {
            to_json(&one.spelled()) == to_json(&other.spelled())
        }
        _ => false,
    }
}

/// Whether an object has a member that is not null.
fn has(part: &DraftPart, key: &str) -> bool {
    match part {
        DraftPart::Value(value) => value.get(key).is_some_and(|value: &EvaluatedValue| !value.is_null()),
        part => part.members().is_some_and(|all| all.iter().any(|member| member.key.as_ref() == key)),
    }
}

/// Whether a value is an object of Kubernetes.
fn is_object(part: &DraftPart) -> bool {
    has(part, "apiVersion") && has(part, "kind")
}
