//! Rules for labels, selectors and taints that keep Karpenter from launching nodes or keep pods off them.

family! {
    hostname_node_affinity in "kubernetes",
    kubernetes_label_selector_opens in "files",
    legacy_annotations_labels,
    neuron_accelerator_renamed in "files",
    nodegroup_label_selector in "kubernetes",
    pod_missing_toleration in "kubernetes",
    pod_no_matching_pool in "kubernetes",
    pod_restricted_label in "kubernetes",
    requirement_key_not_wellknown,
    restricted_label,
    two_autoscalers in "kubernetes",
}
