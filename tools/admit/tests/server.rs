//! The response that the API server gets for each answer of a policy.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test may panic")]

use std::time::Duration;

use karpwarden_admit::{AdmissionResponse, FakeCluster, Policy, PolicyModule, Request, built, server::Mode};
use serde_json::{Value, json};

fn node_pool() -> Value {
    json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "default"}, "spec": {"weight": 1}})
}

/// A policy that always gives this answer.
fn answering(answer: &str) -> Policy {
    let text = answer.replace('\\', "\\\\").replace('"', "\\\"");
    let module = format!(
        r#"(module
            (import "wapc" "__guest_response" (func $respond (param i32 i32)))
            (memory (export "memory") 1)
            (data (i32.const 0) "{text}")
            (func (export "__guest_call") (param i32 i32) (result i32)
              (call $respond (i32.const 0) (i32.const {}))
              (i32.const 1)))"#,
        answer.len()
    );
    Policy::new(PolicyModule::load(module.as_bytes()).unwrap())
}

fn review(policy: &Policy) -> AdmissionResponse {
    let request = Request::create(node_pool()).uid("7").to_json().unwrap();
    policy.review(&request, &FakeCluster::offline())
}

fn as_json(response: &AdmissionResponse) -> Value {
    serde_json::to_value(response).unwrap()
}

const REJECTED: &str =
    r#"{"accepted":false,"message":"no","code":400,"warnings":["w"],"audit_annotations":{"k":"v"}}"#;

#[test]
fn acceptance_is_an_empty_response() {
    let expected = json!({"uid": "7", "allowed": true, "auditAnnotations": null, "warnings": null});
    assert_eq!(as_json(&review(&answering(r#"{"accepted":true}"#))), expected);
    let floor = Policy::new(PolicyModule::load(&built::floor().unwrap()).unwrap());
    assert_eq!(as_json(&review(&floor)), expected);
    assert!(floor.check_settings(&FakeCluster::offline()).valid);
}

#[test]
fn rejection_has_message_code_warnings_and_annotations() {
    assert_eq!(
        as_json(&review(&answering(REJECTED))),
        json!({"uid": "7", "allowed": false, "status": {"message": "no", "code": 400},
               "auditAnnotations": {"k": "v"}, "warnings": ["w"]})
    );
}

#[test]
fn monitor_mode_allows_and_keeps_warnings_and_annotations() {
    assert_eq!(
        as_json(&review(&answering(REJECTED).mode(Mode::Monitor))),
        json!({"uid": "7", "allowed": true, "auditAnnotations": {"k": "v"}, "warnings": ["w"]})
    );
}

#[test]
fn custom_message_moves_the_policys_message_to_the_causes() {
    let response = review(&answering(REJECTED).message("ask the platform team"));
    assert_eq!(response.message(), "ask the platform team");
    let causes = response.status.unwrap().details.unwrap().causes;
    assert_eq!(causes[0].message.as_deref(), Some("no"));
}

fn mutating(weight: u8) -> Policy {
    let mut object = node_pool();
    object["spec"]["weight"] = json!(weight);
    answering(&json!({"accepted": true, "mutated_object": object}).to_string())
}

#[test]
fn mutation_becomes_a_patch_in_a_mutating_policy() {
    let response = review(&mutating(2).mutating(true));
    assert!(response.allowed);
    assert_eq!(response.patch_type.as_deref(), Some("JSONPatch"));
    assert_eq!(response.patch(), Some(json!([{"op": "replace", "path": "/spec/weight", "value": 2}])));
}

#[test]
fn mutation_is_rejected_in_a_policy_that_is_not_mutating() {
    let response = review(&mutating(2));
    assert!(!response.allowed);
    assert_eq!(response.patch, None);
    assert_eq!(
        response.message(),
        "Request rejected by policy kw.cap.karpenter. The policy attempted to mutate the request, \
         but it is currently configured to not allow mutations."
    );
}

#[test]
fn mutation_without_a_change_gives_no_patch() {
    let response = review(&mutating(1));
    assert!(response.allowed && response.patch.is_none() && response.status.is_none());
}

#[test]
fn mutation_of_a_delete_request_is_rejected() {
    let request = Request::delete(node_pool()).to_json().unwrap();
    let response = mutating(2).mutating(true).review(&request, &FakeCluster::offline());
    assert!(!response.allowed);
    assert!(response.message().starts_with("Incoming object is null"), "{}", response.message());
}

#[test]
fn invalid_answer_trap_and_timeout_are_internal_errors() {
    let broken = review(&answering("nonsense"));
    assert_eq!(
        broken.message(),
        "internal server error: invalid response from policy: expected ident at line 1 column 2"
    );
    assert_eq!(broken.status.unwrap().code, Some(500));

    let guest = |body: &str| {
        let module =
            format!(r#"(module (func (export "__guest_call") (param i32 i32) (result i32) {body}))"#);
        let module = PolicyModule::load(module.as_bytes()).unwrap().with_deadline(Duration::from_millis(50));
        review(&Policy::new(module)).message().to_owned()
    };
    let trap = guest("unreachable");
    assert!(trap.starts_with("internal server error: Guest call failure: error while executing"), "{trap}");
    assert_eq!(
        guest("(loop $forever (br $forever)) i32.const 0"),
        "Policy execution interrupted because it exceeded the allowed execution time"
    );
    assert_eq!(
        guest("i32.const 0"),
        "internal server error: Guest call failure: No error message set for call failure"
    );
}
