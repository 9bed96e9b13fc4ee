//! The behaviours of Karpenter's disruption controllers that differ between releases.
//!
//! Source: the history of pkg/controllers/disruption, pkg/controllers/state and pkg/utils in kubernetes-sigs/karpenter; each
//! constant names its commit or pull request. Releases are the releases of the AWS provider, whose patches differ from the patches of
//! kubernetes-sigs/karpenter: 1.0.10 of the provider is built with 1.0.7 (`go.mod` of aws/karpenter-provider-aws).

use karpenter::release::{Interval, Release, Releases};

/// Behaviour that holds in some releases.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Behaviour(Releases);

impl Behaviour {
    /// An unknown instance type does not block a node, and budgets are asked for one reason (types.go and helpers.go at v1.1.0).
    pub(crate) const OWN_CHECKS: Self = Self(Releases::since(1));
    /// Nodes in the last phase of their termination do not count for budgets (#1735, backported to 1.0.4).
    pub(crate) const TERMINATED_DO_NOT_COUNT: Self = Self(Releases::since_patch(0, 6));
    /// Messages say `node` instead of `state node`, and events start with a capital letter and have no prefix (statenode.go,
    /// types.go and events.go at v1.2.0).
    pub(crate) const PLAIN_NODE: Self = Self(Releases::since(2));
    /// NodePools take turns in single-node consolidation (#2035, #2133).
    pub(crate) const POOLS_TAKE_TURNS: Self = Self(Releases::since(4));
    /// Emptiness comes before drift (#2180, 8a6239bd5).
    pub(crate) const EMPTINESS_FIRST: Self = Self(Releases::since(5));
    /// Emptiness drops the nodes that became invalid, and keeps the others (#2206, backported to 1.0.8, 1.1.4, 1.2.4, 1.3.4 and
    /// 1.4.1).
    pub(crate) const PARTIAL_EMPTINESS: Self = Self(Releases::union(&[
        Interval::patches_from(0, 11),
        Interval::patches_from(1, 7),
        Interval::patches_from(2, 5),
        Interval::patches_from(3, 5),
        Interval::since_patch(4, 1),
    ]));
    /// Drift leaves empty nodes to emptiness (8a6239bd5, until #2423, which 1.5.4 and 1.6.2 have as well).
    pub(crate) const DRIFT_SKIPS_EMPTY: Self =
        Self(Releases::union(&[Interval::patches(5, 0, 3), Interval::patches(6, 0, 2)]));
    /// Messages carry their objects as fields at the end (types.go at v1.5.0).
    pub(crate) const STRUCTURED_MESSAGES: Self = Self(Releases::since(5));
    /// Whether a node is in the queue is asked first (types.go at v1.6.0).
    pub(crate) const QUEUE_FIRST: Self = Self(Releases::since(6));
    /// NodePools with a fixed number of nodes (#2521, 9136011b9).
    pub(crate) const STATIC_POOLS: Self = Self(Releases::since(8));
    /// Events for the candidates of a replacement and for its rejection (#2786).
    pub(crate) const CANDIDATE_EVENTS: Self = Self(Releases::since(9));
    /// A node without a known price counts as free instead of being an error (#2812).
    pub(crate) const UNKNOWN_PRICE_IS_FREE: Self = Self(Releases::since(9));
    /// Candidates come in the order of price per disruption; a node without a pod that costs anything is empty; the policy
    /// `Balanced` (#2962, 43964dc54).
    pub(crate) const SAVINGS_RATIO: Self = Self(Releases::since(14));
    /// Nodes that keep capacity free for a buffer are not empty (#3028).
    pub(crate) const BUFFERS: Self = Self(Releases::since(14));
    /// Nodes whose `consolidateAfter` is not over take no pods of consolidated nodes (#3006, c129d43ce).
    pub(crate) const WAITING_DESTINATIONS: Self = Self(Releases::since(14));

    /// Whether the behaviour holds in a release.
    pub(crate) fn holds_in(self, release: Release) -> bool {
        self.0.contains(release)
    }
}
