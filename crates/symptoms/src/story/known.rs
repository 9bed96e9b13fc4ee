//! Names of the objects that an input mentions, in bounded memory.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::SmolStr;
use values::abbreviation::{UnresolvedName, resolve};

use super::StoryTarget;
use super::step::Step;

/// Bound on the number of names of a kind.
const MAX_NAMES: usize = 50_000;

/// Names that a story can be asked for.
#[derive(Debug, Default)]
pub(super) struct KnownNames {
    nodes: BTreeSet<SmolStr>,
    pods: BTreeSet<SmolStr>,
    pools: BTreeSet<SmolStr>,
    /// The ids of instances, each with its NodeClaim or its Node.
    instances: BTreeMap<SmolStr, SmolStr>,
}

impl KnownNames {
    /// Adds the names in a step.
    pub(super) fn add(&mut self, step: &Step) {
        put(&mut self.nodes, &step.claim);
        put(&mut self.nodes, &step.node);
        put(&mut self.pods, &step.pod);
        put(&mut self.pools, &step.pool);
        if step.kind == answers::story::StepKind::Found {
            for pod in step.message.split([',', ' ']).filter(|name| name.contains('/')) {
                put(&mut self.pods, pod);
            }
        }
    }

    /// Adds a Node.
    pub(super) fn add_node(&mut self, name: &str, provider_id: &str) {
        put(&mut self.nodes, name);
        self.add_instance(provider_id, name);
    }

    /// Adds a NodePool.
    pub(super) fn add_pool(&mut self, name: &str) {
        put(&mut self.pools, name);
    }

    /// Adds a pod, as `namespace/name`.
    pub(super) fn add_pod(&mut self, name: &str) {
        put(&mut self.pods, name);
    }

    /// Adds the instance in a provider id, such as `aws:///eu-west-1a/i-0123456789abcdef0`, of a NodeClaim or Node.
    pub(super) fn add_instance(&mut self, provider_id: &str, name: &str) {
        let id = provider_id.rsplit('/').next().unwrap_or_default();
        if id.starts_with("i-") && self.instances.len() < MAX_NAMES && !self.instances.contains_key(id) {
            self.instances.insert(id.into(), name.into());
        }
    }

    /// The object that the name in a target means.
    pub(super) fn resolve(&self, target: &StoryTarget) -> Result<&str, UnresolvedName> {
        match target {
            StoryTarget::Node(text) => {
                let names = self.nodes.iter().map(|name| (name.as_str(), name.as_str()));
                let instances = self.instances.iter().map(|(id, name)| (id.as_str(), name.as_str()));
                resolve(text, names.chain(instances))
            }
            StoryTarget::Pod(text) => {
                let full = self.pods.iter().map(|name| (name.as_str(), name.as_str()));
                let short =
                    self.pods.iter().filter_map(|name| Some((name.split_once('/')?.1, name.as_str())));
                resolve(text, full.chain(short))
            }
            StoryTarget::NodePool(text) => {
                resolve(text, self.pools.iter().map(|name| (name.as_str(), name.as_str())))
            }
            StoryTarget::Cluster => Ok(""),
        }
    }
}

fn put(names: &mut BTreeSet<SmolStr>, name: &str) {
    if !name.is_empty() && !names.contains(name) && names.len() < MAX_NAMES {
        names.insert(name.into());
    }
}
