//! Changed files that feed values into objects and templates that do not change themselves: variables of Flux, values of a chart,
//! kustomizations.

use std::collections::{BTreeMap, BTreeSet};

use cluster::folders::{folders_of, joined, name};
use drift::{ConcernedPools, Effect, FieldChange, FieldEffect, ObjectChangeKind};
use manifest::tree::{Node, Tree};
use manifest::{Document, File, FileKind, is_terraform};
use objects::object::Object;
use values::placeholder::Placeholder;

use super::change::{PlanChange, set_effect, unchanged};
use super::changed_file::{
    ChangedFile, ChartRole, changed_keys, changed_keys_in_text, is_of_tests, is_partial, is_values_template,
};
use super::chart_releases::{ChartReleases, is_helmfile};
use super::charts::{Charts, GivingChart};
use super::generated;
use super::homes::BothBuilt;
use super::named_templates::{ExpandedTemplate, NamedTemplates, reads};
use super::resource_sets::ChangedInputs;
use super::scope::{PLANNED, PlanScope, folder_of_root, place_key, without_start};
use super::terraform::{Feed, OwnRoots, TerraformFeeds};
use super::unexecuted::{self, BuildFeed};
use super::variables::variables_of;
use super::{PlanPair, PlanSide};

/// Number of fields of an object that are looked at.
const MAX_FIELDS: usize = 10_000;

/// The folder with the templates of a chart.
const TEMPLATES: &str = "templates/";

/// The folder of the chart whose template a file is, with the slash at its end.
pub(super) fn chart_of(name: &str) -> Option<&str> {
    let inner = format!("/{TEMPLATES}");
    let at = name.find(&inner).map(|at| at + 1).or_else(|| name.starts_with(TEMPLATES).then_some(0))?;
    name.get(..at)
}

/// The files that have changed, by what they feed.
#[derive(Debug, Default)]
pub(super) struct Feeds<'p> {
    /// The variables with another value, each with the file that has it.
    variables: BTreeMap<&'p str, &'p str>,
    inputs: ChangedInputs<'p>,
    /// The files that change what kustomizations build.
    builds: Vec<BuildFeed<'p>>,
    /// The ones on which fields of kustomizations depend that a build does not execute.
    unexecuted: Vec<BuildFeed<'p>>,
    files: Vec<ChangedFile<'p>>,
    /// The generated `ConfigMaps` and Secrets with other entries, each with a file that has them.
    generated: BTreeMap<&'p str, &'p str>,
    pub(super) terraform: TerraformFeeds<'p>,
    charts: Charts<'p>,
    named: NamedTemplates<'p>,
    releases: ChartReleases<'p>,
    /// Whether the input installs charts with Terraform or a template of a helmfile too.
    has_other_releases: bool,
    /// The start of the names of the new files.
    pub(super) new_folder: &'p str,
}

/// The files that may change how kustomizations build the objects of an overlay.
#[derive(Debug, Default)]
struct ChangedKustomizations<'p> {
    /// The first one that builds objects of any file.
    of_all: Option<&'p str>,
    /// The kustomizations of other overlays, which build the objects of the files in their folders.
    by_folder: BTreeMap<&'p str, &'p str>,
}

impl<'p> ChangedKustomizations<'p> {
    /// The ones among some files that may change the build of an overlay, or of the objects of its files.
    fn of(builds: &[BuildFeed<'p>], scope: &str, scopes: &BTreeSet<&str>) -> Self {
        let is_of_other = |folder: &str| {
            let mut around = std::iter::once(folder).chain(folders_of(folder));
            around.any(|other| !other.is_empty() && other != scope && scopes.contains(other))
        };
        let mut found = Self::default();
        for BuildFeed { folder, file } in builds {
            if is_of_other(folder) {
                found.by_folder.insert(folder, file);
            } else {
                found.of_all.get_or_insert(file);
            }
        }
        found
    }

    /// A file that may change how the objects of a file are built.
    fn of_file(&self, file: &str) -> Option<&'p str> {
        self.of_all.or_else(|| folders_of(file).find_map(|folder| self.by_folder.get(folder).copied()))
    }
}

