//! The tools.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use crate::bounded::ExplainAnswer;
use crate::schema::{derived, output};

/// Published schemas of the answers, derived from the crate `answers`.
const REPORT: &str = include_str!("../../../schemas/report.schema.json");
const SIMULATION: &str = include_str!("../../../schemas/simulation.schema.json");
const DISRUPTION: &str = include_str!("../../../schemas/disruption.schema.json");
const PLAN: &str = include_str!("../../../schemas/plan.schema.json");

/// The published schemas by name.
pub(crate) const SCHEMAS: [(&str, &str); 4] =
    [("report", REPORT), ("simulation", SIMULATION), ("disruption", DISRUPTION), ("plan", PLAN)];

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolName {
    /// Checks manifests.
    Check,
    /// Explains rules.
    Explain,
    /// Compares two releases.
    Upgrade,
    /// Places pods.
    Simulate,
    /// Judges disruption.
    Disruption,
    /// Forecasts a change.
    Plan,
    /// Finds causes.
    Diagnose,
}

impl ToolName {
    /// Every tool.
    pub const ALL: [Self; 7] = [
        Self::Check,
        Self::Explain,
        Self::Upgrade,
        Self::Simulate,
        Self::Disruption,
        Self::Plan,
        Self::Diagnose,
    ];

    /// The tool with a name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// The name in the protocol.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Check => "check",
            Self::Explain => "explain",
            Self::Upgrade => "upgrade",
            Self::Simulate => "simulate",
            Self::Disruption => "disruption",
            Self::Plan => "plan",
            Self::Diagnose => "diagnose",
        }
    }

    /// The name for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Check => "Check Karpenter manifests",
            Self::Explain => "Explain rules and symptoms",
            Self::Upgrade => "Show what an upgrade of Karpenter breaks",
            Self::Simulate => "Simulate where Karpenter places pods",
            Self::Disruption => "Show what Karpenter may disrupt",
            Self::Plan => "Show what a change does to nodes",
            Self::Diagnose => "Find the cause in logs, events and status",
        }
    }

    /// The description for the model.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Check => {
                "Checks manifests of Karpenter on AWS (NodePool, EC2NodeClass, NodeClaim, NodeOverlay) and the Kubernetes objects around \
                 them (workloads, PodDisruptionBudgets, StorageClasses, IAM policies, Helm values, Terraform) as the API server and the \
                 controller of a release would. Returns findings with file, line, message, help and a fix where one is safe. Call it after \
                 every change of such a manifest, until `answer.summary.errors` is 0."
            }
            Self::Explain => {
                "Returns the documentation of rules, symptoms or families: what goes wrong in the cluster, an example, what to write \
                 instead, and sources. Call it with the `rule` of a finding before you suppress or argue with the finding."
            }
            Self::Upgrade => {
                "Shows what manifests lose or break between two releases of Karpenter, at which release, and what to do before, with and \
                 after it."
            }
            Self::Simulate => {
                "Simulates kube-scheduler and Karpenter's scheduler on the pods, NodePools, EC2NodeClasses and nodes of the input: the new \
                 nodes with the instance types that remain and their list prices, and for each pod without a node the reason of every \
                 NodePool."
            }
            Self::Disruption => {
                "Shows what Karpenter may disrupt at a time: the budgets of each NodePool, what blocks each node, what each method of \
                 disruption would do, and how long the drain of each node can take. The nodes come from a snapshot of a cluster."
            }
            Self::Plan => {
                "Forecasts what a change of NodePools, EC2NodeClasses or of the release does to nodes: for each changed field whether \
                 Karpenter replaces every node, some nodes or none; with a snapshot of the cluster also which nodes, when, and the cost. \
                 Call it before you propose a change of a manifest that is in use."
            }
            Self::Diagnose => {
                "Finds the causes of problems in logs of Karpenter's controller, Kubernetes events and the status of objects, and names \
                 the line of the manifest where one is the cause."
            }
        }
    }

    /// The JSON Schema of a bounded answer.
    pub fn output_schema(self) -> Map<String, Value> {
        let published = |text: &str| serde_json::from_str(text).unwrap_or_default();
        output(match self {
            Self::Check | Self::Upgrade | Self::Diagnose => published(REPORT),
            Self::Simulate => published(SIMULATION),
            Self::Disruption => published(DISRUPTION),
            Self::Plan => published(PLAN),
            Self::Explain => derived::<ExplainAnswer>(SchemaSettings::draft2020_12().for_serialize()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_of_a_schema_leads_to_a_definition() {
        fn references(schema: &Value, found: &mut Vec<String>) {
            match schema {
                Value::Object(fields) => {
                    found.extend(fields.get("$ref").and_then(Value::as_str).map(str::to_owned));
                    fields.values().for_each(|one| references(one, found));
                }
                Value::Array(items) => items.iter().for_each(|one| references(one, found)),
                _ => {}
            }
        }
        for tool in ToolName::ALL {
            for schema in [tool.input_schema(), tool.output_schema()] {
                let schema = Value::Object(schema);
                let mut found = Vec::new();
                references(&schema, &mut found);
                for reference in found {
                    let pointer = reference.strip_prefix('#').unwrap();
                    assert!(schema.pointer(pointer).is_some(), "{}: {reference}", tool.name());
                }
                assert_eq!(schema["type"], "object", "{}", tool.name());
            }
        }
    }

    #[test]
    fn every_argument_has_a_type_and_a_description() {
        for tool in ToolName::ALL {
            let schema = tool.input_schema();
            for (name, property) in schema["properties"].as_object().unwrap() {
                assert!(property["type"].is_string(), "{} {name}: {property}", tool.name());
                assert!(property["description"].is_string(), "{} {name}", tool.name());
            }
            assert!(!schema.contains_key("required"));
        }
    }
}
