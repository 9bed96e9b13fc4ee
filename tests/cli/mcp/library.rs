//! Resources and prompts.

use karpenter::release::Release;
use serde_json::{Value, json};

use super::Client;

#[test]
fn every_resource_can_be_read() {
    let mut client = Client::start();
    let (mut uris, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
        let list = client.ask("resources/list", &params);
        uris.extend(
            list["resources"].as_array().unwrap().iter().map(|one| one["uri"].as_str().unwrap().to_owned()),
        );
        cursor = list["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert!(uris.len() > 200, "{}", uris.len());
    for uri in &uris {
        let content = client.ask("resources/read", &json!({"uri": uri}))["contents"][0].clone();
        assert_eq!(&content["uri"], uri);
        let text = content["text"].as_str().unwrap_or_else(|| panic!("{uri}: {content}"));
        assert!(text.len() > 20 && text.len() < 64 << 10, "{uri}: {}", text.len());
    }
    let templates = client.ask("resources/templates/list", &json!({}))["resourceTemplates"].clone();
    assert_eq!(templates[1]["uriTemplate"], "karpwarden://instance-types/{name}");
    let kind = client.ask("resources/read", &json!({"uri": "karpwarden://instance-types/m7g.large"}));
    assert!(kind["contents"][0]["text"].as_str().unwrap().contains("\"arm64\""), "{kind}");
    let reference = json!({"type": "ref/resource", "uri": "karpwarden://rules/{name}"});
    let argument = json!({"name": "name", "value": "instance-profile-is"});
    let completed = client.ask("completion/complete", &json!({"ref": reference, "argument": argument}));
    assert_eq!(completed["completion"]["values"], json!(["instance-profile-is-arn"]));
}

/// The YAML block of a prompt.
fn example(client: &mut Client, arguments: &Value) -> String {
    let prompt = client.ask("prompts/get", &json!({"name": "write-nodepool", "arguments": arguments}));
    let text = prompt["messages"][0]["content"]["text"].as_str().unwrap_or_else(|| panic!("{prompt}"));
    assert!(text.contains("Call the tool `check`"));
    let (_, rest) = text.split_once("```yaml\n").unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_example_of_the_prompt_has_no_error_in_any_release() {
    let mut client = Client::start();
    let prompts = client.ask("prompts/list", &json!({}))["prompts"].clone();
    assert_eq!(
        prompts[0]["arguments"][0],
        json!({"name": "workload", "required": true, "description": prompts[0]["arguments"][0]["description"]})
    );
    let choices = [("amd64", "spot"), ("arm64", "on-demand"), ("amd64,arm64", "spot,on-demand")];
    for release in Release::all().map(Release::name_of_patch) {
        for (architecture, capacity) in choices {
            let arguments = json!({"workload": "web", "architecture": architecture, "capacityType": capacity, "release": release});
            let text = example(&mut client, &arguments);
            let checked = client.call("check", &json!({"text": text, "karpenterVersion": release}));
            let (report, findings) = (&checked["answer"], checked["answer"]["findings"].to_string());
            assert_eq!(report["karpenterVersion"], Release::parse(&release).unwrap().to_string());
            let summary = &report["summary"];
            assert_eq!(
                (&summary["errors"], &summary["warnings"]),
                (&json!(0), &json!(0)),
                "{release}: {findings}"
            );
            assert_eq!((&summary["checked"], &report["unreadable"]), (&json!(2), &json!([])));
        }
    }
}

#[test]
fn pods_find_a_place_in_the_example_of_the_prompt() {
    let mut client = Client::start();
    let text = example(&mut client, &json!({"workload": "web"}));
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop}\nspec:\n  containers: [{name: a, image: a, resources: {requests: {cpu: 1}}}]\n";
    let answer = client.call("simulate", &json!({"text": format!("{text}---\n{pod}")}));
    assert_eq!(answer["answer"]["summary"]["new"], 1, "{answer}");
}

/// The skill follows the format of <https://agentskills.io/specification>, and names only tools and commands that exist.
#[test]
fn the_skill_is_well_formed_and_names_what_exists() {
    let skill = include_str!("../../../docs/skills/karpwarden/SKILL.md");
    let (head, body) = skill.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
    let field =
        |name: &str| head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).unwrap();
    assert_eq!(field("name"), "karpwarden");
    assert!((1..=1024).contains(&field("description").chars().count()));
    assert!((1..=500).contains(&field("compatibility").chars().count()));
    assert!(body.lines().count() < 500);
    let mut client = Client::start();
    let tools = client.ask("tools/list", &json!({}))["tools"].as_array().unwrap().clone();
    for tool in &tools {
        let name = tool["name"].as_str().unwrap();
        assert!(body.contains(&format!("| `{name}` | `karpwarden {name} ")), "{name}");
    }
    let folder = crate::folder::Folder::with(&[]);
    for command in body.split("`karpwarden ").skip(1).filter_map(|rest| rest.split(['`', ' ']).next()) {
        assert_eq!(folder.run(&[command, "--help"]).status, 0, "{command}");
    }
}
