//! Policies as the manifests configure them: which requests the API server sends to each, and with which settings.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, anyhow};
use cel::{Context, Program, Value as CelValue};
use serde::Deserialize;
use serde_json::Value;

use crate::metadata;
use crate::module::PolicyModule;
use crate::server::{Mode, Policy};

/// A `ClusterAdmissionPolicy`, with the module that it runs.
pub struct PublishedPolicy {
    name: String,
    spec: Spec,
    /// The conditions by name.
    conditions: Vec<(String, Program)>,
    policy: Policy,
}

/// The part of `spec` that decides about a request: kubewarden/kubewarden-controller `api/policies/v1/clusteradmissionpolicy_types.go`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    mode: Option<String>,
    mutating: bool,
    rules: Value,
    settings: Option<Value>,
    #[serde(default)]
    failure_policy: FailurePolicy,
    namespace_selector: Option<LabelSelector>,
    object_selector: Option<LabelSelector>,
    #[serde(default)]
    match_conditions: Vec<MatchCondition>,
    #[serde(default)]
    context_aware_resources: Vec<LookedUpKind>,
}

/// What happens to a request if a condition cannot be evaluated.
#[derive(Clone, Copy, Default, Deserialize, PartialEq, Eq)]
enum FailurePolicy {
    #[default]
    Fail,
    Ignore,
}

#[derive(Deserialize)]
struct MatchCondition {
    name: String,
    expression: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LookedUpKind {
    api_version: String,
    kind: String,
}

/// `metav1.LabelSelector`.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct LabelSelector {
    match_labels: BTreeMap<String, String>,
    match_expressions: Vec<LabelExpression>,
}

#[derive(Deserialize)]
struct LabelExpression {
    key: String,
    operator: LabelOperator,
    #[serde(default)]
    values: Vec<String>,
}

#[derive(Clone, Copy, Deserialize)]
enum LabelOperator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

impl LabelSelector {
    fn selects<'l>(&self, label: impl Fn(&str) -> Option<&'l str>) -> bool {
        let has = |(key, value): (&String, &String)| label(key) == Some(value);
        let holds = |expression: &LabelExpression| {
            let value = label(&expression.key);
            let is_listed = || value.is_some_and(|value| expression.values.iter().any(|one| one == value));
            match expression.operator {
                LabelOperator::In => is_listed(),
                LabelOperator::NotIn => !is_listed(),
                LabelOperator::Exists => value.is_some(),
                LabelOperator::DoesNotExist => value.is_none(),
            }
        };
        self.match_labels.iter().all(has) && self.match_expressions.iter().all(holds)
    }
}

/// Why the API server does not send a request to a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyMismatch {
    /// No rule names the kind and the operation.
    Rules,
    /// The labels of the object do not match `objectSelector`.
    ObjectSelector,
    /// The labels of the namespace do not match `namespaceSelector`.
    NamespaceSelector,
    /// The match condition with this name does not hold.
    Condition(String),
    /// The match condition with this name cannot be evaluated.
    FailedCondition {
        /// The name.
        name: String,
        /// Whether the API server rejects the request, instead of leaving out the policy.
        rejects: bool,
    },
}

impl core::fmt::Display for PolicyMismatch {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Rules => f.write_str("no rule names its kind"),
            Self::ObjectSelector => f.write_str("`objectSelector` excludes its labels"),
            Self::NamespaceSelector => f.write_str("`namespaceSelector` excludes its namespace"),
            Self::Condition(name) => write!(f, "its match condition `{name}` does not hold"),
            Self::FailedCondition { name, rejects } => {
                let result = if *rejects { ", so the API server rejects the request" } else { "" };
                write!(f, "its match condition `{name}` cannot be evaluated{result}")
            }
        }
    }
}

