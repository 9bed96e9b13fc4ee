//! Pins as a list, for a program that asks which version runs.

use std::collections::BTreeSet;

use cluster::Cluster;
use karpenter::release::PinnedVersion;
use manifest::Document;
use objects::version_pin::{PinnedPart, pins};

/// A pinned version, and the place of the pin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedPin {
    /// The version.
    pub version: PinnedVersion,
    /// Name of the file.
    pub file: String,
    /// Line of the pin.
    pub line: usize,
}

/// The versions that some clusters pin, each once, with the place of its first pin. Pins of the custom resource definitions count only
/// if nothing pins the controller.
pub fn placed_pins(clusters: &[Cluster]) -> Vec<PlacedPin> {
    let (mut controller, mut definitions) = (Vec::new(), Vec::new());
    for file in clusters.iter().flat_map(|cluster| &cluster.files) {
        let name = file.source.name();
        for document in &file.documents {
            let Document::Read(tree) = document else { continue };
            for pin in pins(tree, name) {
                let line = file.source.position(pin.node.span().start).line;
                let placed = PlacedPin { version: pin.version, file: name.to_owned(), line };
                match pin.part {
                    PinnedPart::Controller => controller.push(placed),
                    PinnedPart::Definitions => definitions.push(placed),
                }
            }
        }
    }
    let mut all = if controller.is_empty() { definitions } else { controller };
    let mut seen = BTreeSet::new();
    all.retain(|pin| seen.insert(pin.version));
    all
}
