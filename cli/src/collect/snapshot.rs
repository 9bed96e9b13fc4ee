//! `snapshot.json`: what a snapshot contains, and what could not be read.

use serde::Serialize;

use super::kubectl::KubectlFailure;
use super::redact::Redactions;

/// Name of the file without its extension.
pub(super) const STEM: &str = "snapshot";

/// Contents of the file.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Snapshot {
    pub(super) api_version: &'static str,
    pub(super) kind: &'static str,
    /// The version of Karpwarden.
    pub(super) version: &'static str,
    /// The time at which the collection began.
    pub(super) collected_at: String,
    /// The version of the API server.
    pub(super) kubernetes_version: String,
    /// The namespace of `--namespace`; empty for all.
    pub(super) namespace: String,
    pub(super) kinds: Vec<KindResult>,
    pub(super) logs: Vec<LogResult>,
    pub(super) redacted: Redactions,
}

/// Result for one kind.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct KindResult {
    pub(super) kind: &'static str,
    pub(super) resource: String,
    pub(super) state: State,
    pub(super) objects: u64,
    pub(super) files: Vec<String>,
    /// The reason in kubectl's words, if not everything was read.
    pub(super) reason: String,
    /// The right that is missing.
    pub(super) missing: String,
}

/// Result for the log of one container.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LogResult {
    pub(super) namespace: String,
    pub(super) pod: String,
    pub(super) container: String,
    /// Whether the container wrote it before its last restart.
    pub(super) previous: bool,
    pub(super) state: State,
    /// The name of the file; empty without a log.
    pub(super) file: String,
    pub(super) reason: String,
    pub(super) missing: String,
}

/// The part of a kind that kubectl could read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum State {
    /// Everything.
    Read,
    /// The cluster does not have it.
    Absent,
    /// The user lacks the right.
    Forbidden,
    /// Another error.
    Failed,
}

impl State {
    pub(super) fn of(failure: &KubectlFailure) -> Self {
        match failure {
            KubectlFailure::Absent => Self::Absent,
            KubectlFailure::Forbidden(_) => Self::Forbidden,
            KubectlFailure::Other(_) => Self::Failed,
        }
    }

    /// Whether something that exists was not read.
    pub(super) fn is_error(self) -> bool {
        matches!(self, Self::Forbidden | Self::Failed)
    }
}

impl Snapshot {
    /// The missing rights, each once.
    pub(super) fn missing(&self) -> Vec<&str> {
        let kinds = self.kinds.iter().map(|kind| kind.missing.as_str());
        let mut all: Vec<&str> = Vec::new();
        for right in kinds.chain(self.logs.iter().map(|log| log.missing.as_str())) {
            if !right.is_empty() && !all.contains(&right) {
                all.push(right);
            }
        }
        all
    }

    /// Whether kinds could not be read, and there is no object of any other kind.
    pub(super) fn is_unread(&self) -> bool {
        self.kinds.iter().any(|kind| kind.state.is_error()) && self.kinds.iter().all(|kind| kind.objects == 0)
    }

    /// Whether something that exists was not read.
    pub(super) fn is_incomplete(&self) -> bool {
        self.kinds.iter().any(|kind| kind.state.is_error())
            || self.logs.iter().any(|log| log.state.is_error())
    }
}
