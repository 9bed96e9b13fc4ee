//! The host runs a module as policy-server does.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::time::Duration;

use karpwarden_admit::{CallFailure, FakeCluster, PolicyModule, built};

const NOTHING: &[u8] = b"";

fn probe() -> PolicyModule {
    PolicyModule::load(include_bytes!("probe.wat")).unwrap()
}

#[test]
fn every_request_gets_a_new_instance() {
    let (module, cluster) = (probe(), FakeCluster::offline());
    for _ in 0..3 {
        assert_eq!(module.call("#", NOTHING, &cluster).unwrap(), b"1");
    }
    let instance = module.instance(&cluster).unwrap();
    assert_eq!(instance.call("#", NOTHING).unwrap(), b"1");
    assert_eq!(instance.call("#", NOTHING).unwrap(), b"2", "a reused instance keeps its memory");
}

#[test]
fn requests_run_in_parallel() {
    let module = probe();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(module.call("#", NOTHING, &FakeCluster::offline()).unwrap(), b"1"));
        }
    });
}

#[test]
fn endless_loop_is_interrupted_and_the_next_request_served() {
    let module = probe().with_deadline(Duration::from_millis(50));
    let failure = module.call("@", NOTHING, &FakeCluster::offline()).unwrap_err();
    assert!(matches!(failure, CallFailure::Interrupted(_)), "{failure:?}");
    assert_eq!(
        failure.to_string(),
        "Guest call failure: guest code interrupted, execution deadline exceeded",
        "policy-evaluator searches for this text"
    );
    assert_eq!(module.call("#", NOTHING, &FakeCluster::offline()).unwrap(), b"1");
}

#[test]
fn endless_initialisation_is_interrupted() {
    let endless = br#"(module
        (func (export "wapc_init") (loop $forever (br $forever)))
        (func (export "__guest_call") (param i32 i32) (result i32) i32.const 0))"#;
    let module = PolicyModule::load(endless).unwrap().with_deadline(Duration::from_millis(50));
    let failure = module.call("validate", NOTHING, &FakeCluster::offline()).unwrap_err();
    assert!(matches!(failure, CallFailure::NotStarted(_)), "{failure:?}");
}

#[test]
fn trap_and_returned_error_are_distinguished() {
    let module = probe();
    let trap = module.call("!", NOTHING, &FakeCluster::offline()).unwrap_err();
    assert!(matches!(trap, CallFailure::Trapped(_)), "{trap:?}");
    assert!(
        trap.to_string().starts_with("Guest call failure: error while executing at wasm backtrace"),
        "{trap}"
    );

    let error = module.call("?", b"no such thing", &FakeCluster::offline()).unwrap_err();
    assert_eq!(error, CallFailure::Returned("Guest call failure: no such thing".to_owned()));
}

#[test]
fn loading_something_else_than_a_policy_fails_with_a_reason() {
    let not_wasm = PolicyModule::load(b"not a module").unwrap_err();
    assert!(not_wasm.to_string().contains("does not compile"), "{not_wasm}");
    let unknown_import = br#"(module (import "env" "magic" (func)))"#;
    let not_linked = PolicyModule::load(unknown_import).unwrap_err();
    assert!(not_linked.to_string().contains("does not link"), "{not_linked}");
    let no_guest = PolicyModule::load(b"(module)").unwrap();
    assert!(matches!(
        no_guest.call("validate", NOTHING, &FakeCluster::offline()),
        Err(CallFailure::NotStarted(_))
    ));
}

#[test]
fn accept_all_policy_implements_the_protocol() {
    let floor = PolicyModule::load(&built::floor().unwrap()).unwrap();
    let cluster = FakeCluster::offline();
    assert_eq!(floor.call("protocol_version", NOTHING, &cluster).unwrap(), br#""v1""#);
    let settings = floor.call("validate_settings", b"{}", &cluster).unwrap();
    assert_eq!(String::from_utf8(settings).unwrap(), r#"{"valid":true,"message":null}"#);
    let unknown = floor.call("mutate", NOTHING, &cluster).unwrap_err();
    assert!(matches!(unknown, CallFailure::Returned(_)), "{unknown:?}");
    assert_eq!(cluster.calls(), []);
}
