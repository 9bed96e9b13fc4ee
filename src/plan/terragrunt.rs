//! Units of Terragrunt with other inputs or another version of their module, if the module makes NodePools or EC2NodeClasses of them.
//!
//! Sources: `terraform`, `include`, `locals` and `inputs` in "Configuration Blocks and Attributes" of the documentation of
//! gruntwork-io/terragrunt: a unit has the inputs of the configurations that it includes too, and paths are read from its own folder. `generate`
//! and `dependency` there; `find_in_parent_folders` in "Functions": the file in the nearest folder around. A unit without `terraform` has its module
//! beside it.

use core::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use answers::plan::PlannedChange;
use cluster::folders::{folders_of, joined, name, parent};
use drift::ObjectChangeKind;

use super::blocks::{Argument, arguments_in, arguments_of};
use super::feeds::{Feeds, without_root};
use super::node_modules::NodeModules;
use super::scope::without_start;
use super::terraform::{describes_nodes, makes_nodes};
use super::{PlanPair, PlanSide, terragrunt_stacks};

/// Extension of the configurations of Terragrunt.
const EXTENSION: &str = ".hcl";

/// Name of the configuration of a unit.
pub(super) const UNIT: &str = "terragrunt.hcl";

/// Dependencies of dependencies that are followed.
const MAX_DEPENDENCIES: usize = 64;

/// Names of configurations that units include without naming them.
const INCLUDED: [&str; 2] = ["terragrunt.hcl", "root.hcl"];

/// A configuration on one side.
#[derive(Debug)]
pub(super) struct TerragruntFile<'p> {
    /// The name of the file on its side.
    pub(super) shown: &'p str,
    pub(super) text: &'p str,
    source: Option<Argument>,
    /// The inputs; one without a name if only Terragrunt knows their names.
    inputs: Vec<Argument>,
    /// All arguments and blocks, in one spelling.
    pub(super) whole: Vec<Argument>,
}

/// The configurations of a side by their names without the start of the side.
pub(super) type TerragruntFiles<'p> = BTreeMap<&'p str, TerragruntFile<'p>>;

/// Part of a unit that changes the plan of Terraform.
pub(super) struct ChangedPart<'p> {
    /// The file that changes it, without the start of its side.
    pub(super) feed: &'p str,
    pub(super) what: String,
    pub(super) file: &'p str,
    pub(super) line: usize,
}

/// The configurations of both sides, and what they refer to.
pub(super) struct TerragruntUnits<'u, 'p> {
    pub(super) olds: TerragruntFiles<'p>,
    pub(super) news: TerragruntFiles<'p>,
    /// The configurations of the new side by the last part of their names.
    by_name: BTreeMap<&'p str, Vec<&'p str>>,
    /// The names of all files of the new side.
    files: BTreeSet<&'p str>,
    pub(super) feeds: &'u Feeds<'p>,
    pub(super) modules: NodeModules<'u, 'p>,
    /// The file that changes each unit on which others depend, if it was looked for. Each input of a unit may lead to it.
    changed: RefCell<BTreeMap<&'p str, Option<&'p str>>>,
}

impl<'p> TerragruntFile<'p> {
    fn of(shown: &'p str, text: &'p str) -> Self {
        let whole = arguments_in(text);
        let inputs = arguments_of(text, "inputs").unwrap_or_else(|| {
            let own = whole.iter().filter(|one| one.name == "inputs");
            own.map(|one| Argument { name: String::new(), ..one.clone() }).collect()
        });
        let source = arguments_of(text, "terraform").into_iter().flatten().find(|one| one.name == "source");
        Self { shown, text, source, inputs, whole }
    }

    /// The strings, which may be paths.
    fn strings(&self) -> impl Iterator<Item = &str> {
        self.whole.iter().flat_map(|one| one.text.split('"').skip(1).step_by(2))
    }

    /// The text in one spelling.
    fn text(&self) -> Vec<&str> {
        self.whole.iter().map(|one| one.text.as_str()).collect()
    }
}

