//! Renders a diagnosis: the problem, the confidence, the evidence, the help and the line to change. Also renders the
//! statistics of the logs.

use annotate_snippets::{Group, Level, Padding};
use answers::grouped;
use answers::report::{
    Confidence, Evidence, LogLevel, LogSummary, Occurrences, Report, ReportedFinding, UnrecognisedError,
};
use karpenter::release::Releases;

use super::printer::{Printer, note};
use super::words::{self, audit_reports, count, printable};

/// Characters of a quoted line, if the width of the terminal is unknown.
const WIDTH: usize = 220;

pub(super) fn render(printer: &Printer<'_>, finding: &ReportedFinding, level: &Level<'static>) -> String {
    let message = printer.wrapped(&words::message(finding), 11 + finding.rule.len());
    let title = level.clone().primary_title(message).id(finding.rule);
    let mut group =
        Group::with_title(title).element(Padding).element(note("confidence", confidence(finding)));
    for evidence in finding.evidence.iter().flatten() {
        group = group.element(note("evidence", quoted(evidence, printer.options.width)));
    }
    // A finding that the audit scanner reported has neither a place in a manifest nor occurrences, which name their objects.
    let is_placed = finding.position.offset.is_some() || finding.seen.is_some();
    if !is_placed && !finding.name.is_empty() {
        group = group.element(note("object", words::object(finding)));
    }
    if !finding.help.is_empty() {
        group = group.element(printer.note("help", &printable(&finding.help)));
    }
    if finding.releases != Releases::ALL.to_string() {
        group = group.element(note("applies to", format!("Karpenter {}", finding.releases)));
    }
    group = group.element(note("explain", format!("karpwarden explain {}", finding.rule)));
    let mut groups = vec![group];
    if finding.position.offset.is_some() && !finding.path.is_empty() {
        let title = format!("the line to change: {}", words::object(finding));
        let here = vec![Group::with_title(Level::NOTE.with_name("here").secondary_title(title))];
        groups.extend(printer.excerpts(here, level, finding));
    }
    printer.render(&groups)
}

/// Location and text of a piece of evidence, cut to the width of the terminal.
fn quoted(evidence: &Evidence, width: Option<usize>) -> String {
    let line = evidence.line.map(|line| format!(":{line}")).unwrap_or_default();
    let location = printable(&format!("{}{line}: ", evidence.file));
    // 14 columns for `   = evidence: `. Less than 100 characters of a log line are hard to understand.
    let room = width.map_or(WIDTH, |width| width.saturating_sub(14));
    let room = room.saturating_sub(location.chars().count()).max(100);
    format!("{location}{}", cut(&printable(evidence.text.trim()), room))
}

/// Shortens a quoted line to `room` characters. A log line first loses the fields that say nothing about the problem, then
/// its middle, because it starts with its message and ends with its error.
fn cut(text: &str, room: usize) -> String {
    const DISPENSABLE: [&str; 9] = [
        "logger",
        "caller",
        "commit",
        "controllerGroup",
        "controllerKind",
        "namespace",
        "reconcileID",
        "aws-request-id",
        "stacktrace",
    ];
    let mut text = text.to_owned();
    for key in DISPENSABLE {
        if text.chars().count() <= room {
            return text;
        }
        let Some((head, rest)) = text.split_once(&format!("\"{key}\":\"")) else { continue };
        let Some((_, tail)) = rest.split_once("\",") else { continue };
        text = format!("{}…{}", head.trim_end_matches('…'), tail.trim_start_matches('…'));
    }
    let length = text.chars().count();
    if length <= room {
        return text;
    }
    let tail = room / 3;
    let head: String = text.chars().take(room - tail - 1).collect();
    let end: String = text.chars().skip(length - tail).collect();
    format!("{}…{}", head.trim_end_matches('…'), end.trim_start_matches('…'))
}

/// Confidence of a diagnosis, with its occurrences and cluster.
fn confidence(finding: &ReportedFinding) -> String {
    let mut text = match finding.confidence {
        Some(Confidence::Likely) => "likely",
        Some(Confidence::Possible) => "possible",
        _ => "certain",
    }
    .to_owned();
    if let Some(seen) = &finding.seen {
        text = format!("{text}; {}", occurrences(seen));
    }
    if !finding.cluster.is_empty() {
        text = format!("{text} (cluster {})", finding.cluster);
    }
    printable(&text)
}