impl PublishedPolicy {
    /// Reads a policy from its manifest; `None` if the object is of another kind.
    pub fn of(manifest: &Value, module: &PolicyModule) -> Result<Option<Self>> {
        if manifest.get("kind").and_then(Value::as_str) != Some("ClusterAdmissionPolicy") {
            return Ok(None);
        }
        let name = manifest.pointer("/metadata/name").and_then(Value::as_str).unwrap_or("(no name)");
        let spec = manifest.get("spec").cloned().unwrap_or_default();
        let spec: Spec = serde_json::from_value(spec).with_context(|| name.to_owned())?;
        let compiled = |MatchCondition { name, expression }: &MatchCondition| {
            let program = Program::compile(expression);
            let program = program.map_err(|error| anyhow!("match condition `{name}`: {error:?}"))?;
            Ok((name.clone(), program))
        };
        let conditions = spec.match_conditions.iter().map(compiled).collect::<Result<Vec<_>>>();
        let conditions = conditions.with_context(|| name.to_owned())?;
        let mode = if spec.mode.as_deref() == Some("monitor") { Mode::Monitor } else { Mode::Protect };
        let settings = spec.settings.clone().unwrap_or_else(|| Value::Object(serde_json::Map::new()));
        let policy = Policy::new(module.clone()).settings(settings).mode(mode).mutating(spec.mutating);
        Ok(Some(Self { name: name.to_owned(), spec, conditions, policy }))
    }

    /// The name of the policy.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The policy with its settings and its mode.
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Whether the policy may change objects. The API server calls such policies first.
    pub const fn is_mutating(&self) -> bool {
        self.spec.mutating
    }

    /// The kinds that the policy may read: pairs of apiVersion and kind.
    pub fn looked_up(&self) -> Vec<(&str, &str)> {
        let resources = self.spec.context_aware_resources.iter();
        resources.map(|one| (one.api_version.as_str(), one.kind.as_str())).collect()
    }

    /// Whether the API server sends a request to the policy. `namespaces` are the Namespaces of the cluster.
    ///
    /// Source: kubernetes/apiserver `pkg/admission/plugin/webhook/generic/webhook.go`, `ShouldCallHook`.
    pub fn matches(&self, request: &Value, namespaces: &[&Value]) -> Result<(), PolicyMismatch> {
        if !metadata::rules_match(&self.spec.rules, request) {
            return Err(PolicyMismatch::Rules);
        }
        if let (Some(selector), Some(name)) =
            (&self.spec.namespace_selector, request.get("namespace").and_then(Value::as_str))
            && !selector.selects(|key| namespace_label(name, namespaces, key))
        {
            return Err(PolicyMismatch::NamespaceSelector);
        }
        // The API server tries the old object too.
        let objects = || ["/object", "/oldObject"].into_iter().filter_map(|pointer| request.pointer(pointer));
        if let Some(selector) = &self.spec.object_selector
            && !objects().any(|object| selector.selects(|key| label(object, key)))
        {
            return Err(PolicyMismatch::ObjectSelector);
        }
        self.conditions_hold(request)
    }

    /// Evaluates the match conditions. A condition that is false decides before one that cannot be evaluated.
    ///
    /// Source: kubernetes/apiserver `pkg/admission/plugin/webhook/matchconditions/matcher.go`.
    fn conditions_hold(&self, request: &Value) -> Result<(), PolicyMismatch> {
        let mut context = Context::default();
        for (variable, pointer) in [("object", "/object"), ("oldObject", "/oldObject"), ("request", "")] {
            let value = request.pointer(pointer).cloned().unwrap_or_default();
            // A value of JSON is always a value of CEL.
            let _ = context.add_variable(variable, value);
        }
        let mut failed = None;
        for (name, program) in &self.conditions {
            match program.execute(&context) {
                Ok(CelValue::Bool(true)) => {}
                Ok(CelValue::Bool(false)) => return Err(PolicyMismatch::Condition(name.clone())),
                _ => failed = Some(name),
            }
        }
        let rejects = self.spec.failure_policy == FailurePolicy::Fail;
        failed.map_or(Ok(()), |name| Err(PolicyMismatch::FailedCondition { name: name.clone(), rejects }))
    }
}

fn label<'o>(object: &'o Value, key: &str) -> Option<&'o str> {
    object.pointer("/metadata/labels")?.get(key)?.as_str()
}

/// The label of a namespace. The API server sets the label with the name.
fn namespace_label<'n>(name: &'n str, namespaces: &[&'n Value], key: &str) -> Option<&'n str> {
    if key == "kubernetes.io/metadata.name" {
        return Some(name);
    }
    let is_named = |one: &&&Value| one.pointer("/metadata/name").and_then(Value::as_str) == Some(name);
    label(namespaces.iter().find(is_named)?, key)
}
