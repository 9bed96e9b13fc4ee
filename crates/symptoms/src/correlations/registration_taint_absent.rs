//! A Node without the taint that it has to register with.

use super::draft::{Draft, names};
use super::{Correlation, each};
use lint::finding::Severity;
use crate::history::{History, Life};
use crate::vocabulary::When;
use lint::report::Confidence;
use crate::{Diagnosis, Symptom};

/// The correlation.
pub const CORRELATION: Correlation =
    Correlation { symptom: &SYMPTOM, find: |histories, found| each(histories, found, find) };

static SYMPTOM: Symptom = Symptom {
    name: "registration-taint-absent",
    severity: Severity::Error,
    summary: "a node comes up without the taint that Karpenter expects at registration",
    says: "a node came up without the taint `karpenter.sh/unregistered:NoExecute`",
    remedy: "let the kubelet register with the taint `karpenter.sh/unregistered:NoExecute`: `--register-with-taints=karpenter.sh/unregistered:NoExecute` in the value of `--kubelet-extra-args`, or `registerWithTaints` in the NodeConfig; for every `amiFamily` but `Custom` Karpenter writes it itself",
    cause: "\
With `amiFamily: Custom` the user data is passed on as it is, and must make the kubelet register with the taint
`karpenter.sh/unregistered:NoExecute`. Where it does not, the provider's releases 1.0.0 to 1.0.8, 1.1.0 to 1.1.3 and 1.2.0 to
1.2.1 refuse the Node: `Registered` turns false with the reason `UnregisteredTaintNotFound`, and after fifteen minutes
the NodeClaim and its instance are removed. Later releases say so and go on: pods can be bound to the Node before its
taints and labels are in place.

Often the taint is there, but is never read: `--kubelet-extra-args=…` with an equals sign is passed over by the
`bootstrap.sh` of Amazon Linux 2, and `karpenter.sh/uninitialized` is no taint that Karpenter knows.

Certain wherever the controller says it. Likely where a Node in the input has neither the taint nor the label
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

fn find(cluster: usize, history: &History, found: &mut Vec<Diagnosis>) {
    let told: Vec<_> = history.lives.all().filter(|life| life.taint_missing.is_some()).collect();
    let (refused, passed): (Vec<_>, Vec<_>) = told.into_iter().partition(|life| life.taint_needed);
    if !refused.is_empty() {
        let message = format!(
            "{} came up without the taint `karpenter.sh/unregistered:NoExecute`, and this release does not register such a node: {}",
            whose(&refused),
            if refused.iter().any(|life| life.timed_out.is_some() || life.deleted.is_some()) {
                "the NodeClaim is removed after 15 minutes, and the next meets the same"
            } else {
                "the NodeClaim will be removed after 15 minutes"
            }
        );
        found.push(drafted(cluster, history, &refused, message).done());
    }
    if !passed.is_empty() {
        let message = format!(
            "{} came up without the taint `karpenter.sh/unregistered:NoExecute` and {} registered all the same: pods may have been bound before taints and labels were in place",
            whose(&passed),
            if passed.len() == 1 { "is" } else { "are" },
        );
        let soft = passed.iter().all(|life| life.registered.is_some() || life.timed_out.is_none());
        let severity = if soft { Severity::Warning } else { Severity::Error };
        found.push(drafted(cluster, history, &passed, message).severity(severity).done());
    }
    found.extend(bare_node(cluster, history));
}

/// The nodes of some NodeClaims.
fn whose(lives: &[&Life]) -> String {
    let names = names(lives.iter().map(|life| &*life.name));
    if lives.len() == 1 { format!("the node of {names}") } else { format!("the nodes of {names}") }
}

fn drafted(cluster: usize, history: &History, lives: &[&Life], message: String) -> Draft {
    let told = || lives.iter().filter_map(|life| life.taint_missing.as_ref());
    let count = told().map(|(_, count)| count).sum();
    let first =
        lives.iter().copied().min_by_key(|life| life.taint_missing.as_ref().map(|(said, _)| said.key()));
    let quotes = first.into_iter().flat_map(|life| {
        let missing = life.taint_missing.as_ref().map(|(said, _)| said);
        [
            life.launched.as_ref(),
            missing,
            life.registered.as_ref(),
            life.timed_out.as_ref(),
            life.deleted.as_ref(),
        ]
    });
    let (first, last) =
        (told().filter_map(|(said, _)| said.time).min(), told().filter_map(|(said, _)| said.time).max());
    Draft::new(&SYMPTOM, cluster, Confidence::Certain, message)
        .count(count)
        .span(first, last)
        .objects("NodeClaim", lives.iter().take(1).map(|life| &*life.name))
        .objects("EC2NodeClass", history.classes_of(lives.iter().map(|life| life.pool())))
        .objects("NodeClaim", lives.iter().map(|life| &*life.name))
        .quote(cluster, quotes)
}

/// A Node of an unregistered NodeClaim, without the taint.
fn bare_node(cluster: usize, history: &History) -> Option<Diagnosis> {
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
        "the node `{}` is there without the taint `karpenter.sh/unregistered:NoExecute`, and its NodeClaim `{}` is not registered",
        node.name, life.name
    );
    let draft = Draft::new(&SYMPTOM, cluster, Confidence::Likely, message)
        .count(bare.len() as u64)
        .objects("NodeClaim", bare.iter().map(|(life, _)| &*life.name))
        .objects("EC2NodeClass", history.classes_of(bare.iter().map(|(life, _)| life.pool())))
        .quote(cluster, [life.launched.as_ref(), life.node_not_found.as_ref(), Some(&node.said)]);
    Some(draft.done())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{found, verdict};
    use super::CORRELATION;

    #[test]
    fn a_release_that_refuses_the_node_says_why() {
        let log = "\
0:03 nodeclaim.lifecycle: launched nodeclaim {'claim': 'custom-abcde', 'provider-id': 'aws:///eu-west-1a/i-1'}
0:50 ERROR nodeclaim.lifecycle: Reconciler error {'claim': 'custom-abcde', 'error': 'missing required startup taint, karpenter.sh/unregistered'}
1:50 ERROR nodeclaim.lifecycle: Reconciler error {'claim': 'custom-abcde', 'error': 'missing required startup taint, karpenter.sh/unregistered'}
15:02 DEBUG nodeclaim.lifecycle: terminating due to registration ttl {'claim': 'custom-abcde', 'ttl': '15m0s'}
";
        insta::assert_snapshot!(found(&CORRELATION, log), @"
        error certain x2: the node of `custom-abcde` came up without the taint `karpenter.sh/unregistered:NoExecute`, and this release does not register such a node: the NodeClaim is removed after 15 minutes, and the next meets the same
          help: let the kubelet register with the taint `karpenter.sh/unregistered:NoExecute`: `--register-with-taints=karpenter.sh/unregistered:NoExecute` in the value of `--kubelet-extra-args`, or `registerWithTaints` in the NodeConfig; for every `amiFamily` but `Custom` Karpenter writes it itself
          objects: NodeClaim/custom-abcde
          lines: 1, 2, 4
        ");
    }

    #[test]
    fn a_release_that_goes_on_says_so_too() {
        let log = "\
0:03 nodeclaim.lifecycle: launched nodeclaim {'claim': 'custom-abcde'}
0:50 ERROR nodeclaim.lifecycle: node claim registration error {'claim': 'custom-abcde', 'taint': 'karpenter.sh/unregistered', 'error': 'missing taint prevents registration-related race conditions on Karpenter-managed nodes'}
0:51 nodeclaim.lifecycle: registered nodeclaim {'claim': 'custom-abcde'}
";
        insta::assert_snapshot!(found(&CORRELATION, log), @"
        warning certain x1: the node of `custom-abcde` came up without the taint `karpenter.sh/unregistered:NoExecute` and is registered all the same: pods may have been bound before taints and labels were in place
          help: let the kubelet register with the taint `karpenter.sh/unregistered:NoExecute`: `--register-with-taints=karpenter.sh/unregistered:NoExecute` in the value of `--kubelet-extra-args`, or `registerWithTaints` in the NodeConfig; for every `amiFamily` but `Custom` Karpenter writes it itself
          objects: NodeClaim/custom-abcde
          lines: 1, 2, 3
        ");
        let before_1_5 = log
            .replace("'taint': 'karpenter.sh/unregistered', ", "")
            .replace("missing taint prevents", "missing karpenter.sh/unregistered taint which prevents");
        assert_eq!(verdict(&CORRELATION, &before_1_5), "warning certain");
        assert_eq!(verdict(&CORRELATION, &log.replace("karpenter.sh/unregistered", "another")), "");
    }

    #[test]
    fn events_and_conditions_tell_it() {
        for (said, expected) in [
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
            assert_eq!(verdict(&CORRELATION, said), expected, "{said}");
        }
    }

    #[test]
    fn a_node_without_the_taint_stands_for_itself() {
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
        error likely x1: the node `ip-10-0-1-2` is there without the taint `karpenter.sh/unregistered:NoExecute`, and its NodeClaim `a-bcdef` is not registered
          help: let the kubelet register with the taint `karpenter.sh/unregistered:NoExecute`: `--register-with-taints=karpenter.sh/unregistered:NoExecute` in the value of `--kubelet-extra-args`, or `registerWithTaints` in the NodeConfig; for every `amiFamily` but `Custom` Karpenter writes it itself
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
