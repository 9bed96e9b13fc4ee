//! When what is said is worth a diagnosis, and what a diagnosis says.

use super::cause::MAX_QUOTE;
use super::*;
use manifest::limits::Limits;
use crate::reader::Reader;

/// A line at a minute and second of an hour. Fields are written as JSON.
fn line(at: &str, level: &str, message: &str, fields: &str) -> String {
    format!(
        r#"{{"level":"{level}","time":"2026-04-23T18:{at}.000Z","logger":"controller","message":"{message}"{fields}}}"#
    )
}

fn unschedulable(at: &str, error: &str) -> String {
    let fields = format!(
        r#","controller":"provisioner","Pod":{{"name":"web-1","namespace":"shop"}},"error":"{error}""#
    );
    line(at, "ERROR", "could not schedule pod", &fields)
}

const LABEL: &str = r#"incompatible requirements, label \"team/tier\" does not have known values"#;

fn tally(lines: &[String]) -> Tally {
    let mut tally = Tally::default();
    let mut reader = Reader::new("log", 0, Limits::DEFAULT);
    let text = lines.join("\n");
    let mut hear = |entry: &Entry<'_>| tally.observe(entry);
    reader.feed(text.as_bytes(), &mut hear);
    reader.finish(&mut hear);
    tally
}

fn told(lines: &[String]) -> Vec<String> {
    let one = |one: &Diagnosis| format!("{} {} x{}", one.severity, one.symptom.name, one.count);
    tally(lines).diagnoses(0).iter().map(one).collect()
}

#[test]
fn a_line_alone_is_enough_where_nothing_says_that_it_passed() {
    assert_eq!(told(&[unschedulable("00:10", LABEL)]), ["error label-unknown-to-every-pool x1"]);
    let diagnosis = tally(&[unschedulable("00:10", LABEL)]).diagnoses(0).remove(0);
    assert_eq!(diagnosis.message, "pods ask for `team/tier` that no NodePool has, and get no node");
    assert_eq!(diagnosis.details, ["team/tier"]);
    assert_eq!(diagnosis.confidence, Confidence::Certain);
    assert_eq!((&*diagnosis.objects[0].kind, &*diagnosis.objects[0].name), ("Pod", "web-1"));
    assert_eq!(diagnosis.evidence.len(), 1);
}

