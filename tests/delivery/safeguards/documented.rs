//! The policies that the documentation creates: YAML blocks, kustomizations, and commands.

use std::fs;

use karpwarden_generate::{home, kustomize, yaml};
use serde_json::Value;

use super::policy::missing;

/// The texts that users copy from: README files, documentation, Artifact Hub's page and the settings form.
fn texts() -> Vec<(String, String)> {
    let mut paths: Vec<String> = [
        "README.md",
        "policies/karpenter/README.md",
        "policies/karpenter/questions-ui.yml",
        "policies/karpenter/metadata.yml",
    ]
    .map(str::to_owned)
    .to_vec();
    let entries = fs::read_dir(home::path("docs")).unwrap();
    let pages = entries.map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.extend(pages.map(|path| format!("docs/{}", path.file_name().unwrap().display())));
    paths.extend(["CONTRIBUTING.md", "SECURITY.md", "playground/package/README.md"].map(str::to_owned));
    let mut texts: Vec<_> =
        paths.into_iter().map(|path| (path.clone(), home::text(&path).unwrap())).collect();
    let package: Value =
        serde_saphyr::from_str(&home::text("artifacthub/artifacthub-pkg.yml").unwrap()).unwrap();
    for key in ["install", "readme", "description"] {
        texts.push((format!("artifacthub-pkg.yml, {key}"), package[key].as_str().unwrap().to_owned()));
    }
    texts
}

/// The documents that a manifest, or a kustomization of this repository's policies, creates.
fn created(document: Value, text: &str) -> Vec<Value> {
    let has_policies = text.contains(home::REPOSITORY) || text.contains("karpwarden/");
    if document["kind"] == "Kustomization" && has_policies {
        kustomize::render_text(text).unwrap()
    } else {
        vec![document]
    }
}

/// The documents that a line of a shell block creates, if it creates any.
fn of_command(line: &str) -> Vec<Value> {
    assert!(!line.contains("kwctl scaffold manifest"), "{line}: its policy has no safeguards");
    // Also behind a pipe: `curl … | kubectl apply -f -`.
    let is_applied =
        ["kubectl apply ", "kubectl create ", "kubectl replace "].iter().any(|start| line.contains(start));
    let addresses = line.split_whitespace().filter_map(|word| word.strip_prefix(home::REPOSITORY));
    addresses.filter(|_| is_applied).flat_map(|rest| of_address(line, rest)).collect()
}

/// The documents at an address of the repository: a file, or a folder with a kustomization.
fn of_address(line: &str, rest: &str) -> Vec<Value> {
    if let Some(path) = rest.strip_prefix(&format!("/raw/v{}/", home::VERSION)) {
        return yaml::documents(&home::text(path).unwrap()).unwrap();
    }
    let folder =
        rest.strip_prefix("//").and_then(|folder| folder.strip_suffix(&format!("?ref=v{}", home::VERSION)));
    assert!(folder.is_some(), "{line}: not an address of this release");
    kustomize::render(folder.unwrap()).unwrap()
}

/// The lines of the shell blocks of a Markdown text.
fn commands(markdown: &str) -> Vec<String> {
    let mut is_shell = false;
    let mut lines = Vec::new();
    for line in markdown.lines() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            is_shell = ["sh", "console", "bash"].contains(&language);
        } else if is_shell {
            lines.push(line.trim().to_owned());
        }
    }
    lines
}

#[test]
fn every_documented_policy_has_the_safeguards() {
    let mut policies = 0;
    for (place, text) in texts() {
        let blocks = yaml::blocks(&text);
        let of_blocks = blocks.iter().flat_map(|block| {
            let documents =
                yaml::documents(block).unwrap_or_else(|error| panic!("{place}: {error}\n{block}"));
            documents.into_iter().flat_map(move |document| created(document, block))
        });
        let of_commands = commands(&text);
        let of_commands = of_commands.iter().flat_map(|line| of_command(line));
        for document in of_blocks.chain(of_commands) {
            let kind = document["kind"].as_str().unwrap_or_default();
            if kind.contains("AdmissionPolicy") {
                assert_eq!(missing(&document), [] as [&str; 0], "{place}: {document}");
                policies += 1;
            }
        }
    }
    assert!(policies > 20, "{policies} policies only");
}

#[test]
fn every_rendered_policy_has_the_safeguards() {
    for folder in ["base", "overlays/example"] {
        let objects = kustomize::render(&format!("policies/karpenter/kustomize/{folder}")).unwrap();
        for policy in objects.iter().filter(|object| object["kind"] == "ClusterAdmissionPolicy") {
            assert_eq!(missing(policy), [] as [&str; 0], "{folder}: {policy}");
        }
    }
}

/// `kwctl scaffold manifest` and Rancher copy the metadata into a policy with `failurePolicy: Fail` and without conditions.
#[test]
fn metadata_matches_nothing_that_a_cluster_needs_to_run() {
    let metadata: Value =
        serde_saphyr::from_str(&home::text("policies/karpenter/metadata.yml").unwrap()).unwrap();
    assert_eq!(metadata["mutating"], false);
    for rule in metadata["rules"].as_array().unwrap() {
        for resource in rule["resources"].as_array().unwrap() {
            let resource = resource.as_str().unwrap();
            assert!(["nodepools", "ec2nodeclasses", "storageclasses"].contains(&resource), "{resource}");
        }
    }
}

#[test]
fn scaffold_command_and_default_server_are_recognised_as_unsafe() {
    let failure = std::panic::catch_unwind(|| {
        of_command("kwctl scaffold manifest -t ClusterAdmissionPolicy registry://x")
    });
    assert!(failure.is_err());
    let address = format!("{}/raw/v{}/policies/karpenter/monitor.yaml", home::REPOSITORY, home::VERSION);
    let base = format!("{}//policies/karpenter/kustomize/base?ref=v{}", home::REPOSITORY, home::VERSION);
    for command in [
        format!("$ kubectl apply -f {address}"),
        format!("curl -fsSL {address} | kubectl apply -f -"),
        format!("kubectl apply -k {base}"),
    ] {
        assert!(!of_command(&command).is_empty(), "{command}");
    }
    assert!(of_command("kubectl get nodepools").is_empty());
}
