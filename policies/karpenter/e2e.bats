#!/usr/bin/env bats
#
# Tests of the policy with kwctl: `make e2e-tests`. `make test` runs this file too, with the host in tools/admit.

@test "accept a good NodePool" {
  run kwctl run --request-path test_data/nodepool-create-good.json annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -eq 0 ]
  [ $(expr "$output" : '.*"allowed":true.*') -ne 0 ]
}

@test "reject a NodePool with a restricted label, with the rule and the place" {
  run kwctl run --request-path test_data/nodepool-create-restricted-label.json annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -eq 0 ]
  [ $(expr "$output" : '.*"allowed":false.*') -ne 0 ]
  [ $(expr "$output" : '.*restricted-label at spec.template.metadata.labels.*karpenter.sh/team.*') -ne 0 ]
}

@test "reject an update as well" {
  run kwctl run --request-path test_data/nodepool-update-restricted-label.json annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -eq 0 ]
  [ $(expr "$output" : '.*"allowed":false.*restricted-label.*') -ne 0 ]
}

@test "accept an update of an object that had the error before, unless updates are strict" {
  run kwctl run --request-path test_data/nodepool-update-old-error.json annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -eq 0 ]
  [ $(expr "$output" : '.*"allowed":true.*') -ne 0 ]
  [ $(expr "$output" : '.*"warnings":.*restricted-label.*the object had this error before the update.*') -ne 0 ]

  run kwctl run --request-path test_data/nodepool-update-old-error.json --settings-json '{"strictUpdates": true}' annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -eq 0 ]
  [ $(expr "$output" : '.*"allowed":false.*restricted-label.*') -ne 0 ]
}

@test "report all errors at once" {
  run kwctl run --request-path test_data/nodepool-create-two-errors.json annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -eq 0 ]
  [ $(expr "$output" : '.*"allowed":false.*') -ne 0 ]
  [ $(expr "$output" : '.*2 errors.*restricted-label.*api-range at spec.weight.*') -ne 0 ]
}

@test "accept a deletion, whatever the object, with a warning if nothing shows whether it removes nodes" {
  run kwctl run --request-path test_data/nodepool-delete.json annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -eq 0 ]
  [ $(expr "$output" : '.*"allowed":true.*deletion-removes-nodes at metadata.name: the nodes of NodePool `general` could not be counted.*') -ne 0 ]
  [ $(expr "$output" : '.*restricted-label.*') -eq 0 ]
}

@test "reject the deletion of a NodePool that has nodes" {
  run kwctl run --request-path test_data/nodepool-delete-in-use.json annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -eq 0 ]
  [ $(expr "$output" : '.*"allowed":false.*deletion-removes-nodes at metadata.name.*all 3 nodes of NodePool `general`.*') -ne 0 ]
}

@test "say which nodes an update replaces" {
  run kwctl run --request-path test_data/nodepool-update-restricted-label.json --settings-json '{"rules": {"labels": "warn"}}' annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -eq 0 ]
  [ $(expr "$output" : '.*"allowed":true.*') -ne 0 ]
  [ $(expr "$output" : '.*"warnings":.*update-replaces-nodes at spec.template.metadata.labels.*every node of NodePool `general`.*') -ne 0 ]
}

@test "apply the rules of the Karpenter release in the settings" {
  run kwctl run --request-path test_data/nodepool-create-old-domain.json --settings-json '{"karpenterVersion": "1.8"}' annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -eq 0 ]
  [ $(expr "$output" : '.*"allowed":false.*restricted-label.*') -ne 0 ]

  run kwctl run --request-path test_data/nodepool-create-old-domain.json --settings-json '{"karpenterVersion": "1.14"}' annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -eq 0 ]
  [ $(expr "$output" : '.*"allowed":true.*') -ne 0 ]
}

@test "accept a good EC2NodeClass" {
  run kwctl run --request-path test_data/nodeclass-create-good.json annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -eq 0 ]
  [ $(expr "$output" : '.*"allowed":true.*') -ne 0 ]
}

