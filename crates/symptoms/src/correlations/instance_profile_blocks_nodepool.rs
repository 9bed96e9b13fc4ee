//! NodePools that are ignored because the instance profile of their node class does not exist.

use super::correlation::{Correlation, each};
use super::draft::{DiagnosisDraft, names};
use crate::diagnosis::Diagnosis;
use crate::history::{History, Profile};
use crate::symptom::Symptom;
use crate::vocabulary::When;
use answers::report::Confidence;
use cluster::ids::ClusterId;
use rule::finding::Severity;
use values::arn;

/// The correlation.
pub const CORRELATION: Correlation =
    Correlation { symptom: &SYMPTOM, find: |histories, found| each(histories, found, find) };

static SYMPTOM: Symptom = Symptom {
    name: "instance-profile-blocks-nodepool",
    severity: Severity::Error,
    summary: "NodePools are ignored because EC2 does not find the instance profile of their node class",
    says: "NodePools are ignored because EC2 does not find the instance profile of their node class",
    remedy: "write the bare name of an existing instance profile into `spec.instanceProfile` of the node class: not its ARN, not its path, not the name of a role",
    cause: "\
`spec.instanceProfile` is a name, which Karpenter copies into the status without looking it up. From 1.3.1 on a
dry-run launch fails for an ARN or a name that EC2 does not know. Karpenter assumes that the profile does not exist
yet, waits, and logs nothing. The node class stays `Unknown`, its NodePools are not ready, and the log only says
`ignoring nodepool, not ready`.

Certain: the log ignores a NodePool, and its node class in the input has an ARN; or `kubectl describe` of a node class
shows both the ARN and the undecided validation. Likely: `kubectl describe` shows only the undecided validation; the
NodePool is not in the input and the only node class in it has an ARN; or NodeClaims wait for a node class of which
only `ValidationSucceeded` is `Unknown`.",
    rules: &["instance-profile-is-arn", "status-contradiction"],
    messages: &[],
    when: When::Correlated,
    confidence: Confidence::Certain,
    references: &[
        "pkg/controllers/nodeclass/validation.go and instanceprofile.go of aws/karpenter-provider-aws at v1.3.0, v1.3.1 and v1.14.1",
        "aws/karpenter-provider-aws#8072, aws/karpenter-provider-aws#8312, aws/karpenter-provider-aws#7849",
    ],
};

fn find(cluster: ClusterId, history: &History, found: &mut Vec<Diagnosis>) {
    let mut blocked: Vec<(&str, &str, &Profile)> = Vec::new();
    for pool in history.unready_pools.keys() {
        let class = history.classes.get(pool).map(|class| &**class);
        if let Some((name, profile)) = history.profiles.iter().find(|(name, _)| class == Some(&***name)) {
            blocked.push((pool, name, profile));
        }
    }
    let alone = || match (history.profiles.len(), history.unready_pools.len(), history.classes.is_empty()) {
        (1, 1.., true) => history.profiles.iter().next(),
        _ => None,
    };
    let pools = || history.unready_pools.keys().map(|pool| &**pool);
    let unready = || history.unready_pools.values().map(|repeated| &repeated.first);
    if let Some((_, class, profile)) = blocked.first().copied() {
        let blocked_pools = || blocked.iter().map(|(pool, ..)| *pool);
        let ignored = || blocked_pools().filter_map(|pool| history.unready_pools.get(pool));
        let message = format!(
            "{} ignored: EC2 does not find the instance profile of its node class `{class}`, `{}`, which is an ARN but must be a name",
            ignored_pools(blocked_pools().collect()),
            profile.value,
        );
        let draft = DiagnosisDraft::new(&SYMPTOM, cluster, Confidence::Certain, message)
            .count(ignored().map(|repeated| repeated.count).sum())
            .span(
                ignored().filter_map(|repeated| repeated.first.time).min(),
                ignored().filter_map(|repeated| repeated.last.time).max(),
            )
            .objects("NodePool", blocked_pools())
            .objects("EC2NodeClass", blocked.iter().map(|(_, class, _)| *class))
            .quote(cluster, ignored().map(|repeated| Some(&repeated.first)))
            .quote(cluster, [history.undecided.as_ref(), Some(&profile.record)]);
        found.push(draft.done());
    } else if let Some((class, profile)) = history.described_undecided.iter().next() {
        found.push(described(cluster, history, class, profile));
    } else if let Some((class, profile)) = alone() {
        let message = format!(
            "{} ignored, probably because EC2 does not find the instance profile of the node class: `{class}` has the ARN `{}`, which must be a name",
            ignored_pools(pools().collect()),
            profile.value,
        );
        let draft = DiagnosisDraft::new(&SYMPTOM, cluster, Confidence::Likely, message)
            .objects("EC2NodeClass", [&**class])
            .objects("NodePool", pools())
            .quote(cluster, unready().map(Some))
            .quote(cluster, [history.undecided.as_ref(), Some(&profile.record)]);
        found.push(draft.done());
    } else if let Some(undecided) = history.undecided.as_ref().filter(|_| !history.unready_pools.is_empty()) {
        let message = format!(
            "{} ignored, and of its node class only `ValidationSucceeded` is undecided: EC2 may not find the instance profile",
            ignored_pools(pools().collect()),
        );
        let help =
            format!("{}; add `kubectl get ec2nodeclass -o yaml` to the input to confirm it", SYMPTOM.remedy);
        let draft = DiagnosisDraft::new(&SYMPTOM, cluster, Confidence::Likely, message)
            .help(help)
            .objects("NodePool", pools())
            .quote(cluster, unready().map(Some))
            .quote(cluster, [Some(undecided)]);
        found.push(draft.done());
    }
}

