//! The cluster that answers a policy's host calls.
//!
//! Source of the order of the checks and of the error messages: kubewarden/kubewarden-controller
//! `crates/policy-evaluator/src/runtimes/callback.rs`.

mod inventory;
mod mask;
mod reflector;
mod selector;
mod session;

use core::fmt;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
};

use anyhow::{Result, anyhow, bail};
use serde::Deserialize;
use serde_json::Value;

use inventory::FakeInventory;
use reflector::HostAnswer;
pub use session::SessionError;
use session::{HostRequest, RecordedSession};

/// The cluster of one policy: the objects that exist, the kinds that the policy may read, and a record of its host calls.
///
/// Clones share the objects and the record.
#[derive(Clone)]
pub struct FakeCluster {
    granted: BTreeSet<(String, String)>,
    capabilities: Vec<String>,
    world: Arc<HostWorld>,
    record: Arc<Mutex<CallRecord>>,
}

/// The operation and the payload of a host call.
type Asked = (String, Vec<u8>);

/// Answers so far. A cluster does not change.
type Answers<T> = Mutex<BTreeMap<Asked, T>>;

enum HostWorld {
    /// policy-server runs without a connection to Kubernetes.
    Unreachable,
    /// The API server answers every request with this error.
    Failing(String),
    /// The host answers every request with these bytes.
    Answering(Vec<u8>),
    /// The host answers no request.
    Silent {
        asked: mpsc::Sender<()>,
        end: Mutex<mpsc::Receiver<()>>,
    },
    /// The objects, and the answers so far. policy-server keeps its lists too, but writes them for each request.
    Holding {
        inventory: FakeInventory,
        found: Answers<HostAnswer>,
        /// The answers as JSON, if the host [repeats](FakeCluster::repeating) them.
        written: Option<Answers<Vec<u8>>>,
    },
    Replaying(Mutex<RecordedSession>),
}

#[derive(Default)]
struct CallRecord {
    calls: Vec<Call>,
    log: Vec<Value>,
}

/// One host call, successful or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Namespace and operation, such as `kubernetes/list_resources_all`.
    pub operation: String,
    /// The payload that the policy sent; `null` if it was not JSON.
    pub request: Value,
    /// The error that the policy got; `None` after a success.
    pub refusal: Option<String>,
}

impl FakeCluster {
    /// A policy-server without a connection to Kubernetes, and a policy that may read nothing: the situation of a policy
    /// whose ClusterAdmissionPolicy lists no `contextAwareResources`.
    pub fn offline() -> Self {
        Self::of(HostWorld::Unreachable)
    }

    /// A cluster whose API server answers every request with this error.
    pub fn failing(error: impl Into<String>) -> Self {
        Self::of(HostWorld::Failing(error.into()))
    }

    /// A host that answers every request with these bytes.
    pub fn answering(bytes: impl Into<Vec<u8>>) -> Self {
        Self::of(HostWorld::Answering(bytes.into()))
    }

    /// A host that answers no request, such as policy-server without the permission to list a kind: it waits for the first list
    /// without an end (kubewarden/adm-controller#1320). `asked` gets a message when a request arrives. The wait ends with an
    /// error when the sender of `end` is dropped.
    pub fn silent(asked: mpsc::Sender<()>, end: mpsc::Receiver<()>) -> Self {
        Self::of(HostWorld::Silent { asked, end: Mutex::new(end) })
    }

    /// A cluster with these objects. The policy may read the kinds that are [granted](Self::granting).
    pub fn holding(objects: impl IntoIterator<Item = impl Into<Arc<Value>>>) -> Self {
        let inventory = FakeInventory::new(objects);
        Self::of(HostWorld::Holding { inventory, found: Mutex::default(), written: None })
    }

    /// Replays a session that `kwctl run --record-host-capabilities-interactions` recorded. The host calls must come in the
    /// recorded order and be equal in every field.
    pub fn replaying(session: &str) -> Result<Self, SessionError> {
        Ok(Self::of(HostWorld::Replaying(Mutex::new(RecordedSession::parse(session)?))))
    }

    fn of(world: HostWorld) -> Self {
        Self {
            granted: BTreeSet::new(),
            capabilities: vec!["*".to_owned()],
            world: Arc::new(world),
            record: Arc::default(),
        }
    }

