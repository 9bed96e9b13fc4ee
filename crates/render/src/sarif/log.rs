//! The parts of a SARIF log that a report needs, as types. The standard defines their names.

use std::collections::BTreeMap;
use std::fmt;

use rule::finding::{CaughtBy, Severity};
use serde::Serialize;

/// SARIF log. It prints as JSON with sorted keys.
#[derive(Clone, Debug, Serialize)]
pub struct SarifLog {
    #[serde(rename = "$schema")]
    pub(super) schema: &'static str,
    pub(super) version: &'static str,
    pub(super) runs: [SarifRun; 1],
}

impl fmt::Display for SarifLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        answers::sorted(self).map_err(|_| fmt::Error)?.fmt(f)
    }
}

/// The check.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifRun {
    pub(super) tool: Tool,
    pub(super) column_kind: &'static str,
    pub(super) results: Vec<SarifResult>,
    pub(super) invocations: [SarifInvocation; 1],
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Tool {
    pub(super) driver: ToolComponent,
}

/// This program, with the rules that the results name.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolComponent {
    pub(super) name: &'static str,
    pub(super) semantic_version: &'static str,
    pub(super) information_uri: &'static str,
    pub(super) rules: Vec<ReportingDescriptor>,
}

/// Rule or symptom.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReportingDescriptor {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) short_description: SarifMessage,
    pub(super) help: HelpMessage,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) help_uri: Option<String>,
    pub(super) default_configuration: Configuration,
    pub(super) properties: RuleProperties,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct HelpMessage {
    pub(super) text: String,
    pub(super) markdown: String,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Configuration {
    pub(super) level: SarifLevel,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RuleProperties {
    pub(super) tags: [&'static str; 2],
    pub(super) caught_by: CaughtBy,
}

/// Severity of a result.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum SarifLevel {
    Error,
    Warning,
    Note,
}

impl From<Severity> for SarifLevel {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Error => Self::Error,
            Severity::Warning => Self::Warning,
            Severity::Info => Self::Note,
        }
    }
}

/// Finding.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifResult {
    pub(super) rule_id: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rule_index: Option<usize>,
    pub(super) level: SarifLevel,
    pub(super) message: SarifMessage,
    pub(super) locations: [Location; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) related_locations: Vec<Location>,
    pub(super) partial_fingerprints: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fixes: Option<[SarifFix; 1]>,
    pub(super) properties: ResultProperties,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResultProperties {
    pub(super) releases: String,
    pub(super) caught_by: CaughtBy,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct SarifMessage {
    pub(super) text: String,
}

impl From<String> for SarifMessage {
    fn from(text: String) -> Self {
        Self { text }
    }
}

impl From<&str> for SarifMessage {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the keys of the format")]
pub(super) struct Location {
    pub(super) physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) logical_locations: Option<[LogicalLocation; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<SarifMessage>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PhysicalLocation {
    pub(super) artifact_location: ArtifactLocation,
    pub(super) region: Region,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct ArtifactLocation {
    pub(super) uri: String,
}

/// Range of a file. Without an end it ends with the line.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Region {
    pub(super) start_line: usize,
    pub(super) start_column: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end_line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end_column: Option<usize>,
}

/// Object and field.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LogicalLocation {
    pub(super) fully_qualified_name: String,
    pub(super) kind: &'static str,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifFix {
    pub(super) description: SarifMessage,
    pub(super) artifact_changes: Vec<ArtifactChange>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArtifactChange {
    pub(super) artifact_location: ArtifactLocation,
    pub(super) replacements: Vec<SarifReplacement>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifReplacement {
    pub(super) deleted_region: Region,
    pub(super) inserted_content: SarifMessage,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifInvocation {
    pub(super) execution_successful: bool,
    pub(super) tool_execution_notifications: Vec<Notification>,
}

/// File that could not be read.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Notification {
    pub(super) level: SarifLevel,
    pub(super) message: SarifMessage,
    pub(super) locations: [Location; 1],
}
