//! JSON Schemas (draft 2020-12) of the settings and of the report.

use rule::Rule;
use rule::finding::{CaughtBy, Family, Severity};
use rule::registry::Registry;
use rule::settings::RuleLevel;
use rule::settings::keys::{self, SettingScope, SettingShape};
use serde_json::{Map, Value, json};

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Schema of the settings of the policy and of `karpwarden.yaml`.
pub fn settings(registry: &Registry, id: &str) -> Value {
    let properties: Map<String, Value> =
        keys::ALL.iter().map(|key| (key.name.to_owned(), property(registry, key))).collect();
    json!({
        "$schema": DIALECT,
        "$id": id,
        "title": "Settings of Karpwarden",
        "description": "The settings of the Kubewarden policy and of karpwarden.yaml",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    })
}

fn property(registry: &Registry, key: &keys::SettingKey) -> Value {
    let mut schema = match key.shape {
        SettingShape::Releases => {
            json!({"type": "string", "pattern": r"^v?1\.\d+(\.\d+)?(\.\.v?1\.\d+(\.\d+)?)?$", "examples": ["1.8", "1.8.3", "1.8..1.14"]})
        }
        SettingShape::Kubernetes => {
            json!({"type": "string", "pattern": r"^v?1\.\d+([.+-].*)?$", "examples": ["1.33"]})
        }
        SettingShape::Text => json!({"type": "string", "minLength": 1, "pattern": r"\S"}),
        SettingShape::Boolean => json!({"type": "boolean", "default": false}),
        // The form in Rancher sends every choice as a string.
        SettingShape::Automatic => json!({"enum": ["auto", true, false, "true", "false"], "default": "auto"}),
        SettingShape::Choice(names) => json!({"enum": names, "default": names.first()}),
        SettingShape::Levels => {
            json!({"type": "object", "additionalProperties": false, "properties": levels(registry)})
        }
        SettingShape::Exceptions => json!({"type": "array", "items": exception(registry)}),
        SettingShape::Paths => paths(),
        SettingShape::Overrides => json!({"type": "array", "items": one_override(registry)}),
    };
    if let Some(fields) = schema.as_object_mut() {
        let only = match key.scope {
            SettingScope::Everywhere => "",
            SettingScope::Cluster => " In the cluster only.",
            SettingScope::Terminal => " On the command line only.",
        };
        fields.insert("title".to_owned(), key.title.into());
        fields.insert("description".to_owned(), format!("{}{only}", key.description).into());
    }
    schema
}

/// Schema of the level of each family and rule, with the description and default of each rule.
fn levels(registry: &Registry) -> Map<String, Value> {
    let level = |description: String| {
        // YAML 1.1 reads `off` without quotes as `false`; the settings accept it as the level.
        let names = RuleLevel::NAMES.into_iter().map(Value::from).chain([Value::Bool(false)]);
        json!({"enum": names.collect::<Vec<_>>(), "description": description})
    };
    let is_present = |name: &str| Family::ALL.into_iter().any(|family| family.name() == name);
    let families = registry.families().into_iter().map(|name| {
        let of = if is_present(name) { "All rules of the family" } else { "All rules of the former family" };
        (name.to_owned(), level(format!("{of} {name}")))
    });
    let rules = sorted(registry).into_iter().map(|rule| {
        let own = match rule.severity {
            Severity::Error => "deny",
            Severity::Warning => "warn",
            Severity::Info => "info",
        };
        let mut schema = level(rule.summary.to_owned());
        if let Some(fields) = schema.as_object_mut() {
            fields.insert("default".to_owned(), own.into());
        }
        (rule.name.to_owned(), schema)
    });
    families.chain(rules).collect()
}

/// Rules sorted by family, then by name.
fn sorted(registry: &Registry) -> Vec<&'static Rule> {
    let mut rules: Vec<_> = registry.rules().collect();
    rules.sort_by_key(|rule| (rule.family, rule.name));
    rules
}

