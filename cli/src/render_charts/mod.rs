//! `karpwarden check --render`: the Helm charts of the input, rendered by the user's own helm.
//!
//! Each chart is rendered with its default values, and once more with each other file of values in its folder. The objects get the places
//! of the template's lines, and the templates are no longer skipped.

mod helm;
mod links;
mod placed;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use manifest::limits::Limits;
use manifest::source::{Source, Span};
use manifest::{Document, File, ReadOptions};
use objects::embedded::READ_OPTIONS;

use crate::input::BaseFolder;
use helm::{Helm, HelmFailure, Rendering, TOTAL_TIME_LIMIT};
use placed::{TemplateLines, placed};

/// Maximum number of charts that are rendered.
const MAX_CHARTS: usize = 200;

/// Maximum number of charts without a rendering that a remark names.
const MAX_NAMED: usize = 10;

/// A chart in the input.
struct Chart<'f> {
    /// The name in its definition, which the paths of the rendered templates start with.
    name: &'f str,
    /// Its folder, as the names of files have it; empty for the folder of the names.
    folder: &'f str,
    /// The names of its files of values beside `values.yaml`.
    values: Vec<&'f str>,
}

/// Renders the charts among the files, and replaces the templates by their objects. Returns remarks on charts that are not rendered.
pub(crate) fn render(
    files: &mut [File],
    base: &BaseFolder,
    kubernetes_minor: Option<u8>,
    limits: &Limits,
) -> Vec<String> {
    render_by(&Helm::on_path(), files, base, kubernetes_minor, limits)
}

fn render_by(
    helm: &Helm,
    files: &mut [File],
    base: &BaseFolder,
    kubernetes_minor: Option<u8>,
    limits: &Limits,
) -> Vec<String> {
    let charts = charts(files);
    if charts.is_empty() {
        return Vec::new();
    }
    let mut remarks = Vec::new();
    if charts.len() > MAX_CHARTS {
        remarks.push(format!("only {MAX_CHARTS} of {} charts are rendered", charts.len()));
    }
    let mut found = RenderedFiles::of(files, limits);
    let mut out_of_time = Vec::new();
    for chart in charts.iter().take(MAX_CHARTS) {
        let folder = base.path(Path::new(if chart.folder.is_empty() { "." } else { chart.folder }));
        if let Some(link) = links::leading_out(&folder) {
            let name = base.name(&link);
            remarks.push(format!(
                "the chart `{}` is not rendered: the link `{name}` leads out of its folder, or the folder is too large",
                shown(chart.folder)
            ));
            continue;
        }
        let values = core::iter::once(None).chain(chart.values.iter().map(|name| Some(*name)));
        for values in values {
            let path: Option<PathBuf> = values.map(|name| base.path(Path::new(name)));
            match helm.template(chart.name, &folder, path.as_deref(), kubernetes_minor) {
                Ok(rendering) => found.add(chart, &rendering),
                Err(HelmFailure::OutOfTime) => out_of_time.push((chart.folder, values)),
                Err(failure) => {
                    remarks.push(failure.remark(&shown(chart.folder), values));
                    if matches!(failure, HelmFailure::NotStarted(_)) {
                        return remarks;
                    }
                }
            }
        }
    }
    remarks.extend(out_of_time_remark(&out_of_time));
    for (index, rendered) in found.documents {
        if let Some(file) = files.get_mut(index) {
            file.documents.retain(|document| !matches!(document, Document::Template(_)));
            file.documents.extend(rendered.documents);
        }
    }
    remarks
}

/// The remark about the charts and files of values that the time for all charts does not suffice for.
fn out_of_time_remark(out_of_time: &[(&str, Option<&str>)]) -> Option<String> {
    let (first, _) = out_of_time.first()?;
    let name = |(folder, values): &(&str, Option<&str>)| {
        let with = values.map(|values| format!(" with {values}")).unwrap_or_default();
        format!("`{}`{with}", shown(folder))
    };
    let named: Vec<String> = out_of_time.iter().take(MAX_NAMED).map(name).collect();
    let rest = match out_of_time.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (minutes, first) = (TOTAL_TIME_LIMIT.as_secs() / 60, shown(first));
    Some(format!(
        "not rendered, because helm has taken {minutes} minutes: {}{rest}; check them in separate runs: `karpwarden check --render {first}`",
        named.join(", ")
    ))
}

/// The objects of a template.
#[derive(Default)]
struct Rendered {
    documents: Vec<Document>,
    /// The objects that are known, as JSON.
    known: BTreeSet<String>,
}

/// The documents that all charts make, by file.
struct RenderedFiles<'f> {
    files: &'f [File],
    limits: Limits,
    by_name: BTreeMap<&'f str, usize>,
    /// The lines of the templates so far.
    lines: BTreeMap<usize, TemplateLines<'f>>,
    documents: BTreeMap<usize, Rendered>,
}

impl<'f> RenderedFiles<'f> {
    fn of(files: &'f [File], limits: &Limits) -> Self {
        let by_name =
            files.iter().enumerate().rev().map(|(index, file)| (file.source.name(), index)).collect();
        Self { files, limits: *limits, by_name, lines: BTreeMap::new(), documents: BTreeMap::new() }
    }

