//! Manifests as a cluster has them: NodePools, node classes, workloads and budgets.

/// Manifests of a cluster with several teams: NodePools, node classes, workloads and disruption budgets in turn.
pub fn documents(count: usize) -> Vec<String> {
    (0..count)
        .map(|index| match index % 4 {
            0 => node_pool(index),
            1 => node_class(index),
            2 => deployment(index),
            _ => pod_disruption_budget(index),
        })
        .collect()
}

fn node_pool(index: usize) -> String {
    format!(
        "apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: pool-{index}
spec:
  template:
    metadata:
      labels:
        example.com/team: team-{team}
    spec:
      nodeClassRef:
        group: karpenter.k8s.aws
        kind: EC2NodeClass
        name: class-{class}
      expireAfter: 720h
      requirements:
      - key: karpenter.sh/capacity-type
        operator: In
        values: [spot, on-demand]
      - key: karpenter.k8s.aws/instance-category
        operator: In
        values: [c, m, r]
      - key: karpenter.k8s.aws/instance-generation
        operator: Gt
        values: [\"4\"]
  limits:
    cpu: 1000
  disruption:
    consolidationPolicy: WhenEmptyOrUnderutilized
    consolidateAfter: 1m
    budgets:
    - nodes: 10%
---
",
        team = index / 4,
        class = index + 1,
    )
}

fn node_class(index: usize) -> String {
    format!(
        "apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata:
  name: class-{index}
spec:
  role: KarpenterNodeRole-example
  amiSelectorTerms:
  - alias: al2023@v20250807
  subnetSelectorTerms:
  - tags:
      karpenter.sh/discovery: example
  securityGroupSelectorTerms:
  - tags:
      karpenter.sh/discovery: example
---
"
    )
}

fn deployment(index: usize) -> String {
    format!(
        "apiVersion: apps/v1
kind: Deployment
metadata:
  name: web-{index}
  namespace: shop
spec:
  replicas: 3
  selector:
    matchLabels:
      app: web-{index}
  template:
    metadata:
      labels:
        app: web-{index}
    spec:
      nodeSelector:
        example.com/team: team-{team}
      containers:
      - name: web
        image: registry.example/web:1.0
        ports:
        - containerPort: 8080
        resources:
          requests:
            cpu: 250m
            memory: 256Mi
          limits:
            memory: 256Mi
---
",
        team = index / 4,
    )
}

fn pod_disruption_budget(index: usize) -> String {
    format!(
        "apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: web-{app}
  namespace: shop
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      app: web-{app}
---
",
        app = index - 1,
    )
}
