//! A Node without the registration taint.

use super::correlation::{Correlation, each};
use super::draft::{DiagnosisDraft, names};
use crate::diagnosis::Diagnosis;
use crate::history::{History, Life};
use crate::symptom::Symptom;
use crate::vocabulary::When;
use answers::report::Confidence;
use cluster::ids::ClusterId;
use rule::finding::Severity;

/// The correlation.
pub const CORRELATION: Correlation =
    Correlation { symptom: &SYMPTOM, find: |histories, found| each(histories, found, find) };

static SYMPTOM: Symptom = Symptom {
    name: "registration-taint-absent",
    severity: Severity::Error,
    summary: "a node starts without the taint that Karpenter expects at registration",
    says: "a node started without the taint `karpenter.sh/unregistered:NoExecute`",
    remedy: "let the kubelet register with the taint `karpenter.sh/unregistered:NoExecute`: `--register-with-taints=karpenter.sh/unregistered:NoExecute` in the value of `--kubelet-extra-args`, or `registerWithTaints` in the NodeConfig; for every `amiFamily` except `Custom` Karpenter adds it",
    cause: "\
With `amiFamily: Custom` Karpenter passes the user data on unchanged, and the user data must make the kubelet register
with the taint `karpenter.sh/unregistered:NoExecute`. Without it the provider's releases 1.0.0 to 1.0.8, 1.1.0 to
1.1.3 and 1.2.0 to 1.2.1 refuse the Node: `Registered` becomes false with the reason `UnregisteredTaintNotFound`, and
after fifteen minutes Karpenter deletes the NodeClaim and its instance. Later releases report it and continue: pods
may be bound to the Node before its taints and labels are in place.

Often the taint is set but never read: the `bootstrap.sh` of Amazon Linux 2 ignores `--kubelet-extra-args=…` with an
equals sign, and `karpenter.sh/uninitialized` is not a taint that Karpenter knows.

Certain if the controller reports it. Likely if a Node in the input has neither the taint nor the label
`karpenter.sh/registered`, and its NodeClaim is not registered.",
    rules: &["registration-taint-missing", "registration-taint-wrong", "bootstrap-argument-ignored"],
    messages: &[],
    when: When::Correlated,
    confidence: Confidence::Certain,
    references: &[
        "pkg/controllers/nodeclaim/lifecycle/registration.go of kubernetes-sigs/karpenter at v1.0.2, v1.2.0, v1.3.0, v1.5.0 and v1.14.0",
        "aws/karpenter-provider-aws#7399, aws/karpenter-provider-aws#6821, kubernetes-sigs/karpenter#1828, kubernetes-sigs/karpenter#1991",
    ],
};

fn find(cluster: ClusterId, history: &History, found: &mut Vec<Diagnosis>) {
    let lacking: Vec<_> = history.lives.all().filter(|life| life.taint_missing.is_some()).collect();
    let (refused, passed): (Vec<_>, Vec<_>) = lacking.into_iter().partition(|life| life.taint_needed);
    if !refused.is_empty() {
        let message = format!(
            "{} started without the taint `karpenter.sh/unregistered:NoExecute`, and this release does not register such a node: {}",
            whose(&refused),
            if refused.iter().any(|life| life.timed_out.is_some() || life.deleted.is_some()) {
                "the NodeClaim was deleted after 15 minutes, and the next one will be too"
            } else {
                "the NodeClaim will be deleted after 15 minutes"
            }
        );
        found.push(drafted(cluster, history, &refused, message).done());
    }
    if !passed.is_empty() {
        let message = format!(
            "{} started without the taint `karpenter.sh/unregistered:NoExecute` and {} registered nevertheless: pods may have been bound before taints and labels were in place",
            whose(&passed),
            if passed.len() == 1 { "is" } else { "are" },
        );
        let soft = passed.iter().all(|life| life.registered.is_some() || life.timed_out.is_none());
        let severity = if soft { Severity::Warning } else { Severity::Error };
        found.push(drafted(cluster, history, &passed, message).severity(severity).done());
    }
    found.extend(bare_node(cluster, history));
}

