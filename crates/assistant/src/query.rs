//! The arguments of the tools, as types. Their JSON Schemas are derived.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use thiserror::Error;
use values::spelling::did_you_mean_name;

use crate::schema::input;
use crate::tool::ToolName;

/// Maximum number of bytes of a text in an argument: 4 MiB.
pub const MAX_TEXT: usize = 4 << 20;

/// Maximum number of paths in an argument.
pub const MAX_PATHS: usize = 1_000;

/// Error in the arguments of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ArgumentError {
    /// The tool has no such argument.
    #[error("there is no argument `{name}`{hint}; the arguments are {known}")]
    Unknown {
        /// The name.
        name: String,
        /// The name that is probably meant.
        hint: String,
        /// The names of the arguments.
        known: String,
    },
    /// The value of an argument has another type.
    #[error("`{name}`: {reason}")]
    Invalid {
        /// The argument.
        name: String,
        /// The reason.
        reason: String,
    },
    /// Arguments are missing or contradict each other.
    #[error("{0}")]
    Combination(&'static str),
    /// A text or a list is too large.
    #[error("`{name}` has {size}, and at most {most} are read; {remedy}")]
    TooLarge {
        /// The argument.
        name: &'static str,
        /// The size, such as `5 MiB`.
        size: String,
        /// The bound.
        most: String,
        /// The advice to the assistant.
        remedy: &'static str,
    },
    /// The cursor continues no answer.
    #[error("`cursor`: {0}; call the tool again without `cursor`")]
    Cursor(&'static str),
}

/// Manifests or logs to read. All fields are documentation for the assistant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct QuerySource {
    /// Content to read, such as YAML documents separated by `---`. It is the file `-` in the answer.
    #[serde(default)]
    pub text: Option<String>,
    /// Files and folders to read, below the folders that the client grants. A relative path starts from one of them.
    #[serde(default)]
    pub paths: Vec<String>,
}

/// Releases and facts about the cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueryTarget {
    /// Karpenter release, such as 1.8 or 1.8.3. Default: the version that the manifests pin, or else the newest known release.
    #[serde(default)]
    pub karpenter_version: Option<String>,
    /// Kubernetes version, such as 1.33. Default: none is assumed.
    #[serde(default)]
    pub kubernetes_version: Option<String>,
    /// Name of the cluster. It adds rules that compare names of roles, tags and queues with it.
    #[serde(default)]
    pub cluster_name: Option<String>,
}

/// Arguments of `check`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckQuery {
    /// The input.
    #[serde(flatten)]
    pub source: QuerySource,
    /// The releases. A range such as 1.6..1.10 is possible too.
    #[serde(flatten)]
    pub target: QueryTarget,
    /// Whether the input holds every NodePool and EC2NodeClass of the cluster, so that what is absent is missing.
    #[serde(default)]
    pub complete: bool,
    /// Report only these rules or families.
    #[serde(default)]
    pub select: Vec<String>,
    /// Report all but these rules or families.
    #[serde(default)]
    pub ignore: Vec<String>,
}

/// Arguments of `explain`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct ExplainQuery {
    /// Names of rules, symptoms or families, as in the key `rule` or `family` of a finding.
    #[serde(default)]
    pub names: Vec<String>,
}

/// Arguments of `upgrade`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UpgradeQuery {
    /// The input.
    #[serde(flatten)]
    pub source: QuerySource,
    /// Karpenter release that runs now, such as 1.8. Default: the version that the manifests pin.
    #[serde(default)]
    pub from: Option<String>,
    /// Karpenter release after the upgrade. Default: the newest known release.
    #[serde(default)]
    pub to: Option<String>,
    /// Kubernetes version, such as 1.33. Default: none is assumed.
    #[serde(default)]
    pub kubernetes_version: Option<String>,
    /// Name of the cluster.
    #[serde(default)]
    pub cluster_name: Option<String>,
}

