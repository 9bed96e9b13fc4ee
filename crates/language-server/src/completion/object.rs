//! Fields of objects, and values of fields.

use karpenter::api::meaning::meaning;
use karpenter::api::pattern::{DURATION_OR_NEVER, LOOSE_DURATION};
use karpenter::api::served::SERVED_KINDS;
use karpenter::api::stored::DefaultValue;
use karpenter::api::{ALIAS_FAMILIES, FieldSchema, Limit, OWN_KUBELET_FIELD, Schema, SchemaType, content};
use karpenter::instance_types::EXTENDED_RESOURCES;

use super::slots::{SlotPart, WordSource, source_at};
use super::suggestion::{Suggestion, SuggestionKind, ValueShape};
use super::{Question, labels, names};
use crate::outline::{EntryStep, ObjectOutline, OutlinePlace};
use crate::schema::{self, spelled, table_of};

/// The keys of an object of the API, in their order.
const TOP: [(&str, ValueShape); 4] = [
    ("apiVersion", ValueShape::Scalar),
    ("kind", ValueShape::Scalar),
    ("metadata", ValueShape::Object),
    ("spec", ValueShape::Object),
];

/// The kinds beside Karpenter's own that are known to have a `spec`.
const WITH_SPEC: [&str; 14] = [
    "CronJob",
    "DaemonSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "Job",
    "Node",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Pod",
    "PodDisruptionBudget",
    "ReplicaSet",
    "ReplicationController",
    "Service",
    "StatefulSet",
];

/// The keys of `metadata` that people write.
const METADATA: [(&str, ValueShape); 4] = [
    ("name", ValueShape::Scalar),
    ("namespace", ValueShape::Scalar),
    ("labels", ValueShape::Object),
    ("annotations", ValueShape::Object),
];

/// The resources that nodes have and containers request.
const RESOURCES: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];

/// The words of an object.
pub(super) struct ObjectWords<'q> {
    pub(super) question: Question<'q>,
    pub(super) place: &'q OutlinePlace<'q, 'q>,
    pub(super) object: ObjectOutline<'q>,
}

