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

/// The first block, a whole `kustomization.yaml`.
fn overlay() -> Value {
    blocks().iter().map(|block| parsed(block)).find(|block| block["kind"] == "Kustomization").unwrap()
}

/// The blocks that are added to the overlay: items of `patches` or of `components`.
fn additions() -> Vec<Value> {
    let pages = ["docs/install.md", "docs/troubleshooting.md", "docs/growing.md"];
    let blocks = pages.into_iter().flat_map(|page| yaml::blocks(&home::text(page).unwrap()));
    blocks.map(|block| parsed(&block)).filter(|block| block["kind"].is_null()).collect()
}

/// The overlay with an addition, as a text editor makes it. A key in an addition could be there twice, and Kustomize takes the last one.
fn with(overlay: &Value, addition: &Value) -> Value {
    let mut overlay = overlay.clone();
    assert!(addition.is_array(), "keys instead of items: {addition}");
    for item in addition.as_array().unwrap() {
        let key = if item.is_string() { "components" } else { "patches" };
        if overlay[key].is_null() {
            overlay[key] = Value::Array(Vec::new());
        }
        overlay[key].as_array_mut().unwrap().push(item.clone());
    }
    overlay
}

/// The addition that contains a text.
fn addition(text: &str) -> Value {
    additions().into_iter().find(|addition| addition.to_string().contains(text)).unwrap()
}

#[test]
fn every_addition_together_renders_and_enforces_every_policy() {
    let (mut all, additions) = (overlay(), additions());
    assert!(additions.len() >= 9, "{additions:?}");
    for addition in additions.iter().filter(|addition| !addition.to_string().contains("/protect?")) {
        all = with(&all, addition);
    }
    let objects = rendered(&with(&all, &addition("components/protect")));
    assert_eq!(policies(&objects).len(), 6);
    for policy in policies(&objects) {
        assert_eq!(policy["spec"]["mode"], "protect", "{policy}");
    }
    let kinds = ["CronJob", "PrometheusRule", "ServiceMonitor"];
    for kind in kinds {
        assert!(objects.iter().any(|object| object["kind"] == kind), "{kind}");
    }
}

fn rendered(overlay: &Value) -> Vec<Value> {
    kustomize::render_text(&yaml::text(overlay).unwrap()).unwrap()
}

fn policies(objects: &[Value]) -> Vec<&Value> {
    objects.iter().filter(|object| object["kind"] == "ClusterAdmissionPolicy").collect()
}

#[test]
fn overlay_sets_release_cluster_name_and_image_in_mode_monitor() {
    let objects = rendered(&overlay());
    assert_eq!(policies(&objects).len(), 5);
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
    let chosen = with(&overlay(), &addition("matchConditions"));
    let (before, after) = (rendered(&chosen), rendered(&with(&chosen, &addition("components/protect"))));
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
fn another_account_of_karpenter_replaces_every_condition_about_it() {
    let mut overlay = overlay();
    let components = "policies/karpenter/kustomize/components";
    let address = |name: &str| format!("{}//{components}/{name}?ref=v{}", home::REPOSITORY, home::VERSION);
    overlay["components"] = ["node-overlays", "fix", "disruption"].map(address).to_vec().into();
    let objects = rendered(&with(&overlay, &addition("matchConditions")));
    let mut conditions = 0;
    for policy in policies(&objects) {
        for condition in policy["spec"]["matchConditions"].as_array().unwrap() {
            let expression = condition["expression"].as_str().unwrap();
            let names_the_account = expression.contains("system:serviceaccount:infra:karpenter");
            assert_eq!(names_the_account, condition["name"] == "not-by-karpenter", "{policy}");
            conditions += usize::from(names_the_account);
        }
    }
    assert_eq!(conditions, 4);
}

#[test]
fn one_policy_can_be_enforced_before_the_others() {
    let objects = rendered(&with(&overlay(), &addition("/spec/mode")));
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
