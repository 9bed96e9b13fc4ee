//! Names of symptoms and rules, which share a namespace.

use std::collections::BTreeSet;

use karpwarden::rule::RuleNames;
use karpwarden::rule::settings::RuleSelector;
use karpwarden::{REGISTRY, REGISTRY_WITH_SYMPTOMS};

#[test]
fn symptoms_and_rules_have_distinct_names() {
    let mut names: BTreeSet<&str> = REGISTRY.rules().map(|rule| rule.name).collect();
    for symptom in symptoms::all() {
        assert!(names.insert(symptom.name), "{}", symptom.name);
    }
}

#[test]
fn symptoms_refer_to_rules_that_exist() {
    for symptom in symptoms::all() {
        for rule in symptom.rules {
            assert!(REGISTRY.find(rule).is_some(), "{}: there is no rule {rule}", symptom.name);
        }
    }
}

#[test]
fn settings_can_name_a_symptom_where_it_can_occur() {
    for symptom in symptoms::all() {
        let selector = RuleSelector::parse(symptom.name, &REGISTRY_WITH_SYMPTOMS);
        assert_eq!(selector, Ok(RuleSelector::One(RuleNames::of_symptom(symptom.name))));
        assert!(RuleSelector::parse(symptom.name, &REGISTRY).is_err(), "{}", symptom.name);
    }
}
