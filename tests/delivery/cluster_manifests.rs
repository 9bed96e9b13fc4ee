//! The manifests that users apply: Kubewarden's own types read them, and the module answers every request they match.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, clippy::panic, reason = "a test may fall over")]

mod cluster_manifests {
    mod exempt;
    mod matched;
    mod samples;
    mod types;
}
