//! Helm charts whose folder is in the input, and the values that their templates read.
//!
//! Helm accepts every key in the values of a chart, so a key that no template reads is silently without effect. Only charts are judged
//! all of whose templates are known, and in which nothing can read the values unseen.
//!
//! Source: `docs/chart_template_guide` and docs/topics/charts.md of helm/helm-www; pkg/chartutil/dependencies.go and
//! pkg/chartutil/coalesce.go of helm/helm at v3.16.0.

mod template;

use std::collections::{BTreeMap, BTreeSet};

use karpenter::kind::is_karpenter_group;
use manifest::tree::{Node, items_of};
use manifest::{Document, File};

use crate::folders::{folders_of, joined, name, parent};
use template::TemplateReads;

/// Name of the file that defines a chart.
pub const CHART_FILE: &str = "Chart.yaml";

/// Keys at the top of the values that Helm itself reads, or that charts around this one or below it read.
const KEYS_OF_HELM: [&str; 3] = ["global", "tags", "exports"];

/// The charts of a cluster whose templates hold objects of Karpenter.
#[derive(Debug, Default)]
pub struct LocalCharts {
    /// The charts by folder.
    by_folder: BTreeMap<String, LocalChart>,
}

/// A chart in the input.
#[derive(Debug, Default)]
pub struct LocalChart {
    /// The values that the templates read.
    reads: ValueReads,
    /// Keys at the top of the values that are for Helm or for dependencies.
    handed_on: BTreeSet<String>,
}

/// The values that templates read, as a tree of keys.
#[derive(Debug, Default)]
pub struct ValueReads {
    is_whole: bool,
    below: BTreeMap<String, Self>,
}

impl ValueReads {
    /// Adds a path of keys. The value at its end is read as a whole.
    fn add<'k>(&mut self, path: impl IntoIterator<Item = &'k str>) {
        let mut at = self;
        for key in path {
            at = at.below.entry(key.to_owned()).or_default();
        }
        at.is_whole = true;
    }

    /// The reads of a key.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.below.get(key)
    }

    /// Whether the value is read as a whole, with everything in it.
    pub const fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The keys that are read.
    pub fn keys(&self) -> impl Iterator<Item = &str> + Clone {
        self.below.keys().map(String::as_str)
    }
}

impl LocalCharts {
    /// Finds the charts among the files of a cluster.
    pub fn of(files: &[File]) -> Self {
        let mut definitions = Vec::new();
        for file in files.iter().filter(|file| name(file.source.name()) == CHART_FILE) {
            if let (Some(folder), Some(root)) = (parent(file.source.name()), root_of(file)) {
                definitions.push((folder, root));
            }
        }
        if definitions.is_empty() {
            return Self::default();
        }
        let files: BTreeMap<&str, &File> = files.iter().map(|file| (file.source.name(), file)).collect();
        let parents: BTreeSet<String> =
            definitions.iter().flat_map(|(folder, root)| local_dependencies(folder, *root)).collect();
        let judged = definitions.iter().filter(|(folder, _)| !parents.contains(*folder));
        let charts = judged.filter_map(|(folder, root)| {
            let chart = LocalChart::of(folder, *root, &files)?;
            Some(((*folder).to_owned(), chart))
        });
        Self { by_folder: charts.collect() }
    }

    /// The chart to whose values a file belongs: a file in the folder of the chart whose name starts with `values`.
    pub fn of_values(&self, file: &str) -> Option<&LocalChart> {
        let name = name(file);
        let extension = name.rsplit_once('.').map(|(_, extension)| extension);
        let is_values = name.starts_with("values") && matches!(extension, Some("yaml" | "yml"));
        self.by_folder.get(parent(file).filter(|_| is_values)?)
    }
}

/// The charts of an input by folder, each with the folders of the charts on which it depends.
#[derive(Debug, Default)]
pub struct ChartsBelow<'d>(BTreeMap<&'d str, BTreeSet<String>>);

impl<'d> ChartsBelow<'d> {
    /// Finds the charts among some files.
    pub fn of(files: impl IntoIterator<Item = &'d File>) -> Self {
        let mut found = BTreeMap::<_, BTreeSet<String>>::new();
        for file in files.into_iter().filter(|file| name(file.source.name()) == CHART_FILE) {
            let Some(folder) = parent(file.source.name()) else { continue };
            let dependencies = root_of(file).map(|root| local_dependencies(folder, root));
            found.entry(folder).or_default().extend(dependencies.into_iter().flatten());
        }
        Self(found)
    }

    /// Whether a folder has a chart.
    pub fn has(&self, folder: &str) -> bool {
        self.0.contains_key(folder)
    }

