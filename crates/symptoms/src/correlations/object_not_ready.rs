//! NodePools, node classes and NodeClaims that are not ready for a reason that no other symptom explains.

use std::collections::BTreeMap;

use super::correlation::{Correlation, each};
use super::draft::{DiagnosisDraft, names};
use crate::diagnosis::Diagnosis;
use crate::entry::EntryObject;
use crate::history::{History, UnmetCondition};
use crate::symptom::Symptom;
use crate::vocabulary::When;
use answers::report::Confidence;
use cluster::ids::ClusterId;
use rule::finding::Severity;

/// The correlation.
pub const CORRELATION: Correlation =
    Correlation { symptom: &SYMPTOM, find: |histories, found| each(histories, found, find) };

static SYMPTOM: Symptom = Symptom {
    name: "object-not-ready",
    severity: Severity::Error,
    summary: "a NodePool, node class or NodeClaim is not ready, for a reason that only its status tells",
    says: "a NodePool, node class or NodeClaim is not ready, for a reason that only its status tells",
    remedy: "read the message of the condition, which is Karpenter's own, and the log of the controller from the same time",
    cause: "\
Karpenter creates nodes only from NodePools and node classes that are `Ready`. `Ready` is false if another condition of the
object is false, and each condition has a reason and a message. This diagnosis reports those whose reason no other
diagnosis explains, such as reasons of a newer release, with their message.",
    rules: &[],
    messages: &[],
    when: When::Correlated,
    confidence: Confidence::Certain,
    references: &[
        "awslabs/operatorpkg status/condition_set.go",
        "pkg/controllers/nodepool/readiness/controller.go of kubernetes-sigs/karpenter at v1.14.0",
    ],
};

/// Types of conditions, each with the fields to look at.
const FIELDS: &[(&str, &str)] = &[
    ("SubnetsReady", "`spec.subnetSelectorTerms`"),
    ("SecurityGroupsReady", "`spec.securityGroupSelectorTerms`"),
    ("AMIsReady", "`spec.amiSelectorTerms` and `spec.amiFamily`"),
    ("InstanceProfileReady", "`spec.role` or `spec.instanceProfile`"),
    ("CapacityReservationsReady", "`spec.capacityReservationSelectorTerms`"),
    ("PlacementGroupReady", "`spec.placementGroupSelector`"),
    ("NodeClassReady", "the conditions of the node class that `spec.template.spec.nodeClassRef` names"),
];

/// Objects with the same condition for the same reason.
type Group<'h> = Vec<(&'h EntryObject<'static>, &'h UnmetCondition)>;

fn find(cluster: ClusterId, history: &History, found: &mut Vec<Diagnosis>) {
    let mut groups: BTreeMap<(&str, &str, &str, &str), Group<'_>> = BTreeMap::new();
    for (object, kind, condition) in history.unmet.all() {
        if is_reported(history, object, kind, condition) {
            let key = (&*object.kind, kind, &*condition.reason, &*condition.message);
            groups.entry(key).or_default().push((object, condition));
        }
    }
    found.extend(groups.iter().filter_map(|((_, kind, ..), group)| diagnosis(cluster, kind, group)));
}

fn diagnosis(cluster: ClusterId, kind: &str, group: &Group<'_>) -> Option<Diagnosis> {
    let (object, condition) = *group.first()?;
    let plural = if group.len() == 1 { "" } else { "s" };
    let noun = if object.kind == "EC2NodeClass" { "EC2NodeClass" } else { &object.kind };
    let plural = if noun == "EC2NodeClass" && !plural.is_empty() { "es" } else { plural };
    let reason = if condition.reason.is_empty() { String::new() } else { format!(" ({})", condition.reason) };
    let told = if condition.message.is_empty() { String::new() } else { format!(": {}", condition.message) };
    let message = format!(
        "`{kind}` of the {noun}{plural} {} is {}{reason}{told}",
        names(group.iter().map(|(object, _)| &*object.name)),
        condition.status,
    );
    let fields = FIELDS.iter().find(|(known, _)| *known == kind).map(|(_, fields)| fields);
    let help = match fields {
        Some(fields) => format!("look at {fields}; {}", SYMPTOM.remedy),
        // A table shows only the status.
        None if condition.reason.is_empty() && condition.message.is_empty() => format!(
            "add the output of `kubectl get {} {} -o yaml` to the input: its conditions have the reason and the message",
            object.kind.to_lowercase(),
            object.name,
        ),
        None => SYMPTOM.remedy.to_owned(),
    };
    let draft = DiagnosisDraft::new(&SYMPTOM, cluster, Confidence::Certain, message)
        .help(help)
        .count(group.len() as u64)
        .objects(&object.kind, group.iter().map(|(object, _)| &*object.name))
        .quote(cluster, group.iter().map(|(_, condition)| Some(&condition.record)));
    Some(draft.done())
}

