//! Compares the tables of every release with the published custom resource definitions, the template of the getting started
//! guide and the reference of the metrics, as `cargo xtask release` has recorded them.
//!
//! A line of the record has the minor releases, a tab, and the fact: `8,9\tNodePool spec.replicas type integer`.
//! docs/dev/new-release.md describes how a release is added.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up fails")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;

use karpenter::api::outline::{outline, related_paths};
use karpenter::api::relations::keys::AWS_KEYS;
use karpenter::iam::NEEDED;
use karpenter::metrics::{LATER, MetricReplacement, OF_1_0};
use karpenter::release::Release;

const KINDS: [&str; 4] = ["NodePool", "NodeClaim", "EC2NodeClass", "NodeOverlay"];

/// The recorded facts of each release.
fn record() -> BTreeMap<Release, BTreeSet<String>> {
    let packed: &[u8] = include_bytes!("record.txt.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    let mut record = BTreeMap::<_, BTreeSet<_>>::new();
    for line in text.lines() {
        let (minors, fact) = line.split_once('\t').expect("a line has a tab");
        for minor in minors.split(',') {
            let release = Release::parse(&format!("1.{minor}")).unwrap();
            record.entry(release).or_default().insert(fact.to_owned());
        }
    }
    record
}

fn is_of_schema(fact: &str) -> bool {
    let mut words = fact.split(' ');
    let kind = words.next().unwrap_or_default();
    KINDS.contains(&kind) && !matches!(words.nth(1), Some("rule" | "key"))
}

/// The facts that are left out on purpose in a release. A line for one release starts with it.
fn irrelevant(release: Release) -> BTreeSet<&'static str> {
    let of_release = format!("{}: ", release.name_of_minor());
    let lines = include_str!("irrelevant.txt").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.strip_prefix(&of_release).unwrap_or(line)).collect()
}

/// The releases of which a kind of facts is recorded.
fn record_of(kind: &str) -> BTreeMap<Release, BTreeSet<String>> {
    let has_kind = |facts: &BTreeSet<String>| facts.iter().any(|fact| fact.starts_with(kind));
    record().into_iter().filter(|(_, facts)| has_kind(facts)).collect()
}

#[test]
fn tables_have_every_fact_of_the_published_definitions_and_no_other() {
    for (release, facts) in record() {
        let irrelevant = irrelevant(release);
        let published: BTreeSet<&str> =
            facts.iter().map(String::as_str).filter(|fact| is_of_schema(fact)).collect();
        let tables = outline(release);
        let tables: BTreeSet<&str> = tables.iter().map(String::as_str).collect();
        let missing: Vec<_> =
            published.difference(&tables).filter(|fact| !irrelevant.contains(*fact)).collect();
        let unpublished: Vec<_> =
            tables.difference(&published).filter(|fact| !irrelevant.contains(*fact)).collect();
        assert!(missing.is_empty(), "{release}: the tables lack {missing:#?}");
        assert!(unpublished.is_empty(), "{release}: no definition has {unpublished:#?}");
        assert!(published.len() > 200, "{release}");
    }
}

#[test]
fn tables_have_relations_where_the_definitions_have_rules() {
    for (release, facts) in record() {
        let rules =
            facts.iter().filter_map(|fact| fact.rsplit_once(" rule ").map(|(place, _)| place.to_owned()));
        let published: BTreeSet<String> = rules.collect();
        let tables = related_paths(release);
        let differences: Vec<_> = published.symmetric_difference(&tables).collect();
        assert!(differences.is_empty(), "{release}: {differences:#?}");
    }
}

#[test]
fn tables_have_the_keys_that_the_rules_allow() {
    const PREFIX: &str = "NodePool spec.template.spec.requirements[].key key karpenter.k8s.aws/";
    for (release, facts) in record() {
        let published: BTreeSet<&str> = facts.iter().filter_map(|fact| fact.strip_prefix(PREFIX)).collect();
        let known = AWS_KEYS.iter().filter(|(_, releases)| releases.contains(release)).map(|(key, _)| *key);
        assert_eq!(known.collect::<BTreeSet<_>>(), published, "{release}");
    }
}

#[test]
fn template_has_each_needed_action_since_its_release() {
    for needed in NEEDED {
        let fact = format!("CloudFormation . action {}", needed.action);
        let record = record_of("CloudFormation ");
        for (release, facts) in record.into_iter().filter(|_| needed.resource.is_empty()) {
            assert_eq!(facts.contains(&fact), needed.releases.contains(release), "{fact} {release}");
        }
    }
}

#[test]
fn reference_has_the_new_metrics_and_not_the_old_ones() {
    let record = record_of("Metrics ");
    let has = |name: &str, facts: &BTreeSet<String>| facts.contains(&format!("Metrics . name {name}"));
    // The reference of earlier releases lists metrics that their source no longer has, and lacks others.
    let first = Release::parse("1.13").unwrap();
    let changes = || OF_1_0.iter().chain(LATER).filter(|change| change.of.is_empty());
    for (release, facts) in record.iter().filter(|(release, _)| **release >= first) {
        for change in changes().filter(|change| change.releases().contains(*release)) {
            assert!(!has(change.was, facts), "{} {release}", change.was);
            if let MetricReplacement::Name(name) = change.now {
                let is_current = changes().all(|later| later.was != name);
                assert!(!is_current || has(name, facts), "{name} {release}");
            }
        }
    }
}
