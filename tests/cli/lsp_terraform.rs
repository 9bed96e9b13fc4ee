//! Configurations of Terraform in the language server.

use std::path::Path;

use serde_json::json;

use crate::editor::{Editor, uri};
use crate::folder::Folder;

/// A node class whose instance profile is an expression.
fn class(profile: &str) -> String {
    format!(
        r#"variable "profile" {{}}

resource "kubectl_manifest" "class" {{
  yaml_body = <<-YAML
    apiVersion: karpenter.k8s.aws/v1
    kind: EC2NodeClass
    metadata: {{name: default}}
    spec:
      instanceProfile: {profile}
      amiSelectorTerms: [{{alias: al2023@latest}}]
      subnetSelectorTerms: [{{tags: {{a: b}}}}]
      securityGroupSelectorTerms: [{{tags: {{a: b}}}}]
  YAML
}}
"#
    )
}

const ARN: &str = "arn:aws:iam::111122223333:instance-profile/nodes";
const FINDING: &str = "8:23 instance-profile-is-arn 1";

#[test]
fn shows_findings_in_a_configuration_and_offers_their_fix() {
    let text = class(ARN);
    let folder = Folder::with(&[("main.tf", &text)]);
    let main = folder.path("main.tf");
    let mut editor = Editor::with_folders(&[&folder.path("")]);
    editor.open(&main, &text);
    assert_eq!(editor.diagnostics(&main), [FINDING]);
    let at = json!({"line": 8, "character": 30});
    let actions = editor.actions(&main, &json!({"start": at, "end": at}), &["quickfix"]);
    let change = &actions[0]["edit"]["documentChanges"][0];
    assert_eq!(change["textDocument"], json!({"uri": uri(&main), "version": 1}));
    let (start, end) = (json!({"line": 8, "character": 23}), json!({"line": 8, "character": 71}));
    assert_eq!(change["edits"], json!([{"newText": "nodes", "range": {"start": start, "end": end}}]));
    editor.change(&main, &class("nodes"));
    assert!(editor.diagnostics(&main).is_empty());
}

#[test]
fn knows_the_variables_and_the_modules_of_the_folder() {
    let (profile, module) =
        (class("${var.profile}"), "variable \"name\" {}\noutput \"arn\" { value = var.name }\n");
    let call = format!("module \"m\" {{\n  source = \"./m\"\n  name   = \"{ARN}\"\n}}\n");
    let folder = Folder::with(&[("live/main.tf", &profile), ("live/m/main.tf", module)]);
    let (main, variables) = (folder.path("live/main.tf"), folder.path("live/terraform.tfvars"));
    let mut editor = Editor::with_folders(&[&folder.path("")]);
    editor.open(&main, &profile);
    assert!(editor.diagnostics(&main).is_empty(), "the variable is not known");
    folder.write("live/terraform.tfvars", format!("profile = \"{ARN}\"\n").as_bytes());
    editor.changed(&[&variables]);
    assert_eq!(editor.diagnostics(&main), [FINDING]);
    folder.write("live/terraform.tfvars", b"profile = \"nodes\"\n");
    editor.changed(&[&variables]);
    assert!(editor.diagnostics(&main).is_empty());
    // The unsaved text of the variables counts, also of a file that is not on disk.
    editor.open(&variables, &format!("profile = \"{ARN}\"\n"));
    assert_eq!(editor.diagnostics(&main), [FINDING]);
    editor.change(&variables, "profile = \"nodes\"\n");
    assert!(editor.diagnostics(&main).is_empty());
    let new = folder.path("live/a.auto.tfvars");
    editor.open(&new, &format!("profile = \"{ARN}\"\n"));
    assert_eq!(editor.diagnostics(&main), [FINDING]);
    let close = |path: &Path| json!({"textDocument": {"uri": uri(path)}});
    editor.tell("textDocument/didClose", close(&new));
    assert!(editor.diagnostics(&main).is_empty());
    editor.tell("textDocument/didClose", close(&variables));
    editor.change(&main, &(class("${module.m.arn}") + &call));
    assert_eq!(editor.diagnostics(&main), [FINDING]);
    // A file of variables is no manifest, whatever the editor sends.
    editor.open(&variables, "karpenter = [\n");
    assert_eq!(editor.diagnostics(&main), [FINDING]);
}

#[test]
fn reads_the_template_that_a_new_call_names_and_shows_findings_in_it() {
    let template = "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: a}\nspec:\n  instanceProfile: ${profile}\n  amiSelectorTerms: [{alias: al2023@latest}]\n  subnetSelectorTerms: [{tags: {a: b}}]\n  securityGroupSelectorTerms: [{tags: {a: b}}]\n";
    let call = |name: &str| {
        format!(
            "resource \"kubectl_manifest\" \"karpenter\" {{\n  yaml_body = templatefile(\"${{path.module}}/{name}\", {{ profile = \"{ARN}\" }})\n}}\n"
        )
    };
    // The second template has a name that no folder walk takes.
    let folder = Folder::with(&[("main.tf", ""), ("class.yaml.tftpl", template), ("class.txt", template)]);
    let (main, class) = (folder.path("main.tf"), folder.path("class.yaml.tftpl"));
    let mut editor = Editor::with_folders(&[&folder.path("")]);
    editor.open(&main, "");
    editor.open(&class, template);
    assert!(editor.diagnostics(&class).is_empty(), "nothing gives its variables");
    editor.change(&main, &call("class.yaml.tftpl"));
    assert_eq!(editor.diagnostics(&class), ["4:19 instance-profile-is-arn 1"]);
    editor.change(&class, &template.replace("${profile}", "nodes"));
    assert!(editor.diagnostics(&class).is_empty(), "the unsaved text counts");
    editor.change(&main, &call("new.yaml.tftpl"));
    let new = folder.path("new.yaml.tftpl");
    folder.write("new.yaml.tftpl", template.as_bytes());
    editor.changed(&[&new]);
    editor.open(&new, template);
    assert_eq!(editor.diagnostics(&new), ["4:19 instance-profile-is-arn 1"]);
    editor.change(&main, &call("class.txt"));
    assert!(editor.diagnostics(&new).is_empty());
}
