//! Stories: what happened to one node, pod or NodePool, from logs, events and status.
//!
//! Steps are collected while the input is read, because a log names the Node of a NodeClaim only later. At the end the steps
//! about the asked object are sorted by time.

mod known;
mod lifeline;
mod step;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use answers::story::{StepKind, Story, StoryCause, StoryKind, StoryStep};
use foldhash::HashMap;
use ids::{IdVec, ids};
use known::KnownNames;
use objects::object::Object;
use smol_str::SmolStr;
use values::abbreviation::UnresolvedName;

use crate::diagnosis::Diagnosis;
use crate::entry::{At, EntryObject, LogFileId, Time};
use crate::recognise::Recognised;
use karpenter::labels;
use step::{Step, steps};

/// Number of steps that are remembered.
const MAX_STEPS: usize = 200_000;

/// Kind, objects and words of a step that may repeat.
type RepetitionKey = (StepKind, SmolStr, Box<str>);

/// Function that returns the diagnoses about the objects that another function recognises.
pub(super) type DiagnosesAbout<'a> = dyn FnMut(&dyn Fn(&EntryObject<'_>) -> bool) -> Vec<Diagnosis> + 'a;

/// Object of a story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoryTarget {
    /// A Node or NodeClaim, by name.
    Node(String),
    /// A pod, as `namespace/name`.
    Pod(String),
    /// A NodePool, by name.
    NodePool(String),
    /// Every NodeClaim, without steps.
    Cluster,
}

impl StoryTarget {
    fn names(&self) -> (StoryKind, &str) {
        match self {
            Self::Node(name) => (StoryKind::Node, name),
            Self::Pod(name) => (StoryKind::Pod, name),
            Self::NodePool(name) => (StoryKind::NodePool, name),
            Self::Cluster => (StoryKind::Cluster, ""),
        }
    }
}

ids! {
    /// Step of a story.
    StepId;
}

/// Steps of one cluster, in bounded memory.
#[derive(Debug)]
pub(super) struct StoryTeller {
    target: StoryTarget,
    steps: IdVec<StepId, Step>,
    /// The steps that may repeat.
    repeating: HashMap<RepetitionKey, StepId>,
    /// The names in the input.
    known: KnownNames,
    /// The Node and the NodePool of each NodeClaim.
    nodes: BTreeMap<SmolStr, SmolStr>,
    pools: BTreeMap<SmolStr, SmolStr>,
    /// The instance type, capacity type and zone of each NodeClaim.
    instances: BTreeMap<SmolStr, String>,
    /// Number of steps that are remembered.
    most: usize,
    forgotten: u64,
}

/// Names of the objects that belong to a story.
#[derive(Debug, Default)]
struct Cast<'s> {
    claims: BTreeSet<&'s str>,
    nodes: BTreeSet<&'s str>,
    pods: BTreeSet<&'s str>,
    pools: BTreeSet<&'s str>,
    /// The pods that were bound to the nodes. Only their eviction is part of the story.
    bound: BTreeSet<&'s str>,
}

impl StoryTeller {
    pub(super) fn new(target: StoryTarget) -> Self {
        Self {
            target,
            steps: IdVec::default(),
            repeating: HashMap::default(),
            known: KnownNames::default(),
            nodes: BTreeMap::new(),
            pools: BTreeMap::new(),
            instances: BTreeMap::new(),
            most: MAX_STEPS,
            forgotten: 0,
        }
    }

    /// Adds the steps that an entry shows.
    pub(super) fn observe(&mut self, recognised: Recognised<'_, '_>) {
        if let Some(id) = recognised.entry.fields.text("provider-id")
            && let Some(claim) = crate::recognise::fields::nodeclaim(recognised.entry)
        {
            self.known.add_instance(&id, &claim);
        }
        for step in steps(recognised) {
            self.add(step);
        }
    }