impl ObjectWords<'_> {
    pub(super) fn keys(&self, path: &[EntryStep<'_>]) -> Vec<Suggestion> {
        let named = |all: &[(&'static str, ValueShape)]| -> Vec<Suggestion> {
            let all = all.iter().enumerate();
            all.map(|(rank, (name, shape))| Suggestion::key(*name, *shape).ranked(rank)).collect()
        };
        match path {
            [] => {
                let mut keys = named(&TOP);
                keys.retain(|key| key.text != "spec" || self.may_have_spec());
                return keys;
            }
            [EntryStep::Key("metadata")] if !self.object.kind.is_empty() => {
                let mut keys = named(&METADATA);
                // Karpenter's own objects belong to no namespace.
                keys.retain(|key| key.text != "namespace" || table_of(self.object).is_none());
                return keys;
            }
            _ => {}
        }
        let place = self.schema_at(path);
        let release = self.question.release;
        if let Some(SchemaType::Object(fields)) = place.map(|place| place.shape) {
            let is_offered =
                |field: &&FieldSchema| field.releases.contains(release) && field.name != OWN_KUBELET_FIELD;
            let own = fields.iter().filter(is_offered);
            let path = spelled(path);
            return own.map(|field| self.field(field, &path)).collect();
        }
        self.slot_words(SlotPart::Keys, path)
    }

    pub(super) fn values(&self, path: &[EntryStep<'_>]) -> Vec<Suggestion> {
        match path {
            [EntryStep::Key("apiVersion")] => return self.api_versions(),
            [EntryStep::Key("kind")] => return self.kinds(),
            _ => {}
        }
        let own = self.slot_words(SlotPart::Value, path);
        if !own.is_empty() {
            return own;
        }
        let table = table_of(self.object);
        let place = table.and_then(|table| schema::at(table, path, self.question.release));
        place.map_or_else(Vec::new, |place| self.schema_values(place.schema, place.field))
    }

    /// Whether a place is in an object of the Kubernetes API, or at the top of a document that may become one.
    pub(super) fn is_object(&self, path: &[EntryStep<'_>]) -> bool {
        let OutlinePlace { outline, text, entry, .. } = *self.place;
        let has = |key| outline.member(text, self.object.root, key).is_some();
        if has("apiVersion") && has("kind") {
            return true;
        }
        let is_known = |key: &str| TOP.iter().any(|(known, _)| *known == key) || key == "status";
        let mut others = outline.children(self.object.root).filter(|(id, _)| Some(*id) != entry);
        others.all(|(_, entry)| entry.key.is_some_and(|key| is_known(key.text(text))))
            && (path.len() <= 1 || has("apiVersion") || has("kind"))
    }

    fn may_have_spec(&self) -> bool {
        let kind = self.object.kind;
        kind.is_empty() || table_of(self.object).is_some() || WITH_SPEC.contains(&kind)
    }

    fn schema_at(&self, path: &[EntryStep<'_>]) -> Option<&'static Schema> {
        let place = schema::at(table_of(self.object)?, path, self.question.release)?;
        Some(place.schema)
    }

    /// A field of the object at a path.
    fn field(&self, field: &'static FieldSchema, holder: &str) -> Suggestion {
        let release = self.question.release;
        let schema = content(field);
        let shape = match schema.shape {
            SchemaType::Object(_) | SchemaType::Map(_) => ValueShape::Object,
            SchemaType::List(Schema { shape: SchemaType::Object(_), .. }) => ValueShape::ObjectList,
            SchemaType::List(_) => ValueShape::List,
            _ => ValueShape::Scalar,
        };
        let required = if field.required { ", required" } else { "" };
        let default = field.default.filter(|(_, releases)| releases.contains(release));
        let default = default.filter(|(value, _)| value.is_scalar());
        let default = default.map(|(value, _)| format!(", default `{value}`"));
        let detail =
            format!("{}{required}{}", schema.shape.name().replace('`', ""), default.unwrap_or_default());
        Suggestion::key(field.name, shape)
            .detail(detail.replace('`', ""))
            .documented(meaning(&format!("{holder}.{}", field.name)).unwrap_or_default())
            .ranked(usize::from(!field.required))
    }

    fn schema_values(&self, schema: &'static Schema, field: Option<&'static FieldSchema>) -> Vec<Suggestion> {
        let release = self.question.release;
        if matches!(schema.shape, SchemaType::Boolean) {
            return Suggestion::booleans();
        }
        let mut values = Vec::new();
        for constraint in schema.constraints.iter().filter(|one| one.releases.contains(release)) {
            match constraint.limit {
                Limit::OneOf(words) => {
                    let own = words.iter().filter(|word| word.releases.contains(release));
                    values.extend(Suggestion::texts(own.map(|word| word.text)));
                }
                Limit::Pattern(pattern)
                    if [DURATION_OR_NEVER, LOOSE_DURATION]
                        .iter()
                        .any(|known| known.expression == pattern.expression) =>
                {
                    values.push(Suggestion::new(SuggestionKind::Text, "Never"));
                }
                _ => {}
            }
        }
        let default =
            field.and_then(|field| field.default).filter(|(_, releases)| releases.contains(release));
        if let Some((value, _)) = default.filter(|(value, _)| value.is_scalar()) {
            let text = value.to_string();
            let known = values.iter_mut().find(|known| known.text == text);
            if let Some(known) = known {
                "the default".clone_into(&mut known.detail);
            } else {
                let is_text = matches!(value, DefaultValue::Text(_));
                let kind = if is_text { SuggestionKind::Text } else { SuggestionKind::Literal };
                values.push(Suggestion::new(kind, text).detail("the default").ranked(0));
            }
        }
        values
    }

    fn api_versions(&self) -> Vec<Suggestion> {
        let kind = self.object.kind;
        let release = self.question.release;
        let served = SERVED_KINDS.iter().filter(|served| served.releases.contains(release));
        let mut seen = Vec::new();
        for served in served.filter(|served| kind.is_empty() || served.kind == kind) {
            let version = format!("{}/{}", served.group, served.version);
            if served.instead.is_none() && !seen.contains(&version) {
                seen.push(version);
            }
        }
        Suggestion::texts(seen)
    }

    fn kinds(&self) -> Vec<Suggestion> {
        let version = self.object.api_version;
        let release = self.question.release;
        let served = SERVED_KINDS.iter().filter(|served| served.releases.contains(release));
        let own = served.filter(|served| match version.split_once('/') {
            Some((group, version)) => served.group == group && served.version == version,
            // A version without a group is of Kubernetes' core.
            None => version.is_empty() && served.instead.is_none(),
        });
        Suggestion::texts(own.map(|served| served.kind))
    }

    fn slot_words(&self, part: SlotPart, path: &[EntryStep<'_>]) -> Vec<Suggestion> {
        let Some(source) = source_at(part, self.object.kind, path) else { return Vec::new() };
        let question = self.question;
        let beside = |steps: usize| self.scalar_beside(path, steps, "key");
        let in_folder = || question.objects();
        let suggestions = match source {
            WordSource::Words(words) => Suggestion::texts(words.iter().copied()),
            WordSource::NodeLabels => labels::keys(question, table_of(self.object)),
            WordSource::ValuesOfKeyBeside => labels::values(question, beside(2)),
            WordSource::ValuesOfKey => match path.last() {
                Some(EntryStep::Key(key)) => labels::values(question, key),
                _ => Vec::new(),
            },
            WordSource::TaintKeys => names::taint_keys(&in_folder()),
            WordSource::TaintValues => names::taint_values(&in_folder(), beside(1)),
            WordSource::NamesOf(kind) => names::of_kind(&in_folder(), kind),
            WordSource::AmiAliases => {
                let families =
                    ALIAS_FAMILIES.iter().filter(|family| family.releases.contains(question.release));
                Suggestion::texts(families.map(|family| format!("{}@latest", family.text)))
            }
            WordSource::NodeResources => {
                Suggestion::texts(RESOURCES.into_iter().chain(["pods"]).chain(EXTENDED_RESOURCES))
            }
            WordSource::ContainerResources => {
                Suggestion::texts(RESOURCES.into_iter().chain(EXTENDED_RESOURCES))
            }
            WordSource::ExtendedResources => Suggestion::texts(EXTENDED_RESOURCES),
        };
        if part == SlotPart::Value {
            return suggestions;
        }
        let key = |one: Suggestion| Suggestion { kind: SuggestionKind::Key(ValueShape::Scalar), ..one };
        suggestions.into_iter().map(key).collect()
    }

    /// The scalar under a key of the object that is some steps above the end of a path.
    fn scalar_beside(&self, path: &[EntryStep<'_>], steps: usize, key: &str) -> &str {
        let OutlinePlace { outline, text, .. } = *self.place;
        let mut holder = self.place.nearest();
        // The path may have one step that is not typed yet.
        let length = outline.path(text, holder, self.object.root).len();
        for _ in 0..steps.saturating_sub(path.len().saturating_sub(length)) {
            holder = holder.and_then(|id| outline.entry(id)?.parent);
        }
        outline.scalar(text, holder, key)
    }
}
