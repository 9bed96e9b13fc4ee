//! Turns a policy's answer into an AdmissionResponse, as policy-server does.
//!
//! Source: kubewarden/kubewarden-controller `crates/policy-evaluator/src/` (`runtimes/wapc/runtime.rs`,
//! `admission_response.rs`, `admission_response_handler.rs`).

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    cluster::FakeCluster,
    module::{CallFailure, PolicyModule},
};

/// A policy as configured by a `ClusterAdmissionPolicy`.
#[derive(Clone, Debug)]
pub struct Policy {
    module: PolicyModule,
    id: String,
    settings: Value,
    mode: Mode,
    mutating: bool,
    message: Option<String>,
}

/// `spec.mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Rejections take effect.
    #[default]
    Protect,
    /// Everything is allowed and nothing is changed; warnings and audit annotations remain.
    Monitor,
}

impl Policy {
    /// A policy with the defaults of the resource: no settings, mode `protect`, not mutating.
    pub fn new(module: PolicyModule) -> Self {
        let id = "kw.cap.karpenter".to_owned();
        Self { module, id, settings: json!({}), mode: Mode::Protect, mutating: false, message: None }
    }

    /// Sets `spec.settings`.
    pub fn settings(mut self, settings: Value) -> Self {
        self.settings = settings;
        self
    }

    /// Sets `spec.mode`.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets `spec.mutating`. If it is false, a mutation by the policy becomes a rejection.
    pub fn mutating(mut self, mutating: bool) -> Self {
        self.mutating = mutating;
        self
    }

    /// Sets `spec.message`, which replaces the policy's message in a rejection.
    pub fn message(mut self, message: &str) -> Self {
        self.message = Some(message.to_owned());
        self
    }

    /// Validates the settings. policy-server does this once at start, and exits if they are not valid.
    pub fn check_settings(&self, cluster: &FakeCluster) -> SettingsVerdict {
        let invalid = |message| SettingsVerdict { valid: false, message: Some(message) };
        match self.module.call("validate_settings", self.settings.to_string().as_bytes(), cluster) {
            Ok(answer) => {
                serde_json::from_slice(&answer).unwrap_or_else(|error| invalid(format!("error: {error:?}")))
            }
            Err(error) => invalid(format!("Error invoking settings validation callback: {error}")),
        }
    }

    /// Reviews a request in a new instance, and returns the response that the API server gets.
    pub fn review(&self, request: &Value, cluster: &FakeCluster) -> AdmissionResponse {
        self.constrain(self.evaluate(request, cluster))
    }

    fn evaluate(&self, request: &Value, cluster: &FakeCluster) -> AdmissionResponse {
        let uid = request.get("uid").and_then(Value::as_str).unwrap_or_default();
        let payload = json!({"request": request, "settings": self.settings}).to_string();
        match self.module.call("validate", payload.as_bytes(), cluster) {
            Ok(answer) => match serde_json::from_slice(&answer) {
                Ok(answer) => AdmissionResponse::of(uid, request.get("object"), answer),
                Err(error) => {
                    AdmissionResponse::broken(uid, &format!("invalid response from policy: {error}"))
                }
            },
            Err(CallFailure::Interrupted(_)) => AdmissionResponse::rejected(
                uid,
                "Policy execution interrupted because it exceeded the allowed execution time",
                Some(500),
            ),
            Err(failure) => AdmissionResponse::broken(uid, &failure.to_string()),
        }
    }

    /// Applies the mode, the permission to mutate and the custom message, in this order.
    fn constrain(&self, mut response: AdmissionResponse) -> AdmissionResponse {
        match self.mode {
            Mode::Monitor => {
                return AdmissionResponse {
                    allowed: true,
                    patch_type: None,
                    patch: None,
                    status: None,
                    ..response
                };
            }
            Mode::Protect if response.patch.is_some() && !self.mutating => {
                let message = format!(
                    "Request rejected by policy {}. The policy attempted to mutate the request, but it is currently configured to not allow mutations.",
                    self.id
                );
                response.allowed = false;
                response.status =
                    Some(AdmissionStatus { message: Some(message), ..AdmissionStatus::default() });
                (response.patch, response.patch_type) = (None, None);
            }
            Mode::Protect => {}
        }
        if let (false, Some(custom)) = (response.allowed, &self.message) {
            let status = response.status.get_or_insert_default();
            let own = status.message.replace(custom.clone()).unwrap_or_default();
            status
                .details
                .get_or_insert_default()
                .causes
                .push(StatusCause { message: Some(own), ..StatusCause::default() });
        }
        response
    }
}