#[test]
fn what_passed_is_part_of_normal_work() {
    let fails = unschedulable("00:10", LABEL);
    let later = line("03:00", "INFO", "Starting workers", "");
    assert!(told(&[fails.clone(), later]).is_empty());
    let works = line("00:20", "INFO", "created nodeclaim", r#","controller":"provisioner""#);
    assert!(told(&[fails.clone(), works.clone()]).is_empty());
    assert_eq!(
        told(&[fails, works, unschedulable("00:30", LABEL)]),
        ["error label-unknown-to-every-pool x2"]
    );
}

#[test]
fn what_lasted_is_told_though_it_passed() {
    let mut lines: Vec<String> =
        (0..12).map(|minute| unschedulable(&format!("{minute:02}:10"), LABEL)).collect();
    lines.push(line("40:00", "INFO", "created nodeclaim", ""));
    assert_eq!(told(&lines), ["error label-unknown-to-every-pool x12"]);
    assert_eq!(tally(&lines).diagnoses(0)[0].evidence.len(), 3);
}

#[test]
fn the_order_of_lines_does_not_matter() {
    let mut lines: Vec<String> =
        (0..12).map(|minute| unschedulable(&format!("{minute:02}:10"), LABEL)).collect();
    lines.push(line("40:00", "INFO", "created nodeclaim", ""));
    lines.reverse();
    assert_eq!(told(&lines), ["error label-unknown-to-every-pool x12"]);
}

#[test]
fn conflicts_are_told_where_they_do_not_end() {
    let conflict = |at: String| {
        let error = r#","controller":"nodeclaim.lifecycle","error":"Operation cannot be fulfilled on nodeclaims.karpenter.sh \"a\": the object has been modified""#;
        line(&at, "ERROR", "Reconciler error", error)
    };
    let few: Vec<String> = (0..30).map(|minute| conflict(format!("{minute:02}:00"))).collect();
    assert!(told(&few).is_empty());
    let many: Vec<String> = (0..60).map(|second| conflict(format!("01:{second:02}"))).collect();
    assert_eq!(told(&many), ["warning conflicts-without-end x60"]);
}

#[test]
fn nodes_that_drain_side_by_side_are_no_node_that_does_not() {
    let row = |node: usize, count: usize| {
        format!(
            "2m   Warning   FailedDraining   node/ip-{node}   Failed to drain node, {count} pods are waiting to be evicted"
        )
    };
    let header = "LAST SEEN   TYPE   REASON   OBJECT   MESSAGE".to_owned();
    let wave: Vec<String> = std::iter::once(header).chain((0..40).map(|node| row(node, 3))).collect();
    assert!(told(&wave).is_empty());
    let stuck = "LAST SEEN         TYPE      REASON           OBJECT    MESSAGE\n2m (x400 over 3d)   Warning   FailedDraining   node/a   Failed to drain node, 3 pods are waiting to be evicted";
    assert_eq!(told(&[stuck.to_owned()]), ["error node-does-not-drain x400"]);
}

#[test]
fn a_pod_that_found_its_node_waits_no_more() {
    let failed = "LAST SEEN   TYPE      REASON             OBJECT      MESSAGE\n5m          Warning   FailedScheduling   pod/web-1   Failed to schedule pod, no instance type has enough resources, requirements=";
    let nominated =
        "4m          Normal    Nominated          pod/web-1   Pod should schedule on: nodeclaim/a-1";
    assert_eq!(told(&[failed.to_owned()]), ["error requests-exceed-every-type x1"]);
    assert!(told(&[failed.to_owned(), nominated.to_owned()]).is_empty());
}

/// A table of events about pods: when, which pod, and what of it.
fn events(rows: &[(&str, &str, &str)]) -> Vec<String> {
    let row = |(age, pod, what): &(&str, &str, &str)| {
        let (kind, reason, message) = match *what {
            "nominated" => ("Normal", "Nominated", "Pod should schedule on: nodeclaim/a-1"),
            _ => (
                "Warning",
                "FailedScheduling",
                "Failed to schedule pod, no instance type has enough resources, requirements=",
            ),
        };
        format!("{age:<18}   {kind:<7}   {reason:<16}   pod/{pod:<6}   {message}")
    };
    let header = format!("{:<18}   TYPE      REASON             OBJECT       MESSAGE", "LAST SEEN");
    std::iter::once(header).chain(rows.iter().map(row)).collect()
}

#[test]
fn the_ages_of_a_table_tell_what_came_first() {
    let one = ["error requests-exceed-every-type x1"];
    assert_eq!(told(&events(&[("5m", "web-1", "failed")])), one);
    assert_eq!(told(&events(&[("4m", "web-1", "nominated"), ("10s", "web-1", "failed")])), one);
    assert_eq!(
        told(&events(&[
            ("<unknown>", "web-1", "failed"),
            ("10s", "web-2", "failed"),
            ("2m", "web-1", "nominated")
        ])),
        ["error requests-exceed-every-type x2"]
    );
    for passed in [
        [("4m", "web-1", "nominated"), ("5m", "web-1", "failed")],
        [("40m", "web-1", "failed"), ("10s", "web-2", "nominated")],
        [("<unknown>", "web-1", "failed"), ("<unknown>", "web-1", "nominated")],
    ] {
        assert!(told(&events(&passed)).is_empty(), "{passed:?}");
    }
    // What came again and again for long is told though it passed.
    let lasted = [("8m (x4 over 25m)", "web-1", "failed"), ("2m", "web-1", "nominated")];
    assert_eq!(told(&events(&lasted)), ["error requests-exceed-every-type x4"]);
    let twice = [("8m (x2 over 3d4h)", "web-1", "failed"), ("2m", "web-1", "nominated")];
    assert!(told(&events(&twice)).is_empty());
    // Ages are no dates.
    let diagnosis = tally(&events(&lasted)).diagnoses(0).remove(0);
    assert_eq!((diagnosis.first, diagnosis.last), (None, None));
}

#[test]
fn a_launch_that_succeeds_ends_the_want_of_capacity() {
    let row = |age: &str, reason: &str, message: &str| {
        format!("{age:<9}   Normal    {reason:<25}   nodeclaim/a-1   {message}")
    };
    let table = |rows: [String; 2]| {
        [
            vec!["LAST SEEN   TYPE      REASON                      OBJECT          MESSAGE".to_owned()],
            rows.to_vec(),
        ]
        .concat()
    };
    let failed = row(
        "5m",
        "InsufficientCapacityError",
        "NodeClaim a-1 event: insufficient capacity, all requested instance types were unavailable during launch",
    );
    let launched = |age| {
        row(
            age,
            "Launched",
            "Status condition transitioned, Type: Launched, Status: Unknown -> True, Reason: Launched",
        )
    };
    assert!(told(&table([failed.clone(), launched("4m")])).is_empty());
    assert_eq!(told(&table([failed, launched("6m")])), ["warning capacity-unavailable x1"]);
}

#[test]
fn a_condition_that_came_true_later_tells_nothing_any_more() {
    let row = |age: &str, kind: &str, status: &str, reason: &str| {
        format!(
            "{age:<9}   Normal    {kind:<12}   ec2nodeclass/default   Status condition transitioned, Type: {kind}, Status: Unknown -> {status}, Reason: {reason}, Message: x"
        )
    };
    let table = |rows: &[String]| {
        [&["LAST SEEN   TYPE      REASON         OBJECT                 MESSAGE".to_owned()], rows].concat()
    };
    let fails = row("50m", "SubnetsReady", "False", "SubnetsNotFound");
    let works = |age: &str, kind: &str| row(age, kind, "True", kind);
    assert_eq!(told(&table(std::slice::from_ref(&fails))), ["error subnets-not-found x1"]);
    assert_eq!(told(&table(&[fails.clone(), works("49m", "AMIsReady")])), ["error subnets-not-found x1"]);
    assert_eq!(told(&table(&[works("51m", "SubnetsReady"), fails.clone()])), ["error subnets-not-found x1"]);
    assert!(told(&table(&[works("41m", "SubnetsReady"), fails])).is_empty());
}

#[test]
fn an_event_that_is_not_repeated_may_pass() {
    let confidence = |rows: &[(&str, &str, &str)]| tally(&events(rows)).diagnoses(0).remove(0).confidence;
    for once in [
        vec![("<unknown>", "web-1", "failed")],
        vec![("10s", "web-1", "failed")],
        vec![("10s", "web-1", "failed"), ("4m", "web-2", "failed")],
    ] {
        assert_eq!(confidence(&once), Confidence::Likely, "{once:?}");
    }
    assert_eq!(confidence(&[("10s (x2 over 5m)", "web-1", "failed")]), Confidence::Certain);
    assert_eq!(confidence(&[("10s", "web-1", "failed"), ("5m", "web-1", "failed")]), Confidence::Certain);
    // A log says it in each of its loops, a status as long as it is so.
    assert_eq!(tally(&[unschedulable("00:10", LABEL)]).diagnoses(0)[0].confidence, Confidence::Certain);
}

#[test]
fn a_pool_that_is_not_ready_explains_that_there_is_none() {
    let unready = line("00:10", "ERROR", "ignoring nodepool, not ready", r#","NodePool":{"name":"default"}"#);
    let none = |minute: u32| {
        line(&format!("{minute:02}:11"), "INFO", "no nodepools found", r#","controller":"provisioner""#)
    };
    let both: Vec<_> = std::iter::once(unready.clone()).chain((0..10).map(none)).collect();
    assert_eq!(told(&both), ["error no-nodepool x10", "error nodepool-not-ready x1"]);
    // Both have passed, or the first alone was said.
    let works = line("00:40", "INFO", "created nodeclaim", r#","controller":"provisioner""#);
    assert!(told(&[unready.clone(), none(0), works.clone()]).is_empty());
    assert!(told(&[unready, works]).is_empty());
}

#[test]
fn causes_in_one_line_each_count_and_weigh_less() {
    let both = "did not tolerate taint (taint=gpu=1:NoSchedule); all available instance types exceed limits for nodepool (NodePool=default)";
    let diagnoses = tally(&[unschedulable("00:10", both)]).diagnoses(0);
    let names: Vec<_> =
        diagnoses.iter().map(|one| (one.symptom.name, one.severity, one.confidence)).collect();
    assert_eq!(
        names,
        [
            ("pool-limit-reached", Severity::Warning, Confidence::Likely),
            ("taint-not-tolerated", Severity::Warning, Confidence::Possible),
        ]
    );
}

#[test]
fn several_details_of_one_line_are_several_causes() {
    let two = r#"incompatible requirements, label \"a/b\" does not have known values; incompatible requirements, label \"c/d\" does not have known values"#;
    let mut details: Vec<_> =
        tally(&[unschedulable("00:10", two)]).diagnoses(0).into_iter().flat_map(|one| one.details).collect();
    details.sort();
    assert_eq!(details, ["a/b", "c/d"]);
}

#[test]
fn a_log_names_its_release_or_its_words_do() {
    let with = |commit: &str| line("00:00", "INFO", "Starting workers", &format!(r#","commit":"{commit}""#));
    assert_eq!(tally(&[with("5bdf9c3")]).releases().to_string(), "1.0.0");
    let upgrade = tally(&[with("5bdf9c3"), with("652e6aa")]);
    assert_eq!(upgrade.releases().to_string(), "1.0.5");
    assert!(upgrade.mixed_releases());
    let words =
        tally(&[line("00:00", "INFO", "no dynamic nodepools found", r#","controller":"provisioner""#)]);
    assert_eq!(words.releases(), Releases::since(9));
    assert!(!words.mixed_releases());
    let version = line("00:00", "DEBUG", "discovered karpenter version", r#","version":"1.8.2""#);
    assert_eq!(tally(&[version]).releases().to_string(), "1.8.2");
}

#[test]
fn words_alone_are_less_sure() {
    let diagnosis = tally(&[r#"label "a/b" does not have known values"#.to_owned()]).diagnoses(0).remove(0);
    assert_eq!(
        (diagnosis.symptom.name, diagnosis.confidence),
        ("label-unknown-to-every-pool", Confidence::Likely)
    );
    let garbage = tally(&["nothing of the kind".to_owned()]);
    assert_eq!((garbage.understood, garbage.diagnoses(0).len()), (0, 0));
}

#[test]
fn quotes_and_causes_are_bounded() {
    let long = "x".repeat(10_000);
    let label = |at: usize| {
        format!(r#"incompatible requirements, label \"l/{at}\" does not have known values {long}"#)
    };
    let lines: Vec<String> = (0..50).map(|at| unschedulable("00:10", &label(at))).collect();
    let diagnoses = tally(&lines).diagnoses(0);
    assert_eq!(diagnoses.len(), 50);
    assert!(diagnoses.iter().flat_map(|one| &one.evidence).all(|quote| quote.text.len() <= MAX_QUOTE + 3));
    let short =
        |at: usize| format!(r#"incompatible requirements, label \"l/{at}\" does not have known values"#);
    let lines: Vec<String> = (0..MAX_CAUSES + 10).map(|at| unschedulable("00:10", &short(at))).collect();
    let tally = tally(&lines);
    assert_eq!((tally.diagnoses(0).len(), tally.forgotten), (MAX_CAUSES, 10));
}
