//! Units of Terragrunt with other inputs or another version of their module, if the module makes NodePools or EC2NodeClasses of them.
//!
//! Sources: `terraform`, `include`, `locals` and `inputs` in "Configuration Blocks and Attributes" of the documentation of
//! gruntwork-io/terragrunt: a unit has the inputs of the configurations that it includes too, and paths are read from its own folder.

use std::collections::BTreeMap;

use answers::OrEmpty;
use answers::plan::PlannedChange;
use cluster::folders::{folders_of, joined, name, parent};
use drift::{Effect, ObjectChangeKind};

use super::blocks::{Argument, arguments_in, arguments_of};
use super::feeds::{Feeds, without_root};
use super::node_modules::NodeModules;
use super::scope::without_start;
use super::terraform::{describes_nodes, makes_nodes};
use super::{PlanPair, PlanSide};

/// Extension of the configurations of Terragrunt.
const EXTENSION: &str = ".hcl";

/// Names of configurations that units include without naming them.
const INCLUDED: [&str; 2] = ["terragrunt.hcl", "root.hcl"];

/// A configuration on one side.
#[derive(Debug)]
struct Configuration<'p> {
    /// The name of the file on its side.
    shown: &'p str,
    source: Option<Argument>,
    /// The inputs; one without a name if only Terragrunt knows their names.
    inputs: Vec<Argument>,
    /// All arguments and blocks, in one spelling.
    whole: Vec<Argument>,
}

/// Part of a unit that changes the plan of Terraform.
struct ChangedPart<'p> {
    /// The file that changes it, without the start of its side.
    feed: &'p str,
    what: String,
    file: &'p str,
    line: usize,
}

impl<'p> Configuration<'p> {
    fn of(shown: &'p str, text: &'p str) -> Self {
        let whole = arguments_in(text);
        let inputs = arguments_of(text, "inputs").unwrap_or_else(|| {
            let own = whole.iter().filter(|one| one.name == "inputs");
            own.map(|one| Argument { name: String::new(), ..one.clone() }).collect()
        });
        let source = arguments_of(text, "terraform").into_iter().flatten().find(|one| one.name == "source");
        Self { shown, source, inputs, whole }
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
fn of_side(side: PlanSide<'_>) -> BTreeMap<&str, Configuration<'_>> {
    let files = side.cluster.files.iter().filter(|file| file.source.name().ends_with(EXTENSION));
    let own = files.map(|file| {
        let shown = file.source.name();
        (without_start(shown, side.folder), Configuration::of(shown, file.source.text()))
    });
    own.collect()
}

/// One change for each unit whose inputs or module change what makes NodePools or EC2NodeClasses.
pub(super) fn changes<'p>(pair: PlanPair<'p>, feeds: &Feeds<'p>) -> Vec<PlannedChange> {
    let (olds, news) = (of_side(pair.old), of_side(pair.new));
    if olds.is_empty() || news.is_empty() {
        return Vec::new();
    }
    let modules = NodeModules::of(pair, &feeds.terraform);
    let units = news.keys().filter(|file| olds.contains_key(*file));
    units
        .filter_map(|file| {
            let changed = Unit { file, olds: &olds, news: &news, feeds, modules: &modules }.changed()?;
            Some(PlannedChange {
                cluster: pair.name.to_owned(),
                kind: String::new(),
                name: String::new(),
                change: ObjectChangeKind::Changed,
                effect: Effect::Unknown,
                reason: OrEmpty(None),
                node_pools: Vec::new(),
                message: format!("{} changes {}", changed.feed, changed.what),
                file: changed.file.to_owned(),
                line: changed.line,
                fields: Vec::new(),
            })
        })
        .collect()
}

/// A unit that both sides have.
struct Unit<'u, 'p> {
    file: &'p str,
    olds: &'u BTreeMap<&'p str, Configuration<'p>>,
    news: &'u BTreeMap<&'p str, Configuration<'p>>,
    feeds: &'u Feeds<'p>,
    modules: &'u NodeModules<'u, 'p>,
}

impl<'u, 'p> Unit<'u, 'p> {
    /// The changed part of the unit on which NodePools or EC2NodeClasses of its module depend.
    fn changed(&self) -> Option<ChangedPart<'p>> {
        let files = self.with_included();
        let (at, new) = files.iter().find_map(|file| Some((*file, self.news.get(file)?.source.as_ref()?)))?;
        let old = self.olds.get(at).and_then(|one| one.source.as_ref());
        let source = new.text.split('"').nth(1).unwrap_or_default();
        let inputs = || files.iter().flat_map(|file| self.inputs(file));
        // The variables of a module in the input that its nodes depend on.
        let read = self.modules.find(&self.folder_of(source)).map(|folder| self.modules.variables(folder));
        let terraform = &self.feeds.terraform;
        let is_about = terraform.with_values(&new.text, at).split('"').skip(1).step_by(2).any(makes_nodes);
        let is_meant = |given: &Argument| match &read {
            Some(read) => read.iter().flatten().any(|name| given.name.is_empty() || *name == given.name),
            None => is_about || describes_nodes(&given.text),
        };
        let makes = match &read {
            Some(read) => read.is_some(),
            None => is_about || inputs().any(|(.., given)| is_meant(given)),
        };
        if !makes {
            return None;
        }
        let shown = |file: &str| self.news.get(file).map(|one| one.shown);
        let is_other = old.is_some_and(|old| old.text != new.text);
        let other =
            if is_other { Some(at) } else { terraform.of_expression(&new.text, at).map(|(_, file)| file) };
        if let Some(feed) = other {
            let what = format!("the module of the unit to `{source}`; a plan of Terraform has its objects");
            return Some(ChangedPart { feed, what, file: shown(at)?, line: new.line });
        }
        let mut meant = inputs().filter(|(.., given)| is_meant(given));
        let (feed, file, given) = meant.find_map(|(file, other, given)| {
            let is_other = other.is_none_or(|other| other.text != given.text);
            let feed = if is_other { Some(file) } else { self.feed_of(file, given) };
            Some((feed?, file, given))
        })?;
        let input = if given.name.is_empty() {
            "the inputs".to_owned()
        } else {
            format!("the input `{}`", given.name)
        };
        let what = format!(
            "{input} of `{source}`, on which NodePools or EC2NodeClasses depend; a plan of Terraform has them"
        );
        Some(ChangedPart { feed, what, file: shown(file)?, line: given.line })
    }

    /// The file of the unit and the configurations that it includes.
    fn with_included(&self) -> Vec<&'p str> {
        let mut found = vec![self.file];
        let Some(own) = self.news.get(self.file) else { return found };
        let includes = own.whole.iter().any(|one| one.name == "include");
        let others = self.news.keys().copied().filter(|file| *file != self.file && includes);
        found.extend(others.filter(|file| {
            let is_around = folders_of(self.file).any(|folder| parent(file) == Some(folder));
            let is_named = own.strings().any(|text| self.is_named(file, text));
            is_named || (is_around && INCLUDED.contains(&name(file)))
        }));
        found
    }