fn paths() -> Value {
    json!({"type": "array", "items": {"type": "string", "minLength": 1}})
}

fn one_override(registry: &Registry) -> Value {
    let overridden = keys::ALL.iter().filter(|key| keys::OVERRIDDEN.contains(&key.name));
    let properties: Map<String, Value> = core::iter::once(("paths".to_owned(), paths()))
        .chain(overridden.map(|key| (key.name.to_owned(), property(registry, key))))
        .collect();
    json!({"type": "object", "additionalProperties": false, "required": ["paths"], "properties": properties})
}

fn exception(registry: &Registry) -> Value {
    let names: Vec<&str> =
        registry.families().into_iter().chain(registry.rules().map(|rule| rule.name)).collect();
    let property = |(name, description, _): &(&str, &str, bool)| {
        let mut schema = match *name {
            "rule" => json!({"enum": names}),
            "until" => json!({"type": "string", "format": "date", "pattern": r"^\d{4}-\d{2}-\d{2}$"}),
            _ => json!({"type": "string", "minLength": 1}),
        };
        if let Some(fields) = schema.as_object_mut() {
            fields.insert("description".to_owned(), (*description).into());
        }
        ((*name).to_owned(), schema)
    };
    let properties: Map<String, Value> = keys::EXCEPTION.iter().map(property).collect();
    let required: Vec<&str> =
        keys::EXCEPTION.iter().filter(|(_, _, is_needed)| *is_needed).map(|(name, ..)| *name).collect();
    json!({"type": "object", "additionalProperties": false, "required": required, "properties": properties})
}

/// Schema of the report that `--format json` prints.
pub fn report(id: &str) -> Value {
    let summary = ["documents", "checked", "skipped", "errors", "warnings", "infos", "suppressed"];
    let summary: Vec<_> = summary.into_iter().map(|name| (name, count())).collect();
    let skipped = all_of(&[("file", text()), ("document", count()), ("reason", text())]);
    let unreadable = all_of(&[
        ("file", text()),
        ("document", count()),
        ("line", count()),
        ("column", count()),
        ("message", text()),
        ("concernsKarpenter", json!({"type": "boolean"})),
    ]);
    let pin = all_of(&[
        ("cluster", text()),
        ("folder", text()),
        ("version", text()),
        ("checkedAs", text()),
        ("file", text()),
        ("line", count()),
        ("note", text()),
    ]);
    let environments = all_of(&[("folders", list(&text()))]);
    let accepted = all_of(&[("file", text()), ("document", count()), ("releases", text())]);
    let mut schema = some_of(
        &[
            ("schema", json!({"const": 1})),
            ("version", text()),
            ("karpenterVersion", text()),
            ("notes", list(&text())),
            ("summary", all_of(&summary)),
            ("findings", list(&finding())),
            ("pins", list(&pin)),
            ("environments", list(&environments)),
            ("skipped", list(&skipped)),
            ("unreadable", list(&unreadable)),
        ],
        // `accepted` needs a range of releases, `statistics` needs `--statistics`, only `diagnose` writes `logs`, and only if
        // it is asked about one object, `stories`.
        &[
            ("accepted", list(&accepted)),
            ("statistics", list(&rule_count())),
            ("logs", list(&log())),
            ("stories", list(&story())),
        ],
    );
    if let Some(fields) = schema.as_object_mut() {
        fields.insert("$schema".to_owned(), DIALECT.into());
        fields.insert("$id".to_owned(), id.into());
        fields.insert("title".to_owned(), "A report of Karpwarden".into());
    }
    schema
}

fn family() -> Value {
    json!({"enum": Family::ALL.map(Family::name)})
}

/// Schema of the number of findings of a rule.
fn rule_count() -> Value {
    let mut fields = vec![("rule", text()), ("family", family())];
    fields.extend(["errors", "warnings", "infos", "fixable"].map(|name| (name, count())));
    all_of(&fields)
}

