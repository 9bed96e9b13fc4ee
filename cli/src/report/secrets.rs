//! Values that `collect` redacts, in the sentences of a page.
//!
//! A page has no text of the input. Its sentences may quote a value, so the values that [`Redactions`] takes from an object are also
//! taken from the sentences about that object.

use std::collections::BTreeMap;

use answers::report::{Report, ReportedFinding};
use answers::summary::PageData;
use manifest::source::certain;
use manifest::{Document, File};
use serde_json::Value;

use crate::collect::{REDACTED, Redactions};

/// Bytes of the shortest value to look for in sentences: shorter ones, such as `yes`, are ordinary words.
const SHORTEST: usize = 4;

/// Redacts the sentences of a page, and counts what was redacted.
pub(super) fn redact(data: &mut PageData, files: &[File]) {
    let reports = [&mut data.findings, &mut data.symptoms];
    let redacted: usize = reports.into_iter().flatten().map(|report| redact_report(report, files)).sum();
    data.redacted = redacted;
}

fn redact_report(report: &mut Report, files: &[File]) -> usize {
    let files: BTreeMap<&str, &File> = files.iter().map(|file| (file.source.name(), file)).collect();
    let mut known: BTreeMap<(String, usize), Vec<ObjectSecrets>> = BTreeMap::new();
    let mut count = 0;
    for finding in &mut report.findings {
        let related = finding.related.iter().map(|related| (&related.file, related.document));
        let documents: Vec<(String, usize)> = std::iter::once((&finding.file, finding.document))
            .chain(related)
            .map(|(file, document)| (file.clone(), document))
            .collect();
        let mut values: Vec<&str> = Vec::new();
        for key in &documents {
            if !known.contains_key(key) {
                let document = files.get(key.0.as_str()).and_then(|file| file.documents.get(key.1));
                let secrets = match document {
                    Some(Document::Read(tree)) => secrets_of(&tree.root().to_json()),
                    _ => Vec::new(),
                };
                known.insert(key.clone(), secrets);
            }
        }
        for key in &documents {
            let objects = known.get(key).map(Vec::as_slice).unwrap_or_default();
            // A list may have thousands of objects.
            let own = objects.iter().find(|object| object.is_of(finding));
            let about = own.map_or(objects, std::slice::from_ref);
            values.extend(about.iter().flat_map(|object| object.values.iter().map(String::as_str)));
        }
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        count += redact_finding(finding, &values);
    }
    count
}

fn redact_finding(finding: &mut ReportedFinding, values: &[&str]) -> usize {
    let mut count = 0;
    for line in finding.evidence.iter_mut().flatten().filter(|line| is_object(&line.text)) {
        REDACTED.clone_into(&mut line.text);
        count += 1;
    }
    let texts = [&mut finding.message, &mut finding.help, &mut finding.path].into_iter();
    let texts = texts.chain(finding.related.iter_mut().map(|related| &mut related.message));
    for text in texts.chain(finding.fix.as_mut().map(|fix| &mut fix.title)) {
        count += values.iter().map(|value| replace_word(text, value)).sum::<usize>();
    }
    count
}

/// Whether a line is an object in JSON, as in a snapshot. A line of a log is not.
fn is_object(line: &str) -> bool {
    line.starts_with('{') && line.contains("\"apiVersion\"")
}

/// Redacts a value where it is not a part of a longer word. Returns how often.
fn replace_word(text: &mut String, value: &str) -> usize {
    let is_word = |char: Option<char>| char.is_some_and(char::is_alphanumeric);
    let (starts, ends) = (is_word(value.chars().next()), is_word(value.chars().next_back()));
    let mut count = 0;
    let mut out = String::new();
    let mut rest = text.as_str();
    let mut before = None;
    while let Some((head, tail)) = rest.split_once(value) {
        let last = head.chars().next_back().or(before);
        out.push_str(head);
        let is_part = starts && is_word(last) || ends && is_word(tail.chars().next());
        out.push_str(if is_part { value } else { REDACTED });
        count += usize::from(!is_part);
        before = value.chars().next_back();
        rest = tail;
    }
    if count > 0 {
        out.push_str(rest);
        *text = out;
    }
    count
}

/// Values of an object that `collect` redacts.
#[derive(Debug, PartialEq, Eq)]
struct ObjectSecrets {
    kind: String,
    namespace: String,
    name: String,
    values: Vec<String>,
}

impl ObjectSecrets {
    fn of(object: &Value) -> Option<Self> {
        let mut redacted = object.clone();
        Redactions::default().redact(&mut redacted);
        let mut values = Vec::new();
        add_removed(object, Some(&redacted), &mut values);
        let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (kind, namespace, name) = (text("/kind"), text("/metadata/namespace"), text("/metadata/name"));
        // The value of a variable is often a name that every sentence about the object has.
        values.retain(|value| value.len() >= SHORTEST && *value != name && *value != namespace);
        (!values.is_empty()).then_some(Self { kind, namespace, name, values })
    }