/// The world of a simulation, where the input does not show it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QueryWorld {
    /// Number of pods of workloads, each such as deploy/web=50 or deploy/shop/web=50.
    #[serde(default)]
    pub replicas: Vec<String>,
    /// AWS region. Default: the region of the zones, or else us-east-1.
    #[serde(default)]
    pub region: Option<String>,
    /// Zones of the subnets, each such as us-east-1a or us-east-1a=use1-az1. Default: three zones of the region, and the zones in the input.
    #[serde(default)]
    pub zones: Vec<String>,
    /// Feature gates of the controller, each such as NodeOverlay=true.
    #[serde(default)]
    pub feature_gates: Vec<String>,
}

/// Arguments of `simulate`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SimulateQuery {
    /// The input.
    #[serde(flatten)]
    pub source: QuerySource,
    /// Karpenter release, such as 1.8 or 1.8.3. Default: the version that the manifests pin, or else the newest known release.
    #[serde(default)]
    pub karpenter_version: Option<String>,
    /// The world.
    #[serde(flatten)]
    pub world: QueryWorld,
    /// Whether to ignore the existing nodes in the input.
    #[serde(default)]
    pub empty: bool,
}

/// Arguments of `disruption`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DisruptionQuery {
    /// The input.
    #[serde(flatten)]
    pub source: QuerySource,
    /// Karpenter release, such as 1.8 or 1.8.3. Default: the version that the manifests pin, or else the newest known release.
    #[serde(default)]
    pub karpenter_version: Option<String>,
    /// Time to judge at, such as 2026-03-11T10:30:00Z. Default: now.
    #[serde(default)]
    pub at: Option<String>,
    /// Answer only about this node: its name, its NodeClaim or its instance.
    #[serde(default)]
    pub node: Option<String>,
    /// Answer only about the node that runs this pod, such as shop/web-0.
    #[serde(default)]
    pub pod: Option<String>,
}

/// Arguments of `plan`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanQuery {
    /// Content before the change.
    #[serde(default)]
    pub old_text: Option<String>,
    /// File or folder before the change.
    #[serde(default)]
    pub old_path: Option<String>,
    /// Content after the change.
    #[serde(default)]
    pub new_text: Option<String>,
    /// File or folder after the change.
    #[serde(default)]
    pub new_path: Option<String>,
    /// Folder with a snapshot of the cluster, which `karpwarden collect` writes: the state before the change, with its nodes and pods.
    #[serde(default)]
    pub snapshot: Option<String>,
    /// Whether the files after the change hold every NodePool, EC2NodeClass and NodeOverlay: an object that only the snapshot has is removed.
    #[serde(default)]
    pub complete: bool,
    /// Karpenter release before the change, for an upgrade. Default: the version that the manifests pin.
    #[serde(default)]
    pub from: Option<String>,
    /// Karpenter release after the change, for an upgrade. Default: the version that the manifests pin.
    #[serde(default)]
    pub to: Option<String>,
    /// Karpenter release before and after, such as 1.8 or 1.8.3.
    #[serde(default)]
    pub karpenter_version: Option<String>,
    /// Time of the change, such as 2026-03-11T10:30:00Z. Default: now.
    #[serde(default)]
    pub at: Option<String>,
    /// The world.
    #[serde(flatten)]
    pub world: QueryWorld,
}

/// Arguments of `diagnose`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiagnoseQuery {
    /// The input: logs of the controller, events, the output of `kubectl get -o yaml` with status, manifests.
    #[serde(flatten)]
    pub source: QuerySource,
    /// The releases.
    #[serde(flatten)]
    pub target: QueryTarget,
    /// Report only these symptoms, rules or families.
    #[serde(default)]
    pub select: Vec<String>,
    /// Report all but these symptoms, rules or families.
    #[serde(default)]
    pub ignore: Vec<String>,
    /// Add the story of this Node, NodeClaim or instance.
    #[serde(default)]
    pub node: Option<String>,
    /// Add the story of this pod, such as shop/web-0.
    #[serde(default)]
    pub pod: Option<String>,
    /// Add the story of this NodePool.
    #[serde(default)]
    pub nodepool: Option<String>,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolQuery {
    /// `check`.
    Check(CheckQuery),
    /// `explain`.
    Explain(ExplainQuery),
    /// `upgrade`.
    Upgrade(UpgradeQuery),
    /// `simulate`.
    Simulate(SimulateQuery),
    /// `disruption`.
    Disruption(DisruptionQuery),
    /// `plan`.
    Plan(PlanQuery),
    /// `diagnose`.
    Diagnose(DiagnoseQuery),
}

