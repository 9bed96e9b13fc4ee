//! The language server, as an editor talks to it.

use std::io::{BufRead as _, Read as _, Write as _};
use std::process::Command;

use serde_json::{Value, json};

use crate::editor::{Editor, uri};
use crate::folder::Folder;

pub(crate) const POOL: &str = "apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: clas}
      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
";
pub(crate) const CLASS: &str = "apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: class}
spec:
  instanceProfile: arn:aws:iam::111122223333:instance-profile/nodes
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {a: b}}]
  securityGroupSelectorTerms: [{tags: {a: b}}]
";
/// The diagnostics of these files: line, column, rule and severity.
const DANGLING: &str = "6:73 nodeclass-ref-dangling 2";
const ARN: &str = "4:19 instance-profile-is-arn 1";

#[test]
fn checks_an_open_document_with_the_files_of_its_folder() {
    let folder = Folder::with(&[("pool.yaml", POOL), ("class.yaml", CLASS)]);
    let (pool, class) = (folder.path("pool.yaml"), folder.path("class.yaml"));
    let mut editor = Editor::with_folders(&[&folder.path("")]);
    editor.open(&pool, POOL);
    assert_eq!(editor.diagnostics(&pool), [DANGLING]);
    assert!(editor.shown[&uri(&pool)][0]["message"].as_str().unwrap().contains("did you mean `class`?"));
    assert!(!editor.shown.contains_key(&uri(&class)), "the file is not open");
    editor.change(&pool, &POOL.replace("clas}", "class}"));
    assert!(editor.diagnostics(&pool).is_empty());
    editor.open(&class, CLASS);
    assert_eq!(editor.diagnostics(&class), [ARN]);
    // The name of the open class counts, not the name on disk.
    editor.change(&class, &CLASS.replace("name: class", "name: other"));
    assert_eq!(editor.diagnostics(&pool), ["6:73 nodeclass-ref-dangling 3"]);
    editor.tell("textDocument/didClose", json!({"textDocument": {"uri": uri(&class)}}));
    assert!(editor.diagnostics(&pool).is_empty());
    assert!(editor.diagnostics(&class).is_empty());
    assert_eq!(editor.end(), Some(0));
}

#[test]
fn a_document_that_is_not_saved_yet_belongs_to_its_folder() {
    let folder = Folder::with(&[("pool.yaml", POOL)]);
    let (pool, class) = (folder.path("pool.yaml"), folder.path("new/class.yaml"));
    let mut editor = Editor::with_folders(&[&folder.path("")]);
    editor.open(&pool, POOL);
    assert!(editor.diagnostics(&pool).is_empty(), "the folder has no EC2NodeClass");
    editor.open(&class, CLASS);
    assert_eq!(
        (editor.diagnostics(&pool), editor.diagnostics(&class)),
        (vec![DANGLING.to_owned()], vec![ARN.to_owned()])
    );
    editor.change(&class, &CLASS.replace("name: class", "name: clas"));
    assert!(editor.diagnostics(&pool).is_empty());
}

