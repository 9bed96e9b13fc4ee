//! Fields of messages: the objects, labels and other details that an entry names.

use std::borrow::Cow;

use manifest::source::certain;
use serde::Deserialize;
use values::cropping::cropped;

use super::mask::masked;
use crate::entry::{Entry, EntryObject, EntryOrigin};
use crate::vocabulary::Detail;

/// Length of a detail in bytes; longer ones are cut.
const MAX_DETAIL: usize = 200;

/// A reference to an object, as log lines have it.
#[derive(Deserialize)]
struct Reference {
    name: String,
    #[serde(default)]
    namespace: String,
}

/// The NodeClaim of an entry.
pub fn nodeclaim<'e>(entry: &'e Entry<'_>) -> Option<Cow<'e, str>> {
    if entry.object.kind == "NodeClaim" && !entry.object.name.is_empty() {
        return Some(Cow::Borrowed(&entry.object.name));
    }
    let named = entry.fields.name("NodeClaim").or_else(|| entry.fields.name("nodeclaim"));
    let reconciled = || entry.fields.text("name").filter(|_| entry.controller.starts_with("nodeclaim"));
    named.or_else(reconciled).filter(|name| !name.is_empty())
}

/// The NodePool of a log line.
pub fn nodepool<'e>(entry: &'e Entry<'_>) -> Option<Cow<'e, str>> {
    entry.fields.name("NodePool").or_else(|| entry.fields.name("nodepool"))
}

/// The Node of a log line.
pub fn node<'e>(entry: &'e Entry<'_>) -> Option<Cow<'e, str>> {
    entry.fields.name("Node").or_else(|| entry.fields.name("node"))
}

/// The pod of an entry, as `namespace/name`.
pub fn pod(entry: &Entry<'_>) -> Option<String> {
    if entry.object.kind == "Pod" && !entry.object.name.is_empty() {
        return Some(qualified(&entry.object.namespace, &entry.object.name));
    }
    let raw = entry.fields.raw("Pod").or_else(|| entry.fields.raw("pod"))?;
    match serde_json::from_str::<Reference>(raw) {
        Ok(pod) => Some(qualified(&pod.namespace, &pod.name)),
        Err(_) => serde_json::from_str(raw).ok(),
    }
}

/// The pod of an event that only pods have, such as `FailedScheduling`. The events of a description may lack the kind and the
/// name; the pod is empty then.
pub fn pod_of_event(entry: &Entry<'_>) -> Option<String> {
    let is_pod = entry.origin == EntryOrigin::Event && matches!(&*entry.object.kind, "Pod" | "");
    is_pod.then(|| qualified(&entry.object.namespace, &entry.object.name))
}

/// `namespace/name`, or the name alone.
pub fn qualified(namespace: &str, name: &str) -> String {
    if namespace.is_empty() { name.to_owned() } else { format!("{namespace}/{name}") }
}

/// The object of an entry: its own, or the most specific one that its fields name.
pub fn subject(entry: &Entry<'_>) -> Option<EntryObject<'static>> {
    let of_field = |kind: &'static str| {
        let raw = entry.fields.raw(kind).filter(|raw| raw.starts_with('{'))?;
        let named: Reference = serde_json::from_str(raw).ok()?;
        Some(EntryObject { kind: kind.into(), namespace: named.namespace.into(), name: named.name.into() })
    };
    if !entry.object.name.is_empty() {
        return Some(entry.object.clone().into_owned());
    }
    ["Pod", "NodeClaim", "NodePool", "EC2NodeClass", "Node"].into_iter().find_map(of_field)
}

/// The restricted labels and domains in an error of the API server, each once.
///
/// `spec.requirements[3].key: Invalid value: "string": label domain "kubernetes.io" is restricted`. Source: the CEL rules in
/// `pkg/apis/crds/karpenter.sh_nodeclaims.yaml` of the provider at v1.0.0 and v1.14.0.
pub fn restricted_labels(error: &str) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    for start in ["label domain \"", "label \""] {
        for (at, _) in error.match_indices(start) {
            let rest = certain(error.get(at + start.len()..));
            let Some((label, rest)) = rest.split_once('"') else { continue };
            if rest.starts_with(" is restricted") && !labels.iter().any(|known| known == label) {
                labels.push(label.to_owned());
            }
        }
    }
    labels
}

/// The details of an entry; a single empty one if it names none.
pub fn details(detail: Detail, entry: &Entry<'_>) -> Vec<String> {
    let mut found = named(detail, entry);
    found.retain(|text| !text.is_empty());
    for text in &mut found {
        *text = cropped(text, MAX_DETAIL).into_owned();
    }
    found.sort_unstable();
    found.dedup();
    if found.is_empty() { vec![String::new()] } else { found }
}

fn named(detail: Detail, entry: &Entry<'_>) -> Vec<String> {
    match detail {
        Detail::None => Vec::new(),
        Detail::Field(key) => {
            let value = entry.fields.name(key).or_else(|| entry.fields.text(key));
            value.map(Cow::into_owned).into_iter().collect()
        }
        Detail::Between(from, to) => {
            let text = [&entry.error, &entry.message].into_iter().find(|text| text.contains(from));
            let text = text.or((entry.origin == EntryOrigin::Log).then_some(&entry.text));
            text.map_or_else(Vec::new, |text| between(text, from, to))
        }
        Detail::Object => vec![entry.object.name.clone().into_owned()],
        Detail::Message => vec![masked(&entry.message, &[])],
        Detail::First(details) => {
            let mut found = details.iter().map(|detail| named(*detail, entry));
            found.find(|found| !found.is_empty()).unwrap_or_default()
        }
    }
}

/// Each text between two pieces, at most fifty.
fn between(text: &str, from: &str, to: &str) -> Vec<String> {
    let after = text.split(from).skip(1).take(50);
    let piece = after
        .map(|rest| if to.is_empty() { rest } else { rest.split_once(to).map_or(rest, |(value, _)| value) });
    let bare = |piece: &str| {
        let piece = piece.trim().trim_end_matches('\\');
        piece.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(piece).to_owned()
    };
    piece.map(bare).collect()
}
