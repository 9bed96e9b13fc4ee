//! Pushes an annotated policy to a registry, so that what arrives is what `kwctl push` would have sent.
//!
//! Source: kubewarden/kubewarden-controller `crates/policy-fetcher/src/registry/mod.rs` (media types),
//! `crates/kwctl/src/push.rs` (annotations) and `crates/kwctl/src/main.rs` (what is printed).

pub mod metadata;
pub mod registry;
pub mod target;

use core::fmt;

/// Why nothing was published, for the person who reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The command line or the module is wrong.
    Usage(String),
    /// The registry cannot be reached.
    Unreachable(String),
    /// The registry wants to know who pushes, or does not let them.
    Denied(String),
    /// The registry refuses what was sent.
    Refused(String),
}

impl Failure {
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

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(text) | Self::Unreachable(text) | Self::Denied(text) | Self::Refused(text) => {
                f.write_str(text)
            }
        }
    }
}

impl core::error::Error for Failure {}
