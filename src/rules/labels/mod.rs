//! Labels, selectors, taints and names that Karpenter or Kubernetes does not take, or that keep pods off the nodes.

pub(crate) mod duplicate_taint;
pub(crate) mod hostname_node_affinity;
pub(crate) mod instance_value_unknown;
pub(crate) mod kubernetes_label_selector_opens;
pub(crate) mod legacy_annotations_labels;
pub(crate) mod malformed_label;
pub(crate) mod malformed_taint;
pub(crate) mod name_too_long;
pub(crate) mod neuron_accelerator_renamed;
pub(crate) mod nodegroup_label_selector;
pub(crate) mod pod_missing_toleration;
pub(crate) mod pod_no_matching_pool;
pub(crate) mod pod_restricted_label;
pub(crate) mod requirement_key_not_wellknown;
pub(crate) mod requirement_value_unknown;
pub(crate) mod restricted_label;
pub(crate) mod two_autoscalers;
