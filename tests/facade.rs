//! The examples of the library do what they show. Cargo compiles them as programs; this test calls their functions.

#[path = "../src/examples/check_text.rs"]
mod check_text;
#[path = "../src/examples/own_cluster.rs"]
mod own_cluster;
#[path = "../src/examples/simulate.rs"]
mod simulate;

#[test]
fn checks_a_text() {
    let report = check_text::report("1.8").unwrap();
    let rules: Vec<&str> = report.findings.iter().map(|finding| finding.rule).collect();
    assert!(rules.contains(&"instance-profile-is-arn"), "{rules:?}");
    assert!(check_text::report("0.37").is_err());
}

#[test]
fn simulates_the_placement_of_pods() {
    let answer = simulate::answer("us-east-1").unwrap();
    assert_eq!((answer.summary.new, answer.summary.unplaced), (3, 0));
}

#[test]
fn reviews_an_object_with_the_objects_of_a_source() {
    let findings = own_cluster::review(own_cluster::REQUESTED, &own_cluster::InMemory);
    assert!(findings.iter().any(|finding| finding.starts_with("nodeclass-ref-dangling: ")), "{findings:?}");
    let repaired = own_cluster::REQUESTED.replace(
        r#""kind": "EC2NodeClass", "name": "default""#,
        r#""kind": "EC2NodeClass", "name": "standard""#,
    );
    let findings = own_cluster::review(&repaired, &own_cluster::InMemory);
    assert!(!findings.iter().any(|finding| finding.starts_with("nodeclass-ref-dangling: ")), "{findings:?}");
}
