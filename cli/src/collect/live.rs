//! A cluster in memory, read as a snapshot is: redacted, bounded, and without Secrets.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use manifest::parallel;
use serde_json::Value;

use super::flags::ClusterFlags;
use super::kinds::{CollectedKind, KINDS};
use super::kubectl::Kubectl;
use super::query::CollectedNamespaces;
use super::redact::Redactions;
use super::{KindGap, each_object, reach};
use crate::error::CommandError;
use crate::messages::Messages;
use crate::options::InputOptions;

/// Bytes and objects of a text, below the default bounds of the commands.
const MAX_TEXT: usize = 48 << 20;
const MAX_OBJECTS: usize = 50_000;

/// Bytes of all texts.
const MAX_BYTES: usize = 1 << 30;

/// Kinds that say nothing about where pods and nodes may go.
const LEFT_OUT: [&str; 7] = [
    "events",
    "prometheusrules",
    "vmrules",
    "clusterreports",
    "reports",
    "clusterpolicyreports",
    "policyreports",
];

/// Kinds that a plan compares field by field.
const COMPARED: [&str; 3] = ["nodepools", "ec2nodeclasses", "nodeoverlays"];

/// Objects of a cluster.
#[derive(Debug)]
pub(crate) struct LiveCluster {
    texts: BTreeMap<PathBuf, Arc<[u8]>>,
    kubectl: Kubectl,
}

/// Objects of a kind.
struct KindTexts {
    kind: &'static CollectedKind,
    texts: Vec<Vec<u8>>,
    gap: KindGap,
}

impl LiveCluster {
    /// Reads the objects of all namespaces: a node depends on every pod that could go there. Notes what cannot be read.
    pub(crate) fn read(cluster: &ClusterFlags, messages: &dyn Messages) -> Result<Self, CommandError> {
        Self::read_but(&[], cluster, messages)
    }

    /// Reads the objects like [`Self::read`], but the kinds that a plan compares as they are: a secret in user data may be what changes.
    pub(crate) fn read_to_compare(
        cluster: &ClusterFlags,
        messages: &dyn Messages,
    ) -> Result<Self, CommandError> {
        Self::read_but(&COMPARED, cluster, messages)
    }

    /// Reads the objects, redacted but for some kinds.
    fn read_but(
        whole: &[&str],
        cluster: &ClusterFlags,
        messages: &dyn Messages,
    ) -> Result<Self, CommandError> {
        let kubectl = Kubectl::new(cluster);
        reach(&kubectl)?;
        let kinds: Vec<&CollectedKind> =
            KINDS.iter().filter(|kind| !LEFT_OUT.contains(&kind.resource)).collect();
        let bytes = AtomicUsize::new(0);
        let read = parallel::map(&kinds, |kind| {
            KindTexts::read(&kubectl, kind, !whole.contains(&kind.resource), &bytes)
        });
        let (mut texts, mut refused) = (BTreeMap::new(), BTreeSet::new());
        for of_kind in read {
            let KindTexts { kind, texts: of_kind, gap } = of_kind?;
            if gap.state.is_error() {
                messages.note(&format!("cannot read {}: {}", kind.full_name(), gap.reason));
                refused.insert(kind.resource);
            }
            for (number, text) in of_kind.into_iter().enumerate() {
                texts.insert(PathBuf::from(format!("kubectl/{}-{number}.jsonl", kind.resource)), text.into());
            }
        }
        if refused.len() == kinds.len() {
            return Err(CommandError::NoInput("kubectl could read nothing".to_owned()));
        }
        Ok(Self { texts, kubectl })
    }

    /// The namespace of the context.
    pub(crate) fn namespace(&self) -> io::Result<String> {
        self.kubectl.namespace()
    }

    /// The names of the texts.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.texts.keys().cloned().collect()
    }

    /// The texts by name.
    pub(crate) fn texts(&self) -> BTreeMap<PathBuf, Arc<[u8]>> {
        self.texts.clone()
    }

    /// The objects as the only input.
    pub(crate) fn input(&self) -> InputOptions {
        InputOptions { paths: self.paths(), texts: self.texts(), ..InputOptions::default() }
    }

    /// The pods.
    pub(crate) fn pods(&self) -> impl Iterator<Item = Value> {
        let texts = self.texts.iter().filter(|(path, _)| is_of_pods(path));
        let lines = texts.flat_map(|(_, text)| text.split(|byte| *byte == b'\n'));
        lines.filter_map(|line| serde_json::from_slice(line).ok())
    }
}

/// The names of the objects of a kind, for completion; empty if kubectl cannot list them.
pub(crate) fn names(cluster: &ClusterFlags, kind: &str, namespace: Option<&str>) -> Vec<String> {
    let mut arguments = ["get", kind, "--output=name", "--request-timeout=5s"].map(str::to_owned).to_vec();
    arguments.extend(namespace.map(|namespace| format!("--namespace={namespace}")));
    let listed = Kubectl::new(cluster).run(&arguments, |stdout| io::read_to_string(stdout));
    let Ok((Some(Ok(text)), None)) = listed else { return Vec::new() };
    let names = text.lines().filter_map(|line| line.rsplit_once('/'));
    names.map(|(_, name)| name.to_owned()).collect()
}

fn is_of_pods(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("pods-"))
}

impl KindTexts {
    fn read(
        kubectl: &Kubectl,
        kind: &'static CollectedKind,
        is_redacted: bool,
        bytes: &AtomicUsize,
    ) -> io::Result<Self> {
        let mut redactions = Redactions::default();
        let mut texts: Vec<Vec<u8>> = Vec::new();
        let mut objects = 0;
        let gap = each_object(kubectl, kind, &CollectedNamespaces::default(), &mut |mut object| {
            if is_redacted {
                redactions.redact(&mut object);
            }
            let mut line = serde_json::to_vec(&object)?;
            line.push(b'\n');
            if bytes.fetch_add(line.len(), Ordering::Relaxed) + line.len() > MAX_BYTES {
                let text = "the cluster is larger than 1 GiB: take a snapshot with `karpwarden collect`";
                return Err(io::Error::other(text));
            }
            objects += 1;
            match texts.last_mut() {
                Some(text) if text.len() + line.len() <= MAX_TEXT && objects % MAX_OBJECTS != 1 => {
                    text.append(&mut line);
                }
                _ => texts.push(line),
            }
            Ok(())
        })?;
        Ok(Self { kind, texts, gap })
    }
}