#[test]
fn offers_no_comment_for_findings_about_comments() {
    let text = CLASS.replace("name: class}", "name: class} # karpwarden: ignore[no-such-rule]");
    let folder = Folder::with(&[("class.yaml", &text)]);
    let class = folder.path("class.yaml");
    let mut editor = Editor::with_folders(&[&folder.path("")]);
    editor.open(&class, &text);
    let rules = editor.diagnostics(&class).join(" ");
    assert!(rules.contains("suppression-of-unknown-rule"), "{rules}");
    let all = json!({"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}});
    let actions = editor.actions(&class, &all, &["quickfix"]);
    let titles = actions.as_array().unwrap().iter().map(|action| action["title"].as_str().unwrap());
    let accepted: Vec<_> = titles.filter(|title| title.starts_with("Accept")).collect();
    assert_eq!(accepted, ["Accept with a comment (instance-profile-is-arn)"]);
}

#[test]
fn offers_what_mends_the_diagnostics_that_the_editor_names() {
    let text = format!("{CLASS}---\n{}", CLASS.replace("name: class", "name: other"));
    let folder = Folder::with(&[("class.yaml", &text)]);
    let class = folder.path("class.yaml");
    let mut editor = Editor::with_folders(&[&folder.path("")]);
    editor.open(&class, &text);
    // Kate asks about one diagnostic with the range of the whole document.
    let mut about = |code: &str| {
        let place = |line: u32, character: u32| json!({"line": line, "character": character});
        let arn = json!({"code": code, "message": "", "range": {"start": place(4, 19), "end": place(4, 67)}});
        let context = json!({"diagnostics": [arn], "only": ["quickfix"]});
        let all = json!({"start": place(0, 0), "end": place(30, 0)});
        let params = json!({"textDocument": {"uri": uri(&class)}, "range": all, "context": context});
        let actions = editor.ask("textDocument/codeAction", &params);
        actions.as_array().unwrap().len()
    };
    assert_eq!(about("instance-profile-is-arn"), 2, "the fix and the comment");
    assert_eq!(about("another-rule"), 4, "a diagnostic that the server does not know");
}

#[test]
fn offers_the_fix_and_the_page_of_a_rule() {
    let folder = Folder::with(&[("class.yaml", CLASS)]);
    let class = folder.path("class.yaml");
    let mut editor = Editor::with_folders(&[&folder.path("")]);
    editor.open(&class, CLASS);
    let at = json!({"line": 4, "character": 30});
    let document = json!({"uri": uri(&class)});
    let page = editor.ask("textDocument/hover", &json!({"textDocument": document, "position": at}));
    let text = page["contents"]["value"].as_str().unwrap();
    assert!(text.starts_with("**`spec.instanceProfile`**: a string\n"), "{text}");
    assert!(text.contains("**A change of `spec.instanceProfile` replaces every node**"), "{text}");
    assert!(text.contains("\n---\n\n# instance-profile-is-arn"), "{text}");
    let range = json!({"start": at, "end": at});
    assert_eq!(editor.actions(&class, &range, &["refactor"]), json!([]));
    let actions = editor.actions(&class, &range, &["quickfix"]);
    let [action, accept] = actions.as_array().unwrap().as_slice() else { panic!("{actions}") };
    assert_eq!(action["title"], "Fix: write the profile's name (instance-profile-is-arn)");
    assert_eq!((&action["isPreferred"], &action["kind"]), (&json!(true), &json!("quickfix")));
    let change = &action["edit"]["documentChanges"][0];
    assert_eq!(change["textDocument"], json!({"uri": uri(&class), "version": 1}));
    let edit = json!({
        "newText": "nodes",
        "range": {"start": {"line": 4, "character": 19}, "end": {"line": 4, "character": 67}},
    });
    assert_eq!(change["edits"], json!([edit]));
    assert_eq!(accept["title"], "Accept with a comment (instance-profile-is-arn)");
    let comment = &accept["edit"]["documentChanges"][0]["edits"][0];
    let expected = "  # karpwarden: ignore[instance-profile-is-arn] <write here why this is accepted>\n";
    assert_eq!(comment["newText"], expected);
    assert_eq!(comment["range"]["start"], json!({"line": 4, "character": 0}));
    let all = editor.actions(&class, &range, &["source.fixAll"]);
    assert_eq!(all[0]["title"], "Apply the safe fix of this document");
    assert_eq!(all[0]["edit"]["documentChanges"][0]["edits"], json!([edit]));
    let accepted = CLASS
        .replace("  instanceProfile", &format!("{}  instanceProfile", comment["newText"].as_str().unwrap()));
    editor.change(&class, &accepted);
    assert_eq!(editor.diagnostics(&class), ["4:2 suppression-without-reason 2"]);
    editor.change(&class, &accepted.replace("<write here why this is accepted>", "created later"));
    assert!(editor.diagnostics(&class).is_empty(), "accepted");
    editor.change(&class, &CLASS.replace("arn:aws:iam::111122223333:instance-profile/nodes", "nodes"));
    assert!(editor.diagnostics(&class).is_empty());
}

#[test]
fn says_what_a_change_of_a_field_does() {
    let folder = Folder::with(&[
        ("pool.yaml", POOL),
        ("web.yaml", "apiVersion: apps/v1\nkind: Deployment\nspec: {replicas: 1}\n"),
    ]);
    let pool = folder.path("pool.yaml");
    let mut editor = Editor::with_folders(&[&folder.path("")]);
    editor.open(&pool, POOL);
    let mut hover = |line: u32, character: u32| {
        let at = json!({"line": line, "character": character});
        editor.ask("textDocument/hover", &json!({"textDocument": {"uri": uri(&pool)}, "position": at}))
    };
    let line = u32::try_from(POOL.lines().position(|line| line.contains("nodeClassRef")).unwrap()).unwrap();
    let start =
        u32::try_from(POOL.lines().nth(line as usize).unwrap().find("nodeClassRef").unwrap()).unwrap();
    let answer = hover(line, start + 3);
    let text = answer["contents"]["value"].as_str().unwrap();
    let (field, effect) = text.split_once("\n---\n\n").unwrap();
    assert!(
        field.starts_with("**`spec.template.spec.nodeClassRef`**: an object, required\n\nThe EC2NodeClass"),
        "{field}"
    );
    assert_eq!(
        effect,
        "**A change of `spec.template.spec.nodeClassRef` replaces every node**\n\npart of the hash: changing it replaces every node of this NodePool\n"
    );
    let end = start + 12;
    assert_eq!(
        answer["range"],
        json!({"start": {"line": line, "character": start}, "end": {"line": line, "character": end}})
    );
    assert_eq!(hover(0, 2), json!(null), "`apiVersion` has no effect");
    let web = folder.path("web.yaml");
    editor.open(&web, &folder.read("web.yaml"));
    let at = json!({"line": 2, "character": 10});
    let params = json!({"textDocument": {"uri": uri(&web)}, "position": at});
    assert_eq!(editor.ask("textDocument/hover", &params), json!(null));
}

#[test]
fn an_editor_with_no_ability_gets_the_same_edits() {
    let folder = Folder::with(&[("class.yaml", CLASS)]);
    let class = folder.path("class.yaml");
    let mut editor = Editor::with(&json!({}), &[&folder.path("")]);
    editor.open(&class, CLASS);
    assert_eq!(editor.diagnostics(&class), [ARN]);
    let range = editor.shown[&uri(&class)][0]["range"].clone();
    let actions = editor.actions(&class, &range, &["quickfix"]);
    assert_eq!(actions[0]["edit"], json!({"changes": {uri(&class): [{"range": range, "newText": "nodes"}]}}));
}

#[test]
fn applies_the_config_file_and_shows_its_errors() {
    let config = "rules: {instance-profile-is-arn: warn}\nexclude: [old]\n";
    let folder =
        Folder::with(&[("karpwarden.yaml", config), ("class.yaml", CLASS), ("old/class.yaml", CLASS)]);
    let [settings, class, old] =
        ["karpwarden.yaml", "class.yaml", "old/class.yaml"].map(|name| folder.path(name));
    let mut editor = Editor::with_folders(&[&folder.path("")]);
    editor.open(&class, CLASS);
    editor.open(&old, CLASS);
    assert_eq!(editor.diagnostics(&class), ["4:19 instance-profile-is-arn 2"]);
    assert!(editor.diagnostics(&old).is_empty(), "excluded");
    std::fs::write(&settings, "rules: {instance-profile-is-ar: warn}\n").unwrap();
    editor.changed(&[&settings]);
    let [error] = editor.diagnostics(&settings).try_into().unwrap();
    assert!(
        error.starts_with("0:8 ") && error.contains("did you mean `instance-profile-is-arn`?"),
        "{error}"
    );
    assert!(editor.diagnostics(&class).is_empty(), "without settings nothing is checked");
    std::fs::write(&settings, config).unwrap();
    editor.tell("textDocument/didSave", json!({"textDocument": {"uri": uri(&settings)}}));
    assert!(editor.diagnostics(&settings).is_empty());
    assert_eq!(editor.diagnostics(&class), ["4:19 instance-profile-is-arn 2"]);
}

#[test]
fn checks_a_document_outside_the_folders_alone() {
    let inside = Folder::with(&[("a.yaml", POOL)]);
    let outside = Folder::with(&[(".gitignore", "local.yaml"), ("local.yaml", CLASS), ("pool.yaml", POOL)]);
    let (local, pool) = (outside.path("local.yaml"), outside.path("pool.yaml"));
    let mut editor = Editor::with_folders(&[&inside.path("")]);
    editor.open(&local, CLASS);
    editor.open(&pool, POOL);
    assert_eq!(editor.diagnostics(&local), [ARN]);
    assert!(editor.diagnostics(&pool).is_empty(), "alone");
    // A folder does not read the files that Git ignores, so the class is still alone, and the pool is not.
    let event = json!({"added": [{"uri": uri(&outside.path("")), "name": "b"}], "removed": []});
    editor.tell("workspace/didChangeWorkspaceFolders", json!({"event": event}));
    let class = outside.path("class.yaml");
    editor.open(&class, CLASS);
    assert_eq!(
        (editor.diagnostics(&local), editor.diagnostics(&class)),
        (vec![ARN.to_owned()], vec![ARN.to_owned()])
    );
    assert_eq!(editor.diagnostics(&pool), [DANGLING]);
    let event = json!({"added": [], "removed": [{"uri": uri(&outside.path("")), "name": "b"}]});
    editor.tell("workspace/didChangeWorkspaceFolders", json!({"event": event}));
    assert!(editor.diagnostics(&pool).is_empty(), "alone again");
}

#[test]
fn says_nothing_about_files_that_have_nothing_to_do_with_karpenter() {
    let budget = r"apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: a}
spec: {maxUnavailable: 0, selector: {matchLabels: {a: b}}}
";
    let folder = Folder::with(&[("a.yaml", budget), ("b.yaml", "a: [")]);
    let (a, b) = (folder.path("a.yaml"), folder.path("b.yaml"));
    let mut editor = Editor::with_folders(&[&folder.path("")]);
    editor.open(&a, budget);
    editor.open(&b, "a: [");
    assert!(editor.diagnostics(&a).is_empty() && editor.diagnostics(&b).is_empty());
    editor.change(&b, "apiVersion: karpenter.sh/v1\nkind: [");
    let [error] = editor.diagnostics(&b).try_into().unwrap();
    assert!(error.starts_with("1:") && error.contains("this document is not checked"), "{error}");
    let [zero] = editor.diagnostics(&a).try_into().unwrap();
    assert!(zero.contains("pdb-zero-disruption"), "{zero}");
}

#[test]
fn each_folder_has_its_own_settings() {
    let off =
        Folder::with(&[("karpwarden.yaml", "rules: {instance-profile-is-arn: off}"), ("class.yaml", CLASS)]);
    let plain = Folder::with(&[("class.yaml", CLASS)]);
    let (off, plain) = (off.path(""), plain.path(""));
    let mut editor = Editor::with_folders(&[&off, &plain]);
    editor.open(&off.join("class.yaml"), CLASS);
    editor.open(&plain.join("class.yaml"), CLASS);
    assert!(editor.diagnostics(&off.join("class.yaml")).is_empty());
    assert_eq!(editor.diagnostics(&plain.join("class.yaml")), [ARN]);
}

#[test]
fn settings_that_are_repaired_but_not_saved_do_not_apply_yet() {
    let folder = Folder::with(&[("karpwarden.yaml", "rules: {x: off}"), ("class.yaml", CLASS)]);
    let (settings, class) = (folder.path("karpwarden.yaml"), folder.path("class.yaml"));
    let mut editor = Editor::with_folders(&[&folder.path("")]);
    editor.open(&class, CLASS);
    editor.open(&settings, "rules: {x: off}");
    assert!(editor.diagnostics(&settings)[0].starts_with("0:8 "));
    editor.change(&settings, "rules: {}");
    assert_eq!(editor.diagnostics(&settings), ["0:0 save the file, so that its settings apply 1"]);
    assert!(editor.diagnostics(&class).is_empty());
}

#[test]
fn ignore_files_decide_about_a_document_once_it_is_saved() {
    let folder = Folder::with(&[("pool.yaml", POOL), (".gitignore", "local")]);
    let (pool, class) = (folder.path("pool.yaml"), folder.path("local/class.yaml"));
    let mut editor = Editor::with_folders(&[&folder.path("")]);
    editor.open(&pool, POOL);
    editor.open(&class, CLASS);
    assert_eq!(editor.diagnostics(&pool), [DANGLING]);
    folder.write("local/class.yaml", CLASS.as_bytes());
    editor.tell("textDocument/didSave", json!({"textDocument": {"uri": uri(&class)}}));
    assert_eq!((editor.diagnostics(&pool), editor.diagnostics(&class)), (vec![], vec![ARN.to_owned()]));
    // The document is alone, so that its name does not count any more.
    editor.change(&class, &CLASS.replace("name: class", "name: other"));
    assert!(editor.diagnostics(&pool).is_empty());
}

#[test]
fn reads_files_again_that_change_on_disk() {
    let folder = Folder::with(&[("pool.yaml", POOL), ("classes/a.yaml", CLASS)]);
    let (pool, class) = (folder.path("pool.yaml"), folder.path("classes/a.yaml"));
    let mut editor = Editor::with_folders(&[&folder.path("")]);
    editor.open(&pool, POOL);
    assert_eq!(editor.diagnostics(&pool), [DANGLING]);
    folder.write("classes/a.yaml", CLASS.replace("name: class", "name: clas").as_bytes());
    editor.changed(&[&class]);
    assert!(editor.diagnostics(&pool).is_empty());
    folder.write("classes/a.yaml", CLASS.as_bytes());
    editor.changed(&[&folder.path("notes.txt")]);
    assert!(editor.diagnostics(&pool).is_empty(), "another file has changed");
    editor.changed(&[&class]);
    assert_eq!(editor.diagnostics(&pool), [DANGLING]);
    std::fs::remove_dir_all(folder.path("classes")).unwrap();
    editor.changed(&[&folder.path("classes")]);
    assert!(editor.diagnostics(&pool).is_empty(), "without any EC2NodeClass a reference is not checked");
}

#[test]
fn reads_texts_again_that_pin_a_version() {
    let pool = "apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: a}\n";
    let folder = Folder::with(&[("pool.yaml", pool), ("README.md", "# Karpenter\n")]);
    let path = folder.path("pool.yaml");
    let mut editor = Editor::with_folders(&[&folder.path("")]);
    editor.open(&path, pool);
    let severity = |editor: &mut Editor| {
        let found = editor.diagnostics(&path);
        found.iter().find_map(|line| line.split_once(" removed-api-version ")).map(|(_, it)| it.to_owned())
    };
    assert_eq!(severity(&mut editor).as_deref(), Some("1"));
    for name in ["Makefile", ".github/workflows/deploy.yml", ".gitlab-ci.yml", "infra/install.bash"] {
        let install = "helm upgrade karpenter oci://public.ecr.aws/karpenter/karpenter --version 1.0.8";
        let text = if name.contains(".github") || name.starts_with(".gitlab") {
            format!("script: {install}\n")
        } else {
            format!("{install}\n")
        };
        folder.write(name, text.as_bytes());
        editor.changed(&[&folder.path(name)]);
        assert_eq!(severity(&mut editor).as_deref(), Some("2"), "{name}");
        folder.write(name, text.replace("1.0.8", "1.1.0").as_bytes());
        editor.changed(&[&folder.path(name)]);
        assert_eq!(severity(&mut editor).as_deref(), Some("1"), "{name}");
        std::fs::remove_file(folder.path(name)).unwrap();
        editor.changed(&[&folder.path(name)]);
    }
    let watches = |pattern: &str| editor.watched.iter().any(|watched| watched == pattern);
    assert!(
        watches("**/.gitlab-ci.yml")
            && watches("**/.github/workflows/*.{yml,yaml}")
            && watches("**/templates/**")
    );
    assert!(editor.watched.iter().any(|watched| watched.contains("Makefile")), "{:?}", editor.watched);
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_a_file_is_not_read() {
    let folder = Folder::with(&[("pool.yaml", POOL), ("class.yaml", CLASS)]);
    let path = folder.path("class.yaml");
    let mut editor = Editor::with_folders(&[&folder.path("")]);
    editor.open(&path, CLASS);
    assert_eq!(editor.diagnostics(&path), [ARN]);
    for name in ["main.tf", "README.md", ".github/workflows/a.yml", "new.yaml", "pool.yaml"] {
        let pipe = folder.path(name);
        folder.write(name, b"");
        std::fs::remove_file(&pipe).unwrap();
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        editor.changed(&[&pipe]);
        assert_eq!(editor.diagnostics(&path), [ARN], "{name}");
    }
}

#[test]
fn reads_templates_of_a_chart_again() {
    let values = "name: a\nregion: eu\n";
    let template = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: {{ .Values.name }}}\n";
    let folder = Folder::with(&[
        ("chart/Chart.yaml", "apiVersion: v2\nname: a\nversion: 1.0.0\n"),
        ("chart/values.yaml", values),
        ("chart/templates/pool.yaml", template),
        ("karpwarden.yaml", "exclude: [chart/templates]\n"),
    ]);
    let path = folder.path("chart/values.yaml");
    let mut editor = Editor::with_folders(&[&folder.path("")]);
    editor.open(&path, values);
    let unread = ["1:0 chart-value-unread 3"];
    assert_eq!(editor.diagnostics(&path), unread);
    for name in ["chart/templates/_helpers.tpl", "chart/templates/pool.yaml"] {
        folder.write(name, format!("{template}# {{{{ .Values.region }}}}\n").as_bytes());
        editor.changed(&[&folder.path(name)]);
        assert!(editor.diagnostics(&path).is_empty(), "{name}");
        folder.write(name, template.as_bytes());
        editor.changed(&[&folder.path(name)]);
        assert_eq!(editor.diagnostics(&path), unread, "{name}");
    }
}

#[test]
fn finds_a_file_that_another_program_has_written() {
    let folder = Folder::with(&[("pool.yaml", POOL)]);
    let (pool, class) = (folder.path("pool.yaml"), folder.path("class.yaml"));
    let mut editor = Editor::with_folders(&[&folder.path("")]);
    editor.open(&pool, POOL);
    assert!(editor.diagnostics(&pool).is_empty());
    // An editor that watches no files says nothing until it opens the file.
    folder.write("class.yaml", CLASS.as_bytes());
    editor.open(&class, CLASS);
    assert_eq!(editor.diagnostics(&pool), [DANGLING]);
}

#[test]
fn keeps_a_folder_whose_parent_is_closed() {
    let folder = Folder::with(&[("a/pool.yaml", POOL), ("b.yaml", CLASS)]);
    let (outer, inner, pool) = (folder.path(""), folder.path("a"), folder.path("a/pool.yaml"));
    let mut editor = Editor::with_folders(&[&inner, &outer]);
    editor.open(&pool, POOL);
    assert_eq!(editor.diagnostics(&pool), [DANGLING]);
    let event = json!({"added": [], "removed": [{"uri": uri(&outer), "name": "a"}]});
    editor.tell("workspace/didChangeWorkspaceFolders", json!({"event": event}));
    assert!(editor.diagnostics(&pool).is_empty());
    folder.write("a/class.yaml", CLASS.as_bytes());
    editor.changed(&[&folder.path("a/class.yaml")]);
    assert_eq!(editor.diagnostics(&pool), [DANGLING]);
}

#[test]
#[cfg(unix)]
fn a_document_is_the_file_that_a_link_leads_to() {
    let folder = Folder::with(&[("real/pool.yaml", POOL), ("real/class.yaml", CLASS)]);
    std::os::unix::fs::symlink(folder.path("real"), folder.path("link")).unwrap();
    let mut editor = Editor::with_folders(&[&folder.path("link")]);
    for name in ["link/pool.yaml", "real/class.yaml"] {
        editor.open(&folder.path(name), &folder.read(name));
    }
    assert_eq!(editor.diagnostics(&folder.path("link/pool.yaml")), [DANGLING]);
    editor.change(&folder.path("real/class.yaml"), &CLASS.replace("name: class", "name: clas"));
    assert!(editor.diagnostics(&folder.path("link/pool.yaml")).is_empty());
}

#[test]
#[cfg(unix)]
fn files_behind_a_link_out_of_the_folder_belong_to_the_folder() {
    let shared = Folder::with(&[("pool.yaml", POOL)]);
    let folder = Folder::with(&[("class.yaml", CLASS)]);
    std::os::unix::fs::symlink(shared.path(""), folder.path("apps")).unwrap();
    let (pool, class) = (folder.path("apps/pool.yaml"), folder.path("class.yaml"));
    let mut editor = Editor::with_folders(&[&folder.path("")]);
    editor.open(&pool, POOL);
    assert_eq!(editor.diagnostics(&pool), [DANGLING]);
    editor.open(&class, CLASS);
    editor.tell("textDocument/didClose", json!({"textDocument": {"uri": uri(&class)}}));
    editor.change(&pool, &POOL.replace("clas}", "class}"));
    assert!(editor.diagnostics(&pool).is_empty());
    editor.change(&pool, POOL);
    assert_eq!(editor.diagnostics(&pool), [DANGLING]);
}

#[test]
fn takes_the_uris_that_editors_write() {
    let folder = Folder::with(&[("[é n]/class.yaml", CLASS)]);
    let root = uri(&folder.path(""));
    let mut editor = Editor::silent();
    let spelled = format!("{root}[é n]").replace("file://", "file://localhost");
    assert!(editor.ask("initialize", &json!({"capabilities": {}, "rootUri": spelled}))["error"].is_null());
    let open = |uri: &str, text: &str| json!({"textDocument": {"uri": uri, "languageId": "yaml", "version": 1, "text": text}});
    editor.tell("textDocument/didOpen", open(&format!("{root}[é n]/class.yaml"), CLASS));
    assert_eq!(editor.diagnostics(&folder.path("[é n]/class.yaml")), [ARN]);
    let other = CLASS.replace("name: class", "name: other");
    for uri in ["untitled:Untitled-1", "fugitive:///a/class.yaml"] {
        editor.tell("textDocument/didOpen", open(uri, &other));
        assert_eq!(editor.diagnostics_of(uri), [ARN]);
    }
}

#[test]
fn shows_the_other_place_of_a_finding() {
    let pool = |name: &str, weight: u8, requirements: &str| {
        format!(
            r"apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: {name}}}
spec:
  weight: {weight}
  template:
    spec:
      nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}}
      requirements: [{requirements}]
"
        )
    };
    let general =
        pool("general", 50, "{key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}");
    let category = "{key: karpenter.k8s.aws/instance-category, operator: In, values: [c]}";
    let spot = "{key: karpenter.sh/capacity-type, operator: In, values: [spot]}";
    let compute = pool("compute", 10, &format!("{category}, {spot}"));
    let folder = Folder::with(&[("general.yaml", &general), ("compute.yaml", &compute)]);
    let (general, compute) = (folder.path("general.yaml"), folder.path("compute.yaml"));
    let mut editor = Editor::with_folders(&[&folder.path("")]);
    editor.open(&compute, &folder.read("compute.yaml"));
    assert_eq!(editor.diagnostics(&compute), ["4:10 catch-all-outweighs-specific 3"]);
    let shown = &editor.shown[&uri(&compute)][0];
    let place = &shown["relatedInformation"][0]["location"];
    assert_eq!(place["uri"], uri(&general));
    assert!(shown["codeDescription"]["href"].as_str().unwrap().ends_with("/catch-all-outweighs-specific"));
    let mut without_abilities = Editor::with(&json!({}), &[&folder.path("")]);
    without_abilities.open(&compute, &folder.read("compute.yaml"));
    assert_eq!(without_abilities.diagnostics(&compute).len(), 1);
    let shown = &without_abilities.shown[&uri(&compute)][0];
    assert!(shown.get("codeDescription").is_none() && shown.get("relatedInformation").is_none(), "{shown}");
}

