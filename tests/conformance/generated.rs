//! Objects generated from the API tables, valid and invalid, get the same findings as YAML, as JSON and in an
//! AdmissionReview.

use std::fmt::Write as _;

use answers::report::Report;
use karpenter::api::{FieldSchema, KIND_SCHEMAS, KindSchema, Limit, Schema, SchemaType};
use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};

use crate::report;

/// Pseudo-random numbers from a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn one_in(&mut self, sides: usize) -> bool {
        self.roll(sides) == 0
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.roll(of.len())].clone()
    }
}

/// Strings that match some field, and strings that match no field.
const TEXTS: [&str; 32] = [
    "",
    "a",
    "1",
    "0",
    "5%",
    "10%",
    "100Gi",
    "1.5",
    "+10%",
    "-25%",
    "720h",
    "1h30m",
    "0s",
    "Never",
    "30d",
    "@daily",
    "* * * * *",
    "ami-1",
    "subnet-1",
    "sg-1",
    "cr-1",
    "pg-1",
    "123456789012",
    "al2023@latest",
    "windows2022@1",
    "bottlerocket",
    "karpenter.sh/nodepool",
    "karpenter.k8s.aws/instance-family",
    "x.k8s.io/y",
    "kubernetes.io/hostname",
    "true",
    "ü: #\n",
];

fn object(root: &'static KindSchema, dice: &mut Dice) -> Json {
    let mut object = json!({
        "apiVersion": format!("{}/{}", root.kind.group, root.kind.version),
        "kind": root.kind.name,
        "metadata": {"name": "made"},
    });
    if !dice.one_in(20) {
        object["spec"] = value(&root.spec.schema, dice);
    }
    if dice.one_in(10) {
        object["status"] = json!({"conditions": [], dice.pick(&TEXTS): 1});
    }
    if dice.one_in(20) {
        object["metadata"] = invalid(dice);
    }
    object
}

fn value(schema: &Schema, dice: &mut Dice) -> Json {
    if dice.one_in(25) {
        return invalid(dice);
    }
    match schema.shape {
        SchemaType::Object(fields) => members(fields, dice),
        SchemaType::Map(values) => {
            let count = dice.roll(4);
            (0..count)
                .map(|_| (dice.pick(&TEXTS).to_owned(), value(values, dice)))
                .collect::<Map<_, _>>()
                .into()
        }
        SchemaType::List(items) => (0..dice.roll(4)).map(|_| value(items, dice)).collect(),
        SchemaType::Boolean => dice.one_in(2).into(),
        SchemaType::Integer => dice.pick(&[0, 1, 30, 60, 100, 2_147_483_648_i64, -1]).into(),
        SchemaType::Any => invalid(dice),
        SchemaType::IntOrText if dice.one_in(2) => 10.into(),
        SchemaType::Text | SchemaType::IntOrText => {
            let words = schema.constraints.iter().find_map(|fact| match fact.limit {
                Limit::OneOf(words) => Some(words),
                _ => None,
            });
            match words.filter(|_| !dice.one_in(8)) {
                Some(words) => dice.pick(words).text.into(),
                None => dice.pick(&TEXTS).into(),
            }
        }
    }
}

fn members(fields: &'static [FieldSchema], dice: &mut Dice) -> Json {
    let mut members = Map::new();
    for field in fields {
        let there = if field.required { !dice.one_in(15) } else { dice.one_in(3) };
        if there {
            members.insert(field.name.to_owned(), value(&field.schema, dice));
        }
    }
    if dice.one_in(15) {
        members.insert(
            dice.pick(&["bogus", "expireAfter", "kubelet", "value", "Weight", ""]).to_owned(),
            invalid(dice),
        );
    }
    members.into()
}

/// Arbitrary value, except numbers such as `1.0`, which YAML reads as 1.
fn invalid(dice: &mut Dice) -> Json {
    let inner = json!({dice.pick(&TEXTS): dice.pick(&TEXTS)});
    dice.pick(&[
        Json::Null,
        true.into(),
        7.into(),
        1.5.into(),
        json!([]),
        json!([null, 1, {}]),
        json!({}),
        inner,
        "text".into(),
    ])
}

/// Writes a value in block style.
fn yaml(value: &Json, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    match value {
        Json::Object(members) if !members.is_empty() => {
            for (key, value) in members {
                let _ = write!(out, "\n{indent}{}:", Json::from(key.as_str()));
                yaml(value, depth + 1, out);
            }
        }
        Json::Array(items) if !items.is_empty() => {
            for item in items {
                let _ = write!(out, "\n{indent}-");
                yaml(item, depth + 1, out);
            }
        }
        plain => {
            let _ = write!(out, " {plain}");
        }
    }
}

/// Findings of a file without their positions.
fn findings(report: &Report, file: &str) -> Vec<(String, String, String, String)> {
    let findings = report.findings.iter().filter(|finding| finding.file == file);
    findings
        .map(|finding| {
            (finding.rule.to_owned(), finding.path.clone(), finding.releases.clone(), finding.message.clone())
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]
    #[test]
    fn findings_do_not_depend_on_the_input_format(seed in any::<u64>(), kind in 0..KIND_SCHEMAS.len()) {
        let object = object(KIND_SCHEMAS[kind], &mut Dice(seed));
        let mut block = String::new();
        yaml(&object, 0, &mut block);
        let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "request": {"operation": "CREATE", "object": object}});
        let report = report(&[object.to_string(), format!("# block style{block}\n"), review.to_string()], crate::cases::RANGE);
        let as_json = findings(&report, "0");
        prop_assert_eq!(&as_json, &findings(&report, "1"));
        prop_assert_eq!(&as_json, &findings(&report, "2"));
        // An update does not validate unchanged values again, except the scale subresource and unknown fields.
        let again = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "request": {"operation": "UPDATE", "object": object, "oldObject": object}});
        let updated = crate::report(&[again.to_string()], crate::cases::RANGE);
        for (rule, path, releases, _) in findings(&updated, "0") {
            let again = rule == "api-unknown-field" || rule == "removed-api-version" || path == ".spec.replicas";
            // `spec` may be missing, and every request decodes `metadata`.
            prop_assert!(again || path.is_empty() || path == "spec", "{} {} {}", rule, path, releases);
        }
    }
}
