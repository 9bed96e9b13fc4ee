//! Documents after the changes that helps ask for, as JSON.

use answers::report::ReportedFinding;
use manifest::Document;
use manifest::tree::Node;
use serde_json::{Map, Value, json};

use super::super::testing::chosen;
use super::wording::Instruction;
use super::{elsewhere, is_step};

/// The place of a finding in its document.
pub(super) struct Site {
    /// The JSON pointer of the value; of a missing field too.
    pub(super) pointer: String,
    is_missing: bool,
    /// Whether the finding is about the value or a value around it, and not about a missing member of the same mapping.
    is_own: bool,
}

impl Site {
    fn of(node: Node<'_>, finding: &ReportedFinding) -> Self {
        let mut steps = Vec::new();
        for node in core::iter::successors(Some(node), |node| node.parent()) {
            if let Some(parent) = node.parent() {
                let is_member = parent.is_mapping();
                steps.push(if is_member { escaped(node.key()) } else { node.index().to_string() });
            }
        }
        let depth = steps.len();
        // The report can mark the whole object for a member with dots in its key.
        let mut members = node.children().filter(|member| node.is_mapping() && member.key().contains('.'));
        if let Some(member) = members.find(|member| finding.path.ends_with(member.key())) {
            steps.insert(0, escaped(member.key()));
        }
        let last = finding.path.rsplit('.').next().unwrap_or_default();
        let is_missing = steps.len() == depth
            && node.is_mapping()
            && node.parent().is_some()
            && node.key() != last
            && !last.ends_with(']');
        if is_missing {
            steps.insert(0, escaped(last));
        }
        let pointer = steps.iter().rev().flat_map(|step| ["/", step.as_str()]).collect();
        let mut around = core::iter::successors(Some(node), |node| node.parent());
        let is_own = around.any(|node| {
            is_step(node, last) || (!node.key().is_empty() && finding.path.ends_with(node.key()))
        });
        Self { pointer, is_missing, is_own }
    }

