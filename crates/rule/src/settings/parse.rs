//! The parser of the settings. It returns all problems together, so that an author can correct them in one pass.

use std::collections::BTreeSet;

use manifest::source::Span;
use manifest::tree::{Node, Tree, Value};
use manifest::{Document, File};
use objects::location::path_of;
use values::calendar::Date;
use values::spelling::{did_you_mean, did_you_mean_name};

use super::exception::Exception;
use super::keys::{self, OVERRIDDEN, SettingScope};
use super::overrides::Override;
use super::problem::SettingsProblem;
use super::selector::{RuleLevel, RuleSelector, UnknownName};
use super::target::Target;
use super::{LookUps, OnExceededBound, Settings, kubernetes_minor};
use crate::RuleNames;
use crate::classification::Family;
use crate::registry::Registry;

impl Settings {
    /// Parses a settings file, which must have at most one document. An empty file gives the defaults.
    pub fn parse_file(file: &File, registry: &Registry) -> Result<Self, Vec<SettingsProblem>> {
        let tree = Self::document(file).map_err(|problem| vec![problem])?;
        tree.map_or_else(|| Ok(Self::default()), |tree| Self::parse(tree.root(), registry))
    }

    /// Returns the document of a settings file; `None` if the file is empty.
    pub fn document(file: &File) -> Result<Option<&Tree>, SettingsProblem> {
        let problem = |span, message: &str| {
            Err(SettingsProblem { path: String::new(), message: message.to_owned(), span })
        };
        let character_at = |at| Span::new(at, file.source.text().ceil_char_boundary(at + 1).max(at));
        match file.documents.as_slice() {
            [] => Ok(None),
            [Document::Read(tree)] => Ok(Some(tree)),
            [Document::Unreadable { at, error }] => problem(character_at(*at), &error.to_string()),
            [Document::Template(span)] => problem(*span, "the settings are a template; render it first"),
            [
                Document::Script(span)
                | Document::Deleted(span)
                | Document::Unevaluated { span, .. }
                | Document::Absent { span, .. },
            ] => problem(*span, "the settings are a script; write YAML"),
            [_, second, ..] => {
                problem(character_at(second.start()), "the settings must be a single YAML document")
            }
        }
    }

    /// Parses the settings of the policy, which has no settings of the command line.
    pub fn parse_policy(node: Node<'_>, registry: &Registry) -> Result<Self, Vec<SettingsProblem>> {
        let known: Vec<_> = keys::of_policy().map(|key| key.name).collect();
        let settings = Self::parse_keys(node, registry, &known)?;
        let is_default = |key: &str| match key {
            "exclude" => settings.exclude.is_empty(),
            "overrides" => settings.overrides.is_empty(),
            "render" => !settings.render,
            _ => true,
        };
        let terminal = keys::ALL.iter().filter(|key| key.scope == SettingScope::Terminal);
        let problems: Vec<_> = terminal
            .filter(|key| !is_default(key.name))
            .map(|key| SettingsProblem {
                path: key.name.to_owned(),
                message:
                    "works only on the command line; restrict the policy with its rules and selectors instead"
                        .to_owned(),
                span: node.get(key.name).map_or_else(|| node.span(), Node::key_span),
            })
            .collect();
        if problems.is_empty() { Ok(settings) } else { Err(problems) }
    }

    /// Parses settings. Absent and null keys keep their defaults.
    pub fn parse(node: Node<'_>, registry: &Registry) -> Result<Self, Vec<SettingsProblem>> {
        Self::parse_keys(node, registry, &keys::NAMES)
    }

