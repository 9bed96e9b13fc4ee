//! `helm_release` of Karpenter's charts, and of charts that carry objects of others.

use std::sync::Arc;

use karpenter::chart::name_of;
use terraform::{
    EvaluatedBlock, EvaluatedMember, EvaluatedText, EvaluatedValue, NestedBlock, TextPlace, decode_yaml,
};

use super::{ResourceInstance, carried, encoded_object};
use crate::draft::{DocumentDraft, DraftMember, DraftPart};

/// `helm_release`, as in Terraform's JSON syntax, but with `values` as one object, and with each `set` as an item of one list. What is not
/// known of the values is in the list `unevaluated`.
///
/// Source: docs/resources/release.md of hashicorp/terraform-provider-helm at v2.17.0 and v3.0.2, where `set` is a block or a list of
/// objects. `getValues` in `helm/resource_release.go` merges the values in their order, then `set_list`, `set` and `set_sensitive`.
pub(super) fn helm_release(resource: &ResourceInstance<'_>) -> Vec<DocumentDraft> {
    let body = &resource.block.body;
    let attributes = body.attributes.iter().map(|one| (one.name.as_str(), one.key, &one.value)).collect();
    let label = resource.block.labels.get(1).map_or("", String::as_str);
    release(&ReleaseArguments {
        resource,
        label,
        at: resource.block.place,
        attributes,
        blocks: &body.blocks,
        default_chart: None,
        others: None,
    })
}

/// The release that a module makes of its arguments: `aws-ia/eks-blueprints-addon/aws`, and `karpenter` of
/// `aws-ia/eks-blueprints-addons/aws`, which adds the name of the cluster, the queue and others.
///
/// Source: `helm_release.this` in main.tf of aws-ia/terraform-aws-eks-blueprints-addon at v1.1.1, and `module.karpenter` in main.tf of
/// aws-ia/terraform-aws-eks-blueprints-addons at v1.9.2.
pub(super) fn of_module(module: &ResourceInstance<'_>, source: &str) -> Vec<DocumentDraft> {
    let label = module.block.labels.first().map_or("", String::as_str);
    let (at, body) = (module.block.place, &module.block.body);
    let named = |name: &'static str| if name == "chart_version" { "version" } else { name };
    let is_argument = |name: &str| MODULE_ARGUMENTS.iter().copied().find(|known| *known == name);
    if source.contains("aws-ia/eks-blueprints-addon/aws") {
        let attributes = body.attributes.iter();
        let attributes = attributes
            .filter_map(|one| Some((named(is_argument(&one.name)?), one.key, &one.value)))
            .collect();
        return release(&ReleaseArguments {
            resource: module,
            label,
            at,
            attributes,
            blocks: &[],
            default_chart: None,
            others: None,
        });
    }
    let is_on = module.attribute("enable_karpenter").and_then(EvaluatedValue::as_bool) == Some(true);
    let karpenter = module.attribute("karpenter").filter(|_| is_on).and_then(EvaluatedValue::members);
    let Some(members) = karpenter.filter(|_| source.contains("aws-ia/eks-blueprints-addons/aws")) else {
        return Vec::new();
    };
    let members = members.as_map().iter();
    let attributes = members
        .filter_map(|(name, member)| Some((named(is_argument(name)?), member.key, &member.value)))
        .collect();
    let others = Some(DraftPart::word(format!("${{module.{label}}}"), at));
    release(&ReleaseArguments {
        resource: module,
        label,
        at,
        attributes,
        blocks: &[],
        default_chart: Some("karpenter"),
        others,
    })
}

/// The objects of another chart whose name says that it has NodePools or EC2NodeClasses: a plan does not show them.
pub(super) fn hidden_objects(block: &EvaluatedBlock) -> Option<DocumentDraft> {
    let chart = block
        .body
        .get("chart")
        .filter(|_| block.labels.first().is_some_and(|kind| kind == "helm_release"))?;
    let chart = chart.as_str()?;
    let name = chart.to_ascii_lowercase().replace(['-', '_'], "");
    let is_about_nodes = NODE_CHARTS.iter().any(|word| name.contains(word))
        && !matches!(name_of(chart), "karpenter" | "karpenter-crd");
    let reason =
        format!("`{}`, not checked: a plan does not show the objects of its chart `{chart}`", block.address);
    is_about_nodes.then_some(DocumentDraft::Unknown(block.place, reason))
}

/// Words in the name of a chart with NodePools or EC2NodeClasses.
const NODE_CHARTS: [&str; 3] = ["karpenter", "nodepool", "nodeclass"];

/// Arguments of a release in a module.
const MODULE_ARGUMENTS: [&str; 7] =
    ["chart", "chart_version", "namespace", "repository", "set", "set_sensitive", "values"];

/// The facts of a block about a release.
struct ReleaseArguments<'v> {
    /// The block.
    resource: &'v ResourceInstance<'v>,
    label: &'v str,
    at: TextPlace,
    /// The attributes with the names of a `helm_release`, and the places of their names.
    attributes: Vec<(&'v str, TextPlace, &'v EvaluatedValue)>,
    blocks: &'v [NestedBlock],
    default_chart: Option<&'static str>,
    /// Values that come from elsewhere.
    others: Option<DraftPart>,
}

impl<'v> ReleaseArguments<'v> {
    fn get(&self, name: &str) -> Option<(TextPlace, &'v EvaluatedValue)> {
        let mut named = self.attributes.iter().filter(|(known, _, value)| *known == name && !value.is_null());
        named.next().map(|(_, key, value)| (*key, *value))
    }

    fn member(&self, name: &str) -> Option<DraftMember> {
        let (key, value) = self.get(name)?;
        Some(DraftMember::new(name, key, DraftPart::Value(value.clone())))
    }
}

