//! Hosts that do not answer as they should: the policy's verdict on the object itself does not depend on them.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test may panic")]

mod host;

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use karpwarden_admit::server::Mode;
use karpwarden_admit::{AdmissionResponse, CallFailure, FakeCluster, Policy, PolicyModule, Request};
use serde_json::{Value, json};

use host::{answer, granting, module};

/// A Deployment whose pods select nodes, so that rules look up NodePools.
fn selecting(team: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"}, "spec": {
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": {
            "nodeSelector": {"example.com/team": team},
            "containers": [{"name": "web", "image": "example.com/web:1"}]}}}})
}

/// The same with an error in the object itself.
fn selecting_wrongly() -> Value {
    let mut object = selecting("a");
    object["spec"]["template"]["spec"]["nodeSelector"]["karpenter.sh/team"] = "a".into();
    object
}

fn request(object: Value) -> Value {
    Request::create(object).to_json().unwrap()
}

fn answered(object: Value, settings: &Value, cluster: &FakeCluster) -> Value {
    answer(module(), &json!({"request": request(object), "settings": settings}), cluster)
}

fn says(answer: &Value, text: &str) -> bool {
    answer["warnings"].as_array().into_iter().flatten().any(|one| one.as_str().unwrap().contains(text))
}

#[test]
fn verdict_on_the_object_stands_when_the_host_fails_or_answers_nonsense() {
    let hosts = [
        FakeCluster::failing("nodepools.karpenter.sh is forbidden"),
        FakeCluster::answering(""),
        FakeCluster::answering("nonsense"),
        FakeCluster::answering("null"),
        FakeCluster::answering(br#"{"items": [{"#.to_vec()),
        FakeCluster::answering([0xff, 0xfe]),
    ];
    for host in hosts.map(granting) {
        let settings = json!({"completeInventory": true});
        let good = answered(selecting("a"), &settings, &host);
        assert_eq!(good["accepted"], true, "{good}");
        assert!(says(&good, "NodePool objects could not be looked up"), "{good}");
        let bad = answered(selecting_wrongly(), &settings, &host);
        assert_eq!(bad["accepted"], false, "{bad}");
        assert!(bad["message"].as_str().unwrap().starts_with("1 error in "), "{bad}");
    }
}

/// A list without items is an answer: there are no NodePools.
#[test]
fn empty_list_is_an_answer() {
    let host = granting(FakeCluster::holding([] as [Value; 0]));
    let answer = answered(selecting("a"), &json!({}), &host);
    assert_eq!(answer["accepted"], true, "{answer}");
    assert!(!says(&answer, "could not be looked up"), "{answer}");
}

#[test]
fn thousand_pools_get_one_call_for_each_request() {
    let pool = |team: usize| {
        json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": format!("p{team}")}, "spec": {"template": {
            "metadata": {"labels": {"example.com/team": format!("t{team}")}},
            "spec": {"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "a"}, "requirements": []}}}})
    };
    let host = granting(FakeCluster::holding((0..1_000).map(pool)));
    let fits = answered(selecting("t999"), &json!({}), &host);
    assert!(!says(&fits, "pod-no-matching-pool"), "{fits}");
    let stuck = answered(selecting("t1000"), &json!({}), &host);
    assert!(says(&stuck, "pod-no-matching-pool"), "{stuck}");
    // The module and the library made one call each, twice.
    assert_eq!(host.calls().len(), 4);
}

/// A request in its own thread that waits for a host, which answers when `end` is dropped.
struct Waiting {
    end: mpsc::Sender<()>,
    host: FakeCluster,
    request: thread::JoinHandle<AdmissionResponse>,
}

impl Waiting {
    /// Sends a request, and returns when the policy waits for the list.
    fn start(module: PolicyModule, mode: Mode) -> Self {
        let (asked, was_asked) = mpsc::channel();
        let (end, never) = mpsc::channel();
        let host = granting(FakeCluster::silent(asked, never));
        let policy = Policy::new(module).mode(mode);
        let of_request = host.clone();
        let request = thread::spawn(move || policy.review(&request(selecting_wrongly()), &of_request));
        was_asked.recv().unwrap();
        Self { end, host, request }
    }

    fn end(self) -> AdmissionResponse {
        drop(self.end);
        self.request.join().unwrap()
    }
}

#[test]
fn requests_without_a_list_are_answered_while_another_one_waits() {
    let patient = module().clone().with_deadline(Duration::from_hours(1));
    let waiting = Waiting::start(patient, Mode::Protect);
    let class = json!({"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "a"}, "spec": {
        "instanceProfile": "arn:aws:iam::111122223333:instance-profile/p"}});
    for (object, settings) in [(class, json!({})), (selecting_wrongly(), json!({"context": "none"}))] {
        let policy = Policy::new(module().clone()).settings(settings);
        let response = policy.review(&request(object), &waiting.host);
        assert_ne!(response.message(), "", "{response:?}");
    }
    assert_eq!(waiting.host.calls(), [], "only the waiting request asked");
    // An answer that comes late, but before the deadline, is an error of the host like any other.
    let response = waiting.end();
    assert!(response.message().starts_with("1 error in Deployment/web"), "{response:?}");
}

/// policy-server does not interrupt a host call, only the policy after it: kubewarden/adm-controller#1320, and `blocking_recv` in
/// crates/policy-evaluator/src/runtimes/callback.rs.
#[test]
fn deadline_interrupts_the_policy_only_after_the_host_call() {
    const DEADLINE: Duration = Duration::from_millis(300);
    const INTERRUPTED: &str = "Policy execution interrupted because it exceeded the allowed execution time";
    let endless = br#"(module (func (export "__guest_call") (param i32 i32) (result i32)
        (loop $forever (br $forever)) i32.const 0))"#;
    for mode in [Mode::Protect, Mode::Monitor] {
        let waiting = Waiting::start(module().clone().with_deadline(DEADLINE), mode);
        // This request starts later and has the same deadline, so the other one's deadline has passed when it ends.
        let clock = PolicyModule::load(endless).unwrap().with_deadline(DEADLINE);
        let ended = clock.call("validate", b"", &FakeCluster::offline()).unwrap_err();
        assert!(matches!(ended, CallFailure::Interrupted(_)), "{ended:?}");
        assert!(!waiting.request.is_finished(), "the host call goes on");
        let response = waiting.end();
        assert_eq!(response.allowed, mode == Mode::Monitor, "{response:?}");
        if mode == Mode::Protect {
            assert_eq!(response.message(), INTERRUPTED);
            assert_eq!(response.status.unwrap().code, Some(500));
        }
    }
}
