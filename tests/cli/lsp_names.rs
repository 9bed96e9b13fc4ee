//! The answers of the language server about names, fields and objects of a folder, as an editor asks for it.

use serde_json::{Value, json};

use crate::editor::{Editor, uri};
use crate::folder::Folder;
use crate::lsp::CLASS;

const POOL: &str = "apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  disruption:
    consolidateAfter: 1h30m
    budgets:
      - nodes: \"0\"
        schedule: \"0 9 * * mon-fri\"
        duration: 8h
  template:
    metadata:
      labels: {team: blue}
    spec:
      expireAfter: 720h
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: class}
      requirements:
        - {key: karpenter.k8s.aws/instance-family, operator: In, values: [m7g]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
      taints:
        - {key: dedicated, value: web, effect: NoSchedule}
";
const WEB: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {team: blue}
      tolerations: [{key: dedicated, operator: Exists}]
      containers:
        - name: web
          image: web
          resources: {requests: {cpu: \"1.5\", memory: 1.5Gi}}
      volumes:
        - name: data
          persistentVolumeClaim: {claimName: data}
";
const VOLUMES: &str = "apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: gp3}
provisioner: ebs.csi.aws.com
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
spec:
  storageClassName: gp3
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 10Gi}}
";
const FILES: [(&str, &str); 4] =
    [("pool.yaml", POOL), ("class.yaml", CLASS), ("web.yaml", WEB), ("volumes.yaml", VOLUMES)];

/// An editor with a folder of related files, all of them open.
fn session(folder: &Folder) -> Editor {
    let mut editor = Editor::with_folders(&[&folder.path("")]);
    for (name, text) in FILES {
        editor.open(&folder.path(name), text);
    }
    editor
}

/// The line and the character of the start of a text.
fn place(text: &str, part: &str) -> (usize, usize) {
    let (before, _) = text.split_once(part).unwrap_or_else(|| panic!("{part}"));
    (before.matches('\n').count(), before.rsplit('\n').next().unwrap().len())
}

/// The places of an answer, each as the name of the file and the line.
fn places(answer: &Value) -> Vec<String> {
    let all = answer.as_array().unwrap_or_else(|| panic!("{answer}")).iter();
    let place = |place: &Value| {
        let name = place["uri"].as_str().unwrap().rsplit('/').next().unwrap();
        format!("{name}:{}", place["range"]["start"]["line"])
    };
    all.map(place).collect()
}

#[test]
fn completes_while_somebody_types() {
    let folder = Folder::with(&FILES);
    let path = folder.path("new.yaml");
    let mut editor = session(&folder);
    let text = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: b}\nspec:\n  template:\n    spec:\n      nodeClassRef: {name: }\n      requirements:\n        - key: \n";
    editor.open(&path, text);
    let labels = |answer: &Value| -> Vec<String> {
        let items = answer["items"].as_array().unwrap_or_else(|| panic!("{answer}")).iter();
        items.map(|item| item["label"].as_str().unwrap().to_owned()).collect()
    };
    let (line, character) = place(text, "}\n      requirements");
    assert_eq!(labels(&editor.ask_at("textDocument/completion", &path, (line, character))), ["class"]);
    let keys = labels(&editor.ask_at("textDocument/completion", &path, (8, 15)));
    assert!(keys.iter().any(|key| key == "karpenter.sh/capacity-type"), "{keys:?}");
    // Changes in parts, as editors send them.
    let at = json!({"line": 4, "character": 0});
    let change = json!({"range": {"start": at, "end": at}, "text": "  dis\n"});
    let params = json!({"textDocument": {"uri": uri(&path), "version": 2}, "contentChanges": [change]});
    editor.tell("textDocument/didChange", params);
    let fields = editor.ask_at("textDocument/completion", &path, (4, 5));
    assert!(labels(&fields).contains(&"disruption".to_owned()), "{fields}");
    let comment = json!({"range": {"start": at, "end": at}, "text": "  # karpwarden: ignore[\n"});
    let params = json!({"textDocument": {"uri": uri(&path), "version": 3}, "contentChanges": [comment]});
    editor.tell("textDocument/didChange", params);
    let rules = editor.ask_at("textDocument/completion", &path, (4, 23));
    let item = rules["items"][0].clone();
    let resolved = editor.ask("completionItem/resolve", &item);
    assert!(resolved["documentation"]["value"].as_str().unwrap().starts_with("# "), "{resolved}");
    assert_eq!(editor.end(), Some(0));
}

