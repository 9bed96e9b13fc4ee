//! Answers to a policy's host calls.

#![expect(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a test may panic")]

use karpwarden_admit::{CallFailure, FakeCluster, PolicyModule};
use serde_json::{Value, json};

const LIST_ALL: &str = "list_resources_all";

/// Makes a host call from a real instance. An error is the one that the policy gets.
fn ask(cluster: &FakeCluster, operation: &str, request: &Value) -> Result<Value, String> {
    let module = PolicyModule::load(include_bytes!("probe.wat")).unwrap();
    match module.call(operation, request.to_string().as_bytes(), cluster) {
        Ok(answer) => Ok(serde_json::from_slice(&answer).unwrap_or_default()),
        Err(CallFailure::Returned(text)) => Err(text.trim_start_matches("Guest call failure: ").to_owned()),
        Err(other) => panic!("{other:?}"),
    }
}

fn node_pools() -> Value {
    json!({"api_version": "karpenter.sh/v1", "kind": "NodePool"})
}

fn node_pool(name: &str) -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool",
        "metadata": {"name": name, "labels": {"team": name},
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}", "a": "b"}},
        "spec": {"weight": 10, "limits": {"cpu": "1"}},
    })
}

fn pod(namespace: &str, name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace}, "spec": {}})
}

fn cluster() -> FakeCluster {
    FakeCluster::holding([node_pool("a"), node_pool("b"), pod("x", "one"), pod("y", "two")])
        .granting([("karpenter.sh/v1", "NodePool"), ("v1", "Pod")])
}

fn names(list: &Value) -> Vec<&str> {
    let items = list["items"].as_array().unwrap();
    items.iter().map(|item| item["metadata"]["name"].as_str().unwrap()).collect()
}

#[test]
fn kind_without_grant_is_denied_with_the_hosts_message() {
    let refusal = "Policy has not been granted access to Kubernetes karpenter.sh/v1/NodePool resources. \
                   The violation has been reported.";
    for cluster in
        [FakeCluster::offline(), FakeCluster::holding([node_pool("a")]).granting([("v1", "NodePool")])]
    {
        assert_eq!(ask(&cluster, LIST_ALL, &node_pools()).unwrap_err(), refusal);
        let calls = cluster.calls();
        assert_eq!(calls.len(), 1);
        assert_eq!(calls[0].operation, "kubernetes/list_resources_all");
        assert_eq!(calls[0].request, node_pools());
        assert_eq!(calls[0].refusal.as_deref(), Some(refusal));
    }
}

#[test]
fn capability_is_checked_before_the_resource() {
    for (patterns, allowed) in
        [(&[][..], false), (&["kubernetes/get_resource"], false), (&["kubernetes/*"], true)]
    {
        let answer = ask(&cluster().capable_of(patterns.iter().copied()), LIST_ALL, &node_pools());
        assert_eq!(answer.is_ok(), allowed, "{patterns:?}");
        if let Err(error) = answer {
            assert_eq!(
                error,
                "Policy has not been granted access to the 'kubernetes/list_resources_all' host capability. \
                 The violation has been reported."
            );
        }
    }
}

#[test]
fn policy_gets_the_error_of_a_failing_api_server() {
    let cluster = FakeCluster::failing("etcd is down").granting([("karpenter.sh/v1", "NodePool")]);
    assert_eq!(
        ask(&cluster, LIST_ALL, &node_pools()).unwrap_err(),
        "Callback evaluation failure: etcd is down"
    );
}

