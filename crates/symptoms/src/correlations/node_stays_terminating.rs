//! Deleted nodes whose drain or whose volumes do not come to an end, as the status of their NodeClaims shows.

use std::collections::BTreeMap;

use super::correlation::{Correlation, each};
use super::draft::{DiagnosisDraft, duration, names};
use crate::diagnosis::Diagnosis;
use crate::entry::{EntryObject, Time};
use crate::history::{Attachment, History, Record, UnmetCondition};
use crate::symptom::Symptom;
use crate::vocabulary::When;
use answers::report::Confidence;
use cluster::ids::ClusterId;
use rule::finding::Severity;

/// The correlation.
pub const CORRELATION: Correlation =
    Correlation { symptom: &SYMPTOM, find: |histories, found| each(histories, found, find) };

static SYMPTOM: Symptom = Symptom {
    name: "node-stays-terminating",
    severity: Severity::Warning,
    summary: "a deleted node waits for its pods or its volumes",
    says: "a deleted node waits for its pods or its volumes",
    remedy: "look at the pods and the VolumeAttachments of the node; `spec.template.spec.terminationGracePeriod` of the NodePool limits the wait of later nodes",
    cause: "\
From 1.6 on the NodeClaim of a deleted node shows the steps of its termination: `Drained` is `Unknown` while pods are
evicted, and `VolumesDetached` is `Unknown` while VolumeAttachments of its pods remain. The instance runs until both
are true. A pod that cannot be evicted, or a VolumeAttachment that the CSI driver does not finish, keeps the node until
`terminationGracePeriod` is over, and for ever without it.

A VolumeAttachment that is not being deleted belongs to a pod that still runs on the node, or was left behind by one that
was force-deleted. One that is being deleted waits for the driver: its controller calls EC2, and its node pod has to
unmount the volume first.",
    rules: &["csi-node-not-tolerating-disrupted"],
    messages: &[],
    when: When::Correlated,
    confidence: Confidence::Likely,
    references: &[
        "pkg/controllers/node/termination/controller.go of kubernetes-sigs/karpenter at v1.6.0 and v1.14.0",
        "kubernetes-sigs/aws-ebs-csi-driver#2165; aws/karpenter-provider-aws#7521",
    ],
};

/// Milliseconds that a drain or a detachment may take: Kubernetes force-detaches a volume after six minutes.
const LONG: i64 = 10 * 60_000;

/// NodeClaim of a deleted node that waits.
struct Waiting<'h> {
    claim: &'h str,
    node: &'h str,
    condition: &'h UnmetCondition,
    since: Option<Time>,
}

fn find(cluster: ClusterId, history: &History, found: &mut Vec<Diagnosis>) {
    for (kind, reason) in [("Drained", "Draining"), ("VolumesDetached", "AwaitingVolumeDetachment")] {
        let waiting: Vec<Waiting<'_>> = history
            .unmet
            .all()
            .filter(|(object, of_type, condition)| {
                object.kind == "NodeClaim"
                    && *of_type == kind
                    && &*condition.status == "Unknown"
                    && &*condition.reason == reason
            })
            .filter_map(|(object, _, condition)| waiting(history, object, condition))
            .collect();
        if !waiting.is_empty() {
            found.push(diagnosis(cluster, history, kind == "Drained", &waiting));
        }
    }
}

/// A NodeClaim that waits for long, or of which nobody knows for how long.
fn waiting<'h>(
    history: &'h History,
    object: &'h EntryObject<'static>,
    condition: &'h UnmetCondition,
) -> Option<Waiting<'h>> {
    let since = condition.record.time;
    let lasted = history.lasted(since);
    let is_short = lasted.is_some_and(|lasted| (1..LONG).contains(&lasted));
    let node = history.lives.node_of(&object.name).unwrap_or_default();
    (!is_short).then_some(Waiting { claim: &object.name, node, condition, since })
}

