//! Tests for every rule: its documentation is complete, its examples do what they claim, and its fix has the declared
//! kind.

use super::testing::{fixed, folder, report_of_clusters};
use super::{ADMISSION, KARPENTER_OBJECTS, REGISTRY, documentation};
use crate::check;
use answers::report::Report;
use karpenter::release::Release;
use karpenter::upgrade_path::UpgradePath;
use rule::finding::{CaughtBy, Family};
use rule::registry::Registry;
use rule::settings::{Date, Exception, RuleSelector, Settings, Target, kubernetes_minor};
use rule::{Fixes, On, Rule, Runs};
use std::collections::BTreeSet;

/// Returns the YAML blocks under a heading, each with its info string (the words that begin with `yaml`).
pub(super) fn blocks(markdown: &str, heading: &str) -> Vec<(String, String)> {
    let section = markdown.split("\n## ").map(|part| part.trim_start_matches("## "));
    let Some(section) = section.into_iter().find(|part| part.starts_with(heading)) else { return Vec::new() };
    let mut blocks = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in section.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(words)) if words.starts_with("yaml") => {
                open = Some((words.to_owned(), String::new()));
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some((_, text)), None) => {
                // Documentation abbreviates examples that are wrong because they are too long.
                let long = line.replace("... and 16 KiB more", &"x".repeat(16 << 10));
                text.push_str(&long);
                text.push('\n');
            }
            _ => {}
        }
    }
    blocks
}

/// Checks an example with one rule. With the word `clusters`, each document belongs to a different cluster; with the word `files`, each
/// document is a file, whose name is the comment in its first line.
pub(super) fn report(rule: &'static Rule, example: &str, words: &str) -> Report {
    if words.split(',').any(|word| word == "files") {
        let name = |text: &str| text.lines().next().unwrap().trim_start_matches("# ").to_owned();
        let files: Vec<_> = example.split("---\n").map(|text| (name(text), text)).collect();
        let files: Vec<_> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
        let settings = Settings { select: vec![RuleSelector::One(rule.names())], ..settings(words) };
        return check(&[folder(&files)], &settings);
    }
    let several = words.split(',').any(|word| word == "clusters");
    let texts: Vec<_> = if several { example.split("---\n").collect() } else { vec![example] };
    report_of_clusters(rule, &texts, &settings(words))
}

/// Parses settings from the words of a block: ```` ```yaml,karpenter=1.8,kubernetes=1.33,cluster=prod,complete,today=2027-04-01 ````.
pub(super) fn settings(words: &str) -> Settings {
    let mut settings = Settings::default();
    for word in words.split(',').skip(1) {
        match word.split_once('=').unwrap_or((word, "")) {
            ("karpenter", value) => settings.karpenter = Target::parse(value).unwrap(),
            ("from", value) => {
                let (from, to) = value.split_once(" to ").unwrap();
                let path = UpgradePath::new(Release::parse(from).unwrap(), Release::parse(to).unwrap());
                settings.karpenter = Target::on_upgrade(path);
            }
            ("kubernetes", value) => settings.kubernetes_minor = kubernetes_minor(value),
            ("cluster", value) => settings.cluster_name = Some(value.to_owned()),
            ("clusters" | "files", _) => {}
            ("complete", _) => settings.complete_inventory = true,
            ("today", value) => settings.today = Date::parse(value),
            ("except", value) => {
                let (rule, until) = value.split_once(" until ").unwrap_or((value, ""));
                settings.exceptions.push(Exception {
                    rule: RuleSelector::parse(rule, &REGISTRY).unwrap(),
                    kind: None,
                    namespace: None,
                    name: None,
                    reason: "accepted for now".to_owned(),
                    until: Date::parse(until),
                });
            }
            other => panic!("unknown word {other:?}"),
        }
    }
    settings
}