#[test]
fn list_has_the_format_of_the_host() {
    let list = ask(&cluster(), LIST_ALL, &node_pools()).unwrap();
    assert_eq!(list["apiVersion"], "karpenter.sh/v1");
    assert_eq!(list["kind"], "NodePoolList");
    assert_eq!(
        list["items"][0],
        json!({
            "apiVersion": "karpenter.sh/v1", "kind": "NodePool",
            "metadata": {"name": "a", "labels": {"team": "a"}, "annotations": {"a": "b"}, "managedFields": []},
            "spec": {"weight": 10, "limits": {"cpu": "1"}},
        })
    );
    let pods = ask(&cluster(), LIST_ALL, &json!({"api_version": "v1", "kind": "Pod"})).unwrap();
    assert_eq!(names(&pods), ["one", "two"]);
    assert!(pods["items"][0].get("kind").is_none(), "the API server omits it in lists of built-in kinds");
}

#[test]
fn list_is_written_in_the_order_of_the_host_for_each_call() {
    let bytes = |cluster: &FakeCluster| {
        let payload = node_pools().to_string();
        String::from_utf8(cluster.answer("kubewarden", "kubernetes", LIST_ALL, payload.as_bytes()).unwrap())
    };
    let cluster = cluster();
    let first = bytes(&cluster).unwrap();
    let start = r#"{"apiVersion":"karpenter.sh/v1","kind":"NodePoolList","metadata":{},"items":[{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"#;
    assert!(first.starts_with(start), "{first}");
    assert_eq!(bytes(&cluster).unwrap(), first);
    assert_eq!(bytes(&self::cluster().repeating()).unwrap(), first);
}

#[test]
fn list_is_limited_by_namespace_selectors_and_masks() {
    let with = |mut request: Value, key: &str, value: Value| {
        request[key] = value;
        request
    };
    let pods = json!({"api_version": "v1", "kind": "Pod", "namespace": "y"});
    let list = ask(&cluster(), "list_resources_by_namespace", &pods).unwrap();
    assert_eq!(names(&list), ["two"]);
    let labelled = with(node_pools(), "label_selector", json!("team=b"));
    assert_eq!(names(&ask(&cluster(), LIST_ALL, &labelled).unwrap()), ["b"]);
    let named = with(node_pools(), "field_selector", json!("metadata.name=a"));
    assert_eq!(names(&ask(&cluster(), LIST_ALL, &named).unwrap()), ["a"]);
    let masked = with(node_pools(), "field_masks", json!(["spec.weight"]));
    let list = ask(&cluster(), LIST_ALL, &masked).unwrap();
    assert_eq!(list["items"][0]["spec"], json!({"weight": 10}));
    assert_eq!(
        list["items"][0]["metadata"]["labels"],
        json!({"team": "a"}),
        "masks do not apply to metadata"
    );
}

#[test]
fn listing_a_cluster_scoped_kind_in_a_namespace_fails() {
    let mut request = node_pools();
    request["namespace"] = json!("x");
    assert_eq!(
        ask(&cluster(), "list_resources_by_namespace", &request).unwrap_err(),
        "Callback evaluation failure: resource karpenter.sh/v1/NodePool is cluster wide. \
         Cannot search for it inside of a namespace"
    );
}

#[test]
fn kind_without_crd_is_not_found() {
    let cluster = cluster().not_serving("karpenter.sh/v1", "NodePool");
    assert_eq!(
        ask(&cluster, LIST_ALL, &node_pools()).unwrap_err(),
        "Callback evaluation failure: Cannot find resource karpenter.sh/v1/NodePool"
    );
}

#[test]
fn get_returns_an_object_whole_or_masked() {
    let request = |name: &str, masks: Value| {
        json!({"api_version": "karpenter.sh/v1", "kind": "NodePool", "name": name, "namespace": null,
               "disable_cache": false, "field_masks": masks})
    };
    assert_eq!(ask(&cluster(), "get_resource", &request("a", Value::Null)).unwrap(), node_pool("a"));
    let masked = ask(&cluster(), "get_resource", &request("a", json!(["spec.limits"]))).unwrap();
    assert_eq!(masked["spec"], json!({"limits": {"cpu": "1"}}));
    assert_eq!(
        ask(&cluster(), "get_resource", &request("c", Value::Null)).unwrap_err(),
        "Callback evaluation failure: Cannot find karpenter.sh/v1/NodePool named 'c' inside of namespace 'None'"
    );
}