    fn add(&mut self, step: Step) {
        self.known.add(&step);
        if !step.claim.is_empty() {
            if !step.node.is_empty() {
                self.nodes.insert(step.claim.clone(), step.node.clone());
            }
            if !step.pool.is_empty() {
                self.pools.insert(step.claim.clone(), step.pool.clone());
            }
            if step.kind == StepKind::Launched && !step.message.is_empty() {
                self.instances.insert(step.claim.clone(), step.message.to_string());
            }
        }
        if self.is_irrelevant(&step) {
            return;
        }
        if let Some(key) = step.key() {
            if let Some(known) = self.repeating.get(&key).and_then(|id| self.steps.get_mut(*id)) {
                known.join(&step);
                return;
            }
            self.make_room();
            let id = self.steps.push(step);
            self.repeating.insert(key, id);
        } else {
            self.make_room();
            self.steps.push(step);
        }
    }

    /// Forgets steps if there are too many: first the steps of other nodes, then the oldest steps of other objects. Users ask
    /// most about the newest nodes.
    fn make_room(&mut self) {
        if self.steps.len() < self.most {
            return;
        }
        let steps = std::mem::take(&mut self.steps);
        let before = steps.len();
        let claims = self.claims();
        let is_own: Vec<bool> = {
            let target = self.resolved();
            let cast = self.cast_of(&target, steps.as_slice(), &claims);
            let is_single = matches!(self.target, StoryTarget::Node(_) | StoryTarget::Pod(_));
            steps.iter().map(|step| is_single && cast.has(step)).collect()
        };
        let mut kept = Vec::with_capacity(self.most);
        let mut number = 0;
        for (step, is_own) in steps.into_iter().zip(is_own) {
            number += 1;
            if is_own {
                kept.push(step);
            } else if self.is_of_other_node(&step) {
                // The story never needs it.
            } else if number * 4 <= before + 3 {
                self.forgotten += 1;
            } else {
                kept.push(step);
            }
        }
        // Even the story alone is too long. Much room at once keeps the cost linear.
        if kept.len() * 8 > self.most * 7 {
            let forgotten = kept.len() / 4 + 1;
            kept.drain(..forgotten.min(kept.len()));
            self.forgotten += forgotten as u64;
        }
        let used: BTreeSet<SmolStr> = kept.iter().map(|step| step.claim.clone()).collect();
        let own = self.target.names().1.to_owned();
        self.nodes.retain(|claim, node| used.contains(claim) || *node == own.as_str());
        self.pools.retain(|claim, _| used.contains(claim));
        self.instances.retain(|claim, _| used.contains(claim));
        self.steps = kept.into_iter().collect();
        let keys = self.steps.enumerate().filter_map(|(id, step)| Some((step.key()?, id)));
        self.repeating = keys.collect();
    }

    /// Whether a step belongs to a node that the input names, and that nobody asks about.
    fn is_of_other_node(&self, step: &Step) -> bool {
        let StoryTarget::Node(name) = &self.target else { return false };
        let node = self.nodes.get(&step.claim).unwrap_or(&step.node);
        let is_own = |other: &str| other.starts_with(name.as_str());
        // The instance of a step is not known here.
        !name.starts_with("i-") && !node.is_empty() && !is_own(node) && !is_own(&step.claim)
    }

    /// The NodeClaim of each Node.
    fn claims(&self) -> BTreeMap<SmolStr, SmolStr> {
        self.nodes.iter().map(|(claim, node)| (node.clone(), claim.clone())).collect()
    }

    /// Whether a step is about another pod only, and says nothing of a node.
    fn is_irrelevant(&self, step: &Step) -> bool {
        match &self.target {
            StoryTarget::Pod(pod) if step.kind == StepKind::Found => {
                !step.message.split([',', ' ']).any(|name| is_start(pod, name))
            }
            _ if step.kind == StepKind::Found => true,
            StoryTarget::Pod(pod) => !step.pod.is_empty() && !is_start(pod, &step.pod),
            StoryTarget::NodePool(_) | StoryTarget::Cluster => {
                matches!(step.kind, StepKind::Event | StepKind::NotScheduled) && step.pool.is_empty()
            }
            StoryTarget::Node(_) => step.kind == StepKind::NotScheduled,
        }
    }

