//! The settings: the same keys in the policy, in the command line's config file and in the playground's form.
//!
//! They are read from a document with all their mistakes at once, so that nobody mends them one by one.

pub mod keys;
mod overrides;

use core::fmt;

pub use overrides::Override;
pub use values::calendar::Date;

use crate::finding::{Family, Severity, path_of};
use crate::rule::{Registry, Rule};
use karpenter::release::{Interval, Release, ReleaseSet};
use karpenter::upgrade_path::UpgradePath;
use manifest::source::Span;
use manifest::tree::{Node, Value};
use objects::object::Object;
use values::spelling::did_you_mean;

/// What the findings depend on besides the documents.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Settings {
    /// The Karpenter releases to check against.
    pub karpenter: Target,
    /// Somebody said which; otherwise a log may tell.
    pub karpenter_is_said: bool,
    /// The minor of Kubernetes 1.x, for what depends on it.
    pub kubernetes_minor: Option<u8>,
    /// The name of the cluster, where it is known.
    pub cluster_name: Option<String>,
    /// What is absent from the inventory is absent from the cluster.
    pub complete_inventory: bool,
    /// The level of a rule or of a whole family.
    pub levels: Vec<(Selector, Level)>,
    /// Where not empty, only these rules speak.
    pub select: Vec<Selector>,
    /// These rules do not speak.
    pub ignore: Vec<Selector>,
    /// Whether an author's annotation counts in the cluster.
    pub allow_ignore_annotation: bool,
    /// Whether the policy returns the object with the safe fixes.
    pub fix: bool,
    /// Findings that are accepted, each with its reason.
    pub exceptions: Vec<Exception>,
    /// Paths that a walk leaves out; the door that walks heeds them.
    pub exclude: Vec<String>,
    /// Settings for some files.
    pub overrides: Vec<Override>,
    /// Today, for exceptions that end: the engine reads no clock.
    pub today: Option<Date>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            karpenter: Target::only(Release::NEWEST),
            karpenter_is_said: false,
            kubernetes_minor: None,
            cluster_name: None,
            complete_inventory: false,
            levels: Vec::new(),
            select: Vec::new(),
            ignore: Vec::new(),
            allow_ignore_annotation: false,
            fix: false,
            exceptions: Vec::new(),
            exclude: Vec::new(),
            overrides: Vec::new(),
            today: None,
        }
    }
}

/// The releases to check against: one release, a range of releases, or an upgrade path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    first: Release,
    last: Release,
    upgrade_path: Option<UpgradePath>,
}

impl Target {
    /// One release.
    pub const fn only(release: Release) -> Self {
        Self { first: release, last: release, upgrade_path: None }
    }

    /// Parses `1.8`, `1.8.3` or a range such as `1.0..1.8`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        let first = Release::parse(first.trim()).map_err(|error| error.to_string())?;
        let last = Release::parse(last.trim()).map_err(|error| error.to_string())?;
        if first > last {
            return Err(format!("`{text}` runs backwards; write `{last}..{first}`"));
        }
        Ok(Self { first, last, upgrade_path: None })
    }

    /// Every release on an upgrade path, including its start. Only findings that begin on the path are reported.
    pub fn on_upgrade(path: UpgradePath) -> Self {
        let (from, to) = path.ends();
        Self { first: from.min(to), last: from.max(to), upgrade_path: Some(path) }
    }

    /// The upgrade path, if the check is about an upgrade.
    pub const fn upgrade_path(self) -> Option<UpgradePath> {
        self.upgrade_path
    }

    /// Whether the target is more than one release.
    pub fn is_range(self) -> bool {
        self.first != self.last
    }

    /// The first and the last release.
    pub fn ends(self) -> (Release, Release) {
        (self.first, self.last)
    }

    /// The releases, oldest first: the ends of a range, and the newest patch of each minor release between them.
    pub fn releases(self) -> impl Iterator<Item = Release> + Clone {
        let inner = Release::minors().filter(move |release| self.first < *release && *release < self.last);
        let last = self.is_range().then_some(self.last);
        core::iter::once(self.first).chain(inner).chain(last)
    }

    /// Whether one of the releases is in a set.
    pub fn meets(self, releases: impl AsRef<[Interval]>) -> bool {
        self.releases().any(|release| releases.as_ref().iter().any(|interval| interval.contains(release)))
    }

    /// Names some releases of the target as ranges of it: `1.0 to 1.8, 1.10`.
    ///
    /// The newest patch is named by its minor release unless the target has another patch of that minor release that is
    /// not in the set.
    pub fn ranges_of(self, set: &ReleaseSet) -> String {
        let releases: Vec<Release> = self.releases().collect();
        let name = |release: Release| {
            let mut of_minor = releases.iter().filter(|other| other.is_of_minor_of(release));
            if of_minor.all(|other| set.contains(*other)) {
                release.to_string()
            } else {
                release.name_of_patch()
            }
        };
        let ranges = releases.chunk_by(|one, other| set.contains(*one) == set.contains(*other));
        let ranges = ranges.filter_map(|range| match range {
            [first, ..] if !set.contains(*first) => None,
            [first, .., last] => Some(format!("{} to {}", name(*first), name(*last))),
            [only] => Some(name(*only)),
            [] => None,
        });
        ranges.collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = self.upgrade_path.map_or((self.first, self.last), UpgradePath::ends);
        if self.is_range() { write!(f, "{first}..{last}") } else { first.fmt(f) }
    }
}