/// The nodes of some NodeClaims, as text.
fn whose(lives: &[&Life]) -> String {
    let names = names(lives.iter().map(|life| &*life.name));
    if lives.len() == 1 { format!("the node of {names}") } else { format!("the nodes of {names}") }
}

fn drafted(cluster: ClusterId, history: &History, lives: &[&Life], message: String) -> DiagnosisDraft {
    let lacking = || lives.iter().filter_map(|life| life.taint_missing.as_ref());
    let count: u64 = lacking().map(|(_, count)| count).sum();
    let first =
        lives.iter().copied().min_by_key(|life| life.taint_missing.as_ref().map(|(record, _)| record.key()));
    let quotes = first.into_iter().flat_map(|life| {
        let missing = life.taint_missing.as_ref().map(|(record, _)| record);
        [
            life.launched.as_ref(),
            missing,
            life.registered.as_ref(),
            life.timed_out.as_ref(),
            life.deleted.as_ref(),
        ]
    });
    let dated = || lives.iter().filter_map(|life| life.taint_span.dated());
    let (first, last) = (dated().map(|(first, _)| first).min(), dated().map(|(_, last)| last).max());
    DiagnosisDraft::new(&SYMPTOM, cluster, Confidence::Certain, message)
        .count(count)
        .at_least(history)
        .span(first, last)
        .objects("NodeClaim", lives.iter().take(1).map(|life| &*life.name))
        .objects("EC2NodeClass", history.classes_of(lives.iter().map(|life| life.pool())))
        .objects("NodeClaim", lives.iter().map(|life| &*life.name))
        .quote(cluster, quotes)
}

