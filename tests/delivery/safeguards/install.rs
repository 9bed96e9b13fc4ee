//! The steps of `docs/install.md` as a user would do them, as far as they can be rendered.

use karpwarden_generate::{home, kustomize, yaml};
use serde_json::Value;

/// The YAML blocks of the page, in order.
fn blocks() -> Vec<String> {
    yaml::blocks(&home::text("docs/install.md").unwrap())
}

fn parsed(block: &str) -> Value {
    yaml::documents(block).unwrap().remove(0)
}

/// The only block that is a whole `kustomization.yaml`.
fn overlay() -> Value {
    let blocks: Vec<_> = blocks().iter().map(|block| parsed(block)).collect();
    let mut whole = blocks.into_iter().filter(|block| block["kind"] == "Kustomization");
    let first = whole.next().unwrap();
    assert_eq!(whole.next(), None, "the page has one overlay");
    first
}

/// The blocks that are added to the overlay.
fn additions() -> Vec<Value> {
    blocks().iter().map(|block| parsed(block)).filter(|block| block["kind"].is_null()).collect()
}

/// The overlay with the lists of an addition appended to its own.
fn with(mut overlay: Value, addition: &Value) -> Value {
    for (key, items) in addition.as_object().unwrap() {
        let items = items.as_array().unwrap().clone();
        match overlay.get_mut(key).and_then(Value::as_array_mut) {
            Some(list) => list.extend(items),
            None => overlay[key] = items.into(),
        }
    }
    overlay
}

fn rendered(overlay: &Value) -> Vec<Value> {
    kustomize::render_text(&yaml::text(overlay).unwrap()).unwrap()
}

fn named<'o>(objects: &'o [Value], name: &str) -> &'o Value {
    objects.iter().find(|object| object["metadata"]["name"] == name).unwrap()
}

fn policies(objects: &[Value]) -> Vec<&Value> {
    objects.iter().filter(|object| object["kind"] == "ClusterAdmissionPolicy").collect()
}

#[test]
fn overlay_sets_release_cluster_name_and_image_in_mode_monitor() {
    let objects = rendered(&overlay());
    assert_eq!(policies(&objects).len(), 4);
    for policy in policies(&objects) {
        assert_eq!(policy["spec"]["mode"], "monitor");
        assert_eq!(policy["spec"]["settings"]["karpenterVersion"], "1.8");
        assert_eq!(policy["spec"]["settings"]["clusterName"], "prod-eu-1");
    }
    let server = objects.iter().find(|object| object["kind"] == "PolicyServer").unwrap();
    assert!(
        server["spec"]["image"]
            .as_str()
            .unwrap()
            .starts_with("ghcr.io/kubewarden/adm-controller/policy-server:v1.")
    );
}

#[test]
fn enforcing_keeps_settings_image_and_conditions() {
    let additions = additions();
    let protect = additions.iter().find(|addition| addition.get("components").is_some()).unwrap();
    let account = additions.iter().find(|addition| addition.to_string().contains("matchConditions")).unwrap();
    let chosen = with(overlay(), account);
    let (before, after) = (rendered(&chosen), rendered(&with(chosen, protect)));
    assert_eq!(before.len(), after.len());
    for (mut before, after) in before.into_iter().zip(after) {
        if before["kind"] == "ClusterAdmissionPolicy" {
            assert_eq!(after["spec"]["mode"], "protect", "{after}");
            before["spec"]["mode"] = "protect".into();
            before["spec"]["settings"]["announceErrors"] = false.into();
        }
        assert_eq!(before, after);
    }
}

#[test]
fn another_account_of_karpenter_replaces_the_condition() {
    let additions = additions();
    let account = additions.iter().find(|addition| addition.to_string().contains("matchConditions")).unwrap();
    let objects = rendered(&with(overlay(), account));
    let condition = &named(&objects, "karpwarden-karpenter-objects")["spec"]["matchConditions"][0];
    assert_eq!(condition["name"], "not-by-karpenter");
    assert!(condition["expression"].as_str().unwrap().contains("system:serviceaccount:infra:karpenter"));
}

#[test]
fn one_policy_can_be_enforced_before_the_others() {
    let additions = additions();
    let single = additions.iter().find(|addition| addition.to_string().contains("/spec/mode")).unwrap();
    let objects = rendered(&with(overlay(), single));
    let modes: Vec<_> = policies(&objects)
        .iter()
        .map(|policy| {
            (policy["metadata"]["name"].as_str().unwrap(), policy["spec"]["mode"].as_str().unwrap())
        })
        .filter(|(_, mode)| *mode == "protect")
        .collect();
    assert_eq!(modes, [("karpwarden-karpenter-objects", "protect")]);
}

#[test]
fn every_kind_of_the_installation_is_removed() {
    let page = home::text("docs/install.md").unwrap();
    let removal = page.split_once("To remove everything").unwrap().1;
    let commands: Vec<&str> = removal.lines().filter(|line| line.starts_with("kubectl delete ")).collect();
    for object in kustomize::render("policies/karpenter/kustomize/overlays/example").unwrap() {
        let kind = object["kind"].as_str().unwrap().to_lowercase();
        let plural = kind.strip_suffix('y').map_or(format!("{kind}s"), |stem| format!("{stem}ies"));
        let command = commands.iter().find(|line| line.split([' ', ',']).any(|word| word == plural));
        let command = command.unwrap_or_else(|| panic!("{plural} stay"));
        assert!(command.ends_with("-l app.kubernetes.io/part-of=karpwarden"), "{command}");
        let is_in_namespace = command.contains("-n kubewarden");
        assert_eq!(is_in_namespace, object["metadata"]["namespace"] == "kubewarden", "{command}");
    }
}