impl<'p> Feeds<'p> {
    /// The changed files of a pair.
    pub(super) fn of(pair: PlanPair<'p>, built: &'p BothBuilt) -> Self {
        let (olds, news) = (by_name(pair.old), by_name(pair.new));
        let names: BTreeSet<&'p str> = olds.keys().chain(news.keys()).copied().collect();
        let text = |file: Option<&&'p File>| file.map(|file| file.source.text());
        let mut feeds = Self {
            inputs: ChangedInputs::of(pair, built),
            terraform: TerraformFeeds::of(pair),
            charts: Charts::of([&olds, &news]),
            named: NamedTemplates::of([&olds, &news]),
            releases: ChartReleases::of([(pair.old, &built.old), (pair.new, &built.new)], [&olds, &news]),
            has_other_releases: pair.new.cluster.files.iter().any(may_install),
            new_folder: pair.new.folder,
            ..Self::default()
        };
        let mut variables: [BTreeMap<&'p str, BTreeSet<String>>; 2] = Default::default();
        let mut places: BTreeMap<&'p str, &'p str> = BTreeMap::new();
        for name in names {
            let sides = [olds.get(name), news.get(name)];
            if text(sides[0]) == text(sides[1]) {
                continue;
            }
            let trees = sides.map(|file| file.into_iter().flat_map(|file| trees(file)).collect::<Vec<_>>());
            let [own_old, own_new] = trees.each_ref().map(|trees| {
                let found = trees.iter().flat_map(|tree| variables_of(tree));
                found.collect::<BTreeSet<(&'p str, String)>>()
            });
            // A file of both sides may get a value that other files have already.
            if sides.iter().all(Option::is_some) {
                let different = own_old.symmetric_difference(&own_new);
                feeds.variables.extend(different.map(|(variable, _)| (*variable, name)));
            }
            for (side, own) in variables.iter_mut().zip([own_old, own_new]) {
                for (variable, value) in own {
                    side.entry(variable).or_default().insert(value);
                    places.insert(variable, name);
                }
            }
            if name.ends_with("kustomization.yaml") || name.ends_with("kustomization.yml") {
                feeds.builds.push(BuildFeed::of_kustomization(name));
            }
            let Some(file) = sides[1].or(sides[0]) else { continue };
            let is_template = chart_of(name).is_some() && !is_partial(name, file.source.text());
            if !is_template && !name.contains("crds/") {
                let role = ChartRole::of(name, file);
                let keys = match role {
                    ChartRole::Values if is_values_template(name) => {
                        changed_keys_in_text(sides.map(|file| file.map_or("", |file| file.source.text())))
                    }
                    _ => changed_keys(&trees[0], &trees[1]),
                };
                let maps = trees.iter().flatten().flat_map(|tree| Object::all(tree));
                let maps = maps.filter(|object| ["ConfigMap", "Secret"].contains(&object.kind()));
                let maps = maps.map(Object::name).collect();
                feeds.files.push(ChangedFile { name, keys, role, maps });
            }
        }
        let generated = generated::changed(pair);
        let [old, new] = variables;
        let known: BTreeSet<&'p str> = old.keys().chain(new.keys()).copied().collect();
        let changed = known.into_iter().filter(|name| old.get(name) != new.get(name));
        feeds.variables.extend(changed.filter_map(|name| Some((name, *places.get(name)?))));
        feeds.builds.extend(generated.iter().map(|map| BuildFeed::of_kustomization(map.kustomization)));
        feeds.unexecuted = unexecuted::changed(pair, [&olds, &news]);
        feeds.builds.extend(&feeds.unexecuted);
        for map in &generated {
            feeds.generated.extend(map.keys.values().next().map(|file| (map.name, *file)));
            feeds.variables.extend(&map.keys);
        }
        feeds
    }

    /// The changed file that feeds a template of a chart.
    pub(super) fn of_template(&self, chart: &str, template: &str) -> Option<&'p str> {
        let expanded = self.named.expand(chart, template, &self.charts);
        if expanded.changed.is_some() {
            return expanded.changed;
        }
        let folder = chart.trim_end_matches('/');
        if let Some(definition) = self.charts.lost(folder) {
            return Some(definition);
        }
        let giving = self.charts.giving_to(folder);
        let mut names: BTreeSet<&str> =
            giving.iter().filter_map(|one| one.keys.as_ref()).flatten().copied().collect();
        names.extend([name(folder), "global"]);
        let listed = self.releases.listed_files(&giving, &self.charts).filter(|_| !self.has_other_releases);
        let is_listed = |file: &ChangedFile<'p>| {
            let is_default = || {
                let chart = self.charts.of_defaults(file.name);
                chart.is_some_and(|chart| giving.iter().any(|one| one.folder == chart))
            };
            let mut all = listed.iter().flatten();
            is_default() || all.any(|(folder, text)| Self::is_named(file, folder, text))
        };
        let texts = self.releases.texts_for(folder);
        let feeds = |file: &&ChangedFile<'p>| {
            let is_given = || file.role == ChartRole::Values && (listed.is_none() || is_listed(file));
            let given = texts.iter().filter(|(_, path)| Self::is_named(file, folder, path));
            if expanded.reads_values(&given.map(|(key, _)| *key).collect()) {
                return true;
            }
            let reads_values =
                || is_given() && !is_of_tests(file.name, chart) && expanded.reads_values(&file.keys);
            if !file.name.starts_with(chart) {
                let is_for_parent = || file.keys.iter().any(|key| names.contains(key));
                return is_given()
                    && (expanded.names_values(&file.keys) || is_for_parent())
                    && !self.is_of_other_chart(file, &giving);
            }
            let base = name(file.name);
            if base.starts_with("Chart.") {
                return expanded.reads_definition(&file.keys);
            }
            let is_read = || match file.role {
                ChartRole::Partial => expanded.is_open(),
                _ => expanded.reads_object(".Files"),
            };
            !base.starts_with("README") && (reads_values() || is_read())
        };
        let found = self.files.iter().find(feeds).map(|file| file.name);
        let found = found.or_else(|| self.releases.feed(&giving, Some(&expanded)));
        found.or_else(|| giving.iter().find_map(|chart| self.of_terraform_release(chart, &expanded)))
    }

    /// The changed file of Terraform that gives values to a chart, as far as they reach a template.
    fn of_terraform_release(
        &self,
        chart: &GivingChart<'p>,
        template: &ExpandedTemplate<'p>,
    ) -> Option<&'p str> {
        // The charts around the chart of the template give it the values below some keys.
        let reads = |read: &BTreeSet<&str>| match &chart.keys {
            Some(keys) => read.iter().any(|key| keys.contains(key)),
            None => template.reads_values(read),
        };
        let is_read = |key: &str| reads(&BTreeSet::from([key]));
        // Other files with values are compared by their keys.
        let changed_text = |folder: &str, text: &str| {
            let texts = self.files.iter().filter(|file| is_values_template(file.name));
            let mut own = texts.filter(|file| Self::is_named(file, folder, text));
            own.find(|file| reads(&file.keys)).map(|file| file.name)
        };
        self.terraform.of_chart(name(&chart.folder), is_read, changed_text)
    }

    /// Whether a file has the default values of a chart that gives none to another one, and that no release takes elsewhere.
    fn is_of_other_chart(&self, file: &ChangedFile<'p>, giving: &[GivingChart<'_>]) -> bool {
        let is_giving = |folder: &str| giving.iter().any(|chart| chart.folder == folder);
        self.charts.of_defaults(file.name).is_some_and(|folder| !is_giving(folder))
            && !self.releases.files().any(|text| Self::is_named(file, "", text))
    }

    /// The changed file that gives values to a dependency outside of the input of a chart in a folder. `keys` are the keys of the values for
    /// the dependency.
    pub(super) fn of_dependency(&self, folder: &'p str, keys: &BTreeSet<&'p str>) -> Option<&'p str> {
        let mut giving = self.charts.giving_to(folder);
        // The values of the chart itself reach the dependency only below its keys.
        giving.iter_mut().filter(|one| one.keys.is_none()).for_each(|one| one.keys = Some(keys.clone()));
        let is_meant = |file: &ChangedFile<'p>| {
            file.role == ChartRole::Values
                && giving.iter().any(|chart| {
                    let reaches = |key: &&str| chart.keys.as_ref().is_some_and(|keys| keys.contains(key));
                    let is_in = || folders_of(file.name).any(|around| around == chart.folder);
                    let mut named = self.releases.files_for(&chart.folder);
                    file.keys.iter().any(reaches)
                        && (is_in() || named.any(|text| Self::is_named(file, &chart.folder, text)))
                })
        };
        let found = self.files.iter().find(|file| is_meant(file)).map(|file| file.name);
        found.or_else(|| self.releases.feed(&giving, None))
    }

    /// The changed file that feeds a template through its comments, which Helm renders too: `# {{- if .Values.enabled }}`.
    fn of_comments(&self, file: &str, text: &str) -> Option<&'p str> {
        let chart = chart_of(without_start(file, self.new_folder)).filter(|_| text.contains("{{"))?;
        let comments = text.lines().filter(|line| line.trim_start().starts_with('#') && line.contains("{{"));
        self.of_template(chart, &comments.collect::<Vec<_>>().join("\n"))
    }

    /// The changed file that a text names, from a folder or from the root of the repository, also with the name of a source of Argo CD before
    /// it.
    pub(super) fn of_file(&self, folder: &str, text: &str) -> Option<&'p str> {
        self.files.iter().find(|file| Self::is_named(file, folder, text)).map(|file| file.name)
    }

    /// The changed file that a text names, if it has values of an environment that a release of a helmfile reads.
    pub(super) fn of_environment(&self, folder: &str, text: &str, release: &str) -> Option<&'p str> {
        let is_read = |file: &&ChangedFile<'p>| {
            [".Values", ".StateValues"].into_iter().any(|object| reads(release, object, &file.keys))
        };
        let named = self.files.iter().filter(|file| Self::is_named(file, folder, text));
        named.filter(|file| file.role == ChartRole::Values).find(is_read).map(|file| file.name)
    }

    /// The changed file that a text names, or one in the folder that it names or of whose files it is a pattern.
    pub(super) fn of_path(&self, folder: &str, text: &str) -> Option<&'p str> {
        let in_folder = || {
            let path = text.split('*').next().unwrap_or_default();
            let path =
                path.rsplit_once('/').filter(|_| path.len() < text.len()).map_or(path, |(path, _)| path);
            let inner = joined(folder, without_root(path));
            let is_path = text.contains('/') && inner != folder && !inner.is_empty();
            let is_below = |file: &&ChangedFile<'p>| folders_of(file.name).any(|around| around == inner);
            self.files.iter().filter(|_| is_path).find(is_below).map(|file| file.name)
        };
        self.of_file(folder, text).or_else(in_folder)
    }

    fn is_named(file: &ChangedFile<'p>, folder: &str, text: &str) -> bool {
        let text = without_root(text).trim_start_matches("./");
        if text.is_empty() {
            return false;
        }
        let end = format!("/{}", text.trim_start_matches("../"));
        file.name == joined(folder, text)
            || file.name == text
            || (text.contains('/') && file.name.ends_with(&end))
            || (text.contains("{{") && is_like(&end, file.name))
    }

    /// The changed file with one of some `ConfigMaps` or Secrets.
    pub(super) fn of_maps(&self, names: &BTreeSet<&str>) -> Option<&'p str> {
        let written = self.files.iter().find(|file| !file.maps.is_disjoint(names)).map(|file| file.name);
        written.or_else(|| names.iter().find_map(|name| self.generated.get(name).copied()))
    }

    /// The variable in a text that has another value, and the file that has it.
    fn variable(&self, text: &str) -> Option<(&'p str, &'p str)> {
        let mut rest = text;
        while let Some(placeholder) = Placeholder::find(rest) {
            let inner = rest.get(placeholder.range.clone())?;
            let mut words = inner.split(|char: char| !(char.is_alphanumeric() || char == '_' || char == '-'));
            if let Some((name, file)) = words.find_map(|word| self.variables.get_key_value(word)) {
                return Some((name, file));
            }
            rest = rest.get(placeholder.range.end..)?;
        }
        None
    }

    /// The changed file on which the fields of kustomizations depend that are not executed for the objects of a file in an overlay.
    pub(super) fn of_build(&self, overlay: &str, overlays: &BTreeSet<&str>, file: &str) -> Option<&'p str> {
        ChangedKustomizations::of(&self.unexecuted, overlay, overlays).of_file(file)
    }

    /// Adds the fields with a variable that has another value, and the objects that a changed kustomization may build in another way.
    pub(super) fn add<'d>(
        &self,
        found: &mut Vec<PlanChange<'d>>,
        scope: &PlanScope<'d>,
        (scopes, roots): (&BTreeSet<&str>, &BTreeSet<&str>),
    ) {
        let has_values = !self.variables.is_empty() || !self.terraform.is_empty() || !self.files.is_empty();
        if !has_values && (self.builds.is_empty() || scope.unresolved.is_empty()) {
            return;
        }
        let pools = ConcernedPools::of(scope.old.iter().chain(&scope.new));
        let kustomizations = ChangedKustomizations::of(&self.builds, &scope.name, scopes);
        let name = |object: &Object<'d>| (object.kind(), object.name());
        let planned = |object: &&Object<'d>| PLANNED.into_iter().any(|kind| object.is(kind));
        let olds: BTreeMap<(&str, &str), Object<'d>> =
            scope.old.iter().filter(planned).map(|object| (name(object), *object)).collect();
        let positions: BTreeMap<(&str, &str), usize> = found
            .iter()
            .enumerate()
            .filter_map(|(at, one)| Some((name(&one.change.object()?), at)))
            .collect();
        for object in scope.new.iter().filter(planned) {
            let Some(old) = olds.get(&name(object)).copied() else { continue };
            let mut fields = Vec::new();
            let mut file = None;
            if let Some(spec) = object.at(&["spec"]) {
                let modules = scope.modules.get(&place_key(*object)).into_iter().flatten();
                let own = modules.map(|module| folder_of_root(&module.root, self.new_folder)).collect();
                let roots = OwnRoots { own, all: roots.clone() };
                self.fields((*object, &roots), spec, "spec", &mut fields, &mut file);
            }
            let own = object.root().source().name();
            // An object that is now built for certain was built in an unknown way.
            let mut places = [*object, old].map(place_key).into_iter();
            let reason = places.find_map(|place| scope.unresolved.get(&place));
            let kustomization =
                reason.and_then(|_| kustomizations.of_file(without_start(own, self.new_folder)));
            let gate = self.of_comments(own, object.root().source().text());
            let message = match (file, reason.zip(kustomization)) {
                (Some(feed), _) => feed.message(),
                (None, Some((reason, file))) => {
                    format!("the object is not built for certain: {reason}; {file} has changed")
                }
                (None, None) => match gate {
                    Some(feed) => format!("{feed} feeds the template around the object"),
                    None => continue,
                },
            };
            let position = positions.get(&name(object)).copied().unwrap_or(found.len());
            if position == found.len() {
                found.push(unchanged(old, *object, &pools));
            }
            let Some(change) = found.get_mut(position) else { continue };
            if change.change.change != ObjectChangeKind::Changed {
                continue;
            }
            fields.retain(|field| !change.change.fields.iter().any(|known| known.path == field.path));
            change.change.fields.extend(fields);
            set_effect(&mut change.change);
            if kustomization.is_some() || gate.is_some() {
                change.change.effect = change.change.effect.max(Effect::Unknown);
            }
            change.message = message;
        }
    }

    /// Collects the fields below a node that have a variable with another value.
    fn fields<'f, 'd>(
        &'f self,
        (object, roots): (Object<'d>, &OwnRoots<'_>),
        node: Node<'d>,
        path: &str,
        found: &mut Vec<FieldChange<'d>>,
        file: &mut Option<Feed<'f, 'p>>,
    ) {
        if found.len() >= MAX_FIELDS {
            return;
        }
        for (key, child) in node.members() {
            self.fields((object, roots), child, &format!("{path}.{key}"), found, file);
        }
        for (index, child) in node.items().enumerate() {
            self.fields((object, roots), child, &format!("{path}[{index}]"), found, file);
        }
        let of_terraform = |text: &str| {
            let file = node.source().name();
            // A here-document is a part of the configuration itself.
            let is_own = node.tree().is_evaluated() || is_terraform(file);
            self.terraform.of_text(text, file, roots).filter(|_| is_own)
        };
        // Helm renders a text in quotes, too.
        let of_chart = |text: &str| {
            let name = without_start(node.source().name(), self.new_folder);
            let chart = chart_of(name).filter(|_| text.contains("{{"))?;
            Some(Feed { name: ".Values", file: self.of_template(chart, text)?, line: None })
        };
        let of_flux = |text: &str| {
            let (name, file) = self.inputs.or_variable(node, text, |text| self.variable(text))?;
            Some(Feed { name, file, line: None })
        };
        let feed = node
            .as_str()
            .and_then(|text| of_flux(text).or_else(|| of_terraform(text)).or_else(|| of_chart(text)));
        let Some(feed) = feed else { return };
        let Some(kind) = PLANNED.into_iter().find(|kind| object.is(*kind)) else { return };
        let Some(field) = FieldEffect::of(kind, path) else { return };
        *file = file.or(Some(feed));
        let effect = field.effect.min(Effect::Unknown);
        let reason = field.reason.filter(|_| effect == Effect::Unknown);
        found.push(FieldChange {
            path: path.to_owned(),
            old: Some(node),
            new: Some(node),
            effect,
            reason,
            field,
        });
    }
}

