//! Rendered reports: each is valid in its format, and no control character of the input reaches a terminal.

use karpwarden::REGISTRY_WITH_SYMPTOMS as REGISTRY;
use karpwarden::answers::report::Report;
use karpwarden::cluster::Cluster;
use render::human::{self, Options};
use render::{github, junit, markdown, sarif};
use serde_json::Value;

/// Widths of a terminal.
const WIDTHS: [Option<usize>; 3] = [None, Some(20), Some(90)];

/// Renders a report in every format.
pub(crate) fn assert_formats(report: &Report, clusters: &[Cluster]) {
    let json: Result<Value, _> = serde_json::from_str(&report.to_json());
    assert!(json.is_ok_and(|json| json.is_object()), "{report:?}");
    let sarif = sarif::sarif(&REGISTRY, report, clusters, |_| String::new());
    assert_sarif(&serde_json::to_value(sarif).unwrap_or_default());
    let names = clusters.iter().flat_map(|cluster| &cluster.files).map(|file| file.source.name());
    let xml = junit::junit(report, names);
    let parsed = roxmltree::Document::parse(&xml);
    assert!(parsed.is_ok(), "{parsed:?}: {xml}");
    assert_commands(&github::github(report));
    assert_printable(&markdown::markdown(report, clusters));
    for width in WIDTHS {
        for color in [false, true] {
            assert_human(report, clusters, Options { color, quiet: false, verbose: true, width });
        }
    }
}

/// Checks the regions of a SARIF report: each has lines and columns from 1 on, and ends after its start.
fn assert_sarif(sarif: &Value) {
    let results = sarif.pointer("/runs/0/results").and_then(Value::as_array);
    assert!(results.is_some(), "{sarif}");
    for result in results.into_iter().flatten() {
        let region = result.pointer("/locations/0/physicalLocation/region");
        let number = |key| region.and_then(|region| region.get(key)).and_then(Value::as_u64);
        let start = (number("startLine").unwrap_or_default(), number("startColumn").unwrap_or(1));
        let end = (number("endLine").unwrap_or(start.0), number("endColumn").unwrap_or(start.1));
        assert!(start.0 > 0 && start.1 > 0 && start <= end, "{result}");
    }
}

/// Checks that each line is a workflow command of GitHub Actions.
fn assert_commands(text: &str) {
    for line in text.split_terminator('\n') {
        let is_command = ["::error file=", "::warning file=", "::notice file="]
            .iter()
            .any(|command| line.starts_with(command));
        assert!(is_command && !line.contains('\r'), "{line:?}");
    }
}

fn assert_human(report: &Report, clusters: &[Cluster], options: Options) {
    let mut bytes = Vec::new();
    let written = human::write(&mut bytes, report, clusters, options);
    assert!(written.is_ok(), "{written:?}");
    let text = String::from_utf8_lossy(&bytes);
    if options.color {
        assert_printable(&without_styles(&text));
    } else {
        assert_printable(&text);
    }
}

/// The text without the sequences of our styles.
fn without_styles(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let style = part.strip_prefix('[').and_then(|rest| rest.split_once('m'));
        let is_style = |style: &str| style.bytes().all(|byte| byte.is_ascii_digit() || byte == b';');
        let rest = style.filter(|(style, _)| is_style(style)).map(|(_, rest)| rest);
        assert!(rest.is_some(), "an escape sequence of the input: {part:?}");
        plain.push_str(rest.unwrap_or_default());
    }
    plain
}

/// Checks that a text has no control character except line breaks.
pub(crate) fn assert_printable(text: &str) {
    let control = text.chars().find(|char| char.is_control() && *char != '\n');
    assert!(control.is_none(), "{control:?} in {text:?}");
}
