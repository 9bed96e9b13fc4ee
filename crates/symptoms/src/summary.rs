//! Summary of the logs of a cluster: what was read, what was not recognised, what was left out.

use answers::report::{LogSummary, SkippedLines, UnrecognisedError};

use super::cluster::DiagnosedCluster;
use super::entry::LogLevel;
use super::settling;
use super::symptom::Symptom;

/// Number of unknown errors that the summary lists.
const MAX_LISTED: usize = 100;

/// Summary of a cluster. `open` are the symptoms of uncertain diagnoses.
pub(super) fn log(cluster: &DiagnosedCluster, open: &[&'static Symptom]) -> LogSummary {
    let counts = cluster.counts;
    let reasons = [
        (counts.text, "lines without the structure of a log", false),
        (counts.binary, "binary lines", false),
        (counts.too_long, "lines longer than 1 MiB", false),
        (counts.beyond, "lines of documents beyond the bound on a file", true),
    ];
    let skipped = reasons.into_iter().filter(|(count, ..)| *count > 0);
    let settling = if cluster.level.is_some_and(|level| level > LogLevel::Debug) {
        settling::lines(open)
    } else {
        Vec::new()
    };
    let (not_recognised, not_recognised_more) = not_recognised(cluster);
    LogSummary {
        cluster: cluster.name.clone(),
        files: cluster.files.len(),
        lines: counts.lines,
        entries: counts.entries,
        understood: cluster.tally.understood,
        unknown: cluster.tally.unknown,
        // The reports are among the manifests.
        audit_reports: 0,
        audit_errors: 0,
        is_of_karpenter: cluster.is_of_karpenter(),
        not_recognised,
        not_recognised_more,
        truncated: counts.truncated,
        not_utf8: counts.not_utf8,
        skipped: skipped
            .map(|(count, reason, exceeds_file_bytes)| SkippedLines {
                reason: reason.to_owned(),
                count,
                exceeds_file_bytes,
            })
            .collect(),
        forgotten: cluster.history.forgotten + cluster.history.ignored.more + cluster.tally.forgotten,
        level: cluster.level,
        settling,
        releases: if cluster.level.is_some() { cluster.tally.releases().to_string() } else { String::new() },
        first: cluster.first.map(|time| time.to_string()),
        last: cluster.last.map(|time| time.to_string()),
    }
}

/// The most frequent unknown errors, and the number of lines of the others.
fn not_recognised(cluster: &DiagnosedCluster) -> (Vec<UnrecognisedError>, u64) {
    let unrecognised = &cluster.tally.unrecognised;
    let all = unrecognised.by_count();
    let (listed, others) = all.split_at(all.len().min(MAX_LISTED));
    let more = unrecognised.more + others.iter().map(|(_, error)| error.count).sum::<u64>();
    let listed = listed.iter().map(|(message, error)| {
        let dated = error.span.dated();
        UnrecognisedError {
            message: (*message).to_owned(),
            count: error.count,
            first: dated.map(|(first, _)| first.to_string()),
            last: dated.map(|(_, last)| last.to_string()),
            file: cluster.files.get(error.at.file).cloned().unwrap_or_default(),
            line: error.at.line,
            text: error.text.clone(),
        }
    });
    (listed.collect(), more)
}
