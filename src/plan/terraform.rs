//! Changed parts of Terraform configurations that feed values which only Terraform knows, and modules and charts outside of the input.

use std::collections::{BTreeMap, BTreeSet};

use answers::plan::PlannedChange;
use cluster::folders::parent;
use drift::{Effect, ObjectChangeKind};
use karpenter::labels;
use manifest::tree::Node;
use manifest::{File, is_terraform};
use objects::terraform_module::is_for_karpenter;
use values::placeholder::Placeholder;

use super::PlanPair;
use super::appliers::is_own_chart;
use super::blocks::{Argument, Part, Reference, parts, references, variables};
use super::module_arguments::is_within;
use super::outputs;
use super::outside::WORDS;
use super::scope::without_start;
use super::set_values::one_by_one;

/// End of the names of files of variables.
const VARIABLES: &str = ".tfvars";

/// End of the names of files of variables in JSON.
const JSON: &str = ".tfvars.json";

/// Outputs of modules that have the value of the argument of the same name.
///
/// Source: outputs.tf of terraform-aws-modules/terraform-aws-eks: the attributes of `aws_eks_cluster`, which has the arguments.
const PASSED_ON: [&str; 2] = ["cluster_name", "cluster_version"];

/// Arguments of the call of a module that choose what it makes of the others.
const OF_SOURCE: [&str; 2] = ["source", "version"];

/// Arguments of a release of a chart that say how Terraform goes about it, and change none of its objects.
///
/// Source: docs/resources/release.md of hashicorp/terraform-provider-helm.
const OF_INSTALLING: [&str; 11] = [
    "atomic",
    "cleanup_on_fail",
    "create_namespace",
    "dependency_update",
    "description",
    "lint",
    "max_history",
    "recreate_pods",
    "timeout",
    "wait",
    "wait_for_jobs",
];

/// Words for the instance of a block, whose values are in another argument.
const OF_INSTANCE: [&str; 2] = ["each.", "count."];

/// The arguments that make several instances of a block.
const MAKING_INSTANCES: [&str; 2] = ["for_each", "count"];

/// Start of the addresses of releases of charts.
pub(super) const RELEASE: &str = "helm_release.";

/// A part of the configurations with one address in one folder, or in one file of variables.
#[derive(Clone, Debug)]
pub(super) struct FedPart<'p> {
    /// The folder of the configuration, or the file of variables.
    pub(super) place: &'p str,
    /// The file with the part, without the start of its side.
    pub(super) file: &'p str,
    /// The file with the part.
    shown: &'p str,
    line: usize,
    is_module: bool,
    /// The arguments of both sides.
    pub(super) sides: [Option<Vec<Argument>>; 2],
}

