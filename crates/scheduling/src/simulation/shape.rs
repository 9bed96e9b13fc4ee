//! The part of a pod that decides where it runs. Pods with equal shapes share it.

use std::collections::BTreeSet;

use karpenter::release::Release;
use manifest::tree::{Node, items_of};
use objects::pod::{Pod, PodSpec};

use super::behaviour::SchedulerBehaviour;
use super::host_ports::HostPort;
use super::resources::{ResourceNames, Resources, requests_of_pod};
use super::selector::{LabelSelector, Labels, Namespaces, labels_of};
use crate::demand::Demand;
use crate::preferences::Preferences;
use crate::requirements::Requirements;
use crate::scalar::{text, text_or_empty};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// Term of a pod affinity or anti-affinity.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AffinityTerm<'d> {
    /// `topologyKey`.
    pub(crate) key: &'d str,
    /// The namespaces of the selected pods.
    pub(crate) namespaces: BTreeSet<&'d str>,
    /// `labelSelector`.
    pub(crate) selector: Option<LabelSelector<'d>>,
}

/// Terms of a pod affinity or anti-affinity.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AffinityTerms<'d> {
    /// The required terms.
    pub(crate) required: Vec<AffinityTerm<'d>>,
    /// The preferred terms with their weights.
    pub(crate) preferred: Preferences<AffinityTerm<'d>>,
}

/// Topology spread constraint.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spread<'d> {
    /// `topologyKey`.
    pub(crate) key: &'d str,
    /// `maxSkew`.
    pub(crate) max_skew: i64,
    /// `minDomains`.
    pub(crate) min_domains: Option<i64>,
    /// `whenUnsatisfiable: ScheduleAnyway`.
    pub(crate) is_preference: bool,
    /// `labelSelector`, with the labels of `matchLabelKeys`.
    pub(crate) selector: Option<LabelSelector<'d>>,
    /// `nodeTaintsPolicy: Honor`.
    pub(crate) honors_taints: bool,
    /// `nodeAffinityPolicy: Honor`.
    pub(crate) honors_affinity: bool,
}

/// The part of a pod that decides where it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PodShape<'d> {
    /// The namespace.
    pub(crate) namespace: &'d str,
    /// The labels.
    pub(crate) labels: Labels<'d>,
    /// The labels and taints.
    pub(crate) demand: Demand<'d>,
    /// `podAffinity`.
    pub(crate) affinity: AffinityTerms<'d>,
    /// `podAntiAffinity`.
    pub(crate) anti_affinity: AffinityTerms<'d>,
    /// `topologySpreadConstraints`.
    pub(crate) spreads: Vec<Spread<'d>>,
    /// The host ports of the containers.
    pub(crate) ports: Vec<HostPort<'d>>,
    /// The requested resources.
    pub(crate) requests: Resources,
    /// The requirements of the volumes, as alternatives.
    pub(crate) volumes: Vec<Requirements<'d>>,
    /// The requirements of the volumes that are among the labels, in releases that do not keep them apart.
    pub(crate) volume_labels: Requirements<'d>,
    /// Whether the pod uses resource claims.
    pub(crate) has_resource_claims: bool,
}

/// The world in which a pod is read.
#[derive(Clone, Copy)]
pub(crate) struct ShapeContext<'r, 'd> {
    /// The names of resources.
    pub(crate) names: &'r ResourceNames<'d>,
    /// The namespaces of the cluster.
    pub(crate) namespaces: &'r Namespaces<'d>,
    /// The release of Karpenter.
    pub(crate) release: Release,
}

impl<'d> PodShape<'d> {
    /// Reads a pod or a template.
    pub(crate) fn read(pod: Pod<'d>, namespace: &'d str, context: ShapeContext<'_, 'd>) -> Self {
        let spec = pod.spec();
        let labels = labels_of(pod.metadata().label_map());
        let affinity = |kind: &str| {
            AffinityTerms::read(spec.node().at_path(&["affinity", kind]), namespace, &labels, context)
        };
        Self {
            namespace,
            affinity: affinity("podAffinity"),
            anti_affinity: affinity("podAntiAffinity"),
            spreads: spec
                .topology_spread_constraints()
                .map(|constraint| Spread::read(constraint.node(), &labels, context.release))
                .collect(),
            ports: read_ports(spec.node()),
            demand: Demand::read(pod),
            requests: requests_of_pod(spec.node(), context.names, context.release),
            volumes: Vec::new(),
            volume_labels: Requirements::default(),
            has_resource_claims: has_resource_claims(spec, context.release),
            labels,
        }
    }
}

