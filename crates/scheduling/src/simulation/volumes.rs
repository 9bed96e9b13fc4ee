//! Volumes of pods: what their claims, volumes and storage classes require of a node.
//!
//! Source: pkg/controllers/provisioning/scheduling/volumetopology.go and pkg/utils/volume/volume.go of
//! kubernetes-sigs/karpenter at v1.14.1.

use std::collections::{BTreeMap, BTreeSet};

use karpenter::labels;
use karpenter::release::Release;
use manifest::tree::{Node, items_of};
use objects::object::Object;
use objects::pod::NodeSelectorTerm;
use objects::workload::Workload;

use super::behaviour::SchedulerBehaviour;
use super::selector::namespace_of;
use super::workloads::InputPod;
use crate::demand::{Term, read_term};
use crate::requirements::{Requirement, Requirements};
use crate::scalar::{text, text_or_empty};

const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
const DEFAULT_CLASS: &str = "storageclass.kubernetes.io/is-default-class";

/// Largest number of combinations of volume terms. Several volumes multiply their terms.
const MAX_ALTERNATIVES: usize = 256;

/// Claim of a pod.
#[derive(Clone, Debug)]
struct PodClaim<'d> {
    /// Namespace and name.
    key: String,
    name: String,
    volume: Option<&'d str>,
    class: Option<&'d str>,
    object: Option<Object<'d>>,
}

/// A volume that a pod cannot get, as Karpenter reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VolumeProblem(pub(crate) String);

/// Volume of a pod, as far as nodes limit their number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AttachedVolume<'d> {
    /// The CSI driver.
    pub(crate) driver: &'d str,
    /// Namespace and name of the claim.
    pub(crate) key: String,
}

/// The volumes of a pod.
#[derive(Debug, Default)]
pub(crate) struct PodVolumes<'d> {
    /// The volumes that have a driver.
    pub(crate) attached: Vec<AttachedVolume<'d>>,
    /// The requirements of the claims on the node, as alternatives.
    pub(crate) requirements: Vec<Requirements<'d>>,
}

/// Claims, volumes and storage classes of a cluster.
#[derive(Debug)]
pub(crate) struct Storage<'d> {
    claims: BTreeMap<(&'d str, &'d str), Object<'d>>,
    volumes: BTreeMap<&'d str, Object<'d>>,
    classes: BTreeMap<&'d str, Object<'d>>,
    default_class: Option<&'d str>,
    release: Release,
}