/// The configurations of a side by their names without the start of the side.
fn of_side(side: PlanSide<'_>) -> TerragruntFiles<'_> {
    let files = side.cluster.files.iter().filter(|file| file.source.name().ends_with(EXTENSION));
    let own = files.map(|file| {
        let shown = file.source.name();
        (without_start(shown, side.folder), TerragruntFile::of(shown, file.source.text()))
    });
    own.collect()
}

/// One change for each unit whose inputs or module change what makes NodePools or EC2NodeClasses, and for each one of these that is removed.
pub(super) fn changes<'p>(pair: PlanPair<'p>, feeds: &Feeds<'p>) -> Vec<PlannedChange> {
    let sides = [of_side(pair.old), of_side(pair.new)];
    let modules = NodeModules::of(pair, &feeds.terraform);
    let units = TerragruntUnits::of(pair.new, sides, feeds, modules);
    let change = |change: ObjectChangeKind, (file, line): (&str, usize), message: String| {
        PlannedChange::of_file(pair.name, change, (file, line), message)
    };
    let both = units.news.keys().filter(|file| units.olds.contains_key(*file));
    let changed = both.filter_map(|file| TerragruntUnit { file, units: &units }.changed());
    let mut found: Vec<PlannedChange> = changed
        .chain(terragrunt_stacks::changed(&units))
        .map(|part| {
            let message = format!("{} changes {}", part.feed, part.what);
            change(ObjectChangeKind::Changed, (part.file, part.line), message)
        })
        .collect();
    let TerragruntUnits { olds, news, modules, .. } = units;
    let units = TerragruntUnits::of(pair.old, [news, olds], feeds, modules);
    let gone = units.news.iter().filter(|(file, _)| !units.olds.contains_key(*file));
    let gone = gone.filter(|(file, _)| TerragruntUnit { file, units: &units }.makes_nodes());
    found.extend(gone.map(|(file, one)| {
        let message = format!(
            "{file} is removed, which makes NodePools or EC2NodeClasses: their nodes go once Terragrunt or somebody destroys them"
        );
        change(ObjectChangeKind::Removed, (one.shown, 1), message)
    }));
    found
}

impl<'u, 'p> TerragruntUnits<'u, 'p> {
    /// The units of a side, compared with the ones of the other side, which come first.
    fn of(
        side: PlanSide<'p>,
        [olds, news]: [TerragruntFiles<'p>; 2],
        feeds: &'u Feeds<'p>,
        modules: NodeModules<'u, 'p>,
    ) -> Self {
        let mut by_name: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for file in news.keys() {
            by_name.entry(name(file)).or_default().push(file);
        }
        let files = side.cluster.files.iter();
        let files = files.map(|file| without_start(file.source.name(), side.folder)).collect();
        Self { olds, news, by_name, files, feeds, modules, changed: RefCell::default() }
    }
}

/// A unit.
#[derive(Clone, Copy)]
pub(super) struct TerragruntUnit<'u, 'p> {
    pub(super) file: &'p str,
    pub(super) units: &'u TerragruntUnits<'u, 'p>,
}

/// Inputs and module of a unit whose module makes NodePools or EC2NodeClasses.
pub(super) struct NodeUnit<'u, 'p> {
    /// The configurations with the inputs.
    files: Vec<&'p str>,
    /// The configuration with the module, and its argument; `None` for a module beside the unit.
    source: Option<(&'p str, &'u Argument)>,
    /// The variables of a module in the input on which its nodes depend.
    read: Option<BTreeSet<String>>,
    /// Whether the nodes depend on every input.
    is_all: bool,
}

impl NodeUnit<'_, '_> {
    /// Whether NodePools or EC2NodeClasses depend on an input.
    fn depends_on(&self, given: &Argument) -> bool {
        match &self.read {
            Some(read) => given.name.is_empty() || read.contains(&given.name),
            None => self.is_all || describes_nodes(&given.text),
        }
    }
}

impl<'u, 'p> TerragruntUnit<'u, 'p> {
    /// The changed part of the unit on which NodePools or EC2NodeClasses of its module depend.
    fn changed(&self) -> Option<ChangedPart<'p>> {
        let files = self.with_included();
        let is_unit = name(self.file) == UNIT;
        let generated = if is_unit { self.changed_generated(&files) } else { None };
        generated.or_else(|| self.changed_module(&self.node_unit(files)?))
    }

