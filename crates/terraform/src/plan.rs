//! Plans and states, as `terraform show -json` prints them. A resource that Terraform deletes is not on the side after the plan. One that
//! Terraform only drops from its state, with the action `forget`, is there as it was.
//!
//! Source: "JSON Output Format" in the internals of the documentation of Terraform, format versions 1.0 to 1.2; recorded output of Terraform
//! 1.11.4 is in `tests/recorded/plan`; `actionString` in internal/command/jsonplan/plan.go of hashicorp/terraform.
//! "removed" in the reference of the configuration language: with `destroy = false`, the object stays.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use manifest::source::{Source, Span};
use manifest::tree::{Node, Tree, Value};

use crate::configuration::{
    BlockBody, EvaluatedAttribute, EvaluatedBlock, EvaluatedConfiguration, NestedBlock,
};
use crate::eval::json_string;
use crate::functions::decode_json;
use crate::instance::InstanceKey;
use crate::number::Number;
use crate::place::{TextNumber, TextPlace, Texts};
use crate::text::EvaluatedText;
use crate::types::Type;
use crate::value::{EvaluatedMember, EvaluatedMembers, EvaluatedValue};

/// Side of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlannedSide {
    /// The values before the plan is applied.
    Before,
    /// The values after the plan is applied. A state has no others.
    After,
}

/// Whether a document is a plan or a state of Terraform.
pub fn is_plan(tree: &Tree) -> bool {
    let root = tree.root();
    let has = |key: &str| root.get(key).is_some();
    root.str_at(&["format_version"]).is_some()
        && root.str_at(&["terraform_version"]).is_some()
        && (has("resource_changes")
            || has("planned_values")
            || root.at_path(&["values", "root_module"]).is_some())
}

impl EvaluatedConfiguration {
    /// The resources of a plan or a state. Each block has the place of its address, and each value its place in the file. A value that
    /// Terraform knows only later, or that it calls sensitive, is a placeholder.
    pub fn of_plan(tree: &Tree, source: &Arc<Source>, side: PlannedSide) -> Self {
        let mut texts = Texts::default();
        let text = TextNumber::default();
        texts.insert(text, source);
        let mut plan = PlanReader { source, text, blocks: Vec::new() };
        let root = tree.root();
        match root.get("resource_changes") {
            Some(changes) => changes.children().for_each(|change| plan.add_change(change, side)),
            None if side == PlannedSide::After => {
                let values = root.get("values").or_else(|| root.get("planned_values"));
                values
                    .and_then(|values| values.get("root_module"))
                    .into_iter()
                    .for_each(|root| plan.add_module(root));
            }
            None => {}
        }
        Self { blocks: plan.blocks, absent: Vec::new(), problems: Vec::new(), texts }
    }
}

/// The resources of a plan so far.
struct PlanReader<'p> {
    source: &'p Source,
    text: TextNumber,
    blocks: Vec<EvaluatedBlock>,
}

/// A value of a plan, and what the plan says about it.
#[derive(Clone, Copy)]
struct Planned<'p> {
    value: Option<Node<'p>>,
    /// Whether the value is known only later, in the shape of the value.
    unknown: Option<Node<'p>>,
    /// Whether the value is sensitive, in the shape of the value.
    sensitive: Option<Node<'p>>,
}

impl<'p> Planned<'p> {
    /// The members of an object, including members that are known only later.
    fn members(self) -> Vec<(&'p str, Self)> {
        let members = |node: Option<Node<'p>>| -> BTreeMap<&'p str, Node<'p>> {
            let members = node.filter(|node| node.is_mapping()).into_iter().flat_map(Node::children);
            members.map(|member| (member.key(), member)).collect()
        };
        let (value, unknown, sensitive) =
            (members(self.value), members(self.unknown), members(self.sensitive));
        let keys: BTreeSet<&str> = value.keys().chain(unknown.keys()).copied().collect();
        let get = |of: &BTreeMap<&'p str, Node<'p>>, key: &str| of.get(key).copied();
        let member = |key| {
            let member = Self {
                value: get(&value, key),
                unknown: get(&unknown, key),
                sensitive: get(&sensitive, key),
            };
            (key, member)
        };
        keys.into_iter().map(member).collect()
    }

    /// The items of a list.
    fn items(self, list: Node<'p>) -> Vec<Self> {
        let items = |node: Option<Node<'p>>| -> Vec<Node<'p>> {
            node.filter(|node| node.is_sequence()).into_iter().flat_map(Node::children).collect()
        };
        let (unknown, sensitive) = (items(self.unknown), items(self.sensitive));
        let item = |(index, value)| Self {
            value: Some(value),
            unknown: unknown.get(index).copied(),
            sensitive: sensitive.get(index).copied(),
        };
        list.children().enumerate().map(item).collect()
    }
}

fn is_true(node: Option<Node<'_>>) -> bool {
    node.and_then(Node::as_bool) == Some(true)
}

