//! The node or pod whose story the user asks for.

use disruption::cluster::ClusterPod;
use disruption::judgement::JudgedNode;
use karpwarden::disrupt::ClusterDisruption;
use objects::object::Object;
use values::abbreviation::resolve;

use super::StorySubject;
use crate::error::CommandError;

/// A subject with its names in full.
#[derive(Clone, Debug)]
pub(super) struct ResolvedSubject {
    /// The name of the node.
    pub(super) node: String,
    /// The pod on the node, as `NAMESPACE/NAME`, if the user asks for a pod.
    pod: Option<String>,
}

/// Finds the subject among objects: a node by its name, its NodeClaim or its instance, a pod with or without its namespace, each
/// in full or by the start of a name.
pub(super) fn resolved(
    subject: &StorySubject,
    objects: &[Object<'_>],
) -> Result<ResolvedSubject, CommandError> {
    match subject {
        StorySubject::Node(name) => {
            let names = names_of_nodes(objects);
            let names = names.iter().map(|(name, node)| (name.as_str(), node.as_str()));
            let node = resolve(name, names).map_err(|reason| {
                let text = format!("the input has no node, NodeClaim or instance `{name}`{}", reason.hint());
                CommandError::Usage(text)
            })?;
            Ok(ResolvedSubject { node: node.to_owned(), pod: None })
        }
        StorySubject::Pod(name) => {
            let pods = pods(objects);
            let full = pods.iter().map(|(pod, _)| (pod.as_str(), pod.as_str()));
            let short = pods.iter().filter_map(|(pod, _)| Some((pod.split_once('/')?.1, pod.as_str())));
            let pod = resolve(name, full.chain(short)).map_err(|reason| {
                let text = format!("no node of the input runs a pod `{name}`{}", reason.hint());
                CommandError::Usage(text)
            })?;
            let node = pods.iter().find(|(other, _)| other == pod).map(|(_, node)| (*node).to_owned());
            Ok(ResolvedSubject { node: node.unwrap_or_default(), pod: Some(pod.to_owned()) })
        }
    }
}

/// The names, the NodeClaims and the instances of nodes, each with the name of the node.
fn names_of_nodes(objects: &[Object<'_>]) -> Vec<(String, String)> {
    let mut names = Vec::new();
    let text = |object: Object<'_>, path: &[&str]| object.str_at(path).unwrap_or_default().to_owned();
    for object in objects {
        let (node, provider_id) = match (object.kind(), object.group()) {
            ("Node", "") => (object.name().to_owned(), text(*object, &["spec", "providerID"])),
            ("NodeClaim", "karpenter.sh") => {
                let node = text(*object, &["status", "nodeName"]);
                // A NodeClaim without a Node has its own row.
                let node = if node.is_empty() { object.name().to_owned() } else { node };
                (node, text(*object, &["status", "providerID"]))
            }
            _ => continue,
        };
        names.push((object.name().to_owned(), node.clone()));
        let id = provider_id.rsplit('/').next().unwrap_or_default();
        if id.starts_with("i-") {
            names.push((id.to_owned(), node));
        }
    }
    names
}

/// The pods that have a node, as `NAMESPACE/NAME`, each with the name of its node.
fn pods<'d>(objects: &[Object<'d>]) -> Vec<(String, &'d str)> {
    let pods = objects.iter().filter(|object| object.kind() == "Pod" && object.group().is_empty());
    let placed = pods.filter_map(|pod| {
        let namespace = if pod.namespace().is_empty() { "default" } else { pod.namespace() };
        Some((format!("{namespace}/{}", pod.name()), pod.str_at(&["spec", "nodeName"])?))
    });
    placed.collect()
}

/// A node, and the pod that names it.
pub(super) type NodeAndPod<'a, 'd> = (&'a JudgedNode<'d>, Option<ClusterPod<'d>>);

/// The node of a subject.
pub(super) fn story_of<'a, 'd>(
    subject: &ResolvedSubject,
    answer: &'a ClusterDisruption<'d>,
) -> Option<NodeAndPod<'a, 'd>> {
    let node = answer.node(&subject.node)?;
    let pod = subject.pod.as_ref();
    Some((node, pod.and_then(|name| node.node.pods.iter().find(|pod| pod.full_name() == *name).copied())))
}
