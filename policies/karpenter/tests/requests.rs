//! Admission requests against the policy, without WebAssembly: what it answers, and what it asks the host for.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test may panic")]

mod requests {
    mod bounds;
    mod cluster;
    mod disrupting;
    mod fixing;
    mod looking_up;
    mod recorded;
    mod updating;
    mod warning;
}
