// Input of the tests of the Disruption tab.

/** A NodePool that does not consolidate in business hours. */
export const POOL = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: team
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
  disruption:
    consolidateAfter: 5m
    budgets:
      - nodes: '7'
      - {nodes: '0', reasons: [Underutilized], schedule: 0 8 * * mon-fri, duration: 10h}
`;

/** A node without a NodeClaim, and one with a protected pod. */
export const NODES = `---
apiVersion: v1
kind: Node
metadata: {name: lonely}
spec: {providerID: 'aws:///eu-west-1a/i-0123456789abcdef0'}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@v20250807}]
  subnetSelectorTerms: [{tags: {a: b}}]
  securityGroupSelectorTerms: [{tags: {a: b}}]
---
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata:
  name: team-1
  labels: {karpenter.sh/nodepool: team, karpenter.sh/capacity-type: on-demand, node.kubernetes.io/instance-type: m5.large, topology.kubernetes.io/zone: eu-west-1a}
spec:
  nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
  requirements: []
status:
  nodeName: kept
  providerID: aws:///eu-west-1a/i-0123456789abcdef1
  conditions:
    - {type: Launched, status: 'True', reason: Launched, lastTransitionTime: '2026-03-01T10:00:00Z'}
    - {type: Registered, status: 'True', reason: Registered, lastTransitionTime: '2026-03-01T10:01:00Z'}
    - {type: Initialized, status: 'True', reason: Initialized, lastTransitionTime: '2026-03-01T10:02:00Z'}
---
apiVersion: v1
kind: Node
metadata:
  name: kept
  labels: {karpenter.sh/nodepool: team, karpenter.sh/capacity-type: on-demand, node.kubernetes.io/instance-type: m5.large, topology.kubernetes.io/zone: eu-west-1a, karpenter.sh/registered: 'true', karpenter.sh/initialized: 'true'}
spec: {providerID: 'aws:///eu-west-1a/i-0123456789abcdef1'}
status:
  conditions: [{type: Ready, status: 'True'}]
  capacity: {cpu: '2', memory: 8Gi, pods: '29'}
  allocatable: {cpu: 1930m, memory: 7Gi, pods: '29'}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop, annotations: {karpenter.sh/do-not-disrupt: 'true'}}
spec: {nodeName: kept, containers: [{name: web, image: nginx}]}
status: {phase: Running}
`;
