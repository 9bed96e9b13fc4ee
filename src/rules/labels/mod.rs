//! Rules for labels, selectors and taints that keep Karpenter from launching nodes or keep pods off them.

pub(crate) mod hostname_node_affinity;
pub(crate) mod kubernetes_label_selector_opens;
pub(crate) mod legacy_annotations_labels;
pub(crate) mod neuron_accelerator_renamed;
pub(crate) mod nodegroup_label_selector;
pub(crate) mod pod_missing_toleration;
pub(crate) mod pod_no_matching_pool;
pub(crate) mod pod_restricted_label;
pub(crate) mod requirement_key_not_wellknown;
pub(crate) mod restricted_label;
pub(crate) mod two_autoscalers;
