//! Conversions of whole objects.

mod accepted;
mod alpha;
mod beta;

const CLASS: &str = "\
apiVersion: karpenter.k8s.aws/v1beta1
kind: EC2NodeClass
metadata:
  name: default
spec:
  amiFamily: AL2023 # the newest
  role: KarpenterNodeRole-prod
  subnetSelectorTerms:
    - tags: {karpenter.sh/discovery: prod}
  securityGroupSelectorTerms:
    - tags: {karpenter.sh/discovery: prod}
";

const POOL: &str = "\
# General purpose.
apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata:
  name: default
spec:
  template:
    spec:
      nodeClassRef:
        name: default # the only one
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
  disruption:
    consolidationPolicy: WhenUnderutilized # all
    # A month.
    expireAfter: 720h
    budgets:
      - nodes: 10%
  limits:
    cpu: 100
";

const KUBELET: &str = r"      kubelet:
        # Few pods.
        maxPods: 20
      requirements:
";

fn with_kubelet() -> String {
    POOL.replace("      requirements:\n", KUBELET)
}

const PROVISIONER: &str = "\
apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata:
  name: default
spec:
  # Teams pay by label.
  labels:
    team: web # cost centre
  requirements:
    # Only spot.
    - key: karpenter.sh/capacity-type
      operator: In
      values: [spot]
    - key: karpenter.k8s.aws/instance-category
      operator: In
      values:
        - c
        - m
  taints:
    - {key: dedicated, value: web, effect: NoSchedule}
  limits:
    resources:
      cpu: 1000 # cores
  providerRef:
    name: web
  ttlSecondsAfterEmpty: 30 # quick
  ttlSecondsUntilExpired: 2592000
  weight: 10
status: {}
";

const TEMPLATE: &str = "\
apiVersion: karpenter.k8s.aws/v1alpha1
kind: AWSNodeTemplate
metadata:
  name: web
spec:
  # By tag.
  subnetSelector:
    karpenter.sh/discovery: prod # the cluster
  securityGroupSelector:
    aws-ids: sg-1, sg-2
  instanceProfile: KarpenterNodeInstanceProfile-prod
  tags: {team: web}
";