/// A call of a tool, or of the rest of an earlier answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolRequest {
    /// A new answer.
    Query(Box<ToolQuery>),
    /// The rest of an answer.
    Continue(String),
}

impl ToolRequest {
    /// Reads the arguments of a tool. With a cursor, the other arguments are not read.
    pub fn parse(tool: ToolName, arguments: Map<String, Value>) -> Result<Self, ArgumentError> {
        let known = tool.arguments();
        if let Some(name) = arguments.keys().find(|name| !known.contains(name)) {
            let names: Vec<&str> = known.iter().map(String::as_str).collect();
            let hint = did_you_mean_name(name, names.iter().copied());
            let known = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            return Err(ArgumentError::Unknown { name: short(name), hint, known });
        }
        match arguments.get("cursor") {
            None | Some(Value::Null) => {}
            Some(Value::String(cursor)) => return Ok(Self::Continue(cursor.clone())),
            Some(_) => {
                let (name, reason) =
                    ("cursor".to_owned(), "write the string of an earlier answer".to_owned());
                return Err(ArgumentError::Invalid { name, reason });
            }
        }
        let query = match tool {
            ToolName::Check => ToolQuery::Check(read(arguments)?),
            ToolName::Explain => ToolQuery::Explain(read(arguments)?),
            ToolName::Upgrade => ToolQuery::Upgrade(read(arguments)?),
            ToolName::Simulate => ToolQuery::Simulate(read(arguments)?),
            ToolName::Disruption => ToolQuery::Disruption(read(arguments)?),
            ToolName::Plan => ToolQuery::Plan(read(arguments)?),
            ToolName::Diagnose => ToolQuery::Diagnose(read(arguments)?),
        };
        query.check()?;
        Ok(Self::Query(Box::new(query)))
    }
}

impl ToolQuery {
    /// The paths that the query reads.
    pub fn paths(&self) -> Vec<&str> {
        match self {
            Self::Explain(_) => Vec::new(),
            Self::Plan(plan) => [&plan.old_path, &plan.new_path, &plan.snapshot]
                .into_iter()
                .flatten()
                .map(String::as_str)
                .collect(),
            _ => self.source().into_iter().flat_map(|source| &source.paths).map(String::as_str).collect(),
        }
    }

    fn source(&self) -> Option<&QuerySource> {
        match self {
            Self::Check(query) => Some(&query.source),
            Self::Upgrade(query) => Some(&query.source),
            Self::Simulate(query) => Some(&query.source),
            Self::Disruption(query) => Some(&query.source),
            Self::Diagnose(query) => Some(&query.source),
            Self::Explain(_) | Self::Plan(_) => None,
        }
    }

    /// Checks that there is something to read, within the bounds.
    fn check(&self) -> Result<(), ArgumentError> {
        if let Some(source) = self.source() {
            check_size("text", source.text.as_deref())?;
            if source.paths.len() > MAX_PATHS {
                return Err(ArgumentError::TooLarge {
                    name: "paths",
                    size: format!("{} paths", source.paths.len()),
                    most: MAX_PATHS.to_string(),
                    remedy: "name the folder that holds the files",
                });
            }
            if source.text.is_none() && source.paths.is_empty() {
                return Err(ArgumentError::Combination("pass `text`, `paths` or both"));
            }
        }
        match self {
            Self::Explain(query) if query.names.is_empty() => {
                Err(ArgumentError::Combination("`names` is empty: name a rule, a symptom or a family"))
            }
            Self::Plan(plan) => plan.check(),
            _ => Ok(()),
        }
    }
}