    /// Whether a string names a file: as a path, or as the name of a file in a folder around the unit.
    fn is_named(&self, file: &str, text: &str) -> bool {
        let path = without_root(text).trim_start_matches("./");
        let end = format!("/{}", path.trim_start_matches("../"));
        let is_around = || folders_of(self.file).any(|folder| joined(folder, path) == file);
        !path.is_empty() && (is_around() || (path.contains('/') && file.ends_with(&end)))
    }

    /// The folder that a source of a module means.
    fn folder_of(&self, source: &str) -> String {
        let path = source.split('?').next().unwrap_or_default().replace("//", "/");
        let path = without_root(&path);
        let folder = parent(self.file).unwrap_or_default();
        if path == source || path.starts_with('.') { joined(folder, path) } else { joined("", path) }
    }

    /// The inputs of a configuration, each with the one of its name on the other side: first the new ones.
    fn inputs(&self, file: &'p str) -> impl Iterator<Item = (&'p str, Option<&'u Argument>, &'u Argument)> {
        let of = |side: &'u BTreeMap<&'p str, Configuration<'p>>| {
            side.get(file).map(|one| one.inputs.as_slice()).unwrap_or_default()
        };
        let (old, new) = (of(self.olds), of(self.news));
        let named = |side: &'u [Argument], name: &str| side.iter().find(|one| one.name == name);
        let gone = old.iter().filter(move |one| named(new, &one.name).is_none());
        let current = new.iter().map(move |one| (file, named(old, &one.name), one));
        current.chain(gone.map(move |one| (file, None, one)))
    }

    /// The changed file that feeds an input: one with a local that it refers to, or one that it reads.
    fn feed_of(&self, file: &str, given: &Argument) -> Option<&'p str> {
        let text = self.feeds.terraform.with_values(&given.text, file);
        let read = || {
            let strings: Vec<&str> = text.split('"').skip(1).step_by(2).collect();
            let is_read = |one: &&&str| strings.iter().any(|text| self.is_named(one, text));
            let is_changed = |one: &&&str| {
                self.olds.get(**one).map(Configuration::text) != self.news.get(**one).map(Configuration::text)
            };
            let found = self.news.keys().filter(is_read).find(is_changed).copied();
            found.or_else(|| strings.iter().find_map(|text| self.feeds.of_path(parent(file)?, text)))
        };
        self.feeds.terraform.of_expression(&given.text, file).map(|(_, file)| file).or_else(read)
    }
}
