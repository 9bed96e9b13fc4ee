//! Helpers for the tests of rules: run one rule on a text and print its findings.

use std::fmt::Write as _;

use cluster::Cluster;
use rule::{Rule, Runs};

use crate::check;
use answers::report::Report;
use karpenter::release::Release;
use karpenter::upgrade_path::UpgradePath;
use manifest::File;
use manifest::edit::{TextEdit, apply};
use manifest::source::Span;
use objects::embedded::READ_OPTIONS;
use rule::settings::{RuleSelector, Settings, Target};

/// A file that a user hands to Karpwarden.
pub(crate) fn chosen(name: &str, text: &str) -> File {
    File { is_relevant: Some(true), ..File::read(name, text, READ_OPTIONS) }
}

/// The report of one rule on a text.
pub(crate) fn report(rule: &'static Rule, text: &str, settings: &Settings) -> Report {
    report_of_clusters(rule, &[text], settings)
}

/// The report of one rule on the texts of several clusters.
pub(crate) fn report_of_clusters(rule: &'static Rule, texts: &[&str], settings: &Settings) -> Report {
    let settings = Settings { select: vec![RuleSelector::One(rule.names())], ..settings.clone() };
    let cluster = |(index, text): (usize, &&str)| {
        let name = if texts.len() == 1 { String::new() } else { format!("cluster-{}", index + 1) };
        Cluster { name, files: vec![chosen("-", text)] }
    };
    let clusters: Vec<_> = texts.iter().enumerate().map(cluster).collect();
    let report = check(&clusters, &settings);
    assert!(report.unreadable.is_empty(), "{:?}\n{texts:?}", report.unreadable);
    report
}

/// The findings of one rule on several clusters, one line per finding.
pub(crate) fn findings_of_clusters(rule: &'static Rule, texts: &[&str]) -> String {
    let mut output = String::new();
    for finding in report_of_clusters(rule, texts, &Settings::default()).findings {
        let (severity, cluster, path, message) =
            (finding.severity, &finding.cluster, &finding.path, &finding.message);
        let _ = writeln!(output, "{cluster}: {severity} {}/{} {path}: {message}", finding.kind, finding.name);
    }
    output
}

/// The findings of one rule on a text with the default settings: the line with carets below the span, then severity,
/// object, path, message, help and fix.
pub(crate) fn findings(rule: &'static Rule, text: &str) -> String {
    findings_with(rule, text, &Settings::default())
}

/// The findings of one rule on a text with other settings.
pub(crate) fn findings_with(rule: &'static Rule, text: &str, settings: &Settings) -> String {
    let mut output = String::new();
    for finding in report(rule, text, settings).findings {
        let at = finding.position;
        let line = text.lines().nth(at.line.unwrap_or(1) - 1).unwrap_or_default();
        let column = at.column.unwrap_or(1) - 1;
        let one_line = at.end_line == at.line;
        let end = if one_line { at.end_column.unwrap_or(1) - 1 } else { line.chars().count() };
        let _ = writeln!(output, "{:>3} | {line}", at.line.unwrap_or_default());
        let _ =
            writeln!(output, "    | {}{}", " ".repeat(column), "^".repeat(end.saturating_sub(column).max(1)));
        let (severity, path) = (finding.severity, &finding.path);
        let _ =
            writeln!(output, "{severity} {}/{} {path} [{}]", finding.kind, finding.name, finding.releases);
        let _ = writeln!(output, "  {}", finding.message);
        let _ = writeln!(output, "  help: {}", finding.help);
        for related in &finding.related {
            let _ = writeln!(
                output,
                "  see line {} {}: {}",
                related.line.unwrap_or_default(),
                related.path,
                related.message
            );
        }
        if let Some(fix) = &finding.fix {
            let safe = if fix.safe { "fix" } else { "unsafe fix" };
            let edits: Vec<_> = fix.edits.iter().map(|edit| format!("{:?}", edit.text)).collect();
            let _ = writeln!(output, "  {safe}: {}: {}", fix.title, edits.join(", "));
        }
    }
    output
}