impl PlanQuery {
    /// Whether the state before the change is named.
    pub fn has_old(&self) -> bool {
        self.old_text.is_some() || self.old_path.is_some()
    }

    /// Whether the state after the change is named.
    pub fn has_new(&self) -> bool {
        self.new_text.is_some() || self.new_path.is_some()
    }

    fn check(&self) -> Result<(), ArgumentError> {
        check_size("oldText", self.old_text.as_deref())?;
        check_size("newText", self.new_text.as_deref())?;
        let is_twice = |text: &Option<String>, path: &Option<String>| text.is_some() && path.is_some();
        let has_release = self.from.is_some() || self.to.is_some();
        let reason = if is_twice(&self.old_text, &self.old_path) {
            "pass `oldText` or `oldPath`, not both"
        } else if is_twice(&self.new_text, &self.new_path) {
            "pass `newText` or `newPath`, not both"
        } else if self.snapshot.is_some() && self.has_old() {
            "`snapshot` is the state before the change: leave out `oldText` and `oldPath`"
        } else if self.complete && (self.snapshot.is_none() || !self.has_new()) {
            "`complete` is about `newText` or `newPath` and a `snapshot`"
        } else if self.has_old() && !self.has_new() {
            "the state after the change is missing: pass `newText` or `newPath`"
        } else if !self.has_old() && self.snapshot.is_none() && !(self.has_new() && has_release) {
            "the state before the change is missing: pass `oldText`, `oldPath` or `snapshot`; or `from` and `to` with `newText` or `newPath` for an upgrade alone"
        } else {
            return Ok(());
        };
        Err(ArgumentError::Combination(reason))
    }
}

fn check_size(name: &'static str, text: Option<&str>) -> Result<(), ArgumentError> {
    let size = text.map_or(0, str::len);
    if size <= MAX_TEXT {
        return Ok(());
    }
    Err(ArgumentError::TooLarge {
        name,
        size: format!("{} MiB", size.div_ceil(1 << 20)),
        most: format!("{} MiB", MAX_TEXT >> 20),
        remedy: "write it to a file and pass its path",
    })
}

/// Reads arguments. An error names the argument: the one that cannot be read alone, because no argument is required.
fn read<Q: DeserializeOwned>(arguments: Map<String, Value>) -> Result<Q, ArgumentError> {
    let whole = Value::Object(arguments.clone());
    serde_json::from_value(whole).map_err(|error| {
        let alone = arguments.into_iter().find_map(|(name, value)| {
            let one = Value::Object(Map::from_iter([(name.clone(), value)]));
            serde_json::from_value::<Q>(one).err().map(|error| (name, error.to_string()))
        });
        let (name, reason) = alone.unwrap_or_else(|| ("arguments".to_owned(), error.to_string()));
        ArgumentError::Invalid { name, reason: short(&reason) }
    })
}

/// The start of a text, for a message.
fn short(text: &str) -> String {
    const MOST: usize = 200;
    let end = text.floor_char_boundary(MOST);
    let dots = if end < text.len() { "…" } else { "" };
    format!("{}{dots}", text.get(..end).unwrap_or_default())
}

impl ToolName {
    /// The JSON Schema of the arguments.
    pub fn input_schema(self) -> Map<String, Value> {
        match self {
            Self::Check => input::<CheckQuery>(),
            Self::Explain => input::<ExplainQuery>(),
            Self::Upgrade => input::<UpgradeQuery>(),
            Self::Simulate => input::<SimulateQuery>(),
            Self::Disruption => input::<DisruptionQuery>(),
            Self::Plan => input::<PlanQuery>(),
            Self::Diagnose => input::<DiagnoseQuery>(),
        }
    }