#[test]
fn explains_fields_requirements_schedules_and_amounts() {
    let folder = Folder::with(&FILES);
    let mut editor = session(&folder);
    let mut hover = |name: &str, part: &str| {
        let text = FILES.iter().find(|(known, _)| *known == name).unwrap().1;
        let answer = editor.ask_at("textDocument/hover", &folder.path(name), place(text, part));
        answer["contents"]["value"].as_str().unwrap_or_else(|| panic!("{part}: {answer}")).to_owned()
    };
    let after = hover("pool.yaml", "1h30m");
    assert!(
        after.contains("`spec.disruption.consolidateAfter`")
            && after.contains("`1h30m` is 1 hour 30 minutes"),
        "{after}"
    );
    let expiry = hover("pool.yaml", "expireAfter");
    assert!(expiry.contains("default: `720h`") && expiry.contains("30 days"), "{expiry}");
    let family = hover("pool.yaml", "karpenter.k8s.aws/instance-family");
    assert!(
        family.contains("This requirement leaves ") && family.contains("all requirements together leave "),
        "{family}"
    );
    let schedule = hover("pool.yaml", "schedule");
    assert!(
        schedule.contains("in the coming week (UTC)") && schedule.matches("\n- ").count() >= 5,
        "{schedule}"
    );
    let memory = hover("web.yaml", "1.5Gi");
    assert_eq!(memory, "`1.5Gi` is `1536Mi`, 1610612736 bytes\n");
}

const DEFINITION: &str = "textDocument/definition";
const REFERENCES: &str = "textDocument/references";

#[test]
fn goes_to_what_a_name_means_and_back() {
    let folder = Folder::with(&FILES);
    let mut editor = session(&folder);
    let mut ask = |method: &str, name: &str, part: &str| {
        let text = FILES.iter().find(|(known, _)| *known == name).unwrap().1;
        places(&editor.ask_at(method, &folder.path(name), place(text, part)))
    };
    assert_eq!(ask(DEFINITION, "pool.yaml", "class}"), ["class.yaml:2"]);
    assert_eq!(ask(DEFINITION, "web.yaml", "blue"), ["pool.yaml:12"]);
    assert_eq!(ask(DEFINITION, "web.yaml", "team"), ["pool.yaml:12"]);
    assert_eq!(ask(DEFINITION, "web.yaml", "dedicated"), ["pool.yaml:20"]);
    assert_eq!(ask(DEFINITION, "web.yaml", "data}"), ["volumes.yaml:8"]);
    assert_eq!(ask(DEFINITION, "volumes.yaml", "gp3\n"), ["volumes.yaml:2"]);
    assert_eq!(ask(DEFINITION, "web.yaml", "replicas"), <[&str; 0]>::default());
    assert_eq!(ask(REFERENCES, "class.yaml", "class}"), ["pool.yaml:15", "class.yaml:2"]);
    assert_eq!(ask(REFERENCES, "pool.yaml", "blue"), ["web.yaml:9", "pool.yaml:12"]);
    assert_eq!(ask(REFERENCES, "volumes.yaml", "gp3}"), ["volumes.yaml:10", "volumes.yaml:2"]);
}

#[test]
fn lists_symbols_folds_and_links() {
    let folder = Folder::with(&FILES);
    let mut editor = session(&folder);
    let document = json!({"textDocument": {"uri": uri(&folder.path("volumes.yaml"))}});
    let symbols = editor.ask("textDocument/documentSymbol", &document);
    let names: Vec<_> = symbols.as_array().unwrap().iter().map(|symbol| &symbol["name"]).collect();
    assert_eq!(names, ["StorageClass gp3", "PersistentVolumeClaim data"]);
    assert_eq!(symbols[1]["children"][0]["name"], "storageClassName");
    let folds = editor.ask("textDocument/foldingRange", &document);
    let lines = |fold: &Value| (fold["startLine"].as_u64().unwrap(), fold["endLine"].as_u64().unwrap());
    let lines: Vec<_> = folds.as_array().unwrap().iter().map(lines).collect();
    assert_eq!(lines, [(0, 4), (6, 12), (9, 12)]);
    let found = editor.ask("workspace/symbol", &json!({"query": "nodepool gen"}));
    assert_eq!((&found[0]["name"], found.as_array().unwrap().len()), (&json!("NodePool general"), 1));
    let path = folder.path("accepted.yaml");
    editor.open(&path, "# karpwarden: ignore[storageclass-immediate] one zone\n");
    let pages = editor.ask("textDocument/documentLink", &json!({"textDocument": {"uri": uri(&path)}}));
    assert!(pages[0]["target"].as_str().unwrap().ends_with("/storageclass-immediate"), "{pages}");
    let page = editor.ask_at("textDocument/hover", &path, (0, 30));
    assert!(page["contents"]["value"].as_str().unwrap().starts_with("# storageclass-immediate"), "{page}");
}

