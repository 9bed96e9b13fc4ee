//! Labels, selectors and taints that stop nodes or keep pods from them.

family! {
    pod_restricted_label,
    restricted_label,
}
