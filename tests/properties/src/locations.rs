//! Locations in a report: each is a place in the text of its file, on character boundaries.

use karpwarden::answers::report::{Report, ReportedFinding, TextRange};
use karpwarden::cluster::Cluster;
use karpwarden::manifest::File;
use karpwarden::manifest::source::Source;

/// Checks every location of a report about files.
pub(crate) fn assert_locations(report: &Report, clusters: &[Cluster]) {
    for finding in &report.findings {
        assert_finding(finding, clusters);
    }
    for unreadable in &report.unreadable {
        assert!(unreadable.line > 0 && unreadable.column > 0, "{unreadable:?}");
    }
}

fn assert_finding(finding: &ReportedFinding, clusters: &[Cluster]) {
    assert!(!finding.message.is_empty(), "{finding:?}");
    if let Some(file) = file(clusters, &finding.file) {
        assert_range(&file.source, &finding.position, finding);
    }
    for related in &finding.related {
        let Some(file) = file(clusters, &related.file) else { continue };
        let (Some(offset), Some(end)) = (related.offset, related.end_offset) else { continue };
        assert_offsets(&file.source, offset, end, finding);
        let position = file.source.position(file.source.byte_at(offset));
        assert_eq!(
            (Some(position.line), Some(position.column)),
            (related.line, related.column),
            "{finding:?}"
        );
    }
    for edit in finding.fix.iter().flat_map(|fix| &fix.edits) {
        let file = file(clusters, &edit.file);
        assert!(file.is_some(), "a fix edits an unknown file: {finding:?}");
        if let Some(file) = file {
            assert_offsets(&file.source, edit.offset, edit.end_offset, finding);
        }
    }
}

/// The file with a name.
pub(crate) fn file<'c>(clusters: &'c [Cluster], name: &str) -> Option<&'c File> {
    clusters.iter().flat_map(|cluster| &cluster.files).find(|file| file.source.name() == name)
}

fn assert_range(source: &Source, range: &TextRange, finding: &ReportedFinding) {
    let (Some(offset), Some(end)) = (range.offset, range.end_offset) else { return };
    assert_offsets(source, offset, end, finding);
    for (offset, line, column) in
        [(offset, range.line, range.column), (end, range.end_line, range.end_column)]
    {
        let position = source.position(source.byte_at(offset));
        assert_eq!((Some(position.line), Some(position.column)), (line, column), "{finding:?}");
    }
}

/// Checks that two offsets in UTF-16 code units are in order, within the text and not inside a character.
fn assert_offsets(source: &Source, start: usize, end: usize, finding: &ReportedFinding) {
    assert!(start <= end, "{finding:?}");
    for offset in [start, end] {
        assert_eq!(
            source.position(source.byte_at(offset)).offset,
            offset,
            "{finding:?} in {:?}",
            source.text()
        );
    }
}
