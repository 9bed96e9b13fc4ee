//! Arguments and messages that must get an error, and nothing else.

use std::io::Write as _;

use serde_json::{Value, json};

use super::Client;
use crate::folder::{BAD, Folder};

/// A folder with a root, and a secret next to it.
fn folder() -> Folder {
    Folder::with(&[
        ("root/class.yaml", BAD),
        ("root/nodes/class.yaml", BAD),
        ("secret.yaml", BAD),
        ("outside/class.yaml", BAD),
        ("karpwarden.yaml", "rules: {instance-profile-is-arn: off}\n"),
    ])
}

fn client(folder: &Folder) -> Client {
    Client::with(&[], Some(&[&folder.path("root").canonicalize().unwrap()]))
}

#[test]
fn reads_only_below_the_roots() {
    let folder = folder();
    let mut client = client(&folder);
    let secret = folder.path("secret.yaml").display().to_string();
    for path in [
        "../secret.yaml",
        "nodes/../../secret.yaml",
        &secret,
        "/etc/passwd",
        "/",
        "..",
        &format!("file://{secret}"),
    ] {
        for tool in ["check", "upgrade", "simulate", "disruption", "diagnose"] {
            let error = client.refused(tool, &json!({"paths": ["class.yaml", path]}));
            let expected = format!("`{path}`: outside of the folders that may be read");
            assert!(error.starts_with(&expected) && error.contains("--root DIR"), "{tool}: {error}");
        }
        let error = client.refused("plan", &json!({"oldPath": path, "newPath": "class.yaml"}));
        assert!(error.contains("outside of the folders"), "{error}");
        let error = client.refused("plan", &json!({"snapshot": path}));
        assert!(error.contains("outside of the folders"), "{error}");
    }
    // The settings above the root do not apply.
    let answer =
        client.call("check", &json!({"paths": ["class.yaml"], "select": ["instance-profile-is-arn"]}));
    assert_eq!(answer["answer"]["summary"]["errors"], 1);
    let error = client.refused("check", &json!({"paths": ["missing.yaml"]}));
    assert!(error.starts_with("`missing.yaml`: no such file or folder below `"), "{error}");
}

#[test]
fn a_client_without_roots_needs_the_flag() {
    let folder = folder();
    let mut client = Client::start();
    let error = client.refused("check", &json!({"paths": ["class.yaml"]}));
    assert!(error.contains("the client grants no folder") && error.contains("--root DIR"), "{error}");
    let root = folder.path("root").display().to_string();
    let mut client = Client::with(&["--root", &root], None);
    let answer =
        client.call("check", &json!({"paths": ["class.yaml"], "select": ["instance-profile-is-arn"]}));
    assert_eq!(answer["answer"]["summary"]["errors"], 1);
    let run = folder.run(&["mcp", "--root", "secret.yaml"]);
    assert_eq!((run.status, run.stderr.as_str()), (2, "error: --root: `secret.yaml` is not a folder\n"));
}

