//! Rules for labels, selectors and taints that keep Karpenter from launching nodes or keep pods off them.

family! {
    hostname_node_affinity,
    kubernetes_label_selector_opens,
    legacy_annotations_labels,
    neuron_accelerator_renamed,
    nodegroup_label_selector,
    pod_missing_toleration,
    pod_no_matching_pool,
    pod_restricted_label,
    requirement_key_not_wellknown,
    restricted_label,
    two_autoscalers,
}