    /// Adds to the policy's `contextAwareResources`: pairs of apiVersion and kind.
    pub fn granting<'a>(mut self, resources: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let owned = |(api_version, kind): (&str, &str)| (api_version.to_owned(), kind.to_owned());
        self.granted.extend(resources.into_iter().map(owned));
        self
    }

    /// Sets the policy's `hostCapabilities`: patterns such as `kubernetes/*`. The default grants everything, as the
    /// controller does for cluster-wide policies.
    pub fn capable_of<'a>(mut self, patterns: impl IntoIterator<Item = &'a str>) -> Self {
        self.capabilities = patterns.into_iter().map(str::to_owned).collect();
        self
    }

    /// Removes a kind, as if its CRD were not installed. Only for clusters that [hold objects](Self::holding).
    pub fn not_serving(self, api_version: &str, kind: &str) -> Self {
        self.changing(|inventory| inventory.forget_kind(api_version, kind))
    }

    /// Adds a permission for `can_i`; by default no user has any. The resource is the plural.
    pub fn permitting(self, user: &str, verb: &str, group: &str, resource: &str) -> Self {
        self.changing(|inventory| inventory.permit(user, verb, group, resource))
    }

    /// Writes each answer once and repeats its bytes, so that a benchmark measures the module alone. policy-server writes a list
    /// for each request. Only for clusters that [hold objects](Self::holding).
    pub fn repeating(mut self) -> Self {
        if let Some(HostWorld::Holding { written, .. }) = Arc::get_mut(&mut self.world) {
            *written = Some(Mutex::default());
        }
        self
    }

    fn changing(mut self, change: impl FnOnce(&mut FakeInventory)) -> Self {
        if let Some(HostWorld::Holding { inventory, .. }) = Arc::get_mut(&mut self.world) {
            change(inventory);
        }
        self
    }

    /// The host calls so far, in order, failed ones included. Log lines are [separate](Self::log).
    pub fn calls(&self) -> Vec<Call> {
        self.recorded().calls.clone()
    }

    /// The log lines that the policy sent.
    pub fn log(&self) -> Vec<Value> {
        self.recorded().log.clone()
    }

    /// Number of recorded exchanges that were not replayed. `kwctl` only warns about them.
    pub fn leftover(&self) -> usize {
        match &*self.world {
            HostWorld::Replaying(session) => lock(session).leftover(),
            _ => 0,
        }
    }

    /// Answers one host call, as `host_callback` in policy-evaluator does. The policy gets the text of an error.
    pub fn answer(&self, binding: &str, namespace: &str, operation: &str, payload: &[u8]) -> Result<Vec<u8>> {
        if binding != "kubewarden" {
            bail!("unknown binding: {binding}");
        }
        let request = serde_json::from_slice(payload).unwrap_or_default();
        if (namespace, operation) == ("tracing", "log") {
            self.recorded().log.push(request);
            return Ok(Vec::new());
        }
        let path = format!("{namespace}/{operation}");
        let answer = self.permitted_answer(&path, namespace, operation, payload);
        let refusal = answer.as_ref().err().map(ToString::to_string);
        self.recorded().calls.push(Call { operation: path, request, refusal });
        answer
    }

    fn permitted_answer(
        &self,
        path: &str,
        namespace: &str,
        operation: &str,
        payload: &[u8],
    ) -> Result<Vec<u8>> {
        if namespace != "tracing" && !self.is_capable_of(path) {
            bail!(
                "Policy has not been granted access to the '{path}' host capability. The violation has been reported."
            );
        }
        if namespace != "kubernetes" {
            // Not implemented: registries, DNS and certificates, which a policy about manifests does not use.
            match namespace {
                "tracing" | "oci" | "net" | "crypto" => bail!("unknown operation: {operation}"),
                _ => bail!("unknown namespace: {namespace}"),
            }
        }
        let request = kubernetes_request(operation, payload)?;
        if let Some((api_version, kind)) = request.resource()
            && !self.granted.contains(&(api_version.to_owned(), kind.to_owned()))
        {
            bail!(
                "Policy has not been granted access to Kubernetes {api_version}/{kind} resources. The violation has been reported."
            );
        }
        self.world
            .answer(&request, (operation, payload))
            .map_err(|error| anyhow!("Callback evaluation failure: {error}"))
    }

    /// Patterns: kubewarden/kubewarden-controller `crates/policy-evaluator/src/host_capabilities.rs`.
    fn is_capable_of(&self, path: &str) -> bool {
        self.capabilities.iter().any(|pattern| match pattern.strip_suffix('*') {
            Some(prefix) => path.starts_with(prefix),
            None => path == pattern,
        })
    }

    fn recorded(&self) -> MutexGuard<'_, CallRecord> {
        lock(&self.record)
    }
}

impl fmt::Debug for FakeCluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeCluster").field("granted", &self.granted).finish_non_exhaustive()
    }
}

impl HostWorld {
    fn answer(&self, request: &HostRequest, (operation, payload): (&str, &[u8])) -> Result<Vec<u8>> {
        match self {
            Self::Unreachable => bail!("kube::Client was not initialized properly"),
            Self::Failing(error) => bail!(error.clone()),
            Self::Answering(bytes) => Ok(bytes.clone()),
            Self::Silent { asked, end } => {
                // A test that does not listen has seen enough; the sender of `end` never sends.
                let _ = asked.send(());
                let _ = lock(end).recv();
                bail!("no answer")
            }
            Self::Holding { inventory, found, written } => {
                let asked = (operation.to_owned(), payload.to_vec());
                let write = || Ok(remembered(found, &asked, || inventory.answer(request))?.to_json()?);
                match written {
                    Some(written) => remembered(written, &asked, write),
                    None => write(),
                }
            }
            Self::Replaying(session) => lock(session).answer(request),
        }
    }
}

/// Parses a host call. The SDK's types define the required fields.
fn kubernetes_request(operation: &str, payload: &[u8]) -> Result<HostRequest> {
    #[derive(Deserialize)]
    struct CanI {
        subject_access_review: Value,
        disable_cache: bool,
    }
    let tag = match operation {
        "list_resources_all" => "KubernetesListResourceAll",
        "list_resources_by_namespace" => "KubernetesListResourceNamespace",
        "get_resource" => "KubernetesGetResource",
        "can_i" => {
            let CanI { subject_access_review: request, disable_cache } = serde_json::from_slice(payload)?;
            return Ok(HostRequest::KubernetesCanI { request, disable_cache });
        }
        _ => bail!("unknown operation: {operation}"),
    };
    let fields: Value = serde_json::from_slice(payload)?;
    Ok(serde_json::from_value(serde_json::json!({ tag: fields }))?)
}

/// The answer to a host call, which is computed for the first such call.
fn remembered<T: Clone>(
    answers: &Answers<T>,
    asked: &Asked,
    compute: impl FnOnce() -> Result<T>,
) -> Result<T> {
    if let Some(known) = lock(answers).get(asked) {
        return Ok(known.clone());
    }
    let computed = compute()?;
    lock(answers).insert(asked.clone(), computed.clone());
    Ok(computed)
}

/// Ignores poisoning: the record stays consistent if another thread panics.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
