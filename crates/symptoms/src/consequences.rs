//! Consequences of other symptoms: if a cause and its consequence are both diagnosed, only the cause is reported, with the
//! evidence of both.

use super::diagnosis::Diagnosis;
use answers::report::Confidence;
use cluster::ids::ClusterId;

/// Number of lines that a cause takes over from a consequence.
const MAX_TAKEN_OVER: usize = 2;

/// Bound on chains of causes; longer than any chain in the table.
const DEPTH: usize = 8;

/// Symptoms, each with its possible causes. Causes are transitive.
const FOLLOWS: &[(&str, &[&str])] = &[
    ("lease-not-renewed", &["leader-lost"]),
    ("node-killed-controller", &["controller-out-of-memory"]),
    ("node-not-ready", &["unready-node-not-repaired"]),
    ("volumes-do-not-detach", &["node-stays-terminating"]),
    ("controller-unauthorized", &["controller-uses-node-role"]),
    ("interruption-queue-missing", &["interruption-queue-stops-controller"]),
    ("controller-panicked", &["interruption-queue-stops-controller"]),
    ("ec2-out-of-reach", &["trust-policy-refuses-controller", "role-assumption-refused"]),
    ("no-nodepool", &["nodepool-not-ready", "nodepool-invalid"]),
    (
        "nodepool-not-ready",
        &[
            "instance-profile-blocks-nodepool",
            "nodepool-invalid",
            "nodeclass-missing",
            "nodeclass-not-ready",
            "nodeclass-never-decided",
            "object-not-ready",
        ],
    ),
    (
        "nodeclass-not-ready",
        &[
            "object-not-ready",
            "controller-uses-node-role",
            "subnets-not-found",
            "security-groups-not-found",
            "amis-not-found",
            "alias-not-for-this-kubernetes",
            "placement-group-unresolved",
            "tags-refused",
            "user-data-refused",
            "cluster-cidr-unknown",
            "controller-unauthorized",
            "denied-by-organization",
            "nodeclass-never-decided",
        ],
    ),
    (
        "nodeclass-never-decided",
        &[
            "instance-profile-blocks-nodepool",
            "instance-profile-not-found",
            "instance-profile-not-made",
            "node-role-not-found",
            "node-role-is-no-name",
            "subnets-not-found",
            "security-groups-not-found",
            "amis-not-found",
            "alias-not-for-this-kubernetes",
            "cluster-cidr-unknown",
            "controller-unauthorized",
            "denied-by-organization",
            "aws-calls-throttled",
        ],
    ),
    ("instance-types-unresolved", &["subnets-not-found", "nodeclass-missing", "kubelet-quantity-unreadable"]),
    ("pool-filters-out-every-type", &["min-values-not-met", "capacity-unavailable"]),
    (
        "no-offering-left",
        &["capacity-unavailable", "spot-quota-exceeded", "vcpu-quota-exceeded", "subnet-out-of-addresses"],
    ),
    ("no-type-meets-requirements", &["capacity-unavailable", "spot-quota-exceeded", "vcpu-quota-exceeded"]),
    (
        "launch-failed",
        &[
            "controller-unauthorized",
            "denied-by-organization",
            "instance-profile-not-found",
            "networks-do-not-match",
            "ami-unusable",
            "ami-fits-no-type",
            "user-data-refused",
            "volume-key-unusable",
        ],
    ),
    (
        "cluster-state-not-synced",
        &[
            "nodeclass-never-decided",
            "controller-unauthorized",
            "denied-by-organization",
            "instance-profile-not-found",
            "networks-do-not-match",
            "ami-unusable",
            "launch-failed",
        ],
    ),
    (
        "replacement-fails",
        &[
            "capacity-unavailable",
            "node-never-joined",
            "registration-taint-absent",
            "startup-taint-stays",
            "node-not-ready",
        ],
    ),
    (
        "node-cannot-be-judged",
        &["startup-taint-stays", "resource-not-registered", "node-not-ready", "registration-taint-absent"],
    ),
    ("volume-bound-before-its-pod", &["double-nodeclaim", "pod-ignored"]),
    ("node-does-not-drain", &["several-pdbs-on-one-pod"]),
];