    /// The names of the arguments.
    fn arguments(self) -> Vec<String> {
        let schema = self.input_schema();
        let properties = schema.get("properties").and_then(Value::as_object);
        properties.into_iter().flat_map(Map::keys).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parsed(tool: ToolName, arguments: Value) -> Result<ToolRequest, String> {
        let Value::Object(arguments) = arguments else { panic!("{arguments}") };
        ToolRequest::parse(tool, arguments).map_err(|error| error.to_string())
    }

    #[test]
    fn reads_arguments_and_names_the_place_of_an_error() {
        let query = ToolQuery::Check(CheckQuery {
            source: QuerySource { text: Some("a: 1".to_owned()), paths: vec!["nodes".to_owned()] },
            target: QueryTarget { karpenter_version: Some("1.8".to_owned()), ..QueryTarget::default() },
            ..CheckQuery::default()
        });
        assert_eq!(query.paths(), ["nodes"]);
        let arguments =
            json!({"text": "a: 1", "paths": ["nodes"], "karpenterVersion": "1.8", "clusterName": null});
        assert_eq!(parsed(ToolName::Check, arguments), Ok(ToolRequest::Query(Box::new(query))));
        for (arguments, error) in [
            (json!({}), "pass `text`, `paths` or both"),
            (json!({"text": 5}), "`text`: invalid type: integer `5`, expected a string"),
            (
                json!({"text": "a", "paths": "a.yaml"}),
                "`paths`: invalid type: string \"a.yaml\", expected a sequence",
            ),
            (json!({"text": "a", "cursor": 5}), "`cursor`: write the string of an earlier answer"),
        ] {
            assert_eq!(parsed(ToolName::Check, arguments), Err(error.to_owned()));
        }
        let error = parsed(ToolName::Check, json!({"txt": "a"})).unwrap_err();
        assert!(error.starts_with("there is no argument `txt` (did you mean `text`?)"), "{error}");
        assert!(error.contains("`karpenterVersion`"), "{error}");
    }

    #[test]
    fn a_cursor_needs_no_other_argument() {
        let request = parsed(ToolName::Plan, json!({"cursor": "a"}));
        assert_eq!(request, Ok(ToolRequest::Continue("a".to_owned())));
        assert!(parsed(ToolName::Explain, json!({"cursor": null, "names": ["storage"]})).is_ok());
    }

    #[test]
    fn refuses_a_large_text_and_many_paths() {
        let error = parsed(ToolName::Diagnose, json!({"text": " ".repeat(MAX_TEXT + 1)})).unwrap_err();
        assert_eq!(
            error,
            "`text` has 5 MiB, and at most 4 MiB are read; write it to a file and pass its path"
        );
        let error = parsed(ToolName::Check, json!({"paths": vec!["a"; MAX_PATHS + 1]})).unwrap_err();
        assert!(error.starts_with("`paths` has 1001 paths"), "{error}");
    }

    #[test]
    fn a_plan_needs_both_states() {
        let plan = |arguments| parsed(ToolName::Plan, arguments).err().unwrap_or_default();
        for arguments in [
            json!({"oldText": "a", "newPath": "b"}),
            json!({"snapshot": "a"}),
            json!({"snapshot": "a", "newText": "b", "complete": true}),
            json!({"newText": "a", "from": "1.8", "to": "1.9"}),
        ] {
            assert_eq!(plan(arguments), "");
        }
        for (arguments, reason) in [
            (json!({}), "the state before the change is missing"),
            (json!({"oldText": "a"}), "the state after the change is missing"),
            (
                json!({"oldText": "a", "oldPath": "a", "newText": "b"}),
                "pass `oldText` or `oldPath`, not both",
            ),
            (json!({"snapshot": "a", "oldText": "a", "newText": "b"}), "`snapshot` is the state before"),
            (json!({"oldText": "a", "newText": "b", "complete": true}), "`complete` is about"),
        ] {
            let error = plan(arguments);
            assert!(error.starts_with(reason), "{error}");
        }
    }
}