    /// Adds the documents of a rendering to the files of their templates. What comes from a file that is no input is at the definition of
    /// the chart.
    fn add(&mut self, chart: &Chart<'_>, rendering: &Rendering) {
        for part in rendering.parts(chart.name) {
            let template = self.by_name.get(within(chart.folder, part.template).as_str());
            let definition = || self.by_name.get(within(chart.folder, "Chart.yaml").as_str());
            let Some(index) = template.or_else(definition).copied() else { continue };
            let Some(source) = self.files.get(index).map(|file| &file.source) else { continue };
            let lines = self.lines.entry(index).or_insert_with(|| TemplateLines::of(source.text()));
            let options = ReadOptions { limits: self.limits, ..READ_OPTIONS };
            let rendered = self.documents.entry(index).or_default();
            for document in File::read("rendered.yaml", part.text, options).documents {
                match document {
                    Document::Read(tree) if rendered.known.insert(tree.root().to_json().to_string()) => {
                        let moved = placed(&tree, source, lines, self.limits.nodes);
                        rendered.documents.extend(moved.map(Document::Read));
                    }
                    Document::Unreadable { error, .. } => {
                        let reason = format!("rendered by helm, not checked: {error}");
                        let span = first_line(source);
                        rendered.documents.push(Document::Unevaluated { span, reason });
                    }
                    _ => {}
                }
            }
        }
    }
}

/// The charts among the files that are no dependencies and no libraries.
fn charts(files: &[File]) -> Vec<Chart<'_>> {
    let names = files.iter().filter(|file| file.is_input()).map(|file| file.source.name());
    let folders: BTreeSet<&str> = names.clone().filter_map(folder_of).collect();
    let mut values = BTreeMap::<&str, Vec<&str>>::new();
    for name in names {
        let start = name.rfind('/').map_or(0, |at| at + 1);
        let (folder, rest) = name.split_at_checked(start).unwrap_or(("", name));
        let extension = rest.rsplit_once('.').map(|(_, extension)| extension);
        let is_yaml = matches!(extension, Some("yaml" | "yml"));
        if rest.starts_with("values") && rest != "values.yaml" && is_yaml {
            values.entry(folder).or_default().push(name);
        }
    }
    files
        .iter()
        .filter_map(|file| {
            let folder = folder_of(file.source.name())?;
            let above = folder.trim_end_matches('/').rsplit_once('/').map_or("", |(above, _)| above);
            let is_dependency = above.strip_suffix("charts").is_some_and(|above| folders.contains(above));
            let Some(Document::Read(tree)) = file.documents.first() else { return None };
            let root = tree.root();
            if is_dependency || root.str_at(&["type"]) == Some("library") {
                return None;
            }
            let values = values.get(folder).cloned().unwrap_or_default();
            Some(Chart { name: root.str_at(&["name"])?, folder: folder.trim_end_matches('/'), values })
        })
        .collect()
}

/// The folder of a definition of a chart, with the `/` at its end. `None` for another file.
fn folder_of(name: &str) -> Option<&str> {
    name.strip_suffix("Chart.yaml").filter(|folder| folder.is_empty() || folder.ends_with('/'))
}

/// The name of a file in a folder.
fn within(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// A folder as a user writes it.
fn shown(folder: &str) -> String {
    if folder.is_empty() { ".".to_owned() } else { folder.to_owned() }
}

/// The first line of a text that is not blank.
fn first_line(source: &Source) -> Span {
    Span::whole(source.text()).first_line(source.text())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::process::Command;
    use std::time::Duration;

    use super::*;

    /// The remarks about two charts, one of them with values, and the number of calls of a program in the place of helm.
    fn remarks(script: &str, time: Duration) -> (Vec<String>, usize) {
        let folder = tempfile::tempdir().unwrap();
        let (program, calls) = (folder.path().join("helm"), folder.path().join("calls"));
        // Another process writes the program: a file that this process has open for writing cannot be run.
        let write =
            "printf '#!/bin/sh\\necho call >> \"%s\"\\n%s\\n' \"$1\" \"$2\" > \"$3\" && chmod +x \"$3\"";
        let mut shell = Command::new("sh");
        shell.args(["-c", write, "sh"]).arg(&calls).arg(script).arg(&program);
        assert!(shell.status().unwrap().success());
        let mut files = Vec::new();
        for (name, text) in [
            ("a/Chart.yaml", "apiVersion: v2\nname: a\nversion: 0.1.0\n"),
            ("a/values-prod.yaml", "name: prod\n"),
            ("b/Chart.yaml", "apiVersion: v2\nname: b\nversion: 0.1.0\n"),
        ] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            files.push(File::read(name, text, READ_OPTIONS));
        }
        let base = BaseFolder::of_file(&program);
        let remarks = render_by(&Helm::of(program, time), &mut files, &base, None, &Limits::DEFAULT);
        (remarks, fs::read_to_string(calls).map_or(0, |calls| calls.lines().count()))
    }

    #[test]
    fn charts_are_not_rendered_after_the_time_for_all_of_them() {
        let expected = "not rendered, because helm has taken 5 minutes: `a`, `a` with a/values-prod.yaml, `b`; check them in separate runs: `karpwarden check --render a`";
        assert_eq!(remarks("", Duration::ZERO), (vec![expected.to_owned()], 0));
        // A helm that never ends is stopped, and the others do not start.
        let (found, calls) = remarks("exec sleep 3600", Duration::from_millis(500));
        assert_eq!(found, [expected]);
        assert!(calls <= 1, "{calls}");
    }

    #[test]
    fn many_charts_are_counted() {
        let many: Vec<(&str, Option<&str>)> = vec![("", None); MAX_NAMED + 3];
        let remark = out_of_time_remark(&many).unwrap();
        assert!(remark.contains("`.` and 3 more; check"), "{remark}");
        assert_eq!(out_of_time_remark(&[]), None);
    }
}