fn release(arguments: &ReleaseArguments<'_>) -> Vec<DocumentDraft> {
    let known = |name: &str| arguments.get(name).and_then(|(_, value)| value.as_str());
    let chart = known("chart").or(arguments.default_chart).unwrap_or_default();
    let unknown =
        arguments.get("chart").filter(|_| chart.is_empty() && arguments.label.contains("karpenter"));
    if let Some((_, value)) = unknown.filter(|_| !arguments.resource.is_compared) {
        return vec![arguments.resource.unknown("chart", value)];
    }
    match name_of(chart) {
        "karpenter" => {}
        // Without a version, only its removal matters.
        "karpenter-crd" if arguments.resource.is_compared || known("version").is_some() => {}
        name => return carried::objects(arguments.resource, name, ReleaseValues::with_parameters(arguments)),
    }
    let at = arguments.at;
    let mut members: Vec<DraftMember> = ["chart", "repository", "version", "namespace"]
        .iter()
        .filter_map(|name| arguments.member(name))
        .collect();
    if let Some(chart) = arguments.default_chart.filter(|_| arguments.get("chart").is_none()) {
        members.push(DraftMember::new("chart", at, DraftPart::word(chart, at)));
    }
    let ReleaseValues { values, parameters, mut unevaluated, used, .. } =
        ReleaseValues::with_parameters(arguments);
    members.extend(values.map(|(key, values)| DraftMember::new("values", key, values)));
    unevaluated.extend(arguments.others.clone());
    for (name, list) in [("set", parameters), ("unevaluated", unevaluated)] {
        if !list.is_empty() {
            members.push(DraftMember::new(name, at, DraftPart::List(list, at)));
        }
    }
    let document = [arguments.label, "helm_release", "resource"]
        .iter()
        .fold(DraftPart::object(members, at), |inner, key| {
            DraftPart::object([DraftMember::new(key, at, inner)], at)
        });
    [DocumentDraft::Document(document)].into_iter().chain(used).collect()
}

/// The values of a release.
#[derive(Default)]
pub(super) struct ReleaseValues {
    /// The values of all items of `values` together, with the place of the key.
    pub(super) values: Option<(TextPlace, DraftPart)>,
    /// The values that are not known.
    pub(super) unevaluated: Vec<DraftPart>,
    pub(super) parameters: Vec<DraftPart>,
    /// The places of parameters of which only Terraform knows how many there are.
    pub(super) uncounted: Vec<TextPlace>,
    /// The texts of the values.
    pub(super) used: Vec<DocumentDraft>,
}

impl ReleaseValues {
    fn with_parameters(arguments: &ReleaseArguments<'_>) -> Self {
        let mut values = Self::default();
        values.read(arguments);
        for name in ["set_list", "set", "set_sensitive"] {
            values.parameters.extend(parameters(name, arguments));
            values.uncounted.extend(uncounted(name, arguments));
        }
        values
    }

    /// Reads `values`, a list of texts in YAML.
    fn read(&mut self, arguments: &ReleaseArguments<'_>) {
        let Some((key, values)) = arguments.get("values") else { return };
        // A list may have further items than the known ones.
        let known = values.as_unknown().and_then(|unknown| unknown.text.known_items());
        if values.items().is_none() {
            self.unevaluated.push(DraftPart::Value(values.clone()));
        }
        let items = values.items().or(known).unwrap_or_default();
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
                    self.values = Some((key, all));
                    self.used.push(DocumentDraft::Used(text.clone(), item.place));
                }
                None => self.unevaluated.push(DraftPart::Value(item.clone())),
            }
        }
    }
}

/// The values in a text of YAML.
fn decoded(text: &EvaluatedText, used: TextPlace) -> Option<EvaluatedValue> {
    let null = || text.encoded().filter(|value| value.is_null()).cloned();
    let value = encoded_object(text).cloned().or_else(null).or_else(|| decode_yaml(text, used))?;
    (value.is_null() || value.members().is_some()).then_some(value)
}

/// The places of single settings of which only Terraform knows how many there are.
fn uncounted<'a>(name: &'a str, arguments: &'a ReleaseArguments<'_>) -> impl Iterator<Item = TextPlace> + 'a {
    let blocks = arguments.blocks.iter().filter(move |block| block.kind == name && !block.is_counted);
    let list = arguments.get(name).filter(|(_, value)| value.items().is_none() && value.members().is_none());
    blocks.map(|block| block.place).chain(list.map(|(key, _)| key))
}

/// The values that single settings give: blocks, or a list of objects. The values of `set_sensitive` are placeholders.
fn parameters(name: &str, arguments: &ReleaseArguments<'_>) -> Vec<DraftPart> {
    let is_compared = arguments.resource.is_compared;
    let shown = |member: &str, value: &EvaluatedValue| {
        let is_hidden = name == "set_sensitive" && member == "value";
        DraftPart::Value(if is_hidden { value.hidden(is_compared) } else { value.clone() })
    };
    let in_blocks = arguments.blocks.iter().filter(|block| block.kind == name);
    let of_block = in_blocks.map(|block| {
        let attributes = block.body.attributes.iter();
        let members = attributes.map(|attribute| {
            DraftMember::new(&attribute.name, attribute.key, shown(&attribute.name, &attribute.value))
        });
        DraftPart::object(members, block.place)
    });
    // In JSON, a list of objects is blocks, too.
    let has_blocks = arguments.blocks.iter().any(|block| block.kind == name);
    let in_list = arguments.get(name).filter(|_| !has_blocks).and_then(|(_, value)| value.items());
    let in_list = in_list.unwrap_or_default();
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