/// A Node of an unregistered NodeClaim, without the taint.
fn bare_node(cluster: ClusterId, history: &History) -> Option<Diagnosis> {
    let unregistered = |life: &&Life| {
        life.registered.is_none() && life.taint_missing.is_none() && !life.provider_id.is_empty()
    };
    let bare = history.lives.all().filter(unregistered).filter_map(|life| {
        let node = history.nodes.get(&*life.provider_id)?;
        (!node.is_registered && !node.has_registration_taint).then_some((life, node))
    });
    let bare: Vec<_> = bare.collect();
    let (life, node) = *bare.first()?;
    let message = format!(
        "the node `{}` exists without the taint `karpenter.sh/unregistered:NoExecute`, and its NodeClaim `{}` is not registered",
        node.name, life.name
    );
    let draft = DiagnosisDraft::new(&SYMPTOM, cluster, Confidence::Likely, message)
        .count_of_lives(bare.len(), history)
        .objects("NodeClaim", bare.iter().map(|(life, _)| &*life.name))
        .objects("EC2NodeClass", history.classes_of(bare.iter().map(|(life, _)| life.pool())))
        .quote(cluster, [life.launched.as_ref(), life.node_not_found.as_ref(), Some(&node.record)]);
    Some(draft.done())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{found, verdict};
    use super::CORRELATION;

    #[test]
    fn is_an_error_in_releases_that_refuse_the_node() {
        let log = "\
0:03 nodeclaim.lifecycle: launched nodeclaim {'claim': 'custom-abcde', 'provider-id': 'aws:///eu-west-1a/i-1'}
0:50 ERROR nodeclaim.lifecycle: Reconciler error {'claim': 'custom-abcde', 'error': 'missing required startup taint, karpenter.sh/unregistered'}
1:50 ERROR nodeclaim.lifecycle: Reconciler error {'claim': 'custom-abcde', 'error': 'missing required startup taint, karpenter.sh/unregistered'}
15:02 DEBUG nodeclaim.lifecycle: terminating due to registration ttl {'claim': 'custom-abcde', 'ttl': '15m0s'}
";
        insta::assert_snapshot!(found(&CORRELATION, log), @"
        error certain x2: the node of `custom-abcde` started without the taint `karpenter.sh/unregistered:NoExecute`, and this release does not register such a node: the NodeClaim was deleted after 15 minutes, and the next one will be too
          help: let the kubelet register with the taint `karpenter.sh/unregistered:NoExecute`: `--register-with-taints=karpenter.sh/unregistered:NoExecute` in the value of `--kubelet-extra-args`, or `registerWithTaints` in the NodeConfig; for every `amiFamily` except `Custom` Karpenter adds it
          objects: NodeClaim/custom-abcde
          lines: 1, 2, 4
        ");
    }

    #[test]
    fn is_a_warning_in_releases_that_continue() {
        let log = "\
0:03 nodeclaim.lifecycle: launched nodeclaim {'claim': 'custom-abcde'}
0:50 ERROR nodeclaim.lifecycle: node claim registration error {'claim': 'custom-abcde', 'taint': 'karpenter.sh/unregistered', 'error': 'missing taint prevents registration-related race conditions on Karpenter-managed nodes'}
0:51 nodeclaim.lifecycle: registered nodeclaim {'claim': 'custom-abcde'}
";
        insta::assert_snapshot!(found(&CORRELATION, log), @"
        warning certain x1: the node of `custom-abcde` started without the taint `karpenter.sh/unregistered:NoExecute` and is registered nevertheless: pods may have been bound before taints and labels were in place
          help: let the kubelet register with the taint `karpenter.sh/unregistered:NoExecute`: `--register-with-taints=karpenter.sh/unregistered:NoExecute` in the value of `--kubelet-extra-args`, or `registerWithTaints` in the NodeConfig; for every `amiFamily` except `Custom` Karpenter adds it
          objects: NodeClaim/custom-abcde
          lines: 1, 2, 3
        ");
        let before_1_5 = log.replace("'taint': 'karpenter.sh/unregistered', ", "").replace(
            "missing taint prevents registration-related",
            "missing karpenter.sh/unregistered taint which prevents registration related",
        );
        assert_eq!(verdict(&CORRELATION, &before_1_5), "warning certain");
        assert_eq!(verdict(&CORRELATION, &log.replace("karpenter.sh/unregistered", "another")), "");
    }

    #[test]
    fn reads_events_and_conditions() {
        for (record, expected) in [
            (
                "1:00 condition NodeClaim/a-bcdef Registered=False UnregisteredTaintNotFound: Invariant violated, karpenter.sh/unregistered taint must be present on Karpenter-managed nodes",
                "error certain",
            ),
            (
                "1:00 event NodeClaim/a-bcdef UnregisteredTaintMissing: Missing karpenter.sh/unregistered taint which prevents registration related race conditions on Karpenter-managed nodes",
                "warning certain",
            ),
            (
                "1:00 condition NodeClaim/a-bcdef Registered=Unknown NodeNotFound: Node not registered with cluster",
                "",
            ),
        ] {
            assert_eq!(verdict(&CORRELATION, record), expected, "{record}");
        }
    }

    #[test]
    fn reads_node_objects() {
        let text = "\
0:00 condition NodeClaim/a-bcdef Launched=True Launched
---
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: a-bcdef, labels: {karpenter.sh/nodepool: a}}
status: {providerID: 'aws:///eu-west-1a/i-1'}
---
---
apiVersion: v1
kind: Node
metadata: {name: ip-10-0-1-2}
spec: {providerID: 'aws:///eu-west-1a/i-1', taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule}]}
---
";
        insta::assert_snapshot!(found(&CORRELATION, text), @"
        error likely x1: the node `ip-10-0-1-2` exists without the taint `karpenter.sh/unregistered:NoExecute`, and its NodeClaim `a-bcdef` is not registered
          help: let the kubelet register with the taint `karpenter.sh/unregistered:NoExecute`: `--register-with-taints=karpenter.sh/unregistered:NoExecute` in the value of `--kubelet-extra-args`, or `registerWithTaints` in the NodeConfig; for every `amiFamily` except `Custom` Karpenter adds it
          objects: NodeClaim/a-bcdef
          lines: 1, 9
        ");
        let tainted = text.replace(
            "key: node.kubernetes.io/not-ready, effect: NoSchedule",
            "key: karpenter.sh/unregistered, effect: NoExecute",
        );
        assert_eq!(verdict(&CORRELATION, &tainted), "");
        let registered = text
            .replace("{name: ip-10-0-1-2}", "{name: ip-10-0-1-2, labels: {karpenter.sh/registered: 'true'}}");
        assert_eq!(verdict(&CORRELATION, &registered), "");
    }
}
