//! Sessions recorded by `kwctl run --record-host-capabilities-interactions`.
//!
//! Source: kubewarden/kubewarden-controller `crates/kwctl/src/callback_handler/proxy.rs` (the file and the replay) and
//! `crates/policy-evaluator/src/callback_requests.rs` (the requests).

use core::fmt;
use std::collections::{BTreeSet, VecDeque};

use anyhow::bail;
use serde::Deserialize;
use serde_json::Value;

/// A host call to Kubernetes. Variants, fields and their order are equal to `CallbackRequestType` of the host, because session
/// files and error messages contain them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) enum HostRequest {
    KubernetesListResourceNamespace {
        api_version: String,
        kind: String,
        namespace: String,
        label_selector: Option<String>,
        field_selector: Option<String>,
        field_masks: Option<BTreeSet<String>>,
    },
    KubernetesListResourceAll {
        api_version: String,
        kind: String,
        label_selector: Option<String>,
        field_selector: Option<String>,
        field_masks: Option<BTreeSet<String>>,
    },
    KubernetesGetResource {
        api_version: String,
        kind: String,
        name: String,
        namespace: Option<String>,
        disable_cache: bool,
        field_masks: Option<BTreeSet<String>>,
    },
    KubernetesCanI {
        request: Value,
        disable_cache: bool,
    },
}

impl HostRequest {
    /// The resource that must be in the policy's `contextAwareResources`; `None` for `can_i`, which needs no grant.
    pub(super) fn resource(&self) -> Option<(&str, &str)> {
        match self {
            Self::KubernetesListResourceNamespace { api_version, kind, .. }
            | Self::KubernetesListResourceAll { api_version, kind, .. }
            | Self::KubernetesGetResource { api_version, kind, .. } => Some((api_version, kind)),
            Self::KubernetesCanI { .. } => None,
        }
    }
}

/// The exchanges of a recording that are still to be replayed.
#[derive(Debug)]
pub(super) struct RecordedSession(VecDeque<(HostRequest, HostResponse)>);

#[derive(Debug, Deserialize)]
#[serde(tag = "type")]
enum Exchange {
    Exchange { request: String, response: HostResponse },
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type")]
enum HostResponse {
    Success { payload: String },
    Error { message: String },
}

impl RecordedSession {
    /// Parses the whole file. `kwctl` parses each request when it is due, and aborts if it cannot.
    pub(super) fn parse(text: &str) -> Result<Self, SessionError> {
        let exchanges: Vec<Exchange> =
            serde_saphyr::from_str(text).map_err(|error| SessionError::File(error.to_string()))?;
        let read = |(index, Exchange::Exchange { request, response })| {
            let request = serde_saphyr::from_str(&request)
                .map_err(|error| SessionError::Request(index, error.to_string()))?;
            Ok((request, response))
        };
        exchanges.into_iter().enumerate().map(read).collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn answer(&mut self, request: &HostRequest) -> anyhow::Result<Vec<u8>> {
        let Some((expected, response)) = self.0.pop_front() else {
            bail!("the list of recorded responses is empty");
        };
        if expected != *request {
            bail!("Replay error: unexpected request. Was expecting {expected:?}, got {request:?} instead");
        }
        match response {
            HostResponse::Success { payload } => Ok(payload.into_bytes()),
            HostResponse::Error { message } => bail!(message),
        }
    }

    pub(super) fn leftover(&self) -> usize {
        self.0.len()
    }
}

/// The file is not a recorded session.
#[derive(Debug)]
pub enum SessionError {
    /// Not a list of exchanges.
    File(String),
    /// The request of this exchange, counted from 0, is not a host call to Kubernetes.
    Request(usize, String),
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => write!(f, "not a list of recorded exchanges: {error}"),
            Self::Request(index, error) => {
                write!(f, "the request of exchange {index} is not a host call to Kubernetes: {error}")
            }
        }
    }
}

impl core::error::Error for SessionError {}
