//! Plans and states of Terraform (`plan/README.md`).

use karpwarden_terraform::{
    EvaluatedConfiguration, EvaluatedValue, InstanceKey, PlannedSide, is_plan, to_json,
};
use manifest::limits::Limits;
use manifest::{Document, File};

const CREATE: &str = include_str!("plan/create.json");
const UPDATE: &str = include_str!("plan/update.json");
const STATE: &str = include_str!("plan/state.json");

fn read(text: &str, side: PlannedSide) -> EvaluatedConfiguration {
    let file = File::read("plan.json", text, &Limits::DEFAULT);
    let [Document::Read(tree)] = file.documents.as_slice() else { panic!("no document") };
    assert!(is_plan(tree));
    EvaluatedConfiguration::of_plan(tree, &file.source, side)
}

/// The addresses with attribute `input`, placeholders spelled out.
fn inputs(configuration: &EvaluatedConfiguration) -> Vec<(&str, String)> {
    let input =
        |value: Option<&EvaluatedValue>| value.map_or(String::new(), |value| to_json(&value.spelled()));
    configuration
        .blocks
        .iter()
        .map(|block| (block.address.as_str(), input(block.body.get("input"))))
        .collect()
}

#[test]
fn a_plan_has_the_values_after_it() {
    let plan = read(CREATE, PlannedSide::After);
    let unknown = |rest: &str| {
        format!(
            r#"{{"known":"line1\nline2 \u003c\u003e\u0026","list":[1,"${{terraform_data.a{rest}.input.list[1]}}",{{"x":"${{terraform_data.a{rest}.input.list[2].x}}"}}],"#
        )
    };
    assert_eq!(
        inputs(&plan),
        [
            (
                r#"terraform_data.a["one"]"#,
                unknown("[\\\"one\\\"]") + r#""one":null,"secret":"${sensitive}"}"#
            ),
            (
                r#"terraform_data.a["t\"w/o"]"#,
                unknown(r#"[\"t\"w/o\"]"#) + r#""secret":"${sensitive}","t\"w/o":null}"#
            ),
            ("terraform_data.b[0]", r#""${terraform_data.b[0].input}""#.to_owned()),
            ("terraform_data.b[1]", r#""${terraform_data.b[1].input}""#.to_owned()),
            ("terraform_data.dep", r#""x""#.to_owned()),
            ("module.m[0].terraform_data.x", r#""${module.m[0].terraform_data.x.input}""#.to_owned()),
        ]
    );
    let keys: Vec<&InstanceKey> = plan.blocks.iter().map(|block| &block.key).collect();
    assert_eq!(keys[1], &InstanceKey::Name("t\"w/o".into()));
    assert_eq!((keys[3], keys[4]), (&InstanceKey::Index(1), &InstanceKey::Single));
    assert_eq!(plan.blocks[5].module, "module.m[0].");
    assert!(read(CREATE, PlannedSide::Before).blocks.is_empty());
}

#[test]
fn values_of_a_plan_have_their_places() {
    let plan = read(CREATE, PlannedSide::After);
    let input = plan.blocks[0].body.get("input").unwrap();
    let known = input.get("known").unwrap().as_text().unwrap();
    let line = known.as_str().find("line2").unwrap();
    assert_eq!(plan.texts.slice(known.place_of(line, line + 5).unwrap()), "line2");
    assert_eq!(plan.texts.slice(known.place_of(line - 1, line).unwrap()), "\\n");
    assert_eq!(plan.texts.slice(plan.blocks[0].place), r#""terraform_data.a[\"one\"]""#);
}

#[test]
fn a_plan_has_the_values_before_it() {
    let (before, after) = (read(UPDATE, PlannedSide::Before), read(UPDATE, PlannedSide::After));
    let known = |side: &EvaluatedConfiguration| {
        side.blocks[0].body.get("input").unwrap().get("known").unwrap().as_str().unwrap().to_owned()
    };
    assert_eq!(
        (known(&before), known(&after)),
        ("line1\nline2 <>&".to_owned(), "changed\nline2 <>&".to_owned())
    );
    let secret = before.blocks[0].body.get("input").unwrap().get("secret").unwrap();
    assert_eq!(secret.as_unknown().unwrap().text.as_str(), "${sensitive}");
    assert_eq!((before.blocks.len(), after.blocks.len()), (6, 5));
    // The plan deletes it.
    let has_deleted = |side: &EvaluatedConfiguration| {
        side.blocks.iter().any(|block| block.address == "terraform_data.b[1]")
    };
    assert_eq!((has_deleted(&before), has_deleted(&after)), (true, false));
    assert!(after.absent.is_empty(), "{:?}", after.absent);
}

#[test]
fn a_state_has_its_values() {
    let state = read(STATE, PlannedSide::After);
    let before = read(UPDATE, PlannedSide::Before);
    // Terraform lists resources in another order in a plan than in a state.
    let sorted = |configuration: &EvaluatedConfiguration| {
        let mut inputs: Vec<(String, String)> =
            inputs(configuration).into_iter().map(|(address, input)| (address.to_owned(), input)).collect();
        inputs.sort();
        inputs
    };
    assert_eq!(sorted(&state), sorted(&before));
    assert!(read(STATE, PlannedSide::Before).blocks.is_empty());
}
