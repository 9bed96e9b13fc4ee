//! Hint for a log that the user gives to a command that reads manifests.

use cluster::Cluster;
use manifest::source::Source;

/// The notes about logs among the files that the command line names: another command reads them.
pub(crate) fn notes(clusters: &[Cluster]) -> Vec<String> {
    let files = clusters.iter().flat_map(|cluster| &cluster.files);
    let logs = files.map(|file| &file.source).filter(|source| is_log(source));
    logs.map(|source| {
        let name = source.name();
        let name = if name.contains(' ') { format!("'{name}'") } else { name.to_owned() };
        format!(
            "`{}` looks like a log, which this command does not read: `karpwarden diagnose {name}`",
            source.name()
        )
    })
    .collect()
}

/// Whether a text starts like a log of the controller: with a JSON line, or with a time and a level.
fn is_log(source: &Source) -> bool {
    let Some(first) = source.text().lines().find(|line| !line.trim().is_empty()) else { return false };
    let has = |words: &[&str]| words.iter().all(|word| first.contains(word));
    let is_json = first.contains('{')
        && (has(&["\"level\":", "\"message\":"]) || has(&["\"level\":", "\"msg\":"]) || has(&["\"log\":\""]));
    let mut words = first.split(['\t', ' ']);
    let is_time =
        words.next().is_some_and(|word| word.len() > 18 && word.contains('T') && word.contains(':'));
    let is_level =
        words.next().is_some_and(|word| ["DEBUG", "INFO", "WARN", "ERROR", "FATAL"].contains(&word));
    is_json || (is_time && is_level)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognises_logs_and_no_manifests() {
        let is_log = |text: &str| is_log(&Source::new("a", text));
        for text in [
            r#"{"level":"INFO","time":"2026-11-24T02:40:00.331Z","logger":"controller","message":"found"}"#,
            "\n2026-11-24T02:40:00.331Z\tINFO\tcontroller\tfound",
            r#"{"log":"{\"level\":\"INFO\"}","stream":"stdout"}"#,
            r#"karpenter-5f6 controller {"level":"INFO","time":"x","message":"found"}"#,
        ] {
            assert!(is_log(text), "{text}");
        }
        for text in [
            "",
            "apiVersion: v1\nkind: Pod\n",
            r#"{"apiVersion":"v1","kind":"Event","message":"x"}"#,
            "logLevel: info\n",
            r#"{"Version":"2012-10-17","Statement":[]}"#,
        ] {
            assert!(!is_log(text), "{text}");
        }
    }
}
