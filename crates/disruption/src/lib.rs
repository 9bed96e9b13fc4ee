//! Karpenter's disruption controllers, offline.
