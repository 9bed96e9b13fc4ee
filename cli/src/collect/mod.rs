//! `karpwarden collect`: writes a snapshot of a cluster through the user's kubectl. It reads only, and never Secrets.

mod files;
mod flags;
mod kinds;
mod kubectl;
mod list;
mod live;
mod logs;
mod names;
mod query;
mod rbac;
mod redact;
mod snapshot;
mod summary;

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::process::ChildStdout;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;
use symptoms::entry::Time;

use super::error::CommandError;
use super::form::Color;
use super::status::Status;
use super::{output, platform, terminal};
use files::{ObjectFiles, SnapshotFolder};
pub(crate) use flags::{ClusterFlags, CollectArguments};
use kinds::{CollectedKind, KINDS};
use kubectl::{Kubectl, KubectlFailure};
use list::ListError;
pub(crate) use live::{LiveCluster, names};
use logs::LogSource;
use query::{CollectedNamespaces, Query};
pub(crate) use redact::{REDACTED, Redactions};
use snapshot::{KindResult, Snapshot, State};

pub(crate) fn run(collect: &CollectArguments, color: Color) -> Result<Status, CommandError> {
    let namespaces = CollectedNamespaces {
        only: collect.namespace.clone(),
        controller: collect.karpenter_namespace.clone(),
    };
    if collect.print_rbac {
        let mut out = terminal::stdout(color);
        output::unless_closed(write!(out, "{}", rbac::manifest(&namespaces)).and_then(|()| out.flush()))?;
        return Ok(Status::Clean);
    }
    let kubectl = Kubectl::new(&collect.cluster);
    let version = reach(&kubectl)?;
    let folder = SnapshotFolder::create(&collect.dir)?;
    let mut collection = Collection {
        kubectl,
        folder,
        namespaces,
        redactions: Redactions::default(),
        controllers: BTreeSet::new(),
    };
    let snapshot = collection.take(version, &collect.since)?;
    let (_, mut file) = collection.folder.file(snapshot::STEM, "json")?;
    serde_json::to_writer_pretty(&mut file, &snapshot).map_err(io::Error::from)?;
    file.write_all(b"\n")?;
    file.finish_new()?;
    if !collect.quiet {
        let mut out = terminal::stdout(color);
        let text = summary::text(&snapshot, &collect.dir, &collection.namespaces);
        output::unless_closed(out.write_all(text.as_bytes()).and_then(|()| out.flush()))?;
    }
    summary::warn(&snapshot, &collection.namespaces, color);
    Ok(status(&snapshot))
}

/// The version of the cluster's API server; empty if the user may not ask for it.
fn reach(kubectl: &Kubectl) -> Result<String, CommandError> {
    match kubectl.server_version() {
        Ok(Ok(version)) => Ok(version),
        // The user may list objects all the same.
        Ok(Err(KubectlFailure::Forbidden(_))) => Ok(String::new()),
        Ok(Err(failure)) => {
            let text = format!("kubectl cannot reach the cluster: {}", failure.reason());
            Err(CommandError::NoInput(text))
        }
        Err(error) => {
            let text = match error.kind() {
                io::ErrorKind::NotFound => {
                    "kubectl is not on the PATH: install it, see kubernetes.io/docs/tasks/tools".to_owned()
                }
                _ => format!("kubectl cannot be started: {}", platform::start_failure(&error)),
            };
            Err(CommandError::NoInput(text))
        }
    }
}

fn status(snapshot: &Snapshot) -> Status {
    match snapshot {
        _ if snapshot.is_unread() => Status::NoInput,
        _ if snapshot.is_incomplete() => Status::Unreadable,
        _ => Status::Clean,
    }
}

/// A collection in progress.
struct Collection {
    kubectl: Kubectl,
    folder: SnapshotFolder,
    namespaces: CollectedNamespaces,
    redactions: Redactions,
    controllers: BTreeSet<LogSource>,
}

