//! Tests of the settings parser.

use super::exception::glob;
use super::*;
use crate::Rule;
use crate::classification::{Family, Severity};
use crate::testing::LEFT_OUT;
use karpenter::release::Releases;
use manifest::limits::Limits;
use manifest::{Document, File};

fn read(text: &str) -> Result<Settings, Vec<String>> {
    let file = File::read("karpwarden.yaml", text, &Limits::DEFAULT);
    let Some(Document::Read(tree)) = file.documents.first() else { panic!("{:?}", file.documents) };
    Settings::parse(tree.root(), &crate::testing::REGISTRY)
        .map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

#[test]
fn empty_settings_are_the_defaults() {
    assert_eq!(read("{}"), Ok(Settings::default()));
    assert_eq!(read("karpenterVersion: null\nrules:\n"), Ok(Settings::default()));
}

#[test]
fn settings_may_name_a_rule_that_the_program_leaves_out() {
    let settings = read("rules: {left-out: deny}\n").unwrap();
    assert_eq!(settings.levels, [(RuleSelector::One(LEFT_OUT), RuleLevel::Deny)]);
}

#[test]
fn former_family_selects_its_rules_before_their_present_family() {
    let rule = Rule {
        name: "left-out",
        family: Family::Labels,
        formerly: LEFT_OUT.formerly,
        severity: Severity::Error,
        ..Rule::DEFAULTS
    };
    for (levels, expected) in [
        ("former-family: warn", Severity::Warning),
        ("former-family: warn, labels: info", Severity::Warning),
        ("labels: info, former-family: warn", Severity::Warning),
        ("labels: info", Severity::Info),
        ("left-out: deny, former-family: warn", Severity::Error),
        ("nodeclass: warn", Severity::Error),
    ] {
        let settings = read(&format!("rules: {{{levels}}}\n")).unwrap();
        assert_eq!(settings.severity(&rule, rule.severity), Some(expected), "{levels}");
    }
}

#[test]
fn reports_all_problems_together() {
    let text = r"karpenterVersion: 1.10
kubernetesVersion: latest
clusterName: ''
clustername: x
rules: {storage: deny, no-such: warn, labels: loud}
fix: yes please
announceErrors: maybe
context: pool
exceptions: [{rule: no-such-rule}, {rule: labels, reason: r, until: 2027-02-30, why: x}]
";
    insta::assert_snapshot!(read(text).unwrap_err().join("\n"), @r#"
    karpenterVersion: must be in quotes, such as "1.10": YAML reads 1.10 as the number 1.1
    kubernetesVersion: `latest` is not a Kubernetes version; write a version such as 1.33
    clusterName: must be a string that is not empty
    clustername: unknown key (did you mean `clusterName`?); the known keys are karpenterVersion, kubernetesVersion, clusterName, completeInventory, rules, allowIgnoreAnnotation, fix, announceErrors, strictUpdates, context, onExceededBound, exceptions, exclude, render, overrides
    rules.no-such: there is no rule or family `no-such`
    rules.labels: must be one of deny, warn, info, off
    fix: must be true or false
    announceErrors: must be auto, true or false
    context: must be one of all, pools, none (did you mean `pools`?)
    exceptions[0].rule: there is no rule or family `no-such-rule`
    exceptions[0]: `reason` is missing
    exceptions[1].until: must be a date such as 2027-03-31
    exceptions[1].why: unknown key; the known keys are rule, kind, namespace, name, reason, until
    "#);
}

#[test]
fn a_mistake_at_the_end_of_the_text_has_a_place_in_the_text() {
    for bytes in [&b"rules: \xff"[..], b"a: [", "é: [\n".as_bytes(), b"a: 1\n---\n\xff"] {
        let file = File::from_bytes("karpwarden.yaml", bytes.to_vec(), &Limits::DEFAULT);
        let problems = Settings::parse_file(&file, &crate::testing::REGISTRY).unwrap_err();
        let text = file.source.text();
        assert!(problems.iter().all(|one| text.get(one.span.start..one.span.end).is_some()), "{problems:?}");
    }
}

#[test]
fn errors_are_announced_unless_the_settings_say_false() {
    for (value, is_announced) in [
        ("auto", true),
        ("true", true),
        ("false", false),
        ("'true'", true),
        ("'false'", false),
        ("null", true),
    ] {
        let settings = read(&format!("announceErrors: {value}\n")).unwrap();
        assert_eq!(settings.announce_errors, is_announced, "{value}");
    }
}

#[test]
fn unknown_release_means_the_nearest_known_one_and_is_remarked_on() {
    let settings =
        read("karpenterVersion: '1.8.99'\noverrides: [{paths: [a], karpenterVersion: 1.0..1.99}]\n").unwrap();
    assert_eq!(settings.karpenter, Target::parse("1.8").unwrap());
    let newest = Release::NEWEST;
    assert_eq!(settings.overrides[0].karpenter, Target::parse(&format!("1.0..{newest}")).ok());
    assert_eq!(
        settings.unknown_releases,
        [
            "karpenterVersion: 1.8.99 is not known; checked as 1.8.8, its newest known patch".to_owned(),
            format!(
                "overrides[0].karpenterVersion: 1.99 is not known; checked as {newest}, the newest known release"
            ),
        ]
    );
    assert!(read("karpenterVersion: '1.8.3'\n").unwrap().unknown_releases.is_empty());
}

#[test]
fn rejects_a_text_that_is_no_release() {
    for version in ["0.37", "v1beta1", "newest", "1.0..2.0"] {
        assert!(read(&format!("karpenterVersion: '{version}'\n")).is_err(), "{version}");
    }
}

#[test]
fn ranges_have_the_newest_patch_of_each_minor_release() {
    let target = Target::parse("1.0.3..1.2").unwrap();
    let releases: Vec<_> = target.releases().map(|release| release.to_string()).collect();
    assert_eq!(releases, ["1.0.3", "1.0", "1.1", "1.2"]);
    assert_eq!(target.to_string(), "1.0.3..1.2");
    assert!(Target::parse("1.8..1.2").unwrap_err().to_string().contains("backwards"));
}

#[test]
fn names_releases_of_a_target_as_ranges() {
    let target = Target::parse("1.0.3..1.4").unwrap();
    let ranges = |releases: Releases| target.ranges_of(&releases.set());
    assert_eq!(ranges(Releases::ALL), "1.0.3 to 1.4");
    assert_eq!(ranges(Releases::NONE), "");
    assert_eq!(ranges(Releases::since_patch(0, 9)), "1.0.14 to 1.4");
    assert_eq!(target.ranges_of(&Releases::between(1, 2).or(Releases::since(4))), "1.1 to 1.2, 1.4");
}

#[test]
fn globs_match_whole_names() {
    for (pattern, text, fits) in [
        ("legacy-*", "legacy-a", true),
        ("legacy-*", "my-legacy-a", false),
        ("*", "", true),
        ("a*b*c", "aXbYc", true),
        ("a*b*c", "acb", false),
        ("gp2", "gp2", true),
        ("gp2", "gp22", false),
        ("*a", "aba", true),
    ] {
        assert_eq!(glob(pattern, text), fits, "{pattern} {text}");
    }
}

#[test]
fn rule_that_is_off_by_default_runs_where_it_is_selected() {
    let rule = Rule { name: "left-out", family: Family::Labels, opt_in: true, ..Rule::DEFAULTS };
    let severity = |settings: &Settings| settings.severity(&rule, Severity::Info);
    assert_eq!(severity(&Settings::default()), None);
    assert_eq!(severity(&read("rules: {labels: warn}\n").unwrap()), None);
    assert_eq!(severity(&read("rules: {left-out: warn}\n").unwrap()), Some(Severity::Warning));
    for name in ["all", "labels", "left-out"] {
        let select = vec![RuleSelector::parse_selection(name, &crate::testing::REGISTRY).unwrap()];
        assert_eq!(severity(&Settings { select, ..Settings::default() }), Some(Severity::Info), "{name}");
    }
    let select = vec![RuleSelector::Family("storage")];
    assert_eq!(severity(&Settings { select, ..Settings::default() }), None);
}

#[test]
fn reads_every_key() {
    let text = "\
karpenterVersion: '1.8'
kubernetesVersion: '1.33'
clusterName: prod
completeInventory: true
rules: {nodeclass: deny, storage: warn, labels: info, left-out: 'off'}
allowIgnoreAnnotation: true
fix: true
announceErrors: false
strictUpdates: true
context: pools
onExceededBound: warn
exceptions: [{rule: labels, kind: NodePool, namespace: a, name: b, reason: c, until: 2027-03-31}]
exclude: [vendor/]
overrides: [{paths: [a/], karpenterVersion: '1.7', kubernetesVersion: '1.32', clusterName: dev, rules: {labels: warn}}]
";
    let exception = Exception {
        rule: RuleSelector::Family("labels"),
        kind: Some("NodePool".to_owned()),
        namespace: Some("a".to_owned()),
        name: Some("b".to_owned()),
        reason: "c".to_owned(),
        until: Date::parse("2027-03-31"),
    };
    let overriding = Override {
        paths: vec!["a/".to_owned()],
        files: Vec::new(),
        karpenter: Target::parse("1.7").ok(),
        kubernetes_minor: Some(32),
        cluster_name: Some("dev".to_owned()),
        levels: vec![(RuleSelector::Family("labels"), RuleLevel::Warn)],
    };
    let settings = Settings {
        karpenter: Target::parse("1.8").unwrap(),
        is_karpenter_version_set: true,
        kubernetes_minor: Some(33),
        cluster_name: Some("prod".to_owned()),
        complete_inventory: true,
        levels: vec![
            (RuleSelector::Family("nodeclass"), RuleLevel::Deny),
            (RuleSelector::Family("storage"), RuleLevel::Warn),
            (RuleSelector::Family("labels"), RuleLevel::Info),
            (RuleSelector::One(LEFT_OUT), RuleLevel::Off),
        ],
        allow_ignore_annotation: true,
        fix: true,
        announce_errors: false,
        strict_updates: true,
        look_ups: LookUps::Pools,
        on_exceeded_bound: OnExceededBound::Warn,
        exceptions: vec![exception],
        exclude: vec!["vendor/".to_owned()],
        overrides: vec![overriding],
        ..Settings::default()
    };
    assert_eq!(read(text), Ok(settings));
}

#[test]
fn context_names_the_objects_to_look_up() {
    for (name, look_ups) in [("all", LookUps::All), ("pools", LookUps::Pools), ("none", LookUps::None)] {
        assert_eq!(read(&format!("context: {name}\n")).unwrap().look_ups, look_ups, "{name}");
    }
}

#[test]
fn settings_are_an_object_or_nothing() {
    assert_eq!(read("null\n"), Ok(Settings::default()));
    for text in ["- fix: true\n", "fix\n"] {
        let problems = read(text).unwrap_err();
        assert_eq!(problems, ["the settings must be an object of keys and values"], "{text}");
    }
}

#[test]
fn policy_refuses_keys_of_the_command_line() {
    let problems = |text: &str| {
        let tree = crate::testing::tree(text);
        let problems =
            Settings::parse_policy(tree.root(), &crate::testing::REGISTRY).err().unwrap_or_default();
        problems.into_iter().map(|problem| problem.path).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(problems("fix: true\nexclude: [vendor/]\n"), "exclude");
    assert_eq!(problems("fix: true\noverrides: [{paths: [a/]}]\n"), "overrides");
    assert_eq!(problems("fix: true\nrender: true\n"), "render");
    assert_eq!(problems("fix: true\nexclude: []\noverrides: []\nrender: false\n"), "");
}

#[test]
fn problem_marks_a_value_or_the_key_of_an_object_or_a_character() {
    for (text, expected) in [
        ("fix: maybe\n", "maybe"),
        ("fix: {a: 1}\n", "fix"),
        ("fix: [a]\n", "fix"),
        ("fix: true\n---\nrules: {}\n", "r"),
        ("fix: true\n--- é\n", "é"),
        ("fix: [\n", "["),
        ("]", "]"),
    ] {
        let file = File::read("karpwarden.yaml", text, &Limits::DEFAULT);
        let problems = Settings::parse_file(&file, &crate::testing::REGISTRY).unwrap_err();
        let marked: Vec<_> = problems.iter().map(|problem| file.source.slice(problem.span)).collect();
        assert_eq!(marked, [expected], "{text}");
    }
}
