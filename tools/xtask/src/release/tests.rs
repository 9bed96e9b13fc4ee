use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::differences::Differences;
use super::record::ReleaseRecord;
use super::{crd, minor_of, source, template, unknown_tags};

/// Definition of a NodePool with one field, which has a rule.
fn definition(field: &Value) -> Value {
    json!({"spec": {"names": {"kind": "NodePool"}, "versions": [{"name": "v1", "schema": {"openAPIV3Schema": {
        "required": ["spec"],
        "properties": {
            "spec": {"type": "object", "description": "words", "properties": {"field": field}},
            "status": {"type": "object", "properties": {"nodes": {"type": "integer", "maximum": 3}}},
        },
    }}}]}})
}

fn lines(field: &Value) -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    assert_eq!(crd::add(&definition(field), &mut lines).as_deref(), Some("NodePool"));
    lines
}

fn field() -> Value {
    json!({"type": "string", "enum": ["a", "b"], "default": "a", "maxLength": 5, "format": "int32",
        "x-kubernetes-validations": [{"rule": "self  != 'karpenter' || self in [\"karpenter.k8s.aws/x\"]", "message": "no"}]})
}

#[test]
fn writes_one_line_for_each_fact_and_no_description() {
    let text = lines(&field()).into_iter().collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(text, @r#"
    NodePool . required spec
    NodePool spec type object
    NodePool spec.field default "a"
    NodePool spec.field enum a
    NodePool spec.field enum b
    NodePool spec.field key karpenter.k8s.aws/x
    NodePool spec.field maxLength 5
    NodePool spec.field rule 13d069a6
    NodePool spec.field type string
    NodePool status type object
    NodePool status.nodes type integer
    "#);
}

#[test]
fn reads_lists_maps_and_open_values() {
    let field = json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "object",
        "additionalProperties": {"x-kubernetes-preserve-unknown-fields": true}}});
    let text = lines(&field).into_iter().filter(|line| line.contains("field")).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(text, @"
    NodePool spec.field list-type set
    NodePool spec.field type array
    NodePool spec.field[] type object
    NodePool spec.field[]{} type any
    ");
}

/// The differences between a recorded and a new definition of the same release, as the task prints them.
fn planted(change: impl Fn(&mut Value)) -> String {
    let mut record = ReleaseRecord::default();
    record.set(14, lines(&field()));
    let mut changed = field();
    change(&mut changed);
    let found = lines(&changed);
    let mut differences = Differences::default();
    // The tables have no such field, so only the rules can be compared.
    differences.of_record(&found, &record, 15);
    differences.describe(15)
}

#[test]
fn finds_a_changed_a_new_and_a_removed_rule() {
    assert!(planted(|_| {}).starts_with("0 differences"));
    let changed = planted(|field| field["x-kubernetes-validations"][0]["rule"] = "self != 'other'".into());
    assert!(
        changed.contains("+ NodePool spec.field rule") && changed.contains("- NodePool spec.field rule"),
        "{changed}"
    );
    let added = planted(|field| {
        let rules = field["x-kubernetes-validations"].as_array_mut().unwrap();
        rules.push(json!({"rule": "size(self) > 1"}));
    });
    assert!(added.contains("+ NodePool") && !added.contains("- NodePool"), "{added}");
    let removed = planted(|field| field["x-kubernetes-validations"] = json!([]));
    assert!(removed.contains("- NodePool spec.field rule") && !removed.contains("+ NodePool"), "{removed}");
    let spaces = planted(|field| {
        let rule =
            field["x-kubernetes-validations"][0]["rule"].as_str().unwrap().replace("self  !=", "self !=");
        field["x-kubernetes-validations"][0]["rule"] = rule.into();
    });
    assert!(spaces.starts_with("0 differences"), "{spaces}");
}

