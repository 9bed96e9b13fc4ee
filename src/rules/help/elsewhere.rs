//! Changes of other places than the one of the finding: of other objects of the input, and of documents inside of strings.

use serde_json::{Value, json};

use super::follow::{Site, insert_at, parsed};
use super::wording::Instruction;

/// The change of any document of the input that a help asks for.
pub(super) fn changed(all: &mut Vec<Value>, instruction: &Instruction<'_>) -> Option<()> {
    match instruction {
        Instruction::Set { name, value } if name.contains('.') => write(all, name, value),
        Instruction::Set { name, value } => {
            let value = parsed(value)?;
            first(all, &mut |variable| {
                (variable.get("name")? == name).then_some(())?;
                *variable.get_mut("value")? = value.clone();
                Some(())
            })
        }
        Instruction::SetGate(gate) => {
            let variable = json!({"name": "FEATURE_GATES", "value": gate});
            all.push(json!({
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": "karpenter", "namespace": "kube-system"},
                "spec": {"template": {"spec": {"containers": [{
                    "name": "controller",
                    "image": "public.ecr.aws/karpenter/controller",
                    "env": [{"name": "CLUSTER_NAME", "value": "default"}, variable],
                }]}}},
            }));
            Some(())
        }
        Instruction::Permit { action, service } => first(all, &mut |policy| {
            let statements = policy.get_mut("Statement")?.as_array_mut()?;
            statements.push(match service {
                Some(service) => {
                    json!({"Effect": "Allow", "Principal": {"Service": service}, "Action": action})
                }
                None => json!({"Effect": "Allow", "Action": action, "Resource": "*"}),
            });
            Some(())
        }),
        _ => None,
    }
}

/// Writes a value at a path of the object that has its first key, such as the values of a chart, or adds values of Karpenter's chart.
pub(super) fn write(all: &mut Vec<Value>, path: &str, value: &str) -> Option<()> {
    let (key, value) = (path.split('.').next()?, parsed(value)?);
    let written = first(all, &mut |holder| {
        holder.get(key)?;
        insert_at(holder, path, value.clone())
    });
    written.or_else(|| {
        // A file of values has the name of the cluster that the selectors name.
        let cluster = tagged_cluster(all).unwrap_or_else(|| "default".to_owned());
        let settings = json!({"settings": {"clusterName": &cluster, "interruptionQueue": &cluster}});
        let mut document = (key == "settings").then_some(settings)?;
        insert_at(&mut document, path, value)?;
        all.push(document);
        Some(())
    })
}

/// The name of the cluster in the selectors of node classes.
fn tagged_cluster(all: &[Value]) -> Option<String> {
    let selectors = ["/spec/subnetSelectorTerms", "/spec/securityGroupSelectorTerms"];
    let terms = all.iter().flat_map(|document| selectors.iter().filter_map(|path| document.pointer(path)));
    let mut tagged = terms.filter_map(|terms| terms.pointer("/0/tags/karpenter.sh~1discovery")?.as_str());
    tagged.next().map(str::to_owned)
}

/// The change in the document inside of the string at the place of a finding, or in the only other object that it can concern.
pub(super) fn changed_in_text(
    all: &mut [Value],
    document: usize,
    site: &Site,
    instruction: &Instruction<'_>,
) -> Option<()> {
    match instruction {
        Instruction::Write(written) => {
            let (key, value) = written.split_once(": ")?;
            let value = parsed(value)?;
            first(all, &mut |holder| {
                *holder.get_mut(key)? = value.clone();
                Some(())
            })
        }
        Instruction::Add { item, list: Some(list), .. } => {
            let root = all.get_mut(document)?;
            // The document inside of a string has no pointer.
            let pointer = site.around().find(|pointer| root.pointer(pointer).is_some())?.to_owned();
            let text = root.pointer_mut(&pointer)?;
            first(core::slice::from_mut(text), &mut |holder| {
                holder.get_mut(list)?.as_array_mut()?.push(parsed(item)?);
                Some(())
            })
        }
        Instruction::Move { path, .. } => {
            let (_, name) = path.rsplit_once('.')?;
            let text = all.get_mut(document)?.pointer_mut(&site.pointer)?;
            let mut moved = None;
            first(core::slice::from_mut(text), &mut |holder| {
                moved = Some(holder.as_object_mut()?.remove(name)?);
                Some(())
            })?;
            let key = path.split('.').next()?;
            first(core::slice::from_mut(text), &mut |holder| {
                holder.get(key)?;
                insert_at(holder, path, moved.take()?)
            })
        }
        _ => None,
    }
}

/// Changes the first value that can be changed, also in a document inside of a string.
fn first(values: &mut [Value], change: &mut dyn FnMut(&mut Value) -> Option<()>) -> Option<()> {
    values.iter_mut().find_map(|value| {
        change(value).or_else(|| match value {
            Value::Object(members) => {
                members.values_mut().find_map(|member| first(core::slice::from_mut(member), change))
            }
            Value::Array(items) => first(items, change),
            Value::String(text) => {
                let mut inner = parsed(text).filter(|inner| inner.is_object() || inner.is_array())?;
                first(core::slice::from_mut(&mut inner), change)?;
                *text = inner.to_string();
                Some(())
            }
            _ => None,
        })
    })
}