/// Schema of the result that `simulate --format json` prints.
pub fn simulation(id: &str) -> Value {
    let summary = ["pods", "new", "existing", "unplaced", "ignored", "nodeClaims"];
    let mut summary: Vec<_> = summary.into_iter().map(|name| (name, count())).collect();
    summary.push(("pricePerHour", price()));
    let place = all_of(&[
        ("file", text()),
        ("line", count()),
        ("column", count()),
        ("offset", count()),
        ("endOffset", count()),
    ]);
    let place = json!({"anyOf": [place, {"type": "null"}]});
    let reason = all_of(&[
        ("nodePool", text()),
        ("reason", json!({"enum": REASONS})),
        ("message", text()),
        ("nearest", text()),
        ("remedy", text()),
        ("podPath", text()),
        ("podPlace", place.clone()),
        ("poolPath", text()),
        ("poolPlace", place),
    ]);
    let texts = json!({"type": "object", "additionalProperties": text()});
    let parts = json!({"type": "object", "additionalProperties": {"type": "number", "minimum": 0}});
    let pod = all_of(&[
        ("namespace", text()),
        ("name", text()),
        ("workload", text()),
        ("requests", texts.clone()),
        ("usage", parts.clone()),
        ("placed", json!({"enum": ["new", "existing", "no", "ignored"]})),
        ("nodeClaim", json!({"type": ["integer", "null"], "minimum": 0})),
        ("node", text()),
        ("message", text()),
        ("reasons", list(&reason)),
    ]);
    let claim = all_of(&[
        ("nodePool", text()),
        ("pods", list(&text())),
        ("instanceTypes", count()),
        ("cheapest", list(&all_of(&[("name", text()), ("price", price())]))),
        ("zones", list(&text())),
        ("capacityTypes", list(&text())),
        ("requests", texts.clone()),
        ("allocatable", texts.clone()),
        ("usage", parts),
        ("requirements", texts),
    ]);
    let mut schema = all_of(&[
        ("schema", json!({"const": 1})),
        ("version", text()),
        ("karpenterVersion", text()),
        ("verdict", text()),
        ("summary", all_of(&summary)),
        ("pods", list(&pod)),
        ("nodeClaims", list(&claim)),
        ("assumptions", list(&text())),
        ("findings", list(&finding())),
    ]);
    if let Some(fields) = schema.as_object_mut() {
        fields.insert("$schema".to_owned(), DIALECT.into());
        fields.insert("$id".to_owned(), id.into());
        fields.insert("title".to_owned(), "A simulation of Karpwarden".into());
    }
    schema
}

/// The kinds of reasons for which a NodePool cannot take a pod.
const REASONS: [&str; 12] = [
    "taint",
    "requirements",
    "resources",
    "offering",
    "limits",
    "topology",
    "volume",
    "min-values",
    "host-port",
    "reservation",
    "pool-not-ready",
    "no-instance-types",
];