#[test]
fn shows_instance_types_and_nodes_above_objects() {
    let folder = Folder::with(&FILES);
    let mut editor = session(&folder);
    let mut lens = |name: &str| {
        let lenses =
            editor.ask("textDocument/codeLens", &json!({"textDocument": {"uri": uri(&folder.path(name))}}));
        let titles = lenses.as_array().unwrap().iter();
        titles.map(|lens| lens["command"]["title"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let [pool] = lens("pool.yaml").try_into().unwrap();
    assert!(pool.contains(" instance types · 1 workload · from $0.0"), "{pool}");
    let [web] = lens("web.yaml").try_into().unwrap();
    assert!(web.starts_with("general, spot · ") && web.contains(" node"), "{web}");
    assert!(lens("class.yaml").is_empty());
}

#[test]
fn shows_hints_only_if_the_user_wants_them() {
    let folder = Folder::with(&FILES);
    let path = folder.path("pool.yaml");
    let folders = json!([{"uri": uri(&folder.path("")), "name": "a"}]);
    for (options, expected) in [(json!({"inlayHints": true}), 2), (Value::Null, 0)] {
        let mut editor = Editor::silent();
        let start =
            json!({"capabilities": {}, "workspaceFolders": folders, "initializationOptions": options});
        let capabilities = editor.ask("initialize", &start)["capabilities"].clone();
        assert_eq!(capabilities["inlayHintProvider"].as_bool().unwrap_or(false), expected > 0);
        if expected == 0 {
            continue;
        }
        editor.open(&path, POOL);
        let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
        let hints = editor
            .ask("textDocument/inlayHint", &json!({"textDocument": {"uri": uri(&path)}, "range": range}));
        assert_eq!(hints.as_array().unwrap().len(), expected, "{hints}");
        assert!(hints[0]["label"].as_str().unwrap().ends_with(" types"), "{hints}");
    }
}

#[test]
fn goes_from_the_name_of_a_rule_to_its_page() {
    let settings = "exceptions:\n  - rule: storageclass-immediate\n    name: gp2\n    reason: one zone\n";
    let folder = Folder::with(&[("karpwarden.yaml", settings), ("class.yaml", CLASS)]);
    let path = folder.path("karpwarden.yaml");
    let folders = json!([{"uri": uri(&folder.path("")), "name": "a"}]);
    let page = json!([{"uri": "pages:storageclass-immediate.md", "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}}]);
    for (options, expected) in [(json!({"rulePages": "pages"}), page), (Value::Null, json!([]))] {
        let mut editor = Editor::silent();
        let start =
            json!({"capabilities": {}, "workspaceFolders": folders, "initializationOptions": options});
        editor.ask("initialize", &start);
        editor.open(&path, settings);
        assert_eq!(editor.ask_at("textDocument/definition", &path, (1, 12)), expected);
        assert_eq!(editor.ask_at("textDocument/definition", &path, (2, 12)), json!([]));
    }
}

#[test]
fn opens_the_page_of_a_rule_in_a_browser() {
    let folder = Folder::with(&FILES);
    let class = folder.path("class.yaml");
    let capabilities = json!({"window": {"showDocument": {"support": true}}});
    let mut editor = Editor::with(&capabilities, &[&folder.path("")]);
    editor.open(&class, CLASS);
    let at = json!({"line": 4, "character": 30});
    let actions = editor.actions(&class, &json!({"start": at, "end": at}), &["quickfix"]);
    let page = actions.as_array().unwrap().iter().find(|action| !action["command"].is_null()).unwrap();
    assert_eq!(page["title"], "Open the page of instance-profile-is-arn");
    editor.ask("workspace/executeCommand", &page["command"]);
    assert_eq!(editor.asked, ["window/showDocument"]);
}

#[test]
fn answers_in_utf_8_and_pulls_diagnostics() {
    let profile = "'arn:aws:iam::111122223333:instance-profile/nodes'";
    let line = format!(
        "spec: {{tags: {{é: é}}, instanceProfile: {profile}, amiSelectorTerms: [{{alias: al2023@latest}}]}}"
    );
    let text =
        format!("apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {{name: class}}\n{line}\n");
    let folder = Folder::with(&[("class.yaml", &text)]);
    let class = folder.path("class.yaml");
    let capabilities = json!({
        "general": {"positionEncodings": ["utf-8"]},
        "textDocument": {"diagnostic": {}},
        "workspace": {"diagnostics": {"refreshSupport": true}},
        "window": {"workDoneProgress": true},
    });
    let mut editor = Editor::with(&capabilities, &[&folder.path("")]);
    editor.open(&class, &text);
    let report = editor.ask("textDocument/diagnostic", &json!({"textDocument": {"uri": uri(&class)}}));
    assert_eq!(report["kind"], "full");
    let items = report["items"].as_array().unwrap();
    let item = items.iter().find(|item| item["code"] == "instance-profile-is-arn").unwrap();
    assert_eq!(item["range"]["start"], json!({"line": 3, "character": line.find(profile).unwrap()}));
    assert!(editor.shown.is_empty(), "{:?}", editor.shown);
    assert_eq!(editor.asked, ["window/workDoneProgress/create"]);
}

#[test]
fn keeps_the_clusters_of_a_folder_apart_as_check_does() {
    let prod = POOL.replace("values: [spot]", "values: [on-demand]");
    let web = WEB.replace(
        "      volumes:\n        - name: data\n          persistentVolumeClaim: {claimName: data}\n",
        "",
    );
    let files = [
        ("clusters/dev/pool.yaml", POOL),
        ("clusters/dev/class.yaml", CLASS),
        ("clusters/dev/web.yaml", &*web),
        ("clusters/prod/pool.yaml", &*prod),
        ("clusters/prod/class.yaml", CLASS),
        ("clusters/prod/web.yaml", &*web),
    ];
    let folder = Folder::with(&files);
    let mut editor = Editor::with_folders(&[&folder.path("")]);
    for (name, text) in files {
        editor.open(&folder.path(name), text);
    }
    let mut lens = |name: &str| {
        let document = json!({"textDocument": {"uri": uri(&folder.path(name))}});
        editor.ask("textDocument/codeLens", &document)[0]["command"]["title"].as_str().unwrap().to_owned()
    };
    let (pool, web_of_prod) = (lens("clusters/prod/pool.yaml"), lens("clusters/prod/web.yaml"));
    assert!(pool.contains(" · 1 workload · "), "{pool}");
    assert!(web_of_prod.starts_with("general, on-demand · "), "{web_of_prod}");
    let uris = |answer: &Value| -> Vec<String> {
        let all = answer.as_array().unwrap().iter();
        all.map(|place| place["uri"].as_str().unwrap().rsplit_once("clusters/").unwrap().1.to_owned())
            .collect()
    };
    let at = place(&prod, "class}");
    let class = editor.ask_at("textDocument/definition", &folder.path("clusters/prod/pool.yaml"), at);
    assert_eq!(uris(&class), ["prod/class.yaml"]);
    let selected = place(&web, "blue");
    let label = editor.ask_at("textDocument/definition", &folder.path("clusters/dev/web.yaml"), selected);
    assert_eq!(uris(&label), ["dev/pool.yaml"]);
}

#[test]
fn takes_a_patch_for_no_object() {
    let patch = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: general}\nspec:\n  limits: {cpu: 10}\n";
    let files = [
        ("base/kustomization.yaml", "resources: [pool.yaml, class.yaml, web.yaml]\n"),
        ("base/pool.yaml", POOL),
        ("base/class.yaml", CLASS),
        ("base/web.yaml", WEB),
        ("over/kustomization.yaml", "resources: [../base]\npatches: [{path: pool-patch.yaml}]\n"),
        ("over/pool-patch.yaml", patch),
    ];
    let folder = Folder::with(&files);
    let mut editor = Editor::with_folders(&[&folder.path("")]);
    for (name, text) in [files[1], files[3], files[5]] {
        editor.open(&folder.path(name), text);
    }
    let mut lenses = |name: &str| {
        let document = json!({"textDocument": {"uri": uri(&folder.path(name))}});
        editor.ask("textDocument/codeLens", &document)
    };
    let pool = lenses("base/pool.yaml");
    assert!(pool[0]["command"]["title"].as_str().unwrap().contains(" · 1 workload · "), "{pool}");
    assert_eq!(lenses("over/pool-patch.yaml"), json!([]));
    let at = place(WEB, "blue");
    let label = editor.ask_at("textDocument/definition", &folder.path("base/web.yaml"), at);
    assert_eq!(places(&label), ["pool.yaml:12"]);
    let symbols = editor.ask("workspace/symbol", &json!({"query": "NodePool general"}));
    assert_eq!(symbols.as_array().unwrap().len(), 1, "{symbols}");
}
