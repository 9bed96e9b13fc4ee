//! Labels, selectors and taints that stop nodes or keep pods from them.

family! {
    restricted_label,
}