impl<'d> Storage<'d> {
    /// Collects the storage objects.
    pub(crate) fn of(objects: &[Object<'d>], release: Release) -> Self {
        let mut all = Self {
            claims: BTreeMap::new(),
            volumes: BTreeMap::new(),
            classes: BTreeMap::new(),
            default_class: None,
            release,
        };
        for object in objects {
            match object.kind() {
                "PersistentVolumeClaim" => {
                    all.claims.insert((namespace_of(*object), object.name()), *object);
                }
                "PersistentVolume" => {
                    all.volumes.insert(object.name(), *object);
                }
                "StorageClass" => {
                    all.classes.insert(object.name(), *object);
                    if object.annotation(DEFAULT_CLASS).map(text) == Some("true") {
                        all.default_class = Some(object.name());
                    }
                }
                _ => {}
            }
        }
        all
    }

    /// The volumes of a pod, or the first reason for which Karpenter ignores the pod.
    pub(crate) fn volumes_of(&self, pod: &InputPod<'d>) -> Result<PodVolumes<'d>, VolumeProblem> {
        let object = pod.pod.object();
        let templates: Vec<Node<'d>> = if object.kind() == "StatefulSet" {
            Workload::of(object).volume_claim_templates().collect()
        } else {
            Vec::new()
        };
        let claims = self.claims_of(pod, &templates)?;
        if let Some(problem) = claims.iter().find_map(|claim| self.problem(claim)) {
            return Err(problem);
        }
        let attached = claims
            .iter()
            .filter_map(|claim| Some(AttachedVolume { driver: self.driver(claim)?, key: claim.key.clone() }));
        Ok(PodVolumes { attached: attached.collect(), requirements: self.requirements(&claims) })
    }

    /// The claims of a pod. `templates` are the claim templates of its StatefulSet.
    fn claims_of(
        &self,
        input: &InputPod<'d>,
        templates: &[Node<'d>],
    ) -> Result<Vec<PodClaim<'d>>, VolumeProblem> {
        let (spec, namespace, pod) = (input.pod.spec(), input.namespace, input.name.as_str());
        let mut claims = Vec::new();
        for template in templates {
            let name = format!("{}-{pod}", text_or_empty(template.at_path(&["metadata", "name"])));
            claims.push(self.claim(namespace, name, Some(*template))?);
        }
        for volume in items_of(spec.node().get("volumes")) {
            if let Some(name) = volume.at_path(&["persistentVolumeClaim", "claimName"]) {
                claims.push(match self.own_claim(input, text(name)) {
                    Some(own) => own,
                    None => self.claim(namespace, text(name).to_owned(), None)?,
                });
            } else if let Some(template) = volume.at_path(&["ephemeral", "volumeClaimTemplate"]) {
                let name = format!("{pod}-{}", text_or_empty(volume.get("name")));
                claims.push(self.claim(namespace, name, Some(template))?);
            }
        }
        Ok(claims)
    }

    /// The claim that an added pod of a StatefulSet gets in place of the claim of the pod that it is read from. The claim that does
    /// not exist yet has the storage class of the other claim.
    fn own_claim(&self, input: &InputPod<'d>, written: &str) -> Option<PodClaim<'d>> {
        let other = input.pod.object();
        let stem = written.strip_suffix(other.name()).filter(|_| input.is_added && other.kind() == "Pod")?;
        let name = format!("{stem}{}", input.name);
        if self.claims.contains_key(&(input.namespace, name.as_str())) {
            return self.claim(input.namespace, name, None).ok();
        }
        let present = self.claims.get(&(input.namespace, written)).copied();
        let class = present.and_then(|claim| claim.str_at(&["spec", "storageClassName"]));
        let class = class.or(self.default_class).filter(|class| !class.is_empty());
        Some(PodClaim { key: format!("{}/{name}", input.namespace), name, volume: None, class, object: None })
    }

    /// A claim by name, or a new one from a template.
    fn claim(
        &self,
        namespace: &'d str,
        name: String,
        template: Option<Node<'d>>,
    ) -> Result<PodClaim<'d>, VolumeProblem> {
        let object = self.claims.get(&(namespace, name.as_str())).copied();
        let spec = object
            .and_then(|object| object.at(&["spec"]))
            .or_else(|| template.and_then(|template| template.get("spec")));
        if object.is_none() && template.is_none() {
            return Err(VolumeProblem(format!(
                "getting persistent volume claim, persistentvolumeclaims \"{name}\" not found \
                 (PersistentVolumeClaim={name})"
            )));
        }
        let volume = spec.and_then(|spec| spec.str_at(&["volumeName"])).filter(|name| !name.is_empty());
        let class = spec.and_then(|spec| spec.str_at(&["storageClassName"]));
        let class = class.or(self.default_class.filter(|_| volume.is_none())).filter(|name| !name.is_empty());
        Ok(PodClaim { key: format!("{namespace}/{name}"), name, volume, class, object })
    }

    /// The first reason for which Karpenter ignores a pod with a claim.
    fn problem(&self, claim: &PodClaim<'d>) -> Option<VolumeProblem> {
        let class = claim.class.unwrap_or_default();
        let place = format!("(PersistentVolumeClaim={}, StorageClass={class})", claim.key);
        let of_claim = |path: &[&str]| claim.object.and_then(|object| object.at(path));
        let problem = |text: String| Some(VolumeProblem(text));
        let checks_state = SchedulerBehaviour::BINDING_CHECKS.holds_in(self.release);
        if of_claim(&["metadata", "deletionTimestamp"]).is_some() && checks_state {
            return problem(format!(
                "persistentvolumeclaim is being deleted (PersistentVolumeClaim={})",
                claim.key
            ));
        }
        let is_lost = of_claim(&["status", "phase"]).map(text) == Some("Lost");
        if is_lost && checks_state {
            return problem(format!(
                "persistentvolumeclaim bound to non-existent persistentvolume (PersistentVolume={}, \
                 PersistentVolumeClaim={})",
                claim.volume.unwrap_or_default(),
                claim.key
            ));
        }
        match claim.volume {
            Some(volume) => self.problem_of_bound(claim, volume),
            None => self.problem_of_unbound(claim, &place),
        }
    }

    fn problem_of_bound(&self, claim: &PodClaim<'d>, name: &str) -> Option<VolumeProblem> {
        let volume = self.volumes.get(name);
        if volume.is_none() {
            return Some(VolumeProblem(format!(
                "failed to validate pvc, persistentvolumes \"{name}\" not found (PersistentVolume={name}, \
                 PersistentVolumeClaim={}, StorageClass={})",
                claim.key,
                claim.class.unwrap_or_default()
            )));
        }
        let checks = SchedulerBehaviour::VOLUME_CHECKS.holds_in(self.release);
        if checks && volume.is_some_and(|volume| volume.at(&["metadata", "deletionTimestamp"]).is_some()) {
            return Some(VolumeProblem(format!(
                "failed to validate pvc, persistentvolume is being deleted (PersistentVolume={name}, \
                 PersistentVolumeClaim={}, StorageClass={})",
                claim.key,
                claim.class.unwrap_or_default()
            )));
        }
        let bound = claim.object.is_some_and(|object| object.annotation(BIND_COMPLETED).is_some());
        let needs_annotation = SchedulerBehaviour::BINDING_CHECKS.holds_in(self.release);
        (needs_annotation && !bound).then(|| {
            VolumeProblem(format!(
                "pvc is considered unbound because it does not contain annotation (PersistentVolume={name}, \
                 PersistentVolumeClaim={}, annotation={BIND_COMPLETED})",
                claim.name
            ))
        })
    }

    fn problem_of_unbound(&self, claim: &PodClaim<'d>, place: &str) -> Option<VolumeProblem> {
        let Some(name) = claim.class else {
            return Some(VolumeProblem(format!("unbound pvc must define a storage class {place}")));
        };
        let Some(class) = self.classes.get(name) else {
            return Some(VolumeProblem(format!(
                "failed to validate pvc, failed to get storage class, storageclasses.storage.k8s.io \"{name}\" not found {place}"
            )));
        };
        // The API server sets `Immediate` where the class has no mode.
        let immediate = class.str_at(&["volumeBindingMode"]).is_none_or(|mode| mode == "Immediate");
        (immediate && SchedulerBehaviour::BINDING_CHECKS.holds_in(self.release)).then(|| {
            VolumeProblem(format!(
                "failed to validate pvc, pvc with immediate volume binding mode must be bound {place}"
            ))
        })
    }

    /// The CSI driver of a claim.
    fn driver(&self, claim: &PodClaim<'d>) -> Option<&'d str> {
        match claim.volume {
            Some(volume) => self.volumes.get(volume)?.str_at(&["spec", "csi", "driver"]),
            None => self.classes.get(claim.class?)?.str_at(&["provisioner"]),
        }
    }

    /// The requirements of the claims of a pod on its node, as alternatives. Releases before the alternatives use the first.
    fn requirements(&self, claims: &[PodClaim<'d>]) -> Vec<Requirements<'d>> {
        let mut alternatives: Vec<Requirements<'d>> = vec![Requirements::default()];
        let mut restricted = false;
        for claim in claims {
            let mut terms = self.terms(claim);
            if !SchedulerBehaviour::VOLUME_ALTERNATIVES.holds_in(self.release) {
                terms.truncate(1);
            }
            if !terms.is_empty() {
                restricted = true;
                alternatives = merge(&alternatives, &terms);
            }
        }
        if restricted { alternatives } else { Vec::new() }
    }

    fn terms(&self, claim: &PodClaim<'d>) -> Vec<Requirements<'d>> {
        if let Some(volume) = claim.volume {
            return self.volumes.get(volume).map(|volume| terms_of_volume(*volume)).unwrap_or_default();
        }
        let class = claim.class.and_then(|class| self.classes.get(class));
        class.map(|class| terms_of_class(*class)).unwrap_or_default()
    }
}

fn terms_of_volume(volume: Object<'_>) -> Vec<Requirements<'_>> {
    let is_local = volume.at(&["spec", "local"]).is_some() || volume.at(&["spec", "hostPath"]).is_some();
    let list = volume.at(&["spec", "nodeAffinity", "required", "nodeSelectorTerms"]);
    let mut alternatives = Vec::new();
    for term in items_of(list).map(NodeSelectorTerm::new) {
        let all: Term<'_> = read_term(term.match_expressions());
        let kept: Term<'_> =
            all.iter().filter(|(key, _)| !is_local || *key != labels::HOSTNAME).cloned().collect();
        if !all.is_empty() {
            alternatives.push(requirements_of(kept));
        }
    }
    alternatives
}

fn terms_of_class(class: Object<'_>) -> Vec<Requirements<'_>> {
    let terms = items_of(class.at(&["allowedTopologies"])).map(|term| {
        let expressions = items_of(term.get("matchLabelExpressions"));
        let all = expressions.map(|item| {
            (text_or_empty(item.get("key")), Requirement::one_of(items_of(item.get("values")).map(text)))
        });
        all.collect::<Term<'_>>()
    });
    terms.filter(|term| !term.is_empty()).map(requirements_of).collect()
}

fn requirements_of(term: Term<'_>) -> Requirements<'_> {
    let mut all = Requirements::default();
    all.extend(term);
    all
}

/// Every combination of alternatives without contradictions, or all of them if every combination has one.
fn merge<'d>(present: &[Requirements<'d>], terms: &[Requirements<'d>]) -> Vec<Requirements<'d>> {
    let pairs = || present.iter().flat_map(|one| terms.iter().map(move |other| (one, other)));
    let join = |(one, other): (&Requirements<'d>, &Requirements<'d>)| {
        let mut both = one.clone();
        both.extend(other.iter().map(|(key, requirement)| (key, requirement.clone())));
        both
    };
    let agreeing = pairs().filter(|(one, other)| one.conflict(other).is_none());
    let agreeing: Vec<_> = agreeing.map(join).take(MAX_ALTERNATIVES).collect();
    if agreeing.is_empty() { pairs().map(join).take(MAX_ALTERNATIVES).collect() } else { agreeing }
}

/// The volumes that a node has attached, by driver.
#[derive(Clone, Debug, Default)]
pub(crate) struct VolumeUsage<'d> {
    attached: BTreeMap<&'d str, BTreeSet<String>>,
    limits: BTreeMap<&'d str, usize>,
}

impl<'d> VolumeUsage<'d> {
    /// Usage of a node with the limits of its `CSINode`.
    pub(crate) fn new(node: Option<Object<'d>>) -> Self {
        let drivers = items_of(node.and_then(|node| node.at(&["spec", "drivers"])));
        let limit = |driver: Node<'d>| {
            let count = driver.at_path(&["allocatable", "count"]).and_then(Node::as_int)?;
            Some((text_or_empty(driver.get("name")), usize::try_from(count).ok()?))
        };
        Self { attached: BTreeMap::new(), limits: drivers.filter_map(limit).collect() }
    }

    /// Whether the node has a limit.
    pub(crate) fn is_limited(&self) -> bool {
        !self.limits.is_empty()
    }

    /// Whether the volumes of a pod exceed a limit.
    pub(crate) fn is_exceeded_by(&self, volumes: &[AttachedVolume<'d>]) -> bool {
        self.limits.iter().any(|(driver, limit)| {
            let attached = self.attached.get(driver);
            let is_new = |volume: &&AttachedVolume<'d>| {
                volume.driver == *driver && !attached.is_some_and(|attached| attached.contains(&volume.key))
            };
            let new: BTreeSet<&String> = volumes.iter().filter(is_new).map(|volume| &volume.key).collect();
            !new.is_empty() && attached.map_or(0, BTreeSet::len) + new.len() > *limit
        })
    }

    /// Detaches all volumes.
    pub(crate) fn clear(&mut self) {
        self.attached.clear();
    }

    /// Attaches the volumes of a pod.
    pub(crate) fn add(&mut self, volumes: &[AttachedVolume<'d>]) {
        for volume in volumes {
            self.attached.entry(volume.driver).or_default().insert(volume.key.clone());
        }
    }
}
