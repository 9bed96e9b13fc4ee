//! The manifests that users apply: they parse as Kubewarden's types, and the module answers every request that they match.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod cluster_manifests {
    mod bounds;
    mod combined;
    mod disruption;
    mod exempt;
    mod matched;
    mod samples;
    mod types;
}