    /// The pointer and the pointers of the values around it, from the inside out.
    pub(super) fn around(&self) -> impl Iterator<Item = &str> {
        core::iter::successors(Some(self.pointer.as_str()), |pointer| Some(pointer.rsplit_once('/')?.0))
    }
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn unescaped(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

/// A value as YAML reads it.
pub(super) fn parsed(text: &str) -> Option<Value> {
    match chosen("-", text).documents.first()? {
        Document::Read(tree) => Some(tree.root().to_json()),
        _ => None,
    }
}

/// The documents of a text as JSON; `None` if one is not YAML.
fn documents(text: &str) -> Option<Vec<Value>> {
    let file = chosen("-", text);
    let values = file.documents.iter().map(|document| match document {
        Document::Read(tree) => Some(tree.root().to_json()),
        _ => None,
    });
    values.collect()
}

fn joined(documents: &[Value]) -> String {
    documents.iter().map(Value::to_string).collect::<Vec<_>>().join("\n---\n")
}

/// The example as JSON before and after a change; `None` if the change does not apply to the place of the finding.
pub(super) fn changed(
    example: &str,
    finding: &ReportedFinding,
    node: Node<'_>,
    instruction: &Instruction<'_>,
) -> Option<(String, String)> {
    let mut all = documents(example)?;
    let before = joined(&all);
    let site = Site::of(node, finding);
    if let Instruction::Write(written) = instruction
        && let Some((path, value)) =
            written.split_once(": ").filter(|(path, _)| path.contains('.') && !path.contains('/'))
    {
        elsewhere::write(&mut all, path, value)?;
    } else if let Instruction::Set { .. } | Instruction::SetGate(_) | Instruction::Permit { .. } = instruction
    {
        elsewhere::changed(&mut all, instruction)?;
    } else if let Instruction::Move { path, kind: Some(kind) } = instruction {
        let moved = take(all.get_mut(finding.document)?, &site)?;
        let target = all.iter_mut().find(|document| document["kind"] == *kind)?;
        insert_at(target, path, moved)?;
    } else if let Instruction::Rename { from, to } = instruction {
        let document = all.get_mut(finding.document)?;
        *document = parsed(&document.to_string().replace(from, to))?;
    } else if let Instruction::RemoveObject = instruction {
        all.remove(finding.document);
    } else if let Instruction::RemoveNamed(_) = instruction {
        // The member can be in another document.
        let mut whole = Value::Array(all);
        apply(&mut whole, &site, instruction)?;
        all = whole.as_array()?.clone();
    } else {
        apply(all.get_mut(finding.document)?, &site, instruction)
            .or_else(|| elsewhere::changed_in_text(&mut all, finding.document, &site, instruction))?;
    }
    Some((before, joined(&all)))
}

fn apply(root: &mut Value, site: &Site, instruction: &Instruction<'_>) -> Option<()> {
    match instruction {
        // Changes of the whole input.
        Instruction::RemoveObject
        | Instruction::Set { .. }
        | Instruction::SetGate(_)
        | Instruction::Permit { .. }
        | Instruction::Rename { .. } => None,
        Instruction::Replace(value) => {
            let mut members = root.pointer_mut(&site.pointer)?.as_object_mut()?.values_mut();
            let only = members.next().filter(|only| only.is_string())?;
            members.next().is_none().then(|| *only = json!(value))
        }
        Instruction::Annotate(annotation) => annotate(root, site, annotation),
        Instruction::Write(written) => write(root, site, written),
        Instruction::WriteAll(members) => members.iter().try_for_each(|member| write(root, site, member)),
        Instruction::Remove => take(root, site).map(drop),
        Instruction::RemoveRequirement => take_requirement(root, site),
        Instruction::Copy(name) => copy(root, site, name),
        Instruction::RequireInstead(key, value) => {
            take_requirement(root, site)?;
            require(root, site, json!({"key": key, "operator": "In", "values": [value]}))
        }
        Instruction::RemoveNamed(name) => {
            let mut found = Vec::new();
            with_key(root, name, "", &mut found);
            let pointer = found.pop().filter(|_| found.is_empty())?;
            take(root, &Site { pointer, is_missing: false, is_own: true }).map(drop)
        }
        Instruction::Tolerate(item) => {
            let item = parsed(item)?;
            list(pod(root, site)?, "tolerations")?.push(item);
            Some(())
        }
        Instruction::Add { item, list: Some(name), .. } => {
            let item = parsed(item)?;
            let holder = site.around().find_map(|pointer| {
                let of_list = pointer.rsplit_once('/').filter(|(_, last)| last == name);
                let is_holder = || root.pointer(pointer).is_some_and(|value| value.get(name).is_some());
                of_list.map(|(holder, _)| holder).or_else(|| is_holder().then_some(pointer))
            })?;
            list(root.pointer_mut(holder)?, name)?.push(item);
            Some(())
        }
        Instruction::Add { item, list: None, without } => {
            let item = parsed(item)?;
            let own = root.pointer_mut(&site.pointer)?.as_object_mut()?;
            for name in without {
                own.remove(*name)?;
            }
            let (around, _) = site.pointer.rsplit_once('/')?;
            root.pointer_mut(around)?.as_array_mut()?.push(item);
            Some(())
        }
        Instruction::Insert { word, option } => {
            let script = root.pointer_mut(&site.pointer)?;
            let (before, after) = script.as_str()?.split_once(&format!("{option} '"))?;
            *script = json!(format!("{before}{option} '{word} {after}"));
            Some(())
        }
        Instruction::Limit(limit) => add_limit(root, site, limit),
        Instruction::AddMapping { device, whole, write: written } => {
            add_mapping(root, site, device, *whole)?;
            written.iter().try_for_each(|member| write(root, site, member))
        }
        Instruction::Condition(condition) => add_condition(root, site, condition),
        Instruction::Scope { actions, condition } => scope(root, site, actions, condition),
        Instruction::Allow(value) => {
            let requirement = root.pointer_mut(&site.pointer)?;
            requirement.get_mut("values")?.as_array_mut()?.push(json!(value));
            Some(())
        }
        Instruction::Require(key, operator, values) => {
            let mut requirement = json!({"key": key, "operator": operator});
            let values = parsed(values)?;
            match values {
                Value::Array(values) if values.is_empty() => {}
                Value::Array(_) => requirement["values"] = values,
                value => requirement["values"] = json!([value]),
            }
            require(root, site, requirement)
        }
        Instruction::Move { path, .. } => {
            // A part of a script has no node.
            let is_script = |value: &Value| value.as_str().is_some_and(|text| text.contains('\n'));
            root.pointer(&site.pointer).filter(|moved| !is_script(moved))?;
            let moved = take(root, site)?;
            insert_at(root, path, moved)
        }
    }
}

/// Adds an annotation, `key: value`, to the template of a pod.
fn annotate(root: &mut Value, site: &Site, annotation: &str) -> Option<()> {
    let (name, value) = annotation.split_once(": ")?;
    let pod = pod_pointer(root, site)?;
    let (template, _) = pod.rsplit_once('/')?;
    let metadata = object(root.pointer_mut(template)?, "metadata")?;
    let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
    annotations.as_object_mut()?.insert(name.to_owned(), parsed(value)?);
    Some(())
}

/// Adds a limit, `name: amount`, to the first container of a pod.
fn add_limit(root: &mut Value, site: &Site, limit: &str) -> Option<()> {
    let (name, amount) = limit.split_once(": ")?;
    let container = pod(root, site)?.pointer_mut("/containers/0")?.as_object_mut()?;
    let resources = container.entry("resources").or_insert_with(|| json!({}));
    object(resources, "limits")?.insert(name.to_owned(), parsed(amount)?);
    Some(())
}

/// Writes a value at the place of a finding, or a member, `key: value`, in the nearest object that has or lacks it.
fn write(root: &mut Value, site: &Site, written: &str) -> Option<()> {
    let (holder, last) = site.pointer.rsplit_once('/')?;
    // A label or annotation under another key.
    if let Some((key, value)) = written.split_once(": ").filter(|(key, _)| key.contains('/')) {
        take(root, site)?;
        root.pointer_mut(holder)?.as_object_mut()?.insert(key.to_owned(), parsed(value)?);
        return Some(());
    }
    let Some((key, value)) = written.split_once(": ").filter(|(key, _)| !key.contains(['.', ' '])) else {
        // A path names another place.
        let value = parsed(written).filter(|_| !written.contains('…') && !written.starts_with("spec."))?;
        let here = root.pointer_mut(&site.pointer).filter(|_| site.is_own);
        let here = here.filter(|here| !here.is_object() && !here.is_array())?;
        *here = if here.is_string() { json!(written.trim_matches('"')) } else { value };
        return Some(());
    };
    let value = parsed(value)?;
    let own = site.pointer.rsplit_once('/').filter(|_| site.is_missing && last == key).map(|(own, _)| own);
    // The finding is about the only item of a list.
    let only = root.pointer(&site.pointer).and_then(Value::as_array).filter(|items| items.len() == 1);
    let only = only.map(|_| format!("{}/0", site.pointer));
    let has_key = |pointer: &&str| root.pointer(pointer).is_some_and(|value| value.get(key).is_some());
    let pointer = own.or(only.as_deref()).or_else(|| site.around().find(has_key))?.to_owned();
    root.pointer_mut(&pointer)?.as_object_mut()?.insert(key.to_owned(), value);
    Some(())
}

/// Collects the pointers of the members with a key.
fn with_key(value: &Value, key: &str, pointer: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let pointer = format!("{pointer}/{}", escaped(name));
                if name == key {
                    found.push(pointer.clone());
                }
                with_key(value, key, &pointer, found);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                with_key(value, key, &format!("{pointer}/{index}"), found);
            }
        }
        _ => {}
    }
}