/// Whether no other symptom explains a condition that is not met.
fn is_reported(history: &History, object: &EntryObject<'_>, kind: &str, condition: &UnmetCondition) -> bool {
    let is_launch = object.kind == "NodeClaim" && kind == "Launched";
    if !matches!(&*object.kind, "NodePool" | "EC2NodeClass" | "NodeClaim")
        || matches!(kind, "Drained" | "VolumesDetached")
        || condition.is_explained
        || (&*condition.status != "False" && !is_launch)
    {
        return false;
    }
    if !condition.is_understood {
        return true;
    }
    // `Ready` only repeats the others, unless the input lacks them.
    kind == "Ready" && history.unmet.of_object(object).all(|(other, _)| other == "Ready")
}

#[cfg(test)]
mod tests {
    use super::super::testing::{found, verdict};
    use super::CORRELATION;

    #[test]
    fn reports_reasons_that_nothing_explains() {
        insta::assert_snapshot!(found(&CORRELATION, "\
0:01 condition EC2NodeClass/default SubnetsReady=False Surprise: no route
0:01 condition EC2NodeClass/default Ready=False UnhealthyDependents: SubnetsReady=False
0:01 condition EC2NodeClass/gpu SubnetsReady=False Surprise: no route
0:02 condition NodePool/web Ready=False Paused: by an operator
"), @"
        error certain x2: `SubnetsReady` of the EC2NodeClasses `default`, `gpu` is False (Surprise): no route
          help: look at `spec.subnetSelectorTerms`; read the message of the condition, which is Karpenter's own, and the log of the controller from the same time
          objects: EC2NodeClass/default, EC2NodeClass/gpu
          lines: 1, 3
        error certain x1: `Ready` of the NodePool `web` is False (Paused): by an operator
          help: read the message of the condition, which is Karpenter's own, and the log of the controller from the same time
          objects: NodePool/web
          lines: 4
        ");
    }

    #[test]
    fn leaves_known_reasons_to_their_symptoms() {
        for text in [
            "0:01 condition EC2NodeClass/default SubnetsReady=False SubnetsNotFound: SubnetSelector did not match any Subnets\n0:01 condition EC2NodeClass/default Ready=False UnhealthyDependents: SubnetsReady=False\n",
            "0:01 condition EC2NodeClass/default ValidationSucceeded=False DependenciesNotReady: Awaiting AMI, Instance Profile, Security Group, and Subnet resolution\n",
            "0:01 condition NodeClaim/web-1 Registered=Unknown NodeNotFound: Node not registered with cluster\n0:01 condition NodeClaim/web-1 Ready=Unknown ReconcilingDependents: Registered=Unknown\n",
            "0:01 condition NodePool/web NodeRegistrationHealthy=Unknown AwaitingReconciliation: object is awaiting reconciliation\n",
            "0:01 condition NodePool/web Ready=False Paused: x\n0:02 condition NodePool/web Ready=True Ready: \n",
        ] {
            assert_eq!(verdict(&CORRELATION, text), "", "{text}");
        }
    }

    #[test]
    fn asks_for_the_conditions_if_only_the_status_is_known() {
        let text = found(&CORRELATION, "- condition NodePool/web Ready=False\n");
        assert!(text.starts_with("error certain x1: `Ready` of the NodePool `web` is False\n"), "{text}");
        assert!(text.contains("add the output of `kubectl get nodepool web -o yaml` to the input"), "{text}");
    }

    #[test]
    fn reports_ready_alone_with_its_message() {
        assert_eq!(
            verdict(
                &CORRELATION,
                "0:01 condition NodeClaim/web-1 Ready=False UnhealthyDependents: Registered=False\n"
            ),
            "error certain"
        );
        assert_eq!(
            verdict(
                &CORRELATION,
                "0:01 condition NodeClaim/web-1 Launched=Unknown NewFailure: out of luck\n"
            ),
            "error certain"
        );
    }
}