#[test]
fn finds_a_changed_enum_and_a_new_field() {
    let release = karpenter::release::Release::parse("1.14").unwrap();
    let tables = karpenter::api::outline::outline(release);
    let mut found: BTreeSet<String> = tables.clone();
    found.remove("NodePool spec.disruption.consolidationPolicy enum Balanced");
    found.insert("NodePool spec.disruption.consolidationPolicy enum Always".to_owned());
    found.insert("NodePool spec.newField type boolean".to_owned());
    let mut differences = Differences::default();
    differences.of_tables(&found, release);
    let text: String = differences
        .describe(15)
        .lines()
        .filter(|line| !line.contains(" key "))
        .collect::<Vec<_>>()
        .join("\n");
    for line in [
        "+ NodePool spec.disruption.consolidationPolicy enum Always",
        "value_since(15, \"Always\")",
        "+ NodePool spec.newField type boolean",
        "optional(\"newField\", …).since(15)",
        "- NodePool spec.disruption.consolidationPolicy enum Balanced",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn parses_releases() {
    assert_eq!(minor_of("1.16").ok(), Some(16));
    assert_eq!(minor_of("v1.16.2").ok(), Some(16));
    assert!(minor_of("2.0").is_err() && minor_of("latest").is_err());
}

#[test]
fn names_the_tags_of_unknown_releases() {
    let newest = karpenter::release::Release::NEWEST.name_of_patch();
    let tags =
        format!("v0.37.8\nv1.0.0\nv{newest}\nv{newest}9\nv1.200.0\nv1.200.0-rc.0\nhelm-v1.200.0\n1.200.0");
    assert_eq!(unknown_tags(&tags).collect::<Vec<_>>(), [format!("v{newest}9"), "v1.200.0".to_owned()]);
}

#[test]
fn reads_actions_and_messages_from_a_template_with_tags() {
    let text = r#"
  Policy:
    PolicyDocument: !Sub |
      {"Statement": [{"Action": ["ec2:RunInstances", "iam:PassRole"], "Resource": "arn:${AWS::Partition}:ec2:*::image/*"}]}
  Rule:
    EventPattern:
      detail-type:
        - EC2 Spot Instance Interruption Warning
"#;
    insta::assert_snapshot!(template::lines_of(text).into_iter().collect::<Vec<_>>().join("\n"), @"
    CloudFormation . action ec2:RunInstances
    CloudFormation . action iam:PassRole
    CloudFormation . detail-type EC2 Spot Instance Interruption Warning
    ");
}

#[test]
fn new_metric_is_no_difference_and_a_removed_one_is() {
    let line = |name: &str| format!("Metrics . name {name}");
    let mut record = ReleaseRecord::default();
    record.set(14, [line("a"), line("b")].into());
    let mut differences = Differences::default();
    differences.of_record(&[line("a"), line("c")].into(), &record, 15);
    assert!(differences.describe(15).starts_with("- Metrics . name b\n"), "{}", differences.describe(15));
    // A task without the page of the metrics compares none.
    let mut differences = Differences::default();
    differences.of_record(&BTreeSet::new(), &record, 15);
    assert!(differences.is_empty());
    // Nor does it forget them.
    record.set(14, ["NodePool spec type object".to_owned()].into());
    assert!(record.lines(14).is_some_and(|lines| lines.len() == 3));
}

const CODE: &str = r#"
// log.FromContext(ctx).Info("in a comment")
func f() {
	log.FromContext(ctx).WithValues("a", b).V(1).Info("marking consolidatable", "c", d)
	log.FromContext(ctx).Error(fmt.Errorf("inner, %w", err), "failed \"listing\" nodepools")
	return events.Event{Message: fmt.Sprintf("NodeClaim %s event: %s", name, err), Reason: "a"}
	claim.StatusConditions().SetFalse(v1.ConditionTypeLaunched, "LaunchFailed", truncate(err.Error()))
	log.Info(text)
}
"#;

#[test]
fn reads_the_messages_of_logs_events_and_conditions() {
    let texts: Vec<_> = source::lines_of(CODE)
        .iter()
        .map(|(line, text)| format!("{} {text}", line.split(' ').nth(2).unwrap()))
        .collect();
    insta::assert_snapshot!(texts.join("\n"), @r#"
    event NodeClaim %s event: %s
    log failed "listing" nodepools
    log marking consolidatable
    reason LaunchFailed
    "#);
}

#[test]
fn reports_a_new_message_that_the_vocabulary_does_not_know() {
    let mut record = ReleaseRecord::default();
    record.set(14, source::lines_of(CODE).into_keys().collect());
    let planted = CODE.replace(
        "log.Info(text)",
        "log.Info(\"a planted message about %d nodes\", 3)\n\tlog.Info(\"selected repair policy\")",
    );
    let found = source::lines_of(&planted);
    assert_eq!(found.len(), 6);
    let mut differences = Differences::default();
    differences.of_messages(&found, &record, 16);
    let text = differences.describe(16);
    assert!(text.contains(" \"a planted message about %d nodes\"\n"), "{text}");
    assert!(text.contains("\n1 differences"), "{text}");
    // Without a record, nothing is new.
    let mut differences = Differences::default();
    differences.of_messages(&found, &ReleaseRecord::default(), 16);
    assert!(differences.is_empty());
}
