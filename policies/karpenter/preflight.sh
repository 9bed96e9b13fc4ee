#!/bin/sh
# Checks the permissions that the policies need, before a request depends on them. Reads only.
#
#   sh preflight.sh [POLICY_SERVER_ACCOUNT [AUDIT_SCANNER_ACCOUNT]]
#
# Exit status: 0 if every permission is there, 1 if one is missing, 2 if kubectl cannot be asked.

server=${1:-system:serviceaccount:kubewarden:karpwarden-policy-server}
scanner=${2:-system:serviceaccount:kubewarden:audit-scanner}
missing=0

check() {
  account=$1 verb=$2 resource=$3
  answer=$(kubectl auth can-i "$verb" "$resource" --as "$account" 2>&1 | tail -n 1)
  case $answer in
    yes) ;;
    no*) missing=$((missing + 1)); printf 'missing: %s may not %s %s\n' "$account" "$verb" "$resource" ;;
    *) printf 'error: %s\n' "$answer" >&2; exit 2 ;;
  esac
}

# The policy server lists and watches what the policies look up.
for resource in nodepools.karpenter.sh ec2nodeclasses.karpenter.k8s.aws storageclasses.storage.k8s.io; do
  check "$server" list "$resource"
  check "$server" watch "$resource"
done

# The audit scanner lists the cluster-scoped objects that the policies check. Its own role covers the other kinds.
for resource in nodepools.karpenter.sh nodeclaims.karpenter.sh ec2nodeclasses.karpenter.k8s.aws \
  storageclasses.storage.k8s.io persistentvolumes; do
  check "$scanner" list "$resource"
done

if [ "$missing" -gt 0 ]; then
  printf '%s\n' 'Apply your overlay again, or bind these permissions to the accounts that you use.'
  exit 1
fi
printf '%s\n' 'Every permission is there.'
