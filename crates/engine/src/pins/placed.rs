//! Pins as a list, for a program that asks which version runs.

use std::collections::BTreeSet;

use cluster::Cluster;
use karpenter::release::PinnedVersion;
use manifest::{File, FileKind};
use objects::version_pin::{PinnedPart, pins};

use super::text_pins;

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

/// The versions that some clusters pin, as [`pins_of_files`].
pub fn placed_pins(clusters: &[Cluster]) -> Vec<PlacedPin> {
    pins_of_files(&clusters.iter().flat_map(|cluster| &cluster.files))
}

/// The versions that some files pin, each once, with the place of its first pin. Pins of the custom resource definitions count only if
/// nothing pins the controller, and texts beside the manifests only if no manifest pins a version.
pub fn pins_of_files<'f>(files: &(impl Iterator<Item = &'f File> + Clone)) -> Vec<PlacedPin> {
    let pins = pins_among(files, |file| !file.kind.is_text());
    if pins.is_empty() { pins_among(files, |file| file.kind == FileKind::TextOnly) } else { pins }
}

fn pins_among<'f>(
    files: &(impl Iterator<Item = &'f File> + Clone),
    counts: impl Fn(&File) -> bool,
) -> Vec<PlacedPin> {
    let files = || files.clone().filter(|file| counts(file));
    let of_part = |part| files().flat_map(pins_of).filter(move |(of, _)| *of == part).map(|(_, pin)| pin);
    let mut all: Vec<PlacedPin> = of_part(PinnedPart::Controller).collect();
    if all.is_empty() {
        all = of_part(PinnedPart::Definitions).collect();
    }
    let mut seen = BTreeSet::new();
    all.retain(|pin| seen.insert(pin.version));
    all
}

/// The pins of a file, in its text and in its documents.
fn pins_of(file: &File) -> Vec<(PinnedPart, PlacedPin)> {
    let name = file.source.name();
    let placed = |part, version, at| {
        let line = file.source.position(at).line;
        (part, PlacedPin { version, file: name.to_owned(), line })
    };
    let in_text = text_pins(file).into_iter().map(|pin| placed(pin.part, pin.version, pin.at));
    let trees = file.trees();
    let in_documents = trees
        .flat_map(|tree| pins(tree, name))
        .map(|pin| placed(pin.part, pin.version, pin.node.span().start));
    in_text.chain(in_documents).collect()
}
