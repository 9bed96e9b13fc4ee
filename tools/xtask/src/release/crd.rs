//! Custom resource definitions as lines, one for each fact, without descriptions.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use flate2::Crc;
use serde_json::{Map, Value};

/// The kinds that the tables describe, in the version of the tables.
const KINDS: [(&str, &str); 4] =
    [("NodePool", "v1"), ("NodeClaim", "v1"), ("EC2NodeClass", "v1"), ("NodeOverlay", "v1alpha1")];

/// Keywords that change no verdict, or that another line covers.
const IGNORED: [&str; 8] = [
    "description",
    "title",
    "anyOf",
    "x-kubernetes-int-or-string",
    "x-kubernetes-map-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-preserve-unknown-fields",
    "example",
];

/// The lines of all definitions in a folder.
pub(super) fn lines(folder: &Path) -> Result<BTreeSet<String>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut lines = BTreeSet::new();
    let mut kinds = BTreeSet::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml") {
            let definition: Value =
                serde_saphyr::from_str(&crate::text(&path)?).with_context(|| path.display().to_string())?;
            kinds.extend(add(&definition, &mut lines));
        }
    }
    let missing: Vec<_> = KINDS.iter().map(|(kind, _)| *kind).filter(|kind| !kinds.contains(*kind)).collect();
    // The first release with NodeOverlays is 1.7.
    if missing.iter().any(|kind| *kind != "NodeOverlay") {
        bail!("{} has no definition of {}", folder.display(), missing.join(", "));
    }
    Ok(lines)
}

/// Adds the lines of a definition, and returns its kind if the tables describe it.
pub(super) fn add(definition: &Value, lines: &mut BTreeSet<String>) -> Option<String> {
    let kind = definition.pointer("/spec/names/kind")?.as_str()?;
    let (kind, version) = KINDS.into_iter().find(|(known, _)| *known == kind)?;
    let versions = definition.pointer("/spec/versions")?.as_array()?;
    let version = versions.iter().find(|one| one["name"] == version)?;
    let schema = version.pointer("/schema/openAPIV3Schema")?;
    let mut walk = Walk { kind, lines };
    for (name, path) in [("spec", "spec"), ("status", "status")] {
        if let Some(part) = schema.pointer(&format!("/properties/{name}")) {
            walk.schema(part, path);
        }
    }
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        walk.line(".", "required", name);
    }
    walk.rules(schema, ".");
    Some(kind.to_owned())
}

struct Walk<'l> {
    kind: &'static str,
    lines: &'l mut BTreeSet<String>,
}

impl Walk<'_> {
    fn line(&mut self, path: &str, keyword: &str, value: &str) {
        self.lines.insert(format!("{} {path} {keyword} {value}", self.kind));
    }

    fn schema(&mut self, schema: &Value, path: &str) {
        let Some(keywords) = schema.as_object() else { return };
        self.line(path, "type", &type_of(keywords));
        // The server drops the status before it validates, so only its fields matter.
        let is_status = path == "status" || path.starts_with("status.");
        for (keyword, value) in keywords {
            match keyword.as_str() {
                "properties" => {
                    for (name, inner) in value.as_object().into_iter().flatten() {
                        self.schema(inner, &format!("{path}.{name}"));
                    }
                }
                "additionalProperties" => self.schema(value, &format!("{path}{{}}")),
                "items" => self.schema(value, &format!("{path}[]")),
                _ if is_status || keyword == "type" || IGNORED.contains(&keyword.as_str()) => {}
                "x-kubernetes-validations" => self.rules(schema, path),
                "required" | "enum" => {
                    for item in value.as_array().into_iter().flatten() {
                        self.line(path, keyword, item.as_str().unwrap_or_default());
                    }
                }
                "x-kubernetes-list-type" if value == "set" => self.line(path, "list-type", "set"),
                "x-kubernetes-list-type" => {}
                "format" if value != "date-time" => {}
                "default" => self.line(path, keyword, &value.to_string()),
                _ => self.line(path, keyword, value.as_str().unwrap_or(&value.to_string())),
            }
        }
    }

    /// A digest of each rule, and the keys of labels that a rule names.
    fn rules(&mut self, schema: &Value, path: &str) {
        for rule in schema["x-kubernetes-validations"].as_array().into_iter().flatten() {
            let expression = rule["rule"].as_str().unwrap_or_default();
            self.line(path, "rule", &digest(expression));
            for key in expression.split('"').filter(|part| part.starts_with("karpenter.k8s.aws/")) {
                self.line(path, "key", key);
            }
        }
    }
}

fn type_of(keywords: &Map<String, Value>) -> String {
    let is_set = |keyword: &str| keywords.get(keyword) == Some(&Value::Bool(true));
    if is_set("x-kubernetes-int-or-string") {
        return "int-or-string".to_owned();
    }
    let declared = keywords.get("type").and_then(Value::as_str);
    declared.map_or_else(
        || if is_set("x-kubernetes-preserve-unknown-fields") { "any" } else { "none" }.to_owned(),
        str::to_owned,
    )
}

/// Digest of an expression, without differences in white space.
pub(super) fn digest(expression: &str) -> String {
    let mut crc = Crc::new();
    crc.update(expression.split_whitespace().collect::<Vec<_>>().join(" ").as_bytes());
    format!("{:08x}", crc.sum())
}