impl FedPart<'_> {
    /// Whether what feeds an attribute differs.
    pub(super) fn is_changed(&self, attribute: Option<&str>) -> bool {
        self.differs(self.feeding(attribute))
    }

    /// The text that feeds an attribute.
    pub(super) fn text(&self, attribute: Option<&str>) -> String {
        self.text_of(self.feeding(attribute))
    }

    /// The arguments that feed an attribute: of a resource the one with its name if both sides have it. A module may make an output of its
    /// other arguments, except for the ones that are known to pass an argument on, and for the outputs of published modules.
    fn feeding<'a>(&'a self, attribute: Option<&'a str>) -> impl Fn(&Argument) -> bool + use<'a> {
        let attribute_alone = attribute.filter(|name| !self.is_module || PASSED_ON.contains(name));
        let is_own =
            move |argument: &Argument| attribute_alone.is_some_and(|attribute| attribute == argument.name);
        // The collection of an instance is another argument.
        let is_of_instance = |argument: &Argument| {
            is_own(argument) && OF_INSTANCE.iter().any(|word| argument.text.contains(word))
        };
        let has_own =
            self.sides_with(is_own) == [true, true] && self.sides_with(is_of_instance) == [false, false];
        let source = self.source();
        move |argument| {
            let known = source.zip(attribute);
            let known = known.and_then(|(source, output)| outputs::depends(source, output, &argument.name));
            known.unwrap_or_else(|| if has_own { is_own(argument) } else { argument.feeds(attribute) })
        }
    }

    /// Whether the part is of a file of variables of both sides that Terraform reads for a folder without a command that names it.
    pub(super) fn is_read_always(&self, folder: &str) -> bool {
        let name = self.place.strip_suffix(".json").unwrap_or(self.place);
        let is_one = name.ends_with("/terraform.tfvars")
            || name == "terraform.tfvars"
            || name.ends_with(".auto.tfvars");
        is_one && self.folder() == folder && self.sides.iter().all(Option::is_some)
    }

    /// The argument with a name, with the ones that its instances come from.
    pub(super) fn giving<'a>(&'a self, name: &'a str) -> impl Fn(&Argument) -> bool + use<'a> {
        let mut own = self.sides.iter().flatten().flatten().filter(|argument| argument.name == name);
        let is_of_instance = own.any(|argument| OF_INSTANCE.iter().any(|word| argument.text.contains(word)));
        move |argument| {
            argument.name == name || (is_of_instance && MAKING_INSTANCES.contains(&argument.name.as_str()))
        }
    }

    /// The address of the module that a part calls.
    fn source(&self) -> Option<&str> {
        self.sources().pop_first()
    }

    /// The addresses of the module that a part calls on the sides.
    pub(super) fn sources(&self) -> BTreeSet<&str> {
        let all = self
            .sides
            .iter()
            .flatten()
            .flatten()
            .filter(|argument| self.is_module && argument.name == "source");
        all.filter_map(|argument| text_of(&argument.text, "source")).collect()
    }

    /// Whether the part is of a file of variables.
    pub(super) fn is_of_variables(&self) -> bool {
        has_variables(self.place)
    }

    /// The text of all arguments of both sides.
    pub(super) fn both_texts(&self) -> String {
        let all = self.sides.iter().flatten().flatten();
        let texts: BTreeSet<&str> = all.map(|argument| argument.text.as_str()).collect();
        texts.into_iter().collect::<Vec<_>>().join("\n")
    }

    /// Whether some arguments differ. Their order means nothing.
    pub(super) fn differs(&self, is_meant: impl Fn(&Argument) -> bool) -> bool {
        let texts = |side: &Option<Vec<Argument>>| {
            let arguments = side.as_ref()?.iter().filter(|argument| is_meant(argument));
            Some(arguments.map(|argument| argument.text.clone()).collect::<BTreeSet<_>>())
        };
        texts(&self.sides[0]) != texts(&self.sides[1])
    }

    /// The text of some arguments.
    pub(super) fn text_of(&self, is_meant: impl Fn(&Argument) -> bool) -> String {
        let [old, new] = &self.sides;
        let arguments = new.as_ref().or(old.as_ref()).into_iter().flatten();
        let texts = arguments.filter(|argument| is_meant(argument)).map(|argument| argument.text.as_str());
        texts.collect::<Vec<_>>().join("\n")
    }

    /// The sides that have some arguments, old and new.
    pub(super) fn sides_with(&self, is_meant: impl Fn(&Argument) -> bool) -> [bool; 2] {
        self.sides.each_ref().map(|side| side.iter().flatten().any(&is_meant))
    }

    /// The folder around the part.
    pub(super) fn folder(&self) -> &str {
        parent(self.file).unwrap_or_default()
    }
}

/// A changed part that feeds a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Feed<'f, 'p> {
    pub(super) name: &'f str,
    pub(super) file: &'p str,
    /// The line of the part, if it is known.
    pub(super) line: Option<usize>,
}

impl Feed<'_, '_> {
    pub(super) fn message(&self) -> String {
        let Self { name, file, line } = self;
        let line = line.map(|line| format!(":{line}")).unwrap_or_default();
        format!("{file}{line} changes `{name}`")
    }
}

/// The root modules that make an object, among all root modules. Without any, parts of all root modules may feed the object.
#[derive(Debug, Default)]
pub(super) struct OwnRoots<'r> {
    pub(super) own: BTreeSet<&'r str>,
    pub(super) all: BTreeSet<&'r str>,
}