    /// Whether the module of the unit, or a file that the unit generates, makes NodePools or EC2NodeClasses. The other side does not have the unit.
    fn makes_nodes(&self) -> bool {
        let files = self.with_included();
        name(self.file) == UNIT
            && (self.changed_generated(&[self.file]).is_some() || self.node_unit(files).is_some())
    }

    /// The inputs and the module of the unit, if the module makes NodePools or EC2NodeClasses.
    fn node_unit(&self, files: Vec<&'p str>) -> Option<NodeUnit<'u, 'p>> {
        let TerragruntUnits { news, feeds, modules, .. } = self.units;
        let source = files.iter().find_map(|file| Some((*file, news.get(file)?.source.as_ref()?)));
        let folder = match source {
            Some((_, source)) => self.folder_of(source.text.split('"').nth(1).unwrap_or_default()),
            None if name(self.file) == UNIT => parent(self.file).unwrap_or_default().to_owned(),
            None => return None,
        };
        let read = modules.find(&folder).map(|folder| modules.variables(folder));
        let is_all = source.is_some_and(|(at, source)| {
            feeds.terraform.with_values(&source.text, at).split('"').skip(1).step_by(2).any(makes_nodes)
        });
        let unit = match read {
            Some(read) => NodeUnit { read: Some(read?), is_all, files, source },
            None => NodeUnit { read: None, is_all, files, source: Some(source?) },
        };
        let has_one =
            || unit.files.iter().flat_map(|file| self.inputs(file)).any(|(.., one)| unit.depends_on(one));
        (unit.read.is_some() || is_all || has_one()).then_some(unit)
    }

