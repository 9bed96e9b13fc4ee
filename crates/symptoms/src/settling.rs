//! The lines at DEBUG that would settle what a log without them leaves open.

/// A symptom, and the message of a line that tells for certain, where it is logged. Sources: the tables of the vocabulary;
/// pkg/controllers/provisioning/provisioner.go, nodeclaim/lifecycle/liveness.go, nodeclaim/disruption/controller.go and
/// nodeclaim/garbagecollection/controller.go of kubernetes-sigs/karpenter, pkg/controllers/nodeclaim/garbagecollection of
/// aws/karpenter-provider-aws at v1.0.0 to v1.14.0.
pub(super) const LINES: &[(&str, &str)] = &[
    ("pod-ignored", "ignoring pod"),
    ("foreign-collection", "garbage collected cloudprovider instance"),
    ("foreign-collection", "garbage collecting nodeclaim with no cloudprovider representation"),
    // To 1.6 and from 1.7 on.
    ("node-never-joined", "terminating due to registration ttl"),
    ("node-never-joined", "terminating due to timeout"),
    ("registration-taint-absent", "terminating due to registration ttl"),
    ("registration-taint-absent", "terminating due to timeout"),
    ("drift-loop", "marking drifted"),
    ("double-nodeclaim", "discovered karpenter version"),
];
