//! Tests for fixes that change several objects together.

use answers::report::Report;
use cluster::Cluster;
use cluster::built::BuiltCluster;
use cluster::charts::LocalCharts;
use cluster::input::Input;
use karpenter::kind::Kind;
use karpenter::release::Releases;
use manifest::edit::Change;
use objects::object::Object;
use rule::classification::Family;
use rule::context::Context;
use rule::finding::Finding;
use rule::fix::Fix;
use rule::settings::{Exception, Override, RuleLevel, RuleSelector, Settings, Target};
use rule::{Fixes, On, Rule};

use super::candidates;
use crate::check::check;
use crate::collect::collect;
use crate::coverage::DocumentReader;
use crate::locations::Locations;
use crate::pins::Pins;
use crate::selection::Selection;
use crate::show::show;
use crate::surroundings::{Checking, Surroundings};
use crate::testing::{class, cluster, registry_of};

/// Reports EC2NodeClasses whose `spec.half` is `old`, since 1.4, and replaces it here and in the class that `spec.other` names.
static PAIRS: Rule = Rule {
    name: "pairs",
    family: Family::Nodeclass,
    releases: Releases::since(4),
    fix: Fixes::Safe,
    on: &[On::Kind(Kind::NODE_CLASS)],
    check: |object: Object<'_>, context: &Context<'_, '_>, findings: &mut Vec<Finding<'_>>| {
        let Some(half) = object.at(&["spec", "half"]).filter(|half| half.as_str() == Some("old")) else {
            return;
        };
        let set = |node| Change::Set(node, "new".to_owned());
        let name = object.str_at(&["spec", "other"]).unwrap_or_default();
        let partners = context.inventory.find("karpenter.k8s.aws", "EC2NodeClass", name);
        let of_partner = partners.and_then(|partner| partner.at(&["spec", "half"])).map(set);
        let changes = [set(half)].into_iter().chain(of_partner).collect();
        let fix = Fix::safe("replace both", changes).with_partners(partners.into_iter().collect());
        findings.push(Finding::at(&PAIRS, half, "an old half").fix(fix));
    },
    ..Rule::DEFAULTS
};

/// Half of a pair.
fn half(name: &str, other: &str) -> String {
    class(name, &format!("half: old, other: {other}"))
}

/// The number of edits of each fix, 0 without a fix, and the last help.
fn fixes(files: &[(&str, &str)], settings: &Settings) -> (Vec<usize>, String) {
    let report = check(&registry_of(&PAIRS), &[cluster(files)], settings);
    let edits = report.findings.iter().map(|finding| finding.fix.as_ref().map_or(0, |fix| fix.edits.len()));
    let help = report.findings.last().map(|finding| finding.help.clone()).unwrap_or_default();
    (edits.collect(), help)
}

#[test]
fn a_pair_has_no_fix_if_the_finding_about_one_half_is_accepted_or_off() {
    let (a, b) = (half("a", "b"), half("b", "a"));
    let files = [("a.yaml", a.as_str()), ("b.yaml", &b)];
    let one = || RuleSelector::One(PAIRS.names());
    let overriding = Override { files: vec!["b.yaml".to_owned()], ..Override::default() };
    let exception = Exception {
        rule: one(),
        kind: None,
        namespace: None,
        name: Some("b".to_owned()),
        reason: "an old cluster".to_owned(),
        until: None,
    };
    let with = |overriding: Override| Settings { overrides: vec![overriding], ..Settings::default() };
    assert_eq!(fixes(&files, &Settings::default()).0, [2, 2]);
    let earlier = Some(Target::parse("1.3").unwrap());
    for settings in [
        Settings { exceptions: vec![exception], ..Settings::default() },
        with(Override { karpenter: earlier, ..overriding.clone() }),
        with(Override { levels: vec![(one(), RuleLevel::Off)], ..overriding }),
    ] {
        let (edits, help) = fixes(&files, &settings);
        assert_eq!(edits, [0]);
        let expected =
            "no fix, because it would also change the EC2NodeClass `b`, about which `pairs` reports nothing";
        assert_eq!(help, expected);
    }
    let suppressed = b.replace("spec:", "# karpwarden: ignore[pairs] an old cluster\nspec:");
    assert_eq!(fixes(&[files[0], ("b.yaml", &suppressed)], &Settings::default()).0, [0]);
    let pin = "apiVersion: helm.cattle.io/v1\nkind: HelmChart\nspec: {chart: karpenter/karpenter, version: 1.8.0}\n";
    let older = pin.replace("1.8.0", "1.3.0");
    let pinned = [files[0], ("chart.yaml", pin), ("old/b.yaml", &b), ("old/chart.yaml", &older)];
    assert_eq!(fixes(&pinned, &Settings::default()).0, [0]);
}

