// Scope, group and resource name of kinds. tools/admit/src/kinds.rs has the same table and names its sources.

const CLUSTER_SCOPED = new Set(
  `/Namespace /Node /PersistentVolume
  admissionregistration.k8s.io/MutatingWebhookConfiguration admissionregistration.k8s.io/ValidatingAdmissionPolicy
  admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding
  admissionregistration.k8s.io/ValidatingWebhookConfiguration apiextensions.k8s.io/CustomResourceDefinition
  apiregistration.k8s.io/APIService certificates.k8s.io/CertificateSigningRequest
  flowcontrol.apiserver.k8s.io/FlowSchema flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration
  karpenter.k8s.aws/AWSNodeTemplate karpenter.k8s.aws/EC2NodeClass karpenter.sh/Machine karpenter.sh/NodeClaim
  karpenter.sh/NodeOverlay karpenter.sh/NodePool karpenter.sh/Provisioner networking.k8s.io/IngressClass
  node.k8s.io/RuntimeClass policies.kubewarden.io/ClusterAdmissionPolicy
  policies.kubewarden.io/ClusterAdmissionPolicyGroup policies.kubewarden.io/PolicyServer
  rbac.authorization.k8s.io/ClusterRole rbac.authorization.k8s.io/ClusterRoleBinding scheduling.k8s.io/PriorityClass
  snapshot.storage.k8s.io/VolumeSnapshotClass storage.k8s.io/CSIDriver storage.k8s.io/CSINode
  storage.k8s.io/StorageClass storage.k8s.io/VolumeAttachment`.split(/\s+/),
);

const BUILT_IN_GROUPS = ['', 'apps', 'autoscaling', 'batch', 'policy'];

export const isNamespaced = (group: string, kind: string): boolean => !CLUSTER_SCOPED.has(`${group}/${kind}`);

export const isBuiltIn = (group: string): boolean => BUILT_IN_GROUPS.includes(group) || group.endsWith('.k8s.io');

/** Splits `karpenter.sh/v1` into group and version. The core group is empty. */
export function groupAndVersion(apiVersion: string): [group: string, version: string] {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? ['', apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
}

/** Guesses the resource name of a kind, like UnsafeGuessKindToResource in apimachinery. */
export function plural(kind: string): string {
  const singular = kind.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  if (singular === 'endpoints') return singular;
  if (singular.endsWith('s')) return `${singular}es`;
  if (/[^aeiou]y$/.test(singular) || singular === 'y') return `${singular.slice(0, -1)}ies`;
  return `${singular}s`;
}
