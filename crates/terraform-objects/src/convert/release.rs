//! `helm_release` of Karpenter's charts.

use std::sync::Arc;

use terraform::{BlockBody, EvaluatedMember, EvaluatedText, EvaluatedValue, TextPlace, decode_yaml};

use super::ResourceInstance;
use crate::draft::{DocumentDraft, DraftMember, DraftPart};

/// `helm_release`, as in Terraform's JSON syntax, but with `values` as one object, and with each `set` as an item of one list. What is not
/// known of the values is in the list `unevaluated`.
///
/// Source: docs/resources/release.md of hashicorp/terraform-provider-helm at v2.17.0 and v3.0.2, where `set` is a block or a list of
/// objects. `getValues` in `helm/resource_release.go` merges the values in their order, then `set_list`, `set` and `set_sensitive`.
pub(super) fn helm_release(resource: &ResourceInstance<'_>) -> Vec<DocumentDraft> {
    let chart = resource.attribute("chart").and_then(EvaluatedValue::as_str).unwrap_or_default();
    let is_pin = resource.attribute("version").is_some_and(|version| version.as_str().is_some());
    match chart.rsplit('/').next() {
        Some("karpenter") => {}
        Some("karpenter-crd") if is_pin => {}
        _ => return Vec::new(),
    }
    let at = resource.block.place;
    let mut members: Vec<DraftMember> = ["chart", "repository", "version", "namespace"]
        .iter()
        .filter_map(|name| resource.member(name))
        .collect();
    let mut values = ReleaseValues::default();
    values.read(resource);
    members.extend(values.values.map(|(key, values)| DraftMember::new("values", key, values)));
    for name in ["set_list", "set", "set_sensitive"] {
        values.parameters.extend(parameters(name, &resource.block.body));
    }
    let ReleaseValues { parameters, unevaluated, used, .. } = values;
    for (name, list) in [("set", parameters), ("unevaluated", unevaluated)] {
        if !list.is_empty() {
            members.push(DraftMember::new(name, at, DraftPart::List(list, at)));
        }
    }
    let label = resource.block.labels.get(1).map_or("", String::as_str);
    let document =
        [label, "helm_release", "resource"].iter().fold(DraftPart::object(members, at), |inner, key| {
            DraftPart::object([DraftMember::new(key, at, inner)], at)
        });
    [DocumentDraft::Document(document)].into_iter().chain(used).collect()
}

/// The values of a release.
#[derive(Default)]
struct ReleaseValues {
    /// The values of all items of `values` together, with the place of the key.
    values: Option<(TextPlace, DraftPart)>,
    /// The values that are not known.
    unevaluated: Vec<DraftPart>,
    parameters: Vec<DraftPart>,
    /// The texts of the values.
    used: Vec<DocumentDraft>,
}

impl ReleaseValues {
    /// Reads `values`, a list of texts in YAML.
    fn read(&mut self, resource: &ResourceInstance<'_>) {
        let Some(attribute) = resource.named("values") else { return };
        let Some(items) = attribute.value.items() else {
            self.unevaluated.push(DraftPart::Value(attribute.value.clone()));
            return;
        };
        for item in items.iter().filter(|item| !item.is_null()) {
            let Some(text) = item.as_text().or(item.as_unknown().map(|unknown| &unknown.text)) else {
                continue;
            };
            match decoded(text, item.place) {
                Some(value) if value.is_null() => {}
                Some(value) => {
                    let later = DraftPart::Value(value);
                    let all = match self.values.take() {
                        Some((_, before)) => before.merged(later),
                        None => later,
                    };
                    self.values = Some((attribute.key, all));
                    self.used.push(DocumentDraft::Used(text.clone(), item.place));
                }
                None => self.unevaluated.push(DraftPart::Value(item.clone())),
            }
        }
    }
}

/// The values in a text of YAML.
fn decoded(text: &EvaluatedText, used: TextPlace) -> Option<EvaluatedValue> {
    let value = text.encoded().cloned().or_else(|| decode_yaml(text, used))?;
    (value.is_null() || value.members().is_some()).then_some(value)
}

/// The values that single settings give: blocks, or a list of objects. The values of `set_sensitive` are placeholders.
fn parameters(name: &str, body: &BlockBody) -> Vec<DraftPart> {
    let shown = |member: &str, value: &EvaluatedValue| {
        let is_hidden = name == "set_sensitive" && member == "value";
        DraftPart::Value(if is_hidden { value.hidden() } else { value.clone() })
    };
    let in_blocks = body.blocks.iter().filter(|block| block.kind == name);
    let of_block = in_blocks.map(|block| {
        let attributes = block.body.attributes.iter();
        let members = attributes.map(|attribute| {
            DraftMember::new(&attribute.name, attribute.key, shown(&attribute.name, &attribute.value))
        });
        DraftPart::object(members, block.place)
    });
    // In JSON, a list of objects is blocks, too.
    let has_blocks = body.blocks.iter().any(|block| block.kind == name);
    let in_list = body.get(name).filter(|_| !has_blocks).and_then(EvaluatedValue::items).unwrap_or_default();
    let of_item = in_list.iter().map(|item| match item.members() {
        Some(members) => {
            let member = |(name, member): (&Arc<str>, &EvaluatedMember)| {
                DraftMember::new(name, member.key, shown(name, &member.value))
            };
            DraftPart::object(members.as_map().iter().map(member), item.place)
        }
        None => DraftPart::Value(item.clone()),
    });
    of_block.chain(of_item).collect()
}