@test "reject an EC2NodeClass whose instance profile is an ARN" {
  run kwctl run --request-path test_data/nodeclass-create-profile-arn.json annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -eq 0 ]
  [ $(expr "$output" : '.*"allowed":false.*') -ne 0 ]
  [ $(expr "$output" : '.*instance-profile-is-arn at spec.instanceProfile.*write `KarpenterNodeProfile-prod`.*') -ne 0 ]
}

@test "fix it with fix: true" {
  run kwctl run --request-path test_data/nodeclass-create-profile-arn.json --settings-json '{"fix": true}' annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -eq 0 ]
  [ $(expr "$output" : '.*"allowed":true.*"patchType":"JSONPatch".*"patch":".*') -ne 0 ]
  [ $(expr "$output" : '.*"warnings":.*fixed: instance-profile-is-arn at spec.instanceProfile.*') -ne 0 ]
}

@test "leave a field that server-side apply manages, with fix: true" {
  run kwctl run --request-path test_data/nodeclass-create-applied.json --settings-json '{"fix": true, "rules": {"nodeclass": "warn"}}' annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -eq 0 ]
  [ $(expr "$output" : '.*"allowed":true.*') -ne 0 ]
  [ $(expr "$output" : '.*"patchType".*') -eq 0 ]
  [ $(expr "$output" : '.*"warnings":.*instance-profile-is-arn.*not fixed here: .*kustomize-controller.*') -ne 0 ]
}

@test "return errors as warnings with announceErrors: true" {
  run kwctl run --request-path test_data/nodeclass-create-profile-arn.json --settings-json '{"announceErrors": true}' annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -eq 0 ]
  [ $(expr "$output" : '.*"warnings":.*would be rejected: instance-profile-is-arn at spec.instanceProfile.*') -ne 0 ]
}

@test "ignore a rule that is off" {
  run kwctl run --request-path test_data/nodeclass-create-profile-arn.json --settings-json '{"rules": {"instance-profile-is-arn": "off"}}' annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -eq 0 ]
  [ $(expr "$output" : '.*"allowed":true.*') -ne 0 ]
}

@test "warn for a family that is set to warn" {
  run kwctl run --request-path test_data/nodeclass-create-profile-arn.json --settings-json '{"rules": {"nodeclass": "warn"}}' annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -eq 0 ]
  [ $(expr "$output" : '.*"allowed":true.*') -ne 0 ]
  [ $(expr "$output" : '.*"warnings":.*instance-profile-is-arn at spec.instanceProfile.*') -ne 0 ]
}

@test "accept what an exception covers" {
  run kwctl run --request-path test_data/nodeclass-create-profile-arn.json --settings-json '{"exceptions": [{"rule": "nodeclass", "name": "def*", "reason": "being moved"}]}' annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -eq 0 ]
  [ $(expr "$output" : '.*"allowed":true.*') -ne 0 ]
}

@test "honour the ignore annotation only with allowIgnoreAnnotation: true" {
  run kwctl run --request-path test_data/nodeclass-create-ignored.json annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -eq 0 ]
  [ $(expr "$output" : '.*"allowed":false.*instance-profile-is-arn.*') -ne 0 ]

  run kwctl run --request-path test_data/nodeclass-create-ignored.json --settings-json '{"allowIgnoreAnnotation": true}' annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -eq 0 ]
  [ $(expr "$output" : '.*"allowed":true.*') -ne 0 ]
}

@test "warn about a StorageClass with volumeBindingMode Immediate" {
  run kwctl run --request-path test_data/storageclass-create-immediate.json annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -eq 0 ]
  [ $(expr "$output" : '.*"allowed":true.*') -ne 0 ]
  [ $(expr "$output" : '.*"warnings":.*storageclass-immediate at volumeBindingMode.*') -ne 0 ]
}

@test "leave the volumeBindingMode of a StorageClass, which is immutable, with fix: true" {
  run kwctl run --request-path test_data/storageclass-create-immediate.json --settings-json '{"fix": true}' annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -eq 0 ]
  [ $(expr "$output" : '.*"allowed":true.*') -ne 0 ]
  [ $(expr "$output" : '.*"patchType".*') -eq 0 ]

  run kwctl run --request-path test_data/storageclass-update-immediate.json --settings-json '{"fix": true}' annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -eq 0 ]
  [ $(expr "$output" : '.*"allowed":true.*') -ne 0 ]
  [ $(expr "$output" : '.*"patchType".*') -eq 0 ]
}

