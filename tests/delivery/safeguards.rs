//! Nothing that the documentation offers for copying can stop a cluster: every policy that it creates has every safeguard, and
//! the steps of `docs/install.md` form one path.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test may panic")]

mod safeguards {
    mod documented;
    mod install;
    mod policy;
    #[cfg(unix)]
    mod preflight;
}