impl Collection {
    fn take(&mut self, kubernetes_version: String, since: &str) -> io::Result<Snapshot> {
        let collected_at = now();
        let kinds = KINDS.iter().map(|kind| self.kind(kind)).collect::<io::Result<Vec<_>>>()?;
        let mut logs = Vec::new();
        for source in std::mem::take(&mut self.controllers) {
            logs.extend(source.collect(&self.kubectl, &mut self.folder, since)?);
        }
        Ok(Snapshot {
            api_version: "karpwarden.github.io/v1",
            kind: "Snapshot",
            version: env!("CARGO_PKG_VERSION"),
            collected_at,
            kubernetes_version,
            namespace: self.namespaces.only.clone().unwrap_or_default(),
            kinds,
            logs,
            redacted: self.redactions,
        })
    }

    /// Collects the objects of a kind. An error of the cluster is a result; an error of the disk ends the collection.
    fn kind(&mut self, kind: &CollectedKind) -> io::Result<KindResult> {
        let mut files = ObjectFiles::new(&mut self.folder, kind.resource);
        let (redactions, controllers) = (&mut self.redactions, &mut self.controllers);
        let gap = each_object(&self.kubectl, kind, &self.namespaces, &mut |mut object| {
            if kind.name == "Pod" {
                controllers.extend(LogSource::find(&object));
            }
            redactions.redact(&mut object);
            redactions.drop_other_verdicts(&mut object);
            files.write(&object)
        })?;
        files.finish()?;
        Ok(KindResult {
            kind: kind.name,
            resource: kind.full_name(),
            state: gap.state,
            objects: files.objects,
            files: files.names,
            reason: gap.reason,
            missing: gap.missing,
        })
    }
}

/// Whether the objects of a kind were read, and the reason if not.
struct KindGap {
    state: State,
    reason: String,
    /// The right that the user lacks.
    missing: String,
}

/// Hands each object of a kind to `take`. An error of the cluster is a result; an error of `take` ends the reading.
fn each_object(
    kubectl: &Kubectl,
    kind: &CollectedKind,
    namespaces: &CollectedNamespaces,
    take: &mut dyn FnMut(Value) -> io::Result<()>,
) -> io::Result<KindGap> {
    let mut gap = KindGap { state: State::Read, reason: String::new(), missing: String::new() };
    for query in Query::all(kind, namespaces) {
        let mut take = |object: Value| if is_skipped(kind, &query, &object) { Ok(()) } else { take(object) };
        let read = |stdout: &mut ChildStdout| list::each_item(stdout, &mut take);
        let (read, failure) = kubectl.run(&query.arguments(kind), read)?;
        let failure = match read {
            Some(Err(ListError::Write(error))) => return Err(error),
            // A list that ends too early has its cause in kubectl's error; other text is no error of the cluster.
            Some(Err(ListError::Malformed(error))) if failure.is_none() || !error.is_eof() => {
                Some(KubectlFailure::Other(format!("kubectl printed no list: {error}")))
            }
            _ => failure,
        };
        if let Some(failure) = failure.filter(|_| !gap.state.is_error()) {
            gap.state = State::of(&failure);
            failure.reason().clone_into(&mut gap.reason);
            if gap.state == State::Forbidden {
                gap.missing = query.right(kind);
            }
        }
    }
    Ok(gap)
}

/// Whether an object does not belong into the snapshot, or is there already.
fn is_skipped(kind: &CollectedKind, query: &Query, object: &Value) -> bool {
    let namespace = object.pointer("/metadata/namespace").and_then(Value::as_str);
    let owners = object.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    let is_owned = owners.is_some_and(|owners| !owners.is_empty());
    !kind.keeps(is_owned) || (query.except.is_some() && namespace == query.except.as_deref())
}

/// The time in UTC; empty if the clock is before 1970.
fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok();
    let millis = since.and_then(|since| i64::try_from(since.as_millis()).ok());
    millis.map_or_else(String::new, |millis| Time(millis).to_string())
}