    /// The folder of the chart that has a file.
    pub fn around(&self, file: &str) -> Option<&'d str> {
        let mut folders = folders_of(file);
        folders.find_map(|folder| self.0.get_key_value(folder).map(|(folder, _)| *folder))
    }

    /// The folders of the charts on which a chart depends, directly or through others, and that are elsewhere in the input.
    pub fn dependencies(&self, folder: &str) -> BTreeSet<&'d str> {
        let (mut found, mut open) = (BTreeSet::new(), vec![folder]);
        while let Some(folder) = open.pop() {
            for below in self.0.get(folder).into_iter().flatten() {
                if let Some((below, _)) =
                    self.0.get_key_value(below.as_str()).filter(|(below, _)| found.insert(**below))
                {
                    open.push(below);
                }
            }
        }
        found
    }
}

impl LocalChart {
    /// The chart in a folder, if it is about Karpenter and nothing can read its values unseen.
    fn of(folder: &str, definition: Node<'_>, files: &BTreeMap<&str, &File>) -> Option<Self> {
        let below = |rest: &str| within(folder, rest);
        // The parent of a dependency reads the values of the dependency too.
        let chart_above = parent(folder).filter(|above| name(above) == "charts").and_then(parent);
        let is_dependency =
            chart_above.is_some_and(|above| files.contains_key(within(above, CHART_FILE).as_str()));
        let is_library = definition.str_at(&["type"]) == Some("library");
        if is_dependency || is_library || files.contains_key(below("requirements.yaml").as_str()) {
            return None;
        }
        let mut chart = Self::default();
        chart.handed_on.extend(KEYS_OF_HELM.map(str::to_owned));
        for dependency in items_of(definition.get("dependencies")) {
            if dependency.get("import-values").is_some() {
                return None;
            }
            let names = ["name", "alias"].into_iter().filter_map(|key| dependency.str_at(&[key]));
            chart.handed_on.extend(names.map(str::to_owned));
            let conditions = dependency.str_at(&["condition"]).unwrap_or_default().split(',').map(str::trim);
            for condition in conditions.filter(|condition| !condition.is_empty()) {
                chart.reads.add(condition.split('.'));
            }
        }
        let folder_of_charts = below("charts/");
        let inner = files.range(folder_of_charts.as_str()..).map_while(|(file, _)| {
            let rest = file.strip_prefix(folder_of_charts.as_str())?;
            rest.split('/').next()
        });
        for inner in inner.collect::<BTreeSet<_>>() {
            // Helm hands values on by the name of the chart, whatever its folder is called.
            let definition = files.get(format!("{folder_of_charts}{inner}/{CHART_FILE}").as_str())?;
            chart.handed_on.insert(root_of(definition)?.str_at(&["name"])?.to_owned());
        }

        let list = files.get(below("templates/").as_str())?;
        let mut reads = TemplateReads::default();
        let mut is_about_karpenter = false;
        for template in list.source.text().lines() {
            let file = files.get(template)?;
            if file.documents.iter().any(|document| matches!(document, Document::Unreadable { .. })) {
                return None;
            }
            is_about_karpenter |= has_object_of_karpenter(file.source.text());
            reads.add_from(file.source.text(), &mut chart.reads);
        }
        (is_about_karpenter && !reads.may_read_more()).then_some(chart)
    }

    /// The values that the templates read.
    pub const fn reads(&self) -> &ValueReads {
        &self.reads
    }

    /// Whether a key at the top of the values is for Helm or for a dependency.
    pub fn hands_on(&self, key: &str) -> bool {
        self.handed_on.contains(key)
    }
}

/// The name of a file or folder in a folder.
fn within(folder: &str, rest: &str) -> String {
    if folder.is_empty() { rest.to_owned() } else { format!("{folder}/{rest}") }
}

/// The root of the first document of a file.
fn root_of(file: &File) -> Option<Node<'_>> {
    match file.documents.first()? {
        Document::Read(tree) => Some(tree.root()).filter(|root| root.is_mapping()),
        _ => None,
    }
}

/// The folders of the dependencies of a chart that are in the same repository: `repository: file://../other`.
fn local_dependencies(folder: &str, definition: Node<'_>) -> Vec<String> {
    let repositories = items_of(definition.get("dependencies")).filter_map(|it| it.str_at(&["repository"]));
    let paths = repositories.filter_map(|repository| repository.strip_prefix("file://"));
    paths.map(|path| joined(folder, path)).collect()
}

/// Whether a template has the `apiVersion` of an object of Karpenter.
fn has_object_of_karpenter(text: &str) -> bool {
    let versions =
        text.lines().filter_map(|line| line.trim().trim_start_matches("- ").strip_prefix("apiVersion:"));
    let groups = versions.filter_map(|version| version.trim().trim_matches(['"', '\'']).split('/').next());
    groups.into_iter().any(is_karpenter_group)
}

#[cfg(test)]
mod tests {
    use super::*;
    use objects::embedded::READ_OPTIONS;

    const POOL: &str = "apiVersion: karpenter.sh/v1\nkind: NodePool\nspec: {{ .Values.pool.spec }}\n";

