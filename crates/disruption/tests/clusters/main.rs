//! Judgements compared with what Karpenter's controllers did; see `README.md`.
//!
//! `cargo test -p karpwarden-disruption --test clusters -- --nocapture` prints the agreement for each topic and release.
//! `CASE=id` prints the differences of one case.

#![cfg(test)]

mod case;
mod compare;

use std::collections::BTreeMap;
use std::env;

use case::Case;
use karpenter::release::Release;
use karpwarden_disruption::judgement::{Later, judge};
use manifest::File;
use objects::object::Object;

/// The cases that differ, each with its release and the reason.
const KNOWN: [(&str, &str); 5] = [
    // The NodePool has no list of budgets. In a cluster the API server has written its default, one budget of 10 %; the
    // recorded controller read the NodePool without it.
    ("cand-budget-omitted", "1.14"),
    ("cand-budget-omitted@v1.8.2", "1.8.2"),
    ("cand-budget-omitted@v1.4.1", "1.4.1"),
    // These releases compare a nomination with the clock of the machine (`time.Now` in pkg/controllers/state/statenode.go at
    // v1.8.2), and not with the recorded time, so that the recorded nomination had just begun.
    ("cand-nominated-20s-ago@v1.8.2", "1.8.2"),
    ("cand-nominated-20s-ago@v1.4.1", "1.4.1"),
];

/// The number of cases that agree, of all cases.
type Agreement = BTreeMap<(String, String), (usize, usize)>;

#[test]
fn disrupts_nodes_like_the_controllers_of_karpenter() {
    let chosen = env::var("CASE").ok();
    let mut topics = Agreement::new();
    let (mut differing, mut known) = (Vec::new(), 0);
    for case in case::all().iter().filter(|case| chosen.as_ref().is_none_or(|id| case.id == *id)) {
        for release in &case.releases {
            let differences = differences(case, *release);
            let name = release.to_string();
            let (agreeing, all) = topics.entry((case.topic.clone(), name.clone())).or_default();
            *all += 1;
            *agreeing += usize::from(differences.is_empty());
            if KNOWN.contains(&(case.id.as_str(), name.as_str())) {
                known += 1;
                assert!(!differences.is_empty(), "{} at {release} agrees now", case.id);
            } else if !differences.is_empty() {
                differing.push(format!("{} at {release}:\n  {}", case.id, differences.join("\n  ")));
            }
        }
    }
    for ((topic, release), (agreeing, all)) in &topics {
        println!("{topic:<14} {release:<7} {agreeing:>4} of {all:>4}");
    }
    assert!(chosen.is_some() || known == KNOWN.len(), "a known difference names no case");
    assert!(differing.is_empty(), "{} cases differ\n{}", differing.len(), differing.join("\n"));
}

fn objects(file: &File) -> Vec<Object<'_>> {
    let trees = file.trees();
    // A node with this mark has no NodeClaim.
    let all: Vec<Object<'_>> = trees.flat_map(Object::all).collect();
    let is_alone = |object: &&Object<'_>| object.annotation("case/no-claim").is_some();
    let alone: Vec<&str> = all.iter().filter(is_alone).map(|node| node.name()).collect();
    let is_kept = |object: &Object<'_>| {
        let node = object.str_at(&["status", "nodeName"]).unwrap_or_default();
        object.kind() != "NodeClaim" || !alone.contains(&node)
    };
    all.into_iter().filter(is_kept).collect()
}

fn differences(case: &Case, release: Release) -> Vec<String> {
    let (file, later_file) = (case.file(), case.later_file());
    let (before, after) = (objects(&file), objects(&later_file));
    let (options, later_options) = (case.options(release), case.later_options(release));
    let later = case.waits_for().map(|_| Later { objects: &after, settings: &later_options });
    let judgement = judge(&before, &options, later);
    compare::differences(&case.expect, &judgement, release, case.waits_for())
}
