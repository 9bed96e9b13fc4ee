//! A diagnosis for a person: what is wrong and how sure that is, the lines that tell it, what to do, the line to change; and
//! at the end what was read.

use annotate_snippets::{Group, Level, Padding};

use super::words::{self, count, printable};
use super::{Printer, note};
use karpenter::release::Releases;
use lint::report::{Evidence, Finding, Log, Report};
use lint::report::Confidence;

/// Characters of a line that is quoted, where the terminal does not say how many there is room for.
const WIDTH: usize = 220;

impl Printer<'_> {
    /// A diagnosis.
    pub(super) fn diagnosis(&self, finding: &Finding, level: &Level<'static>) -> String {
        let title =
            level.clone().primary_title(words::message(finding)).id(finding.rule).id_url(&finding.url);
        let mut group =
            Group::with_title(title).element(Padding).element(note("confidence", confidence(finding)));
        for evidence in finding.evidence.iter().flatten() {
            group = group.element(note("evidence", self.quoted(evidence)));
        }
        if !finding.help.is_empty() {
            group = group.element(note("help", printable(&finding.help)));
        }
        if finding.releases != Releases::ALL.to_string() {
            group = group.element(note("holds for", format!("Karpenter {}", finding.releases)));
        }
        group = group.element(note("docs", finding.url.clone()));
        let mut groups = vec![group];
        if finding.position.offset.is_some() && !finding.path.is_empty() {
            let title = format!("the line to change: {}", words::object(finding));
            let here = vec![Group::with_title(Level::NOTE.with_name("here").secondary_title(title))];
            groups.extend(self.places(here, level, finding));
        }
        self.renderer.render(&groups)
    }

    /// Where a line stands and what it says, as much of it as the terminal has room for.
    fn quoted(&self, evidence: &Evidence) -> String {
        let line = evidence.line.map(|line| format!(":{line}")).unwrap_or_default();
        let place = printable(&format!("{}{line}: ", evidence.file));
        // The bar and the name before it take room too, and what is quoted has to be worth its line.
        let room = self.options.width.map_or(WIDTH, |width| width.saturating_sub(14));
        let room = room.saturating_sub(place.chars().count()).max(100);
        format!("{place}{}", cut(&printable(evidence.text.trim()), room))
    }

    /// What was read of the clusters, a line or two for each.
    pub(super) fn logs(report: &Report) -> Vec<String> {
        report.logs.iter().flatten().flat_map(read).collect()
    }
}

/// A text as far as there is room for it: of a line of the controller first without the fields that tell nothing of the matter,
/// then without its middle: it starts with its message and ends with its error.
fn cut(text: &str, room: usize) -> String {
    const NOISE: [&str; 9] = [
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
    for key in NOISE {
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

/// How sure a diagnosis is, how often and when it was seen, and what it is about.
fn confidence(finding: &Finding) -> String {
    let mut text = match finding.confidence {
        Some(Confidence::Likely) => "likely",
        Some(Confidence::Possible) => "possible",
        _ => "certain",
    }
    .to_owned();
    if let Some(seen) = &finding.seen {
        let times = usize::try_from(seen.count).unwrap_or(usize::MAX);
        text =
            format!("{text}; seen {}", if times == 1 { "once".to_owned() } else { format!("{times} times") });
        text = match (&seen.first, &seen.last) {
            (Some(first), Some(last)) if first != last => format!("{text} from {first} to {last}"),
            (Some(time), _) | (_, Some(time)) => format!("{text} at {time}"),
            _ => text,
        };
        if !seen.objects.is_empty() {
            let more = seen.objects_in_all.saturating_sub(seen.objects.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            text = format!("{text}; {}{more}", seen.objects.join(", "));
        }
    }
    if !finding.cluster.is_empty() {
        text = format!("{text} (cluster {})", finding.cluster);
    }
    printable(&text)
}

fn read(log: &Log) -> Vec<String> {
    if log.lines == 0 {
        return Vec::new();
    }
    let number = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let mut parts = vec![format!("{} understood", log.understood)];
    for (count, what) in [(log.unknown, "unknown"), (log.truncated, "cut off"), (log.not_utf8, "not UTF-8")] {
        if count > 0 {
            parts.push(format!("{count} {what}"));
        }
    }
    parts.extend(log.skipped.iter().map(|passed| format!("passed over {} {}", passed.count, passed.reason)));
    if log.forgotten > 0 {
        parts.push(format!(
            "{} causes, batches and lives of NodeClaims forgotten to stay within bounds",
            log.forgotten
        ));
    }
    let cluster = if log.cluster.is_empty() { String::new() } else { format!("cluster {}, ", log.cluster) };
    let times = match (&log.first, &log.last) {
        (Some(first), Some(last)) => format!(", {first} to {last}"),
        _ => String::new(),
    };
    let lines = count(number(log.lines), "line");
    let files = count(log.files, "file");
    let mut all = vec![printable(&format!("{cluster}{lines} of {files}{times}: {}", parts.join(", ")))];
    if !log.releases.is_empty() && log.releases != Releases::ALL.to_string() {
        all.push(format!("the log is that of Karpenter {}", log.releases));
    }
    if let Some(level) = log.level.filter(|level| *level != "DEBUG") {
        let settle = if log.settling.is_empty() {
            String::new()
        } else {
            let lines = log.settling.iter().map(|line| format!("`{line}`")).collect::<Vec<_>>();
            format!("; at DEBUG, {} would settle what is not certain", lines.join(" or "))
        };
        all.push(format!("the log has no line below {level}{settle}"));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn a_line_is_cut_where_it_says_least() {
        let line = r#"{"level":"ERROR","time":"2026-04-23T18:04:55.550Z","logger":"controller","message":"could not schedule pod","commit":"1072d3b","controller":"provisioner","namespace":"","name":"","reconcileID":"8f1c7a0e","Pod":{"name":"web-1"},"error":"did not tolerate a=b:NoSchedule"}"#;
        assert_eq!(cut(line, 400), line);
        let shown = r#"{"level":"ERROR","time":"2026-04-23T18:04:55.550Z",…"message":"could not schedule pod",…"controller":"provisioner",…"name":"",…"Pod":{"name":"web-1"},"error":"did not tolerate a=b:NoSchedule"}"#;
        assert_eq!(cut(line, 200), shown);
        assert_eq!(cut(line, 100).chars().count(), 100);
        assert!(cut(line, 100).ends_with("did not tolerate a=b:NoSchedule\"}"));
        assert_eq!(cut("éé", 1), "…");
    }
}
