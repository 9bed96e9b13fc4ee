//! Labels, selectors and taints that stop nodes or keep pods from them.

family! {
    pod_missing_toleration,
    pod_no_matching_pool,
    pod_restricted_label,
    restricted_label,
}
