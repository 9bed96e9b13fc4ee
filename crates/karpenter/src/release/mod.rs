//! The published releases of Karpenter's AWS provider, and the releases in which a fact holds.
//!
//! A fact holds in intervals of releases, which are open-ended unless a later release ended the fact. Only
//! [`published`] knows which release is the newest.

mod interval;
mod nearest;
mod pinned;
mod published;
mod releases;
mod set;

pub use interval::Interval;
pub use nearest::{NearestRelease, UnknownRelease};
pub use pinned::{PinnedRelease, PinnedVersion};
pub use published::Release;
pub use releases::Releases;
pub use set::ReleaseSet;