/// Schema of the answer that `disruption --format json` prints.
pub fn disruption(id: &str) -> Value {
    let truth = || json!({"type": "boolean"});
    let budget = all_of(&[
        ("reason", json!({"enum": ["Empty", "Drifted", "Underutilized", "Unhealthy"]})),
        ("allowed", json!({"type": "integer"})),
        ("unlimited", truth()),
        ("active", list(&json!({"enum": [true, false, "error"]}))),
        ("error", text()),
        ("until", instant()),
    ]);
    let pool = all_of(&[("name", text()), ("nodes", count()), ("budgets", list(&budget))]);
    let node = all_of(&[
        ("name", text()),
        ("nodePool", text()),
        ("candidate", truth()),
        ("blockedBy", json!({"enum": BLOCKERS})),
        ("message", text()),
        ("related", list(&related())),
        ("until", instant()),
    ]);
    let replacement = all_of(&[
        ("nodePool", text()),
        ("instanceTypes", count()),
        ("cheapest", list(&all_of(&[("name", text()), ("price", price())]))),
        ("capacityTypes", list(&text())),
    ]);
    let command = all_of(&[
        ("decision", json!({"enum": ["delete", "replace"]})),
        ("candidates", list(&text())),
        ("savings", json!({"type": "number"})),
        ("replacements", list(&replacement)),
    ]);
    let method = all_of(&[
        ("method", json!({"enum": METHODS})),
        ("candidates", list(&text())),
        ("commands", list(&command)),
        ("rejected", list(&all_of(&[("node", text()), ("message", text())]))),
    ]);
    let drain = all_of(&[
        ("node", text()),
        ("longestSeconds", json!({"type": ["integer", "null"], "minimum": 0})),
        ("never", truth()),
        ("because", list(&text())),
    ]);
    let acts: Vec<&str> = METHODS.into_iter().chain([""]).collect();
    let mut schema = all_of(&[
        ("schema", json!({"const": 1})),
        ("version", text()),
        ("karpenterVersion", text()),
        ("at", json!({"type": "string", "format": "date-time"})),
        ("acts", json!({"enum": acts})),
        ("nodePools", list(&pool)),
        ("nodes", list(&node)),
        ("methods", list(&method)),
        ("drain", list(&drain)),
        ("findings", list(&finding())),
    ]);
    if let Some(fields) = schema.as_object_mut() {
        fields.insert("$schema".to_owned(), DIALECT.into());
        fields.insert("$id".to_owned(), id.into());
        fields.insert("title".to_owned(), "Disruption in a cluster, as Karpwarden judges it".into());
    }
    schema
}

/// The methods of disruption.
const METHODS: [&str; 5] =
    ["Emptiness", "StaticDrift", "Drift", "MultiNodeConsolidation", "SingleNodeConsolidation"];

/// The reasons that keep a node from being disrupted; empty without a reason.
const BLOCKERS: [&str; 18] = [
    "",
    "unmanaged",
    "no-node",
    "not-initialized",
    "deleting",
    "nominated",
    "do-not-disrupt",
    "pod-do-not-disrupt",
    "pdb",
    "several-pdbs",
    "no-pool",
    "no-instance-type",
    "static",
    "consolidate-after",
    "policy",
    "condition",
    "budget",
    "in-progress",
];

/// A time, or an empty text.
fn instant() -> Value {
    json!({"anyOf": [{"const": ""}, {"type": "string", "format": "date-time"}]})
}

/// USD per hour.
fn price() -> Value {
    json!({"type": "number", "minimum": 0})
}

/// Schema of a finding or diagnosis.
fn finding() -> Value {
    let severities = [Severity::Error, Severity::Warning, Severity::Info].map(Severity::name);
    let caught_by = [CaughtBy::ApiServer, CaughtBy::Controller, CaughtBy::Nobody].map(CaughtBy::name);
    some_of(
        &[
            ("rule", text()),
            ("family", family()),
            ("severity", json!({"enum": severities})),
            ("caughtBy", json!({"enum": caught_by})),
            ("releases", text()),
            ("cluster", text()),
            ("file", text()),
            ("document", count()),
            ("apiVersion", text()),
            ("kind", text()),
            ("namespace", text()),
            ("name", text()),
            ("path", text()),
            ("line", position()),
            ("column", position()),
            ("endLine", position()),
            ("endColumn", position()),
            ("offset", position()),
            ("endOffset", position()),
            ("message", text()),
            ("help", text()),
            ("url", text()),
            ("related", list(&related())),
            ("fix", json!({"anyOf": [fix(), {"type": "null"}]})),
        ],
        // Only `upgrade` writes the first two, and only `diagnose` the others.
        &[
            ("boundary", text()),
            ("phase", json!({"enum": ["before", "with", "after"]})),
            ("confidence", json!({"enum": ["certain", "likely", "possible"]})),
            ("evidence", list(&all_of(&[("file", text()), ("line", position()), ("text", text())]))),
            ("seen", seen()),
        ],
    )
}