#[test]
fn can_i_needs_no_grant_and_answers_by_permission() {
    let cluster =
        FakeCluster::holding(Vec::<Value>::new()).permitting("eve", "create", "karpenter.sh", "nodepools");
    let request = |verb: &str| {
        json!({"disable_cache": false, "subject_access_review": {"user": "eve", "groups": null,
            "resource_attributes": {"verb": verb, "group": "karpenter.sh", "resource": "nodepools"}}})
    };
    assert_eq!(ask(&cluster, "can_i", &request("create")).unwrap(), json!({"allowed": true}));
    assert_eq!(ask(&cluster, "can_i", &request("delete")).unwrap(), json!({"allowed": false}));
}

#[test]
fn log_lines_need_no_capability() {
    let cluster = FakeCluster::offline().capable_of([]);
    let line = json!({"level": "info", "message": "hello"});
    ask(&cluster, "~log", &line).unwrap();
    assert_eq!(cluster.log(), [line]);
    assert_eq!(cluster.calls(), []);
}

#[test]
fn unknown_operation_is_an_error() {
    assert_eq!(ask(&cluster(), "watch", &json!({})).unwrap_err(), "unknown operation: watch");
    assert!(
        ask(&cluster(), LIST_ALL, &json!({"kind": "Pod"}))
            .unwrap_err()
            .contains("missing field `api_version`")
    );
}

const SESSION: &str = r#"
- type: Exchange
  request: |
    !KubernetesListResourceAll
    api_version: karpenter.sh/v1
    kind: NodePool
    label_selector: null
    field_selector: null
    field_masks: [spec.weight, spec.limits]
  response: {type: Success, payload: '{"items":[]}'}
- type: Exchange
  request: |
    !KubernetesGetResource
    api_version: karpenter.sh/v1
    kind: NodePool
    name: a
    namespace: null
    disable_cache: false
  response: {type: Error, message: "gone"}
"#;

fn replay() -> FakeCluster {
    FakeCluster::replaying(SESSION).unwrap().granting([("karpenter.sh/v1", "NodePool")])
}

#[test]
fn session_is_replayed_in_order() {
    let cluster = replay();
    assert_eq!(cluster.leftover(), 2);
    let mut list = node_pools();
    // Masks are a set; their order does not matter.
    list["field_masks"] = json!(["spec.limits", "spec.weight"]);
    assert_eq!(ask(&cluster, LIST_ALL, &list).unwrap(), json!({"items": []}));
    let get =
        json!({"api_version": "karpenter.sh/v1", "kind": "NodePool", "name": "a", "disable_cache": false});
    assert_eq!(ask(&cluster, "get_resource", &get).unwrap_err(), "Callback evaluation failure: gone");
    assert_eq!(cluster.leftover(), 0);
    assert_eq!(
        ask(&cluster, "get_resource", &get).unwrap_err(),
        "Callback evaluation failure: the list of recorded responses is empty"
    );
}

#[test]
fn replay_rejects_a_call_that_differs_in_one_field() {
    let error = ask(&replay(), LIST_ALL, &node_pools()).unwrap_err();
    assert!(
        error.starts_with(
            "Callback evaluation failure: Replay error: unexpected request. \
             Was expecting KubernetesListResourceAll { api_version: \"karpenter.sh/v1\""
        ),
        "{error}"
    );
}

#[test]
fn error_of_an_invalid_session_names_the_exchange() {
    let unknown = SESSION.replace("!KubernetesGetResource", "!KubernetesPatchResource");
    let error = FakeCluster::replaying(&unknown).unwrap_err().to_string();
    assert!(error.starts_with("the request of exchange 1 is not a host call to Kubernetes"), "{error}");
    assert!(
        FakeCluster::replaying("a: b")
            .unwrap_err()
            .to_string()
            .starts_with("not a list of recorded exchanges")
    );
}
