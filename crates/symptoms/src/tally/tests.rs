//! When messages are worth a diagnosis, and the texts of diagnoses.

use super::cause::MAX_QUOTE;
use super::*;
use crate::entry::LogFileId;
use crate::reader::FileReader;
use crate::recognise::Recogniser;
use manifest::limits::Limits;

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
    let mut reader = FileReader::new("log", LogFileId::default(), Limits::DEFAULT);
    let text = lines.join("\n");
    let mut recogniser = Recogniser::default();
    let mut emit = |entry: &Entry<'_>| tally.observe(recogniser.recognise(entry));
    reader.feed(text.as_bytes(), &mut emit);
    reader.finish(&mut emit);
    tally
}

fn diagnosed(lines: &[String]) -> Vec<String> {
    let one = |one: &Diagnosis| format!("{} {} x{}", one.severity, one.symptom.name, one.count);
    tally(lines).diagnoses(ClusterId::FIRST).iter().map(one).collect()
}

#[test]
fn one_unresolved_line_is_enough() {
    assert_eq!(diagnosed(&[unschedulable("00:10", LABEL)]), ["error label-unknown-to-every-pool x1"]);
    let diagnosis = tally(&[unschedulable("00:10", LABEL)]).diagnoses(ClusterId::FIRST).remove(0);
    assert_eq!(diagnosis.message, "pods require `team/tier` that no NodePool has, and get no node");
    assert_eq!(diagnosis.details, ["team/tier"]);
    assert_eq!(diagnosis.confidence, Confidence::Certain);
    assert_eq!((&*diagnosis.objects[0].kind, &*diagnosis.objects[0].name), ("Pod", "web-1"));
    assert_eq!(diagnosis.evidence.len(), 1);
}

