//! Logs, events and status, as `karpwarden diagnose` reads them.

use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use karpwarden::manifest::FileKind;
use karpwarden::rule::settings::Settings;
use karpwarden::symptoms::{Diagnosed, Reading, StoryTarget};

use crate::formats::assert_formats;
use crate::input::LIMITS;
use crate::locations::assert_locations;

/// Bytes of a piece: less than a line, and no divisor of common line lengths.
const PIECE: usize = 37;

/// Diagnoses a file, whole and in pieces: the report is the same, and valid in every format.
pub fn assert_diagnosis(bytes: &[u8]) {
    let whole = diagnosed(bytes, bytes.len());
    assert_eq!(whole.report.to_json(), diagnosed(bytes, PIECE).report.to_json());
    assert_locations(&whole.report, &whole.clusters);
    assert_formats(&whole.report, &whole.clusters);
    let lines = String::from_utf8_lossy(bytes).split('\n').count();
    for evidence in whole.report.findings.iter().flat_map(|finding| finding.evidence.iter().flatten()) {
        assert!(evidence.line.is_none_or(|line| (1..=lines).contains(&line)), "{evidence:?}");
    }
}

fn diagnosed(bytes: &[u8], piece: usize) -> Diagnosed {
    let mut reading = Reading::new(&REGISTRY, Settings::default(), LIMITS).about(StoryTarget::Cluster);
    reading.file("karpenter.log", FileKind::Unknown);
    for piece in bytes.chunks(piece.max(1)) {
        reading.feed(piece);
    }
    reading.finish()
}