    /// The changed module, or the changed input on which its nodes depend.
    fn changed_module(&self, unit: &NodeUnit<'u, 'p>) -> Option<ChangedPart<'p>> {
        let TerragruntUnits { olds, news, feeds, .. } = self.units;
        let shown = |file: &str| news.get(file).map(|one| one.shown);
        let source = unit
            .source
            .map_or("the module beside it".to_owned(), |(_, source)| format!("`{}`", source_of(source)));
        if let Some((at, new)) = unit.source {
            let is_other =
                olds.get(at).and_then(|one| one.source.as_ref()).is_some_and(|old| old.text != new.text);
            let fed = || feeds.terraform.of_expression(&new.text, at).map(|(_, file)| file);
            if let Some(feed) = if is_other { Some(at) } else { fed() } {
                let what = format!("the module of the unit to {source}; a plan of Terraform has its objects");
                return Some(ChangedPart { feed, what, file: shown(at)?, line: new.line });
            }
        }
        let mut meant =
            unit.files.iter().flat_map(|file| self.inputs(file)).filter(|(.., one)| unit.depends_on(one));
        let (feed, file, given) = meant.find_map(|(file, other, given)| {
            let is_other = other.is_none_or(|other| other.text != given.text);
            let feed = if is_other { Some(file) } else { self.feed_of(file, given, MAX_DEPENDENCIES) };
            Some((feed?, file, given))
        })?;
        let input = if given.name.is_empty() {
            "the inputs".to_owned()
        } else {
            format!("the input `{}`", given.name)
        };
        let what = format!(
            "{input} of {source}, on which NodePools or EC2NodeClasses depend; a plan of Terraform has them"
        );
        Some(ChangedPart { feed, what, file: shown(file)?, line: given.line })
    }

    /// The changed file that a block `generate` of the unit writes, if it makes NodePools or EC2NodeClasses.
    fn changed_generated(&self, files: &[&'p str]) -> Option<ChangedPart<'p>> {
        let TerragruntUnits { olds, news, feeds, modules, .. } = self.units;
        files.iter().find_map(|file| {
            let of = |side: &'u TerragruntFiles<'p>| {
                let whole = side.get(file).map(|one| one.whole.as_slice()).unwrap_or_default();
                whole.iter().filter(|one| one.name == "generate")
            };
            let makes = |one: &&Argument| {
                let text = feeds.terraform.with_values(&one.text, file);
                let folder = parent(file).unwrap_or_default();
                modules.makes(&text, folder) || text.split('"').skip(1).step_by(2).any(makes_nodes)
            };
            let differs =
                |one: &&Argument, side: &'u TerragruntFiles<'p>| of(side).all(|other| other.text != one.text);
            let gone = || of(olds).filter(|one| differs(one, news)).find(makes);
            let changed = of(news).filter(makes).find_map(|one| {
                let feed =
                    if differs(&one, olds) { Some(*file) } else { self.feed_of(file, one, MAX_DEPENDENCIES) };
                Some((feed?, one.line))
            });
            let (feed, line) = changed.or_else(|| gone().map(|_| (*file, 1)))?;
            let what = "a file that the unit generates, with NodePools or EC2NodeClasses".to_owned();
            Some(ChangedPart { feed, what, file: news.get(file)?.shown, line })
        })
    }

    /// The texts of the inputs on which NodePools or EC2NodeClasses of the unit depend. None if its module makes none.
    pub(super) fn texts_for_nodes(&self) -> Option<Vec<&'u str>> {
        let unit = self.node_unit(self.with_included())?;
        let inputs =
            unit.files.iter().flat_map(|file| self.inputs(file)).filter(|(.., one)| unit.depends_on(one));
        let inputs = inputs.map(|(.., one)| one.text.as_str());
        Some(inputs.chain(unit.source.map(|(_, source)| source.text.as_str())).collect())
    }

    /// The file of the unit and the configurations that it includes.
    fn with_included(&self) -> Vec<&'p str> {
        let news = &self.units.news;
        let Some(own) = news.get(self.file) else { return vec![self.file] };
        let mut others: BTreeSet<&'p str> = BTreeSet::new();
        if own.whole.iter().any(|one| one.name == "include") {
            others.extend(own.strings().flat_map(|text| self.named(text)));
            let around = folders_of(self.file).flat_map(|folder| INCLUDED.map(|name| joined(folder, name)));
            others.extend(around.filter_map(|file| Some(*news.get_key_value(file.as_str())?.0)));
        }
        others.remove(self.file);
        core::iter::once(self.file).chain(others).collect()
    }

    /// The configurations that a string names: as a path, or as the name of a file in a folder around the unit.
    fn named(&self, text: &str) -> Vec<&'p str> {
        let path = without_root(text).trim_start_matches("./");
        if path.is_empty() {
            return Vec::new();
        }
        let end = format!("/{}", path.trim_start_matches("../"));
        let around: BTreeSet<String> = folders_of(self.file).map(|folder| joined(folder, path)).collect();
        let all = self.units.by_name.get(name(path)).map(Vec::as_slice).unwrap_or_default();
        let is_named =
            |file: &&&'p str| around.contains(**file) || (path.contains('/') && file.ends_with(&end));
        all.iter().filter(is_named).copied().collect()
    }

    /// The folder that a source of a module means.
    fn folder_of(&self, source: &str) -> String {
        let path = source.split('?').next().unwrap_or_default().replace("//", "/");
        let path = without_root(&path);
        let folder = parent(self.file).unwrap_or_default();
        if path == source || path.starts_with('.') { joined(folder, path) } else { joined("", path) }
    }

    /// The inputs of a configuration, each with the one of its name on the other side: first the new ones.
    fn inputs(
        &self,
        file: &'p str,
    ) -> impl Iterator<Item = (&'p str, Option<&'u Argument>, &'u Argument)> + use<'u, 'p> {
        let of = |side: &'u TerragruntFiles<'p>| {
            side.get(file).map(|one| one.inputs.as_slice()).unwrap_or_default()
        };
        let (old, new) = (of(&self.units.olds), of(&self.units.news));
        let named = |side: &'u [Argument], name: &str| side.iter().find(|one| one.name == name);
        let gone = old.iter().filter(move |one| named(new, &one.name).is_none());
        let current = new.iter().map(move |one| (file, named(old, &one.name), one));
        current.chain(gone.map(move |one| (file, None, one)))
    }

    /// The changed file that feeds an input: one with a local that it refers to, one that it reads, or the one of a unit whose outputs it has.
    fn feed_of(&self, file: &'p str, given: &Argument, most: usize) -> Option<&'p str> {
        let TerragruntUnits { olds, news, feeds, .. } = self.units;
        let text = feeds.terraform.with_values(&given.text, file);
        let strings: Vec<&str> = text.split('"').skip(1).step_by(2).collect();
        let read = || {
            let is_changed = |one: &&str| {
                olds.get(*one).map(TerragruntFile::text) != news.get(*one).map(TerragruntFile::text)
            };
            let mut named: Vec<&'p str> = strings.iter().flat_map(|text| self.named(text)).collect();
            named.sort_unstable();
            let found = named.into_iter().find(is_changed);
            found.or_else(|| strings.iter().find_map(|text| self.changed_path(parent(file)?, text)))
        };
        let of_outputs = || self.changed_dependency(file, &text, most.checked_sub(1)?);
        let local = feeds.terraform.of_expression(&given.text, file).map(|(_, file)| file);
        local.or_else(read).or_else(of_outputs)
    }

    /// The changed file that a string names: the file of this name in the nearest folder around the unit, or one from a folder.
    fn changed_path(&self, folder: &str, text: &str) -> Option<&'p str> {
        let is_name = !text.contains('/') && text.contains('.');
        let mut around = folders_of(self.file).filter(|_| is_name).map(|folder| joined(folder, text));
        match around.find(|path| self.units.files.contains(path.as_str())) {
            Some(path) => {
                self.units.feeds.of_path(parent(&path)?, text).filter(|changed| *changed == path.as_str())
            }
            None => self.units.feeds.of_path(folder, text),
        }
    }

    /// The changed file of a unit whose outputs a text has.
    fn changed_dependency(&self, file: &'p str, text: &str, most: usize) -> Option<&'p str> {
        let whole = &self.units.news.get(file)?.whole;
        let used = whole.iter().filter(|one| one.name == "dependency").filter(|one| {
            let label = one.text.split('"').nth(1).unwrap_or_default();
            text.split(|char: char| !(char.is_alphanumeric() || matches!(char, '_' | '-' | '.'))).any(
                |word| {
                    word.strip_prefix("dependency.").is_some_and(|rest| rest.split('.').next() == Some(label))
                },
            )
        });
        let mut paths = used.filter_map(|one| one.text.split("config_path").nth(1)?.split('"').nth(1));
        paths.find_map(|path| {
            let other = joined(&self.folder_of(path), UNIT);
            let (other, _) = self.units.news.get_key_value(other.as_str())?;
            TerragruntUnit { file: other, units: self.units }.changed_file(most)
        })
    }

    /// The file that changes the inputs or the module of the unit, whatever the module makes.
    fn changed_file(&self, most: usize) -> Option<&'p str> {
        if let Some(known) = self.units.changed.borrow().get(self.file) {
            return *known;
        }
        // Terragrunt refuses units that depend on each other.
        self.units.changed.borrow_mut().insert(self.file, None);
        let found = self.find_changed_file(most);
        self.units.changed.borrow_mut().insert(self.file, found);
        found
    }

    fn find_changed_file(&self, most: usize) -> Option<&'p str> {
        let TerragruntUnits { olds, news, .. } = self.units;
        self.with_included().into_iter().find_map(|file| {
            let source =
                |side: &'u TerragruntFiles<'p>| side.get(file)?.source.as_ref().map(|one| one.text.as_str());
            let is_other = source(olds) != source(news);
            let of_input = || {
                self.inputs(file).find_map(|(file, other, given)| {
                    let is_other = other.is_none_or(|other| other.text != given.text);
                    if is_other { Some(file) } else { self.feed_of(file, given, most) }
                })
            };
            if is_other { Some(file) } else { of_input() }
        })
    }
}

/// The address of a module in its argument.
fn source_of(source: &Argument) -> &str {
    source.text.split('"').nth(1).unwrap_or_default()
}