/// Removes the member or item at the place of a finding.
fn take(root: &mut Value, site: &Site) -> Option<Value> {
    let (holder, last) = site.pointer.rsplit_once('/').filter(|_| !site.is_missing)?;
    match root.pointer_mut(holder)? {
        Value::Object(members) => members.remove(&unescaped(last)),
        Value::Array(items) => Some(items.remove(last.parse().ok()?)),
        _ => None,
    }
}

/// Adds a member with the value at the place of a finding.
fn copy(root: &mut Value, site: &Site, name: &str) -> Option<()> {
    let value = root.pointer(&site.pointer)?.clone();
    let (holder, _) = site.pointer.rsplit_once('/')?;
    root.pointer_mut(holder)?.as_object_mut()?.insert(name.to_owned(), value);
    Some(())
}

/// Adds a block device mapping with the `ebs`, or only the size, of the mapping that has the finding.
fn add_mapping(root: &mut Value, site: &Site, device: &str, whole: bool) -> Option<()> {
    let is_mapping =
        |pointer: &&str| root.pointer(pointer).is_some_and(|value| value.get("deviceName").is_some());
    let pointer = site.around().find(is_mapping)?.to_owned();
    let mut mapping = root.pointer(&pointer)?.clone();
    mapping["deviceName"] = json!(device);
    if !whole {
        mapping["ebs"] = json!({"volumeSize": mapping["ebs"]["volumeSize"]});
    }
    let (mappings, _) = pointer.rsplit_once('/')?;
    root.pointer_mut(mappings)?.as_array_mut()?.push(mapping);
    Some(())
}