/// A rule, a symptom or a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selector {
    /// One rule or symptom: its name and its family.
    One(&'static str, Family),
    /// All rules of a family.
    Family(Family),
}

impl Selector {
    /// Finds a rule, a symptom or a family by its name.
    pub fn parse(name: &str, registry: &Registry) -> Result<Self, String> {
        let families = Family::ALL.into_iter();
        let rules = registry.rules().map(|rule| rule.name);
        let symptoms = (registry.symptoms)().into_iter();
        if let Some(family) = families.clone().find(|family| family.name() == name) {
            return Ok(Self::Family(family));
        }
        if let Some(rule) = registry.find(name) {
            return Ok(Self::One(rule.name, rule.family));
        }
        if let Some(symptom) = symptoms.clone().find(|symptom| *symptom == name) {
            return Ok(Self::One(symptom, Family::Symptoms));
        }
        let names = rules.chain(families.map(Family::name)).chain(symptoms);
        Err(format!("there is no rule or family `{name}`{}", did_you_mean(name, names)))
    }

    /// The name of the rule, symptom or family.
    pub const fn name(self) -> &'static str {
        match self {
            Self::One(name, _) => name,
            Self::Family(family) => family.name(),
        }
    }

    /// Whether it selects the rule or symptom with this name in this family.
    pub fn selects(self, name: &str, family: Family) -> bool {
        match self {
            Self::One(one, _) => one == name,
            Self::Family(one) => one == family,
        }
    }

    /// Whether it selects a rule.
    pub fn takes(self, rule: &Rule) -> bool {
        self.selects(rule.name, rule.family)
    }
}

/// What the settings make of a rule's findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Errors; they reject in admission.
    Deny,
    /// Warnings.
    Warn,
    /// Infos.
    Info,
    /// None at all.
    Off,
}

impl Level {
    /// The names, strictest first.
    pub const NAMES: [&'static str; 4] = ["deny", "warn", "info", "off"];

    fn parse(name: &str) -> Option<Self> {
        match name {
            "deny" => Some(Self::Deny),
            "warn" => Some(Self::Warn),
            "info" => Some(Self::Info),
            "off" => Some(Self::Off),
            _ => None,
        }
    }
}

/// Findings that are accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// The rule or family.
    pub rule: Selector,
    /// The kind of object; any where absent.
    pub kind: Option<String>,
    /// The namespace; any where absent. `*` stands for any letters.
    pub namespace: Option<String>,
    /// The name; any where absent. `*` stands for any letters.
    pub name: Option<String>,
    /// Why.
    pub reason: String,
    /// The last day on which the exception holds.
    pub until: Option<Date>,
}

/// The names by which an exception finds an object that a diagnosis is about.
#[derive(Clone, Copy, Debug)]
pub struct ObjectName<'n> {
    /// The kind.
    pub kind: &'n str,
    /// The namespace; empty for a cluster-scoped object.
    pub namespace: &'n str,
    /// The name.
    pub name: &'n str,
}

impl Exception {
    /// Whether the exception is about this object.
    pub fn is_about(&self, object: Object<'_>) -> bool {
        let fits =
            |pattern: &Option<String>, text| pattern.as_deref().is_none_or(|pattern| glob(pattern, text));
        self.kind.as_deref().is_none_or(|wanted| wanted == object.kind())
            && fits(&self.namespace, object.namespace())
            && fits(&self.name, object.name())
    }

    /// Whether the exception covers findings of this rule on this object today.
    pub fn covers(&self, rule: &Rule, object: Object<'_>, today: Option<Date>) -> bool {
        self.holds(today) && self.rule.takes(rule) && self.is_about(object)
    }

    /// Whether the exception covers a diagnosis of these objects today.
    pub fn covers_symptom(&self, symptom: &str, objects: &[ObjectName<'_>], today: Option<Date>) -> bool {
        let fits = |pattern: &Option<String>, text: &str| {
            pattern.as_deref().is_none_or(|pattern| glob(pattern, text))
        };
        let is_about = |object: &ObjectName<'_>| {
            self.kind.as_deref().is_none_or(|kind| kind == object.kind)
                && fits(&self.namespace, object.namespace)
                && fits(&self.name, object.name)
        };
        let about_all = self.kind.is_none() && self.namespace.is_none() && self.name.is_none();
        self.holds(today)
            && self.rule.selects(symptom, Family::Symptoms)
            && (about_all || (!objects.is_empty() && objects.iter().all(is_about)))
    }

