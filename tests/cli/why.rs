//! `karpwarden why`, `plan --filename` and the plugin of kubectl, with a stand-in for kubectl on the PATH.

use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use serde_json::{Value, json};

use crate::folder::{Folder, Run};
use crate::plan_collected::{run_with_kubectl, serve};
use crate::plan_snapshot::{AT, cluster, pool};

/// A pending pod.
fn pending(name: &str, spec: &Value) -> Value {
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop"},
        "spec": {"containers": [{"name": "a", "image": "a", "args": ["--db-password=hunter2"],
            "resources": {"requests": {"cpu": "1500m"}}}]},
        "status": {"phase": "Pending", "conditions": [
            {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/2 nodes are available"}]}});
    for (key, value) in spec.as_object().unwrap() {
        pod["spec"][key] = value.clone();
    }
    pod
}

/// A cluster of two nodes behind the stand-in, with some pods.
fn served(pods: &[Value]) -> Folder {
    let folder = cluster(2);
    let list: Value = serde_json::from_str(&folder.read("snapshot/cluster.json")).unwrap();
    let mut items = list["items"].as_array().unwrap().clone();
    items.extend_from_slice(pods);
    serve(&folder, &items);
    folder
}

fn why(folder: &Folder, arguments: &[&str]) -> Run {
    run_with_kubectl(folder, &[&["why", "--karpenter-version", "1.14"], arguments].concat())
}

/// The names of the files below a folder.
fn names(folder: &Folder) -> Vec<String> {
    let output = Command::new("find").arg(folder.path("")).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut names: Vec<String> =
        text.lines().filter(|name| !name.ends_with("/calls")).map(str::to_owned).collect();
    names.sort();
    names
}

#[test]
fn says_where_a_pending_pod_would_go_and_writes_no_file() {
    let folder = served(&[pending("new", &json!({}))]);
    let before = names(&folder);
    let run = why(&folder, &["pod/new", "-n", "shop"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(
        !run.stdout.contains("(`--prices`)") && !run.stdout.contains("(`--no-bind`)"),
        "flags that `why` lacks: {run:?}"
    );
    assert!(
        run.stdout.starts_with("pod/shop/new would get a new node of NodePool default\n  types     m5.large"),
        "{run:?}"
    );
    assert_eq!(names(&folder), before);
    for call in folder.read("bin/calls").lines() {
        let verb = call.split(' ').next().unwrap();
        assert!(["version", "get", "config"].contains(&verb) && !call.contains("secrets"), "{call}");
    }
}

#[test]
fn says_why_a_pod_goes_nowhere() {
    let folder = served(&[pending("stuck", &json!({"nodeSelector": {"kubernetes.io/arch": "arm64"}}))]);
    let run = why(&folder, &["pods/stuck", "-n", "shop"]);
    assert_eq!(run.status, 1, "{run:?}");
    assert!(run.stdout.starts_with("pod/shop/stuck fits nowhere: "), "{run:?}");
    assert!(
        run.stdout.contains("\n  NodePool default: ") && run.stdout.contains("kubernetes.io/arch"),
        "{run:?}"
    );
    assert!(!format!("{run:?}").contains("hunter2"), "redacted");
}

#[test]
fn says_why_a_pod_without_a_node_needs_none_and_who_places_it() {
    let ended = |name: &str, phase: &str| {
        let mut pod = pending(name, &json!({}));
        pod["status"] = json!({"phase": phase});
        pod
    };
    let mut leaving = pending("leaving", &json!({}));
    leaving["metadata"]["deletionTimestamp"] = json!(AT);
    let other = pending("batch", &json!({"schedulerName": "volcano"}));
    let folder = served(&[ended("done", "Succeeded"), leaving, other]);
    let said = |name: &str| why(&folder, &[&format!("pod/{name}"), "-n", "shop"]).stdout;
    assert_eq!(said("done"), "pod/shop/done needs no node: it has ended, and its phase is `Succeeded`\n");
    assert_eq!(said("leaving"), "pod/shop/leaving needs no node: it is being deleted\n");
    let batch = said("batch");
    assert!(
        batch.contains("\nthe scheduler `volcano` places this pod; Karpenter launches a node once"),
        "{batch}"
    );
}

#[test]
fn takes_the_namespace_of_the_context() {
    let folder = served(&[pending("new", &json!({}))]);
    let run = why(&folder, &["pod/new"]);
    assert_eq!(run.status, 2);
    let expected = "there is no pod `new` in the namespace `default`; one of that name is in the namespace `shop`: add `-n shop`";
    assert!(run.stderr.contains(expected), "{run:?}");
    folder.write(
        "bin/answers/config",
        br#"{"contexts": [{"context": {"namespace": "shop"}, "name": "prod"}]}"#,
    );
    let run = why(&folder, &["pod/new", "--context", "prod"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(folder.read("bin/calls").lines().last().unwrap().ends_with(" --context=prod"));
    assert_eq!(why(&folder, &["pod/none"]).status, 2);
}

#[test]
fn tells_the_story_of_a_node_and_of_the_node_of_a_pod_as_disruption_does() {
    let folder = served(&[]);
    let of_node = why(&folder, &["node/node-1"]);
    assert_eq!(of_node.status, 0, "{of_node:?}");
    assert!(of_node.stdout.starts_with("node node-1 of NodePool default, 1 pod, at "), "{of_node:?}");
    let of_claim = why(&folder, &["nodeclaim/default-1"]);
    assert!(of_claim.stdout.starts_with("node node-1 of NodePool default"), "{of_claim:?}");
    let of_pod = why(&folder, &["pod/web-2", "-n", "shop"]);
    assert!(of_pod.stdout.contains("node node-2 of NodePool default"), "{of_pod:?}");
    // All but the first line, which has the time.
    let told = run_with_kubectl(
        &folder,
        &["disruption", "--karpenter-version", "1.14", "--node", "node-1", "snapshot"],
    );
    let rest = |run: &Run| run.stdout.lines().skip(1).take(3).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(rest(&of_node), rest(&told));
    let none = why(&folder, &["node/node-9"]);
    // `why` has no flag `--node`.
    let expected = "error: the input has no node, NodeClaim or instance `node-9`";
    assert!(none.status == 2 && none.stderr.contains(expected), "{none:?}");
    for subject in ["deploy/web", "web", "pod/"] {
        assert_eq!(why(&folder, &[subject]).status, 2, "{subject}");
    }
    assert_eq!(why(&folder, &["nodes", "node-1"]).stdout.lines().nth(1), of_node.stdout.lines().nth(1));
}

#[test]
fn accepts_words_and_flags_in_the_order_of_kubectl() {
    let folder = served(&[pending("new", &json!({}))]);
    let expected = why(&folder, &["pod/new", "-n", "shop"]).stdout;
    for words in [
        &["-n", "shop", "why", "pod/new"][..],
        &["--namespace=shop", "why", "pod", "new"],
        &["-nshop", "why", "po/", "new"],
    ] {
        let run = run_with_kubectl(&folder, &[words, &["--karpenter-version", "1.14"]].concat());
        assert_eq!((run.status, &run.stdout), (0, &expected), "{words:?}: {run:?}");
    }
    let refused = run_with_kubectl(&folder, &["-n", "shop", "check", "."]);
    assert!(refused.status == 2 && refused.stderr.contains("unexpected argument '-n'"), "{refused:?}");
}

#[test]
fn answers_in_json_what_it_tells() {
    let stuck = |name| pending(name, &json!({"nodeSelector": {"kubernetes.io/arch": "arm64"}}));
    let mut ended = pending("done", &json!({}));
    ended["status"] = json!({"phase": "Succeeded"});
    let folder = served(&[stuck("first"), stuck("stuck"), pending("new", &json!({})), ended]);
    let json = |subject: &str, status: i32| {
        let run = why(&folder, &[subject, "-n", "shop", "--format", "json"]);
        assert_eq!(run.status, status, "{run:?}");
        let answer = run.json();
        crate::answers::assert_valid("why", &answer);
        let told = why(&folder, &[subject, "-n", "shop"]).stdout;
        (answer, told)
    };
    let (new, told) = json("pod/new", 0);
    assert_eq!(new["verdict"], told.lines().next().unwrap());
    assert_eq!(new["pod"]["placement"]["newNode"]["nodePool"], "default");
    assert_eq!((&new["pod"]["namespace"], &new["node"]), (&"shop".into(), &Value::Null));
    assert!(new["karpenterVersion"].as_str().unwrap().starts_with("1.14"), "{new}");
    // Pods with equal specs share their reasons in the answer of `simulate`.
    let (stuck, told) = json("pod/stuck", 1);
    assert_eq!(stuck["verdict"], told.lines().next().unwrap());
    assert_eq!(stuck["pod"]["placement"]["reasons"][0]["nodePool"], "default", "{stuck}");
    let (done, told) = json("pod/done", 0);
    assert_eq!((done["verdict"].as_str(), &done["pod"]["placement"]), (told.lines().next(), &Value::Null));
    let (node, told) = json("node/node-1", 0);
    let known = &node["node"];
    assert_eq!(
        (&known["name"], &known["nodePool"], &known["pods"]),
        (&"node-1".into(), &"default".into(), &1.into())
    );
    for decision in known["decisions"].as_array().unwrap() {
        assert!(told.contains(decision["text"].as_str().unwrap()), "{decision} {told}");
    }
    assert!(!known["decisions"].as_array().unwrap().is_empty() && node["pod"].is_null(), "{node}");
    assert!(node["verdict"].as_str().unwrap().starts_with("node/node-1: "), "{node}");
    let (on_node, _) = json("pod/web-2", 0);
    assert_eq!((&on_node["pod"]["name"], &on_node["node"]["name"]), (&"web-2".into(), &"node-2".into()));
    assert_eq!(on_node["pod"]["protection"], "no karpenter.sh/do-not-disrupt");
}

#[test]
fn names_what_it_cannot_read() {
    let folder = served(&[pending("new", &json!({}))]);
    let denied = "Error from server (Forbidden): nodes is forbidden: User \"dev\" cannot list resource \"nodes\" in API group \"\" at the cluster scope\n";
    folder.write("bin/answers/nodes.error", denied.as_bytes());
    let run = why(&folder, &["pod/new", "-n", "shop"]);
    assert!(run.stderr.contains("note: cannot read nodes: Error from server (Forbidden)"), "{run:?}");
    let run = folder.run_with("PATH", "/nowhere", &["why", "pod/new"]);
    assert!(run.status == 3 && run.stderr.contains("kubectl is not on the PATH"), "{run:?}");
}

#[test]
fn plans_files_against_the_cluster_as_against_its_snapshot() {
    let folder = served(&[]);
    folder.write("changed/pool.yaml", pool("b").to_string().as_bytes());
    let common = ["plan", "--karpenter-version", "1.14", "--at", AT, "--format", "json"];
    let live = run_with_kubectl(&folder, &[&common[..], &["-f", "changed"]].concat());
    assert_eq!(live.status, 0, "{live:?}");
    let (live, stored) =
        (live.json(), folder.run(&[&common[..], &["--snapshot", "snapshot", "changed"]].concat()).json());
    for key in ["verdict", "effect", "nodes", "rollouts", "cost", "pods"] {
        assert_eq!(live[key], stored[key], "{key}");
    }
    assert!(live["verdict"].as_str().unwrap().starts_with("replaces "), "{}", live["verdict"]);
    // A snapshot has no values of annotations; the cluster has them.
    let mut annotated = pool("a");
    annotated["spec"]["template"]["metadata"]["annotations"] = json!({"example.com/owner": "team-a"});
    let folder = cluster(2);
    serve(&folder, std::slice::from_ref(&annotated));
    folder.write("changed/pool.yaml", annotated.to_string().as_bytes());
    let same = run_with_kubectl(&folder, &[&common[..], &["-f", "changed"]].concat()).json();
    assert!(same["verdict"].as_str().unwrap().starts_with("no node is replaced"), "{}", same["verdict"]);
    let refused = run_with_kubectl(&folder, &["plan", "-f", "changed", "--snapshot", "snapshot"]);
    assert_eq!(refused.status, 2);
}

/// A budget of the pods of `web`, which allows `most` of them to go.
fn budget(namespace: Option<&str>, most: usize) -> Value {
    let mut budget = json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web"},
        "spec": {"maxUnavailable": most, "selector": {"matchLabels": {"app": "web"}}},
        "status": {"disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1, "observedGeneration": 1}});
    if let Some(namespace) = namespace {
        budget["metadata"]["namespace"] = json!(namespace);
    }
    budget
}

#[test]
fn plans_objects_without_a_namespace_where_kubectl_applies_them() {
    let folder = served(&[]);
    let list = |budgets: &[Value]| {
        let list = json!({"apiVersion": "v1", "items": budgets, "kind": "List", "metadata": {"resourceVersion": ""}});
        folder.write("bin/answers/poddisruptionbudgets.policy", list.to_string().as_bytes());
    };
    let context = |namespace: &str| {
        let config = json!({"contexts": [{"context": {"namespace": namespace}, "name": "prod"}]});
        folder.write("bin/answers/config", config.to_string().as_bytes());
    };
    folder.write("changed/pool.yaml", pool("b").to_string().as_bytes());
    folder.write("changed/budget.yaml", budget(None, 1).to_string().as_bytes());
    let common = ["--karpenter-version", "1.14", "--at", AT, "--format", "json"];
    // Whether the budget in `shop` still keeps the nodes.
    let keeps = |words: &[&str]| {
        let run = run_with_kubectl(&folder, &[words, &common].concat());
        assert_eq!(run.status, 0, "{words:?}: {run:?}");
        let answer = run.json();
        answer["nodes"].as_array().unwrap().iter().all(|node| node["never"] == true)
    };
    list(&[budget(Some("shop"), 0), budget(Some("other"), 0)]);
    assert!(!keeps(&["plan", "-f", "changed", "-n", "shop"]));
    assert!(!keeps(&["-n", "shop", "plan", "-f", "changed"]));
    assert!(keeps(&["plan", "-f", "changed", "--namespace=other"]));
    context("shop");
    assert!(!keeps(&["plan", "-f", "changed"]), "the namespace of the context");
    context("other");
    assert!(keeps(&["plan", "-f", "changed"]));
    // A tool may set the namespace, so that the only budget of this name is meant.
    list(&[budget(Some("shop"), 0)]);
    assert!(!keeps(&["plan", "-f", "changed"]));
    assert!(keeps(&["plan", "-f", "changed", "-n", "other"]), "-n says where it goes");
    // A new budget goes where kubectl creates it.
    list(&[]);
    folder.write("changed/budget.yaml", budget(None, 0).to_string().as_bytes());
    assert!(keeps(&["plan", "-f", "changed", "-n", "shop"]));
    assert!(!keeps(&["plan", "-f", "changed", "-n", "other"]));
    folder.write("snapshot/budget.json", budget(Some("shop"), 0).to_string().as_bytes());
    folder.write("changed/budget.yaml", budget(None, 1).to_string().as_bytes());
    assert!(!keeps(&["plan", "--snapshot", "snapshot", "-n", "shop", "changed"]));
    folder.write("changed/budget.yaml", budget(Some("shop"), 1).to_string().as_bytes());
    let refused = run_with_kubectl(&folder, &["plan", "-f", "changed", "-n", "other"]);
    assert_eq!(
        (refused.status, refused.stderr.as_str()),
        (
            2,
            "error: PodDisruptionBudget/web has the namespace `shop`, so kubectl refuses it with `-n other`: leave out the flag, or name `shop`\n"
        )
    );
    assert_eq!(run_with_kubectl(&folder, &["plan", "-n", "shop", "changed", "snapshot"]).status, 2);
}

/// Runs the binary under the name that kubectl looks for.
fn plugin(folder: &Folder, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_karpwarden"));
    command.arg0("/usr/local/bin/kubectl-karpwarden").args(arguments).current_dir(folder.path(""));
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    (output.status.code(), text)
}

#[test]
fn the_plugin_of_kubectl_says_its_name() {
    let folder = Folder::with(&[("notes.txt", "none")]);
    for (arguments, status, expected) in [
        (&["-h"][..], 0, "Usage: kubectl karpwarden [OPTIONS] [COMMAND]"),
        (&[], 3, "Usage: kubectl karpwarden [OPTIONS] [COMMAND]"),
        (&["why", "-h"], 0, "Usage: kubectl karpwarden why [OPTIONS] <pod/NAME|node/NAME>"),
        (&["check", "--no-such-flag"], 2, "Usage: kubectl karpwarden check"),
        (&["man", "why"], 0, "kubectl karpwarden why"),
    ] {
        let (code, text) = plugin(&folder, arguments);
        assert_eq!(code, Some(status), "{arguments:?}: {text}");
        assert!(text.contains(expected), "{arguments:?}: {text}");
    }
}

#[test]
fn the_script_of_the_plugin_completes_as_kubectl_asks() {
    let folder = Folder::with(&[]);
    let (_, script) = plugin(&folder, &["completions", "bash"]);
    folder.write("kubectl_complete-karpwarden", script.as_bytes());
    std::fs::create_dir_all(folder.path("bin")).unwrap();
    symlink(env!("CARGO_BIN_EXE_karpwarden"), folder.path("bin/kubectl-karpwarden")).unwrap();
    let completed = |words: &[&str]| {
        let mut command = Command::new("sh");
        command.arg("kubectl_complete-karpwarden").args(words).current_dir(folder.path(""));
        command.env("PATH", format!("{}:/usr/bin:/bin", folder.path("bin").display()));
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let expected = "why\tExplain a pod or a node of the cluster that kubectl reads\n:4\n";
    assert_eq!(completed(&["wh"]), expected);
    assert!(completed(&["check", "--ka"]).starts_with("--karpenter-version\t"));
    assert_eq!(completed(&["check", "nodes/"]), ":0\n", "kubectl completes files");
    assert_eq!(completed(&["why", "p"]), "pod/\tA pod\n:6\n", "the word goes on");
    serve(&folder, &[]);
    folder.write("bin/answers/pod", b"pod/web-0\npod/web-1\npod/api-0\n");
    folder.write("bin/answers/node@shop", b"node/node-1\n");
    assert_eq!(completed(&["why", "pod/w"]), "pod/web-0\t\npod/web-1\t\n:4\n");
    assert_eq!(completed(&["-n", "shop", "--context", "prod", "why", "node", ""]), "node-1\t\n:4\n");
    let call = "get node --output=name --request-timeout=5s --namespace=shop --context=prod";
    assert_eq!(folder.read("bin/calls").lines().last(), Some(call));
    folder.write("bin/answers/pod.error", b"Error from server (Forbidden): no\n");
    assert_eq!(completed(&["why", "pod/w"]), ":4\n");
}