#[cfg(unix)]
#[test]
fn follows_no_link_out_of_the_roots() {
    use std::os::unix::fs::symlink;

    let folder = folder();
    let root = folder.path("root");
    symlink(folder.path("secret.yaml"), root.join("link.yaml")).unwrap();
    symlink(folder.path("outside"), root.join("linked")).unwrap();
    symlink(folder.path("secret.yaml"), root.join("nodes/.gitignore")).unwrap();
    symlink(root.join("class.yaml"), root.join("inside.yaml")).unwrap();
    let mut client = client(&folder);
    for path in ["link.yaml", "linked", "linked/class.yaml"] {
        let error = client.refused("check", &json!({"paths": [path]}));
        assert!(error.contains("outside of the folders"), "{error}");
    }
    let answer = client.call("check", &json!({"paths": ["."], "select": ["instance-profile-is-arn"]}));
    let skipped: Vec<&str> = answer["answer"]["skipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["file"].as_str().unwrap())
        .collect();
    assert_eq!(skipped, ["link.yaml", "linked"], "{answer}");
    let reason = &answer["answer"]["unreadable"][0];
    assert_eq!(reason["file"], "nodes/.gitignore");
    let found: Vec<&str> = answer["answer"]["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["file"].as_str().unwrap())
        .collect();
    assert_eq!(found, ["class.yaml"]);
    let answer = client.call("diagnose", &json!({"paths": ["."]}));
    assert!(!answer.to_string().contains("outside/class"), "{answer}");
}

#[test]
fn follows_no_reference_out_of_the_roots() {
    let folder = folder();
    folder.write(
        "root/overlay/kustomization.yaml",
        b"resources: [../../outside, ../../missing, ../class.yaml]\n",
    );
    folder.write("outside/kustomization.yaml", b"resources: [class.yaml]\n");
    folder.write(
        "root/main.tf",
        b"resource \"kubectl_manifest\" \"a\" {\n  yaml_body = file(\"../secret.yaml\")\n}\n",
    );
    folder.write(".git/HEAD", b"ref: refs/heads/main\n");
    let mut client = client(&folder);
    let answer = client.call("check", &json!({"paths": ["."]}));
    let notes = answer["answer"]["notes"].to_string();
    // The client must not learn whether a file outside exists.
    let base = folder.path("root").canonicalize().unwrap();
    for name in ["../outside", "../missing"] {
        let end = format!("is outside of the input and of the root `{}`, and not read", base.display());
        let note = format!("`overlay/kustomization.yaml` refers to `{name}`, which {end}");
        assert!(notes.contains(&note), "{notes}");
    }
    let files = |answer: &Value| {
        let findings = answer["answer"]["findings"].as_array().unwrap().iter();
        findings.map(|one| one["file"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(
        files(&answer).iter().all(|file| !file.contains("outside") && !file.contains("secret")),
        "{answer}"
    );
}

#[test]
fn starts_no_program() {
    let folder = folder();
    folder.write("root/chart/Chart.yaml", b"apiVersion: v2\nname: a\nversion: 1.0.0\n");
    folder.write("root/chart/templates/a.yaml", BAD.as_bytes());
    folder.write("root/karpwarden.yaml", b"render: true\n");
    let answer = client(&folder).call("check", &json!({"paths": ["chart"]}));
    let notes = answer["answer"]["notes"].to_string();
    assert!(notes.contains("the charts are not rendered"), "{notes}");
}

#[cfg(unix)]
#[test]
fn opens_no_special_file() {
    let folder = folder();
    let socket = std::os::unix::net::UnixListener::bind(folder.path("root/socket.yaml")).unwrap();
    let pipe = folder.path("root/pipe.yaml");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut client = Client::with(&["--root", "/dev"], Some(&[&folder.path("root").canonicalize().unwrap()]));
    for path in ["pipe.yaml", "socket.yaml", "/dev/zero"] {
        let error = client.refused("check", &json!({"paths": [path]}));
        assert!(error.contains("neither a file nor a folder"), "{error}");
    }
    let answer = client.call("check", &json!({"paths": ["."], "select": ["instance-profile-is-arn"]}));
    assert_eq!(answer["answer"]["summary"]["errors"], 2);
    drop(socket);
}

#[test]
fn refuses_files_that_are_too_large_together() {
    let folder = folder();
    for number in 0..5 {
        let file = std::fs::File::create(folder.path(&format!("root/large-{number}.yaml"))).unwrap();
        file.set_len(15 << 20).unwrap();
    }
    let mut client = client(&folder);
    for tool in ["check", "simulate", "diagnose"] {
        let error = client.refused(tool, &json!({"paths": ["."]}));
        assert_eq!(
            error, "the files have 76 MiB together, and at most 64 MiB are read: name fewer files",
            "{tool}"
        );
    }
    let error = client.refused("plan", &json!({"oldPath": ".", "newPath": "nodes"}));
    assert!(error.contains("at most 64 MiB"), "{error}");
    // Files to which a kustomization refers count too.
    let large: Vec<String> = (0..5).map(|number| format!("../large-{number}.yaml")).collect();
    folder.write("root/over/kustomization.yaml", format!("resources: [{}]\n", large.join(", ")).as_bytes());
    let error = client.refused("check", &json!({"paths": ["over"]}));
    assert_eq!(error, "the files have 76 MiB together, and at most 64 MiB are read: name fewer files");
}

#[test]
fn a_message_that_is_too_long_costs_only_itself() {
    let mut client = Client::start();
    // A letter needs a byte in the message and in the text.
    let text = "x".repeat(5 << 20);
    let error = client.refused("check", &json!({"text": text}));
    assert_eq!(error, "`text` has 5 MiB, and at most 4 MiB are read; write it to a file and pass its path");
    let input = client.input.as_mut().unwrap();
    input.write_all(br#"{"jsonrpc":"2.0","id":"long","method":"tools/call","params":{"name":"check","arguments":{"text":""#).unwrap();
    let megabyte = vec![b'x'; 1 << 20];
    for _ in 0..20 {
        input.write_all(&megabyte).unwrap();
    }
    client.write(r#""}}}"#);
    let message = client.received();
    assert_eq!(message["id"], "long");
    let text = message["error"]["message"].as_str().unwrap();
    assert!(text.contains("more than 8 MiB") && text.contains("`paths`"), "{text}");
    assert_eq!(
        client.call("check", &json!({"text": BAD, "select": ["instance-profile-is-arn"]}))["answer"]["summary"]
            ["errors"],
        1
    );
}

#[test]
fn lines_that_are_no_messages_cost_only_themselves() {
    let mut client = Client::start();
    for (line, code) in [
        ("{\"jsonrpc\": \"2.0\", \"id\": 5, \"method\"", -32700),
        ("no JSON", -32700),
        ("\u{0}", -32700),
        ("[]", -32600),
        ("{\"jsonrpc\": \"1.0\", \"id\": 5, \"method\": \"ping\"}", -32600),
        ("{\"jsonrpc\": \"2.0\", \"id\": 5}", -32600),
        (&"[".repeat(100_000), -32700),
    ] {
        client.write(line);
        let message = client.received();
        assert_eq!(message["error"]["code"], code, "{line:.40}: {message}");
    }
    for (method, params, code) in [
        ("no/such/method", json!({}), -32601),
        ("tools/call", json!({"name": 5}), -32602),
        ("tools/call", json!({"name": "chek"}), -32602),
        ("tools/call", json!({"name": "check", "arguments": []}), -32602),
        ("resources/read", json!({"uri": "file:///etc/passwd"}), -32002),
        ("prompts/get", json!({"name": "other"}), -32602),
        ("resources/list", json!({"cursor": "x"}), -32602),
    ] {
        let error = client.ask(method, &params)["error"].clone();
        assert_eq!(error["code"], code, "{method} {params}: {error}");
    }
    for (tool, arguments, part) in [
        ("check", json!({}), "pass `text`, `paths` or both"),
        ("check", json!({"text": "a", "karpenterVersion": "0.37"}), "--karpenter-version: "),
        ("check", json!({"text": "a", "kubernetesVersion": "x"}), "--kubernetes-version: "),
        ("check", json!({"text": "a", "select": ["no-such-rule"]}), "--select: "),
        ("explain", json!({"names": ["instance-profile-is-an"]}), "`instance-profile-is-arn`"),
        ("upgrade", json!({"text": "a"}), "`--from` is missing"),
        ("simulate", json!({"text": "a", "replicas": ["web"]}), "`--replicas`"),
        ("disruption", json!({"text": "a", "at": "noon"}), "`--at`: `noon` is not a time"),
        ("plan", json!({"oldText": "a"}), "pass `newText` or `newPath`"),
        ("check", json!({"cursor": "x"}), "call the tool again without `cursor`"),
    ] {
        let error = client.refused(tool, &arguments);
        assert!(error.contains(part), "{tool} {arguments}: {error}");
    }
    assert_eq!(client.ask("ping", &json!({})), json!({}));
    assert_eq!(client.end(), (Some(0), String::new()));
}

#[test]
fn a_cancelled_call_gets_no_answer_and_stops_no_other() {
    let folder = folder();
    let mut client = client(&folder);
    let params = json!({"name": "check", "arguments": {"paths": ["class.yaml"]}});
    // The server waits for the roots, so the call cannot end before it is cancelled.
    let cancelled = client.send("tools/call", &params);
    let question = client.receive();
    assert_eq!(question["method"], "roots/list");
    client.tell("notifications/cancelled", &json!({"requestId": cancelled, "reason": "test"}));
    client.tell("notifications/cancelled", &json!({"requestId": 999}));
    let roots: Vec<Value> = client.roots.iter().flatten().map(|uri| json!({"uri": uri})).collect();
    client.write(&json!({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": roots}}).to_string());
    assert_eq!(client.ask("ping", &json!({})), json!({}));
    assert_eq!(client.call("check", &params["arguments"])["answer"]["summary"]["documents"], 1);
}

#[test]
fn a_client_that_fails_to_name_its_roots_is_asked_again() {
    let folder = folder();
    let mut client = client(&folder);
    let params = json!({"name": "check", "arguments": {"paths": ["class.yaml"]}});
    client.send("tools/call", &params);
    let question = client.receive();
    assert_eq!(question["method"], "roots/list");
    let error = json!({"code": -32603, "message": "not now"});
    client.write(&json!({"jsonrpc": "2.0", "id": question["id"], "error": error}).to_string());
    assert_eq!(client.received()["result"]["isError"], true);
    assert_eq!(client.call("check", &params["arguments"])["answer"]["summary"]["documents"], 1);
}

#[test]
fn the_roots_can_change() {
    let folder = folder();
    let mut client = client(&folder);
    client.refused("check", &json!({"paths": [folder.path("outside").display().to_string()]}));
    client.roots =
        Some(vec![format!("file://{}", folder.path("outside").display()), "https://example.com".to_owned()]);
    client.tell("notifications/roots/list_changed", &json!({}));
    client.ask("ping", &json!({}));
    assert_eq!(client.call("check", &json!({"paths": ["class.yaml"]}))["answer"]["summary"]["documents"], 1);
    let error = client.refused("check", &json!({"paths": ["nodes/class.yaml"]}));
    assert!(error.contains("no such file or folder"), "{error}");
}

#[test]
fn a_client_that_leaves_ends_the_server() {
    assert_eq!(Client::silent(&[], None).end(), (Some(0), String::new()));
    let mut early = Client::silent(&[], None);
    early.tell("notifications/initialized", &json!({}));
    early.write("{}");
    assert_eq!(early.received()["error"]["code"], -32600);
    assert_eq!(early.end(), (Some(0), String::new()));
}
