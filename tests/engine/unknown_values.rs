//! A value that only Terraform knows makes no good example wrong, whatever field it is the value of.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use cluster::Cluster;
use karpwarden::check;
use karpwarden::objects::embedded::READ_OPTIONS;
use karpwarden::objects::location::path_of;
use manifest::File;
use manifest::limits::Limits;
use manifest::tree::{Node, NodeId, Tree, Value};
use rule::finding::Severity;
use rule::settings::Settings;
use terraform_objects::{NoFilesBeside, evaluate};

/// The good examples of the rules, each with one or several objects.
fn good_examples() -> Vec<File> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rules");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut examples = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let Some((_, after)) = text.split_once("## Use instead") else { continue };
        let good = after.split("\n## ").next().unwrap();
        let fences = good.split("```yaml\n").skip(1).map(|fence| fence.split("```").next().unwrap());
        examples.extend(fences.map(|fence| File::read("-", fence, READ_OPTIONS)));
    }
    examples.retain(|file| trees(file).all(|root| is_object(root)));
    examples
}

fn trees(file: &File) -> impl Iterator<Item = Node<'_>> {
    file.trees().map(Tree::root)
}

/// Whether a document is an object of the cluster, and no request.
fn is_object(root: Node<'_>) -> bool {
    root.str_at(&["apiVersion"]).is_some()
        && !matches!(root.str_at(&["kind"]), None | Some("AdmissionReview"))
}

/// The values below a node, except the type of the object and its status, which no configuration writes.
fn values<'d>(node: Node<'d>, found: &mut Vec<Node<'d>>) {
    let is_below_root = node.parent().is_some_and(|parent| parent.parent().is_none());
    if is_below_root && ["apiVersion", "kind", "status"].contains(&node.key()) {
        return;
    }
    if node.parent().is_some() {
        found.push(node);
    }
    node.children().for_each(|child| values(child, found));
}

/// A value in HCL, with a reference in the place of one value.
fn hcl(node: Node<'_>, unknown: Option<NodeId>) -> String {
    let text = |text: &str| serde_json::to_string(text).unwrap().replace("${", "$${").replace("%{", "%%{");
    let inner = || node.children().map(|child| hcl(child, unknown)).collect::<Vec<_>>();
    match node.value() {
        _ if unknown == Some(node.id()) => "module.x.y".to_owned(),
        Value::Mapping => {
            let members =
                node.children().zip(inner()).map(|(child, value)| format!("{} = {value}", text(child.key())));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Sequence => format!("[{}]", inner().join(", ")),
        Value::String(string) => text(string),
        Value::Null => "null".to_owned(),
        _ => node.spelling().to_owned(),
    }
}

/// The errors and warnings of the objects of a file, as a configuration makes them. `unknown` is a value of the object with the number `index`.
fn grave(file: &File, index: usize, unknown: Option<NodeId>) -> BTreeSet<(&'static str, String)> {
    let resource = |(number, root): (usize, Node<'_>)| {
        let object = hcl(root, unknown.filter(|_| number == index));
        format!("resource \"kubectl_manifest\" \"r{number}\" {{\n  yaml_body = yamlencode({object})\n}}\n")
    };
    let text: String = trees(file).enumerate().map(resource).collect();
    let mut files = vec![File::read("main.tf", &text, READ_OPTIONS)];
    evaluate(&mut files, &NoFilesBeside, &Limits::DEFAULT);
    let report = check(&[Cluster { name: String::new(), files }], &Settings::default());
    let found = report.findings.into_iter().filter(|finding| finding.severity <= Severity::Warning);
    found.map(|finding| (finding.rule, finding.path)).collect()
}

/// Findings that are true or likely whatever the value is, each with the value and the reason.
const TRUE_ANYWAY: [(&str, &str, &str); 3] = [
    ("instance-profile-is-arn", "metadata", "the value may be the suppression"),
    ("instance-profile-is-arn", "annotations", "the value may be the suppression"),
    ("instance-profile-is-arn", "karpwarden/ignore", "the value may be the suppression"),
];

#[test]
fn a_value_that_only_terraform_knows_is_no_mistake() {
    let mut faults = BTreeSet::new();
    let mut tried = 0;
    for file in good_examples() {
        let own = grave(&file, 0, None);
        for (index, root) in trees(&file).enumerate() {
            let mut all = Vec::new();
            values(root, &mut all);
            for value in all {
                tried += 1;
                for (rule, path) in grave(&file, index, Some(value.id())).difference(&own) {
                    let is_true = |(known, key, _): &(&str, &str, &str)| known == rule && *key == value.key();
                    if !TRUE_ANYWAY.iter().any(is_true) {
                        faults.insert(format!("{rule} at {path} because of {}", path_of(value, root)));
                    }
                }
            }
        }
    }
    assert!(tried > 1000, "{tried}");
    assert!(faults.is_empty(), "{faults:#?}");
}