fn diagnosis(cluster: ClusterId, history: &History, is_drain: bool, waiting: &[Waiting<'_>]) -> Diagnosis {
    let claims = names(waiting.iter().map(|one| one.claim));
    let longest =
        waiting.iter().filter_map(|one| history.lasted(one.since)).max().filter(|lasted| *lasted > 0);
    let since = waiting.iter().filter_map(|one| one.since).min();
    let lasts = match (longest, since) {
        (Some(lasted), _) if lasted >= LONG => format!(" for {}", duration(lasted)),
        (_, Some(since)) => format!(" since {since}"),
        _ => String::new(),
    };
    let plural = if waiting.len() == 1 { "" } else { "s" };
    let confidence =
        if longest.is_some_and(|lasted| lasted >= LONG) { Confidence::Certain } else { Confidence::Possible };
    let attachments: BTreeMap<&str, &Attachment> = waiting
        .iter()
        .filter(|_| !is_drain)
        .filter_map(|one| history.attachments.get(one.node))
        .flatten()
        .map(|attachment| (&*attachment.name, attachment))
        .collect();
    let quotes = || -> Vec<Option<&Record>> {
        let of_claims = waiting.iter().map(|one| Some(&one.condition.record));
        of_claims.chain(attachments.values().map(|attachment| Some(&attachment.record))).collect()
    };
    let (message, help) = if is_drain {
        (
            format!("the drain of the deleted node{plural} of {claims} has not ended{lasts}: `Drained` stays Unknown"),
            "look at the pods that remain on the node: a PodDisruptionBudget that allows no eviction, `karpenter.sh/do-not-disrupt`, a finalizer or a long `terminationGracePeriodSeconds`; `karpwarden disruption` on a snapshot names them; `spec.template.spec.terminationGracePeriod` of the NodePool limits the wait of later nodes".to_owned(),
        )
    } else {
        volumes(&claims, plural, &lasts, &attachments)
    };
    DiagnosisDraft::new(&SYMPTOM, cluster, confidence, message)
        .help(help)
        .count(waiting.len() as u64)
        .objects("NodeClaim", waiting.iter().map(|one| one.claim))
        .objects("Node", waiting.iter().map(|one| one.node))
        .objects("VolumeAttachment", attachments.keys().copied())
        .quote(cluster, quotes())
        .done()
}

/// Message and help about volumes that are not detached.
fn volumes(
    claims: &str,
    plural: &str,
    lasts: &str,
    attachments: &BTreeMap<&str, &Attachment>,
) -> (String, String) {
    let start = format!(
        "the drained node{plural} of {claims} wait{} for volumes{lasts}",
        if plural.is_empty() { "s" } else { "" }
    );
    if attachments.is_empty() {
        let help = "look at the VolumeAttachments of the node (`kubectl get volumeattachments`) and at the CSI driver: its node pods must tolerate `karpenter.sh/disrupted`, so that they run until the last volume is unmounted; add the VolumeAttachments to the input to see which one it is";
        return (format!("{start}: `VolumesDetached` stays Unknown"), help.to_owned());
    }
    let named =
        names(attachments.values().map(|one| if one.volume.is_empty() { &*one.name } else { &*one.volume }));
    let by =
        if attachments.len() == 1 { "a VolumeAttachment holds it" } else { "VolumeAttachments hold them" };
    let failed = attachments.values().find(|one| !one.error.is_empty());
    let message = match failed {
        Some(failed) => format!("{start}: {by}, of {named}, and the driver reports `{}`", failed.error),
        None => format!("{start}: {by}, of {named}"),
    };
    let help = if attachments.values().all(|one| one.is_deleting) {
        "the VolumeAttachments are being deleted, so the CSI driver has to finish: its controller must run and may call `ec2:DetachVolume`, and its node pods must tolerate `karpenter.sh/disrupted`, so that they run until the last volume is unmounted"
    } else {
        "find the pod that uses the volume and still runs on the node; if there is none, a force-deleted pod left the VolumeAttachment behind, and you can delete it: `kubectl delete volumeattachment NAME`"
    };
    (message, help.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{found, verdict};
    use super::CORRELATION;

    const CLAIM: &str = r"---
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: web-1}
status: {nodeName: node-1}
---
";

    fn attachment(more: &str) -> String {
        format!(
            r"---
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {{name: csi-1{more}}}
spec: {{nodeName: node-1, attacher: ebs.csi.aws.com, source: {{persistentVolumeName: pvc-7}}}}
status: {{attached: true}}
---
"
        )
    }

    const WAITS: &str = "0:01 condition NodeClaim/web-1 Drained=True Drained: \n0:02 condition NodeClaim/web-1 VolumesDetached=Unknown AwaitingVolumeDetachment: AwaitingVolumeDetachment\n";

    #[test]
    fn names_the_volume_attachment() {
        insta::assert_snapshot!(found(&CORRELATION, &format!("{CLAIM}{}{WAITS}30:00 karpenter: hello\n", attachment(""))), @"
        warning certain x1: the drained node of `web-1` waits for volumes for 29 minutes: a VolumeAttachment holds it, of `pvc-7`
          help: find the pod that uses the volume and still runs on the node; if there is none, a force-deleted pod left the VolumeAttachment behind, and you can delete it: `kubectl delete volumeattachment NAME`
          objects: NodeClaim/web-1, Node/node-1, VolumeAttachment/csi-1
          lines: 15, 8
        ");
        let deleting = attachment(", deletionTimestamp: '2026-03-31T16:05:00Z'");
        assert!(
            found(&CORRELATION, &format!("{CLAIM}{deleting}{WAITS}"))
                .contains("the CSI driver has to finish")
        );
        assert_eq!(verdict(&CORRELATION, &format!("{CLAIM}{WAITS}")), "warning possible");
    }

    #[test]
    fn short_waits_are_normal() {
        assert_eq!(verdict(&CORRELATION, &format!("{CLAIM}{WAITS}5:00 karpenter: hello\n")), "");
        let detached = "0:09 condition NodeClaim/web-1 VolumesDetached=True VolumesDetached: \n";
        assert_eq!(verdict(&CORRELATION, &format!("{CLAIM}{WAITS}{detached}30:00 karpenter: hello\n")), "");
    }

    #[test]
    fn tells_a_drain_that_does_not_end() {
        let drain = "0:01 condition NodeClaim/web-1 Drained=Unknown Draining: Draining\n";
        let text = found(&CORRELATION, &format!("{CLAIM}{drain}50:00 karpenter: hello\n"));
        assert!(
            text.starts_with(
                "warning certain x1: the drain of the deleted node of `web-1` has not ended for 49 minutes"
            ),
            "{text}"
        );
    }
}
