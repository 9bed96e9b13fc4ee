//! A NodeClaim that the API server repeatedly refuses for a label.

use super::correlation::{Correlation, each};
use super::draft::{DiagnosisDraft, names, times};
use crate::diagnosis::Diagnosis;
use crate::history::{History, Labelled, RefusedClaim};
use crate::symptom::Symptom;
use crate::vocabulary::When;
use answers::report::Confidence;
use cluster::ids::ClusterId;
use karpenter::labels::{self, LabelField};
use karpenter::release::{ReleaseSet, Releases};

/// The correlation.
pub const CORRELATION: Correlation =
    Correlation { symptom: &SYMPTOM, find: |histories, found| each(histories, found, find) };

static SYMPTOM: Symptom = Symptom {
    name: "nodeclaim-refused-label",
    severity: rule::finding::Severity::Error,
    summary: "the API server refuses NodeClaims for a label that a pod requires",
    says: "the API server refuses NodeClaims for a restricted label",
    remedy: "remove the label from the pods' node affinity: `NotIn` and `DoesNotExist` on a label that no NodePool defines add it to the NodeClaim",
    cause: "\
The requirements of a pod become requirements of its NodeClaim. For a label that no NodePool defines, `In` and
`Exists` never match, but `NotIn` and `DoesNotExist` do, and Karpenter adds them to the NodeClaim. Its CRD refuses the
domains `karpenter.sh` and `karpenter.k8s.aws` except for the known labels, `kubernetes.io/hostname`, and up to 1.8
the domains `kubernetes.io` and `k8s.io`. One such pod keeps every pod of the same NodeClaim waiting.

Karpenter skips a pending pod with such a label in a required term (`pod-ignored`). The pod is therefore one that is
running and should move, or, from 1.5 on, one with a preferred term. The error names the domain, not the label: the
diagnosis names the pods with such a label if they are in the input.

Certain: the API server reports it.",
    rules: &["pod-restricted-label", "restricted-label"],
    messages: &[],
    when: When::Correlated,
    confidence: Confidence::Certain,
    references: &[
        "the CEL rules in pkg/apis/crds/karpenter.sh_nodeclaims.yaml of aws/karpenter-provider-aws at v1.0.0, v1.8.0, v1.9.0 and v1.14.0",
        "pkg/controllers/provisioning/provisioner.go of kubernetes-sigs/karpenter at v1.0.0, v1.5.0 and v1.8.0",
        "aws/karpenter-provider-aws#8022, kubernetes-sigs/karpenter#1208, kubernetes-sigs/karpenter#2586",
    ],
};

fn find(cluster: ClusterId, history: &History, found: &mut Vec<Diagnosis>) {
    for (label, refusal) in &history.refused {
        found.push(drafted(cluster, history, label, refusal));
    }
}

fn drafted(cluster: ClusterId, history: &History, label: &str, refusal: &RefusedClaim) -> Diagnosis {
    let carriers = carriers(history, label);
    let batched = batched(history, refusal);
    let keys = {
        let mut keys: Vec<_> = carriers.iter().map(|carrier| &*carrier.key).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    };
    let releases = refusing(label);
    let what = if label.contains('/') { "label" } else { "label domain" };
    let message = format!(
        "the API server refused a NodeClaim {} for the {what} `{label}`, which Karpenter restricts {}{}",
        times(refusal.repeated.count),
        releases.when(),
        match carriers.first() {
            Some(first) => format!(": `{}` of {} `{}` requires it", first.key, first.kind, first.name),
            None => String::new(),
        }
    );
    let open = if releases == Releases::ALL { "" } else { "; from 1.9 on it is allowed" };
    let help = match (&*keys, refusal.by_disruption) {
        ([], true) => format!(
            "look for node affinity with `NotIn` or `DoesNotExist` on a label of `{label}` in the pods of the nodes to be replaced; add `kubectl get pods -A -o yaml` to the input to see their names{open}"
        ),
        ([], false) if !batched.is_empty() => format!(
            "look for preferred node affinity with `NotIn` or `DoesNotExist` on a label of `{label}` in {}{open}",
            names(batched.iter().copied())
        ),
        ([], false) => format!(
            "look for preferred node affinity with `NotIn` or `DoesNotExist` on a label of `{label}` in the pending pods; add `kubectl get pods -A -o yaml` to the input to see their names{open}"
        ),
        (keys, _) => format!(
            "remove {} from the node affinity, or use your own label that a NodePool sets{open}",
            names(keys.iter().copied())
        ),
    };
    let mut draft = DiagnosisDraft::new(&SYMPTOM, cluster, Confidence::Certain, message)
        .help(help)
        .count(refusal.repeated.count)
        .span(refusal.repeated.first.time, refusal.repeated.last.time)
        .details(keys.iter().copied())
        .details([label])
        .quote(cluster, [Some(&refusal.repeated.first), Some(&refusal.repeated.last)]);
    for carrier in &carriers {
        let name = match &*carrier.namespace {
            "" => carrier.name.to_string(),
            namespace => format!("{namespace}/{}", carrier.name),
        };
        draft = draft.objects(&carrier.kind, [&*name]);
    }
    if carriers.is_empty() {
        draft = draft.objects("Pod", batched);
    }
    draft.done()
}