    /// Adds what an object says beside its conditions.
    pub(super) fn object(&mut self, object: Object<'_>, at: At) {
        let text = |path: &[&str]| object.str_at(path).unwrap_or_default();
        let time = |path: &[&str]| object.str_at(path).and_then(Time::parse);
        let label = |key: &str| object.str_at(&["metadata", "labels", key]).unwrap_or_default();
        let created = time(&["metadata", "creationTimestamp"]);
        let deleted = time(&["metadata", "deletionTimestamp"]);
        match object.kind() {
            "NodeClaim" => {
                let instance = [
                    label("node.kubernetes.io/instance-type"),
                    label(labels::CAPACITY_TYPE),
                    label("topology.kubernetes.io/zone"),
                ];
                let instance =
                    instance.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
                let name = SmolStr::from(object.name());
                self.known.add_instance(text(&["status", "providerID"]), &name);
                if !instance.is_empty() {
                    self.instances.entry(name.clone()).or_insert(instance);
                }
                let names = Step {
                    claim: name,
                    node: text(&["status", "nodeName"]).into(),
                    pool: label(labels::NODEPOOL).into(),
                    ..Step::new(StepKind::Created, created, at)
                };
                let deleting = deleted.map(|_| Step {
                    kind: StepKind::Deleting,
                    first: deleted,
                    last: deleted,
                    ..names.clone()
                });
                deleting.into_iter().chain([names]).for_each(|step| self.add(step));
            }
            "Pod" => {
                let pod = crate::recognise::fields::qualified(object.namespace(), object.name());
                self.known.add_pod(&pod);
                let node = text(&["spec", "nodeName"]);
                let started = time(&["status", "startTime"]);
                let names =
                    Step { pod: pod.into(), node: node.into(), ..Step::new(StepKind::Bound, started, at) };
                if !node.is_empty() {
                    self.add(names.clone());
                }
                if deleted.is_some() {
                    let message = "the pod is being deleted".into();
                    self.add(Step { kind: StepKind::Event, first: deleted, last: deleted, message, ..names });
                }
            }
            "Node" => {
                let claim = SmolStr::default();
                self.known.add_node(object.name(), text(&["spec", "providerID"]));
                if deleted.is_some() {
                    let node = object.name().into();
                    self.add(Step { claim, node, ..Step::new(StepKind::Deleting, deleted, at) });
                }
            }
            "NodePool" => self.known.add_pool(object.name()),
            _ => {}
        }
    }

    /// The target with its name in full. A name that is not found stays as it is.
    fn resolved(&self) -> StoryTarget {
        let name = self.known.resolve(&self.target);
        let named = |name: &str| name.to_owned();
        match (&self.target, name) {
            (StoryTarget::Node(_), Ok(name)) => StoryTarget::Node(named(name)),
            (StoryTarget::Pod(_), Ok(name)) => StoryTarget::Pod(named(name)),
            (StoryTarget::NodePool(_), Ok(name)) => StoryTarget::NodePool(named(name)),
            (target, _) => target.clone(),
        }
    }

    /// The reason why the input does not mention the object; `None` if it does.
    pub(super) fn unresolved(&self) -> Option<UnresolvedName> {
        self.known.resolve(&self.target).err()
    }

    /// Tells the story, with the diagnoses that are about its objects; `None` if the input does not mention the object. The story of an
    /// object to which nothing happened has no steps.
    pub(super) fn tell(
        &self,
        cluster: &str,
        files: &IdVec<LogFileId, String>,
        diagnoses: &mut DiagnosesAbout<'_>,
    ) -> Option<Story> {
        let target = self.resolved();
        let (kind, name) = target.names();
        if target != StoryTarget::Cluster && (name.is_empty() || self.unresolved().is_some()) {
            return None;
        }
        let claims = self.claims();
        let cast = self.cast_of(&target, self.steps.as_slice(), &claims);
        let mut own: Vec<Step> = self.steps.iter().filter(|step| cast.has(step)).cloned().collect();
        let bound = self.steps.iter().filter(|step| step.kind == StepKind::Bound);
        let bound: BTreeMap<&str, &SmolStr> = bound
            .filter(|step| cast.nodes.contains(&*step.node))
            .map(|step| (&*step.pod, &step.node))
            .collect();
        for step in &mut own {
            // The event of an eviction names the pod alone.
            if let Some(node) =
                bound.get(&*step.pod).filter(|_| step.kind == StepKind::Evicted && step.node.is_empty())
            {
                step.node = (*node).clone();
            }
            self.complete(step, &claims);
        }
        own.sort_by(Step::compare);
        let own = joined(own);
        let lifelines = self.lifelines(&own, &cast);
        let steps = if target == StoryTarget::Cluster { Vec::new() } else { own };
        if target == StoryTarget::Cluster && lifelines.is_empty() {
            return None;
        }
        let steps = steps.into_iter().map(|step| step.told(files)).collect();
        let causes = if target == StoryTarget::Cluster {
            Vec::new()
        } else {
            diagnoses(&|object| cast.is_about(object)).into_iter().map(cause).collect()
        };
        let node = self.nodes.get(name).filter(|_| kind == StoryKind::Node);
        let name = node.map_or(name, SmolStr::as_str);
        let (cluster, name) = (cluster.to_owned(), name.to_owned());
        Some(Story { cluster, kind, name, steps, causes, lifelines, forgotten: self.forgotten })
    }