/// The findings of one rule on several files of one cluster, one line per finding.
pub(crate) fn findings_in_files(rule: &'static Rule, files: &[(&str, &str)], settings: &Settings) -> String {
    let settings = Settings { select: vec![RuleSelector::One(rule.names())], ..settings.clone() };
    let read = |(name, text): &(&str, &str)| File::read(*name, *text, READ_OPTIONS);
    let cluster = Cluster { name: String::new(), files: files.iter().map(read).collect() };
    let mut output = String::new();
    for finding in check(&[cluster], &settings).findings {
        let (severity, path, message) = (finding.severity, &finding.path, &finding.message);
        let _ = writeln!(output, "{severity} {}/{} {path}: {message}", finding.kind, finding.name);
    }
    output
}

/// The findings of one rule on the files of a folder, which hold all templates of its charts, one line per finding.
pub(crate) fn findings_in_folder(rule: &'static Rule, files: &[(&str, &str)]) -> String {
    let settings = Settings { select: vec![RuleSelector::One(rule.names())], ..Settings::default() };
    let mut output = String::new();
    for finding in check(&[folder(files)], &settings).findings {
        let (severity, path, message) = (finding.severity, &finding.path, &finding.message);
        let _ = writeln!(output, "{severity} {}/{} {path}: {message}", finding.kind, finding.name);
    }
    output
}

/// The files of a folder as a cluster, with the lists of the templates of its charts.
pub(crate) fn folder(files: &[(&str, &str)]) -> Cluster {
    let mut read: Vec<File> =
        files.iter().map(|(name, text)| File::read(*name, *text, READ_OPTIONS)).collect();
    for chart in files.iter().filter_map(|(name, _)| name.strip_suffix("Chart.yaml")) {
        let templates = format!("{chart}templates/");
        let names = files.iter().map(|(name, _)| *name).filter(|name| name.starts_with(&templates));
        let list = names.collect::<Vec<_>>().join("\n");
        read.push(File::chart_text(templates, list));
    }
    Cluster { name: String::new(), files: read }
}

/// An admission request for an object.
pub(crate) fn request(operation: &str, object: &str) -> String {
    let object = object.trim_end().replace('\n', "\n    ");
    format!(
        r"apiVersion: admission.k8s.io/v1
kind: AdmissionReview
request:
  operation: {operation}
  object:
    {object}
"
    )
}

/// Settings for an upgrade path.
pub(crate) fn on_upgrade_path(from: &str, to: &str) -> Settings {
    let path = UpgradePath::new(Release::parse(from).unwrap(), Release::parse(to).unwrap());
    Settings { karpenter: Target::on_upgrade(path), ..Settings::default() }
}

/// Findings of one rule that begin on an upgrade path, each after its boundary.
pub(crate) fn begins(rule: &'static Rule, from: &str, to: &str, text: &str) -> String {
    let settings = on_upgrade_path(from, to);
    let mut output = String::new();
    for boundary in report(rule, text, &settings).findings.iter().filter_map(|finding| finding.boundary) {
        let _ = writeln!(output, "{boundary}");
    }
    assert!(
        rule.runs == Runs::OnUpgrade && findings(rule, text).is_empty(),
        "`check` must not run a rule that is only for upgrades"
    );
    output + &findings_with(rule, text, &settings)
}

/// Asserts that no finding of one rule begins on an upgrade path.
pub(crate) fn begins_nothing(rule: &'static Rule, from: &str, to: &str, text: &str) {
    let output = findings_with(rule, text, &on_upgrade_path(from, to));
    assert!(output.is_empty(), "{from} to {to}: {output}\n{text}");
}

/// The text with all safe fixes of a rule applied. Two findings can have the same fix.
pub(crate) fn fixed(rule: &'static Rule, text: &str) -> String {
    let source = manifest::source::Source::new("-", text);
    let findings = report(rule, text, &Settings::default()).findings;
    let safe = findings.iter().filter_map(|finding| finding.fix.as_ref()).filter(|fix| fix.safe);
    let mut edits: Vec<TextEdit> = safe
        .flat_map(|fix| &fix.edits)
        .map(|edit| TextEdit {
            span: Span::new(source.byte_at(edit.offset), source.byte_at(edit.end_offset)),
            text: edit.text.clone(),
        })
        .collect();
    edits.sort_by_key(|edit| edit.span);
    edits.dedup();
    apply(text, &edits)
}

/// Asserts that a rule reports no finding.
pub(crate) fn silent(rule: &'static Rule, text: &str) {
    let output = findings(rule, text);
    assert!(output.is_empty(), "{output}\n{text}");
}