/// Whether a pod uses resource claims, as far as a release looks (`HasDRARequirements`).
fn has_resource_claims(spec: PodSpec<'_>, release: Release) -> bool {
    let containers = ["initContainers", "containers"].into_iter().filter_map(|field| spec.node().get(field));
    let mut used =
        containers.flat_map(Node::items).map(|container| container.at_path(&["resources", "claims"]));
    used.any(|claims| items_of(claims).next().is_some())
        || (items_of(spec.resource_claims()).next().is_some()
            && SchedulerBehaviour::RESOURCE_CLAIMS_OF_PODS.holds_in(release))
}

/// The host ports of regular containers. With `hostNetwork` the API server sets them.
fn read_ports(spec: Node<'_>) -> Vec<HostPort<'_>> {
    let on_host = spec.get("hostNetwork").and_then(Node::as_bool) == Some(true);
    let mut ports = Vec::new();
    for container in items_of(spec.get("containers")) {
        for port in items_of(container.get("ports")) {
            let own = port.get("containerPort").filter(|_| on_host);
            let number = port.get("hostPort").or(own).and_then(Node::as_int).filter(|number| *number != 0);
            if let Some(port_number) = number {
                let protocol = port.str_at(&["protocol"]).unwrap_or("TCP");
                ports.push(HostPort { ip: text_or_empty(port.get("hostIP")), port: port_number, protocol });
            }
        }
    }
    ports
}

impl<'d> AffinityTerms<'d> {
    fn read(
        node: Option<Node<'d>>,
        namespace: &'d str,
        labels: &Labels<'d>,
        context: ShapeContext<'_, 'd>,
    ) -> Self {
        let list = |field: &str| items_of(node.and_then(|node| node.get(field)));
        let term = |item: Node<'d>| AffinityTerm::read(item, namespace, labels, context);
        let preferred = list(PREFERRED).filter_map(|item| {
            let weight = item.get("weight").and_then(Node::as_int).unwrap_or_default();
            Some((weight, term(item.get("podAffinityTerm")?)))
        });
        Self { required: list(REQUIRED).map(term).collect(), preferred: preferred.collect() }
    }
}

impl<'d> AffinityTerm<'d> {
    fn read(item: Node<'d>, namespace: &'d str, labels: &Labels<'d>, context: ShapeContext<'_, 'd>) -> Self {
        let mut selector = LabelSelector::parse(item.get("labelSelector"));
        // The API server adds these labels to the selector.
        for (field, is) in [("matchLabelKeys", true), ("mismatchLabelKeys", false)] {
            for key in items_of(item.get(field)).map(text) {
                if let (Some(selector), Some(value)) = (&mut selector, labels.get(key)) {
                    selector.add(key, value, is);
                }
            }
        }
        let listed: BTreeSet<&str> = items_of(item.get("namespaces")).map(text).collect();
        let by_label = LabelSelector::parse(item.get("namespaceSelector"));
        let namespaces = match by_label {
            None if listed.is_empty() => BTreeSet::from([namespace]),
            None => listed,
            Some(selector) => listed.into_iter().chain(context.namespaces.selected(&selector)).collect(),
        };
        Self { key: text_or_empty(item.get("topologyKey")), namespaces, selector }
    }
}

impl<'d> Spread<'d> {
    fn read(item: Node<'d>, labels: &Labels<'d>, release: Release) -> Self {
        let policies = SchedulerBehaviour::SPREAD_POLICIES.holds_in(release);
        let mut selector = LabelSelector::parse(item.get("labelSelector"));
        for key in items_of(item.get("matchLabelKeys")).map(text).filter(|_| policies) {
            if let (Some(selector), Some(value)) = (&mut selector, labels.get(key)) {
                selector.add(key, value, true);
            }
        }
        let policy = |field: &str| item.str_at(&[field]).filter(|_| policies);
        Self {
            key: text_or_empty(item.get("topologyKey")),
            max_skew: item.get("maxSkew").and_then(Node::as_int).unwrap_or(1),
            min_domains: item.get("minDomains").and_then(Node::as_int),
            is_preference: item.str_at(&["whenUnsatisfiable"]) == Some("ScheduleAnyway"),
            selector,
            honors_taints: policy("nodeTaintsPolicy") == Some("Honor"),
            honors_affinity: policy("nodeAffinityPolicy") != Some("Ignore"),
        }
    }
}