#[test]
fn ignores_causes_that_passed() {
    let fails = unschedulable("00:10", LABEL);
    let later = line("03:00", "INFO", "Starting workers", "");
    assert!(diagnosed(&[fails.clone(), later]).is_empty());
    let works = line("00:20", "INFO", "created nodeclaim", r#","controller":"provisioner""#);
    assert!(diagnosed(&[fails.clone(), works.clone()]).is_empty());
    assert_eq!(
        diagnosed(&[fails, works, unschedulable("00:30", LABEL)]),
        ["error label-unknown-to-every-pool x2"]
    );
}

#[test]
fn diagnoses_long_causes_that_passed() {
    let mut lines: Vec<String> =
        (0..12).map(|minute| unschedulable(&format!("{minute:02}:10"), LABEL)).collect();
    lines.push(line("40:00", "INFO", "created nodeclaim", ""));
    assert_eq!(diagnosed(&lines), ["error label-unknown-to-every-pool x12"]);
    assert_eq!(tally(&lines).diagnoses(ClusterId::FIRST)[0].evidence.len(), 3);
}

#[test]
fn the_order_of_lines_does_not_matter() {
    let mut lines: Vec<String> =
        (0..12).map(|minute| unschedulable(&format!("{minute:02}:10"), LABEL)).collect();
    lines.push(line("40:00", "INFO", "created nodeclaim", ""));
    lines.reverse();
    assert_eq!(diagnosed(&lines), ["error label-unknown-to-every-pool x12"]);
}

#[test]
fn diagnoses_continuous_conflicts() {
    let conflict = |at: String| {
        let error = r#","controller":"nodeclaim.lifecycle","error":"Operation cannot be fulfilled on nodeclaims.karpenter.sh \"a\": the object has been modified""#;
        line(&at, "ERROR", "Reconciler error", error)
    };
    let few: Vec<String> = (0..30).map(|minute| conflict(format!("{minute:02}:00"))).collect();
    assert!(diagnosed(&few).is_empty());
    let many: Vec<String> = (0..60).map(|second| conflict(format!("01:{second:02}"))).collect();
    assert_eq!(diagnosed(&many), ["warning conflicts-without-end x60"]);
}

#[test]
fn counts_draining_nodes_separately() {
    let row = |node: usize, count: usize| {
        format!(
            "2m   Warning   FailedDraining   node/ip-{node}   Failed to drain node, {count} pods are waiting to be evicted"
        )
    };
    let header = "LAST SEEN   TYPE   REASON   OBJECT   MESSAGE".to_owned();
    let wave: Vec<String> = std::iter::once(header).chain((0..40).map(|node| row(node, 3))).collect();
    assert!(diagnosed(&wave).is_empty());
    let stuck = "LAST SEEN         TYPE      REASON           OBJECT    MESSAGE\n2m (x400 over 3d)   Warning   FailedDraining   node/a   Failed to drain node, 3 pods are waiting to be evicted";
    assert_eq!(diagnosed(&[stuck.to_owned()]), ["error node-does-not-drain x400"]);
}

#[test]
fn ignores_pods_that_got_a_node() {
    let failed = "LAST SEEN   TYPE      REASON             OBJECT      MESSAGE\n5m          Warning   FailedScheduling   pod/web-1   Failed to schedule pod, no instance type has enough resources, requirements=";
    let nominated =
        "4m          Normal    Nominated          pod/web-1   Pod should schedule on: nodeclaim/a-1";
    assert_eq!(diagnosed(&[failed.to_owned()]), ["error requests-exceed-every-type x1"]);
    assert!(diagnosed(&[failed.to_owned(), nominated.to_owned()]).is_empty());
}

/// A table of events about pods: age, pod, reason and message.
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
fn orders_a_table_by_age() {
    let one = ["error requests-exceed-every-type x1"];
    assert_eq!(diagnosed(&events(&[("5m", "web-1", "failed")])), one);
    assert_eq!(diagnosed(&events(&[("4m", "web-1", "nominated"), ("10s", "web-1", "failed")])), one);
    assert_eq!(
        diagnosed(&events(&[
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
        assert!(diagnosed(&events(&passed)).is_empty(), "{passed:?}");
    }
    // Messages that repeat for long are diagnosed although the cause passed.
    let lasted = [("8m (x4 over 25m)", "web-1", "failed"), ("2m", "web-1", "nominated")];
    assert_eq!(diagnosed(&events(&lasted)), ["error requests-exceed-every-type x4"]);
    let twice = [("8m (x2 over 3d4h)", "web-1", "failed"), ("2m", "web-1", "nominated")];
    assert!(diagnosed(&events(&twice)).is_empty());
    // Ages are not dates.
    let diagnosis = tally(&events(&lasted)).diagnoses(ClusterId::FIRST).remove(0);
    assert_eq!((diagnosis.first, diagnosis.last), (None, None));
}

#[test]
fn a_successful_launch_resolves_missing_capacity() {
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
    assert!(diagnosed(&table([failed.clone(), launched("4m")])).is_empty());
    assert_eq!(diagnosed(&table([failed, launched("6m")])), ["warning capacity-unavailable x1"]);
}

#[test]
fn ignores_conditions_that_became_true_later() {
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
    assert_eq!(diagnosed(&table(std::slice::from_ref(&fails))), ["error subnets-not-found x1"]);
    assert_eq!(
        diagnosed(&table(&[fails.clone(), works("49m", "AMIsReady")])),
        ["error subnets-not-found x1"]
    );
    assert_eq!(
        diagnosed(&table(&[works("51m", "SubnetsReady"), fails.clone()])),
        ["error subnets-not-found x1"]
    );
    assert!(diagnosed(&table(&[works("41m", "SubnetsReady"), fails])).is_empty());
}

#[test]
fn is_less_certain_about_single_events() {
    let confidence =
        |rows: &[(&str, &str, &str)]| tally(&events(rows)).diagnoses(ClusterId::FIRST).remove(0).confidence;
    for once in [
        vec![("<unknown>", "web-1", "failed")],
        vec![("10s", "web-1", "failed")],
        vec![("10s", "web-1", "failed"), ("4m", "web-2", "failed")],
    ] {
        assert_eq!(confidence(&once), Confidence::Likely, "{once:?}");
    }
    assert_eq!(confidence(&[("10s (x2 over 5m)", "web-1", "failed")]), Confidence::Certain);
    assert_eq!(confidence(&[("10s", "web-1", "failed"), ("5m", "web-1", "failed")]), Confidence::Certain);
    // A log repeats the message in each loop; a status is present.
    assert_eq!(
        tally(&[unschedulable("00:10", LABEL)]).diagnoses(ClusterId::FIRST)[0].confidence,
        Confidence::Certain
    );
}

#[test]
fn a_nodepool_that_is_not_ready_explains_no_nodepool() {
    let unready = line("00:10", "ERROR", "ignoring nodepool, not ready", r#","NodePool":{"name":"default"}"#);
    let none = |minute: u32| {
        line(&format!("{minute:02}:11"), "INFO", "no nodepools found", r#","controller":"provisioner""#)
    };
    let both: Vec<_> = std::iter::once(unready.clone()).chain((0..10).map(none)).collect();
    assert_eq!(diagnosed(&both), ["error no-nodepool x10", "error nodepool-not-ready x1"]);
    // Both have passed, or only the first one came.
    let works = line("00:40", "INFO", "created nodeclaim", r#","controller":"provisioner""#);
    assert!(diagnosed(&[unready.clone(), none(0), works.clone()]).is_empty());
    assert!(diagnosed(&[unready, works]).is_empty());
}

#[test]
fn several_causes_in_one_line_are_less_severe() {
    let both = "did not tolerate taint (taint=gpu=1:NoSchedule); all available instance types exceed limits for nodepool (NodePool=default)";
    let diagnoses = tally(&[unschedulable("00:10", both)]).diagnoses(ClusterId::FIRST);
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
fn each_detail_of_a_line_is_a_cause() {
    let two = r#"incompatible requirements, label \"a/b\" does not have known values; incompatible requirements, label \"c/d\" does not have known values"#;
    let mut details: Vec<_> = tally(&[unschedulable("00:10", two)])
        .diagnoses(ClusterId::FIRST)
        .into_iter()
        .flat_map(|one| one.details)
        .collect();
    details.sort();
    assert_eq!(details, ["a/b", "c/d"]);
}

#[test]
fn determines_the_release_of_a_log() {
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
fn is_less_certain_about_text_alone() {
    let diagnosis = tally(&[r#"label "a/b" does not have known values"#.to_owned()])
        .diagnoses(ClusterId::FIRST)
        .remove(0);
    assert_eq!(
        (diagnosis.symptom.name, diagnosis.confidence),
        ("label-unknown-to-every-pool", Confidence::Likely)
    );
    let garbage = tally(&["nothing of the kind".to_owned()]);
    assert_eq!((garbage.understood, garbage.diagnoses(ClusterId::FIRST).len()), (0, 0));
}

#[test]
fn bounds_quotes_and_causes() {
    let long = "x".repeat(10_000);
    let label = |at: usize| {
        format!(r#"incompatible requirements, label \"l/{at}\" does not have known values {long}"#)
    };
    let lines: Vec<String> = (0..50).map(|at| unschedulable("00:10", &label(at))).collect();
    let diagnoses = tally(&lines).diagnoses(ClusterId::FIRST);
    assert_eq!(diagnoses.len(), 50);
    assert!(diagnoses.iter().flat_map(|one| &one.evidence).all(|quote| quote.text.len() <= MAX_QUOTE + 3));
    let short =
        |at: usize| format!(r#"incompatible requirements, label \"l/{at}\" does not have known values"#);
    let lines: Vec<String> = (0..MAX_CAUSES + 10).map(|at| unschedulable("00:10", &short(at))).collect();
    let tally = tally(&lines);
    assert_eq!((tally.diagnoses(ClusterId::FIRST).len(), tally.forgotten), (MAX_CAUSES, 10));
}

/// The events of a description, without the object.
fn described(rows: &[&str]) -> Vec<String> {
    let header = ["Events:", "  Type  Reason  Age  From  Message", "  ----  ------  ----  ----  -------"];
    header.iter().chain(rows).map(|line| (*line).to_owned()).collect()
}

fn verdicts(lines: &[String]) -> Vec<String> {
    let one = |one: &Diagnosis| format!("{} {:?} {}", one.symptom.name, one.confidence, one.objects.len());
    tally(lines).diagnoses(ClusterId::FIRST).iter().map(one).collect()
}

#[test]
fn events_of_an_unnamed_object_are_likely() {
    for (row, expected) in [
        (
            "  Warning  InsufficientCapacityError  3m  karpenter  NodeClaim x event: creating instance, insufficient capacity, with fleet error(s), UnfulfillableCapacity: Unable to fulfill capacity",
            "capacity-unavailable Likely 0",
        ),
        (
            r#"  Warning  FailedScheduling  31s  karpenter  Failed to schedule pod, incompatible requirements, label "team/tier" does not have known values"#,
            "label-unknown-to-every-pool Likely 0",
        ),
        (
            r#"  Normal  DisruptionBlocked  2m (x30 over 60m)  karpenter  Cannot disrupt Node: pdb "web" prevents pod evictions"#,
            "pdb-blocks-disruption Likely 0",
        ),
        (
            "  Normal  SubnetsReady  3m  karpenter  Status condition transitioned, Type: SubnetsReady, Status: Unknown -> False, Reason: SubnetsNotFound, Message: SubnetSelector did not match any Subnets",
            "subnets-not-found Likely 0",
        ),
    ] {
        assert_eq!(verdicts(&described(&[row])), [expected], "{row}");
    }
}

#[test]
fn normal_events_of_an_unnamed_object_are_no_diagnosis() {
    let fails = r#"  Warning  FailedScheduling  3m  karpenter  Failed to schedule pod, incompatible requirements, label "team/tier" does not have known values"#;
    let scheduled = "  Normal  Scheduled  1m  default-scheduler  Successfully assigned shop/web-1 to ip-1";
    assert!(verdicts(&described(&[fails, scheduled])).is_empty());
    let blocked = r#"  Normal  DisruptionBlocked  2m  karpenter  Cannot disrupt Node: pdb "web" prevents pod evictions"#;
    assert!(verdicts(&described(&[blocked])).is_empty());
    // A condition of another controller's object.
    let other = "  Normal  SubnetsReady  3m  other  Status condition transitioned, Type: SubnetsReady, Status: Unknown -> False, Reason: SubnetsNotFound, Message: SubnetSelector did not match any Subnets";
    assert!(verdicts(&described(&[other])).is_empty());
}

#[test]
fn counts_unknown_errors_by_kind() {
    let unknown = |at: &str, request: &str| {
        line(at, "ERROR", "reconciling the frobnicator", &format!(r#","error":"request {request} refused""#))
    };
    let lines = [
        unknown("00:10", "5a21ba67-3c5e-4b7a-9d21-7e4c00161cd9"),
        unknown("07:10", "0b31ba67-3c5e-4b7a-9d21-7e4c00161cd9"),
        line("03:00", "ERROR", "cannot reach the frobnicator", ""),
        line("03:10", "WARN", "a warning", ""),
    ];
    let tally = tally(&lines);
    assert_eq!(tally.unknown, 4);
    let kinds: Vec<String> = tally
        .unrecognised
        .by_count()
        .iter()
        .map(|(kind, one)| {
            let (first, last) = one.span.dated().unwrap();
            format!("{}x {kind} from {first} to {last}, line {}", one.count, one.at.line)
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "2x reconciling the frobnicator: request … refused from 2026-04-23T18:00:10Z to 2026-04-23T18:07:10Z, line 1",
            "1x cannot reach the frobnicator from 2026-04-23T18:03:00Z to 2026-04-23T18:03:00Z, line 3",
        ]
    );
}

#[test]
fn diagnoses_a_panic_with_its_function() {
    let dump = "\
panic: runtime error: index out of range [3] with length 2

goroutine 512 [running]:
panic({0x2a1b3c4, 0xc000})
\t/usr/local/go/src/runtime/panic.go:785 +0x132
github.com/aws/karpenter-provider-aws/pkg/providers/ami.(*DefaultProvider).List(0xc000, {0x1, 0x2})
\tgithub.com/aws/karpenter-provider-aws/pkg/providers/ami/ami.go:102 +0x1d
";
    let found = |text: &str| {
        let diagnosis = tally(&[text.to_owned()]).diagnoses(ClusterId::FIRST).remove(0);
        (diagnosis.symptom.name, diagnosis.message, diagnosis.confidence, diagnosis.evidence[0].text.clone())
    };
    let (name, message, confidence, evidence) = found(dump);
    assert_eq!((name, confidence), ("controller-panicked", Confidence::Certain));
    assert_eq!(message, "the controller panicked: `runtime error: index out of range […] with length …`");
    assert!(
        evidence
            .ends_with("2 … github.com/aws/karpenter-provider-aws/pkg/providers/ami.(*DefaultProvider).List"),
        "{evidence}"
    );
    let stamped: Vec<String> = dump.lines().map(|line| format!("2026-04-23T18:04:55.1Z {line}")).collect();
    assert_eq!(found(&stamped.join("\n")).2, Confidence::Certain);
    let other = found(
        "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [chan receive]:\nmain.main()\n",
    );
    assert_eq!((other.0, other.2), ("controller-panicked", Confidence::Likely));
    assert!(
        diagnosed(&["panic: leader election lost".to_owned(), dump.to_owned()])
            .contains(&"warning leader-lost x1".to_owned())
    );
}

#[test]
fn a_leader_that_shuts_down_gives_no_diagnosis() {
    let lines = [
        line("00:10", "INFO", "Stopping and waiting for leader election runnables", ""),
        line(
            "00:11",
            "INFO",
            "failed to renew lease kube-system/karpenter-leader-election: timed out waiting for the condition",
            "",
        ),
        line(
            "00:12",
            "ERROR",
            "error received after stop sequence was engaged",
            r#","error":"leader election lost""#,
        ),
    ];
    assert!(diagnosed(&lines).is_empty());
    assert_eq!(tally(&lines).unknown, 0);
}

#[test]
fn one_failed_renewal_of_the_lease_is_harmless() {
    let failed = |second: usize| {
        let message =
            "error retrieving resource lock kube-system/karpenter-leader-election: context deadline exceeded";
        line(&format!("00:{second:02}"), "ERROR", message, "")
    };
    assert!(diagnosed(&(0..4).map(failed).collect::<Vec<_>>()).is_empty());
    assert_eq!(diagnosed(&(0..5).map(failed).collect::<Vec<_>>()), ["warning lease-not-renewed x5"]);
}

#[test]
fn remembers_a_burst_before_thousands_of_other_minutes() {
    let conflict = |minute: i64| {
        let time = Time(1_774_972_800_000 + minute * 60_000);
        format!(
            r#"{{"level":"ERROR","time":"{time}","message":"Reconciler error","error":"Operation cannot be fulfilled on nodeclaims.karpenter.sh \"a\": the object has been modified"}}"#
        )
    };
    let burst = std::iter::repeat_n(0, 60);
    let lines: Vec<String> = burst.chain((1..4_000).map(|step| step * 60)).map(conflict).collect();
    assert_eq!(diagnosed(&lines), ["warning conflicts-without-end x4059"]);
}