impl PlanReader<'_> {
    fn place(&self, span: Span) -> TextPlace {
        TextPlace::new(self.text, span)
    }

    /// Adds the resource of an item of `resource_changes`.
    fn add_change(&mut self, resource: Node<'_>, side: PlannedSide) {
        let Some(change) = resource.get("change") else { return };
        let actions = change.get("actions").into_iter().flat_map(Node::children).filter_map(Node::as_str);
        let is_kept = actions.eq(["forget"]);
        let (value, unknown, sensitive) = match side {
            PlannedSide::After if is_kept => ("before", None, "before_sensitive"),
            PlannedSide::Before => ("before", None, "before_sensitive"),
            PlannedSide::After => ("after", change.get("after_unknown"), "after_sensitive"),
        };
        let sensitive = change.get(sensitive);
        let planned =
            Planned { value: change.get(value).filter(|value| value.is_mapping()), unknown, sensitive };
        if planned.value.is_some() || planned.unknown.is_some_and(|unknown| !unknown.is_empty()) {
            self.add(resource, resource.str_at(&["module_address"]), planned);
        }
    }

    /// Adds the resources of a module, and of the modules that it calls.
    fn add_module(&mut self, module: Node<'_>) {
        for resource in module.get("resources").into_iter().flat_map(Node::children) {
            let value = resource.get("values").filter(|values| values.is_mapping());
            let planned = Planned { value, unknown: None, sensitive: resource.get("sensitive_values") };
            if value.is_some() {
                self.add(resource, module.str_at(&["address"]), planned);
            }
        }
        for child in module.get("child_modules").into_iter().flat_map(Node::children) {
            self.add_module(child);
        }
    }

    fn add(&mut self, resource: Node<'_>, module: Option<&str>, planned: Planned<'_>) {
        let Some(address) = resource.get("address") else { return };
        let (name, place) = (address.as_str().unwrap_or_default(), self.place(address.span()));
        let attribute = |(key, member): (&str, Planned<'_>)| {
            let at = member.value.map_or(place, |node| self.place(node.key_span()));
            let value = self.value(member, &format!("{name}.{key}"), place);
            EvaluatedAttribute { name: key.to_owned(), key: at, value }
        };
        let attributes: Vec<EvaluatedAttribute> = planned.members().into_iter().map(attribute).collect();
        let key = match resource.get("index").map(Node::value) {
            None | Some(Value::Null) => InstanceKey::Single,
            Some(Value::Int(index)) => {
                usize::try_from(index).map_or(InstanceKey::Unknown, InstanceKey::Index)
            }
            Some(Value::String(key)) => InstanceKey::Name(key.into()),
            Some(_) => InstanceKey::Unknown,
        };
        self.blocks.push(EvaluatedBlock {
            address: name.to_owned(),
            module: module.map_or(String::new(), |module| format!("{module}.")),
            kind: if resource.str_at(&["mode"]) == Some("data") { "data" } else { "resource" }.to_owned(),
            labels: labels(resource),
            key,
            existence: None,
            place,
            body: BlockBody { blocks: blocks(&attributes), attributes },
        });
    }

    /// A value. `name` is the name of a placeholder, and `place` the place of a value that the plan leaves out.
    fn value(&self, planned: Planned<'_>, name: &str, place: TextPlace) -> EvaluatedValue {
        let place = planned.value.map_or(place, |node| self.place(node.span()));
        if is_true(planned.sensitive) {
            return EvaluatedValue::unknown(Type::Dynamic, "sensitive", place);
        }
        if is_true(planned.unknown) {
            return EvaluatedValue::unknown(Type::Dynamic, name, place);
        }
        let value = planned.value.map_or(Value::Mapping, Node::value);
        match (value, planned.value) {
            (Value::Null, _) => EvaluatedValue::null(Type::Dynamic, place),
            (Value::Bool(value), _) => EvaluatedValue::bool(value, place),
            (Value::Int(_) | Value::Float(_), Some(node)) => match Number::parse(node.spelling()) {
                Some(number) => EvaluatedValue::number(number, place),
                None => EvaluatedValue::unknown(Type::Number, name, place),
            },
            (Value::String(_), _) => {
                let text = json_string(self.source, place);
                // A provider writes an object as JSON, such as a policy.
                let is_object = text.as_str().trim_start().starts_with('{');
                let object = is_object.then(|| decode_json(&text, place).ok().flatten()).flatten();
                EvaluatedValue::text(object.into_iter().fold(text, EvaluatedText::with_encoded), place)
            }
            (Value::Sequence, Some(list)) => {
                let items = planned.items(list).into_iter().enumerate();
                let items = items.map(|(index, item)| self.value(item, &format!("{name}[{index}]"), place));
                EvaluatedValue::tuple(items.collect::<Vec<_>>(), place)
            }
            (Value::Mapping | Value::Sequence | Value::Int(_) | Value::Float(_), _) => {
                let member = |(key, member): (&str, Planned<'_>)| {
                    let at = member.value.map_or(place, |node| self.place(node.key_span()));
                    let value = self.value(member, &format!("{name}.{key}"), place);
                    (Arc::from(key), EvaluatedMember { key: at, value })
                };
                EvaluatedValue::object(planned.members().into_iter().map(member).collect::<Vec<_>>(), place)
            }
        }
    }
}

/// The type and the name of a resource.
fn labels(resource: Node<'_>) -> Vec<String> {
    ["type", "name"].iter().filter_map(|key| Some(resource.str_at(&[key])?.to_owned())).collect()
}

/// The blocks that attributes may be. A plan has a block as an item of a list.
fn blocks(attributes: &[EvaluatedAttribute]) -> Vec<NestedBlock> {
    let mut found = Vec::new();
    for EvaluatedAttribute { name, value, .. } in attributes {
        let items = value.items().unwrap_or(core::slice::from_ref(value));
        for item in items.iter().filter(|item| item.members().is_some()) {
            found.push(block(name, item));
        }
    }
    found
}

fn block(kind: &str, value: &EvaluatedValue) -> NestedBlock {
    let members = value.members().into_iter().flat_map(EvaluatedMembers::as_map);
    let attribute = |(name, member): (&Arc<str>, &EvaluatedMember)| EvaluatedAttribute {
        name: name.to_string(),
        key: member.key,
        value: member.value.clone(),
    };
    let attributes: Vec<EvaluatedAttribute> = members.map(attribute).collect();
    NestedBlock {
        kind: kind.to_owned(),
        labels: Vec::new(),
        place: value.place,
        is_counted: true,
        body: BlockBody { blocks: blocks(&attributes), attributes },
    }
}