    fn is_of(&self, finding: &ReportedFinding) -> bool {
        (&self.kind, &self.namespace, &self.name) == (&finding.kind, &finding.namespace, &finding.name)
    }
}

/// The secrets of an object, or of the items of a list.
fn secrets_of(document: &Value) -> Vec<ObjectSecrets> {
    let items = document.get("items").and_then(Value::as_array);
    items.map_or_else(
        || ObjectSecrets::of(document).into_iter().collect(),
        |items| items.iter().filter_map(ObjectSecrets::of).collect(),
    )
}

/// Adds the texts that a redacted value lacks.
fn add_removed(value: &Value, redacted: Option<&Value>, to: &mut Vec<String>) {
    match (value, redacted) {
        (Value::String(text), Some(Value::String(redacted))) => to.extend(gaps(text, redacted)),
        (Value::String(text), _) => to.push(text.clone()),
        (Value::Number(_) | Value::Bool(_), Some(redacted)) if redacted != value => {
            to.push(value.to_string());
        }
        (Value::Array(items), _) => {
            let others = redacted.and_then(Value::as_array);
            for (index, item) in items.iter().enumerate() {
                add_removed(item, others.and_then(|others| others.get(index)), to);
            }
        }
        (Value::Object(fields), _) => {
            // The managers of fields are removed, but they are no secrets.
            for (key, field) in fields.iter().filter(|(key, _)| *key != "managedFields") {
                add_removed(field, redacted.and_then(|redacted| redacted.get(key)), to);
            }
        }
        _ => {}
    }
}

/// The parts of a text that [`REDACTED`] replaced.
fn gaps(text: &str, redacted: &str) -> Vec<String> {
    if text == redacted {
        return Vec::new();
    }
    let mut kept = redacted.split(REDACTED);
    let start = kept.next().unwrap_or_default();
    let mut rest = text.strip_prefix(start).unwrap_or(text);
    let mut gaps = Vec::new();
    for after in kept {
        let end = if after.is_empty() { rest.len() } else { rest.find(after).unwrap_or(rest.len()) };
        gaps.push(certain(rest.get(..end)).to_owned());
        rest = rest.get(end + after.len()..).unwrap_or_default();
    }
    gaps.retain(|gap| !gap.is_empty());
    gaps
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn finds_the_values_that_collect_redacts() {
        let pod = json!({
            "kind": "Pod",
            "metadata": {
                "name": "web", "namespace": "shop",
                "managedFields": [{"manager": "kubectl-edit"}],
                "annotations": {"vault.example/path": "secret/shop", "karpenter.sh/do-not-disrupt": "true"}},
            "spec": {"containers": [{
                "name": "web", "image": "nginx",
                "command": ["serve", "--key=hunter22"],
                "env": [{"name": "TOKEN", "value": "abc12345"}, {"name": "NAMESPACE", "value": "shop"}]}]}});
        let secrets = ObjectSecrets::of(&pod).unwrap();
        assert_eq!((secrets.kind.as_str(), secrets.name.as_str()), ("Pod", "web"));
        let mut values = secrets.values;
        values.sort();
        assert_eq!(values, ["--key=hunter22", "abc12345", "secret/shop", "serve"]);
        assert_eq!(secrets_of(&json!({"kind": "List", "items": [pod, {"kind": "Pod"}]})).len(), 1);
    }

    #[test]
    fn finds_the_secret_within_user_data() {
        let text =
            "#!/bin/bash\nexport AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY00\necho done\n";
        let class =
            json!({"kind": "EC2NodeClass", "metadata": {"name": "default"}, "spec": {"userData": text}});
        let secrets = ObjectSecrets::of(&class).unwrap();
        assert_eq!(secrets.values, ["wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY00"]);
    }

    #[test]
    fn finds_the_parts_between_what_is_kept() {
        assert_eq!(gaps("a=1234 b=5678 c", "a=REDACTED b=REDACTED c"), ["1234", "5678"]);
        assert_eq!(gaps("whole", "REDACTED"), ["whole"]);
        assert_eq!(gaps("password=x=y", "password=REDACTED"), ["x=y"]);
        assert!(gaps("same", "same").is_empty());
    }

    #[test]
    fn redacts_whole_words() {
        let redacted = |text: &str, value: &str| {
            let mut text = text.to_owned();
            let count = replace_word(&mut text, value);
            (text, count)
        };
        assert_eq!(
            redacted("`prod` is not production", "prod"),
            ("`REDACTED` is not production".to_owned(), 1)
        );
        assert_eq!(redacted("--token=abcd,abcd", "abcd"), ("--token=REDACTED,REDACTED".to_owned(), 2));
        assert_eq!(redacted("aabcd abcdabcd", "abcd"), ("aabcd abcdabcd".to_owned(), 0));
        assert_eq!(redacted("x--key=1", "--key=1"), ("xREDACTED".to_owned(), 1));
    }
}
