//! Pushes an annotated policy to a registry, in the form that `kwctl push` gives it.
//!
//! Source: kubewarden/kubewarden-controller `crates/policy-fetcher/src/registry/mod.rs` (media types),
//! `crates/kwctl/src/push.rs` (annotations) and `crates/kwctl/src/main.rs` (the output).

pub mod metadata;
pub mod registry;
pub mod target;

use core::fmt;

/// Reason why nothing was published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PublishFailure {
    /// Invalid arguments or an invalid module.
    Usage(String),
    /// The registry cannot be reached.
    Unreachable(String),
    /// The registry requires a login, or the user may not push.
    Denied(String),
    /// The registry rejects the push.
    Refused(String),
}

impl PublishFailure {
    /// The exit status.
    pub const fn status(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Unreachable(_) => 3,
            Self::Denied(_) => 4,
            Self::Refused(_) => 5,
        }
    }
}

impl fmt::Display for PublishFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(text) | Self::Unreachable(text) | Self::Denied(text) | Self::Refused(text) => {
                f.write_str(text)
            }
        }
    }
}

impl core::error::Error for PublishFailure {}
