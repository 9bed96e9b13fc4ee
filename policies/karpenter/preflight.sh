#!/bin/sh
# Checks the permissions that the policies need, before a request depends on them. Reads only.
#
#   sh preflight.sh [--context all|pools|none] [POLICY_SERVER_ACCOUNT [AUDIT_SCANNER_ACCOUNT]]
#
# --context is the setting `context` of the policies, which limits what they look up; the default is `all`.
#
# Exit status: 0 if every permission is there, 1 if one is missing, 2 if the arguments are wrong or kubectl cannot be asked.

context=all
if [ "${1-}" = --context ]; then
  context=${2-}
  shift "$(($# > 1 ? 2 : 1))"
fi
case $context in
  all) looked_up='nodepools.karpenter.sh nodeclaims.karpenter.sh ec2nodeclasses.karpenter.k8s.aws storageclasses.storage.k8s.io' ;;
  pools) looked_up=nodepools.karpenter.sh ;;
  none) looked_up= ;;
  *) printf '%s\n' 'error: --context takes all, pools or none' >&2; exit 2 ;;
esac

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
for resource in $looked_up; do
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
