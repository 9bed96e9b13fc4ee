//! Nothing that the documentation offers for copying can stop a cluster: every policy that it creates has every safeguard, and
//! the steps of `docs/install.md` form one path.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod safeguards {
    mod documented;
    mod install;
    mod policy;
    #[cfg(unix)]
    mod preflight;
}
