//! The API tables along the path of an entry.

use karpenter::api::{FieldSchema, KIND_SCHEMAS, KindSchema, METADATA, Schema, SchemaType, content};
use karpenter::release::{Release, ReleaseSet};

use crate::outline::{EntryStep, ObjectOutline};

/// A place in the schema of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SchemaPlace {
    /// The schema of the value.
    pub(crate) schema: &'static Schema,
    /// The field, unless the place is an item of a list or a value of a map.
    pub(crate) field: Option<&'static FieldSchema>,
    /// The fields of the object that has the field.
    beside: &'static [FieldSchema],
}

impl SchemaPlace {
    fn of(field: &'static FieldSchema, beside: &'static [FieldSchema]) -> Self {
        Self { schema: content(field), field: Some(field), beside }
    }

    /// The releases that have the field, also those with another schema.
    pub(crate) fn releases(&self) -> ReleaseSet {
        let name = self.field.map(|field| field.name);
        let named = self.beside.iter().filter(|field| Some(field.name) == name);
        named.fold(ReleaseSet::none(), |all, field| all.or(field.releases))
    }
}

/// The table of the kind of an object, if the version has one.
pub(crate) fn table_of(object: ObjectOutline<'_>) -> Option<&'static KindSchema> {
    let (group, version) = object.api_version.split_once('/')?;
    KIND_SCHEMAS.into_iter().find(|table| table.kind.is(group, version, object.kind))
}

/// The schema at a path of an object. A field that the release lacks is found if another release has it.
pub(crate) fn at(
    table: &'static KindSchema,
    path: &[EntryStep<'_>],
    release: Release,
) -> Option<SchemaPlace> {
    let (first, rest) = path.split_first()?;
    let top = match first {
        EntryStep::Key("spec") => &table.spec,
        EntryStep::Key("metadata") => {
            let (EntryStep::Key(name), rest) = rest.split_first()? else { return None };
            let field = METADATA.iter().find(|field| field.name == *name)?;
            return below(SchemaPlace::of(field, METADATA), rest, release);
        }
        _ => return None,
    };
    below(SchemaPlace::of(top, std::slice::from_ref(top)), rest, release)
}

fn below(start: SchemaPlace, path: &[EntryStep<'_>], release: Release) -> Option<SchemaPlace> {
    path.iter().try_fold(start, |place, step| match (place.schema.shape, step) {
        (SchemaType::Object(fields), EntryStep::Key(name)) => {
            let mut named = fields.iter().filter(|field| field.name == *name);
            let own = named.clone().find(|field| field.releases.contains(release));
            let field = own.or_else(|| named.next())?;
            Some(SchemaPlace::of(field, fields))
        }
        (SchemaType::Map(schema), EntryStep::Key(_)) | (SchemaType::List(schema), EntryStep::Item(_)) => {
            Some(SchemaPlace { schema, field: None, beside: &[] })
        }
        _ => None,
    })
}

/// A path as the tables spell it: `spec.taints[].key`.
pub(crate) fn spelled(path: &[EntryStep<'_>]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            EntryStep::Key(key) if text.is_empty() => text += key,
            EntryStep::Key(key) => {
                text.push('.');
                text += key;
            }
            EntryStep::Item(_) => text += "[]",
        }
    }
    text
}

/// Whether a path ends with a pattern, such as `requirements[].key`; `*` is any key.
pub(crate) fn ends_with(path: &[EntryStep<'_>], pattern: &str) -> bool {
    let mut steps = path.iter().rev();
    pattern.rsplit('.').all(|word| {
        let (name, is_item) = word.strip_suffix("[]").map_or((word, false), |name| (name, true));
        (!is_item || matches!(steps.next(), Some(EntryStep::Item(_))))
            && matches!(steps.next(), Some(EntryStep::Key(key)) if name == "*" || *key == name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: EntryStep<'static> = EntryStep::Key("key");

    #[test]
    fn compares_the_end_of_a_path_by_steps() {
        let path = [EntryStep::Key("spec"), EntryStep::Key("requirements"), EntryStep::Item(3), KEY];
        for pattern in ["key", "requirements[].key", "spec.requirements[].key", "*[].*"] {
            assert!(ends_with(&path, pattern), "{pattern}");
        }
        for pattern in
            ["requirements.key", "requirements[]", "a.spec.requirements[].key", "requirements[].*.key"]
        {
            assert!(!ends_with(&path, pattern), "{pattern}");
        }
        assert_eq!(spelled(&path), "spec.requirements[].key");
    }

    #[test]
    fn finds_the_field_of_the_release() {
        let object = ObjectOutline { root: None, api_version: "karpenter.k8s.aws/v1", kind: "EC2NodeClass" };
        let path = [EntryStep::Key("spec"), EntryStep::Key("kubelet"), EntryStep::Key("maxPods")];
        let table = table_of(object).unwrap();
        let in_release = |release| at(table, &path, Release::parse(release).unwrap());
        assert!(in_release("1.14").unwrap().field.is_some());
        assert!(in_release("1.15").unwrap().field.is_some(), "the schema of the controller");
        let later = [EntryStep::Key("spec"), EntryStep::Key("ipPrefixCount")];
        assert!(at(table, &later, Release::parse("1.0").unwrap()).is_some());
        assert!(at(table, &[EntryStep::Key("status")], Release::NEWEST).is_none());
    }
}
