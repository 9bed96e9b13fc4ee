//! `preflight.sh`, with a `kubectl` that answers from a list.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use karpwarden::ADMISSION;
use karpwarden_generate::{home, kustomize};

/// A `kubectl` that refuses what the file `refused` lists and records every question in `asked`.
const KUBECTL: &str = r#"#!/bin/sh
folder=$(dirname "$0")
printf '%s %s %s\n' "$6" "$3" "$4" >> "$folder/asked"
case $(cat "$folder/refused") in
  unreachable) echo 'The connection to the server was refused' >&2; exit 1 ;;
  *"$3 $4"*) echo "Warning: resource '$4' is not namespace scoped" >&2; echo no; exit 1 ;;
  *) echo "Warning: resource '$4' is not namespace scoped" >&2; echo yes ;;
esac
"#;

fn run(name: &str, refused: &str) -> (Output, Vec<String>) {
    run_with(name, refused, &[])
}

fn run_with(name: &str, refused: &str, arguments: &[&str]) -> (Output, Vec<String>) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("preflight-{name}"));
    fs::create_dir_all(&folder).unwrap();
    let kubectl = folder.join("kubectl");
    fs::write(&kubectl, KUBECTL).unwrap();
    fs::set_permissions(&kubectl, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(folder.join("refused"), refused).unwrap();
    fs::write(folder.join("asked"), "").unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let script: &Path = &home::path("policies/karpenter/preflight.sh");
    let output = Command::new("sh").arg(script).args(arguments).env("PATH", path).output().unwrap();
    let asked = fs::read_to_string(folder.join("asked")).unwrap();
    (output, asked.lines().map(str::to_owned).collect())
}

#[test]
fn asks_for_everything_that_the_policies_look_up_and_the_scanner_lists() {
    let (output, asked) = run("all", "");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let server = "system:serviceaccount:kubewarden:karpwarden-policy-server";
    for (kind, _) in ADMISSION.looked_up() {
        let resource = format!("{}.{}", karpwarden_admit::kinds::plural(kind.name), kind.group);
        for verb in ["list", "watch"] {
            assert!(asked.contains(&format!("{server} {verb} {resource}")), "{resource}: {asked:?}");
        }
    }
    let roles = kustomize::render("policies/karpenter/kustomize/base").unwrap();
    let audit = roles
        .iter()
        .find(|one| one["kind"] == "ClusterRole" && one["metadata"]["name"] == "karpwarden-audit");
    for rule in audit.unwrap()["rules"].as_array().unwrap() {
        for resource in rule["resources"].as_array().unwrap().iter().filter(|name| *name != "nodeoverlays") {
            let group = rule["apiGroups"][0].as_str().unwrap();
            let resource = resource.as_str().unwrap();
            let resource = if group.is_empty() { resource.to_owned() } else { format!("{resource}.{group}") };
            let question = format!("system:serviceaccount:kubewarden:audit-scanner list {resource}");
            assert!(asked.contains(&question), "{question}: {asked:?}");
        }
    }
}

#[test]
fn component_asks_what_the_script_asks() {
    let (_, mut by_script) = run("component", "");
    by_script.sort();
    let mut by_component = Vec::new();
    let account = |name: &str| format!("system:serviceaccount:kubewarden:{name}");
    for job in kustomize::render("policies/karpenter/kustomize/components/preflight").unwrap() {
        let pod = &job["spec"]["jobTemplate"]["spec"]["template"]["spec"];
        let account = account(pod["serviceAccountName"].as_str().unwrap());
        for container in pod["containers"].as_array().unwrap() {
            let arguments: Vec<_> =
                container["args"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
            let ["auth", "can-i", verb, resource, "--all-namespaces"] = arguments[..] else {
                panic!("{container}")
            };
            let name = format!("{verb}-{}", resource.split('.').next().unwrap());
            assert_eq!(container["name"], name.as_str());
            by_component.push(format!("{account} {verb} {resource}"));
        }
    }
    by_component.sort();
    assert_eq!(by_component, by_script);
}

/// The setting `context` limits the kinds that the policies look up, and so the permissions that they need.
#[test]
fn asks_only_for_the_kinds_of_the_setting_context() {
    let accounts = ["server", "scanner"];
    for (context, kinds) in [("all", ADMISSION.looked_up().len()), ("pools", 1), ("none", 0)] {
        let arguments = [["--context", context], accounts].concat();
        let (output, asked) = run_with(&format!("context-{context}"), "", &arguments);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let of_server: Vec<_> = asked.iter().filter(|question| question.starts_with("server ")).collect();
        assert_eq!(of_server.len(), 2 * kinds, "{context}: {asked:?}");
        let is_about_pools = |question: &&String| question.ends_with(" nodepools.karpenter.sh");
        assert!(context != "pools" || of_server.iter().all(is_about_pools), "{asked:?}");
        assert!(asked.iter().any(|question| question.starts_with("scanner list ")), "{asked:?}");
    }
    for arguments in [&["--context", "some"][..], &["--context"]] {
        let (output, asked) = run_with("wrong", "", arguments);
        assert_eq!((output.status.code(), asked.len()), (Some(2), 0), "{output:?}");
    }
}

#[test]
fn names_each_missing_permission() {
    let (output, _) = run("missing", "watch nodepools.karpenter.sh");
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    let expected = "missing: system:serviceaccount:kubewarden:karpwarden-policy-server may not watch nodepools.karpenter.sh\n";
    assert!(text.starts_with(expected) && text.matches("missing:").count() == 1, "{text}");
}

#[test]
fn unreachable_cluster_is_not_a_missing_permission() {
    let (output, _) = run("unreachable", "unreachable");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("connection to the server was refused"));
}