/// Leaves out diagnoses that follow from another diagnosis of the same cluster.
pub(super) fn settle(diagnoses: Vec<(Diagnosis, bool)>) -> Vec<(Diagnosis, bool)> {
    let sure: Vec<(ClusterId, &str)> = diagnoses
        .iter()
        .filter(|(one, _)| one.confidence != Confidence::Possible)
        .map(|(one, _)| (one.cluster, one.symptom.name))
        .collect();
    let of: Vec<Option<&str>> =
        diagnoses.iter().map(|(one, _)| root(&sure, one.cluster, one.symptom.name, DEPTH)).collect();
    let (mut kept, mut left_out) = (Vec::new(), Vec::new());
    for (diagnosis, cause) in diagnoses.into_iter().zip(of) {
        match cause {
            Some(cause) => left_out.push((diagnosis.0, cause)),
            None => kept.push(diagnosis),
        }
    }
    for (consequence, cause) in left_out {
        let found =
            kept.iter_mut().find(|(one, _)| one.cluster == consequence.cluster && one.symptom.name == cause);
        if let Some((cause, _)) = found {
            take_over(cause, consequence);
        }
    }
    kept
}

/// Root cause of a symptom among the diagnoses of the cluster.
fn root(sure: &[(ClusterId, &str)], cluster: ClusterId, name: &str, depth: usize) -> Option<&'static str> {
    let depth = depth.checked_sub(1)?;
    causes(name).iter().find_map(|cause| {
        root(sure, cluster, cause, depth).or_else(|| sure.contains(&(cluster, cause)).then_some(*cause))
    })
}

fn causes(name: &str) -> &'static [&'static str] {
    FOLLOWS.iter().find(|(other, _)| *other == name).map_or(&[], |(_, causes)| causes)
}

/// Adds the evidence of a consequence to its cause.
fn take_over(cause: &mut Diagnosis, consequence: Diagnosis) {
    let new: Vec<_> =
        consequence.objects.into_iter().filter(|object| !cause.objects.contains(object)).collect();
    cause.objects_in_all = cause.objects_in_all.max(cause.objects.len()) + new.len();
    cause.objects.extend(new);
    // An object on one line has all its conditions there, each with its text.
    let lines = consequence.evidence.into_iter().filter(|quote| !cause.evidence.contains(quote));
    let lines: Vec<_> = lines.take(MAX_TAKEN_OVER).collect();
    cause.evidence.extend(lines);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::find;

    fn told(names: &[&str]) -> Vec<&'static str> {
        let one = |name: &str| {
            let symptom = find(name).unwrap_or_else(|| panic!("{name}"));
            Diagnosis::new(symptom, ClusterId::FIRST, Confidence::Likely, String::new())
        };
        let diagnoses = names.iter().map(|name| (one(name), false)).collect();
        settle(diagnoses).into_iter().map(|(one, _)| one.symptom.name).collect()
    }

    #[test]
    fn names_are_symptoms_and_no_symptom_causes_itself() {
        for (name, causes) in FOLLOWS {
            for one in causes.iter().chain([name]) {
                assert!(find(one).is_some(), "{one}");
            }
            assert_eq!(root(&[(ClusterId::FIRST, name)], ClusterId::FIRST, name, DEPTH), None, "{name}");
        }
    }

    #[test]
    fn a_cause_replaces_its_consequences() {
        assert_eq!(told(&["no-nodepool", "nodepool-not-ready", "subnets-not-found"]), ["subnets-not-found"]);
        let all = ["no-nodepool", "nodepool-not-ready", "nodeclass-not-ready", "subnets-not-found"];
        assert_eq!(told(&all), ["subnets-not-found"]);
        assert_eq!(told(&["nodeclass-never-decided", "nodepool-not-ready"]), ["nodeclass-never-decided"]);
        assert_eq!(told(&["no-nodepool", "pool-limit-reached"]), ["no-nodepool", "pool-limit-reached"]);
    }
}