#[test]
fn mistakes_of_an_editor_get_an_error() {
    let mut editor = Editor::with_folders(&[]);
    let error = |result: &Value| result["error"]["code"].as_i64();
    assert_eq!(error(&editor.ask("textDocument/rename", &json!({}))), Some(-32601));
    assert_eq!(error(&editor.ask("textDocument/hover", &json!({}))), Some(-32602));
    assert_eq!(editor.ask("shutdown", &Value::Null), Value::Null);
    assert_eq!(error(&editor.ask("textDocument/hover", &json!({}))), Some(-32600));
    let mut editor = Editor::silent();
    assert_eq!(error(&editor.ask("textDocument/hover", &json!({}))), Some(-32002));
    assert_eq!(error(&editor.ask("initialize", &json!({"capabilities": 1}))), Some(-32602));
    assert!(editor.ask("initialize", &json!({"capabilities": {}}))["capabilities"].is_object());
    assert_eq!(editor.end(), Some(0));
}

#[test]
fn goes_on_after_a_message_that_is_not_valid_json() {
    let mut editor = Editor::with_folders(&[]);
    let body = r#"{"jsonrpc": "2.0", "method": "textDocument/didChange", "params": {"text": "\ud800"}}"#;
    let message = format!("Content-Length: {}\r\n\r\n{body}", body.len());
    editor.input.as_mut().unwrap().write_all(message.as_bytes()).unwrap();
    let mut read = || {
        let mut header = String::new();
        editor.output.read_line(&mut header).unwrap();
        editor.output.read_line(&mut String::new()).unwrap();
        let length: usize = header.trim().strip_prefix("Content-Length: ").unwrap().parse().unwrap();
        let mut message = vec![0; length];
        editor.output.read_exact(&mut message).unwrap();
        serde_json::from_slice::<Value>(&message).unwrap()
    };
    let mut answer = read();
    // The server may ask for its watched files first.
    while !answer["method"].is_null() {
        answer = read();
    }
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(-32700)));
    assert_eq!(editor.ask("shutdown", &Value::Null), Value::Null);
}

#[test]
fn an_end_that_the_editor_did_not_ask_for_is_not_a_success() {
    let mut editor = Editor::with_folders(&[]);
    editor.tell("exit", Value::Null);
    assert_eq!(editor.server.wait().unwrap().code(), Some(1));
    let mut editor = Editor::silent();
    editor.tell("exit", Value::Null);
    assert_eq!(editor.server.wait().unwrap().code(), Some(1));
    let mut editor = Editor::with_folders(&[]);
    drop(editor.input.take());
    assert_eq!(editor.server.wait().unwrap().code(), Some(1));
    let mut editor = Editor::with_folders(&[]);
    editor.input.as_mut().unwrap().write_all(b"Content-Length: x\r\n\r\n").unwrap();
    assert_eq!(editor.server.wait().unwrap().code(), Some(5));
}