/// A node class that stays undecided according to `kubectl describe`.
fn described(cluster: ClusterId, history: &History, class: &str, profile: &Profile) -> Diagnosis {
    let value = &*profile.value;
    let reference = arn::IamReference::parse(value);
    let (confidence, severity, why, help) = match reference {
        arn::IamReference::Arn { name, .. } => (
            Confidence::Certain,
            Severity::Error,
            format!("EC2 does not find its instance profile, `{value}`, which is an ARN but must be a name"),
            format!("write `{name}` into `spec.instanceProfile` of the node class"),
        ),
        _ => (
            Confidence::Likely,
            Severity::Warning,
            "the dry-run launch waits for an instance profile that EC2 does not find, unless the node class is only minutes old or EC2 throttles".to_owned(),
            SYMPTOM.remedy.to_owned(),
        ),
    };
    let message = format!("the node class `{class}` is never ready: {why}");
    let unready = || history.unready_pools.iter();
    DiagnosisDraft::new(&SYMPTOM, cluster, confidence, message)
        .severity(severity)
        .help(help)
        .objects("EC2NodeClass", [class])
        .objects("NodePool", unready().map(|(pool, _)| &**pool))
        .quote(cluster, [Some(&profile.record)])
        .quote(cluster, unready().map(|(_, repeated)| Some(&repeated.first)))
        .done()
}

/// Subject of a sentence: `the NodePool `a` is`, `the NodePools `a`, `b` are`.
fn ignored_pools(pools: Vec<&str>) -> String {
    let (word, verb) = if pools.len() == 1 { ("NodePool", "is") } else { ("NodePools", "are") };
    format!("the {word} {} {verb}", names(pools))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{found, verdict};
    use super::CORRELATION;

    const UNREADY: &str = "\
0:01 ERROR provisioner: ignoring nodepool, not ready {'NodePool': {'name': 'web'}}
0:11 ERROR provisioner: ignoring nodepool, not ready {'NodePool': {'name': 'web'}}
";

    fn class(profile: &str) -> String {
        format!(
            r"---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {{name: default}}
spec: {{instanceProfile: '{profile}'}}
---
"
        )
    }

    const POOL: &str = r"---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: web}
spec: {template: {spec: {nodeClassRef: {name: default}}}}
---
";

    #[test]
    fn is_certain_with_an_arn_in_the_node_class() {
        let arn = class("arn:aws:iam::111122223333:instance-profile/nodes");
        insta::assert_snapshot!(found(&CORRELATION, &format!("{UNREADY}{arn}{POOL}")), @"
        error certain x2: the NodePool `web` is ignored: EC2 does not find the instance profile of its node class `default`, `arn:aws:iam::111122223333:instance-profile/nodes`, which is an ARN but must be a name
          help: write the bare name of an existing instance profile into `spec.instanceProfile` of the node class: not its ARN, not its path, not the name of a role
          objects: NodePool/web, EC2NodeClass/default
          lines: 1, 4
        ");
        assert_eq!(verdict(&CORRELATION, &format!("{UNREADY}{arn}")), "error likely");
        assert_eq!(verdict(&CORRELATION, &format!("{arn}{POOL}")), "");
        assert_eq!(verdict(&CORRELATION, &format!("{UNREADY}{}{POOL}", class("nodes"))), "");
    }

    #[test]
    fn is_likely_with_an_undecided_node_class() {
        for error in [
            "launching nodeclaim, resolving NodeClass readiness, NodeClass is in Ready=Unknown, ValidationSucceeded=Unknown",
            "launching nodeclaim, resolving nodeclass readiness, nodeclass is in Ready=Unknown, ValidationSucceeded=Unknown",
        ] {
            let waits = format!(
                "0:02 ERROR nodeclaim.lifecycle: Reconciler error {{'claim': 'web-abcde', 'error': '{error}'}}\n"
            );
            assert_eq!(verdict(&CORRELATION, &format!("{UNREADY}{waits}")), "error likely");
            let other = waits.replace("ValidationSucceeded", "SubnetsReady");
            assert_eq!(verdict(&CORRELATION, &format!("{UNREADY}{other}")), "");
        }
        assert_eq!(verdict(&CORRELATION, UNREADY), "");
    }
}