    /// The names of the objects of the story.
    fn cast_of<'s>(
        &'s self,
        target: &'s StoryTarget,
        steps: &'s [Step],
        claims: &'s BTreeMap<SmolStr, SmolStr>,
    ) -> Cast<'s> {
        let mut cast = Cast::default();
        match target {
            StoryTarget::Node(name) => {
                cast.nodes.insert(name);
                let claim = claims.get(name.as_str()).map(SmolStr::as_str);
                let is_claim = self.nodes.contains_key(name.as_str())
                    || steps.iter().any(|step| step.claim == name.as_str());
                cast.claims.extend(claim.or_else(|| is_claim.then_some(name.as_str())));
            }
            StoryTarget::Pod(name) => {
                cast.pods.insert(name);
                let own = || steps.iter().filter(|step| step.pod == name.as_str());
                cast.nodes.extend(own().map(|step| step.node.as_str()).filter(|node| !node.is_empty()));
                cast.claims.extend(own().map(|step| step.claim.as_str()).filter(|claim| !claim.is_empty()));
                let of_nodes: Vec<&str> =
                    cast.nodes.iter().filter_map(|node| claims.get(*node).map(SmolStr::as_str)).collect();
                cast.claims.extend(of_nodes);
            }
            StoryTarget::NodePool(name) => {
                cast.pools.insert(name);
                let all = steps.iter().map(|step| step.claim.as_str()).filter(|claim| !claim.is_empty());
                cast.claims.extend(all.filter(|claim| self.pool_of(claim) == name));
            }
            StoryTarget::Cluster => {
                cast.claims
                    .extend(steps.iter().map(|step| step.claim.as_str()).filter(|claim| !claim.is_empty()));
            }
        }
        let nodes: Vec<&str> =
            cast.claims.iter().filter_map(|claim| self.nodes.get(*claim).map(SmolStr::as_str)).collect();
        cast.nodes.extend(nodes);
        let bound = steps.iter().filter(|step| step.kind == StepKind::Bound && !step.pod.is_empty());
        let bound: Vec<&str> =
            bound.filter(|step| cast.nodes.contains(&*step.node)).map(|step| step.pod.as_str()).collect();
        cast.bound.extend(bound);
        cast
    }

    /// The NodePool of a NodeClaim; without a message that names it, the name of the NodeClaim is the NodePool's and five
    /// letters.
    fn pool_of<'s>(&'s self, claim: &'s str) -> &'s str {
        let derived = || claim.rsplit_once('-').map_or(claim, |(pool, _)| pool);
        self.pools.get(claim).map_or_else(derived, SmolStr::as_str)
    }

    /// Adds the names that other lines give.
    fn complete(&self, step: &mut Step, claims: &BTreeMap<SmolStr, SmolStr>) {
        if step.claim.is_empty()
            && !step.node.is_empty()
            && let Some(claim) = claims.get(step.node.as_str())
        {
            step.claim = claim.clone();
        }
        if step.node.is_empty()
            && let Some(node) = self.nodes.get(&step.claim)
        {
            step.node = node.clone();
        }
        if step.pool.is_empty() && !step.claim.is_empty() {
            step.pool = self.pool_of(&step.claim).into();
        }
    }
}

/// Whether a text is the start of a pod's name, with or without its namespace.
fn is_start(text: &str, pod: &str) -> bool {
    pod.starts_with(text) || pod.split_once('/').is_some_and(|(_, name)| name.starts_with(text))
}