#[test]
fn one_fix_changes_both_objects_that_a_kustomization_builds() {
    let (a, b) = (half("a", "b"), half("b", "a"));
    let files = [
        ("base/a.yaml", a.as_str()),
        ("base/b.yaml", &b),
        ("base/kustomization.yaml", "resources: [a.yaml, b.yaml]\ncommonLabels: {team: a}\n"),
    ];
    assert_eq!(fixes(&files, &Settings::default()).0, [2, 2]);
    // One half is in a patch.
    let patch = "resources: [a.yaml, b.yaml]\npatches:\n- target: {name: b}\n  patch: |-\n    - {op: add, path: /spec/half, value: old}\n";
    let plain = class("b", "other: a");
    let files = [files[0], ("base/b.yaml", &plain), ("base/kustomization.yaml", patch)];
    let report = check(&registry_of(&PAIRS), &[cluster(&files)], &Settings::default());
    let edits_of_fixes = report.findings.into_iter().map(|finding| finding.fix.unwrap().edits);
    let of_files = |edits: Vec<answers::report::ReportedEdit>| {
        let mut names: Vec<_> = edits.into_iter().map(|edit| edit.file).collect();
        names.sort();
        names
    };
    let both = ["base/a.yaml", "base/kustomization.yaml"];
    assert_eq!(edits_of_fixes.map(of_files).collect::<Vec<_>>(), [both, both]);
}

/// The numbers of fixes for some files, and of objects that they touch together.
fn touched(clusters: &[Cluster]) -> (usize, usize) {
    let (settings, registry) = (Settings::default(), registry_of(&PAIRS));
    let built = BuiltCluster::of_all(clusters);
    let input = Input::new(clusters, &built);
    let (mut report, pins) = (Report::new(&settings), Pins::of(input, &settings));
    let charts: Vec<LocalCharts> = input.clusters().map(|_| LocalCharts::default()).collect();
    let selection = Selection::new(&registry);
    let reader = DocumentReader { selection: &selection, settings: &settings, charts: &charts };
    let pins_of = |document, file: &manifest::File| pins.of_document(document, file.source.name());
    let objects = collect(input, &reader, pins_of, &mut report).objects;
    let checking =
        Checking { registry: &registry, settings: &settings, pins: &pins, stages: None, charts: &charts };
    let surroundings = Surroundings::of(checking, input, &objects);
    let outcomes = objects.as_slice().iter();
    let outcomes = outcomes.map(|one| surroundings.check(one, &selection.rules_on(one.object)));
    let locations = Locations::new(input, &objects);
    let mut offers = show(input, objects.iter().zip(outcomes), &locations, usize::MAX, &mut report);
    let candidates = candidates(input, &locations, &mut offers, &mut report);
    (candidates.len(), candidates.iter().map(|candidate| candidate.touched.len()).sum())
}

#[test]
fn a_fix_touches_only_the_objects_that_it_changes_in_a_list() {
    let list = |one: char, other: char, count: usize| {
        let item = |index| {
            let text = half(&format!("{one}{index}"), &format!("{other}{index}"));
            format!("- {}\n", text.trim_end().replace('\n', "\n  "))
        };
        format!("apiVersion: v1\nkind: List\nitems:\n{}", (0..count).map(item).collect::<String>())
    };
    for count in [10, 100] {
        let (a, b) = (list('a', 'b', count), list('b', 'a', count));
        let clusters = [cluster(&[("a.yaml", &a), ("b.yaml", &b)])];
        assert_eq!(touched(&clusters), (2 * count, 4 * count));
    }
}