/// Count, times and objects, such as `seen 3 times from … to …; NodeClaim/a and 2 more`.
fn occurrences(seen: &Occurrences) -> String {
    let times = match (seen.count, seen.at_least) {
        (1, false) => "once".to_owned(),
        (count, false) => format!("{} times", grouped(count)),
        (count, true) => format!("at least {} times", grouped(count)),
    };
    let when = match (&seen.first, &seen.last) {
        (Some(first), Some(last)) if first != last => format!(" from {first} to {last}"),
        (Some(time), _) | (_, Some(time)) => format!(" at {time}"),
        _ => String::new(),
    };
    let objects = if seen.objects.is_empty() {
        String::new()
    } else {
        let more = seen.objects_in_all.saturating_sub(seen.objects.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("; {}{more}", seen.objects.join(", "))
    };
    format!("seen {times}{when}{objects}")
}

/// Kinds of unknown errors that are shown of a cluster.
const MAX_UNKNOWN: usize = 10;

/// Errors that the vocabulary does not know, with counts, times and the first line of each kind.
pub(super) fn not_recognised(report: &Report, width: Option<usize>) -> Vec<String> {
    report.logs.iter().flatten().flat_map(|log| unknown_errors(log, width)).collect()
}

fn unknown_errors(log: &LogSummary, width: Option<usize>) -> Vec<String> {
    let mut all: Vec<String> =
        log.not_recognised.iter().take(MAX_UNKNOWN).map(|error| unknown_error(log, error, width)).collect();
    let hidden = log.not_recognised.iter().skip(MAX_UNKNOWN).map(|error| error.count).sum::<u64>();
    all.extend(more_errors(hidden + log.not_recognised_more));
    all
}

/// Line for the unknown errors that are not shown.
fn more_errors(more: u64) -> Option<String> {
    let errors = match more {
        0 => return None,
        1 => "1 more error of another kind".to_owned(),
        more => format!("{} more errors of other kinds", grouped(more)),
    };
    Some(format!("{errors}; `--format json` lists up to 100 kinds"))
}

fn unknown_error(log: &LogSummary, error: &UnrecognisedError, width: Option<usize>) -> String {
    let seen = Occurrences {
        count: error.count,
        at_least: false,
        first: error.first.clone(),
        last: error.last.clone(),
        objects: Vec::new(),
        objects_in_all: 0,
    };
    let cluster = if log.cluster.is_empty() { String::new() } else { format!(", cluster {}", log.cluster) };
    let place = format!("{}:{}{cluster}", error.file, error.line);
    let message = cut(&printable(&error.message), width.unwrap_or(WIDTH).max(100));
    format!("{message} ({}; {})", occurrences(&seen), printable(&place))
}

/// Statistics of the logs, one or more lines for each cluster.
pub(super) fn logs(report: &Report) -> Vec<String> {
    report.logs.iter().flatten().filter(|log| log.lines > 0).flat_map(statistics).collect()
}

fn statistics(log: &LogSummary) -> Vec<String> {
    let cluster = if log.cluster.is_empty() { String::new() } else { format!("cluster {}, ", log.cluster) };
    let times = match (&log.first, &log.last) {
        (Some(first), Some(last)) => format!(", {first} to {last}"),
        _ => String::new(),
    };
    let lines = count(usize::try_from(log.lines).unwrap_or(usize::MAX), "line");
    let files = count(log.files, "file");
    let parts = tallies(log).join(", ");
    let mut all = vec![printable(&format!("{cluster}{lines} from {files}{times}: {parts}"))];
    if !log.releases.is_empty() && log.releases != Releases::ALL.to_string() {
        all.push(format!("the log was written by Karpenter {}", log.releases));
    }
    if !log.is_of_karpenter {
        all.push("none of these lines is known to come from Karpenter; its log is `kubectl logs -n kube-system -l app.kubernetes.io/name=karpenter --prefix --tail=-1`".to_owned());
    }
    if let Some(level) = log.level.filter(|level| *level != LogLevel::Debug) {
        let settling = log.settling.iter().map(|line| format!("`{line}`")).collect::<Vec<_>>();
        let hint = if settling.is_empty() {
            String::new()
        } else {
            format!("; at DEBUG, {} would confirm or rule out the uncertain diagnoses", settling.join(" or "))
        };
        all.push(format!("the log has no lines below {}{hint}", level.name()));
    }
    all
}

/// Numbers of entries and lines by what the reader did with them.
fn tallies(log: &LogSummary) -> Vec<String> {
    let mut parts = Vec::new();
    if log.entries > 0 || log.audit_reports == 0 {
        parts.push(format!("{} understood", log.understood));
    }
    if log.audit_reports > 0 {
        let errors = match log.audit_errors {
            0 => "without an error".to_owned(),
            errors => format!("with {}", count(errors, "error")),
        };
        parts.push(format!("{} {errors} of Karpwarden's policy", audit_reports(log.audit_reports)));
    }
    for (count, what) in [(log.unknown, "unknown"), (log.truncated, "cut off"), (log.not_utf8, "not UTF-8")] {
        if count > 0 {
            parts.push(format!("{count} {what}"));
        }
    }
    parts.extend(log.skipped.iter().map(|passed| format!("skipped {} {}", passed.count, passed.reason)));
    if log.forgotten > 0 {
        parts.push(format!(
            "{} causes, batches and NodeClaim histories dropped to stay within bounds",
            log.forgotten
        ));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::{cut, more_errors};

    #[test]
    fn counts_one_hidden_error_in_the_singular() {
        let list = "`--format json` lists up to 100 kinds";
        for (more, expected) in [
            (0, None),
            (1, Some(format!("1 more error of another kind; {list}"))),
            (2, Some(format!("2 more errors of other kinds; {list}"))),
            (1000, Some(format!("1,000 more errors of other kinds; {list}"))),
        ] {
            assert_eq!(more_errors(more), expected);
        }
    }

    #[test]
    fn cuts_the_dispensable_fields_of_a_line_first() {
        let line = r#"{"level":"ERROR","time":"2026-04-23T18:04:55.550Z","logger":"controller","message":"could not schedule pod","commit":"1072d3b","controller":"provisioner","namespace":"","name":"","reconcileID":"8f1c7a0e","Pod":{"name":"web-1"},"error":"did not tolerate a=b:NoSchedule"}"#;
        assert_eq!(cut(line, 400), line);
        let shown = r#"{"level":"ERROR","time":"2026-04-23T18:04:55.550Z",…"message":"could not schedule pod",…"controller":"provisioner",…"name":"",…"Pod":{"name":"web-1"},"error":"did not tolerate a=b:NoSchedule"}"#;
        assert_eq!(cut(line, 200), shown);
        assert_eq!(cut(line, 100).chars().count(), 100);
        assert!(cut(line, 100).ends_with("did not tolerate a=b:NoSchedule\"}"));
        assert_eq!(cut("éé", 1), "…");
    }
}