fn for_each(check: impl Fn(&'static Rule, &str)) {
    for rule in REGISTRY.rules() {
        check(rule, &documentation(rule));
    }
}

#[test]
fn rules_are_documented_under_the_same_headings() {
    for_each(|rule, text| {
        for heading in ["What it does", "Why it is bad", "Example", "Use instead", "References"] {
            assert!(text.contains(&format!("## {heading}\n")), "{}: no heading `{heading}`", rule.name);
        }
        let safety = text.contains("## Fix safety\n");
        assert_eq!(safety, rule.fix != Fixes::None, "{}: document `Fix safety` with a fix", rule.name);
        let summary = rule.summary;
        assert!(!summary.ends_with('.') && !summary.is_empty(), "{}", rule.name);
    });
}

#[test]
fn reports_bad_examples_and_no_good_ones() {
    for_each(|rule, text| {
        let bad = blocks(text, "Example");
        assert!(!bad.is_empty(), "{}: no example", rule.name);
        for (words, example) in bad {
            assert!(!report(rule, &example, &words).findings.is_empty(), "{}:\n{example}", rule.name);
        }
        for (words, example) in blocks(text, "Use instead") {
            let findings = report(rule, &example, &words).findings;
            assert!(findings.is_empty(), "{}: {findings:?}\n{example}", rule.name);
        }
    });
}

#[test]
fn safe_fixes_remove_findings_from_the_example() {
    for_each(|rule, text| {
        for (words, example) in blocks(text, "Example") {
            let before = report(rule, &example, &words).findings;
            assert!(
                rule.fix != Fixes::None || before.iter().all(|finding| finding.fix.is_none()),
                "{}",
                rule.name
            );
            let safe = before.iter().any(|finding| finding.fix.as_ref().is_some_and(|fix| fix.safe));
            assert!(rule.fix == Fixes::Safe || !safe, "{}: a safe fix that is not declared", rule.name);
            if safe {
                let fixed_text = fixed(rule, &example);
                let after = report(rule, &fixed_text, &words).findings;
                assert!(after.len() < before.len(), "{}:\n{fixed_text}", rule.name);
            }
        }
    });
}

#[test]
fn names_are_kebab_case_and_unique() {
    let mut names: Vec<_> = REGISTRY.rules().map(|rule| rule.name).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    for name in names {
        assert!(
            name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'),
            "{name}"
        );
    }
}

/// Whether an entry of `on` is an object that no admission request has.
fn is_in_files(on: &On) -> bool {
    matches!(on, On::IamPolicy | On::ChartValues | On::LocalValues | On::MetricQueries | On::Untyped)
}

#[test]
fn rules_about_objects_that_no_request_has_do_not_run_in_admission() {
    for rule in ADMISSION.rules() {
        assert!(!rule.on.iter().all(is_in_files), "{}: the rule needs files", rule.name);
    }
}

#[test]
fn rules_for_karpenters_own_files_read_karpenters_objects() {
    let on_karpenter_files = REGISTRY.rules().filter(|rule| rule.runs == Runs::OnKarpenterFiles);
    for rule in on_karpenter_files {
        assert!(KARPENTER_OBJECTS.find(rule.name).is_some(), "{}: the rule needs other files", rule.name);
    }
}

/// Older settings name the families `controller` and `identity`, which had these numbers of rules.
#[test]
fn former_families_still_select_their_rules() {
    for (family, count) in [("controller", 21), ("identity", 26)] {
        let selector = RuleSelector::parse(family, &ADMISSION).unwrap();
        let selected = REGISTRY.rules().filter(|rule| selector.selects(rule.names()));
        assert_eq!(selected.count(), count, "{family}");
    }
    let known = REGISTRY.families();
    assert_eq!(known.last(), Some(&"controller"));
    for rule in REGISTRY.rules() {
        assert!(rule.formerly.iter().all(|family| known.contains(family)), "{}", rule.name);
        assert!(!rule.formerly.contains(&rule.family.name()), "{}", rule.name);
    }
}

#[test]
fn every_registry_knows_the_names_of_all_rules() {
    let names = |registry: &Registry| registry.names().map(|rule| rule.name).collect::<BTreeSet<_>>();
    assert_eq!(names(&ADMISSION), names(&REGISTRY));
    assert_eq!(names(&KARPENTER_OBJECTS), names(&REGISTRY));
    assert_eq!(REGISTRY.left_out, []);
}

#[test]
fn only_named_rules_that_the_api_server_would_report_supersede_its_refusals() {
    for rule in REGISTRY.rules() {
        for name in rule.supersedes {
            let superseded =
                REGISTRY.find(name).unwrap_or_else(|| panic!("{}: there is no rule {name}", rule.name));
            assert_eq!(superseded.family, Family::ApiServer, "{}: {name}", rule.name);
        }
        let is_named = rule.family != Family::ApiServer;
        let reports_refusals = rule.caught_by == CaughtBy::ApiServer;
        assert!(!is_named || !reports_refusals || !rule.supersedes.is_empty(), "{}", rule.name);
    }
}
