//! Templates of the Helm charts in the input, which are searched for the values that they read.
//!
//! They are no inputs: nothing is reported about them, and ignore files and exclusions do not apply. A chart with a template that cannot
//! be read is left out: no rule checks its values.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use manifest::File;

use super::base::BaseFolder;
use super::confinement::Confinement;
use super::regular::read_regular;

/// Maximum number of files and folders among the templates of a chart. Larger charts are left out.
const MAX_TEMPLATES: usize = 1000;

/// Maximum number of bytes of all templates of a chart that are no inputs.
const MAX_BYTES: usize = 4 << 20;

/// Name of the folder of templates in the folder of a chart.
const FOLDER: &str = "templates";

/// Glob pattern of the files that may be templates.
pub(crate) const PATTERN: &str = "**/templates/**";

/// For each chart among some files, the list of its templates, and the templates that are not among the files.
pub(crate) fn texts(files: &[File], base: &BaseFolder, confinement: Option<&Confinement>) -> Vec<File> {
    let names = files.iter().map(|file| file.source.name());
    let known: BTreeSet<&str> = names.clone().collect();
    let folders: Vec<PathBuf> = names
        .filter(|name| *name == "Chart.yaml" || name.ends_with("/Chart.yaml"))
        .map(|name| base.path(Path::new(name)))
        .filter(|chart| !is_dependency(chart) && knows_dependencies(chart, &known, base))
        .map(|chart| chart.with_file_name(FOLDER))
        .filter(|folder| confinement.is_none_or(|confinement| !confinement.is_outside(folder)))
        .collect();
    if folders.is_empty() {
        return Vec::new();
    }
    folders.iter().filter_map(|folder| texts_of(folder, &known, base, confinement)).flatten().collect()
}

/// Whether a chart is in the folder of another one, which reads its values too and need not be an input.
fn is_dependency(chart: &Path) -> bool {
    let folder = chart.canonicalize().ok().and_then(|chart| Some(chart.parent()?.parent()?.to_owned()));
    folder.is_some_and(|charts| charts.ends_with("charts") && charts.with_file_name("Chart.yaml").exists())
}

/// Whether the definitions of all charts in the folder `charts` of a chart are known. An archive may hold a chart of any name.
fn knows_dependencies(chart: &Path, known: &BTreeSet<&str>, base: &BaseFolder) -> bool {
    let Ok(entries) = fs::read_dir(chart.with_file_name("charts")) else { return true };
    let mut definitions = entries.map(|entry| Some(entry.ok()?.path().join("Chart.yaml")));
    definitions.all(|path| path.is_some_and(|path| known.contains(base.name(&path).as_str())))
}

/// The list of the templates in a folder, and the templates that are not known. `None` if a template cannot be read.
fn texts_of(
    folder: &Path,
    known: &BTreeSet<&str>,
    base: &BaseFolder,
    confinement: Option<&Confinement>,
) -> Option<Vec<File>> {
    let (mut list, mut texts, mut bytes) = (String::new(), Vec::new(), 0);
    for path in files_in(folder)? {
        let name = base.name(&path);
        list.push_str(&name);
        list.push('\n');
        if known.contains(name.as_str()) {
            continue;
        }
        if confinement.is_some_and(|confinement| !confinement.affords(&path)) {
            return None;
        }
        let text = String::from_utf8(read_regular(&path).ok()?).ok()?;
        bytes += text.len();
        if bytes > MAX_BYTES {
            return None;
        }
        texts.push(File::chart_text(name, text));
    }
    texts.push(File::chart_text(format!("{}/", base.name(folder)), list));
    Some(texts)
}

/// The files in a folder and in the folders below it, sorted. `None` if the folder cannot be read, has too many files, or has a symbolic
/// link, which Helm follows.
fn files_in(folder: &Path) -> Option<BTreeSet<PathBuf>> {
    let (mut open, mut found, mut count) = (vec![folder.to_owned()], BTreeSet::new(), 0);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).ok()? {
            let entry = entry.ok()?;
            let kind = entry.file_type().ok()?;
            count += 1;
            if kind.is_symlink() || count > MAX_TEMPLATES {
                return None;
            }
            if kind.is_dir() {
                open.push(entry.path());
            } else {
                found.insert(entry.path());
            }
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use objects::embedded::READ_OPTIONS;

    #[test]
    fn lists_all_templates_of_a_chart_and_reads_those_that_are_no_inputs() {
        let folder = tempfile::tempdir().unwrap();
        let templates = folder.path().join("chart/templates/scripts");
        fs::create_dir_all(&templates).unwrap();
        let write = |name: &str| fs::write(folder.path().join("chart").join(name), "text").unwrap();
        for name in [
            "Chart.yaml",
            "values.yaml",
            "templates/_helpers.tpl",
            "templates/a.yaml",
            "templates/scripts/b.sh",
        ] {
            write(name);
        }
        let base = BaseFolder::of_file(&folder.path().join("any"));
        let inputs = ["chart/Chart.yaml", "chart/templates/a.yaml"];
        let inputs = inputs.map(|name| File::read(name, "text", READ_OPTIONS));
        let shown = |texts: Vec<File>| {
            texts
                .iter()
                .map(|file| format!("{}: {}", file.source.name(), file.source.text()))
                .collect::<Vec<_>>()
        };
        let list = "chart/templates/_helpers.tpl\nchart/templates/a.yaml\nchart/templates/scripts/b.sh\n";
        let expected = [
            "chart/templates/_helpers.tpl: text".to_owned(),
            "chart/templates/scripts/b.sh: text".to_owned(),
            format!("chart/templates/: {list}"),
        ];
        assert_eq!(shown(texts(&inputs, &base, None)), expected);
        let (inner, outer) = ("chart/charts/inner/Chart.yaml", "chart/charts/inner/templates");
        fs::create_dir_all(folder.path().join(outer)).unwrap();
        fs::write(folder.path().join(inner), "name: inner").unwrap();
        assert_eq!(shown(texts(&[File::read(inner, "", READ_OPTIONS)], &base, None)), Vec::<String>::new());
        assert_eq!(shown(texts(&inputs, &base, None)), Vec::<String>::new());
        fs::remove_dir_all(folder.path().join("chart/charts")).unwrap();
        assert_eq!(shown(texts(&inputs, &base, None)), expected);
        fs::write(templates.join("c.bin"), [0xff]).unwrap();
        assert_eq!(shown(texts(&inputs, &base, None)), Vec::<String>::new());
    }
}
