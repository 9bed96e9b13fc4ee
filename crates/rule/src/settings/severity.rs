//! Severities that the settings give to findings and diagnoses.

use super::Settings;
use super::selector::{RuleLevel, RuleSelector};
use crate::classification::Severity;
use crate::{Rule, RuleNames, Runs};

impl Settings {
    /// Severity of a finding of a rule under these settings, from the finding's own severity; `None` if the rule is off.
    pub fn severity(&self, rule: &Rule, own: Severity) -> Option<Severity> {
        if rule.runs == Runs::OnUpgrade && self.karpenter.upgrade_path().is_none() {
            return None;
        }
        if rule.opt_in && !self.opts_in(rule) {
            return None;
        }
        self.severity_of(own, rule.names())
    }

    /// Whether the settings select the rule: with `--select`, or with a level under its name.
    pub fn opts_in(&self, rule: &Rule) -> bool {
        let gives_level = |(selector, _): &(RuleSelector, RuleLevel)| selector.name() == rule.name;
        self.select.iter().any(|selector| selector.selects(rule.names()))
            || self.levels.iter().any(gives_level)
    }

    /// Severity of a diagnosis under these settings, from the diagnosis' own severity; `None` if the symptom is off.
    pub fn severity_of_symptom(&self, symptom: &'static str, own: Severity) -> Option<Severity> {
        self.severity_of(own, RuleNames::of_symptom(symptom))
    }

    fn severity_of(&self, own: Severity, names: RuleNames) -> Option<Severity> {
        let chosen = |selectors: &[RuleSelector]| selectors.iter().any(|selector| selector.selects(names));
        if (!self.select.is_empty() && !chosen(&self.select)) || chosen(&self.ignore) {
            return None;
        }
        let level = self
            .levels
            .iter()
            .filter(|(selector, _)| selector.selects(names))
            .max_by_key(|(selector, _)| selector.precedence(names));
        match level.map(|(_, level)| *level) {
            None => Some(own),
            Some(RuleLevel::Deny) => Some(Severity::Error),
            Some(RuleLevel::Warn) => Some(Severity::Warning),
            Some(RuleLevel::Info) => Some(Severity::Info),
            Some(RuleLevel::Off) => None,
        }
    }

    /// Whether a rule can report findings under these settings.
    pub fn enables(&self, rule: &Rule) -> bool {
        self.karpenter.meets(rule.releases) && self.severity(rule, rule.severity).is_some()
    }
}
