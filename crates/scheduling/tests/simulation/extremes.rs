//! Inputs with values that no cluster has.

use karpenter::release::Release;
use karpwarden_scheduling::simulation::{Placement, Simulation, SimulationSettings, TooManyPods};
use manifest::File;
use manifest::limits::Limits;
use objects::object::Object;

use crate::tree;

const EXTREMES: &str = "
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  amiSelectorTerms: [{alias: 'al2023'}]
  kubelet:
    maxPods: 9223372036854775807
    podsPerCore: 9223372036854775807
    evictionHard: {memory.available: '1e30%', nodefs.available: x}
    kubeReserved: {cpu: -1e20, memory: 9223372036854775807Ei}
  blockDeviceMappings: [{rootVolume: true, ebs: {volumeSize: 1e400}}, 7]
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  weight: -9223372036854775808
  limits: {cpu: 9e99, nodes: -1}
  template:
    spec:
      nodeClassRef: {name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-cpu, operator: Gt, values: ['9223372036854775807'], minValues: 9223372036854775807}
        - {key: '', operator: In}
        - 3
---
apiVersion: v1
kind: Pod
metadata: {name: odd}
spec:
  nodeSelector: {karpenter.sh/capacity-type: []}
  topologySpreadConstraints:
    - {maxSkew: 9223372036854775807, minDomains: -1, topologyKey: kubernetes.io/hostname}
    - {maxSkew: -9223372036854775808, topologyKey: '', labelSelector: {matchExpressions: [{}]}}
  affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a, labelSelector: {}}, 1]}}
  containers:
    - {resources: {requests: {cpu: -5, memory: 1e50, '': 1}}, ports: [{hostPort: -1}]}
  volumes: [{ephemeral: {volumeClaimTemplate: {}}}, {persistentVolumeClaim: {}}]
---
apiVersion: v1
kind: Node
metadata: {name: n}
status: {allocatable: {cpu: -1, memory: x}}
";

#[test]
fn survives_extreme_values_in_every_release() {
    let file = File::read("-", EXTREMES, &Limits::DEFAULT);
    let objects: Vec<Object<'_>> = file.documents.iter().filter_map(tree).flat_map(Object::all).collect();
    for release in Release::minors() {
        let simulation = Simulation::new(SimulationSettings::new(release), &objects).unwrap();
        let outcome = simulation.run_with_remedies();
        assert_eq!(outcome.pods.len(), 1);
        assert!(
            !matches!(outcome.pods.iter().next().unwrap().placement, Placement::New(_)),
            "{release}: {:?}",
            outcome.pods
        );
    }
}

#[test]
fn combines_a_bounded_number_of_volume_terms() {
    use std::fmt::Write as _;
    let mut text = String::from(
        r"apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: many}
provisioner: ebs.csi.aws.com
volumeBindingMode: WaitForFirstConsumer
allowedTopologies:
",
    );
    for number in 0..20 {
        writeln!(text, "- matchLabelExpressions: [{{key: k{number}, values: [a]}}]").unwrap();
    }
    text.push_str(
        r"---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers: [{name: a}]
  volumes:
",
    );
    for number in 0..20 {
        writeln!(
            text,
            "  - {{name: v{number}, ephemeral: {{volumeClaimTemplate: {{spec: {{storageClassName: many}}}}}}}}"
        )
        .unwrap();
    }
    let file = File::read("-", text, &Limits::DEFAULT);
    let objects: Vec<Object<'_>> = file.documents.iter().filter_map(tree).flat_map(Object::all).collect();
    let simulation = Simulation::new(SimulationSettings::new(Release::NEWEST), &objects).unwrap();
    assert_eq!(simulation.run().pods.len(), 1);
}

#[test]
fn refuses_more_pods_than_a_simulation_takes() {
    let deployment = |replicas: usize| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a}}\nspec: {{replicas: {replicas}, template: {{spec: {{containers: []}}}}}}\n"
        )
    };
    for (replicas, is_accepted) in [(Simulation::MAX_PODS, true), (Simulation::MAX_PODS + 1, false)] {
        let file = File::read("-", deployment(replicas), &Limits::DEFAULT);
        let objects: Vec<Object<'_>> = file.documents.iter().filter_map(tree).flat_map(Object::all).collect();
        let simulation = Simulation::new(SimulationSettings::new(Release::NEWEST), &objects);
        assert_eq!(simulation.is_ok(), is_accepted, "{replicas}");
        assert_eq!(simulation.err(), (!is_accepted).then_some(TooManyPods));
    }
    assert_eq!(TooManyPods.to_string(), "the input has more than 50000 pods");
}
