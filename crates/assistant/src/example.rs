//! The manifest with which a new NodePool starts.

/// Choices of a new NodePool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolChoices {
    /// Values of `kubernetes.io/arch`.
    pub architectures: Vec<&'static str>,
    /// Values of `karpenter.sh/capacity-type`.
    pub capacity_types: Vec<&'static str>,
}

/// A NodePool and its EC2NodeClass, as Karpenter's documentation starts (website/content/en/docs/getting-started). Every release accepts
/// them. `${CLUSTER_NAME}` and `${ALIAS_VERSION}` are placeholders: which versions of an image exist depends on the Kubernetes version of the
/// cluster.
pub fn manifest(choices: &PoolChoices) -> String {
    let list =
        |values: &[&str]| values.iter().map(|value| format!("\"{value}\"")).collect::<Vec<_>>().join(", ");
    let (architectures, capacity_types) = (list(&choices.architectures), list(&choices.capacity_types));
    format!(
        "apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: general
spec:
  template:
    spec:
      nodeClassRef:
        group: karpenter.k8s.aws
        kind: EC2NodeClass
        name: general
      requirements:
        - key: kubernetes.io/arch
          operator: In
          values: [{architectures}]
        - key: kubernetes.io/os
          operator: In
          values: [\"linux\"]
        - key: karpenter.sh/capacity-type
          operator: In
          values: [{capacity_types}]
        - key: karpenter.k8s.aws/instance-category
          operator: In
          values: [\"c\", \"m\", \"r\"]
        - key: karpenter.k8s.aws/instance-generation
          operator: Gt
          values: [\"4\"]
      expireAfter: 720h
  limits:
    cpu: 1000
  disruption:
    consolidationPolicy: WhenEmptyOrUnderutilized
    consolidateAfter: 1m
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: general
spec:
  role: KarpenterNodeRole-${{CLUSTER_NAME}}
  amiSelectorTerms:
    - alias: al2023@${{ALIAS_VERSION}}
  subnetSelectorTerms:
    - tags:
        karpenter.sh/discovery: ${{CLUSTER_NAME}}
  securityGroupSelectorTerms:
    - tags:
        karpenter.sh/discovery: ${{CLUSTER_NAME}}
"
    )
}