    fn holds(&self, today: Option<Date>) -> bool {
        self.until.is_none_or(|until| today.is_none_or(|today| today <= until))
    }
}

/// Whether a text fits a pattern in which `*` stands for any letters.
pub fn glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    true
}

/// A mistake in the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The key it is about, such as `rules.storage`; empty for the whole.
    pub path: String,
    /// What is wrong and what to write.
    pub message: String,
    /// Where it stands in the text.
    pub span: Span,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.path, self.message)
        }
    }
}

impl Settings {
    /// The keys of the settings.
    pub const KEYS: [&'static str; 10] = {
        let mut names = [""; 10];
        let mut index = 0;
        while index < names.len() {
            #[expect(clippy::indexing_slicing, reason = "the compiler evaluates it")]
            {
                names[index] = keys::ALL[index].name;
            }
            index += 1;
        }
        names
    };

    /// Reads settings, or says everything that is wrong with them. Absent and null keys keep their defaults.
    pub fn read(node: Node<'_>, registry: &Registry) -> Result<Self, Vec<Problem>> {
        let mut reader = Reader { root: node, registry, problems: Vec::new() };
        let mut settings = Self::default();
        if !node.is_null() && !node.is_mapping() {
            reader.problem(node, "the settings must be an object of keys and values");
        }
        for (key, value) in node.members() {
            if value.is_null() && Self::KEYS.contains(&key) {
                continue;
            }
            match key {
                "karpenterVersion" => {
                    settings.karpenter = reader.target(value).unwrap_or(settings.karpenter);
                    settings.karpenter_is_said = true;
                }
                "kubernetesVersion" => settings.kubernetes_minor = reader.kubernetes(value),
                "clusterName" => settings.cluster_name = reader.text(value).map(str::to_owned),
                "completeInventory" => settings.complete_inventory = reader.truth(value),
                "rules" => settings.levels = reader.levels(value),
                "allowIgnoreAnnotation" => settings.allow_ignore_annotation = reader.truth(value),
                "fix" => settings.fix = reader.truth(value),
                "exceptions" => settings.exceptions = reader.exceptions(value),
                "exclude" => settings.exclude = reader.texts(value),
                "overrides" => settings.overrides = reader.overrides(value),
                _ => reader.unknown(value, &Self::KEYS),
            }
        }
        if reader.problems.is_empty() { Ok(settings) } else { Err(reader.problems) }
    }

    /// The severity that a finding of a rule gets, given its own; `None` where the rule does not speak.
    pub fn severity(&self, rule: &Rule, own: Severity) -> Option<Severity> {
        if rule.upgrade_only && self.karpenter.upgrade_path().is_none() {
            return None;
        }
        self.severity_of(own, |selector| selector.takes(rule))
    }

    /// The severity that diagnoses of a symptom get, given their own; `None` where none is to be told.
    pub fn severity_of_symptom(&self, symptom: &str, own: Severity) -> Option<Severity> {
        self.severity_of(own, |selector| selector.selects(symptom, Family::Symptoms))
    }

    fn severity_of(&self, own: Severity, takes: impl Fn(Selector) -> bool) -> Option<Severity> {
        let chosen = |selectors: &[Selector]| selectors.iter().any(|selector| takes(*selector));
        if (!self.select.is_empty() && !chosen(&self.select)) || chosen(&self.ignore) {
            return None;
        }
        let of_family = |selector: &Selector| matches!(selector, Selector::Family(_));
        let level = self
            .levels
            .iter()
            .filter(|(selector, _)| takes(*selector))
            .max_by_key(|(selector, _)| !of_family(selector));
        match level.map(|(_, level)| *level) {
            None => Some(own),
            Some(Level::Deny) => Some(Severity::Error),
            Some(Level::Warn) => Some(Severity::Warning),
            Some(Level::Info) => Some(Severity::Info),
            Some(Level::Off) => None,
        }
    }

    /// Whether a rule can have findings at all.
    pub fn speaks(&self, rule: &Rule) -> bool {
        self.karpenter.meets(rule.releases) && self.severity(rule, rule.severity).is_some()
    }
}

struct Reader<'r, 'd> {
    root: Node<'d>,
    registry: &'r Registry,
    problems: Vec<Problem>,
}

