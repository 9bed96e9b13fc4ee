//! A NodePool with two instance types, for tests of single behaviours.

use karpenter::release::Release;
use karpwarden_scheduling::simulation::{
    Placement, ReplicaCount, Simulation, SimulationResult, SimulationSettings,
};
use manifest::File;
use manifest::limits::Limits;
use objects::object::Object;

use crate::tree;

/// NodePool on demand with a node class.
pub(crate) const POOL: &str = "
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec: {amiSelectorTerms: [{alias: al2023@latest}]}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  limits: {}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: node.kubernetes.io/instance-type, operator: In, values: [m5.large, m5.xlarge]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
";

/// Simulates the objects of a text, and asks the result. Pods are bound, and rounds run until nothing changes.
pub(crate) fn ask<T>(
    text: &str,
    change: impl FnOnce(&mut SimulationSettings),
    question: impl FnOnce(&SimulationResult<'_>) -> T,
) -> T {
    let file = File::read("-", text, &Limits::DEFAULT);
    let objects: Vec<Object<'_>> = file.documents.iter().filter_map(tree).flat_map(Object::all).collect();
    let mut settings = SimulationSettings::new(Release::parse("1.14.1").unwrap());
    settings.binds = true;
    settings.rounds = None;
    change(&mut settings);
    question(&Simulation::new(settings, &objects).unwrap().run())
}

/// The places of the pods of a text beside the NodePool, each with the name of the pod.
pub(crate) fn places(text: &str) -> Vec<String> {
    places_with(text, |_| {})
}

/// The places of the pods of a text under changed settings.
pub(crate) fn places_with(text: &str, change: impl FnOnce(&mut SimulationSettings)) -> Vec<String> {
    ask(&format!("{POOL}---{text}"), change, all_places)
}

/// The places of all pods of a result.
pub(crate) fn all_places(result: &SimulationResult<'_>) -> Vec<String> {
    let place = |placement: &Placement<'_>| match placement {
        Placement::New(_) => "new node".to_owned(),
        Placement::Existing(node) => format!("node {}", node.name()),
        Placement::Added(name) => format!("node {name}"),
        Placement::Unplaced(_) => "unplaced".to_owned(),
        Placement::Ignored(_) => "ignored".to_owned(),
        Placement::Unreported => "unreported".to_owned(),
        Placement::Untried => "untried".to_owned(),
    };
    result.pods.iter().map(|pod| format!("{}: {}", pod.name, place(&pod.placement))).collect()
}

/// A replica count.
pub(crate) fn count(kind: &str, name: &str, count: usize) -> ReplicaCount {
    ReplicaCount { kind: kind.to_owned(), namespace: None, name: name.to_owned(), count }
}