fn related() -> Value {
    all_of(&[
        ("file", text()),
        ("document", count()),
        ("path", text()),
        ("line", position()),
        ("column", position()),
        ("offset", position()),
        ("endOffset", position()),
        ("message", text()),
    ])
}

fn fix() -> Value {
    let edit = all_of(&[("file", text()), ("offset", count()), ("endOffset", count()), ("text", text())]);
    all_of(&[("title", text()), ("safe", json!({"type": "boolean"})), ("edits", list(&edit))])
}

/// Schema of a line, column or offset, which is `null` in a report about an admission request.
fn position() -> Value {
    json!({"type": ["integer", "null"], "minimum": 0})
}

fn text() -> Value {
    json!({"type": "string"})
}

fn count() -> Value {
    json!({"type": "integer", "minimum": 0})
}

fn time() -> Value {
    json!({"type": ["string", "null"], "format": "date-time"})
}

/// Schema of how often and when a problem was seen.
fn seen() -> Value {
    all_of(&[
        ("count", count()),
        ("atLeast", json!({"type": "boolean"})),
        ("first", time()),
        ("last", time()),
        ("objects", list(&text())),
        ("objectsInAll", count()),
    ])
}

/// Schema of the statistics of one cluster's logs.
fn log() -> Value {
    let skipped = all_of(&[("reason", text()), ("count", count())]);
    let not_recognised = all_of(&[
        ("message", text()),
        ("count", count()),
        ("first", time()),
        ("last", time()),
        ("file", text()),
        ("line", count()),
        ("text", text()),
    ]);
    let mut fields = vec![
        ("cluster", text()),
        ("level", json!({"enum": ["DEBUG", "INFO", "WARN", "ERROR", "PANIC", null]})),
    ];
    fields.extend(
        ["files", "lines", "entries", "understood", "unknown", "truncated", "notUtf8", "forgotten"]
            .map(|name| (name, count())),
    );
    fields.extend([
        ("isOfKarpenter", json!({"type": "boolean"})),
        ("notRecognised", list(&not_recognised)),
        ("notRecognisedMore", count()),
        ("skipped", list(&skipped)),
        ("settling", list(&text())),
        ("releases", text()),
        ("first", time()),
        ("last", time()),
    ]);
    all_of(&fields)
}

/// Schema of the story of one object.
fn story() -> Value {
    let mut step = vec![("event", text()), ("time", time()), ("last", time()), ("count", count())];
    step.extend(
        ["nodeClaim", "node", "pod", "nodePool", "reason", "message", "meaning", "file"]
            .map(|name| (name, text())),
    );
    step.push(("line", count()));
    let mut lifeline: Vec<_> =
        ["nodeClaim", "node", "nodePool", "instance", "reason"].map(|name| (name, text())).into();
    lifeline.extend(
        [
            "created",
            "launched",
            "registered",
            "initialized",
            "disrupted",
            "draining",
            "drained",
            "terminated",
        ]
        .map(|name| (name, time())),
    );
    lifeline.push(("pods", list(&text())));
    all_of(&[
        ("cluster", text()),
        ("kind", json!({"enum": ["Node", "Pod", "NodePool", "Cluster"]})),
        ("name", text()),
        ("steps", list(&all_of(&step))),
        ("lifelines", list(&all_of(&lifeline))),
        ("forgotten", count()),
    ])
}

/// Schema of an object with required fields.
fn all_of(fields: &[(&str, Value)]) -> Value {
    some_of(fields, &[])
}

/// Schema of an object with required and optional fields. It allows other fields, because later versions may add some.
fn some_of(fields: &[(&str, Value)], optional: &[(&str, Value)]) -> Value {
    let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let properties: Map<String, Value> =
        fields.iter().chain(optional).map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({"type": "object", "required": required, "properties": properties})
}

fn list(items: &Value) -> Value {
    json!({"type": "array", "items": items})
}