/// Answer of `validate_settings`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SettingsVerdict {
    /// Whether policy-server starts with these settings.
    pub valid: bool,
    /// Reason why it does not.
    pub message: Option<String>,
}

/// Answer of `validate`: kubewarden-policy-sdk 0.17.3 `src/response.rs`.
#[derive(Deserialize)]
struct PolicyAnswer {
    accepted: bool,
    message: Option<String>,
    code: Option<u16>,
    mutated_object: Option<Value>,
    audit_annotations: Option<BTreeMap<String, String>>,
    warnings: Option<Vec<String>>,
}

/// Applies the decoded patch of a response to an object, as the API server does. A patch that does not fit leaves the object alone.
pub fn apply(patch: &Value, object: &mut Value) {
    let mut changed = object.clone();
    let patch = serde_json::from_value::<json_patch::Patch>(patch.clone());
    if patch.is_ok_and(|patch| json_patch::patch(&mut changed, &patch).is_ok()) {
        *object = changed;
    }
}

/// `admission.k8s.io/v1` `AdmissionResponse`. As in policy-server, some absent fields are left out and others are null.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AdmissionResponse {
    /// UID of the request.
    pub uid: String,
    /// Whether the object may be stored.
    pub allowed: bool,
    /// `JSONPatch` if the response has a patch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch_type: Option<String>,
    /// The patch (RFC 6902), in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    /// Reason for the rejection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<AdmissionStatus>,
    /// Annotations for the API server's audit log.
    pub audit_annotations: Option<BTreeMap<String, String>>,
    /// Warnings that kubectl prints.
    pub warnings: Option<Vec<String>>,
}

/// The part of `metav1.Status` that a policy can fill.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdmissionStatus {
    /// Message that kubectl prints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Holds the policy's message if a custom message replaced it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Details>,
    /// HTTP status; the API server chooses the status if it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<u16>,
}

/// The part of `metav1.StatusDetails` that policy-server fills.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Details {
    /// One message each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<StatusCause>,
}

/// `metav1.StatusCause`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusCause {
    /// Always null.
    pub reason: Option<String>,
    /// The policy's message.
    pub message: Option<String>,
    /// Only set for the members of a policy group.
    pub field: Option<String>,
}

impl AdmissionResponse {
    /// The status message, or an empty string.
    pub fn message(&self) -> &str {
        self.status.as_ref().and_then(|status| status.message.as_deref()).unwrap_or_default()
    }

    /// The decoded patch.
    pub fn patch(&self) -> Option<Value> {
        let bytes = STANDARD.decode(self.patch.as_ref()?).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    fn rejected(uid: &str, message: &str, code: Option<u16>) -> Self {
        let status = AdmissionStatus { message: Some(message.to_owned()), code, details: None };
        Self { uid: uid.to_owned(), status: Some(status), ..Self::default() }
    }

    fn broken(uid: &str, message: &str) -> Self {
        Self::rejected(uid, &format!("internal server error: {message}"), Some(500))
    }

    fn of(uid: &str, object: Option<&Value>, answer: PolicyAnswer) -> Self {
        let patch = match (&answer.mutated_object, object) {
            (None, _) => None,
            (Some(_), None) => {
                return Self::rejected(
                    uid,
                    "Incoming object is null, which happens only with DELETE operations, but the policy is attempting a mutation. This is not allowed",
                    None,
                );
            }
            (Some(mutated), Some(object)) => {
                let patch = json_patch::diff(object, mutated);
                (!patch.0.is_empty()).then(|| STANDARD.encode(json!(patch).to_string()))
            }
        };
        let has_status = answer.message.is_some() || answer.code.is_some();
        let status = AdmissionStatus { message: answer.message, code: answer.code, details: None };
        Self {
            uid: uid.to_owned(),
            allowed: answer.accepted,
            patch_type: patch.is_some().then(|| "JSONPatch".to_owned()),
            patch,
            status: has_status.then_some(status),
            audit_annotations: answer.audit_annotations,
            warnings: answer.warnings,
        }
    }
}
