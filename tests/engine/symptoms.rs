//! Names of symptoms and rules, which share a namespace.

use std::collections::BTreeSet;

use karpwarden::REGISTRY;

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