    /// Parses settings. `known` are the keys that the message about an unknown key lists.
    fn parse_keys(
        node: Node<'_>,
        registry: &Registry,
        known: &[&'static str],
    ) -> Result<Self, Vec<SettingsProblem>> {
        let mut parser =
            SettingsParser { root: node, registry, problems: Vec::new(), unknown_releases: Vec::new() };
        let mut settings = Self::default();
        if !node.is_null() && !node.is_mapping() {
            parser.problem(node, "the settings must be an object of keys and values");
        }
        for (key, value) in node.members() {
            if value.is_null() && keys::NAMES.contains(&key) {
                continue;
            }
            match key {
                "karpenterVersion" => {
                    settings.karpenter = parser.target(value).unwrap_or(settings.karpenter);
                    settings.is_karpenter_version_set = true;
                }
                "kubernetesVersion" => settings.kubernetes_minor = parser.kubernetes_minor(value),
                "clusterName" => settings.cluster_name = parser.text(value).map(str::to_owned),
                "completeInventory" => settings.complete_inventory = parser.boolean(value),
                "rules" => settings.levels = parser.levels(value),
                "allowIgnoreAnnotation" => settings.allow_ignore_annotation = parser.boolean(value),
                "fix" => settings.fix = parser.boolean(value),
                "announceErrors" => {
                    settings.announce_errors = parser.automatic(value).unwrap_or(settings.announce_errors);
                }
                "strictUpdates" => settings.strict_updates = parser.boolean(value),
                "context" => {
                    let chosen = parser.choice(value, LookUps::parse, LookUps::NAMES);
                    settings.look_ups = chosen.unwrap_or(settings.look_ups);
                }
                "onExceededBound" => {
                    let chosen = parser.choice(value, OnExceededBound::parse, OnExceededBound::NAMES);
                    settings.on_exceeded_bound = chosen.unwrap_or(settings.on_exceeded_bound);
                }
                "exceptions" => settings.exceptions = parser.exceptions(value),
                "exclude" => settings.exclude = parser.texts(value),
                "render" => settings.render = parser.boolean(value),
                "overrides" => settings.overrides = parser.overrides(value),
                _ => parser.unknown_key(value, known),
            }
        }
        settings.unknown_releases = parser.unknown_releases;
        if parser.problems.is_empty() { Ok(settings) } else { Err(parser.problems) }
    }
}

impl RuleSelector {
    /// Finds a rule, a symptom or a family by its name, or `all`, which selects every rule.
    pub fn parse_selection(name: &str, registry: &Registry) -> Result<Self, UnknownName> {
        if name == Self::All.name() { Ok(Self::All) } else { Self::parse(name, registry) }
    }

    /// Finds a rule, a symptom or a family by its name.
    pub fn parse(name: &str, registry: &Registry) -> Result<Self, UnknownName> {
        let families = registry.families();
        let symptoms = (registry.symptoms)().into_iter().map(RuleNames::of_symptom);
        let rules = registry.names().chain(symptoms);
        if let Some(family) = families.iter().find(|family| **family == name) {
            return Ok(Self::Family(family));
        }
        if let Some(rule) = rules.clone().find(|rule| rule.name == name) {
            return Ok(Self::One(rule));
        }
        // Sorted, so that every program suggests the same name. A family that exists no longer is no suggestion.
        let names: BTreeSet<&str> =
            rules.map(|rule| rule.name).chain(Family::ALL.map(Family::name)).collect();
        Err(UnknownName { name: name.to_owned(), hint: did_you_mean_name(name, names.iter().copied()) })
    }
}

struct SettingsParser<'r, 'd> {
    root: Node<'d>,
    registry: &'r Registry,
    problems: Vec<SettingsProblem>,
    unknown_releases: Vec<String>,
}

impl<'d> SettingsParser<'_, 'd> {
    fn problem(&mut self, node: Node<'d>, message: impl Into<String>) {
        let span = if node.is_mapping() || node.is_sequence() { node.key_span() } else { node.span() };
        self.problems.push(SettingsProblem { path: path_of(node, self.root), message: message.into(), span });
    }