impl OwnRoots<'_> {
    /// Whether a part of a folder or of a file of variables may feed the object: it is of no other root module.
    fn have(&self, place: &str) -> bool {
        let is_of_other = |folder: &str| self.all.contains(folder) && !self.own.contains(folder);
        let around = parent(place).filter(|_| has_variables(place));
        self.own.is_empty() || !(is_of_other(place) || around.is_some_and(is_of_other))
    }
}

/// Words in arguments that describe NodePools or EC2NodeClasses.
const DESCRIBING: [&str; 3] = ["nodepool", "nodeclass", "karpenterresources"];

/// The parts of the configurations of both sides, by address. Empty if no configuration changes or names Karpenter.
#[derive(Debug, Default)]
pub(super) struct TerraformFeeds<'p> {
    pub(super) parts: BTreeMap<String, Vec<FedPart<'p>>>,
    /// The addresses and the folders of the calls of modules in the input, by the folder of the module.
    pub(super) calls: BTreeMap<String, Vec<(String, &'p str)>>,
    /// The start of the names of the new files.
    new_folder: &'p str,
}

impl<'p> TerraformFeeds<'p> {
    pub(super) fn of(pair: PlanPair<'p>) -> Self {
        let files = [pair.old, pair.new].map(|side| {
            let read = side.cluster.files.iter().filter(|file| {
                let name = file.source.name();
                is_terraform(name) || has_variables(name)
            });
            read.map(|file| (without_start(file.source.name(), side.folder), file))
                .collect::<BTreeMap<_, _>>()
        });
        let [olds, news] = &files;
        let mut feeds = Self { new_folder: pair.new.folder, ..Self::default() };
        let written = |files: &BTreeMap<&'p str, &'p File>| -> Vec<(&'p str, &'p str)> {
            files.iter().map(|(name, file)| (*name, file.source.text())).collect()
        };
        // Without a change, only releases of charts count that read other files.
        let is_about = |file: &&File| WORDS.iter().any(|word| plain(file.source.text()).contains(word));
        if written(olds) == written(news) && !news.values().any(is_about) {
            return feeds;
        }
        // Of a part that both sides have, the place on the new side is shown.
        for (side, files) in [(1, news), (0, olds)] {
            for (name, file) in files {
                let is_given = has_variables(name);
                let place = if is_given { name } else { parent(name).unwrap_or_default() };
                for part in if is_given { given_by(file) } else { parts(file.source.text()) } {
                    feeds.add(side, (place, name, file.source.name()), part);
                }
            }
        }
        feeds.find_calls();
        feeds
    }