fn cause(diagnosis: Diagnosis) -> StoryCause {
    StoryCause {
        rule: diagnosis.symptom.name,
        severity: diagnosis.severity,
        confidence: diagnosis.confidence,
        message: diagnosis.message,
        help: diagnosis.help,
    }
}

impl Cast<'_> {
    /// Whether an object belongs to the story itself: not the pods of its nodes.
    fn is_about(&self, object: &EntryObject<'_>) -> bool {
        let name = &*object.name;
        match &*object.kind {
            "Pod" if object.namespace.is_empty() => self.pods.contains(name),
            "Pod" => self.pods.contains(format!("{}/{name}", object.namespace).as_str()),
            "NodeClaim" => self.claims.contains(name),
            "Node" => self.nodes.contains(name),
            "NodePool" => self.pools.contains(name),
            _ => false,
        }
    }

    fn has(&self, step: &Step) -> bool {
        self.claims.contains(&*step.claim)
            || self.nodes.contains(&*step.node)
            || self.pods.contains(&*step.pod)
            || self.pools.contains(&*step.pool)
            || (step.kind == StepKind::Found && !self.pods.is_empty())
            || (step.kind == StepKind::Evicted && self.bound.contains(&*step.pod))
    }
}

impl Step {
    /// Key of the repetitions of a step; `None` for a step that does not repeat.
    fn key(&self) -> Option<RepetitionKey> {
        if self.kind.is_once() {
            return None;
        }
        let object = [&self.claim, &self.node, &self.pod, &self.pool].map(SmolStr::as_str).join("\0");
        Some((self.kind, object.into(), [&*self.reason, &*self.message].join("\0").into()))
    }

    /// Joins a repetition.
    fn join(&mut self, other: &Self) {
        self.count += other.count;
        if other.first.is_some_and(|time| self.first.is_none_or(|first| time < first)) {
            (self.first, self.at) = (other.first, other.at);
        }
        self.last = self.last.max(other.last);
    }

    fn compare(&self, other: &Self) -> Ordering {
        let key = |step: &Self| (step.first.is_none(), step.first, step.kind, step.at);
        key(self).cmp(&key(other))
    }

    fn told(self, files: &IdVec<LogFileId, String>) -> StoryStep {
        StoryStep {
            event: self.kind,
            time: self.first.filter(|time| !time.is_age()).map(|time| time.to_string()),
            age: self.first.filter(|time| time.is_age()).map(|time| time.to_string()).unwrap_or_default(),
            last: self
                .last
                .filter(|last| !last.is_age() && self.last > self.first)
                .map(|time| time.to_string()),
            count: self.count,
            node_claim: self.claim.into(),
            node: self.node.into(),
            pod: self.pod.into(),
            node_pool: self.pool.into(),
            reason: self.reason.into(),
            message: self.message.into(),
            meaning: self.blocker.map_or("", |blocker| blocker.meaning()).to_owned(),
            file: files.get(self.at.file).cloned().unwrap_or_default(),
            line: self.at.line,
        }
    }
}

/// Joins the steps that several sources show: the log, the condition, and the events of the NodeClaim and its Node.
fn joined(steps: Vec<Step>) -> Vec<Step> {
    let mut known: HashMap<(StepKind, SmolStr, SmolStr, String), usize> = HashMap::default();
    let mut all: Vec<Step> = Vec::new();
    for step in steps {
        let object = if step.claim.is_empty() { &step.node } else { &step.claim };
        let says = match step.kind {
            kind if kind.is_once() => String::new(),
            StepKind::Disrupted | StepKind::Drifted => step.reason.to_ascii_lowercase(),
            StepKind::Bound | StepKind::Evicted => String::new(),
            _ => [&*step.reason, &*step.message].join(" "),
        };
        let key = (step.kind, object.clone(), step.pod.clone(), says);
        if let Some(same) = known.get(&key).and_then(|at| all.get_mut(*at)) {
            same.count = same.count.max(step.count);
            same.last = same.last.max(if step.kind.is_once() { same.last } else { step.last });
            if same.message.is_empty() {
                same.message = step.message;
            }
            if same.reason.is_empty() {
                same.reason = step.reason;
            }
            continue;
        }
        known.insert(key, all.len());
        all.push(step);
    }
    all
}
