//! Keys and values of `karpwarden.yaml`.

use karpenter::api::KIND_SCHEMAS;
use karpenter::kubernetes;
use karpenter::release::Release;
use rule::registry::Registry;
use rule::settings::RuleLevel;
use rule::settings::keys::{ALL, EXCEPTION, OVERRIDDEN, SettingKey, SettingShape};

use super::suggestion::{Suggestion, SuggestionKind, ValueShape};
use super::{Question, names};
use crate::outline::EntryStep;

/// The key of an override that selects its files.
const PATHS: &str = "paths";

/// The newest minor version of Kubernetes to look up.
const MAX_KUBERNETES: u8 = 60;

/// The words of `karpwarden.yaml`.
pub(super) struct SettingsWords<'q>(pub(super) Question<'q>);

impl SettingsWords<'_> {
    pub(super) fn keys(&self, path: &[EntryStep<'_>]) -> Vec<Suggestion> {
        match path {
            [] => ALL.iter().enumerate().map(|(rank, key)| setting(key).ranked(rank)).collect(),
            [EntryStep::Key("rules")]
            | [EntryStep::Key("overrides"), EntryStep::Item(_), EntryStep::Key("rules")] => {
                let key =
                    |one: Suggestion| Suggestion { kind: SuggestionKind::Key(ValueShape::Scalar), ..one };
                rules(self.0.registry).into_iter().map(key).collect()
            }
            [EntryStep::Key("exceptions"), EntryStep::Item(_)] => {
                let key = |(name, description, is_required): &(&'static str, &str, bool)| {
                    let required = if *is_required { "required" } else { "" };
                    let key = Suggestion::key(*name, ValueShape::Scalar).detail(required);
                    key.documented(*description).ranked(usize::from(!is_required))
                };
                EXCEPTION.iter().map(key).collect()
            }
            [EntryStep::Key("overrides"), EntryStep::Item(_)] => {
                let paths = Suggestion::key(PATHS, ValueShape::List).detail("required").ranked(0);
                let own = ALL.iter().filter(|key| OVERRIDDEN.contains(&key.name));
                std::iter::once(paths).chain(own.map(setting)).collect()
            }
            _ => Vec::new(),
        }
    }

    pub(super) fn values(&self, path: &[EntryStep<'_>]) -> Vec<Suggestion> {
        let own = match path {
            [EntryStep::Key("overrides"), EntryStep::Item(_), own @ ..] => own,
            _ => path,
        };
        match own {
            [EntryStep::Key("rules"), EntryStep::Key(_)] => Suggestion::texts(RuleLevel::NAMES),
            [EntryStep::Key("exceptions"), EntryStep::Item(_), EntryStep::Key("rule")] => {
                rules(self.0.registry)
            }
            [EntryStep::Key("exceptions"), EntryStep::Item(_), EntryStep::Key("kind")] => {
                Suggestion::texts(KIND_SCHEMAS.map(|table| table.kind.name))
            }
            [EntryStep::Key("exceptions"), EntryStep::Item(_), EntryStep::Key("name")] => {
                names::of_all(&self.0.objects())
            }
            [EntryStep::Key("exceptions"), EntryStep::Item(_), EntryStep::Key("namespace")] => {
                names::of_namespaces(&self.0.objects())
            }
            [EntryStep::Key(name)] => {
                let key = ALL.iter().find(|key| key.name == *name);
                key.map_or_else(Vec::new, |key| values_of(key.shape))
            }
            _ => Vec::new(),
        }
    }
}

fn values_of(shape: SettingShape) -> Vec<Suggestion> {
    match shape {
        SettingShape::Releases => {
            let minors = Release::minors().rev().map(Release::name_of_minor);
            Suggestion::texts(minors.chain(["latest".to_owned()]))
        }
        SettingShape::Kubernetes => {
            let is_supported = |minor: &u8| {
                kubernetes::supporting(*minor).is_some_and(|releases| releases.contains(Release::NEWEST))
            };
            let minors = (0..MAX_KUBERNETES).rev().filter(is_supported);
            Suggestion::texts(minors.map(|minor| format!("1.{minor}")))
        }
        SettingShape::Boolean => Suggestion::booleans(),
        SettingShape::Automatic => {
            let auto = Suggestion::new(SuggestionKind::Text, "auto").detail("the default").ranked(0);
            std::iter::once(auto).chain(Suggestion::booleans()).collect()
        }
        SettingShape::Choice(words) => Suggestion::texts(words.iter().copied()),
        SettingShape::Text
        | SettingShape::Levels
        | SettingShape::Exceptions
        | SettingShape::Paths
        | SettingShape::Overrides => Vec::new(),
    }
}

fn setting(key: &SettingKey) -> Suggestion {
    let shape = match key.shape {
        SettingShape::Levels => ValueShape::Object,
        SettingShape::Exceptions | SettingShape::Overrides => ValueShape::ObjectList,
        SettingShape::Paths => ValueShape::List,
        _ => ValueShape::Scalar,
    };
    Suggestion::key(key.name, shape).detail(key.title).documented(key.description)
}

/// The rules and families, which a suppression or a setting may name.
pub(super) fn rules(registry: &Registry) -> Vec<Suggestion> {
    let families = registry.families().into_iter();
    let families =
        families.map(|family| Suggestion::new(SuggestionKind::Text, family).detail("family").ranked(2));
    let rules = registry.rules().map(|rule| {
        Suggestion::new(SuggestionKind::Rule, rule.name).detail(rule.family.name()).documented(rule.summary)
    });
    rules.chain(families).collect()
}
