//! Agreement of several pins on one version.

use cluster::ids::FileId;
use karpenter::release::{PinnedRelease, PinnedVersion};
use objects::version_pin::PinnedPart;

/// A pinned version, and the place of the pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoundPin {
    pub(super) version: PinnedVersion,
    pub(super) file: FileId,
    pub(super) line: usize,
}

/// Result of comparing pins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Agreement {
    /// The version that all pins have in common, at the first pin.
    On(FoundPin),
    /// Two pins with different versions.
    Not(FoundPin, FoundPin),
}

impl Agreement {
    /// The version that all pins have in common.
    pub(super) fn agreed(self) -> Option<FoundPin> {
        if let Self::On(found) = self { Some(found) } else { None }
    }

    pub(super) fn version(self) -> Option<PinnedVersion> {
        self.agreed().map(|found| found.version)
    }

    /// Whether all pins have a version below 1.0.
    pub(super) fn is_before_v1(self) -> bool {
        self.version().is_some_and(|version| version.release() == PinnedRelease::BeforeV1)
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::On(one), Self::On(other)) => match one.version.common(other.version) {
                Some(version) => Self::On(FoundPin { version, ..one }),
                None => Self::Not(one, other),
            },
            (Self::Not(..), _) => self,
            (_, Self::Not(..)) => other,
        }
    }
}

/// Pins of the parts of Karpenter.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PinsOfParts {
    controller: Option<Agreement>,
    definitions: Option<Agreement>,
}

impl PinsOfParts {
    pub(super) const fn is_empty(self) -> bool {
        self.controller.is_none() && self.definitions.is_none()
    }

    pub(super) fn add_pin(&mut self, part: PinnedPart, found: FoundPin) {
        let agreement = Some(Agreement::On(found));
        self.add(match part {
            PinnedPart::Controller => Self { controller: agreement, definitions: None },
            PinnedPart::Definitions => Self { controller: None, definitions: agreement },
        });
    }

    pub(super) fn add(&mut self, other: Self) {
        self.controller = both(self.controller, other.controller);
        self.definitions = both(self.definitions, other.definitions);
    }

    /// The agreement about the controller, or else about the custom resource definitions.
    pub(super) fn agreement(self) -> Option<Agreement> {
        self.controller.or(self.definitions)
    }
}

fn both(one: Option<Agreement>, other: Option<Agreement>) -> Option<Agreement> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.and(other)),
        _ => one.or(other),
    }
}