    /// The keys at the top of the values that a chart reads or hands on; `None` if the chart is not judged.
    fn keys(files: &[(&str, &str)]) -> Option<Vec<String>> {
        let mut read: Vec<File> =
            files.iter().map(|(name, text)| File::read(*name, *text, READ_OPTIONS)).collect();
        let names = files.iter().map(|(name, _)| *name).filter(|name| name.starts_with("c/templates/"));
        read.push(File::chart_text("c/templates/", names.collect::<Vec<_>>().join("\n")));
        let charts = LocalCharts::of(&read);
        let chart = charts.of_values("c/values-prod.yaml")?;
        Some(
            chart
                .reads()
                .keys()
                .chain(chart.handed_on.iter().map(String::as_str))
                .map(str::to_owned)
                .collect(),
        )
    }

    #[test]
    fn collects_what_templates_and_dependencies_read() {
        let chart = "apiVersion: v2\nname: c\ndependencies:\n- {name: karpenter, alias: engine, condition: 'on.engine, on.all', repository: oci://public.ecr.aws/karpenter}\n";
        let files = [
            ("c/Chart.yaml", chart),
            ("c/templates/pool.yaml", POOL),
            ("c/charts/vendored/Chart.yaml", "name: x\n"),
            ("c/charts/vendored/values.yaml", "a: 1\n"),
        ];
        let expected = ["on", "pool", "engine", "exports", "global", "karpenter", "tags", "x"];
        assert_eq!(keys(&files).unwrap(), expected);
    }

    #[test]
    fn judges_no_chart_whose_values_may_be_read_unseen() {
        let chart = "apiVersion: v2\nname: c\n";
        let pool = ("c/templates/pool.yaml", POOL);
        let with = |definition, more| keys(&[("c/Chart.yaml", definition), pool, more]);
        let other = ("c/templates/other.yaml", "kind: A\n");
        assert!(with(chart, other).is_some());
        assert!(with("apiVersion: v2\nname: c\ntype: library\n", other).is_none());
        let imports = "name: c\ndependencies: [{name: a, import-values: [data]}]\n";
        assert!(with(imports, other).is_none());
        assert!(with(chart, ("c/requirements.yaml", "dependencies: []\n")).is_none());
        assert!(with(chart, ("c/charts/x/values.yaml", "a: 1\n")).is_none());
        for template in ["{{ toYaml .Values }}", "{{ include \"elsewhere\" . }}", "{{ tpl .Values.a . }}"] {
            assert!(with(chart, ("c/templates/other.yaml", template)).is_none(), "{template}");
        }
        let parent = ("d/Chart.yaml", "name: d\ndependencies: [{name: c, repository: 'file://../c'}]\n");
        assert!(with(chart, parent).is_none());
        let read = |definitions: [&str; 2]| {
            let list = File::chart_text("a/charts/c/templates/", "a/charts/c/templates/pool.yaml");
            let template = File::read("a/charts/c/templates/pool.yaml", POOL, READ_OPTIONS);
            let files = definitions.map(|name| File::read(name, chart, READ_OPTIONS));
            let files: Vec<File> = files.into_iter().chain([template, list]).collect();
            LocalCharts::of(&files).of_values("a/charts/c/values.yaml").is_some()
        };
        assert!(read(["a/charts/c/Chart.yaml", "b/Chart.yaml"]));
        assert!(!read(["a/charts/c/Chart.yaml", "a/Chart.yaml"]));
        let not_karpenter = ("c/templates/a.yaml", "apiVersion: v1\nkind: ConfigMap\n");
        assert!(keys(&[("c/Chart.yaml", chart), not_karpenter]).is_none());
    }

    #[test]
    fn a_dependency_without_a_condition_reads_nothing() {
        let chart =
            "apiVersion: v2\nname: c\ndependencies:\n- {name: x, repository: 'https://charts.example.com'}\n";
        let files = [("c/Chart.yaml", chart), ("c/templates/pool.yaml", POOL)];
        assert_eq!(keys(&files).unwrap(), ["pool", "exports", "global", "tags", "x"]);
    }

    #[test]
    fn judges_no_chart_with_unknown_templates() {
        let files = [("c/Chart.yaml", "name: c\n"), ("c/templates/pool.yaml", POOL)];
        let mut read: Vec<File> = files.map(|(name, text)| File::read(name, text, READ_OPTIONS)).into();
        assert!(LocalCharts::of(&read).of_values("c/values.yaml").is_none());
        read.push(File::chart_text("c/templates/", "c/templates/pool.yaml\nc/templates/_helpers.tpl\n"));
        assert!(LocalCharts::of(&read).of_values("c/values.yaml").is_none());
        read.push(File::chart_text("c/templates/_helpers.tpl", ""));
        let charts = LocalCharts::of(&read);
        assert!(charts.of_values("c/values.yaml").is_some());
        assert!(charts.of_values("c/ci/values.yaml").is_none());
        assert!(charts.of_values("c/karpenter-values.yaml").is_none());
    }
}