/// Whether a file may be the one that a path means in which an `ApplicationSet` replaces parameters, such as `/envs/{{name}}/nodes.yaml`. A part
/// without a parameter must be there.
fn is_like(path: &str, file: &str) -> bool {
    let mut own = file.rsplit('/');
    let mut parts = path.trim_start_matches('/').rsplit('/');
    let is_same = |part: &str| {
        let own = own.next().unwrap_or_default();
        let (start, end) = part.split_once("{{").unwrap_or((part, part));
        let end = end.rsplit_once("}}").map_or(end, |(_, end)| end);
        if part.contains("{{") { own.starts_with(start) && own.ends_with(end) } else { own == part }
    };
    path.split('/').any(|part| !part.is_empty() && !part.contains("{{")) && parts.all(is_same)
}

/// Whether a file may install charts in a way that is not read: with Terraform, or with a template of a helmfile.
fn may_install(file: &File) -> bool {
    let name = file.source.name();
    (is_terraform(name) && file.source.text().contains("helm_release"))
        || (is_helmfile(name) && !file.documents.iter().all(|document| matches!(document, Document::Read(_))))
}

/// A path without what stands for a folder at its start: the name of a source of Argo CD, as in `$values/a.yaml`, or an expression, as in
/// `${path.module}/a.yaml`.
pub(super) fn without_root(path: &str) -> &str {
    path.strip_prefix('$').map_or(path, |rest| rest.split_once('/').map_or(rest, |(_, rest)| rest))
}

pub(super) fn trees(file: &File) -> impl Iterator<Item = &Tree> {
    file.trees()
}

/// The files of a side. The name of a list of templates ends with a slash.
fn by_name(side: PlanSide<'_>) -> BTreeMap<&str, &File> {
    let is_there = |file: &&File| {
        let name = file.source.name();
        (file.kind != FileKind::TextOnly || is_values_template(name)) && !name.ends_with('/')
    };
    let files = side.cluster.files.iter().filter(is_there);
    files.map(|file| (without_start(file.source.name(), side.folder), file)).collect()
}