    fn add(&mut self, side: usize, (place, file, shown): (&'p str, &'p str, &'p str), part: Part) {
        let is_module = part.address.starts_with("module.");
        let is_release = part.address.starts_with(RELEASE);
        let is_meant = |argument: &Argument| !is_release || !OF_INSTALLING.contains(&argument.name.as_str());
        let all = self.parts.entry(part.address).or_default();
        let index = all.iter().position(|known| known.place == place).unwrap_or(all.len());
        if index == all.len() {
            all.push(FedPart { place, file, shown, line: part.line, is_module, sides: [None, None] });
        }
        let known = all.get_mut(index).and_then(|known| known.sides.get_mut(side));
        if let Some(known) = known {
            let meant = part.arguments.into_iter().filter(is_meant);
            let apart = meant.flat_map(|one| if is_release { one_by_one(one) } else { vec![one] });
            known.get_or_insert_default().extend(apart);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The changed part that feeds the placeholders of a text in a file of the new side, for an object of some root modules.
    pub(super) fn of_text(&self, text: &str, file: &str, roots: &OwnRoots<'_>) -> Option<Feed<'_, 'p>> {
        let (mut rest, file) = (text, without_start(file, self.new_folder));
        while let Some(placeholder) = Placeholder::find(rest) {
            let fed = rest.get(placeholder.range.clone()).and_then(|inner| self.of_roots(inner, file, roots));
            if let Some((name, part)) = fed {
                let line = part.sides[1].as_ref().map(|_| part.line);
                return Some(Feed { name, file: part.file, line });
            }
            rest = rest.get(placeholder.range.end..)?;
        }
        None
    }

    /// The changed part that an expression in a file refers to, also through other parts.
    pub(super) fn of_expression(&self, text: &str, file: &str) -> Option<(&str, &'p str)> {
        self.of_roots(text, file, &OwnRoots::default()).map(|(name, part)| (name, part.file))
    }

    fn of_roots(&self, text: &str, file: &str, roots: &OwnRoots<'_>) -> Option<(&str, &FedPart<'p>)> {
        let mut seen = BTreeSet::new();
        let mut left = references_in(text, parent(file).unwrap_or_default());
        while let Some((reference, folder)) = left.pop() {
            let referenced = self.referenced(&reference, &folder).into_iter();
            for one in referenced.filter(|one| roots.have(one.part.place)) {
                if one.is_changed() {
                    return Some((one.address, one.part));
                }
                if seen.insert(one.key()) {
                    left.extend(references_in(&one.text(), one.part.folder()));
                }
            }
        }
        None
    }

    /// A text of a part with the locals, and the defaults and given values of variables behind it.
    pub(super) fn with_values(&self, text: &str, file: &str) -> String {
        let mut seen = BTreeSet::new();
        let mut found = text.to_owned();
        let mut left = references_in(text, parent(file).unwrap_or_default());
        while let Some((Reference { address, .. }, folder)) = left.pop() {
            let is_value = ["local.", "var."].iter().any(|kind| address.starts_with(kind));
            if !is_value || !seen.insert((address.clone(), folder.clone())) {
                continue;
            }
            for one in self.referenced(&Reference { address, attribute: None }, &folder) {
                let value = one.text();
                left.extend(references_in(&value, one.part.folder()));
                found = format!("{found}\n{value}");
            }
        }
        found
    }

    /// The file that changes a part: its own, or one with a part that it refers to.
    fn feed_of(&self, part: &FedPart<'p>) -> Option<&'p str> {
        if part.is_changed(None) {
            return Some(part.file);
        }
        self.of_expression(&part.text(None), part.file).map(|(_, file)| file)
    }

    /// The names of the arguments of a call of a module that describe NodePools or EC2NodeClasses.
    pub(super) fn about_nodes(&self, part: &FedPart<'p>) -> BTreeSet<String> {
        let all = part.sides.iter().flatten().flatten();
        let about = all.filter(|given| describes_nodes(&self.with_values(&given.text, part.file)));
        about.map(|given| given.name.clone()).collect()
    }

    /// The changed file that a text of a part names, or a text behind it.
    pub(super) fn read_by(
        &self,
        part: &FedPart<'p>,
        text: &str,
        changed_file: impl Fn(&str, &str) -> Option<&'p str>,
    ) -> Option<&'p str> {
        let text = self.with_values(text, part.file);
        text.split('"').find_map(|text| changed_file(part.folder(), text))
    }

    /// One change for each changed call of a module or release of a chart outside of the input that makes NodePools or EC2NodeClasses, or for
    /// a module that is given such. `changed_file` finds the changed file that a text in a folder names.
    pub(super) fn changes(
        &self,
        cluster: &str,
        changed_file: impl Fn(&str, &str) -> Option<&'p str>,
    ) -> Vec<PlannedChange> {
        let own = self.parts.iter().flat_map(|(address, all)| all.iter().map(move |part| (address, part)));
        own.filter_map(|(address, part)| {
            let argument = match address.split('.').next() {
                Some("module") => "source",
                Some("helm_release") => "chart",
                _ => return None,
            };
            let text = part.text(None);
            let source = text_of(&text, argument).filter(|source| !is_local(source))?;
            let is_all = makes_nodes(source);
            let about = if argument == "source" { self.about_nodes(part) } else { BTreeSet::new() };
            let is_meant = |given: &Argument| is_all || about.contains(&given.name);
            let feed = match part.sides_with(is_meant) {
                [false, false] => None,
                _ if is_all => self.feed_of(part).or_else(|| self.read_by(part, &text, &changed_file)),
                _ if part.differs(|given| is_meant(given) || OF_SOURCE.contains(&given.name.as_str())) => {
                    Some(part.file)
                }
                _ => {
                    let text = part.text_of(is_meant);
                    let found = self.of_expression(&text, part.file).map(|(_, file)| file);
                    found.or_else(|| self.read_by(part, &text, &changed_file))
                }
            }?;
            let was_local = || {
                let old = part.sides[0].iter().flatten().find(|given| given.name == argument);
                old.and_then(|given| text_of(&given.text, argument)).is_some_and(is_local)
            };
            let change = match part.sides_with(is_meant) {
                [false, _] => ObjectChangeKind::Added,
                // The objects of the module in the input may come from the new source.
                [true, true] if was_local() => ObjectChangeKind::Added,
                [_, false] => ObjectChangeKind::Removed,
                _ => ObjectChangeKind::Changed,
            };
            let message = format!(
                "{feed} changes `{address}`, whose source `{source}` is not in the input; a plan of Terraform has its objects"
            );
            let effect = if change == ObjectChangeKind::Added { Effect::NewNodes } else { Effect::Unknown };
            Some(PlannedChange { effect, ..PlannedChange::of_file(cluster, change, (part.shown, part.line), message) })
        })
        .collect()
    }
}

/// Whether a file has values for variables.
fn has_variables(name: &str) -> bool {
    name.ends_with(VARIABLES) || name.ends_with(JSON)
}

/// The values that a file of variables gives, in HCL or in JSON.
fn given_by(file: &File) -> Vec<Part> {
    if !file.source.name().ends_with(JSON) {
        return variables(file.source.text());
    }
    let trees = file.trees();
    let part = |(name, value): (&str, Node<'_>)| {
        let line = file.source.position(value.span().start).line;
        let text = value.to_json().to_string();
        let argument = Argument { name: String::new(), line, text };
        Part { address: format!("var.{name}"), line, arguments: vec![argument] }
    };
    trees.flat_map(|tree| tree.root().members()).map(part).collect()
}

/// The parts that an expression in a folder refers to, each with the folder.
fn references_in(text: &str, folder: &str) -> Vec<(Reference, String)> {
    references(text).into_iter().map(|reference| (reference, folder.to_owned())).collect()
}

/// The parts of one address that a file in a folder refers to: the ones of the folder, else all.
pub(super) fn near<'a, 'p>(all: &'a [FedPart<'p>], folder: &str) -> Vec<&'a FedPart<'p>> {
    near_of(all.iter().collect(), folder)
}

/// The ones among some parts of one address: the ones of the folder, else all.
pub(super) fn near_of<'a, 'p>(all: Vec<&'a FedPart<'p>>, folder: &str) -> Vec<&'a FedPart<'p>> {
    let own: Vec<&FedPart<'p>> =
        all.iter().copied().filter(|part| is_within(part.folder(), folder)).collect();
    if own.is_empty() { all } else { own }
}

/// The text of an argument of a block.
pub(super) fn text_of<'b>(block: &'b str, argument: &str) -> Option<&'b str> {
    let text = block.lines().find_map(|line| line.strip_prefix(argument)?.trim_start().strip_prefix('='))?;
    text.trim().strip_prefix('"')?.split('"').next()
}

/// A text in small letters without what joins words.
fn plain(text: &str) -> String {
    text.to_ascii_lowercase().replace(['-', '_'], "")
}

/// Whether a module is in the input: it is evaluated.
pub(super) fn is_local(source: &str) -> bool {
    source.starts_with("./") || source.starts_with("../")
}

/// Whether the name of a source says that the module makes NodePools or EC2NodeClasses.
pub(super) fn makes_nodes(source: &str) -> bool {
    let name = plain(source);
    !is_for_karpenter(source) && !is_own_chart(source) && WORDS.iter().any(|word| name.contains(word))
}

/// Whether an argument describes NodePools or EC2NodeClasses, such as `karpenter_resources_helm_config` of the module `aws-ia/eks-data-addons`.
/// The labels of nodes do not.
///
/// Source: karpenter-resources.tf of aws-ia/terraform-aws-eks-data-addons.
pub(super) fn describes_nodes(text: &str) -> bool {
    let text = plain(&text.replace(labels::NODEPOOL, "").replace(labels::NODE_CLASS, ""));
    text.contains("karpenter") && DESCRIBING.iter().any(|word| text.contains(word))
}