@test "reject a controller whose cluster name differs from that of the settings" {
  run kwctl run --request-path test_data/controller-create-other-cluster.json --settings-json '{"clusterName": "prod-eu-1"}' annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -eq 0 ]
  [ $(expr "$output" : '.*"allowed":false.*cluster-name-mismatch.*') -ne 0 ]
}

@test "look up the NodePools, and reject a workload that none of them can serve" {
  run kwctl run --request-path test_data/deployment-create-unmatched.json --settings-json '{"completeInventory": true}' --allow-context-aware --replay-host-capabilities-interactions test_data/session.yml annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -eq 0 ]
  [ $(expr "$output" : '.*"allowed":false.*') -ne 0 ]
  [ $(expr "$output" : '.*pod-no-matching-pool.*general.*') -ne 0 ]
}

@test "warn about that workload if the inventory may be incomplete" {
  run kwctl run --request-path test_data/deployment-create-unmatched.json --allow-context-aware --replay-host-capabilities-interactions test_data/session.yml annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -eq 0 ]
  [ $(expr "$output" : '.*"allowed":true.*') -ne 0 ]
  [ $(expr "$output" : '.*"warnings":.*pod-no-matching-pool.*') -ne 0 ]
}

@test "accept a workload that a NodePool can serve" {
  run kwctl run --request-path test_data/deployment-create-good.json --settings-json '{"completeInventory": true}' --allow-context-aware --replay-host-capabilities-interactions test_data/session.yml annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -eq 0 ]
  [ $(expr "$output" : '.*"allowed":true.*') -ne 0 ]
  [ $(expr "$output" : '.*pod-no-matching-pool.*') -eq 0 ]
}

@test "warn about kinds that could not be looked up because the cluster does not answer" {
  run kwctl run --request-path test_data/deployment-create-unmatched.json --allow-context-aware --replay-host-capabilities-interactions test_data/session-error.yml annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -eq 0 ]
  [ $(expr "$output" : '.*"allowed":true.*') -ne 0 ]
  [ $(expr "$output" : '.*"warnings":.*NodePool objects could not be looked up.*unable to handle the request.*') -ne 0 ]
}

@test "look up nothing with context: none" {
  run kwctl run --request-path test_data/deployment-create-unmatched.json --settings-json '{"context": "none"}' annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -eq 0 ]
  [ $(expr "$output" : '.*"allowed":true.*') -ne 0 ]
  [ $(expr "$output" : '.*could not be looked up.*') -eq 0 ]
}

@test "warn about kinds that could not be looked up without the permission" {
  run kwctl run --request-path test_data/deployment-create-unmatched.json annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -eq 0 ]
  [ $(expr "$output" : '.*"allowed":true.*') -ne 0 ]
  [ $(expr "$output" : '.*"warnings":.*NodePool objects could not be looked up.*not been granted access.*') -ne 0 ]
}

@test "accept kinds that no rule reads, with a warning" {
  run kwctl run --request-path test_data/service-create.json annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -eq 0 ]
  [ $(expr "$output" : '.*"allowed":true.*') -ne 0 ]
  [ $(expr "$output" : '.*no rule of karpwarden reads the kind Service.*') -ne 0 ]
}

@test "reject settings, and name all their mistakes" {
  run kwctl run --request-path test_data/nodepool-create-good.json --settings-json '{"karpenterVersion": 1.1, "rules": {"storag": "deny"}, "clustername": "a"}' annotated-policy.wasm
  echo "output = ${output}"
  [ "$status" -ne 0 ]
  [ $(expr "$output" : '.*Provided settings are not valid.*') -ne 0 ]
  [ $(expr "$output" : '.*karpenterVersion: must be in quotes.*') -ne 0 ]
  [ $(expr "$output" : '.*did you mean `storage`.*') -ne 0 ]
  [ $(expr "$output" : '.*did you mean `clusterName`.*') -ne 0 ]
}