    fn unknown_key(&mut self, value: Node<'d>, known: &[&'static str]) {
        let hint = did_you_mean(value.key(), known.iter().copied());
        let message = format!("unknown key{hint}; the known keys are {}", known.join(", "));
        self.problems.push(SettingsProblem {
            path: path_of(value, self.root),
            message,
            span: value.key_span(),
        });
    }

    fn text(&mut self, node: Node<'d>) -> Option<&'d str> {
        let text = node.as_str().filter(|text| !text.trim().is_empty());
        if text.is_none() {
            self.problem(node, "must be a string that is not empty");
        }
        text
    }

    fn boolean(&mut self, node: Node<'d>) -> bool {
        if node.as_bool().is_none() {
            self.problem(node, "must be true or false");
        }
        node.as_bool().unwrap_or_default()
    }

    /// Parses a boolean or `auto`, which is `None`. The form in Rancher sends every choice as a string.
    fn automatic(&mut self, node: Node<'d>) -> Option<bool> {
        match (node.as_bool(), node.as_str()) {
            (Some(choice), _) => Some(choice),
            (_, Some("true")) => Some(true),
            (_, Some("false")) => Some(false),
            (_, Some("auto")) => None,
            _ => {
                self.problem(node, "must be auto, true or false");
                None
            }
        }
    }

    fn choice<T>(
        &mut self,
        node: Node<'d>,
        parse: impl FnOnce(&str) -> Option<T>,
        names: [&'static str; 3],
    ) -> Option<T> {
        let chosen = node.as_str().and_then(parse);
        if chosen.is_none() {
            let hint = node.as_str().map(|text| did_you_mean(text, names)).unwrap_or_default();
            self.problem(node, format!("must be one of {}{hint}", names.join(", ")));
        }
        chosen
    }

    /// Parses a version. Numbers are not accepted, because YAML reads `1.10` as the number 1.1.
    fn version(&mut self, node: Node<'d>, example: &str) -> Option<&'d str> {
        if matches!(node.value(), Value::Int(_) | Value::Float(_)) {
            self.problem(
                node,
                format!("must be in quotes, such as \"{example}\": YAML reads 1.10 as the number 1.1"),
            );
            return None;
        }
        self.text(node)
    }

    fn target(&mut self, node: Node<'d>) -> Option<Target> {
        let text = self.version(node, "1.10")?;
        match Target::parse_with_notes(text) {
            Ok((target, notes)) => {
                let path = path_of(node, self.root);
                self.unknown_releases.extend(notes.into_iter().map(|note| format!("{path}: {note}")));
                Some(target)
            }
            Err(error) => {
                self.problem(node, error.to_string());
                None
            }
        }
    }

    fn kubernetes_minor(&mut self, node: Node<'d>) -> Option<u8> {
        let text = self.version(node, "1.33")?;
        let minor = kubernetes_minor(text);
        if minor.is_none() {
            self.problem(node, format!("`{text}` is not a Kubernetes version; write a version such as 1.33"));
        }
        minor
    }

    fn levels(&mut self, node: Node<'d>) -> Vec<(RuleSelector, RuleLevel)> {
        if !node.is_mapping() {
            self.problem(node, "must be an object whose keys are rules or families and whose values are deny, warn, info or off");
        }
        let mut levels = Vec::new();
        for (name, value) in node.members() {
            // YAML 1.1 reads `off` without quotes as `false`.
            let level = if value.as_bool() == Some(false) {
                Some(RuleLevel::Off)
            } else {
                value.as_str().and_then(RuleLevel::parse)
            };
            if level.is_none() {
                let hint =
                    value.as_str().map(|text| did_you_mean(text, RuleLevel::NAMES)).unwrap_or_default();
                self.problem(value, format!("must be one of deny, warn, info, off{hint}"));
            }
            match RuleSelector::parse(name, self.registry) {
                Ok(selector) => levels.extend(level.map(|level| (selector, level))),
                Err(error) => {
                    self.problems.push(SettingsProblem {
                        path: path_of(value, self.root),
                        message: error.to_string(),
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
            self.problem(node, "must be an object with `rule` and `reason`");
            return None;
        }
        for (key, value) in node.members() {
            match key {
                "rule" => {
                    let text = self.text(value);
                    let parsed = text.map(|text| RuleSelector::parse(text, self.registry));
                    rule = parsed.and_then(|parsed| {
                        parsed.map_err(|error| self.problem(value, error.to_string())).ok()
                    });
                }
                "kind" => kind = self.text(value).map(str::to_owned),
                "namespace" => namespace = self.text(value).map(str::to_owned),
                "name" => name = self.text(value).map(str::to_owned),
                "reason" => reason = self.text(value).map(str::to_owned),
                "until" => {
                    until = value.as_str().and_then(Date::parse);
                    if until.is_none() {
                        self.problem(value, "must be a date such as 2027-03-31");
                    }
                }
                _ => self.unknown_key(value, &KEYS),
            }
        }
        for key in ["rule", "reason"] {
            if node.get(key).is_none() {
                self.problem(node, format!("`{key}` is missing"));
            }
        }
        Some(Exception { rule: rule?, kind, namespace, name, reason: reason?, until })
    }

    /// Parses a list of texts.
    fn texts(&mut self, node: Node<'d>) -> Vec<String> {
        if !node.is_sequence() {
            self.problem(node, "must be a list");
        }
        node.items().filter_map(|item| self.text(item).map(str::to_owned)).collect()
    }

    fn overrides(&mut self, node: Node<'d>) -> Vec<Override> {
        if !node.is_sequence() {
            self.problem(node, "must be a list of objects with `paths` and settings");
        }
        node.items().map(|item| self.single_override(item)).collect()
    }

    fn single_override(&mut self, node: Node<'d>) -> Override {
        let mut result = Override::default();
        if node.get("paths").is_none() {
            self.problem(node, "`paths` is missing");
        }
        for (key, value) in node.members() {
            match key {
                "paths" => result.paths = self.texts(value),
                "karpenterVersion" => result.karpenter = self.target(value),
                "kubernetesVersion" => result.kubernetes_minor = self.kubernetes_minor(value),
                "clusterName" => result.cluster_name = self.text(value).map(str::to_owned),
                "rules" => result.levels = self.levels(value),
                _ => {
                    let [a, b, c, d] = OVERRIDDEN;
                    self.unknown_key(value, &["paths", a, b, c, d]);
                }
            }
        }
        result
    }
}