/// Adds a condition to the statement of an IAM policy.
fn add_condition(root: &mut Value, site: &Site, condition: &str) -> Option<()> {
    let condition = parsed(&condition.replace("<name>", "prod"))?;
    let is_statement = |pointer: &&str| root.pointer(pointer).is_some_and(|it| it.get("Effect").is_some());
    let statement = site.around().find(is_statement)?.to_owned();
    let conditions = object(root.pointer_mut(&statement)?, "Condition")?;
    conditions.extend(condition.as_object()?.clone());
    Some(())
}

/// Moves actions to a new statement of an IAM policy, with a condition.
fn scope(root: &mut Value, site: &Site, actions: &[&str], condition: &str) -> Option<()> {
    let condition = parsed(&condition.replace("<name>", "prod"))?;
    let is_list = |pointer: &&str| root.pointer(pointer).is_some_and(|it| it.pointer("/0/Effect").is_some());
    let list = site.around().find(is_list)?.to_owned();
    let statements = root.pointer_mut(&list)?.as_array_mut()?;
    for allowed in statements.iter_mut().filter_map(|statement| statement["Action"].as_array_mut()) {
        allowed.retain(|action| !actions.iter().any(|moved| action == moved));
    }
    statements.push(json!({"Effect": "Allow", "Action": actions, "Resource": "*", "Condition": condition}));
    Some(())
}

/// Removes the requirement that has the finding, or the label of a node selector.
fn take_requirement(root: &mut Value, site: &Site) -> Option<()> {
    let is_requirement =
        |pointer: &&str| root.pointer(pointer).is_some_and(|value| value.get("operator").is_some());
    let requirement = site.around().find(is_requirement).map(str::to_owned);
    let Some(pointer) = requirement else { return take(root, site).map(drop) };
    take(root, &Site { pointer, is_missing: false, is_own: true }).map(drop)
}

/// The `spec` of the pod that a finding is about.
fn pod<'v>(root: &'v mut Value, site: &Site) -> Option<&'v mut Value> {
    let pointer = pod_pointer(root, site)?;
    root.pointer_mut(&pointer)
}

fn pod_pointer(root: &Value, site: &Site) -> Option<String> {
    let known = ["/spec", "/spec/template/spec", "/spec/jobTemplate/spec/template/spec"];
    let is_pod = |pointer: &&str| root.pointer(pointer).is_some_and(|spec| spec.get("containers").is_some());
    site.around().chain(known).find(is_pod).map(str::to_owned)
}

/// A list of an object, which is added if it is missing.
fn list<'v>(holder: &'v mut Value, name: &str) -> Option<&'v mut Vec<Value>> {
    holder.as_object_mut()?.entry(name).or_insert_with(|| json!([])).as_array_mut()
}

/// A map of an object, which is added if it is missing.
fn object<'v>(holder: &'v mut Value, name: &str) -> Option<&'v mut Map<String, Value>> {
    holder.as_object_mut()?.entry(name).or_insert_with(|| json!({})).as_object_mut()
}

/// Writes a value at a path.
pub(super) fn insert_at(holder: &mut Value, path: &str, value: Value) -> Option<()> {
    if let Some((key, rest)) = path.split_once('.') {
        object(holder, key)?;
        insert_at(holder.get_mut(key)?, rest, value)
    } else {
        holder.as_object_mut()?.insert(path.to_owned(), value);
        Some(())
    }
}

/// Adds a requirement to a NodePool or to the required node affinity of a pod, in place of one with the same key.
fn require(root: &mut Value, site: &Site, requirement: Value) -> Option<()> {
    let key = requirement["key"].as_str()?.to_owned();
    if let Some(pool) =
        root.pointer_mut("/spec/template/spec").filter(|spec| spec.get("nodeClassRef").is_some())
    {
        let requirements = list(pool, "requirements")?;
        requirements.retain(|other| other["key"] != key.as_str());
        requirements.push(requirement);
        return Some(());
    }
    let pod = pod(root, site)?;
    if let Some(selector) = pod.get_mut("nodeSelector").and_then(Value::as_object_mut) {
        selector.remove(&key);
    }
    let affinity = pod.as_object_mut()?.entry("affinity").or_insert_with(|| json!({}));
    object(affinity, "nodeAffinity")?;
    let required =
        object(affinity.get_mut("nodeAffinity")?, "requiredDuringSchedulingIgnoredDuringExecution")?;
    let terms = required.entry("nodeSelectorTerms").or_insert_with(|| json!([{}])).as_array_mut()?;
    for term in terms {
        let expressions = list(term, "matchExpressions")?;
        expressions.retain(|other| other["key"] != key.as_str());
        expressions.push(requirement.clone());
    }
    Some(())
}