/// The workloads in the input that require a label of the domain.
fn carriers<'h>(history: &'h History, label: &str) -> Vec<&'h Labelled> {
    let is_it = |carrier: &&Labelled| {
        &*carrier.key == label
            || labels::restricted_domain(&carrier.key).is_some_and(|domain| domain == label)
    };
    history.restricted.iter().filter(is_it).collect()
}

/// The named pods of the batches whose NodeClaims were refused.
fn batched<'h>(history: &'h History, refusal: &RefusedClaim) -> Vec<&'h str> {
    let batches = refusal.batches.iter().filter_map(|id| history.batches.get(id));
    let mut pods: Vec<_> = batches.flat_map(|batch| batch.pods.iter().map(|pod| &**pod)).collect();
    pods.sort_unstable();
    pods.dedup();
    pods
}

/// The releases that refuse the label or domain in the error.
fn refusing(label: &str) -> ReleaseSet {
    let of_domain = format!("{label}/any");
    let key = if label.contains('/') { label } else { &of_domain };
    let refused = labels::refused_at_apply(LabelField::ClaimRequirement, key);
    if refused.is_empty() { ReleaseSet::all() } else { refused }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{found, verdict};
    use super::CORRELATION;

    const REFUSED: &str = "\
0:05 provisioner: found provisionable pod(s) {'Pods': 'shop/web-1', 'reconcileID': 'r1'}
0:05 ERROR provisioner: Reconciler error {'reconcileID': 'r1', 'error': 'creating node claim, NodeClaim.karpenter.sh ´default-abcde´ is invalid: spec.requirements[4].key: Invalid value: ´string´: label domain ´kubernetes.io´ is restricted'}
0:15 ERROR provisioner: Reconciler error {'reconcileID': 'r2', 'error': 'creating node claim, NodeClaim.karpenter.sh ´default-fghij´ is invalid: [spec.requirements[1].key: Invalid value: ´string´: label domain ´kubernetes.io´ is restricted, spec.requirements[4].key: Invalid value: ´string´: label domain ´kubernetes.io´ is restricted]'}
";

    #[test]
    fn names_domain_releases_and_pods_of_the_batch() {
        insta::assert_snapshot!(found(&CORRELATION, REFUSED), @"
        error certain x2: the API server refused a NodeClaim twice for the label domain `kubernetes.io`, which Karpenter restricts until 1.8
          help: look for preferred node affinity with `NotIn` or `DoesNotExist` on a label of `kubernetes.io` in `shop/web-1`; from 1.9 on it is allowed
          objects: Pod/web-1
          details: kubernetes.io
          lines: 2, 3
        ");
    }

    #[test]
    fn names_the_workload_with_the_label() {
        let manifest = "\
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  template:
    spec:
      containers: []
      affinity:
        nodeAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
          - weight: 1
            preference: {matchExpressions: [{key: node-role.kubernetes.io/spot, operator: DoesNotExist}, {key: topology.kubernetes.io/zone, operator: In, values: [a]}]}
---
";
        insta::assert_snapshot!(found(&CORRELATION, &format!("{REFUSED}{manifest}")), @"
        error certain x2: the API server refused a NodeClaim twice for the label domain `kubernetes.io`, which Karpenter restricts until 1.8: `node-role.kubernetes.io/spot` of Deployment `web` requires it
          help: remove `node-role.kubernetes.io/spot` from the node affinity, or use your own label that a NodePool sets; from 1.9 on it is allowed
          objects: Deployment/web
          details: node-role.kubernetes.io/spot, kubernetes.io
          lines: 2, 3
        ");
    }

    #[test]
    fn recognises_every_wording_of_the_disruption_controller() {
        for error in [
            "disrupting via reason=´underutilized´, disrupting candidates, launching replacement nodeclaim (command-id: 1-2), creating node claim, NodeClaim.karpenter.sh ´a-bcdef´ is invalid: spec.requirements[4].key: Invalid value: ´string´: label domain ´k8s.io´ is restricted",
            "disrupting, disrupting candidates, disrupting candidates, launching replacement nodeclaim, creating node claim, NodeClaim.karpenter.sh ´a-bcdef´ is invalid: spec.requirements[4].key: Invalid value: ´string´: label domain ´karpenter.sh´ is restricted",
            "creating node claim, NodeClaim.karpenter.sh ´a-bcdef´ is invalid: spec.requirements[0].key: Invalid value: ´string´: label ´kubernetes.io/hostname´ is restricted",
        ] {
            let log = format!("0:05 ERROR disruption: Reconciler error {{'error': '{error}'}}");
            assert_eq!(verdict(&CORRELATION, &log), "error certain", "{error}");
        }
        let event = r#"0:05 event NodePool/web FailedCreate: NodeClaim.karpenter.sh "web-abcde" is invalid: spec.requirements[0].key: Invalid value: "string": label domain "k8s.io" is restricted"#;
        assert_eq!(verdict(&CORRELATION, event), "error certain");
    }

    #[test]
    fn ignores_other_refusals() {
        for error in [
            "creating node claim, NodeClaim.karpenter.sh ´a-bcdef´ is invalid: spec.requirements: Too many: 101: must have at most 100 items",
            "creating node claim, resource usage exceeds limit",
        ] {
            let log = format!("0:05 ERROR provisioner: Reconciler error {{'error': '{error}'}}");
            assert_eq!(verdict(&CORRELATION, &log), "", "{error}");
        }
    }
}
