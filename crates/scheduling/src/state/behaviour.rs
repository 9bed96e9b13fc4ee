//! The behaviours of the controllers about pods of nodes that go, as far as they differ between releases.
//!
//! Source: the history of pkg/utils and pkg/controllers/provisioning in kubernetes-sigs/karpenter; each constant names its pull request.
//! Releases are the releases of the AWS provider, whose patches differ: 1.0.10 of the provider is built with 1.0.7 (`go.mod` of
//! aws/karpenter-provider-aws).

use karpenter::release::{Interval, Release, Releases};

/// Behaviour that holds in some releases.
#[derive(Clone, Copy, Debug)]
pub struct StateBehaviour(Releases);

impl StateBehaviour {
    /// Pods that cannot be evicted now look for no place (#2033, backported to 1.0.7, 1.1.3, 1.2.3 and 1.3.3).
    pub const SIMULATES_MOVABLE: Self = Self(Releases::union(&[
        Interval::patches_from(0, 10),
        Interval::patches_from(1, 6),
        Interval::patches_from(2, 4),
        Interval::since_patch(3, 4),
    ]));
    /// Several budgets on one pod always block (#2379).
    pub const SEVERAL_BUDGETS_BLOCK: Self = Self(Releases::since(7));
    /// `karpenter.sh/do-not-disrupt` on a pod may be a duration (#2874, 501287b36).
    pub const DO_NOT_DISRUPT_DURATION: Self = Self(Releases::since(12));

    /// Whether the behaviour holds in a release.
    pub fn holds_in(self, release: Release) -> bool {
        self.0.contains(release)
    }
}
