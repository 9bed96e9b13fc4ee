// Input of the tests of the Change tab.

/** A NodePool that lets one drifted node go at a time, and only at night. */
export const POOL = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: team
spec:
  template:
    metadata:
      labels:
        team: platform
    spec:
      expireAfter: 720h
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: node.kubernetes.io/instance-type, operator: In, values: [m5.large, m5.xlarge]}
  limits: {cpu: 2000}
  disruption:
    consolidateAfter: 5m
    budgets:
      - nodes: '1'
      - {nodes: '0', schedule: 0 8 * * *, duration: 10h}
`;

/** The same with another label, which is part of the hash, and other limits, which act at once. */
export const EDITED = POOL.replace('team: platform', 'team: compute').replace('cpu: 2000', 'cpu: 3000');

/** `karpenter.sh/nodepool-hash` of the NodePool in Karpenter 1.14, as `karpwarden hash` prints it. */
const HASH = '5448167955501246549';
const CLASS_HASH = '1';

const hashes = `{karpenter.sh/nodepool-hash: '${HASH}', karpenter.sh/nodepool-hash-version: v3, karpenter.k8s.aws/ec2nodeclass-hash: '${CLASS_HASH}', karpenter.k8s.aws/ec2nodeclass-hash-version: v5}`;

const CLASS = `---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default, annotations: ${hashes}}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@v20250807}]
  subnetSelectorTerms: [{tags: {a: b}}]
  securityGroupSelectorTerms: [{tags: {a: b}}]
status:
  amis: [{id: ami-1, name: a, requirements: []}]
  subnets: [{id: subnet-1, zone: us-east-1a, zoneID: use1-az1}]
  securityGroups: [{id: sg-1}]
  conditions: [{type: Ready, status: 'True', reason: Ready, lastTransitionTime: '2026-03-01T00:00:00Z'}]
`;

const ready = (type) => `{type: ${type}, status: 'True', reason: ${type}, lastTransitionTime: '2026-03-01T10:00:00Z'}`;

function node(number) {
  const labels = `{karpenter.sh/nodepool: team, karpenter.sh/registered: 'true', karpenter.sh/initialized: 'true', karpenter.sh/capacity-type: on-demand, node.kubernetes.io/instance-type: m5.large, topology.kubernetes.io/zone: us-east-1a, kubernetes.io/arch: amd64, kubernetes.io/os: linux, team: platform, kubernetes.io/hostname: n${number}}`;
  const size = `{cpu: '2', memory: 8Gi, pods: '29'}`;
  // The first pod is protected.
  const protection = number === 1 ? `, annotations: {karpenter.sh/do-not-disrupt: 'true'}` : '';
  return `---
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: team-${number}, labels: ${labels}, annotations: ${hashes}, creationTimestamp: '2026-03-01T09:00:00Z'}
spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}, requirements: [], expireAfter: 720h}
status: {nodeName: n${number}, providerID: 'aws:///us-east-1a/i-${number}', imageID: ami-1, capacity: ${size}, allocatable: ${size}, conditions: [${['Launched', 'Registered', 'Initialized'].map(ready).join(', ')}]}
---
apiVersion: v1
kind: Node
metadata: {name: n${number}, labels: ${labels}}
spec: {providerID: 'aws:///us-east-1a/i-${number}'}
status: {capacity: ${size}, allocatable: ${size}, conditions: [{type: Ready, status: 'True'}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web-${number}, namespace: shop, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: w, controller: true}]${protection}}
spec: {nodeName: n${number}, containers: [{name: web, image: nginx, resources: {requests: {cpu: 1200m}}}]}
status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}
`;
}

/** The rest of a cluster with some nodes. A pod on the first node may not be disrupted. */
export const cluster = (nodes = 4) => CLASS + Array.from({ length: nodes }, (_, index) => node(index + 1)).join('');