impl<'d> Reader<'_, 'd> {
    fn problem(&mut self, node: Node<'d>, message: impl Into<String>) {
        let span = if node.is_mapping() || node.is_sequence() { node.key_span() } else { node.span() };
        self.problems.push(Problem { path: path_of(node, self.root), message: message.into(), span });
    }

    fn unknown(&mut self, value: Node<'d>, known: &[&'static str]) {
        let hint = did_you_mean(value.key(), known.iter().copied());
        let message = format!("unknown key{hint}; known are {}", known.join(", "));
        self.problems.push(Problem { path: path_of(value, self.root), message, span: value.key_span() });
    }

    fn text(&mut self, node: Node<'d>) -> Option<&'d str> {
        let text = node.as_str().filter(|text| !text.trim().is_empty());
        if text.is_none() {
            self.problem(node, "must be text that is not empty");
        }
        text
    }

    fn truth(&mut self, node: Node<'d>) -> bool {
        if node.as_bool().is_none() {
            self.problem(node, "must be true or false");
        }
        node.as_bool().unwrap_or_default()
    }

    /// A version. A number would do for most, but `1.10` as a number is `1.1`.
    fn version(&mut self, node: Node<'d>, example: &str) -> Option<&'d str> {
        if matches!(node.value(), Value::Int(_) | Value::Float(_)) {
            self.problem(node, format!("must be in quotes, such as \"{example}\": as a number, 1.10 is 1.1"));
            return None;
        }
        self.text(node)
    }

    fn target(&mut self, node: Node<'d>) -> Option<Target> {
        let text = self.version(node, "1.10")?;
        Target::parse(text).map_err(|message| self.problem(node, message)).ok()
    }

    fn kubernetes(&mut self, node: Node<'d>) -> Option<u8> {
        let text = self.version(node, "1.33")?;
        let minor = kubernetes_minor(text);
        if minor.is_none() {
            self.problem(node, format!("`{text}` is no Kubernetes version; write one such as 1.33"));
        }
        minor
    }

    fn levels(&mut self, node: Node<'d>) -> Vec<(Selector, Level)> {
        if !node.is_mapping() {
            self.problem(node, "must be an object from a rule or family to deny, warn, info or off");
        }
        let mut levels = Vec::new();
        for (name, value) in node.members() {
            // Without quotes, YAML makes a truth value of `off`.
            let level = if value.as_bool() == Some(false) {
                Some(Level::Off)
            } else {
                value.as_str().and_then(Level::parse)
            };
            if level.is_none() {
                let hint = value.as_str().map(|text| did_you_mean(text, Level::NAMES)).unwrap_or_default();
                self.problem(value, format!("must be one of deny, warn, info, off{hint}"));
            }
            match Selector::parse(name, self.registry) {
                Ok(selector) => levels.extend(level.map(|level| (selector, level))),
                Err(message) => {
                    self.problems.push(Problem {
                        path: path_of(value, self.root),
                        message,
                        span: value.key_span(),
                    });
                }
            }
        }
        levels
    }

    fn exceptions(&mut self, node: Node<'d>) -> Vec<Exception> {
        if !node.is_sequence() {
            self.problem(node, "must be a list of exceptions");
        }
        node.items().filter_map(|item| self.exception(item)).collect()
    }

    fn exception(&mut self, node: Node<'d>) -> Option<Exception> {
        const KEYS: [&str; 6] = ["rule", "kind", "namespace", "name", "reason", "until"];
        let mut rule = None;
        let (mut kind, mut namespace, mut name, mut reason, mut until) = (None, None, None, None, None);
        if !node.is_mapping() {
            self.problem(node, "must be an object with rule and reason");
            return None;
        }
        for (key, value) in node.members() {
            match key {
                "rule" => {
                    let text = self.text(value);
                    let parsed = text.map(|text| Selector::parse(text, self.registry));
                    rule =
                        parsed.and_then(|parsed| parsed.map_err(|message| self.problem(value, message)).ok());
                }
                "kind" => kind = self.text(value).map(str::to_owned),
                "namespace" => namespace = self.text(value).map(str::to_owned),
                "name" => name = self.text(value).map(str::to_owned),
                "reason" => reason = self.text(value).map(str::to_owned),
                "until" => {
                    until = value.as_str().and_then(Date::parse);
                    if until.is_none() {
                        self.problem(value, "must be a day such as 2027-03-31");
                    }
                }
                _ => self.unknown(value, &KEYS),
            }
        }
        for key in ["rule", "reason"] {
            if node.get(key).is_none() {
                self.problem(node, format!("`{key}` is missing"));
            }
        }
        Some(Exception { rule: rule?, kind, namespace, name, reason: reason?, until })
    }
}

/// The minor of a Kubernetes version such as `1.33`, `v1.33.2` or `1.33.2-eks-1234567`.
pub fn kubernetes_minor(text: &str) -> Option<u8> {
    let rest = text.strip_prefix('v').unwrap_or(text).strip_prefix("1.")?;
    let minor = rest.split(['.', '-', '+']).next()?;
    minor.parse().ok()
}

#[cfg(test)]
mod tests;
