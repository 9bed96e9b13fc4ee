//! Requests of the revision 2026-07-28, which has no session: each request names its revision and the client, and the server asks for
//! roots in its answer.

use serde_json::{Value, json};

use super::Client;
use crate::folder::{BAD, Folder};

fn meta(capabilities: &Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    })
}

#[test]
fn answers_without_a_session() {
    let folder = Folder::with(&[("class.yaml", BAD)]);
    let mut client = Client::silent(&[], None);
    let none = meta(&json!({}));
    let discovered = client.ask("server/discover", &json!({"_meta": none}));
    assert!(discovered["supportedVersions"].to_string().contains("2026-07-28"), "{discovered}");
    let listed = client.ask("tools/list", &json!({"_meta": none}));
    assert_eq!(listed["tools"].as_array().unwrap().len(), 7, "{listed}");
    let call =
        |meta: &Value, arguments: Value| json!({"name": "check", "arguments": arguments, "_meta": meta});
    let arguments = json!({"text": BAD, "select": ["instance-profile-is-arn"]});
    let result = client.ask("tools/call", &call(&none, arguments));
    assert_eq!(result["structuredContent"]["answer"]["summary"]["errors"], 1, "{result}");
    let result = client.ask("tools/call", &call(&none, json!({"paths": ["class.yaml"]})));
    assert_eq!(result["isError"], true);
    // With roots, the server asks for them first.
    let with_roots = meta(&json!({"roots": {}}));
    let mut params =
        call(&with_roots, json!({"paths": ["class.yaml"], "select": ["instance-profile-is-arn"]}));
    let asked = client.ask("tools/call", &params);
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    assert_eq!(asked["inputRequests"]["roots"]["method"], "roots/list");
    let root = format!("file://{}", folder.path("").canonicalize().unwrap().display());
    params["inputResponses"] = json!({"roots": {"roots": [{"uri": root}]}});
    let result = client.ask("tools/call", &params);
    assert_eq!(result["structuredContent"]["answer"]["summary"]["errors"], 1, "{result}");
    // A text has the settings of the first root.
    folder.write("karpwarden.yaml", b"rules: {instance-profile-is-arn: off}\n");
    let mut params = call(&with_roots, json!({"text": BAD}));
    let asked = client.ask("tools/call", &params);
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    params["inputResponses"] = json!({"roots": {"roots": [{"uri": root}]}});
    let result = client.ask("tools/call", &params);
    assert!(!result.to_string().contains("instance-profile-is-arn"), "{result}");
    let explained = json!({"name": "explain", "arguments": {"names": ["nodeclass"]}, "_meta": with_roots});
    assert_eq!(client.ask("tools/call", &explained)["isError"], false, "explain reads no file");
    assert_eq!(client.end().0, Some(0));
}
