//! Shows where Karpenter would place pods: `cargo run --example simulate`.

use karpwarden::{
    Choices, Cluster, File, READ_OPTIONS, Settings, SimulationAnswer, SimulationError, simulate,
};

/// Input of a simulation: a NodePool with its node class, and a workload.
const INPUT: &str = "\
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: KarpenterNodeRole-prod
  amiSelectorTerms: [{alias: al2023@v20250807}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-family, operator: In, values: [m7g]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: web
          image: example.com/web:1
          resources: {requests: {cpu: '1', memory: 1Gi}}
";

/// Simulates Karpenter's provisioner in a region.
pub(crate) fn answer(region: &str) -> Result<SimulationAnswer, SimulationError> {
    let file = File::read("input.yaml", INPUT, READ_OPTIONS);
    let cluster = Cluster { name: String::new(), files: vec![file] };
    let choices = Choices { region: Some(region.to_owned()), ..Choices::default() };
    simulate(&cluster, &choices, &Settings::default())
}

#[allow(dead_code, reason = "tests call only the function above")]
fn main() -> Result<(), SimulationError> {
    let answer = answer("us-east-1")?;
    println!("{}", answer.verdict);
    for node in answer.node_claims {
        let cheapest = node.cheapest.first().map_or("none", |one| one.name.as_str());
        println!("a node of NodePool {} for {}: {cheapest}", node.node_pool, node.pods.join(", "));
    }
    Ok(())
}
